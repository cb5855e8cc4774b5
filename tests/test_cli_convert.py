"""`streamshim convert`: the bytes of either API, from a file or a pipe."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import streamshim
from streamshim.cli import main
from streamshim.testing import wire_breaches

CHAT = (
    b'data: {"id":"c","model":"m","choices":[{"index":0,"delta":{"reasoning":"Hm"}}]}\n\n'
    b'data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
)


@pytest.fixture
def capture(tmp_path: Path) -> str:
    path = tmp_path / "capture.sse"
    path.write_bytes(CHAT)
    return str(path)


def frames_of(written: bytes) -> list[bytes]:
    return [frame + b"\n\n" for frame in written.split(b"\n\n") if frame]


@pytest.mark.parametrize("to", ["chat", "responses"])
def test_stream_is_written_legally_and_says_the_same(
    to: str, capture: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert main(["convert", capture, "--to", to]) == 0
    written = capfdbinary.readouterr().out
    assert wire_breaches(frames_of(written)) == []
    answer = streamshim.parse(written)
    assert (answer.api, answer.text, answer.reasoning, answer.finish_reason) == (to, "Hi", "Hm", "stop")


def test_options_reach_the_encoder(capture: str, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    options = ["--reasoning", "none", "--model", "other", "--response-id", "r", "--no-done"]
    assert main(["convert", capture, "--to", "chat", *options]) == 0
    written = capfdbinary.readouterr().out
    payloads = [json.loads(frame.removeprefix(b"data: ")) for frame in frames_of(written)]
    assert {(payload["id"], payload["model"]) for payload in payloads} == {("r", "other")}
    assert b"Hm" not in written


def test_stream_that_was_cut_exits_badly(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    path = tmp_path / "cut.sse"
    path.write_bytes(CHAT[:90])
    assert main(["convert", str(path), "--to", "responses"]) == 1
    assert b'"stream_truncated"' in capfdbinary.readouterr().out


def test_option_that_the_encoder_does_not_know_is_a_usage_error(
    capture: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["convert", capture, "--to", "chat", "--reasoning", "loud"]) == 2
    assert "reasoning='loud'" in capsys.readouterr().err
