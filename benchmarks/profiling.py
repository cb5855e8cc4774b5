"""Where the time of one case goes, function by function."""

from __future__ import annotations

import cProfile
from pathlib import PurePath
from types import CodeType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .subjects import Pieces, Run

_REPEATS = 10
_SHOWN = 30


def print_profile(run: Run, pieces: Pieces, units: int, unit: str) -> None:
    """Profile some runs over the same pieces and print nanoseconds for one unit, the most expensive function first.

    The profiler itself costs time for every call: small functions look dearer than they are.

    Args:
        run: the subject.
        pieces: of one stream.
        units: how many of them the stream has.
        unit: "delta" or "KB".
    """
    run(pieces)
    profile = cProfile.Profile()
    profile.enable()
    for _ in range(_REPEATS):
        run(pieces)
    profile.disable()
    total = units * _REPEATS
    print(f"{'own ns/' + unit:>14} {'with callees':>14} {'calls/' + unit:>14}  function")
    for entry in sorted(profile.getstats(), key=lambda entry: -entry.inlinetime)[:_SHOWN]:
        own, whole = entry.inlinetime / total * 1e9, entry.totaltime / total * 1e9
        print(f"{own:14.0f} {whole:14.0f} {entry.callcount / total:14.3f}  {_name(entry.code)}")


def _name(code: CodeType | str) -> str:
    if isinstance(code, str):
        return code
    return f"{code.co_qualname} {PurePath(code.co_filename).name}:{code.co_firstlineno}"
