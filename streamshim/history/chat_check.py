"""What can be wrong with the messages of a chat request."""

from __future__ import annotations

from typing import Any

from .findings import Report, kind_of
from .message_content import check_arguments, check_content, usable

_ROLES = ("system", "developer", "user", "assistant", "tool", "function")
_TO_SAY: dict[str, str] = {
    "function_call": "an assistant message with `tool_calls`",
    "custom_tool_call": "an assistant message with `tool_calls`",
    "reasoning": "`reasoning_content` on the assistant message",
}
"""Items of the Responses API, and what says the same here."""
_RESULT = '{"role": "tool", "tool_call_id": …, "content": …}'
_REFUSAL = {"refusal": "text"}


class ChatCheck:
    """Reads messages in order. Calls must be answered before anybody else speaks."""

    def __init__(self) -> None:
        """No message was read."""
        self.report = Report()
        self._waiting: dict[str, str] = {}
        self._made: set[str] = set()

    def read(self, path: str, message: dict[str, Any]) -> None:
        """The next message."""
        role = message.get("role")
        if role is None and isinstance(message.get("type"), str):
            self._foreign(path, message["type"])
        elif role not in _ROLES:
            self.report.add(f"{path}.role", "role", kind_of(role), "one of " + ", ".join(_ROLES))
        elif role == "tool":
            self._result(path, message)
        else:
            self._leave_calls()
            if role == "assistant":
                self._assistant(path, message)
            elif role != "function":
                check_content(self.report, f"{path}.content", message.get("content"), "chat", wrong=_REFUSAL)

    def end(self) -> None:
        """There are no more."""
        self._leave_calls()

    def _foreign(self, path: str, item_type: str) -> None:
        if item_type.endswith(("_output", "_response")):
            self.report.add(path, "responses-result", f"an item of type {item_type!r}", _RESULT)
        else:
            expected = _TO_SAY.get(item_type, "a message with a `role`")
            self.report.add(path, "responses-item", f"an item of type {item_type!r}", expected)

    def _result(self, path: str, message: dict[str, Any]) -> None:
        call_id = message.get("tool_call_id")
        if not usable(call_id):
            other = f"`call_id`: {message['call_id']!r}" if "call_id" in message else kind_of(call_id)
            self.report.add(f"{path}.tool_call_id", "result-id", other, "the id of the call that it answers")
        elif call_id in self._waiting:
            del self._waiting[call_id]
        elif call_id in self._made:
            seen = f"a second result of {call_id!r}, or one that comes too late"
            self.report.add(path, "result-repeated", seen, "one result, right behind the call")
        else:
            seen = f"a result of {call_id!r}, a call that was never made"
            self.report.add(path, "unknown-call", seen, "the assistant message with this call before it")
        if "output" in message and "content" not in message:
            self.report.add(f"{path}.output", "responses-result", "`output`", "`content`")
        else:
            check_content(self.report, f"{path}.content", message.get("content"), "chat", wrong=_REFUSAL)

    def _assistant(self, path: str, message: dict[str, Any]) -> None:
        calls = message.get("tool_calls")
        says_otherwise = any(message.get(key) for key in ("tool_calls", "refusal", "audio", "function_call"))
        content = message.get("content")
        if content not in (None, "", []) or not says_otherwise:
            check_content(self.report, f"{path}.content", content, "chat")
        if calls is None:
            return
        if not isinstance(calls, list) or not calls:
            self.report.add(f"{path}.tool_calls", "call-shape", kind_of(calls), "a list of calls, or nothing at all")
            return
        for at, call in enumerate(calls):
            self._call(f"{path}.tool_calls[{at}]", call)

    def _call(self, path: str, call: Any) -> None:
        kind = "custom" if isinstance(call, dict) and call.get("type") == "custom" else "function"
        tool = call.get(kind) if isinstance(call, dict) else None
        if not isinstance(tool, dict):
            self.report.add(path, "call-shape", kind_of(call), '{"id": …, "type": "function", "function": {…}}')
            return
        if not usable(tool.get("name")):
            self.report.add(f"{path}.{kind}.name", "call-name", kind_of(tool.get("name")), "the name of a tool")
        if kind == "custom":
            if not isinstance(tool.get("input"), str):
                self.report.add(f"{path}.custom.input", "call-arguments", kind_of(tool.get("input")), "text")
        else:
            check_arguments(self.report, f"{path}.function.arguments", tool.get("arguments"))
        call_id = call.get("id")
        if not usable(call_id):
            self.report.add(f"{path}.id", "call-id", kind_of(call_id), "an id that no other call has")
            return
        if call_id in self._made:
            self.report.add(f"{path}.id", "call-id", f"{call_id!r}, which another call has", "an id of its own")
        self._made.add(call_id)
        self._waiting[call_id] = path

    def _leave_calls(self) -> None:
        """Somebody else speaks, or nobody does any more: what was not answered will never be."""
        for call_id, path in self._waiting.items():
            seen = f"the call {call_id!r} without a result"
            self.report.add(path, "unanswered-call", seen, "a message of role tool right behind this one")
        self._waiting.clear()
