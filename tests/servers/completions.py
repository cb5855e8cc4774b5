"""The older Completions API: a prompt as a question, an answer as a stream or a body."""

from __future__ import annotations

import json
from typing import Any

from streamshim.events import Event, Finish, TextDelta, UsageReport

from .parameters import COMPLETIONS_PARAMETERS, check_length, check_parameters, texts_of
from .question import Json, Question, RefusedError, Turn
from .speech import CREATED_AT


def read_completion(body: Json) -> Question:
    """The question that a request asks: the prompt is what the user says.

    Raises:
        RefusedError: the request is not legal.
    """
    check_parameters(body, COMPLETIONS_PARAMETERS)
    prompts = texts_of(body.get("prompt"))
    if len(prompts) != 1 or not isinstance(prompts[0], str):
        raise RefusedError(400, "Invalid 'prompt': expected one text.", param="prompt", code="invalid_type")
    question = Question(
        model=body["model"],
        turns=[Turn("user", prompts[0])],
        max_tokens=body.get("max_tokens"),
        stop=texts_of(body.get("stop")),
        choices=body.get("n") or 1,
        top_logprobs=body.get("logprobs"),
    )
    check_length(question.input_tokens, "prompt")
    return question


def completion_stream(events: list[Event], body: Json) -> list[bytes]:
    """The answer as the frames of a stream."""
    head = _head(events)
    payloads: list[Json] = []
    offsets: dict[int, int] = {}
    for event in events:
        if isinstance(event, TextDelta):
            start = offsets.get(event.choice, 0)
            offsets[event.choice] = start + len(event.delta)
            logprobs = _logprobs([(event, start)]) if event.logprobs else None
            payloads.append({**head, "choices": [_choice(event.choice, event.delta, logprobs, None)]})
        elif isinstance(event, Finish):
            payloads.append({**head, "choices": [_choice(event.choice, "", None, event.reason)]})
        elif isinstance(event, UsageReport) and (body.get("stream_options") or {}).get("include_usage"):
            payloads.append({**head, "choices": [], "usage": _usage(event)})
    return [f"data: {json.dumps(payload)}\n\n".encode() for payload in payloads] + [b"data: [DONE]\n\n"]


def completion_body(events: list[Event]) -> Json:
    """The answer as a whole body."""
    choices = []
    for finish in events:
        if not isinstance(finish, Finish):
            continue
        said = [event for event in events if isinstance(event, TextDelta) and event.choice == finish.choice]
        starts = [sum(len(event.delta) for event in said[:place]) for place in range(len(said))]
        text = "".join(event.delta for event in said)
        logprobs = _logprobs(list(zip(said, starts, strict=True))) if said and said[0].logprobs else None
        choices.append(_choice(finish.choice, text, logprobs, finish.reason))
    usage = next(event for event in events if isinstance(event, UsageReport))
    return {**_head(events), "choices": choices, "usage": _usage(usage)}


def _head(events: list[Event]) -> Json:
    start: Any = events[0]
    return {"id": start.response_id, "object": "text_completion", "created": CREATED_AT, "model": start.model}


def _choice(index: int, text: str, logprobs: Json | None, finish: str | None) -> Json:
    return {"text": text, "index": index, "logprobs": logprobs, "finish_reason": finish}


def _logprobs(said: list[tuple[TextDelta, int]]) -> Json:
    entries = [(event.logprobs or [])[0] for event, _ in said]
    return {
        "tokens": [entry["token"] for entry in entries],
        "token_logprobs": [entry["logprob"] for entry in entries],
        "top_logprobs": [{top["token"]: top["logprob"] for top in entry["top_logprobs"]} for entry in entries],
        "text_offset": [start for _, start in said],
    }


def _usage(event: UsageReport) -> Json:
    usage = event.usage
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.total_tokens,
    }
