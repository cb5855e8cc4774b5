"""The report in a few lines, for people."""

from __future__ import annotations

from collections.abc import Iterator

from ..timeline.details import shortened
from ..wording import counted
from .faults import HARMLESS
from .items import OUTCOMES
from .running import CheckReport
from .verdict import Score, verdict

_LONGEST_LINE = 110


def summary_lines(report: CheckReport) -> Iterator[str]:
    """Tier, scores and what to expect of the SDK."""
    judged = verdict(report)
    yield ""
    yield judged.summary
    for group, score in judged.scores.items():
        if score.tried:
            yield f"  {group:<17} {score_words(score)}"
    if report.unread:
        yield f"of no shape that is known: {', '.join(report.unread)}"
    yield f"without streamshim: {judged.sdk_alone}"
    for expected in judged.alone:
        helper = f"; .stream() {expected.helper or HARMLESS}" if expected.helper != expected.loop else ""
        yield f"  {expected.fault:<25} a loop {expected.loop or HARMLESS}{helper}"
    yield f"with streamshim: {judged.sdk_with_streamshim}"
    for id in judged.lost:
        yield f"  {id:<25} {in_one_line(report[id].detail)}"
    if report.requests:
        yield f"{counted(report.requests, 'request')}, {counted(report.tokens, 'token')}"


def in_one_line(text: str) -> str:
    """The text without line ends, shortened: what a terminal has room for."""
    return shortened(" ".join(text.split()), _LONGEST_LINE)


def score_words(score: Score) -> str:
    """How many of a group work, and what became of the others."""
    counts = ", ".join(f"{score.counts[outcome]} {outcome}" for outcome in OUTCOMES if score.counts[outcome])
    return f"{score.working} of {score.tried} work: {counts}"
