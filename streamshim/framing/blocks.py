r"""Whole events at once: the orderly stretches of an event stream, which are nearly all of it.

What stands before the last blank line of a piece is a block of whole events. Where each of them is one `data:` line,
or one `event:` and one `data:` line, a split at LF cuts all of them; anything else goes to the `Framer`, which would
read the orderly ones just so.
"""

from __future__ import annotations

import re

LONGEST_BEGINNING = 4096
"""A longer unfinished event is the framer's, which keeps it as fragments; this one is joined again with every piece."""

_LINE_FEED = 0x0A
_BEGINNING = re.compile(
    rb"(?:event:[^\n]*\n)?(?:data:[^\n]*\n?|d|da|dat|data)?|event:[^\n]*|e|ev|eve|even|event"  # of an event
)


class Blocks:
    """Holds back the unfinished event at the end of each piece."""

    def __init__(self) -> None:
        """Nothing is held."""
        self.rest = b""
        """The beginning of the event that is still to come."""

    def feed(self, piece: bytes) -> bytes:
        """The whole events that the piece completes."""
        known = len(self.rest)
        if known:
            piece = self.rest + piece
            self.rest = b""
        if piece.endswith(b"\n\n"):
            return piece
        end = piece.rfind(b"\n\n", max(0, known - 1)) + 2
        if end < 2:
            self.rest = piece
            return b""
        self.rest = piece[end:]
        return piece[:end]

    def take_rest(self) -> bytes:
        """What is held, for another reader."""
        rest, self.rest = self.rest, b""
        return rest

    @property
    def is_orderly(self) -> bool:
        """Whether what is held can only become an event, and nothing could be told of it before its blank line."""
        return len(self.rest) <= LONGEST_BEGINNING and _BEGINNING.fullmatch(self.rest) is not None


def end_of_event(block: bytes, position: int) -> int:
    """Where the first event ends that ends behind a position; -1 if none does.

    Looks for single line feeds: long lines are passed ten times as fast as by a search for two.
    """
    line_end = block.find(b"\n", position)
    while line_end >= 0 and not block.startswith(b"\n", line_end + 1):
        line_end = block.find(b"\n", line_end + 1)
    return line_end + 2 if line_end >= 0 else -1


class Block:
    """Whole events of a single data line each; all of them have an `event:` line or none has."""

    __slots__ = ("_lines", "_period", "data")

    def __init__(self, data: list[bytes], lines: list[bytes], period: int) -> None:
        """`data`: what stands behind `data:`; `lines`: all lines; `period`: how many make an event."""
        self.data = data
        self._lines = lines
        self._period = period

    def event(self, index: int) -> bytes | None:
        """The `event:` line of an event."""
        return self._lines[index * 3] if self._period == 3 else None

    def behind(self, index: int) -> bytes:
        """The bytes behind an event."""
        return b"".join(line + b"\n" for line in self._lines[(index + 1) * self._period :])


def read_block(block: bytes) -> Block | None:
    """The events of a block, or None where something is odd; an event that is named "error" is."""
    lines = block.split(b"\n")
    lines.pop()
    period = 2 if b"" in lines[:2] else 3
    if len(lines) % period or any(lines[period - 1 :: period]):
        return None
    if period == 3 and not all(line.startswith(b"event:") and not names_error(line) for line in set(lines[::3])):
        return None
    data = [line[5:] for line in lines[period - 2 :: period] if line.startswith(b"data:")]
    return Block(data, lines, period) if len(data) * period == len(lines) else None


def read_event(block: bytes) -> tuple[bytes | None, bytes] | None:
    """The `event:` line and the data of a block that is a single event; None where it is more, or anything is odd."""
    end = len(block) - 2
    line_end = block.find(_LINE_FEED)
    if line_end == end:
        return (None, block[5:end]) if block.startswith(b"data:") else None
    start = line_end + 1
    if block.find(_LINE_FEED, start) != end or not (block.startswith(b"event:") and block.startswith(b"data:", start)):
        return None
    event = block[:line_end]
    return None if names_error(event) else (event, block[start + 5 : end])


def names_error(event: bytes) -> bool:
    """Whether an `event:` line says that an error follows, whatever the data looks like."""
    return event[6:].strip() == b"error"
