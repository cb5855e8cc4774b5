"""The decoder's own promises, beyond what wires say: identity, evidence, what is left unread."""

from __future__ import annotations

import json

import pytest

from streamshim import (
    ErrorReport,
    Finish,
    RawFrame,
    StreamDecoder,
    StreamEnd,
    StreamStart,
    TextDelta,
    ToolCallEnd,
    Unknown,
    UsageReport,
)
from streamshim.events import Event
from tests.reading import decode, plain


def end_of(events: list[Event]) -> StreamEnd:
    end = events[-1]
    assert isinstance(end, StreamEnd)
    return end


def text_of(events: list[Event]) -> str:
    return "".join(event.delta for event in events if isinstance(event, TextDelta))


CHUNK = b'data: {"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}]}\n\n'
COMPLETED = b'data: {"type":"response.completed","response":{"id":"r","status":"completed","output":[]}}\n\n'


def test_start_waits_for_an_id_or_a_model_and_brings_what_was_held() -> None:
    decoder = StreamDecoder(raw=True)
    assert decoder.feed(b'data: {"choices":[]}\n\n' * 15) == []
    first, *rest = decoder.feed(b'data: {"id":"c","model":"m","choices":[]}\n\n')
    assert first == StreamStart("chat", "c", "m", None)
    assert [event.type for event in rest] == ["raw_frame"] * 16


def test_start_waits_for_sixteen_frames_at_most() -> None:
    decoder = StreamDecoder()
    assert decoder.feed(b'data: {"choices":[]}\n\n' * 15) == []
    assert decoder.feed(b'data: {"choices":[]}\n\n') == [StreamStart("chat", None, None, None)]


def test_an_id_that_comes_later_is_in_the_end() -> None:
    body = b'data: {"choices":[{"delta":{"content":"Hi"}}]}\n\ndata: {"id":"late","model":"m","choices":[]}\n\n'
    events = decode([body])
    assert events[0] == StreamStart("chat", None, None, None)
    assert (end_of(events).response_id, end_of(events).model) == ("late", "m")


def test_usage_can_be_asked_for_while_the_stream_runs() -> None:
    decoder = StreamDecoder()
    decoder.feed(b'data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":null}}\n\n')
    assert decoder.usage is not None
    assert (decoder.usage.input_tokens, decoder.usage.total_tokens) == (3, None)
    decoder.feed(b'data: {"choices":[],"usage":{"prompt_tokens":null,"completion_tokens":5,"total_tokens":8}}\n\n')
    (report,) = (event for event in decoder.close() if isinstance(event, UsageReport))
    assert (report.usage.input_tokens, report.usage.output_tokens, report.usage.total_tokens) == (3, 5, 8)


@pytest.mark.parametrize("cut", [1, 7, 10_000])
def test_terminal_event_ends_the_stream_and_leaves_the_rest_unread(cut: int) -> None:
    rest = b'data: [DONE]\n\nevent: x\ndata: {"type":"response.created"}\n\nhalf'
    body = COMPLETED + rest
    decoder = StreamDecoder()
    events = [event for i in range(0, len(body), cut) for event in decoder.feed(body[i : i + cut])]
    assert end_of(events).status == "completed"
    assert decoder.end is events[-1]
    assert decoder.unused_data == rest
    assert (end_of(events).evidence.terminal_event_seen, end_of(events).evidence.clean_eof) == (True, False)
    assert decoder.close() == []


def test_evidence_tells_how_a_chat_stream_ended() -> None:
    whole = end_of(decode([CHUNK, b"data: [DONE]\n\n"])).evidence
    assert (whole.done_seen, whole.clean_eof, whole.finish_reason_seen, whole.open_parts) == (True, True, False, 0)
    broken = end_of(decode([CHUNK], broken=True)).evidence
    assert (broken.done_seen, broken.clean_eof, broken.open_parts) == (False, False, 1)


@pytest.mark.parametrize(
    ("tail", "status"), [(b"", "completed"), (b'data: {"choices":[{"del', "truncated"), (b'{"choices":[', "truncated")]
)
def test_trusted_end_is_enough_unless_it_cuts_a_frame(tail: bytes, status: str) -> None:
    assert end_of(decode([CHUNK, tail], trust_eof=True)).status == status
    assert end_of(decode([CHUNK, tail])).status == "truncated"


@pytest.mark.parametrize("raw", [False, True])
def test_named_error_beside_choices_is_an_error_wherever_it_comes(raw: bool) -> None:
    named = b'event: error\ndata: {"choices":[],"code":"overloaded","message":"busy"}\n\n'
    events = decode([CHUNK, named, b"data: [DONE]\n\n"], raw=raw)
    (report,) = (event for event in events if isinstance(event, ErrorReport))
    assert (report.error.code, report.error.message, end_of(events).status) == ("overloaded", "busy", "failed")


@pytest.mark.parametrize("raw", [False, True])
def test_choices_are_chat_whatever_type_stands_beside_them(raw: bool) -> None:
    odd = b'data: {"type":"response.foo","choices":[{"index":0,"delta":{"content":" you"}}]}\n\n'
    assert text_of(decode([CHUNK, odd, b"data: [DONE]\n\n"], raw=raw)) == "Hi you"


def test_log_probabilities_of_a_whole_body_come_with_its_text() -> None:
    choice = b'{"index":0,"message":{"content":"Hi"},"logprobs":{"content":[{"token":"Hi","logprob":-0.1}]}}'
    part = b'{"type":"output_text","text":"Hi","logprobs":[{"token":"Hi","logprob":-0.1}]}'
    item = b'{"type":"message","id":"m","role":"assistant","content":[' + part + b"]}"
    bodies = (b'{"choices":[' + choice + b"]}", b'{"object":"response","status":"completed","output":[' + item + b"]}")
    for body in bodies:
        (delta,) = (event for event in decode([body]) if isinstance(event, TextDelta))
        assert (delta.delta, delta.logprobs) == ("Hi", [{"token": "Hi", "logprob": -0.1}])


@pytest.mark.parametrize("member", ["delta", "message"])
def test_log_probabilities_beside_content_parts_come_with_their_text(member: str) -> None:
    entry = {"token": "Hi", "logprob": -0.5, "bytes": None, "top_logprobs": []}
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm"}]}
    choice = {"index": 0, member: {"content": [thought, {"type": "text", "text": "Hi"}]}}
    body = {"id": "c", "choices": [{**choice, "logprobs": {"content": [entry]}, "finish_reason": "stop"}]}
    told = [event for event in decode([b"data: %b\n\n" % json.dumps(body).encode()]) if isinstance(event, TextDelta)]
    assert [(event.delta, event.logprobs) for event in told] == [("Hi", [entry])]


def test_builtin_call_that_was_cut_is_never_to_be_run() -> None:
    item = b'{"id":"cu_1","type":"computer_call","status":"incomplete","call_id":"call_1","pending_safety_checks":[]}'
    error = b'"error":{"code":"stream_truncated","message":"x"}'
    body = b'{"type":"response.failed","response":{"status":"failed","output":[' + item + b"]," + error + b"}}"
    (call,) = (event for event in decode([b"data: " + body]) if isinstance(event, ToolCallEnd))
    assert (call.kind, call.status) == ("builtin", "truncated")


def test_builtin_call_is_answered_by_its_output_in_a_whole_body() -> None:
    call = b'{"id":"p","type":"apply_patch_call","call_id":"c","status":"completed","operation":{"type":"delete_file"}}'
    output = b'{"id":"o","type":"apply_patch_call_output","call_id":"c","status":"completed"}'
    events = decode([b'{"object":"response","status":"completed","output":[' + call + b"," + output + b"]}"])
    assert [event.reason for event in events if isinstance(event, Finish)] == ["stop"]
    assert not any(isinstance(event, Unknown) for event in events)


def test_raw_frame_stands_before_the_events_of_its_frame() -> None:
    events = decode([b"event: message\n" + CHUNK], raw=True)
    assert [event.type for event in events[:4]] == ["stream_start", "raw_frame", "text_start", "text_delta"]
    assert isinstance(events[1], RawFrame)
    assert (events[1].event, events[1].data) == ("message", CHUNK.decode()[6:-2])


def test_transport_error_after_the_finish_word_changes_nothing() -> None:
    finish = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
    events = decode([CHUNK, finish], broken=True)
    assert (end_of(events).status, end_of(events).evidence.clean_eof) == ("completed", False)
    assert not any(isinstance(event, ErrorReport) for event in events)


def test_reader_who_leaves_gets_what_came_and_an_end() -> None:
    decoder = StreamDecoder()
    events = decoder.feed(CHUNK) + decoder.cancel()
    assert (text_of(events), end_of(events).status) == ("Hi", "cancelled")
    assert decoder.feed(CHUNK) == decoder.cancel() == decoder.close() == []


@pytest.mark.parametrize("option", ["Auto", "", None])
def test_unknown_tag_mode_is_refused(option: str) -> None:
    with pytest.raises(ValueError, match="reasoning_tags"):
        StreamDecoder(reasoning_tags=option)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("deltas", "kind"),
    [
        (
            [{"content": "The tide turns "}, {"content": "at noon."}, {"content": "The tide turns at noon."}],
            "text_delta",
        ),
        (
            [
                {"reasoning_details": [{"type": "reasoning.text", "text": "Look it up."}]},
                {"reasoning_details": [{"type": "reasoning.text", "text": "Look it up.", "signature": "s"}]},
                {"content": "Noon."},
            ],
            "reasoning_delta",
        ),
    ],
    ids=["text in the finish chunk", "thought beside its signature"],
)
def test_a_repeat_is_known_again_where_text_is_not_kept(deltas: list[dict[str, object]], kind: str) -> None:
    words = [None] * (len(deltas) - 1) + ["stop"]
    chunks = [{"choices": [{"delta": d, "finish_reason": w}]} for d, w in zip(deltas, words, strict=True)]
    body = b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks)
    told = [[event for event in decode([body], collect=kept) if event.type == kind] for kept in (True, False)]
    assert told[0] == told[1]
    assert len(told[0]) == (2 if kind == "text_delta" else 1)


@pytest.mark.parametrize("collect", [True, False])
def test_a_snapshot_shorter_than_what_was_streamed_differs_from_it(collect: bool) -> None:
    """Whether or not the text is kept: the deltas stay, and the difference is told."""
    delta = {"type": "response.output_text.delta", "item_id": "m", "output_index": 0, "content_index": 0}
    frames = [
        {"type": "response.output_item.added", "output_index": 0, "item": {"type": "message", "id": "m"}},
        {**delta, "delta": "at nine."},
        {**delta, "delta": "at nine."},
        {**delta, "type": "response.output_text.done", "text": "at nine."},
    ]
    decoder = StreamDecoder(collect=collect)
    events = [event for frame in frames for event in decoder.feed_payload(frame)]
    assert [event.delta for event in events if event.type == "text_delta"] == ["at nine.", "at nine."]
    assert decoder.repairs == {"snapshot-differs": 1}


def _chunk(index: int, delta: dict[str, object], logprobs: object = None) -> bytes:
    choice = {"index": index, "delta": delta, "logprobs": logprobs, "finish_reason": None}
    return f"data: {json.dumps({'id': 'c', 'model': 'm', 'choices': [choice]})}\n\n".encode()


def _call(arguments: str, **head: object) -> dict[str, object]:
    return {"tool_calls": [{"index": 0, "function": {"arguments": arguments, **head}}]}


def _delta(text: str, number: int, *, index: int = 0, logprobs: object = ()) -> bytes:
    payload = {"type": "response.output_text.delta", "output_index": index, "content_index": 0, "delta": text}
    return f"data: {json.dumps({**payload, 'sequence_number': number, 'logprobs': logprobs})}\n\n".encode()


_SCORED = [{"token": "x", "logprob": -1.0}]


@pytest.mark.parametrize(
    "turns",
    [
        [_chunk(0, {"content": "a"}), _chunk(1, {"reasoning_content": "t"})],
        [_chunk(0, {"content": "a"}), _chunk(1, {"content": "b"})],
        [_chunk(0, {"content": "a"}), _chunk(1, _call("1", name="f"))],
        [_chunk(0, {"content": "a"}), _chunk(0, {"content": "x"}, {"content": _SCORED})],
        [_chunk(0, {"content": "a"}), b'data: {"odd": 1}\n\n', b"data: no JSON\n\n"],
        [
            _delta("a", 1),
            b'data: {"type":"response.reasoning_text.delta","output_index":1,"content_index":0,"delta":"t"}\n\n',
            b'data: {"type":"response.function_call_arguments.delta","output_index":2,"delta":"1"}\n\n',
        ],
        [_delta("a", 1), _delta("b", 2), _delta("x", 3, logprobs=_SCORED), _delta("c", 4)],
        [_delta("a", 1), _delta("b", 2, index=1), _delta("c", 3)],
    ],
)
@pytest.mark.parametrize("fast", [True, False])
def test_deltas_of_one_piece_come_in_the_order_of_their_frames(turns: list[bytes], fast: bool) -> None:
    frames = turns * 6
    in_pieces = decode([piece for frame in frames for piece in (frame[:9], frame[9:])], repairs=True, fast=fast)
    assert plain(decode(frames, repairs=True, fast=fast)) == plain(in_pieces)
    assert plain(decode([b"".join(frames)], repairs=True, fast=fast)) == plain(in_pieces)
    together = [*turns[:-1], turns[-1] * 2, *turns]
    apart = [*turns, turns[-1], *turns]
    assert plain(decode([b"".join(together)], repairs=True, fast=fast)) == plain(decode(apart, repairs=True, fast=fast))


@pytest.mark.parametrize(
    ("plain_frame", "scored_frame"),
    [
        (_chunk(0, {"content": "a"}), _chunk(0, {"content": "x"}, {"content": _SCORED})),
        (_delta("a", 1), _delta("x", 2, logprobs=_SCORED)),
    ],
)
def test_log_probabilities_among_deltas_without_them_stay_with_their_text(
    plain_frame: bytes, scored_frame: bytes
) -> None:
    events = decode([plain_frame * 3 + scored_frame + plain_frame * 2])
    told = [(event.delta, event.logprobs) for event in events if isinstance(event, TextDelta)]
    assert told == [("a", None)] * 3 + [("x", _SCORED)] + [("a", None)] * 2
