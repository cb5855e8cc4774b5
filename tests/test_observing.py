"""What can be seen of a stream besides its events: an observer, statistics, and the place where it stopped."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from typing import Any

import openai
import pytest

from streamshim import event_stream
from streamshim.consecutive import iter_responses
from streamshim.conversion import convert
from streamshim.cursor import Cursor
from streamshim.decode.decoder import StreamDecoder
from streamshim.errors import StreamEndError, StreamFailedError, StreamTimeoutError, StreamTruncatedError
from streamshim.events import Event, StreamEnd
from streamshim.response import collect
from streamshim.stats import StreamStats
from streamshim.streams import AsyncEventStream, EventStream, aparse, astream, parse, stream
from tests.clients import Endpoint, sdk
from tests.fake_sources import agenerate
from tests.loopback import BREAK, Step, serve
from tests.small_streams import (
    CHAT,
    CHAT_CALL,
    DONE,
    RESPONSES,
    VENDOR_ERROR,
    chat,
    frame,
    response_frames,
    response_payloads,
)

USAGE = frame({**chat({}), "choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 20, "total_tokens": 25}})
WITH_USAGE = [*CHAT[:3], USAGE, DONE]
WHOLE = {"chat": CHAT, "call": CHAT_CALL, "responses": RESPONSES}
every_stream = pytest.mark.parametrize("pieces", [*WHOLE.values(), *([b"".join(it)] for it in WHOLE.values())])


def numbered_ids() -> Callable[[str], str]:
    numbers = itertools.count()
    return lambda prefix: f"{prefix}_{next(numbers)}"


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def pushed(pieces: Iterable[bytes]) -> list[Event]:
    decoder = StreamDecoder()
    return [event for piece in pieces for event in decoder.feed(piece)] + decoder.close()


def quietly(events: Iterable[Event]) -> None:
    try:
        for _ in events:
            pass
    except StreamEndError:
        pass


# -- the observer -----------------------------------------------------------------------------------------------------


@every_stream
def test_each_event_is_shown_in_order_just_before_it_is_handed_out(pieces: list[bytes]) -> None:
    shown: list[Event] = []
    handed_out: list[Event] = []
    with stream(pieces, on_event=shown.append) as events:
        for event in events:
            handed_out.append(event)
            assert shown == handed_out
            assert events.response == collect(handed_out)
    assert shown == pushed(pieces)


def test_an_observer_is_shown_the_same_by_every_way_of_reading() -> None:
    expected = pushed(CHAT)

    def by_next(events: EventStream) -> None:
        assert list(iter(lambda: next(events, None), None)) == expected

    ways: list[Callable[[EventStream], object]] = [
        list,
        by_next,
        lambda it: it.final(),
        lambda it: list(it.text_deltas()),
    ]
    for read in ways:
        for pieces in (CHAT, [b"".join(CHAT)]):
            shown: list[Event] = []
            read(stream(pieces, on_event=shown.append))
            assert shown == expected
    shown = []
    parse(CHAT, on_event=shown.append)
    assert shown == expected

    async def main() -> None:
        async def by_anext(events: AsyncEventStream) -> None:
            while await anext(events, None):
                pass

        async def by_loop(events: AsyncEventStream) -> None:
            async for _ in events:
                pass

        for read in (by_anext, by_loop, AsyncEventStream.final):
            shown: list[Event] = []
            await read(astream(agenerate(CHAT), on_event=shown.append))
            assert shown == expected

    asyncio.run(main())


@pytest.mark.parametrize("pieces", [CHAT, [b"".join(CHAT)]], ids=["by frames", "in one piece"])
def test_an_observer_sees_the_end_of_a_stream_that_its_reader_left(pieces: list[bytes]) -> None:
    shown: list[Event] = []
    with stream(pieces, on_event=shown.append) as events:
        for event in events:
            if event.type == "text_delta":
                break
    assert shown[-1] is events.end
    assert events.end is not None
    assert events.end.status == "cancelled"
    assert collect(shown) == events.response
    events.close()
    assert [event.type for event in shown].count("stream_end") == 1


def test_an_observer_sees_the_end_of_a_cancelled_task_s_stream() -> None:
    async def main() -> None:
        shown: list[Event] = []

        async def pieces() -> AsyncIterator[bytes]:
            yield CHAT[0]
            await asyncio.Event().wait()

        task = asyncio.create_task(aparse(pieces(), on_event=shown.append))
        while not shown:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert isinstance(shown[-1], StreamEnd)
        assert shown[-1].status == "cancelled"

    asyncio.run(main())


class Observer:
    """Raises when it is shown one type of event."""

    def __init__(self, kind: str, error: BaseException) -> None:
        self.kind = kind
        self.error = error
        self.shown: list[str] = []

    def __call__(self, event: Event) -> None:
        self.shown.append(event.type)
        if event.type == self.kind:
            raise self.error


class Closing:
    """Pieces that tell how often they were closed."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self.pieces = iter(pieces)
        self.closed = 0

    def __iter__(self) -> Iterator[bytes]:
        return self.pieces

    def close(self) -> None:
        self.closed += 1


KINDS = ["stream_start", "text_delta", "finish", "stream_end"]


@pytest.mark.parametrize("error", [ZeroDivisionError(), KeyboardInterrupt()], ids=repr)
@pytest.mark.parametrize("pieces", [CHAT, [b"".join(CHAT)]], ids=["by frames", "in one piece"])
@pytest.mark.parametrize("kind", KINDS)
def test_what_an_observer_raises_reaches_the_reader_once_and_the_source_is_closed(
    kind: str, pieces: list[bytes], error: BaseException
) -> None:
    observer, source = Observer(kind, error), Closing(pieces)
    events = stream(source, on_event=observer)
    handed_out: list[str] = []
    with pytest.raises(type(error)) as raised, events:
        for event in events:
            handed_out.append(event.type)  # noqa: PERF401 -- what came before the exception counts
    assert raised.value is error
    assert observer.shown == [*handed_out, kind]
    assert source.closed == 1
    assert list(events) == []
    assert events.response.status == ("completed" if kind == "stream_end" else "cancelled")
    events.close()


@pytest.mark.parametrize("kind", KINDS)
def test_what_an_observer_raises_reaches_an_async_reader_too(kind: str) -> None:
    async def main() -> None:
        observer = Observer(kind, ZeroDivisionError())
        events = astream(agenerate(CHAT), on_event=observer)
        with pytest.raises(ZeroDivisionError):
            await events.final()
        assert observer.shown[-1] == kind
        assert (await events.final()).status == ("completed" if kind == "stream_end" else "cancelled")

    asyncio.run(main())


@pytest.mark.parametrize("kind", ["text_end", "stream_end"])
def test_what_an_observer_raises_while_the_reader_leaves_passes_once_all_is_closed(kind: str) -> None:
    source = Closing(CHAT)
    events = stream(source, on_event=Observer(kind, ZeroDivisionError()))
    next(events)
    with pytest.raises(ZeroDivisionError):
        events.close()
    assert (source.closed, events.response.status) == (1, "cancelled")
    events.close()

    async def main() -> None:
        events = astream(agenerate(CHAT), on_event=Observer(kind, ZeroDivisionError()))
        await anext(events)
        with pytest.raises(ZeroDivisionError):
            await events.aclose()
        await events.aclose()
        assert events.response.status == "cancelled"

    asyncio.run(main())


def test_what_an_observer_raises_never_takes_the_place_of_the_reader_s_own_exception() -> None:
    with pytest.raises(KeyError), stream(CHAT, on_event=Observer("stream_end", ZeroDivisionError())) as events:
        next(events)
        raise KeyError

    async def main() -> None:
        with pytest.raises(KeyError):
            async with astream(agenerate(CHAT), on_event=Observer("stream_end", ZeroDivisionError())) as events:
                await anext(events)
                raise KeyError

    asyncio.run(main())


def test_an_observer_may_close_the_stream() -> None:
    shown: list[str] = []

    def observe(event: Event) -> None:
        shown.append(event.type)
        if event.type == "text_delta":
            events.close()

    for pieces in (CHAT, [b"".join(CHAT)]):
        shown.clear()
        source = Closing(pieces)
        events = stream(source, on_event=observe)
        seen = [event.type for event in events]
        assert seen == ["stream_start", "text_start", "text_delta"]
        assert shown[-1] == "stream_end"
        assert (source.closed, events.response.status) == (1, "cancelled")


def test_an_observer_that_would_have_to_be_awaited_is_refused() -> None:
    async def observe(event: Event) -> None: ...

    with pytest.raises(TypeError, match="on_event must be a plain function"):
        stream(CHAT, on_event=observe)


def test_observers_watch_conversions_and_consecutive_responses_too() -> None:
    shown: list[Event] = []
    with convert(CHAT, to="responses", on_event=shown.append) as frames:
        list(frames)
    assert [event.type for event in shown] == [event.type for event in pushed(CHAT)]
    shown.clear()
    for events in iter_responses([*RESPONSES, *response_frames("two", response_id="resp_2")], on_event=shown.append):
        events.final()
    assert [event.response_id for event in shown if isinstance(event, StreamEnd)] == ["resp_1", "resp_2"]


# -- statistics -------------------------------------------------------------------------------------------------------


@every_stream
def test_statistics_count_what_came_however_the_bytes_were_cut(pieces: list[bytes]) -> None:
    whole = pushed(pieces)
    with stream(pieces) as events:
        for number, _ in enumerate(events, 1):
            assert events.stats.events == number
    stats = events.stats
    assert stats.bytes == sum(map(len, pieces))
    assert stats.frames == b"".join(pieces).count(b"data:")
    assert stats.events == len(whole)
    assert stats.deltas == sum(event.type.endswith("_delta") for event in whole)


@pytest.mark.parametrize("collect", [True, False])
def test_counts_are_right_when_events_were_collected_or_dropped_in_between(
    monkeypatch: pytest.MonkeyPatch, collect: bool
) -> None:
    monkeypatch.setattr(event_stream, "KEPT_EVENTS", 10)
    pieces = [*(frame(chat({"content": "x"})) for _ in range(100)), *CHAT_CALL]
    whole = pushed(pieces)
    with stream(pieces, collect=collect) as events:
        for number, _ in enumerate(events, 1):
            if number % 7 == 0:
                assert events.stats.deltas == sum(event.type.endswith("_delta") for event in whole[:number])
    assert (events.stats.events, events.stats.deltas) == (len(whole), 102)


def test_counts_include_what_is_dropped_because_the_reader_leaves() -> None:
    with stream([b"".join(CHAT)]) as events:
        next(events)
    assert (events.stats.deltas, events.stats.events) == (2, len(pushed([b"".join(CHAT)])))


def test_times_are_none_until_they_are_known_and_follow_one_another() -> None:
    def pieces() -> Iterator[bytes]:
        yield b": keep-alive\n\n"
        seen.append(events.stats)
        time.sleep(0.02)
        yield frame(chat({"reasoning_content": "hm"}))
        seen.append(events.stats)
        time.sleep(0.02)
        yield from CHAT
        seen.append(events.stats)

    seen: list[StreamStats] = []
    events = stream(pieces())
    seen.append(events.stats)
    events.final()
    new, warm, thinking, telling = seen
    assert (new.time_to_first_byte, new.time_to_first_event, new.time_to_first_text) == (None, None, None)
    assert warm.time_to_first_byte is not None
    assert (warm.time_to_first_event, warm.time_to_first_text) == (None, None)
    assert thinking.time_to_first_event is not None
    assert thinking.time_to_first_text is None
    assert telling.time_to_first_text is not None
    assert thinking.time_to_first_event >= warm.time_to_first_byte + 0.02
    assert telling.time_to_first_text >= thinking.time_to_first_event + 0.02
    last = events.stats
    assert (last.time_to_first_byte, last.time_to_first_event, last.time_to_first_text) == (
        warm.time_to_first_byte,
        thinking.time_to_first_event,
        telling.time_to_first_text,
    )
    assert last.duration >= telling.duration >= telling.time_to_first_text
    assert 0.04 <= last.duration < 20


@pytest.mark.parametrize("raw", [False, True])
def test_the_first_event_is_one_of_the_answer_and_not_one_beside_it(raw: bool) -> None:
    with stream(RESPONSES[:1], raw=raw, errors="event") as events:
        assert next(events).type == "stream_start"
        assert events.stats.time_to_first_byte is not None
        assert events.stats.time_to_first_event is None


def leave(events: EventStream) -> None:
    next(events)
    events.close()


def interrupt(events: EventStream) -> None:
    next(events)
    with pytest.raises(ZeroDivisionError), events:
        raise ZeroDivisionError


WAYS_OUT: dict[str, tuple[Any, Callable[[EventStream], object]]] = {
    "end": (CHAT, quietly),
    "end of Responses": (RESPONSES, quietly),
    "final": (CHAT, EventStream.final),
    "cut": (CHAT[:2], quietly),
    "failed": ([CHAT[0], frame(VENDOR_ERROR)], quietly),
    "left": (CHAT, leave),
    "interrupted": (CHAT, interrupt),
    "never started": (CHAT, EventStream.close),
    "empty": ([], quietly),
}


@pytest.mark.parametrize(("pieces", "way_out"), WAYS_OUT.values(), ids=WAYS_OUT.keys())
def test_statistics_and_cursor_are_final_by_every_way_out(
    pieces: list[bytes], way_out: Callable[[EventStream], object]
) -> None:
    events = stream(pieces)
    way_out(events)
    stats, cursor = events.stats, events.cursor
    assert events.end is not None
    time.sleep(0.001)
    events.close()
    quietly(events)
    assert (events.stats, events.cursor) == (stats, cursor)
    assert stats.duration > 0


def test_tokens_per_second_are_the_vendor_s_tokens_over_the_whole_time() -> None:
    with stream(WITH_USAGE) as events:
        next(events)
        assert (events.stats.output_tokens, events.stats.tokens_per_second) == (None, None)
        events.final()
    stats = events.stats
    assert stats.output_tokens == 20
    assert stats.tokens_per_second == 20 / stats.duration
    with stream(CHAT) as events:
        events.final()
    assert events.stats.tokens_per_second is None


def test_parsed_chunks_have_frames_and_no_bytes() -> None:
    with stream(response_payloads("one")) as events:
        events.final()
    assert (events.stats.bytes, events.stats.frames) == (0, len(response_payloads("one")))


def test_an_http_error_s_body_is_counted() -> None:
    body = b'{"error": {"message": "slow down"}}'
    with serve([body], status=429) as server, sdk(server.url) as client:
        response = client._client.stream("POST", server.url)
        with stream(response, errors="event") as events:
            events.final()
    assert events.stats.bytes == len(body)


# -- where it stopped -------------------------------------------------------------------------------------------------


def identified(frames: Iterable[bytes]) -> list[bytes]:
    return [b"id: %d\n" % number + piece for number, piece in enumerate(frames, 100)]


def test_the_cursor_goes_along_with_the_frames_that_were_read() -> None:
    with stream(identified(RESPONSES)) as events:
        assert events.cursor == Cursor(None, None, None)
        for event in events:
            if event.type == "text_delta":
                break
        assert events.cursor == Cursor("resp_1", 3, "103")
        events.final()
        assert events.cursor == Cursor("resp_1", len(RESPONSES) - 1, str(99 + len(RESPONSES)))


def test_a_half_frame_does_not_move_the_cursor() -> None:
    body = b"".join(identified(RESPONSES))
    cut = body.index(b"id: 104") + len(b'id: 104\nevent: response.output_text.delta\ndata: {"type"')
    with pytest.raises(StreamTruncatedError) as raised:
        parse(body[:cut])
    assert raised.value.cursor == Cursor("resp_1", 3, "103")


@pytest.mark.parametrize(
    ("pieces", "options", "kind"),
    [
        (RESPONSES[:5], {}, StreamTruncatedError),
        ([*RESPONSES[:5], frame(VENDOR_ERROR)], {}, StreamFailedError),
        (itertools.chain(RESPONSES[:5], itertools.repeat(b": ping\n\n")), {"idle_timeout": 0.01}, StreamTimeoutError),
    ],
    ids=["cut", "failed", "too slow"],
)
def test_what_is_raised_says_where_it_stopped(pieces: Any, options: Any, kind: type[StreamEndError]) -> None:
    with pytest.raises(kind) as raised:
        parse(pieces, **options)
    assert raised.value.cursor is not None
    assert (raised.value.cursor.response_id, raised.value.cursor.sequence_number) == ("resp_1", 4)


def test_a_chat_stream_has_an_id_and_no_numbers() -> None:
    with stream(CHAT) as events:
        events.final()
    assert events.cursor == Cursor("chatcmpl-1", None, None)


def test_parsed_events_have_numbers_too() -> None:
    with stream(response_payloads("one")[:4], errors="event") as events:
        events.final()
    assert events.cursor == Cursor("resp_1", 3, None)


@pytest.mark.parametrize("ending", [[BREAK], []], ids=["broken", "cut in order"])
@pytest.mark.parametrize("cut", range(1, len(RESPONSES) - 1))
def test_a_source_that_takes_up_again_at_the_live_cursor_gives_one_whole_stream(cut: int, ending: list[Step]) -> None:
    """A response in background mode goes on without its reader, and can be asked for again from any event on."""

    def chunks(client: openai.OpenAI) -> Iterator[Any]:
        try:
            yield from Endpoint(client, "responses").create()
        except openai.APIConnectionError:
            assert ending
        where = events.cursor
        assert where.response_id is not None
        assert where.sequence_number is not None
        with serve(RESPONSES[cut:]) as second, sdk(second.url) as again:
            try:
                yield from again.responses.retrieve(
                    where.response_id, stream=True, starting_after=where.sequence_number
                )
            finally:
                requests.extend(second.requests)

    requests: list[str] = []
    with serve([*RESPONSES[:cut], *ending]) as first, sdk(first.url) as client:
        events = stream(chunks(client))
        assert list(events) == pushed(RESPONSES)
    assert requests == [f"/v1/responses/resp_1?starting_after={cut - 1}&stream=true"]


def test_an_sdk_s_stream_can_be_left_and_its_cursor_still_read() -> None:
    with (
        serve([*RESPONSES, DONE]) as server,
        sdk(server.url) as client,
        stream(Endpoint(client, "responses").create()) as events,
    ):
        for _ in events.text_deltas():
            break
    assert events.cursor.response_id == "resp_1"
    assert events.cursor.sequence_number is not None
