"""Where the time of one case goes, function by function."""

from __future__ import annotations

import asyncio
import cProfile
from pathlib import PurePath
from types import CodeType
from typing import TYPE_CHECKING

from .trials import Trial

if TYPE_CHECKING:
    from .cases import Case
    from .subjects import Subject

_REPEATS = 10
_SHOWN = 30


def print_profile(case: Case, variant: str, subject: Subject) -> None:
    """Profile some runs, here and not in a process apart, and print nanoseconds a delta, the dearest function first.

    The profiler itself costs time for every call: small functions look dearer than they are. Where a stream has no
    deltas, the nanoseconds are those of a stream.
    """
    load = case.loads[variant]()
    with asyncio.Runner() as runner:
        trial = Trial(subject.doors[case.api](), load, runner)
        trial.run()
        profile = cProfile.Profile()
        profile.enable()
        for _ in range(_REPEATS):
            trial.run()
        profile.disable()
    total = (load.deltas or 1) * load.streams * _REPEATS
    unit = "delta" if load.deltas else "stream"
    print(f"{subject.name}, {case.name}")
    print(f"{'own ns/' + unit:>14} {'with callees':>14} {'calls/' + unit:>14}  function")
    for entry in sorted(profile.getstats(), key=lambda entry: -entry.inlinetime)[:_SHOWN]:
        own, whole = entry.inlinetime / total * 1e9, entry.totaltime / total * 1e9
        print(f"{own:14.0f} {whole:14.0f} {entry.callcount / total:14.3f}  {_name(entry.code)}")


def _name(code: CodeType | str) -> str:
    if isinstance(code, str):
        return code
    return f"{code.co_qualname} {PurePath(code.co_filename).name}:{code.co_firstlineno}"
