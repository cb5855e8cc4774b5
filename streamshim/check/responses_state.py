"""Tier 3: what the server keeps between two requests to `/responses`."""

from __future__ import annotations

from ..wording import counted
from .chat_requests import SAY, WHICH_WORD
from .items import Case, CheckItem, Judgement
from .judging import failed, first_trouble, passed, quoted, told_error, trouble, unsupported
from .requests import IdOf
from .responses import reasoned
from .responses_requests import REMEMBER, ResponsesRequests

KEPT, DROPPED = "lighthouse", "compass"
POLLS = 8


def items(model: str) -> list[CheckItem]:
    """The items of this group."""
    make = ResponsesRequests(model)
    told = make.ask("remember", REMEMBER.format(word=KEPT), stream=False, store=True)
    asked = make.ask("recall", WHICH_WORD, stream=False, previous_response_id=IdOf(told.name))
    untold = make.ask("store-false", REMEMBER.format(word=DROPPED), stream=False, store=False)
    unasked = make.ask("recall-unstored", WHICH_WORD, stream=False, previous_response_id=IdOf(untold.name))
    thought = make.ask(
        "encrypted",
        SAY,
        store=False,
        include=["reasoning.encrypted_content"],
        reasoning={"effort": "low", "summary": "auto"},
    )
    begun = make.ask("background", SAY, stream=False, background=True, store=True)
    return [
        CheckItem(
            id="responses.previous-response",
            title="previous_response_id is remembered",
            group="responses-state",
            tier=3,
            asks="to remember a word; then, with `previous_response_id`, for the word",
            must_see="the word",
            why="A server that takes the id and forgets what was said loses the conversation without a word.",
            requests=(told, asked),
            judge=_judge_recall,
        ),
        CheckItem(
            id="responses.store-false",
            title="store: false is obeyed",
            group="responses-state",
            tier=3,
            asks="to remember a word with `store` false; then, with `previous_response_id`, for the word",
            must_see="a refusal: there is no such response",
            why="Who says that nothing may be kept relies on it.",
            requests=(untold, unasked),
            judge=_judge_unstored,
        ),
        CheckItem(
            id="responses.encrypted-reasoning",
            title="encrypted reasoning",
            group="responses-state",
            tier=3,
            asks="for `reasoning.encrypted_content` with `store` false, streamed",
            must_see="a reasoning item with `encrypted_content`",
            why="Without stored responses it is the only way to hand thought back.",
            requests=(thought,),
            judge=_judge_encrypted,
        ),
        CheckItem(
            id="responses.background",
            title="background",
            group="responses-state",
            tier=3,
            asks=f"a short answer in the background, and at most {POLLS} times what became of it",
            must_see="the status queued or in_progress, and later the whole answer",
            why="Long answers outlive a connection.",
            requests=(begun, make.look_up("background-result", begun, POLLS)),
            judge=_judge_background,
        ),
    ]


def _judge_recall(case: Case) -> Judgement:
    told = trouble(case.own[0], "store")
    if told is not None:
        return told
    if len(case.own) < 2:
        return failed("the first answer has no id", "wire")
    asked = case.own[1]
    if (found := trouble(asked, "previous_response_id", "previous response", "not found")) is not None:
        return found
    text = asked.response.text
    if KEPT in text.lower():
        return passed(f"it answered {quoted(text)}")
    return failed(f"the id was taken, and what was said before is forgotten: {quoted(text)}")


def _judge_unstored(case: Case) -> Judgement:
    told = trouble(case.own[0], "store")
    if told is not None:
        return told
    if len(case.own) < 2:
        return passed("the answer has no id that could be asked for")
    asked = case.own[1]
    if asked.error is not None:
        is_broken = (asked.answer.status or 0) >= 500
        return failed(told_error(asked)) if is_broken else passed(told_error(asked))
    if (found := trouble(asked)) is not None:
        return found
    if DROPPED in asked.response.text.lower():
        return failed(f"it was kept all the same: {quoted(asked.response.text)}")
    return unsupported("previous_response_id is taken and ignored: nothing can be said of store")


def _judge_encrypted(case: Case) -> Judgement:
    if (found := first_trouble(case, "include", "encrypted", "reasoning", "store")) is not None:
        return found
    (exchange,) = case.own
    if any(getattr(event, "encrypted", None) for event in exchange.events):
        return passed("a reasoning item has encrypted content")
    if not reasoned(exchange):
        return unsupported("no thought came: the model may not think")
    return failed("include was ignored: the thought came without encrypted content")


def _judge_background(case: Case) -> Judgement:
    begun = case.own[0]
    status = begun.json.get("status") if isinstance(begun.json, dict) else None
    if begun.error is not None or status not in ("queued", "in_progress"):
        found = trouble(begun, "background", "store")
        return found or failed(f"background was ignored: the first answer has the status {status}")
    if len(case.own) < 2:
        return failed("the answer has no id that could be asked for", "wire")
    found = trouble(case.own[1])
    if found is not None:
        return Judgement("fail", f"it was begun, and then: {found.detail}", "server")
    later = case.own[1].json.get("status") if isinstance(case.own[1].json, dict) else None
    if later != "completed":
        return failed(f"it was begun, and has the status {later} after {counted(case.own[1].answer.attempts, 'look')}")
    return passed(f"it was {status}, and is completed after {counted(case.own[1].answer.attempts, 'look')}")
