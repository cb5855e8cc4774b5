"""Several responses on one stream of bytes, one after another: `iter_responses()` and `aiter_responses()`."""

from __future__ import annotations

import logging
import re
from collections import deque
from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing, closing, suppress
from typing import Unpack

from .errors import SourceError, StreamEndError
from .event_stream import StreamOptions
from .pieces import AsyncSource, Piece, Source
from .sources import open_async_source, open_source
from .streams import AsyncEventStream, EventStream

logger = logging.getLogger("streamshim")

_BROKE_IN_GAP = "the source broke between two responses: the one before it was whole, and no other was begun"


class Gap:
    """Blank lines, comments and `[DONE]`, in pieces: passed over until something else comes."""

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


def iter_responses(source: object, **options: Unpack[StreamOptions]) -> Generator[EventStream, None, None]:
    """One `EventStream` after another from one source, for gateways that send several responses on one stream.

    A stream that was not read to its end when the next one is asked for is read to its end then. Closing one before
    its end is the end of all, and closes the source.

    Raises:
        SourceError: the source cannot be read.
    """
    with closing(open_source(source)) as whole:
        events = EventStream(whole.borrow(), **options)
        try:
            while True:
                yield events
                if events.end is None:
                    with suppress(StreamEndError):
                        deque(events, maxlen=0)
                start = _next_start(events.unused_data, whole)
                if start is None:
                    return
                events = EventStream(whole.borrow(start), **options)
        finally:
            events.close()


async def aiter_responses(source: object, **options: Unpack[StreamOptions]) -> AsyncGenerator[AsyncEventStream, None]:
    """One `AsyncEventStream` after another from one asynchronous source. As `iter_responses()`.

    Raises:
        SourceError: the source cannot be read.
    """
    async with aclosing(open_async_source(source)) as whole:
        events = AsyncEventStream(whole.borrow(), **options)
        try:
            while True:
                yield events
                if events.end is None:
                    with suppress(StreamEndError):
                        async for _ in events:
                            pass
                start = await _anext_start(events.unused_data, whole)
                if start is None:
                    return
                events = AsyncEventStream(whole.borrow(start), **options)
        finally:
            await events.aclose()


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
