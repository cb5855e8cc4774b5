"""A collected response as events again: one delta for each part."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..events import (
    ErrorReport,
    Event,
    Evidence,
    Finish,
    MediaDelta,
    MediaEnd,
    MediaStart,
    Metadata,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    RefusalDelta,
    RefusalEnd,
    RefusalStart,
    StreamEnd,
    StreamStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    UsageReport,
)

if TYPE_CHECKING:
    from ..response_models import (
        Choice,
        MediaPart,
        ModelResponse,
        Part,
        ReasoningPart,
        RefusalPart,
        TextPart,
        ToolCallPart,
    )


def replay(response: ModelResponse) -> Iterator[Event]:
    """The events that say what the response says. Of a response that still runs there is no `StreamEnd`."""
    yield StreamStart(response.api, response.response_id, response.model, response.created_at)
    for choice in response.choices:
        yield from _choice(choice)
    if response.metadata:
        yield Metadata(response.metadata)
    if response.error is not None:
        yield ErrorReport(response.error)
    for choice in response.choices:
        if response.status is not None:
            yield Finish(choice.index, choice.finish_reason, choice.raw_finish_reason)
    if response.usage is not None:
        yield UsageReport(response.usage)
    if response.status is not None:
        yield StreamEnd(response.status, Evidence(), response.usage, {}, response.response_id, response.model)


def _choice(choice: Choice) -> Iterator[Event]:
    for part in choice.parts:
        yield from _part(part, choice.index)
        yield from (citation for citation in choice.citations if citation.part == part.part)
    parts = {part.part for part in choice.parts}
    yield from (citation for citation in choice.citations if citation.part not in parts)


def _part(part: Part, choice: int) -> Iterator[Event]:
    if part.type == "text":
        yield from _text(part, choice)
    elif part.type == "reasoning":
        yield from _reasoning(part, choice)
    elif part.type == "refusal":
        yield from _refusal(part, choice)
    elif part.type == "tool_call":
        yield from _call(part, choice)
    else:
        yield from _media(part, choice)


def _text(part: TextPart, choice: int) -> Iterator[Event]:
    yield TextStart(part.part, choice, part.id, part.phase)
    if part.text:
        yield TextDelta(part.text, part.part, choice, part.logprobs)
    yield TextEnd(part.text, part.part, choice)


def _reasoning(part: ReasoningPart, choice: int) -> Iterator[Event]:
    yield ReasoningStart(part.part, choice, part.id, part.kind)
    if part.text:
        yield ReasoningDelta(part.text, part.part, choice)
    yield ReasoningEnd(part.text, part.part, choice, part.kind, part.signature, part.encrypted)


def _refusal(part: RefusalPart, choice: int) -> Iterator[Event]:
    yield RefusalStart(part.part, choice, part.id)
    if part.text:
        yield RefusalDelta(part.text, part.part, choice)
    yield RefusalEnd(part.text, part.part, choice)


def _call(part: ToolCallPart, choice: int) -> Iterator[Event]:
    """A call that is still open counts as cut: nobody may run it."""
    yield ToolCallStart(part.part, choice, part.id, part.call_id, part.name, part.kind, part.item_type)
    if part.arguments:
        yield ToolCallDelta(part.arguments, part.part, choice)
    yield from part.progress
    status = part.status or "truncated"
    yield ToolCallEnd(part.part, choice, part.call_id, part.name, part.kind, part.arguments, status, part.signature)


def _media(part: MediaPart, choice: int) -> Iterator[Event]:
    yield MediaStart(part.part, choice, part.id, part.media_type)
    if part.data or part.transcript:
        yield MediaDelta(part.part, choice, part.data, part.transcript)
    yield MediaEnd(part.part, choice, part.data, part.url, part.transcript)
