"""Whole values that the wire repeats, set against what was streamed: only what is missing is told."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hashlib import blake2b


_MANY = 64
"""So many pieces are joined to be counted: whoever wants to know their length will mostly want their text."""


class Kept(list[str]):
    """The pieces of a text. Now and then they are joined: a text weighs less than its pieces, ten times and more."""

    __slots__ = ("_chunks", "_counted", "_joined", "_size")

    def __init__(self) -> None:
        """No pieces."""
        super().__init__()
        self._chunks = self._joined = self._counted = self._size = 0

    @property
    def size(self) -> int:
        """How many characters they have."""
        uncounted = len(self) - self._counted
        if uncounted > _MANY:
            self.compact()
        elif uncounted:
            self._size += sum(map(len, islice(self, self._counted, None)))
            self._counted = len(self)
        return self._size

    def compact(self) -> None:
        """Join the pieces that came since the last time."""
        if len(self) > self._chunks:
            chunk = "".join(self[self._chunks :])
            self[self._chunks :] = [chunk]
            self._joined += len(chunk)
            self._size = self._joined
            self._chunks = self._counted = len(self)

    def text(self) -> str:
        """All of them."""
        if not self:
            return ""
        if len(self) > 1:
            text = "".join(self)
            self[:] = [text]
            self._chunks = self._counted = 1
            self._joined = self._size = len(text)
        return self[0]

    def since(self, offset: int) -> str:
        """The characters behind an offset."""
        left = self.size - offset
        pieces: list[str] = []
        for piece in reversed(self):
            if left <= 0:
                break
            pieces.append(piece[-left:])
            left -= len(piece)
        return "".join(reversed(pieces))

    def equals(self, text: str) -> bool:
        """Whether the text is all that was streamed."""
        return self.text() == text


class Digest:
    """Stands where the pieces of a text would be kept: its length and hash are enough to know it again."""

    __slots__ = ("hash", "size")

    def __init__(self) -> None:
        """Nothing seen."""
        self.size = 0
        self.hash = _new_hash()

    def append(self, text: str) -> None:
        """More was streamed."""
        self.size += len(text)
        self.hash.update(_encoded(text))

    def text(self) -> None:
        """It was not kept."""

    def equals(self, text: str) -> bool:
        """Whether the text is all that was streamed."""
        return _new_hash(text).digest() == self.hash.digest()


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _new_hash(text: str = "") -> blake2b:
    from hashlib import blake2b  # OpenSSL takes longer to load than all of this package

    return blake2b(_encoded(text), digest_size=16)


Pieces = Kept | Digest


def size_of(streamed: Iterable[Pieces]) -> int:
    """How many characters were streamed."""
    return sum(pieces.size for pieces in streamed)


def missing(streamed: list[Pieces], snapshot: str) -> str | None:
    """What the snapshot has beyond the streamed text: "" if nothing, None if it tells something else."""
    size = size_of(streamed)
    return snapshot[size:] if equals(streamed, snapshot[:size]) else None


def is_suffix(streamed: list[Pieces], snapshot: str) -> bool:
    """Whether a resumed stream brought the end of what the snapshot shows whole."""
    size = size_of(streamed)
    return 0 < size <= len(snapshot) and equals(streamed, snapshot[len(snapshot) - size :])


def equals(streamed: list[Pieces], text: str) -> bool:
    """Whether the text is all that was streamed."""
    if len(text) != size_of(streamed):
        return False
    position = 0
    for pieces in streamed:
        if not pieces.equals(text[position : position + pieces.size]):
            return False
        position += pieces.size
    return True
