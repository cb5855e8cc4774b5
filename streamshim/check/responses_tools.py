"""Tier 3: tool calls on `/responses`."""

from __future__ import annotations

from .chat_requests import CALL, NO_ARGUMENTS, SAY, TIME, TWO_CALLS, WEATHER
from .chat_tools import RESULT, judge_arguments, judge_call, judge_no_arguments, judge_result, judge_two_calls
from .items import Case, CheckItem, Judgement
from .judging import first_trouble, passed
from .responses_requests import ResponsesRequests


def items(model: str) -> list[CheckItem]:
    """The items of this group."""
    make = ResponsesRequests(model)
    one = make.tool("tool-call", CALL, WEATHER, tool_choice="required")
    two = make.tool("parallel-tools", TWO_CALLS, WEATHER, tool_choice="required")
    none = make.tool("no-arguments", NO_ARGUMENTS, TIME, tool_choice="required")
    after = [
        {"role": "user", "content": CALL},
        {"type": "function_call", "call_id": "call_1", "name": "get_weather", "arguments": '{"city": "Oslo"}'},
        {"type": "function_call_output", "call_id": "call_1", "output": RESULT},
    ]
    return [
        CheckItem(
            id="responses.tool-call",
            title="a function call",
            group="responses-tools",
            tier=3,
            asks="to call one function, with `tool_choice` required, streamed",
            must_see="one function_call item with call id and name",
            why="The call must be run, and its result sent back under its id.",
            requests=(one,),
            judge=judge_call,
            aspects=("call identity",),
        ),
        CheckItem(
            id="responses.arguments",
            title="arguments",
            group="responses-tools",
            tier=3,
            asks="nothing more: it looks at all calls of this API",
            must_see="text, split or whole, that is one JSON object in the end",
            why="Half an object that is taken for a whole one runs a tool with the wrong arguments.",
            requests=(one,),
            judge=judge_arguments,
            aspects=("call arguments",),
        ),
        CheckItem(
            id="responses.parallel-tools",
            title="two calls in one answer",
            group="responses-tools",
            tier=3,
            asks="to call a function twice at once, streamed",
            must_see="two function_call items, each with a call id of its own",
            why="Results find their call by this id.",
            requests=(two,),
            judge=judge_two_calls,
            aspects=("several calls",),
        ),
        CheckItem(
            id="responses.no-arguments",
            title="a call without arguments",
            group="responses-tools",
            tier=3,
            asks="to call a function that has no parameters, streamed",
            must_see="a call with the arguments `{}`",
            why="null, or nothing at all, is no JSON object, and is refused when it is sent back.",
            requests=(none,),
            judge=judge_no_arguments,
            aspects=("empty arguments",),
        ),
        CheckItem(
            id="responses.tool-output",
            title="a function's output is taken",
            group="responses-tools",
            tier=3,
            asks="to go on after a call and its output, streamed",
            must_see="an answer that speaks of the output",
            why="Without it there is no tool loop.",
            requests=(make.tool("tool-output", after, WEATHER),),
            judge=judge_result,
        ),
        CheckItem(
            id="responses.hosted-tools",
            title="hosted tools",
            group="responses-tools",
            tier=3,
            asks="a short answer, with web_search declared, streamed",
            must_see="an answer; a server without this tool refuses it",
            why="Agents declare such tools by default.",
            requests=(make.ask("hosted-tools", SAY, tools=[{"type": "web_search"}]),),
            judge=_judge_hosted,
        ),
    ]


def _judge_hosted(case: Case) -> Judgement:
    found = first_trouble(case, "tool", "web_search")
    return found or passed("web_search may be declared")
