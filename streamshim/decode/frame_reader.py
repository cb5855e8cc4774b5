"""Bytes to frames, and frames to the wire: most go straight into the part that is open, in one loop.

The wire's `straight` loop stops at the first payload that is more than that; `odd` reads any frame, one at a time, and
alone decides. Both must give the same events for the same frame.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import length_hint
from typing import Any

from ..framing.blocks import Blocks, names_error, read_block, read_event
from ..framing.sse import Frame, Framer, Notice
from ..json_codec import loads
from .parts import TooManyPartsError
from .payload import UNREAD
from .template import Templates

_CARRIAGE_RETURN = 0x0D  # as a number: so `in` does not go the long way of a buffer
Straight = Callable[[Iterator[Any]], Any]
"""Reads payloads as long as each only adds to an open part; gives the first that does not, or `UNREAD` at the end."""


class FrameReader:
    """Reads the bytes of one stream until it is `over`."""

    def __init__(
        self,
        max_frame_bytes: int,
        odd: Callable[[Frame, bytes | None, Any], None],
        too_many_parts: Callable[[], None],
        blocks: Blocks,
    ) -> None:
        """`odd` takes a frame, its `event:` line, and its payload or `UNREAD`; it may set `straight` and `over`."""
        self.framer = Framer(max_frame_bytes)
        self.straight: Straight | None = None
        self.templates: Templates | None = None
        """What knows frames by sight, if anything does."""
        self.over = False
        self.unused: list[bytes] = []
        """What stood behind the frame that ended the stream."""
        self._max = max_frame_bytes
        self._odd = odd
        self._too_many_parts = too_many_parts
        self._blocks = blocks
        self._is_orderly = True

    def read(self, data: bytes) -> None:
        """Some more bytes, cut anywhere."""
        if not self._is_orderly or _CARRIAGE_RETURN in data:
            data = self._read_disorderly(data)
        if not data:
            return
        if block := self._blocks.feed(data):
            if self.templates is None or self.templates.rests(block):
                self._read_block(block)
            else:
                self._read_templates(block, self.templates)
        if self._blocks.rest:
            if self.over:
                self.unused.append(self._blocks.take_rest())
            elif not (self._is_orderly and self._blocks.is_orderly):
                self._read_any(self._blocks.take_rest())

    def read_payload(self, payload: Any, event: str | None) -> bool:
        """What is parsed already, if it goes straight; tells whether it did."""
        if self.straight is None or event == "error":
            return False
        try:
            return self.straight(iter((payload,))) is UNREAD
        except TooManyPartsError:
            self._too_many_parts()
            return True

    def close(self) -> None:
        """The bytes are over."""
        self._read_any(self._blocks.take_rest())
        self._read_frames(self.framer.close())

    def _read_disorderly(self, data: bytes) -> bytes:
        """The framer reads up to a blank line; where nothing is held behind it, order is back: the bytes behind it."""
        data = self._blocks.take_rest() + data
        end = data.find(b"\n\n") + 2
        if end > 1 and _CARRIAGE_RETURN not in data:
            self._read_any(data[:end])
            data = data[end:]
            if self.over:
                self.unused.append(data)
                return b""
            if self._is_orderly:
                return data
        self._read_any(data)
        return b""

    def _read_templates(self, block: bytes, templates: Templates) -> None:
        """Whole events: those that are known by sight, and in between as many in full as it takes to know them."""
        position = 0
        while position < len(block):
            end = templates.next(block, position)
            frames = block[position:end]
            straight = self._read_block(frames)
            if self.over:
                self.unused.append(block[end:])
                break
            if not self._is_orderly:
                self._read_any(block[end:])
                break
            templates.learn(frames, straight)
            position = templates.take(block, end)

    def _read_block(self, data: bytes) -> bool:
        """Whole events. What the straight loop hands back is read with all care, then it goes on.

        Tells whether all went straight.
        """
        if self.straight is not None and len(data) <= self._max and (event := read_event(data)) is not None:
            self.framer.begin()
            return self._read_frame(event[1], event[0], self.straight)
        block = read_block(data) if len(data) <= self._max else None
        if block is None:
            self._read_any(data)
            return False
        all_straight = True
        self.framer.begin()
        left = iter(block.data)
        count = len(block.data)
        while ahead := length_hint(left):
            payload: Any = UNREAD
            if self.straight is None:
                next(left)
            else:
                try:
                    payload = self.straight(map(loads, left))
                except TooManyPartsError:
                    self._too_many_parts()
                    continue
                except ValueError:  # odd, and unread
                    ahead = length_hint(left) + 1
                else:
                    if payload is UNREAD:
                        break
                    ahead = length_hint(left) + 1
            index = count - ahead
            all_straight = False
            self._odd(block.data[index], block.event(index), payload)
            if self.over:
                self.unused.append(block.behind(index))
                break
        return all_straight

    def _read_any(self, data: bytes) -> None:
        """Bytes that may hold anything."""
        if self.templates is not None:
            self.templates.forget()
        self._read_frames(self.framer.feed(data))
        self._is_orderly = self.framer.is_between_events

    def _read_frames(self, frames: Iterator[Frame]) -> None:
        for frame in frames:
            event = self.framer.event
            if self.straight is not None and not isinstance(frame, Notice) and not (event and names_error(event)):
                self._read_frame(frame, event, self.straight)
            else:
                self._odd(frame, event, UNREAD)
            if self.over:
                self.unused.append(self.framer.unread())
                break

    def _read_frame(self, data: bytes, event: bytes | None, straight: Straight) -> bool:
        """A single frame; tells whether it went straight."""
        try:
            payload = straight(iter((loads(data),)))
        except TooManyPartsError:
            self._too_many_parts()
            return False
        except ValueError:
            payload = UNREAD
        else:
            if payload is UNREAD:
                return True
        self._odd(data, event, payload)
        return False
