"""Chat Completions: a request as a question, an answer as a stream or a body."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from streamshim import check_input, collect, encode_chat
from streamshim.events import Event

from .parameters import CHAT_PARAMETERS, check_length, check_parameters, texts_of
from .question import Json, Question, RefusedError, Tool, Turn

MakeId = Callable[[str], str]


def read_chat(body: Json) -> Question:
    """The question that a request asks.

    Raises:
        RefusedError: the request is not legal.
    """
    check_parameters(body, CHAT_PARAMETERS)
    messages = body.get("messages")
    if findings := check_input(messages, "chat"):
        raise RefusedError(400, str(findings[0]), param=findings[0].path)
    if not messages:
        raise RefusedError(400, "Invalid 'messages': empty array.", param="messages", code="empty_array")
    question = Question(
        model=body["model"],
        turns=[_turn(message) for message in messages or ()],
        tools=[_tool(tool, f"tools[{at}]") for at, tool in enumerate(body.get("tools") or ())],
        tool_choice=_tool_choice(body.get("tool_choice")),
        parallel=body.get("parallel_tool_calls") is not False,
        schema=_schema(body.get("response_format")),
        thinks=body["model"] == "thinker" or body.get("reasoning_effort") not in (None, "none"),
        max_tokens=body.get("max_completion_tokens") or body.get("max_tokens"),
        stop=texts_of(body.get("stop")),
        choices=body.get("n") or 1,
        top_logprobs=(body.get("top_logprobs") or 0) if body.get("logprobs") else None,
    )
    check_length(question.input_tokens, "messages")
    check_choice(question)
    return question


def chat_stream(events: list[Event], body: Json, make_id: MakeId) -> list[bytes]:
    """The answer as the frames of a stream."""
    include_usage = bool((body.get("stream_options") or {}).get("include_usage"))
    return list(encode_chat(events, include_usage=include_usage, custom_tools="custom", make_id=make_id))


def chat_body(events: list[Event], make_id: MakeId) -> Json:
    """The answer as a whole body."""
    return collect(events).to_chat_completion(custom_tools="custom", make_id=make_id)


def check_choice(question: Question) -> None:
    """Refuse a tool choice that no tool is offered for.

    Raises:
        RefusedError: the tool that must be called is not among the tools.
    """
    choice = question.tool_choice
    if choice not in ("auto", "none", "required") and all(tool.name != choice for tool in question.tools):
        raise RefusedError(400, f"Tool choice '{choice}' not found in 'tools' parameter.", param="tool_choice")


def _turn(message: Json) -> Turn:
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    text = content if isinstance(content, str) else "\n".join(part.get("text", "") for part in parts if "text" in part)
    images = sum(part["type"] == "image_url" for part in parts)
    return Turn(message["role"], text, images, len(message.get("tool_calls") or ()))


def _tool(tool: Any, path: str) -> Tool:
    kind = tool.get("type") if isinstance(tool, dict) else None
    if kind not in ("function", "custom") or not isinstance(tool.get(kind), dict) or not tool[kind].get("name"):
        raise RefusedError(400, f"Missing required parameter: '{path}.function'.", param=path)
    return Tool(tool[kind]["name"], tool[kind].get("parameters") or {}, kind)


def _tool_choice(choice: Any) -> str:
    if choice is None or isinstance(choice, str):
        return choice or "auto"
    return str(choice[choice["type"]]["name"])


def _schema(response_format: Any) -> Json | None:
    if response_format is None or response_format["type"] == "text":
        return None
    if response_format["type"] == "json_object":
        return {}
    schema = response_format["json_schema"].get("schema")
    if not isinstance(schema, dict):
        name = "response_format.json_schema.schema"
        raise RefusedError(400, f"Missing required parameter: '{name}'.", param=name)
    return schema
