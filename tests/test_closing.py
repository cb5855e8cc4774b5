"""Every way out of a stream, from every real client and every form of an SDK: the server sees the connection close."""

from __future__ import annotations

import asyncio
import gc
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from contextlib import closing, contextmanager, suppress
from typing import Any

import httpx
import pytest

from streamshim.consecutive import aiter_responses, iter_responses
from streamshim.conversion import aconvert, convert
from streamshim.pieces import AsyncSource
from streamshim.streams import AsyncEventStream, EventStream, astream, stream
from tests.clients import (
    ASYNC_CLIENTS,
    ASYNC_SDK_FORMS,
    SDK_FORMS,
    SYNC_CLIENTS,
    AsyncOpener,
    Opener,
    with_async_httpx,
    with_async_httpx_manager,
    with_httpx,
    with_httpx_manager,
)
from tests.loopback import PAUSE, WATCH, LoopbackServer, serve
from tests.small_streams import CHAT, RESPONSES, chat, frame

SYNC_SOURCES = [*SYNC_CLIENTS, *SDK_FORMS, with_httpx_manager]
ASYNC_SOURCES = [*ASYNC_CLIENTS, *ASYNC_SDK_FORMS, with_async_httpx_manager]
UNFINISHED = [*CHAT[:2], WATCH]
"""Two deltas, so that something is left after an SDK's stream was begun."""


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@contextmanager
def unclosed_is_told() -> Generator[None]:
    with pytest.warns(ResourceWarning, match="unfinished .*EventStream was not closed"):
        yield


def read_to_text(events: EventStream) -> None:
    for event in events:
        if event.type == "text_delta":
            return
    raise AssertionError("no text came")


async def aread_to_text(events: AsyncEventStream) -> None:
    async for event in events:
        if event.type == "text_delta":
            return
    raise AssertionError("no text came")


# -- sync -------------------------------------------------------------------------------------------------------------


def close(source: Any) -> None:
    events = stream(source)
    read_to_text(events)
    events.close()


def leave_a_with_block(source: Any) -> None:
    with stream(source) as events:
        read_to_text(events)


def raise_in_the_consumer(source: Any) -> None:
    with suppress(ZeroDivisionError), stream(source) as events:
        for event in events:
            if event.type == "text_delta":
                raise ZeroDivisionError


def raise_in_the_observer(source: Any) -> None:
    def observe(event: Any) -> None:
        if event.type == "text_delta":
            raise ZeroDivisionError

    events = stream(source, on_event=observe)
    with pytest.raises(ZeroDivisionError):
        list(events)


def lose_it(source: Any) -> None:
    events = stream(source)
    read_to_text(events)
    with unclosed_is_told():
        del events
        gc.collect()


def never_start(source: Any) -> None:
    with stream(source):
        pass


def never_start_and_lose_it(source: Any) -> None:
    with unclosed_is_told():
        stream(source)
        gc.collect()


def leave_a_conversion(source: Any) -> None:
    with convert(source, to="responses") as frames:
        next(frames)


def leave_consecutive_responses(source: Any) -> None:
    with closing(iter_responses(source)) as all_responses:
        read_to_text(next(all_responses))


WAYS_OUT: list[Callable[[Any], None]] = [
    close,
    leave_a_with_block,
    raise_in_the_consumer,
    raise_in_the_observer,
    lose_it,
    never_start,
    never_start_and_lose_it,
    leave_a_conversion,
    leave_consecutive_responses,
]


@pytest.mark.parametrize("open_source", SYNC_SOURCES, ids=lambda it: it.__name__)
@pytest.mark.parametrize("leave", WAYS_OUT, ids=lambda it: it.__name__)
def test_each_way_out_closes_the_connection(leave: Callable[[Any], None], open_source: Opener) -> None:
    with serve(UNFINISHED) as server, open_source(server.url) as source:
        leave(source)
        assert_closed(server)


@pytest.mark.parametrize("open_source", [*SYNC_CLIENTS, with_httpx_manager], ids=lambda it: it.__name__)
def test_the_terminal_event_closes_the_connection_though_the_body_goes_on(open_source: Opener) -> None:
    with serve([*RESPONSES, WATCH]) as server, open_source(server.url) as source:
        for event in stream(source):
            if event.type == "stream_end":
                break
        assert_closed(server)


def assert_closed(server: LoopbackServer) -> None:
    """The server sees it; or was never called, as by a context manager that nobody entered."""
    assert not server.requests or server.sees_the_client_close()


# -- async ------------------------------------------------------------------------------------------------------------


async def aclose(source: Any) -> None:
    events = astream(source)
    await aread_to_text(events)
    await events.aclose()


async def leave_an_async_with_block(source: Any) -> None:
    async with astream(source) as events:
        await aread_to_text(events)


async def raise_in_the_async_consumer(source: Any) -> None:
    with suppress(ZeroDivisionError):
        async with astream(source) as events:
            async for event in events:
                if event.type == "text_delta":
                    raise ZeroDivisionError


async def raise_in_the_observer_of_async(source: Any) -> None:
    def observe(event: Any) -> None:
        if event.type == "text_delta":
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await astream(source, on_event=observe).final()


async def cancel(source: Any) -> None:
    events = astream(source)
    came = asyncio.Event()

    async def read() -> None:
        async for event in events:
            if event.type == "text_delta":
                came.set()

    task = asyncio.create_task(read())
    await came.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert events.response.status == "cancelled"


async def run_out_of_time(source: Any) -> None:
    with pytest.raises(TimeoutError):
        await astream(source, idle_timeout=0.05).final()


async def lose_an_async_one(source: Any) -> None:
    events = astream(source)
    await aread_to_text(events)
    with unclosed_is_told():
        del events
        await let_the_loop_collect()


async def let_the_loop_collect() -> None:
    """A loop that was left holds the stream until the event loop has closed it."""
    for _ in range(9):
        await asyncio.sleep(0)
    gc.collect()


async def never_start_an_async_one(source: Any) -> None:
    async with astream(source):
        pass


async def never_start_an_async_one_and_lose_it(source: Any) -> None:
    with unclosed_is_told():
        astream(source)
        gc.collect()


async def leave_an_async_conversion(source: Any) -> None:
    async with aconvert(source, to="responses") as frames:
        await anext(frames)


async def leave_consecutive_async_responses(source: Any) -> None:
    all_responses = aiter_responses(source)
    await aread_to_text(await anext(all_responses))
    await all_responses.aclose()


ASYNC_WAYS_OUT: list[Callable[[Any], Awaitable[None]]] = [
    aclose,
    leave_an_async_with_block,
    raise_in_the_async_consumer,
    raise_in_the_observer_of_async,
    cancel,
    run_out_of_time,
    lose_an_async_one,
    never_start_an_async_one,
    never_start_an_async_one_and_lose_it,
    leave_an_async_conversion,
    leave_consecutive_async_responses,
]


@pytest.mark.parametrize("open_source", ASYNC_SOURCES, ids=lambda it: it.__name__)
@pytest.mark.parametrize("leave", ASYNC_WAYS_OUT, ids=lambda it: it.__name__)
# An SDK's context manager holds a coroutine, which says so itself where nobody enters it.
@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited")
def test_each_way_out_closes_the_async_connection(
    leave: Callable[[Any], Awaitable[None]], open_source: AsyncOpener
) -> None:
    async def main() -> None:
        with serve(UNFINISHED) as server:
            async with open_source(server.url) as source:
                await leave(source)
                await asyncio.to_thread(assert_closed, server)

    asyncio.run(main())


# -- which task reads -------------------------------------------------------------------------------------------------


@contextmanager
def no_warnings() -> Generator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def test_one_task_cannot_close_what_another_is_reading_and_is_told_what_to_do() -> None:
    async def main() -> None:
        with serve([CHAT[0], PAUSE, *CHAT[1:]]) as server, no_warnings():
            async with with_async_httpx(server.url) as response:
                events = astream(response)
                await aread_to_text(events)
                task = asyncio.create_task(events.final())
                await asyncio.sleep(0)
                for meddle in (events.aclose, events.final, lambda: anext(events)):
                    with pytest.raises(RuntimeError, match="another task is reading .* cancel that task and wait"):
                        await meddle()
                server.go_on()
                assert (await task).text == "Hello"
                await events.aclose()

    asyncio.run(main())


def test_a_task_that_is_cancelled_and_awaited_has_closed_what_it_was_reading() -> None:
    async def main() -> None:
        with serve(UNFINISHED) as server, no_warnings():
            async with with_async_httpx(server.url) as response, astream(response) as events:
                task = asyncio.create_task(events.final())
                while events.cursor.response_id is None:
                    await asyncio.sleep(0)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                await events.aclose()
                assert events.response.status == "cancelled"
                assert await asyncio.to_thread(server.sees_the_client_close)

    asyncio.run(main())


class SlowToClose:
    """Waits for ever while it is closed."""

    def __init__(self) -> None:
        self.is_closing = asyncio.Event()

    async def aclose(self) -> None:
        self.is_closing.set()
        await asyncio.Event().wait()


def test_all_that_a_source_holds_is_closed_though_the_task_is_cancelled_while_one_takes_its_time() -> None:
    class Body:
        was_closed = False

        def close(self) -> None:
            self.was_closed = True

    async def nothing() -> AsyncIterator[bytes]:
        yield b""

    async def main() -> None:
        slow, body = SlowToClose(), Body()
        task = asyncio.create_task(AsyncSource(nothing(), slow, body).aclose())
        await slow.is_closing.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert body.was_closed

    asyncio.run(asyncio.wait_for(main(), 20))


# -- what is left of a stream that was left ---------------------------------------------------------------------------


def test_a_generator_source_runs_its_end_once() -> None:
    ends: list[str] = []

    def pieces() -> Generator[bytes]:
        try:
            yield from CHAT
        finally:
            ends.append("closed")

    with stream(pieces()) as events:
        read_to_text(events)
        events.close()
    assert ends == ["closed"]


def test_a_connection_goes_back_to_its_pool_once_a_stream_was_read_to_its_end() -> None:
    with serve(CHAT, headers={"Connection": "keep-alive"}) as server, httpx.Client() as client:
        for _ in range(2):
            with client.stream("POST", server.url) as response:
                assert stream(response).final().text == "Hello"
        assert server.connections == 1


def test_a_reader_who_leaves_a_text_loop_can_come_back() -> None:
    with (
        serve([CHAT[0], frame(chat({"content": "p"})), *CHAT[1:]]) as server,
        with_httpx(server.url) as response,
        stream(response) as events,
    ):
        for delta in events.text_deltas():
            assert delta == "Hel"
            break
        assert "".join(events.text_deltas()) == "plo"
