"""Responses: a request and what is stored as a question, an answer as a stream or a body."""

from __future__ import annotations

from typing import Any

from streamshim import check_input, encode_responses
from streamshim.events import Event

from .chat import MakeId, check_choice
from .parameters import RESPONSES_PARAMETERS, check_length, check_parameters
from .question import Json, Question, RefusedError, Tool, Turn
from .speech import CREATED_AT, SEAL


def input_items(body: Json, stored: dict[str, Json]) -> list[Json]:
    """The input of a request as items; `stored` are those that it may refer to, by their ids.

    Raises:
        RefusedError: it is no legal input, or refers to what is not stored.
    """
    said = body.get("input")
    if said is None:
        raise RefusedError(
            400, "Missing required parameter: 'input'.", param="input", code="missing_required_parameter"
        )
    continued = body.get("previous_response_id") is not None
    if findings := check_input(said, "responses", continued=continued):
        raise RefusedError(400, str(findings[0]), param=findings[0].path)
    return [{"role": "user", "content": said}] if isinstance(said, str) else [_stored(item, stored) for item in said]


def read_responses(body: Json, items: list[Json]) -> Question:
    """The question that a request asks; `items` are all of the conversation.

    Raises:
        RefusedError: the request is not legal.
    """
    check_parameters(body, RESPONSES_PARAMETERS)
    if findings := check_input(items, "responses"):
        raise RefusedError(400, str(findings[0]), param="input")
    told = [Turn("system", body["instructions"])] if body.get("instructions") else []
    question = Question(
        model=body["model"],
        turns=told + [turn for item in items for turn in _turns(item)],
        tools=[_tool(tool, f"tools[{at}]") for at, tool in enumerate(body.get("tools") or ()) if not _is_hosted(tool)],
        tool_choice=_tool_choice(body.get("tool_choice")),
        parallel=body.get("parallel_tool_calls") is not False,
        schema=_schema((body.get("text") or {}).get("format")),
        thinks=body["model"] == "thinker" or (body.get("reasoning") or {}).get("effort") not in (None, "none"),
        max_tokens=body.get("max_output_tokens"),
        top_logprobs=_top_logprobs(body),
        encrypts="reasoning.encrypted_content" in (body.get("include") or ()),
    )
    check_length(question.input_tokens, "input")
    check_choice(question)
    return question


def responses_stream(events: list[Event], body: Json, make_id: MakeId) -> list[bytes]:
    """The answer as the frames of a stream."""
    return list(encode_responses(events, request=_echo(body), done=False, make_id=make_id, now=lambda: CREATED_AT + 1))


def is_stored(body: Json) -> bool:
    """Whether the server is to keep the response."""
    return body.get("store") is not False


def _echo(body: Json) -> Json:
    return {"store": True, **body}


def _stored(item: Json, stored: dict[str, Json]) -> Json:
    """An item of the input, or the one that it refers to; thought must be known, or sealed by this server."""
    kind = item.get("type")
    id = str(item.get("id"))
    if kind == "item_reference" or (kind == "reasoning" and item.get("id") and not item.get("encrypted_content")):
        if id not in stored:
            message = f"Item with id '{id}' not found. Items are not persisted when `store` is set to false."
            raise RefusedError(404, message, param="input")
        return stored[id]
    if kind == "reasoning" and not str(item.get("encrypted_content") or SEAL).startswith(SEAL):
        message = f"The encrypted content for item {id} could not be verified."
        raise RefusedError(400, message, code="invalid_encrypted_content")
    return item


def _turns(item: Json) -> list[Turn]:
    kind = item.get("type") or "message"
    if kind == "message":
        text, images = _words(item.get("content"))
        return [Turn(item["role"], text, images)]
    if kind in ("function_call", "custom_tool_call"):
        return [Turn("assistant", calls=1)]
    if kind in ("function_call_output", "custom_tool_call_output"):
        return [Turn("tool", _words(item["output"])[0])]
    if kind == "reasoning":
        return []
    raise RefusedError(400, f"Invalid value: '{kind}'.", param="input", code="invalid_value")


def _words(content: Any) -> tuple[str, int]:
    """The text of a content, and how many images are in it."""
    if isinstance(content, str):
        return content, 0
    parts = content or []
    text = "\n".join(part.get("text", part.get("refusal")) for part in parts if "text" in part or "refusal" in part)
    return text, sum(part["type"] == "input_image" for part in parts)


def _is_hosted(tool: Any) -> bool:
    """Whether the server runs the tool itself: this one may be declared, and the model never calls it."""
    return isinstance(tool, dict) and tool.get("type") == "web_search"


def _tool(tool: Any, path: str) -> Tool:
    kind = tool.get("type") if isinstance(tool, dict) else None
    if kind not in ("function", "custom"):
        raise RefusedError(400, f"Invalid value: '{kind}'.", param=f"{path}.type", code="invalid_value")
    if not tool.get("name"):
        message = f"Missing required parameter: '{path}.name'."
        raise RefusedError(400, message, param=f"{path}.name", code="missing_required_parameter")
    return Tool(tool["name"], tool.get("parameters") or {}, kind)


def _tool_choice(choice: Any) -> str:
    if choice is None or isinstance(choice, str):
        return choice or "auto"
    return str(choice["name"])


def _schema(form: Any) -> Json | None:
    if form is None or form["type"] == "text":
        return None
    if form["type"] == "json_object":
        return {}
    if not isinstance(form.get("schema"), dict):
        raise RefusedError(400, "Missing required parameter: 'text.format.schema'.", param="text.format.schema")
    return form["schema"]


def _top_logprobs(body: Json) -> int | None:
    included = "message.output_text.logprobs" in (body.get("include") or ())
    return body.get("top_logprobs") or 0 if included else None
