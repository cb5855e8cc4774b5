"""The shape of a frame: literals around slots.

It does not prove anything: `template.py` does, before it makes one. How the frames that have it are read, one or a
block of them, is told in `one_slot.py` and `many_slots.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Literal

from ..events import Event
from ..framing.blocks import LONGEST_BEGINNING
from ..json_codec import loads
from .parts import Part
from .stream_state import StreamState

LONGEST_KNOWN = 128 * 1024
"""Bytes of a frame: a reader who wants none so long is served by the parse alone."""
LONGEST_LITERALS, LONGEST_SLOTS = 16 * 1024, 8 * 1024
"""Bytes around the slots, and of the slots of a frame that comes alone: together less than that."""

SlotKind = Literal["text", "string", "number"]
Rule = Literal["any", "no tag", "arguments"]
"""Which texts go straight: content without "<"; arguments that cannot stand behind a whole object."""
BEGIN_BEHIND_WHOLE = '{"'
"""What stands behind a whole argument object begins so: a second object, or the first one in quotes."""

_LINE_FEED, _CARRIAGE_RETURN = 0x0A, 0x0D
PLAIN = bytes(set(range(0x20, 0x7F)) - set(b'"\\'))
"""What stands for itself in a JSON string."""
IS_SLOT = {
    "text": re.compile(rb'(?!")[^"\\\x00-\x1f]*+(?:\\.[^"\\\x00-\x1f]*+)*+').fullmatch,
    "string": re.compile(rb"[ !#-\[\]-~]{0,1024}+").fullmatch,
    "number": re.compile(rb"[1-9][0-9]{0,15}+").fullmatch,
}
_CAPTURE: dict[SlotKind, bytes] = {
    "text": rb'([^"]++(?:"(?<=\\")(?:(?<=[^\\]\\")|(?<=[^\\]\\\\\\"))[^"]*+)*+)',
    "string": rb'([^"]*+)',
    "number": rb"([1-9][0-9]{0,15}+)",
}
"""Captures a slot of a frame that fits, as cheaply as can be: what it captured is looked at for all frames together.
A quote behind one backslash or three is part of a text, as in JSON inside of JSON; behind more, the frame does not fit.
"""
ReadOne = Callable[[bytes], Event | None]
ReadFew = Callable[[bytes, list[Event]], int]
Known = tuple[list[str], list[bytes], int]
"""The texts of the frames that fit, their slots, and how many bytes they are."""
NONE_FITS: Known = ([], [], 0)


@lru_cache(maxsize=256)
def _skeleton(lengths: tuple[int, ...], kinds: tuple[SlotKind, ...]) -> re.Pattern[bytes]:
    """Finds the slots of all frames of a block; where the shape ends, the rest is one match without slots."""
    pieces = [rb"(?s:.{%d}+)" % lengths[0]]
    for kind, length in zip(kinds, lengths[1:], strict=True):
        pieces += [_CAPTURE[kind], rb"(?s:.{%d}+)" % length]
    return re.compile(b"".join(pieces) + rb"|(?s:.++)")


class Shape:
    """What both kinds share: literals, and what their slots mean."""

    __slots__ = (
        *("_first", "_form", "_kinds", "_last", "_literals", "_pattern", "_start", "fixed", "number", "numbered"),
        *("_text", "rule"),
    )

    def __init__(self, literals: list[bytes], kinds: list[SlotKind], rule: Rule) -> None:
        """`literals` stand around the slots: one more than these. The last one ends with the blank line."""
        self.rule: Rule = rule
        self.number: int | None = None
        """The sequence number of the frame that was read last."""
        self.numbered = "number" in kinds
        self.fixed = sum(map(len, literals))
        """How many bytes of a frame are not in slots."""
        self._literals = literals
        self._first, self._last = literals[0], literals[-1]
        self._start = len(self._first)
        self._kinds = tuple(kinds)
        self._text = kinds.index("text")
        self._pattern: re.Pattern[bytes] | None = None
        self._form = b"%b".join(literal.replace(b"%", b"%%") for literal in literals)
        """A frame, once its slots are filled in."""

    def _pattern_for(self, block: bytes) -> re.Pattern[bytes] | None:
        """The skeleton, made when a second frame looks like the first; None until then."""
        if block.startswith(self._first):
            self._pattern = _skeleton(tuple(map(len, self._literals)), self._kinds)
        return self._pattern

    def may_become(self, rest: bytes) -> bool:
        """Whether the bytes can be held: no event ends in them, and they may be the beginning of one of this shape."""
        size = len(rest)
        if size <= self._start:
            return self._first.startswith(rest)
        line = rest.removeprefix(self._first).removesuffix(b"\n")
        return (
            size - len(line) >= self._start
            and size <= LONGEST_BEGINNING
            and _CARRIAGE_RETURN not in line
            and _LINE_FEED not in line
        )

    @staticmethod
    def _unusual(slot: bytes) -> str:
        """A text with escapes, or one that looks odd. Raises ValueError if it is not just one JSON string."""
        return loads(b'"' + slot + b'"')  # type: ignore[no-any-return]

    def read_one(self, part: Part, state: StreamState) -> ReadOne | None:
        """Reads a piece that is one frame: more of the part, or None if it does not fit.

        The delta is made as `Parts.deltas` does, without the calls: they would be a fifth of its time.
        """
        raise NotImplementedError

    def read_few(self, part: Part, state: StreamState) -> ReadFew:
        """Reads the frames of a small piece, as long as they fit, into a list; the position behind them.

        Its deltas are made as those of `read_one`.
        """
        raise NotImplementedError

    def read(self, block: bytes) -> Known:
        """The frames at the beginning of a block that fit."""
        raise NotImplementedError

    def cut(self, known: Known, count: int) -> Known:
        """The first `count` of the frames that fit."""
        raise NotImplementedError

    def keep_number(self, known: Known) -> None:
        """Remember the sequence number of the last frame, if they are `numbered`."""
        raise NotImplementedError


def texts_in(slots: list[bytes]) -> list[str]:
    """What the slots say; nothing, unless each of them is a JSON string.

    One that is not breaks the array: where a quote ends its string too early, or does not end it, what follows is read
    as if it stood outside of strings, where no backslash may be, and so no quote is ever put right again.
    """
    try:
        texts: list[str] = loads(b'["' + b'","'.join(slots) + b'"]')
    except ValueError:
        return []
    return texts if len(texts) == len(slots) else []
