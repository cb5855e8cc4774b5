"""pydantic-ai: its models for either API, streamed by a direct model request."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any

from ..loads import Said
from . import MODEL, PROMPT, AsyncDoor
from .openai_sdk import async_memory_client
from .payloads import Word, joined


def chat() -> AsyncDoor:
    """`OpenAIChatModel`."""
    from pydantic_ai.models.openai import OpenAIChatModel

    return _door(OpenAIChatModel)


def responses() -> AsyncDoor:
    """`OpenAIResponsesModel`."""
    from pydantic_ai.models.openai import OpenAIResponsesModel

    return _door(OpenAIResponsesModel)


def _door(model_class: Any) -> AsyncDoor:
    from pydantic_ai import ModelRequest
    from pydantic_ai.direct import model_request_stream
    from pydantic_ai.providers.openai import OpenAIProvider

    wire, client = async_memory_client()
    model = model_class(MODEL, provider=OpenAIProvider(openai_client=client))

    async def read(pieces: Sequence[bytes]) -> AsyncIterator[Any]:
        wire.pieces = pieces
        async with model_request_stream(model, [ModelRequest.user_text_prompt(PROMPT)]) as stream:
            async for event in stream:
                yield event

    return AsyncDoor(read, _said)


def _said(events: Iterable[Any]) -> Said:
    return joined(word for event in events for word in _words(event))


def _words(event: Any) -> Iterable[Word]:
    """A part begins with its first delta; the others follow."""
    if event.event_kind == "part_start":
        part = event.part
        if part.part_kind in ("text", "thinking"):
            yield ("text" if part.part_kind == "text" else "reasoning"), part.content
        elif part.part_kind == "tool-call":
            yield "arguments", part.args or ""
    elif event.event_kind == "part_delta":
        delta = event.delta
        if delta.part_delta_kind == "tool_call":
            yield "arguments", delta.args_delta or ""
        else:
            yield ("text" if delta.part_delta_kind == "text" else "reasoning"), delta.content_delta or ""
