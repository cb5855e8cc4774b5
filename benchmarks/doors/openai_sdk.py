"""The openai SDK: its plain loop, and its `.stream()` helper."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..loads import Said
from . import MODEL, PROMPT, Door
from .memory_http import URL, MemoryWire
from .payloads import joined, said_by_models

Pieces = Sequence[bytes]
MESSAGES: list[Any] = [{"role": "user", "content": PROMPT}]


def chat() -> Door:
    """`client.chat.completions.create(stream=True)`."""
    wire, client = memory_client()

    def read(pieces: Pieces) -> Iterator[Iterable[Any]]:
        wire.pieces = pieces
        yield client.chat.completions.create(model=MODEL, messages=MESSAGES, stream=True)

    return Door(read, said_by_models)


def responses() -> Door:
    """`client.responses.create(stream=True)`."""
    wire, client = memory_client()

    def read(pieces: Pieces) -> Iterator[Iterable[Any]]:
        wire.pieces = pieces
        yield client.responses.create(model=MODEL, input=PROMPT, stream=True)

    return Door(read, said_by_models)


def chat_helper() -> Door:
    """`client.chat.completions.stream()`: its events, then the completion that it has collected."""
    wire, client = memory_client()

    def read(pieces: Pieces) -> Iterator[Iterable[Any]]:
        wire.pieces = pieces
        with client.chat.completions.stream(model=MODEL, messages=MESSAGES) as stream:
            yield stream
            yield [stream.get_final_completion()]

    def said(items: Iterable[Any]) -> Said:
        *events, completion = items
        streamed = said_by_models(event.chunk for event in events if event.type == "chunk")
        message = completion.choices[0].message
        arguments = "".join(call.function.arguments for call in message.tool_calls or ())
        return Said(message.content or "", streamed.reasoning, arguments)

    return Door(read, said)


def responses_helper() -> Door:
    """`client.responses.stream()`: its events, then the response that it has collected."""
    wire, client = memory_client()

    def read(pieces: Pieces) -> Iterator[Iterable[Any]]:
        wire.pieces = pieces
        with client.responses.stream(model=MODEL, input=PROMPT) as stream:
            yield stream
            yield [stream.get_final_response()]

    def said(items: Iterable[Any]) -> Said:
        *events, whole = items
        streamed = joined(("text", event.delta) for event in events if event.type == "response.output_text.delta")
        return streamed if streamed.text == whole.output_text else Said(whole.output_text)

    return Door(read, said)


def memory_client() -> tuple[MemoryWire, Any]:
    """A client of the SDK, and what answers it."""
    import httpx2
    from openai import OpenAI

    wire = MemoryWire(httpx2)
    return wire, OpenAI(api_key="none", base_url=URL, max_retries=0, http_client=wire.client())


def async_memory_client() -> tuple[MemoryWire, Any]:
    """An asynchronous client of the SDK, and what answers it."""
    import httpx2
    from openai import AsyncOpenAI

    wire = MemoryWire(httpx2)
    return wire, AsyncOpenAI(api_key="none", base_url=URL, max_retries=0, http_client=wire.async_client())
