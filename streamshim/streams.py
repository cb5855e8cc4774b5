"""The thin shells: a source in, an iterable of events out, and the ways a reader may leave.

    stream(), astream()                    an EventStream, an AsyncEventStream
    parse(), aparse()                      all at once: a ModelResponse
    iter_responses(), aiter_responses()    several responses on one stream of bytes

What does not touch I/O is shared (`event_stream.py`). The two halves below differ in `await` alone.
"""

from __future__ import annotations

import logging
import warnings
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Self, Unpack

from .errors import SourceError, StreamEndError
from .event_stream import DecoderOptions, ErrorMode, EventStreamBase, Gap
from .events import Event
from .pieces import AsyncSource, Piece, Source
from .sources import open_async_source, open_source

if TYPE_CHECKING:
    from .response import ModelResponse

logger = logging.getLogger("streamshim")

_BROKE_IN_GAP = "the source broke between two responses: the one before it was whole, and no other was begun"
_UNCLOSED = "an unfinished {} was not closed: use it in a with statement, or read it to its end"


class EventStream(EventStreamBase):
    """The events of a source, as they come. Made by `stream()`.

    A `for` loop may be left and taken up again. The source is closed at the end of the stream, by `close()`, and at
    the end of a `with` block.
    """

    _source: Source | None = None

    def __init__(self, source: object, *, errors: ErrorMode = "raise", **options: Unpack[DecoderOptions]) -> None:
        """See `stream()`."""
        opened = open_source(source)
        super().__init__(opened, errors, options)
        self._source = opened

    def __iter__(self) -> Iterator[Event]:
        """The events that are still to come; raises as `__next__` does."""
        while True:
            yield from self._queue
            if not self._advance():
                self._raise_bad_end()
                return

    def __next__(self) -> Event:
        """The next event.

        Raises:
            StreamFailedError: after the `StreamEnd`, with `errors="raise"`: the vendor said error.
            StreamTruncatedError: likewise: the stream was cut.
            SourceError: the source gave what is neither bytes nor a parsed chunk.
        """
        while True:
            for event in self._queue:
                return event
            if not self._advance():
                self._raise_bad_end()
                raise StopIteration

    def text_deltas(self) -> Iterator[str]:
        """The answer alone (of choice 0), piece by piece; raises as `__next__` does."""
        for event in self:
            if event.type == "text_delta" and event.choice == 0:
                yield event.delta

    def final(self) -> ModelResponse:
        """Read to the end and return the answer; may be called again. Raises as `__next__` does."""
        self._exhaust()
        self._raise_bad_end()
        return self.response

    def close(self) -> None:
        """Leave: the source is closed, and an unfinished stream ends as "cancelled". May be called again."""
        self._leave()
        if self._source is not None:
            self._source.close()

    def _advance(self) -> bool:
        """Read until there are events to hand out; False once all were."""
        source = self._source
        while source is not None and not self._is_over:
            try:
                piece = source.read()
            except BaseException as error:
                events = self._break(error)
                if events is None:
                    source.close()
                    raise
            else:
                events = self._take(piece)
            if events:
                self._serve(events)
                if self._is_over:
                    source.close()
                return True
        return False

    def _exhaust(self) -> None:
        self._skip_batch()
        while self._advance():
            self._skip_batch()

    def __enter__(self) -> Self:
        """The stream itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Leave as by `close()`."""
        self.close()

    def __del__(self) -> None:
        """The last resort, loud because it may come late or never."""
        if self._source is not None and not self._is_over:
            warnings.warn(_UNCLOSED.format("EventStream"), ResourceWarning, stacklevel=2, source=self)
            self._source.close()


class AsyncEventStream(EventStreamBase):
    """The events of an asynchronous source, as they come. Made by `astream()`; the twin of `EventStream`."""

    _source: AsyncSource | None = None

    def __init__(self, source: object, *, errors: ErrorMode = "raise", **options: Unpack[DecoderOptions]) -> None:
        """See `astream()`."""
        opened = open_async_source(source)
        super().__init__(opened, errors, options)
        self._source = opened

    async def __aiter__(self) -> AsyncIterator[Event]:
        """The events that are still to come; raises as `__anext__` does."""
        while True:
            for event in self._queue:
                yield event
            if not await self._advance():
                self._raise_bad_end()
                return

    async def __anext__(self) -> Event:
        """The next event.

        Raises:
            StreamFailedError: after the `StreamEnd`, with `errors="raise"`: the vendor said error.
            StreamTruncatedError: likewise: the stream was cut.
            SourceError: the source gave what is neither bytes nor a parsed chunk.
        """
        while True:
            for event in self._queue:
                return event
            if not await self._advance():
                self._raise_bad_end()
                raise StopAsyncIteration

    async def text_deltas(self) -> AsyncIterator[str]:
        """The answer alone (of choice 0), piece by piece; raises as `__anext__` does."""
        async for event in self:
            if event.type == "text_delta" and event.choice == 0:
                yield event.delta

    async def final(self) -> ModelResponse:
        """Read to the end and return the answer; may be called again. Raises as `__anext__` does."""
        await self._exhaust()
        self._raise_bad_end()
        return self.response

    async def aclose(self) -> None:
        """Leave: the source is closed, and an unfinished stream ends as "cancelled". May be called again."""
        self._leave()
        if self._source is not None:
            await self._source.aclose()

    async def _advance(self) -> bool:
        """Read until there are events to hand out; False once all were."""
        source = self._source
        while source is not None and not self._is_over:
            try:
                piece = await source.read()
            except BaseException as error:
                events = self._break(error)
                if events is None:
                    await source.aclose()
                    raise
            else:
                events = self._take(piece)
            if events:
                self._serve(events)
                if self._is_over:
                    await source.aclose()
                return True
        return False

    async def _exhaust(self) -> None:
        self._skip_batch()
        while await self._advance():
            self._skip_batch()

    async def __aenter__(self) -> Self:
        """The stream itself."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Leave as by `aclose()`."""
        await self.aclose()

    def __del__(self) -> None:
        """The last resort, loud because it may come late or never."""
        if self._source is not None and not self._is_over:
            warnings.warn(_UNCLOSED.format("AsyncEventStream"), ResourceWarning, stacklevel=2, source=self)


def stream(source: object, *, errors: ErrorMode = "raise", **options: Unpack[DecoderOptions]) -> EventStream:
    """Read a streamed answer as typed events.

    Args:
        source: bytes, a response of an HTTP client, an SDK's stream, a binary file, or an iterable of bytes or of
            parsed chunks (dicts, pydantic models).
        errors: "raise": a failed or truncated stream raises after its last event; "event": nothing is raised, look at
            `StreamEnd.status`.
        **options: those of `StreamDecoder`.

    Raises:
        SourceError: the source cannot be read.
    """
    return EventStream(source, errors=errors, **options)


def astream(source: object, *, errors: ErrorMode = "raise", **options: Unpack[DecoderOptions]) -> AsyncEventStream:
    """Read a streamed answer as typed events, asynchronously. As `stream()`, of an asynchronous source or of bytes.

    Raises:
        SourceError: the source cannot be read.
    """
    return AsyncEventStream(source, errors=errors, **options)


def parse(source: object, *, errors: ErrorMode = "raise", **options: Unpack[DecoderOptions]) -> ModelResponse:
    """Read a whole answer: bytes, or any other source that `stream()` takes.

    Raises:
        StreamFailedError: with `errors="raise"`: the vendor said error. What came before is in its `response`.
        StreamTruncatedError: likewise: the answer is not whole.
        SourceError: the source cannot be read.
    """
    with EventStream(source, errors=errors, **options) as events:
        return events.final()


async def aparse(source: object, *, errors: ErrorMode = "raise", **options: Unpack[DecoderOptions]) -> ModelResponse:
    """Read a whole answer asynchronously. As `parse()`.

    Raises:
        StreamFailedError: with `errors="raise"`: the vendor said error. What came before is in its `response`.
        StreamTruncatedError: likewise: the answer is not whole.
        SourceError: the source cannot be read.
    """
    async with AsyncEventStream(source, errors=errors, **options) as events:
        return await events.final()


def iter_responses(
    source: object, *, errors: ErrorMode = "raise", **options: Unpack[DecoderOptions]
) -> Generator[EventStream, None, None]:
    """One `EventStream` after another from one source, for gateways that send several responses on one stream.

    A stream that was not read to its end when the next one is asked for is read to its end then. Closing one before
    its end is the end of all, and closes the source.

    Raises:
        SourceError: the source cannot be read.
    """
    whole = open_source(source)
    try:
        events = EventStream(whole.borrow(), errors=errors, **options)
        while True:
            yield events
            if events.end is None:
                with suppress(StreamEndError):
                    deque(events, maxlen=0)
            start = _next_start(events.unused_data, whole)
            if start is None:
                return
            events = EventStream(whole.borrow(start), errors=errors, **options)
    finally:
        whole.close()


async def aiter_responses(
    source: object, *, errors: ErrorMode = "raise", **options: Unpack[DecoderOptions]
) -> AsyncGenerator[AsyncEventStream, None]:
    """One `AsyncEventStream` after another from one asynchronous source. As `iter_responses()`.

    Raises:
        SourceError: the source cannot be read.
    """
    whole = open_async_source(source)
    try:
        events = AsyncEventStream(whole.borrow(), errors=errors, **options)
        while True:
            yield events
            if events.end is None:
                with suppress(StreamEndError):
                    async for _ in events:
                        pass
            start = await _anext_start(events.unused_data, whole)
            if start is None:
                return
            events = AsyncEventStream(whole.borrow(start), errors=errors, **options)
    finally:
        await whole.aclose()


def _next_start(unused: bytes | None, whole: Source) -> Piece | None:
    gap = Gap()
    piece: Piece | None = unused
    while piece is not None:
        start = gap.take(piece)
        if start is not None:
            return start
        try:
            piece = whole.read()
        except SourceError:
            raise
        except Exception:
            logger.debug(_BROKE_IN_GAP, exc_info=True)
            return None
    return None


async def _anext_start(unused: bytes | None, whole: AsyncSource) -> Piece | None:
    gap = Gap()
    piece: Piece | None = unused
    while piece is not None:
        start = gap.take(piece)
        if start is not None:
            return start
        try:
            piece = await whole.read()
        except SourceError:
            raise
        except Exception:
            logger.debug(_BROKE_IN_GAP, exc_info=True)
            return None
    return None
