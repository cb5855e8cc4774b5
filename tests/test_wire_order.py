"""The checker of the wire's order: it is silent on what is right, and finds each thing that strict readers refuse."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given

from streamshim import Event
from streamshim import events as e
from streamshim.testing import wire_breaches
from tests.event_streams import event_streams
from tests.small_streams import RESPONSES
from tests.test_encode_goldens import FOLDER, encoded
from tests.test_round_trip import BY_WIRE, encode

Payloads = list[dict[str, Any]]


def golden(wire: str, name: str = "12_responses_native") -> Payloads:
    """The payloads of a golden stream; `[DONE]` is left out."""
    events = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))["events"]
    frames = encoded(wire, events, make_id=lambda prefix: f"{prefix}_1")
    return [json.loads(frame.split("data: ", 1)[1]) for frame in frames if "[DONE]" not in frame]


def framed(payloads: Payloads) -> list[bytes]:
    return [b"data: " + json.dumps(payload).encode() + b"\n\n" for payload in payloads]


def renumbered(payloads: Payloads) -> Payloads:
    return [{**payload, "sequence_number": number} for number, payload in enumerate(payloads)]


def place(payloads: Payloads, kind: str) -> int:
    return next(index for index, payload in enumerate(payloads) if payload["type"] == f"response.{kind}")


def without(kind: str) -> Callable[[Payloads], Payloads]:
    def change(payloads: Payloads) -> Payloads:
        del payloads[place(payloads, kind)]
        return renumbered(payloads)

    return change


def twice(kind: str) -> Callable[[Payloads], Payloads]:
    def change(payloads: Payloads) -> Payloads:
        index = place(payloads, kind)
        return renumbered([*payloads[:index], payloads[index], *payloads[index:]])

    return change


def changed(kind: str, **members: Any) -> Callable[[Payloads], Payloads]:
    def change(payloads: Payloads) -> Payloads:
        payloads[place(payloads, kind)].update(members)
        return payloads

    return change


def last_done_item(**members: Any) -> Callable[[Payloads], Payloads]:
    def change(payloads: Payloads) -> Payloads:
        done = [payload for payload in payloads if payload["type"] == "response.output_item.done"]
        done[-1]["item"].update(members)
        return payloads

    return change


def last_item(**members: Any) -> Callable[[Payloads], Payloads]:
    def change(payloads: Payloads) -> Payloads:
        payloads[-1]["response"]["output"][-1].update(members)
        return payloads

    return change


RESPONSES_BREACHES: dict[str, Callable[[Payloads], Payloads]] = {
    "the first event is response.in_progress": without("created"),
    "no terminal event": without("completed"),
    "follows the terminal event": twice("completed"),
    "sequence_number is not 3": changed("reasoning_summary_part.added", sequence_number=9),
    "output_index 0 was not announced": without("output_item.added"),
    "summary_index 0 was not announced": without("reasoning_summary_part.added"),
    "content_index 0 was not announced": without("content_part.added"),
    "a part is done before its words": without("output_text.done"),
    "is done before its parts": without("content_part.done"),
    "was never done, and is not incomplete": without("output_item.done"),
    "output_index 0 is not the next, 1": twice("output_item.added"),
    "two items have the id": twice("output_item.added"),
    "is done already": twice("output_item.done"),
    "words follow the whole of them": twice("output_text.done"),
    "the whole words are not the deltas": changed("output_text.delta", delta="Other."),
    "an empty delta": changed("output_text.delta", delta=""),
    "item 1 is not 'msg_9'": changed("output_text.delta", item_id="msg_9"),
    "the whole input is not the deltas": changed("custom_tool_call_input.delta", delta="x"),
    "the response id changes": changed("completed", response={"id": "resp_9", "output": []}),
    "the output is not the items": changed("completed", response={"id": "resp_12", "output": []}),
    "is not what it was when it was done": last_item(input="x"),
    "changes its call_id": last_done_item(call_id="call_10"),
    "a second response.in_progress": lambda p: renumbered([*p[:3], p[1], *p[3:]]),
    "follows an error": lambda p: renumbered([*p[:3], {"type": "error", "error": {}}, *p[3:]]),
}


@pytest.mark.parametrize(("finding", "change"), RESPONSES_BREACHES.items(), ids=RESPONSES_BREACHES)
def test_breach_on_the_responses_wire_is_found(finding: str, change: Callable[[Payloads], Payloads]) -> None:
    right = golden("responses")
    assert wire_breaches(framed(right)) == []
    assert any(finding in found for found in wire_breaches(framed(change(right))))


def entry(payloads: Payloads, number: int) -> dict[str, Any]:
    found = [e for p in payloads for c in p["choices"] for e in c["delta"].get("tool_calls", ())]
    return found[number]


def with_entry(number: int, **members: Any) -> Callable[[Payloads], Payloads]:
    def change(payloads: Payloads) -> Payloads:
        entry(payloads, number).update(members)
        return payloads

    return change


def with_chunk(number: int, **members: Any) -> Callable[[Payloads], Payloads]:
    def change(payloads: Payloads) -> Payloads:
        payloads[number].update(members)
        return payloads

    return change


CHAT_BREACHES: dict[str, Callable[[Payloads], Payloads]] = {
    "the role comes first, and once": lambda p: [p[0], *p],
    "id, object, created or model change": with_chunk(2, id="other"),
    "the object is no chunk": lambda p: [{**chunk, "object": "chat.completion"} for chunk in p],
    "no finish reason and no error": lambda p: p[:-2],
    "was finished already": lambda p: [*p[:-2], p[-2], *p[-2:]],
    "a chunk follows the usage": lambda p: [*p[:-2], p[-1], p[-2]],
    "the usage chunk has choices": lambda p: [*p[:-1], {**p[-1], "choices": [{"index": 0, "delta": {}}]}],
    "not one choice in a chunk": lambda p: [p[0], {**p[1], "choices": p[1]["choices"] * 2}, *p[2:]],
    "a choice without index or delta": lambda p: [p[0], {**p[1], "choices": [{}]}, *p[2:]],
    "a call without id or name": with_entry(0, id=""),
    "repeats its id or type": with_entry(1, id="call_9"),
    "repeats its name": with_entry(1, function={"name": "apply_text", "arguments": "x"}),
    "call 3 was not begun": with_entry(1, index=3),
    "a chunk follows the error": lambda p: [{"error": {"message": "x"}}, *p],
    "an empty error": lambda p: [*p[:-2], {"error": {}}],
}


@pytest.mark.parametrize(("finding", "change"), CHAT_BREACHES.items(), ids=CHAT_BREACHES)
def test_breach_on_the_chat_wire_is_found(finding: str, change: Callable[[Payloads], Payloads]) -> None:
    right = golden("chat")
    assert wire_breaches(framed(right)) == []
    assert any(finding in found for found in wire_breaches(framed(change(right))))


def test_uncounted_annotations_are_found() -> None:
    right = golden("chat", "06_citation_and_logprobs")
    for chunk in right:
        for choice in chunk["choices"]:
            for annotation in choice["delta"].get("annotations", ()):
                del annotation["index"]
    assert any("annotations are not counted" in found for found in wire_breaches(framed(right)))


def test_annotations_out_of_order_are_found() -> None:
    right = golden("responses", "06_citation_and_logprobs")
    right[place(right, "output_text.annotation.added")]["annotation_index"] = 1
    assert any("annotation_index 1 is not 0" in found for found in wire_breaches(framed(right)))


@pytest.mark.parametrize(
    ("body", "finding"),
    [
        (b"", "nothing but comments"),
        (b": ping\n\n", "nothing but comments"),
        (b"id: 1\n\n", "not one data line"),
        (b"retry: 1\n\n", "not one data line"),
        (b"event: x\n\n", "not one data line"),
        (b"data:\n\n", "not one data line"),
        (b"data: {}\r\n\r\n", "not closed by a blank line"),
        (b"data: nonsense\n\n", "no JSON object"),
        (b"data: [DONE]\n\n", "[DONE] before the end"),
        (b'event: x\ndata: {"type":"response.created"}\n\n', "the event line says x"),
    ],
)
def test_frames_that_readers_choke_on_are_found(body: bytes, finding: str) -> None:
    assert any(finding in found for found in wire_breaches(body))


def test_done_comes_last_and_not_after_an_error() -> None:
    done = b"data: [DONE]\n\n"
    right = [*framed(golden("chat")), done]
    assert wire_breaches(right) == []
    assert any("a frame follows [DONE]" in found for found in wire_breaches([*right, done]))
    failed = framed([*golden("chat")[:-2], {"error": {"message": "x"}}])
    assert wire_breaches(failed) == []
    assert any("[DONE] follows an error" in found for found in wire_breaches([*failed, done]))


def test_comments_may_stand_anywhere_and_the_body_may_come_whole() -> None:
    assert wire_breaches(b": ping\n\n".join(RESPONSES)) == []


def test_a_silent_cut_is_right_only_where_it_is_expected() -> None:
    cut = framed(golden("responses")[:5])
    assert wire_breaches(cut, cut=True) == []
    assert any("no terminal event" in found for found in wire_breaches(cut))
    assert any("a terminal event" in found for found in wire_breaches(framed(golden("responses")), cut=True))


@BY_WIRE
@given(events=event_streams())
def test_pings_may_come_between_any_frames_and_leaving_early_keeps_the_order(wire: str, events: list[Event]) -> None:
    for length in range(0, len(events), 3):
        frames = encode(wire, events[:length])
        assert wire_breaches(b": ping\n\n".join(frames)) == []


@BY_WIRE
def test_parts_without_words_keep_the_order(wire: str) -> None:
    events: list[Event] = [
        e.StreamStart("chat", None, None, None),
        e.ReasoningStart(0, 0),
        e.ReasoningEnd("", 0, 0),
        e.TextStart(1, 0),
        e.TextEnd("", 1, 0),
        e.RefusalStart(2, 0),
        e.RefusalEnd("", 2, 0),
        e.ToolCallStart(3, 0, None, "", "now", "function"),
        e.ToolCallEnd(3, 0, "", "now", "function", "{}", "complete"),
        e.MediaStart(4, 0, None, "image/png"),
        e.MediaEnd(4, 0, None, "https://e.example/a.png"),
        e.Finish(0, "tool_calls", "tool_calls"),
        e.StreamEnd("completed", e.Evidence(), None, {}, None, None),
    ]
    assert wire_breaches(encode(wire, events)) == []
