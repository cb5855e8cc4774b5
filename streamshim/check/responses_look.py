"""A look at the events of a Responses stream."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .faults import Sighting
from .payloads import Payload

if TYPE_CHECKING:
    from .reading import Reading

_TERMINAL = ("response.completed", "response.incomplete", "response.failed")
_BEGINNING = ("response.created", "response.in_progress", "response.queued")
_PART_OF = {
    "response.output_text": "content_index",
    "response.refusal": "content_index",
    "response.reasoning_text": "content_index",
    "response.reasoning": "content_index",
    "response.reasoning_summary_text": "summary_index",
}
_PARTS = {"response.content_part": "content_index", "response.reasoning_summary_part": "summary_index"}
_ARGUMENTS = ("response.function_call_arguments", "response.custom_tool_call_input")


@dataclass(slots=True)
class _Item:
    """An item that was added: its id, its parts by kind and number, and what was closed."""

    id: Any
    is_done: bool = False
    parts: dict[tuple[str, Any], bool] = field(default_factory=dict)
    """Whether each is open."""
    is_streamed: bool = False
    """Whether any delta came."""
    arguments_open: bool = False


class ResponsesLook:
    """Goes over the events once, and notes what is odd about them."""

    def __init__(self, payloads: Sequence[Payload], exchange: Reading) -> None:
        """Nothing is looked at until `sightings` is asked for."""
        self._payloads = payloads
        self._exchange = exchange
        self._found: list[Sighting] = []
        self._payload = Payload(None, {}, "")
        self._items: list[_Item] = []
        self._latest: dict[Any, _Item] = {}
        """The last item that was added at each index."""
        self._seen = 0
        self._number: Any = None
        self._is_over = False

    def sightings(self) -> Iterator[Sighting]:
        """Every departure, in order of appearance."""
        for payload in self._payloads:
            self._payload = payload
            self._event(payload.value)
        yield from self._found

    def _note(self, fault: str, detail: str) -> None:
        self._found.append(Sighting(fault, detail, self._payload.text))

    def _event(self, event: dict[str, Any]) -> None:
        kind = event.get("type")
        if not isinstance(kind, str):
            kind = self._payload.name or ""
            if kind.startswith("response.") or "response" in event:
                self._note("type-missing", f"the event {kind or 'without a name'} has no type in its data")
        elif self._payload.name not in (None, kind):
            self._note("event-name", f"the name is {self._payload.name}, the type {kind}")
        if kind in ("error", "keepalive", "ping") or not kind:
            return
        self._numbered(event)
        if self._is_over:
            self._note("event-after-end", f"{kind} comes behind the end")
            return
        if not self._seen and kind != "response.created":
            self._note("created-missing", f"the first event is {kind}")
        self._seen += 1
        self._read(kind, event)

    def _read(self, kind: str, event: dict[str, Any]) -> None:
        family, _, action = kind.rpartition(".")
        if kind in _TERMINAL or kind in _BEGINNING:
            self._response(kind, event.get("response"))
        elif family == "response.output_item":
            self._item_event(event, action)
        elif family in _PARTS:
            self._part_event(event, _PARTS[family], action)
        elif family in _PART_OF:
            self._words(kind, event, _PART_OF[family], action)
        elif family in _ARGUMENTS:
            item = self._item_of(event, kind)
            item.arguments_open = action == "delta" and not item.is_done
            item.is_streamed = item.is_streamed or action == "delta"

    def _numbered(self, event: dict[str, Any]) -> None:
        number = event.get("sequence_number")
        if not isinstance(number, int):
            self._note("sequence-number-missing", f"the sequence number is {number!r}")
            return
        if self._number is not None and number <= self._number:
            self._note("sequence-number-order", f"{number} follows {self._number}")
        self._number = number

    # -- items and their parts ----------------------------------------------------------------------------------------

    def _item_event(self, event: dict[str, Any], action: str) -> None:
        raw = event.get("item")
        if not isinstance(raw, dict):
            return
        index = self._place(event, "output_index")
        if action == "added":
            if not raw.get("id"):
                self._note("item-id-missing", f"the item {raw.get('type')} has no id")
            if index is not None and index in self._latest:
                self._note("place-wrong", f"the output_index {index} was another item's")
            self._items.append(_Item(raw.get("id")))
            self._latest[index] = self._items[-1]
            return
        item = self._find(raw.get("id"), index)
        if item is None:
            self._note("item-not-announced", f"the item {raw.get('type')} is done, and was not added")
            item = _Item(raw.get("id"))
            self._items.append(item)
        elif not item.is_streamed and (words := _words_of(raw)):
            self._note("deltas-missing", f"no delta came of {words[:40]!r}")
        self._same_id(item, raw.get("id"))
        item.is_done = True

    def _place(self, event: dict[str, Any], index: str) -> Any:
        place = event.get(index)
        if not isinstance(place, int):
            self._note("place-missing", f"the {index} of {event.get('type')} is {place!r}")
        return place

    def _find(self, id: Any, index: Any) -> _Item | None:
        """The item of this id, or else the last one at this index."""
        known = [item for item in self._items if id and item.id == id]
        return known[-1] if known else self._latest.get(index)

    def _item_of(self, event: dict[str, Any], kind: str) -> _Item:
        index = self._place(event, "output_index")
        item = self._find(event.get("item_id"), index)
        if item is None:
            self._note("item-not-announced", f"{kind} for item {index}, which was not added")
            item = self._latest[index] = _Item(event.get("item_id"))
            self._items.append(item)
        self._same_id(item, event.get("item_id"))
        return item

    def _same_id(self, item: _Item, id: Any) -> None:
        if item.id and not id:
            self._note("item-id-missing", f"an event of the item {item.id} does not name it")
        elif item.id and id != item.id:
            self._note("item-id-changes", f"the item {item.id!r} is called {id!r}")

    def _part_event(self, event: dict[str, Any], index: str, action: str) -> None:
        item, number = self._item_of(event, "a part"), self._place(event, index)
        known = sum(kind == index for kind, _ in item.parts)
        if action == "added" and number not in (None, known):
            self._note("place-wrong", f"the {index} of part {known} of an item is {number}")
        if action == "done" and (index, number) not in item.parts:
            self._note("part-not-announced", f"{index} {number} is done, and was not added")
        item.parts[index, number] = action == "added"

    def _words(self, kind: str, event: dict[str, Any], index: str, action: str) -> None:
        item, number = self._item_of(event, kind), self._place(event, index)
        if action == "delta":
            item.is_streamed = True
            if (index, number) not in item.parts:
                self._note("part-not-announced", f"{kind} for {index} {number}, which was not added")
                item.parts[index, number] = True

    # -- the response -------------------------------------------------------------------------------------------------

    def _response(self, kind: str, response: Any) -> None:
        if not isinstance(response, dict):
            self._note("response-shape", f"{kind} has no response")
            response = {}
        elif missing := [
            name
            for name, holds in (
                ("object", response.get("object") == "response"),
                ("model", isinstance(response.get("model"), str)),
                ("created_at", isinstance(response.get("created_at"), int | float)),
                ("id", bool(response.get("id"))),
            )
            if not holds
        ]:
            self._note("response-shape", f"{kind} lacks {', '.join(missing)}")
        if kind in _TERMINAL:
            self._is_over = True
            if kind != "response.failed":
                self._last(response)

    def _last(self, response: dict[str, Any]) -> None:
        """What the last response shows, set against what was streamed."""
        usage = response.get("usage")
        if not isinstance(usage, dict):
            self._note("usage-missing", "the last response has no usage")
        elif not all(isinstance(usage.get(name), dict) for name in ("input_tokens_details", "output_tokens_details")):
            self._note("usage-details-missing", f"the members are {', '.join(usage)}")
        output = response.get("output")
        if not output and self._items:
            self._note("output-missing", f"{len(self._items)} items were streamed, and none is shown")
        elif isinstance(output, list):
            shown = [item.get("id") for item in output if isinstance(item, dict)]
            if len(shown) != len(self._items):
                self._note("output-differs", f"{len(self._items)} items were streamed, and {len(shown)} are shown")
            elif any(item.id and item.id != id for item, id in zip(self._items, shown, strict=True)):
                self._note("item-id-changes", f"the items are called {', '.join(map(str, shown))} in the end")
        for item in self._items:
            if not item.is_done and response.get("status") != "incomplete":
                self._note("item-not-closed", f"the item {item.id} is not done when the response is over")
            if item.arguments_open or any(item.parts.values()):
                self._note("part-not-closed", f"a part of the item {item.id} is not done when the response is over")


def _words_of(item: dict[str, Any]) -> str:
    """What an item says, for people or to a tool."""
    parts = [part for home in ("summary", "content") for part in item.get(home) or () if isinstance(part, dict)]
    words = [part.get("text") or part.get("refusal") for part in parts] + [item.get("arguments"), item.get("input")]
    return "".join(word for word in words if isinstance(word, str))
