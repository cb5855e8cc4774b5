"""The command line: `python -m benchmarks --case chat short --peer streamshim-fast openai`."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from .cases import CASES
from .page import write
from .profiling import print_profile
from .report import Report
from .running import run
from .subjects import SUBJECTS
from .tables import LAYOUTS

if TYPE_CHECKING:
    from collections.abc import Sequence

_STANDARD_OUTPUT = "-"
_SINGLE = ("own", "peak")
"""Variants of cases that have but one."""


def main(arguments: Sequence[str] | None = None) -> int:
    """List, profile, or measure and tell; 1 if this project says something wrong, else 0."""
    options = _parser().parse_args(arguments)
    if options.list:
        _list()
        return 0
    if options.profile:
        case, _, variant = options.profile.partition("/")
        for peer in options.peer or ["streamshim-fast"]:
            print_profile(CASES[case], variant or next(iter(CASES[case].loads)), SUBJECTS[peer])
        return 0
    if options.read:
        report = Report.from_json(json.loads(options.read.read_text(encoding="utf-8")))
    else:
        report = run(options.case or list(CASES), options.peer or list(SUBJECTS), options.rounds, options.limit)
    _tell(report, options)
    return int(any(found.outcome == "faulty" and SUBJECTS[found.subject].is_own for found in report.measurements))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Measure how fast streams are read, by streamshim and by others."
    )
    profiles = [_profile_name(case, variant) for case in CASES for variant in CASES[case].loads]
    parser.add_argument("--list", action="store_true", help="say what can be measured, and measure nothing")
    parser.add_argument("--case", nargs="+", choices=CASES, metavar="CASE", help="only these; --list names them")
    parser.add_argument("--peer", nargs="+", choices=SUBJECTS, metavar="PEER", help="only these; --list names them")
    parser.add_argument(
        "--rounds", type=int, default=15, metavar="N", help="at most so many a measurement (default 15)"
    )
    parser.add_argument(
        "--limit", type=float, default=20, metavar="SECONDS", help="longest time that one run may take (default 20)"
    )
    parser.add_argument("--json", metavar="FILE", help="write all figures to a file, or to standard output with -")
    parser.add_argument("--read", type=Path, metavar="FILE", help="measure nothing: take the figures from such a file")
    parser.add_argument(
        "--write", type=Path, metavar="FOLDER", help="write the figures into performance.md there, and the charts"
    )
    parser.add_argument(
        "--profile", choices=profiles, metavar="CASE", help="profile one case, such as chat/64KB or small-chunk"
    )
    return parser


def _profile_name(case: str, variant: str) -> str:
    return case if variant in _SINGLE else f"{case}/{variant}"


def _list() -> None:
    print("cases")
    for case in CASES.values():
        variants = "" if set(case.loads) <= set(_SINGLE) else f" ({', '.join(case.loads)})"
        print(f"  {case.name:<24}{case.description}{variants}")
    print("\npeers")
    for subject in SUBJECTS.values():
        print(f"  {subject.name:<24}{subject.description}")


def _tell(report: Report, options: argparse.Namespace) -> None:
    written = json.dumps(report.to_json(), indent=1) + "\n"
    if options.json == _STANDARD_OUTPUT:
        print(written, end="")
    else:
        _print_tables(report)
    if options.json and options.json != _STANDARD_OUTPUT:
        Path(options.json).write_text(written, encoding="utf-8")
    if options.write:
        for path in write(report, options.write):
            print(f"{path} written", file=sys.stderr)


def _print_tables(report: Report) -> None:
    versions = ", ".join(f"{name} {version}" for name, version in sorted(report.versions.items()))
    print(f"{report.python}, {report.cores} cores; {versions}\n")
    for layout in LAYOUTS.values():
        for table in layout.tables(report):
            print(table.text())


if __name__ == "__main__":
    sys.exit(main())
