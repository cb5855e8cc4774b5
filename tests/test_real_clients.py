"""Real HTTP clients and a real SDK against a real server: values, pace, closing, broken connections, HTTP errors."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import urllib.error
import urllib.request
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import Any, TypeAlias

import aiohttp
import httpx
import httpx2
import niquests
import openai
import pytest
import requests
import urllib3

from streamshim.errors import StreamFailedError, StreamTruncatedError
from streamshim.events import TextDelta
from streamshim.streams import AsyncEventStream, EventStream, aparse, astream, parse, stream
from tests.loopback import BREAK, PAUSE, WATCH, LoopbackServer, Step, serve
from tests.small_streams import CHAT, CHAT_CALL, DONE, RESPONSES, VENDOR_ERROR, chat, frame

Opener: TypeAlias = Callable[[str], AbstractContextManager[Any]]
AsyncOpener: TypeAlias = Callable[[str], AbstractAsyncContextManager[Any]]

RATE_LIMIT = json.dumps({"error": {"message": "slow down", "type": "requests", "code": "rate_limit_exceeded"}}).encode()


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


# -- the clients ------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def with_httpx(url: str) -> Generator[Any]:
    with httpx.stream("POST", url) as response:
        yield response


@contextlib.contextmanager
def with_httpx2(url: str) -> Generator[Any]:
    with httpx2.stream("POST", url) as response:
        yield response


@contextlib.contextmanager
def with_requests(url: str) -> Generator[Any]:
    with requests.Session() as session, session.post(url, stream=True) as response:
        yield response


@contextlib.contextmanager
def with_niquests(url: str) -> Generator[Any]:
    with niquests.Session() as session, session.post(url, stream=True) as response:
        yield response


@contextlib.contextmanager
def with_urllib3(url: str) -> Generator[Any]:
    with urllib3.PoolManager(retries=False) as pool:
        response = pool.request("POST", url, preload_content=False)
        try:
            yield response
        finally:
            response.close()


@contextlib.contextmanager
def with_urllib(url: str) -> Generator[Any]:
    try:
        response = urllib.request.urlopen(url)
    except urllib.error.HTTPError as error:
        response = error
    with response:
        yield response


SYNC_CLIENTS = [with_httpx, with_httpx2, with_requests, with_niquests, with_urllib3, with_urllib]
every_client = pytest.mark.parametrize("open_response", SYNC_CLIENTS, ids=lambda opener: opener.__name__)


@contextlib.asynccontextmanager
async def with_async_httpx(url: str) -> AsyncGenerator[Any]:
    async with httpx.AsyncClient() as client, client.stream("POST", url) as response:
        yield response


@contextlib.asynccontextmanager
async def with_async_httpx2(url: str) -> AsyncGenerator[Any]:
    async with httpx2.AsyncClient() as client, client.stream("POST", url) as response:
        yield response


@contextlib.asynccontextmanager
async def with_aiohttp(url: str) -> AsyncGenerator[Any]:
    async with aiohttp.ClientSession() as session, session.post(url) as response:
        yield response


@contextlib.asynccontextmanager
async def with_async_niquests(url: str) -> AsyncGenerator[Any]:
    async with niquests.AsyncSession() as session:
        response = await session.post(url, stream=True)
        try:
            yield response
        finally:
            await response.close()


ASYNC_CLIENTS = [with_async_httpx, with_async_httpx2, with_aiohttp, with_async_niquests]
every_async_client = pytest.mark.parametrize("open_response", ASYNC_CLIENTS, ids=lambda opener: opener.__name__)

CLIENTS_OWN_ERRORS = (
    httpx.TransportError,
    httpx2.TransportError,
    requests.RequestException,
    niquests.RequestException,
    urllib3.exceptions.HTTPError,
    aiohttp.ClientError,
    urllib.request.http.client.IncompleteRead,  # type: ignore[attr-defined]
)


def first_text(events: EventStream) -> str:
    return next(event.delta for event in events if isinstance(event, TextDelta))


async def first_async_text(events: AsyncEventStream) -> str:
    async for event in events:
        if isinstance(event, TextDelta):
            return event.delta
    raise AssertionError("no text came")


# -- sync -------------------------------------------------------------------------------------------------------------


@every_client
def test_each_client_s_response_is_read_to_its_values(open_response: Opener) -> None:
    with serve(CHAT_CALL) as server, open_response(server.url) as response:
        answer = parse(response)
    (call,) = answer.calls_to_answer
    assert (answer.status, answer.finish_reason, call.name, call.parsed()) == (
        "completed",
        "tool_calls",
        "look",
        {"at": 1},
    )


@pytest.mark.parametrize("chunked", [True, False], ids=["chunked", "until the connection closes"])
@every_client
def test_each_client_s_events_come_as_their_bytes_do(open_response: Opener, chunked: bool) -> None:
    with (
        serve([CHAT[0], PAUSE, *CHAT[1:]], chunked=chunked) as server,
        open_response(server.url) as response,
        stream(response) as events,
    ):
        assert first_text(events) == "Hel"
        server.go_on()
        assert list(events.text_deltas()) == ["lo"]
        assert events.response.status == "completed"


@every_client
def test_each_client_s_connection_is_closed_by_a_reader_who_leaves(open_response: Opener) -> None:
    with serve([CHAT[0], WATCH]) as server, open_response(server.url) as response:
        with stream(response) as events:
            assert first_text(events) == "Hel"
        assert server.sees_the_client_close()
        assert events.response.status == "cancelled"
        assert events.response.text == "Hel"


@every_client
def test_each_client_s_broken_connection_is_the_cause_of_a_truncated_stream(open_response: Opener) -> None:
    with serve([*CHAT[:2], BREAK]) as server, open_response(server.url) as response:
        with pytest.raises(StreamTruncatedError) as raised:
            parse(response)
        assert isinstance(raised.value.__cause__, CLIENTS_OWN_ERRORS)
        assert raised.value.response is not None
        assert (raised.value.response.text, raised.value.response.status) == ("Hello", "truncated")


@every_client
def test_each_client_s_http_error_fails_with_what_the_body_says(open_response: Opener) -> None:
    with (
        serve([RATE_LIMIT[:9], RATE_LIMIT[9:]], status=429, headers={"Retry-After": "7"}) as server,
        open_response(server.url) as response,
    ):
        with pytest.raises(StreamFailedError, match="slow down") as raised:
            parse(response)
        error = raised.value.error
        assert error is not None
        assert (error.status, error.code, error.retry_after) == (429, "rate_limit_exceeded", 7.0)


@pytest.mark.parametrize("chunked", [True, False])
@pytest.mark.parametrize(
    "open_response", [with_httpx, with_httpx2, with_requests, with_niquests, with_urllib3], ids=lambda it: it.__name__
)
def test_each_client_s_compressed_body_is_read_decompressed(open_response: Opener, chunked: bool) -> None:
    body = gzip.compress(b"".join(CHAT))
    with (
        serve([body[:15], body[15:]], headers={"Content-Encoding": "gzip"}, chunked=chunked) as server,
        open_response(server.url) as response,
    ):
        assert parse(response).text == "Hello"


# -- async ------------------------------------------------------------------------------------------------------------


def run_async(
    script: list[bytes | Step],
    open_response: AsyncOpener,
    read: Callable[[Any, LoopbackServer], Awaitable[None]],
    **server_options: Any,
) -> None:
    async def main() -> None:
        with serve(script, **server_options) as server:
            async with open_response(server.url) as response:
                await read(response, server)

    asyncio.run(main())


@every_async_client
def test_each_async_client_s_response_is_read_to_its_values(open_response: AsyncOpener) -> None:
    async def read(response: Any, server: LoopbackServer) -> None:
        answer = await aparse(response)
        (call,) = answer.calls_to_answer
        assert (answer.status, call.name, call.parsed()) == ("completed", "look", {"at": 1})

    run_async([*CHAT_CALL], open_response, read)


@pytest.mark.parametrize("chunked", [True, False], ids=["chunked", "until the connection closes"])
@every_async_client
def test_each_async_client_s_events_come_as_their_bytes_do(open_response: AsyncOpener, chunked: bool) -> None:
    async def read(response: Any, server: LoopbackServer) -> None:
        async with astream(response) as events:
            assert await first_async_text(events) == "Hel"
            server.go_on()
            assert [delta async for delta in events.text_deltas()] == ["lo"]
            assert events.response.status == "completed"

    run_async([CHAT[0], PAUSE, *CHAT[1:]], open_response, read, chunked=chunked)


@every_async_client
def test_each_async_client_s_connection_is_closed_by_a_reader_who_leaves(open_response: AsyncOpener) -> None:
    async def read(response: Any, server: LoopbackServer) -> None:
        async with astream(response) as events:
            assert await first_async_text(events) == "Hel"
        assert await asyncio.to_thread(server.sees_the_client_close)
        assert (events.response.status, events.response.text) == ("cancelled", "Hel")

    run_async([CHAT[0], WATCH], open_response, read)


@every_async_client
def test_each_async_client_s_connection_is_closed_when_its_task_is_cancelled(open_response: AsyncOpener) -> None:
    async def read(response: Any, server: LoopbackServer) -> None:
        events = astream(response)
        came = asyncio.Event()

        async def consume() -> None:
            async for event in events:
                if isinstance(event, TextDelta):
                    came.set()

        task = asyncio.create_task(consume())
        await came.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(server.sees_the_client_close)
        assert (events.response.status, events.response.text) == ("cancelled", "Hel")

    run_async([CHAT[0], WATCH], open_response, read)


@every_async_client
def test_each_async_client_s_broken_connection_is_the_cause_of_a_truncated_stream(open_response: AsyncOpener) -> None:
    async def read(response: Any, server: LoopbackServer) -> None:
        with pytest.raises(StreamTruncatedError) as raised:
            await aparse(response)
        assert isinstance(raised.value.__cause__, CLIENTS_OWN_ERRORS)
        assert raised.value.response is not None
        assert raised.value.response.text == "Hello"

    run_async([*CHAT[:2], BREAK], open_response, read)


@every_async_client
def test_each_async_client_s_http_error_fails_with_what_the_body_says(open_response: AsyncOpener) -> None:
    async def read(response: Any, server: LoopbackServer) -> None:
        with pytest.raises(StreamFailedError, match="slow down") as raised:
            await aparse(response)
        assert raised.value.error is not None
        assert (raised.value.error.status, raised.value.error.retry_after) == (429, 7.0)

    run_async([RATE_LIMIT], open_response, read, status=429, headers={"Retry-After": "7"})


# -- an SDK -----------------------------------------------------------------------------------------------------------


def sdk(server: LoopbackServer) -> openai.OpenAI:
    return openai.OpenAI(base_url=server.url, api_key="x", max_retries=0)


def async_sdk(server: LoopbackServer) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(base_url=server.url, api_key="x", max_retries=0)


def ask(client: Any, wire: str) -> Any:
    """Call the SDK, sync or async alike, on one of the wires."""
    if wire == "chat":
        return client.chat.completions.create(model="m-1", messages=[{"role": "user", "content": "hi"}], stream=True)
    return client.responses.create(model="m-1", input="hi", stream=True)


WIRES: dict[str, list[bytes]] = {"chat": CHAT, "responses": [*RESPONSES, DONE]}
both_wires = pytest.mark.parametrize("wire", WIRES)


@both_wires
def test_an_sdk_s_stream_is_read_from_its_bytes(wire: str) -> None:
    with serve(WIRES[wire]) as server, sdk(server) as client:
        with stream(ask(client, wire), raw=True) as events:
            seen = list(events)
        assert (events.response.text, events.response.status) == ("Hello", "completed")
        assert events.end is not None
        assert events.end.evidence.done_seen is (wire == "chat")
        assert sum(event.type == "raw_frame" for event in seen) == (len(CHAT) if wire == "chat" else len(RESPONSES))


@both_wires
def test_an_async_sdk_s_stream_is_read_from_its_bytes(wire: str) -> None:
    async def main() -> None:
        with serve(WIRES[wire]) as server:
            async with async_sdk(server) as client:
                answer = await aparse(await ask(client, wire))
                assert (answer.text, answer.status, answer.api) == ("Hello", "completed", wire)

    asyncio.run(main())


@both_wires
def test_an_sdk_s_stream_that_was_begun_is_read_from_its_chunks(wire: str) -> None:
    with serve(WIRES[wire]) as server, sdk(server) as client:
        sdk_stream = ask(client, wire)
        first = next(sdk_stream)
        answer = parse(sdk_stream)
        assert (answer.text, answer.status) == ("lo" if wire == "chat" else "Hello", "completed")
        whole = [first.model_dump(exclude_unset=True), *_payloads(server, wire)]
        assert parse(whole).text == "Hello"


def _payloads(server: LoopbackServer, wire: str) -> list[Any]:
    with sdk(server) as client, ask(client, wire) as sdk_stream:
        return list(sdk_stream)[1:]


@both_wires
def test_an_async_sdk_s_stream_that_was_begun_is_read_from_its_chunks(wire: str) -> None:
    async def main() -> None:
        with serve(WIRES[wire]) as server:
            async with async_sdk(server) as client:
                sdk_stream = await ask(client, wire)
                await anext(sdk_stream)
                answer = await aparse(sdk_stream)
                assert (answer.text, answer.status) == ("lo" if wire == "chat" else "Hello", "completed")

    asyncio.run(main())


def test_an_sdk_s_chunks_keep_fields_that_its_models_do_not_know() -> None:
    thinking = frame(chat({"reasoning_content": "hm"}))
    with serve([thinking, thinking, *CHAT]) as server, sdk(server) as client:
        sdk_stream = ask(client, "chat")
        next(sdk_stream)
        answer = parse(sdk_stream)
        assert (answer.reasoning, answer.text) == ("hm", "Hello")


@pytest.mark.parametrize("begun", [False, True], ids=["bytes", "chunks"])
def test_an_sdk_s_connection_is_closed_by_a_reader_who_leaves(begun: bool) -> None:
    with serve([*CHAT[:2], WATCH]) as server, sdk(server) as client:
        sdk_stream = ask(client, "chat")
        if begun:
            next(sdk_stream)
        with stream(sdk_stream) as events:
            first_text(events)
        assert server.sees_the_client_close()
        assert events.response.status == "cancelled"


@pytest.mark.parametrize("begun", [False, True], ids=["bytes", "chunks"])
def test_an_async_sdk_s_connection_is_closed_by_a_reader_who_leaves(begun: bool) -> None:
    async def main() -> None:
        with serve([*CHAT[:2], WATCH]) as server:
            async with async_sdk(server) as client:
                sdk_stream = await ask(client, "chat")
                if begun:
                    await anext(sdk_stream)
                async with astream(sdk_stream) as events:
                    await first_async_text(events)
                assert await asyncio.to_thread(server.sees_the_client_close)
                assert events.response.status == "cancelled"

    asyncio.run(main())


@pytest.mark.parametrize(
    ("begun", "cause"), [(False, httpx2.TransportError), (True, openai.APIConnectionError)], ids=["bytes", "chunks"]
)
def test_an_sdk_s_broken_connection_is_the_cause_of_a_truncated_stream(begun: bool, cause: type[Exception]) -> None:
    with serve([*CHAT[:2], BREAK]) as server, sdk(server) as client:
        sdk_stream = ask(client, "chat")
        if begun:
            next(sdk_stream)
        with pytest.raises(StreamTruncatedError) as raised:
            parse(sdk_stream)
        assert isinstance(raised.value.__cause__, cause)


@pytest.mark.parametrize("begun", [False, True], ids=["bytes", "chunks"])
def test_an_error_in_an_sdk_s_stream_fails_with_what_the_vendor_said(begun: bool) -> None:
    with serve([CHAT[0], frame(VENDOR_ERROR)]) as server, sdk(server) as client:
        sdk_stream = ask(client, "chat")
        if begun:
            next(sdk_stream)
        with pytest.raises(StreamFailedError, match="the engine is on fire") as raised:
            parse(sdk_stream)
        assert raised.value.error is not None
        assert (raised.value.error.kind, raised.value.error.code) == ("vendor", "overheated")
        assert isinstance(raised.value.__cause__, openai.APIError) is begun


def test_an_sdk_s_raw_responses_are_sources_too() -> None:
    call: dict[str, Any] = {"model": "m-1", "messages": [{"role": "user", "content": "hi"}], "stream": True}
    with serve(CHAT) as server, sdk(server) as client:
        assert parse(client.chat.completions.with_raw_response.create(**call)).text == "Hello"
        with client.chat.completions.with_streaming_response.create(**call) as response:
            assert parse(response).text == "Hello"

    async def main() -> None:
        with serve(CHAT) as server:
            async with (
                async_sdk(server) as client,
                client.chat.completions.with_streaming_response.create(**call) as response,
            ):
                assert (await aparse(response)).text == "Hello"

    asyncio.run(main())
