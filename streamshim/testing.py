"""For tests of code that makes or reads event streams: the grammar as a checker, and ways to cut bytes.

`breaches(events)` says what is wrong with a stream; an empty list means that it obeys the grammar. `cuts(data)` gives
the same bytes in other pieces, which must not change a single event. `wire_breaches(frames)` says what is wrong with a
stream that was written for others to read.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from .events import (
    Event,
    Finish,
    MediaDelta,
    MediaEnd,
    MediaStart,
    RawFrame,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    RefusalDelta,
    RefusalEnd,
    RefusalStart,
    Repair,
    StreamEnd,
    StreamStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    UsageReport,
)
from .wire_order import wire_breaches

__all__ = ["GrammarChecker", "breaches", "cuts", "wire_breaches", "without_asides"]

Start = TextStart | ReasoningStart | RefusalStart | ToolCallStart | MediaStart
Delta = TextDelta | ReasoningDelta | RefusalDelta | ToolCallDelta | MediaDelta
End = TextEnd | ReasoningEnd | RefusalEnd | ToolCallEnd | MediaEnd
_PROSE = (TextStart, ReasoningStart, RefusalStart)


class GrammarChecker:
    """Watches a stream of events and notes every breach of the grammar."""

    def __init__(self) -> None:
        """Nothing seen."""
        self.breaches: list[str] = []
        self._count: Counter[str] = Counter()
        self._position = 0
        self._open: dict[int, Start] = {}
        self._deltas: dict[int, list[str]] = {}
        self._parts = 0
        self._finished: set[int] = set()
        self._usage_seen = False

    def feed(self, event: Event) -> None:
        """One more event."""
        self._count[event.type] += 1
        if self._count["stream_end"] and not isinstance(event, StreamEnd):
            self._breach(f"{event.type} follows stream_end")
        if self._position == 0 and not isinstance(event, StreamStart):
            self._breach(f"the first event is {event.type}, not stream_start")
        if isinstance(event, Start):
            self._start(event)
        elif isinstance(event, Delta):
            self._delta(event)
        elif isinstance(event, End):
            self._end(event)
        elif isinstance(event, Finish):
            self._finish(event)
        elif isinstance(event, UsageReport):
            self._usage_seen = True
        self._position += 1

    def close(self) -> list[str]:
        """The stream is over: all breaches."""
        for kind in ("stream_start", "stream_end"):
            if self._count[kind] != 1:
                self._breach(f"{kind} comes {self._count[kind]} times")
        if self._count["usage_report"] > 1:
            self._breach("usage_report comes more than once")
        for part in self._open:
            self._breach(f"part {part} is never ended")
        return self.breaches

    def _breach(self, what: str) -> None:
        self.breaches.append(f"event {self._position}: {what}")

    def _start(self, event: Start) -> None:
        if event.part != self._parts:
            self._breach(f"part {event.part} is not the next number, {self._parts}")
        if isinstance(event, _PROSE):
            for part, other in self._open.items():
                if isinstance(other, _PROSE) and other.choice == event.choice:
                    self._breach(f"{event.type} {event.part} overlaps {other.type} {part}")
        if event.choice in self._finished:
            self._breach(f"part {event.part} starts after the finish of choice {event.choice}")
        self._parts += 1
        self._open[event.part] = event
        self._deltas[event.part] = []

    def _delta(self, event: Delta) -> None:
        if event.part not in self._open:
            self._breach(f"{event.type} for part {event.part}, which is not open")
            return
        if isinstance(event, MediaDelta):
            self._deltas[event.part].append(event.data or "")
        elif event.delta:
            self._deltas[event.part].append(event.delta)
        else:
            self._breach(f"{event.type} of part {event.part} is empty")

    def _end(self, event: End) -> None:
        start = self._open.pop(event.part, None)
        if start is None:
            self._breach(f"{event.type} for part {event.part}, which is not open")
            return
        if start.type[:-6] != event.type[:-4]:
            self._breach(f"{start.type} is ended by {event.type}")
        joined = "".join(self._deltas.pop(event.part))
        if isinstance(event, ToolCallEnd):
            self._call_end(start, event, joined)
        elif isinstance(event, MediaEnd):
            if (event.data or "") != joined:
                self._breach(f"the data of media {event.part} is not its deltas")
        elif event.text is not None and event.text != joined:
            self._breach(f"the text of part {event.part} is not its deltas")

    def _call_end(self, start: Any, event: ToolCallEnd, joined: str) -> None:
        if (start.name, start.call_id) != (event.name, event.call_id):
            self._breach(f"start and end of call {event.part} differ in name or id")
        if event.arguments != joined and not (event.arguments == "{}" and not joined.strip()):
            self._breach(f"the arguments of call {event.part} are not its deltas")

    def _finish(self, event: Finish) -> None:
        if event.choice in self._finished:
            self._breach(f"choice {event.choice} finishes twice")
        if any(start.choice == event.choice for start in self._open.values()):
            self._breach(f"choice {event.choice} finishes while a part of it is open")
        if self._usage_seen:
            self._breach("a finish follows the usage report")
        self._finished.add(event.choice)


def breaches(events: Iterable[Event]) -> list[str]:
    """Every breach of the grammar in a whole stream; empty if there is none."""
    checker = GrammarChecker()
    for event in events:
        checker.feed(event)
    return checker.close()


def without_asides(events: Iterable[Event]) -> list[Event]:
    """The events without `Repair` and `RawFrame`, which only come on request."""
    return [event for event in events if not isinstance(event, Repair | RawFrame)]


def cuts(data: bytes, *, seed: int = 0, sizes: Sequence[int] = (3, 7, 64, 1000)) -> Iterator[list[bytes]]:
    """The same bytes whole, byte by byte (up to 20,000), and in random pieces of up to each of `sizes` bytes."""
    yield [data]
    if len(data) <= 20_000:
        yield [data[i : i + 1] for i in range(len(data))]
    pick = random.Random(seed)  # noqa: S311  (a test's choice of pieces is no secret)
    for size in sizes:
        pieces, position = [], 0
        while position < len(data):
            length = pick.randint(1, size)
            pieces.append(data[position : position + length])
            position += length
        yield pieces
