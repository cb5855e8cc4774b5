"""Streams that mean harm: the decoder stays within its limits and always ends cleanly.

Work is counted, not timed: twice the input must not cost much more than twice the calls.
"""

from __future__ import annotations

import json
import sys
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from unittest import mock

import pytest

from streamshim import ErrorReport, StreamDecoder, StreamEnd, TextDelta, ToolCallEnd, Unknown
from streamshim.decode import limits
from streamshim.decode.snapshots import Kept
from streamshim.testing import breaches
from tests.reading import decode


def frame(payload: Any) -> bytes:
    return b"data: " + json.dumps(payload).encode() + b"\n\n"


def chat(delta: dict[str, Any], **choice: Any) -> bytes:
    return frame({"id": "c", "model": "m", "choices": [{"index": 0, "delta": delta, **choice}]})


def call(index: int, arguments: str = "", **function: Any) -> dict[str, Any]:
    return {"index": index, "function": {"arguments": arguments, **function}}


def pieces_of(data: bytes, size: int) -> Iterator[bytes]:
    for start in range(0, len(data), size):
        yield data[start : start + size]


def ended(events: list[Any]) -> StreamEnd:
    assert breaches(events) == []
    end = events[-1]
    assert isinstance(end, StreamEnd)
    return end


def calls_made(pieces: Iterable[bytes]) -> int:
    """How many functions, ours and built-in ones, the decoder calls to read the pieces."""
    pieces = list(pieces)
    count = 0

    def profile(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    decoder = StreamDecoder()
    sys.setprofile(profile)
    try:
        for piece in pieces:
            decoder.feed(piece)
        decoder.close()
    finally:
        sys.setprofile(None)
    return count


def text_deltas(count: int) -> list[bytes]:
    return [chat({"content": "word "}) for _ in range(count)]


def argument_deltas(count: int) -> list[bytes]:
    return [
        chat({"tool_calls": [call(0, name="f", arguments='{"a":"')]}),
        *(chat({"tool_calls": [call(0, arguments='}"{' if i % 2 else "x")]}) for i in range(count)),
    ]


def many_calls(count: int) -> list[bytes]:
    return [chat({"tool_calls": [call(i, name="f", arguments="{}")]}) for i in range(count)]


def nameless_calls(count: int) -> list[bytes]:
    return [chat({"tool_calls": [{"index": i, "id": f"c{i}"}]}) for i in range(count)]


def one_line_in_drips(count: int) -> list[bytes]:
    return list(pieces_of(chat({"content": "x" * count * 10}), 10))


def one_document_in_drips(count: int) -> list[bytes]:
    return list(pieces_of(json.dumps({"choices": [{"message": {"content": "x" * count * 10}}]}).encode(), 10))


def held_tag(count: int) -> list[bytes]:
    return [chat({"content": " "}) for _ in range(count)]


def unclosed_thought(count: int) -> list[bytes]:
    return [chat({"content": "<think>"}), *(chat({"content": "<"}) for _ in range(count))]


def cumulative_message(count: int) -> list[bytes]:
    return [chat({}, message={"content": "one"}) for _ in range(count)]


def interleaved_items(count: int) -> list[bytes]:
    return [
        frame({"type": "response.output_text.delta", "item_id": f"i{n % 2}", "output_index": n % 2, "delta": "x"})
        for n in range(count)
    ]


def new_items(count: int) -> list[bytes]:
    return [
        frame({"type": "response.output_item.added", "output_index": n, "item": {"type": "message", "id": f"i{n}"}})
        for n in range(count)
    ]


def items_without_names(count: int) -> list[bytes]:
    added = [frame({"type": "response.output_item.added", "item": {"type": "function_call"}})] * count
    return added + [frame({"type": "response.function_call_arguments.delta", "delta": "x"})] * count


def a_long_snapshot(count: int) -> list[bytes]:
    items = [{"type": "message", "content": [{"type": "output_text", "text": f"{n}"}]} for n in range(count)]
    return [*new_items(count), frame({"type": "response.completed", "response": {"output": items}})]


def error_frames(count: int) -> list[bytes]:
    return [frame({"error": {"message": f"boom {n}"}}) for n in range(count)]


def unknown_frames(count: int) -> list[bytes]:
    return [frame({"type": f"vendor.{n}"}) for n in range(count)]


@pytest.mark.parametrize(
    "stream",
    [
        text_deltas,
        argument_deltas,
        many_calls,
        nameless_calls,
        one_line_in_drips,
        one_document_in_drips,
        held_tag,
        unclosed_thought,
        cumulative_message,
        interleaved_items,
        new_items,
        items_without_names,
        a_long_snapshot,
        error_frames,
        unknown_frames,
    ],
)
def test_work_grows_with_the_input_and_no_faster(stream: Callable[[int], list[bytes]]) -> None:
    """Four times the input: what grows with its square would take sixteen times the calls."""
    small, large = calls_made(stream(200)), calls_made(stream(800))
    assert large < 7 * small, f"{small} calls for 200, {large} for 800"


def test_snapshots_that_are_much_too_short_are_not_compared_with_all_that_came() -> None:
    events: dict[str, Any] = {"item_id": "i1", "output_index": 0}
    item = {"type": "function_call", "id": "i1", "call_id": "c1", "name": "f"}
    added = frame({"type": "response.output_item.added", **events, "item": item})
    delta = frame({"type": "response.function_call_arguments.delta", **events, "delta": "x" * 50})
    done = frame({"type": "response.function_call_arguments.done", **events, "arguments": "short"})
    with mock.patch.object(Kept, "text", autospec=True, side_effect=Kept.text) as joined:
        StreamDecoder().feed(added + (delta + done) * 500)
    assert joined.call_count < 10


def test_an_index_of_a_thousand_million_is_only_a_key() -> None:
    body = chat({"tool_calls": [call(10**9, name="f", arguments="{}")]}) + frame(
        {"choices": [{"index": 10**9, "delta": {"content": "x"}}]}
    )
    events = decode([body, b"data: [DONE]\n\n"])
    assert ended(events).status == "completed"
    assert [event.choice for event in events if isinstance(event, TextDelta)] == [10**9]


def test_a_hundred_thousand_calls_end_one_by_one() -> None:
    count = limits.MAX_PARTS
    chunk = [call(i, name="f", arguments="{}") for i in range(1000)]
    decoder = StreamDecoder()
    events = []
    for start in range(0, count + 1000, 1000):
        events += decoder.feed(chat({"tool_calls": [{**entry, "index": start + i} for i, entry in enumerate(chunk)]}))
    events += decoder.close()
    assert ended(events).status == "failed"
    assert sum(isinstance(event, ToolCallEnd) for event in events) == count
    assert [event.error.kind for event in events if isinstance(event, ErrorReport)] == ["limit"]


def test_a_line_of_a_hundred_megabytes_is_dropped_and_never_kept() -> None:
    head, tail = b'data: {"choices":[{"delta":{"content":"', b'"}}]}\n\n'
    filler = b"x" * 1024
    decoder = StreamDecoder()
    events = decoder.feed(chat({"content": "before"}) + head)
    tracemalloc.start()
    try:
        for _ in range(100 * 1024):
            events += decoder.feed(filler)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    events += decoder.feed(tail + chat({"content": " after"}))
    events += decoder.close()
    assert ended(events).status == "failed"
    assert "".join(event.delta for event in events if isinstance(event, TextDelta)) == "before after"
    assert peak < 1.2 * limits.MAX_FRAME_BYTES


@pytest.mark.parametrize("nest", [b"[" * 200_000, b'{"a":' * 200_000, b"[{" * 100_000])
def test_nesting_bombs_are_unreadable_frames(nest: bytes) -> None:
    events = decode([b"data: " + nest + b"\n\n", chat({"content": "x"}), b"data: [DONE]\n\n"])
    assert ended(events).status == "completed"
    assert sum(isinstance(event, Unknown) for event in events) == 1


@pytest.mark.parametrize("bomb", [b"[" * 300_000, b'{"a":' * 300_000])
def test_a_body_that_is_a_nesting_bomb_is_truncated(bomb: bytes) -> None:
    assert ended(decode(pieces_of(bomb, 64 * 1024))).status == "truncated"


def test_a_million_empty_frames_and_endless_comments_hold_nothing() -> None:
    decoder = StreamDecoder()
    events = decoder.feed(chat({"content": "x"}))
    tracemalloc.start()
    try:
        for _ in range(100):
            events += decoder.feed(b"data:\n\n" * 10_000)
            events += decoder.feed(b": ping\n" * 10_000)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    events += decoder.feed(b"data: [DONE]\n\n") + decoder.close()
    assert ended(events).status == "completed"
    assert len(events) == 6
    assert peak < 8 * 1024 * 1024


@pytest.mark.parametrize("options", [{}, {"fast": False}, {"collect": False}], ids=str)
@pytest.mark.parametrize("size", [64 * 1024, None], ids=["64 KB", "one event"])
def test_a_long_answer_weighs_what_its_text_weighs(size: int | None, options: dict[str, Any]) -> None:
    event = chat({"content": "word "})
    pieces = list(pieces_of(event * 1000, size)) if size else [event] * 1000
    decoder = StreamDecoder(**options)
    decoder.feed(event)
    tracemalloc.start()
    try:
        for piece in pieces * 60:
            decoder.feed(piece)
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    text = 0 if "collect" in options else len("word ") * 60_000
    few_deltas = 4200 * 60  # not joined yet
    assert held < 2 * text + few_deltas + 100_000
    (end,) = [event for event in decoder.close() if event.type == "text_end"]
    assert len(end.text or "") == (text and text + len("word "))


def test_ever_new_choices_are_dropped_past_the_limit() -> None:
    body = b"".join(
        frame({"choices": [{"index": i, "delta": {"content": "x"}}]}) for i in range(limits.MAX_CHOICES + 10)
    )
    events = decode([body])
    assert ended(events).status == "failed"
    assert sum(isinstance(event, TextDelta) for event in events) == limits.MAX_CHOICES


def test_arguments_that_wait_for_a_name_are_bounded() -> None:
    piece = "x" * (1024 * 1024)
    body = [chat({"tool_calls": [call(0, arguments=piece)]}) for _ in range(6)]
    events = decode(body)
    assert ended(events).status == "failed"
    (end,) = (event for event in events if isinstance(event, ToolCallEnd))
    assert (end.name, end.status, len(end.arguments)) == ("", "truncated", 6 * len(piece))
