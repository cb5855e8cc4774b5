"""How far a run has come, as it goes: a table on a terminal where rich is installed, else a line for each item."""

from __future__ import annotations

import os
from types import TracebackType
from typing import TYPE_CHECKING, Self, TextIO

from .items import CheckItem, CheckResult, Outcome

if TYPE_CHECKING:
    from rich.live import Live
    from rich.table import Table

SIGNS: dict[Outcome, str] = {"pass": "✓", "repaired": "~", "fail": "✗", "unsupported": "–", "not tried": "·"}
_STYLES: dict[Outcome, str] = {
    "pass": "green",
    "repaired": "yellow",
    "fail": "bold red",
    "unsupported": "dim",
    "not tried": "dim",
}
_LONGEST_DETAIL = 110


def words_of(result: CheckResult) -> str:
    """What an item found, in one line: the faults by their ids, then what was seen."""
    told = f"{', '.join(result.faults)}: {result.detail}" if result.faults else result.detail
    line = " ".join(told.split())
    return line if len(line) <= _LONGEST_DETAIL else line[: _LONGEST_DETAIL - 1] + "…"


class PlainLines:
    """A line for each item, when it is known what it found."""

    def __init__(self, file: TextIO, count: int) -> None:
        """`count` items will be told."""
        self._file = file
        self._count = count
        self._number = 0

    def __enter__(self) -> Self:
        """Nothing is prepared."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing is open."""

    def started(self, item: CheckItem) -> None:
        """Nothing is told before its end."""

    def concluded(self, result: CheckResult) -> None:
        """The line."""
        self._number += 1
        print(
            f"[{self._number:2}/{self._count}] {result.outcome:<11} {result.item.id:<28} {words_of(result)}",
            file=self._file,
            flush=True,
        )


class LiveTable:
    """A table that grows, with the item that is being tried below it."""

    def __init__(self, file: TextIO, count: int) -> None:
        """`count` items will be told. Needs rich."""
        from rich.console import Console
        from rich.live import Live

        self._count = count
        self._results: list[CheckResult] = []
        self._current: CheckItem | None = None
        self._live: Live = Live(console=Console(file=file), refresh_per_second=8, vertical_overflow="visible")

    def __enter__(self) -> Self:
        """The table is shown from now on."""
        self._live.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """The table stays as it is."""
        self._current = None
        self._live.update(self._table(), refresh=True)
        self._live.__exit__(kind, error, trace)

    def started(self, item: CheckItem) -> None:
        """Shown below the table."""
        self._current = item
        self._live.update(self._table(), refresh=True)

    def concluded(self, result: CheckResult) -> None:
        """One more row."""
        self._results.append(result)
        self._live.update(self._table())

    def _table(self) -> Table:
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False, show_header=False, expand=False)
        table.add_column(width=1)
        table.add_column(no_wrap=True)
        table.add_column(overflow="ellipsis", no_wrap=True)
        for result in sorted(self._results, key=lambda result: result.item.tier):
            style = _STYLES[result.outcome]
            sign, id = Text(SIGNS[result.outcome], style), Text(result.item.id)
            table.add_row(sign, id, Text(words_of(result), style))
        if self._current is not None:
            told = f"{len(self._results)} of {self._count}, now: {self._current.title}"
            table.add_row(Text("…"), Text(self._current.id, "bold"), Text(told, "dim"))
        return table


def live_table(file: TextIO, count: int) -> LiveTable | PlainLines:
    """What fits the file: a table on a terminal that can be rewritten, else lines."""
    if not file.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return PlainLines(file, count)
    try:
        return LiveTable(file, count)
    except ModuleNotFoundError:
        return PlainLines(file, count)
