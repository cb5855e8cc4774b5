"""Frames of deltas are written around their text: the same bytes as if each were written the ordinary way."""

from __future__ import annotations

import gc
import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamshim import ChatEncoder, Event, ResponsesEncoder, encode_chat, encode_responses
from streamshim import events as e
from streamshim.encode.chat_calls import StreamedCall
from streamshim.encode.encoder import MARK, frame_around
from streamshim.encode.output import Output
from tests.event_streams import event_streams
from tests.reading import decode
from tests.test_scenarios import SCENARIOS, load


class OrdinaryChat(ChatEncoder):
    """Writes each chunk as a whole."""

    def _say(self, index: int, field: str, text: str) -> None:
        self._delta(index, {field: text})

    def _say_input(self, call: StreamedCall, index: int, text: str) -> None:
        self._delta(index, {"tool_calls": [call.entry(text)]})


class OrdinaryDeltas:
    """Writes each event as a whole."""

    def __init__(self, output: Output, name: str, place: dict[str, Any], extras: dict[str, Any]) -> None:
        self._output = output
        self._name = name
        self._place = place
        self._extras = extras

    def write(self, text: str) -> None:
        self._output.write(self._name, **self._place, delta=text, **self._extras)


class OrdinaryOutput(Output):
    def deltas(self, name: str, place: dict[str, Any], **extras: Any) -> Any:
        return OrdinaryDeltas(self, name, place, extras)


OPTIONS: dict[str, list[dict[str, Any]]] = {
    "chat": [{}, {"reasoning": "reasoning"}, {"custom_tools": "custom"}, {"tool_calls": "whole"}],
    "responses": [{}, {"reasoning": "text"}, {"event_lines": False}, {"refusal_as_text": True}, {"choice": 1}],
}
VARIANTS = [(wire, options) for wire, variants in OPTIONS.items() for options in variants]
BY_VARIANT = pytest.mark.parametrize(("wire", "options"), VARIANTS)


def fixed() -> dict[str, Any]:
    numbers = itertools.count()
    return {"make_id": lambda prefix: f"{prefix}-{next(numbers)}", "now": lambda: 7}


def written(wire: str, events: list[Event], options: dict[str, Any]) -> list[bytes]:
    return list((encode_chat if wire == "chat" else encode_responses)(events, **fixed(), **options))


def written_ordinarily(wire: str, events: list[Event], options: dict[str, Any]) -> list[bytes]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("streamshim.encode.responses.Output", OrdinaryOutput)
        encoder = OrdinaryChat(**fixed(), **options) if wire == "chat" else ResponsesEncoder(**fixed(), **options)
        return [frame for event in events for frame in encoder.feed(event)] + encoder.close()


# -- events in any order, from any source -----------------------------------------------------------------------------

_texts = st.one_of(
    st.text(st.characters(), max_size=4), st.sampled_from(["\ud83d", "\ude00", "x\udfffy", '"', MARK, ""])
)
_parts, _choices = st.integers(0, 3), st.sampled_from([0, 0, 1])
_ids = st.sampled_from([None, "", "i1", "i\ud800", '"'])
_tiers = st.sampled_from([{"service_tier": "flex"}, {"service_tier": "p\ud800"}, {"other": 1}])
_logprobs = st.sampled_from([None, None, [], [{"token": "t", "logprob": -0.5}], [{"no": "token"}]])
_kinds = st.sampled_from(["function", "custom", "server", "builtin"])
_items = st.sampled_from([None, "mcp_call", "code_interpreter_call"])
_call_ids = st.sampled_from(["", "c1", "c2"])
_statuses = st.sampled_from(["complete", "truncated"])
_events = st.one_of(
    st.builds(e.TextStart, _parts, _choices, _ids),
    st.builds(e.TextDelta, _texts, _parts, _choices, _logprobs),
    st.builds(e.ReasoningStart, _parts, _choices, _ids, st.sampled_from(["raw", "summary"])),
    st.builds(e.ReasoningDelta, _texts, _parts, _choices),
    st.builds(e.RefusalStart, _parts, _choices, _ids),
    st.builds(e.RefusalDelta, _texts, _parts, _choices),
    st.builds(e.ToolCallStart, _parts, _choices, _ids, _call_ids, st.just("f"), _kinds, _items),
    st.builds(e.ToolCallDelta, _texts, _parts, _choices),
    st.builds(e.ToolCallEnd, _parts, _choices, st.just("c1"), st.just("f"), _kinds, _texts, _statuses),
    st.builds(e.Metadata, _tiers),
)
_starts = st.builds(e.StreamStart, st.just("chat"), _ids, _ids, st.sampled_from([None, 5, 2**70]))
unruly_events = st.builds(lambda start, events: [start, *events], _starts, st.lists(_events, max_size=30))


@BY_VARIANT
@given(events=st.one_of(event_streams(), unruly_events))
def test_deltas_are_written_as_the_ordinary_way_writes_them(
    wire: str, options: dict[str, Any], events: list[Event]
) -> None:
    assert written(wire, events, options) == written_ordinarily(wire, events, options)


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenario_is_written_as_the_ordinary_way_writes_it(name: str) -> None:
    scenario = load(name)
    events = decode(scenario["pieces"], broken=scenario["drop"], **scenario["options"])
    for wire, options in VARIANTS:
        assert written(wire, events, options) == written_ordinarily(wire, events, options)


# -- what changes around a text ---------------------------------------------------------------------------------------

START = e.StreamStart("chat", "r", "m", 1)


def test_a_service_tier_that_changes_in_mid_text_stands_in_the_chunks_that_follow() -> None:
    call = e.ToolCallStart(1, 0, None, "c1", "f")
    events: list[Event] = [START, e.TextStart(0, 0), e.TextDelta("a", 0, 0), call, e.ToolCallDelta("{", 1, 0)]
    events += [e.Metadata({"service_tier": "flex"}), e.TextDelta("b", 0, 0), e.ToolCallDelta("}", 1, 0)]
    tiers = [b'"service_tier":"flex"' in frame for frame in encode_chat(events) if b'"role"' not in frame]
    assert tiers[:-1] == [False, False, False, True, True]  # text, the call's head, its input; then both once more


@pytest.mark.parametrize("encode", [encode_chat, encode_responses])
def test_what_stands_around_the_texts_of_a_part_is_written_once(encode: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[Any] = []

    def look(payload: dict[str, Any], event: str | None = None) -> list[bytes]:
        looks.append(payload)
        return frame_around(payload, event)

    for module in ("chat", "output"):
        monkeypatch.setattr(f"streamshim.encode.{module}.frame_around", look)
    calls = [e.ToolCallStart(part, 0, None, f"c{part}", "f") for part in (1, 2)]
    deltas: list[Event] = [e.TextDelta("a", 0, 0), e.ToolCallDelta("b", 1, 0), e.ToolCallDelta("c", 2, 0)]
    list(encode([START, e.TextStart(0, 0), *calls, *deltas * 9]))
    assert len(looks) == len(deltas)


def test_nothing_is_kept_of_a_call_that_is_over() -> None:
    encoder = ChatEncoder()
    encoder.feed(e.ToolCallStart(0, 0, None, "c0", "f"))
    encoder.feed(e.ToolCallDelta("{}", 0, 0))
    encoder.feed(e.ToolCallEnd(0, 0, "c0", "f", "function", "{}", "complete"))
    gc.collect()
    assert not [kept for kept in gc.get_objects() if isinstance(kept, StreamedCall)]


def test_numbers_of_events_have_no_gaps_whatever_is_written_between_deltas() -> None:
    events: list[Event] = [START, e.TextStart(0, 0), e.TextDelta("a", 0, 0), e.TextDelta("b", 0, 0)]
    events += [e.TextDelta("c", 0, 0, [{"token": "c", "logprob": -0.5}]), e.TextDelta("d", 0, 0)]
    frames = list(encode_responses(events, done=False))
    assert all(f'"sequence_number":{number},' in frame.decode() for number, frame in enumerate(frames))


# -- several events at once -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoder_type", [ChatEncoder, ResponsesEncoder])
def test_events_are_encoded_when_their_frames_are_asked_for(encoder_type: Any) -> None:
    taken: list[Event] = []

    def events() -> Any:
        for event in (START, e.TextStart(0, 0), e.TextDelta("a", 0, 0), e.TextDelta("b", 0, 0)):
            taken.append(event)
            yield event

    frames = encoder_type().encode(events())
    while b'"a"' not in next(frames):
        pass
    assert [event.type for event in taken] == ["stream_start", "text_start", "text_delta"]


@pytest.mark.parametrize("encoder_type", [ChatEncoder, ResponsesEncoder])
def test_an_encoder_that_was_closed_writes_no_more_of_the_event_it_was_at(encoder_type: Any) -> None:
    encoder = encoder_type()
    events: list[Event] = [START, e.ReasoningStart(0, 0), e.ReasoningDelta("a", 0, 0)]
    frames = encoder.encode(iter(events))
    next(frames)
    encoder.close()
    assert list(frames) == []
