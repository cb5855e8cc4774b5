"""openai-agents: the model classes that it runs on either API; both speak in events of the Responses API."""

from __future__ import annotations

from collections.abc import AsyncIterable, Sequence
from typing import Any

from . import MODEL, PROMPT, AsyncDoor
from .memory_http import MemoryWire
from .openai_sdk import async_memory_client
from .payloads import said_by_models


def chat() -> AsyncDoor:
    """`OpenAIChatCompletionsModel.stream_response`."""
    from agents import OpenAIChatCompletionsModel

    wire, client = async_memory_client()
    return _door(wire, OpenAIChatCompletionsModel(MODEL, client))


def responses() -> AsyncDoor:
    """`OpenAIResponsesModel.stream_response`."""
    from agents import OpenAIResponsesModel

    wire, client = async_memory_client()
    return _door(wire, OpenAIResponsesModel(MODEL, client))


def _door(wire: MemoryWire, model: Any) -> AsyncDoor:
    from agents import ModelSettings, ModelTracing

    def read(pieces: Sequence[bytes]) -> AsyncIterable[Any]:
        wire.pieces = pieces
        events: AsyncIterable[Any] = model.stream_response(
            system_instructions=None,
            input=PROMPT,
            model_settings=ModelSettings(),
            tools=[],
            output_schema=None,
            handoffs=[],
            tracing=ModelTracing.DISABLED,
            previous_response_id=None,
            conversation_id=None,
            prompt=None,
        )
        return events

    return AsyncDoor(read, said_by_models)
