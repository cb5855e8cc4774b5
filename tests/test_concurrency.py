"""Many streams at once: each reader gets its own answer, nothing is left over, and a slow reader slows the server."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import select
import socket
import threading
import time
import tracemalloc
from collections import Counter
from collections.abc import AsyncGenerator, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Self

import aiohttp
import httpx
import pytest

from streamshim.decode.decoder import StreamDecoder
from streamshim.pieces import AsyncSource, Source
from streamshim.response_models import ModelResponse
from streamshim.streams import AsyncEventStream, EventStream, astream, stream
from tests.small_streams import DONE, chat, frame, response_frames

TASKS, THREADS = 200, 64
DESCRIPTORS = Path("/proc/self/fd")
OURS = (AsyncEventStream, AsyncSource, EventStream, ModelResponse, Source, StreamDecoder)
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def words_for(number: int) -> list[str]:
    """An answer that no other number has."""
    return [f"<{number}:{index}>" for index in range(20)]


def frames_for(number: int) -> list[bytes]:
    """The answer on one of the wires: with a call of its own on chat."""
    if number % 2:
        return response_frames(*words_for(number), response_id=f"resp_{number}")
    call = {"index": 0, "id": f"call_{number}", "function": {"name": "look", "arguments": f'{{"at":{number}}}'}}
    texts = [frame({**chat({"content": word}), "id": f"resp_{number}"}) for word in words_for(number)]
    return [*texts, frame(chat({"tool_calls": [call]})), frame(chat({}, "tool_calls")), DONE]


def assert_own(answer: ModelResponse, number: int) -> None:
    assert (answer.response_id, answer.text) == (f"resp_{number}", "".join(words_for(number)))
    assert answer.status == "completed"
    arguments = [call.parsed() for call in answer.calls_to_answer]
    assert arguments == ([] if number % 2 else [{"at": number}])


async def answer_requests(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer the number in the path, in pieces that end anywhere, and let all the others have their turn in between."""
    try:
        number = int((await reader.readline()).split()[1].strip(b"/"))
        while await reader.readline() not in (b"\r\n", b""):
            pass
        body = b"".join(frames_for(number))
        size = 97 + number
        writer.write(HEAD)
        for start in range(0, len(body), size):
            writer.write(body[start : start + size])
            await writer.drain()
            await asyncio.sleep(0)
    except ConnectionError:
        pass
    finally:
        writer.close()


@contextlib.asynccontextmanager
async def server_of_answers() -> AsyncGenerator[str]:
    server = await asyncio.start_server(answer_requests, "127.0.0.1", 0, backlog=TASKS)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


@contextlib.contextmanager
def server_in_a_thread() -> Generator[str]:
    ready, loops, urls = threading.Event(), list[tuple[Any, asyncio.Event]](), list[str]()

    async def main() -> None:
        done = asyncio.Event()
        async with server_of_answers() as url:
            loops.append((asyncio.get_running_loop(), done))
            urls.append(url)
            ready.set()
            await done.wait()

    thread = threading.Thread(target=lambda: asyncio.run(main()))
    thread.start()
    assert ready.wait(20)
    try:
        yield urls[0]
    finally:
        loop, done = loops[0]
        loop.call_soon_threadsafe(done.set)
        thread.join()


def open_sockets() -> int:
    """How many sockets this process holds."""
    count = 0
    for descriptor in DESCRIPTORS.iterdir():
        with contextlib.suppress(FileNotFoundError):  # that of the listing itself
            count += str(descriptor.readlink()).startswith("socket:")
    return count


def alive() -> Counter[str]:
    gc.collect()
    return Counter(type(thing).__name__ for thing in gc.get_objects() if type(thing) in OURS)


needs_proc = pytest.mark.skipif(not DESCRIPTORS.is_dir(), reason="open sockets are counted under /proc")


# -- many at once -----------------------------------------------------------------------------------------------------


@needs_proc
@pytest.mark.parametrize("left_early", [False, True], ids=["read to the end", "every third left early"])
def test_many_async_streams_at_once_each_give_their_own_answer_and_leave_nothing(left_early: bool) -> None:
    async def read(session: aiohttp.ClientSession, url: str, number: int) -> None:
        async with session.post(f"{url}/{number}") as response, astream(response) as events:
            if left_early and number % 3 == 0:
                async for delta in events.text_deltas():
                    assert delta == words_for(number)[0]
                    break
            else:
                assert_own(await events.final(), number)

    async def main() -> None:
        async with server_of_answers() as url:
            before = open_sockets()
            connector = aiohttp.TCPConnector(limit=0, force_close=True)
            async with aiohttp.ClientSession(connector=connector) as session:
                await asyncio.gather(*(read(session, url, number) for number in range(TASKS)))
            async with asyncio.timeout(20):
                while open_sockets() > before or len(asyncio.all_tasks()) > 1:
                    await asyncio.sleep(0.01)

    before = alive()
    asyncio.run(main())
    assert alive() == before


@needs_proc
def test_many_cancelled_tasks_leave_nothing() -> None:
    async def read(session: aiohttp.ClientSession, url: str, number: int, begun: list[int]) -> None:
        async with session.post(f"{url}/{number}") as response, astream(response) as events:
            async for event in events:
                if event.type == "text_delta":
                    begun.append(number)
                    await asyncio.Event().wait()

    async def main() -> None:
        async with server_of_answers() as url:
            before = open_sockets()
            begun: list[int] = []
            connector = aiohttp.TCPConnector(limit=0)
            async with aiohttp.ClientSession(connector=connector) as session:
                tasks = [asyncio.create_task(read(session, url, number, begun)) for number in range(TASKS)]
                async with asyncio.timeout(20):
                    while len(begun) < TASKS:
                        await asyncio.sleep(0.01)
                for task in tasks:
                    task.cancel()
                results = await asyncio.gather(*tasks, return_exceptions=True)
            assert {type(result) for result in results} == {asyncio.CancelledError}
            async with asyncio.timeout(20):
                while open_sockets() > before or len(asyncio.all_tasks()) > 1:
                    await asyncio.sleep(0.01)

    before = alive()
    asyncio.run(main())
    assert alive() == before


@needs_proc
def test_many_threads_at_once_each_get_their_own_answer_and_leave_nothing() -> None:
    together = threading.Barrier(THREADS)

    def read(number: int) -> None:
        with httpx.Client(verify=False, trust_env=False) as client:
            together.wait(20)
            for asked in (number, number + THREADS):
                with client.stream("POST", f"{url}/{asked}") as response, stream(response) as events:
                    assert_own(events.final(), asked)

    before = alive()
    with server_in_a_thread() as url:
        sockets = open_sockets()
        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(read, range(THREADS)))
        given_up = time.monotonic() + 20
        while open_sockets() > sockets and time.monotonic() < given_up:
            time.sleep(0.01)
        assert open_sockets() == sockets
    assert alive() == before


# -- memory -----------------------------------------------------------------------------------------------------------


def test_memory_does_not_grow_with_the_number_of_streams() -> None:
    frames = frames_for(1)

    def read_some() -> int:
        for _ in range(50):
            with stream(iter(frames)) as events:
                assert events.final().text
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        read_some()
        first, last = read_some(), [read_some() for _ in range(4)][-1]
    finally:
        tracemalloc.stop()
    assert last - first < 20_000


@pytest.mark.parametrize(("collect", "bound"), [(True, 6_000_000), (False, 100_000)])
def test_memory_of_a_long_stream_is_that_of_its_answer_and_bounded_where_nothing_is_collected(
    collect: bool, bound: int
) -> None:
    def frames() -> Iterator[bytes]:
        for _ in range(24_000):
            yield delta
        yield DONE

    delta = frame(chat({"content": "x" * 16}))
    tracemalloc.start()
    try:
        with stream(frames(), collect=collect) as events:
            for _ in events:
                pass
            peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < bound


class Backpressure:
    """A server that writes an endless answer as fast as the reader lets it, and counts what it got rid of."""

    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.written = 0
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self._run)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.listener.getsockname()[1]}/"

    def __enter__(self) -> Self:
        self.thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self.is_over.set()
        self.thread.join()
        self.listener.close()

    def _run(self) -> None:
        piece = frame(chat({"content": "x" * 1000})) * 50
        connection, _ = self.listener.accept()
        with connection, contextlib.suppress(ConnectionError):
            connection.recv(65536)
            connection.sendall(HEAD)
            connection.setblocking(False)
            while not self.is_over.is_set():
                if select.select([], [connection], [], 0.01)[1]:
                    self.written += connection.send(piece)

    def settled(self) -> int:
        """What was written once nothing more goes out."""
        last = -1
        while last != self.written:
            last = self.written
            time.sleep(0.15)
        return last


SOCKET_BUFFERS = 16 * 1024 * 1024
"""More than the kernel and a client hold of one connection; far less than a server writes in a second unhindered."""


def test_a_reader_that_sleeps_stops_the_server() -> None:
    with Backpressure() as server, httpx.stream("POST", server.url, verify=False) as response:
        with stream(response, collect=False) as events:
            next(events)
            held = server.settled()
            assert held < SOCKET_BUFFERS
            for _ in zip(range(2000), events, strict=False):
                pass
            assert events.stats.bytes < server.written
            assert server.settled() - events.stats.bytes < SOCKET_BUFFERS
        assert server.written > 2_000_000


def test_an_async_reader_that_sleeps_stops_the_server() -> None:
    async def main() -> None:
        with Backpressure() as server:
            async with (
                aiohttp.ClientSession() as session,
                session.post(server.url) as response,
                astream(response, collect=False) as events,
            ):
                await anext(events)
                held = await asyncio.to_thread(server.settled)
                assert held < SOCKET_BUFFERS
                for _ in range(2000):
                    await anext(events)
                assert await asyncio.to_thread(server.settled) - events.stats.bytes < SOCKET_BUFFERS
            assert server.written > 2_000_000

    asyncio.run(main())
