"""How far a run has come, as it goes: a table on a terminal where rich is installed, else a line for each item."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import groupby
from types import TracebackType
from typing import TYPE_CHECKING, Self, TextIO

from .items import CheckItem, CheckResult, Outcome
from .summary import in_one_line

if TYPE_CHECKING:
    from rich.console import Group
    from rich.live import Live

SIGNS: dict[Outcome, str] = {"pass": "✓", "repaired": "~", "fail": "✗", "unsupported": "–", "not tried": "·"}
_STYLES: dict[Outcome, str] = {
    "pass": "green",
    "repaired": "yellow",
    "fail": "bold red",
    "unsupported": "dim",
    "not tried": "dim",
}


def words_of(result: CheckResult) -> str:
    """What an item found, in one line: the faults by their ids, then what was seen."""
    told = f"{', '.join(result.faults)}: {result.detail}" if result.faults else result.detail
    return in_one_line(told)


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
    """A line for each item, and below them a table that grows: the outcomes of each group, and what is being tried."""

    def __init__(self, file: TextIO, items: Sequence[CheckItem]) -> None:
        """`items` will be told. Needs rich."""
        from rich.console import Console
        from rich.live import Live

        self._items = items
        self._results: dict[str, CheckResult] = {}
        self._current: CheckItem | None = None
        self._live: Live = Live(console=Console(file=file, highlight=False), refresh_per_second=8, transient=True)

    def __enter__(self) -> Self:
        """The table is shown from now on."""
        self._live.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """The lines stay; the table goes, since the scores follow."""
        self._live.__exit__(kind, error, trace)

    def started(self, item: CheckItem) -> None:
        """Shown below the table."""
        self._current = item
        self._live.update(self._table(), refresh=True)

    def concluded(self, result: CheckResult) -> None:
        """A line above the table, and a sign in it."""
        from rich.text import Text

        self._results[result.item.id] = result
        style = _STYLES[result.outcome]
        line = Text.assemble(
            (SIGNS[result.outcome], style),
            f" {result.item.id:<29} ",
            (words_of(result), "" if style == "green" else style),
        )
        self._live.console.print(line, no_wrap=True, overflow="ellipsis")
        self._live.update(self._table())

    def _table(self) -> Group:
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
        for group, members in groupby(self._items, lambda item: item.group):
            items = list(members)
            known = [result for item in items if (result := self._results.get(item.id))]
            signs = Text.assemble(*((SIGNS[result.outcome], _STYLES[result.outcome]) for result in known))
            signs.pad_right(len(items) - len(known))
            is_done = len(known) == len(items)
            table.add_row(Text(group, "" if is_done else "dim"), signs, Text(f"{len(known)} of {len(items)}", "dim"))
        if self._current is None:
            return Group(table)
        progress = f"{len(self._results)} of {len(self._items)}, now: {self._current.title}"
        return Group(table, Text(progress, "bold", no_wrap=True, overflow="ellipsis"))


def live_table(file: TextIO, items: Sequence[CheckItem]) -> LiveTable | PlainLines:
    """What fits the file: a table on a terminal that can be rewritten, else lines."""
    if not file.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return PlainLines(file, len(items))
    try:
        return LiveTable(file, items)
    except ModuleNotFoundError:
        return PlainLines(file, len(items))
