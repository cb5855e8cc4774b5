"""The figures in `docs/performance.md`: what stands between two markers is written anew, the rest is left alone.

The markers are comments: `figures: growth`, with the name of a table, and `end of figures`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .charts import charts
from .subjects import SUBJECTS
from .tables import LAYOUTS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from .report import Report

PAGE = "performance.md"
_LEVEL = 3
_BLOCK = re.compile(r"(<!-- figures: ([\w-]+) -->\n).*?(<!-- end of figures -->)", re.DOTALL)


def write(report: Report, folder: Path) -> list[Path]:
    """Write the figures into the page of a folder, and the charts beside it; give what was written.

    Raises:
        FileNotFoundError: the folder has no such page.
        KeyError: the page asks for figures that there are not.
    """
    page = folder / PAGE
    written = {page: filled(page.read_text(encoding="utf-8"), figures(report))}
    written |= {folder / name: chart for name, chart in charts(report).items()}
    for path, text in written.items():
        path.write_text(text, encoding="utf-8")
    return list(written)


def filled(text: str, blocks: Mapping[str, str]) -> str:
    """A page with the figures that its markers ask for."""
    return _BLOCK.sub(lambda match: f"{match[1]}\n{blocks[match[2]].strip()}\n\n{match[3]}", text)


def figures(report: Report) -> dict[str, str]:
    """All figures of a report as Markdown, by the name that stands in the marker."""
    tables = {
        name: "\n".join(table.markdown(_LEVEL) for table in layout.tables(report)) for name, layout in LAYOUTS.items()
    }
    return {"machine": _machine(report), "subjects": _subjects(report), **tables}


def _machine(report: Report) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in sorted(report.versions.items()))
    return (
        f"{report.python} on a machine of {report.cores} cores; at most {report.rounds} rounds, at most "
        f"{report.limit:g} seconds a run. {versions}.\n"
    )


def _subjects(report: Report) -> str:
    named = dict.fromkeys(each.subject for each in report.measurements)
    rows = [f"| {name} | {SUBJECTS[name].description} |\n" for name in named]
    return "".join(["| subject | what is called |\n| --- | --- |\n", *rows])
