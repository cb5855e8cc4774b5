"""What the relay does to one thing at a time: what it hands on as it came, what it mends, and what it leaves out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from streamshim.relay.blocks import BlockCutter
from streamshim.testing import cuts
from tests.relaying import relay
from tests.small_streams import (
    CALL,
    CHAT,
    CHAT_CHUNKS,
    DONE,
    chat,
    frame,
    response_object,
    response_payloads,
    responses,
)

ROLE, STOP = chat({"role": "assistant", "content": ""}), chat({}, "stop")
BODY = b"".join(CHAT)
NUMBERED = [{**payload, "sequence_number": number} for number, payload in enumerate(response_payloads("Hel", "lo"))]


def framed(*payloads: Any) -> list[bytes]:
    return [DONE if payload == "[DONE]" else frame(payload) for payload in payloads]


def said(payloads: list[Any], key: str = "content") -> list[Any]:
    """What each chunk says under a key of its first delta."""
    chunks = [payload for payload in payloads if payload != "[DONE]" and payload.get("choices")]
    return [chunk["choices"][0]["delta"].get(key) for chunk in chunks]


def call_piece(arguments: str, **names: Any) -> dict[str, Any]:
    function = {"arguments": arguments, **{key: names.pop(key) for key in ("name",) if key in names}}
    return chat({"tool_calls": [{"index": 0, **names, "function": function}]})


# -- frames that strict readers choke on ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "odd",
    [
        b"data:\n\n",
        b"data: \n\n",
        b"retry: 10\n\n",
        b"id: 7\n\n",
        b"event: keepalive\n\n",
        b"data: {nonsense\n\n",
        b"data: 7\n\n",
        b"data: null\n\n",
        b'data: {"type":"ping"}\n\n',
        b"data: \xff\xfe\n\n",
        b": caf\xe9\n\n",
        b"nonsense\n\n",
    ],
)
def test_odd_frame_is_left_out_and_the_others_stay(odd: bytes) -> None:
    relayed = relay([CHAT[0], odd, *CHAT[1:]])
    assert relayed.body == BODY


def test_comments_stay() -> None:
    body = b": hello\n\n" + BODY.replace(b"data:", b": ping\n\ndata:")
    assert relay([body]).body == body


@pytest.mark.parametrize("end", [b"\r\n", b"\r"])
def test_line_ends_stay(end: bytes) -> None:
    body = BODY.replace(b"\n", end)
    assert relay([body]).body == body


def test_byte_order_mark_is_left_out() -> None:
    assert relay([b"\xef\xbb\xbf" + BODY]).body == BODY


def test_last_frame_gets_its_blank_line() -> None:
    assert relay([BODY.rstrip(b"\n")]).body == BODY


def test_no_blank_line_follows_an_id_that_readers_would_take_for_an_event() -> None:
    """They keep the last id, and take every blank line for an event without data."""
    for between in (b"\n", b"\n: ping\n\n"):
        assert relay([b"id: 1\n" + CHAT[0] + between, *CHAT[1:]]).body == b"id: 1\n" + BODY


@pytest.mark.parametrize(
    "member", ['"deep": ' + "[" * 100 + "]" * 100, '"long": ' + "9" * 5000], ids=["nested", "a number of many digits"]
)
def test_json_that_other_modules_refuse_is_written_anew(member: str) -> None:
    odd = CHAT[1].replace(b'{"id"', b"{" + member.encode() + b', "id"')
    relayed = relay([CHAT[0], odd, *CHAT[2:]])
    assert said(relayed.payloads) == ["Hel", "lo", None]
    json.loads(relayed.body.split(b"data: ")[2])


def test_events_that_a_single_line_feed_parts_become_events_of_their_own() -> None:
    relayed = relay([BODY.replace(b"\n\n", b"\n")])
    assert [word for word in said(relayed.payloads) if word] == ["Hel", "lo"]
    assert relayed.breaches == []


def test_blocks_are_the_same_however_the_bytes_are_cut() -> None:
    body = b": c\r\n\r\n" + BODY + CHAT[0].replace(b"\n", b"\r") + b"data: rest"

    def blocks(pieces: list[bytes]) -> list[Any]:
        cutter = BlockCutter(1 << 20)
        found = [block for piece in pieces for _, block in cutter.cut(piece) if block is not None]
        return [(block.payload, block.is_comment) for block in [*found, cutter.rest()] if block is not None]

    whole = blocks([body])
    assert len(whole) == 7
    for pieces in cuts(body):
        assert [each for each in blocks(pieces) if each != (None, True)] == [w for w in whole if w != (None, True)]


# -- chat: what is mended, and nothing else ---------------------------------------------------------------------------


def test_what_the_vendor_adds_stays() -> None:
    extras = {"citations": ["https://e.x"], "system_fingerprint": "fp_1", "x_vendor": {"a": [1]}}
    chunks = [{**chunk, **extras} for chunk in CHAT_CHUNKS]
    body = b"".join(framed(*chunks, "[DONE]"))
    assert relay([body]).body == body


def test_what_the_vendor_adds_is_carried_over_where_a_chunk_is_written_anew() -> None:
    odd: dict[str, Any] = {**chat({"content": 5, "x_delta": "d"}), "x_head": "h"}
    odd["choices"][0]["x_choice"] = "c"
    payloads = relay(framed(ROLE, odd, STOP, "[DONE]")).payloads
    (written,) = [payload for payload in payloads if payload != "[DONE]" and "x_head" in payload]
    choice = written["choices"][0]
    assert (choice["delta"]["content"], choice["delta"]["x_delta"], choice["x_choice"]) == ("5", "d", "c")


def test_signature_of_a_call_is_carried_over_to_the_call() -> None:
    signed = {"function": {"name": "look", "arguments": "{}"}, "extra_content": {"google": {"thought_signature": "s"}}}
    payloads = relay(framed(ROLE, chat({"tool_calls": [signed]}), STOP, "[DONE]")).payloads
    heads = [call for calls in said(payloads, "tool_calls") for call in calls or () if "id" in call]
    assert [call["extra_content"] for call in heads] == [signed["extra_content"]]


def test_thought_under_another_name_is_told_under_the_usual_one_beside_it() -> None:
    details = [{"type": "reasoning.text", "text": "hm", "signature": "s"}]
    payloads = relay(
        framed(ROLE, chat({"reasoning_details": details}), chat({"content": "Yes"}), STOP, "[DONE]")
    ).payloads
    (delta,) = [
        chunk["choices"][0]["delta"] for chunk in payloads[:-1] if "reasoning_details" in chunk["choices"][0]["delta"]
    ]
    assert delta["reasoning_content"] == "hm"
    assert delta["reasoning_details"] == [{"index": 0, **details[0]}]


def test_first_chunk_without_a_role_gets_one_before_it() -> None:
    bare = framed(chat({"content": "Hello"}), STOP, "[DONE]")
    relayed = relay(bare)
    assert said(relayed.payloads, "role")[0] == "assistant"
    assert relayed.body.endswith(b"".join(bare))


def test_role_is_told_once() -> None:
    """Readers add deltas up: twice is "assistantassistant"."""
    chunks = [chat({"role": "assistant", "content": word}) for word in ("Hel", "lo")]
    payloads = relay(framed(*chunks, STOP, "[DONE]")).payloads
    assert said(payloads, "role") == ["assistant", None, None]
    assert said(payloads) == ["Hel", "lo", None]


def test_running_counts_are_told_once_at_the_end() -> None:
    counts = [{"prompt_tokens": 3, "completion_tokens": n, "total_tokens": 3 + n} for n in (1, 2)]
    chunks = [
        {**ROLE, "usage": counts[0]},
        {**chat({"content": "Hello"}), "usage": counts[1]},
        {**STOP, "usage": counts[1]},
    ]
    payloads = relay(framed(*chunks, "[DONE]")).payloads
    usages = [payload["usage"] for payload in payloads if payload != "[DONE]" and payload.get("usage")]
    assert [usage["completion_tokens"] for usage in usages] == [2]


def test_counts_in_an_odd_place_are_told_in_theirs_if_the_request_asks_for_them() -> None:
    counts = {"x_groq": {"usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}}}
    pieces = framed(ROLE, chat({"content": "Hello"}), {**STOP, **counts}, "[DONE]")
    asked, unasked = relay(pieces, asks_usage=True), relay(pieces, asks_usage=False)
    assert asked.payloads[-2]["choices"] == []
    assert asked.payloads[-2]["usage"]["total_tokens"] == 5
    assert unasked.body == b"".join(pieces)


def test_counts_that_nobody_asked_for_never_come_in_a_chunk_without_choices() -> None:
    """Who did not ask for it takes a choice from every chunk."""
    counts = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
    chunks = [{**ROLE, "usage": counts}, {**chat({"content": "Hello"}), "usage": counts}, {**STOP, "usage": counts}]
    payloads = relay(framed(*chunks, "[DONE]"), asks_usage=False).payloads
    assert all(payload["choices"] for payload in payloads[:-1])
    assert payloads[-2]["usage"]["total_tokens"] == 5


def test_whatever_else_the_vendor_counts_stays_in_counts_that_are_written_anew() -> None:
    counts = {"prompt_tokens": 3, "completion_tokens": 2, "cost": 0.1, "prompt_tokens_details": {"images": 1}}
    (chat_usage,) = [
        payload["usage"]
        for payload in relay(framed(ROLE, {**STOP, "usage": counts}, "[DONE]")).payloads
        if payload != "[DONE]" and payload.get("usage")
    ]
    assert (chat_usage["total_tokens"], chat_usage["cost"]) == (5, 0.1)
    assert chat_usage["prompt_tokens_details"] == {"images": 1, "cached_tokens": 0}

    counts = {"input_tokens": 3, "output_tokens": 2, "cost": 0.1}
    bare = {**NUMBERED[-1], "response": {**response_object("completed"), "usage": counts}}
    usage = relay(framed(*NUMBERED[:-1], bare), "responses").payloads[-1]["response"]["usage"]
    assert (usage["total_tokens"], usage["cost"], usage["output_tokens_details"]) == (5, 0.1, {"reasoning_tokens": 0})


@pytest.mark.parametrize("word", ["eos", "end_turn", "STOP", ""])
def test_finish_word_of_another_vocabulary_is_translated(word: str) -> None:
    payloads = relay(framed(ROLE, chat({"content": "Hello"}), chat({}, word), "[DONE]")).payloads
    words = [chunk["choices"][0]["finish_reason"] for chunk in payloads[:-1]]
    assert [each for each in words if each is not None] == ["stop"]


def test_finish_word_that_is_taken_back_is_never_told() -> None:
    relayed = relay(framed(ROLE, chat({"content": "Hel"}), STOP, chat({"content": "lo"}), chat({}, "length"), "[DONE]"))
    words = [chunk["choices"][0]["finish_reason"] for chunk in relayed.payloads[:-1]]
    assert [each for each in words if each is not None] == ["length"]
    assert relayed.breaches == []


def test_last_chunk_may_hold_words_and_their_end() -> None:
    body = b"".join(framed(ROLE, chat({"content": "Hello"}, "stop"), "[DONE]"))
    assert relay([body]).body == body


def test_missing_finish_and_done_are_supplied() -> None:
    relayed = relay(framed(ROLE, chat({"content": "Hello"})), trust_eof=True)
    assert relayed.payloads[-2]["choices"][0]["finish_reason"] == "stop"
    assert relayed.payloads[-1] == "[DONE]"


def test_nothing_follows_done() -> None:
    assert relay([*CHAT, DONE, *framed(chat({"content": "ghost"}))]).body == BODY


def test_calls_under_one_index_get_their_own() -> None:
    calls = [
        {"index": 0, "id": f"c{n}", "type": "function", "function": {"name": f"f{n}", "arguments": "{}"}}
        for n in (1, 2)
    ]
    payloads = relay(framed(ROLE, *(chat({"tool_calls": [call]}) for call in calls), STOP, "[DONE]")).payloads
    heads = [call for each in said(payloads, "tool_calls") for call in each or () if call.get("id")]
    assert [(call["index"], call["id"], call["function"]["name"]) for call in heads] == [
        (0, "c1", "f1"),
        (1, "c2", "f2"),
    ]


def test_id_and_name_of_a_call_are_told_once() -> None:
    pieces = [call_piece(part, id="c1", type="function", name="look") for part in ('{"at"', ":1}")]
    payloads = relay(framed(ROLE, *pieces, STOP, "[DONE]")).payloads
    entries = [call for each in said(payloads, "tool_calls") for call in each or ()]
    assert [entry.get("id") for entry in entries if entry.get("id")] == ["c1"]
    assert "".join(entry["function"]["arguments"] for entry in entries) == '{"at":1}'


def test_head_of_a_call_comes_with_its_first_argument() -> None:
    """Its name may still change."""
    head = chat({"tool_calls": [{**CALL, "function": {"name": "look", "arguments": ""}}]})
    pieces = framed(ROLE, head, call_piece("{}"), chat({}, "tool_calls"), "[DONE]")
    relayed = relay(pieces)
    assert relayed.pieces[:3] == [pieces[0], b"", pieces[1] + pieces[2]]
    assert relayed.body == b"".join(pieces)


def test_calls_that_must_be_whole_come_at_their_end() -> None:
    pieces = framed(ROLE, chat({"tool_calls": [CALL]}), call_piece(":1}"), chat({}, "tool_calls"), "[DONE]")
    relayed = relay(pieces, tool_calls="whole")
    assert relayed.pieces == [pieces[0], b"", b"", b"", b"".join(pieces[1:]), b""]


def test_lists_of_a_delta_are_numbered() -> None:
    """Readers that add up deltas need an index from the second list on."""
    thoughts = [chat({"thinking_blocks": [{"thinking": word}]}) for word in ("h", "m")]
    deltas = relay(framed(ROLE, *thoughts, chat({"content": "Yes"}), STOP, "[DONE]")).payloads
    blocks = [block for found in said(deltas, "thinking_blocks") for block in found or ()]
    assert [block["index"] for block in blocks] == [0, 0]


def test_sources_are_counted_through_the_message() -> None:
    sources = [
        chat({"annotations": [{"type": "url_citation", "url_citation": {"url": f"https://{n}.x"}}]}) for n in "ab"
    ]
    payloads = relay(framed(chat({"role": "assistant", "content": "Hello"}), *sources, STOP, "[DONE]")).payloads
    numbers = [entry.get("index") for each in said(payloads, "annotations") for entry in each or ()]
    assert numbers in ([None, 1], [0, 1])


@pytest.mark.parametrize(
    ("error", "message"),
    [
        ({"error": "on fire"}, "on fire"),
        ({"error": {"message": "on fire", "code": 500}}, "on fire"),
        ({"base_resp": {"status_code": 1002, "status_msg": "on fire"}}, "on fire"),
        ({"detail": "on fire"}, "on fire"),
    ],
)
def test_error_is_told_as_the_sdk_raises_it_and_ends_the_stream(error: Any, message: str) -> None:
    relayed = relay(framed(ROLE, chat({"content": "Hel"}), error, chat({"content": "lo"}), STOP, "[DONE]"))
    assert message in relayed.payloads[-1]["error"]["message"]
    assert said(relayed.payloads) == ["", "Hel"]
    assert not relayed.is_cut


def test_error_of_the_right_form_arrives_as_it_came() -> None:
    error = b'data: {"error": {"message": "on fire", "metadata": {"provider": "x"}}}\n\n'
    assert relay([CHAT[0], error]).body == CHAT[0] + error


@pytest.mark.parametrize("body", [b"<html>busy</html>", b"\x1f\x8b\x08garbage", b'"busy"'])
def test_body_that_is_no_stream_is_an_error(body: bytes) -> None:
    relayed = relay([body])
    if relayed.end.status == "failed":
        assert "error" in relayed.payloads[-1]
    else:
        assert relayed.is_cut


# -- Responses --------------------------------------------------------------------------------------------------------


def kinds(payloads: list[Any]) -> list[str]:
    return [payload["type"].removeprefix("response.") for payload in payloads if payload != "[DONE]"]


def numbers(payloads: list[Any]) -> list[int]:
    return [payload["sequence_number"] for payload in payloads if payload != "[DONE]"]


def test_missing_announcement_is_supplied_and_the_rest_arrives_as_it_came() -> None:
    lacking = [payload for payload in NUMBERED if payload["type"] != "response.content_part.added"]
    relayed = relay(framed(*lacking), "responses")
    assert kinds(relayed.payloads) == kinds(NUMBERED)
    assert relayed.payloads[3] == {**NUMBERED[3], "sequence_number": 3}
    assert numbers(relayed.payloads) == sorted(set(numbers(relayed.payloads)))


def test_missing_numbers_are_supplied_and_nothing_else_changes() -> None:
    bare = response_payloads("Hel", "lo")
    payloads = relay(framed(*bare), "responses").payloads
    assert payloads == [{**payload, "sequence_number": number} for number, payload in enumerate(bare)]


def test_number_that_does_not_rise_is_the_only_thing_that_changes() -> None:
    stuck = [{**payload, "sequence_number": 0} for payload in NUMBERED]
    relayed = relay(framed(*stuck), "responses")
    assert numbers(relayed.payloads) == list(range(len(NUMBERED)))
    first, second = framed(*stuck)[:2]
    assert relayed.body.startswith(first + second.replace(b'"sequence_number": 0', b'"sequence_number":1'))


def test_number_within_a_string_is_no_number() -> None:
    delta = {**NUMBERED[3], "delta": '"sequence_number": 7', "sequence_number": 0}
    payloads = relay(framed(*NUMBERED[:3], delta), "responses").payloads
    assert payloads[3] == {**delta, "sequence_number": 3}


def test_numbers_may_have_gaps() -> None:
    gaps = framed(*({**payload, "sequence_number": 10 * payload["sequence_number"] + 3} for payload in NUMBERED))
    assert relay(gaps, "responses").body == b"".join(gaps)


def test_terminal_event_without_output_gets_it_and_keeps_its_settings() -> None:
    """Some backends show an empty output; readers take the answer from there."""
    bare = {**NUMBERED[-1], "response": {**response_object("completed"), "store": True, "tools": [{"type": "x"}]}}
    payload = relay(framed(*NUMBERED[:-1], bare), "responses").payloads[-1]
    (message,) = payload["response"]["output"]
    assert message["content"][0]["text"] == "Hello"
    assert (payload["response"]["store"], payload["response"]["tools"]) == (True, [{"type": "x"}])


def test_item_of_a_kind_that_nobody_knows_arrives_and_counts() -> None:
    item = {"id": "cmp_1", "type": "compaction", "encrypted_content": "x"}
    shifted: list[dict[str, Any]] = [
        {**payload, "output_index": 1} if "output_index" in payload else payload
        for payload in response_payloads("Hello")
    ]
    shifted[-1]["response"]["output"].insert(0, item)
    events = [
        shifted[0],
        responses("output_item.added", output_index=0, item=item),
        responses("output_item.done", output_index=0, item=item),
        *shifted[1:],
    ]
    body = b"".join(framed(*({**event, "sequence_number": number} for number, event in enumerate(events))))
    assert relay([body], "responses").body == body


def test_event_of_a_kind_that_nobody_knows_arrives() -> None:
    new = {"type": "response.brand.new", "sequence_number": 3, "x": 1}
    rest = [{**payload, "sequence_number": payload["sequence_number"] + 1} for payload in NUMBERED[3:]]
    body = b"".join(framed(*NUMBERED[:3], new, *rest))
    assert relay([body], "responses").body == body


def test_done_of_the_vendor_stays_and_none_is_added() -> None:
    body = b"".join(framed(*NUMBERED))
    assert relay([body], "responses").body == body
    assert relay([body, DONE, DONE], "responses").body == body + DONE


def test_second_response_behind_the_first_is_left_out() -> None:
    body = b"".join(framed(*NUMBERED))
    assert relay([body, body], "responses").body == body


def test_error_and_failure_arrive_as_they_came() -> None:
    error = {"type": "error", "code": "server_error", "message": "on fire", "param": None, "sequence_number": 4}
    failed = responses("failed", response={**response_object("failed"), "error": {"code": "x", "message": "on fire"}})
    body = b"".join(framed(*NUMBERED[:4], error, {**failed, "sequence_number": 5}))
    assert relay([body], "responses").body == body


def test_nothing_comes_between_an_error_and_the_failure_that_is_supplied() -> None:
    error = {"type": "error", "code": "server_error", "message": "on fire", "param": None}
    relayed = relay(framed(*NUMBERED[:4], error, NUMBERED[4]), "responses")
    assert kinds(relayed.payloads)[-2:] == ["error", "failed"]
    assert relayed.payloads[-1]["response"]["error"]["message"] == "on fire"
    assert relayed.breaches == []


def test_error_in_another_form_is_told_so_that_the_sdk_raises() -> None:
    payloads = relay(framed(*NUMBERED[:4], {"detail": "on fire"}), "responses").payloads
    assert kinds(payloads)[-2:] == ["error", "failed"]
    assert payloads[-2]["error"]["message"] == payloads[-2]["message"] == "on fire"


def test_cut_response_tells_no_end() -> None:
    relayed = relay(framed(*NUMBERED[:5]), "responses")
    assert relayed.is_cut
    assert relayed.body == b"".join(framed(*NUMBERED[:5]))


def test_call_that_was_cut_is_not_told_to_be_done() -> None:
    """Many readers run a call that is done, whatever its status says."""
    item = {
        "id": "fc_1",
        "type": "function_call",
        "call_id": "c1",
        "name": "look",
        "arguments": "",
        "status": "in_progress",
    }
    cut = {**item, "arguments": '{"at', "status": "incomplete"}
    place = {"output_index": 0, "item_id": "fc_1"}
    events = [
        NUMBERED[0],
        responses("output_item.added", output_index=0, item=item),
        responses("function_call_arguments.delta", **place, delta='{"at'),
        responses("function_call_arguments.done", **place, arguments='{"at'),
        responses("output_item.done", output_index=0, item=cut),
        responses(
            "incomplete",
            response={
                **response_object("incomplete", output=[cut]),
                "incomplete_details": {"reason": "max_output_tokens"},
            },
        ),
    ]
    relayed = relay(framed(*({**event, "sequence_number": number} for number, event in enumerate(events))), "responses")
    assert "output_item.done" not in kinds(relayed.payloads)
    assert relayed.payloads[-1]["response"]["output"] == [cut]


def test_chat_stream_is_told_in_the_words_of_responses_where_these_were_asked_for() -> None:
    relayed = relay(CHAT, "responses")
    assert kinds(relayed.payloads)[0] == "created"
    assert relayed.payloads[-1]["response"]["output"][0]["content"][0]["text"] == "Hello"


# -- limits -----------------------------------------------------------------------------------------------------------


def test_block_that_is_too_long_is_not_kept() -> None:
    long = chat({"content": "x" * 500})
    relayed = relay(framed(ROLE, long, STOP, "[DONE]"), max_frame_bytes=300)
    assert b"xxx" not in relayed.body
    assert relayed.end.status == "failed"


def test_blocks_that_nothing_confirms_are_given_up() -> None:
    """A call that never gets an argument, and chunk after chunk that says no more of it."""
    head = chat({"tool_calls": [{**CALL, "function": {"name": "look", "arguments": ""}}]})
    empty = call_piece("")
    relayed = relay(framed(ROLE, head, *[empty] * 200, chat({}, "tool_calls"), "[DONE]"))
    assert relayed.breaches == []
    entries = [call for each in said(relayed.payloads, "tool_calls") for call in each or ()]
    assert "".join(entry["function"]["arguments"] for entry in entries) == "{}"
