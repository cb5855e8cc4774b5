"""Puts streams to a client over the transport, in a process of its own, and says which it reads wrong, and how."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from benchmarks.comparison.judging import judge
from benchmarks.comparison.running import accounts
from benchmarks.comparison.scenarios import Scenario, load_scenarios
from tests.comparison_page import broken, broken_over_the_transport


def read_wrong(api: Any, client: str, scenarios: Iterable[Scenario]) -> dict[str, str]:
    """What is seen wrong, by scenario."""
    judged = (
        (scenario.name, judge(account, scenario.expect, dropped=scenario.dropped))
        for scenario, account in accounts(api, client, scenarios, relayed=True)
    )
    return {name: seen for name, seen in judged if seen}


def assert_is_mended(api: Any, client: str) -> None:
    """What the client reads wrong by itself it reads right over the transport, but for what the page explains."""
    bare = broken(api, client)
    chosen = [scenario for scenario in load_scenarios(api) if scenario.name in bare]
    assert len(chosen) == len(bare) > 30
    wrong = read_wrong(api, client, chosen)
    assert wrong.keys() == broken_over_the_transport(api, client) & bare, wrong
