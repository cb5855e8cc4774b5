r"""A body cut into blocks: what stands between two blank lines, byte for byte, and what a strict reader finds in it.

The decoder finds its own frames. Blocks are what is handed on unchanged, so they are cut as strict readers of event
streams cut: where LF, CRLF or CR come twice in a row, and nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..json_codec import depth_of, loads
from .statements import Statement

_BLANK_LINE = re.compile(rb"(?:\r\n|\n|\r(?!\n))(?:\r\n|\n|\r(?!\n))")
_LINE_END = re.compile(rb"\r\n|\n|\r")
_BOM = b"\xef\xbb\xbf"
_MAX_DEPTH = 64
"""Deeper than anybody means it; readers that recurse for each level give up at some hundred."""
_MANY_DIGITS = re.compile(rb"\d{4000}")
"""Longer integers are refused by Python's own json module."""


@dataclass(slots=True)
class Block:
    """One block of a body.

    Attributes:
        raw: all its bytes, the blank line included.
        payload: the JSON object in it, "[DONE]", or None: nothing that a strict reader can read.
        event: the name in its `event:` line.
        data: the bytes of the payload.
        is_comment: whether it holds nothing but comments and blank lines.
        has_id: whether it has an `id:` line: then some readers take the next blank line for an event.
        statements: what it says, once it `was_read`; None: it does not conform.
    """

    raw: bytes
    payload: Any = None
    event: str | None = None
    data: bytes = b""
    is_comment: bool = False
    has_id: bool = False
    statements: list[Statement] | None = None
    was_read: bool = False


class BlockCutter:
    """Cuts bytes that come in any pieces."""

    def __init__(self, max_bytes: int) -> None:
        """`max_bytes`: a longer block is not kept, and nobody can read it."""
        self._max = max_bytes
        self._kept: list[bytes] = []
        self._size = 0
        self._seam = b""
        """The last bytes of the block so far: a blank line may have begun in them."""
        self._has_begun = False

    def cut(self, piece: bytes) -> Iterator[tuple[bytes, Block | None]]:
        """The piece in portions, each with the block that it ends, if it ends one."""
        start, seam = 0, self._seam
        for end in _ends_of_blocks(seam + piece):
            end -= len(seam)
            self._keep(portion := piece[start:end])
            yield portion, self._take()
            start = end
        if rest := piece[start:]:
            self._keep(rest)
            self._seam = (rest if start else seam + rest)[-3:]
            yield rest, None
        else:
            self._seam = b""

    def rest(self) -> Block | None:
        """What no blank line ended, as if one did."""
        if not self._kept:
            return None
        self._keep(b"\n" if self._kept[-1].endswith((b"\n", b"\r")) else b"\n\n")
        return self._take()

    def forget(self) -> None:
        """The block that has begun is not wanted."""
        self._size = self._max + 1
        self._kept.clear()

    def _keep(self, portion: bytes) -> None:
        self._size += len(portion)
        if self._size <= self._max:
            self._kept.append(portion)
        else:
            self._kept.clear()

    def _take(self) -> Block:
        raw, is_whole = b"".join(self._kept), self._size <= self._max
        self._kept.clear()
        self._size = 0
        if not self._has_begun:
            self._has_begun = True
            raw = raw.removeprefix(_BOM)
        return read_block(raw) if is_whole else Block(b"")


def _ends_of_blocks(data: bytes) -> Iterator[int]:
    """The positions behind the blank lines."""
    if b"\r" in data:
        for match in _BLANK_LINE.finditer(data):
            yield match.end()
        return
    end = 0
    while (end := data.find(b"\n\n", end) + 2) >= 2:
        yield end


def read_block(raw: bytes) -> Block:
    """What a strict reader finds in a block: one event with a payload, comments, or nothing that it can read."""
    block = Block(raw)
    if raw.startswith(b"data: {") and raw.endswith(b"\n\n") and raw.count(b"\n") == 2 and b"\r" not in raw:
        block.data = raw[6:-2]
    elif not _read_lines(block):
        return block
    if block.data == b"[DONE]":
        block.payload = "[DONE]"
    else:
        block.payload = _read_object(block.data)
    return block


def _read_lines(block: Block) -> bool:
    """Fill in the fields; False where there is no payload."""
    data: list[bytes] = []
    try:
        block.raw.decode()
    except UnicodeDecodeError:
        return False
    block.is_comment = True
    for line in _LINE_END.split(block.raw):
        name, _, value = line.partition(b":")
        if not name:
            continue
        block.is_comment = False
        value = value.removeprefix(b" ")
        if name == b"data":
            data.append(value)
        elif name == b"event" and block.event is None:
            block.event = value.decode()
        elif name == b"id":
            block.has_id = True
        elif name != b"retry":
            return False
    block.data = b"\n".join(data)
    return bool(data)


def _read_object(data: bytes) -> dict[str, Any] | None:
    """A JSON object that every JSON module can read."""
    try:
        payload = loads(data)
    except ValueError:
        return None
    if not isinstance(payload, dict) or (len(data) > 4000 and _MANY_DIGITS.search(data)):
        return None
    may_be_deep = data.count(b"{") + data.count(b"[") > _MAX_DEPTH
    return None if may_be_deep and depth_of(data.decode()) > _MAX_DEPTH else payload
