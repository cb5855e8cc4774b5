"""Golden pairs: the events that are fed and the frames that must come out, with every variant of the options."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from streamshim.encode import ChatEncoder, ResponsesEncoder
from streamshim.testing import wire_breaches
from tests.event_json import event_of

FOLDER = Path(__file__).with_name("scenarios") / "encode"
ENCODERS = {"chat": ChatEncoder, "responses": ResponsesEncoder}
ANY = "<any>"


def cases() -> list[Any]:
    found = []
    for path in sorted(FOLDER.glob("*.json")):
        golden = json.loads(path.read_text(encoding="utf-8"))
        events = golden["events"]
        for wire in ENCODERS:
            options, frames = golden[f"{wire}_options"], golden[f"{wire}_wire"]
            found.append(pytest.param(wire, events, options, frames, id=f"{path.stem}-{wire}"))
        for variant in golden.get("variants", ()):
            wire, options, frames = variant["wire"], variant["options"], variant["frames"]
            label = "-".join(f"{key}={value}" for key, value in options.items())
            found.append(pytest.param(wire, events, options, frames, id=f"{path.stem}-{wire}-{label}"))
    return found


def encoded(wire: str, events: list[dict[str, Any]], **options: Any) -> list[str]:
    encoder: Any = ENCODERS[wire](**options)
    frames = [frame for raw in events for frame in encoder.feed(event_of(raw))]
    return [frame.decode() for frame in frames + encoder.close()]


def parsed(frame: str) -> list[Any]:
    """The lines of a frame; those with JSON as the value."""
    lines = frame.split("\n")
    return [json.loads(line[6:]) if line.startswith("data: {") else line for line in lines]


def mismatch(expected: Any, actual: Any, where: str = "") -> str | None:
    """Where two JSON values part; `"<any>"` stands for any id or time."""
    if expected == ANY:
        return None if isinstance(actual, (str, int)) and actual else f"{where}: {actual!r}"
    if isinstance(expected, dict) and isinstance(actual, dict):
        if list(expected) != list(actual):
            return f"{where}: members {list(actual)}, not {list(expected)}"
        pairs = [(key, expected[key], actual[key]) for key in expected]
    elif isinstance(expected, list) and isinstance(actual, list):
        if len(expected) != len(actual):
            return f"{where}: {len(actual)} entries, not {len(expected)}"
        pairs = [(str(index), *pair) for index, pair in enumerate(zip(expected, actual, strict=True))]
    else:
        same = expected == actual and type(expected) is type(actual)
        return None if same else f"{where}: {actual!r}, not {expected!r}"
    return next((found for key, one, other in pairs if (found := mismatch(one, other, f"{where}.{key}"))), None)


@pytest.mark.parametrize(("wire", "events", "options", "frames"), cases())
def test_events_give_exactly_these_frames(
    wire: str, events: list[dict[str, Any]], options: dict[str, Any], frames: list[str]
) -> None:
    actual = encoded(wire, events, **options)
    assert len(actual) == len(frames)
    for number, (expected, frame) in enumerate(zip(frames, actual, strict=True)):
        assert mismatch(parsed(expected), parsed(frame), f"frame {number}") is None
    silent = options.get("truncated") == "silent"
    # one id of the response and one of each item is what the checker of the wire's order demands
    assert wire_breaches([frame.encode() for frame in actual], cut=silent) == []


def test_goldens_are_all_there() -> None:
    assert len(cases()) >= 30


@pytest.mark.parametrize(
    ("expected", "actual"),
    [({"a": 1}, {"a": 2}), ({"a": 1}, {"a": 1.0}), ([1], [1, 2]), ({"a": 1}, {"b": 1}), (ANY, ""), (ANY, None)],
)
def test_comparison_sees_differences(expected: Any, actual: Any) -> None:
    assert mismatch(expected, actual) is not None
