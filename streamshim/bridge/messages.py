"""Input items of a Responses request as the messages of a chat request.

What stands side by side in items is one assistant message there: thought, text and calls. The results of its calls
follow at once, whatever stood between; a call that was given none is told to have been left. Of what chat vendors do
not agree on, that is written which all of them take: text as such and not in a list, one system message at the
beginning, `system` for `developer`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ..encode.chat_calls import call_entry, wrapped_input
from ..encode.history import HOSTED_RESULTS, ReasoningReplay
from ..encode.options import CustomTools
from ..history.answers import legal_arguments
from ..history.content_parts import content_for, is_content
from ..json_codec import dumps
from .losses import LeftOut, UnsupportedMemberError, content_at, object_at
from .tools import flat_name

Item = Mapping[str, Any]

_NOT_RUN = "The tool was not run."
_SHOWN_BELOW = "The result is shown in the next message."
_SYSTEM_ROLES = ("system", "developer")
_RUN_BY_THE_CALLER = ("apply_patch_call", "local_shell_call", "shell_call")
"""Hosted tools whose calls and results are text enough to be told as those of a function."""
_RUN_BY_THE_VENDOR = frozenset(
    (
        *("code_interpreter_call", "file_search_call", "image_generation_call", "mcp_call", "mcp_list_tools"),
        *("program", "program_output", "web_search_call"),
    )
)
_CALLS = frozenset(("function_call", "custom_tool_call", *_RUN_BY_THE_CALLER))
_OF_THE_ITEM = frozenset(("type", "id", "call_id", "status", "caller"))


@dataclass(slots=True)
class _Call:
    """A call, and what answers it."""

    name: str
    entry: dict[str, Any]
    result: str | None = None
    shown: list[dict[str, Any]] = field(default_factory=list)
    """Parts of the result that a tool message cannot hold."""


@dataclass(slots=True)
class _Answer:
    """What the model said in one go."""

    turn: int
    thoughts: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    calls: list[_Call] = field(default_factory=list)


class Messages:
    """Reads items in order; `written()` gives the messages."""

    def __init__(
        self, left_out: list[LeftOut], *, reasoning: ReasoningReplay = "tool_turns", custom_tools: CustomTools
    ) -> None:
        """No item was read.

        Args:
            left_out: is told what was left out.
            reasoning: how thought goes back, as in `Conversation.to_chat_messages`.
            custom_tools: whether calls of custom tools are written as those of functions.
        """
        self._left_out = left_out
        self._reasoning: ReasoningReplay = reasoning
        self._custom = custom_tools == "custom"
        self._entries: list[dict[str, Any] | _Answer] = []
        self._open: _Answer | None = None
        self._turn = 0
        self._waiting: dict[str, list[_Call]] = {}
        self._used_ids: set[str] = set()

    # -- reading ------------------------------------------------------------------------------------------------------

    def read(self, param: str, item: Any) -> None:
        """The next item; `param` is where it stands in the request.

        Raises:
            UnsupportedMemberError: it is nothing that a chat vendor can be told.
        """
        kind: Any = object_at(param, item).get("type")
        if kind is None and "role" in item:
            kind = "message"
        kind = str(kind)
        if kind in _CALLS and item.get("status") == "incomplete":
            self._left_out.append(LeftOut(param, "the call was cut: no result is owed to it"))
        elif kind in self._READERS:
            self._READERS[kind](self, param, item)
        elif kind in _RUN_BY_THE_CALLER:
            self._hosted_call(param, item, kind)
        elif kind in _ANSWERS:
            self._hosted_result(param, item, kind)
        elif kind in _RUN_BY_THE_VENDOR:
            self._left_out.append(LeftOut(param, f"an item of type {kind!r} is of a vendor that runs tools itself"))
        else:
            raise UnsupportedMemberError(
                param, f"{param}: an item of type {kind!r} cannot be told on Chat Completions", "unsupported_value"
            )

    def _message(self, param: str, item: Item) -> None:
        role = item.get("role")
        content = content_at(f"{param}.content", item.get("content"))
        if role == "assistant":
            self._said(content)
        elif role == "user" or role in _SYSTEM_ROLES:
            self._open = None
            self._turn += role == "user"
            written = "system" if role in _SYSTEM_ROLES else "user"
            self._entries.append({"role": written, "content": _plain(content_for(content, "chat"))})
        else:
            raise UnsupportedMemberError(
                f"{param}.role", f"{param}.role must be user, assistant, system or developer", "unsupported_value"
            )

    def _said(self, content: str | list[dict[str, Any]]) -> None:
        parts = [{"type": "output_text", "text": content}] if isinstance(content, str) else content
        answer = self._answer()
        if text := "".join(part["text"] for part in parts if isinstance(part.get("text"), str)):
            answer.texts.append(text)
        answer.refusals += [part["refusal"] for part in parts if isinstance(part.get("refusal"), str)]

    def _thought(self, param: str, item: Item) -> None:
        """What is readable of it: the text itself where it came, else its summary."""
        for name in ("content", "summary"):
            parts = content_at(f"{param}.{name}", item.get(name) or [])
            if thought := parts if isinstance(parts, str) else "\n".join(part.get("text", "") for part in parts):
                self._answer().thoughts.append(thought)
                return
        if item.get("encrypted_content"):
            self._left_out.append(LeftOut(param, "encrypted thought can be read by the vendor that made it alone"))

    def _function_call(self, param: str, item: Item) -> None:
        name = flat_name(_text_at(param, item, "name"), item.get("namespace"))
        arguments = legal_arguments(str(item.get("arguments") or "{}"))
        self._call(_text_at(param, item, "call_id"), name, arguments)

    def _custom_call(self, param: str, item: Item) -> None:
        name = flat_name(_text_at(param, item, "name"), item.get("namespace"))
        text = str(item.get("input") or "")
        call_id = _text_at(param, item, "call_id")
        self._call(call_id, name, text if self._custom else wrapped_input(text), custom=self._custom)

    def _hosted_call(self, param: str, item: Item, kind: str) -> None:
        arguments = {key: value for key, value in item.items() if key not in _OF_THE_ITEM}
        call_id = _text_at(param, item, HOSTED_RESULTS[kind][1])
        self._call(call_id, kind.removesuffix("_call"), dumps(arguments))

    def _call(self, call_id: str, name: str, arguments: str, *, custom: bool = False) -> None:
        """A call. Some servers number calls anew in every turn, and refuse two of one id: a later one is renamed."""
        own_id, number = call_id, 1
        while own_id in self._used_ids:
            number += 1
            own_id = f"{call_id}-{number}"
        self._used_ids.add(own_id)
        call = _Call(name, call_entry(own_id, name, arguments, custom=custom))
        self._answer().calls.append(call)
        self._waiting.setdefault(call_id, []).append(call)

    def _result(self, param: str, item: Item) -> None:
        self._answer_call(param, _text_at(param, item, "call_id"), item.get("output"))

    def _hosted_result(self, param: str, item: Item, kind: str) -> None:
        id_name, result_name = _ANSWERS[kind]
        result = {key: value for key, value in item.items() if key not in _OF_THE_ITEM}
        whole = result[result_name] if result.keys() == {result_name} else result
        self._answer_call(param, _text_at(param, item, id_name), whole)

    def _answer_call(self, param: str, call_id: str, output: Any) -> None:
        waiting = self._waiting.get(call_id)
        if not waiting:
            raise UnsupportedMemberError(
                param, f"No tool call found for function call output with call_id {call_id}.", "unsupported_value"
            )
        self._open = None
        call = waiting.pop(0)
        if not is_content(output):
            call.result = output if isinstance(output, str) else dumps(output)
            return
        content = content_at(f"{param}.output", output)
        parts = [part for part in content_for(content, "chat") if isinstance(part, dict)]
        call.shown = [part for part in parts if part["type"] != "text"]
        call.result = "\n".join(part["text"] for part in parts if part["type"] == "text")
        if call.shown:
            call.result = call.result or _SHOWN_BELOW

    def _answer(self) -> _Answer:
        if self._open is None:
            self._open = _Answer(self._turn)
            self._entries.append(self._open)
        return self._open

    _READERS: ClassVar[dict[str, Callable[[Messages, str, Item], None]]] = {
        "message": _message,
        "reasoning": _thought,
        "function_call": _function_call,
        "function_call_output": _result,
        "custom_tool_call": _custom_call,
        "custom_tool_call_output": _result,
    }

    # -- writing ------------------------------------------------------------------------------------------------------

    def written(self) -> list[dict[str, Any]]:
        """The messages of all that was read."""
        tool_turns = {entry.turn for entry in self._entries if isinstance(entry, _Answer) and entry.calls}
        messages: list[dict[str, Any]] = []
        for entry in self._entries:
            if isinstance(entry, dict):
                messages.append(entry)
            elif entry.texts or entry.refusals or entry.calls:
                messages.append(self._written_answer(entry, in_tool_turn=entry.turn in tool_turns))
                messages += _written_results(entry.calls)
        return _one_system_message(messages)

    def _written_answer(self, answer: _Answer, *, in_tool_turn: bool) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": "\n\n".join(answer.texts) or None}
        if answer.refusals:
            message["refusal"] = "".join(answer.refusals)
        thought = "\n\n".join(answer.thoughts)
        mode = self._reasoning
        if mode == "in_content" and thought:
            message["content"] = f"<think>\n{thought}</think>\n\n{message['content'] or ''}"
        elif mode == "details" and thought:
            message["reasoning_details"] = [{"type": "reasoning.text", "text": thought}]
        elif (mode == "always" and (thought or answer.calls)) or (mode == "tool_turns" and in_tool_turn and thought):
            message["reasoning_content"] = thought
        if answer.calls:
            message["tool_calls"] = [call.entry for call in answer.calls]
        return message


_ANSWERS = {HOSTED_RESULTS[kind][0]: HOSTED_RESULTS[kind][1:3] for kind in _RUN_BY_THE_CALLER}


def _text_at(param: str, item: Item, name: str) -> str:
    value = item.get(name)
    if not isinstance(value, str) or not value:
        raise UnsupportedMemberError(f"{param}.{name}", f"{param}.{name} must be text", "unsupported_value")
    return value


def _written_results(calls: list[_Call]) -> Iterable[dict[str, Any]]:
    for call in calls:
        content = _NOT_RUN if call.result is None else call.result
        yield {"role": "tool", "tool_call_id": call.entry["id"], "content": content}
    shown = [
        part
        for call in calls
        if call.shown
        for part in ({"type": "text", "text": f"The result of {call.name}:"}, *call.shown)
    ]
    if shown:
        yield {"role": "user", "content": shown}


def _plain(content: str | list[dict[str, Any]]) -> str | list[dict[str, Any]]:
    """Text as such, where content is nothing else: not every vendor reads a list."""
    if isinstance(content, str) or not all(isinstance(part.get("text"), str) for part in content):
        return content
    return "\n".join(part["text"] for part in content)


def _one_system_message(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages with one system message at the beginning, where several stand: some templates refuse a second."""
    first = next((at for at, message in enumerate(messages) if message["role"] != "system"), len(messages))
    if first < 2 or not all(isinstance(message["content"], str) for message in messages[:first]):
        return messages
    joined = "\n\n".join(message["content"] for message in messages[:first])
    return [{"role": "system", "content": joined}, *messages[first:]]
