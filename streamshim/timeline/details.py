"""An event in a line or two, for people: what a mark says when it is pointed at."""

from __future__ import annotations

from ..events import (
    Citation,
    ErrorReport,
    Event,
    Finish,
    MediaDelta,
    MediaEnd,
    MediaStart,
    Metadata,
    ReasoningEnd,
    Repair,
    StreamEnd,
    StreamStart,
    ToolCallEnd,
    ToolCallStart,
    ToolProgress,
    Unknown,
    UsageReport,
)
from ..json_codec import dumps
from ..wording import VERDICTS, error_facts, finish_words, token_counts
from .moments import Unit

LONGEST = 320
"""In characters: so much of a text is shown."""


def size_of(event: Event) -> int:
    """How many characters it brings."""
    if isinstance(event, MediaDelta):
        return len(event.data or event.transcript or "")
    if isinstance(event, ReasoningEnd):
        return len(event.encrypted or "")
    return len(getattr(event, "delta", ""))


def shortened(text: str, longest: int = LONGEST) -> str:
    """The text, or its beginning."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def when(at: float, unit: Unit) -> str:
    """A moment, or how long something took."""
    return f"{at:,.3f} s" if unit == "seconds" else f"byte {at:,.0f}"


def describe(event: Event) -> str:
    """What the event says; a delta says its text."""
    delta = getattr(event, "delta", None)
    return shortened(delta if isinstance(delta, str) else _described(event))


def _described(event: Event) -> str:
    match event:
        case StreamStart():
            return _facts("start", event.api, event.model, event.response_id)
        case ReasoningEnd():
            return f"encrypted thought, {len(event.encrypted or ''):,} characters"
        case ToolCallStart():
            return _facts(f"call of {event.name or '(no name)'}", event.kind, event.call_id)
        case ToolCallEnd():
            return f"{event.status}: {event.arguments}"
        case ToolProgress():
            return f"progress: {event.status}"
        case Citation():
            return _facts("source", event.title, event.url)
        case MediaStart():
            return _facts("begins", event.media_type)
        case MediaDelta():
            return event.transcript or f"{len(event.data or ''):,} characters of base64"
        case MediaEnd():
            return event.url or event.transcript or f"whole: {len(event.data or ''):,} characters of base64"
        case Metadata():
            return f"metadata: {dumps(event.data)}"
        case ErrorReport():
            return _facts(f"error: {event.error.message}", *error_facts(event.error))
        case Finish():
            return f"finish: {finish_words(event)}" + (f", choice {event.choice}" if event.choice else "")
        case UsageReport():
            return f"usage: {token_counts(event.usage) or 'no counts'}"
        case Unknown():
            return f"unknown frame {event.name}: {dumps(event.data)}"
        case Repair():
            return f"frame {event.frame}: {event.detail}"
        case StreamEnd():
            return _facts(f"end: {event.status}", VERDICTS[event.status])
        case _:
            return event.type


def _facts(*facts: str | None) -> str:
    return " · ".join(fact for fact in facts if fact)
