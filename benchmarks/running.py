"""Asks every subject for every case: one process for a subject, and a fresh one wherever memory is measured."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from importlib import metadata
from time import perf_counter
from typing import TYPE_CHECKING, Self, TypeAlias

from .cases import CASES
from .processes import SECONDS_TO_LOAD, TooSlowError, WorkerDiedError, WorkerProcess
from .report import Measurement, Report
from .subjects import SUBJECTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .cases import Case
    from .processes import Reply
    from .subjects import Subject

Start: TypeAlias = Callable[[str], WorkerProcess]

SECONDS_OF_ROUNDS = 3.0
"""No round begins when so much time has gone into a measurement: slow subjects have fewer rounds."""


def run(cases: Sequence[str], subjects: Sequence[str], rounds: int, limit: float) -> Report:
    """Measure; progress goes to standard error.

    Args:
        cases: their names.
        subjects: their names.
        rounds: at most, for each measurement.
        limit: seconds that one run may take.
    """
    report = Report(rounds, limit)
    for name in subjects:
        asked = [CASES[case] for case in cases if name in CASES[case].subjects]
        if not asked:
            print(f"{name:<24}is not asked in any of these cases", file=sys.stderr)
            continue
        with SubjectRun(SUBJECTS[name], rounds, limit) as subject_run:
            for case in asked:
                report.measurements.extend(_told(case, name, subject_run))
            report.versions.update(subject_run.versions)
    return report


class SubjectRun:
    """One subject, its process and its versions."""

    def __init__(self, subject: Subject, rounds: int, limit: float, start: Start = WorkerProcess.of) -> None:
        """The process starts with the first case; `start` gives the process of a subject by its name."""
        self.versions: dict[str, str] = {}
        self._subject = subject
        self._rounds = rounds
        self._limit = limit
        self._start = start
        self._worker = start(subject.name)
        self._missing: str | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._worker.__exit__(*exception)

    def measure(self, case: Case) -> Iterator[Measurement]:
        """Each variant of a case."""
        too_slow_for = None
        for variant in case.loads:
            nothing = Measurement(case.name, variant, self._subject.name)
            if case.grows and too_slow_for:
                yield replace(nothing, outcome="slow", reason=f"not tried: {too_slow_for} was too much already")
                continue
            found = self._measure(case, variant, nothing)
            too_slow_for = variant if found.outcome == "slow" else too_slow_for
            yield found

    def _measure(self, case: Case, variant: str, nothing: Measurement) -> Measurement:
        reason = self._why_absent() or case.why_not(self._subject, variant)
        if reason:
            return replace(nothing, outcome="absent", reason=reason)
        found = nothing
        try:
            for reply in self._replies(case, variant):
                found = _with(found, reply)
                if found.outcome != "measured":
                    break
        except TooSlowError:
            return replace(nothing, outcome="slow", reason=f"not read within {self._limit:g} s")
        except WorkerDiedError as died:
            return replace(nothing, outcome="faulty", reason=f"the process died: {died}")
        return found

    def _replies(self, case: Case, variant: str) -> Iterator[Reply]:
        """First whether the subject says what it should, then the figures."""
        if not self.versions:
            self.versions = self._worker.start()["versions"]
        load = {"do": "load", "case": case.name, "variant": variant}
        yield self._worker.ask(load, SECONDS_TO_LOAD)
        yield self._worker.ask({"do": "check"}, self._limit)
        if case.is_timed:
            # the last round may begin just before the time for rounds is over
            rounds = {"rounds": self._rounds, "seconds": SECONDS_OF_ROUNDS}
            yield self._worker.ask({"do": "time", **rounds}, SECONDS_OF_ROUNDS + self._limit)
        if case.is_weighed:
            with self._start(self._subject.name) as fresh:
                yield fresh.ask(load, SECONDS_TO_LOAD)
                yield fresh.ask({"do": "weigh"}, self._limit)

    def _why_absent(self) -> str | None:
        if self._missing is None:
            self._missing = ""
            for name in self._subject.distributions:
                try:
                    metadata.version(name)
                except metadata.PackageNotFoundError:
                    self._missing = f"{name} is not installed; `make bench` installs all"
        return self._missing or None


def _with(measurement: Measurement, reply: Reply) -> Measurement:
    """The measurement with what a worker says."""
    if reply.get("fault"):
        return replace(measurement, outcome="faulty", reason=reply["fault"])
    if reply.get("missing"):
        return replace(measurement, outcome="absent", reason=reply["missing"])
    facts = {name: value for name, value in reply.items() if name != "fault"}
    if "samples" in facts:
        facts["samples"] = tuple((own, base) for own, base in facts["samples"])
    return replace(measurement, **facts)


def _told(case: Case, subject: str, subject_run: SubjectRun) -> list[Measurement]:
    """Measure a case, with a line on standard error that begins before and ends after it."""
    print(f"{subject:<24}{case.name:<24}", end="", file=sys.stderr, flush=True)
    begun = perf_counter()
    found = list(subject_run.measure(case))
    words = "  ".join(f"{each.variant} {_short(each)}" for each in found)
    print(f"{words}  ({perf_counter() - begun:.1f} s)", file=sys.stderr, flush=True)
    return found


def _short(found: Measurement) -> str:
    if found.outcome != "measured":
        return {"faulty": "ERROR", "slow": "too slow", "absent": "–"}[found.outcome]
    time = f"{found.ratio.middle:.3g}×" if found.is_timed else ""
    weight = f"{found.peak / 1e6:.3g} MB" if found.peak is not None else ""
    return " ".join(filter(None, (time, weight)))
