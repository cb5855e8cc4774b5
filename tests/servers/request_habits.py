"""Habits in what a server takes of a request: options that it ignores, and options that it refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .manners import Stage, habit
from .parameters import CHAT_PARAMETERS, COMPLETIONS_PARAMETERS, LONGEST_INPUT, MODELS, RANGES, RESPONSES_PARAMETERS
from .question import Json, RefusedError


def _ignore(name: str, *members: str) -> None:
    def change(body: Json) -> None:
        for member in members:
            body.pop(member, None)

    habit(name, Stage.REQUEST)(change)


def _refuse(name: str, asks: Callable[[Json], Any], message: str, status: int = 400) -> None:
    def change(body: Json) -> None:
        if asks(body):
            raise RefusedError(status, message)

    habit(name, Stage.REQUEST)(change)


def _parts(body: Json) -> list[Json]:
    said = body.get("messages") or body.get("input")
    messages = said if isinstance(said, list) else []
    contents = [message.get("content") for message in messages]
    return [part for content in contents if isinstance(content, list) for part in content]


def _has_image(body: Json) -> bool:
    return any(part.get("type") in ("image_url", "input_image") for part in _parts(body))


def _schema(body: Json) -> bool:
    form = body.get("response_format") or (body.get("text") or {}).get("format") or {}
    return form.get("type") == "json_schema"


# -- tools ------------------------------------------------------------------------------------------------------------

_ignore("tools-ignored", "tools", "tool_choice", "parallel_tool_calls")
_ignore("tool-choice-ignored", "tool_choice")
_ignore("parallel-ignored", "parallel_tool_calls")
_refuse("tools-crash", lambda body: body.get("tools"), "2 errors:\n  tools: no list\n  tool_choice: no text", 500)
_refuse("tools-refused", lambda body: body.get("tools"), "this model does not support tools")


@habit("forced-tools-refused", Stage.REQUEST)
def forced_tools_refused(body: Json) -> None:
    if body.get("tool_choice") not in (None, "auto", "none"):
        raise RefusedError(400, "tool_choice must be 'auto' or 'none'", param="tool_choice")


@habit("hosted-tools-refused", Stage.REQUEST)
def hosted_tools_refused(body: Json) -> None:
    for at, tool in enumerate(body.get("tools") or ()):
        if tool.get("type") == "web_search":
            raise RefusedError(400, "Unsupported tool type: 'web_search'.", param=f"tools[{at}].type")


@habit("one-call-only", Stage.REQUEST)
def one_call_only(body: Json) -> None:
    """Never more than one call in an answer."""
    if body.get("tools"):
        body["parallel_tool_calls"] = False


# -- limits and choices -----------------------------------------------------------------------------------------------

_ignore("max-tokens-ignored", "max_tokens", "max_completion_tokens", "max_output_tokens")
_ignore("max-completion-tokens-ignored", "max_completion_tokens")
_ignore("stop-ignored", "stop")
_ignore("n-ignored", "n")
_ignore("logprobs-ignored", "logprobs", "top_logprobs")
_ignore("effort-ignored", "reasoning_effort", "reasoning")
_refuse("n-refused", lambda body: (body.get("n") or 1) > 1, "'n' : number must be at most 1")
_refuse("logprobs-refused", lambda body: body.get("logprobs"), "logprobs are not supported with this model")
_refuse("stop-refused", lambda body: body.get("stop"), "Unsupported parameter: 'stop' is not supported.")
_refuse(
    "max-tokens-refused",
    lambda body: "messages" in body and body.get("max_tokens"),
    "Use 'max_completion_tokens' instead.",
)
_refuse("stream-options-refused", lambda body: body.get("stream_options"), "Extra inputs are not permitted", 422)


# -- structured output and images -------------------------------------------------------------------------------------


@habit("schema-ignored", Stage.REQUEST)
def schema_ignored(body: Json) -> None:
    body.pop("response_format", None)
    if isinstance(body.get("text"), dict):
        body["text"].pop("format", None)


@habit("schema-as-json-object", Stage.REQUEST)
def schema_as_json_object(body: Json) -> None:
    """Any JSON object comes, whatever the schema says."""
    if _schema(body) and "response_format" in body:
        body["response_format"] = {"type": "json_object"}
    elif _schema(body):
        body["text"]["format"] = {"type": "json_object"}


_refuse("schema-refused", _schema, "This response_format type is unavailable now")
_refuse("images-refused", _has_image, "this model does not support image input")


@habit("images-ignored", Stage.REQUEST)
def images_ignored(body: Json) -> None:
    for part in _parts(body):
        if part["type"] in ("image_url", "input_image"):
            part.clear()
            part.update(type="text" if "messages" in body else "input_text", text="")


# -- what is checked --------------------------------------------------------------------------------------------------


@habit("unknown-parameters-ignored", Stage.REQUEST)
def unknown_parameters_ignored(body: Json) -> Json:
    known = CHAT_PARAMETERS
    if "messages" not in body:
        known = COMPLETIONS_PARAMETERS if "prompt" in body else RESPONSES_PARAMETERS
    return {name: value for name, value in body.items() if name in known}


@habit("any-model", Stage.REQUEST)
def any_model(body: Json) -> None:
    """One model is loaded, and answers whatever the request names."""
    if body.get("model") not in MODELS:
        body["model"] = "toy"


@habit("bad-parameters-ignored", Stage.REQUEST)
def bad_parameters_ignored(body: Json) -> None:
    for name in RANGES:
        body.pop(name, None)


@habit("overflow-cut", Stage.REQUEST)
def overflow_cut(body: Json) -> None:
    """Of an input that is too long the end is read, and nobody is told."""
    for message in body.get("messages") or ():
        if isinstance(message.get("content"), str):
            message["content"] = _end_of(message["content"])
    if isinstance(body.get("input"), str):
        body["input"] = _end_of(body["input"])


def _end_of(text: str) -> str:
    words = text.split(" ")
    return " ".join(words[-LONGEST_INPUT // 2 :]) if len(words) > LONGEST_INPUT else text


# -- stored state -----------------------------------------------------------------------------------------------------

_refuse(
    "previous-id-refused",
    lambda body: body.get("previous_response_id"),
    "Unsupported parameter: 'previous_response_id'.",
)
_refuse("store-refused", lambda body: body.get("store"), "Unsupported parameter: 'store' must be false.")
_refuse("background-refused", lambda body: body.get("background"), "Unsupported parameter: 'background'.")
_ignore("previous-id-ignored", "previous_response_id")
_ignore("background-ignored", "background")
_ignore("include-ignored", "include")


@habit("store-ignored", Stage.REQUEST)
def store_ignored(body: Json) -> None:
    """Nothing is kept, whatever is asked for."""
    if "input" in body:
        body["store"] = False


# -- paths ------------------------------------------------------------------------------------------------------------


@habit("no-models", Stage.PATH)
def no_models(path: str) -> None:
    if path.startswith("GET /v1/models"):
        raise RefusedError(404, "Not Found", type="not_found_error")


@habit("no-retrieval", Stage.PATH)
def no_retrieval(path: str) -> None:
    if path.startswith("GET /v1/responses/"):
        raise RefusedError(404, "Not Found", type="not_found_error")
