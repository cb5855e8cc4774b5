"""The comparison with other clients: how an account is judged, how the page is written, and that its numbers agree."""

from __future__ import annotations

import dataclasses
import json
import re
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks.comparison.account import Account, Answer, Call, as_text
from benchmarks.comparison.judging import judge, reason_of
from benchmarks.comparison.limits import UNEXPLAINED
from benchmarks.comparison.page import Result, render
from benchmarks.comparison.reading import read_event
from benchmarks.comparison.scenarios import APIS, Scenario, load_scenarios
from benchmarks.comparison.worker import CLIENTS, account_of
from tests.comparison_page import PAGE, TITLES, broken_over_the_transport, tables

CALL = {"call_id": "c1", "name": "f", "kind": "function", "arguments": {"a": 1}, "status": "complete"}
CUT_CALL = {"call_id": "c1", "name": "f", "kind": "function", "arguments_text": '{"a": 1}', "status": "truncated"}
WHOLE: dict[str, Any] = {
    "status": "completed",
    "text": "Hello world",
    "reasoning": "hm",
    "tool_calls": [],
    "finish_reason": "stop",
    "raw_finish_reason": "stop",
}
CALLING = WHOLE | {
    "text": "",
    "reasoning": "",
    "tool_calls": [CALL],
    "finish_reason": "tool_calls",
    "raw_finish_reason": "tool_calls",
}
CUT = WHOLE | {"status": "truncated", "finish_reason": None, "raw_finish_reason": None}
FAILED = WHOLE | {"status": "failed", "finish_reason": "error", "raw_finish_reason": None}
STOPPED = WHOLE | {"status": "incomplete", "finish_reason": "length", "raw_finish_reason": "length"}

RIGHT = Account(text="Hello world", finish="stop")
CALLED = Account(tool_calls=[Call("f", '{"a":1}', "c1")], finish="tool_calls")
RAISED = Account(text="Hello ", error="ValueError: what", ended="raised")


def but(account: Account, **changes: Any) -> Account:
    return dataclasses.replace(account, **changes)


@pytest.mark.parametrize(
    ("account", "expect", "seen"),
    [
        (RIGHT, WHOLE, None),
        (but(RIGHT, text="\n Hello world "), WHOLE, None),
        (but(RIGHT, text=""), WHOLE, "text lost"),
        (but(RIGHT, text="Hello"), WHOLE, "text incomplete"),
        (but(RIGHT, text="Hello world!"), WHOLE, "text has extra"),
        (but(RIGHT, text="world"), WHOLE, "text differs"),
        (but(RIGHT, text="<think>hm</think>Hello world"), WHOLE, "reasoning in text"),
        (but(RIGHT, text="Hello world I cannot"), WHOLE | {"refusal": " I cannot"}, None),
        (but(RIGHT, text="\ud83d"), WHOLE | {"text": "\ufffd"}, None),
        (but(RIGHT, text="anything"), {key: WHOLE[key] for key in WHOLE if key != "text"}, None),
    ],
)
def test_text_is_judged(account: Account, expect: dict[str, Any], seen: str | None) -> None:
    assert judge(account, expect) == seen


@pytest.mark.parametrize(
    ("reasoning", "seen"),
    [(None, None), ("hm", None), ("", "reasoning lost"), ("hmhm", "reasoning has extra"), ("oh", "reasoning differs")],
)
def test_reasoning_is_judged_where_the_client_has_a_place_for_it(reasoning: str | None, seen: str | None) -> None:
    assert judge(but(RIGHT, reasoning=reasoning), WHOLE) == seen


@pytest.mark.parametrize(
    ("calls", "seen"),
    [
        ([Call("f", '{"a":1}', "c1")], None),
        ([], "call lost"),
        ([Call("ff", '{"a":1}', "c1")], "call name differs"),
        ([Call("f", '{"a":1}{"a":1}', "c1")], "arguments differ"),
        ([Call("f", '{"a":1}', "c1c1")], "call id differs"),
        ([Call("f", '{"a":1}', None)], "call id differs"),
        ([Call("f", '{"a":1}', "c1"), Call("f", '{"a":1}', "c1")], "call too many"),
    ],
)
def test_calls_are_judged(calls: list[Call], seen: str | None) -> None:
    assert judge(but(CALLED, tool_calls=calls), CALLING) == seen


def test_calls_may_come_in_any_order() -> None:
    second = CALL | {"call_id": "c2", "name": "g"}
    calls = [Call("g", '{"a":1}', "c2"), Call("f", '{"a":1}', "c1")]
    assert judge(but(CALLED, tool_calls=calls), CALLING | {"tool_calls": [CALL, second]}) is None


@pytest.mark.parametrize("call_id", [None, "made-up"])
def test_an_id_that_the_wire_does_not_give_is_not_judged(call_id: str | None) -> None:
    expect = CALLING | {"tool_calls": [CALL | {"call_id": None}]}
    assert judge(but(CALLED, tool_calls=[Call("f", '{"a":1}', call_id)]), expect) is None


def test_no_arguments_are_an_empty_object() -> None:
    expect = CALLING | {"tool_calls": [CALL | {"arguments": {}}]}
    assert judge(but(CALLED, tool_calls=[Call("f", "", "c1")]), expect) is None


def test_calls_that_the_vendor_runs_are_not_judged() -> None:
    assert judge(RIGHT, WHOLE | {"tool_calls": [CALL | {"kind": "server"}]}) is None


def test_a_call_with_an_open_status_may_be_there_or_not() -> None:
    expect = STOPPED | {"tool_calls": [{key: CALL[key] for key in CALL if key != "status"}]}
    account = but(RIGHT, finish="length")
    assert judge(account, expect) is None
    assert judge(but(account, tool_calls=CALLED.tool_calls), expect) is None


@pytest.mark.parametrize(
    ("arguments", "seen"),
    [('{"a": "long te', None), ('{"a": "long te"}', "unusable call runnable"), ("", None)],
)
def test_a_call_cut_by_a_limit_must_not_look_runnable(arguments: str, seen: str | None) -> None:
    cut = CUT_CALL | {"arguments_text": '{"a": "long te'}
    account = Account(text="Hello world", tool_calls=[Call("f", arguments, "c1")], finish="length")
    assert judge(account, STOPPED | {"tool_calls": [cut]}) == seen


@pytest.mark.parametrize("sent", ['{"a": 1}{"b": 2}', '{"nested": "deep"}'])
def test_an_invalid_call_may_be_handed_over_as_it_was_sent_only(sent: str) -> None:
    expect = CALLING | {"tool_calls": [CUT_CALL | {"arguments_text": sent, "status": "invalid"}]}
    assert judge(but(CALLED, tool_calls=[Call("f", sent, "c1")]), expect) is None
    assert judge(but(CALLED, tool_calls=[Call("f", '{"a": 1}', "c1")]), expect) == "unusable call runnable"


@pytest.mark.parametrize(
    ("account", "seen"),
    [
        (RIGHT, "cut looks whole"),
        (but(RIGHT, finish="completed"), "cut looks whole"),
        (but(RIGHT, finish=None), None),
        (but(RIGHT, finish=None, text="Hello "), None),
        (but(RIGHT, finish=None, text="Bye"), "text differs"),
        (RAISED, None),
    ],
)
def test_a_cut_stream_must_not_look_whole(account: Account, seen: str | None) -> None:
    assert judge(account, CUT) == seen


def test_a_call_of_a_cut_stream_must_not_look_runnable() -> None:
    expect = CUT | {"text": "", "reasoning": "", "tool_calls": [CUT_CALL]}
    account = but(CALLED, finish=None)
    assert judge(account, expect) == "unusable call runnable"
    assert judge(but(account, tool_calls=[]), expect) is None
    assert judge(but(account, ended="raised", error="ValueError: what"), expect) is None


@pytest.mark.parametrize(
    ("account", "seen"),
    [
        (RIGHT, "error not reported"),
        (but(RIGHT, finish=None), "error not reported"),
        (but(RIGHT, finish="network_error"), None),
        (but(RIGHT, finish=None, error="overloaded"), None),
        (RAISED, None),
    ],
)
def test_an_error_must_be_reported(account: Account, seen: str | None) -> None:
    assert judge(account, FAILED) == seen


@pytest.mark.parametrize(
    ("finish", "expect", "seen"),
    [
        ("completed", WHOLE, None),
        ("tool_calls", WHOLE, None),
        ("stopstop", WHOLE, "finish differs"),
        ("length", WHOLE, "finish differs"),
        (None, WHOLE, "finish lost"),
        (None, WHOLE | {"finish_reason": None, "raw_finish_reason": None}, None),
        (None, CALLING | {"text": "Hello world", "tool_calls": [], "raw_finish_reason": None}, None),
        ("stop", WHOLE | {"finish_reason": "other", "raw_finish_reason": "exotic"}, None),
        ("content_filter", WHOLE | {"refusal": "no"}, None),
        ("max_output_tokens", STOPPED, None),
        ("stop", STOPPED, "stopped looks whole"),
        (None, STOPPED, "finish lost"),
        ("stop", STOPPED | {"finish_reason": "stop", "raw_finish_reason": "stop"}, None),
    ],
)
def test_the_finish_word_is_judged_by_its_meaning(finish: str | None, expect: dict[str, Any], seen: str | None) -> None:
    assert judge(but(RIGHT, finish=finish), expect) == seen


def test_an_exception_is_wrong_where_the_answer_was_whole() -> None:
    assert judge(RAISED, WHOLE) == "raised ValueError"
    assert judge(RAISED, STOPPED) == "raised ValueError"


def test_an_exception_is_right_where_it_names_the_limit_or_the_connection_broke() -> None:
    assert judge(but(RAISED, error="FinishError: the length limit was reached"), STOPPED) is None
    assert judge(RAISED, WHOLE, dropped=True) is None


def test_an_error_that_nobody_made_is_wrong() -> None:
    assert judge(but(RIGHT, error="null"), WHOLE) == "reports an error"


def test_a_cancelled_stream_must_not_look_whole() -> None:
    expect = CUT | {"status": "cancelled"}
    assert judge(RIGHT, expect) == "cancelled looks whole"
    assert judge(but(RIGHT, finish="cancelled"), expect) is None


@pytest.mark.parametrize("ended", ["hung", "crashed"])
def test_a_client_that_hangs_or_crashes_is_wrong_whatever_it_said(ended: Any) -> None:
    assert judge(but(RIGHT, ended=ended), WHOLE) == ended


def test_one_right_answer_of_two_is_enough() -> None:
    final = Answer("Hello world", None, [Call("f", '{"a":1}', "c1")])
    expect = CALLING | {"text": "Hello world"}
    assert judge(Account(text="Hello", final=final, finish="tool_calls"), expect) is None
    assert judge(Account(text="Hello world", final=Answer("Hello"), finish="stop"), WHOLE) is None
    assert judge(but(RIGHT, reasoning="", final=Answer("Hello world", "hm")), WHOLE) is None
    assert judge(Account(text="Hello", final=Answer("Bye"), finish="stop"), WHOLE) == "text incomplete"


def test_words_that_are_not_known_mean_themselves() -> None:
    assert [reason_of(word) for word in ("MAX_TOKENS", "exotic", "", None)] == ["length", "exotic", None, None]


def test_what_is_seen_has_three_words_at_most() -> None:
    found = {cell for rows in seen_tables().values() for row in rows for cell in row[2:] if cell}
    assert max(len(cell.split()) for cell in found) <= 3


def test_an_account_survives_json() -> None:
    call = Call("f", "{}", "c1")
    whole = Account("a", "b", [call], Answer("c", None, [call]), "stop", "E: x", "raised")
    for account in (whole, Account()):
        assert Account.from_json(json.loads(json.dumps(account.to_json()))) == account


def test_objects_in_the_place_of_text_become_json() -> None:
    assert [as_text(value) for value in ("x", {"a": 1}, None)] == ["x", '{"a": 1}', "{}"]


def test_an_exception_keeps_what_was_read_before_it() -> None:
    def read(account: Account) -> None:
        account.text = "Hello"
        raise ValueError("what")

    assert account_of(read) == Account("Hello", error="ValueError: what", ended="raised")


def test_events_of_the_responses_api_make_an_account() -> None:
    call = SimpleNamespace(type="function_call", name="f", arguments="{}", call_id="c1")
    part = SimpleNamespace(type="output_text", text="Hello!")
    message = SimpleNamespace(type="message", content=[part])
    limit = SimpleNamespace(reason="max_output_tokens")
    response = SimpleNamespace(output=[message, call], incomplete_details=limit, status="incomplete", error=None)
    account = Account()
    for event in (
        SimpleNamespace(type="response.reasoning_text.delta", delta="hm"),
        SimpleNamespace(type="response.output_text.delta", delta="Hello"),
        SimpleNamespace(type="response.output_item.done", item=call),
        SimpleNamespace(type="response.incomplete", response=response),
        SimpleNamespace(type="response.output_text.delta", delta="ghost"),
    ):
        read_event(event, account)
    calls = [Call("f", "{}", "c1")]
    assert account == Account("Hello", "hm", calls, Answer("Hello!", "", calls), "max_output_tokens")


def test_every_scenario_of_an_api_without_options_is_put_to_the_clients() -> None:
    folder = Path(__file__).with_name("scenarios")
    for api in APIS:
        values = [json.loads(path.read_text(encoding="utf-8")) for path in (folder / api).glob("*.json")]
        wanted = {value["name"] for value in values if value["api"] == api and value["options"] == {}}
        assert {scenario.name for scenario in load_scenarios(api)} == wanted


@pytest.mark.parametrize(("body", "media"), [(b'\n {"a":1}', "json"), (b"[]", "json"), (b"data: {}", "event-stream")])
def test_a_body_that_begins_like_json_is_announced_as_json(body: bytes, media: str) -> None:
    scenario = Scenario("x", "y", (body[:1], body[1:]), dropped=False, expect={})
    assert scenario.content_type.endswith(media)


def test_the_page_counts_and_lists_what_it_is_given() -> None:
    results = [
        Result("chat", "one", "tools", "t1", None),
        Result("chat", "one", "errors", "e1", "error not reported"),
        Result("chat", "two", "tools", "t1", None),
        Result("chat", "two", "errors", "e1", None),
    ]
    page = render(results, {"CPython": "3.11", "one": "1.0"}, 10)
    assert "| one | 1 / 2 |\n| two | 2 / 2 |\n" in page
    assert "| errors | 0 / 1 | 1 / 1 |\n| tools | 1 / 1 | 1 / 1 |\n" in page
    assert "| errors | `e1` | error not reported |  |\n" in page
    assert "`t1`" not in page
    assert "| one | 1.0 |" in page


def test_the_page_sets_the_transport_beside_the_bare_clients() -> None:
    results = [
        Result("chat", "openai-agents", "media", "audio", "raised AgentsException"),
        Result("chat", "openai-agents", "media", "images", "text lost"),
        Result("chat", "openai-agents", "media", "audio", "raised AgentsException", relayed=True),
        Result("chat", "openai-agents", "media", "images", None, relayed=True),
        Result("chat", "openai-agents", "media", "who-knows", "hung", relayed=True),
    ]
    page = render(results, {}, 10)
    assert "| openai-agents | 0 / 2 | 1 / 3 |\n" in page
    assert "| openai-agents | Chat Completions | `audio` | there is no audio |\n" in page
    assert f"| `who-knows` | {UNEXPLAINED} |\n" in page


def test_the_written_page_explains_all_that_is_left() -> None:
    assert UNEXPLAINED not in PAGE.read_text(encoding="utf-8")
    rows = tables()["Over streamshim's transport"][1:]
    for client, *scores in rows:
        for api, cell in zip(APIS, scores[1::2], strict=True):
            if cell != "–":
                right, total = score(cell)
                assert total - right == len(broken_over_the_transport(api, client))


def seen_tables() -> dict[str, list[list[str]]]:
    return {title: tables()[f"{title}: what was seen"][1:] for title in TITLES.values()}


def score(cell: str) -> tuple[int, int]:
    numbers = re.fullmatch(r"(\d+) / (\d+)", cell)
    assert numbers, cell
    return int(numbers[1]), int(numbers[2])


@pytest.mark.parametrize("api", APIS)
def test_the_written_page_agrees_with_itself(api: Any) -> None:
    title = TITLES[api]
    header, *families = tables()[f"{title}: by family"]
    column = tables()["Totals"][0].index(title)
    totals = {row[0]: score(row[column]) for row in tables()["Totals"][1:] if row[column] != "–"}
    assert header[1:] == list(CLIENTS[api]) == list(totals)
    for position, client in enumerate(header[1:], start=1):
        scores = [score(row[position]) for row in families]
        right, total = sum(score[0] for score in scores), sum(score[1] for score in scores)
        assert totals[client] == (right, total)
        wrong = Counter(row[0] for row in seen_tables()[title] if row[position + 1])
        assert wrong == Counter({row[0]: score(row[position])[1] - score(row[position])[0] for row in families})
