"""Interleaved timing: baseline, subject, baseline, subject …, so that a slow moment of the machine hits both."""

from __future__ import annotations

import gc
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, TypeVar

from .bodies import PIECES, Body
from .subjects import Pieces, Run, bare_loop, split_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .framing import FramingCase

_Input = TypeVar("_Input")


@dataclass(frozen=True, slots=True)
class Measurement:
    """Medians of one subject on one case.

    Attributes:
        table: "deltas" or "framing".
        case: the name of the body or framing case.
        pieces: the name of the size that the network delivers.
        subject: what was measured.
        seconds: for the whole stream.
        baseline_seconds: for the baseline on the same bytes.
        ratio: how many times as long as the baseline run just before it. Machines change their speed from one moment to
            the next, so this is the median of the rounds' ratios, not the ratio of the medians.
        deltas: how many the stream has; 0 where only the bytes count.
        size: of the stream in bytes.
    """

    table: str
    case: str
    pieces: str
    subject: str
    seconds: float
    baseline_seconds: float
    ratio: float
    deltas: int
    size: int

    @property
    def microseconds_per_delta(self) -> float:
        """Time of the subject for one delta."""
        return self.seconds / self.deltas * 1e6

    @property
    def megabytes_per_second(self) -> float:
        """Throughput of the subject; 1 MB is 10^6 bytes."""
        return self.size / self.seconds / 1e6


def measure_body(body: Body, subject: str, run: Run, rounds: int) -> list[Measurement]:
    """Measure one subject on one body in every size of piece; the baseline is the bare loop over the whole body."""
    cuts = {name: body.pieces(size) for name, size in PIECES.items()}
    medians = _interleave(bare_loop, body.data, run, cuts, rounds)
    return [
        Measurement("deltas", body.name, name, subject, *medians[name], body.deltas, len(body.data)) for name in cuts
    ]


def measure_framing(case: FramingCase, subject: str, run: Run, rounds: int) -> Measurement:
    """Measure one subject on one framing case; the baseline splits the same bytes into lines."""
    medians = _interleave(split_lines, case.data, run, {"own": case.pieces}, rounds)
    return Measurement("framing", case.name, "own", subject, *medians["own"], 0, len(case.data))


def _interleave(
    baseline: Callable[[bytes], None], data: bytes, run: Run, cuts: Mapping[str, Pieces], rounds: int
) -> dict[str, tuple[float, float, float]]:
    """Give for each cut the medians of the subject's seconds, the baseline's seconds and their ratio."""
    pairs: dict[str, list[tuple[float, float]]] = {name: [] for name in cuts}
    for pieces in cuts.values():
        run(pieces)
    for _ in range(rounds):
        for name, pieces in cuts.items():
            before = _timed(baseline, data)
            pairs[name].append((_timed(run, pieces), before))
    return {name: _medians(found) for name, found in pairs.items()}


def _medians(pairs: list[tuple[float, float]]) -> tuple[float, float, float]:
    seconds, baseline_seconds = zip(*pairs, strict=True)
    return median(seconds), median(baseline_seconds), median(own / base for own, base in pairs)


def _timed(action: Callable[[_Input], None], argument: _Input) -> float:
    gc.collect()
    start = perf_counter()
    action(argument)
    return perf_counter() - start
