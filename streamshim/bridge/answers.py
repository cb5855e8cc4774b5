"""Answers in the words of the other API: streamed, or whole. No I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Protocol, Unpack

from ..decode import StreamDecoder
from ..encode.calls import CUSTOM, FUNCTION, ClientCall
from ..encode.chat import ChatEncoder
from ..encode.options import CustomTools, ResponsesOptions
from ..encode.responses import ResponsesEncoder
from ..errors import ErrorInfo
from ..events import ErrorReport, Event, StreamStart, ToolCallStart
from .custom_calls import CustomCalls
from .replies import Reply, failed_reply, reply
from .tools import DeclaredTool


class Answer(Protocol):
    """How events are said in the words of an API."""

    def frames(self, events: Iterable[Event]) -> Iterable[bytes]:
        """Some more events of a stream; the last are those with `StreamEnd`."""
        ...

    def body(self, events: list[Event]) -> Any:
        """All events of an answer, as a whole body."""
        ...

    @property
    def dropped(self) -> dict[str, int]:
        """What this API cannot say, and how often that was."""
        ...


class ResponsesAnswer:
    """Events as a Responses stream, or as a response object."""

    def __init__(
        self,
        tools: Mapping[str, DeclaredTool],
        asked_model: str | None,
        on_end: Callable[[dict[str, Any]], None],
        **options: Unpack[ResponsesOptions],
    ) -> None:
        """Nothing was said yet.

        Args:
            tools: those that are called otherwise than they were declared.
            asked_model: the model that was asked, for where the answer names none.
            on_end: is told the response once it is over, before anybody reads that it is.
            **options: those of the encoder.
        """
        self._encoder = _Encoder(tools, **options)
        self._calls = CustomCalls(tools)
        self._asked_model = asked_model
        self._on_end = on_end

    @property
    def dropped(self) -> dict[str, int]:
        """What this API cannot say, and how often that was."""
        return self._encoder.dropped

    def frames(self, events: Iterable[Event]) -> Iterator[bytes]:
        """Some more events of a stream."""
        for event in self._calls.told(events):
            told = replace(event, model=event.model or self._asked_model) if isinstance(event, StreamStart) else event
            frames = self._encoder.feed(told)
            if event.type == "stream_end":
                self._on_end(self._encoder.response)
            yield from frames

    def body(self, events: list[Event]) -> Any:
        """All events of an answer, as a response object."""
        for _ in self.frames(events):
            pass
        return self._encoder.response


class _Encoder(ResponsesEncoder):
    """Calls go under the names and namespaces that their tools were declared with."""

    def __init__(self, tools: Mapping[str, DeclaredTool], **options: Unpack[ResponsesOptions]) -> None:
        super().__init__(**options)
        self._tools = tools

    def _on_tool_call_start(self, event: ToolCallStart) -> None:
        tool = self._tools.get(event.name)
        if tool is None or not tool.namespace or event.kind not in ("function", "custom"):
            super()._on_tool_call_start(event)
            return
        spelling = FUNCTION if event.kind == "function" else CUSTOM
        start = replace(event, name=tool.name)
        self._parts[event.part] = ClientCall(self._output, start, spelling, namespace=tool.namespace)

    _HANDLERS: ClassVar[dict[str, Callable[[Any, Any], None]]] = {
        **ResponsesEncoder._HANDLERS,
        "tool_call_start": _on_tool_call_start,
    }


class ChatAnswer:
    """Events as a chat stream, or as a completion."""

    def __init__(self, *, asks_usage: bool, custom_tools: CustomTools) -> None:
        """Nothing was said yet."""
        self._custom_tools: CustomTools = custom_tools
        self._encoder = ChatEncoder(include_usage=asks_usage, custom_tools=custom_tools)

    @property
    def dropped(self) -> dict[str, int]:
        """What this API cannot say, and how often that was."""
        return self._encoder.dropped

    def frames(self, events: Iterable[Event]) -> Iterator[bytes]:
        """Some more events of a stream."""
        return self._encoder.encode(events)

    def body(self, events: list[Event]) -> Any:
        """All events of an answer, as a completion."""
        from ..encode.bodies import chat_body
        from ..response import collect

        return chat_body(collect(events), custom_tools=self._custom_tools)


class StreamedAnswer:
    """Hands a stream on in the words of the other API: it is fed as a `Relay` is.

    Attributes:
        is_over: nothing more will be handed on.
        is_cut: always False, since the stream that is written says itself that the other one was cut.
    """

    is_cut = False

    def __init__(self, decoder: StreamDecoder, answer: Answer) -> None:
        """Nothing came yet."""
        self.is_over = False
        self._decoder = decoder
        self._answer = answer

    @property
    def rewritten(self) -> int:
        """How many frames were handed on in other words: all."""
        return self._decoder.frames

    @property
    def dropped(self) -> dict[str, int]:
        """What this API cannot say, and how often that was."""
        return self._answer.dropped

    def feed(self, piece: bytes) -> bytes:
        """Some more bytes, cut anywhere: what they give."""
        if self.is_over:
            return b""
        events = self._decoder.feed(piece)
        if self._decoder.is_done:
            events += self._decoder.close()
        return self._given(events)

    def close(self, error: BaseException | None = None) -> bytes:
        """The body is over, or broke with `error`: what is left."""
        return b"" if self.is_over else self._given(self._decoder.close(error))

    def _given(self, events: list[Event]) -> bytes:
        self.is_over = self._decoder.end is not None
        return b"".join(self._answer.frames(events))


def whole_reply(decoder: StreamDecoder, answer: Answer, body: bytes) -> Reply:
    """A whole body in the words of the other API; an error if it holds one, or was cut."""
    events = decoder.feed(body) + decoder.close()
    if decoder.end is not None and decoder.end.status in ("completed", "incomplete"):
        return reply(answer.body(events))
    return failed_reply(_error_in(events))


def _error_in(events: list[Event]) -> ErrorInfo | None:
    return next((event.error for event in events if isinstance(event, ErrorReport)), None)
