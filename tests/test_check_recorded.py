"""Recorded streams, judged without a network: by the items that can be judged from a stream alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from streamshim.capture import Capture, TimedPiece, write_capture
from streamshim.check import judge_recorded, report_json, report_page, verdict
from tests.servers import serve_model

httpx2 = pytest.importorskip("httpx2")

WHOLE_ITEMS = {"completions.stream", "chat.stream", "responses.stream"}
COUNT = "Count to 30, one number after another."


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def body_of(path: str, *habits: str, **members: Any) -> bytes:
    asked = {"/chat/completions": {"messages": [{"role": "user", "content": COUNT}]}, "/responses": {"input": COUNT}}
    with serve_model(*habits) as server:
        body = {"model": "toy", "stream": True, **asked[path], **members}
        return httpx2.post(server.base_url + path, json=body).content


def record(folder: Path, name: str, body: bytes, **about: Any) -> None:
    half = len(body) // 2
    write_capture(Capture([TimedPiece(body[:half], 0.1), TimedPiece(body[half:], 0.9)], 1.0, **about), folder / name)


def test_streams_of_a_folder_are_judged_by_what_they_show(tmp_path: Path) -> None:
    record(tmp_path, "good.sse", body_of("/chat/completions"))
    (tmp_path / "bad.sse").write_bytes(body_of("/chat/completions", "ids-change"))
    report = judge_recorded(tmp_path)
    assert report["chat.stream"].outcome == "pass"
    assert report["chat.stream"].detail == "2 streams came whole"
    assert (report["chat.delta-shape"].outcome, report["chat.delta-shape"].faults) == ("repaired", ["chunk-id"])
    assert report["chat.delta-shape"].exchanges == ("bad.sse",)
    assert report["chat.framing"].outcome == "pass"


def test_what_takes_a_request_is_not_tried(tmp_path: Path) -> None:
    record(tmp_path, "one.sse", body_of("/responses"))
    report = judge_recorded(tmp_path)
    tried = {result.item.id for result in report.results if result.outcome != "not tried"}
    with_aspects = {result.item.id for result in report.results if result.item.aspects}
    assert tried == {id for id in with_aspects | WHOLE_ITEMS if id.startswith("responses.")}
    assert report["responses.background"].detail == "it takes more than recorded streams"
    assert report["chat.stream"].detail == "no stream of this API was recorded"


def test_a_cut_stream_fails_and_one_that_somebody_interrupted_does_not(tmp_path: Path) -> None:
    body = body_of("/chat/completions")[:2000]
    record(tmp_path, "cut.sse", body)
    report = judge_recorded(tmp_path)
    assert (report["chat.stream"].outcome, report["chat.stream"].cause) == ("fail", "wire")
    assert "cut.sse: the answer was cut" in report["chat.stream"].detail
    assert report["chat.framing"].outcome == "fail"
    record(tmp_path, "cut.sse", body, ended="interrupted")
    report = judge_recorded(tmp_path)
    assert (report["chat.stream"].outcome, report["chat.framing"].outcome) == ("pass", "pass")


def test_counts_and_bodies_that_nobody_may_have_asked_for_are_no_faults(tmp_path: Path) -> None:
    (tmp_path / "whole.json").write_bytes(body_of("/chat/completions", stream=False))
    record(tmp_path, "counted.sse", body_of("/chat/completions", stream_options={"include_usage": True}))
    assert judge_recorded(tmp_path).faults == []


def test_ids_and_keys_of_a_recording_are_put_out(tmp_path: Path) -> None:
    chunk = {"id": "chatcmpl-Fq7Xz2LmNo9Pw", "user": "bob@tide.example", "choices": []}
    (tmp_path / "one.sse").write_bytes(f"data: {json.dumps(chunk)}\n\n".encode() + body_of("/chat/completions"))
    report = judge_recorded(tmp_path)
    texts = json.dumps(report_json(report)) + report_page(report)
    assert "bob@tide" not in texts
    assert "Fq7Xz2LmNo9Pw" not in texts


def test_files_of_no_known_shape_are_named_and_judged_by_nobody(tmp_path: Path) -> None:
    record(tmp_path, "good.sse", body_of("/chat/completions"))
    (tmp_path / "notes.txt").write_text("High water at noon.\n")
    report = judge_recorded(tmp_path)
    assert report.unread == ["notes.txt"]
    assert report.faults == []
    assert "notes.txt" in report_json(report)["unread"]


def test_a_report_over_recordings_says_no_tier_and_has_their_timelines(tmp_path: Path) -> None:
    record(tmp_path, "good.sse", body_of("/chat/completions"))
    report = judge_recorded(tmp_path)
    assert verdict(report).tier == 0
    page = report_page(report)
    assert page.count('<figure class="timeline">') == 1
    assert report_json(report)["exchanges"]["good.sse"]["request"] is None


def test_an_empty_folder_and_one_that_is_not_there_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there is no file in"):
        judge_recorded(tmp_path)
    with pytest.raises(OSError, match="Not a directory"):
        judge_recorded(tmp_path / "nowhere")
