"""Tool arguments shown while they grow: the scanner against ijson fed each delta, and jiter that reads all again.

`python -m benchmarks.arguments`: a file written by a tool call, one long string, in deltas of a token each. Machines
change their speed from one moment to the next, so every subject runs in every round, and the table gives ratios.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
from collections.abc import Callable, Sequence
from statistics import median
from time import perf_counter

import ijson
import jiter

from streamshim.partial_arguments import PartialArguments

from .prose import tokens

SIZES = (2_000, 5_000, 10_000, 20_000)
Deltas = Sequence[str]


def deltas_of(count: int) -> list[str]:
    """The arguments of a call that writes a file, in so many deltas."""
    content = [json.dumps(token, ensure_ascii=False)[1:-1] for token in tokens(count - 2, seed=31)]
    return ['{"path":"notes.md","content":"', *content, '"}']


def told(deltas: Deltas) -> None:
    """What each delta says."""
    partial = PartialArguments()
    for delta in deltas:
        partial.feed(delta)


def shown(deltas: Deltas) -> None:
    """All that came so far, after each delta."""
    partial = PartialArguments()
    for delta in deltas:
        partial.feed(delta)
        _ = partial.value


def ijson_told(deltas: Deltas) -> None:
    """The events of ijson after each delta; a string is told when it closes."""
    events = ijson.sendable_list()
    parser = ijson.basic_parse_coro(events)
    for delta in deltas:
        parser.send(delta.encode())
        events.clear()
    parser.close()


def jiter_shown(deltas: Deltas) -> None:
    """All that came so far, read again after each delta."""
    text = bytearray()
    for delta in deltas:
        text += delta.encode()
        jiter.from_json(bytes(text), partial_mode="trailing-strings")


SUBJECTS: dict[str, Callable[[Deltas], None]] = {
    "feed": told,
    "feed + value": shown,
    "ijson": ijson_told,
    "jiter": jiter_shown,
}


def measure(deltas: Deltas, rounds: int) -> dict[str, float]:
    """For each subject the median of its microseconds per delta."""
    times: dict[str, list[float]] = {name: [] for name in SUBJECTS}
    for _ in range(rounds):
        for name, run in SUBJECTS.items():
            gc.collect()
            start = perf_counter()
            run(deltas)
            times[name].append((perf_counter() - start) / len(deltas) * 1e6)
    return {name: median(found) for name, found in times.items()}


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.arguments", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args(arguments).rounds
    print(f"Python {sys.version.split()[0]}, ijson {ijson.__version__} ({ijson.backend}), jiter {jiter.__version__}")
    print("µs a delta (times that of feed)\n")
    print(f"{'deltas':>8}" + "".join(f"{name:>20}" for name in SUBJECTS))
    table: list[dict[str, float]] = []
    for size in SIZES:
        found = measure(deltas_of(size), rounds)
        table.append(found)
        print(f"{size:>8,}" + "".join(f"{time:>11.2f} ({time / found['feed']:>5.1f})" for time in found.values()))
    growth = {name: table[-1][name] / table[0][name] for name in SUBJECTS}
    print(f"{'growth':>8}" + "".join(f"{times:>19.1f}x" for times in growth.values()))


if __name__ == "__main__":
    main()
