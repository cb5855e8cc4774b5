"""What parsed payloads of either wire say. Reading it is no part of what is timed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..loads import Said

_TYPES = {
    "response.output_text.delta": "text",
    "response.reasoning_text.delta": "reasoning",
    "response.reasoning_summary_text.delta": "reasoning",
    "response.function_call_arguments.delta": "arguments",
}
Word = tuple[str, str]
"""A kind of delta, and its text."""


def joined(words: Iterable[Word]) -> Said:
    """All deltas of a kind in one, in the order of the wire."""
    found: dict[str, list[str]] = {}
    for kind, text in words:
        found.setdefault(kind, []).append(text)
    return Said(**{kind: "".join(texts) for kind, texts in found.items()})


def said_by_payloads(payloads: Iterable[dict[str, Any]]) -> Said:
    """What chunks of Chat Completions or events of the Responses API say."""
    return joined(word for payload in payloads for word in _words(payload))


def said_by_models(models: Iterable[Any]) -> Said:
    """The same of pydantic models."""
    return said_by_payloads(model.model_dump() for model in models)


def _words(payload: dict[str, Any]) -> Iterable[Word]:
    kind = _TYPES.get(payload.get("type") or "")
    if kind:
        yield kind, payload["delta"]
    for choice in payload.get("choices") or ():
        delta = choice.get("delta") or {}
        yield "text", delta.get("content") or ""
        yield "reasoning", delta.get("reasoning_content") or ""
        for call in delta.get("tool_calls") or ():
            yield "arguments", call["function"].get("arguments") or ""
