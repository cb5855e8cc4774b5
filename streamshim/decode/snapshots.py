"""Whole values that the wire repeats, set against what was streamed: only what is missing is told."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hashlib import blake2b


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

    def equals(self, text: str) -> bool:
        """Whether the text is all that was streamed."""
        return _new_hash(text).digest() == self.hash.digest()


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _new_hash(text: str = "") -> blake2b:
    from hashlib import blake2b  # OpenSSL takes longer to load than all of this package

    return blake2b(_encoded(text), digest_size=16)


Pieces = list[str] | Digest


def size_of(streamed: Iterable[Pieces]) -> int:
    """How many characters were streamed."""
    return sum(pieces.size if isinstance(pieces, Digest) else sum(map(len, pieces)) for pieces in streamed)


def missing(streamed: list[Pieces], snapshot: str) -> str | None:
    """What the snapshot has beyond the streamed text: "" if nothing, None if it tells something else."""
    size = size_of(streamed)
    if len(snapshot) >= size:
        return snapshot[size:] if equals(streamed, snapshot[:size]) else None
    text = _text(streamed)
    return None if text is None or not text.startswith(snapshot) else ""


def is_suffix(streamed: list[Pieces], snapshot: str) -> bool:
    """Whether a resumed stream brought the end of what the snapshot shows whole."""
    size = size_of(streamed)
    return 0 < size <= len(snapshot) and equals(streamed, snapshot[len(snapshot) - size :])


def _text(streamed: list[Pieces]) -> str | None:
    """The streamed text, where it was kept."""
    texts = ["".join(pieces) for pieces in streamed if not isinstance(pieces, Digest)]
    return "".join(texts) if len(texts) == len(streamed) else None


def equals(streamed: list[Pieces], text: str) -> bool:
    """Whether the text is all that was streamed."""
    position = 0
    for pieces in streamed:
        size = size_of([pieces])
        piece = text[position : position + size]
        if not (pieces.equals(piece) if isinstance(pieces, Digest) else "".join(pieces) == piece):
            return False
        position += size
    return position == len(text)
