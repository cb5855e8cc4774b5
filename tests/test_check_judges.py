"""What the judges of single items make of answers that no habit of the tests' server gives."""

from __future__ import annotations

import json
from typing import Any

import pytest

from streamshim.capture import Capture, TimedPiece
from streamshim.check import all_items
from streamshim.check.exchanges import Exchange
from streamshim.check.items import Case, CheckItem, Judgement
from streamshim.check.reading import Answer

ITEMS = {item.id: item for item in all_items("toy")}


def streamed(text: str, finish: str = "stop") -> bytes:
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "toy"}
    deltas = [({"role": "assistant", "content": text}, None), ({}, finish)]
    chunks = [{**head, "choices": [{"index": 0, "delta": delta, "finish_reason": word}]} for delta, word in deltas]
    return b"".join(f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks) + b"data: [DONE]\n\n"


def judged(id: str, *bodies: bytes, status: int = 200) -> Judgement:
    item: CheckItem = ITEMS[id]
    own = [
        Exchange(request, Answer(status, "text/event-stream", Capture([TimedPiece(body, 0.1)], 0.2)))
        for request, body in zip(item.requests, bodies, strict=False)
    ]
    return item.judge(Case(own, own))


def numbers(*values: int) -> str:
    return " ".join(map(str, values))


@pytest.mark.parametrize(
    ("text", "outcome", "told"),
    [
        (numbers(*range(1, 31)), "pass", "1 delta in 1 read"),
        (numbers(*range(1, 12)), "pass", "1 delta"),
        ("I would rather not.", "pass", "1 delta"),
        (numbers(1, 2, 4, 5), "fail", "numbers are 3 missing"),
        (numbers(1, 2, 2, 3), "fail", "repeated or out of order"),
        ("", "fail", "no text came"),
    ],
)
def test_words_that_are_lost_are_missed_where_the_model_counted(text: str, outcome: str, told: str) -> None:
    judgement = judged("chat.stream", streamed(text))
    assert judgement.outcome == outcome
    assert told in judgement.detail


def test_tokens_that_thought_used_up_are_the_model_s_matter() -> None:
    judgement = judged("chat.stream", streamed("", "length"))
    assert (judgement.outcome, judgement.cause) == ("fail", "model")


@pytest.mark.parametrize(
    ("words", "outcome", "told"),
    [
        (["amber", "birch", "cedar", "delta"], "pass", "none mixed up"),
        (["amber", "amber", "cedar", "delta"], "fail", "birch was asked for, and amber came"),
        (["amber", " ", "cedar", "delta"], "fail", "an answer is empty"),
    ],
)
def test_answers_that_are_mixed_up_are_told(words: list[str], outcome: str, told: str) -> None:
    judgement = judged("chat.concurrency", *map(streamed, words))
    assert judgement.outcome == outcome
    assert told in judgement.detail


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        ({"data": [{"id": "toy"}]}, "pass"),
        ({"data": [{"id": "other"}]}, "fail"),
        ({"models": ["toy"]}, "fail"),
        (["toy"], "fail"),
    ],
)
def test_the_list_of_models_must_have_the_model_where_it_belongs(body: Any, outcome: str) -> None:
    assert judged("reachability.models", json.dumps(body).encode()).outcome == outcome


@pytest.mark.parametrize(
    ("status", "error", "outcome"),
    [
        (400, {"message": "Unknown parameter: 'logprobs'.", "param": "logprobs"}, "unsupported"),
        (422, {"message": "Extra inputs are not permitted"}, "unsupported"),
        (400, {"message": "the moon is new"}, "fail"),
        (500, {"message": "logprobs made me stumble"}, "fail"),
        (429, {"message": "slow down"}, "not tried"),
    ],
)
def test_what_is_refused_by_name_is_unsupported_and_what_breaks_is_not(
    status: int, error: dict[str, str], outcome: str
) -> None:
    body = json.dumps({"error": error}).encode()
    assert judged("chat.logprobs", body, status=status).outcome == outcome


def test_more_tokens_than_were_allowed_fail_though_it_says_length() -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 40, "total_tokens": 49}
    counted = json.dumps({"id": "c", "object": "chat.completion.chunk", "choices": [], "usage": usage}).encode()
    body = streamed("1 2 3", "length").replace(b"data: [DONE]", b"data: " + counted + b"\n\ndata: [DONE]")
    judgement = judged("chat.max-tokens", body)
    assert (judgement.outcome, judgement.cause) == ("fail", "server")
    assert "counts 40 tokens for 5" in judgement.detail


def test_an_answer_that_does_not_speak_of_the_tool_s_result_is_the_model_s_matter() -> None:
    assert judged("chat.tool-result", streamed("It is 23 degrees.")).outcome == "pass"
    judgement = judged("chat.tool-result", streamed("How nice!"))
    assert (judgement.outcome, judgement.cause) == ("fail", "model")


def test_what_was_to_be_dropped_and_is_remembered_fails() -> None:
    head = {"object": "response", "status": "completed", "model": "toy", "created_at": 1}
    bodies = [
        {
            **head,
            "id": id,
            "output": [{"type": "message", "id": "m", "content": [{"type": "output_text", "text": text}]}],
        }
        for id, text in (("r1", "I will."), ("r2", "compass"))
    ]
    judgement = judged("responses.store-false", *(json.dumps(body).encode() for body in bodies))
    assert (judgement.outcome, judgement.detail) == ("fail", 'it was kept all the same: "compass"')
