"""The ledger of parts: the only code that emits Start, Delta and End. It knows the grammar, and no policy.

Parts are numbered in order of their Start. Within one choice text, reasoning and refusal ("prose") do not overlap: the
Start of one ends the other. On the chat wire the Start of any part ends them (`exclusive`).
"""

from __future__ import annotations

from itertools import repeat
from typing import Any, Literal

from ..events import (
    Event,
    MediaDelta,
    MediaEnd,
    MediaStart,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningKind,
    ReasoningStart,
    RefusalDelta,
    RefusalEnd,
    RefusalStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    ToolKind,
    ToolStatus,
)
from ..json_codec import clean
from .limits import MAX_PARTS
from .snapshots import Digest, Kept, Pieces

PartKind = Literal["text", "reasoning", "refusal", "tool_call", "media"]
_TAIL = 32
"""Characters of the last piece that tell how it ends."""
REPLACEMENT = "\ufffd"
_MANY = 8
"""So many deltas, and a map is worth being set up."""
_DELTA_OF: dict[PartKind, type[Any]] = {
    "text": TextDelta,
    "reasoning": ReasoningDelta,
    "refusal": RefusalDelta,
    "tool_call": ToolCallDelta,
}
"""The events that are made of a text, a part and a choice."""
_NAME_OF = {kind: made("", 0, 0).type for kind, made in _DELTA_OF.items()}
new = object.__new__
"""Makes an event without its `__init__`, the call of which costs as much as its fields: for where most time goes."""


class TooManyPartsError(Exception):
    """A stream wants more parts than anyone needs; caught where the frame is read."""


class Part:
    """One part from its Start to its End."""

    __slots__ = (
        "call",
        "choice",
        "delta_name",
        "delta_type",
        "half",
        "id",
        "is_open",
        "kind",
        "number",
        "pieces",
        "thought",
    )

    def __init__(self, number: int, choice: int, kind: PartKind, collect: bool) -> None:
        """`collect`: keep the deltas for the End."""
        self.number = number
        self.choice = choice
        self.kind = kind
        self.delta_type = _DELTA_OF.get(kind, TextDelta)
        self.delta_name = _NAME_OF.get(kind, "")
        self.id: str | None = None
        self.is_open = True
        self.pieces: Pieces = Kept() if collect else Digest()
        self.half = ""
        self.thought: tuple[ReasoningKind, str | None, str | None] = ("raw", None, None)
        self.call: tuple[str, str, ToolKind] = ("", "", "function")

    def may_end_object(self) -> bool:
        """Whether the last piece ends as an object does; blanks tell nothing."""
        tail = self.pieces[-1][-_TAIL:] if isinstance(self.pieces, Kept) and self.pieces else ""
        return tail.rstrip().endswith("}") or not tail.strip()

    def text(self) -> str | None:
        """All deltas so far, or None where they are not kept."""
        return self.pieces.text()


class Parts:
    """Opens, feeds and ends parts, and writes the events of all of them to `out`."""

    def __init__(self, out: list[Event], *, collect: bool) -> None:
        """`out` is where events go; `collect`: whether the Ends of text carry it."""
        self.out = out
        self.exclusive = False
        self.careful = False
        """A frame held lone surrogates: from now on deltas are looked at, so that split pairs are joined."""
        self.count = 0
        self.closing = False
        """The stream ends: what was held may still become parts."""
        self._promised = 0
        self.open: dict[int, Part] = {}
        self.choices: set[int] = set()
        """The choices that had a part."""
        self._prose: dict[int, Part] = {}
        self._collect = collect

    # -- starts -------------------------------------------------------------------------------------------------------

    def start_text(self, choice: int, id: str | None = None, phase: str | None = None) -> Part:
        """A text part; open prose of the choice ends."""
        part = self._start(choice, "text", id)
        self.out.append(TextStart(part.number, choice, id, phase))
        return part

    def start_reasoning(self, choice: int, id: str | None = None, kind: ReasoningKind = "raw") -> Part:
        """A reasoning part; open prose of the choice ends."""
        part = self._start(choice, "reasoning", id)
        part.thought = (kind, None, None)
        self.out.append(ReasoningStart(part.number, choice, id, kind))
        return part

    def start_refusal(self, choice: int, id: str | None = None) -> Part:
        """A refusal part; open prose of the choice ends."""
        part = self._start(choice, "refusal", id)
        self.out.append(RefusalStart(part.number, choice, id))
        return part

    def start_call(
        self, choice: int, id: str | None, call_id: str, name: str, kind: ToolKind, item_type: str | None
    ) -> Part:
        """A tool call whose name and id are final."""
        part = self._start(choice, "tool_call", id)
        part.call = (call_id, name, kind)
        self.out.append(ToolCallStart(part.number, choice, id, call_id, name, kind, item_type))
        return part

    def start_media(self, choice: int, id: str | None, media_type: str | None) -> Part:
        """An image or audio."""
        part = self._start(choice, "media", id)
        self.out.append(MediaStart(part.number, choice, id, media_type))
        return part

    def promise(self) -> None:
        """One part more is to come; a call promises its part when it is first heard of.

        Raises:
            TooManyPartsError: the stream has enough of them, and is not at its end.
        """
        if self._promised >= MAX_PARTS and not self.closing:
            raise TooManyPartsError
        self._promised += 1

    def _start(self, choice: int, kind: PartKind, id: str | None) -> Part:
        if kind != "tool_call":
            self.promise()
        is_prose = kind in ("text", "reasoning", "refusal")
        if (is_prose or self.exclusive) and choice in self._prose:
            self.end(self._prose[choice])
        part = Part(self.count, choice, kind, self._collect or kind in ("tool_call", "media"))
        part.id = id
        self.count += 1
        self.choices.add(choice)
        self.open[part.number] = part
        if is_prose:
            self._prose[choice] = part
        return part

    # -- deltas -------------------------------------------------------------------------------------------------------

    def text(self, part: Part, delta: str, logprobs: list[object] | None = None) -> None:
        """More text. An empty delta says nothing, unless log probabilities come with it."""
        if self.careful:
            delta = self._join_halves(part, delta)
            if not delta:
                return
        part.pieces.append(delta)
        self.out.append(TextDelta(delta, part.number, part.choice, logprobs))

    def reasoning(self, part: Part, delta: str) -> None:
        """More thought."""
        if self.careful:
            delta = self._join_halves(part, delta)
            if not delta:
                return
        part.pieces.append(delta)
        self.out.append(ReasoningDelta(delta, part.number, part.choice))

    def refusal(self, part: Part, delta: str) -> None:
        """More of a refusal."""
        if self.careful and not (delta := self._join_halves(part, delta)):
            return
        part.pieces.append(delta)
        self.out.append(RefusalDelta(delta, part.number, part.choice))

    def arguments(self, part: Part, delta: str) -> None:
        """More of a call's arguments, kept whatever `collect` says."""
        if self.careful and not (delta := self._join_halves(part, delta)):
            return
        part.pieces.append(delta)
        self.out.append(ToolCallDelta(delta, part.number, part.choice))

    def texts(self, part: Part, texts: list[str]) -> None:
        """Several deltas of text in a row, none of them empty."""
        if self.careful or len(texts) == 1:
            for text in texts:
                self.text(part, text)
        else:
            self.out += self.deltas(part, texts, "".join(texts))

    def deltas(self, part: Part, texts: list[str], joined: str) -> list[Event]:
        """Several deltas of text, reasoning or arguments; none is empty, and the ledger is not `careful`.

        They are not told: that is for whoever asks for them.
        """
        part.pieces.append(joined)
        delta_type, number, choice = part.delta_type, part.number, part.choice
        if len(texts) <= _MANY:
            return [delta_type(text, number, choice) for text in texts]
        events: list[Any] = list(map(new, repeat(delta_type, len(texts))))
        name = part.delta_name
        for event, text in zip(events, texts, strict=True):
            event.delta = text
            event.part = number
            event.choice = choice
            event.type = name
        if delta_type is TextDelta:
            for event in events:
                event.logprobs = None
        return events

    def media(self, part: Part, data: str | None, transcript: str | None) -> None:
        """More of an image or audio; its data is kept."""
        if data:
            part.pieces.append(data)
        self.out.append(MediaDelta(part.number, part.choice, data, transcript))

    def _join_halves(self, part: Part, delta: str) -> str:
        """Halves of a surrogate pair that two deltas share are joined; a half that stays alone becomes U+FFFD."""
        if not part.half and delta.isascii():
            return delta
        delta = part.half + delta
        part.half = ""
        if delta and "\ud800" <= delta[-1] <= "\udbff":
            part.half = delta[-1]
            delta = delta[:-1]
        return join_surrogates(delta)

    # -- ends ---------------------------------------------------------------------------------------------------------

    def end(self, part: Part) -> None:
        """The End of a text, reasoning or refusal part; a part that is over already stays so."""
        if not part.is_open:
            return
        self.flush_half(part)
        self._close(part)
        text = part.text()
        if part.kind == "text":
            self.out.append(TextEnd(text, part.number, part.choice))
        elif part.kind == "reasoning":
            kind, signature, encrypted = part.thought
            self.out.append(ReasoningEnd(text, part.number, part.choice, kind, signature, encrypted))
        else:
            self.out.append(RefusalEnd(text, part.number, part.choice))

    def end_call(self, part: Part, kind: ToolKind, arguments: str, status: ToolStatus, signature: str | None) -> None:
        """The End of a tool call."""
        call_id, name, _ = part.call
        self._close(part)
        self.out.append(ToolCallEnd(part.number, part.choice, call_id, name, kind, arguments, status, signature))

    def end_media(self, part: Part, data: str | None, url: str | None, transcript: str | None) -> None:
        """The End of an image or audio."""
        self._close(part)
        self.out.append(MediaEnd(part.number, part.choice, data, url, transcript))

    def end_prose(self, choice: int) -> None:
        """The open text, reasoning or refusal of a choice ends."""
        if part := self._prose.get(choice):
            self.end(part)

    def prose(self, choice: int) -> Part | None:
        """The open text, reasoning or refusal of a choice."""
        return self._prose.get(choice)

    def flush_half(self, part: Part) -> None:
        """Half a surrogate pair whose other half never came becomes U+FFFD."""
        if not part.half:
            return
        part.half = ""
        part.pieces.append(REPLACEMENT)
        number, choice = part.number, part.choice
        if part.kind == "text":
            self.out.append(TextDelta(REPLACEMENT, number, choice))
        elif part.kind == "reasoning":
            self.out.append(ReasoningDelta(REPLACEMENT, number, choice))
        elif part.kind == "refusal":
            self.out.append(RefusalDelta(REPLACEMENT, number, choice))
        else:
            self.out.append(ToolCallDelta(REPLACEMENT, number, choice))

    def compact(self) -> None:
        """Join what is kept: to be called now and then, some thousand deltas apart."""
        for part in self.open.values():
            if isinstance(part.pieces, Kept):
                part.pieces.compact()

    def _close(self, part: Part) -> None:
        part.is_open = False
        self.open.pop(part.number, None)
        if self._prose.get(part.choice) is part:
            del self._prose[part.choice]


def join_surrogates(text: str) -> str:
    """Pairs of surrogates become the character they stand for; lone ones become U+FFFD."""
    return clean(text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass"))
