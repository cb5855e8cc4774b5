"""Which wire a payload speaks: told by its shape, never by the address it came from."""

from __future__ import annotations

from typing import Any, Final, Literal

Wire = Literal["chat", "responses", "response_body", "other"]
UNREAD: Final = object()
"""Stands where a payload would: there is none, or it was not parsed yet."""

_ENVELOPE = frozenset(
    "id object created created_at model system_fingerprint service_tier usage provider request_id p obfuscation".split()
)
KEEPALIVES = frozenset(("keepalive", "keep-alive", "keep_alive", "ping", "heartbeat"))


def unwrap(payload: dict[str, Any]) -> dict[str, Any]:
    """The answer inside a relay's envelope `{"data": {...}, "success": true}`."""
    inner = payload.get("data")
    if isinstance(inner, dict) and "choices" not in payload and ("choices" in inner or "output" in inner):
        return inner
    return payload


def wire_of(payload: dict[str, Any], event: str | None) -> tuple[Wire, str]:
    """The wire of a payload, and the name of what it is; `event` is the SSE event name."""
    if "choices" in payload:
        return "chat", ""
    name = payload.get("type")
    if not isinstance(name, str) or not name:
        name = ""
    if name.startswith("response."):
        return "responses", name
    if not name and event is not None and event.startswith("response."):
        return "responses", event
    kind = payload.get("object")
    if kind == "response" or ("output" in payload and payload.get("status") and isinstance(payload["output"], list)):
        return "response_body", ""
    if not name and payload.keys() <= _ENVELOPE:
        return "chat", ""
    return "other", name or event or (kind if isinstance(kind, str) and kind else "(no type)")
