"""Tier 2: what a wrong request is answered with on `/chat/completions`."""

from __future__ import annotations

from ..wording import counted
from .chat_requests import SAY, ChatRequests
from .exchanges import Exchange
from .items import Case, CheckItem, Judgement
from .judging import TOO_MANY, failed, passed, told_error, trouble, unsupported

_MANY_WORDS = 9000
_NO_MODEL = "no-such-model-of-streamshim"
_FEW = 16


def items(model: str) -> list[CheckItem]:
    """The items of this group."""
    make = ChatRequests(model)
    bad_model = ChatRequests(_NO_MODEL).ask("bad-model", SAY, tokens=_FEW, stream=False, is_wrong=True)
    bad_key = make.ask("bad-key", SAY, tokens=_FEW, stream=False, is_wrong=True, key="wrong")
    bad_parameter = make.ask("bad-parameter", SAY, tokens=_FEW, temperature="hot", is_wrong=True)
    too_long = make.ask("too-long", "word " * _MANY_WORDS, tokens=_FEW, is_wrong=True)
    return [
        CheckItem(
            id="chat.bad-model",
            title="a model that does not exist",
            group="chat-errors",
            tier=2,
            asks="a model that does not exist",
            must_see="HTTP status 404 or 400, and a reason",
            why="An answer of another model is worse than none.",
            requests=(bad_model,),
            judge=lambda case: refused(case.own[0], (400, 404, 422), "it answers under any model's name"),
        ),
        CheckItem(
            id="chat.bad-key",
            title="a key that is wrong",
            group="chat-errors",
            tier=2,
            asks="with a key that cannot be right",
            must_see="HTTP status 401 or 403, and a reason",
            why="Clients tell users to look at their key by this status.",
            requests=(bad_key,),
            judge=lambda case: refused(case.own[0], (401, 403), "it asks for no key"),
        ),
        CheckItem(
            id="chat.bad-parameter",
            title="a parameter that is wrong",
            group="chat-errors",
            tier=2,
            asks="a temperature that is no number, streamed",
            must_see="HTTP status 400 or 422, and a reason",
            why="What is wrong in a request must be told before the stream begins.",
            requests=(bad_parameter,),
            judge=lambda case: refused(case.own[0], (400, 422), None),
        ),
        CheckItem(
            id="chat.too-long",
            title="an input that is too long",
            group="chat-errors",
            tier=2,
            asks=f"with an input of {_MANY_WORDS:,} words, streamed",
            must_see="HTTP status 400 or 413, and a reason; not judged where so much fits",
            why="Agents shorten their history when they are told so.",
            requests=(too_long,),
            judge=_judge_too_long,
        ),
        CheckItem(
            id="chat.error-shape",
            title="the shape of errors",
            group="chat-errors",
            tier=2,
            asks="nothing more: it looks at all errors of this API",
            must_see="an HTTP status from 400 on, and a JSON object `error` with a `message`",
            why="The SDK raises the right exception by the status, and shows the message of this object alone.",
            requests=(bad_model, bad_parameter),
            judge=_judge_errors,
            aspects=("errors",),
        ),
    ]


def refused(exchange: Exchange, statuses: tuple[int, ...], otherwise: str | None) -> Judgement:
    """Refused with one of these statuses, or by an error on HTTP 200: where it stands is another item's matter."""
    answer, error = exchange.answer, exchange.error
    if answer.status is None:
        return failed(f"no answer: {answer.failure}")
    if error is None:
        what = "it was answered all the same"
        return unsupported(f"{what}: {otherwise}") if otherwise else failed(what)
    if answer.status == TOO_MANY:
        return Judgement("not tried", told_error(exchange))
    if exchange.is_refused and answer.status not in statuses:
        return failed(f"the status is not {' or '.join(map(str, statuses))}; {told_error(exchange)}")
    return passed(told_error(exchange))


def _judge_too_long(case: Case) -> Judgement:
    (exchange,) = case.own
    if exchange.is_answered and exchange.error is None:
        fits = Judgement("not tried", f"{_MANY_WORDS:,} words fit: where the limit lies is not known")
        return trouble(exchange) or fits
    return refused(exchange, (400, 413, 422), None)


def _judge_errors(case: Case) -> Judgement:
    told = [exchange for exchange in case.all if exchange.request.is_wrong and exchange.error is not None]
    if not told:
        return Judgement("not tried", "no error came that could be looked at")
    return passed(f"nothing is wrong in {counted(len(told), 'error')}")
