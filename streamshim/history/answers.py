"""One answer, made ready to be sent back: its calls legal and told apart, their results beside them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..encode.history import tool_result
from ..json_codec import dumps, loads
from .content_parts import HistoryApi, content_for, is_content, result_content

if TYPE_CHECKING:
    from ..response_models import Choice, ModelResponse, ToolCallPart

_ERROR = "The tool failed."


@dataclass(slots=True, frozen=True)
class Result:
    """What a tool gave."""

    output: Any
    is_error: bool = False


def calls_of(response: ModelResponse) -> Iterator[tuple[int, ToolCallPart]]:
    """The calls that need a result, with their place among all calls. One without a name cannot go back at all."""
    waiting = {id(call) for call in response.calls_to_answer}
    return ((at, call) for at, call in enumerate(response.tool_calls) if id(call) in waiting and call.name)


def portable_response(response: ModelResponse) -> ModelResponse:
    """The response without what only its vendor can read or run: signed and encrypted thought, its tools, its items."""
    choices = [choice.model_copy(update={"parts": _portable_parts(choice)}) for choice in response.choices]
    return response.model_copy(update={"choices": choices, "unknown": []})


def _portable_parts(choice: Choice) -> list[Any]:
    parts: list[Any] = []
    for part in choice.parts:
        if part.type == "reasoning":
            if part.text:
                parts.append(part.model_copy(update={"signature": None, "encrypted": None}))
        elif part.type != "tool_call":
            parts.append(part)
        elif part.kind != "server" and not part.answered:
            parts.append(part.model_copy(update={"signature": None}))
    return parts


class Prepared:
    """An answer as it may go back: `response`, `items` (if they were kept) and the results of its calls.

    Some servers number calls anew in every turn, and refuse two of one id: a later one is renamed. Arguments that are
    no JSON object go back inside of one, since servers parse what they get.
    """

    def __init__(
        self,
        response: ModelResponse,
        items: list[dict[str, Any]] | None,
        results: dict[int, Result],
        used_ids: set[str],
        api: HistoryApi,
    ) -> None:
        """`used_ids`: the call ids of all answers before; those of this one are added."""
        legal = {at: _legal(call, used_ids, api) for at, call in calls_of(response)}
        self._api: HistoryApi = api
        self._results = [(legal[at], result) for at, result in sorted(results.items()) if at in legal]
        self.has_calls = bool(legal)
        self.response = _with_calls(response, legal)
        self.items = None if items is None else _with_calls_in_items(items, response, legal)

    def results(self) -> list[dict[str, Any]]:
        """What answers the calls, in their order."""
        return [tool_result(call, _output(call, result, self._api), self._api) for call, result in self._results]


def _legal(call: ToolCallPart, used_ids: set[str], api: HistoryApi) -> ToolCallPart:
    call_id, number = call.call_id, 1
    while call_id in used_ids:
        number += 1
        call_id = f"{call.call_id}-{number}"
    used_ids.add(call_id)
    changes: dict[str, Any] = {} if call_id == call.call_id else {"call_id": call_id}
    # a hosted tool is a function like any other on the chat API
    is_function = call.kind == "function" or (call.kind == "builtin" and api == "chat")
    if is_function and (arguments := legal_arguments(call.arguments)) != call.arguments:
        changes["arguments"] = arguments
    return call.model_copy(update=changes) if changes else call


def legal_arguments(arguments: str) -> str:
    """A function's arguments as they may go back: servers parse them, so what is no object goes inside of one."""
    try:
        is_object = isinstance(loads(arguments), dict)
    except ValueError:
        is_object = False
    return arguments if is_object else dumps({"invalid_arguments": arguments})


def _with_calls(response: ModelResponse, legal: dict[int, ToolCallPart]) -> ModelResponse:
    """The response with its legal calls, and without nameless ones."""
    choice = next((choice for choice in response.choices if choice.index == 0), None)
    if choice is None:
        return response
    parts: list[Any] = []
    at = -1
    for part in choice.parts:
        if part.type == "tool_call":
            at += 1
            if part.name:
                parts.append(legal.get(at, part))
        else:
            parts.append(part)
    return response.model_copy(update={"choices": [choice.model_copy(update={"parts": parts})]})


def _with_calls_in_items(
    items: list[dict[str, Any]], response: ModelResponse, legal: dict[int, ToolCallPart]
) -> list[dict[str, Any]]:
    """The items with the ids and arguments of the legal calls; without nameless ones."""
    waiting = [(call, legal[at]) for at, call in enumerate(response.tool_calls) if at in legal]
    result: list[dict[str, Any]] = []
    for item in items:
        if item["type"] not in ("function_call", "custom_tool_call"):
            result.append(item)
            continue
        found = next((entry for entry in waiting if entry[0].call_id == item.get("call_id")), None)
        if found is None:  # it was cut, or cannot be answered
            continue
        waiting.remove(found)
        call = found[1]
        arguments = {"arguments": call.arguments} if call.arguments != found[0].arguments else {}
        result.append({**item, "call_id": call.call_id, **arguments})
    return result


def _output(call: ToolCallPart, result: Result, api: HistoryApi) -> Any:
    output = result_content(result.output, api) if is_content(result.output) else result.output
    if not result.is_error:
        return output
    if call.kind == "builtin" and api == "responses":
        # only a patch has a word for failure; the others say it in what they show
        return {"output": output, "status": "failed"} if call.item_type == "apply_patch_call" else output
    if is_content(output):
        return [*content_for([{"type": "text", "text": _ERROR}], api), *output]
    return dumps({"error": output})
