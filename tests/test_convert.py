"""`convert()`: one wire in, the other out; what the strictest reader of each demands; the source is always closed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

import streamshim
from streamshim.conversion import aconvert, convert
from streamshim.testing import wire_breaches
from tests.reading import decode
from tests.small_streams import CHAT, CHAT_CALL, RESPONSES, VENDOR_ERROR, chat, frame, responses
from tests.test_scenarios import load


class Source:
    """Pieces, and whether it was closed; an exception among them is raised."""

    def __init__(self, pieces: list[Any]) -> None:
        self._pieces = iter(pieces)
        self.closed = 0

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        piece = next(self._pieces)
        if isinstance(piece, BaseException):
            raise piece
        return piece

    def close(self) -> None:
        self.closed += 1


class AsyncSource:
    """The asynchronous twin."""

    def __init__(self, pieces: list[Any]) -> None:
        self._pieces = iter(pieces)
        self.closed = 0

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        for piece in self._pieces:
            if isinstance(piece, BaseException):
                raise piece
            return piece
        raise StopAsyncIteration

    async def aclose(self) -> None:
        self.closed += 1


def payloads(frames: list[bytes]) -> list[dict[str, Any]]:
    lines = [line for part in frames for line in part.decode().split("\n") if line.startswith("data: {")]
    return [json.loads(line[6:]) for line in lines]


def converted(pieces: list[bytes], to: Any = "responses", **options: Any) -> list[dict[str, Any]]:
    with convert(iter(pieces), to, **options) as stream:
        return payloads(list(stream))


def of_type(events: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [event for event in events if event["type"] == f"response.{kind}"]


# -- a chat vendor's tool call, as an agent that speaks Responses demands it ------------------------------------------

THINKING_CALL = [frame(chat({"role": "assistant", "reasoning_content": "Look it up."})), *CHAT_CALL]


@pytest.fixture(scope="module")
def call_stream() -> list[dict[str, Any]]:
    usage = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
    return converted([*THINKING_CALL[:-1], frame({**chat({}), "choices": [], "usage": usage}), THINKING_CALL[-1]])


def test_every_data_field_is_json_and_has_a_type() -> None:
    for part in convert(iter(THINKING_CALL)):
        data = part.decode().split("data: ", 1)[1].strip()
        assert data == "[DONE]" or json.loads(data)["type"]


def test_created_carries_the_response(call_stream: list[dict[str, Any]]) -> None:
    assert call_stream[0]["type"] == "response.created"
    assert call_stream[0]["response"]["id"] == "chatcmpl-1"


def test_every_delta_belongs_to_the_item_that_was_added_last(call_stream: list[dict[str, Any]]) -> None:
    active, deltas = None, 0
    for event in call_stream:
        if event["type"] == "response.output_item.added":
            active = event["item"]["id"]
        elif event["type"].endswith(".delta"):
            deltas += 1
            assert event["item_id"] == active
    assert deltas == 3


def test_thought_comes_as_summary_with_its_index(call_stream: list[dict[str, Any]]) -> None:
    (added,), (delta,) = (
        of_type(call_stream, "reasoning_summary_part.added"),
        of_type(call_stream, "reasoning_summary_text.delta"),
    )
    assert (added["summary_index"], delta["summary_index"], delta["delta"]) == (0, 0, "Look it up.")


def test_done_items_hold_all_that_history_needs(call_stream: list[dict[str, Any]]) -> None:
    reasoning, call = [event["item"] for event in of_type(call_stream, "output_item.done")]
    assert reasoning["summary"] == [{"type": "summary_text", "text": "Look it up."}]
    assert reasoning.get("encrypted_content", "absent") == "absent"
    assert (call["type"], call["name"], call["call_id"]) == ("function_call", "look", "call_1")
    assert call["arguments"] == '{"at":1}'


def test_completed_has_an_id_and_whole_usage(call_stream: list[dict[str, Any]]) -> None:
    response = call_stream[-1]["response"]
    assert call_stream[-1]["type"] == "response.completed"
    assert response["id"] == "chatcmpl-1"
    usage = response["usage"]
    assert [usage[key] for key in ("input_tokens", "output_tokens", "total_tokens")] == [3, 2, 5]
    assert usage["input_tokens_details"]["cached_tokens"] == usage["output_tokens_details"]["reasoning_tokens"] == 0


def test_usage_is_null_and_never_partial_where_there_is_none() -> None:
    assert converted(CHAT)[-1]["response"]["usage"] is None


def test_a_message_with_a_refusal_can_be_made_one_of_text() -> None:
    pieces = [frame(chat({"refusal": "No."})), frame(chat({}, "stop")), b"data: [DONE]\n\n"]
    (done,) = of_type(converted(pieces, refusal_as_text=True), "output_item.done")
    assert [(part["type"], part["text"]) for part in done["item"]["content"]] == [("output_text", "No.")]
    (done,) = of_type(converted(pieces), "output_item.done")
    assert [(part["type"], part["refusal"]) for part in done["item"]["content"]] == [("refusal", "No.")]


def test_the_token_limit_can_be_made_a_completion_but_never_with_a_cut_call() -> None:
    text = [frame(chat({"content": "Tide"})), frame(chat({}, "length")), b"data: [DONE]\n\n"]
    assert converted(text)[-1]["type"] == "response.incomplete"
    assert converted(text, length_as_completed=True)[-1]["type"] == "response.completed"
    cut_call = [CHAT_CALL[0], frame(chat({}, "length")), b"data: [DONE]\n\n"]
    assert converted(cut_call, length_as_completed=True)[-1]["type"] == "response.incomplete"


def test_an_error_of_the_vendor_keeps_the_code_that_agents_act_on() -> None:
    error = {"error": {"message": "Too long.", "code": "context_length_exceeded"}}
    failed = converted([CHAT[0], frame(error)])[-1]
    assert failed["type"] == "response.failed"
    assert failed["response"]["error"] == {"code": "context_length_exceeded", "message": "Too long."}


def test_a_cut_call_is_never_done() -> None:
    events = converted(CHAT_CALL[:2])
    assert of_type(events, "output_item.done") == of_type(events, "function_call_arguments.done") == []
    assert events[-1]["response"]["output"][-1]["status"] == "incomplete"
    assert events[-1]["response"]["error"]["code"] == "stream_truncated"


# -- and the converse -------------------------------------------------------------------------------------------------


def test_a_responses_tool_call_comes_as_one_head_and_bare_continuations() -> None:
    scenario = load("tool_call")
    chunks = converted(scenario["pieces"], "chat")
    entries = [entry for chunk in chunks for c in chunk["choices"] for entry in c["delta"].get("tool_calls", ())]
    head, *rest = entries
    assert head["id"] == scenario["expect"]["tool_calls"][0]["call_id"]
    assert head["function"] == {"name": scenario["expect"]["tool_calls"][0]["name"], "arguments": ""}
    assert all(entry.keys() == {"index", "function"} for entry in rest)
    arguments = "".join(entry["function"]["arguments"] for entry in rest)
    assert json.loads(arguments) == scenario["expect"]["tool_calls"][0]["arguments"]


def test_a_responses_stream_ends_as_a_chat_stream_ends() -> None:
    frames = list(convert(iter(RESPONSES), "chat"))
    assert frames[-1] == b"data: [DONE]\n\n"
    reasons = [c["finish_reason"] for chunk in payloads(frames) for c in chunk["choices"]]
    assert [reason for reason in reasons if reason] == ["stop"]
    assert wire_breaches(frames) == []


def test_a_cut_responses_stream_ends_with_an_error_and_without_done() -> None:
    frames = list(convert(iter(RESPONSES[:4]), "chat"))
    assert payloads(frames)[-1]["error"]["code"] == "stream_truncated"
    assert b"[DONE]" not in b"".join(frames)


def test_the_same_wire_comes_out_in_order() -> None:
    """A sloppy stream becomes a strict one of the same wire."""
    frames = list(convert(b'data: {"choices":[{"delta":{"content":"hi"}}]}\n\ndata: [DONE]\n\n', "chat"))
    assert wire_breaches(frames) == []
    assert decode(frames)[-1].status == "completed"


# -- the shell --------------------------------------------------------------------------------------------------------


def test_the_source_may_be_bytes_and_to_defaults_to_responses() -> None:
    with convert(b"".join(CHAT)) as stream:
        assert payloads(list(stream))[-1]["response"]["output"][0]["content"][0]["text"] == "Hello"
        assert stream.end is not None
        assert stream.end.status == "completed"
        assert stream.dropped == {}


def test_options_of_both_sides_are_taken() -> None:
    body = [frame(chat({"content": "thought</think>text"})), frame(chat({}, "stop")), b"data: [DONE]\n\n"]
    events = converted(body, model="house-model", response_id="resp_x", reasoning_tags="open", event_lines=False)
    assert (events[0]["response"]["model"], events[0]["response"]["id"]) == ("house-model", "resp_x")
    assert [event["delta"] for event in of_type(events, "reasoning_summary_text.delta")] == ["thought"]


@pytest.mark.parametrize("options", [{"to": "smoke"}, {"reasoning": "loud"}, {"truncated": "error"}])
def test_unknown_words_are_refused_at_once(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="is not known"):
        convert(b"", **options)


def test_frames_come_as_soon_as_their_events_do() -> None:
    taken: list[int] = []

    def pieces() -> Iterator[bytes]:
        for number, piece in enumerate(CHAT):
            taken.append(number)
            yield piece

    with convert(pieces()) as stream:
        while b"output_text.delta" not in next(stream):
            pass
        assert taken == [0]


def test_a_loop_may_be_left_and_taken_up_again() -> None:
    fixed: dict[str, Any] = {"make_id": lambda prefix: f"{prefix}_1", "now": lambda: 5}
    with convert(b"".join(THINKING_CALL), **fixed) as stream:
        frames: list[bytes] = []
        for part in stream:
            frames.append(part)
            break
        frames.append(next(stream))
        frames += stream
    assert frames == list(convert(iter(THINKING_CALL), **fixed))


def test_how_the_source_ended_is_not_known_before_the_frames_that_say_so() -> None:
    with convert(b"".join(CHAT), "chat") as stream:
        assert [stream.end is not None for _ in stream] == [False, False, False, False, True]


def test_nothing_more_comes_once_a_stream_is_closed_in_mid_loop() -> None:
    with convert(b"".join(CHAT)) as stream:
        for number, _ in enumerate(stream):
            assert number == 0
            stream.close()
    assert stream.end is not None
    assert stream.end.status == "cancelled"


def test_source_is_closed_at_the_end() -> None:
    source = Source(CHAT)
    assert wire_breaches(list(convert(source))) == []
    assert source.closed == 1


def test_source_is_closed_when_the_reader_leaves() -> None:
    source = Source(CHAT)
    with convert(source) as stream:
        next(stream)
        assert source.closed == 0
    assert source.closed == 1
    assert list(stream) == []
    stream.close()


def test_source_that_breaks_is_closed_and_the_wire_says_so() -> None:
    source = Source([CHAT[0], ConnectionError("gone")])
    events = payloads(list(convert(source)))
    assert events[-1]["response"]["error"]["code"] == "stream_truncated"
    assert source.closed == 1


def test_what_an_observer_raises_passes_through_in_mid_piece_and_closes_the_source() -> None:
    def observe(event: streamshim.Event) -> None:
        if event.type == "text_delta":
            raise LookupError(event.delta)

    source, frames = Source([b"".join(CHAT)]), list[bytes]()
    with pytest.raises(LookupError, match="Hel"):
        frames.extend(convert(source, "chat", on_event=observe))
    assert source.closed == 1

    async def run() -> None:
        async for part in aconvert(AsyncSource([b"".join(CHAT)]), "chat", on_event=observe):
            frames.append(part)

    with pytest.raises(LookupError, match="Hel"):
        asyncio.run(run())
    assert len(payloads(frames)) == 2 * len(["the role"])


def test_an_interrupt_passes_through_and_closes_the_source() -> None:
    source = Source([CHAT[0], KeyboardInterrupt()])
    with pytest.raises(KeyboardInterrupt):
        list(convert(source))
    assert source.closed == 1


def test_async_twin_gives_the_same_frames_and_closes_its_source() -> None:
    source = AsyncSource(THINKING_CALL)
    fixed: dict[str, Any] = {"make_id": lambda prefix: f"{prefix}_1", "now": lambda: 5}

    async def run() -> list[bytes]:
        async with aconvert(source, **fixed) as stream:
            return [part async for part in stream]

    assert asyncio.run(run()) == list(convert(iter(THINKING_CALL), **fixed))
    assert source.closed == 1


def test_async_reader_may_leave() -> None:
    source = AsyncSource(CHAT)

    async def run() -> list[bytes]:
        stream = aconvert(source)
        await anext(stream)
        await stream.aclose()
        return [part async for part in stream]

    assert asyncio.run(run()) == []
    assert source.closed == 1


def test_async_loop_may_be_left_and_taken_up_again_until_the_stream_is_closed() -> None:
    frames: list[bytes] = []

    async def run() -> None:
        stream = aconvert(b"".join(CHAT))
        async for part in stream:
            frames.append(part)
            break
        async for part in stream:
            frames.append(part)
            if b"output_item.added" in part:
                await stream.aclose()  # the event that is being written has another frame
        assert stream.end is not None
        assert stream.end.status == "cancelled"

    asyncio.run(run())
    names = [part.split(b"\n")[0] for part in frames]
    assert names == [b"event: response." + name for name in (b"created", b"in_progress", b"output_item.added")]


def test_async_frames_come_as_soon_as_their_events_do() -> None:
    taken: list[int] = []

    async def pieces() -> AsyncIterator[bytes]:
        for number, piece in enumerate(CHAT):
            taken.append(number)
            yield piece

    async def run() -> None:
        async with aconvert(pieces()) as stream:
            while b"output_text.delta" not in await anext(stream):
                pass
            assert taken == [0]

    asyncio.run(run())


def test_a_cancelled_task_closes_the_source() -> None:
    source = AsyncSource([CHAT[0], asyncio.CancelledError()])

    async def run() -> None:
        async with aconvert(source) as stream:
            async for _ in stream:
                pass

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(run())
    assert source.closed == 1


def test_an_error_body_becomes_a_failed_response() -> None:
    events = converted([json.dumps(VENDOR_ERROR).encode()])
    assert events[-1]["response"]["error"] == {"code": "overheated", "message": "the engine is on fire"}
    assert streamshim.parse(list(convert(json.dumps(VENDOR_ERROR).encode())), errors="event").status == "failed"


def test_hosted_tools_are_lost_on_chat_and_counted() -> None:
    scenario = load("web_search")
    with convert(iter(scenario["pieces"]), "chat") as stream:
        frames = list(stream)
    assert wire_breaches(frames) == []
    assert stream.dropped["server_call"] == 1
    assert "tool_calls" not in b"".join(frames).decode()


@pytest.mark.parametrize(
    ("item", "call_id"),
    [
        ({"type": "tool_search_call", "call_id": None, "arguments": {}, "execution": "server"}, None),
        ({"type": "tool_search_call", "call_id": "c1", "arguments": {}, "execution": "client"}, "c1"),
        ({"type": "web_search_call", "call_id": ""}, "absent"),
        ({"type": "x_search_call", "call_id": "c2"}, "c2"),
        ({"type": "shell_call", "call_id": "c3", "action": {"commands": []}}, "c3"),
    ],
)
def test_a_hosted_call_is_done_under_the_call_id_it_was_announced_by(item: dict[str, Any], call_id: str | None) -> None:
    whole = {"id": "it_1", "status": "completed", **item}
    events = converted([frame(responses("output_item.done", output_index=0, item=whole))])
    shown = [event["item"] for kind in ("added", "done") for event in of_type(events, f"output_item.{kind}")]
    assert [item.get("call_id", "absent") for item in shown] == [call_id, call_id]


def test_a_patch_is_announced_with_an_operation() -> None:
    whole: dict[str, Any] = {"id": "p_1", "type": "apply_patch_call", "call_id": "c", "status": "completed"}
    whole["operation"] = {"type": "delete_file", "path": "a.txt"}
    events = converted([frame(responses("output_item.done", output_index=0, item=whole))])
    (added,) = of_type(events, "output_item.added")
    assert added["item"]["operation"] == {"type": "create_file", "path": "", "diff": ""}
    (ended,) = of_type(events, "output_item.done")
    assert ended["item"]["operation"] == whole["operation"]


def test_responses_events_of_a_payload_source_are_read_too() -> None:
    events = [responses("output_text.delta", item_id="m", output_index=0, content_index=0, delta="hi")]
    assert converted(events, "chat")[1]["choices"][0]["delta"] == {"content": "hi"}  # type: ignore[arg-type]
