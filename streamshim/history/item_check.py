"""What can be wrong with the input items of a Responses request."""

from __future__ import annotations

from typing import Any

from ..encode.history import HOSTED_RESULTS
from .findings import Report, kind_of
from .message_content import check_arguments, check_content, usable

_ROLES = ("user", "assistant", "system", "developer")
_RESULTS = {
    "function_call": ("function_call_output", "call_id"),
    "custom_tool_call": ("custom_tool_call_output", "call_id"),
    **{item_type: (answer, id_name) for item_type, (answer, id_name, *_) in HOSTED_RESULTS.items()},
}
"""Calls that are the reader's to answer, the type of their results, and where these name the call."""
_ID_NAMES = dict(_RESULTS.values())
_CONTINUING = frozenset(("item_reference", "compaction"))
"""Items that stand for others: calls may be among them."""
_CHAT_MEMBERS = {
    "tool_calls": "items of type function_call",
    "reasoning_content": "an item of type reasoning before the message",
    "reasoning_details": "an item of type reasoning before the message",
    "tool_call_id": '{"type": "function_call_output", "call_id": …, "output": …}',
}
_OF_OTHERS = {"output_text": "input_text", "refusal": "input_text"}
_OF_ASSISTANTS: dict[str, str] = dict.fromkeys(
    ("input_text", "text", "input_image", "input_file", "input_audio"), "output_text"
)


class ItemCheck:
    """Reads items in order."""

    def __init__(self, *, continued: bool) -> None:
        """`continued`: calls may have been made that do not stand here."""
        self.report = Report()
        self._continued = continued
        self._made: dict[str, tuple[str, str]] = {}
        self._answered: set[str] = set()
        self._handled: set[str] = set()
        self._thought: tuple[str, dict[str, Any]] | None = None

    def read(self, path: str, item: dict[str, Any]) -> None:
        """The next item."""
        item_type: Any = item.get("type")
        if item_type is None and "role" in item:
            item_type = "message"
        self._thought_before(item, item_type)
        if not isinstance(item_type, str):
            self.report.add(path, "item-type", "an item without a `type`", "an item of a type that the API knows")
        elif item_type == "message":
            self._message(path, item)
        elif item_type == "reasoning":
            self._reasoning(path, item)
        elif item_type in _RESULTS:
            self._call(path, item, item_type)
        elif item_type in _ID_NAMES:
            self._result(path, item, item_type)
        elif item_type in _CONTINUING:
            self._continued = True
        elif item_type == "function" or (item_type == "custom" and "custom" in item):
            self.report.add(path, "chat-call", f"a call of type {item_type!r}", "an item of type function_call")

    def end(self) -> None:
        """There are no more."""
        if self._thought is not None:
            path, _ = self._thought
            self.report.add(path, "reasoning-order", "a reasoning item at the end", "what it led to behind it")
        for call_id, (path, item_type) in self._made.items():
            if call_id not in self._answered | self._handled:
                seen = f"the call {call_id!r} without a result"
                self.report.add(path, "unanswered-call", seen, f"an item of type {_RESULTS[item_type][0]} behind it")

    # -- messages and thought -----------------------------------------------------------------------------------------

    def _message(self, path: str, item: dict[str, Any]) -> None:
        role = item.get("role")
        if role in ("tool", "function"):
            expected = _CHAT_MEMBERS["tool_call_id"]
            self.report.add(path, "chat-result", f"a message of role {role!r}", expected)
            if usable(item.get("tool_call_id")):
                self._answered.add(item["tool_call_id"])  # it is meant to; said once is enough
            return
        if role not in _ROLES:
            self.report.add(f"{path}.role", "role", kind_of(role), "one of " + ", ".join(_ROLES))
            return
        for name in item.keys() & _CHAT_MEMBERS.keys():
            self.report.add(f"{path}.{name}", "chat-member", f"`{name}`", _CHAT_MEMBERS[name])
        if item.get("content") is None and item.get("tool_calls"):
            return
        wrong = _OF_ASSISTANTS if role == "assistant" else _OF_OTHERS
        check_content(self.report, f"{path}.content", item.get("content"), "responses", wrong=wrong)

    def _reasoning(self, path: str, item: dict[str, Any]) -> None:
        self._thought = (path, item)
        if not isinstance(item.get("summary"), list):
            self.report.add(f"{path}.summary", "reasoning-shape", kind_of(item.get("summary")), "a list, empty or not")
        if "content" in item and not isinstance(item["content"], list):
            self.report.add(f"{path}.content", "reasoning-shape", kind_of(item["content"]), "a list, or no such member")

    def _thought_before(self, item: dict[str, Any], item_type: Any) -> None:
        """What stands behind a thought must be of the same answer, and keep its id if the thought does."""
        if self._thought is None:
            return
        path, thought = self._thought
        if item_type == "reasoning":
            return
        self._thought = None
        foreign = isinstance(item_type, str) and item_type.endswith(("_output", "_response"))
        if foreign or (item_type == "message" and item.get("role") != "assistant"):
            self.report.add(
                path, "reasoning-order", "a reasoning item that nothing follows", "what it led to behind it"
            )
        elif item_type in ("message", "function_call", "custom_tool_call") and usable(thought.get("id")) != usable(
            item.get("id")
        ):
            seen = "one of the reasoning item and what follows it has an `id`"
            self.report.add(path, "reasoning-ids", seen, "both with their ids, or neither")

    # -- calls and results --------------------------------------------------------------------------------------------

    def _call(self, path: str, item: dict[str, Any], item_type: str) -> None:
        if _is_run_by_the_server(item, item_type):
            if usable(item.get("call_id")):
                self._made[item["call_id"]] = (path, item_type)
                self._handled.add(item["call_id"])
            return
        if item.get("status") == "incomplete":
            self.report.add(f"{path}.status", "call-truncated", "'incomplete'", "a call that was not cut")
        if item_type in ("function_call", "custom_tool_call"):
            if not usable(item.get("name")):
                self.report.add(f"{path}.name", "call-name", kind_of(item.get("name")), "the name of a tool")
            if item_type == "function_call":
                check_arguments(self.report, f"{path}.arguments", item.get("arguments"))
            elif not isinstance(item.get("input"), str):
                self.report.add(f"{path}.input", "call-arguments", kind_of(item.get("input")), "text")
        call_id: Any = item.get("call_id") or (item.get("id") if item_type in HOSTED_RESULTS else None)
        if not usable(call_id):
            self.report.add(f"{path}.call_id", "call-id", kind_of(item.get("call_id")), "an id that no other call has")
        elif call_id in self._made:
            self.report.add(f"{path}.call_id", "call-id", f"{call_id!r}, which another call has", "an id of its own")
        else:
            self._made[call_id] = (path, item_type)

    def _result(self, path: str, item: dict[str, Any], item_type: str) -> None:
        id_name = _ID_NAMES[item_type]
        call_id: Any = item.get(id_name)
        if not usable(call_id):
            self._nameless_result(path, item, item_type, id_name)
        elif call_id in self._made:
            self._answer(path, call_id, item_type)
        elif not self._continued:
            seen = f"a result of {call_id!r}, a call that was never made"
            self.report.add(path, "unknown-call", seen, "the item of this call before it")
        if item_type in ("function_call_output", "custom_tool_call_output"):
            if "content" in item and "output" not in item:
                self.report.add(f"{path}.content", "chat-result", "`content`", "`output`")
            else:
                check_content(self.report, f"{path}.output", item.get("output"), "responses", wrong=_OF_OTHERS)

    def _nameless_result(self, path: str, item: dict[str, Any], item_type: str, id_name: str) -> None:
        if item_type == "tool_search_output" and item.get("execution") != "client":
            return  # the vendor's own
        if item_type == "function_call_output" and usable(item.get("name")):
            return  # by name alone
        if "tool_call_id" in item:
            self.report.add(f"{path}.tool_call_id", "chat-result", "`tool_call_id`", f"`{id_name}`")
        else:
            seen = kind_of(item.get(id_name))
            self.report.add(f"{path}.{id_name}", "result-id", seen, "the id of the call that it answers")

    def _answer(self, path: str, call_id: str, item_type: str) -> None:
        expected = _RESULTS[self._made[call_id][1]][0]
        if call_id in self._answered:
            self.report.add(path, "result-repeated", f"a second result of {call_id!r}", "one result for each call")
        elif item_type != expected:
            self.report.add(f"{path}.type", "result-type", repr(item_type), repr(expected))
        self._answered.add(call_id)


def _is_run_by_the_server(item: dict[str, Any], item_type: str) -> bool:
    if item_type == "tool_search_call":
        return item.get("execution") != "client"
    environment = item.get("environment")
    return (
        item_type == "shell_call"
        and isinstance(environment, dict)
        and str(environment.get("type")).startswith("container")
    )
