"""The Responses wire: what an event says.

Items may interleave, be announced late or never, close out of order or not at all; up to four places repeat the whole
of what was streamed. So every event finds its item (`items`), and every repeat is set against what was seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..errors import ErrorInfo
from ..events import EndStatus, Finish, FinishReason
from .citations import read_citation
from .error_body import read_error
from .finish import meaning
from .hosted_tools import INPUT_EVENTS
from .item_reader import ItemReader
from .items import SlotKind
from .media import Audio
from .parts import Part
from .payload import UNREAD
from .stream_state import StreamState
from .tool_routing import whole_number

_TEXT_DELTA = "response.output_text.delta"
_TERMINAL = ("completed", "incomplete", "failed", "cancelled")
_LIFECYCLE = frozenset(("created", "queued", "in_progress"))
_PROSE: dict[str, tuple[str, SlotKind, str, str]] = {
    "output_text": ("message", "text", "content_index", "text"),
    "refusal": ("message", "refusal", "content_index", "refusal"),
    "reasoning_text": ("reasoning", "raw", "content_index", "text"),
    "reasoning": ("reasoning", "raw", "content_index", "text"),
    "reasoning_summary_text": ("reasoning", "summary", "summary_index", "text"),
    "reasoning_summary": ("reasoning", "summary", "summary_index", "text"),
}
"""Event family: item type, kind of part, its index, and where `.done` keeps the whole."""
_METADATA = ("service_tier", "moderation", "previous_response_id")
_KEEPALIVES = frozenset(("keepalive", "ping", "heartbeat"))
_MAX_HANDLERS = 64
"""Kinds of deltas that one stream may have and still be known by name."""
_SILENT = frozenset(("compaction",))


class ResponsesWire:
    """Reads the events of one response."""

    def __init__(self, state: StreamState) -> None:
        """`state`: where everything is told."""
        self.status: EndStatus | None = None
        """Set by the terminal event, which ends the stream."""
        self.done_seen = False
        self._state = state
        self._reader = ItemReader(state)
        self._audio: Audio | None = None
        self._last_key: tuple[Any, Any, Any] | None = None
        self._last_part: Part | None = None
        self._text = state.parts.text
        self._raw_reason: str | None = None
        self._is_body = False
        self._delta_handlers: dict[str, Callable[[dict[str, Any]], None]] = {_TEXT_DELTA: self._text_delta}
        """What reads the deltas that came so far, by event type: most of a stream, and nothing in it ends one."""

    # -- events -------------------------------------------------------------------------------------------------------

    def straight(self, payloads: Iterator[Any]) -> Any:
        """Reads deltas; gives the first payload that is none, or `UNREAD`.

        Raises:
            ValueError: a payload is not JSON.
            TooManyPartsError: a delta would begin a part too many.
        """
        state, repairs, handlers = self._state, self._state.repairs, self._delta_handlers
        texts: list[str] = []
        try:
            for payload in payloads:
                try:
                    name = payload["type"]
                    handler = handlers[name]
                except (KeyError, TypeError):
                    return payload
                delta, part = payload.get("delta"), self._last_part
                if (
                    name == _TEXT_DELTA
                    and part is not None
                    and part.is_open
                    and delta
                    and delta.__class__ is str
                    and not payload.get("logprobs")
                    and (payload.get("item_id"), payload.get("output_index"), payload.get("content_index"))
                    == self._last_key
                ):
                    texts.append(delta)
                else:
                    state.tell_texts(self._last_part, texts)
                    repairs.frame += 1
                    handler(payload)
                if (number := payload.get("sequence_number")).__class__ is int:
                    state.sequence_number = number
        finally:
            state.tell_texts(self._last_part, texts)
        return UNREAD

    def event(self, payload: dict[str, Any], name: str) -> None:
        """One event; `name` is its type."""
        if (number := payload.get("sequence_number")).__class__ is int:
            self._state.sequence_number = number
        handler = self._delta_handlers.get(name)
        if handler is None:
            handler = self._handler(name)
            if name.endswith(".delta") and len(self._delta_handlers) < _MAX_HANDLERS:
                self._delta_handlers[name] = handler
        handler(payload)

    def _handler(self, name: str) -> Callable[[dict[str, Any]], None]:
        """What reads the events of a name."""
        if name in _KEEPALIVES:
            return lambda payload: None
        family, _, action = name.removeprefix("response.").rpartition(".")
        if not name.startswith("response."):
            return lambda payload: self._state.unknown(name, payload)
        if not family:
            return self._lifecycle_handler(name, action)
        if family == "output_item":
            return self._item_added if action == "added" else self._item_done
        if family in ("content_part", "reasoning_part", "reasoning_summary_part"):
            return lambda payload: self._part_event(payload, family, action)
        if family in ("output_text.annotation", "output_text_annotation"):
            return self._annotation
        if family in ("audio", "audio.transcript"):
            return lambda payload: self._audio_event(payload, family, action)
        if prose := _PROSE.get(family) or self._vendor_prose(family):
            return self._prose_delta(prose) if action == "delta" else self._prose_done(prose)
        if item_type := INPUT_EVENTS.get(family):
            return self._input_delta(item_type) if action == "delta" else self._input_done(item_type)
        if "_call" in family or family == "mcp_list_tools":
            return lambda payload: self._reader.progress(payload, family, action)
        if family in _SILENT:
            return lambda payload: None
        return lambda payload: self._state.unknown(name, payload)

    def _lifecycle_handler(self, name: str, action: str) -> Callable[[dict[str, Any]], None]:
        if action in _LIFECYCLE:
            return self._lifecycle
        if action in _TERMINAL or action == "done":
            return lambda payload: self._terminal(payload, "completed" if action == "done" else action)
        if action == "error":
            return lambda payload: self._state.error(read_error(payload))
        if action == "metadata":
            return lambda payload: self._state.metadata({k: v for k, v in payload.items() if k != "type"})
        return lambda payload: self._state.unknown(name, payload)

    @staticmethod
    def _vendor_prose(family: str) -> tuple[str, SlotKind, str, str] | None:
        """An app of the vendor that streams text of its own: `<app>_output_text`, `<app>_reasoning_text`."""
        if family.endswith("_output_text"):
            return "message", "text", "block_index", "text"
        return ("reasoning", "raw", "block_index", "text") if family.endswith("_reasoning_text") else None

    # -- prose --------------------------------------------------------------------------------------------------------

    def _text_delta(self, payload: dict[str, Any]) -> None:
        """More text, mostly of the part that was spoken of last."""
        delta = payload.get("delta")
        key = (payload.get("item_id"), payload.get("output_index"), payload.get("content_index"))
        part = self._last_part
        if part is not None and part.is_open and key == self._last_key and delta.__class__ is str and delta:
            self._text(part, delta, payload.get("logprobs") or None)
        elif isinstance(delta, str) and delta:
            item = self._reader.items.find(payload, "message")
            slot = item.slot("text", whole_number(payload.get("content_index")))
            self._reader.say(slot, delta, payload.get("logprobs"))
            self._last_key, self._last_part = key, slot.part if slot.markup is None else None

    def _prose_delta(self, prose: tuple[str, SlotKind, str, str]) -> Callable[[dict[str, Any]], None]:
        item_type, kind, index, _ = prose

        def read(payload: dict[str, Any]) -> None:
            delta = payload.get("delta")
            if isinstance(delta, dict):
                delta = delta.get("text")
            if isinstance(delta, str) and delta:
                item = self._reader.items.find(payload, item_type)
                self._reader.say(item.slot(kind, whole_number(payload.get(index))), delta)

        return read

    def _input_delta(self, item_type: str) -> Callable[[dict[str, Any]], None]:
        def read(payload: dict[str, Any]) -> None:
            self._reader.input_delta(payload, item_type)

        return read

    def _input_done(self, item_type: str) -> Callable[[dict[str, Any]], None]:
        return lambda payload: self._reader.input_done(payload, item_type)

    def _prose_done(self, prose: tuple[str, SlotKind, str, str]) -> Callable[[dict[str, Any]], None]:
        item_type, kind, index, member = prose

        def read(payload: dict[str, Any]) -> None:
            whole = payload.get(member)
            item = self._reader.items.find(payload, item_type)
            slot = item.slot(kind, whole_number(payload.get(index)))
            self._reader.complete(slot, whole)
            slot.closed = True

        return read

    def _part_event(self, payload: dict[str, Any], family: str, action: str) -> None:
        part = payload.get("part")
        part = part if isinstance(part, dict) else {}
        summary = family == "reasoning_summary_part"
        is_thought = summary or family == "reasoning_part" or part.get("type") == "reasoning_text"
        item = self._reader.items.find(payload, "reasoning" if is_thought else self._family_at(payload))
        key = whole_number(payload.get("summary_index" if summary else "content_index"))
        kind = self._reader.part_kind(item, part, summary=summary)
        if kind is None:
            return
        slot = item.slot(kind, key, announced=action == "added")
        if action == "done":
            self._reader.complete(slot, part.get("refusal" if kind == "refusal" else "text"))
            self._reader.cite(slot, part)
            slot.closed = True
        elif isinstance(text := part.get("text"), str) and text:
            self._reader.complete(slot, text)

    def _family_at(self, payload: dict[str, Any]) -> str:
        """Whether an untelling content part belongs to a reasoning item."""
        item = self._reader.items.known(payload)
        return "reasoning" if item is not None and item.family == "reasoning" else "message"

    def _annotation(self, payload: dict[str, Any]) -> None:
        item = self._reader.items.find(payload, "message")
        slot = item.slot("text", whole_number(payload.get("content_index")))
        part = slot.part.number if slot.part is not None and slot.part.is_open else None
        if citation := read_citation(payload.get("annotation"), part, 0):
            self._state.cite([citation])

    def _audio_event(self, payload: dict[str, Any], family: str, action: str) -> None:
        delta = payload.get("delta")
        if action != "delta" or not isinstance(delta, str) or not delta:
            return
        if self._audio is None:
            self._audio = Audio(self._state.parts, 0, None)
        self._audio.add(*((delta, None) if family == "audio" else (None, delta)))

    # -- items --------------------------------------------------------------------------------------------------------

    def _item_added(self, payload: dict[str, Any]) -> None:
        raw = payload.get("item")
        if isinstance(raw, dict):
            self._reader.added(raw, whole_number(payload.get("output_index")))

    def _item_done(self, payload: dict[str, Any]) -> None:
        raw = payload.get("item")
        if isinstance(raw, dict):
            self._reader.done(raw, whole_number(payload.get("output_index")))

    # -- the response -------------------------------------------------------------------------------------------------

    def _lifecycle(self, payload: dict[str, Any]) -> None:
        response = payload.get("response")
        if not isinstance(response, dict):
            return
        state = self._state
        id = response.get("id")
        if state.response_id is not None and isinstance(id, str) and id and id != state.response_id:
            state.repair("response-id-changes", f"the response id changed to {id!r}")
        state.identify(response)
        state.see_usage(response.get("usage"))
        if (previous := response.get("previous_response_id")) is not None:
            state.metadata({"previous_response_id": previous})

    def body(self, response: dict[str, Any], *, cut: bool) -> None:
        """A whole response as one JSON object; a `cut` one says nothing of how it ended."""
        if cut:
            self._lifecycle({"response": response})
            for index, item in enumerate(response.get("output") or ()):
                self._item_added({"item": item, "output_index": index})
            return
        self._is_body = True
        self._terminal({"response": response}, "completed")

    def _terminal(self, payload: dict[str, Any], named: str) -> None:
        response = payload.get("response")
        response = response if isinstance(response, dict) else {}
        state = self._state
        self._lifecycle(payload)
        state.see_usage(response.get("usage") or payload.get("usage"))
        state.metadata({key: response[key] for key in _METADATA if response.get(key)})
        status = self._read_status(response, named)
        output = response.get("output") or payload.get("output")
        self._reader.snapshot(output if isinstance(output, list) else [])
        details = response.get("incomplete_details")
        reason = details.get("reason") if isinstance(details, dict) else None
        self._raw_reason = reason if isinstance(reason, str) and reason else self._word(response, status)
        if status == "failed" or (response.get("error") and status != "cancelled"):
            self._failed(response)
            status = "truncated" if state.truncated_by_encoder else "failed"
        if state.has_failed:
            status = "failed"
        self.status = status

    def _read_status(self, response: dict[str, Any], named: str) -> EndStatus:
        """The response's own word is trusted over the event's name, if it is a terminal one."""
        said = response.get("status")
        if said in _TERMINAL:
            if said != named and not self._is_body:
                self._state.repair("status-over-name", f"response.{named} carries the status {said!r}")
            return said  # type: ignore[no-any-return]
        if self._is_body and said in ("queued", "in_progress"):
            return "incomplete"
        return named  # type: ignore[return-value]

    @staticmethod
    def _word(response: dict[str, Any], status: EndStatus) -> str:
        said = response.get("status")
        return said if said in (*_TERMINAL, "queued") or (said == "in_progress" and status == "incomplete") else status

    def _failed(self, response: dict[str, Any]) -> None:
        error = response.get("error")
        if self._state.errors:
            return  # an `error` event came before: this is the same failure
        if error:
            self._state.error(read_error(error))
        else:
            self._state.error(ErrorInfo("vendor", "the response failed, and no error was given", code="server_error"))

    # -- the end ------------------------------------------------------------------------------------------------------

    def end(self, status: EndStatus) -> None:
        """Every End, then the Finish."""
        reason = self._reason(status)
        answerable = self._reader.end(cut=status in ("truncated", "failed", "cancelled"), at_length=reason == "length")
        if self._audio is not None:
            self._audio.end()
        if reason == "stop" and answerable:
            reason = "tool_calls"
        if self._state.parts.count or status in ("completed", "incomplete"):
            self._state.out.append(Finish(0, reason, self._raw_reason))

    def _reason(self, status: EndStatus) -> FinishReason | None:
        if status == "completed":
            return "stop"
        if status == "incomplete":
            reason = meaning(self._raw_reason or "").reason
            return reason if reason in ("length", "content_filter") else "other"
        return "error" if status == "failed" else None
