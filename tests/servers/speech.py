"""The model's answer as the library's events, token by token, within the limits that the request sets."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator
from typing import Any, Literal, cast

from streamshim.events import (
    Api,
    Event,
    Evidence,
    Finish,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    StreamEnd,
    StreamStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    Usage,
    UsageReport,
)

from .question import Call, Question
from .toy_model import Answer, answer

CREATED_AT = 1_800_000_000
SEAL = "sealed:"
"""What the encrypted thought of this server begins with."""
_PIECE = 8
"""How many characters of a call's arguments come at once."""
_OTHER_TOKENS = [" a", " the", " of", " to", " and", " in", " is", " it", " that", " for"] * 2


def tokens_of(text: str) -> list[str]:
    """A token is a word, with the blanks before it."""
    return re.findall(r"\s*\S+|\s+$", text)


def speak(question: Question, api: Api, response_id: str, make_id: Callable[[str], str]) -> list[Event]:
    """The whole answer to a question, as a stream of events."""
    speakers = [_Speaker(question, answer(question), choice, make_id) for choice in range(question.choices)]
    spoken = [event for speaker in speakers for event in speaker.events()]
    _number(spoken)
    reasoning = sum(speaker.reasoning_tokens for speaker in speakers)
    output = sum(speaker.tokens for speaker in speakers)
    asked = question.input_tokens
    usage = Usage(asked, output, asked + output, 0, None, reasoning)
    was_cut = any(speaker.is_cut for speaker in speakers)
    status: Literal["incomplete", "completed"] = "incomplete" if was_cut else "completed"
    return [
        StreamStart(api, response_id, question.model, CREATED_AT),
        *spoken,
        *(Finish(speaker.choice, speaker.reason) for speaker in speakers),
        UsageReport(usage),
        StreamEnd(status, Evidence(), usage, {}, response_id, question.model),
    ]


def _number(events: list[Event]) -> None:
    """Parts are counted through the stream; each speaker began with 0."""
    part = -1
    for event in events:
        part += event.type.endswith("_start")
        cast("Any", event).part = part


class _Speaker:
    """Says one choice, as far as its tokens go."""

    def __init__(self, question: Question, said: Answer, choice: int, make_id: Callable[[str], str]) -> None:
        self.choice = choice
        self.tokens = 0
        self.reasoning_tokens = 0
        self.is_cut = False
        self.reason: Literal["stop", "length", "tool_calls"] = "tool_calls" if said.calls else "stop"
        self._question = question
        self._said = said
        self._make_id = make_id

    def events(self) -> Iterator[Event]:
        if self._said.reasoning:
            yield from self._think(self._said.reasoning)
        if self._said.text and not self.is_cut:
            yield from self._say(self._said.text)
        for call in self._said.calls:
            if not self.is_cut:
                yield from self._call(call)

    def _within_limit(self, tokens: list[str]) -> list[str]:
        """As many of the tokens as may still be said."""
        limit = self._question.max_tokens
        if limit is not None and self.tokens + len(tokens) > limit:
            self.is_cut = True
            self.reason = "length"
            tokens = tokens[: limit - self.tokens]
        self.tokens += len(tokens)
        return tokens

    def _think(self, thought: str) -> Iterator[Event]:
        tokens = self._within_limit(tokens_of(thought))
        self.reasoning_tokens = len(tokens)
        yield ReasoningStart(0, self.choice, None, "raw")
        for token in tokens:
            yield ReasoningDelta(token, 0, self.choice)
        sealed = SEAL + base64.b64encode(thought.encode()).decode() if self._question.encrypts else None
        yield ReasoningEnd("".join(tokens), 0, self.choice, "raw", None, sealed)

    def _say(self, text: str) -> Iterator[Event]:
        places = [place for stop in self._question.stop if (place := text.find(stop)) >= 0]
        tokens = self._within_limit(tokens_of(text[: min(places)] if places else text))
        if not tokens:
            return
        yield TextStart(0, self.choice)
        for token in tokens:
            yield TextDelta(token, 0, self.choice, self._logprobs(token))
        yield TextEnd("".join(tokens), 0, self.choice)

    def _logprobs(self, token: str) -> list[Any] | None:
        asked = self._question.top_logprobs
        if asked is None:
            return None
        shown = [(token, -0.125), *((other, -2.5) for other in _OTHER_TOKENS if other != token)][: asked or 0]
        entry = {"token": token, "logprob": -0.125, "bytes": list(token.encode())}
        tops = [{"token": other, "logprob": logprob, "bytes": list(other.encode())} for other, logprob in shown]
        return [{**entry, "top_logprobs": tops}]

    def _call(self, call: Call) -> Iterator[Event]:
        whole = tokens_of(call.arguments)
        arguments = "".join(self._within_limit(whole))
        kind: Any = call.kind
        call_id = self._make_id("call")
        yield ToolCallStart(0, self.choice, None, call_id, call.name, kind)
        for start in range(0, len(arguments), _PIECE):
            yield ToolCallDelta(arguments[start : start + _PIECE], 0, self.choice)
        status: Literal["truncated", "complete"] = "truncated" if self.is_cut else "complete"
        yield ToolCallEnd(0, self.choice, call_id, call.name, kind, arguments, status)
