"""litellm over the transport: `client=` takes an SDK, and the SDK an HTTP client."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import httpx2
import openai
import pytest

import streamshim
from tests.loopback import serve
from tests.small_streams import DONE, frame
from tests.transported import assert_is_mended

litellm = pytest.importorskip("litellm", reason="litellm is not installed: make frameworks")

pytestmark = pytest.mark.filterwarnings("ignore")  # it warns of itself as it loads

MESSAGES = [{"role": "user", "content": "Hello"}]
ASKED: dict[str, Any] = {"model": "openai/m-1", "messages": MESSAGES, "stream": True, "max_retries": 0}
SLOPPY = [frame({"choices": [{"delta": {"content": word}}]}) for word in ("<think>hm</think>Hel", "lo")]


@pytest.fixture
def sdk() -> Iterator[openai.OpenAI]:
    http = httpx2.Client(transport=streamshim.transport(httpx2))
    with openai.OpenAI(api_key="none", base_url="http://127.0.0.1", max_retries=0, http_client=http) as client:
        yield client


def test_what_litellm_reads_wrong_by_itself_it_reads_right_over_the_transport() -> None:
    assert_is_mended("chat", "litellm")


def test_thought_and_text_arrive_apart(sdk: openai.OpenAI) -> None:
    with serve([*SLOPPY, DONE]) as server:
        chunks = list(litellm.completion(**ASKED, client=sdk.with_options(base_url=server.url)))
    deltas = [chunk.choices[0].delta for chunk in chunks]
    assert "".join(delta.content or "" for delta in deltas) == "Hello"
    assert "".join(getattr(delta, "reasoning_content", None) or "" for delta in deltas) == "hm"


def test_cut_stream_raises(sdk: openai.OpenAI) -> None:
    with serve(SLOPPY) as server, pytest.raises(Exception, match="Connection error"):
        list(litellm.completion(**ASKED, client=sdk.with_options(base_url=server.url)))


def test_vendor_error_raises_with_its_message(sdk: openai.OpenAI) -> None:
    with serve([*SLOPPY, frame({"error": "on fire"})]) as server, pytest.raises(Exception, match="on fire"):
        list(litellm.completion(**ASKED, client=sdk.with_options(base_url=server.url)))


def test_asynchronous_completion() -> None:
    async def run(url: str) -> str:
        http = httpx2.AsyncClient(transport=streamshim.transport(httpx2))
        async with openai.AsyncOpenAI(api_key="none", base_url=url, max_retries=0, http_client=http) as sdk:
            chunks = await litellm.acompletion(**ASKED, client=sdk)
            return "".join([chunk.choices[0].delta.content or "" async for chunk in chunks])

    with serve([*SLOPPY, DONE]) as server:
        assert asyncio.run(run(server.url)) == "Hello"
