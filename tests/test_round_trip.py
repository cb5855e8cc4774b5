"""Law 7: what is encoded and decoded again is what it was, but for what the wire cannot say (`losses`)."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given

from streamshim import Event
from streamshim import events as e
from streamshim.encode import ChatEncoder, ResponsesEncoder
from streamshim.testing import breaches, wire_breaches
from tests.event_streams import event_streams
from tests.losses import MADE_UP, MADE_UP_TIME, on_chat, on_responses
from tests.reading import decode
from tests.strategies import CORPUS
from tests.test_scenarios import SCENARIOS, load

WIRES: dict[str, Any] = {"responses": (ResponsesEncoder, on_responses), "chat": (ChatEncoder, on_chat)}
RECORDED = [path for path in sorted(CORPUS.glob("*/*")) if path.suffix in (".sse", ".json", ".ndjson")]
BY_WIRE = pytest.mark.parametrize("wire", WIRES)


def encode(wire: str, events: list[Event], **options: Any) -> list[bytes]:
    numbers = itertools.count()
    encoder = WIRES[wire][0](
        make_id=lambda prefix: f"{MADE_UP}{prefix}-{next(numbers)}", now=lambda: MADE_UP_TIME, **options
    )
    return [frame for event in events for frame in encoder.feed(event)] + encoder.close()


def assert_survives(wire: str, events: list[Event]) -> None:
    frames = encode(wire, events)
    just_ends = wire == "chat" and events[-1].status == "cancelled"
    assert wire_breaches(frames, cut=just_ends) == []
    back = decode(frames, reasoning_tags="off")
    assert breaches(back) == []
    what_the_wire_says = WIRES[wire][1]
    assert what_the_wire_says(back) == what_the_wire_says(events)


@BY_WIRE
@pytest.mark.parametrize("name", SCENARIOS)
def test_scenario_survives_the_wire(name: str, wire: str) -> None:
    scenario = load(name)
    assert_survives(wire, decode(scenario["pieces"], broken=scenario["drop"], **scenario["options"]))


@pytest.mark.skipif(not RECORDED, reason="the recorded streams (../shared/corpus) are not here")
@BY_WIRE
@pytest.mark.parametrize("path", RECORDED, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_recorded_stream_survives_the_wire(path: Any, wire: str) -> None:
    assert_survives(wire, decode([path.read_bytes()]))


@BY_WIRE
@given(events=event_streams())
def test_generated_stream_survives_the_wire(wire: str, events: list[Event]) -> None:
    assert breaches(events) == []
    assert_survives(wire, events)


@pytest.mark.parametrize(("reasoning", "kind"), [("summary", "summary"), ("text", "raw"), ("open_responses", "raw")])
def test_kind_of_thought_survives_in_the_spellings_that_have_one(reasoning: str, kind: str) -> None:
    events: list[Event] = [
        e.StreamStart("chat", "r", "m", 1),
        e.ReasoningStart(0, 0, None, "raw"),
        e.ReasoningDelta("Check.", 0, 0),
        e.ReasoningEnd("Check.", 0, 0),
    ]
    back = decode(encode("responses", events, reasoning=reasoning))
    assert [event.kind for event in back if isinstance(event, e.ReasoningStart)] == [kind]


@BY_WIRE
@pytest.mark.parametrize("name", ["cut_mid_text", "cut_tool_arguments_look_whole"])
def test_a_cut_stream_comes_back_as_cut_and_without_an_error(name: str, wire: str) -> None:
    scenario = load(name)
    back = decode(encode(wire, decode(scenario["pieces"])))
    assert back[-1].status == "truncated"
    assert not [event for event in back if isinstance(event, e.ErrorReport)]
    assert {event.status for event in back if isinstance(event, e.ToolCallEnd)} <= {"truncated"}


@BY_WIRE
def test_closing_without_an_end_counts_as_cut(wire: str) -> None:
    events: list[Event] = [e.StreamStart("chat", "r", "m", 1), e.TextStart(0, 0), e.TextDelta("Tide", 0, 0)]
    frames = encode(wire, events)
    assert wire_breaches(frames) == []
    back = decode(frames)
    assert back[-1].status == "truncated"
    assert [event.text for event in back if isinstance(event, e.TextEnd)] == ["Tide"]
