"""How a command ends: 0 all is well, 1 a stream ended badly, 2 it was called wrongly, 130 interrupted by the user."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager

from ..events import StreamEnd

OK = 0
BAD_STREAM = 1
USAGE = 2
INTERRUPTED = 130


class UsageError(Exception):
    """The command cannot do what it was asked: the message says why, in one line."""


def exit_code(end: StreamEnd | None) -> int:
    """The exit code for a stream that ended so: failed and truncated are bad, an incomplete answer is an answer."""
    return BAD_STREAM if end is None or end.status in ("failed", "truncated") else OK


@contextmanager
def ended_as_interrupted() -> Generator[None]:
    """SIGTERM, which `timeout` and containers send, is an interrupt, for commands that have something to keep."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def leave_the_pipe() -> None:
    """The reader of our output has left: Python must not complain when it flushes what is left."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
