"""`streamshim check` against the tests' model server: it names the faults that are switched on, and no others."""

from __future__ import annotations

import pytest

from streamshim.check import CheckReport, run_checks, verdict
from streamshim.check.faults import FAULTS
from streamshim.check.plan import all_items
from streamshim.check.summary import summary_lines
from tests.servers import serve_model
from tests.servers.expected_checks import EXPECTED, Expected, expected_of
from tests.servers.habits import HABITS, Stage
from tests.servers.vendors import VENDORS

KEY = "sk-the-right-one"
ITEMS = [item.id for item in all_items("toy")]
SLOW = "responses.background"
"""It waits between two looks, and few habits touch it."""


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def check(*habits: str, vendor: str | None = None, skip: tuple[str, ...] = ()) -> CheckReport:
    with serve_model(*habits, vendor=vendor, key=KEY) as server:
        return run_checks(server.base_url, model="toy", api_key=KEY, skip=skip)


def found(report: CheckReport, *, skipped: tuple[str, ...] = ()) -> Expected:
    """What did not pass."""
    return {
        result.item.id: (
            result.outcome.replace(" ", "-") + (f"/{result.cause}" if result.cause else ""),
            frozenset(result.faults),
        )
        for result in report.results
        if result.outcome != "pass" and result.item.id not in skipped
    }


def test_everything_passes_where_everything_is_right() -> None:
    report = check()
    assert found(report) == {}
    assert [result.item.id for result in report.results] == ITEMS
    assert (verdict(report).tier, verdict(report).alone, verdict(report).lost) == (3, [], [])


def left_out(habit: str) -> tuple[str, ...]:
    """The items of an API that a habit has nothing to do with, and the slow one."""
    stages = HABITS[habit].keys()
    apis = {"chat", "responses", "completions"}
    if stages <= {Stage.CHUNKS, Stage.CHAT_BODY}:
        apis = {"chat"}
    elif stages <= {Stage.EVENTS, Stage.RESPONSE_BODY}:
        apis = {"responses"}
    foreign = {"chat", "responses", "completions"} - apis
    slow = () if SLOW in EXPECTED.get(habit, {}) else (SLOW,)
    return tuple(item for item in ITEMS if item.partition(".")[0] in foreign or item in slow)


@pytest.mark.parametrize("habit", HABITS)
def test_a_habit_is_named_and_nothing_else_is(habit: str) -> None:
    skip = left_out(habit)
    assert found(check(habit, skip=skip), skipped=skip) == EXPECTED.get(habit, {})


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_vendor_s_faults_are_named_and_nothing_else_is(vendor: str) -> None:
    row = VENDORS[vendor]
    report = check(vendor=vendor)
    missing = {item for item in ITEMS if item.partition(".")[0] in {"chat", "responses", "completions"} - {*row.apis}}
    expected = {item: said for item, said in expected_of(row.habits).items() if item not in missing}
    expected |= dict.fromkeys(missing, ("unsupported", frozenset[str]()))
    assert found(report) == expected
    assert verdict(report).tier == (3 if "responses" in row.apis else 2)


def test_every_fault_of_the_table_is_shown_by_a_habit() -> None:
    named = {fault for expected in EXPECTED.values() for _, faults in expected.values() for fault in faults}
    # the check calls one tool twice: two calls of one id are told apart as two calls at one place
    assert named == FAULTS.keys() - {"tool-id-duplicate"}


def test_every_expectation_is_of_a_habit_and_of_an_item() -> None:
    assert EXPECTED.keys() <= HABITS.keys()
    assert {item for expected in EXPECTED.values() for item in expected} <= set(ITEMS)


def test_each_request_has_a_connection_of_its_own() -> None:
    with serve_model() as server:
        run_checks(server.base_url, model="toy", only=["reachability", "completions"])
        assert [request.headers["connection"] for request in server.requests] == ["close"] * 4


def test_an_error_of_several_lines_is_told_in_one() -> None:
    report = check("tools-crash", skip=(SLOW,))
    (line,) = (line for line in summary_lines(report) if "chat.tool-result " in line)
    assert line.split(maxsplit=1)[1] == 'HTTP 500: "2 errors: tools: no list tool_choice: no text"'


def test_a_server_that_asks_for_no_key_is_told_of() -> None:
    with serve_model() as server:
        report = run_checks(server.base_url, model="toy", skip=(SLOW,))
    assert found(report, skipped=(SLOW,)) == {"chat.bad-key": ("unsupported", frozenset())}


@pytest.mark.parametrize(("apis", "tier"), [(["completions"], 1), (["chat"], 2), (["responses"], 3)])
def test_the_tier_is_that_of_the_highest_api(apis: list[str], tier: int) -> None:
    with serve_model(apis=apis, key=KEY) as server:
        report = run_checks(server.base_url, model="toy", api_key=KEY, skip=(SLOW,))
    assert verdict(report).tier == tier
    others = {item.partition(".")[0] for item in found(report, skipped=(SLOW,))}
    assert others == {"chat", "responses", "completions"} - {*apis}
