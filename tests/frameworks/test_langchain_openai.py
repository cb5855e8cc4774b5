"""langchain-openai over the transport: `http_client=` and `http_async_client=`."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx2
import openai
import pytest
from pydantic import SecretStr

import streamshim
from tests.loopback import serve
from tests.small_streams import DONE, chat, frame
from tests.test_scenarios import load
from tests.transported import assert_is_mended

langchain_openai = pytest.importorskip("langchain_openai", reason="langchain-openai is not installed: make frameworks")

SLOPPY = [frame({"choices": [{"delta": {"content": word}}]}) for word in ("Hel", "lo")]


def model(url: str, **options: Any) -> Any:
    return langchain_openai.ChatOpenAI(
        model="m-1",
        base_url=url,
        api_key=SecretStr("none"),
        max_retries=0,
        http_client=httpx2.Client(transport=streamshim.transport(httpx2, **options)),
        http_async_client=httpx2.AsyncClient(transport=streamshim.transport(httpx2, **options)),
    )


def test_what_langchain_reads_wrong_by_itself_it_reads_right_over_the_transport() -> None:
    assert_is_mended("chat", "langchain-openai")


def test_text_arrives() -> None:
    with serve([*SLOPPY, DONE]) as server:
        assert "".join(chunk.text for chunk in model(server.url).stream("Hello")) == "Hello"


def test_cut_stream_raises() -> None:
    with serve(SLOPPY) as server, pytest.raises(openai.APIConnectionError):
        list(model(server.url).stream("Hello"))


def test_vendor_error_raises_with_its_message() -> None:
    with serve([*SLOPPY, frame({"error": "on fire"})]) as server, pytest.raises(openai.APIError, match="on fire"):
        list(model(server.url).stream("Hello"))


def test_running_counts_are_not_added_up() -> None:
    """It adds up the token counts of all chunks; the API gives them once."""
    counts = [{"prompt_tokens": 3, "completion_tokens": n, "total_tokens": 3 + n} for n in (1, 2)]
    chunks = [
        {**chat({"role": "assistant", "content": "Hel"}), "usage": counts[0]},
        {**chat({"content": "lo"}), "usage": counts[1]},
        {**chat({}, "stop"), "usage": counts[1]},
    ]
    with serve([*map(frame, chunks), DONE]) as server:
        message: Any = None
        for chunk in model(server.url).stream("Hello"):
            message = chunk if message is None else message + chunk
    assert message.text == "Hello"
    assert (message.usage_metadata["input_tokens"], message.usage_metadata["output_tokens"]) == (3, 2)


def test_call_that_was_cut_never_arrives_if_calls_must_be_whole() -> None:
    """It completes the JSON of a cut call, which then looks like a whole one."""
    for options, calls in (({}, 1), ({"tool_calls": "whole"}, 0)):
        with serve(load("tool-truncated-by-length")["pieces"]) as server:
            message: Any = None
            for chunk in model(server.url, **options).stream("Hello"):
                message = chunk if message is None else message + chunk
        assert len(message.tool_calls) == calls
        assert message.response_metadata["finish_reason"] == "length"


def test_asynchronous_stream() -> None:
    async def run(url: str) -> str:
        return "".join([chunk.text async for chunk in model(url).astream("Hello")])

    with serve([*SLOPPY, DONE]) as server:
        assert asyncio.run(run(server.url)) == "Hello"
