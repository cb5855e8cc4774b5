"""Output items of the Responses wire, and which of them an event speaks of.

Neither ids nor indices can be relied on alone: some servers send a new id with every event, some index 0 for all, some
neither. A known id of the right family wins, then the index, then the call id, then the only open item of the family.
"""

from __future__ import annotations

import builtins
from itertools import islice
from typing import Any, Literal, TypeGuard

from ..json_codec import clean
from .limits import MAX_ITEMS
from .parts import Part
from .snapshots import Pieces, is_suffix, missing, size_of
from .tool_calls import Call
from .tool_markup import MarkupScanner
from .tool_routing import usable, whole_number

Family = Literal["message", "reasoning", "call", "other"]
SlotKind = Literal["text", "refusal", "raw", "summary"]


def family_of(item_type: str) -> Family:
    """Items of one family may stand for one another where ids fail."""
    if item_type in ("message", "reasoning"):
        return item_type  # type: ignore[return-value]
    return "call" if item_type.endswith("_call") or item_type in ("mcp_list_tools", "mcp_approval_request") else "other"


_CANDIDATES = 64
"""Where ids and indices fail, so many items are looked at: real responses have fewer."""


class Slot:
    """One content part or summary part of an item. It outlives its event part, which other prose may close."""

    __slots__ = ("closed", "item", "key", "kind", "markup", "part", "streamed")

    def __init__(self, item: Item, kind: SlotKind, key: int | None) -> None:
        """`key`: content_index or summary_index, where the wire gives one."""
        self.markup: MarkupScanner | None = None
        """Finds calls in its text, where that was asked for."""
        self.item = item
        self.kind: SlotKind = kind
        self.key = key
        self.part: Part | None = None
        self.streamed: list[Pieces] = []
        """What was told of it, by the parts it was told in."""
        self.closed = False

    def may_be(self, text: str) -> bool:
        """Whether what was told of it may be the beginning or the end of the text."""
        return missing(self.streamed, text) is not None or is_suffix(self.streamed, text)


class Item:
    """One output item."""

    __slots__ = (
        "announced",
        "call",
        "call_id",
        "done",
        "encrypted",
        "family",
        "id",
        "index",
        "matched",
        "media",
        "phase",
        "seed",
        "shown_whole",
        "slots",
        "streamed",
        "type",
    )

    def __init__(self, item_type: str, id: str | None, index: int | None) -> None:
        """`id` and `index` as the wire gave them first."""
        self.type = item_type
        self.family: Family = family_of(item_type)
        self.id = id
        self.index = index
        self.announced = False
        self.done = False
        self.matched = False
        self.phase: str | None = None
        self.encrypted: str | None = None
        self.slots: list[Slot] = []
        self.call: Call | None = None
        self.call_id: str | None = None
        self.media: Part | None = None
        self.seed = ""
        """Arguments that came with the announcement: they count unless the first delta starts them over."""
        self.shown_whole = False
        """Whether its end repeated what was streamed."""
        self.streamed = False
        """Whether deltas of its input came."""

    def slot(self, kind: SlotKind, key: int | None, *, announced: bool = False) -> Slot:
        """The content part of a kind and index; without an index the open one, or a new one."""
        same = [slot for slot in self.slots if slot.kind == kind]
        for slot in same:
            if key is not None and slot.key == key:
                return slot
        last = same[-1] if same else None
        # raw thought may count its index on with every delta: only an announced part is a new one
        if last is not None and not last.closed and not announced and (key is None or kind == "raw"):
            return last
        if key is None and last is not None and not announced:
            return last
        slot = Slot(self, kind, key)
        self.slots.append(slot)
        return slot

    def told(self, kind: SlotKind) -> list[Slot]:
        """Its parts of one kind that something was told of, in the order of their indices."""
        told = [slot for slot in self.slots if slot.kind == kind and size_of(slot.streamed)]
        return sorted(told, key=lambda slot: slot.key or 0) if all(slot.key is not None for slot in told) else told

    def untold(self, kind: SlotKind, index: int) -> Slot:
        """A part that nothing was told of: the announced one of this index, or a new one."""
        for slot in self.slots:
            if slot.kind == kind and slot.key == index and not size_of(slot.streamed):
                return slot
        slot = Slot(self, kind, index)
        self.slots.append(slot)
        return slot

    @property
    def has_words(self) -> bool:
        """Whether any of its content was streamed."""
        return any(slot.streamed for slot in self.slots)

    def fits_snapshot(self, raw: dict[str, Any]) -> bool:
        """Whether what was streamed may be what the snapshot shows."""
        if self.call is not None:
            call_id = usable(raw.get("call_id"))
            return call_id is None or self.call.call_id in (None, call_id)
        shown = [
            text
            for member in ("content", "summary")
            for part in _list(raw.get(member))
            if isinstance(part, dict) and isinstance(text := part.get("text", part.get("refusal")), str)
        ]
        return all(any(slot.may_be(text) for text in shown) for slot in self.slots if size_of(slot.streamed))


class Items:
    """The items of one response."""

    def __init__(self) -> None:
        """None yet."""
        self.all: list[Item] = []
        self._open: dict[Family, dict[int, Item]] = {"message": {}, "reasoning": {}, "call": {}, "other": {}}
        self._by_id: dict[str, Item] = {}
        self._by_index: dict[int, Item] = {}
        self._by_call_id: dict[str, Item] = {}

    @property
    def is_full(self) -> bool:
        """Whether a limit of ours is reached."""
        return len(self.all) >= MAX_ITEMS

    def find(self, event: dict[str, Any], item_type: str) -> Item:
        """The item that a delta or a progress event speaks of; one that was never announced is opened."""
        family = family_of(item_type)
        id, index = usable(event.get("item_id")), whole_number(event.get("output_index"))
        if id is not None and (item := self._by_id.get(id)) is not None and item.family == family:
            return item
        if index is not None and (item := self._by_index.get(index)) is not None and item.family == family:
            if not item.done or id is None:
                return item
        elif (call_id := usable(event.get("call_id"))) and (item := self._by_call_id.get(call_id)) is not None:
            return item
        elif index is None or id is None:
            opened = self._latest_open(family)
            opened = [item for item in opened if item.type == item_type] or opened
            if opened and (index is None or opened[0].index is None):
                return opened[0]
        return self.new(item_type, id, index)

    def known(self, event: dict[str, Any]) -> Item | None:
        """The item that an event names by id or index, of whatever family."""
        id, index = usable(event.get("item_id")), whole_number(event.get("output_index"))
        item = self._by_id.get(id) if id is not None else None
        return item if item is not None or index is None else self._by_index.get(index)

    def announce(self, raw: dict[str, Any], item_type: str, index: int | None) -> Item:
        """The item that `output_item.added` names: a new one, unless it was announced or spoken of before."""
        id, family = usable(raw.get("id")), family_of(item_type)
        known = self._by_id.get(id) if id is not None else None
        if known is None and index is not None:
            at_index = self._by_index.get(index)
            if at_index is not None and not at_index.done:
                differs = at_index.announced and id is not None and at_index.id != id
                known = None if differs else at_index
        item = known if known is not None and known.family == family else self.new(item_type, id, index)
        item.announced = True
        self.remember(item, raw)
        return item

    def closing(self, raw: dict[str, Any], item_type: str, index: int | None) -> Item:
        """The item that `output_item.done` closes."""
        id, family = usable(raw.get("id")), family_of(item_type)
        call_id = usable(raw.get("call_id"))
        item = self._by_id.get(id) if id is not None else None
        if item is None or item.family != family:
            item = self._by_index.get(index) if index is not None else None
            if item is not None and (item.family != family or item.done or not _same_call(item, call_id)):
                item = None
            if item is None and call_id is not None:
                item = self._by_call_id.get(call_id)
            if item is None and (index is None or id is None):
                same = [i for i in self._latest_open(family) if i.type == item_type and _same_call(i, call_id)]
                item = same[0] if len(same) == 1 and (index is None or same[0].index is None) else None
        if item is None:
            item = self.new(item_type, id, index)
        self.remember(item, raw)
        return item

    def match(self, snapshot: list[dict[str, Any]]) -> list[Item | None]:
        """For each item of the terminal output the one that was streamed, or None."""
        found: list[Item | None] = [None] * len(snapshot)
        ways = (self._by_name, self._by_place_and_words, self._by_words)
        for way in (*ways, self._by_place_and_content, self._by_content, self._by_place):
            left = [item for item in self.all if not item.matched][:_CANDIDATES]
            for position, raw in enumerate(snapshot):
                if found[position] is None and (item := way(raw, position, left)) is not None:
                    item.matched = True
                    found[position] = item
        return found

    def _by_name(self, raw: dict[str, Any], _position: int, _left: list[Item]) -> Item | None:
        """The surest way: an id or a call id."""
        call_id = usable(raw.get("call_id"))
        by_id = self._by_id.get(usable(raw.get("id")) or "")
        for item in (by_id, self._by_call_id.get(call_id or "")):
            if _is_free(item, raw) and _same_call(item, call_id):
                return item
        return None

    def _by_place_and_words(self, raw: dict[str, Any], position: int, left: list[Item]) -> Item | None:
        """Words that fit say more than an item of which nothing was streamed, and which anything would fit."""
        item = self._by_place_and_content(raw, position, left)
        return item if item is not None and item.has_words else None

    def _by_words(self, raw: dict[str, Any], position: int, left: list[Item]) -> Item | None:
        return self._by_content(raw, position, [item for item in left if item.has_words])

    def _by_place_and_content(self, raw: dict[str, Any], position: int, _left: list[Item]) -> Item | None:
        item = self._by_index.get(position)
        return item if _is_free(item, raw) and item.fits_snapshot(raw) else None

    def _by_content(self, raw: dict[str, Any], _position: int, left: list[Item]) -> Item | None:
        return next((item for item in left if _is_free(item, raw) and item.fits_snapshot(raw)), None)

    def _by_place(self, raw: dict[str, Any], position: int, _left: list[Item]) -> Item | None:
        """The last resort, where the content differs."""
        item = self._by_index.get(position)
        return item if _is_free(item, raw) and _same_call(item, usable(raw.get("call_id"))) else None

    def new(self, item_type: str, id: str | None, index: int | None) -> Item:
        """An item that nothing was said of before."""
        item = Item(item_type, clean(id) if id else None, index)
        self.all.append(item)
        self._open[item.family][builtins.id(item)] = item
        if id is not None:
            self._by_id[id] = item
        if index is not None:
            self._by_index[index] = item
        return item

    def by_call_id(self, call_id: object) -> Item | None:
        """The call of an id."""
        return self._by_call_id.get(call_id) if isinstance(call_id, str) else None

    def remember(self, item: Item, raw: dict[str, Any]) -> None:
        """The ids that an item names itself by."""
        if (id := usable(raw.get("id"))) is not None:
            self._by_id.setdefault(id, item)
            item.id = item.id or clean(id)
        if (call_id := usable(raw.get("call_id"))) is not None:
            item.call_id = item.call_id or call_id
            if item.family == "call":
                self._by_call_id.setdefault(call_id, item)

    def close(self, item: Item, *, done: bool = True) -> None:
        """The item is over; with `done=False` it is open again."""
        item.done = done
        if done:
            self._open[item.family].pop(builtins.id(item), None)
        else:
            self._open[item.family][builtins.id(item)] = item

    def _latest_open(self, family: Family) -> list[Item]:
        """Items of a family that are open, the latest first."""
        return list(islice(reversed(self._open[family].values()), _CANDIDATES))


def _is_free(item: Item | None, raw: dict[str, Any]) -> TypeGuard[Item]:
    """Whether an item of the right family is there and was not matched yet."""
    return item is not None and not item.matched and item.family == family_of(str(raw.get("type")))


def _same_call(item: Item, call_id: str | None) -> bool:
    return item.call is None or call_id is None or item.call.call_id in (None, call_id)


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
