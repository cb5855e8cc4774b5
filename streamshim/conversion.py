"""`convert()` and `aconvert()`: any source that can be read, as the bytes of a legal stream of either API."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Iterator
from types import TracebackType
from typing import Any, Literal, Self, Unpack, cast, overload

from .encode.chat import ChatEncoder
from .encode.options import ChatOptions, ResponsesOptions
from .encode.responses import ResponsesEncoder
from .event_stream import StreamOptions, WatchOptions
from .events import StreamEnd
from .streams import AsyncEventStream, EventStream


class ReadingOptions(WatchOptions, total=False):
    """The options of the reading side that matter to a conversion."""

    reasoning_tags: Literal["auto", "off", "open"]
    tool_markup: bool
    strict: bool | Collection[str]
    trust_eof: bool
    max_frame_bytes: int


class ResponsesConversion(ResponsesOptions, ReadingOptions, total=False):
    """What `convert(source, to="responses")` takes."""


class ChatConversion(ChatOptions, ReadingOptions, total=False):
    """What `convert(source, to="chat")` takes."""


class ConvertedStreamBase:
    """A stream in other words, without its I/O."""

    def __init__(self, encoder: ChatEncoder | ResponsesEncoder, events: EventStream | AsyncEventStream) -> None:
        """`events` are read by the shells."""
        self._encoder = encoder
        self._frames: Iterator[bytes] = iter(())
        self._source_events = events

    @property
    def dropped(self) -> dict[str, int]:
        """How often something was left out because the wire cannot say it, by kind."""
        return self._encoder.dropped

    @property
    def end(self) -> StreamEnd | None:
        """The `StreamEnd` of the source, once it was converted; it says how the stream ended, and the token counts."""
        return self._source_events.end


class ConvertedStream(ConvertedStreamBase):
    """The frames of a converted stream, as they come. Made by `convert()`.

    The source is closed at the end of the stream, by `close()`, at the end of a `with` block, and when reading it
    raises.
    """

    def __init__(self, encoder: ChatEncoder | ResponsesEncoder, events: EventStream) -> None:
        """See `convert()`."""
        super().__init__(encoder, events)
        self._events = events

    def __iter__(self) -> Iterator[bytes]:
        """The frames that are still to come."""
        while True:
            for frame in self._frames:  # noqa: UP028  (it would close `_frames` with this generator: a loop may be left)
                yield frame
            if not self._advance():
                return

    def __next__(self) -> bytes:
        """The next frame."""
        while True:
            for frame in self._frames:
                return frame
            if not self._advance():
                raise StopIteration

    def _advance(self) -> bool:
        """Go on to what the next piece of the source says; False at the end."""
        events = self._events.next_batch()
        if events is not None:
            self._frames = self._encoder.encode(events)
        return events is not None

    def close(self) -> None:
        """Leave: the source is closed, and nothing more is written. May be called again."""
        self._events.close()
        self._frames = iter(())
        self._encoder.close()

    def __enter__(self) -> Self:
        """The stream itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Leave as by `close()`."""
        self.close()


class AsyncConvertedStream(ConvertedStreamBase):
    """The frames of a converted asynchronous stream. Made by `aconvert()`; the twin of `ConvertedStream`."""

    def __init__(self, encoder: ChatEncoder | ResponsesEncoder, events: AsyncEventStream) -> None:
        """See `aconvert()`."""
        super().__init__(encoder, events)
        self._events = events

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """The frames that are still to come."""
        while True:
            for frame in self._frames:
                yield frame
            if not await self._advance():
                return

    async def __anext__(self) -> bytes:
        """The next frame."""
        while True:
            for frame in self._frames:
                return frame
            if not await self._advance():
                raise StopAsyncIteration

    async def _advance(self) -> bool:
        """Go on to what the next piece of the source says; False at the end."""
        events = await self._events.next_batch()
        if events is not None:
            self._frames = self._encoder.encode(events)
        return events is not None

    async def aclose(self) -> None:
        """Leave: the source is closed, and nothing more is written. May be called again."""
        await self._events.aclose()
        self._frames = iter(())
        self._encoder.close()

    async def __aenter__(self) -> Self:
        """The stream itself."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Leave as by `aclose()`."""
        await self.aclose()


@overload
def convert(
    source: object, to: Literal["responses"] = "responses", **options: Unpack[ResponsesConversion]
) -> ConvertedStream: ...
@overload
def convert(source: object, to: Literal["chat"], **options: Unpack[ChatConversion]) -> ConvertedStream: ...
def convert(source: object, to: Literal["responses", "chat"] = "responses", **options: Any) -> ConvertedStream:
    """Read a streamed answer of whatever wire and vendor, and write it as a legal stream of the API that is asked for.

    A failed or cut stream does not raise: the wire that is written says so.

    Args:
        source: anything that `stream()` takes.
        to: "responses" or "chat".
        **options: those of `ResponsesEncoder` or `ChatEncoder`, and `reasoning_tags`, `tool_markup`, `strict`,
            `trust_eof`, `max_frame_bytes`, `first_event_timeout`, `idle_timeout` and `on_event` of `stream()`.

    Raises:
        SourceError: the source cannot be read.
        ValueError: an option is given a word that it does not know.
    """
    reading, encoder = _prepare(to, options)
    return ConvertedStream(encoder, EventStream(source, **reading))


@overload
def aconvert(
    source: object, to: Literal["responses"] = "responses", **options: Unpack[ResponsesConversion]
) -> AsyncConvertedStream: ...
@overload
def aconvert(source: object, to: Literal["chat"], **options: Unpack[ChatConversion]) -> AsyncConvertedStream: ...
def aconvert(source: object, to: Literal["responses", "chat"] = "responses", **options: Any) -> AsyncConvertedStream:
    """As `convert()`, of an asynchronous source or of bytes.

    Raises:
        SourceError: the source cannot be read.
        ValueError: an option is given a word that it does not know.
    """
    reading, encoder = _prepare(to, options)
    return AsyncConvertedStream(encoder, AsyncEventStream(source, **reading))


def _prepare(to: str, options: dict[str, Any]) -> tuple[StreamOptions, ChatEncoder | ResponsesEncoder]:
    """The options of the reading side, and the writing side. Calls without an id get one of the same make."""
    if to not in ("responses", "chat"):
        raise ValueError(f"to={to!r} is not known: it is 'responses' or 'chat'")
    written = {key: value for key, value in options.items() if key not in ReadingOptions.__annotations__}
    encoder = ResponsesEncoder(**written) if to == "responses" else ChatEncoder(**written)
    reading = {key: value for key, value in options.items() if key in ReadingOptions.__annotations__}
    # the encoder keeps what it needs
    reading |= {"errors": "event", "collect": False, "make_id": options.get("make_id")}
    return cast("StreamOptions", reading), encoder
