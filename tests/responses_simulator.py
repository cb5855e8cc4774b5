"""A sloppy server of the Responses wire: takes an answer and writes it with any habits that can be told apart."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

Json = dict[str, Any]


@dataclass
class Item:
    """One output item as the model meant it."""

    kind: str  # message, reasoning, function_call, custom_tool_call
    texts: list[str] = field(default_factory=list)
    name: str = ""
    arguments: str = ""
    position: int = 0

    def whole(self, item_id: str | None, status: str | None) -> Json:
        body: Json = {"type": self.kind}
        if item_id is not None:
            body["id"] = item_id
        if status is not None:
            body["status"] = status
        if self.kind == "message":
            content = [{"type": "output_text", "text": text, "annotations": []} for text in self.texts]
            body |= {"role": "assistant", "content": content}
        elif self.kind == "reasoning":
            body["summary"] = [{"type": "summary_text", "text": text} for text in self.texts]
        else:
            member = "arguments" if self.kind == "function_call" else "input"
            body |= {"call_id": f"call_{self.position}", "name": self.name, member: self.arguments}
        return body

    def empty(self, item_id: str | None, status: str | None) -> Json:
        body = self.whole(item_id, status)
        for member, nothing in (("content", []), ("summary", []), ("arguments", ""), ("input", "")):
            if member in body:
                body[member] = nothing
        return body


_text = st.text(st.sampled_from('abc \n.ü😀"\\<{}'), min_size=1, max_size=20)
_objects = st.dictionaries(st.sampled_from(["a", "b"]), st.sampled_from([1, "x", "}{", None, [1]]), max_size=2)


@st.composite
def answers(draw: st.DrawFn) -> list[Item]:
    items = []
    for position in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(["message", "message", "reasoning", "function_call", "custom_tool_call"]))
        item = Item(kind, position=position)
        if kind in ("message", "reasoning"):
            # a number in each text: two equal ones behind one another would be a repeat to any reader
            item.texts = [f"{position}{n}" + draw(_text) for n in range(draw(st.integers(1, 2)))]
        else:
            item.name = draw(st.sampled_from(["f", "get_tide"]))
            arguments = draw(_objects)
            item.arguments = json.dumps(arguments) if kind == "function_call" else draw(_text)
        items.append(item)
    return items


class Server:
    """A writer with habits."""

    def __init__(self, draw: st.DrawFn, items: list[Item]) -> None:
        self._draw = draw
        self._items = items
        self._numbers = itertools.count()
        self.ids = draw(st.sampled_from(["stable", "stable", "rotating", "empty", "missing"]))
        self.indexes = draw(st.sampled_from(["counted", "counted", "gaps", "text", "constant", "missing"]))
        if self.indexes in ("constant", "missing"):
            self.ids = "stable"
        self.statuses = draw(st.booleans())
        self.sequence = draw(st.sampled_from(["counted", "missing", "constant"]))
        self.event_lines = draw(st.sampled_from(["both", "data only", "event only"]))
        self.shows_output = draw(st.sampled_from(["whole", "whole", "empty", "null", "missing"]))
        self._sent = 0

    def chance(self) -> bool:
        return self._draw(st.booleans())

    def _id(self, item: Item) -> str | None:
        if self.ids == "rotating":
            return f"enc_{next(self._numbers)}"
        return {"stable": f"item_{item.position}", "empty": "", "missing": None}[self.ids]

    def _where(self, item: Item, **more: Any) -> Json:
        where: Json = {} if (item_id := self._id(item)) is None else {"item_id": item_id}
        return where | self._index(item) | more

    def _index(self, item: Item) -> Json:
        if self.indexes == "missing":
            return {}
        position: int | str = {"gaps": 2 * item.position + 1, "constant": 0}.get(self.indexes, item.position)
        return {"output_index": str(position) if self.indexes == "text" else position}

    def _pieces(self, text: str) -> list[str]:
        places = sorted(set(self._draw(st.lists(st.integers(1, max(1, len(text) - 1)), max_size=3))))
        edges = [0, *(place for place in places if place < len(text)), len(text)]
        return [text[a:b] for a, b in itertools.pairwise(edges) if a < b]

    # -- events -------------------------------------------------------------------------------------------------------

    def events(self) -> list[Json]:
        response = {"id": "resp_1", "object": "response", "created_at": 1, "model": "m-1"}
        events: list[Json] = [{"type": "response.created", "response": {**response, "status": "in_progress"}}]
        rows = [self._item_events(item) for item in self._items]
        # what interleaves must be held together by something, and calls must not come between deltas of one text
        if self.ids != "missing" and self.indexes in ("counted", "gaps", "text") and self.chance():
            rows = [[event for group in itertools.zip_longest(*rows) for event in group if event]]
        for row in rows:
            events += row
        output: Any = [item.whole(self._final_id(item), "completed") for item in self._items]
        end: Json = {**response, "status": "completed"}
        if self.shows_output != "missing":
            end["output"] = {"whole": output, "empty": [], "null": None}[self.shows_output]
        events.append({"type": self._draw(st.sampled_from(["response.completed", "response.done"])), "response": end})
        return events

    def _final_id(self, item: Item) -> str | None:
        return self._id(item)

    def _item_events(self, item: Item) -> list[Json]:
        events: list[Json] = []
        status = "in_progress" if self.statuses else None
        must_show = self.shows_output != "whole"
        announced = self.indexes in ("constant", "missing") or item.kind == "custom_tool_call" or self.chance()
        if item.kind == "function_call" and must_show:
            announced = True  # a name must come from somewhere
        if announced:
            events.append(
                {"type": "response.output_item.added", **self._index(item), "item": item.empty(self._id(item), status)}
            )
        streams = self.chance() or (must_show and not announced)
        closes = self.chance() or (must_show and not streams) or not announced
        for number, text in enumerate(item.texts or [item.arguments]):
            events += self._part_events(item, number, text, streams=streams, announced=announced)
        if closes:
            events.append(
                {
                    "type": "response.output_item.done",
                    **self._index(item),
                    "item": item.whole(self._id(item), "completed" if self.statuses else None),
                }
            )
        return events

    def _part_events(self, item: Item, number: int, text: str, *, streams: bool, announced: bool) -> list[Json]:
        family, index, member, part = {
            "message": ("output_text", "content_index", "text", {"type": "output_text", "annotations": []}),
            "reasoning": ("reasoning_summary_text", "summary_index", "text", {"type": "summary_text"}),
            "function_call": ("function_call_arguments", "", "arguments", None),
            "custom_tool_call": ("custom_tool_call_input", "", "input", None),
        }[item.kind]
        place = {index: number} if index else {}
        part_name = "reasoning_summary_part" if item.kind == "reasoning" else "content_part"
        events: list[Json] = []
        if part is not None and self.chance():
            added = {"part": {**part, "text": ""}}
            events.append({"type": f"response.{part_name}.added", **self._where(item, **place), **added})
        if streams:
            for piece in self._pieces(text):
                delta = {"delta": piece, "obfuscation": "x"}
                events.append({"type": f"response.{family}.delta", **self._where(item, **place), **delta})
        if (streams or announced) and self.chance():
            events.append({"type": f"response.{family}.done", **self._where(item, **place), member: text})
        if part is not None and (streams or announced) and self.chance():
            done = {"part": {**part, "text": text}}
            events.append({"type": f"response.{part_name}.done", **self._where(item, **place), **done})
        return events

    # -- bytes --------------------------------------------------------------------------------------------------------

    def body(self) -> bytes:
        frames = []
        for event in self.events():
            name = event["type"]
            if self.sequence != "missing":
                event["sequence_number"] = 7 if self.sequence == "constant" else next(self._numbers)
            if self.event_lines == "event only":
                event = {key: value for key, value in event.items() if key != "type"}
            line = "" if self.event_lines == "data only" else f"event: {name}\n"
            if self.chance():
                frames.append(
                    self._draw(st.sampled_from([": ping\n\n", "event: keepalive\n\n", "data: keepalive\n\n"]))
                )
            frames.append(f"{line}data: {json.dumps(event)}\n\n")
        return ("".join(frames) + self._draw(st.sampled_from(["", "data: [DONE]\n\n"]))).encode()


@st.composite
def sloppy_responses(draw: st.DrawFn) -> tuple[list[Item], bytes]:
    """An answer, and the bytes of a server that writes it its own way."""
    items = draw(answers())
    return items, Server(draw, items).body()
