"""Sets the vendor's blocks against frames of our own, and decides which of the two go out."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from .blocks import Block
from .standard import Standard, Written, payload_of
from .statements import Saying, Statement

_MAX_WAITING = 64
_MAX_WAITING_BYTES = 256 * 1024
"""Blocks that say what no event confirms are given up some time."""
_MAX_REPLACED = 16
_LONGEST_MATCH = 12
"""So many frames of our own are looked through for those that the vendor's stand for."""


@dataclass(slots=True)
class _Waiting:
    """A block that was not handed on yet, and its number in the stream."""

    block: Block
    number: int


class Matcher:
    """Holds back what is not certain yet, of both sides, and gives out what is.

    Attributes:
        out: the bytes that can be handed on.
        rewritten: how many blocks were not handed on as they came.
    """

    def __init__(self, standard: Standard) -> None:
        """Nothing came yet."""
        self.out: list[bytes] = []
        self.rewritten = 0
        self._standard = standard
        self._frames: list[Written] = []
        self._waiting: list[_Waiting] = []
        self._tail: list[_Waiting] = []
        """Blocks that say what is certain only at the end."""
        self._replaced: deque[Block] = deque(maxlen=_MAX_REPLACED)
        """Blocks that were not handed on, and that no frame of ours replaced yet."""
        self._count = 0
        self._waited_with = 0
        """How many frames of our own were there when blocks had to wait."""
        self._is_patient = True

    @property
    def is_empty(self) -> bool:
        """Whether nothing is held back but for the end."""
        return not self._waiting and not self._frames

    # -- in -----------------------------------------------------------------------------------------------------------

    def add_frames(self, frames: Iterable[bytes], origin: Block | None) -> None:
        """Frames of our own that tell what `origin` said."""
        for frame in frames:
            payload = payload_of(frame)
            self._frames.append(Written(payload, self._standard.statements(payload), origin))

    def add(self, block: Block) -> None:
        """A block, which was read. One that says nothing goes behind the one before it."""
        self._count += 1
        waiting = _Waiting(block, self._count)
        statements = block.statements
        if statements is None and not self._frames:
            self._replaced.append(block)
            self.rewritten += bool(block.raw)
        elif statements and all(self._standard.waits_for_the_end(key) for key, _ in statements):
            self._tail.append(waiting)
        elif not statements and statements is not None and self._tail and not self._waiting:
            (self._tail if len(self._tail) < _MAX_WAITING else self._waiting).append(waiting)
        else:
            self._waiting.append(waiting)

    # -- out ----------------------------------------------------------------------------------------------------------

    def hand_on(self, block: Block) -> None:
        """A block goes out."""
        data = block.raw if block.is_comment else self._standard.hand_on(block)
        self.rewritten += data is not block.raw
        self.out.append(data)

    def settle(self, *, is_final: bool) -> None:
        """Give out what is certain; if it is final, all."""
        if is_final:
            self._bring_in_the_tail()
        if not self._waiting and not self._frames:
            return
        if self._match() or (not is_final and self._may_wait()):
            return
        self._align()

    def _bring_in_the_tail(self) -> None:
        """All blocks that wait in the order in which they came, but for those that must not come before others."""
        waiting = sorted((*self._waiting, *self._tail), key=lambda each: each.number)
        ranks: list[int] = []
        for each in waiting:
            before = ranks[-1] if ranks else 0
            ranks.append(self._standard.rank(each.block.statements) if each.block.statements else before)
        order = sorted(range(len(waiting)), key=ranks.__getitem__)
        self._waiting = [waiting[place] for place in order]
        self._tail.clear()

    def _match(self) -> bool:
        """Hand on all blocks that wait, if they say what the frames say, or a part of them."""
        blocks, frames = [each.block for each in self._waiting], self._frames
        if any(block.statements is None for block in blocks):
            return False
        run = self._run_for(blocks, 0)
        if run is None:
            return False
        spoken = next((number for number, block in enumerate(blocks) if block.statements), len(blocks))
        for block in blocks[:spoken]:
            self.hand_on(block)
        self._show(frames[: run[0]])
        for block in blocks[spoken:]:
            self.hand_on(block)
        self._show(frames[run[1] :])
        frames.clear()
        self._waiting.clear()
        self._replaced.clear()
        self._waited_with = 0
        return True

    def _align(self) -> None:
        """Our own frames go out, each block that says what some of them say in the place of these."""
        frames, position = self._frames, 0
        replaced = list(self._replaced)
        for each in self._waiting:
            block = each.block
            run = self._run_for([block], position) if block.statements else None
            if block.is_comment:
                self.hand_on(block)
            elif run is None:
                replaced.append(block)
                self.rewritten += bool(block.raw)
            else:
                self.out += self._standard.write(frames[position : run[0]], replaced)
                self.hand_on(block)
                position = run[1]
                replaced.clear()
        self.out += self._standard.write(frames[position:], replaced)
        if position < len(frames):
            replaced.clear()
        self._replaced = deque(replaced, _MAX_REPLACED)
        frames.clear()
        self._waiting.clear()

    def _show(self, frames: list[Written]) -> None:
        """Frames of ours that no block stands for."""
        self.out += self._standard.write([frame for frame in frames if not self._standard.is_optional(frame)], ())

    # -- what says what -----------------------------------------------------------------------------------------------

    def _run_for(self, blocks: list[Block], first: int) -> tuple[int, int] | None:
        """Which frames in a row, from the first on, the blocks can stand for: those that say the same."""
        frames = self._frames
        said = Saying(_said_by(blocks), in_order=self._standard.in_order)
        if not said:
            return (first, first) if all(map(self._standard.is_optional, frames[first:])) else None
        for start in range(first, min(len(frames), first + _LONGEST_MATCH)):
            for stop in range(min(len(frames), start + _LONGEST_MATCH), start, -1):
                if said == self._sum(frames[start:stop]) and self._say_no_more(blocks, start, stop):
                    return start, stop
        return None

    def _say_no_more(self, blocks: list[Block], start: int, stop: int) -> bool:
        """Whether no frame around a run tells what these blocks say somewhere else than the standard has it."""
        return all(
            self._standard.may_stand_beside(frame) or not any(frame.origin is block for block in blocks)
            for frame in (*self._frames[:start], *self._frames[stop:])
        )

    def _may_wait(self) -> bool:
        """Whether what the blocks say beyond the frames may still be confirmed."""
        blocks = [each.block for each in self._waiting]
        frames = [frame for frame in self._frames if not self._standard.is_optional(frame)]
        if any(block.statements is None for block in blocks) or len(blocks) > _MAX_WAITING:
            return False
        if sum(len(block.raw) for block in blocks) > _MAX_WAITING_BYTES:
            return False
        said, so_far = Saying(_said_by(blocks), in_order=self._standard.in_order), self._sum(frames)
        unsaid = said.subjects - so_far.subjects
        if not so_far.may_become(said) or not all(map(self._standard.may_still_come, unsaid)):
            return False
        return self._has_patience(len(frames))

    def _has_patience(self, frames: int) -> bool:
        """What is certain already waits once for one more block; a vendor that makes it wait twice always would."""
        if frames and (not self._is_patient or 0 < self._waited_with < frames):
            self._is_patient = False
            return False
        self._waited_with = frames
        return True

    def _sum(self, frames: list[Written]) -> Saying:
        statements = (statement for frame in frames for statement in frame.statements)
        return Saying(statements, in_order=self._standard.in_order)


def _said_by(blocks: list[Block]) -> list[Statement]:
    return [statement for block in blocks for statement in block.statements or ()]
