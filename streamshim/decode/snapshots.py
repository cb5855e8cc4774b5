"""Whole values that the wire repeats, set against what was streamed: only what is missing is told."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hashlib import blake2b


class Kept(list[str]):
    """The pieces of a text. How long they are and what they make is remembered as far as it was asked for."""

    __slots__ = ("_counted", "_joined", "_size", "_text")

    def __init__(self) -> None:
        """No pieces."""
        super().__init__()
        self._counted = self._joined = self._size = 0
        self._text = ""

    @property
    def size(self) -> int:
        """How many characters they have."""
        if self._counted < len(self):
            if self._counted:
                self._size += sum(map(len, islice(self, self._counted, None)))
            else:
                self._size = len(self.text())  # the first to ask wants to compare
            self._counted = len(self)
        return self._size

    def text(self) -> str:
        """All of them."""
        if self._joined < len(self):
            self._text = "".join(self)
            self._joined = len(self)
        return self._text

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

    def extend(self, texts: Iterable[str]) -> None:
        """More was streamed, in several pieces."""
        self.append("".join(texts))

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
    texts = [text for pieces in streamed if (text := pieces.text()) is not None]
    return "".join(texts) if len(texts) == len(streamed) else None


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
