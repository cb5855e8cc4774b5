"""Items that come before any API: is anybody there, and does it know the model?"""

from __future__ import annotations

from ..wording import counted
from .items import Case, CheckItem, Judgement
from .judging import failed, passed, told_error, unsupported
from .requests import Request


def _judge_reached(case: Case) -> Judgement:
    (exchange,) = case.own
    if exchange.answer.status is None:
        return failed(f"nobody answers: {exchange.answer.failure}")
    return passed(f"it answers with HTTP {exchange.answer.status}")


def items(model: str) -> list[CheckItem]:
    """The items of this group."""
    models = Request("models", None, "/models")

    def judge_models(case: Case) -> Judgement:
        (exchange,) = case.own
        if exchange.answer.status is None:
            return failed(f"nobody answers: {exchange.answer.failure}")
        if exchange.answer.status in (401, 403):
            return failed(f"the key is refused, {told_error(exchange)}")
        if exchange.is_refused:
            return unsupported(told_error(exchange))
        entries = exchange.json.get("data") if isinstance(exchange.json, dict) else None
        if not isinstance(entries, list):
            return failed("the list of models has no `data`", "wire")
        names = [str(entry.get("id")) for entry in entries if isinstance(entry, dict)]
        if model not in names:
            return failed(f"it lists {counted(len(names), 'model')} without {model}: {', '.join(names[:5])}")
        return passed(f"it lists {counted(len(names), 'model')}, {model} among them")

    return [
        CheckItem(
            id="reachability.answers",
            title="somebody answers",
            group="reachability",
            tier=0,
            asks="GET /models",
            must_see="any answer over HTTP",
            why="Nothing else can be tried where nobody answers.",
            requests=(models,),
            judge=_judge_reached,
            is_first=True,
        ),
        CheckItem(
            id="reachability.models",
            title="the model is listed",
            group="reachability",
            tier=0,
            asks="GET /models",
            must_see="the model's name among the `id`s in `data`",
            why="User interfaces offer the models of this list.",
            requests=(models,),
            judge=judge_models,
        ),
    ]
