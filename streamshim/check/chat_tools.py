"""Tier 2: tool calls on `/chat/completions`."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from ..wording import counted
from .chat_requests import ANSWER_TOKENS, CALL, NO_ARGUMENTS, TIME, TWO_CALLS, WEATHER, ChatRequests
from .exchanges import Exchange
from .items import Case, CheckItem, Judgement
from .judging import disobeyed, failed, first_trouble, passed, quoted

RESULT = "23 degrees and sunny"


def items(model: str) -> list[CheckItem]:
    """The items of this group."""
    make = ChatRequests(model)
    one = make.tool("tool-call", CALL, WEATHER)
    two = make.tool("parallel-tools", TWO_CALLS, WEATHER)
    none = make.tool("no-arguments", NO_ARGUMENTS, TIME)
    return [
        CheckItem(
            id="chat.tool-call",
            title="a tool call",
            group="chat-tools",
            tier=2,
            asks="to call one tool, with `tool_choice` required, streamed",
            must_see="one call with index, id, type and name, each said once",
            why="The call must be run, and its result sent back under its id.",
            requests=(one,),
            judge=judge_call,
            aspects=("call identity",),
        ),
        CheckItem(
            id="chat.arguments",
            title="arguments",
            group="chat-tools",
            tier=2,
            asks="nothing more: it looks at all calls of this API",
            must_see="text, split or whole, that is one JSON object in the end",
            why="Half an object that is taken for a whole one runs a tool with the wrong arguments.",
            requests=(one,),
            judge=judge_arguments,
            aspects=("call arguments",),
        ),
        CheckItem(
            id="chat.parallel-tools",
            title="two calls in one answer",
            group="chat-tools",
            tier=2,
            asks="to call a tool twice at once, streamed",
            must_see="two calls, each with an index and an id of its own",
            why="Calls that share an index are merged into one that makes no sense.",
            requests=(two,),
            judge=judge_two_calls,
            aspects=("several calls",),
        ),
        CheckItem(
            id="chat.no-arguments",
            title="a call without arguments",
            group="chat-tools",
            tier=2,
            asks="to call a tool that has no parameters, streamed",
            must_see="a call with the arguments `{}`",
            why="null, or nothing at all, is no JSON object, and is refused when it is sent back.",
            requests=(none,),
            judge=judge_no_arguments,
            aspects=("empty arguments",),
        ),
        CheckItem(
            id="chat.tool-result",
            title="a tool's result is taken",
            group="chat-tools",
            tier=2,
            asks="to go on after a call and its result, streamed",
            must_see="an answer that speaks of the result",
            why="Without it there is no tool loop.",
            requests=(
                make.send(
                    "tool-result",
                    _after_a_call(),
                    tokens=ANSWER_TOKENS,
                    stream=True,
                    tools=[{"type": "function", "function": WEATHER}],
                ),
            ),
            judge=judge_result,
        ),
    ]


def _after_a_call() -> list[dict[str, Any]]:
    function = {"name": "get_weather", "arguments": '{"city": "Oslo"}'}
    return [
        {"role": "user", "content": CALL},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "call_1", "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": RESULT},
    ]


def calls_of(exchange: Exchange) -> list[tuple[str, str]]:
    """Name and arguments of each call."""
    return [(call.name, call.arguments) for call in exchange.response.tool_calls]


def _called(case: Case, judge: Callable[[Exchange], Judgement]) -> Judgement:
    """The judge's word, where there is a call."""
    if (found := first_trouble(case, "tool", "function")) is not None:
        return found
    exchange = case.own[0]
    if not exchange.response.tool_calls:
        text = quoted(exchange.response.text) if exchange.response.text else "nothing"
        if exchange.response.finish_reason == "length":
            return disobeyed("all tokens were used up before the call")
        return failed(f"a call was required, and none came; it said {text}")
    return judge(exchange)


def judge_call(case: Case) -> Judgement:
    """One call of the tool that was offered."""

    def judge(exchange: Exchange) -> Judgement:
        names = [name for name, _ in calls_of(exchange)]
        if any(name != "get_weather" for name in names):
            return failed(f"it calls {', '.join(names)}; get_weather was offered")
        return passed(f"{len(names)} call: {names[0]}" if len(names) == 1 else f"{len(names)} calls, one was asked for")

    return _called(case, judge)


def judge_arguments(case: Case) -> Judgement:
    """A JSON object with what the model was told to write."""

    def judge(exchange: Exchange) -> Judgement:
        call = exchange.response.tool_calls[0]
        if call.status != "complete":
            return failed(f"the arguments are {call.status}: {quoted(call.arguments)}", "wire")
        deltas = sum(event.type == "tool_call_delta" for event in exchange.events)
        if call.parsed() != {"city": "Oslo"}:
            return disobeyed(f"the arguments are {quoted(call.arguments)}")
        return passed(f"{call.arguments} in {counted(deltas, 'delta')}")

    return _called(case, judge)


def judge_two_calls(case: Case) -> Judgement:
    """Two calls, told apart."""

    def judge(exchange: Exchange) -> Judgement:
        calls = calls_of(exchange)
        if len(calls) < 2:
            return disobeyed(f"one call came, two were asked for: {calls[0][0]}({calls[0][1]})")
        bad = [call for call in exchange.response.tool_calls if call.status != "complete"]
        if bad:
            return failed(f"a call is {bad[0].status}: {bad[0].name}({bad[0].arguments})", "wire")
        cities = {json.dumps(call.parsed()) for call in exchange.response.tool_calls}
        if len(cities) < 2:
            return disobeyed(f"{len(calls)} calls came, and all of them ask the same")
        return passed(f"{len(calls)} calls, told apart")

    return _called(case, judge)


def judge_no_arguments(case: Case) -> Judgement:
    """A call whose arguments are an empty object."""

    def judge(exchange: Exchange) -> Judgement:
        call = exchange.response.tool_calls[0]
        if call.status != "complete":
            return failed(f"the arguments are {call.status}: {quoted(call.arguments)}", "wire")
        return passed(f"the arguments are {call.arguments}")

    return _called(case, judge)


def judge_result(case: Case) -> Judgement:
    """An answer after a tool's result."""
    if (found := first_trouble(case, "tool", "role")) is not None:
        return found
    response = case.own[0].response
    if response.tool_calls:
        return disobeyed("it called the tool again")
    if not response.text.strip():
        return failed("the result was taken, and no text came")
    if "23" not in response.text:
        return disobeyed(f"the answer does not speak of the result: {quoted(response.text)}")
    return passed(f"it answered {quoted(response.text)}")
