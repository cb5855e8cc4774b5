"""`streamshim check` as a command: what it prints, writes and returns, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from streamshim.check import plan
from streamshim.cli import main
from tests.checking import KEY
from tests.servers import ModelServer, serve_model

VARIABLE = "KEY_OF_THE_TESTS"


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv(VARIABLE, KEY)


def check(server: ModelServer, *arguments: str) -> int:
    return main(["check", "--base-url", server.base_url, "--model", "toy", "--api-key-env", VARIABLE, *arguments])


def test_where_all_is_well_the_code_is_0_and_the_cost_is_told_first(capsys: pytest.CaptureFixture[str]) -> None:
    with serve_model(key=KEY) as server:
        code = check(server, "--skip", "responses.background")
    lines = capsys.readouterr().out.splitlines()
    chosen = plan("toy", skip=["responses.background"])
    assert code == 0
    assert lines[0] == (
        f"{len(chosen.items)} items: at most {chosen.most_requests} requests, "
        f"at most {chosen.most_output_tokens:,} tokens out and about {chosen.input_tokens:,} in"
    )
    assert lines[1].startswith("[ 1/53] pass        reachability.answers ")
    assert "tier 3: /responses works" in lines


@pytest.mark.parametrize(
    ("habit", "code"), [("ids-change", 0), ("n-refused", 0), ("one-call-only", 0), ("stop-ignored", 1)]
)
def test_the_code_is_1_only_where_something_fails_and_not_through_the_model(habit: str, code: int) -> None:
    with serve_model(habit, key=KEY) as server:
        assert check(server, "--only", "chat", "--skip", "chat.too-long") == code


def test_a_dry_run_shows_every_request_and_sends_none(capsys: pytest.CaptureFixture[str]) -> None:
    with serve_model(key=KEY) as server:
        assert check(server, "--dry-run") == 0
        assert server.requests == []
    text = capsys.readouterr().out
    for request in plan("toy").requests:
        assert f"{request.name}: {request.method} {request.path}" in text
    assert '"previous_response_id":"<id of responses.remember>"' in text
    assert "chat.bad-key: POST /chat/completions, with a key that cannot be right" in text
    assert "/responses/<id of responses.background>, at most 8 times" in text
    assert text.splitlines()[-1].startswith("54 items: at most ")
    assert KEY not in text


def test_a_dry_run_needs_no_key_and_no_server(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["check", "--base-url", "http://127.0.0.1:1/v1", "--model", "any", "--dry-run", "--only", "chat.plain"]
    assert main(arguments) == 0
    assert capsys.readouterr().out.splitlines()[0] == "chat.plain: POST /chat/completions"


def test_an_interrupted_run_writes_what_it_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("streamshim.check.probe.Probe.ask_at_once", stop)
    with serve_model(key=KEY) as server:
        code = check(server, "--only", "chat.plain,chat.concurrency", "--json", str(tmp_path / "report.json"))
    told = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert code == 130
    assert {item["id"]: item["detail"] for item in told["items"] if item["detail"] != "left out"} == {
        "chat.plain": 'it answered "lighthouse"',
        "chat.concurrency": "interrupted",
    }
    assert "no tier" in capsys.readouterr().out


def test_reports_are_written_and_hold_no_key(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serve_model("ids-change", key=KEY) as server:
        names = ["--json", str(tmp_path / "report.json"), "--html", str(tmp_path / "report.html")]
        check(server, "--only", "chat.plain,chat.stream", "--only", "chat.delta-shape,chat.bad-key", *names)
    told = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    tried = {item["id"]: item["outcome"] for item in told["items"] if item["outcome"] != "not tried"}
    assert tried == {
        "chat.plain": "pass",
        "chat.stream": "pass",
        "chat.delta-shape": "repaired",
        "chat.bad-key": "pass",
    }
    assert page.startswith("<!doctype html>")
    assert not any(KEY in text for text in (page, json.dumps(told), *capsys.readouterr()))


def test_json_on_standard_output_stands_there_alone(capsys: pytest.CaptureFixture[str]) -> None:
    with serve_model(key=KEY) as server:
        check(server, "--only", "chat.plain", "--json", "-")
    out, told = capsys.readouterr()
    assert json.loads(out)["verdict"]["tier"] == 0
    assert "chat.plain" in told


def test_recorded_streams_are_judged_without_a_base_url(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "cut.sse").write_bytes(b'data: {"choices":[{"index":0,"delta":{"content":"High"}}]}\n\n')
    assert main(["check", "--recorded", str(tmp_path), "--html", str(tmp_path / "report.html")]) == 1
    text = capsys.readouterr().out
    assert "cut.sse: the answer was cut" in text
    assert "chat.stop" not in text
    assert "<svg" in (tmp_path / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ([], "check needs --base-url and --model, or --recorded"),
        (["--base-url", "http://127.0.0.1:1/v1"], "check needs --base-url and --model"),
        (["--base-url", "x", "--model", "toy", "--only", "chat.nothing"], "'chat.nothing' names no item"),
        (["--base-url", "not-a-url", "--model", "toy"], "'not-a-url' is no URL of an API"),
        (
            ["--base-url", "http://127.0.0.1:1/v1", "--model", "toy", "--api-key-env", "NOT_SET"],
            "there is no key in the environment variable NOT_SET",
        ),
        (["--recorded", "/no/such/folder"], "cannot read /no/such/folder: Not a directory"),
    ],
)
def test_what_cannot_be_done_is_refused_with_2(
    arguments: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", *arguments]) == 2
    assert reason in capsys.readouterr().err


def test_a_report_that_cannot_be_written_is_told_before_anything_is_sent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serve_model(key=KEY) as server:
        assert check(server, "--only", "chat.plain", "--json", str(tmp_path / "no" / "report.json")) == 2
        assert server.requests == []
    assert "there is no folder" in capsys.readouterr().err
