"""A chat request that a vendor refuses for a member that can be done without, or called otherwise: asked once more."""

from __future__ import annotations

from typing import Any

from .losses import LeftOut

_REFUSALS = (400, 422)
_DISPENSABLE = {
    "parallel_tool_calls": "the vendor refuses it, and several calls are allowed anyway",
    "prompt_cache_key": "the vendor refuses it, and it only makes answers cheaper",
    "prompt_cache_options": "the vendor refuses it, and it only makes answers cheaper",
    "prompt_cache_retention": "the vendor refuses it, and it only makes answers cheaper",
    "safety_identifier": "the vendor refuses it, and it does not change answers",
    "service_tier": "the vendor refuses it, and it does not change answers",
    "stream_options": "the vendor refuses it: a stream may come without token counts",
}
"""Members of a chat request that an answer is right without."""
_OLD_LIMIT, _NEW_LIMIT = "max_tokens", "max_completion_tokens"


def amended(request: dict[str, Any], status: int, body: bytes) -> tuple[dict[str, Any], list[LeftOut]] | None:
    """What to ask after a refusal, and what is left out of it; None: the refusal stands.

    Args:
        request: the chat request that was refused.
        status: the HTTP status.
        body: the body of the refusal: what it names is left out, and if it names nothing, all that may be.
    """
    if status not in _REFUSALS:
        return None
    text = body.decode("utf-8", "replace")
    if _OLD_LIMIT in request and _NEW_LIMIT in text:
        return {_NEW_LIMIT if name == _OLD_LIMIT else name: value for name, value in request.items()}, []
    may_go = [name for name in _DISPENSABLE if name in request and _is_dispensable(name, request[name])]
    named = [name for name in may_go if name in text]
    going = named or (may_go if not any(name in text for name in request) else [])
    if not going:
        return None
    left = {name: value for name, value in request.items() if name not in going}
    return left, [LeftOut(name, _DISPENSABLE[name]) for name in going]


def _is_dispensable(name: str, value: Any) -> bool:
    return name != "parallel_tool_calls" or value is True
