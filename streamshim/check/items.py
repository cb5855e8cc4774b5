"""What an item of the checklist is, and what it finds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from .exchanges import Exchange
from .faults import FAULTS, Aspect, Sighting
from .requests import Api, Request

Outcome = Literal["pass", "repaired", "fail", "unsupported", "not tried"]
"""pass: the wire is as documented; repaired: it is not, and streamshim reads it right; fail: lost, wrong or ignored,
and nobody can repair it; unsupported: the server says that it does not have it, or has nothing to show; not tried."""

Cause = Literal["wire", "server", "model"]
"""Why an item failed: the bytes, what the server does with the request, or a model that does not obey."""

Group = Literal[
    "reachability",
    "completions",
    "chat",
    "chat-tools",
    "chat-options",
    "chat-errors",
    "responses",
    "responses-tools",
    "responses-state",
]
GROUPS: tuple[Group, ...] = get_args(Group)
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)

_WORST: tuple[Outcome, ...] = ("fail", "repaired", "pass", "unsupported", "not tried")


@dataclass(frozen=True, slots=True)
class Judgement:
    """What an item came to."""

    outcome: Outcome
    detail: str
    cause: Cause | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """What an item judges: the answers to its own requests, and all that were got of the same API."""

    own: Sequence[Exchange]
    all: Sequence[Exchange]


@dataclass(frozen=True, slots=True)
class CheckItem:
    """One item of the checklist.

    Attributes:
        id: stable; the API and a name.
        title: in a few words.
        group: which score it counts for.
        tier: 0 for what every endpoint has, 1 `/completions`, 2 `/chat/completions`, 3 `/responses`.
        asks: what is asked of the server.
        must_see: what makes it pass.
        why: who is hurt where it does not.
        requests: what is sent for it; requests of one name are sent once, whoever needs them.
        judge: says what came of it.
        aspects: the faults that it names, and no other item does, seen in any answer of its API.
        at_once: whether its requests are sent at the same time.
        is_first: the first of its API: without it no other is tried.
    """

    id: str
    title: str
    group: Group
    tier: int
    asks: str
    must_see: str
    why: str
    requests: tuple[Request, ...]
    judge: Callable[[Case], Judgement]
    aspects: tuple[Aspect, ...] = ()
    at_once: bool = False
    is_first: bool = False

    @property
    def api(self) -> Api | None:
        """Whose endpoint it is about."""
        return next((request.api for request in self.requests if request.api), None)

    @property
    def max_tokens(self) -> int:
        """At most so many tokens may be answered, in all."""
        return sum(request.output_tokens for request in self.requests)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What an item found.

    Attributes:
        item: the item.
        outcome: one of five words.
        detail: a sentence: what was seen.
        cause: what is to blame where it failed.
        sightings: the faults, each with the frame that shows it.
        exchanges: the names of the requests whose answers prove it.
    """

    item: CheckItem
    outcome: Outcome
    detail: str
    cause: Cause | None = None
    sightings: Sequence[Sighting] = ()
    exchanges: Sequence[str] = field(default_factory=tuple)

    @property
    def faults(self) -> list[str]:
        """The ids of what is wrong with the wire: repairs of streamshim, and what it reads past."""
        return [sighting.fault for sighting in self.sightings]


def conclude(item: CheckItem, case: Case) -> CheckResult:
    """What the item says of the answers: its own judgement, and the faults of its aspects."""
    judgement = item.judge(case)
    found: dict[str, Sighting] = {}
    shown_by: dict[str, None] = {}
    seen = {sighting.fault for exchange in case.all for sighting in exchange.sightings}
    entailed = {fault for cause in seen for fault in FAULTS[cause].entails}
    for exchange in case.all:
        for sighting in exchange.sightings:
            if sighting.aspect in item.aspects and sighting.fault not in entailed:
                found.setdefault(sighting.fault, sighting)
                shown_by[exchange.name] = None
    outcome, detail = judgement.outcome, judgement.detail
    cause = judgement.cause
    if found:
        lost = [fault for fault in found if FAULTS[fault].lost]
        outcome = _worst((outcome, "fail" if lost else "repaired"))
        words = "; ".join(FAULTS[fault].seen for fault in found)
        detail = f"{words}. {detail}" if judgement.outcome == "fail" else words
        cause = cause or ("wire" if lost else None)
    names = tuple(dict.fromkeys([exchange.name for exchange in case.own] + list(shown_by)))
    return CheckResult(item, outcome, detail, cause, tuple(found.values()), names)


def _worst(outcomes: Iterable[Outcome]) -> Outcome:
    return min(outcomes, key=_WORST.index)
