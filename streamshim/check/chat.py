"""Tier 2: `/chat/completions`, plain and streamed."""

from __future__ import annotations

import re

from ..wording import counted
from .chat_requests import COUNT, SAY, ChatRequests
from .items import Case, CheckItem, Judgement
from .judging import failed, first_trouble, judge_streams, judge_text, passed, speaks, trouble, unsupported

_NUMBERS = list(range(1, 31))


def items(model: str) -> list[CheckItem]:
    """The items of this group."""
    make = ChatRequests(model)
    stream = make.ask("stream", COUNT)
    counted = make.ask("usage", SAY, stream_options={"include_usage": True})
    reasoning = make.ask("reasoning", SAY, reasoning_effort="low")
    return [
        CheckItem(
            id="chat.plain",
            title="a whole answer",
            group="chat",
            tier=2,
            asks="a short answer, not streamed",
            must_see="text in `choices[0].message.content`",
            why="Everything else of this API stands on it.",
            requests=(make.ask("plain", SAY, stream=False),),
            judge=judge_text,
            is_first=True,
        ),
        CheckItem(
            id="chat.stream",
            title="a streamed answer",
            group="chat",
            tier=2,
            asks="to count to 30, streamed",
            must_see="text without gaps, and an end that says that it is whole",
            why="Lost words are seen by nobody, and a cut answer must not pass for a whole one.",
            requests=(stream,),
            judge=judge_count,
        ),
        CheckItem(
            id="chat.framing",
            title="framing",
            group="chat",
            tier=2,
            asks="nothing more: it looks at all streams of this API",
            must_see="events parted by blank lines, each with one JSON object, and [DONE] at the end",
            why="The official SDK raises on the first event that is not as documented, or loses it.",
            requests=(stream,),
            judge=judge_streams,
            aspects=("framing",),
        ),
        CheckItem(
            id="chat.delta-shape",
            title="the shape of chunks",
            group="chat",
            tier=2,
            asks="nothing more: it looks at all streams of this API",
            must_see="chunks with id, object, model, time and choices; choices with index and delta; the role once",
            why="Readers take these members for granted.",
            requests=(stream,),
            judge=judge_streams,
            aspects=("delta shape",),
        ),
        CheckItem(
            id="chat.finish",
            title="finish reason",
            group="chat",
            tier=2,
            asks="nothing more: it looks at all streams of this API",
            must_see="one finish word, of those that are documented, with the last delta and no sooner",
            why="It tells whether the answer is whole, was cut by a limit, or waits for tools.",
            requests=(stream,),
            judge=judge_streams,
            aspects=("finish",),
        ),
        CheckItem(
            id="chat.usage",
            title="token counts",
            group="chat",
            tier=2,
            asks="streams with and without `stream_options.include_usage`",
            must_see="with it, counts in one chunk without choices, at the end; without it, no such chunk",
            why="Costs are billed by them, and loops break on a chunk without choices that nobody asked for.",
            requests=(counted, stream),
            judge=_judge_usage,
            aspects=("usage",),
        ),
        CheckItem(
            id="chat.reasoning",
            title="thought apart from text",
            group="chat",
            tier=2,
            asks="a short answer with `reasoning_effort` low, streamed",
            must_see="thought in a member of its own, once, and none of it in the text",
            why="Thought in the text is shown to users, and sent back as if the model had said it.",
            requests=(reasoning,),
            judge=_judge_reasoning,
            aspects=("reasoning",),
        ),
    ]


def judge_count(case: Case) -> Judgement:
    """Whether it counted without gaps; a model that did not count at all has spoken, which is all that is asked."""
    if (found := first_trouble(case)) is not None:
        return found
    exchange = case.own[-1]
    text = exchange.response.text
    numbers = [int(number) for number in re.findall(r"\d+", text)]
    if len(numbers) > 1 and numbers != _NUMBERS[: len(numbers)]:
        missing = [number for number in range(1, max(numbers)) if number not in numbers]
        what = f"{', '.join(map(str, missing[:5]))} missing" if missing else "repeated or out of order"
        return failed(f"it was asked to count, and numbers are {what}: words were lost or repeated", "wire")
    deltas = sum(event.type == "text_delta" for event in exchange.events)
    reads = len(exchange.answer.capture.pieces)
    spoken = speaks(exchange)
    return passed(f"{counted(deltas, 'delta')} in {counted(reads, 'read')}") if spoken.outcome == "pass" else spoken


def _judge_usage(case: Case) -> Judgement:
    if (found := trouble(case.own[0], "stream_options", "include_usage")) is not None:
        return found
    usage = case.own[0].response.usage
    return passed(f"{usage.input_tokens} in, {usage.output_tokens} out" if usage else "no counts came")


def _judge_reasoning(case: Case) -> Judgement:
    thoughtful = [exchange for exchange in case.all if exchange.is_answered and exchange.response.reasoning]
    if thoughtful:
        return passed(f"thought came apart from the text in {counted(len(thoughtful), 'answer')}")
    found = first_trouble(case, "reasoning", "thinking")
    return found or unsupported("no thought came: the model may not think, or not show it")
