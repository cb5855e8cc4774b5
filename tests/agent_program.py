"""One small application, written once: it asks, uses three tools, remembers, and wants a value at the end.

It knows no API: it is given a client, and runs unchanged over either.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from streamshim import AsyncLLMClient, Conversation, LLMClient, TextDelta, ToolResult


class Stay(BaseModel):
    harbour: str
    nights: int


def high_water(harbour: str) -> dict[str, Any]:
    """When the water is highest."""
    return {"harbour": harbour, "hour": 9}


async def free_berths(harbour: str, length: float = 9.5) -> list[int]:
    """Which berths are free for a boat of a length in metres."""
    return [3, 12] if length < 12 else []


def book(stay: Stay) -> str:
    """Book a stay."""
    raise ConnectionError(f"the harbour office of {stay.harbour} is closed")


TOOLS = (high_water, free_berths, book)
QUESTION = (
    'high_water({"harbour": "Brest"}) free_berths({"harbour": "Brest"}) '
    'book({"stay": {"harbour": "Brest", "nights": 2}})'
)


def agent(client: LLMClient) -> dict[str, Any]:
    shown: list[str] = []
    results: dict[str, Any] = {}
    conversation = Conversation("ann", instructions="Plan a trip.")
    conversation.user("Remember the word Iroise.")
    client.chat(conversation)
    conversation.user(QUESTION)
    with client.run(conversation, tools=TOOLS, max_turns=6, max_tokens=500) as run:
        for event in run:
            match event:
                case TextDelta(delta=text):
                    shown.append(text)
                case ToolResult(name=name, output=output):
                    results[name] = output
                case _:
                    pass
    conversation.user("Which word did I ask you to remember?")
    memory = client.chat(conversation).text
    stay = client.chat("What is booked?", response_format=Stay).parsed
    return {"shown": "".join(shown), "results": results, "memory": memory, "stay": stay}


async def async_agent(client: AsyncLLMClient) -> dict[str, Any]:
    shown: list[str] = []
    results: dict[str, Any] = {}
    conversation = Conversation("ann", instructions="Plan a trip.")
    conversation.user("Remember the word Iroise.")
    await client.chat(conversation)
    conversation.user(QUESTION)
    async with client.run(conversation, tools=TOOLS, max_turns=6, max_tokens=500) as run:
        async for event in run:
            match event:
                case TextDelta(delta=text):
                    shown.append(text)
                case ToolResult(name=name, output=output):
                    results[name] = output
                case _:
                    pass
    conversation.user("Which word did I ask you to remember?")
    memory = (await client.chat(conversation)).text
    stay = (await client.chat("What is booked?", response_format=Stay)).parsed
    return {"shown": "".join(shown), "results": results, "memory": memory, "stay": stay}
