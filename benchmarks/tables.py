"""Measurements as tables, for a terminal or a Markdown page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from string import ascii_lowercase
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from .cases import CASES

if TYPE_CHECKING:
    from .cases import Group
    from .report import Measurement, Report

Say: TypeAlias = Callable[["Measurement"], str]
_Value = TypeVar("_Value")
_WITHOUT_FIGURES = {"faulty": "error", "slow": "too slow", "absent": "–"}


@dataclass(frozen=True, slots=True)
class Table:
    """A table as it is printed.

    Attributes:
        title: what it is about.
        note: what its figures are.
        header: of its columns; the first one names the rows.
        rows: as many cells each.
        reasons: why there is no figure, for each letter in the cells.
    """

    title: str
    note: str
    header: tuple[str, ...]
    rows: list[tuple[str, ...]]
    reasons: list[str]

    def text(self) -> str:
        """For a terminal."""
        lines = [self.header, *self.rows]
        widths = [max(len(line[column]) for line in lines) for column in range(len(self.header))]
        shown = ["  ".join(_padded(line, widths)).rstrip() for line in lines]
        return "\n".join([f"{self.title}: {self.note}", *shown, *self._reasons()]) + "\n"

    def markdown(self, level: int) -> str:
        """For a page, under a heading of that level."""
        rule = ("---", *["---:"] * (len(self.header) - 1))
        lines = [f"| {' | '.join(line)} |" for line in (self.header, rule, *self.rows)]
        reasons = [f"- {reason}" for reason in self._reasons()]
        parts = [f"{'#' * level} {self.title}", f"{self.note[:1].upper()}{self.note[1:]}.", "\n".join(lines)]
        return "\n\n".join([*parts, *(["\n".join(reasons)] if reasons else [])]) + "\n"

    def _reasons(self) -> list[str]:
        return [f"({letter}) {reason}" for letter, reason in zip(_letters(), self.reasons, strict=False)]


@dataclass(frozen=True, slots=True)
class Layout:
    """How the measurements of a group are laid out.

    Attributes:
        group: of the cases.
        title: of the table; `{case}` stands for the case where each has a table of its own.
        note: what the figures are.
        row: the label of the row where a measurement stands.
        column: likewise.
        cell: its figure.
        variants: those that are shown; all if there are none.
    """

    group: Group
    title: str
    note: str
    row: Say
    column: Say
    cell: Say
    variants: tuple[str, ...] = ()

    def tables(self, report: Report) -> list[Table]:
        """The tables, as far as there are measurements."""
        found = [
            each
            for each in report.measurements
            if CASES[each.case].group == self.group and each.variant in (self.variants or (each.variant,))
        ]
        if "{case}" not in self.title:
            return [self._table(found, self.title, self.note)] if found else []
        cases = _ordered(each.case for each in found)
        return [
            self._table(
                [each for each in found if each.case == case],
                self.title.format(case=case),
                f"{CASES[case].description}; {self.note}",
            )
            for case in cases
        ]

    def _table(self, found: Sequence[Measurement], title: str, note: str) -> Table:
        columns = _ordered(map(self.column, found))
        reasons = _ordered(each.reason for each in found if each.reason)
        cells = {(self.row(each), self.column(each)): self._shown(each, reasons) for each in found}
        rows = [(row, *(cells.get((row, column), "") for column in columns)) for row in _ordered(map(self.row, found))]
        return Table(title, note, ("", *columns), rows, reasons)

    def _shown(self, found: Measurement, reasons: Sequence[str]) -> str:
        if found.outcome == "measured":
            return self.cell(found)
        letter = dict(zip(reasons, _letters(), strict=False)).get(found.reason)
        return _WITHOUT_FIGURES[found.outcome] + (f" ({letter})" if letter else "")


def figure(value: float) -> str:
    """Three digits that matter, and no more decimals than two."""
    decimals = 0 if value >= 100 else 1 if value >= 10 else 2
    return f"{value:,.{decimals}f}"


def _subject(found: Measurement) -> str:
    return found.subject


def _case(found: Measurement) -> str:
    return found.case


def _variant(found: Measurement) -> str:
    return found.variant


def _ratio(found: Measurement) -> str:
    least, middle, greatest = map(figure, found.ratio)
    return f"{middle} ({least}–{greatest})"


def _delta(found: Measurement) -> str:
    return figure(found.microseconds_per_delta)


def _gateway(found: Measurement) -> str:
    weight = "" if found.peak is None else f" µs, {figure(found.peak / found.streams / 1e3)} KB"
    return figure(found.microseconds_per_delta) + weight


def _weight(found: Measurement) -> str:
    assert found.peak is not None
    return f"{figure(found.peak / 1e6)} MB, {figure(found.peak / found.answer)} × the answer"


LAYOUTS = {
    "reading": Layout(
        "reading",
        "Reading {case}",
        "times the bare loop: median (least–greatest)",
        _subject,
        _variant,
        _ratio,
    ),
    "speed": Layout("reading", "Microseconds a delta", "pieces of 64 KB", _subject, _case, _delta, ("64KB",)),
    "short": Layout(
        "short",
        "Short streams",
        "microseconds a stream, 20 deltas long and without any",
        _subject,
        lambda found: f"{found.case}, {found.variant}",
        lambda found: figure(found.microseconds_per_stream),
    ),
    "growth": Layout("growth", "{case}", "microseconds a delta", _subject, _variant, _delta),
    "hostile": Layout(
        "hostile",
        "Streams whose frames all differ",
        "fast, times plain: median (least–greatest)",
        _case,
        _variant,
        _ratio,
    ),
    "gateway": Layout(
        "gateway",
        "Many streams open at once",
        "200,000 deltas in all, an event of each stream in turn; microseconds a delta, memory for each stream",
        _subject,
        lambda found: f"{found.variant} open",
        _gateway,
    ),
    "framing": Layout(
        "framing",
        "Framing",
        "milliseconds for the whole stream",
        _case,
        _subject,
        lambda found: figure(found.seconds * 1e3),
    ),
    "arguments": Layout("arguments", "{case}", "microseconds a delta", _subject, _variant, _delta),
    "memory": Layout(
        "memory",
        "Memory",
        "by how much the process grew at most while it read, and set against the text of the answer",
        _subject,
        _case,
        _weight,
    ),
}


def _letters() -> Iterable[str]:
    yield from ascii_lowercase
    for first in ascii_lowercase:
        yield from (first + second for second in ascii_lowercase)


def _padded(cells: Sequence[str], widths: Sequence[int]) -> list[str]:
    first, *others = cells
    return [first.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))]


def _ordered(values: Iterable[_Value]) -> list[_Value]:
    return list(dict.fromkeys(values))
