"""Frames of a shape that hold, beside their text, what may be ignored: a sequence number, padding."""

from __future__ import annotations

from typing import Any

from ..events import Event, TextDelta
from .parts import Part, new
from .shapes import (
    BEGIN_BEHIND_WHOLE,
    IS_SLOT,
    LONGEST_SLOTS,
    NONE_FITS,
    PLAIN,
    Known,
    ReadFew,
    ReadOne,
    Rule,
    Shape,
    SlotKind,
    texts_in,
)
from .stream_state import StreamState


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
        longest = self.fixed + LONGEST_SLOTS

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
        keep, number, choice = part.pieces.append, part.number, part.choice
        delta_type, name, is_text = part.delta_type, part.delta_name, part.delta_type is TextDelta
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
                event = new(delta_type)
                event.delta = text
                event.part = number
                event.choice = choice
                event.type = name
                if is_text:
                    event.logprobs = None
                out.append(event)
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
            return NONE_FITS
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
            return NONE_FITS
        end = count * stride
        if self._string and b"".join(slots[self._string : end : stride]).translate(None, PLAIN):
            return NONE_FITS
        texts = texts_in(slots[self._text + 1 : end : stride])
        return (texts, slots, size) if texts else NONE_FITS

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
