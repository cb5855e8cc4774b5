"""Tier 1: `/completions`, the oldest of the three."""

from __future__ import annotations

from typing import Any

from .items import Case, CheckItem, Judgement
from .judging import failed, first_trouble, judge_streams, judge_text, passed, quoted
from .requests import Request

COUNT = "Count to 30, one number after another."
SHORT = 128
LIMIT = 5


def items(model: str) -> list[CheckItem]:
    """The items of this group."""

    def ask(name: str, prompt: str, tokens: int = SHORT, **options: Any) -> Request:
        body = {"model": model, "prompt": prompt, "max_tokens": tokens, **options}
        return Request(f"completions.{name}", "completions", "/completions", body, tokens)

    stream = ask("stream", COUNT, stream=True)
    return [
        CheckItem(
            id="completions.plain",
            title="a whole answer",
            group="completions",
            tier=1,
            asks="a short answer, not streamed",
            must_see="text in `choices[0].text`",
            why="Code completion and base models are still asked this way.",
            requests=(ask("plain", "Say exactly: lighthouse"),),
            judge=_judge_plain,
            is_first=True,
        ),
        CheckItem(
            id="completions.stream",
            title="a streamed answer",
            group="completions",
            tier=1,
            asks="to count to 30, streamed",
            must_see="text, and an end that says that it is whole",
            why="A cut answer must not pass for a whole one.",
            requests=(stream,),
            judge=judge_text,
        ),
        CheckItem(
            id="completions.wire",
            title="the wire",
            group="completions",
            tier=1,
            asks="nothing more: it looks at all streams of this API",
            must_see="legal events, chunks with id, object and index, one finish word",
            why="Strict readers break on the first event that is not as documented.",
            requests=(stream,),
            judge=judge_streams,
            aspects=("framing", "delta shape", "finish", "usage"),
        ),
        CheckItem(
            id="completions.max-tokens",
            title="max_tokens is obeyed",
            group="completions",
            tier=1,
            asks=f"to count to 30 with max_tokens {LIMIT}",
            must_see="finish reason `length`",
            why="Who pays for tokens must be able to bound them.",
            requests=(ask("max-tokens", COUNT, LIMIT, stream=True),),
            judge=_judge_limit,
        ),
    ]


def _judge_plain(case: Case) -> Judgement:
    """Text; servers that have this API for some models only name the model in their refusal."""
    return first_trouble(case, "chat model", "completions endpoint") or judge_text(case)


def _judge_limit(case: Case) -> Judgement:
    if (trouble := first_trouble(case)) is not None:
        return trouble
    response = case.own[0].response
    if response.finish_reason == "length":
        return passed(f"it stopped at {quoted(response.text)} and says so")
    if len(response.text.split()) <= LIMIT:
        return failed(f"it stopped at {quoted(response.text)}, and says {response.finish_reason}")
    return failed(f"it went on: {quoted(response.text)}")
