"""pydantic-ai over the transport: `http_client=` of its provider, or an SDK of one's own."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx2
import pytest

import streamshim
from tests.loopback import serve
from tests.small_streams import CHAT_CALL, DONE, chat, frame
from tests.transported import assert_is_mended

pydantic_ai = pytest.importorskip("pydantic_ai", reason="pydantic-ai is not installed: make frameworks")
openai_models = pytest.importorskip("pydantic_ai.models.openai", reason="it has no openai here: make frameworks")
openai_provider = pytest.importorskip("pydantic_ai.providers.openai")
direct = pytest.importorskip("pydantic_ai.direct")

SLOPPY = [frame({"choices": [{"delta": {"content": word}}]}) for word in ("<think>hm</think>Hel", "lo")]


def model(url: str, http: httpx2.AsyncClient, name: str = "OpenAIChatModel") -> Any:
    provider = openai_provider.OpenAIProvider(base_url=url, api_key="none", http_client=http)
    return getattr(openai_models, name)("m-1", provider=provider)


def answer(pieces: list[bytes], name: str = "OpenAIChatModel") -> Any:
    async def run(url: str) -> Any:
        async with httpx2.AsyncClient(transport=streamshim.transport(httpx2)) as http:
            prompt = [pydantic_ai.ModelRequest.user_text_prompt("Hello")]
            async with direct.model_request_stream(model(url, http, name), prompt) as stream:
                async for _ in stream:
                    pass
                return stream.get()

    with serve(pieces) as server:
        return asyncio.run(run(server.url))


def test_what_pydantic_ai_reads_wrong_by_itself_it_reads_right_over_the_transport() -> None:
    assert_is_mended("chat", "pydantic-ai")


def test_thought_and_text_arrive_apart() -> None:
    assert [(part.part_kind, part.content) for part in answer([*SLOPPY, DONE]).parts] == [
        ("thinking", "hm"),
        ("text", "Hello"),
    ]


def test_responses_model_reads_a_chat_body_behind_its_own_path() -> None:
    """The answer comes in the words of the API that was asked."""
    parts = answer([frame(chat({"content": "Hello"}, "stop")), DONE], "OpenAIResponsesModel").parts
    assert [(part.part_kind, part.content) for part in parts] == [("text", "Hello")]


def test_cut_stream_raises() -> None:
    with pytest.raises(pydantic_ai.exceptions.ModelAPIError, match="Connection error"):
        answer(SLOPPY)


def test_vendor_error_raises_with_its_message() -> None:
    with pytest.raises(pydantic_ai.exceptions.ModelAPIError, match="on fire"):
        answer([*SLOPPY, frame({"error": "on fire"})])


def test_agent_runs_a_call_and_answers() -> None:
    async def run(server: Any) -> Any:
        async with httpx2.AsyncClient(transport=streamshim.transport(httpx2)) as http:
            agent = pydantic_ai.Agent(model(server.url, http))

            @agent.tool_plain
            def look(at: int) -> str:
                server.script = [*SLOPPY, DONE]
                return f"seen {at}"

            async with agent.run_stream("Hello") as result:
                return await result.get_output()

    with serve(CHAT_CALL) as server:
        assert asyncio.run(run(server)) == "Hello"
