"""What comes of a run: the verdict, JSON, a few lines, a table, a page."""

from __future__ import annotations

import html
import io
import json
import re
import sys
from functools import cache
from typing import Any

import pytest

import streamshim
from streamshim.check import CheckReport, CheckResult, all_items, report_json, report_page, verdict
from streamshim.check.items import OUTCOMES
from streamshim.check.live_table import LiveTable, PlainLines, live_table
from streamshim.check.report_json import LONGEST_EXCERPT, VERSION, excerpt
from streamshim.check.summary import summary_lines
from tests.checking import KEY, check

SLOPPY = ("ids-change", "names-repeated", "think-tags", "stop-ignored", "n-refused", "no-items-done", "no-usage")


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@cache
def sloppy_report() -> CheckReport:
    return check(*SLOPPY, skip=["responses.background"])


@cache
def perfect_report() -> CheckReport:
    return check(skip=["responses.background"])


# -- verdict ----------------------------------------------------------------------------------------------------------


def with_outcomes(**outcomes: str) -> CheckReport:
    """A report in which everything passes but these, by the end of their ids."""
    results = [
        CheckResult(item, outcomes.get(item.id.replace(".", "_").replace("-", "_"), "pass"), "")  # type: ignore[arg-type]
        for item in all_items("toy")
    ]
    return CheckReport("", "toy", results)


@pytest.mark.parametrize(
    ("outcomes", "tier"),
    [
        ({}, 3),
        ({"responses_stream": "repaired"}, 3),
        ({"responses_background": "fail"}, 3),
        ({"responses_stream": "fail"}, 2),
        ({"responses_plain": "unsupported", "completions_plain": "unsupported"}, 2),
        ({"responses_plain": "unsupported", "chat_tool_call": "fail"}, 1),
        ({"responses_plain": "unsupported", "chat_plain": "fail", "completions_stream": "fail"}, 0),
        ({"responses_plain": "not tried", "chat_plain": "not tried", "completions_plain": "not tried"}, 0),
    ],
)
def test_the_tier_is_the_highest_whose_items_all_work(outcomes: dict[str, str], tier: int) -> None:
    judged = verdict(with_outcomes(**outcomes))
    assert judged.tier == tier
    assert (f"tier {tier}" in judged.summary) == bool(tier)


def test_a_model_that_does_not_obey_costs_no_tier_and_is_not_told_as_lost() -> None:
    results = [
        CheckResult(item, "fail", "", "model") if item.id == "chat.tool-call" else CheckResult(item, "pass", "")
        for item in all_items("toy")
        if item.api != "responses"
    ]
    judged = verdict(CheckReport("", "toy", results))
    assert (judged.tier, judged.lost) == (2, [])


def test_scores_count_what_works_of_what_was_tried() -> None:
    score = verdict(with_outcomes(chat_stop="fail", chat_images="unsupported", chat_choices="not tried")).scores
    assert (score["chat-options"].working, score["chat-options"].tried) == (5, 7)
    assert (score["responses"].working, score["responses"].tried) == (13, 13)


def test_where_nothing_is_wrong_nothing_is_expected_to_break() -> None:
    judged = verdict(perfect_report())
    assert judged.sdk_alone == "the official SDK reads everything that came"
    assert judged.sdk_with_streamshim == "nothing has to be put right"


def test_what_breaks_the_sdk_is_told_fault_by_fault() -> None:
    judged = verdict(sloppy_report())
    assert {expected.fault: (bool(expected.loop), bool(expected.helper)) for expected in judged.alone} == {
        "tool-id-repeated": (False, True),
        "tool-name-repeated": (False, True),
        "reasoning-in-text": (True, True),
        "usage-missing": (True, True),
    }
    assert judged.sdk_alone == (
        "the official SDK stumbles over 2 faults in a plain loop over a stream, and over 4 in its .stream() helpers"
    )
    assert judged.sdk_with_streamshim == "3 of these 4 are read right; 3 items fail whoever reads"
    assert judged.lost == ["chat.usage", "chat.stop", "responses.usage"]


def test_a_fault_that_a_helper_reads_past_is_told_of_loops_alone() -> None:
    (expected,) = verdict(check("usage-unasked", only=["chat.usage"])).alone
    assert (expected.fault, expected.helper) == ("usage-unasked", "")
    assert expected.loop.startswith("raises IndexError")


def test_the_report_in_lines_tells_tier_scores_faults_and_what_is_lost() -> None:
    text = "\n".join(summary_lines(sloppy_report()))
    for told in ("tier 3: /responses works", "chat-options", "tool-id-repeated", "chat.stop", "requests"):
        assert told in text


# -- JSON -------------------------------------------------------------------------------------------------------------


def test_the_json_has_these_members_in_this_version() -> None:
    told = report_json(sloppy_report())
    assert told["version"] == VERSION == 1
    assert told["streamshim"] == streamshim.__version__
    assert list(told) == "version streamshim target model requests tokens verdict items unread exchanges".split()
    assert list(told["verdict"]) == "tier summary sdk_alone sdk_with_streamshim breaks_sdk lost scores".split()
    members = "id title group tier asks must_see why requests max_tokens"
    members += " outcome detail cause quirks breaches sightings exchanges"
    assert {tuple(item) for item in told["items"]} == {tuple(members.split())}
    assert {tuple(one) for item in told["items"] for one in item["sightings"]} == {
        ("fault", "aspect", "seen", "detail", "count", "frame")
    }
    assert {(tuple(one), tuple(one["request"]), tuple(one["answer"])) for one in told["exchanges"].values()} == {
        (
            ("request", "answer"),
            ("method", "path", "body"),
            ("status", "content_type", "failure", "bytes", "reads", "seconds", "first_byte", "body"),
        )
    }


def test_the_json_is_json_and_refers_to_what_it_holds() -> None:
    told = json.loads(json.dumps(report_json(sloppy_report())))
    assert [item["id"] for item in told["items"]] == [item.id for item in all_items("toy")]
    assert {name for item in told["items"] for name in item["exchanges"]} <= told["exchanges"].keys()
    tool_call = next(item for item in told["items"] if item["id"] == "chat.tool-call")
    assert (tool_call["outcome"], tool_call["quirks"]) == ("repaired", ["tool-name-repeated"])
    shape = next(item for item in told["items"] if item["id"] == "chat.delta-shape")
    assert (shape["quirks"], shape["breaches"]) == ([], ["chunk-id"])


def test_long_answers_are_shortened_in_the_middle() -> None:
    assert excerpt(b"short") == "short"
    text = excerpt(b"a" * LONGEST_EXCERPT + b"b" * 500 + b"c" * LONGEST_EXCERPT)
    assert text == "a" * LONGEST_EXCERPT + "\n… 500 characters left out …\n" + "c" * LONGEST_EXCERPT


def test_no_report_holds_the_key() -> None:
    report = sloppy_report()
    texts = [json.dumps(report_json(report)), report_page(report), "\n".join(summary_lines(report))]
    assert not any(KEY in text or KEY[3:] in text for text in texts)


# -- the table in the terminal ----------------------------------------------------------------------------------------


class Screen(io.StringIO):
    """A terminal."""

    def isatty(self) -> bool:
        return True


def shown(table: Any, file: io.StringIO) -> str:
    with table:
        for result in sloppy_report().results[:12]:
            table.started(result.item)
            table.concluded(result)
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", file.getvalue())


def test_plain_lines_tell_each_item_once() -> None:
    file = io.StringIO()
    lines = shown(PlainLines(file, 54), file).splitlines()
    assert len(lines) == 12
    assert re.fullmatch(r"\[ 1/54\] pass +reachability\.answers +it answers with HTTP 200", lines[0])
    assert any("repaired" in line and "chunk-id: " in line for line in lines)


def test_the_table_shows_every_item_and_the_one_that_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.delenv("NO_COLOR", raising=False)
    file = Screen()
    table = live_table(file, all_items("toy"))
    assert isinstance(table, LiveTable)
    text = shown(table, file)
    assert "now: somebody answers" in text
    assert all(result.item.id in text for result in sloppy_report().results[:12])


@pytest.mark.parametrize("reason", ["no terminal", "NO_COLOR", "dumb", "no rich"])
def test_lines_take_the_place_of_the_table_where_it_cannot_be_shown(
    reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "dumb" if reason == "dumb" else "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    if reason == "NO_COLOR":
        monkeypatch.setenv("NO_COLOR", "1")
    if reason == "no rich":
        monkeypatch.setitem(sys.modules, "rich.console", None)
    file = io.StringIO() if reason == "no terminal" else Screen()
    assert isinstance(live_table(file, all_items("toy")), PlainLines)


# -- the page ---------------------------------------------------------------------------------------------------------


def test_the_page_has_every_item_with_its_outcome() -> None:
    page = report_page(sloppy_report())
    told = dict(re.findall(r'<details class="item" id="([\w.-]+)" data-outcome="([\w ]+)"', page))
    assert told == {result.item.id: result.outcome for result in sloppy_report().results}


def test_each_exchange_stands_once_in_the_page_and_every_pointer_has_a_goal() -> None:
    page = report_page(sloppy_report())
    goals = re.findall(r' id="(exchange-[\w.-]+)"', page)
    assert sorted(goals) == sorted(f"exchange-{name}" for name in sloppy_report().exchanges)
    assert set(re.findall(r'href="#([\w.-]+)"', page)) <= set(goals)


def test_every_stream_has_a_timeline() -> None:
    streams = [
        exchange
        for exchange in sloppy_report().exchanges.values()
        if exchange.request.is_streamed and exchange.is_answered
    ]
    assert report_page(sloppy_report()).count('<figure class="timeline">') == len(streams) > 20


def test_the_page_of_a_perfect_server_names_no_fault() -> None:
    page = report_page(perfect_report())
    assert "No fault of the wire was seen." in page
    assert 'class="sighting"' not in page


def test_every_outcome_of_the_report_is_counted_on_the_page() -> None:
    page = html.unescape(report_page(sloppy_report()))
    for outcome in OUTCOMES:
        count = sum(result.outcome == outcome for result in sloppy_report().results)
        assert (f"{outcome} ({count})" in page) == bool(count)
