"""From events to one answer: `Collector` and `collect(events)`, which give a `ModelResponse`.

Parts that are over are shared between the responses that a running stream shows: a look costs what is new, and the
joining of open parts. Only a look makes models, so that nobody waits for pydantic in the middle of a stream.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar

from .events import (
    Citation,
    ErrorReport,
    Event,
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
    ToolProgress,
    Unknown,
    UsageReport,
)

if TYPE_CHECKING:
    from .response_models import Choice, ModelResponse, Part


class _PartDraft:
    """A part, and what came for it since its model was made last."""

    __slots__ = ("begun", "field", "logprobs", "part", "pieces", "progress", "said", "stale", "transcript", "type")

    def __init__(self, type: str, field: str, begun: dict[str, Any]) -> None:
        self.type = type
        self.field = field
        self.begun = begun
        self.part: Part | None = None
        self.pieces: list[str] = []
        self.transcript: list[str] = []
        self.logprobs: list[Any] = []
        self.progress: list[ToolProgress] = []
        self.said: dict[str, Any] = {}
        self.stale = False

    def say(self, **said: object) -> None:
        """Set fields; a whole value takes the place of its pieces."""
        self.said.update(said)
        self.stale = True
        if self.field in said:
            self.pieces = []
        if "transcript" in said:
            self.transcript = []

    def snapshot(self) -> Part:
        """The part as it is now: a new model only if something came."""
        if self.part is None:
            from .response_models import PART_MODELS

            self.part = PART_MODELS[self.type](**self.begun)
        if self.stale:
            said, self.said, self.stale = self.said, {}, False
            if self.pieces:
                self.pieces = ["".join(self.pieces)]
                said[self.field] = self.pieces[0]
            if self.transcript:
                self.transcript = ["".join(self.transcript)]
                said["transcript"] = self.transcript[0]
            if self.logprobs:
                said["logprobs"] = list(self.logprobs)
            if self.progress:
                said["progress"] = list(self.progress)
            self.part = self.part.model_copy(update=said)
        return self.part


class _ChoiceDraft:
    """A choice: its parts in order, and what was said of it."""

    __slots__ = ("citations", "finish", "parts")

    def __init__(self) -> None:
        self.parts: list[_PartDraft] = []
        self.citations: list[Citation] = []
        self.finish: Finish | None = None

    def snapshot(self, index: int) -> Choice:
        from .response_models import Choice

        finish = self.finish
        return Choice(
            index=index,
            parts=[draft.snapshot() for draft in self.parts],
            citations=self.citations,
            finish_reason=finish.reason if finish else None,
            raw_finish_reason=finish.raw_reason if finish else None,
        )


class Collector:
    """Builds a `ModelResponse` from events: feed them in order and look at `response` whenever you like.

    A look costs the parts that changed since the last one, and the joining of those that are open. Texts are joined
    from the deltas where the Ends carry none (`collect=False`).
    """

    def __init__(self) -> None:
        """Start with nothing said."""
        self._facts: dict[str, Any] = {}
        self._metadata: dict[str, Any] = {}
        self._unknown: list[Unknown] = []
        self._parts: dict[int, _PartDraft] = {}
        self._choices: dict[int, _ChoiceDraft] = {}

    def feed(self, event: Event) -> None:
        """Take in one event. Kinds that say nothing about the answer (raw frames, repairs) are passed over."""
        handler = self._HANDLERS.get(event.type)
        if handler is not None:
            handler(self, event)

    @property
    def response(self) -> ModelResponse:
        """What was said so far; `status` is None and open parts are partial until the `StreamEnd` was fed."""
        from .response_models import ModelResponse

        return ModelResponse(
            **self._facts,
            metadata=self._metadata,
            unknown=self._unknown,
            choices=[self._choices[index].snapshot(index) for index in sorted(self._choices)],
        )

    def _choice(self, index: int) -> _ChoiceDraft:
        if index not in self._choices:
            self._choices[index] = _ChoiceDraft()
        return self._choices[index]

    def _open(self, part: int, choice: int, type: str, field: str = "text", **begun: object) -> None:
        draft = self._parts[part] = _PartDraft(type, field, {"part": part, **begun})
        self._choice(choice).parts.append(draft)

    def _on_stream_start(self, event: StreamStart) -> None:
        self._facts.update(api=event.api, response_id=event.response_id, model=event.model, created_at=event.created_at)

    def _on_text_start(self, event: TextStart) -> None:
        self._open(event.part, event.choice, "text", id=event.id, phase=event.phase)

    def _on_reasoning_start(self, event: ReasoningStart) -> None:
        self._open(event.part, event.choice, "reasoning", id=event.id, kind=event.kind)

    def _on_refusal_start(self, event: RefusalStart) -> None:
        self._open(event.part, event.choice, "refusal", id=event.id)

    def _on_tool_call_start(self, event: ToolCallStart) -> None:
        self._open(
            event.part,
            event.choice,
            "tool_call",
            "arguments",
            id=event.id,
            call_id=event.call_id,
            name=event.name,
            kind=event.kind,
            item_type=event.item_type,
        )

    def _on_media_start(self, event: MediaStart) -> None:
        self._open(event.part, event.choice, "media", "data", id=event.id, media_type=event.media_type)

    def _on_delta(self, event: ReasoningDelta | RefusalDelta | ToolCallDelta) -> None:
        draft = self._parts[event.part]
        draft.pieces.append(event.delta)
        draft.stale = True

    def _on_text_delta(self, event: TextDelta) -> None:
        draft = self._parts[event.part]
        draft.pieces.append(event.delta)
        draft.stale = True
        if event.logprobs:
            draft.logprobs += event.logprobs

    def _on_media_delta(self, event: MediaDelta) -> None:
        draft = self._parts[event.part]
        draft.stale = True
        if event.data:
            draft.pieces.append(event.data)
        if event.transcript:
            draft.transcript.append(event.transcript)

    def _on_text_end(self, event: TextEnd | RefusalEnd) -> None:
        self._parts[event.part].say(**_whole(text=event.text))

    def _on_reasoning_end(self, event: ReasoningEnd) -> None:
        said = {"kind": event.kind, "signature": event.signature, "encrypted": event.encrypted}
        self._parts[event.part].say(**said, **_whole(text=event.text))

    def _on_tool_call_end(self, event: ToolCallEnd) -> None:
        self._parts[event.part].say(
            call_id=event.call_id,
            name=event.name,
            kind=event.kind,
            arguments=event.arguments,
            status=event.status,
            signature=event.signature,
        )

    def _on_media_end(self, event: MediaEnd) -> None:
        self._parts[event.part].say(**_whole(data=event.data, url=event.url, transcript=event.transcript))

    def _on_tool_progress(self, event: ToolProgress) -> None:
        draft = self._parts[event.part]
        draft.progress.append(event)
        draft.stale = True

    def _on_citation(self, event: Citation) -> None:
        self._choice(event.choice).citations.append(event)

    def _on_metadata(self, event: Metadata) -> None:
        self._metadata.update(event.data)

    def _on_error_report(self, event: ErrorReport) -> None:
        self._facts.setdefault("error", event.error)

    def _on_finish(self, event: Finish) -> None:
        self._choice(event.choice).finish = event

    def _on_usage_report(self, event: UsageReport) -> None:
        self._facts["usage"] = event.usage

    def _on_unknown(self, event: Unknown) -> None:
        self._unknown.append(event)

    def _on_stream_end(self, event: StreamEnd) -> None:
        self._facts.update(status=event.status, repairs=event.repairs)
        self._facts.update(_whole(usage=event.usage, response_id=event.response_id, model=event.model))

    _HANDLERS: ClassVar[dict[str, Callable[[Any, Any], None]]] = {
        "stream_start": _on_stream_start,
        "text_start": _on_text_start,
        "text_delta": _on_text_delta,
        "text_end": _on_text_end,
        "reasoning_start": _on_reasoning_start,
        "reasoning_delta": _on_delta,
        "reasoning_end": _on_reasoning_end,
        "refusal_start": _on_refusal_start,
        "refusal_delta": _on_delta,
        "refusal_end": _on_text_end,
        "tool_call_start": _on_tool_call_start,
        "tool_call_delta": _on_delta,
        "tool_call_end": _on_tool_call_end,
        "tool_progress": _on_tool_progress,
        "citation": _on_citation,
        "media_start": _on_media_start,
        "media_delta": _on_media_delta,
        "media_end": _on_media_end,
        "metadata": _on_metadata,
        "error_report": _on_error_report,
        "finish": _on_finish,
        "usage_report": _on_usage_report,
        "unknown": _on_unknown,
        "stream_end": _on_stream_end,
    }


def _whole(**values: object) -> dict[str, Any]:
    """The values that were said: None takes nothing away from what the deltas brought."""
    return {name: value for name, value in values.items() if value is not None}


def collect(events: Iterable[Event]) -> ModelResponse:
    """Build the response that the events tell. They may stop anywhere: open parts are then partial."""
    collector = Collector()
    for event in events:
        collector.feed(event)
    return collector.response
