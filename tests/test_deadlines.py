"""Deadlines: what counts as a sign of life, what a reader is told, and what never counts as waiting.

The short deadlines are passed by servers that would be silent for ever; the long ones are never reached.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import pytest

from streamshim.consecutive import iter_responses
from streamshim.conversion import aconvert, convert
from streamshim.errors import StreamFailedError, StreamshimError, StreamTimeoutError, StreamTruncatedError
from streamshim.events import ErrorReport, Event, StreamEnd
from streamshim.streams import aparse, astream, parse, stream
from tests.clients import AsyncOpener, Opener, every_async_client, every_client
from tests.loopback import PATIENCE_SECONDS, WATCH, LoopbackServer, serve
from tests.small_streams import CHAT, RESPONSES, VENDOR_ERROR, chat, frame, responses

SHORT, LONG = 0.05, 60.0
KEEP_ALIVE = b": keep-alive\n\n"
EMPTY_DELTA = frame(chat({"content": ""}))
NO_SIGNS_OF_LIFE = {
    "comments": KEEP_ALIVE,
    "empty deltas": EMPTY_DELTA,
    "the start alone": frame(responses("in_progress", response={"id": "resp_1"})),
    "frames that nobody knows": frame({"type": "vendor.heartbeat"}),
    "metadata": frame({"id": "chatcmpl-1", "service_tier": "flex", "choices": []}),
}


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


class Trickle:
    """Pieces at once, and then the same one again and again for a long time, from either kind of loop."""

    def __init__(self, pieces: list[bytes], then: bytes = KEEP_ALIVE, *, every: float = SHORT / 5) -> None:
        self.pieces = iter(pieces)
        self.then = then
        self.every = every
        self.given_up = time.monotonic() + PATIENCE_SECONDS
        self.closed = 0

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        for piece in self.pieces:
            return piece
        time.sleep(self.every)
        if time.monotonic() > self.given_up:
            raise AssertionError("the deadline never passed")
        return self.then

    def close(self) -> None:
        self.closed += 1


class AsyncTrickle(Trickle):
    """As above; where `then` is empty it is silent for ever."""

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        for piece in self.pieces:
            return piece
        await asyncio.sleep(self.every if self.then else PATIENCE_SECONDS)
        return self.then


def drain(events: Any) -> tuple[list[Event], StreamshimError | None]:
    seen: list[Event] = []
    try:
        for event in events:
            seen.append(event)  # noqa: PERF402 -- what came before the exception counts
    except StreamshimError as error:
        return seen, error
    return seen, None


# -- what is told -----------------------------------------------------------------------------------------------------


def test_a_stream_that_is_too_slow_raises_after_its_events_with_what_came() -> None:
    source = Trickle(CHAT[:2])
    seen, error = drain(stream(source, idle_timeout=SHORT))
    assert isinstance(error, StreamTimeoutError)
    assert isinstance(error, TimeoutError)
    assert str(error) == "nothing of the answer came for 0.05 s (idle_timeout)"
    assert error.response is not None
    assert (error.response.text, error.response.status) == ("Hello", "truncated")
    assert [event.type for event in seen] == [
        "stream_start",
        "text_start",
        "text_delta",
        "text_delta",
        "error_report",
        "text_end",
        "finish",
        "stream_end",
    ]
    assert source.closed == 1


def test_a_slow_async_stream_raises_after_its_events_with_what_came() -> None:
    async def main() -> None:
        source = AsyncTrickle(CHAT[:2], then=b"")
        seen: list[Event] = []
        with pytest.raises(StreamTimeoutError, match=r"for 0.05 s \(idle_timeout\)") as raised:
            async for event in astream(source, idle_timeout=SHORT):
                seen.append(event)  # noqa: PERF401 -- what came before the exception counts
        assert isinstance(seen[-1], StreamEnd)
        assert raised.value.response is not None
        assert (raised.value.response.text, raised.value.response.status) == ("Hello", "truncated")
        assert source.closed == 1

    asyncio.run(main())


def test_with_errors_as_events_a_timeout_is_an_error_report_and_a_truncated_end() -> None:
    seen, error = drain(stream(Trickle(CHAT[:1]), idle_timeout=SHORT, errors="event"))
    assert error is None
    (report,) = [event.error for event in seen if isinstance(event, ErrorReport)]
    assert (report.kind, report.message) == ("timeout", "nothing of the answer came for 0.05 s (idle_timeout)")
    assert isinstance(seen[-1], StreamEnd)
    assert seen[-1].status == "truncated"

    async def main() -> list[Event]:
        source = AsyncTrickle(CHAT[:1], then=b"")
        return [event async for event in astream(source, idle_timeout=SHORT, errors="event")]

    assert asyncio.run(main()) == seen


def test_a_call_that_was_open_at_the_deadline_is_not_to_be_answered() -> None:
    call = {"index": 0, "id": "call_1", "function": {"name": "look", "arguments": '{"at":1}'}}
    answer = parse(Trickle([frame(chat({"tool_calls": [call]}))]), idle_timeout=SHORT, errors="event")
    assert answer.tool_calls[0].status == "truncated"
    assert answer.calls_to_answer == []


@pytest.mark.parametrize("wait", ["first_event_timeout", "idle_timeout"])
def test_a_stream_that_never_begins_is_too_slow_as_well(wait: Any) -> None:
    deadline: Any = {wait: SHORT}
    with pytest.raises(StreamTimeoutError, match=wait) as raised:
        parse(Trickle([]), **deadline)
    assert raised.value.response is not None
    assert raised.value.response.choices == []
    with pytest.raises(StreamTimeoutError, match=wait):
        asyncio.run(aparse(AsyncTrickle([], then=b""), **deadline))


# -- what is a sign of life -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", NO_SIGNS_OF_LIFE.values(), ids=NO_SIGNS_OF_LIFE.keys())
@pytest.mark.parametrize("wait", ["first_event_timeout", "idle_timeout"])
def test_what_keeps_the_line_warm_is_no_sign_of_life(wait: Any, noise: bytes) -> None:
    begin = [] if wait == "first_event_timeout" else CHAT[:1]
    if noise == NO_SIGNS_OF_LIFE["the start alone"]:
        begin = begin and RESPONSES[:4]
    tellings: list[Any] = [{}, {"raw": True, "repairs": True}]
    for options in tellings:
        deadline: Any = {wait: SHORT, **options}
        with pytest.raises(StreamTimeoutError, match=wait):
            parse(Trickle(begin, noise), **deadline)
        with pytest.raises(StreamTimeoutError, match=wait):
            asyncio.run(aparse(AsyncTrickle(begin, noise), **deadline))


def test_the_first_event_may_take_longer_than_the_others() -> None:
    def pieces() -> Iterator[bytes]:
        for _ in range(4):
            time.sleep(0.1)
            yield KEEP_ALIVE
        yield from CHAT

    assert parse(pieces(), first_event_timeout=LONG, idle_timeout=0.3).text == "Hello"
    with pytest.raises(StreamTimeoutError, match="first_event_timeout"):
        parse(pieces(), first_event_timeout=0.3, idle_timeout=LONG)


def test_the_time_begins_anew_with_each_sign_of_life() -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for piece in [*CHAT[:1] * 6, *CHAT[1:]]:
            await asyncio.sleep(0.1)
            yield piece

    async def main() -> str:
        return (await aparse(pieces(), idle_timeout=0.5)).text

    assert asyncio.run(main()) == "Hel" * 6 + "lo"


def test_a_slow_reader_is_no_slow_stream() -> None:
    with stream(iter(CHAT), idle_timeout=0.2, first_event_timeout=0.2) as events:
        for event in events:
            if event.type in ("stream_start", "text_end"):
                time.sleep(0.25)
        assert events.response.status == "completed"

    async def main() -> None:
        async with astream(AsyncTrickle(CHAT), idle_timeout=0.2, first_event_timeout=0.2) as events:
            async for event in events:
                if event.type == "text_delta":
                    await asyncio.sleep(0.25)
                if event.type == "text_delta" and event.delta == "lo":
                    break
            assert events.response.text == "Hello"

    asyncio.run(main())


def test_what_a_blocking_read_brings_in_the_end_is_taken_though_it_is_late() -> None:
    def pieces() -> Iterator[bytes]:
        yield CHAT[0]
        time.sleep(SHORT * 2)
        yield from CHAT[1:]

    assert parse(pieces(), idle_timeout=SHORT).text == "Hello"


# -- what a deadline does not change ----------------------------------------------------------------------------------


def test_an_answer_that_is_whole_by_its_finish_word_is_not_made_worse_by_a_silent_connection() -> None:
    assert parse(Trickle(CHAT[:3]), idle_timeout=SHORT).status == "completed"
    assert asyncio.run(aparse(AsyncTrickle(CHAT[:3], then=b""), idle_timeout=SHORT)).status == "completed"


def test_an_error_of_the_vendor_outweighs_the_deadline() -> None:
    with pytest.raises(StreamFailedError, match="the engine is on fire"):
        parse(Trickle([CHAT[0], frame(VENDOR_ERROR)]), idle_timeout=SHORT)


def test_a_timeout_of_the_source_itself_is_a_broken_connection() -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield CHAT[0]
        raise TimeoutError("the socket's own")

    with pytest.raises(StreamTruncatedError, match="the connection broke: the socket's own") as raised:
        asyncio.run(aparse(pieces(), idle_timeout=LONG))
    assert isinstance(raised.value.__cause__, TimeoutError)


def test_nothing_that_came_in_time_is_lost() -> None:
    async def pieces() -> AsyncIterator[bytes]:
        """Comes in while the deadline is armed anew for every piece."""
        for piece in CHAT:
            for byte in piece:
                await asyncio.sleep(0)
                yield bytes([byte])

    assert asyncio.run(aparse(pieces(), idle_timeout=LONG)) == parse(CHAT)


def test_a_source_that_swallows_the_interruption_is_timed_out_with_what_it_still_gave() -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield CHAT[0]
        try:
            await asyncio.sleep(PATIENCE_SECONDS)
        except asyncio.CancelledError:
            yield KEEP_ALIVE
        yield CHAT[1]

    with pytest.raises(StreamTimeoutError) as raised:
        asyncio.run(aparse(pieces(), idle_timeout=SHORT))
    assert raised.value.response is not None
    assert raised.value.response.text == "Hel"


def test_a_cancellation_from_outside_passes_while_a_deadline_runs() -> None:
    async def main() -> None:
        source = AsyncTrickle(CHAT[:2], then=b"")
        events = astream(source, idle_timeout=LONG)
        task = asyncio.create_task(events.final())
        while events.stats.deltas < 2:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert task.cancelled()
        assert (events.response.status, source.closed) == ("cancelled", 1)

    asyncio.run(asyncio.wait_for(main(), PATIENCE_SECONDS))


def test_a_cancellation_that_comes_with_the_deadline_is_not_swallowed_by_it() -> None:
    async def main() -> None:
        task: asyncio.Task[Any]

        class Source(AsyncTrickle):
            async def __anext__(self) -> bytes:
                try:
                    return await super().__anext__()
                except asyncio.CancelledError:  # the deadline's; now comes the one from outside
                    task.cancel()
                    await asyncio.sleep(PATIENCE_SECONDS)
                    raise AssertionError("not cancelled") from None

        task = asyncio.create_task(aparse(Source(CHAT[:1], then=b""), idle_timeout=SHORT))
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(asyncio.wait_for(main(), PATIENCE_SECONDS))


def test_a_surrounding_timeout_of_the_reader_s_own_still_works() -> None:
    async def main() -> None:
        with pytest.raises(TimeoutError) as raised:
            async with asyncio.timeout(SHORT):
                await aparse(AsyncTrickle(CHAT[:1], then=b""), idle_timeout=LONG)
        assert not isinstance(raised.value, StreamshimError)

    asyncio.run(main())


# -- everywhere -------------------------------------------------------------------------------------------------------


@every_client
def test_each_client_s_silent_server_is_given_up_and_the_connection_closed(open_response: Opener) -> None:
    """The client's own read timeout cannot see it: comments come all the time."""
    with serve([*CHAT[:1], *[KEEP_ALIVE] * 3, WATCH]) as server, open_response(server.url) as response:
        with stream(response, idle_timeout=1e-9) as events, pytest.raises(StreamTimeoutError):
            events.final()
        assert server.sees_the_client_close()


@every_async_client
def test_each_async_client_s_silent_server_is_given_up_and_the_connection_closed(open_response: AsyncOpener) -> None:
    async def main(server: LoopbackServer) -> None:
        async with open_response(server.url) as response:
            with pytest.raises(StreamTimeoutError) as raised:
                await aparse(response, first_event_timeout=LONG, idle_timeout=SHORT)
            assert raised.value.response is not None
            assert raised.value.response.text == "Hello"
            assert await asyncio.to_thread(server.sees_the_client_close)

    with serve([*CHAT[:2], WATCH]) as server:
        asyncio.run(main(server))


def test_a_silent_error_body_still_tells_its_status() -> None:
    with (
        serve([b"half a sen", KEEP_ALIVE, WATCH], status=503) as server,
        httpx.stream("POST", server.url, verify=False) as response,
        pytest.raises(StreamFailedError, match="HTTP status 503: half a sen"),
    ):
        parse(response, idle_timeout=1e-9)


def test_conversions_and_consecutive_responses_take_deadlines_too() -> None:
    with convert(Trickle(CHAT[:1]), to="chat", idle_timeout=SHORT) as frames:
        assert b"stream_truncated" in b"".join(frames)
        assert frames.end is not None
        assert frames.end.status == "truncated"
    (events,) = iter_responses(Trickle(RESPONSES[:5]), idle_timeout=SHORT)
    with pytest.raises(StreamTimeoutError):
        events.final()

    async def main() -> None:
        async with aconvert(AsyncTrickle(CHAT[:1], then=b""), to="responses", idle_timeout=SHORT) as frames:
            assert b"stream_truncated" in b"".join([piece async for piece in frames])

    asyncio.run(main())


@pytest.mark.parametrize("wait", ["first_event_timeout", "idle_timeout"])
@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
def test_a_deadline_is_a_positive_number(wait: Any, seconds: float) -> None:
    options: Any = {wait: seconds}
    with pytest.raises(ValueError, match=f"{wait} must be a positive number of seconds or None, not {seconds}"):
        stream(CHAT, **options)


def test_without_deadlines_no_event_loop_of_asyncio_s_is_needed() -> None:
    """A coroutine is driven by hand here, as another event loop would."""

    async def pieces() -> AsyncIterator[bytes]:
        for piece in CHAT:
            yield piece

    with pytest.raises(StopIteration) as returned:
        aparse(pieces()).send(None)
    assert returned.value.value.text == "Hello"
