"""Tier 3: `/responses`, plain and streamed."""

from __future__ import annotations

from ..wording import counted
from .chat import judge_count
from .chat_errors import refused
from .chat_options import judge_limit, judge_structure
from .chat_requests import CITY_SCHEMA, COUNT, SAY
from .exchanges import Exchange
from .items import Case, CheckItem, Judgement
from .judging import failed, first_trouble, judge_streams, judge_text, passed, trouble, unsupported
from .responses_requests import ResponsesRequests

LIMIT = 16
"""The least that OpenAI takes for `max_output_tokens`."""


def items(model: str) -> list[CheckItem]:
    """The items of this group."""
    make = ResponsesRequests(model)
    plain = make.ask("plain", SAY, stream=False)
    stream = make.ask("stream", COUNT)
    reasoning = make.ask("reasoning", SAY, reasoning={"effort": "low", "summary": "auto"})
    bad_model = ResponsesRequests("no-such-model-of-streamshim").ask(
        "bad-model", SAY, tokens=LIMIT, stream=False, is_wrong=True
    )
    bad_parameter = make.ask("bad-parameter", SAY, tokens=LIMIT, temperature="hot", is_wrong=True)
    schema = {"format": {"type": "json_schema", "name": "city", "strict": True, "schema": CITY_SCHEMA}}
    return [
        CheckItem(
            id="responses.plain",
            title="a whole answer",
            group="responses",
            tier=3,
            asks="a short answer, not streamed",
            must_see="a message with text in `output`, and the status completed",
            why="Everything else of this API stands on it.",
            requests=(plain,),
            judge=_judge_plain,
            is_first=True,
        ),
        CheckItem(
            id="responses.stream",
            title="a streamed answer",
            group="responses",
            tier=3,
            asks="to count to 30, streamed",
            must_see="text without gaps, and the event that ends the response",
            why="Lost words are seen by nobody, and a cut answer must not pass for a whole one.",
            requests=(stream,),
            judge=judge_count,
        ),
        CheckItem(
            id="responses.framing",
            title="framing",
            group="responses",
            tier=3,
            asks="nothing more: it looks at all streams of this API",
            must_see="events parted by blank lines, each with one JSON object",
            why="The official SDK raises on the first event that is not as documented, or loses it.",
            requests=(stream,),
            judge=judge_streams,
            aspects=("framing", "delta shape", "finish"),
        ),
        CheckItem(
            id="responses.sequence",
            title="the sequence of events",
            group="responses",
            tier=3,
            asks="nothing more: it looks at all streams of this API",
            must_see="created first; items and parts added before their words and done behind them; the end last",
            why="The SDK's helpers and agent frameworks keep lists, and raise where nothing was added.",
            requests=(stream,),
            judge=judge_streams,
            aspects=("sequence",),
        ),
        CheckItem(
            id="responses.sequence-numbers",
            title="sequence numbers",
            group="responses",
            tier=3,
            asks="nothing more: it looks at all streams of this API",
            must_see="a number in each event that is one more than the last",
            why="Readers resume a broken stream behind the last number they saw.",
            requests=(stream,),
            judge=judge_streams,
            aspects=("sequence numbers",),
        ),
        CheckItem(
            id="responses.ids",
            title="ids",
            group="responses",
            tier=3,
            asks="nothing more: it looks at all streams of this API",
            must_see="one id for the response, and one for each item, from beginning to end",
            why="Events find their item by its id.",
            requests=(stream,),
            judge=judge_streams,
            aspects=("ids",),
        ),
        CheckItem(
            id="responses.snapshots",
            title="deltas add up",
            group="responses",
            tier=3,
            asks="nothing more: it looks at all streams of this API",
            must_see="the deltas, joined, in the done events, and all items in the last response",
            why="Some readers take the deltas, others the last response: both must get the same.",
            requests=(stream,),
            judge=judge_streams,
            aspects=("snapshots",),
        ),
        CheckItem(
            id="responses.usage",
            title="token counts",
            group="responses",
            tier=3,
            asks="nothing more: it looks at all streams of this API",
            must_see="input, output and total tokens in the last response, with their details",
            why="Costs are billed by them.",
            requests=(stream,),
            judge=_judge_usage,
            aspects=("usage",),
        ),
        CheckItem(
            id="responses.reasoning",
            title="reasoning",
            group="responses",
            tier=3,
            asks="a short answer with `reasoning.effort` low, streamed",
            must_see="a reasoning item of its own, and no thought in the text",
            why="Thought in the text is shown to users, and sent back as if the model had said it.",
            requests=(reasoning,),
            judge=_judge_reasoning,
            aspects=("reasoning",),
        ),
        CheckItem(
            id="responses.incomplete",
            title="max_output_tokens is obeyed",
            group="responses",
            tier=3,
            asks=f"to count to 30 with max_output_tokens {LIMIT}, streamed",
            must_see="response.incomplete with the reason max_output_tokens",
            why="Who pays for tokens must be able to bound them, and must know when the bound was met.",
            requests=(make.ask("incomplete", COUNT, tokens=LIMIT),),
            judge=_judge_incomplete,
        ),
        CheckItem(
            id="responses.structured-output",
            title="structured output",
            group="responses",
            tier=3,
            asks="for a JSON object of a strict schema",
            must_see="text that is such an object",
            why="Programs read it without looking.",
            requests=(
                make.ask(
                    "structured-output",
                    "Oslo: which city is it, and in which country? Answer in JSON.",
                    stream=False,
                    text=schema,
                ),
            ),
            judge=judge_structure,
        ),
        CheckItem(
            id="responses.bad-model",
            title="a model that does not exist",
            group="responses",
            tier=3,
            asks="a model that does not exist",
            must_see="HTTP status 404 or 400, and a reason",
            why="An answer of another model is worse than none.",
            requests=(bad_model,),
            judge=lambda case: refused(case.own[0], (400, 404, 422), "it answers under any model's name"),
        ),
        CheckItem(
            id="responses.failed",
            title="a request that is wrong",
            group="responses",
            tier=3,
            asks="a temperature that is no number, streamed",
            must_see="HTTP status 400 or 422, or a failed response; and a reason in the documented shape",
            why="The SDK raises the right exception by the status, and shows the message of this object alone.",
            requests=(bad_parameter,),
            judge=lambda case: refused(case.own[0], (400, 422), None),
            aspects=("errors",),
        ),
    ]


def _judge_plain(case: Case) -> Judgement:
    if (found := first_trouble(case)) is not None:
        return found
    exchange = case.own[0]
    if exchange.response.api != "responses":
        return failed(f"the answer is of another API: {exchange.response.api}", "wire")
    return judge_text(case)


def _judge_usage(case: Case) -> Judgement:
    judged = judge_streams(case)
    if judged.outcome != "pass":
        return judged
    usage = case.own[0].response.usage
    return passed(f"{usage.input_tokens} in, {usage.output_tokens} out" if usage else judged.detail)


def _judge_reasoning(case: Case) -> Judgement:
    thoughtful = [exchange for exchange in case.all if exchange.is_answered and reasoned(exchange)]
    if thoughtful:
        return passed(f"thought came apart from the text in {counted(len(thoughtful), 'answer')}")
    found = first_trouble(case, "reasoning", "thinking")
    return found or unsupported("no thought came: the model may not think, or not show it")


def reasoned(exchange: Exchange) -> bool:
    """Whether any thought came, be it one that nobody can read."""
    return any(event.type == "reasoning_start" for event in exchange.events)


def _judge_incomplete(case: Case) -> Judgement:
    found = trouble(case.own[0], "max_output_tokens")
    if found is not None:
        return found
    if case.own[0].end.status == "completed":
        return judge_limit(case)
    judged = judge_limit(case)
    return passed("response.incomplete: max_output_tokens") if judged.outcome == "pass" else judged
