"""Items that are calls: who runs them, what they are called, and what their input is."""

from __future__ import annotations

from typing import Any

from ..events import ToolKind
from ..json_codec import dumps
from .tool_routing import usable

_BUILTIN = frozenset(
    "computer_call local_shell_call shell_call apply_patch_call tool_search_call mcp_approval_request".split()
)
"""Hosted by name, but the reader runs them (a shell in a container and a server-side tool search are the vendor's)."""
_BOOKKEEPING = frozenset("id call_id type status created_by".split())
_INPUT = ("arguments", "input", "code", "action", "actions", "queries", "query", "operation")
INPUT_EVENTS = {
    "function_call_arguments": "function_call",
    "custom_tool_call_input": "custom_tool_call",
    "mcp_call_arguments": "mcp_call",
    "code_interpreter_call_code": "code_interpreter_call",
    "code_interpreter_call.code": "code_interpreter_call",
}
"""Event families that stream a call's input, and the item type they belong to."""


def kind_of(item_type: str) -> ToolKind:
    """Who runs a call of this item type, as far as the type tells."""
    if item_type == "function_call":
        return "function"
    if item_type == "custom_tool_call":
        return "custom"
    return "builtin" if item_type in _BUILTIN else "server"


def final_kind(item: dict[str, Any], kind: ToolKind) -> ToolKind:
    """Who runs the call, now that the whole item is known."""
    environment = item.get("environment")
    if item.get("type") == "shell_call" and isinstance(environment, dict):
        return "server" if str(environment.get("type")).startswith("container") else kind
    return kind


def announced_kind(item: dict[str, Any], item_type: str) -> ToolKind:
    """Who runs the call, as its announcement tells."""
    if item_type == "tool_search_call" and item.get("execution") != "client":
        return "server"
    return kind_of(item_type)


def name_of(item: dict[str, Any], item_type: str) -> str | None:
    """The tool's name: the wire's own, else the item type without `_call`; a function has none but its own."""
    if name := usable(item.get("name")):
        return name
    if item_type in ("function_call", "custom_tool_call"):
        return None
    return item_type.removesuffix("_call")


def input_of(item: dict[str, Any], kind: ToolKind) -> str:
    """The call's input as one text: the wire's own, else JSON of what the item holds."""
    for key in ("arguments", "input", "code"):
        value = item.get(key)
        if isinstance(value, str):
            return value
        if isinstance(value, dict | list):
            return dumps(value)
    if kind == "builtin":
        return dumps({key: value for key, value in item.items() if key not in _BOOKKEEPING})
    members = {key: item[key] for key in _INPUT if item.get(key)}
    if list(members) == ["action"] and isinstance(members["action"], dict):
        return dumps(members["action"])
    return dumps(members) if members else ""


def has_own_input(item_type: str) -> bool:
    """Whether the item's input is text that the wire may stream."""
    return item_type in INPUT_EVENTS.values()
