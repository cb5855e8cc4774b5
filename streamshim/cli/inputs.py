"""Where the bytes come from: a file or standard input, read as they come, with progress where it takes long."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TextIO, cast

import streamshim

from .exits import UsageError

if TYPE_CHECKING:
    from streamshim import EventStream

    from ..event_stream import DecoderOptions

PIECE_BYTES = 64 * 1024
PROGRESS_FROM_BYTES = 4 * 1024 * 1024
"""Smaller files are read before anybody could look at a progress line."""

_MEGABYTE = 1_000_000


def open_streams(name: str, options: DecoderOptions, *, progress: bool = False) -> Iterator[EventStream]:
    """The responses in a file (or in standard input: `-`), one after another; bad endings do not raise.

    How far a large file has been read is told on standard error: with `progress`, else only where the output itself
    does not show it on the same terminal.

    Raises:
        UsageError: there is no such file, or it must not be read.
    """
    with open_input(name) as file:
        screen = sys.stderr if progress or not sys.stdout.isatty() else None
        yield from streamshim.iter_responses(read_pieces(file, screen), errors="event", **options)


@contextmanager
def open_input(name: str) -> Generator[BinaryIO, None, None]:
    """The file of that name, or standard input for `-`.

    Raises:
        UsageError: there is no such file, or it must not be read.
    """
    if name == "-":
        if sys.stdin is None:
            raise UsageError("standard input is closed")
        yield cast("BinaryIO", sys.stdin.buffer)
        return
    try:
        file = Path(name).open("rb")  # noqa: SIM115 -- closed below, once opening it can fail no more
    except OSError as error:
        raise UsageError(f"cannot read {name}: {error.strerror}") from None
    with file:
        yield file


def file_size(file: BinaryIO) -> int | None:
    """How many bytes a regular file has; None for a pipe, a terminal and the like, where bytes come when they come."""
    try:
        status = os.fstat(file.fileno())
    except (OSError, ValueError):
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None


def read_pieces(file: BinaryIO, progress: TextIO | None = None) -> Iterator[bytes]:
    """The bytes, each piece as soon as it is there; how far a large file has been read goes to `progress`."""
    size = file_size(file) or 0
    meter = _Meter(progress, size) if progress and progress.isatty() and size >= PROGRESS_FROM_BYTES else None
    try:
        while piece := file.read1(PIECE_BYTES):  # type: ignore[attr-defined]
            yield piece
            if meter:
                meter.advance(len(piece))
    finally:
        if meter:
            meter.erase()


class _Meter:
    """One line that says how far a file has been read; rewritten only when its percentage changes."""

    def __init__(self, screen: TextIO, total: int) -> None:
        self._screen = screen
        self._total = total
        self._read = 0
        self._percent = -1

    def advance(self, count: int) -> None:
        self._read += count
        percent = 100 * self._read // self._total
        if percent != self._percent:
            self._percent = percent
            read, total = self._read / _MEGABYTE, self._total / _MEGABYTE
            self._screen.write(f"\rreading {percent:3d} %  {read:.1f} of {total:.1f} MB ")
            self._screen.flush()

    def erase(self) -> None:
        self._screen.write("\r" + " " * 50 + "\r")
        self._screen.flush()
