"""What is drawn where: events with times sorted into lanes, one for each thing that a stream does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from ..events import (
    Citation,
    ErrorReport,
    Event,
    MediaDelta,
    MediaEnd,
    MediaStart,
    ReasoningEnd,
    Repair,
    StreamEnd,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    ToolProgress,
)
from .details import describe, size_of
from .moments import Timeline

Kind = Literal[
    "wire", "reasoning", "text", "refusal", "tools", "media", "sources", "other", "errors", "repairs", "usage", "end"
]

KINDS: dict[Kind, str] = {
    "wire": "bytes",
    "reasoning": "reasoning",
    "text": "text",
    "refusal": "refusal",
    "tools": "tool calls",
    "media": "media",
    "sources": "sources",
    "other": "other",
    "errors": "errors",
    "repairs": "repairs",
    "usage": "usage",
    "end": "start and end",
}
"""The kinds of lanes, in the order in which they are drawn, and what they are called."""

MOST_LANES = 24
"""Of one kind, tool calls or repairs: what comes beyond shares the last one."""

_KINDS_OF: dict[str, Kind] = {
    "text": "text",
    "reasoning": "reasoning",
    "refusal": "refusal",
    "tool": "tools",
    "media": "media",
    "citation": "sources",
    "metadata": "other",
    "unknown": "other",
    "error": "errors",
    "repair": "repairs",
    "usage": "usage",
}


@dataclass(slots=True)
class Mark:
    """What happened at a moment: `size` in characters or bytes, 0 where it has none; `detail` says it to people."""

    at: float
    size: int
    detail: str
    is_bad: bool = False


@dataclass(slots=True)
class Lane:
    """One thing that the stream did.

    Attributes:
        kind: what the filters go by.
        label: its name.
        note: how much it was, or how it ended.
        spans: from when to when a part was open; None as long as it is.
        marks: in order.
        is_bad: whether it ended badly.
    """

    kind: Kind
    label: str
    note: str = ""
    spans: dict[int, tuple[float, float | None]] = field(default_factory=dict)
    marks: list[Mark] = field(default_factory=list)
    is_bad: bool = False


def lanes_of(timeline: Timeline) -> list[Lane]:
    """The lanes of a response that have anything in them, in the order in which they are drawn."""
    sorter = _Sorter()
    for read in timeline.reads if timeline.unit == "seconds" else ():
        sorter.lane("wire", "", "bytes").marks.append(Mark(read.at, read.size, f"a read of {read.size:,} bytes"))
    for moment in timeline.moments:
        sorter.add(moment.at, moment.event)
    order = list(KINDS)
    lanes = sorted(sorter.lanes.values(), key=lambda lane: order.index(lane.kind))
    for lane in lanes:
        lane.note = lane.note or _note(lane)
    return lanes


class _Sorter:
    """Puts each event into its lane, and opens lanes as they are needed."""

    def __init__(self) -> None:
        self.lanes: dict[tuple[Kind, object], Lane] = {}
        self._of_part: dict[int, Lane] = {}
        self._counts: dict[Kind, int] = {}

    def lane(self, kind: Kind, key: object, label: str) -> Lane:
        found = self.lanes.get((kind, key))
        if found is None:
            count = self._counts[kind] = self._counts.get(kind, 0) + 1
            if count > MOST_LANES:
                key, label = "rest", f"more {KINDS[kind]}"
            found = self.lanes.setdefault((kind, key), Lane(kind, label))
        return found

    def add(self, at: float, event: Event) -> None:
        if event.type == "raw_frame":
            return
        lane = self._lane_of(event)
        part = getattr(event, "part", None)
        if part is not None and event.type.endswith("_start"):
            self._of_part[part] = lane
            lane.spans[part] = (at, None)
        elif part in lane.spans and event.type.endswith("_end"):
            lane.spans[part] = (lane.spans[part][0], at)
        if isinstance(event, ToolCallEnd):
            lane.note = event.status
        if _says_something(event):
            lane.marks.append(Mark(at, size_of(event), describe(event), _is_bad(event)))
        lane.is_bad = lane.is_bad or _is_bad(event)

    def _lane_of(self, event: Event) -> Lane:
        match event:
            case ToolCallStart():
                return self.lane("tools", event.part, event.name or "(no name)")
            case ToolCallDelta() | ToolCallEnd() | ToolProgress() if event.part in self._of_part:
                return self._of_part[event.part]
            case Repair():
                return self.lane("repairs", event.quirk, event.quirk)
            case MediaStart() | MediaDelta() | MediaEnd() | Citation():
                kind = _KINDS_OF[event.type.partition("_")[0]]
                return self.lane(kind, "", KINDS[kind])
            case _:
                kind = _KINDS_OF.get(event.type.partition("_")[0], "end")
                choice = 0 if kind == "end" else getattr(event, "choice", 0)
                return self.lane(kind, choice, KINDS[kind] + (f" · choice {choice}" if choice else ""))


def _says_something(event: Event) -> bool:
    """Not what only opens or closes a part: that is seen by its span."""
    if isinstance(event, ReasoningEnd):
        return bool(event.encrypted)
    return event.type not in ("text_start", "text_end", "reasoning_start", "refusal_start", "refusal_end")


def _is_bad(event: Event) -> bool:
    match event:
        case ErrorReport():
            return True
        case ToolCallEnd() | StreamEnd():
            return event.status in ("truncated", "invalid", "failed")
        case _:
            return False


def _note(lane: Lane) -> str:
    """How much there was."""
    size = sum(mark.size for mark in lane.marks)
    count = len(lane.marks)
    notes: dict[str, Callable[[], str]] = {
        "wire": lambda: f"{size:,} in {_counted(count, 'read')}",
        "repairs": lambda: f"×{count:,}",
        "usage": lambda: "",
        "end": lambda: "",
        "media": lambda: _counted(size, "character"),
    }
    if lane.kind in notes:
        return notes[lane.kind]()
    if lane.kind in ("text", "reasoning", "refusal"):
        return f"{_counted(size, 'character')} in {_counted(count, 'delta')}"
    return _counted(count, "event") if count else ""


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}" + ("" if count == 1 else "s")
