"""The command line: `python -m benchmarks`, `--only chat`, `--profile responses/64KB`."""

from __future__ import annotations

import argparse
import json
import platform
import sys
from dataclasses import asdict
from importlib import metadata
from typing import TYPE_CHECKING

from .bodies import PIECES, bodies
from .framing import framing_cases
from .measure import Measurement, measure_body, measure_framing
from .profiling import print_profile
from .subjects import SUBJECTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_DEPENDENCIES = ("streamshim", "orjson", "pydantic", "ijson")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print tables or JSON; or profile one case."""
    options = _parser().parse_args(arguments)
    if options.profile:
        _profile(options.profile)
        return 0
    chosen = options.only or [*bodies(), *framing_cases()]
    measurements = list(_measure(chosen, options.rounds))
    if options.json:
        rows = [asdict(measurement) for measurement in measurements]
        print(json.dumps({"versions": _versions(), "rounds": options.rounds, "measurements": rows}, indent=2))
    else:
        _print_tables(measurements, options.rounds)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    names = [*bodies(), *framing_cases()]
    profiles = [f"{body}/{size}" for body in bodies() for size in PIECES] + list(framing_cases())
    parser.add_argument("--rounds", type=int, default=15, help="medians of this many rounds (default 15)")
    parser.add_argument("--only", nargs="+", choices=names, metavar="CASE", help=f"some of: {', '.join(names)}")
    parser.add_argument("--json", action="store_true", help="print JSON: seconds, sizes in bytes")
    parser.add_argument(
        "--profile", choices=profiles, metavar="CASE", help="profile one case, such as chat/64KB or small-chunk"
    )
    return parser


def _measure(chosen: Iterable[str], rounds: int) -> Iterable[Measurement]:
    for subject, load in SUBJECTS.items():
        run = load()
        for name in chosen:
            if name in bodies():
                yield from measure_body(bodies()[name], subject, run, rounds)
            else:
                yield measure_framing(framing_cases()[name], subject, run, rounds)


def _profile(name: str) -> None:
    run = SUBJECTS["streamshim"]()
    if name in framing_cases():
        case = framing_cases()[name]
        print_profile(run, case.pieces, len(case.data) // 1000, "KB")
    else:
        body_name, size = name.split("/")
        body = bodies()[body_name]
        print_profile(run, body.pieces(PIECES[size]), body.deltas, "delta")


def _versions() -> dict[str, str]:
    versions = {platform.python_implementation(): platform.python_version()}
    for name in _DEPENDENCIES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = "not installed"
    return versions


def _print_tables(measurements: list[Measurement], rounds: int) -> None:
    print(", ".join(f"{name} {version}" for name, version in _versions().items()))
    print(f"Medians of {rounds} rounds, interleaved with the baseline.")
    deltas = [measurement for measurement in measurements if measurement.table == "deltas"]
    framing = [measurement for measurement in measurements if measurement.table == "framing"]
    if deltas:
        print("\ndeltas: ratio to a loop that splits the body and parses every payload with orjson, and µs a delta")
        print(f"{'body':<24}{'pieces':<10}{'subject':<16}{'ratio':>8}{'µs':>8}{'baseline µs':>14}")
        for row in deltas:
            baseline = row.baseline_seconds / row.deltas * 1e6
            times = f"{row.ratio:>8.2f}{row.microseconds_per_delta:>8.2f}{baseline:>14.2f}"
            print(f"{row.case:<24}{row.pieces:<10}{row.subject:<16}{times}")
    if framing:
        print('\nframing: ratio to bytes.split(b"\\n") of the same body, and MB/s')
        print(f"{'case':<24}{'KB':<10}{'subject':<16}{'ratio':>8}{'MB/s':>8}{'baseline MB/s':>14}")
        for row in framing:
            baseline = row.size / row.baseline_seconds / 1e6
            speeds = f"{row.ratio:>8.1f}{row.megabytes_per_second:>8.1f}{baseline:>14.0f}"
            print(f"{row.case:<24}{row.size // 1000:<10}{row.subject:<16}{speeds}")


if __name__ == "__main__":
    sys.exit(main())
