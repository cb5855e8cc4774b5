"""The standard of Responses streams: when an event conforms, and what it says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar

from ..encode.encoder import frame
from ..events import Event, ReasoningDelta, TextDelta
from ..json_codec import loads
from .blocks import Block
from .counts import with_more_counts
from .response_shapes import (
    error_in,
    is_index,
    is_item,
    is_part,
    is_placed,
    is_usage,
    may_be_shown,
    says,
    told_by_announcement,
    told_by_end,
    told_by_item,
    words_in,
)
from .responses_writer import ResponsesWriter
from .standard import Standard, Written
from .statements import Statement

_TERMINAL = {"response.completed": "completed", "response.incomplete": "incomplete", "response.failed": "failed"}
_PARTS = {"response.content_part": "content_index", "response.reasoning_summary_part": "summary_index"}
_WORDS = {
    "response.output_text": ("content_index", "text"),
    "response.refusal": ("content_index", "refusal"),
    "response.reasoning_text": ("content_index", "text"),
    "response.reasoning_summary_text": ("summary_index", "text"),
}
"""Families of events that carry prose: which index counts its parts, and where `.done` has all of it."""
_INPUTS = {
    "response.function_call_arguments": "arguments",
    "response.custom_tool_call_input": "input",
    "response.mcp_call_arguments": "arguments",
    "response.code_interpreter_call_code": "code",
}
_OTHER_WORDS = re.compile(
    r"response\.(reasoning|reasoning_summary|reasoning_part|.*_output_text|.*_reasoning_text|code_interpreter_call\.code)"
)
"""Families in which some vendors carry what the standard has others for."""
_DECIDED = frozenset("id object created_at completed_at model status output error incomplete_details usage".split())
"""Members of a response object that the stream decides; the others are settings of the vendor's."""
_ASIDES = frozenset(("progress", "annotation"))
"""What shows how things go on: no reader adds it up."""
_NUMBER = re.compile(rb'"sequence_number"\s*:\s*(?:-?\d[\d.eE+-]*|null|"[^"\\]*")')


class ResponsesStandard(Standard):
    """Responses as its strict readers take it."""

    in_order = True
    ends_at_done = False
    ends_at_error = False
    unsaid: ClassVar[frozenset[str]] = frozenset(("truncated",))

    def __init__(self, writer: ResponsesWriter) -> None:
        """`writer` writes the events that the vendor's cannot stand for."""
        self.writer = writer
        self._number = -1
        self._has_begun = False
        self._has_items = False
        self._announces = False
        """Whether an item was announced in our own words: its number need not be the vendor's."""

    # -- what is said -------------------------------------------------------------------------------------------------

    def statements(self, payload: Any) -> list[Statement]:
        """What an event says; its members are known to be of the right kind."""
        name = payload["type"]
        family, _, action = name.rpartition(".")
        if name in _TERMINAL:
            return [(("terminal",), told_by_end(name, payload["response"]))]
        if name == "response.created":
            return [(("created",), payload["response"]["id"])]
        if name == "error":
            return [(("error",), error_in(payload)["message"])]
        if family == "response.output_item":
            item, place = payload["item"], ("item", payload["output_index"])
            return [((*place, action), told_by_announcement(item) if action == "added" else told_by_item(item))]
        if family in _PARTS:
            part = payload["part"]
            told = part["type"] + (f" {words_in(part)}" if action == "done" else "")
            return [((*self._place(payload, _PARTS[family]), "part", action), told)]
        if family in _WORDS:
            index, member = _WORDS[family]
            said = payload["delta"] if action == "delta" else payload[member]
            return [((*self._place(payload, index), family, action), said)]
        if family in _INPUTS:
            said = payload["delta"] if action == "delta" else payload[_INPUTS[family]]
            return [(("input", payload["output_index"], payload["item_id"], action), said)]
        if name == "response.output_text.annotation.added":
            return [(("annotation",), ".")]
        if family.startswith("response.audio"):
            return [((name,), payload.get("delta") or ".")]
        if "item_id" in payload and "output_index" in payload:
            return [(("progress",), ".")]
        return []

    @staticmethod
    def _place(payload: dict[str, Any], index: str) -> tuple[object, ...]:
        return payload["output_index"], payload["item_id"], index, payload[index]

    def read(self, block: Block) -> list[Statement] | None:
        """What an event of the vendor says; None if it does not conform."""
        payload = block.payload
        had_begun, self._has_begun = self._has_begun, self.writer.has_begun
        if not isinstance(payload, dict) or payload.get("type").__class__ is not str or "choices" in payload:
            return None
        name = payload["type"]
        if block.event not in (None, name):
            return None
        if name in ("response.in_progress", "response.queued"):
            is_beginning = had_begun and not self._has_items and not self.writer.has_items
            return [] if is_beginning and self._is_response(payload.get("response")) else None
        if not self._conforms(name, payload):
            return None
        self._has_items = self._has_items or name == "response.output_item.added"
        told = [statement for statement in self.statements(payload) if statement[0][0] not in _ASIDES]
        return told if told or had_begun else None

    # -- what conforms ------------------------------------------------------------------------------------------------

    def _conforms(self, name: str, payload: dict[str, Any]) -> bool:
        family, _, action = name.rpartition(".")
        if name in _TERMINAL:
            return self._is_end(name, payload.get("response"))
        if name == "response.created":
            response: Any = payload.get("response")
            return self._is_response(response) and not response.get("output")
        if name == "error":
            return bool(error_in(payload))
        if family == "response.output_item":
            item: Any = payload.get("item")
            return is_index(payload.get("output_index")) and is_item(item) and may_be_shown(item, action)
        if family in _PARTS:
            return is_placed(payload, _PARTS[family]) and is_part(payload.get("part"), is_new=action == "added")
        if family in _WORDS:
            index, member = _WORDS[family]
            return is_placed(payload, index) and says(payload, "delta" if action == "delta" else member)
        if family in _INPUTS:
            return is_placed(payload) and says(payload, "delta" if action == "delta" else _INPUTS[family])
        if name == "response.output_text.annotation.added":
            return self._has_own_numbers(payload) and is_index(payload.get("annotation_index"))
        if _OTHER_WORDS.fullmatch(family):
            return False
        return "output_index" not in payload or self._has_own_numbers(payload)

    def _has_own_numbers(self, payload: dict[str, Any]) -> bool:
        """Whether the number of the item is the vendor's: none was announced in our own words."""
        return not self._announces and is_index(payload.get("output_index"))

    def _is_response(self, response: Any) -> bool:
        return (
            isinstance(response, dict)
            and response.get("id") == self.writer.id
            and response.get("object") == "response"
            and isinstance(response.get("status"), str)
            and isinstance(response.get("model"), str)
            and isinstance(response.get("created_at"), int | float)
        )

    def _is_end(self, name: str, response: Any) -> bool:
        if not self._is_response(response) or response["status"] != _TERMINAL[name]:
            return False
        output, usage = response.get("output"), response.get("usage")
        return (
            isinstance(output, list)
            and all(map(is_item, output))
            and (usage is None or is_usage(usage))
            and (name != "response.failed" or bool(error_in(response)))
            and (name != "response.incomplete" or isinstance(response.get("incomplete_details"), dict))
        )

    # -- what we say --------------------------------------------------------------------------------------------------

    def tell(self, event: Event) -> list[bytes]:
        """Let the writer write."""
        return self.writer.feed(event)

    def told_by(self, event: Event) -> list[Statement] | None:
        """What a delta of text or thought says, if its part was announced."""
        if not isinstance(event, TextDelta | ReasoningDelta):
            return None
        part = self.writer.prose(event.part)
        if part is None:
            return None
        place, spelling = part.place, part.spelling
        key = place["output_index"], place["item_id"], spelling.index, place[spelling.index], spelling.family, "delta"
        return [(key, event.delta)]

    def skip(self, event: Event) -> None:
        """The writer keeps the words for the end."""
        if isinstance(event, TextDelta | ReasoningDelta) and (part := self.writer.prose(event.part)) is not None:
            part.keep(event)

    def announced_by(self, block: Block) -> list[bytes]:
        """Items that are announced and closed, but calls: what they hold is told by events of their own."""
        name = block.payload["type"]
        if not self.writer.has_begun:
            return []
        if name == "response.output_item.added":
            return self.writer.announce(block.payload["item"])
        if name == "response.output_item.done":
            return self.writer.finish_item(block.payload["item"])
        family, _, action = name.rpartition(".")
        if family in _INPUTS and action == "done":
            return self.writer.finish_input(block.payload["item_id"], block.payload[_INPUTS[family]])
        if family not in _PARTS:
            return []
        item_id, part_type = block.payload["item_id"], block.payload["part"]["type"]
        if action == "added":
            return self.writer.open_part(item_id, block.payload[_PARTS[family]], part_type)
        return self.writer.finish_part(item_id, part_type)

    def is_optional(self, written: Written) -> bool:
        """A response that the vendor lets fail says itself why."""
        return all(key[0] in _ASIDES or key[0] == "error" for key, _ in written.statements)

    def hand_on(self, block: Block) -> bytes:
        """As it came, but for a number that would not rise."""
        number = block.payload.get("sequence_number")
        if number.__class__ is int and number > self._number:
            self._number = number
            return block.raw
        self._number += 1
        data = _renumbered(block, self._number)
        if data is None:
            return frame({**block.payload, "sequence_number": self._number}, block.event)
        return block.raw.replace(block.data, data, 1)

    def write(self, frames: Sequence[Written], replaced: Sequence[Block]) -> list[bytes]:
        """Events of our own, numbered, the response object with the settings that the vendor shows in it."""
        settings: dict[str, Any] = {}
        counts: Any = None
        for block in replaced:
            if isinstance(block.payload, dict) and isinstance(response := block.payload.get("response"), dict):
                settings |= {k: v for k, v in response.items() if k not in _DECIDED and v is not None}
                counts = response.get("usage") or counts
        written = []
        for each in frames:
            self._number += 1
            payload: dict[str, Any] = {**each.payload, "sequence_number": self._number}
            name = payload["type"]
            self._announces = self._announces or name == "response.output_item.added"
            if name in _TERMINAL or name == "response.created":
                response = {**payload["response"], **settings}
                if response["usage"] is not None:
                    response["usage"] = with_more_counts(response["usage"], counts)
                payload["response"] = response
            written.append(frame(payload, name))
        return written


def _renumbered(block: Block, number: int) -> bytes | None:
    """The payload as it came, with another number; None if that is not easily done."""
    own = b'"sequence_number":%d' % number
    if "sequence_number" not in block.payload:
        data = b"{" + own + b"," + block.data.lstrip()[1:]
    else:
        data = _NUMBER.sub(own, block.data, count=1)
    is_right = block.data in block.raw and loads(data) == {**block.payload, "sequence_number": number}
    return data if is_right else None
