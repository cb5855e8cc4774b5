"""One request and its answer: what was asked, what came, and what streamshim reads in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..capture import Capture
from ..decode import StreamDecoder
from ..errors import ErrorInfo
from ..events import ErrorReport, Event, RawFrame, StreamEnd
from ..http_error import read_error
from ..json_codec import loads
from ..response import collect
from ..response_models import ModelResponse
from .requests import Request


@dataclass(frozen=True, slots=True)
class Answer:
    """What came: the head, and the bytes as they were read.

    Attributes:
        status: of HTTP; None where nobody answered, or where the bytes were recorded.
        content_type: as the head says it.
        capture: the body.
        failure: why there is no (whole) answer: no connection, a timeout, too many bytes.
        attempts: how many requests it took.
    """

    status: int | None = None
    content_type: str | None = None
    capture: Capture = field(default_factory=Capture)
    failure: str | None = None
    attempts: int = 1


class Reading:
    """A request, its answer, and what streamshim reads in it."""

    def __init__(self, request: Request, answer: Answer) -> None:
        """Nothing is decoded until somebody asks."""
        self.request = request
        self.answer = answer

    @property
    def name(self) -> str:
        """Of the request."""
        return self.request.name

    @property
    def is_refused(self) -> bool:
        """Whether the head says error."""
        return self.answer.status is not None and self.answer.status >= 400

    @property
    def is_answered(self) -> bool:
        """Whether there is a body that is no refusal."""
        return not self.is_refused and (self.answer.status is not None or bool(self.answer.capture.pieces))

    @cached_property
    def body(self) -> bytes:
        """All bytes of the answer."""
        return self.answer.capture.body

    @cached_property
    def json(self) -> Any:
        """The body where it is one JSON document, else None."""
        try:
            return loads(self.body)
        except ValueError:
            return None

    @cached_property
    def decoded(self) -> list[Event]:
        """All events, each frame before those that it made."""
        decoder = StreamDecoder(repairs=True, raw=True, tool_markup=self.request.has_tools)
        events = decoder.feed(self.body)
        return events + (decoder.cancel() if self.request.cut else decoder.close())

    @cached_property
    def events(self) -> list[Event]:
        """What the stream says."""
        return [event for event in self.decoded if not isinstance(event, RawFrame)]

    @cached_property
    def response(self) -> ModelResponse:
        """What it said in all."""
        return collect(self.events)

    @cached_property
    def end(self) -> StreamEnd:
        """How it ended."""
        end = self.events[-1]
        assert isinstance(end, StreamEnd)  # noqa: S101 -- the grammar of streams
        return end

    @cached_property
    def error(self) -> ErrorInfo | None:
        """What the server says went wrong: in the head, or in the stream."""
        if self.is_refused:
            return read_error(self.answer.status or 0, None, self.body)
        return next((event.error for event in self.events if isinstance(event, ErrorReport)), None)
