"""The shapes that items, parts and responses of the Responses wire must have, and what they say."""

from __future__ import annotations

from typing import Any

from ..json_codec import dumps

CALL_INPUTS = {"function_call": "arguments", "custom_tool_call": "input"}
"""The calls that a reader answers, and where their input stands."""
_PART_TYPES = frozenset(("output_text", "refusal", "reasoning_text", "summary_text"))


def is_index(value: object) -> bool:
    """Whether it counts something."""
    return isinstance(value, int) and value >= 0


def is_placed(payload: dict[str, Any], index: str | None = None) -> bool:
    """Whether an event names its item, and its part if that has an index."""
    return (
        is_index(payload.get("output_index"))
        and isinstance(payload.get("item_id"), str)
        and (index is None or is_index(payload.get(index)))
    )


def says(payload: dict[str, Any], member: str) -> bool:
    """Whether an event has its words; a delta must have some."""
    value = payload.get(member)
    return isinstance(value, str) and (bool(value) or member != "delta")


def is_part(part: Any, *, is_new: bool) -> bool:
    """Whether it is a part of a message or a reasoning item; a new one has no words."""
    if not isinstance(part, dict) or not isinstance(part.get("type"), str) or part["type"] not in _PART_TYPES:
        return False
    words = words_in(part)
    return isinstance(words, str) and not (is_new and words)


def is_item(item: Any) -> bool:
    """Whether it is an output item; those that are neither prose nor calls for the reader may hold anything."""
    if not isinstance(item, dict) or not isinstance(item.get("type"), str) or not isinstance(item.get("id"), str):
        return False
    if not item["id"]:
        return False
    if member := CALL_INPUTS.get(item["type"]):
        return all(isinstance(item.get(key), str) for key in ("call_id", "name", member))
    if item["type"] == "message":
        return item.get("role") == "assistant" and _are_parts(item.get("content"))
    if item["type"] == "reasoning":
        return _are_parts(item.get("summary")) and _are_parts(item.get("content") or [])
    return True


def may_be_shown(item: dict[str, Any], action: str) -> bool:
    """Whether an item may look so when it is announced ("added"), or when it is done."""
    member = CALL_INPUTS.get(item["type"])
    if action == "added":
        return not (item.get("content") or item.get("summary") or (member and item[member]))
    # many readers run a call that is done, whatever its status says
    return not (member and item.get("status") == "incomplete")


def is_usage(usage: Any) -> bool:
    """Whether it has all the counts that readers ask for."""
    counts = ("input_tokens", "output_tokens", "total_tokens")
    details = ("input_tokens_details", "output_tokens_details")
    return (
        isinstance(usage, dict)
        and all(isinstance(usage.get(count), int) for count in counts)
        and all(isinstance(usage.get(detail), dict) for detail in details)
    )


def error_in(holder: dict[str, Any]) -> dict[str, Any]:
    """The error that an `error` event or a failed response holds, if it has words."""
    nested = holder.get("error")
    error = nested if isinstance(nested, dict) else holder
    return error if isinstance(error.get("message"), str) and error["message"] else {}


def words_in(part: dict[str, Any]) -> Any:
    """The text of a part, whatever its kind."""
    return part.get("refusal") if part["type"] == "refusal" else part.get("text")


def told_by_announcement(item: dict[str, Any]) -> str:
    """What an item says when it is announced."""
    names = [item.get("call_id"), item.get("name")] if item["type"] in CALL_INPUTS else []
    return dumps([item["type"], item["id"], *names])


def told_by_item(item: dict[str, Any]) -> str:
    """What an item says when it is done, but for what readers do not compare."""
    if member := CALL_INPUTS.get(item["type"]):
        is_cut = item.get("status") == "incomplete"
        return dumps([item["type"], item["id"], item["call_id"], item["name"], item[member], is_cut])
    homes = ("summary", "content") if item["type"] in ("message", "reasoning") else ()
    parts = [[part["type"], words_in(part)] for home in homes for part in item.get(home) or ()]
    return dumps([item["type"], item["id"], parts, bool(item.get("encrypted_content"))])


def told_by_end(name: str, response: dict[str, Any]) -> str:
    """What the terminal event says; of a response that failed, that it did."""
    if name == "response.failed":
        return dumps([name, response["id"]])
    usage, details = response.get("usage"), response.get("incomplete_details")
    counts = [usage["input_tokens"], usage["output_tokens"], usage["total_tokens"]] if usage else None
    reason = details.get("reason") if details else None
    return dumps([name, response["id"], counts, reason, [told_by_item(item) for item in response["output"]]])


def _are_parts(parts: Any) -> bool:
    return isinstance(parts, list) and all(is_part(part, is_new=False) for part in parts)
