"""`ResponsesEncoder`: events as a Responses stream that the strict readers of that wire accept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from ..errors import ErrorInfo
from ..events import (
    Citation,
    ErrorReport,
    Finish,
    MediaStart,
    Metadata,
    ReasoningStart,
    RefusalStart,
    StreamEnd,
    TextStart,
    ToolCallStart,
    ToolProgress,
    Usage,
    UsageReport,
)
from .calls import CUSTOM, FUNCTION, ClientCall
from .details import annotation_of
from .encoder import DONE, FAILED_MESSAGE, TRUNCATED_CODE, TRUNCATED_MESSAGE, Encoder
from .hosted_calls import HostedCall, can_be_announced
from .media import Picture, ShownPicture, Sound
from .options import ResponsesReasoning, ResponsesTruncated, check_word
from .output import OpenPart, Output
from .prose import Prose, ProsePart
from .response_object import ResponseObject, written_usage

_INCOMPLETE_REASONS = {"length": "max_output_tokens", "content_filter": "content_filter"}


class ResponsesEncoder(Encoder):
    """Encodes events as the stream of the Responses API: `feed()` them in order, then `close()`.

    Attributes:
        dropped: how often something was left out because the wire cannot say it, by kind.
    """

    _ID_PREFIX = "resp"

    def __init__(
        self,
        *,
        reasoning: ResponsesReasoning = "summary",
        done: bool = True,
        event_lines: bool = True,
        length_as_completed: bool = False,
        error_event: bool = False,
        truncated: ResponsesTruncated = "failed",
        refusal_as_text: bool = False,
        choice: int = 0,
        request: Mapping[str, Any] | None = None,
        model: str | None = None,
        response_id: str | None = None,
        make_id: Callable[[str], str] | None = None,
        now: Callable[[], int] | None = None,
    ) -> None:
        """Nothing was said yet.

        Args:
            reasoning: how visible thought is written: "summary" (every reader shows it), "text" (raw thought as
                `reasoning_text`), "open_responses" (as `reasoning`), "none" (left out; encrypted thought stays).
            done: whether `data: [DONE]` follows the terminal event.
            event_lines: whether each event has an `event:` line.
            length_as_completed: an answer that the token limit cut ends as completed, unless it holds a cut call.
            error_event: whether an `error` event comes before `response.failed`.
            truncated: how a cut stream ends: "failed", "incomplete", or "silent" (without a terminal event).
            refusal_as_text: whether refusals are written as text.
            choice: which choice is spoken; the others are dropped.
            request: settings of the request that the response object echoes.
            model: speak under this name instead of the source's.
            response_id: speak under this id instead of the source's.
            make_id: makes an id of a prefix, where the source has none.
            now: the time in Unix seconds.

        Raises:
            ValueError: an option is given a word that it does not know.
        """
        check_word("reasoning", reasoning, ResponsesReasoning)
        check_word("truncated", truncated, ResponsesTruncated)
        super().__init__(model=model, response_id=response_id, make_id=make_id, now=now)
        self._choice = choice
        self._done = done
        self._error_event = error_event
        self._length_as_completed = length_as_completed
        self._truncated = truncated
        self._object = ResponseObject(request)
        self._output = Output(self._frames, self._make_id, event_lines=event_lines)
        self._prose = Prose(self._output, self._drop, reasoning, refusal_as_text=refusal_as_text)
        self._parts: dict[int, OpenPart] = {}
        self._hosted: dict[int, HostedCall] = {}
        self._texts: dict[int, ProsePart] = {}
        self._early_citations: list[Citation] = []
        self._pictures: dict[str | None, HostedCall] = {}
        self._has_cut_call = False
        self._finish: Finish | None = None
        self._error: ErrorInfo | None = None
        self._usage: Usage | None = None
        self._last_face: dict[str, Any] | None = None

    @property
    def response(self) -> dict[str, Any]:
        """The response object as the events so far tell it: after the end, that of the terminal event."""
        return self._last_face or self._object.shown("in_progress", self._output.shown())

    def _begin(self, id: str, model: str, created_at: int) -> None:
        self._object.identify(id=id, created_at=created_at, model=model)
        if self._own_id:
            self._object.settle(id=id)
        if self._own_model:
            self._object.settle(model=model)
        for name in ("created", "in_progress"):
            self._output.write(f"response.{name}", response=self._object.shown("in_progress"))

    # -- parts --------------------------------------------------------------------------------------------------------

    def _on_text_start(self, event: TextStart) -> None:
        part = self._parts[event.part] = self._texts[event.part] = self._prose.text(event)
        for citation in self._early_citations:
            part.annotate(annotation_of(citation))
        self._early_citations.clear()

    def _on_refusal_start(self, event: RefusalStart) -> None:
        self._parts[event.part] = self._prose.refusal(event)

    def _on_reasoning_start(self, event: ReasoningStart) -> None:
        self._parts[event.part] = self._prose.reasoning(event)

    def _on_tool_call_start(self, event: ToolCallStart) -> None:
        if event.kind in ("function", "custom"):
            spelling = FUNCTION if event.kind == "function" else CUSTOM
            self._parts[event.part] = ClientCall(self._output, event, spelling)
        elif event.item_type is not None and can_be_announced(event.item_type):
            call = self._parts[event.part] = self._hosted[event.part] = HostedCall(self._output, event, event.item_type)
            if event.item_type == "image_generation_call":
                self._pictures[event.id] = call
        else:
            self._drop(f"{event.kind}_call")

    def _on_media_start(self, event: MediaStart) -> None:
        family = (event.media_type or "image/png").partition("/")[0]
        if (call := self._pictures.pop(event.id, None)) is not None:
            self._parts[event.part] = ShownPicture(call.item)
        elif family == "image":
            self._parts[event.part] = Picture(self._output, event, self._drop)
        elif family == "audio":
            self._parts[event.part] = Sound(self._output)
        else:
            self._drop("media")

    def _on_delta(self, event: Any) -> None:
        if (part := self._parts.get(event.part)) is not None:
            part.delta(event)

    def _on_end(self, event: Any) -> None:
        if event.type == "tool_call_end" and event.status == "truncated":
            self._has_cut_call = True
        if event.type == "reasoning_end" and event.signature:
            self._drop("signature")
        if (part := self._parts.pop(event.part, None)) is not None:
            part.end(event)

    def _on_tool_progress(self, event: ToolProgress) -> None:
        call = self._hosted.get(event.part)
        if call is None or not call.progress(event):
            self._drop(event.type)

    def _on_citation(self, event: Citation) -> None:
        if event.part is not None and event.part in self._texts:
            self._texts[event.part].annotate(annotation_of(event))
        elif self._texts:
            self._texts[next(reversed(self._texts))].annotate(annotation_of(event))
        else:
            self._early_citations.append(event)  # some vendors name their sources before the text

    # -- facts that are held ------------------------------------------------------------------------------------------

    def _on_metadata(self, event: Metadata) -> None:
        tier = event.data.get("service_tier")
        if isinstance(tier, str) and tier:
            self._object.settle(service_tier=tier)
        if event.data.keys() - {"service_tier"}:
            self._drop(event.type)

    def _on_error_report(self, event: ErrorReport) -> None:
        if self._error is None:
            self._error = event.error
        else:
            self._drop(event.type)

    def _on_finish(self, event: Finish) -> None:
        self._finish = event

    def _on_usage_report(self, event: UsageReport) -> None:
        self._usage = event.usage

    # -- the end ------------------------------------------------------------------------------------------------------

    def _on_stream_end(self, event: StreamEnd) -> None:
        self._ended = True
        if event.status == "truncated" and self._truncated == "silent":
            return
        status, said = self._verdict(event)
        if self._error is not None and event.status != "failed":
            self._drop("error_report")
        for citation in self._early_citations:
            self._drop(citation.type)
        for part in self._parts.values():
            part.abandon()
        self._parts.clear()
        self._output.close_prose("completed" if status == "completed" else "incomplete")
        said["usage"] = written_usage(self._usage)
        if status == "completed":
            said["completed_at"] = self._now()
        self._last_face = self._object.shown(status, self._output.shown(), **said)
        if status == "failed" and self._error_event and event.status == "failed":
            self._write_error(said["error"])
        name = "failed" if status == "cancelled" else status
        self._output.write(f"response.{name}", response=self._last_face)
        if self._done:
            self._frames.append(DONE)

    def _verdict(self, end: StreamEnd) -> tuple[str, dict[str, Any]]:
        """The status of the response, and the members that say why."""
        reason = self._finish.reason if self._finish else None
        if end.status == "failed":
            error = self._error
            code = (error.code or error.type) if error else None
            message = error.message if error else FAILED_MESSAGE
            return "failed", {"error": {"code": str(code or "server_error"), "message": message}}
        if end.status == "cancelled":
            return "cancelled", {"error": {"code": "cancelled", "message": "The response was cancelled."}}
        if end.status == "truncated":
            if self._truncated == "incomplete":
                return "incomplete", {"incomplete_details": {"reason": TRUNCATED_CODE}}
            return "failed", {"error": {"code": TRUNCATED_CODE, "message": TRUNCATED_MESSAGE}}
        was_cut = end.status == "incomplete" and reason not in ("stop", "tool_calls")
        as_completed = self._length_as_completed and reason == "length" and not (self._has_cut_call or self._parts)
        if not was_cut or as_completed:
            return "completed", {}
        raw = self._finish.raw_reason if self._finish else None
        return "incomplete", {"incomplete_details": {"reason": _INCOMPLETE_REASONS.get(reason or "", raw or "other")}}

    def _write_error(self, shown: dict[str, Any]) -> None:
        error = self._error
        kind, param = (error.type, error.param) if error else (None, None)
        said = {"type": kind or "server_error", "code": shown["code"], "message": shown["message"], "param": param}
        self._output.write("error", error=said)

    _HANDLERS: ClassVar[dict[str, Callable[[Any, Any], None]]] = {
        "stream_start": Encoder._pass,
        "text_start": _on_text_start,
        "text_delta": _on_delta,
        "text_end": _on_end,
        "reasoning_start": _on_reasoning_start,
        "reasoning_delta": _on_delta,
        "reasoning_end": _on_end,
        "refusal_start": _on_refusal_start,
        "refusal_delta": _on_delta,
        "refusal_end": _on_end,
        "tool_call_start": _on_tool_call_start,
        "tool_call_delta": _on_delta,
        "tool_call_end": _on_end,
        "tool_progress": _on_tool_progress,
        "citation": _on_citation,
        "media_start": _on_media_start,
        "media_delta": _on_delta,
        "media_end": _on_end,
        "metadata": _on_metadata,
        "error_report": _on_error_report,
        "finish": _on_finish,
        "usage_report": _on_usage_report,
        "stream_end": _on_stream_end,
    }
