"""What a vendor's chunks hold beside the standard, carried over to chunks of our own that say the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..decode.reasoning_fields import OTHER_REASONING_KEYS, REASONING_KEYS, read_thought
from .blocks import Block
from .standard import Written

THOUGHT = ("reasoning_content", "reasoning")
"""The members of a delta that strict readers read thought from."""
_HEAD = frozenset(("id", "object", "created", "model", "choices", "usage", "error"))
_CHOICE = frozenset(("index", "delta", "finish_reason", "logprobs", "message", "text"))
_DELTA = frozenset(
    (
        *("role", "content", "refusal", "tool_calls", "function_call", *THOUGHT),
        *("annotations", "audio", "image", "images", "reasoning_steps"),
    )
)
_CALL = frozenset(("index", "id", "type", "function", "custom"))
_OF_THOUGHT = frozenset((*REASONING_KEYS, *OTHER_REASONING_KEYS, "provider_specific_fields", "extra_content"))


def carry_over(frames: Sequence[Written], replaced: Sequence[Block]) -> None:
    """Give our own chunks the extras of the blocks that they replace: each to the chunks that tell what it said."""
    chunks = [each for each in frames if each.payload != "[DONE]" and each.payload.get("choices")]
    blocks = list(replaced)
    while chunks and blocks:
        origin = chunks[0].origin
        own = [each.payload for each in chunks if each.origin is origin]
        del chunks[: len(own)]
        place = next((number for number, block in enumerate(blocks, 1) if block is origin), 0)
        count = place if chunks else len(blocks)
        _Extras(blocks[:count]).give(own)
        del blocks[:count]


class _Extras:
    """The extras of some blocks, by the place where they stand."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        self._head: dict[str, Any] = {}
        self._choices: dict[int, dict[str, Any]] = {}
        self._deltas: dict[int, dict[str, Any]] = {}
        self._calls: dict[int, list[dict[str, Any]]] = {}
        for block in blocks:
            if isinstance(block.payload, dict) and isinstance(block.payload.get("choices"), list):
                self._take(block.payload)

    def _take(self, payload: dict[str, Any]) -> None:
        self._head |= _beside(_HEAD, payload)
        choices = [choice for choice in payload["choices"] if isinstance(choice, dict)]
        indexes = [choice.get("index") or 0 for choice in choices]
        for choice, index in zip(choices, indexes, strict=True):
            if isinstance(index, int) and indexes.count(index) == 1 and not choice.get("message"):
                self._choices.setdefault(index, {}).update(_beside(_CHOICE, choice))
                if isinstance(delta := choice.get("delta"), dict):
                    self._take_delta(index, delta)

    def _take_delta(self, index: int, delta: dict[str, Any]) -> None:
        found = self._deltas.setdefault(index, {})
        for key, value in _beside(_DELTA, delta).items():
            before = found.get(key)
            found[key] = [*before, *value] if isinstance(before, list) and isinstance(value, list) else value
        calls = delta.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, dict) and (call.get("id") or _is_named(call)):
                self._calls.setdefault(index, []).append(_beside(_CALL, call))

    def give(self, chunks: list[dict[str, Any]]) -> None:
        """Put them into chunks, each once."""
        for chunk in chunks[:1]:
            chunk.update(_new(self._head, chunk))
        choices = [choice for chunk in chunks for choice in chunk["choices"]]
        for index in {choice["index"] for choice in choices}:
            self._give_choice(index, [choice for choice in choices if choice["index"] == index])

    def _give_choice(self, index: int, own: list[dict[str, Any]]) -> None:
        """What belongs to thought goes where thought is, unless it tells another one: some readers read it there."""
        first = next((choice for choice in own if "role" not in choice["delta"]), own[0])
        thoughtful = next((choice for choice in own if choice["delta"].keys() & set(THOUGHT)), first)
        first.update(_new(self._choices.get(index, {}), first))
        extras = {key: _numbered(value) for key, value in self._deltas.get(index, {}).items()}
        of_thought = {key: value for key, value in extras.items() if key in _OF_THOUGHT}
        first["delta"].update(_new(extras, of_thought))
        if read_thought(of_thought).text in ("", *(thoughtful["delta"].get(member) for member in THOUGHT)):
            thoughtful["delta"].update(of_thought)
        heads = [call for choice in own for call in choice["delta"].get("tool_calls", ()) if "id" in call]
        for call, extras in zip(heads, self._calls.get(index, ()), strict=False):
            call.update(extras)


def _is_named(call: dict[str, Any]) -> bool:
    body = call.get("function", call.get("custom"))
    return isinstance(body, dict) and bool(body.get("name"))


def _beside(known: frozenset[str], value: dict[str, Any]) -> dict[str, Any]:
    return {key: inner for key, inner in value.items() if key not in known}


def _new(more: dict[str, Any], value: dict[str, Any]) -> dict[str, Any]:
    return {key: inner for key, inner in more.items() if key not in value}


def _numbered(value: Any) -> Any:
    """With an index in every entry of every list, which readers that add up deltas need."""
    if isinstance(value, dict):
        return {key: _numbered(inner) for key, inner in value.items()}
    if isinstance(value, list) and any(isinstance(entry, dict) for entry in value):
        return [{"index": number, **_numbered(entry)} for number, entry in enumerate(value) if isinstance(entry, dict)]
    return value
