"""A stream as it was read: its bytes, and in a sidecar where each read ended and when.

The sidecar of `out.sse` is `out.sse.json`, a JSON object:

    {"version": 1, "bytes": 9786, "scrubbed": true, "ended": "eof", "duration": 4.2107,
     "pieces": [[0, 0.8123], [97, 0.8341], …]}

`pieces` has for each read the offset of its first byte and the time when it came; times are seconds since the capture
began. `ended` is "eof", or "interrupted" where the one who captured stopped first, after `duration`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

from .json_codec import dumps, loads
from .scrubbing import scrub

VERSION = 1
"""Of the sidecar. A reader that does not know a version refuses it."""

_PRECISION = 6
"""Digits behind the point of a second: no read is told from the next one by less."""

Ended = Literal["eof", "interrupted"]


@dataclass(slots=True, frozen=True)
class TimedPiece:
    """What one read gave, and when: in seconds since the capture began, or None where nobody took the time."""

    data: bytes
    time: float | None


@dataclass(slots=True, frozen=True)
class Capture:
    """A stream as it was read.

    Attributes:
        pieces: one for each read, in order; a single one where there is no sidecar.
        duration: seconds until the end of the bytes; None where nobody took the time.
        ended: "eof", or "interrupted" where the bytes may have gone on.
        scrubbed: whether keys, personal values and ids were put out; None where it is not known.
    """

    pieces: list[TimedPiece] = field(default_factory=list)
    duration: float | None = None
    ended: Ended = "eof"
    scrubbed: bool | None = None

    @property
    def body(self) -> bytes:
        """All bytes."""
        return b"".join(piece.data for piece in self.pieces)

    @property
    def is_timed(self) -> bool:
        """Whether it is known when each piece came."""
        return self.duration is not None

    def scrub(self) -> Capture:
        """The same reads, with keys, personal values and ids put out; see `streamshim.scrubbing`."""
        body, at, pieces = scrub(self.body), 0, []
        for piece in self.pieces:
            pieces.append(TimedPiece(body[at : at + len(piece.data)], piece.time))
            at += len(piece.data)
        return Capture(pieces, self.duration, self.ended, scrubbed=True)

    def sidecar(self) -> str:
        """The JSON text that stands beside the bytes.

        Raises:
            ValueError: nobody took the time.
        """
        if self.duration is None:
            raise ValueError("a capture without times has no sidecar")
        at, pieces = 0, []
        for piece in self.pieces:
            pieces.append([at, piece.time])
            at += len(piece.data)
        facts = {"bytes": at, "scrubbed": bool(self.scrubbed), "ended": self.ended, "duration": self.duration}
        return dumps({"version": VERSION, **facts, "pieces": pieces}) + "\n"


class Recorder:
    """Notes what each read gave, and when. Does no I/O."""

    def __init__(self, clock: Callable[[], float] = perf_counter) -> None:
        """The capture begins now, by `clock`, which counts seconds."""
        self._clock = clock
        self._start = clock()
        self._pieces: list[TimedPiece] = []

    def feed(self, data: bytes) -> None:
        """A read gave this, now; an empty one is no read."""
        if data:
            self._pieces.append(TimedPiece(bytes(data), self._elapsed()))

    def close(self, ended: Ended = "eof") -> Capture:
        """The bytes are over, now, or nobody reads on; what was captured, as it came."""
        return Capture(self._pieces, self._elapsed(), ended, scrubbed=False)

    def _elapsed(self) -> float:
        return round(self._clock() - self._start, _PRECISION)


def sidecar_path(path: Path) -> Path:
    """Where the sidecar of a recorded stream lies: beside it, with `.json` behind its name."""
    return path.with_name(path.name + ".json")


def write_capture(capture: Capture, path: str | Path) -> None:
    """Writes the bytes to `path` and the sidecar beside it.

    Raises:
        OSError: a file cannot be written.
        ValueError: nobody took the time.
    """
    path = Path(path)
    sidecar = capture.sidecar()
    path.write_bytes(capture.body)
    sidecar_path(path).write_text(sidecar, encoding="utf-8")


def read_capture(path: str | Path) -> Capture:
    """A recorded stream with its reads and times; all in one piece without a time where there is no sidecar.

    Raises:
        OSError: a file cannot be read.
        ValueError: the sidecar is none, is of another version, or belongs to other bytes.
    """
    path = Path(path)
    body = path.read_bytes()
    sidecar = sidecar_path(path)
    if not sidecar.is_file():
        return Capture([TimedPiece(body, None)] if body else [])
    try:
        return _paired(body, loads(sidecar.read_bytes()))
    except ValueError as error:
        raise ValueError(f"{sidecar.name} is no sidecar of {path.name}: {error}") from None


def _paired(body: bytes, facts: Any) -> Capture:
    """The bytes, cut and timed as the sidecar says.

    Raises:
        ValueError: it says something else.
    """
    if not isinstance(facts, dict) or "version" not in facts:
        raise ValueError("it is no JSON object with a version")
    if facts["version"] != VERSION:
        raise ValueError(f"it is of version {facts['version']!r}, and this reader knows version {VERSION}")
    if facts.get("bytes") != len(body):
        raise ValueError(f"it was written for {facts.get('bytes')} bytes, and there are {len(body)}")
    duration: Any = facts.get("duration")
    pieces: Any = facts.get("pieces")
    ended = facts.get("ended")
    if not _is_time(duration) or ended not in ("eof", "interrupted") or not _are_pieces(pieces, len(body)):
        raise ValueError("its pieces are no list of [offset, seconds] in order, or its duration or ending is missing")
    ends = [*(offset for offset, _ in pieces[1:]), len(body)] if pieces else []
    timed = [TimedPiece(body[offset:end], float(time)) for (offset, time), end in zip(pieces, ends, strict=True)]
    return Capture(timed, float(duration), ended, facts.get("scrubbed") is True)


def _is_time(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0


def _are_pieces(pieces: Any, size: int) -> bool:
    if not isinstance(pieces, list) or bool(pieces) != bool(size):
        return False
    if not all(isinstance(piece, list) and len(piece) == 2 for piece in pieces):
        return False
    if not all(isinstance(offset, int) and _is_time(time) for offset, time in pieces):
        return False
    in_order = all(one[0] < next[0] and one[1] <= next[1] for one, next in pairwise(pieces))
    return in_order and (not pieces or (pieces[0][0] == 0 and pieces[-1][0] < size))
