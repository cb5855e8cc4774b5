"""Calls that have an item type of their own on the Responses wire: those that the vendor runs, and hosted ones."""

from __future__ import annotations

import re
from typing import Any

from ..events import ToolCallDelta, ToolCallEnd, ToolCallStart, ToolProgress
from ..json_codec import loads
from .output import Item, Output

_ZERO_VALUES: dict[str, dict[str, Any]] = {
    "apply_patch_call": {"call_id": "", "operation": {"type": "create_file", "path": "", "diff": ""}},
    "code_interpreter_call": {"code": "", "container_id": "", "outputs": None},
    "computer_call": {"call_id": "", "pending_safety_checks": []},
    "file_search_call": {"queries": [], "results": None},
    "image_generation_call": {"result": None},
    "local_shell_call": {"call_id": "", "action": {"type": "exec", "command": [], "env": {}}},
    "mcp_approval_request": {"server_label": "", "name": "", "arguments": ""},
    "mcp_call": {"server_label": "", "name": "", "arguments": "", "output": None, "error": None},
    "mcp_list_tools": {"server_label": "", "tools": []},
    "shell_call": {"call_id": "", "action": {"commands": []}},
    "tool_search_call": {"call_id": "", "arguments": {}, "execution": "server"},
    "web_search_call": {"action": {"type": "search", "query": ""}},
}
"""What an item holds when nothing is known of it yet: consumers expect its members from the start."""
_STREAMED_INPUT = {
    "mcp_call": ("response.mcp_call_arguments", "arguments"),
    "code_interpreter_call": ("response.code_interpreter_call_code", "code"),
}
"""Items whose input has events of its own: their family, and the member that holds the whole."""
_TEXT_INPUT = {"mcp_call": "arguments", "mcp_approval_request": "arguments", "code_interpreter_call": "code"}
_OBJECT_INPUT = {"tool_search_call": "arguments", "web_search_call": "action"}
_WORD = re.compile(r"[\w.:/-]+")


def can_be_announced(item_type: str | None) -> bool:
    """Whether there is an item type, and it can stand in an event's name."""
    return item_type is not None and _WORD.fullmatch(item_type) is not None


class HostedCall:
    """A call with an item type of its own. Its item is shown as the source showed it, or made of its arguments."""

    def __init__(self, output: Output, start: ToolCallStart, item_type: str) -> None:
        """Announces it."""
        self._output = output
        self._type = item_type
        self._source_item: dict[str, Any] | None = None
        self._has_input_events = False
        members = {**_ZERO_VALUES.get(item_type, {}), "status": "in_progress"}
        id = start.id or start.call_id
        if "call_id" in members or start.call_id != id:
            members["call_id"] = start.call_id
        if "name" in members:
            members["name"] = start.name
        if item_type == "tool_search_call" and start.kind == "builtin":
            members["execution"] = "client"
        elif item_type == "tool_search_call" and start.call_id == id:
            members["call_id"] = None  # nobody answers a search of the vendor's own
        self.item: Item = output.announce(item_type, id, **members)
        shown = self.item.shown
        streamed = _STREAMED_INPUT.get(item_type)
        self._deltas = output.deltas(f"{streamed[0]}.delta", self.item.place) if streamed else None
        self._identity: dict[str, Any] = {key: shown[key] for key in ("id", "type", "call_id") if key in shown}

    def delta(self, event: ToolCallDelta) -> None:
        """More of its input, where that is streamed at all."""
        if self._deltas is not None and event.delta:
            self._has_input_events = True
            self._deltas.write(event.delta)

    def progress(self, event: ToolProgress) -> bool:
        """It moves on, or the source shows its whole item, or its answer. False: the wire has no word for it."""
        data: dict[str, Any] = event.data if isinstance(event.data, dict) else {}
        item_type = data.get("type")
        if item_type == self._type:
            self._source_item = data
        elif isinstance(item_type, str) and item_type.endswith("_output"):
            self._answer(data, item_type)
        elif not self.item.done and _WORD.fullmatch(event.status):
            said = {key: value for key, value in data.items() if key not in ("type", "sequence_number")}
            self._output.write(f"response.{self._type}.{event.status}", **{**said, **self.item.place})
        else:
            return False
        return True

    def end(self, event: ToolCallEnd) -> None:
        """It is over; one that was cut is shown by the terminal event only."""
        shown = self.item.shown
        if self._source_item is not None:
            self._show(self._source_item)
        else:
            self._fill(shown, event.arguments)
        if event.status == "truncated":
            return
        if self._has_input_events:
            family, member = _STREAMED_INPUT[self._type]
            self._output.write(f"{family}.done", **self.item.place, **{member: event.arguments})
        status = self._source_item.get("status") if self._source_item is not None else None
        self._output.close(self.item, status or "completed")

    def abandon(self) -> None:
        """The terminal event shows what is known."""

    def _answer(self, data: dict[str, Any], item_type: str) -> None:
        members = {key: value for key, value in data.items() if key not in ("id", "type")}
        answer = self._output.announce(item_type, data.get("id"), **members)
        self._output.close(answer, data.get("status") or "completed")

    def _show(self, members: dict[str, Any]) -> None:
        """What the item holds; the names it was announced by stay, for readers compare them."""
        self.item.shown.update({key: value for key, value in members.items() if key != "call_id"})
        self.item.shown.update(self._identity)

    def _fill(self, shown: dict[str, Any], arguments: str) -> None:
        """Make the item of the call's arguments: its input, or all that it holds besides its names."""
        if member := _TEXT_INPUT.get(self._type):
            shown[member] = arguments
            return
        try:
            parsed = loads(arguments)
        except ValueError:
            return
        if member := _OBJECT_INPUT.get(self._type):
            shown[member] = parsed
        elif isinstance(parsed, dict):
            status = shown["status"]
            shown.clear()
            self._show({**parsed, "status": status})
