"""streamshim's own doors: the decoder, the shells around it, parsed payloads, and the relay."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..loads import Load, Said
from . import AsyncDoor, Door
from .memory_http import URL, MemoryWire
from .payloads import joined, said_by_payloads

if TYPE_CHECKING:
    from streamshim.events import Event

Pieces = Sequence[bytes]
_KINDS = {"text_delta": "text", "reasoning_delta": "reasoning", "tool_call_delta": "arguments"}


def decoder(**options: Any) -> Door:
    """`StreamDecoder`, fed every piece."""
    from streamshim import StreamDecoder

    def read(pieces: Pieces) -> Iterator[list[Event]]:
        stream = StreamDecoder(**options)
        for piece in pieces:
            yield stream.feed(piece)
        yield stream.close()

    return Door(read, said_by_events)


def shell() -> Door:
    """`stream()` around an iterable of bytes."""
    from streamshim import stream

    def read(pieces: Pieces) -> Iterator[Iterable[Event]]:
        with stream(pieces) as events:
            yield events

    return Door(read, said_by_events)


def async_shell() -> AsyncDoor:
    """`astream()` around an asynchronous iterable of bytes."""
    from streamshim import astream

    async def source(pieces: Pieces) -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece

    async def read(pieces: Pieces) -> AsyncIterator[Event]:
        async with astream(source(pieces)) as events:
            async for event in events:
                yield event

    return AsyncDoor(read, said_by_events)


def response() -> Door:
    """`stream()` around a response of httpx2: what an HTTP client adds, as for the libraries that bring one."""
    import httpx2

    from streamshim import stream

    wire = MemoryWire(httpx2)
    client = wire.client()

    def read(pieces: Pieces) -> Iterator[Iterable[Event]]:
        wire.pieces = pieces
        with client.stream("POST", URL, json={}) as response, stream(response) as events:
            yield events

    return Door(read, said_by_events)


def push() -> Door:
    """`feed_payload`, given what somebody has parsed already."""
    from streamshim import StreamDecoder

    def read(payloads: list[dict[str, Any]]) -> Iterator[list[Event]]:
        stream = StreamDecoder()
        for payload in payloads:
            yield stream.feed_payload(payload)
        yield stream.close()

    return Door(read, said_by_events, prepare=payloads_of)


def relay(to: Any) -> Door:
    """`convert()` to the wire that it reads: bytes in, bytes out."""
    from streamshim import convert

    def read(pieces: Pieces) -> Iterator[Iterable[bytes]]:
        with convert(pieces, to=to) as frames:
            yield frames

    return Door(read, lambda frames: said_by_payloads(_parsed(b"".join(frames))))


def said_by_events(events: Iterable[Any]) -> Said:
    """What streamshim's events say; they have to say as well that the stream is whole."""
    *told, end = events
    if end.type != "stream_end" or end.status != "completed":
        raise ValueError(f"the last event is {end!r}")
    return joined((_KINDS[event.type], event.delta) for event in told if event.type in _KINDS)


def payloads_of(load: Load) -> list[dict[str, Any]]:
    """The payloads of a load, parsed."""
    return list(_parsed(load.joined()))


def _parsed(data: bytes) -> Iterator[dict[str, Any]]:
    import orjson

    for event in data.split(b"\n\n"):
        start = event.find(b"{")
        if start >= 0:
            yield orjson.loads(event[start:])
