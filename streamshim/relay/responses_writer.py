"""Our own events in a relayed Responses stream, in the manner of the vendor's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from ..decode.items import family_of
from ..encode.calls import ClientCall
from ..encode.output import Item
from ..encode.prose import REFUSAL, SUMMARY, TEXT, THOUGHT, ProsePart
from ..encode.responses import ResponsesEncoder
from ..events import ErrorReport, Event, ReasoningStart, RefusalStart, StreamEnd, TextStart, ToolProgress

_SPELLINGS = {"output_text": TEXT, "refusal": REFUSAL, "summary_text": SUMMARY, "reasoning_text": THOUGHT["text"]}
"""How the parts of a vendor are spelled, by their type."""


class ResponsesWriter(ResponsesEncoder):
    """Our own events, in the manner of the vendor's."""

    _BEGINNING = ("created",)

    def __init__(self, *, make_id: Callable[[str], str] | None) -> None:
        """Thought is spelled as the vendor spells it."""
        super().__init__(reasoning="text", done=False, truncated="silent", make_id=make_id)
        self._others: dict[str, Item] = {}
        self._announced: dict[tuple[str, str], ProsePart] = {}
        """Parts that no event told of yet, by item and type."""
        self._has_told_error = False

    @property
    def has_begun(self) -> bool:
        """Whether the response was created."""
        return self._begun

    @property
    def has_items(self) -> bool:
        """Whether any item was announced."""
        return bool(self._output.items)

    @property
    def id(self) -> str:
        """The id of the response."""
        return str(self._object.shown("")["id"])

    def _take(self, event: Event) -> None:
        """As any encoder, but an error is told at once, and then nothing but that the response has failed."""
        if not self._has_told_error or event.type in ("usage_report", "stream_end"):
            super()._take(event)

    def prose(self, part: int) -> ProsePart | None:
        """A part that is open, if it is one of prose."""
        found = self._parts.get(part)
        return found if isinstance(found, ProsePart) else None

    def announce(self, raw: dict[str, Any]) -> list[bytes]:
        """An item that is announced before any event tells of it; calls wait until their names are certain."""
        item_type, family = raw["type"], family_of(raw["type"])
        if family == "message":
            phase = raw.get("phase") or None
            labels = {"phase": phase} if phase else {}
            self._output.prose("message", raw["id"], phase, role="assistant", content=[], **labels)
        elif family == "reasoning":
            self._output.prose("reasoning", raw["id"], summary=[])
        elif family == "other" and raw["id"] not in self._others:
            members = {key: value for key, value in raw.items() if key not in ("id", "type")}
            self._others[raw["id"]] = self._output.announce(item_type, raw["id"], **members)
        return self._taken()

    def open_part(self, item_id: str, index: int, part_type: str) -> list[bytes]:
        """A part that is announced before any event tells of it."""
        item, spelling = self._output.open_prose(item_id), _SPELLINGS[part_type]
        key = item_id, part_type
        if item is not None and not item.open_parts and len(item.shown.get(spelling.home, ())) == index:
            self._announced[key] = ProsePart(self._output, item, spelling)
        return self._taken()

    def finish_part(self, item_id: str, part_type: str) -> list[bytes]:
        """A part that is over, and of which no event told: it is empty."""
        if (part := self._announced.pop((item_id, part_type), None)) is not None:
            part.abandon()
        return self._taken()

    def finish_input(self, item_id: str, whole: str) -> list[bytes]:
        """The input of a call is over."""
        for part in self._parts.values():
            if isinstance(part, ClientCall) and part.id == item_id:
                part.end_input(whole)
        return self._taken()

    def finish_item(self, raw: dict[str, Any]) -> list[bytes]:
        """An item is over, as the vendor says."""
        if (item := self._others.pop(raw["id"], None)) is not None:
            item.shown.update(raw)
            self._output.close(item, raw.get("status") or "completed")
        else:
            self._output.finish_prose(raw["id"])
        return self._taken()

    def _taken(self) -> list[bytes]:
        frames = self._frames[:]
        self._frames.clear()
        return frames

    def _on_text_start(self, event: TextStart) -> None:
        if not self._claims(event, "output_text"):
            super()._on_text_start(event)
        elif isinstance(part := self._parts[event.part], ProsePart):
            self._texts[event.part] = part

    def _on_refusal_start(self, event: RefusalStart) -> None:
        if not self._claims(event, "refusal"):
            super()._on_refusal_start(event)

    def _on_reasoning_start(self, event: ReasoningStart) -> None:
        types = {"summary": "summary_text", "raw": "reasoning_text"}
        if not self._claims(event, types.get(event.kind, "")):
            super()._on_reasoning_start(event)

    def _claims(self, event: TextStart | RefusalStart | ReasoningStart, part_type: str) -> bool:
        """Whether the part that begins was announced."""
        part = self._announced.pop((event.id or "", part_type), None)
        if part is not None:
            self._parts[event.part] = part
        return part is not None

    def _on_tool_progress(self, event: ToolProgress) -> None:
        """The answer of a tool is an item; the vendor may have announced it."""
        data = event.data if isinstance(event.data, dict) else {}
        if data.get("id") not in self._others:
            super()._on_tool_progress(event)

    def _on_error_report(self, event: ErrorReport) -> None:
        error = self._error = event.error
        self._has_told_error = True
        said = {"code": error.code or error.type, "message": error.message, "param": error.param}
        self._output.write("error", **said, error={"type": error.type or "server_error", **said})

    def _on_stream_end(self, event: StreamEnd) -> None:
        if self._has_told_error:
            self._parts.clear()
            self._output.leave_open()
        for part in self._announced.values() if not self._has_told_error else ():
            part.abandon()
        super()._on_stream_end(event)

    _HANDLERS: ClassVar[dict[str, Callable[[Any, Any], None]]] = {
        **ResponsesEncoder._HANDLERS,
        "text_start": _on_text_start,
        "refusal_start": _on_refusal_start,
        "reasoning_start": _on_reasoning_start,
        "tool_progress": _on_tool_progress,
        "error_report": _on_error_report,
        "stream_end": _on_stream_end,
    }
