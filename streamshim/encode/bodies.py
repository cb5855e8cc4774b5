"""Whole bodies in the shape of either API, of what was collected from a stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from ..errors import ErrorInfo
from ..identifiers import random_id
from .chat import error_body, written_chat_usage
from .chat_calls import message_call
from .details import finish_word, source_of, written_logprobs
from .encoder import unix_time
from .options import ChatBodyOptions, ResponsesOptions
from .replay import replay
from .responses import ResponsesEncoder

if TYPE_CHECKING:
    from ..response_models import Choice, MediaPart, ModelResponse


def response_body(response: ModelResponse, **options: Unpack[ResponsesOptions]) -> dict[str, Any]:
    """The response object of the Responses API; one that still runs is "in_progress".

    Raises:
        ValueError: an option is given a word that it does not know.
    """
    encoder = ResponsesEncoder(**options)
    for event in replay(response):
        encoder.feed(event)
    return encoder.response


def chat_body(response: ModelResponse, **options: Unpack[ChatBodyOptions]) -> dict[str, Any]:
    """The body of a Chat Completions answer.

    An answer that failed or was cut has no finish reason, and an `error` beside its choices. Calls that were cut are
    left out.
    """
    make_id, now = options.get("make_id") or random_id, options.get("now") or unix_time
    body: dict[str, Any] = {
        "id": options.get("response_id") or response.response_id or make_id("chatcmpl"),
        "object": "chat.completion",
        "created": now() if response.created_at is None else response.created_at,
        "model": options.get("model") or response.model or "",
        "choices": [_choice(choice, response, options) for choice in response.choices],
    }
    if response.usage is not None:
        body["usage"] = written_chat_usage(response.usage)
    if isinstance(tier := response.metadata.get("service_tier"), str):
        body["service_tier"] = tier
    if error := _error(response):
        body["error"] = error
    return body


def _error(response: ModelResponse) -> dict[str, Any] | None:
    if response.status == "cancelled":
        return error_body(ErrorInfo("vendor", "The response was cancelled.", code="cancelled", type="cancelled"))
    if response.status == "failed":
        return error_body(response.error)
    return error_body(None, truncated=True) if response.status == "truncated" else None


def _choice(choice: Choice, response: ModelResponse, options: ChatBodyOptions) -> dict[str, Any]:
    logprobs = [entry for part in choice.parts if part.type == "text" for entry in written_logprobs(part.logprobs)]
    finish = None
    if response.status in ("completed", "incomplete"):
        otherwise = options.get("unknown_finish", "stop") if response.status == "completed" else None
        finish = finish_word(choice.finish_reason, choice.raw_finish_reason, otherwise)
    return {
        "index": choice.index,
        "message": _message(choice, options),
        "logprobs": {"content": logprobs, "refusal": None} if logprobs else None,
        "finish_reason": finish,
    }


def _message(choice: Choice, options: ChatBodyOptions) -> dict[str, Any]:
    has_text = any(part.type == "text" for part in choice.parts)
    message: dict[str, Any] = {
        "role": "assistant",
        "content": choice.text if has_text else None,
        "refusal": choice.refusal or None,
    }
    field = options.get("reasoning", "reasoning_content")
    if choice.reasoning and field != "none":
        message[field] = choice.reasoning
    if choice.citations:
        message["annotations"] = [
            {"type": "url_citation", "url_citation": source_of(citation)} for citation in choice.citations
        ]
    custom = options.get("custom_tools") == "custom"
    if calls := [
        message_call(call, custom=custom)
        for call in choice.tool_calls
        if call.kind != "server" and call.status not in ("truncated", None)
    ]:
        message["tool_calls"] = calls
    for part in choice.media:
        _add_media(message, part, options)
    return message


def _add_media(message: dict[str, Any], part: MediaPart, options: ChatBodyOptions) -> None:
    if (part.media_type or "").startswith("audio/"):
        id = part.id or (options.get("make_id") or random_id)("audio")
        message["audio"] = {"id": id, "data": part.data or "", "transcript": part.transcript or ""}
    elif part.data or part.url:
        address = f"data:{part.media_type or 'image/png'};base64,{part.data}" if part.data else part.url
        message.setdefault("images", []).append({"type": "image_url", "image_url": {"url": address}})
