"""The command line of the package, in a process of its own."""

from __future__ import annotations

import sys

_PROGRAM = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from streamshim.cli import main; sys.exit(main())"
)


def interruptible(*arguments: str) -> list[str]:
    """A command that heeds an interrupt even where the tests run in the background, which ignores them."""
    return [sys.executable, "-c", _PROGRAM, *arguments]
