"""The report in a few lines, for people."""

from __future__ import annotations

from collections.abc import Iterator

from .items import OUTCOMES
from .running import CheckReport
from .verdict import Score, verdict


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
        loop = f"a loop {expected.loop}" if expected.loop else "a loop reads past it"
        helper = f"; .stream() {expected.helper}" if expected.helper and expected.helper != expected.loop else ""
        yield f"  {expected.fault:<25} {loop}{helper}"
    yield f"with streamshim: {judged.sdk_with_streamshim}"
    for id in judged.lost:
        yield f"  {id:<25} {' '.join(report[id].detail.split())}"
    if report.requests:
        yield f"{report.requests} requests, {report.tokens:,} tokens"


def score_words(score: Score) -> str:
    """How many of a group work, and what became of the others."""
    counts = ", ".join(f"{score.counts[outcome]} {outcome}" for outcome in OUTCOMES if score.counts[outcome])
    return f"{score.working} of {score.tried} work: {counts}"
