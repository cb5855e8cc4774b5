"""Content that is a list of parts instead of text: text, thought, images and references, typed or not."""

from __future__ import annotations

from typing import Any

from .choice import Choice
from .citations import read_citation
from .media import image_address
from .reasoning_fields import Thought, text_of
from .stream_state import StreamState

_THOUGHT = ("thinking", "reasoning", "reasoning_text", "reasoning_content")


def read_parts(state: StreamState, choice: Choice, content: list[Any] | dict[str, Any]) -> None:
    """Each part in turn, as if it had come in a delta of its own."""
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            choice.content(part)
        elif isinstance(part, dict):
            _read_part(state, choice, part)


def _read_part(state: StreamState, choice: Choice, part: dict[str, Any]) -> None:
    kind = part.get("type")
    if kind in _THOUGHT:
        signature = part.get("signature")
        thought = Thought(text_of(part), sources=1)
        thought.signature = signature if isinstance(signature, str) and signature else _inner_signature(part)
        choice.thought(thought)
    elif kind == "refusal":
        if refusal := text_of(part.get("refusal")):
            choice.refusal(refusal)
    elif isinstance(text := part.get("text"), str):
        if text:
            choice.content(text)
        if isinstance(annotations := part.get("annotations"), list):
            state.cite([c for a in annotations if (c := read_citation(a, None, choice.index))])
    elif (address := image_address(part)) is not None:
        choice.image(address)
    elif (citation := read_citation(part, None, choice.index)) is not None:
        state.cite([citation])
    else:
        state.metadata({"content_part": part})


def _inner_signature(part: dict[str, Any]) -> str | None:
    for entry in part.get("summary") or ():
        if isinstance(entry, dict) and isinstance(found := entry.get("signature"), str) and found:
            return found
    return None
