"""Tier 2: what else a chat request may ask for. What is ignored fails; what is refused is unsupported."""

from __future__ import annotations

from ..json_codec import loads
from ..wording import counted
from .chat_requests import CITY_SCHEMA, COUNT, RED_SQUARE, SAY, ChatRequests
from .exchanges import Exchange
from .items import Case, CheckItem, Judgement
from .judging import disobeyed, failed, first_trouble, passed, quoted, speaks
from .requests import Request

LIMIT = 5
_WORDS = ("amber", "birch", "cedar", "delta")


def items(model: str) -> list[CheckItem]:
    """The items of this group."""
    make = ChatRequests(model)
    schema = {"type": "json_schema", "json_schema": {"name": "city", "strict": True, "schema": CITY_SCHEMA}}
    image = [
        {"type": "text", "text": "What do you see in this image? Answer in one sentence."},
        {"type": "image_url", "image_url": {"url": RED_SQUARE}},
    ]
    return [
        CheckItem(
            id="chat.max-tokens",
            title="max_tokens is obeyed",
            group="chat-options",
            tier=2,
            asks=f"to count to 30 with max_tokens {LIMIT}, streamed",
            must_see="a short answer with finish reason `length`",
            why="Who pays for tokens must be able to bound them, and must know when the bound was met.",
            requests=(make.ask("max-tokens", COUNT, tokens=LIMIT),),
            judge=judge_limit,
        ),
        CheckItem(
            id="chat.stop",
            title="stop words are obeyed",
            group="chat-options",
            tier=2,
            asks="to count to 30 with the stop word 7, streamed",
            must_see="text that ends before the word, with finish reason `stop`",
            why="Agents that read text, and code completion, end their turns by them.",
            requests=(make.ask("stop", COUNT, stop=["7"]),),
            judge=_judge_stop,
        ),
        CheckItem(
            id="chat.structured-output",
            title="structured output",
            group="chat-options",
            tier=2,
            asks="for a JSON object of a strict schema",
            must_see="text that is such an object",
            why="Programs read it without looking.",
            requests=(
                make.ask(
                    "structured-output",
                    "Oslo: which city is it, and in which country? Answer in JSON.",
                    stream=False,
                    response_format=schema,
                ),
            ),
            judge=judge_structure,
        ),
        CheckItem(
            id="chat.choices",
            title="two choices",
            group="chat-options",
            tier=2,
            asks="for n = 2, streamed",
            must_see="two choices, each with text and a finish reason",
            why="Their deltas come mixed: only the index tells them apart.",
            requests=(make.ask("choices", SAY, n=2),),
            judge=_judge_choices,
        ),
        CheckItem(
            id="chat.logprobs",
            title="log probabilities",
            group="chat-options",
            tier=2,
            asks="for `logprobs` with 2 `top_logprobs`, streamed",
            must_see="log probabilities with the text",
            why="Classifiers and evaluations are built on them.",
            requests=(make.ask("logprobs", SAY, logprobs=True, top_logprobs=2),),
            judge=_judge_logprobs,
        ),
        CheckItem(
            id="chat.images",
            title="an image is taken",
            group="chat-options",
            tier=2,
            asks="what is in a small image, streamed",
            must_see="an answer",
            why="A server that drops images lets the model guess.",
            requests=(make.ask("images", image),),
            judge=_judge_image,
        ),
        CheckItem(
            id="chat.cut-by-client",
            title="a client that leaves",
            group="chat-options",
            tier=2,
            asks="to count to 30, streamed; the client leaves in the middle and asks again",
            must_see="the next answer",
            why="Users press stop. A server that works on, or hangs, blocks the next one.",
            requests=(make.ask("cut", COUNT, cut=400), make.ask("after-cut", SAY)),
            judge=_judge_cut,
        ),
        CheckItem(
            id="chat.concurrency",
            title="four at once",
            group="chat-options",
            tier=2,
            asks="four short answers at the same time, streamed",
            must_see="four whole answers that are not mixed up",
            why="Agents ask in parallel.",
            requests=_four(make),
            judge=_judge_four,
            at_once=True,
        ),
    ]


def _four(make: ChatRequests) -> tuple[Request, ...]:
    return tuple(make.ask(f"at-once-{number}", f"Say exactly: {word}") for number, word in enumerate(_WORDS, 1))


def judge_limit(case: Case) -> Judgement:
    """Whether the limit held, and was told."""
    if (found := first_trouble(case, "max_tokens", "max_completion_tokens", "max_output_tokens")) is not None:
        return found
    request, response = case.own[0].request, case.own[0].response
    usage = response.usage
    told = response.finish_reason
    if told == "length":
        if usage and usage.output_tokens and usage.output_tokens > 2 * request.output_tokens:
            return failed(f"it says length, and counts {usage.output_tokens} tokens for {request.output_tokens}")
        return passed(f"it stopped at {quoted(response.text)} and says so")
    if len(response.text.split()) <= request.output_tokens:
        return failed(f"it stopped at {quoted(response.text)}, and says {told}", "wire")
    return failed(f"the limit was ignored: {quoted(response.text)}")


def _judge_stop(case: Case) -> Judgement:
    if (found := first_trouble(case, "stop")) is not None:
        return found
    response = case.own[0].response
    if "7" in response.text:
        return failed(f"the stop word was ignored: {quoted(response.text)}")
    if response.finish_reason != "stop":
        return failed(f"it says {response.finish_reason} at {quoted(response.text)}", "wire")
    return passed(f"it ended at {quoted(response.text)}")


def judge_structure(case: Case) -> Judgement:
    """JSON that fits the schema."""
    if (found := first_trouble(case, "response_format", "json_schema", "format", "schema")) is not None:
        return found
    text = case.own[0].response.text
    try:
        value = loads(text)
    except ValueError:
        return failed(f"the schema was ignored: {quoted(text)} is no JSON")
    if not isinstance(value, dict) or set(value) != {"city", "country"}:
        return failed(f"the schema was ignored: {quoted(text)} has other members")
    return passed(text[:200])


def _judge_choices(case: Case) -> Judgement:
    if (found := first_trouble(case, "'n'", "`n`", '"n"', "n must", "n > 1")) is not None:
        return found
    choices = case.own[0].response.choices
    if len(choices) < 2:
        if any(sighting.fault == "choice-index-missing" for sighting in case.own[0].sightings):
            return failed("the choices have no index: nobody can tell them apart", "wire")
        return failed("n was ignored: one choice came")
    silent = [choice.index for choice in choices if not choice.text]
    if silent:
        return failed(f"choice {silent[0]} has no text", "wire")
    return passed(f"{len(choices)} choices")


def _judge_logprobs(case: Case) -> Judgement:
    if (found := first_trouble(case, "logprobs")) is not None:
        return found
    entries = [len(event.logprobs) for event in case.own[0].events if event.type == "text_delta" and event.logprobs]
    if not entries:
        return failed("logprobs was ignored: none came with the text")
    return passed(f"they came with {counted(sum(entries), 'token')}")


def _judge_image(case: Case) -> Judgement:
    found = first_trouble(case, "image", "vision", "multimodal", "modalit", "content")
    return found or speaks(case.own[0])


def _judge_cut(case: Case) -> Judgement:
    cut, after = case.own
    if cut.is_refused or cut.answer.status is None:
        return first_trouble(case) or failed("nothing came")
    found = first_trouble(Case([after], case.all))
    if found is not None:
        return failed(f"the next request found: {found.detail}")
    return passed("the next request was answered")


def _judge_four(case: Case) -> Judgement:
    troubled = [exchange for exchange in case.own if first_trouble(Case([exchange], case.all)) is not None]
    if troubled:
        first = first_trouble(Case([troubled[0]], case.all))
        return failed(f"{len(troubled)} of 4 failed: {first.detail if first else ''}")
    for exchange, word in zip(case.own, _WORDS, strict=True):
        others = [other for other in _WORDS if other != word and other in _said(exchange)]
        if others:
            return failed(f"an answer has another's words: {word} was asked for, and {others[0]} came")
    if not all(_said(exchange) for exchange in case.own):
        return disobeyed("an answer is empty")
    return passed("four whole answers, none mixed up")


def _said(exchange: Exchange) -> str:
    return exchange.response.text.lower().strip()
