"""What a type checker knows about the values that the front doors give."""

# pyright: strict, reportUnnecessaryTypeIgnoreComment=true

from collections.abc import AsyncIterator, Iterator
from typing import assert_type

import streamshim
from streamshim import AsyncEventStream, Cursor, Event, EventStream, ModelResponse, StreamEnd, StreamStats, Usage


def decoder(data: bytes) -> None:
    decoder = streamshim.StreamDecoder(reasoning_tags="off")
    assert_type(decoder.feed(data), list[Event])
    assert_type(decoder.feed_payload({"choices": []}), list[Event])
    assert_type(decoder.close(), list[Event])
    assert_type(decoder.usage, Usage | None)
    assert_type(decoder.end, StreamEnd | None)
    streamshim.StreamDecoder(reasoning_tags="sometimes")  # type: ignore[arg-type]


def all_at_once(body: bytes) -> None:
    assert_type(streamshim.parse(body), ModelResponse)
    assert_type(streamshim.collect([]), ModelResponse)


def sync_stream(pieces: list[bytes]) -> None:
    with streamshim.stream(pieces) as events:
        assert_type(events, EventStream)
        for event in events:
            assert_type(event, Event)
        assert_type(events.text_deltas(), Iterator[str])
        assert_type(events.final(), ModelResponse)
        assert_type(events.response, ModelResponse)
        assert_type(events.end, StreamEnd | None)
        assert_type(events.stats, StreamStats)
        assert_type(events.cursor, Cursor)
    streamshim.stream(pieces, errors="event", idle_timeout=30, on_event=print, collect=False)
    streamshim.stream(pieces, errors="never")  # type: ignore[arg-type]
    for events in streamshim.iter_responses(pieces):
        assert_type(events, EventStream)


async def async_stream(pieces: AsyncIterator[bytes]) -> None:
    async with streamshim.astream(pieces) as events:
        assert_type(events, AsyncEventStream)
        async for event in events:
            assert_type(event, Event)
        assert_type(events.text_deltas(), AsyncIterator[str])
        assert_type(await events.final(), ModelResponse)
        assert_type(events.response, ModelResponse)
    assert_type(await streamshim.aparse(pieces), ModelResponse)
    async for events in streamshim.aiter_responses(pieces):
        assert_type(events, AsyncEventStream)
