"""Frames of a shape that are literal but for their text."""

from __future__ import annotations

from ..events import Event, TextDelta
from .parts import Part, new
from .shapes import (
    BEGIN_BEHIND_WHOLE,
    LONGEST_SLOTS,
    NONE_FITS,
    Known,
    ReadFew,
    ReadOne,
    Rule,
    Shape,
    SlotKind,
    texts_in,
)
from .stream_state import StreamState


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
        first, last, fixed, longest = self._first, self._last, self.fixed, self.fixed + LONGEST_SLOTS

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
        keep, number, choice = part.pieces.append, part.number, part.choice
        delta_type, name, is_text = part.delta_type, part.delta_name, part.delta_type is TextDelta
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
                event = new(delta_type)
                event.delta = text
                event.part = number
                event.choice = choice
                event.type = name
                if is_text:
                    event.logprobs = None
                out.append(event)
                repairs.frame += 1
                position += size + tail
            return position

        return read_few

    def read(self, block: bytes) -> Known:
        """See `Shape`."""
        pattern = self._pattern or self._pattern_for(block)
        if pattern is None:
            return NONE_FITS
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
        texts = texts_in(slots) if slots else []
        return (texts, slots, len(inside) + self.fixed) if texts else NONE_FITS

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
