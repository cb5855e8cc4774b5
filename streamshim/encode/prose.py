"""Text, refusal and thought on the Responses wire."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..events import (
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    RefusalDelta,
    RefusalEnd,
    RefusalStart,
    TextDelta,
    TextEnd,
    TextStart,
)
from .details import written_logprobs
from .options import ResponsesReasoning
from .output import Output, ProseItem


@dataclass(frozen=True, slots=True)
class Spelling:
    """How one kind of prose is written."""

    part_type: str
    text_member: str
    family: str
    """Of the events that carry its words."""
    part_family: str
    """Of the events that open and close it."""
    index: str
    home: str
    """The member of the item that its parts stand in."""
    extras: tuple[str, ...] = ()
    """Lists that the part has besides its words."""


_EXTRAS = ("annotations", "logprobs")
TEXT = Spelling(
    "output_text", "text", "response.output_text", "response.content_part", "content_index", "content", _EXTRAS
)
REFUSAL = Spelling("refusal", "refusal", "response.refusal", "response.content_part", "content_index", "content")
SUMMARY = Spelling(
    *("summary_text", "text", "response.reasoning_summary_text", "response.reasoning_summary_part"),
    *("summary_index", "summary"),
)
_RAW = ("response.content_part", "content_index", "content")
THOUGHT = {
    "summary": SUMMARY,
    "text": Spelling("reasoning_text", "text", "response.reasoning_text", *_RAW),
    "open_responses": Spelling("reasoning_text", "text", "response.reasoning", *_RAW),
}
"""How raw thought is spelled, by the option `reasoning`."""


class ProsePart:
    """A content part or a summary part of an item."""

    def __init__(self, output: Output, item: ProseItem, spelling: Spelling) -> None:
        """Announces it."""
        self.item = item
        self.annotations: list[dict[str, Any]] = []
        self.is_open = True
        self._output = output
        self._spelling = spelling
        self._pieces: list[str] = []
        self._logprobs: list[dict[str, Any]] = []
        parts = item.shown.setdefault(spelling.home, [])
        self._place = {**item.place, spelling.index: len(parts)}
        self._shown: dict[str, Any] = {"type": spelling.part_type, spelling.text_member: ""}
        self._shown.update({extra: [] for extra in spelling.extras})
        parts.append(self._shown)
        item.open_parts += 1
        extras: dict[str, Any] = {"logprobs": []} if spelling.extras else {}
        self._deltas = output.deltas(f"{spelling.family}.delta", self._place, **extras)
        output.write(f"{spelling.part_family}.added", **self._place, part=self._shown)

    def delta(self, event: TextDelta | RefusalDelta | ReasoningDelta) -> None:
        """More words."""
        if not event.delta:
            return
        self._pieces.append(event.delta)
        spelling = self._spelling
        if spelling.extras and isinstance(event, TextDelta) and event.logprobs:
            logprobs = written_logprobs(event.logprobs)
            self._logprobs += logprobs
            self._output.write(f"{spelling.family}.delta", **self._place, delta=event.delta, logprobs=logprobs)
        else:
            self._deltas.write(event.delta)

    def annotate(self, annotation: dict[str, Any]) -> None:
        """A source: told at once while the part is open, else with the item."""
        index = len(self.annotations)
        self.annotations.append(annotation)
        if self.is_open:
            self._output.write(
                "response.output_text.annotation.added",
                **self._place,
                annotation_index=index,
                annotation=annotation,
            )

    def end(self, event: TextEnd | RefusalEnd | ReasoningEnd) -> None:
        """All of it, once more."""
        if isinstance(event, ReasoningEnd) and event.encrypted:
            self.item.shown["encrypted_content"] = event.encrypted
        self.abandon()

    def abandon(self) -> None:
        """As `end`, with what came."""
        spelling, text = self._spelling, "".join(self._pieces)
        extras = {"logprobs": self._logprobs} if spelling.extras else {}
        self._shown[spelling.text_member] = text
        if spelling.extras:
            self._shown.update(annotations=self.annotations, **extras)
        self._output.write(f"{spelling.family}.done", **self._place, **{spelling.text_member: text}, **extras)
        self._output.write(f"{spelling.part_family}.done", **self._place, part=self._shown)
        self.is_open = False
        self.item.open_parts -= 1


class SilentThought:
    """Thought that is not shown: its item stands for it, and may carry what is encrypted."""

    def __init__(self, item: ProseItem, drop: Callable[[str], None]) -> None:
        """`drop` counts the words that are left out."""
        self._item = item
        self._drop = drop

    def delta(self, event: ReasoningDelta) -> None:
        """Words that nobody sees."""
        self._drop(event.type)

    def end(self, event: ReasoningEnd) -> None:
        """What is encrypted stays; of several the last counts."""
        if event.encrypted:
            self._item.shown["encrypted_content"] = event.encrypted

    def abandon(self) -> None:
        """Nothing is owed."""


class Prose:
    """Opens the parts of messages and reasoning items."""

    def __init__(
        self, output: Output, drop: Callable[[str], None], reasoning: ResponsesReasoning, *, refusal_as_text: bool
    ) -> None:
        """`reasoning` and `refusal_as_text` are the options of the encoder."""
        self._output = output
        self._drop = drop
        self._reasoning = reasoning
        self._refusal = TEXT if refusal_as_text else REFUSAL

    def text(self, start: TextStart) -> ProsePart:
        """A piece of the answer."""
        phase = start.phase or None
        labels: dict[str, Any] = {"phase": phase} if phase else {}
        item = self._output.prose("message", start.id, phase, role="assistant", content=[], **labels)
        return ProsePart(self._output, item, TEXT)

    def refusal(self, start: RefusalStart) -> ProsePart:
        """A refusal; it goes into the message that is open, whatever its phase."""
        item = self._output.prose("message", start.id, any_phase=True, role="assistant", content=[])
        return ProsePart(self._output, item, self._refusal)

    def reasoning(self, start: ReasoningStart) -> ProsePart | SilentThought:
        """A thought."""
        item = self._output.prose("reasoning", start.id, summary=[])
        if start.kind == "encrypted" or self._reasoning == "none":
            return SilentThought(item, self._drop)
        spelling = SUMMARY if start.kind == "summary" else THOUGHT[self._reasoning]
        return ProsePart(self._output, item, spelling)
