"""Real HTTP clients against a real server: values, pace, broken connections, HTTP errors, compression."""

from __future__ import annotations

import asyncio
import gzip
import http.client
import json
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp
import httpx
import httpx2
import niquests
import pytest
import requests
import urllib3

from streamshim.errors import SourceError, StreamFailedError, StreamTruncatedError
from streamshim.events import TextDelta
from streamshim.streams import AsyncEventStream, EventStream, aparse, astream, parse, stream
from tests.clients import (
    AsyncOpener,
    Opener,
    every_async_client,
    every_client,
    with_httpx,
    with_httpx2,
    with_niquests,
    with_requests,
    with_urllib3,
)
from tests.loopback import BREAK, PAUSE, LoopbackServer, Step, serve
from tests.small_streams import CHAT, CHAT_CALL

RATE_LIMIT = json.dumps({"error": {"message": "slow down", "type": "requests", "code": "rate_limit_exceeded"}}).encode()


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


CLIENTS_OWN_ERRORS = (
    httpx.TransportError,
    httpx2.TransportError,
    requests.RequestException,
    niquests.RequestException,
    urllib3.exceptions.HTTPError,
    aiohttp.ClientError,
    http.client.IncompleteRead,
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


# -- mistakes ---------------------------------------------------------------------------------------------------------


def read_all(response: Any) -> None:
    """Take the body as the client's own users do, without keeping it."""
    if hasattr(response, "iter_bytes"):
        list(response.iter_bytes())
    elif hasattr(response, "iter_content"):
        list(response.iter_content(None))
    else:
        response.read()


async def read_all_async(response: Any) -> None:
    if hasattr(response, "aiter_bytes"):
        async for _ in response.aiter_bytes():
            pass
    elif hasattr(response, "iter_content"):
        async for _ in await response.iter_content(None):
            pass
    else:
        await response.read()


async def close_async(response: Any) -> None:
    closing = (getattr(response, "aclose", None) or response.close)()
    if asyncio.iscoroutine(closing):
        await closing


@pytest.mark.parametrize("use_up", [read_all, lambda response: response.close()], ids=["read", "closed"])
@every_client
def test_each_client_s_response_that_was_read_or_closed_is_refused(
    open_response: Opener, use_up: Callable[[Any], None]
) -> None:
    with serve(CHAT) as server, open_response(server.url) as response:
        use_up(response)
        with pytest.raises(SourceError, match="Response was consumed or closed already"):
            stream(response)


@pytest.mark.parametrize("use_up", [read_all_async, close_async], ids=["read", "closed"])
@every_async_client
def test_each_async_client_s_response_that_was_read_or_closed_is_refused(
    open_response: AsyncOpener, use_up: Callable[[Any], Awaitable[None]]
) -> None:
    async def read(response: Any, server: LoopbackServer) -> None:
        await use_up(response)
        with pytest.raises(SourceError, match="Response was consumed or closed already"):
            astream(response)

    run_async([*CHAT], open_response, read)


@every_client
def test_each_client_s_response_is_refused_by_the_async_door(open_response: Opener) -> None:
    with serve(CHAT) as server, open_response(server.url) as response:
        with pytest.raises(SourceError, match=r"read synchronously: use stream\(\)"):
            astream(response)
        assert parse(response).text == "Hello"


@every_async_client
def test_each_async_client_s_response_is_refused_by_the_sync_door(open_response: AsyncOpener) -> None:
    async def read(response: Any, server: LoopbackServer) -> None:
        with pytest.raises(SourceError, match=r"read asynchronously: use astream\(\)"):
            stream(response)
        assert (await aparse(response)).text == "Hello"

    run_async([*CHAT], open_response, read)


# -- bodies in memory -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "request_it", [httpx.post, httpx2.post, requests.post, niquests.post], ids=lambda it: it.__module__.split(".")[0]
)
def test_a_body_that_a_client_has_read_and_keeps_is_read_from_memory(request_it: Callable[[str], Any]) -> None:
    with serve(CHAT) as server:
        response = request_it(server.url)
    assert [parse(response).text, parse(response).text] == ["Hello", "Hello"]


@pytest.mark.parametrize(
    "request_it",
    [httpx.post, httpx2.post, requests.post, niquests.post, lambda url: urllib3.request("POST", url, retries=False)],
    ids=["httpx", "httpx2", "requests", "niquests", "urllib3"],
)
def test_an_http_error_without_a_body_that_was_not_streamed_fails_all_the_same(
    request_it: Callable[[str], Any],
) -> None:
    with serve([], status=503) as server:
        response = request_it(server.url)
        with pytest.raises(StreamFailedError, match="HTTP status 503"):
            parse(response)


def test_a_body_that_an_async_client_has_read_and_keeps_is_read_from_memory() -> None:
    async def main() -> None:
        with serve(CHAT) as server:
            async with httpx.AsyncClient() as client, niquests.AsyncSession() as session:
                responses: list[Any] = [await client.post(server.url), await session.post(server.url)]
                streamed = await session.post(server.url, stream=True)
                assert await streamed.content
                responses.append(streamed)
        assert [(await aparse(response)).text for response in responses] == ["Hello"] * 3

    asyncio.run(main())


# -- without a client -------------------------------------------------------------------------------------------------


def test_a_stream_reader_is_read_as_its_bytes_come() -> None:
    async def main() -> None:
        with serve([CHAT[0], PAUSE, *CHAT[1:]], chunked=False) as server:
            reader, writer = await asyncio.open_connection("127.0.0.1", server.server_port)
            writer.write(b"POST /v1 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            while await reader.readline() != b"\r\n":
                pass
            async with astream(reader) as events:
                assert await first_async_text(events) == "Hel"
                server.go_on()
                assert (await events.final()).text == "Hello"
            writer.close()
            await writer.wait_closed()

    asyncio.run(main())


def test_a_body_that_nobody_decompressed_is_an_error_that_says_so() -> None:
    body = gzip.compress(b"".join(CHAT))
    with (
        serve([body]) as server,
        httpx.stream("POST", server.url) as response,
        pytest.raises(StreamFailedError, match=r"still compressed \(gzip\); let the HTTP client decode it"),
    ):
        parse(response)
