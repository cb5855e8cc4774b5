"""What the judges of all items share: the ways in which an answer is no answer."""

from __future__ import annotations

from .exchanges import Exchange
from .items import Case, Cause, Judgement

_NOT_THERE = (404, 405, 501)
TOO_MANY = 429
"""Requests: the server says nothing of what was asked."""
_NOT_HAD = (400, 403, 404, 405, 415, 422, 501)
_NOT_KNOWN = (
    "not permitted",
    "not supported",
    "unsupported",
    "unrecognized",
    "unknown parameter",
    "unexpected keyword",
)
"""How servers refuse a member of a request, where they do not say which."""
_LONGEST_QUOTE = 160


def passed(detail: str) -> Judgement:
    """All that must be seen was seen."""
    return Judgement("pass", detail)


def failed(detail: str, cause: Cause = "server") -> Judgement:
    """It is lost, wrong or ignored."""
    return Judgement("fail", detail, cause)


def unsupported(detail: str) -> Judgement:
    """The server does not have it."""
    return Judgement("unsupported", detail)


def disobeyed(detail: str) -> Judgement:
    """The model did not do what it was asked: nothing that the wire could be blamed for."""
    return Judgement("fail", f"the model did not do it: {detail}", "model")


def quoted(text: str) -> str:
    """The text in quotes, shortened."""
    return f'"{text[:_LONGEST_QUOTE]}…"' if len(text) > _LONGEST_QUOTE else f'"{text}"'


def told_error(exchange: Exchange) -> str:
    """What the server said, and how."""
    error = exchange.error
    status = f"HTTP {exchange.answer.status}" if exchange.is_refused else "the stream"
    return f"{status}: {quoted(error.message)}" if error else status


def is_path_missing(exchange: Exchange) -> bool:
    """Whether the server does not have this path at all: it says so, and does not speak of the model."""
    error = exchange.error
    if exchange.answer.status not in _NOT_THERE or error is None:
        return False
    return error.code != "model_not_found" and error.param != "model"


def trouble(exchange: Exchange, *words: str) -> Judgement | None:
    """Why the answer cannot be judged any further; None where it can.

    Args:
        exchange: the answer.
        words: those that a server uses to say that it does not have what was asked for; none where that cannot be.
    """
    answer, error = exchange.answer, exchange.error
    if not exchange.is_refused and not exchange.is_answered:
        return failed(f"no answer: {answer.failure}")
    if answer.status == TOO_MANY:
        return Judgement("not tried", told_error(exchange))
    if error is not None:
        said = " ".join(filter(None, (error.param, error.code, error.message))).lower()
        if is_path_missing(exchange) and exchange.is_refused:
            return unsupported(told_error(exchange))
        if answer.status in (*_NOT_HAD, 200) and words and any(word in said for word in (*words, *_NOT_KNOWN)):
            return unsupported(told_error(exchange))
        return failed(told_error(exchange))
    if answer.failure:
        return failed(f"the answer was not whole: {answer.failure}", "wire")
    if exchange.response.api is None:
        what = "of no shape that is known" if exchange.body.strip() else "empty"
        return failed(f"the answer is {what}", "wire")
    if exchange.end.status == "truncated":
        return failed("the answer was cut: the bytes end before anything says that it is whole", "wire")
    return None


def first_trouble(case: Case, *words: str) -> Judgement | None:
    """That of the first answer that has one."""
    found = (trouble(exchange, *words) for exchange in case.own)
    return next(filter(None, found), None)


def speaks(exchange: Exchange) -> Judgement:
    """Whether any text came."""
    response = exchange.response
    if response.text.strip():
        return passed(f"it answered {quoted(response.text)}")
    if response.finish_reason == "length":
        return disobeyed("all tokens were used up before the first word of the answer, by thought or by nothing")
    return failed("no text came", "wire")


def judge_text(case: Case) -> Judgement:
    """A whole answer with text in it."""
    return first_trouble(case) or speaks(case.own[-1])


def judge_streams(case: Case) -> Judgement:
    """For items that look at the wire alone: whether there is a stream to look at."""
    streams = [exchange for exchange in case.all if exchange.is_answered and exchange.request.is_streamed]
    if not any(exchange.response.api for exchange in streams):
        return Judgement("not tried", "no stream came that could be looked at")
    return passed(f"nothing is wrong in {len(streams)} streams" if len(streams) > 1 else "nothing is wrong")
