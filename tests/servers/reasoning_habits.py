"""Habits of chat servers in where they keep the model's thought. The perfect server has it in `reasoning_content`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .manners import Stage, choices_of, each_delta, habit
from .question import Json

_FIELD = "reasoning_content"


def _rename(name: str, write: Callable[[str], Json], *, keeps: bool = False) -> None:
    """A habit that writes each piece of thought as other members of its delta."""

    def change(delta: Json) -> Json | None:
        thought = delta.get(_FIELD)
        if not thought:
            return None
        kept = {key: value for key, value in delta.items() if keeps or key != _FIELD}
        return {**kept, **write(thought)}

    each_delta(name)(change)


def _detail(thought: str) -> Json:
    return {"type": "reasoning.text", "text": thought, "format": None, "index": 0}


_rename("reasoning-field", lambda thought: {"reasoning": thought})
_rename("reasoning-text-field", lambda thought: {"reasoning_text": thought})
_rename("reasoning-object", lambda thought: {_FIELD: {"text": thought}})
_rename("reasoning-details", lambda thought: {"reasoning_details": [_detail(thought)]})
_rename("thinking-blocks", lambda thought: {"thinking_blocks": [{"type": "thinking", "thinking": thought}]})
_rename("reasoning-mirrored", lambda thought: {"reasoning": thought}, keeps=True)
_rename("reasoning-and-details", lambda thought: {"reasoning_details": [_detail(thought)]}, keeps=True)
_rename("reasoning-field-and-details", lambda thought: {"reasoning": thought, "reasoning_details": [_detail(thought)]})
_rename("no-reasoning", lambda thought: {})


@each_delta("thinking-parts")
def thinking_parts(delta: Json) -> None:
    """Thought and text as parts of the content."""
    if thought := delta.pop(_FIELD, None):
        text = [{"type": "text", "text": delta["content"]}] if delta.get("content") else []
        delta["content"] = [{"type": "thinking", "thinking": [{"type": "text", "text": thought}]}, *text]


@habit("reasoning-cumulative", Stage.CHUNKS)
def reasoning_cumulative(chunks: list[Json]) -> None:
    """Each entry of the details has all the thought so far; the first ones come together."""
    said, told = "", 0
    for choice in choices_of(chunks):
        if piece := choice["delta"].pop(_FIELD, None):
            said += piece
            told += 1
            if told > 2:
                choice["delta"]["reasoning_details"] = [{"id": "reasoning-text-1", **_detail(said)}]


def _tagged(chunks: list[Json], opening: str, closing: str, *, keeps: bool = False) -> None:
    """Thought as text between tags; with `keeps`, in its field as well."""
    inside = False
    for choice in choices_of(chunks):
        delta = choice["delta"]
        thought = delta.get(_FIELD)
        if thought:
            delta["content"] = ("" if inside else opening) + thought
            inside = True
            if not keeps:
                del delta[_FIELD]
        elif inside and (delta.get("content") or delta.get("tool_calls") or choice.get("finish_reason")):
            delta["content"] = closing + (delta.get("content") or "")
            inside = False


def _tagged_body(body: Json, opening: str, closing: str) -> None:
    for choice in body["choices"]:
        if thought := choice["message"].pop(_FIELD, None):
            choice["message"]["content"] = f"{opening}{thought}{closing}{choice['message']['content'] or ''}"


def _tags(name: str, opening: str, closing: str) -> None:
    habit(name, Stage.CHUNKS)(lambda chunks: _tagged(chunks, opening, closing))
    habit(name, Stage.CHAT_BODY)(lambda body: _tagged_body(body, opening, closing))


_tags("think-tags", "<think>\n", "</think>\n\n")
_tags("thought-tags", "<thought>", "</thought>")
_tags("unopened-tags", "", "</think>\n\n")


@habit("reasoning-mirrored-in-tags", Stage.CHUNKS)
def reasoning_mirrored_in_tags(chunks: list[Json]) -> None:
    _tagged(chunks, "<think>", "</think>\n\n", keeps=True)


@habit("thought-flags", Stage.CHUNKS)
def thought_flags(chunks: list[Json]) -> None:
    """Thought as text with a flag beside it, and tags around it."""
    flagged = [choice for choice in choices_of(chunks) if choice["delta"].get(_FIELD)]
    _tagged(chunks, "<thought>", "</thought>")
    for choice in flagged:
        choice["delta"]["extra_content"] = {"google": {"thought": True}}


habit("thought-flags", Stage.CHAT_BODY)(lambda body: _tagged_body(body, "<thought>", "</thought>"))


@each_delta("thinking-field-empty", whole=False)
def thinking_field_empty(delta: Json) -> Any:
    """An empty thought beside every piece of text."""
    return {**delta, _FIELD: ""} if delta.get("content") else None
