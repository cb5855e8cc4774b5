"""The laws of the event stream, on arbitrary bytes, on generated streams, and on real ones that were damaged."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import streamshim
from streamshim import events as e
from streamshim import json_codec
from streamshim.quirks import QUIRKS
from streamshim.testing import breaches, without_asides
from tests.reading import decode, first_difference
from tests.strategies import bodies, chunks, cut_bodies, response_events

options = st.fixed_dictionaries(
    {},
    optional={
        "reasoning_tags": st.sampled_from(["auto", "off", "open"]),
        "tool_markup": st.booleans(),
        "raw": st.booleans(),
        "repairs": st.booleans(),
        "strict": st.one_of(st.booleans(), st.just({"json-lenient", "tool-id-missing"})),
        "trust_eof": st.booleans(),
        "max_frame_bytes": st.sampled_from([40, 200, 64 * 1024 * 1024]),
    },
)


@given(body=bodies, broken=st.booleans(), options=options)
def test_any_bytes_give_one_grammatical_stream(body: bytes, broken: bool, options: dict[str, Any]) -> None:
    """Laws 1, 2, 3 and 5: one start, one end, parts by the grammar, and nothing raises."""
    events = decode([body], broken=broken, **options)
    assert breaches(events) == []


@given(cut=cut_bodies(), broken=st.booleans(), options=options)
def test_the_cut_of_the_bytes_never_shows(
    cut: tuple[bytes, list[bytes]], broken: bool, options: dict[str, Any]
) -> None:
    """Law 4."""
    body, pieces = cut
    whole = decode([body], broken=broken, **options)
    assert first_difference(whole, decode(pieces, broken=broken, **options)) is None
    single = [body[i : i + 1] for i in range(len(body))]
    assert first_difference(whole, decode(single, broken=broken, **options)) is None


@given(body=bodies)
def test_ends_without_text_are_all_that_collect_changes(body: bytes) -> None:
    """Law 3: with collect=False text Ends carry None, arguments are kept."""
    lean = decode([body], collect=False)
    assert breaches(lean) == []
    full = decode([body])
    for event in full:
        if isinstance(event, e.TextEnd | e.ReasoningEnd | e.RefusalEnd):
            event.text = None
    assert first_difference(full, lean) is None


@given(body=bodies)
def test_asides_change_nothing_else(body: bytes) -> None:
    told = decode([body], raw=True, repairs=True)
    assert first_difference(decode([body]), without_asides(told)) is None


@given(body=bodies)
def test_every_repair_is_counted_under_a_row_of_the_table(body: bytes) -> None:
    events = decode([body], repairs=True)
    end = events[-1]
    assert isinstance(end, e.StreamEnd)
    told = [event.quirk for event in events if isinstance(event, e.Repair)]
    assert {quirk: told.count(quirk) for quirk in told} == end.repairs
    assert end.repairs.keys() <= QUIRKS.keys()


@given(payloads=st.one_of(st.lists(chunks, max_size=6), st.lists(response_events, max_size=6)))
def test_payloads_give_what_their_bytes_give(payloads: list[dict[str, Any]]) -> None:
    """A parsed payload and its frame mean the same, where the wire is JSON in the strict sense."""
    bodies = [json.dumps(payload, ensure_ascii=False) for payload in payloads]
    try:
        frames = b"".join(b"data: " + body.encode() + b"\n\n" for body in bodies)
        payloads = [json_codec.loads(body) for body in bodies]
    except ValueError:
        return
    numbers = itertools.count()
    decoder = streamshim.StreamDecoder(make_id=lambda prefix: f"{prefix}_made_{next(numbers)}")
    pushed = [event for payload in payloads for event in decoder.feed_payload(payload)]
    pushed += decoder.close()
    assert first_difference(decode([frames]), pushed) is None


@given(cut=cut_bodies())
def test_sync_async_and_push_are_one(cut: tuple[bytes, list[bytes]]) -> None:
    """Law 9."""
    _, pieces = cut
    pushed = decode(pieces)

    def numbered() -> Any:
        numbers = itertools.count()
        return lambda prefix: f"{prefix}_made_{next(numbers)}"

    async def source() -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece

    async def collect() -> list[e.Event]:
        async with streamshim.astream(source(), errors="event", make_id=numbered()) as stream:
            return [event async for event in stream]

    with streamshim.stream(iter(pieces), errors="event", make_id=numbered()) as stream:
        pulled = list(stream)
    assert first_difference(pushed, pulled) is None
    assert first_difference(pushed, asyncio.run(collect())) is None


@given(body=bodies, places=st.integers(0, 200))
def test_the_reader_may_leave_at_any_time(body: bytes, places: int) -> None:
    decoder = streamshim.StreamDecoder()
    events = decoder.feed(body[:places])
    ended_by_itself = decoder.end is not None
    events += decoder.cancel()
    assert breaches(events) == []
    assert decoder.end is not None
    if not ended_by_itself:
        assert decoder.end.status in ("cancelled", "failed", "truncated")
    assert decoder.feed(b"data: more\n\n") == decoder.close() == decoder.cancel() == []
