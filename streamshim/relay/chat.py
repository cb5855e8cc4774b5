"""The standard of Chat Completions streams: when a chunk conforms, and what it says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ..encode.encoder import DONE, frame
from ..events import Event, ReasoningDelta, TextDelta
from .blocks import Block
from .chat_extras import carry_over
from .chat_shapes import is_call, is_error, is_logprobs, is_usage
from .chat_writer import ChatWriter
from .standard import Standard, Written
from .statements import Key, Statement

_CHUNK = "chat.completion.chunk"
_REASONS = frozenset(("stop", "length", "tool_calls", "content_filter"))
_TEXTS = frozenset(("content", "refusal", "reasoning_content", "reasoning"))
_WAITING = ("finish", "usage", "done")
_AROUND = ("role", *_WAITING, "error")
_COUNTED = ("annotations", "images")
_LISTS = ("tool_calls", *_COUNTED)
_LISTS_IN_BYTES = (b'"tool_calls"', b'"annotations"', b'"images"')


class ChatStandard(Standard):
    """Chat Completions as its strict readers take it."""

    in_order = False
    ends_at_done = True
    ends_at_error = True
    unsaid: ClassVar[frozenset[str]] = frozenset(("truncated", "cancelled"))

    def __init__(self, writer: ChatWriter) -> None:
        """`writer` writes the chunks that the vendor's cannot stand for."""
        self.writer = writer
        self._unnumbered: set[tuple[object, ...]] = set()
        self._listed: dict[tuple[int, str], int] = {}
        """How many sources and images the reader has, by choice and member: each has a number."""
        self._begun: set[tuple[int, int]] = set()
        """Calls that a block begins which waits, by choice and index."""
        self._told: set[tuple[int, int]] = set()
        """Calls that the reader knows of."""

    # -- what is said -------------------------------------------------------------------------------------------------

    def statements(self, payload: Any) -> list[Statement]:
        """What a chunk says."""
        if payload == "[DONE]":
            return [(("done",), "1")]
        if "error" in payload:
            return [(("error",), str(payload["error"]["message"]))]
        said: list[Statement] = []
        for choice in payload["choices"]:
            index = choice["index"]
            _add_delta(said, index, choice["delta"])
            if choice.get("finish_reason"):
                said.append((("finish", index), choice["finish_reason"]))
        if usage := payload.get("usage"):
            said.append((("usage",), _counts(usage)))
        return said

    def read(self, block: Block) -> list[Statement] | None:
        """What a chunk of the vendor says; None if it does not conform."""
        payload = block.payload
        if payload == "[DONE]":
            return self.statements(payload)
        if not isinstance(payload, dict) or (block.event or "").startswith("thread."):
            return None
        self.writer.notice(payload)
        if payload.get("error"):
            return self.statements(payload) if is_error(payload["error"]) else None
        if block.event == "error" or not self._conforms(payload):
            return None
        said = self.statements({key: value for key, value in payload.items() if key != "error"})
        begun = {key[1] for key, _ in said if key[0] == "role"}
        speaking = {key[1] for key, _ in said if key[0] not in _AROUND} - begun
        return said if speaking <= self.writer.introduced else None

    def tell(self, event: Event) -> list[bytes]:
        """Let the writer write."""
        return self.writer.feed(event)

    def told_by(self, event: Event) -> list[Statement] | None:
        """What a delta of text or thought says."""
        if isinstance(event, TextDelta):
            return [(("text", event.choice), event.delta)]
        return [(("thought", event.choice), event.delta)] if isinstance(event, ReasoningDelta) else None

    def announced_by(self, block: Block) -> list[bytes]:
        """A role says that a choice begins."""
        payload = block.payload if isinstance(block.payload, dict) else {}
        choices = payload.get("choices", ()) if not payload.get("error") else ()
        begun = [choice["index"] for choice in choices if choice["delta"].get("role")]
        return [written for index in begun for written in self.writer.introduce(index)]

    # -- what conforms ------------------------------------------------------------------------------------------------

    def _conforms(self, payload: dict[str, Any]) -> bool:
        choices: Any = payload.get("choices")
        usage = payload.get("usage")
        if choices.__class__ is not list or not (usage is None or is_usage(usage)):
            return False
        if choices:
            is_one_of_these = payload.get("object") == _CHUNK and payload.get("id") == self.writer.id is not None
        else:
            is_one_of_these = payload.get("object") in (_CHUNK, "") and payload.get("id") in ("", self.writer.id)
        return (
            is_one_of_these
            and payload.get("created").__class__ is int
            and payload.get("model").__class__ is str
            and all(map(self._is_choice, choices))
        )

    def _is_choice(self, choice: Any) -> bool:
        if choice.__class__ is not dict:
            return False
        index, delta, word = choice.get("index"), choice.get("delta"), choice.get("finish_reason")
        return (
            index.__class__ is int
            and index >= 0
            and delta.__class__ is dict
            and (word is None or (word.__class__ is str and word in _REASONS))
            and is_logprobs(choice.get("logprobs"))
            and self._is_delta(index, delta)
        )

    def _is_delta(self, index: int, delta: dict[str, Any]) -> bool:
        if not all(value is None or self._is_member(index, key, value) for key, value in delta.items()):
            return False
        thought, mirror = delta.get("reasoning_content"), delta.get("reasoning")
        if mirror and not thought:
            self.writer.speak_of_thought_as("reasoning")
        return not (thought and mirror) or thought == mirror

    def _is_member(self, choice: int, key: str, value: Any) -> bool:
        if key in _TEXTS:
            return value.__class__ is str
        if key == "role":
            return bool(value == "assistant")
        if key == "tool_calls":
            return value.__class__ is list and all(self._is_call(choice, entry) for entry in value)
        if key in _COUNTED:
            return self._is_counted(choice, key, value)
        if key == "function_call" or (key == "audio" and value.__class__ is not dict):
            return False
        return self._can_be_added((choice, key), value)

    def _is_call(self, choice: int, entry: Any) -> bool:
        if not is_call(entry):
            return False
        call = (choice, entry["index"])
        if entry.get("id"):
            self._begun.add(call)
        return bool(entry["function"].get("arguments")) or call in self._begun or call in self._told

    def _can_be_added(self, place: tuple[object, ...], value: Any) -> bool:
        """Whether readers that add up deltas can add this one: entries of lists need an index from the second on."""
        if isinstance(value, dict):
            return all(self._can_be_added((*place, key), inner) for key, inner in value.items())
        if not isinstance(value, list) or not value or all(isinstance(entry, str | int | float) for entry in value):
            return True
        if all(isinstance(entry, dict) and entry.get("index").__class__ is int for entry in value):
            return place not in self._unnumbered
        is_first = place not in self._unnumbered
        self._unnumbered.add(place)
        return is_first

    def _is_counted(self, choice: int, key: str, entries: Any) -> bool:
        """Whether the entries of a list go on with the numbers of those before, or are the first and have none."""
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            return False
        before = self._listed.get((choice, key), 0)
        numbers = [entry.get("index") for entry in entries]
        return numbers == list(range(before, before + len(numbers))) or (not before and not any(numbers))

    # -- what the relay asks ------------------------------------------------------------------------------------------

    def waits_for_the_end(self, key: Key) -> bool:
        """Finish words may still change, token counts may come again."""
        return key[0] in _WAITING

    def may_still_come(self, key: Key) -> bool:
        """A role is said with the first chunk of a choice, or never."""
        return key[0] != "role"

    def is_optional(self, written: Written) -> bool:
        """Sources that the vendor names in its own way stay where they are."""
        return bool(written.statements) and all(key[0] == "annotations" for key, _ in written.statements)

    def may_stand_beside(self, written: Written) -> bool:
        """Frames around the content may be missing; content of a chunk that is not read from its delta is elsewhere."""
        return self.is_optional(written) or all(key[0] in _AROUND for key, _ in written.statements)

    def rank(self, statements: Sequence[Statement]) -> int:
        """Content, finish words, token counts, `[DONE]`."""
        return max((_WAITING.index(key[0]) + 1 for key, _ in statements if key[0] in _WAITING), default=0)

    def hand_on(self, block: Block) -> bytes:
        """As it came."""
        if any(member in block.raw for member in _LISTS_IN_BYTES):
            for choice, key, entries in _lists_in(block.payload):
                self._note(choice, key, entries)
        return block.raw

    def _note(self, choice: int, key: str, entries: list[dict[str, Any]]) -> None:
        """Keep count of what the reader has."""
        if key in _COUNTED:
            self._listed[choice, key] = self._listed.get((choice, key), 0) + len(entries)
        else:
            self._told.update((choice, entry["index"]) for entry in entries)

    def write(self, frames: Sequence[Written], replaced: Sequence[Block]) -> list[bytes]:
        """Chunks of our own, with the members that the standard does not know."""
        if not self.writer.has_usage_alone:
            frames = _with_usage_beside_choices(frames)
        carry_over(frames, replaced)
        self._begun.clear()
        for each in frames:
            for choice, key, entries in _lists_in(each.payload):
                if key in _COUNTED:
                    for number, entry in enumerate(entries, self._listed.get((choice, key), 0)):
                        entry["index"] = number
                self._note(choice, key, entries)
        return [DONE if each.payload == "[DONE]" else frame(each.payload) for each in frames]


def _add_delta(said: list[Statement], index: int, delta: dict[str, Any]) -> None:
    if delta.get("role"):
        said.append((("role", index), delta["role"]))
    if content := delta.get("content"):
        said.append((("text", index), content))
    if thought := delta.get("reasoning_content") or delta.get("reasoning"):
        said.append((("thought", index), thought))
    if refusal := delta.get("refusal"):
        said.append((("refusal", index), refusal))
    for call in delta.get("tool_calls") or ():
        _add_call(said, (("call", index, call["index"])), call)
    if annotations := delta.get("annotations"):
        said.append((("annotations", index), "+" * len(annotations)))
    audio = delta.get("audio") or {}
    said += [(("audio", index, member), str(audio[member])) for member in ("data", "transcript") if audio.get(member)]
    for image in delta.get("images") or ():
        address = image.get("image_url")
        said.append((("images", index), str(address.get("url") if isinstance(address, dict) else address)))


def _add_call(said: list[Statement], call: Key, entry: dict[str, Any]) -> None:
    function = entry.get("function") or {}
    named = {"id": entry.get("id"), "name": function.get("name"), "arguments": function.get("arguments")}
    if named["id"]:
        named["type"] = entry.get("type")
    said += [((*call, member), text) for member, text in named.items() if text]


def _with_usage_beside_choices(frames: Sequence[Written]) -> list[Written]:
    """The token counts go into the chunk before, for readers that take a choice from every chunk."""
    kept: list[Written] = []
    for each in frames:
        if each.payload == "[DONE]" or not each.payload.get("usage"):
            kept.append(each)
        elif kept:
            kept[-1].payload["usage"] = each.payload["usage"]
    return kept


def _lists_in(payload: Any) -> list[tuple[int, str, list[Any]]]:
    """The lists in a chunk that are kept count of, with the choice and the member that they stand in."""
    is_chunk = isinstance(payload, dict) and not payload.get("error")
    choices = payload.get("choices") or () if is_chunk else ()
    return [(c["index"], key, c["delta"][key]) for c in choices for key in _LISTS if c["delta"].get(key)]


def _counts(usage: dict[str, Any]) -> str:
    return f"{usage['prompt_tokens']} {usage['completion_tokens']} {usage['total_tokens']}"
