"""What a subject is fed, and what it has to say of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Literal, TypeAlias

Api: TypeAlias = Literal["chat", "responses", "arguments"]
"""What the pieces hold: one of the two wires, or the JSON text of a tool call's arguments."""

_SHOWN_CHARACTERS = 20


@dataclass(frozen=True, slots=True)
class Said:
    """What a stream says, each kind of delta joined."""

    text: str = ""
    reasoning: str = ""
    arguments: str = ""

    def without(self, kinds: Sequence[str]) -> Said:
        """The same but for some kinds, which stay empty."""
        return Said(**{name: "" if name in kinds else getattr(self, name) for name in self.__slots__})

    def difference(self, expected: Said) -> str | None:
        """In words, where this first departs from what was expected; None if it does not."""
        for field in fields(self):
            found, right = getattr(self, field.name), getattr(expected, field.name)
            if found != right:
                place = _common(found, right)
                shown, meant = (text[place : place + _SHOWN_CHARACTERS] for text in (found, right))
                sizes = f"{len(found):,} characters instead of {len(right):,}"
                return f"wrong {field.name}: {sizes}, from {place:,} on {shown!r} instead of {meant!r}"
        return None


@dataclass(frozen=True, slots=True)
class Load:
    """What is fed in one run.

    Attributes:
        api: what the pieces hold.
        pieces: of one stream, in order: bytes, or text for "arguments".
        said: by one stream.
        deltas: in one stream.
        streams: how many streams alike are read in a run.
        interleaved: all streams are open at once and take turns, piece by piece; else one is read after the other.
    """

    api: Api
    pieces: Sequence[bytes] | Sequence[str]
    said: Said
    deltas: int
    streams: int = 1
    interleaved: bool = False

    @property
    def size(self) -> int:
        """Of one stream: bytes, or characters."""
        return sum(map(len, self.pieces))

    def joined(self) -> bytes:
        """The bytes of one stream."""
        return b"".join(piece.encode() if isinstance(piece, str) else piece for piece in self.pieces)


def _common(first: str, second: str) -> int:
    """How many characters two texts have in common from their beginning."""
    pairs = zip(first, second, strict=False)
    return next((place for place, (one, other) in enumerate(pairs) if one != other), min(len(first), len(second)))
