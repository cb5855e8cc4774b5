"""The shells: what a reader is handed, how a stream ends for them, and how they may leave it."""

from __future__ import annotations

import asyncio
import gc
import itertools
import json
import subprocess
import sys
import warnings
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamshim import event_stream
from streamshim.consecutive import Gap, aiter_responses, iter_responses
from streamshim.decode.decoder import StreamDecoder
from streamshim.errors import SourceError, StreamEndError, StreamFailedError, StreamTruncatedError
from streamshim.event_stream import ERROR_BODY_BYTES
from streamshim.events import ErrorReport, Event, StreamEnd, TextDelta, TextEnd, ToolCallEnd
from streamshim.response import collect
from streamshim.streams import AsyncEventStream, EventStream, aparse, astream, parse, stream
from tests.fake_sources import AsyncBody, BytesResponse, SyncBody, agenerate
from tests.small_streams import (
    CALL_CHUNKS,
    CHAT,
    CHAT_CALL,
    CHAT_CHUNKS,
    DONE,
    RESPONSES,
    VENDOR_ERROR,
    chat,
    frame,
    response_frames,
    response_object,
    response_payloads,
    responses,
)

CUT = CHAT[:2]
FAILED = [CHAT[0], frame(VENDOR_ERROR)]
RATE_LIMIT = json.dumps({"error": {"message": "slow down", "type": "requests", "code": "rate_limit_exceeded"}}).encode()
INCOMPLETE = [
    *RESPONSES[:4],
    frame(
        responses(
            "incomplete",
            response={**response_object("incomplete"), "incomplete_details": {"reason": "max_output_tokens"}},
        )
    ),
]


class Tap:
    """A source that tells how far it was read and whether it was closed, and may end in an exception."""

    def __init__(self, pieces: Iterable[bytes], error: BaseException | None = None) -> None:
        self.pieces = list(pieces)
        self.error = error
        self.taken = 0
        self.closed = 0

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        if self.taken == len(self.pieces):
            raise self.error or StopIteration
        self.taken += 1
        return self.pieces[self.taken - 1]

    def close(self) -> None:
        self.closed += 1


class AsyncTap:
    """The asynchronous twin; without an error it may also wait for ever at its end."""

    def __init__(self, pieces: Iterable[bytes], error: BaseException | None = None, *, hangs: bool = False) -> None:
        self.sync = Tap(pieces, error)
        self.hangs = hangs
        self.is_waiting = asyncio.Event()
        self.was_closed = asyncio.Event()

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        if self.hangs and self.sync.taken == len(self.sync.pieces):
            self.is_waiting.set()
            await asyncio.Event().wait()
        for piece in self.sync:
            return piece
        raise StopAsyncIteration

    async def aclose(self) -> None:
        self.sync.close()
        self.was_closed.set()

    @property
    def closed(self) -> int:
        return self.sync.closed


def numbered_ids() -> Callable[[str], str]:
    numbers = itertools.count()
    return lambda prefix: f"{prefix}_{next(numbers)}"


def pushed(pieces: Iterable[bytes], **options: Any) -> list[Event]:
    decoder = StreamDecoder(**options)
    events = [event for piece in pieces for event in decoder.feed(piece)]
    return events + decoder.close()


async def read_async(source: object, **options: Any) -> list[Event]:
    return [event async for event in astream(source, **options)]


def drain(events: Iterable[Event]) -> tuple[list[Event], StreamEndError | None]:
    """Every event, and what was raised after them."""
    seen: list[Event] = []
    try:
        for event in events:
            seen.append(event)  # noqa: PERF402 -- what came before the exception counts
    except StreamEndError as error:
        return seen, error
    return seen, None


async def drain_async(events: AsyncEventStream) -> tuple[list[Event], StreamEndError | None]:
    seen: list[Event] = []
    try:
        async for event in events:
            seen.append(event)  # noqa: PERF401 -- what came before the exception counts
    except StreamEndError as error:
        return seen, error
    return seen, None


def let_go(holders: list[Any]) -> None:
    holders.clear()
    gc.collect()


def types(events: Iterable[Event]) -> list[str]:
    return [event.type for event in events]


def ended(events: EventStream | AsyncEventStream) -> str | None:
    return events.end.status if events.end else None


# -- reading ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pieces", [CHAT, CHAT_CALL, RESPONSES, INCOMPLETE], ids=["chat", "call", "responses", "cut"])
def test_sync_async_and_push_give_the_same_events(pieces: list[bytes]) -> None:
    expected = pushed(pieces, make_id=numbered_ids())
    assert list(stream(pieces, make_id=numbered_ids())) == expected
    assert asyncio.run(read_async(agenerate(pieces), make_id=numbered_ids())) == expected
    assert asyncio.run(read_async(b"".join(pieces), make_id=numbered_ids())) == expected


@given(data=st.data(), pieces=st.sampled_from([CHAT, CHAT_CALL, RESPONSES, INCOMPLETE, CUT, FAILED, [RATE_LIMIT]]))
def test_sync_async_and_push_agree_wherever_the_bytes_are_cut_or_end(data: st.DataObject, pieces: list[bytes]) -> None:
    body = b"".join(pieces)
    body = body[: data.draw(st.integers(0, len(body)))]
    places = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=8)))
    cuts = [body[start:stop] for start, stop in itertools.pairwise([0, *places, len(body)])]
    expected = pushed(cuts, make_id=numbered_ids())
    assert list(stream(cuts, errors="event", make_id=numbered_ids())) == expected
    assert asyncio.run(read_async(agenerate(cuts), errors="event", make_id=numbered_ids())) == expected
    assert parse(cuts, errors="event", make_id=numbered_ids()) == collect(expected)


@pytest.mark.parametrize(
    ("payloads", "pieces"), [(CHAT_CHUNKS, CHAT), (CALL_CHUNKS, CHAT_CALL), (response_payloads("Hel", "lo"), RESPONSES)]
)
def test_parsed_chunks_say_what_their_bytes_say(payloads: list[Any], pieces: list[bytes]) -> None:
    assert parse(payloads) == parse(pieces)
    assert asyncio.run(aparse(agenerate(payloads))) == parse(pieces)


def test_a_loop_may_be_left_and_taken_up_again() -> None:
    body = b"".join(CHAT)
    with stream([body]) as events:
        seen = [next(events), next(events)]
        for event in events:
            seen.append(event)
            if event.type == "text_delta":
                break
        seen += events
    assert seen == pushed([body])


def test_an_async_loop_may_be_left_and_taken_up_again() -> None:
    async def main() -> list[Event]:
        async with astream(b"".join(CHAT)) as events:
            seen = [await anext(events), await anext(events)]
            async for event in events:
                seen.append(event)
                if event.type == "text_delta":
                    break
            return seen + [event async for event in events]

    assert asyncio.run(main()) == pushed([b"".join(CHAT)])


def test_a_batch_is_what_is_left_of_one_piece_and_counts_as_seen_only_as_it_is_taken() -> None:
    source = Tap(CHAT)
    with stream(source) as events:
        seen = [next(events)]
        batch = events.next_batch()
        assert (batch, source.taken) == (events.next_batch(), 1)
        while batch := events.next_batch():
            for event in batch:
                seen.append(event)
                assert events.response == collect(seen)
        assert source.taken == len(CHAT)
    assert seen == pushed(CHAT)


def test_an_async_batch_is_what_is_left_of_one_piece() -> None:
    async def main() -> None:
        source = AsyncTap(CHAT)
        async with astream(source) as events:
            seen = [await anext(events)]
            batch = await events.next_batch()
            assert (batch, source.sync.taken) == (await events.next_batch(), 1)
            while batch := await events.next_batch():
                seen += batch
        assert seen == pushed(CHAT)

    asyncio.run(main())


@pytest.mark.parametrize("pieces", [RESPONSES, [b"".join(RESPONSES)]], ids=["by frames", "in one piece"])
def test_the_response_is_what_the_reader_has_seen_so_far_however_the_bytes_came(pieces: list[bytes]) -> None:
    seen: list[Event] = []
    with stream(pieces) as events:
        for event in events:
            seen.append(event)
            assert events.response == collect(seen)
            assert events.end is (event if event.type == "stream_end" else None)
    assert ended(events) == "completed"


def test_the_async_response_is_what_the_reader_has_seen_so_far() -> None:
    async def main() -> None:
        seen: list[Event] = []
        async with astream(b"".join(RESPONSES)) as events:
            assert events.end is None
            async for event in events:
                seen.append(event)
                assert events.response == collect(seen)
        assert ended(events) == "completed"

    asyncio.run(main())


def test_a_response_that_nobody_looks_at_is_kept_in_bounds_and_whole_in_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(event_stream, "KEPT_EVENTS", 10)
    pieces = [*(frame(chat({"content": f"{number} "})) for number in range(100)), *CHAT[2:]]
    most = 0
    with stream(pieces) as events:
        for _ in events:
            most = max(most, len(events._kept))
    assert most <= 10
    assert events.response.text == "".join(f"{number} " for number in range(100))


def test_text_deltas_are_the_answer_of_choice_0() -> None:
    other = frame(chat({"content": "Hullo"}, index=1))
    pieces = [CHAT[0], other, *CHAT[1:]]
    assert list(stream(pieces).text_deltas()) == ["Hel", "lo"]

    async def main() -> list[str]:
        return [delta async for delta in astream(agenerate(pieces)).text_deltas()]

    assert asyncio.run(main()) == ["Hel", "lo"]


def test_text_deltas_raise_at_a_bad_end() -> None:
    seen: list[str] = []
    with pytest.raises(StreamTruncatedError):
        for delta in stream(CUT).text_deltas():
            seen.append(delta)  # noqa: PERF402
    assert seen == ["Hel", "lo"]


def test_decoder_options_reach_the_decoder() -> None:
    assert "raw_frame" in types(stream(CHAT, raw=True))
    assert "raw_frame" in types(asyncio.run(read_async(agenerate(CHAT), raw=True)))
    assert parse(CHAT[:1], trust_eof=True).status == "completed"


def test_an_error_mode_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="errors must be .*, not 'rasie'"):
        stream(CHAT, errors="rasie")  # type: ignore[arg-type]


def test_an_option_that_does_not_exist_is_a_type_error_and_nothing_is_left_open() -> None:
    with pytest.raises(TypeError, match="no_such_option"):
        stream(CHAT, no_such_option=True)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="no_such_option"):
        astream(agenerate(CHAT), no_such_option=True)  # type: ignore[call-arg]


def test_uncollected_texts_are_handed_out_but_not_kept() -> None:
    with stream(CHAT, collect=False) as events:
        seen = list(events)
        assert not [event for event in events._kept if isinstance(event, TextDelta)]
    assert [event.delta for event in seen if isinstance(event, TextDelta)] == ["Hel", "lo"]
    assert [event.text for event in seen if isinstance(event, TextEnd)] == [None]
    assert (events.response.text, events.response.status) == ("", "completed")


def test_uncollected_streams_keep_their_tool_calls_whole() -> None:
    (call,) = parse(CHAT_CALL, collect=False).calls_to_answer
    assert call.parsed() == {"at": 1}


@pytest.mark.parametrize("kept", [16 * 1024, 1], ids=["short", "long"])
def test_reading_events_without_looking_at_the_response_loads_no_pydantic(kept: int) -> None:
    program = f"""
import sys
from streamshim import event_stream
from streamshim.streams import stream
event_stream.KEPT_EVENTS = {kept}
with stream({CHAT!r}) as events:
    count = len(list(events))
    assert (events._collector is not None) == ({kept} == 1)
before = "pydantic" in sys.modules
text = events.response.text
print(count, before, "pydantic" in sys.modules, text)
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.split() == [str(len(pushed(CHAT))), "False", "True", "Hello"]


# -- ends -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pieces", "status"), [(CHAT, "completed"), (RESPONSES, "completed"), (INCOMPLETE, "incomplete")]
)
def test_good_ends_and_incomplete_ones_do_not_raise(pieces: list[bytes], status: str) -> None:
    events = stream(pieces)
    assert drain(events)[1] is None
    assert ended(events) == events.final().status == parse(pieces).status == status
    with pytest.raises(StopIteration):
        next(events)


def test_a_cut_stream_raises_after_every_event_was_handed_out() -> None:
    with stream(CUT) as events:
        seen, error = drain(events)
    assert seen == pushed(CUT)
    assert isinstance(seen[-1], StreamEnd)
    assert isinstance(error, StreamTruncatedError)
    assert error.response == collect(seen)
    assert error.__cause__ is None


def test_a_cut_async_stream_raises_after_every_event_was_handed_out() -> None:
    async def main() -> tuple[list[Event], StreamEndError | None]:
        async with astream(agenerate(CUT)) as events:
            return await drain_async(events)

    seen, error = asyncio.run(main())
    assert seen == pushed(CUT)
    assert isinstance(error, StreamTruncatedError)
    assert error.response == collect(seen)


def test_next_raises_only_after_the_stream_end_was_returned_and_then_every_time() -> None:
    with stream(CUT) as events:
        last = next(events)
        while events.end is None:
            last = next(events)
        assert isinstance(last, StreamEnd)
        for _ in range(2):
            with pytest.raises(StreamTruncatedError):
                next(events)
        with pytest.raises(StreamTruncatedError):
            next(iter(events))


def test_anext_raises_only_after_the_stream_end_was_returned_and_then_every_time() -> None:
    async def main() -> None:
        async with astream(agenerate(CUT)) as events:
            last = await anext(events)
            while events.end is None:
                last = await anext(events)
            assert isinstance(last, StreamEnd)
            for _ in range(2):
                with pytest.raises(StreamTruncatedError):
                    await anext(events)

    asyncio.run(main())


def test_a_broken_connection_is_the_cause_of_what_is_raised() -> None:
    broken = ConnectionResetError("gone")
    source = Tap(CUT, broken)
    with stream(source) as events:
        seen, error = drain(events)
    assert isinstance(error, StreamTruncatedError)
    assert error.__cause__ is broken
    assert error.error is not None
    assert error.error.kind == "transport"
    assert [event.error for event in seen if isinstance(event, ErrorReport)] == [error.error]
    assert source.closed == 1


def test_a_broken_async_connection_is_the_cause_of_what_is_raised() -> None:
    async def main() -> None:
        broken = ConnectionResetError("gone")
        source = AsyncTap(CUT, broken)
        async with astream(source) as events:
            _, error = await drain_async(events)
        assert isinstance(error, StreamTruncatedError)
        assert error.__cause__ is broken
        assert source.closed == 1

    asyncio.run(main())


def test_a_connection_that_breaks_after_the_finish_word_is_a_good_end() -> None:
    events = stream(Tap(CHAT[:3], ConnectionResetError("gone")))
    assert events.final().status == "completed"


def test_a_vendor_s_error_raises_with_what_it_said_and_what_came_before() -> None:
    seen, error = drain(stream(FAILED))
    assert types(seen) == types(pushed(FAILED))
    assert isinstance(error, StreamFailedError)
    assert error.error is not None
    assert (error.error.message, error.error.code) == ("the engine is on fire", "overheated")
    assert "the engine is on fire" in str(error)
    assert error.response is not None
    assert (error.response.text, error.response.status) == ("Hel", "failed")


@pytest.mark.parametrize(("pieces", "kind"), [(CUT, StreamTruncatedError), (FAILED, StreamFailedError)])
def test_final_and_parse_raise_as_iterating_does(pieces: list[bytes], kind: type[StreamEndError]) -> None:
    with pytest.raises(kind):
        parse(pieces)
    with pytest.raises(kind):
        asyncio.run(aparse(agenerate(pieces)))
    events = stream(pieces)
    for _ in range(2):
        with pytest.raises(kind) as raised:
            events.final()
        assert raised.value.response == events.response


@pytest.mark.parametrize(("pieces", "status"), [(CUT, "truncated"), (FAILED, "failed")])
def test_with_errors_as_events_nothing_is_raised(pieces: list[bytes], status: str) -> None:
    seen, error = drain(stream(pieces, errors="event"))
    assert (seen, error) == (pushed(pieces), None)
    assert parse(pieces, errors="event").status == status
    assert asyncio.run(aparse(agenerate(pieces), errors="event")).status == status
    assert parse(Tap(pieces, ConnectionResetError()), errors="event").status == status


@pytest.mark.parametrize("pieces", [CHAT, RESPONSES], ids=["chat", "responses"])
def test_final_reads_on_from_where_the_reader_is_and_may_be_called_again(pieces: list[bytes]) -> None:
    with stream([b"".join(pieces)]) as events:
        next(events)
        answer = events.final()
        assert list(events) == []
        assert events.final() == answer == parse(pieces)


@pytest.mark.parametrize("pieces", [CHAT, RESPONSES], ids=["chat", "responses"])
def test_async_final_reads_on_and_may_be_called_again(pieces: list[bytes]) -> None:
    async def main() -> None:
        async with astream(agenerate([b"".join(pieces)])) as events:
            await anext(events)
            answer = await events.final()
            assert await events.final() == answer == parse(pieces)

    asyncio.run(main())


def test_on_responses_the_stream_is_over_at_the_terminal_event_and_the_source_closed() -> None:
    source = Tap([*RESPONSES, DONE, b"never read"])
    events = stream(source)
    for event in events:
        if event.type == "stream_end":
            break
    assert source.taken == len(RESPONSES)
    assert source.closed == 1
    assert ended(events) == "completed"


def test_on_async_responses_the_stream_is_over_at_the_terminal_event() -> None:
    async def main() -> None:
        source = AsyncTap(RESPONSES, hangs=True)
        events = astream(source)
        answer = await asyncio.wait_for(events.final(), 20)
        assert (answer.text, source.closed, ended(events)) == ("Hello", 1, "completed")

    asyncio.run(main())


def test_an_exhausted_source_is_closed_without_being_asked() -> None:
    source = Tap(CHAT)
    list(stream(source))
    assert source.closed == 1


# -- leaving ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pieces", "text"),
    [(CHAT, "Hel"), (RESPONSES, "Hel"), ([b"".join(CHAT)], "Hello"), ([b"".join(RESPONSES)], "Hello")],
    ids=["chat", "responses", "chat in one piece", "responses in one piece"],
)
def test_closing_before_the_end_cancels_and_raises_nothing(pieces: list[bytes], text: str) -> None:
    source = Tap(pieces)
    events = stream(source)
    for event in events:
        if event.type == "text_delta":
            events.close()
    assert source.closed == 1
    assert ended(events) == events.response.status == "cancelled"
    assert [part.text for part in events.response.choices[0].parts if part.type == "text"] == [text]
    assert list(events) == []
    assert events.final() == events.response
    events.close()
    assert source.closed == 1


def test_what_was_read_before_the_reader_left_is_told_once() -> None:
    new = [frame(responses("novelty", number=number)) for number in range(3)]
    with stream([b"".join([RESPONSES[0], new[0], *RESPONSES[1:4], new[1], RESPONSES[4], new[2]])]) as events:
        for event in events:
            if event.type == "text_delta":
                assert [unknown.data["number"] for unknown in events.response.unknown] == [0]
                break
    assert [unknown.data["number"] for unknown in events.response.unknown] == [0, 1, 2]


def test_closing_async_before_the_end_cancels_and_raises_nothing() -> None:
    async def main() -> None:
        source = AsyncTap(CHAT)
        events = astream(source)
        async for event in events:
            if event.type == "text_delta":
                await events.aclose()
        await events.aclose()
        assert source.closed == 1
        assert ended(events) == events.response.status == "cancelled"
        assert events.response.text == "Hel"
        assert await events.final() == events.response

    asyncio.run(main())


def test_a_stream_that_was_never_started_can_be_closed() -> None:
    source = Tap(CHAT)
    events = stream(source)
    events.close()
    assert (source.taken, source.closed, ended(events)) == (0, 1, "cancelled")

    async def main() -> None:
        source = AsyncTap(CHAT)
        await astream(source).aclose()
        assert source.closed == 1

    asyncio.run(main())


def test_a_call_that_was_open_when_the_reader_left_is_not_to_be_answered() -> None:
    with stream(CHAT_CALL[:2]) as events:
        for event in events:
            if event.type == "tool_call_start":
                break
    (call,) = events.response.tool_calls
    assert call.status == "truncated"
    assert events.response.calls_to_answer == []


def test_closing_after_the_end_changes_nothing() -> None:
    with stream(CUT, errors="event") as events:
        list(events)
    assert ended(events) == "truncated"


def test_a_reader_who_leaves_after_an_error_is_not_told_of_it_again() -> None:
    with stream([*FAILED, *CHAT]) as events:
        for event in events:
            if event.type == "error_report":
                break
    assert list(events) == []
    error = events.final().error
    assert error is not None
    assert error.message == "the engine is on fire"


def test_leaving_a_with_block_closes_the_source_and_lets_the_reader_s_exception_pass() -> None:
    source = Tap(CHAT)
    events = stream(source)
    with pytest.raises(ZeroDivisionError), events:
        raise ZeroDivisionError
    assert source.closed == 1
    assert ended(events) == "cancelled"


def test_leaving_an_async_with_block_closes_the_source_and_lets_the_reader_s_exception_pass() -> None:
    async def main() -> None:
        source = AsyncTap(CHAT)
        events = astream(source)
        with pytest.raises(ZeroDivisionError):
            async with events:
                raise ZeroDivisionError
        assert source.closed == 1
        assert ended(events) == "cancelled"

    asyncio.run(main())


@pytest.mark.parametrize("interruption", [KeyboardInterrupt(), GeneratorExit(), SystemExit(3)], ids=repr)
def test_an_interruption_passes_unchanged_and_leaves_the_partial_response(interruption: BaseException) -> None:
    source = Tap(CUT, interruption)
    events = stream(source)
    with pytest.raises(type(interruption)) as raised:
        list(events)
    assert raised.value is interruption
    assert source.closed == 1
    assert ended(events) == "cancelled"
    assert events.response.text == "Hello"


def test_a_cancelled_task_leaves_the_partial_response_and_a_closed_source() -> None:
    async def main() -> None:
        source = AsyncTap(CUT, hangs=True)
        events = astream(source)

        async def read() -> None:
            async for _ in events:
                pass

        task = asyncio.create_task(read())
        await source.is_waiting.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert task.cancelled()
        assert source.closed == 1
        assert ended(events) == "cancelled"
        assert events.response.text == "Hello"
        assert await events.final() == events.response

    asyncio.run(main())


def test_a_stream_that_is_closed_while_it_is_read_ends_quietly_for_its_reader() -> None:
    def pieces() -> Iterator[bytes]:
        yield CHAT[0]
        events.close()
        raise ConnectionAbortedError("closed by this side")

    events = stream(pieces())
    assert list(events.text_deltas()) == ["Hel"]
    assert ended(events) == "cancelled"


def test_an_item_that_cannot_be_read_is_the_reader_s_mistake_and_not_a_bad_stream() -> None:
    source = Tap([CHAT[0], "text"])  # type: ignore[list-item]
    events = stream(source)
    with pytest.raises(SourceError, match="a str"):
        list(events)
    assert (source.closed, ended(events)) == (1, "cancelled")

    async def main() -> None:
        source = AsyncTap([CHAT[0], "text"])  # type: ignore[list-item]
        events = astream(source)
        with pytest.raises(SourceError, match="a str"):
            await events.final()
        assert (source.closed, ended(events)) == (1, "cancelled")

    asyncio.run(main())


def test_what_came_of_reading_is_no_source() -> None:
    what_to_do = "is what comes of reading: take its events or its text as they are"
    with stream(CHAT) as events:
        for given in (events, parse(CHAT)):
            for door in (stream, astream):
                with pytest.raises(SourceError, match=what_to_do):
                    door(given)
    with pytest.raises(SourceError, match="it is an event: collect"):
        parse(pushed(CHAT))


def test_an_unfinished_stream_that_nobody_holds_warns_and_closes_its_source() -> None:
    source = Tap(CHAT)
    holders = [stream(source)]
    next(holders[0])
    with pytest.warns(ResourceWarning, match="unfinished EventStream was not closed"):
        let_go(holders)
    assert source.closed == 1


def test_a_loop_holds_the_stream_that_it_reads() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert types(stream(Tap(CHAT))) == types(pushed(CHAT))


def test_an_unfinished_async_stream_that_nobody_holds_warns_and_the_loop_closes_its_source() -> None:
    async def main() -> None:
        source = AsyncTap(CHAT)
        holders = [astream(source)]
        await anext(holders[0])
        with pytest.warns(ResourceWarning, match="unfinished AsyncEventStream was not closed"):
            let_go(holders)
        while not source.closed:
            await asyncio.sleep(0)
        assert source.closed == 1

    asyncio.run(asyncio.wait_for(main(), 20))


def test_a_finished_stream_that_nobody_holds_does_not_warn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        finished, closed = stream(CHAT), stream(CHAT)
        finished.final()
        closed.close()
        del finished, closed
        gc.collect()


# -- errors beside the stream -----------------------------------------------------------------------------------------


class ErrorResponse(BytesResponse):
    """A response with an error status and some pieces of body."""

    def __init__(
        self, status: int, pieces: Iterable[bytes], *, retry_after: str | None = None, error: Exception | None = None
    ) -> None:
        super().__init__(SyncBody())
        self.status_code = status
        self.tap = Tap(pieces, error)
        if retry_after:
            self.headers = {"retry-after": retry_after}

    def iter_bytes(self, chunk_size: int | None = None) -> Iterator[bytes]:
        return self.tap


class AsyncErrorResponse(ErrorResponse):
    def __init__(self, status: int, pieces: Iterable[bytes]) -> None:
        super().__init__(status, pieces)
        self.stream = AsyncBody()

    def aiter_bytes(self, chunk_size: int | None = None) -> AsyncIterator[bytes]:
        return agenerate(self.tap)


def test_an_http_error_status_raises_with_what_the_body_says() -> None:
    response = ErrorResponse(429, [RATE_LIMIT[:20], RATE_LIMIT[20:]], retry_after="7")
    with stream(response) as events:
        seen, error = drain(events)
    assert types(seen) == ["stream_start", "error_report", "stream_end"]
    assert isinstance(error, StreamFailedError)
    told = error.error
    assert told is not None
    assert (told.status, told.message, told.code) == (429, "slow down", "rate_limit_exceeded")
    assert (told.retryable, told.retry_after) == (True, 7.0)
    assert error.response is not None
    assert error.response.status == "failed"
    assert "close" in response.closed_by


@pytest.mark.parametrize("status", [200, 204, 399])
def test_any_other_http_status_is_read_as_a_stream(status: int) -> None:
    assert parse(ErrorResponse(status, CHAT)).text == "Hello"


def test_an_async_http_error_status_raises_with_what_the_body_says() -> None:
    with pytest.raises(StreamFailedError, match="slow down") as raised:
        asyncio.run(aparse(AsyncErrorResponse(429, [RATE_LIMIT])))
    assert raised.value.error is not None
    assert raised.value.error.status == 429


@pytest.mark.parametrize(
    ("status", "body", "told", "retryable"),
    [
        (502, b"<html><body>Bad Gateway</body></html>", "Bad Gateway", True),
        (503, b"", "HTTP status 503", True),
        (408, b"", "HTTP status 408", True),
        (404, b'{"path": "/v2"}', '{"path": "/v2"}', False),
        (400, b'data: {"error": {"message": "no such model"}}\n\n', "no such model", False),
    ],
)
def test_an_http_error_status_fails_whatever_its_body_is(status: int, body: bytes, told: str, retryable: bool) -> None:
    answer = parse(ErrorResponse(status, [body]), errors="event")
    assert answer.status == "failed"
    assert answer.error is not None
    assert told in answer.error.message
    assert (answer.error.status, answer.error.retryable) == (status, retryable)


def test_an_http_error_whose_body_breaks_off_still_fails() -> None:
    broken = ConnectionResetError("gone")
    with pytest.raises(StreamFailedError) as raised:
        parse(ErrorResponse(500, [b"half a sen"], error=broken))
    assert raised.value.__cause__ is broken
    assert raised.value.error is not None
    assert raised.value.error.status == 500


def test_no_more_of_an_http_error_s_body_is_read_than_can_be_of_use() -> None:
    piece = b"<p>sorry</p>" * 4096
    response = ErrorResponse(500, [piece] * 100)
    assert parse(response, errors="event").status == "failed"
    assert response.tap.taken * len(piece) < ERROR_BODY_BYTES + len(piece) < 100 * len(piece)


class ApiError(Exception):
    """As an SDK's: it has swallowed the error frame, and keeps its body."""

    def __init__(self, body: object) -> None:
        super().__init__("an error occurred during streaming")
        self.body = body


def test_an_sdk_s_exception_that_keeps_the_vendor_s_error_is_told_as_that_error() -> None:
    swallowed = ApiError(VENDOR_ERROR["error"])
    with pytest.raises(StreamFailedError, match="the engine is on fire") as raised:
        parse(Tap(CHAT[:1], swallowed))
    assert raised.value.__cause__ is swallowed
    assert raised.value.error is not None
    assert (raised.value.error.kind, raised.value.error.code) == ("vendor", "overheated")


def test_an_sdk_s_exception_may_keep_an_error_that_is_one_sentence() -> None:
    with pytest.raises(StreamFailedError, match="the engine is on fire"):
        parse(Tap(CHAT[:1], ApiError("the engine is on fire")))


class RefusedError(Exception):
    """As a client's that raises for the status of its response."""

    def __init__(self, response: object = None, **head: object) -> None:
        super().__init__("429, slow down")
        self.response = response
        vars(self).update(head)


class LoadedResponse:
    status_code = 429

    def __init__(self, content: bytes, headers: dict[str, str]) -> None:
        self.content = content
        self.headers = headers


HEADERS = {"retry-after": "7"}


@pytest.mark.parametrize(
    ("refusal", "said"),
    [
        (RefusedError(LoadedResponse(RATE_LIMIT, HEADERS)), "slow down"),
        (RefusedError(LoadedResponse(b"", HEADERS)), "the server answered with HTTP status 429"),
        (RefusedError(status=429, headers=HEADERS), "the server answered with HTTP status 429: 429, slow down"),
    ],
    ids=["body", "empty body", "no response"],
)
def test_a_client_s_exception_for_a_refused_request_is_told_as_the_http_error_that_it_is(
    refusal: Exception, said: str
) -> None:
    with pytest.raises(StreamFailedError, match=f"^{said}$") as raised:
        parse(Tap([], refusal))
    assert raised.value.__cause__ is refusal
    assert raised.value.error is not None
    assert (raised.value.error.status, raised.value.error.retry_after) == (429, 7.0)


@pytest.mark.parametrize(
    ("pieces", "refusal"),
    [
        ([], RefusedError(LoadedResponse(b"", {}))),
        ([], RefusedError(status=200, headers=HEADERS)),
        (CHAT[:1], RefusedError(LoadedResponse(RATE_LIMIT, HEADERS))),
    ],
    ids=["a made-up response", "no error status", "the stream had begun"],
)
def test_any_other_exception_of_a_client_is_a_broken_connection(pieces: list[bytes], refusal: Exception) -> None:
    with pytest.raises(StreamTruncatedError, match="the connection broke: 429, slow down"):
        parse(Tap(pieces, refusal))


def test_a_stream_of_which_nothing_came_at_all_says_so() -> None:
    with pytest.raises(StreamTruncatedError, match="before the answer was whole: nothing came at all$"):
        parse([])


@pytest.mark.parametrize("body", [None, {}, "", 7])
def test_an_sdk_s_exception_without_an_error_in_it_is_a_broken_connection(body: object) -> None:
    with pytest.raises(StreamTruncatedError) as raised:
        parse(Tap(CHAT[:1], ApiError(body)))
    assert isinstance(raised.value.__cause__, ApiError)


# -- several responses on one stream ----------------------------------------------------------------------------------

FIRST, SECOND = response_frames("one ", "two"), response_frames("three", response_id="resp_2")
GAPS = {
    "nothing": b"",
    "done": DONE,
    "done without a blank": b"data:[DONE]\n\n",
    "named done": b"event: done\ndata: [DONE]\n\n",
    "blank lines": b"\r\n\n \n",
    "comments": b": ping\n\n:\n: pong\n\n",
    "a long comment": b": " + b"x" * 2000 + b"\n\n",
    "all of it": b": ping\n\n\n" + DONE + b"\r\n: pong\r\n\r\n",
}


def cut(data: bytes, size: int) -> list[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)]


@pytest.mark.parametrize("size", [1, 7, 100_000])
@pytest.mark.parametrize("gap", GAPS.values(), ids=GAPS.keys())
def test_responses_on_one_stream_come_one_after_another_however_it_is_cut(gap: bytes, size: int) -> None:
    pieces = cut(b"".join(FIRST) + gap + b"".join(SECOND) + gap, size)
    answers = [events.final() for events in iter_responses(pieces)]
    assert [(answer.response_id, answer.text) for answer in answers] == [("resp_1", "one two"), ("resp_2", "three")]

    async def main() -> list[str]:
        return [(await events.final()).text async for events in aiter_responses(agenerate(pieces))]

    assert asyncio.run(main()) == ["one two", "three"]


@pytest.mark.parametrize("read", [0, 1, 3])
def test_a_response_that_was_not_read_to_its_end_is_passed_over(read: int) -> None:
    source = Tap(cut(b"".join(FIRST + SECOND), 50))
    texts: list[str] = []
    for events in iter_responses(source):
        list(itertools.islice(events, read))
        texts.append(events.response.text if events.response.response_id == "resp_2" else "")
    assert len(texts) == 2
    assert source.closed == 1


def test_async_responses_that_were_not_read_to_their_end_are_passed_over() -> None:
    async def main() -> None:
        source = AsyncTap(cut(b"".join(FIRST + SECOND), 50))
        ids = [(await anext(events)).type async for events in aiter_responses(source)]
        assert ids == ["stream_start", "stream_start"]
        assert source.closed == 1

    asyncio.run(main())


def test_closing_one_response_early_is_the_end_of_all() -> None:
    source = Tap(FIRST + SECOND)
    for number, events in enumerate(iter_responses(source)):
        assert number == 0
        with events:
            next(events)
    assert source.closed == 1
    assert source.taken < len(FIRST)


def test_closing_one_response_early_is_the_end_of_all_even_if_all_was_read_by_then() -> None:
    source = Tap([b"".join(FIRST + SECOND)])
    for number, events in enumerate(iter_responses(source)):
        assert number == 0
        with events:
            next(events)
    assert source.closed == 1


def test_unused_data_is_what_came_with_the_terminal_event_but_after_it() -> None:
    with stream([b"".join(RESPONSES) + b"more"]) as events:
        assert events.unused_data is None
        events.final()
        assert events.unused_data == b"more"
    with stream(CUT, errors="event") as events:
        events.final()
        assert events.unused_data is None


def test_leaving_the_responses_closes_the_source() -> None:
    source = Tap(FIRST + SECOND)
    all_responses = iter_responses(source)
    next(all_responses).final()
    all_responses.close()
    assert source.closed == 1

    async def main() -> None:
        source = AsyncTap(FIRST + SECOND)
        all_responses = aiter_responses(source)
        await (await anext(all_responses)).final()
        await all_responses.aclose()
        assert source.closed == 1

    asyncio.run(main())


def test_a_chat_stream_is_one_response() -> None:
    (answer,) = [events.final() for events in iter_responses(CHAT)]
    assert answer.text == "Hello"


def test_an_empty_stream_is_one_truncated_response_rather_than_none() -> None:
    (events,) = iter_responses([], errors="event")
    assert ended(events) == "truncated"


def test_a_second_response_that_is_cut_raises_when_it_is_read() -> None:
    first, second = iter_responses(FIRST + SECOND[:5])
    assert first.final().text == "one two"
    with pytest.raises(StreamTruncatedError):
        second.final()


def test_a_second_response_is_told_however_little_came_of_it() -> None:
    _, second = iter_responses([*FIRST, frame({"type": "response.created"})])
    with pytest.raises(StreamTruncatedError):
        second.final()


def test_a_line_that_is_too_long_to_be_filling_begins_a_response() -> None:
    line = b"event: " + b"x" * 2000
    assert Gap().take(line[:100]) is None
    assert Gap().take(line) == line


def test_payloads_of_several_responses_come_one_after_another() -> None:
    payloads = response_payloads("one") + response_payloads("two", response_id="resp_2")
    assert [events.final().text for events in iter_responses(payloads)] == ["one", "two"]


def test_a_connection_that_breaks_between_two_responses_ends_them() -> None:
    pieces = [*FIRST, b"\n"]
    answers = [events.final() for events in iter_responses(Tap(pieces, ConnectionResetError()))]
    assert [answer.text for answer in answers] == ["one two"]

    async def main() -> list[str]:
        source = AsyncTap(pieces, ConnectionResetError())
        return [(await events.final()).text async for events in aiter_responses(source)]

    assert asyncio.run(main()) == ["one two"]


def test_a_connection_that_breaks_in_the_first_response_raises_in_it() -> None:
    (events,) = iter_responses(Tap(FIRST[:4], ConnectionResetError()))
    with pytest.raises(StreamTruncatedError):
        events.final()


def test_an_http_error_is_one_failed_response() -> None:
    (events,) = iter_responses(ErrorResponse(429, [RATE_LIMIT]), errors="event")
    answer = events.final()
    assert answer.error is not None
    assert (answer.error.status, answer.error.message) == (429, "slow down")


# -- tool calls -------------------------------------------------------------------------------------------------------


def test_the_calls_of_an_answer_can_be_run() -> None:
    with stream(CHAT_CALL) as events:
        ends = [event for event in events if isinstance(event, ToolCallEnd)]
    (call,) = events.response.calls_to_answer
    assert (call.name, call.parsed()) == (ends[0].name, ends[0].parsed()) == ("look", {"at": 1})


def test_a_builtin_call_that_a_gateway_answered_on_the_same_stream_is_not_to_be_answered_again() -> None:
    calls = [
        {"id": f"sh_{name}", "type": "shell_call", "call_id": name, "action": {"commands": ["ls"]}}
        for name in ("a", "b")
    ]
    output = {"id": "sho_1", "type": "shell_call_output", "call_id": "a", "output": []}
    items = [{**item, "status": "completed"} for item in (*calls, output)]
    done = [responses("output_item.done", output_index=index, item=item) for index, item in enumerate(items)]
    completed = responses("completed", response=response_object("completed", output=items))
    answer = parse([responses("created", response=response_object("in_progress")), *done, completed])
    assert [call.call_id for call in answer.tool_calls] == ["a", "b"]
    assert [call.call_id for call in answer.calls_to_answer] == ["b"]
