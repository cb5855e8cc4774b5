"""A run of the check: what it sends, what it costs at most, what it leaves out, and what it does not give away."""

from __future__ import annotations

import html
import json
from typing import Any

import pytest

from streamshim.check import (
    CheckInterrupted,
    CheckItem,
    CheckReport,
    CheckResult,
    plan,
    report_json,
    report_page,
    run_checks,
)
from streamshim.check.probe import WRONG_KEY, shown_url
from tests.checking import KEY, check, check_and_see
from tests.loopback import PAUSE, serve
from tests.servers import serve_model

CHAT_ONLY = ("chat.plain", "chat.stream", "chat.framing")


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def outcomes(report: Any, *, tried: bool = True) -> dict[str, str]:
    return {result.item.id: result.outcome for result in report.results if not tried or result.outcome != "not tried"}


# -- what is sent -----------------------------------------------------------------------------------------------------


def test_a_run_sends_what_the_plan_says_and_nothing_else() -> None:
    chosen = plan("toy")
    report, server = check_and_see()
    planned = {(request.method, request.path) for request in chosen.requests if not request.resource}
    sent = [(request.method, request.path.removeprefix("/v1")) for request in server.requests]
    assert {(method, path) for method, path in sent if not path.startswith("/responses/")} == planned
    assert len(sent) == report.requests <= chosen.most_requests
    assert report.tokens <= chosen.most_tokens


def test_every_request_bounds_its_answer() -> None:
    for request in plan("toy").requests:
        if request.body is not None:
            bounds = [request.body.get(name) for name in ("max_tokens", "max_output_tokens")]
            assert request.output_tokens in bounds
            assert request.output_tokens <= 512


def test_items_that_look_at_one_stream_ask_for_it_once() -> None:
    report, server = check_and_see(only=CHAT_ONLY)
    assert outcomes(report) == dict.fromkeys(CHAT_ONLY, "pass")
    assert [(request.method, request.path) for request in server.requests] == [("POST", "/v1/chat/completions")] * 2
    assert report["chat.framing"].exchanges == ("chat.stream",)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["chat.stop"], {"chat.stop"}),
        (
            ["chat-errors"],
            {"chat.bad-model", "chat.bad-key", "chat.bad-parameter", "chat.too-long", "chat.error-shape"},
        ),
        (["reachability", "chat.plain"], {"reachability.answers", "reachability.models", "chat.plain"}),
    ],
)
def test_only_names_items_and_groups(words: list[str], expected: set[str]) -> None:
    assert {item.id for item in plan("toy", only=words).items} == expected
    left = {item.id for item in plan("toy", skip=words).items}
    assert left.isdisjoint(expected)
    assert len(left) + len(expected) == len(plan("toy").items)


def test_an_api_is_named_by_the_beginning_of_its_ids() -> None:
    assert {item.api for item in plan("toy", only=["responses"]).items} == {"responses"}
    assert {item.group for item in plan("toy", only=["chat"]).items} >= {"chat", "chat-tools", "chat-options"}


@pytest.mark.parametrize("option", ["only", "skip"])
def test_a_word_that_names_nothing_is_refused(option: str) -> None:
    with pytest.raises(ValueError, match=r"'chat\.framin' names no item; it is an id such as"):
        plan("toy", **{option: ["chat.framin"]})


def test_what_is_left_out_is_not_tried_and_keeps_its_place() -> None:
    report = check(only=["chat.stop"])
    assert [result.item.id for result in report.results] == [item.id for item in plan("toy").items]
    assert outcomes(report) == {"chat.stop": "pass"}
    assert report["chat.plain"].detail == "left out"


def test_the_wrong_key_goes_with_one_request_and_the_right_one_with_all_others() -> None:
    _, server = check_and_see(only=["chat"])
    keys = [request.headers.get("authorization") for request in server.requests]
    assert keys.count(f"Bearer {WRONG_KEY}") == 1
    assert keys.count(f"Bearer {KEY}") == len(keys) - 1


def test_no_key_is_sent_where_none_is_given() -> None:
    with serve_model() as server:
        run_checks(server.base_url, model="toy", only=["chat.plain"])
        assert "authorization" not in server.requests[0].headers


def test_the_four_at_once_are_under_way_together() -> None:
    with serve([PAUSE, b"data: [DONE]\n\n"]) as server:
        watcher = Starts(lambda: release(server))
        report = run_checks(server.url, model="toy", only=["chat.concurrency"], watcher=watcher)
        assert server.connections == 4
    assert len(report["chat.concurrency"].exchanges) == 4


class Starts:
    """Does something when the first item starts."""

    def __init__(self, act: Any) -> None:
        self._act = act

    def started(self, item: CheckItem) -> None:
        self._act()

    def concluded(self, result: CheckResult) -> None:
        pass


def release(server: Any) -> None:
    for _ in range(4):
        server.go_on()


def test_a_server_that_wants_the_limit_under_its_new_name_gets_it_so() -> None:
    report, server = check_and_see("max-tokens-refused", only=["chat.plain", "chat.stream"])
    assert outcomes(report) == {"chat.plain": "pass", "chat.stream": "pass"}
    named = [[name for name in request.body if name.startswith("max_")] for request in server.requests]
    assert named == [["max_tokens"], ["max_completion_tokens"], ["max_completion_tokens"]]
    assert report.requests == 3


def test_a_client_that_leaves_reads_no_further() -> None:
    report = check(only=["chat.cut-by-client"])
    cut, after = (report.exchanges[name] for name in report["chat.cut-by-client"].exchanges)
    assert report["chat.cut-by-client"].outcome == "pass"
    assert b"[DONE]" not in cut.body
    assert b"[DONE]" in after.body


# -- budgets ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("most", [0, 1, 5, 12])
def test_a_budget_of_requests_is_never_passed(most: int) -> None:
    report, server = check_and_see(max_requests=most, skip=["responses.background"])
    assert len(server.requests) == report.requests == most
    assert f"the budget of {most} requests is used up" in {result.detail for result in report.results}


@pytest.mark.parametrize("most", [0, 700, 3000])
def test_a_budget_of_tokens_is_never_passed(most: int) -> None:
    report, server = check_and_see(max_tokens=most, skip=["responses.background"])
    bounds = [
        (request.body or {}).get("max_tokens") or (request.body or {}).get("max_output_tokens") or 0
        for request in server.requests
    ]
    assert report.tokens <= most
    assert all(bound <= most for bound in bounds)
    assert any("tokens would be passed" in result.detail for result in report.results)


def test_what_came_before_the_budget_was_used_up_is_kept() -> None:
    report = check(only=["chat.cut-by-client", "chat.framing"], skip=["chat.framing"], max_requests=1)
    assert report["chat.cut-by-client"].outcome == "not tried"
    assert list(report.exchanges) == ["chat.cut"]


def test_what_the_server_counts_takes_the_place_of_what_was_set_aside() -> None:
    report = check(only=["chat.plain"])
    (exchange,) = report.exchanges.values()
    assert report.tokens == exchange.json["usage"]["total_tokens"]


# -- when there is nothing to try ------------------------------------------------------------------------------------


def test_an_api_that_is_not_there_is_asked_once() -> None:
    report, server = check_and_see(apis=("chat",))
    assert [request.path for request in server.requests].count("/v1/responses") == 1
    assert report["responses.stream"].outcome == "unsupported"
    assert report["responses.stream"].detail == "there is no /responses here"
    assert report["chat.stream"].outcome == "pass"


def test_a_key_that_is_refused_ends_the_run() -> None:
    report, server = check_and_see(api_key="sk-another-one-000000")
    assert report["chat.plain"].outcome == "fail"
    assert report["chat.stream"].outcome == "not tried"
    assert "chat.plain failed: HTTP 401" in report["chat.stream"].detail
    assert len(server.requests) == 4


def test_a_model_that_does_not_exist_is_no_missing_api() -> None:
    report = check(model="nobody")
    assert report["reachability.models"].outcome == "fail"
    assert report["chat.plain"].outcome == "fail"
    assert report["chat.stream"].outcome == "not tried"


def test_where_the_server_asks_to_slow_down_nothing_is_said_of_it() -> None:
    refusal = json.dumps({"error": {"message": "slow down"}}).encode()
    with serve([refusal], status=429, headers={"Content-Type": "application/json"}) as server:
        report = run_checks(server.url, model="toy", only=["chat"])
    assert {result.outcome for result in report.results if result.item.group != "chat-options"} == {"not tried", "pass"}
    assert report["chat.plain"].detail == report["chat.bad-model"].detail == 'HTTP 429: "slow down"'


def test_a_model_that_this_api_does_not_have_is_no_fault_of_the_api() -> None:
    message = "This is a chat model and not supported in the v1/completions endpoint."
    refusal = json.dumps({"error": {"message": message, "param": "model", "code": None}}).encode()
    with serve([refusal], status=404, headers={"Content-Type": "application/json"}) as server:
        report = run_checks(server.url, model="toy", only=["completions"])
    assert set(outcomes(report).values()) == {"unsupported"}


def test_where_nobody_answers_nothing_else_is_tried() -> None:
    with serve_model() as server:
        base_url = server.base_url
    report = run_checks(base_url, model="toy", timeout=5)
    assert outcomes(report) == {"reachability.answers": "fail"}
    assert "nobody answers: ConnectError" in report["reachability.answers"].detail
    assert report.requests == 1


def test_an_answer_that_does_not_end_is_given_up() -> None:
    first = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "toy"}
    chunk = {**first, "choices": [{"index": 0, "delta": {"role": "assistant", "content": "1"}, "finish_reason": None}]}
    with serve([f"data: {json.dumps(chunk)}\n\n".encode(), PAUSE]) as server:
        report = run_checks(server.url, model="toy", only=["chat.stream", "chat.framing"], timeout=0.3)
        server.go_on()
    assert (report["chat.stream"].outcome, report["chat.stream"].cause) == ("fail", "wire")
    assert "nothing came for 0.3 s" in report["chat.stream"].detail
    assert report["chat.framing"].faults == ["cut"]


@pytest.mark.parametrize("url", ["127.0.0.1:8080/v1", "ftp://127.0.0.1/v1", ""])
def test_what_is_no_url_is_refused_before_anything_is_sent(url: str) -> None:
    with pytest.raises(ValueError, match="is no URL of an API"):
        run_checks(url, model="toy")


class Impatient:
    """Calls the run off when an item starts."""

    def __init__(self, id: str) -> None:
        self._id = id

    def started(self, item: CheckItem) -> None:
        if item.id == self._id:
            raise KeyboardInterrupt

    def concluded(self, result: CheckResult) -> None:
        pass


def test_what_was_found_before_an_interrupt_is_kept() -> None:
    with pytest.raises(KeyboardInterrupt) as caught:
        check("ids-change", only=["chat"], watcher=Impatient("chat.stop"))
    assert isinstance(caught.value, CheckInterrupted)
    report = caught.value.report
    assert (report["chat.stream"].outcome, report["chat.delta-shape"].faults) == ("pass", ["chunk-id"])
    assert (report["chat.stop"].outcome, report["chat.stop"].detail) == ("not tried", "interrupted")
    assert report["responses.plain"].detail == "left out"


# -- secrets ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", [KEY, "harbour master", 'with "quotes"'])
def test_a_key_that_the_server_repeats_is_in_nothing_that_is_told(key: str) -> None:
    echo = json.dumps({"error": {"message": f"the key {key} is wrong, and so is the name Bearer {key}"}}).encode()
    with serve([echo[:40], echo[40:]], status=401, headers={"Content-Type": f"application/json; {key}"}) as server:
        report = run_checks(server.url, model="toy", api_key=key)
    assert "HTTP 401" in report["chat.plain"].detail
    assert not any(key in text or json.dumps(key)[1:-1] in text for text in told(report))


def test_what_names_a_person_or_an_account_is_in_nothing_that_is_told() -> None:
    message = "no credit: ask bob@tide.example"
    body = json.dumps({"error": {"message": message}, "user": "bob the pilot", "id": "req_7fQ2xL0pZk"}).encode()
    with serve([body], status=402, headers={"Content-Type": "application/json"}) as server:
        report = run_checks(server.url, model="toy")
    assert not any(secret in text for text in told(report) for secret in ("bob@tide", "pilot", "7fQ2xL0pZk"))


def told(report: CheckReport) -> list[str]:
    """Everything that any report could show."""
    texts = [json.dumps(report_json(report), ensure_ascii=False), report_page(report)]
    return [*texts, *map(html.unescape, texts), *(result.detail for result in report.results)]


def test_names_and_passwords_in_the_url_are_not_shown() -> None:
    assert shown_url("https://me:secret@host:8080/v1?key=abc#x") == "https://host:8080/v1"
    with serve_model() as server:
        url = server.base_url.replace("http://", "http://me:pass-word-77@") + "?token=abcdef-99"
        report = run_checks(url, model="toy", only=["reachability", "chat.plain"])
    assert report.target == server.base_url
    assert outcomes(report) == {"reachability.answers": "pass", "reachability.models": "pass", "chat.plain": "pass"}


def test_ids_of_the_vendor_are_put_out_and_yet_used() -> None:
    report, server = check_and_see(only=["responses.previous-response"])
    used = [
        request.body["previous_response_id"] for request in server.requests if "previous_response_id" in request.body
    ]
    assert report["responses.previous-response"].outcome == "pass"
    assert len(used) == 1
    shown = report.exchanges["responses.recall"].request.body
    assert shown is not None
    assert shown["previous_response_id"] == "<id of responses.remember>"


def test_faults_are_proved_by_the_frame_that_shows_them() -> None:
    report = check("ids-change", only=["chat.stream", "chat.delta-shape"])
    (sighting,) = report["chat.delta-shape"].sightings
    assert (sighting.fault, sighting.aspect) == ("chunk-id", "delta shape")
    assert sighting.count == 31
    assert json.loads(sighting.frame)["object"] == "chat.completion.chunk"
    (sighting,) = check("stray-quote", only=["chat.stream", "chat.framing"])["chat.framing"].sightings
    assert sighting.fault == "json-lenient"
    assert "chat.completion.chunk" in sighting.frame


def test_a_model_that_does_not_obey_is_not_the_wire_s_fault() -> None:
    report = check("one-call-only", only=["chat.parallel-tools"])
    result = report["chat.parallel-tools"]
    assert (result.outcome, result.cause, result.faults) == ("fail", "model", [])
    assert result.detail.startswith("the model did not do it")
