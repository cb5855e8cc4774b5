"""The run: asks what the plan says, lets each item judge, and makes a report of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from .exchanges import Exchange
from .items import Case, CheckItem, CheckResult, Judgement, conclude
from .plan import Plan, plan
from .probe import Budget, OverBudgetError, Probe, shown_url
from .requests import Api


class Watcher(Protocol):
    """Is told how far the run has come."""

    def started(self, item: CheckItem) -> None:
        """The requests of an item are being sent."""

    def concluded(self, result: CheckResult) -> None:
        """It is known what an item found."""


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What was found.

    Attributes:
        target: the base URL that was asked, or the folder of recorded streams.
        model: that was asked; None for recorded streams.
        results: one for each item of the checklist, in its order.
        exchanges: the requests and answers that prove them, by name; scrubbed.
        requests: how many were sent.
        tokens: how many were spent: as the server counts them where it does, else as many as there may have been.
        unread: the recorded files that are of no shape that is known.
    """

    target: str
    model: str | None
    results: Sequence[CheckResult]
    exchanges: dict[str, Exchange] = field(default_factory=dict)
    requests: int = 0
    tokens: int = 0
    unread: Sequence[str] = ()

    @property
    def faults(self) -> list[str]:
        """The ids of all that is wrong with the wire, each once."""
        return list(dict.fromkeys(fault for result in self.results for fault in result.faults))

    def __getitem__(self, id: str) -> CheckResult:
        """The result of the item of this id.

        Raises:
            KeyError: there is no such item.
        """
        for result in self.results:
            if result.item.id == id:
                return result
        raise KeyError(id)


def run_checks(
    base_url: str,
    *,
    model: str,
    api_key: str | None = None,
    only: Iterable[str] = (),
    skip: Iterable[str] = (),
    timeout: float = 60.0,
    max_requests: int | None = None,
    max_tokens: int | None = None,
    watcher: Watcher | None = None,
) -> CheckReport:
    """Tries an endpoint, item by item.

    Args:
        base_url: of the API, such as `http://127.0.0.1:8080/v1`.
        model: the one that is asked.
        api_key: sent as a bearer token, and in no report; None: none is sent.
        only: ids or groups of the items to try; all where it is empty.
        skip: ids or groups of the items to leave out.
        timeout: seconds for one answer.
        max_requests: never more are sent; None: what the plan needs.
        max_tokens: sent and answered together, never more are asked for; None: what the plan needs.
        watcher: is told how far the run has come.

    Raises:
        ModuleNotFoundError: no HTTP client is installed.
        ValueError: the base URL is none, or a word of `only` or `skip` names no item.
    """
    chosen = plan(model, only, skip)
    budget = Budget(
        chosen.most_requests if max_requests is None else max_requests,
        chosen.most_tokens if max_tokens is None else max_tokens,
    )
    probe = Probe(base_url, budget, api_key=api_key, timeout=timeout)
    try:
        run = _Run(chosen, probe, watcher)
        results = run.results()
    finally:
        probe.close()
    return CheckReport(shown_url(base_url), model, results, run.exchanges, budget.requests, budget.tokens)


class _Run:
    """Goes through the items; those that look at all streams of an API come to their end when the others have."""

    def __init__(self, chosen: Plan, probe: Probe, watcher: Watcher | None) -> None:
        self.exchanges: dict[str, Exchange] = {}
        self._plan = chosen
        self._probe = probe
        self._watcher = watcher
        self._results: dict[str, CheckResult] = {}
        self._cases: dict[str, list[Exchange]] = {}
        self._closed: dict[Api | None, Judgement] = {}
        """Why nothing more is asked of an API; None stands for all of them."""

    def results(self) -> list[CheckResult]:
        by_api: defaultdict[Api | None, list[CheckItem]] = defaultdict(list)
        for item in self._plan.items:
            by_api[item.api].append(item)
        for items in by_api.values():
            for item in items:
                self._ask(item)
            for item in items:
                if item.id not in self._results:
                    self._conclude(item)
        return [
            self._results.get(item.id) or CheckResult(item, "not tried", "left out") for item in self._plan.checklist
        ]

    def _ask(self, item: CheckItem) -> None:
        if closed := self._closed.get(None) or self._closed.get(item.api):
            self._tell(CheckResult(item, closed.outcome, closed.detail))
            return
        if self._watcher:
            self._watcher.started(item)
        try:
            own = self._send(item)
        except OverBudgetError as error:
            self._tell(CheckResult(item, "not tried", str(error)))
            return
        self._cases[item.id] = own
        if not item.aspects:
            self._conclude(item)
        if item.is_first:
            self._close(item, self._results[item.id], own[0])

    def _send(self, item: CheckItem) -> list[Exchange]:
        asked = (
            self._probe.ask_at_once(item.requests) if item.at_once else [self._probe.ask(one) for one in item.requests]
        )
        own = [exchange for exchange in asked if exchange is not None]
        self.exchanges.update((exchange.name, exchange) for exchange in own)
        return own

    def _conclude(self, item: CheckItem) -> None:
        same_api = [exchange for exchange in self.exchanges.values() if exchange.request.api == item.api]
        self._tell(conclude(item, Case(self._cases[item.id], same_api)))

    def _close(self, item: CheckItem, result: CheckResult, exchange: Exchange) -> None:
        """What the first item of an API means for the others."""
        if result.outcome == "unsupported":
            self._closed[item.api] = Judgement("unsupported", f"there is no {exchange.request.path} here")
        elif result.outcome == "fail" and (exchange.answer.status is None or exchange.answer.status in (401, 403, 404)):
            self._closed[item.api] = Judgement("not tried", f"{item.id} failed: {result.detail}")

    def _tell(self, result: CheckResult) -> None:
        self._results[result.item.id] = result
        if self._watcher:
            self._watcher.concluded(result)
