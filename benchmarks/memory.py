"""The most memory that the process held at one time, as Linux counts it."""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .trials import Action

_STATUS = Path("/proc/self/status")
_FORGET_THE_PEAK = "5"


class NoMemoryFigureError(Exception):
    """The system does not tell how much memory a process holds."""


def peak_growth(run: Action) -> int:
    """By how many bytes the resident memory grew at most while this ran.

    It means something in a fresh process only: memory that was freed before is taken again without growth.

    Raises:
        NoMemoryFigureError: the system does not tell.
    """
    gc.collect()
    try:
        Path("/proc/self/clear_refs").write_text(_FORGET_THE_PEAK, encoding="ascii")
        before = _bytes("VmRSS")
        run()
        return max(0, _bytes("VmHWM") - before)
    except FileNotFoundError as missing:
        raise NoMemoryFigureError(f"peak memory is read from /proc, which {sys.platform} lacks") from missing


def _bytes(name: str) -> int:
    for line in _STATUS.read_text(encoding="ascii").splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise NoMemoryFigureError(f"{_STATUS} does not tell {name}")
