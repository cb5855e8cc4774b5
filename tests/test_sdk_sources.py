"""What a real SDK hands out for a call, in all its forms, against a real server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx2
import openai
import pytest

from streamshim.errors import SourceError, StreamFailedError, StreamTruncatedError
from streamshim.streams import aparse, parse, stream
from tests.clients import (
    ASYNC_SDK_FORMS,
    SDK_FORMS,
    AsyncOpener,
    Endpoint,
    Opener,
    async_sdk,
    sdk,
    with_async_httpx_manager,
    with_async_sdk_helper_manager,
    with_async_sdk_streaming_manager,
    with_httpx_manager,
    with_sdk_helper_manager,
    with_sdk_streaming_manager,
)
from tests.loopback import BREAK, serve
from tests.small_streams import (
    CHAT,
    DONE,
    RESPONSES,
    VENDOR_ERROR,
    chat,
    frame,
    response_payloads,
)

WIRES: dict[str, list[bytes]] = {"chat": CHAT, "responses": [*RESPONSES, DONE]}
RATE_LIMIT = json.dumps({"error": {"message": "slow down", "code": "rate_limit_exceeded"}}).encode()
COMPLETION = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1760000000,
    "model": "m-1",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Hello"}}],
    "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3},
}
both_wires = pytest.mark.parametrize("wire", WIRES)


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


# -- every form, both wires -------------------------------------------------------------------------------------------

FORMS: dict[str, Callable[[Endpoint], Any]] = {
    "create": Endpoint.create,
    "with_raw_response": Endpoint.raw,
    "with_streaming_response": Endpoint.streaming,
    "stream": Endpoint.helper,
}
every_form = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
every_manager = pytest.mark.parametrize("form", [Endpoint.streaming, Endpoint.helper], ids=["streaming", "stream"])


@both_wires
@every_form
def test_each_form_of_a_streamed_call_is_read_from_its_bytes(form: Callable[[Endpoint], Any], wire: str) -> None:
    with (
        serve(WIRES[wire]) as server,
        sdk(server.url) as client,
        stream(form(Endpoint(client, wire)), raw=True) as events,
    ):
        seen = list(events)
    assert (events.response.text, events.response.status, events.response.api) == ("Hello", "completed", wire)
    assert events.end is not None
    assert events.end.evidence.done_seen is (wire == "chat")
    assert sum(event.type == "raw_frame" for event in seen) == (len(CHAT) if wire == "chat" else len(RESPONSES))


@both_wires
@every_form
def test_each_form_of_a_streamed_async_call_is_read_from_its_bytes(form: Callable[[Endpoint], Any], wire: str) -> None:
    async def main() -> None:
        with serve(WIRES[wire]) as server:
            async with async_sdk(server.url) as client:
                given = form(Endpoint(client, wire))
                answer = await aparse(await given if asyncio.iscoroutine(given) else given)
        assert (answer.text, answer.status, answer.api) == ("Hello", "completed", wire)

    asyncio.run(main())


@both_wires
@every_manager
def test_what_a_context_manager_of_the_sdk_gives_is_a_source(form: Callable[[Endpoint], Any], wire: str) -> None:
    with serve(WIRES[wire]) as server, sdk(server.url) as client, form(Endpoint(client, wire)) as given:
        assert parse(given).text == "Hello"

    async def main() -> None:
        with serve(WIRES[wire]) as server:
            async with async_sdk(server.url) as client, form(Endpoint(client, wire)) as given:
                assert (await aparse(given)).text == "Hello"

    asyncio.run(main())


@both_wires
def test_a_streaming_response_that_the_sdk_parsed_is_a_source(wire: str) -> None:
    with serve(WIRES[wire]) as server, sdk(server.url) as client:
        assert parse(Endpoint(client, wire).raw().parse()).text == "Hello"
        with Endpoint(client, wire).streaming() as response:
            assert parse(response.parse()).text == "Hello"


def test_no_request_is_made_before_the_first_read_of_a_context_manager() -> None:
    with serve(CHAT) as server, sdk(server.url) as client:
        events = stream(Endpoint(client, "chat").helper())
        assert server.requests == []
        assert events.final().text == "Hello"
        assert len(server.requests) == 1
        never_read = stream(Endpoint(client, "chat").helper())
        never_read.close()
        assert len(server.requests) == 1


# -- begun ------------------------------------------------------------------------------------------------------------


@both_wires
def test_a_stream_that_was_begun_is_read_from_its_chunks(wire: str) -> None:
    with serve(WIRES[wire]) as server, sdk(server.url) as client:
        sdk_stream = Endpoint(client, wire).create()
        first = next(sdk_stream)
        answer = parse(sdk_stream)
        assert (answer.text, answer.status) == ("lo" if wire == "chat" else "Hello", "completed")
        with Endpoint(client, wire).create() as others:
            rest = list(others)[1:]
        assert parse([first.model_dump(exclude_unset=True), *rest]).text == "Hello"


@both_wires
def test_an_async_stream_that_was_begun_is_read_from_its_chunks(wire: str) -> None:
    async def main() -> None:
        with serve(WIRES[wire]) as server:
            async with async_sdk(server.url) as client:
                sdk_stream = await Endpoint(client, wire).create()
                await anext(sdk_stream)
                answer = await aparse(sdk_stream)
                assert (answer.text, answer.status) == ("lo" if wire == "chat" else "Hello", "completed")

    asyncio.run(main())


@both_wires
def test_a_stream_of_the_sdk_s_own_events_that_was_begun_is_read_from_the_chunks_under_it(wire: str) -> None:
    rest = "lo" if wire == "chat" else "Hello"
    with serve(WIRES[wire]) as server, sdk(server.url) as client, Endpoint(client, wire).helper() as helper:
        next(helper)
        assert parse(helper).text == rest

    async def main() -> None:
        with serve(WIRES[wire]) as server:
            async with async_sdk(server.url) as client, Endpoint(client, wire).helper() as helper:
                await anext(helper)
                assert (await aparse(helper)).text == rest

    asyncio.run(main())


def test_chunks_keep_fields_that_the_sdk_s_models_do_not_know() -> None:
    thinking = frame(chat({"reasoning_content": "hm"}))
    with serve([thinking, thinking, *CHAT]) as server, sdk(server.url) as client:
        sdk_stream = Endpoint(client, "chat").create()
        next(sdk_stream)
        answer = parse(sdk_stream)
        assert (answer.reasoning, answer.text) == ("hm", "Hello")


@both_wires
def test_a_stream_that_was_read_or_closed_is_refused(wire: str) -> None:
    with serve(WIRES[wire]) as server, sdk(server.url) as client:
        read, closed = Endpoint(client, wire).create(), Endpoint(client, wire).create()
        list(read)
        closed.close()
        with Endpoint(client, wire).helper() as helper:
            helper.until_done()
        for source in (read, closed, helper):
            with pytest.raises(SourceError, match="was consumed or closed already"):
                stream(source)


# -- errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("begun", "cause"), [(False, httpx2.TransportError), (True, openai.APIConnectionError)], ids=["bytes", "chunks"]
)
def test_a_broken_connection_is_the_cause_of_a_truncated_stream(begun: bool, cause: type[Exception]) -> None:
    with serve([*CHAT[:2], BREAK]) as server, sdk(server.url) as client:
        sdk_stream = Endpoint(client, "chat").create()
        if begun:
            next(sdk_stream)
        with pytest.raises(StreamTruncatedError) as raised:
            parse(sdk_stream)
        assert isinstance(raised.value.__cause__, cause)


@pytest.mark.parametrize("begun", [False, True], ids=["bytes", "chunks"])
def test_an_error_in_the_stream_fails_with_what_the_vendor_said(begun: bool) -> None:
    with serve([CHAT[0], frame(VENDOR_ERROR)]) as server, sdk(server.url) as client:
        sdk_stream = Endpoint(client, "chat").create()
        if begun:
            next(sdk_stream)
        with pytest.raises(StreamFailedError, match="the engine is on fire") as raised:
            parse(sdk_stream)
        assert raised.value.error is not None
        assert (raised.value.error.kind, raised.value.error.code) == ("vendor", "overheated")
        assert isinstance(raised.value.__cause__, openai.APIError) is begun


@pytest.mark.parametrize("body", [RATE_LIMIT, b""], ids=["told", "empty"])
@pytest.mark.parametrize(
    "open_source", [with_sdk_streaming_manager, with_sdk_helper_manager, with_httpx_manager], ids=lambda it: it.__name__
)
def test_a_request_that_is_refused_behind_a_context_manager_fails_with_what_the_body_says(
    open_source: Opener, body: bytes
) -> None:
    with (
        serve([body], status=429, headers={"Retry-After": "7"}) as server,
        open_source(server.url) as source,
        pytest.raises(StreamFailedError, match="slow down" if body else "HTTP status 429") as raised,
    ):
        parse(source)
    error = raised.value.error
    assert error is not None
    assert (error.status, error.retry_after, error.retryable) == (429, 7.0, True)


@pytest.mark.parametrize(
    "open_source",
    [with_async_sdk_streaming_manager, with_async_sdk_helper_manager, with_async_httpx_manager],
    ids=lambda it: it.__name__,
)
def test_a_request_that_is_refused_behind_an_async_context_manager_fails_with_what_the_body_says(
    open_source: AsyncOpener,
) -> None:
    async def main() -> None:
        with serve([RATE_LIMIT], status=429, headers={"Retry-After": "7"}) as server:
            async with open_source(server.url) as source:
                with pytest.raises(StreamFailedError, match="slow down") as raised:
                    await aparse(source)
        assert raised.value.error is not None
        assert (raised.value.error.status, raised.value.error.retry_after) == (429, 7.0)

    asyncio.run(main())


# -- mistakes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("open_source", SDK_FORMS, ids=lambda it: it.__name__)
def test_each_sync_form_is_refused_by_the_async_door(open_source: Opener) -> None:
    with serve(CHAT) as server, open_source(server.url) as source:
        with pytest.raises(SourceError, match=r"read synchronously: use stream\(\)"):
            asyncio.run(aparse(source))
        parse(source)


@pytest.mark.parametrize("open_source", ASYNC_SDK_FORMS, ids=lambda it: it.__name__)
def test_each_async_form_is_refused_by_the_sync_door(open_source: AsyncOpener) -> None:
    async def main() -> None:
        with serve(CHAT) as server:
            async with open_source(server.url) as source:
                with pytest.raises(SourceError, match=r"read asynchronously: use astream\(\)"):
                    stream(source)
                await aparse(source)

    asyncio.run(main())


def test_a_call_that_was_not_awaited_is_refused() -> None:
    async def main() -> None:
        async with async_sdk("http://127.0.0.1:1") as client:
            call = Endpoint(client, "chat").create()
            with pytest.raises(SourceError, match="await it first"):
                await aparse(call)
            call.close()

    asyncio.run(main())


def test_a_client_is_refused_and_not_closed() -> None:
    with sdk("http://127.0.0.1:1") as client:
        with pytest.raises(SourceError, match="OpenAI gives nothing to read: make a request with it"):
            parse(client)
        assert not client.is_closed()


# -- not streamed -----------------------------------------------------------------------------------------------------


@both_wires
def test_an_answer_that_was_not_streamed_is_read_as_the_one_payload_that_it_is(wire: str) -> None:
    whole = COMPLETION if wire == "chat" else response_payloads("Hel", "lo")[-1]["response"]
    headers = {"Content-Type": "application/json"}
    with serve([json.dumps(whole).encode()], headers=headers) as server, sdk(server.url) as client:
        answer = parse(Endpoint(client, wire).whole())
    assert (answer.text, answer.status, answer.api) == ("Hello", "completed", wire)
    assert answer.finish_reason == "stop"
