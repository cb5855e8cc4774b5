"""What a server may refuse of a request, how it is seen in its error, and what is sent instead."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..errors import ErrorInfo
from .words import asked_format, forced_choice, with_choice_in_words, with_schema_in_words, with_tools_in_words

Body = Mapping[str, Any]

_NOT_ABOUT_MEMBERS = frozenset((401, 402, 407, 408, 409, 413, 425, 429, 502, 503, 504, 529))
"""Statuses that say something of the key, the account or the load."""
_REFUSES = re.compile(
    r"unsupported|not (?:\w+ ){0,3}support|n't (?:\w+ )?support|unknown|unrecogni[sz]ed"
    r"|unexpected (?:keyword|argument|parameter|field|member|propert)|extra inputs|extra_forbidden"
    r"|not (?:\w+ )?(?:allowed|permitted|implemented|enabled|available)|unavailable"
    r"|no endpoints found|disabled|must be verified|requires? (?:the )?[`'\"]?--|only .{0,60}(?:supported|allowed)"
    r"|use .{0,60} instead",
    re.IGNORECASE,
)
"""That something is not had at all. A value that is out of range is a mistake of the caller's, who is to hear of it."""


@dataclass(slots=True, frozen=True)
class Fallback:
    """One thing that a request can do without.

    Attributes:
        name: of the member, for the memory and the ledger.
        quirk: the id in the table of repairs.
        done: what is sent instead, in a few words.
        is_asked: whether a body asks for it.
        replaced: the body that does without.
        spoken_of: how errors speak of it.
        refuses: how errors say that it is not had.
    """

    name: str
    quirk: str
    done: str
    is_asked: Callable[[Body], bool]
    replaced: Callable[[Body], dict[str, Any]]
    spoken_of: re.Pattern[str]
    refuses: re.Pattern[str] = _REFUSES

    def is_refused_by(self, error: ErrorInfo) -> bool:
        """Whether an error says that the server does not have it."""
        if error.status in _NOT_ABOUT_MEMBERS:
            return False
        said = _said(error)
        if self.refuses.search(said) is None:
            return False
        if error.param:
            return self.name in re.split(r"[.\[]", error.param) or self.spoken_of.search(error.param) is not None
        return self.spoken_of.search(said) is not None


def _said(error: ErrorInfo) -> str:
    """All that an error says; of a list of findings (`{"detail": [{"loc": …}]}`) also where they were made."""
    raw: Any = error.raw
    details = raw.get("detail") if isinstance(raw, dict) else None
    places = (
        [str(entry.get("loc")) for entry in details if isinstance(entry, dict)] if isinstance(details, list) else ()
    )
    return " ".join(filter(None, (error.message, error.code, error.type, error.param, *places)))


def _quoted(name: str) -> re.Pattern[str]:
    """A name between quotes, or one that is no word of every day."""
    quoted = rf"[`'\"]{name}[`'\"]"
    return re.compile(rf"{quoted}|\b{name}\b" if "_" in name else quoted)


def _dropped(name: str) -> Fallback:
    def without(body: Body) -> dict[str, Any]:
        return {key: value for key, value in body.items() if key != name}

    return Fallback(name, "member-refused", "left out", lambda body: name in body, without, _quoted(name))


def _renamed(name: str, other: str) -> Fallback:
    def renamed(body: Body) -> dict[str, Any]:
        return {other if key == name else key: value for key, value in body.items()}

    names = re.compile(rf"{_quoted(name).pattern}|{_quoted(other).pattern}")
    return Fallback(name, "member-refused", f"sent as {other}", lambda body: name in body, renamed, names)


def _not_streamed(body: Body) -> dict[str, Any]:
    return {**{key: value for key, value in body.items() if key != "stream_options"}, "stream": False}


FALLBACKS = (
    _dropped("stream_options"),
    _dropped("parallel_tool_calls"),
    Fallback(
        "response_format",
        "schema-in-prompt",
        "the schema is told in the instructions",
        lambda body: asked_format(body) is not None,
        with_schema_in_words,
        re.compile(r"response_?format|json_?schema|json_object|text\.format|structured.?output|guided", re.IGNORECASE),
    ),
    Fallback(
        "tool_choice",
        "member-refused",
        "told in the instructions",
        lambda body: forced_choice(body) is not None,
        with_choice_in_words,
        re.compile(r"tool[ _]choice", re.IGNORECASE),
        # the words are ours and legal, so that no value is the caller's mistake
        re.compile(rf"{_REFUSES.pattern}|must be|invalid|incompatible|only", re.IGNORECASE),
    ),
    Fallback(
        "tools",
        "tools-in-prompt",
        "the tools are told in the instructions, and calls read from the text",
        lambda body: bool(body.get("tools")),
        with_tools_in_words,
        re.compile(r"\btools?\b|tool[ _-](?:use|call|choice)|function[ _-]?call", re.IGNORECASE),
    ),
    _renamed("max_tokens", "max_completion_tokens"),
    _dropped("max_completion_tokens"),
    _dropped("max_output_tokens"),
    Fallback(
        "reasoning_effort",
        "member-refused",
        "left out",
        lambda body: "reasoning_effort" in body or "reasoning" in body,
        lambda body: {key: value for key, value in body.items() if key not in ("reasoning_effort", "reasoning")},
        re.compile(r"reasoning|thinking", re.IGNORECASE),
    ),
    *map(_dropped, ("temperature", "top_p", "stop", "seed", "user", "store", "metadata", "include")),
    Fallback(
        "stream",
        "whole-answer",
        "asked for whole",
        lambda body: body.get("stream") is True,
        _not_streamed,
        re.compile(r"['\"`]stream['\"`]|\bstreaming\b", re.IGNORECASE),
    ),
    # a server that names no member: this one the caller did not ask for
    replace(_dropped("stream_options"), spoken_of=re.compile(r"extra (?:inputs|fields)", re.IGNORECASE)),
)
"""In the order in which an error is set against them: the narrower first."""
TOOLS = next(fallback for fallback in FALLBACKS if fallback.name == "tools")
