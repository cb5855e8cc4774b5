"""The output of one response while it is written: items in order, numbers without gaps, one open prose item at most."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from ..json_codec import dumps_string
from .encoder import MARK, frame, frame_around

_PREFIXES = {
    "message": "msg",
    "reasoning": "rs",
    "function_call": "fc",
    "custom_tool_call": "ctc",
    "image_generation_call": "ig",
}


class OpenPart(Protocol):
    """A part of the stream that was started and is written somewhere."""

    def delta(self, event: Any) -> None:
        """More of it."""

    def end(self, event: Any) -> None:
        """It is over."""

    def abandon(self) -> None:
        """The stream is over, and it was not."""


class Item:
    """One output item. `shown` is what its `output_item.done` and the terminal event show."""

    __slots__ = ("done", "index", "shown")

    def __init__(self, index: int, shown: dict[str, Any]) -> None:
        """`index` is its place in the output."""
        self.index = index
        self.shown = shown
        self.done = False

    @property
    def place(self) -> dict[str, Any]:
        """How events name it."""
        return {"item_id": self.shown["id"], "output_index": self.index}


class ProseItem(Item):
    """A message or a reasoning item: it stays open a little for what may follow."""

    __slots__ = ("asked_id", "open_parts", "phase")

    def __init__(self, index: int, shown: dict[str, Any], asked_id: str | None, phase: str | None) -> None:
        """`asked_id`: the id of the source, which another item may have had before."""
        super().__init__(index, shown)
        self.asked_id = asked_id
        self.phase = phase
        self.open_parts = 0

    def fits(self, item_type: str, id: str | None) -> bool:
        """Whether a part of such an item can go on in this one."""
        return self.shown["type"] == item_type and id in (None, "", self.asked_id)


class Deltas:
    """The delta events of one part. They differ in their number and their text alone: all else is written once."""

    __slots__ = ("_around", "_event", "_frames", "_numbers", "_payload")

    def __init__(self, frames: list[bytes], numbers: Iterator[int], payload: dict[str, Any], event: str | None) -> None:
        """Nothing was said yet. `payload` has marks for the number and, behind it, the text."""
        self._frames = frames
        self._numbers = numbers
        self._payload = payload
        self._event = event
        self._around: list[bytes] = []

    def write(self, text: str) -> None:
        """One more."""
        if not self._around:
            self._around = frame_around(self._payload, self._event)
        before, between, behind = self._around
        self._frames.append(b"%b%d%b%b%b" % (before, next(self._numbers), between, dumps_string(text), behind))


class Output:
    """Writes the events of a response to `frames`, and keeps its items."""

    def __init__(self, frames: list[bytes], make_id: Callable[[str], str], *, event_lines: bool) -> None:
        """Nothing was written yet."""
        self.items: list[Item] = []
        self.make_id = make_id
        self._frames = frames
        self._event_lines = event_lines
        self._numbers = itertools.count()
        self._ids: set[str] = set()
        self._pending: ProseItem | None = None
        self._closes = True

    def write(self, name: str, /, **members: Any) -> None:
        """One event; a member may be called `name` as well."""
        payload = {"type": name, "sequence_number": next(self._numbers), **members}
        self._frames.append(frame(payload, name if self._event_lines else None))

    def deltas(self, name: str, place: dict[str, Any], **extras: Any) -> Deltas:
        """Events of one name and place with a text each; `extras` stand behind it."""
        payload = {"type": name, "sequence_number": MARK, **place, "delta": MARK, **extras}
        return Deltas(self._frames, self._numbers, payload, name if self._event_lines else None)

    # -- items --------------------------------------------------------------------------------------------------------

    def announce(self, item_type: str, id: str | None, **members: Any) -> Item:
        """A new item that is not prose."""
        self._let_go()
        item = Item(len(self.items), {"id": self._free_id(item_type, id), "type": item_type, **members})
        self._add(item)
        return item

    def prose(
        self, item_type: str, id: str | None, phase: str | None = None, /, *, any_phase: bool = False, **members: Any
    ) -> ProseItem:
        """The pending item, if a part of this kind fits in, else a new one."""
        pending = self._pending
        if pending is not None and pending.fits(item_type, id) and (any_phase or pending.phase == phase):
            return pending
        self._let_go()
        shown = {"id": self._free_id(item_type, id), "type": item_type, "status": "in_progress", **members}
        item = self._pending = ProseItem(len(self.items), shown, id or shown["id"], phase)
        self._add(item)
        return item

    def close(self, item: Item, status: str) -> None:
        """An item is whole."""
        item.done = True
        item.shown["status"] = status
        self.write("response.output_item.done", output_index=item.index, item=item.shown)

    def open_prose(self, id: str) -> ProseItem | None:
        """The item of prose of an id, if it is not closed."""
        for item in reversed(self.items):
            if isinstance(item, ProseItem) and item.shown["id"] == id:
                return None if item.done else item
        return None

    def finish_prose(self, id: str) -> None:
        """The source says that an item of prose is over: it is closed, unless a part of it is open."""
        item = self.open_prose(id)
        if item is not None and not item.open_parts:
            if item is self._pending:
                self._pending = None
            self.close(item, "completed")

    def leave_open(self) -> None:
        """Items that are open stay so: nothing more is said of them."""
        self._closes = False

    def close_prose(self, status: str) -> None:
        """The end of the stream: prose that is still open is closed."""
        for item in self.items:
            if isinstance(item, ProseItem) and not item.done and self._closes:
                self.close(item, status)

    def shown(self) -> list[dict[str, Any]]:
        """All items for the terminal event; those that were never closed are incomplete."""
        return [item.shown if item.done else {**item.shown, "status": "incomplete"} for item in self.items]

    def _add(self, item: Item) -> None:
        self.items.append(item)
        self.write("response.output_item.added", output_index=item.index, item=item.shown)

    def _let_go(self) -> None:
        """Another item begins: the pending one is closed, unless a part of it is open. Then they interleave."""
        pending = self._pending
        if pending is not None and not pending.open_parts:
            self._pending = None
            self.close(pending, "completed")

    def _free_id(self, item_type: str, id: str | None) -> str:
        """The id of the source, unless another item has it: two items of one id are one to most readers."""
        if not id or id in self._ids:
            id = self.make_id(_PREFIXES.get(item_type) or item_type.removesuffix("_call"))
        self._ids.add(id)
        return id
