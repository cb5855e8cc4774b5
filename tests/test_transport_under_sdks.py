"""openai and openai-agents over the transport: every scenario is read right, but for what a client cannot express."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import httpx
import httpx2
import openai
import pytest

import streamshim
from benchmarks.comparison.scenarios import Scenario
from tests.consumers import MESSAGES
from tests.loopback import BREAK, serve
from tests.relaying import relay
from tests.small_streams import CHAT, DONE, frame
from tests.test_corpus import CORPUS, absent, entries
from tests.transported import assert_is_mended, read_wrong

CLIENTS = [
    (api, client) for api in ("chat", "responses") for client in ("openai loop", "openai .stream()", "openai-agents")
]
LARGEST = 200_000


@pytest.fixture
def sdk() -> Iterator[Any]:
    with openai.OpenAI(
        api_key="none",
        base_url="http://127.0.0.1",
        max_retries=0,
        http_client=httpx2.Client(transport=streamshim.transport(httpx2)),
    ) as client:
        yield client


@pytest.mark.parametrize(("api", "client"), CLIENTS)
def test_what_a_client_reads_wrong_by_itself_it_reads_right_over_the_transport(api: str, client: str) -> None:
    assert_is_mended(api, client)


@absent
@pytest.mark.parametrize("api", ["chat", "responses"])
def test_recorded_stream_that_was_rewritten_is_read_by_openai_as_is_expected(api: str) -> None:
    """The others arrive byte for byte."""
    recorded = []
    for entry in entries():
        data = (CORPUS / entry["file"]).read_bytes()
        if entry["file"].startswith(f"{api}/") and len(data) <= LARGEST and relay([data], api).rewritten:
            expect = {**entry["expect"], **(entry.get("compare_stripped") or {})}
            recorded.append(Scenario(entry["file"], "recorded", (data,), dropped=False, expect=expect))
    assert len(recorded) > 15
    assert read_wrong(api, "openai loop", recorded) == {}


def text_of(chunks: Any) -> str:
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)


def test_cut_stream_raises_what_a_broken_connection_does(sdk: Any) -> None:
    cut = [frame({"choices": [{"delta": {"content": word}}]}) for word in ("Hel", "lo")]
    for script in (cut, [*cut, BREAK]):
        with serve(script) as server:
            read: list[Any] = []
            there = sdk.with_options(base_url=server.url)
            with pytest.raises(openai.APIConnectionError) as caught:
                read.extend(there.chat.completions.create(model="m", messages=MESSAGES, stream=True))
        assert text_of(read) == "Hello"
        assert isinstance(caught.value.__cause__, httpx2.RemoteProtocolError)


def test_vendor_error_raises_with_its_message(sdk: Any) -> None:
    with serve([CHAT[0], frame({"error": "on fire"}), DONE]) as server:
        there = sdk.with_options(base_url=server.url)
        with pytest.raises(openai.APIError, match="on fire"):
            list(there.chat.completions.create(model="m", messages=MESSAGES, stream=True))
    with serve([json.dumps({"detail": "on fire"}).encode()]) as server:
        there = sdk.with_options(base_url=server.url)
        with pytest.raises(openai.APIError, match="on fire"):
            list(there.responses.create(model="m", input="x", stream=True))


def test_ledger_is_found_at_the_stream(sdk: Any) -> None:
    with serve([frame({"choices": [{"delta": {"content": 5}, "finish_reason": "eos"}]}), DONE]) as server:
        stream = sdk.with_options(base_url=server.url).chat.completions.create(
            model="m", messages=MESSAGES, stream=True
        )
        assert text_of(stream) == "5"
    ledger = stream.response.extensions["streamshim"]
    assert ledger.repairs == {"content-number": 1, "finish-word": 1}
    assert ledger.end.status == "completed"


@pytest.mark.parametrize("module", [httpx, httpx2], ids=lambda module: module.__name__)
def test_asynchronous_sdk_over_either_module(module: Any) -> None:
    async def run(url: str) -> str:
        http = module.AsyncClient(transport=streamshim.transport(module))
        async with openai.AsyncOpenAI(api_key="none", base_url=url, http_client=http) as sdk:
            stream = await sdk.chat.completions.create(model="m", messages=MESSAGES, stream=True)
            return text_of([chunk async for chunk in stream])

    with serve([frame({"choices": [{"delta": {"content": "Hello"}}]}), DONE]) as server:
        assert asyncio.run(run(server.url)) == "Hello"


def test_answer_without_a_stream_is_none_of_its_business(sdk: Any) -> None:
    message = {"role": "assistant", "content": "Hello"}
    whole = {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
    }
    with serve([json.dumps(whole).encode()], headers={"Content-Type": "application/json"}) as server:
        completion = sdk.with_options(base_url=server.url).chat.completions.create(model="m", messages=MESSAGES)
    assert completion.choices[0].message.content == "Hello"
