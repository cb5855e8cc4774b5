"""What the relay must know of a wire: when a frame conforms, what it says, and how frames of our own are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ..events import Event
from ..json_codec import loads
from .blocks import Block
from .statements import Key, Statement


@dataclass(slots=True)
class Written:
    """A frame of our own.

    Attributes:
        payload: a JSON object or "[DONE]".
        statements: what it says.
        origin: the block of the vendor's whose events it tells; None where no single block has them.
    """

    payload: Any
    statements: Sequence[Statement]
    origin: Block | None


class Standard:
    """One wire as its strict readers take it, for one stream."""

    in_order: ClassVar[bool]
    """Whether the order of statements counts."""
    ends_at_done: ClassVar[bool]
    """Whether `[DONE]` ends a stream."""
    ends_at_error: ClassVar[bool]
    """Whether an error ends a stream; else the response fails after it."""
    unsaid: ClassVar[frozenset[str]]
    """How a stream may end that nothing is written of: the reader must be told in another way."""

    # -- what the vendor says -----------------------------------------------------------------------------------------

    def read(self, block: Block) -> list[Statement] | None:
        """What a block of the vendor's says; None if it does not conform."""
        raise NotImplementedError

    def announced_by(self, block: Block) -> list[bytes]:
        """What can be written at once, since no later frame can change what the block announces."""
        raise NotImplementedError

    def hand_on(self, block: Block) -> bytes:
        """The bytes of a conforming block."""
        raise NotImplementedError

    # -- what we say --------------------------------------------------------------------------------------------------

    def tell(self, event: Event) -> list[bytes]:
        """Frames of our own for an event."""
        raise NotImplementedError

    def statements(self, payload: Any) -> list[Statement]:
        """What a frame of our own says."""
        raise NotImplementedError

    def told_by(self, event: Event) -> list[Statement] | None:
        """What the frame of one more delta of prose says; None for any other event."""
        raise NotImplementedError

    def skip(self, event: Event) -> None:
        """Take note of a delta that the vendor's own frame says."""

    def write(self, frames: Sequence[Written], replaced: Sequence[Block]) -> list[bytes]:
        """The bytes of frames of our own, with what the blocks that they replace hold beside the standard."""
        raise NotImplementedError

    # -- what may be done ---------------------------------------------------------------------------------------------

    def waits_for_the_end(self, key: Key) -> bool:  # noqa: ARG002
        """Whether something is certain only when the stream is over."""
        return False

    def may_still_come(self, key: Key) -> bool:  # noqa: ARG002
        """Whether a later event may bring what a block says."""
        return True

    def is_optional(self, written: Written) -> bool:  # noqa: ARG002
        """Whether a frame of our own can be left out where the vendor's own frames conform."""
        return False

    def may_stand_beside(self, written: Written) -> bool:  # noqa: ARG002
        """Whether a frame of our own adds nothing to the content of a block that it stands beside."""
        return True

    def rank(self, statements: Sequence[Statement]) -> int:  # noqa: ARG002
        """The place of a block among those that wait for the end: a lower one comes first."""
        return 0


def payload_of(frame: bytes) -> Any:
    """The payload of a frame of our own."""
    data = frame[frame.index(b"data: ") + 6 : -2]
    return "[DONE]" if data == b"[DONE]" else loads(data)
