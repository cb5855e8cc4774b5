"""What the results mean: a tier, a score for each group, and what to expect of the official SDK."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from .faults import FAULTS, HARMLESS, Fault
from .items import GROUPS, Group, Outcome
from .running import CheckReport

TIERS: dict[int, tuple[str, tuple[str, ...]]] = {
    3: ("/responses", ("responses.plain", "responses.stream", "responses.tool-call", "responses.tool-output")),
    2: ("/chat/completions", ("chat.plain", "chat.stream", "chat.tool-call", "chat.tool-result")),
    1: ("/completions", ("completions.plain", "completions.stream")),
}
"""For each tier its API, and the items that must work. One that fails through the model alone does not count."""


@dataclass(frozen=True, slots=True)
class Score:
    """How many items of a group came to which outcome."""

    counts: Counter[Outcome]

    @property
    def working(self) -> int:
        """Those that work: as they are, or with streamshim."""
        return self.counts["pass"] + self.counts["repaired"]

    @property
    def tried(self) -> int:
        """Those that were tried."""
        return sum(self.counts.values()) - self.counts["not tried"]


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a fault does to readers that take the wire for what is documented."""

    fault: str
    loop: str
    helper: str
    is_lost: bool


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the results mean.

    Attributes:
        tier: the highest whose API works: 3 `/responses`, 2 `/chat/completions`, 1 `/completions`, 0 none.
        scores: for each group.
        alone: what the official SDK does without streamshim, a fault at a time; empty where it reads everything.
        lost: the items that fail whoever reads, by id.
    """

    tier: int
    scores: dict[Group, Score]
    alone: Sequence[Expectation]
    lost: Sequence[str]

    @property
    def summary(self) -> str:
        """The tier, in a sentence."""
        if not self.tier:
            return "no tier: none of the three APIs works as a whole"
        return f"tier {self.tier}: {TIERS[self.tier][0]} works"

    @property
    def sdk_alone(self) -> str:
        """What to expect of the official SDK without streamshim, in a sentence."""
        if not self.alone:
            return "the official SDK reads everything that came"
        loop = sum(bool(expected.loop) for expected in self.alone)
        helper = sum(bool(expected.helper) for expected in self.alone)
        return (
            f"the official SDK stumbles over {_counted(loop, 'fault')} in a plain loop over a stream, "
            f"and over {helper} in its .stream() helpers"
        )

    @property
    def sdk_with_streamshim(self) -> str:
        """The same with it."""
        put_right = sum(not expected.is_lost for expected in self.alone)
        fails = "1 item fails" if len(self.lost) == 1 else f"{len(self.lost)} items fail"
        lost = f"; {fails} whoever reads" if self.lost else ""
        if not self.alone:
            return "nothing has to be put right" + lost
        what = "all of it is" if put_right == len(self.alone) else f"{put_right} of these {len(self.alone)} are"
        return f"{what} read right{lost}"


def verdict(report: CheckReport) -> Verdict:
    """What the results of a run mean."""
    counts: dict[Group, Counter[Outcome]] = {group: Counter() for group in GROUPS}
    for result in report.results:
        counts[result.item.group][result.outcome] += 1
    scores: dict[Group, Score] = {group: Score(count) for group, count in counts.items() if count}
    rows = [FAULTS[fault] for fault in report.faults]
    alone = [Expectation(row.id, row.sdk, _helper(row), row.lost) for row in rows if row.sdk or row.helper]
    lost = [result.item.id for result in report.results if result.outcome == "fail" and result.cause != "model"]
    return Verdict(_tier(report), scores, alone, lost)


def _helper(fault: Fault) -> str:
    """What the helper does: the same as a loop, unless it is said."""
    return "" if fault.helper == HARMLESS else fault.helper or fault.sdk


def _tier(report: CheckReport) -> int:
    works = {
        result.item.id
        for result in report.results
        if result.outcome in ("pass", "repaired") or (result.outcome == "fail" and result.cause == "model")
    }
    return next((tier for tier, (_, needed) in TIERS.items() if works.issuperset(needed)), 0)


def _counted(number: int, word: str) -> str:
    return f"{number} {word}" + ("" if number == 1 else "s")
