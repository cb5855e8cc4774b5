"""What both shells share: the part of an event stream that does not touch I/O."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from operator import length_hint
from typing import TYPE_CHECKING, Literal, TypeAlias, TypedDict

from .decode.decoder import StreamDecoder
from .errors import SourceError, StreamFailedError, StreamTruncatedError
from .events import ErrorReport, Event, StreamEnd
from .http_error import add_head
from .pieces import Piece

if TYPE_CHECKING:
    from .pieces import AsyncSource, Source
    from .response import Collector, ModelResponse

ErrorMode: TypeAlias = Literal["raise", "event"]
"""What a failed or truncated stream does once all its events were handed out: raise, or nothing more."""

ERROR_BODY_BYTES = 1024 * 1024
"""How much of an HTTP error's body is read: error messages are short, and the rest would be of no use."""

KEPT_EVENTS = 16 * 1024
"""How many events wait for the collector at most: some megabytes. Few streams are so long; the others never load it."""

_UNCOLLECTED = frozenset(("text_delta", "reasoning_delta", "refusal_delta", "media_delta"))


class DecoderOptions(TypedDict, total=False):
    """The options of `StreamDecoder`, which every door takes."""

    reasoning_tags: Literal["auto", "off", "open"]
    tool_markup: bool
    raw: bool
    repairs: bool
    strict: bool | Collection[str]
    collect: bool
    fast: bool
    trust_eof: bool
    max_frame_bytes: int
    make_id: Callable[[str], str] | None


class EventStreamBase:
    """An event stream without its I/O: what was handed out, what was said so far, and how it ends.

    Events are handed out from `_queue`, an iterator over the batch that one piece of the source gave; how far it has
    come tells which of them the reader has seen, at no cost per event.
    """

    def __init__(self, source: Source | AsyncSource, errors: ErrorMode, options: DecoderOptions) -> None:
        """Take what the source knows of itself; it is read by the shells."""
        self._decoder = StreamDecoder(**options)
        self._options = options
        self._raises = errors == "raise"
        self._collects = options.get("collect", True)
        self._http_status = source.http_status
        self._http_headers = source.http_headers
        self._error_body: bytearray | None = None
        if source.http_status is not None and source.http_status >= 400:
            self._error_body = bytearray()
        self._cause: BaseException | None = None
        self._left_early = False
        self._is_over = False
        self._batch: list[Event] = []
        self._queue: Iterator[Event] = iter(self._batch)
        self._taken = 0
        self._kept: list[Event] = []
        self._collector: Collector | None = None

    @property
    def response(self) -> ModelResponse:
        """The answer as far as its events were handed out: partial while the stream runs, whole at the end.

        With `collect=False` its texts stay empty; tool calls are whole all the same.
        """
        self._keep_seen()
        return self._collect().response

    @property
    def end(self) -> StreamEnd | None:
        """The `StreamEnd`, once it was handed out or the stream was closed; None before."""
        last = self._batch[-1] if self._batch and not length_hint(self._queue) else None
        return last if isinstance(last, StreamEnd) else None

    @property
    def unused_data(self) -> bytes | None:
        """The bytes that came with the terminal event but after it; None unless one was reached."""
        ended_by_the_wire = not self._left_early and self.end is not None and self.end.evidence.terminal_event_seen
        return self._decoder.unused_data if ended_by_the_wire else None

    # -- events in and out --------------------------------------------------------------------------------------------

    def _serve(self, events: list[Event]) -> None:
        """Make a batch the next to be handed out; the one before it has been."""
        self._keep(self._batch[self._taken :] if self._taken else self._batch)
        self._batch, self._queue, self._taken = events, iter(events), 0
        self._is_over = self._decoder.end is not None

    def _keep_seen(self) -> None:
        """Keep for the collector what the reader has seen of the batch since the last time."""
        seen = len(self._batch) - length_hint(self._queue)
        self._keep(self._batch[self._taken : seen])
        self._taken = seen

    def _keep(self, events: list[Event]) -> None:
        self._kept += events if self._collects else [event for event in events if event.type not in _UNCOLLECTED]
        if len(self._kept) > KEPT_EVENTS:
            self._collect()

    def _collect(self) -> Collector:
        if self._collector is None:
            from .response import Collector

            self._collector = Collector()
        for event in self._kept:
            self._collector.feed(event)
        self._kept.clear()
        return self._collector

    # -- what the source did ------------------------------------------------------------------------------------------

    def _take(self, piece: Piece | None) -> list[Event]:
        """A piece came, or (None) the end."""
        if self._error_body is not None:
            return self._take_error_body(self._error_body, piece)
        if isinstance(piece, bytes):
            return self._decoder.feed(piece)
        return self._decoder.close() if piece is None else self._decoder.feed_payload(piece)

    def _break(self, error: BaseException) -> list[Event] | None:
        """The source raised. None: the error is not the stream's, and the caller must let it pass."""
        if isinstance(error, SourceError) or not isinstance(error, Exception):
            self._leave()
            return None
        if self._is_over:
            return []
        self._cause = error
        if self._error_body is not None:
            return self._take_error_body(self._error_body, None)
        body = getattr(error, "body", None)
        if isinstance(body, dict | str) and body:
            return self._decoder.feed_payload({"error": body}) + self._decoder.close()
        return self._decoder.close(error)

    def _take_error_body(self, body: bytearray, piece: Piece | None) -> list[Event]:
        """An HTTP error has no stream: its body, once it is there, gives the error."""
        if isinstance(piece, bytes):
            body += piece
            if len(body) < ERROR_BODY_BYTES:
                return []
        return self._http_error_events(bytes(body))

    def _http_error_events(self, body: bytes) -> list[Event]:
        status = self._http_status or 0
        events = self._decoder.feed(body) + self._decoder.close()
        reports = [event for event in events if isinstance(event, ErrorReport)]
        if not reports:
            text = body.decode(errors="replace").strip()[:500]
            message = f"the server answered with HTTP status {status}" + (f": {text}" if text else "")
            self._decoder = StreamDecoder(**self._options)
            events = self._decoder.feed_payload({"error": {"message": message}}) + self._decoder.close()
        for event in events:
            if isinstance(event, ErrorReport):
                add_head(event.error, status, self._http_headers)
        return events

    # -- the end ------------------------------------------------------------------------------------------------------

    def _leave(self) -> None:
        """The reader leaves, or is torn away: what was read but not handed out yet goes to the response."""
        if self.end is not None:
            return
        self._left_early = True
        self._keep_seen()
        self._taken = len(self._batch)
        rest = list(self._queue)
        if self._decoder.end is not None:
            rest[-1] = replace(self._decoder.end, status="cancelled")
        self._serve(rest + self._decoder.cancel())
        self._skip_batch()

    def _skip_batch(self) -> None:
        """Take the whole batch as handed out."""
        deque(self._queue, maxlen=0)

    def _raise_bad_end(self) -> None:
        """Raise what the end calls for, if anything.

        Raises:
            StreamFailedError: the vendor said error, or a limit of ours was passed.
            StreamTruncatedError: the stream was cut.
        """
        status = self.end.status if self.end else None
        if not self._raises or self._left_early or status not in ("failed", "truncated"):
            return
        response = self.response
        error = response.error
        if status == "failed":
            message = error.message if error else "the stream failed"
            raise StreamFailedError(message, error=error, response=response) from self._cause
        message = "the stream ended before the answer was whole" + (f": {error.message}" if error else "")
        raise StreamTruncatedError(message, error=error, response=response) from self._cause


class Gap:
    """What may stand between two responses on one stream: blank lines, comments and `[DONE]`."""

    _FILLING = re.compile(
        rb"(?:(?:event:[^\r\n]*[\r\n]+)?data: ?\[DONE\][ \t]*[\r\n]+|:[^\r\n]*[\r\n]+|[ \t]*[\r\n]+)*"
    )
    _EVENT_LINE = re.compile(rb"event:[^\r\n]*[\r\n]*")
    _OPENINGS = (b"event:", b"data: [DONE]", b"data:[DONE]")
    _LINE_BYTES = 1024
    """A line that is longer is no filling."""

    def __init__(self) -> None:
        """Nothing came yet."""
        self._held = b""

    def take(self, piece: Piece) -> Piece | None:
        """The first piece of the next response, or None as long as nothing but the gap came."""
        if not isinstance(piece, bytes):
            return piece
        held = self._FILLING.sub(b"", self._held + piece, count=1)
        if held.startswith(b":"):
            held = b":"
        if len(held) > self._LINE_BYTES or not self._may_be_filling(held):
            return held
        self._held = held
        return None

    def _may_be_filling(self, start: bytes) -> bool:
        line = self._EVENT_LINE.sub(b"", start, count=1).strip()
        return line == b":" or any(opening.startswith(line) for opening in self._OPENINGS)
