"""The charts of a report: how much slower than the bare loop, and what becomes of it as streams grow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .cases import LENGTHS
from .subjects import SUBJECTS
from .svg import Bar, Line, bar_chart, line_chart
from .tables import figure

if TYPE_CHECKING:
    from .report import Measurement, Report

_WORDS = {"faulty": "error", "slow": "too slow", "absent": "–"}
_NAMED = ("streamshim-plain", "streamshim-fast")
"""Of the subjects of this project, those that stand in a chart beside the others."""


def charts(report: Report) -> dict[str, str]:
    """The charts for which there are measurements, as SVG by file name."""
    reading = {
        "performance-chat.svg": ("chat-obfuscation", "Reading Chat Completions"),
        "performance-responses.svg": ("responses", "Reading Responses"),
    }
    growth = {
        "performance-growth-text.svg": ("growth-text", "Text that grows"),
        "performance-growth-arguments.svg": ("growth-arguments", "Tool arguments that grow"),
    }
    made = {name: _reading(report, *about) for name, about in reading.items()}
    made |= {name: _growth(report, *about) for name, about in growth.items()}
    return {name: chart for name, chart in made.items() if chart}


def _reading(report: Report, case: str, title: str) -> str | None:
    found = sorted(_beside_peers(report.find(case, "64KB")), key=_place)
    if not any(each.is_timed for each in found):
        return None
    note = "Time to read 2,000 deltas in pieces of 64 KB, in times of the bare loop; logarithmic, shorter is better."
    return bar_chart(title, note, "bare orjson loop", [_bar(each) for each in found])


def _growth(report: Report, case: str, title: str) -> str | None:
    found = _beside_peers(report.find(case))
    drawn = dict.fromkeys(each.subject for each in found if each.is_timed)
    if not drawn:
        return None
    lines = [_line([each for each in found if each.subject == subject]) for subject in drawn]
    missing = {each.subject: f"{each.subject} ({_WORDS[each.outcome]})" for each in found if each.subject not in drawn}
    remark = f"Without figures: {', '.join(missing.values())}." if missing else ""
    note = "Microseconds a delta, in pieces of 64 KB; logarithmic, lower is better, and flat is linear in time."
    return line_chart(title, note, [f"{length:,} deltas" for length in LENGTHS.values()], lines, remark)


def _line(found: list[Measurement]) -> Line:
    values = [each.microseconds_per_delta for each in found if each.is_timed]
    subject = found[0].subject
    ending = "" if len(values) == len(found) else f" ({_WORDS[found[-1].outcome]})"
    return Line(f"{subject}{ending}", values, SUBJECTS[subject].is_own)


def _bar(found: Measurement) -> Bar:
    own = SUBJECTS[found.subject].is_own
    if not found.is_timed:
        return Bar(found.subject, None, 1, 1, _WORDS[found.outcome], own)
    least, middle, greatest = found.ratio
    return Bar(found.subject, middle, least, greatest, f"{figure(middle)}×", own)


def _place(found: Measurement) -> float:
    return found.ratio.middle if found.is_timed else float("inf")


def _beside_peers(found: list[Measurement]) -> list[Measurement]:
    return [each for each in found if not SUBJECTS[each.subject].is_own or each.subject in _NAMED]
