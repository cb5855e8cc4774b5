"""What a type checker knows about clients, whichever API they speak."""

# pyright: strict, reportUnnecessaryTypeIgnoreComment=true

from typing import assert_type

import streamshim
from streamshim import (
    AsyncEventStream,
    AsyncLLMClient,
    AsyncRun,
    Conversation,
    EventStream,
    LLMClient,
    ModelResponse,
    Run,
    ToolResult,
)
from streamshim.client import RunEvent


def look(at: int) -> str:
    return str(at)


def either_api(url: str) -> None:
    for client in (streamshim.ChatCompletionsClient(url), streamshim.ResponsesClient(url), streamshim.connect(url)):
        sync_client(client)


def sync_client(client: LLMClient) -> None:
    assert_type(client.chat("Hi", tools=[look], max_tokens=3, response_format=int), ModelResponse)
    client.chat("Hi", max_tokens="three")  # type: ignore[arg-type]
    client.chat("Hi", max_length=3)  # type: ignore[call-arg]
    client.chat(7)  # type: ignore[arg-type]
    with client.stream("Hi", repairs=True) as events:
        assert_type(events, EventStream)
    with client.run("Hi", tools=[look, {"type": "web_search"}], max_turns=2) as run:
        assert_type(run, Run)
        for event in run:
            assert_type(event, RunEvent)
            if event.type == "tool_result":
                assert_type(event, ToolResult)
        assert_type(run.final(), ModelResponse)
        assert_type(run.turns, list[ModelResponse])
        assert_type(run.conversation, Conversation)


async def either_api_asynchronously(url: str) -> None:
    clients = (
        streamshim.AsyncChatCompletionsClient(url),
        streamshim.AsyncResponsesClient(url),
        await streamshim.aconnect(url),
    )
    for client in clients:
        await async_client(client)


async def async_client(client: AsyncLLMClient) -> None:
    assert_type(await client.chat(Conversation(), tools=[look]), ModelResponse)
    async with client.stream("Hi") as events:
        assert_type(events, AsyncEventStream)
    async with client.run("Hi", tools=[look]) as run:
        assert_type(run, AsyncRun)
        async for event in run:
            assert_type(event, RunEvent)
        assert_type(await run.final(), ModelResponse)
