"""The thin shells: a source in, an iterable of events out, and the ways a reader may leave.

    stream(), astream()    an EventStream, an AsyncEventStream
    parse(), aparse()      all at once: a ModelResponse

What does not touch I/O is shared (`event_stream.py`). The two halves below differ in `await` alone.
"""

from __future__ import annotations

import warnings
from collections.abc import AsyncIterator, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Self, Unpack

from .event_stream import EventStreamBase, StreamOptions
from .events import Event
from .pieces import AsyncSource, Source
from .sources import open_async_source, open_source

if TYPE_CHECKING:
    from .response_models import ModelResponse

_ANOTHER_TASK = (
    "another task is reading this stream, and two cannot at once; to stop it, cancel that task and wait for it: the "
    "stream is closed then"
)
_UNCLOSED = "an unfinished {} was not closed: use it in a with statement, or read it to its end"


class EventStream(EventStreamBase):
    """The events of a source, as they come. Made by `stream()`.

    A `for` loop may be left and taken up again. The source is closed at the end of the stream, by `close()`, and at
    the end of a `with` block.
    """

    _source: Source | None = None

    def __init__(self, source: object, **options: Unpack[StreamOptions]) -> None:
        """See `stream()`."""
        opened = open_source(source)
        super().__init__(opened.head, **options)
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
            StreamTimeoutError: likewise: a deadline passed.
            SourceError: the source gave what is neither bytes nor a parsed chunk.
            BaseException: whatever `on_event` raised.
        """
        while True:
            for event in self._queue:
                return event
            if not self._advance():
                self._raise_bad_end()
                raise StopIteration

    def next_batch(self) -> Iterator[Event] | None:
        """What is left of the events that one piece gave, else those of the next one; None at the end.

        Raises as `__next__` does, but not for how the stream ended.
        """
        return self._queue if self._has_more() or self._advance() else None

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
        """Leave: the source is closed, and an unfinished stream ends as "cancelled". May be called again.

        Raises:
            BaseException: whatever `on_event` raised.
        """
        self._release()
        self._raise_from_observer()

    def _release(self) -> None:
        self._leave()
        if self._source is not None:
            self._source.close()

    def _advance(self) -> bool:
        """Read until there are events to hand out; False once all were."""
        if self._observer is not None and self._observer.error is not None:
            self.close()
        source, deadline = self._source, self._deadline
        while source is not None and not self._is_over:
            try:
                piece = source.read() if deadline is None else deadline.read(source)
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
        """Leave as by `close()`, but let no exception of `on_event` take the place of one that is under way."""
        self._release()
        if error is None:
            self._raise_from_observer()

    def __del__(self) -> None:
        """The last resort, loud because it may come late or never."""
        if self._source is not None and not self._is_over:
            self._source.close()
            warnings.warn(_UNCLOSED.format("EventStream"), ResourceWarning, stacklevel=2, source=self)


class AsyncEventStream(EventStreamBase):
    """The events of an asynchronous source, as they come. Made by `astream()`; the twin of `EventStream`."""

    _source: AsyncSource | None = None
    _is_being_read = False

    def __init__(self, source: object, **options: Unpack[StreamOptions]) -> None:
        """See `astream()`."""
        opened = open_async_source(source)
        super().__init__(opened.head, **options)
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
            StreamTimeoutError: likewise: a deadline passed.
            SourceError: the source gave what is neither bytes nor a parsed chunk.
            BaseException: whatever `on_event` raised.
        """
        while True:
            for event in self._queue:
                return event
            if not await self._advance():
                self._raise_bad_end()
                raise StopAsyncIteration

    async def next_batch(self) -> Iterator[Event] | None:
        """What is left of the events that one piece gave, else those of the next one; None at the end.

        Raises as `__anext__` does, but not for how the stream ended.
        """
        return self._queue if self._has_more() or await self._advance() else None

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
        """Leave: the source is closed, and an unfinished stream ends as "cancelled". May be called again.

        Raises:
            RuntimeError: another task is reading.
            BaseException: whatever `on_event` raised.
        """
        await self._release()
        self._raise_from_observer()

    async def _release(self) -> None:
        if self._is_being_read:
            raise RuntimeError(_ANOTHER_TASK)
        self._leave()
        if self._source is not None:
            await self._source.aclose()

    async def _advance(self) -> bool:
        """Read until there are events to hand out; False once all were."""
        if self._is_being_read:
            raise RuntimeError(_ANOTHER_TASK)
        if self._observer is not None and self._observer.error is not None:
            await self.aclose()
        source, deadline = self._source, self._deadline
        while source is not None and not self._is_over:
            self._is_being_read = True
            try:
                piece = await (source.read() if deadline is None else deadline.aread(source))
            except BaseException as error:
                events = self._break(error)
                if events is None:
                    await source.aclose()
                    raise
            else:
                events = self._take(piece)
            finally:
                self._is_being_read = False
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
        """Leave as by `aclose()`, but let no exception of `on_event` take the place of one that is under way."""
        await self._release()
        if error is None:
            self._raise_from_observer()

    def __del__(self) -> None:
        """The last resort, loud because it may come late or never."""
        if self._source is not None and not self._is_over:
            self._source.abandon()
            warnings.warn(_UNCLOSED.format("AsyncEventStream"), ResourceWarning, stacklevel=2, source=self)


def stream(source: object, **options: Unpack[StreamOptions]) -> EventStream:
    """Read a streamed answer as typed events.

    Args:
        source: bytes, a response of an HTTP client, an SDK's stream, a binary file, or an iterable of bytes or of
            parsed chunks (dicts, pydantic models).
        **options: those of `StreamDecoder`, and
            errors: "raise" (the default): a failed or truncated stream raises after its last event; "event": nothing is
                raised, look at `StreamEnd.status`.
            first_event_timeout: seconds to wait for the first event of the answer.
            idle_timeout: seconds to wait for each event of the answer after that; and for the first one, unless it has
                a limit of its own. Only waiting counts, and comments that keep the line warm do not end it. A stream
                that is too slow ends as truncated. A read that blocks cannot be stopped synchronously: it is looked at
                when a piece has come.
            on_event: is called with each event just before it is handed out, `StreamEnd` included, and with what is
                dropped because the reader leaves. What it raises passes through, and the source is closed.

    Raises:
        SourceError: the source cannot be read.
        ValueError: an option has a value that does not exist.
    """
    return EventStream(source, **options)


def astream(source: object, **options: Unpack[StreamOptions]) -> AsyncEventStream:
    """Read a streamed answer as typed events, asynchronously. As `stream()`, of an asynchronous source or of bytes.

    Raises:
        SourceError: the source cannot be read.
    """
    return AsyncEventStream(source, **options)


def parse(source: object, **options: Unpack[StreamOptions]) -> ModelResponse:
    """Read a whole answer: bytes, or any other source that `stream()` takes.

    Raises:
        StreamFailedError: with `errors="raise"`: the vendor said error. What came before is in its `response`.
        StreamTruncatedError: likewise: the answer is not whole.
        StreamTimeoutError: likewise: a deadline passed.
        SourceError: the source cannot be read.
    """
    with EventStream(source, **options) as events:
        return events.final()


async def aparse(source: object, **options: Unpack[StreamOptions]) -> ModelResponse:
    """Read a whole answer asynchronously. As `parse()`.

    Raises:
        StreamFailedError: with `errors="raise"`: the vendor said error. What came before is in its `response`.
        StreamTruncatedError: likewise: the answer is not whole.
        StreamTimeoutError: likewise: a deadline passed.
        SourceError: the source cannot be read.
    """
    async with AsyncEventStream(source, **options) as events:
        return await events.final()
