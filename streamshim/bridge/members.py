"""The members of a request in the words of the other API: all but what was said so far.

A request of either API is a mapping, as its JSON is. What both APIs have is renamed or moved, and what neither of them
knows is the vendor's own and stays as it is. What the other API has no word for is refused
(`UnsupportedMemberError`), or left out where the answer is right without it. `null` says the same as nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ..encode.options import CustomTools
from .losses import LeftOut, UnsupportedMemberError, list_at, name_at, object_at
from .tools import (
    HostedTools,
    chat_tool_choice,
    chat_tools,
    item_function,
    item_tool,
    item_tool_choice,
    item_web_search,
)

MaxTokensName = Literal["max_tokens", "max_completion_tokens"]
"""What the limit is called on the chat API: nearly all vendors know the old name, OpenAI's thinking models the new."""

_WHAT_WAS_SAID = frozenset(("input", "instructions", "messages", "previous_response_id"))
_OBJECTS = frozenset(("reasoning", "stream_options", "text", "web_search_options"))
_LISTS = frozenset(("functions", "include", "tools"))
_LOGPROBS = "message.output_text.logprobs"


@dataclass(slots=True)
class _Request:
    """A request that is being written, and what it is written from."""

    source: Mapping[str, Any]
    left_out: list[LeftOut]
    written: dict[str, Any]
    hosted_tools: HostedTools = "refuse"
    custom_tools: CustomTools = "custom"
    max_tokens_name: MaxTokensName = "max_tokens"

    def within(self, outer: str) -> dict[str, Any]:
        """A member that is an object."""
        member: dict[str, Any] = self.written.setdefault(outer, {})
        return member

    def leave_out(self, param: str, reason: str) -> None:
        self.left_out.append(LeftOut(param, reason))


_Writer = Callable[[_Request, Any], None]


def responses_members(chat: Mapping[str, Any], *, left_out: list[LeftOut] | None = None) -> dict[str, Any]:
    """The members of a chat request as those of a Responses request, without `messages`.

    Args:
        chat: a chat request, or some members of one.
        left_out: is told what was left out.

    Raises:
        UnsupportedMemberError: the Responses API cannot be asked for something in it.
    """
    return _written(_Request(chat, [] if left_out is None else left_out, {}), _TO_RESPONSES)


def chat_members(
    responses: Mapping[str, Any],
    *,
    left_out: list[LeftOut] | None = None,
    hosted_tools: HostedTools = "refuse",
    custom_tools: CustomTools = "function",
    max_tokens_name: MaxTokensName = "max_tokens",
) -> dict[str, Any]:
    """The members of a Responses request as those of a chat request.

    Without `input` and `instructions`; `previous_response_id` has no counterpart.

    Args:
        responses: a Responses request, or some members of one.
        left_out: is told what was left out.
        hosted_tools: "refuse", or "leave_out": the request goes on without tools that the vendor would run.
        custom_tools: "function": a tool that takes text is a function with one string, `input`; "custom": as on
            OpenAI's own chat API.
        max_tokens_name: what `max_output_tokens` becomes.

    Raises:
        UnsupportedMemberError: the chat API cannot be asked for something in it.
    """
    reported = [] if left_out is None else left_out
    return _written(_Request(responses, reported, {}, hosted_tools, custom_tools, max_tokens_name), _TO_CHAT)


def _written(request: _Request, writers: Mapping[str, _Writer]) -> dict[str, Any]:
    for name, value in request.source.items():
        if name in _WHAT_WAS_SAID or value is None:
            continue
        if name in _OBJECTS:
            object_at(name, value)
        elif name in _LISTS:
            list_at(name, value)
        if name in writers:
            writers[name](request, value)
        else:
            request.written[name] = value
    return request.written


# -- rows of the tables -----------------------------------------------------------------------------------------------


def _as(name: str, change: Callable[[Any], Any] = lambda value: value) -> _Writer:
    def write(request: _Request, value: Any) -> None:
        request.written[name] = change(value)

    return write


def _into(outer: str, name: str, change: Callable[[Any], Any] = lambda value: value) -> _Writer:
    def write(request: _Request, value: Any) -> None:
        request.within(outer)[name] = change(value)

    return write


def _left_out(param: str, reason: str, *, silent: tuple[Any, ...] = ()) -> _Writer:
    """`silent`: values that ask for nothing."""

    def write(request: _Request, value: Any) -> None:
        if value not in silent:
            request.leave_out(param, reason)

    return write


def _refused(param: str, message: str, *, bearable: tuple[Any, ...] = ()) -> _Writer:
    """`bearable`: values that ask for nothing."""

    def write(request: _Request, value: Any) -> None:  # noqa: ARG001
        if value not in bearable:
            code: Literal["unsupported_value", "unsupported_parameter"]
            code = "unsupported_value" if bearable else "unsupported_parameter"
            raise UnsupportedMemberError(param, message, code)

    return write


# -- chat to Responses ------------------------------------------------------------------------------------------------


def _text_format(format: Any) -> Any:
    if isinstance(format, Mapping) and isinstance(format.get("json_schema"), Mapping):
        return {"type": format["type"], **format["json_schema"]}
    return format


def _item_max_tokens(request: _Request, value: Any) -> None:
    """The newer name of the limit counts where both are given."""
    request.written["max_output_tokens"] = request.source.get("max_completion_tokens") or value


def _item_tools(request: _Request, tools: Any) -> None:
    request.written.setdefault("tools", []).extend(item_tool(f"tools[{at}]", tool) for at, tool in enumerate(tools))


def _item_functions(request: _Request, functions: Any) -> None:
    request.written.setdefault("tools", []).extend(item_function(object_at("functions", each)) for each in functions)


def _item_function_call(request: _Request, choice: Any) -> None:
    if isinstance(choice, Mapping):
        choice = {"type": "function", "name": name_at("function_call", choice)}
    request.written["tool_choice"] = choice


def _item_web_search(request: _Request, options: Any) -> None:
    request.written.setdefault("tools", []).append(item_web_search(options))


def _item_logprobs(request: _Request, value: Any) -> None:
    if value:
        request.written["include"] = [*request.written.get("include", ()), _LOGPROBS]


def _item_stream_options(request: _Request, options: Any) -> None:
    """Token counts come in any case on the Responses API."""
    if others := {key: value for key, value in options.items() if key != "include_usage"}:
        request.written["stream_options"] = others


_TO_RESPONSES: dict[str, _Writer] = {
    "audio": _refused("audio", "audio output is not available: the Responses API answers with text"),
    "function_call": _item_function_call,
    "functions": _item_functions,
    "logit_bias": _refused(
        "logit_bias", "logit_bias is not available: the Responses API has no such member", bearable=({},)
    ),
    "logprobs": _item_logprobs,
    "max_completion_tokens": _item_max_tokens,
    "max_tokens": _item_max_tokens,
    "modalities": _refused(
        "modalities", "audio output is not available: the Responses API answers with text", bearable=(["text"],)
    ),
    "n": _refused("n", "n must be 1: the Responses API gives one answer to a request", bearable=(1,)),
    "prediction": _left_out("prediction", "a predicted answer only makes the answer come sooner"),
    "reasoning_effort": _into("reasoning", "effort"),
    "response_format": _into("text", "format", _text_format),
    "seed": _left_out("seed", "the Responses API has no seed; no vendor promises what it gives"),
    "stop": _refused("stop", "stop is not available: the Responses API has no stop sequences", bearable=([], "")),
    "stream_options": _item_stream_options,
    "tool_choice": _as("tool_choice", item_tool_choice),
    "tools": _item_tools,
    "verbosity": _into("text", "verbosity"),
    "web_search_options": _item_web_search,
}

# -- Responses to chat ------------------------------------------------------------------------------------------------


def _response_format(format: Any) -> Any:
    if isinstance(format, Mapping) and format.get("type") == "json_schema" and "json_schema" not in format:
        return {"type": "json_schema", "json_schema": {key: value for key, value in format.items() if key != "type"}}
    return format


def _chat_max_tokens(request: _Request, value: Any) -> None:
    request.written[request.max_tokens_name] = value


def _chat_reasoning(request: _Request, reasoning: Any) -> None:
    for name, value in reasoning.items():
        if name == "effort" and value is not None:
            request.written["reasoning_effort"] = value
        elif value is not None:
            request.leave_out(f"reasoning.{name}", "chat vendors show thought as it is, if at all")


def _chat_text(request: _Request, text: Any) -> None:
    for name, value in text.items():
        if value is None:
            continue
        if name == "format":
            request.written["response_format"] = _response_format(value)
        elif name == "verbosity":
            request.written["verbosity"] = value
        else:
            request.leave_out(f"text.{name}", "the chat API has no such member")


def _chat_tools(request: _Request, tools: Any) -> None:
    """The tools, and the choice among them, which may leave some undeclared; without tools there is no choice."""
    as_functions = request.custom_tools == "function"
    written = chat_tools(tools, request.left_out, hosted_tools=request.hosted_tools, custom_as_functions=as_functions)
    choice, written = chat_tool_choice(
        request.source.get("tool_choice"),
        written,
        request.left_out,
        hosted_tools=request.hosted_tools,
        custom_as_functions=as_functions,
    )
    if not written:
        return
    request.written["tools"] = written
    if choice is not None:
        request.written["tool_choice"] = choice
    if (parallel := request.source.get("parallel_tool_calls")) is not None:
        request.written["parallel_tool_calls"] = parallel


def _with_tools(request: _Request, value: Any) -> None:
    """`_chat_tools` writes it."""


def _chat_include(request: _Request, include: Any) -> None:
    for name in include:
        if name == _LOGPROBS:
            request.written["logprobs"] = True
        else:
            request.leave_out("include", f"{name!r} is nothing that a chat vendor could answer with")


def _chat_top_logprobs(request: _Request, count: Any) -> None:
    if count:
        request.written |= {"logprobs": True, "top_logprobs": count}


def _chat_stream(request: _Request, value: Any) -> None:
    """Token counts come in any case on the Responses API, and on the chat API when they are asked for."""
    request.written["stream"] = value
    if value:
        request.within("stream_options")["include_usage"] = True


def _chat_stream_options(request: _Request, options: Any) -> None:
    request.within("stream_options").update(options)


_KEPT_HERE = "what is stored is stored on this side"
_TO_CHAT: dict[str, _Writer] = {
    "access_programs": _left_out("access_programs", "the chat API has no such member"),
    "background": _refused(
        "background", "background is not available: a chat model answers at once", bearable=(False,)
    ),
    "background_options": _left_out("background_options", "nothing runs in the background"),
    "context_management": _refused(
        "context_management", "context_management is not available: the chat API has no compaction", bearable=([],)
    ),
    "conversation": _refused(
        "conversation", "conversation is not available: continue an answer with previous_response_id"
    ),
    "image": _left_out("image", "the chat API has no such member"),
    "include": _chat_include,
    "max_output_tokens": _chat_max_tokens,
    "max_tool_calls": _left_out("max_tool_calls", "it counts the calls of hosted tools"),
    "metadata": _left_out("metadata", _KEPT_HERE, silent=({},)),
    "parallel_tool_calls": _with_tools,
    "prompt": _refused("prompt", "prompt is not available: prompt templates are kept by the vendor"),
    "reasoning": _chat_reasoning,
    "store": _left_out("store", _KEPT_HERE),
    "stream": _chat_stream,
    "stream_options": _chat_stream_options,
    "text": _chat_text,
    "tool_choice": _with_tools,
    "tools": _chat_tools,
    "top_logprobs": _chat_top_logprobs,
    "truncation": _left_out("truncation", "what is too long for the model is refused", silent=("disabled",)),
}
