"""Events with the moment when each could be known: what a picture is drawn from."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, Unpack

from ..capture import Capture, TimedPiece
from ..consecutive import iter_responses
from ..events import Event, StreamEnd

if TYPE_CHECKING:
    from ..event_stream import DecoderOptions

Unit = Literal["seconds", "bytes"]

_EVENT_END = re.compile(rb"(?:\r\n|\r(?!\n)|\n){2,}")

_SILENCE_SHARE = 0.04
_SILENCE_RATIO = 3.0
"""A silence is worth telling from so much of the whole on, if it is so many times as long as the usual pause."""


@dataclass(slots=True, frozen=True)
class Moment:
    """An event, and when the bytes had come that made it: seconds, or bytes where nobody took the time."""

    at: float
    event: Event


@dataclass(slots=True, frozen=True)
class Read:
    """When a read gave bytes, and how many."""

    at: float
    size: int


@dataclass(slots=True)
class Timeline:
    """One response over time.

    Attributes:
        moments: its events, in order.
        reads: what the network gave; empty where that is not known.
        start: where the time begins; 0 is the start of the capture.
        end: where it is over.
        unit: what is counted: seconds, or bytes where nobody took the time.
    """

    moments: list[Moment]
    reads: list[Read] = field(default_factory=list)
    start: float = 0.0
    end: float = 0.0
    unit: Unit = "seconds"

    @property
    def stream_end(self) -> StreamEnd | None:
        """How the stream ended; None while it runs."""
        last = self.moments[-1].event if self.moments else None
        return last if isinstance(last, StreamEnd) else None

    @property
    def extent(self) -> float:
        """From the start to the end, and never nothing."""
        return max(self.end - self.start, 1e-6)

    def share(self, at: float) -> float:
        """Where a moment lies: 0 is the start, 1 the end."""
        return min(max((at - self.start) / self.extent, 0.0), 1.0)

    def first(self, *types: str) -> float | None:
        """How long it took until an event of one of these types came."""
        return next((moment.at - self.start for moment in self.moments if moment.event.type in types), None)

    def silences(self) -> list[tuple[float, float]]:
        """From when to when nothing came for remarkably long, in order; none where nobody took the time."""
        if self.unit != "seconds":
            return []
        came = [self.start, *([read.at for read in self.reads] or [moment.at for moment in self.moments]), self.end]
        pauses = [(one, next) for one, next in pairwise(came) if next > one]
        usual = sorted(next - one for one, next in pauses)[len(pauses) // 2] if len(pauses) > 2 else 0.0
        least = max(self.extent * _SILENCE_SHARE, usual * _SILENCE_RATIO)
        return [(one, next) for one, next in pauses if next - one >= least]


def read_timelines(capture: Capture, **options: Unpack[DecoderOptions]) -> list[Timeline]:
    """The responses in a capture, one after another, each event with the moment when its last byte had come.

    Without times the bytes themselves are the measure, an event of the event stream at a time.
    """
    return list(_timelines(capture, {**options, "repairs": True, "raw": False}))


def _timelines(capture: Capture, options: DecoderOptions) -> Iterator[Timeline]:
    unit: Unit = "seconds" if capture.is_timed else "bytes"
    clock = _Replay(capture)
    start = 0.0
    for events in iter_responses(clock.pieces(), errors="event", **options):
        moments = [Moment(clock.now, event) for event in events]
        yield Timeline(moments, clock.take_reads(), start, clock.now, unit)
        start = clock.now


class _Replay:
    """Gives the pieces of a capture to whoever asks, and knows which moment it is then."""

    def __init__(self, capture: Capture) -> None:
        self.now = 0.0
        self._capture = capture
        self._reads: list[Read] = []

    def pieces(self) -> Generator[bytes, None, None]:
        for piece in self._timed():
            self.now = piece.time or 0.0
            self._reads.append(Read(self.now, len(piece.data)))
            yield piece.data
        self.now = max(self.now, self._capture.duration or 0.0)

    def take_reads(self) -> list[Read]:
        reads, self._reads = self._reads, []
        return reads

    def _timed(self) -> list[TimedPiece]:
        if self._capture.is_timed:
            return self._capture.pieces
        body = self._capture.body
        ends = [match.end() for match in _EVENT_END.finditer(body) if match.end() < len(body)]
        return [TimedPiece(body[one:next], float(next)) for one, next in pairwise([0, *ends, len(body)]) if next > one]
