"""The shape of a frame: literals around slots, and how the frames that have it are read, one or a block of them.

A shape does not prove anything: `template.py` does, before it makes one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Literal

from ..events import Event, TextDelta
from ..framing.blocks import LONGEST_BEGINNING
from ..json_codec import loads
from .parts import Part, new
from .stream_state import StreamState

LONGEST_KNOWN = 128 * 1024
"""Bytes of a frame: a reader who wants none so long is served by the parse alone."""
LONGEST_LITERALS, _LONGEST_SLOTS = 16 * 1024, 8 * 1024
"""Bytes around the slots, and of the slots of a frame that comes alone: together less than that."""

SlotKind = Literal["text", "string", "number"]
Rule = Literal["any", "no tag", "arguments"]
"""Which texts go straight: content without "<"; arguments that cannot stand behind a whole object."""
BEGIN_BEHIND_WHOLE = '{"'
"""What stands behind a whole argument object begins so: a second object, or the first one in quotes."""

_LINE_FEED, _CARRIAGE_RETURN = 0x0A, 0x0D
_PLAIN = bytes(set(range(0x20, 0x7F)) - set(b'"\\'))
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
_NONE_FITS: Known = ([], [], 0)


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
        """Reads the frames of a small piece, as long as they fit, into a list; the position behind them."""
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


def _texts(slots: list[bytes]) -> list[str]:
    """What the slots say; nothing, unless each of them is a JSON string.

    One that is not breaks the array: where a quote ends its string too early, or does not end it, what follows is read
    as if it stood outside of strings, where no backslash may be, and so no quote is ever put right again.
    """
    try:
        texts: list[str] = loads(b'["' + b'","'.join(slots) + b'"]')
    except ValueError:
        return []
    return texts if len(texts) == len(slots) else []


class OneSlot(Shape):
    """Frames that are literal but for their text."""

    __slots__ = ("_glue",)

    def __init__(self, literals: list[bytes], kinds: list[SlotKind], rule: Rule) -> None:
        """See `Shape`."""
        super().__init__(literals, kinds, rule)
        self._glue = self._last + self._first

    def read_one(self, part: Part, state: StreamState) -> ReadOne:
        """See `Shape`."""
        repairs, compact_at = state.repairs, state.compact_at
        keep, part_number, choice = part.pieces.append, part.number, part.choice
        delta_type, name, is_text = part.delta_type, part.delta_name, part.delta_type is TextDelta
        no_tag, no_bracket = self.rule == "no tag", self.rule == "arguments"
        first, last, fixed, longest = self._first, self._last, self.fixed, self.fixed + _LONGEST_SLOTS

        def read_one(frame: bytes) -> Event | None:
            nonlocal compact_at
            slot = frame.removeprefix(first).removesuffix(last)
            if not fixed + len(slot) == len(frame) <= longest:
                return None
            try:
                text = slot.decode()
                if not text.isprintable() or '"' in text or "\\" in text:
                    text = self._unusual(slot)
            except ValueError:
                return None
            if not text or (no_tag and "<" in text) or (no_bracket and text[0] in BEGIN_BEHIND_WHOLE):
                return None
            repairs.frame = read = repairs.frame + 1
            if read >= compact_at:
                state.compact()
                compact_at = state.compact_at
            keep(text)
            event = new(delta_type)
            event.delta = text
            event.part = part_number
            event.choice = choice
            event.type = name
            if is_text:
                event.logprobs = None
            return event  # type: ignore[no-any-return]

        return read_one

    def read_few(self, part: Part, state: StreamState) -> ReadFew:
        """See `Shape`."""
        repairs, first, last, tail = state.repairs, self._first, self._last, len(self._last)
        keep, make, number, choice = part.pieces.append, part.delta_type, part.number, part.choice
        no_tag, no_bracket = self.rule == "no tag", self.rule == "arguments"

        def read_few(data: bytes, out: list[Event]) -> int:
            position = 0
            frames = data.split(last)
            frames.pop()
            for frame in frames:
                slot = frame.removeprefix(first)
                size = len(frame)
                try:
                    text = slot.decode()
                    if not text.isprintable() or '"' in text or "\\" in text:
                        text = self._unusual(slot)
                except ValueError:
                    break
                if (
                    not text
                    or size == len(slot)
                    or (no_tag and "<" in text)
                    or (no_bracket and text[0] in BEGIN_BEHIND_WHOLE)
                ):
                    break
                keep(text)
                out.append(make(text, number, choice))
                repairs.frame += 1
                position += size + tail
            return position

        return read_few

    def read(self, block: bytes) -> Known:
        """See `Shape`."""
        pattern = self._pattern or self._pattern_for(block)
        if pattern is None:
            return _NONE_FITS
        slots: list[bytes] = pattern.findall(block)
        if not slots[-1]:  # the rest
            slots.pop()
        inside = self._glue.join(slots)
        if not (
            block.startswith(self._first)
            and block.startswith(inside, self._start)
            and block.startswith(self._last, self._start + len(inside))
        ):
            slots = slots[: self._fitting(block, slots)]
            inside = self._glue.join(slots)
        texts = _texts(slots) if slots else []
        return (texts, slots, len(inside) + self.fixed) if texts else _NONE_FITS

    def _fitting(self, block: bytes, slots: list[bytes]) -> int:
        """How many frames are what the block begins with."""
        position = 0
        for count, slot in enumerate(slots):
            frame = self._form % slot
            if not block.startswith(frame, position):
                return count
            position += len(frame)
        return len(slots)

    def cut(self, known: Known, count: int) -> Known:
        """See `Shape`."""
        slots = known[1][:count]
        return known[0][:count], slots, sum(map(len, slots)) + count * self.fixed


class ManySlots(Shape):
    """Frames that hold more that may be ignored: the slots of a block stand in one list, parted by empty bytes."""

    __slots__ = ("_number", "_stride", "_string")

    def __init__(self, literals: list[bytes], kinds: list[SlotKind], rule: Rule) -> None:
        """See `Shape`."""
        super().__init__(literals, kinds, rule)
        self._number = kinds.index("number") + 1 if self.numbered else 0
        self._string = kinds.index("string") + 1 if "string" in kinds else 0
        self._stride = len(literals)

    def read_one(self, part: Part, state: StreamState) -> ReadOne | None:
        """See `Shape`.

        It is there where at most a number stands before the text, and at most one slot behind it. A number counts on by
        one here; where it does not, `read_few` reads the frame.
        """
        before, behind = self._kinds[: self._text], self._kinds[self._text + 1 :]
        if before not in ((), ("number",)) or len(behind) > 1:
            return None
        repairs, compact_at = state.repairs, state.compact_at
        keep, part_number, choice = part.pieces.append, part.number, part.choice
        delta_type, name, is_text = part.delta_type, part.delta_name, part.delta_type is TextDelta
        no_tag, no_bracket = self.rule == "no tag", self.rule == "arguments"
        counts, first, last = bool(before), self._first, self._last
        counted = self._first.replace(b"%", b"%%") + b"%d" + self._literals[1].replace(b"%", b"%%")
        separator, behind_kind = (self._literals[-2], behind[0]) if behind else (b"", "text")
        has_behind, may_be_plain, is_behind = bool(behind), behind_kind == "string", IS_SLOT[behind_kind]
        longest = self.fixed + _LONGEST_SLOTS

        def read_one(frame: bytes) -> Event | None:
            nonlocal compact_at
            if counts:
                number = self.number
                if number is None:
                    return None
                number += 1
                prefix = counted % number
            else:
                number, prefix = 0, first
            line = frame.removeprefix(prefix)
            if has_behind:
                slot, _, rest = line.partition(separator)
                ignored = rest.removesuffix(last)
                if ignored == rest or not ((may_be_plain and ignored.isalnum()) or is_behind(ignored)):
                    return None
            else:
                slot, ignored = line.removesuffix(last), b""
                if slot == line:
                    return None
            if line == frame or len(frame) > longest:
                return None
            try:
                text = slot.decode()
                if not text.isprintable() or '"' in text or "\\" in text:
                    text = self._unusual(slot)
            except ValueError:
                return None
            if not text or (no_tag and "<" in text) or (no_bracket and text[0] in BEGIN_BEHIND_WHOLE):
                return None
            if counts:
                self.number = number
            elif not may_be_plain:
                self.number = int(ignored)
            repairs.frame = read = repairs.frame + 1
            if read >= compact_at:
                state.compact()
                compact_at = state.compact_at
            keep(text)
            event = new(delta_type)
            event.delta = text
            event.part = part_number
            event.choice = choice
            event.type = name
            if is_text:
                event.logprobs = None
            return event  # type: ignore[no-any-return]

        return read_one

    def read_few(self, part: Part, state: StreamState) -> ReadFew:
        """See `Shape`."""
        repairs, form = state.repairs, self._form
        fill = form.__mod__
        text_slot, number_slot, string_slot = self._text, self._number - 1, self._string - 1
        keep, make, number, choice = part.pieces.append, part.delta_type, part.number, part.choice
        no_tag, no_bracket, is_string = self.rule == "no tag", self.rule == "arguments", IS_SLOT["string"]

        def read_few(data: bytes, out: list[Event]) -> int:
            pattern = self._pattern or self._pattern_for(data)
            frames = pattern.findall(data) if pattern is not None else []
            if frames and not frames[-1][text_slot]:  # the rest
                frames.pop()
            whole = b"".join(map(fill, frames))
            if not frames or not data.startswith(whole):
                return 0
            count = 0
            for slots in frames:
                try:
                    text = slots[text_slot].decode()
                    if not text.isprintable() or '"' in text or "\\" in text:
                        text = self._unusual(slots[text_slot])
                except ValueError:
                    break
                if (
                    not text
                    or (no_tag and "<" in text)
                    or (no_bracket and text[0] in BEGIN_BEHIND_WHOLE)
                    or not (string_slot < 0 or slots[string_slot].isalnum() or is_string(slots[string_slot]))
                ):
                    break
                keep(text)
                out.append(make(text, number, choice))
                count += 1
            repairs.frame += count
            if count and number_slot >= 0:
                self.number = int(frames[count - 1][number_slot])
            return len(whole) if count == len(frames) else sum(map(len, map(fill, frames[:count])))

        return read_few

    def read(self, block: bytes) -> Known:
        """See `Shape`."""
        pattern = self._pattern or self._pattern_for(block)
        if pattern is None:
            return _NONE_FITS
        slots: list[Any] = pattern.split(block)
        stride = self._stride
        if slots[-2] is None:  # the rest
            del slots[-stride:]
        count = len(slots) // stride
        pieces = [b""] * (2 * len(slots) - 1)
        pieces[::2] = slots
        pieces[1::2] = self._literals * count
        whole = b"".join(pieces)
        size = len(whole)
        if not block.startswith(whole):
            count = self._fitting(block, slots)
            size = self._size(slots, count)
        if not count:
            return _NONE_FITS
        end = count * stride
        if self._string and b"".join(slots[self._string : end : stride]).translate(None, _PLAIN):
            return _NONE_FITS
        texts = _texts(slots[self._text + 1 : end : stride])
        return (texts, slots, size) if texts else _NONE_FITS

    def _fitting(self, block: bytes, slots: list[bytes]) -> int:
        """How many frames are what the block begins with."""
        position = 0
        for start in range(0, len(slots) - 1, self._stride):
            frame = self._form % tuple(slots[start + 1 : start + self._stride])
            if not block.startswith(frame, position):
                return start // self._stride
            position += len(frame)
        return len(slots) // self._stride

    def _size(self, slots: list[bytes], count: int) -> int:
        return sum(map(len, slots[: count * self._stride])) + count * self.fixed

    def cut(self, known: Known, count: int) -> Known:
        """See `Shape`."""
        texts, slots, _ = known
        return texts[:count], slots, self._size(slots, count)

    def keep_number(self, known: Known) -> None:
        """See `Shape`."""
        texts, slots, _ = known
        self.number = int(slots[(len(texts) - 1) * self._stride + self._number])
