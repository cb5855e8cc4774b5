"""The vocabulary: everything that a stream can say, whatever wire and vendor it came from.

A stream is `StreamStart (anything)* StreamEnd`. What the model produces comes in *parts*: one Start, Deltas, one End,
held together by `part`, an integer that is dense and unique within the stream, in order of appearance. `choice` is 0
unless several answers were asked for. `id` is the wire's own id or None; it is never invented.

Events are plain slotted dataclasses: treat them as immutable. The last field of each is `type`, so that
`match event: case TextDelta(delta=d)`, `event.type == "text_delta"`, `dataclasses.asdict` and
`pydantic.TypeAdapter(Event)` all work. New events may come in minor releases: write `case _`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, TypeAlias

from .errors import ErrorInfo

Api = Literal["chat", "responses", "completions"]
ReasoningKind = Literal["raw", "summary", "tag", "encrypted"]
ToolKind = Literal["function", "custom", "server", "builtin"]
ToolStatus = Literal["complete", "handled", "truncated", "invalid"]
FinishReason = Literal["stop", "length", "tool_calls", "content_filter", "error", "other"]
EndStatus = Literal["completed", "incomplete", "failed", "truncated", "cancelled"]


@dataclass(slots=True, match_args=False)
class Usage:
    """Token counts as the wire gave them: the last snapshot, never a sum and never computed."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    cached_input_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None
    raw: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True, match_args=False)
class Evidence:
    """The facts behind `StreamEnd.status`. On Responses they are frozen at the terminal event."""

    finish_reason_seen: bool = False
    terminal_event_seen: bool = False
    done_seen: bool = False
    clean_eof: bool = False
    open_parts: int = 0


@dataclass(slots=True, match_args=False)
class StreamStart:
    """Always first. Waits a few frames for an id and a model; `api` is None where nothing was understood."""

    api: Api | None
    response_id: str | None
    model: str | None
    created_at: int | None
    type: Literal["stream_start"] = "stream_start"


@dataclass(slots=True, match_args=False)
class TextStart:
    """A piece of the answer begins. `phase` is a message's own label, such as "commentary" or "final_answer"."""

    part: int
    choice: int
    id: str | None = None
    phase: str | None = None
    type: Literal["text_start"] = "text_start"


@dataclass(slots=True, match_args=False)
class TextDelta:
    """More of the answer. `logprobs` is the wire's own list, one entry for each token."""

    delta: str
    part: int
    choice: int
    logprobs: list[Any] | None = None
    type: Literal["text_delta"] = "text_delta"


@dataclass(slots=True, match_args=False)
class TextEnd:
    """A piece of the answer is over. `text` is all its deltas, or None with `collect=False`."""

    text: str | None
    part: int
    choice: int
    type: Literal["text_end"] = "text_end"


@dataclass(slots=True, match_args=False)
class ReasoningStart:
    """The model thinks. `kind`: "raw" thought, a "summary", thought from "tag"s in the text, or "encrypted"."""

    part: int
    choice: int
    id: str | None = None
    kind: ReasoningKind = "raw"
    type: Literal["reasoning_start"] = "reasoning_start"


@dataclass(slots=True, match_args=False)
class ReasoningDelta:
    """More thought. Never mixed into text."""

    delta: str
    part: int
    choice: int
    type: Literal["reasoning_delta"] = "reasoning_delta"


@dataclass(slots=True, match_args=False)
class ReasoningEnd:
    """A thought is over. `signature` and `encrypted` are opaque: hand them back to the same vendor unchanged."""

    text: str | None
    part: int
    choice: int
    kind: ReasoningKind = "raw"
    signature: str | None = None
    encrypted: str | None = None
    type: Literal["reasoning_end"] = "reasoning_end"


@dataclass(slots=True, match_args=False)
class RefusalStart:
    """The model declines."""

    part: int
    choice: int
    id: str | None = None
    type: Literal["refusal_start"] = "refusal_start"


@dataclass(slots=True, match_args=False)
class RefusalDelta:
    """More of a refusal. Never mixed into text."""

    delta: str
    part: int
    choice: int
    type: Literal["refusal_delta"] = "refusal_delta"


@dataclass(slots=True, match_args=False)
class RefusalEnd:
    """A refusal is over."""

    text: str | None
    part: int
    choice: int
    type: Literal["refusal_end"] = "refusal_end"


@dataclass(slots=True, match_args=False)
class ToolCallStart:
    """A tool is called. Name and call id are final: they equal those of the End.

    `kind`: "function" and "custom" tools are yours, "builtin" ones are hosted by name but yours to run, "server" ones
    are run by the vendor. `item_type` is the type of the item on the Responses wire.
    """

    part: int
    choice: int
    id: str | None
    call_id: str
    name: str
    kind: ToolKind = "function"
    item_type: str | None = None
    type: Literal["tool_call_start"] = "tool_call_start"


@dataclass(slots=True, match_args=False)
class ToolCallDelta:
    """More of a call's arguments: JSON text, free text for a custom tool."""

    delta: str
    part: int
    choice: int
    type: Literal["tool_call_delta"] = "tool_call_delta"


@dataclass(slots=True, match_args=False)
class ToolCallEnd:
    """A call is over.

    `status`: "complete" (whole, and yours to answer), "handled" (the vendor ran it), "truncated" (cut: never run it),
    "invalid" (whole, but not a JSON object).
    """

    part: int
    choice: int
    call_id: str
    name: str
    kind: ToolKind
    arguments: str
    status: ToolStatus
    signature: str | None = None
    type: Literal["tool_call_end"] = "tool_call_end"

    def parsed(self) -> dict[str, Any]:
        """The arguments as a JSON object.

        Raises:
            ValueError: the call is truncated or invalid, or its arguments are no JSON object (a custom tool's input).
        """
        if self.status in ("truncated", "invalid"):
            raise ValueError(
                f"the call {self.name!r} ({self.call_id}) is {self.status}: its arguments must not be used"
            )
        value = json.loads(self.arguments)
        if not isinstance(value, dict):
            raise ValueError(f"the arguments of {self.name!r} ({self.call_id}) are no JSON object")  # noqa: TRY004
        return value


@dataclass(slots=True, match_args=False)
class ToolProgress:
    """A tool that the vendor runs moves on. `status` is the last word of the wire's event; `data` what came with it."""

    part: int
    choice: int
    status: str
    data: Any = None
    type: Literal["tool_progress"] = "tool_progress"


@dataclass(slots=True, match_args=False)
class Citation:
    """A source, once per part, source and span. `start` and `end` are offsets as the vendor counts them."""

    part: int | None
    choice: int
    url: str | None = None
    title: str | None = None
    start: int | None = None
    end: int | None = None
    cited_text: str | None = None
    data: Any = None
    type: Literal["citation"] = "citation"


@dataclass(slots=True, match_args=False)
class MediaStart:
    """An image or audio begins. `media_type` is a MIME type."""

    part: int
    choice: int
    id: str | None = None
    media_type: str | None = None
    type: Literal["media_start"] = "media_start"


@dataclass(slots=True, match_args=False)
class MediaDelta:
    """More of an image or audio: base64 text, a piece of its transcript, or both."""

    part: int
    choice: int
    data: str | None = None
    transcript: str | None = None
    type: Literal["media_delta"] = "media_delta"


@dataclass(slots=True, match_args=False)
class MediaEnd:
    """An image or audio is over: all its base64 text, or the address where it lies."""

    part: int
    choice: int
    data: str | None = None
    url: str | None = None
    transcript: str | None = None
    type: Literal["media_end"] = "media_end"


@dataclass(slots=True, match_args=False)
class Metadata:
    """Facts worth keeping that are no part of the answer: service tier, moderation, filter results."""

    data: dict[str, Any]
    type: Literal["metadata"] = "metadata"


@dataclass(slots=True, match_args=False)
class ErrorReport:
    """An error, where the wire said it. What came before it stays; reading goes on."""

    error: ErrorInfo
    type: Literal["error_report"] = "error_report"


@dataclass(slots=True, match_args=False)
class Finish:
    """Why a choice ended. `raw_reason` keeps the wire's word; `reason` is None where the wire said nothing."""

    choice: int
    reason: FinishReason | None
    raw_reason: str | None = None
    type: Literal["finish"] = "finish"


@dataclass(slots=True, match_args=False)
class UsageReport:
    """The token counts, once, after the Finishes."""

    usage: Usage
    type: Literal["usage_report"] = "usage_report"


@dataclass(slots=True, match_args=False)
class Unknown:
    """A frame that is not modelled: shown, never fatal."""

    name: str
    data: Any
    type: Literal["unknown"] = "unknown"


@dataclass(slots=True, match_args=False)
class Repair:
    """Something was put right (with `repairs=True`). `quirk` is an id of the quirk table, `frame` counts from 1."""

    quirk: str
    detail: str
    frame: int
    type: Literal["repair"] = "repair"


@dataclass(slots=True, match_args=False)
class RawFrame:
    """The frame behind the events that follow (with `raw=True`): its SSE event name and its data."""

    event: str | None
    data: Any
    type: Literal["raw_frame"] = "raw_frame"


@dataclass(slots=True, match_args=False)
class StreamEnd:
    """Always last, exactly once.

    `status`: "completed", "incomplete" (the vendor stopped early), "failed" (an error), "truncated" (the bytes ended
    before anything said that the answer was whole), "cancelled".
    """

    status: EndStatus
    evidence: Evidence
    usage: Usage | None
    repairs: dict[str, int]
    response_id: str | None
    model: str | None
    type: Literal["stream_end"] = "stream_end"


class _Discriminated:
    """Tells pydantic, and only when it asks, that `type` tells the events apart: nothing is imported before."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Any]) -> Any:
        from pydantic import Field

        return handler(Annotated[source, Field(discriminator="type")])


Event: TypeAlias = Annotated[
    StreamStart
    | TextStart
    | TextDelta
    | TextEnd
    | ReasoningStart
    | ReasoningDelta
    | ReasoningEnd
    | RefusalStart
    | RefusalDelta
    | RefusalEnd
    | ToolCallStart
    | ToolCallDelta
    | ToolCallEnd
    | ToolProgress
    | Citation
    | MediaStart
    | MediaDelta
    | MediaEnd
    | Metadata
    | ErrorReport
    | Finish
    | UsageReport
    | Unknown
    | Repair
    | RawFrame
    | StreamEnd,
    _Discriminated(),
]
"""Any event. `pydantic.TypeAdapter(Event)` validates, dumps and gives the JSON Schema."""
