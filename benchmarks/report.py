"""What came of a run: measurements, the machine and the versions; written to JSON and read from it."""

from __future__ import annotations

import os
import platform
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

Outcome: TypeAlias = Literal["measured", "faulty", "slow", "absent"]
"""Measured; or it said something wrong; or it took too long; or it cannot be asked. The reason tells more."""


class Spread(NamedTuple):
    """The least, the middle and the greatest of several values."""

    least: float
    middle: float
    greatest: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Self:
        """Of at least one value."""
        return cls(min(values), median(values), max(values))


@dataclass(frozen=True, slots=True)
class Measurement:
    """One subject in one variant of one case.

    Attributes:
        case: its name.
        variant: its name.
        subject: its name.
        outcome: whether there are figures.
        reason: why there are none.
        samples: CPU seconds of each run, and of the baseline just before it.
        deltas: in a stream.
        streams: in a run.
        size: of a stream in bytes (characters, where arguments are read).
        peak: by how many bytes the process's resident memory grew at most; None where that was not measured.
        answer: how many bytes the text of the answer takes in Python.
    """

    case: str
    variant: str
    subject: str
    outcome: Outcome = "measured"
    reason: str = ""
    samples: tuple[tuple[float, float], ...] = ()
    deltas: int = 0
    streams: int = 1
    size: int = 0
    peak: int | None = None
    answer: int = 0

    @property
    def is_timed(self) -> bool:
        """Whether it has times."""
        return bool(self.samples)

    @property
    def ratio(self) -> Spread:
        """How many times as long as the baseline run just before it. Machines change their speed from one moment to
        the next, so these are ratios of neighbours, not a ratio of medians.
        """
        return Spread.of([own / base for own, base in self.samples])

    @property
    def seconds(self) -> float:
        """The median run."""
        return median(own for own, _base in self.samples)

    @property
    def microseconds_per_delta(self) -> float:
        """Of the median run; of nothing but the frame of a stream if that has no deltas."""
        return self.seconds / (self.deltas * self.streams) * 1e6

    @property
    def microseconds_per_stream(self) -> float:
        """Of the median run."""
        return self.seconds / self.streams * 1e6


@dataclass(frozen=True, slots=True)
class Report:
    """All of a run.

    Attributes:
        rounds: how many a measurement has at most.
        limit: seconds that one run may take.
        python: implementation and version.
        cores: of the machine.
        versions: of what was measured, by distribution.
        measurements: in the order in which they were made.
    """

    rounds: int
    limit: float
    python: str = field(default_factory=lambda: f"{platform.python_implementation()} {platform.python_version()}")
    cores: int = field(default_factory=lambda: os.cpu_count() or 1)
    versions: dict[str, str] = field(default_factory=dict)
    measurements: list[Measurement] = field(default_factory=list)

    def find(self, case: str, variant: str | None = None) -> list[Measurement]:
        """The measurements of a case, or of one variant of it."""
        return [found for found in self.measurements if found.case == case and variant in (None, found.variant)]

    def to_json(self) -> dict[str, Any]:
        """The report as plain JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        """The report again."""
        rows = [
            Measurement(**{**row, "samples": tuple((own, base) for own, base in row["samples"])})
            for row in value["measurements"]
        ]
        return cls(**{**value, "measurements": rows})
