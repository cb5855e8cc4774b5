"""Where a chat delta keeps its thought: eight names, often several at once for the same words.

One source counts per chunk, the most telling one; signatures and encrypted data are taken wherever they stand.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..events import ReasoningKind

REASONING_KEYS = (
    "reasoning_details",
    "reasoning_content",
    "reasoning",
    "reasoning_text",
    "cot_summary",
    "thinking",
    "thinking_blocks",
)
"""In order of trust."""
OTHER_REASONING_KEYS = ("reasoning_opaque", "encrypted_content", "reasoning_signature", "reasoning_steps")
_TEXT_KEYS = ("text", "thinking", "summary", "content", "reasoning", "thought")


@dataclass(slots=True)
class Thought:
    """What one delta says of the model's thought."""

    text: str = ""
    kind: ReasoningKind = "raw"
    entry: tuple[object, object] | None = None
    """Identity of a single `reasoning_details` entry, whose text may be cumulative."""
    signature: str | None = None
    encrypted: list[str] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    sources: int = 0
    """How many fields held words."""


def read_thought(delta: dict[str, Any]) -> Thought:
    """The thought in a delta, or in a message."""
    thought = Thought()
    for key in REASONING_KEYS:
        value = delta.get(key)
        if value:
            _read_source(thought, key, value)
    extra = delta.get("provider_specific_fields")
    if isinstance(extra, dict) and extra.get("thinking_blocks"):
        _read_source(thought, "thinking_blocks", extra["thinking_blocks"])
    for key in ("reasoning_opaque", "encrypted_content"):
        if isinstance(value := delta.get(key), str) and value:
            thought.encrypted.append(value)
    if isinstance(value := delta.get("reasoning_signature"), str) and value:
        thought.signature = value
    thought.signature = thought.signature or signature_in(delta)
    steps = delta.get("reasoning_steps")
    if isinstance(steps, list):
        thought.steps = [text for step in steps if (text := text_of(step))]
    return thought


def _read_source(thought: Thought, key: str, value: Any) -> None:
    entries = value if isinstance(value, list) else [value]
    words = []
    for entry in entries:
        if isinstance(entry, dict):
            signature = entry.get("signature")
            if isinstance(signature, str) and signature:
                thought.signature = signature
            if encrypted := _encrypted(entry):
                if encrypted not in thought.encrypted:
                    thought.encrypted.append(encrypted)
                continue
        if text := text_of(entry):
            words.append(text)
    if not words:
        return
    thought.sources += 1
    if thought.text:
        return
    thought.text = "".join(words)
    if key == "cot_summary" or (isinstance(entries[0], dict) and entries[0].get("type") == "reasoning.summary"):
        thought.kind = "summary"
    if key == "reasoning_details" and len(entries) == 1 and isinstance(entries[0], dict):
        identity = entries[0].get("id"), entries[0].get("index")
        if all(isinstance(member, str | int) for member in identity):
            thought.entry = identity


def signature_in(holder: dict[str, Any]) -> str | None:
    """A `thought_signature` of a delta or a tool call, whichever vendor's drawer it lies in."""
    for drawer in ("extra_content", "provider_specific_fields", "function"):
        inner = holder.get(drawer)
        for place in (inner, *inner.values()) if isinstance(inner, dict) else ():
            if isinstance(place, dict) and isinstance(found := place.get("thought_signature"), str) and found:
                return found
    return None


def _encrypted(entry: dict[str, Any]) -> str | None:
    for key in ("data", "redactedContent", "redacted_content"):
        if isinstance(found := entry.get(key), str) and found:
            return found
    return None


def text_of(value: Any, depth: int = 0) -> str:
    """The words in a string, an object that holds them, or a list of either."""
    if isinstance(value, str):
        return value
    if depth > 8:
        return ""
    if isinstance(value, list):
        return "".join(text_of(entry, depth + 1) for entry in value)
    if isinstance(value, dict):
        for key in _TEXT_KEYS:
            if text := text_of(value.get(key), depth + 1):
                return text
    return ""
