"""The generated bodies of the benchmarks are what they claim to be, read with nothing but the standard library."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.argument_texts import leaves, long_string, many_values
from benchmarks.bodies import DELTAS, MAKERS, PIECES, Body, bodies, body, cut, long_chat
from benchmarks.framing import framing_cases
from benchmarks.hostile import CHANGES, hostile_body
from streamshim import ReasoningDelta, StreamDecoder, TextDelta, ToolCallDelta

if TYPE_CHECKING:
    from collections.abc import Sequence

BYTES_PER_DELTA = {
    "chat": 290,
    "chat-obfuscation": 335,
    "reasoning": 305,
    "tool-arguments": 365,
    "responses": 260,
}
FRAMING_NAMES = [
    "data-only",
    "named-event",
    "multibyte",
    "heartbeat",
    "idle-stream",
    "invalid-line-drip",
    "huge-line-drip",
    "small-chunk",
    "large-multiline-data",
]
CHAT_NAMES = ["chat", "chat-obfuscation", "reasoning", "tool-arguments"]

each_body = pytest.mark.parametrize("name", list(BYTES_PER_DELTA))
each_chat_body = pytest.mark.parametrize("name", CHAT_NAMES)
each_framing_case = pytest.mark.parametrize("name", FRAMING_NAMES)


def read(data: bytes) -> list[tuple[str, Any]]:
    """Read a stream's events with plain code: the name, and the JSON value or the word `[DONE]`."""
    events = []
    for block in data.decode().split("\n\n"):
        fields = [line.partition(": ") for line in block.split("\n")]
        text = "\n".join(value for field, _, value in fields if field == "data")
        names = [value for field, _, value in fields if field == "event"]
        if text:
            events.append((names[0] if names else "", text if text == "[DONE]" else json.loads(text)))
    return events


def payloads(body: Body) -> list[dict[str, Any]]:
    """All payloads of a body that are JSON."""
    return [payload for _, payload in read(body.data) if payload != "[DONE]"]


def deltas(data: bytes) -> list[tuple[str, str]]:
    """What each delta of a stream adds: its kind and its text."""
    found = []
    for _, payload in read(data):
        if payload == "[DONE]":
            continue
        if payload.get("type") == "response.output_text.delta":
            found.append(("text", payload["delta"]))
        for choice in payload.get("choices", ()):
            delta = choice["delta"]
            calls = delta.get("tool_calls", ())
            found += [("text", delta.get("content")), ("reasoning", delta.get("reasoning_content"))]
            found += [("arguments", call["function"]["arguments"]) for call in calls]
    return [(kind, text) for kind, text in found if text]


def joined(data: bytes, kind: str) -> str:
    """The deltas of one kind, joined."""
    return "".join(text for found, text in deltas(data) if found == kind)


def said(pieces: Sequence[bytes]) -> tuple[dict[str, list[str]], str]:
    """What StreamDecoder says of these pieces: the deltas by event type, and the status of the end."""
    decoder = StreamDecoder()
    found: dict[str, list[str]] = {"text_delta": [], "reasoning_delta": [], "tool_call_delta": []}
    for event in [event for piece in pieces for event in decoder.feed(piece)] + decoder.close():
        if isinstance(event, TextDelta | ReasoningDelta | ToolCallDelta):
            found[event.type].append(event.delta)
    assert decoder.end is not None
    return found, decoder.end.status


@each_body
def test_a_body_has_as_many_deltas_as_it_claims(name: str) -> None:
    assert len(deltas(bodies()[name].data)) == bodies()[name].deltas == DELTAS == 2000


@each_body
@pytest.mark.parametrize("kind", ["text", "reasoning", "arguments"])
def test_the_joined_deltas_are_the_source(name: str, kind: str) -> None:
    assert joined(bodies()[name].data, kind) == getattr(bodies()[name], kind)


@each_body
def test_deltas_have_about_four_characters_and_none_is_empty(name: str) -> None:
    lengths = [len(text) for _, text in deltas(bodies()[name].data)]
    assert min(lengths) > 0
    assert 3.7 < sum(lengths) / len(lengths) < 4.3
    assert len(set(lengths)) >= 6


@each_body
def test_a_delta_takes_the_bytes_that_are_claimed(name: str) -> None:
    middle = bodies()[name].frames[10:-10]
    assert sum(map(len, middle)) / len(middle) == pytest.approx(BYTES_PER_DELTA[name], rel=0.03)


@each_body
def test_the_text_is_varied_escaped_and_not_only_ascii(name: str) -> None:
    body = bodies()[name]
    source = body.text + body.reasoning + body.arguments
    escapes = [frame for frame in body.frames[10:-10] if b"\\n" in frame or b'\\"' in frame]
    assert len({text for _, text in deltas(body.data)}) > 250
    assert "\n" in source or "\\n" in source
    assert '"' in source
    assert any(ord(character) > 0xFFFF for character in source)
    assert 0.02 < len(escapes) / DELTAS < 0.2


@each_body
def test_a_body_is_the_same_whenever_it_is_made(name: str) -> None:
    assert MAKERS[name](DELTAS).data == bodies()[name].data


@each_body
@pytest.mark.parametrize("count", [30, 300])
def test_a_body_has_as_many_deltas_as_are_asked_for(name: str, count: int) -> None:
    short = body(name, count)
    assert len(deltas(short.data)) == short.deltas == count
    assert {kind: joined(short.data, kind) for kind in ("text", "reasoning", "arguments")} == {
        "text": short.text,
        "reasoning": short.reasoning,
        "arguments": short.arguments,
    }


def test_a_stream_may_have_no_deltas_at_all() -> None:
    empty = body("chat", 0)
    assert deltas(empty.data) == []
    assert len(empty.frames) == 3


def test_a_long_chat_is_as_long_as_was_asked_and_takes_no_memory_for_it() -> None:
    long = long_chat(3_000_000)
    assert 3_000_000 <= len(long.data) < 4_000_000
    assert joined(long.data, "text") == long.text
    assert len(deltas(long.data)) == long.deltas
    assert len(set(map(id, long.frames))) == DELTAS + 3


@each_body
def test_pieces_are_the_body_in_the_sizes_that_are_named(name: str) -> None:
    body = bodies()[name]
    for size in PIECES.values():
        pieces = body.pieces(size)
        assert b"".join(pieces) == body.data
        if size is not None:
            assert {len(piece) for piece in pieces[:-1]} == {size}
    assert PIECES == {"64KB": 65536, "1KB": 1024, "event": None}


@each_body
def test_a_piece_of_one_event_is_one_event(name: str) -> None:
    for piece in bodies()[name].pieces(None):
        assert piece.endswith(b"\n\n")
        assert piece.count(b"\n\n") == 1
        assert len(read(piece)) == 1


@each_chat_body
def test_chat_chunks_share_their_head_and_end_with_done(name: str) -> None:
    body = bodies()[name]
    assert len({(payload["id"], payload["model"], payload["object"]) for payload in payloads(body)}) == 1
    assert read(body.data)[-1] == ("", "[DONE]")
    words = [choice["finish_reason"] for payload in payloads(body) for choice in payload["choices"]]
    assert [word for word in words if word] == ["tool_calls" if body.arguments else "stop"]


@each_chat_body
def test_only_the_padded_chat_bodies_have_obfuscation(name: str) -> None:
    padded = {"obfuscation" in payload for payload in payloads(bodies()[name])}
    assert padded == {name in ("chat-obfuscation", "tool-arguments")}


@pytest.mark.parametrize("name", ["chat-obfuscation", "tool-arguments", "responses"])
def test_the_padding_evens_out_the_length_of_the_delta(name: str) -> None:
    lengths = set()
    for payload in payloads(bodies()[name])[10:-10]:
        (delta,) = deltas(b"data: " + json.dumps(payload).encode() + b"\n\n")
        lengths.add(len(delta[1]) + len(payload["obfuscation"]))
    assert lengths == {16}


@pytest.mark.parametrize("name", ["chat-obfuscation", "reasoning"])
def test_usage_is_null_until_the_last_chunk(name: str) -> None:
    usages = [payload["usage"] for payload in payloads(bodies()[name])]
    assert usages[:-1] == [None] * (len(usages) - 1)
    assert usages[-1]["completion_tokens"] == DELTAS


def test_reasoning_comes_before_text_and_one_of_both_fields_is_null() -> None:
    body = bodies()["reasoning"]
    kinds = [kind for kind, _ in deltas(body.data)]
    assert kinds == ["reasoning"] * 800 + ["text"] * 1200
    fields = [payload["choices"][0]["delta"] for payload in payloads(body)[1:-1]]
    assert all((field["content"] is None) != (field["reasoning_content"] is None) for field in fields)


def test_the_tool_arguments_are_a_json_object_of_one_named_call() -> None:
    body = bodies()["tool-arguments"]
    calls = [call for payload in payloads(body) for call in payload["choices"][0]["delta"].get("tool_calls", ())]
    assert [call["function"]["name"] for call in calls if "name" in call["function"]] == ["write_file"]
    assert sum("id" in call for call in calls) == 1
    assert set(json.loads(body.arguments)) == {"path", "mode", "content"}
    assert len(json.loads(body.arguments)["content"]) > 7000


def test_responses_sequence_numbers_rise_by_one_and_event_lines_name_the_type() -> None:
    events = read(bodies()["responses"].data)
    assert [payload["sequence_number"] for _, payload in events] == list(range(DELTAS + 8))
    assert all(name == payload["type"] for name, payload in events)


def test_responses_events_come_in_the_order_of_the_wire() -> None:
    names = [name for name, _ in read(bodies()["responses"].data)]
    assert names[:4] == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
    ]
    assert set(names[4:-4]) == {"response.output_text.delta"}
    assert names[-4:] == [
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]


def test_responses_frames_belong_to_one_item_and_repeat_its_text() -> None:
    body = bodies()["responses"]
    found = payloads(body)
    assert len({payload["item_id"] for payload in found if "item_id" in payload}) == 1
    text_done, part_done, item_done, completed = found[-4:]
    assert text_done["text"] == part_done["part"]["text"] == body.text
    assert completed["response"]["output"] == [item_done["item"]]
    assert item_done["item"]["content"][0]["text"] == body.text


def test_responses_envelopes_are_large() -> None:
    frames = bodies()["responses"].frames
    assert min(len(frames[0]), len(frames[1]), len(frames[-1])) > 8000


def test_a_cut_keeps_all_bytes_and_leaves_the_rest_to_the_last_piece() -> None:
    assert cut(b"abcdefg", 3) == [b"abc", b"def", b"g"]


@each_framing_case
def test_a_framing_case_holds_the_text_that_it_claims(name: str) -> None:
    case = framing_cases()[name]
    assert case.text
    assert b"".join(case.pieces) == case.data
    assert joined(case.data, "text") == case.text


def test_framing_cases_are_cut_as_their_names_say() -> None:
    cases = framing_cases()
    assert list(cases) == FRAMING_NAMES
    assert max(map(len, cases["small-chunk"].pieces)) == 15
    assert cases["idle-stream"].pieces[:20_000] == (b":",) * 20_000
    assert cases["heartbeat"].pieces.count(b": keep-alive\n") > 4000
    assert b"\n" not in b"".join(cases["invalid-line-drip"].pieces[:16_000])
    assert max(map(len, cases["huge-line-drip"].data.split(b"\n"))) > 10 * 1024 * 1024
    assert cases["named-event"].data.count(b"event: ") == DELTAS + 8
    assert len(cases["multibyte"].text.encode()) > 2.2 * len(cases["multibyte"].text)
    assert max(block.count(b"data: ") for block in cases["large-multiline-data"].data.split(b"\n\n")) > 1800


def test_multibyte_pieces_cut_characters_in_two() -> None:
    starts = [piece[0] for piece in framing_cases()["multibyte"].pieces]
    assert any(0x80 <= byte < 0xC0 for byte in starts)


@pytest.mark.parametrize("size", list(PIECES))
@each_body
def test_the_decoder_says_exactly_what_a_body_holds(name: str, size: str) -> None:
    body = bodies()[name]
    found, status = said(body.pieces(PIECES[size]))
    assert "".join(found["text_delta"]) == body.text
    assert "".join(found["reasoning_delta"]) == body.reasoning
    assert "".join(found["tool_call_delta"]) == body.arguments
    assert sum(map(len, found.values())) == DELTAS
    assert status == "completed"


@each_framing_case
def test_the_decoder_says_exactly_what_a_framing_case_holds(name: str) -> None:
    case = framing_cases()[name]
    found, status = said(case.pieces)
    assert "".join(found["text_delta"]) == case.text
    assert status == "completed"


# -- hostile streams --------------------------------------------------------------------------------------------------

each_hostile_body = pytest.mark.parametrize("name", list(CHANGES))


@each_hostile_body
def test_a_hostile_stream_says_what_chat_says(name: str) -> None:
    hostile = hostile_body(name)
    assert joined(hostile.data, "text") == hostile.text == bodies()["chat"].text
    found, status = said(hostile.pieces(None))
    assert "".join(found["text_delta"]) == hostile.text
    assert status == "completed"


@each_hostile_body
def test_no_frame_of_a_hostile_stream_is_another_but_for_its_text(name: str) -> None:
    """Put one text into all of them: those of `chat` are alike then, those of a hostile stream are not."""

    def without_text(frame: bytes) -> bytes:
        return re.sub(rb'("content":\s*)"(?:[^"\\]|\\.)*"', rb"\1?", frame)

    alike = {without_text(frame) for frame in bodies()["chat"].frames[1:-2]}
    differing = {without_text(frame) for frame in hostile_body(name).frames[1:-2]}
    assert len(alike) == 1
    assert len(differing) >= (2 if name == "hostile-choices" else 1500)


def test_interleaved_choices_take_turns_and_both_finish() -> None:
    found = payloads(hostile_body("hostile-choices"))
    indices = [choice["index"] for payload in found for choice in payload["choices"]]
    assert indices[:-2] == [number % 2 for number in range(len(found) - 1)]
    assert [(choice["index"], choice["finish_reason"]) for choice in found[-1]["choices"]] == [(0, "stop"), (1, "stop")]


def test_a_stream_with_logprobs_scores_every_token() -> None:
    for payload in payloads(hostile_body("hostile-logprobs"))[1:-1]:
        (choice,) = payload["choices"]
        assert [entry["token"] for entry in choice["logprobs"]["content"]] == [choice["delta"]["content"]]


# -- arguments --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [long_string, many_values])
@pytest.mark.parametrize("count", [500, 5_000])
def test_arguments_are_an_object_in_about_as_many_deltas_as_were_asked_for(make: Any, count: int) -> None:
    load = make(count)
    assert load.deltas == len(load.pieces)
    assert 0.93 * count < load.deltas <= count
    value = json.loads(load.joined())
    assert isinstance(value, dict)
    assert "\n".join(leaves(value)) == load.said.arguments


def test_arguments_are_one_string_or_many_small_values() -> None:
    one, many = long_string(2_000), many_values(2_000)
    assert len(json.loads(one.joined())["content"]) > 7_000
    values = list(leaves(json.loads(many.joined())))
    assert len(values) > 400
    assert max(map(len, values)) < 30
