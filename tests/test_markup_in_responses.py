"""Tool calls that stand in the text of a Responses stream, read on request."""

from __future__ import annotations

import json
from typing import Any

import pytest

from streamshim import collect
from streamshim.testing import breaches
from tests.reading import decode, first_difference
from tests.scripted import response_body
from tests.small_streams import frame, responses

CALL = '<tool_call>\n{"name": "look", "arguments": {"at": 1}}\n</tool_call>'
TEXT = f"Let me see.\n{CALL}\nDone."


def stream(text: str, *, width: int = 5, snapshot: str | None = None, status: str = "completed") -> bytes:
    """An answer whose text comes in deltas of some width, and is repeated wherever the API repeats it."""
    body = response_body(text if snapshot is None else snapshot, id="resp_1", status=status)
    item: dict[str, Any] = {**body["output"][0], "id": "msg_1"}
    body["output"] = [item]
    where = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    deltas = [text[start : start + width] for start in range(0, len(text), width)]
    whole = item["content"][0]["text"]
    events = [
        responses("created", response={**body, "status": "in_progress", "output": []}),
        responses("output_item.added", output_index=0, item={**item, "content": [], "status": "in_progress"}),
        *(responses("output_text.delta", **where, delta=delta) for delta in deltas),
        responses("output_text.done", **where, text=whole),
        responses("content_part.done", **where, part=item["content"][0]),
        responses("output_item.done", output_index=0, item=item),
        responses(status, response=body),
    ]
    return b"".join(map(frame, events))


@pytest.mark.parametrize("width", [1, 5, 17, 1000])
def test_a_call_in_the_text_is_a_call_however_it_is_cut(width: int) -> None:
    events = decode([stream(TEXT, width=width)], tool_markup=True)
    assert breaches(events) == []
    answer = collect(events)
    assert answer.text == "Let me see.\nDone."
    assert [(call.name, call.parsed()) for call in answer.calls_to_answer] == [("look", {"at": 1})]
    assert (answer.finish_reason, answer.status) == ("tool_calls", "completed")
    assert answer.repairs["tool-markup"] == 1
    assert "snapshot-differs" not in answer.repairs


def test_it_is_text_where_nobody_asked() -> None:
    assert collect(decode([stream(TEXT)])).text == TEXT


def test_the_same_bytes_cut_in_any_way_give_the_same_events_fast_or_not() -> None:
    body = stream(f"{'It is nine. ' * 20}{TEXT}", width=3)
    whole = decode([body], tool_markup=True)
    by_frame = [part + b"\n\n" for part in body.split(b"\n\n")[:-1]]
    by_size = ([body[start : start + size] for start in range(0, len(body), size)] for size in (1, 7, 64))
    for pieces in (by_frame, *by_size):
        for fast in (True, False):
            assert first_difference(whole, decode(pieces, tool_markup=True, fast=fast)) is None


def test_markup_that_never_closes_is_text() -> None:
    text = 'Look: <tool_call>\n{"name": "look"'
    assert collect(decode([stream(text)], tool_markup=True)).text == text
    whole = stream(text)
    cut = whole[: whole.rindex(b"data:", 0, whole.index(b"response.output_text.done"))]
    answer = collect(decode([cut], tool_markup=True))
    assert (answer.text, answer.status) == (text, "truncated")


def test_what_only_the_snapshot_shows_is_searched_as_well() -> None:
    events = decode([stream("Let me", snapshot=TEXT)], tool_markup=True)
    assert [call.name for call in collect(events).calls_to_answer] == ["look"]
    whole: Any = {**response_body(TEXT), "id": "resp_1"}
    answer = collect(decode([json.dumps(whole).encode()], tool_markup=True))
    assert (answer.text, len(answer.calls_to_answer)) == ("Let me see.\nDone.", 1)


def test_two_calls_are_two_parts_and_the_text_around_them_is_one_answer() -> None:
    two = f"{CALL}\n{CALL.replace('1', '2')}"
    events = decode([stream(two)], tool_markup=True)
    assert breaches(events) == []
    answer = collect(events)
    assert [call.parsed()["at"] for call in answer.calls_to_answer] == [1, 2]
    assert answer.text == ""
