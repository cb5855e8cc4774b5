r"""Frames known by sight: the successive frames of a stream are byte-equal around the text.

After a frame was parsed in full, went straight into an open part and made exactly one delta, its bytes are a template:
literals around slots. A slot is the text, or a value that the decoder ignores by contract (`obfuscation`, `p`,
`sequence_number`). The frames that follow with the same literals need no parse: the text is what stands in the slot.

Why this gives what the parse would give:

* A slot is accepted after a *proof by substitution*: with another value in it the frame parses to the same payload but
  for that one value. So duplicate keys and look-alikes inside of strings are no slots.
* Literals are compared in full, the `event:` line and the blank line included. A frame that fits parses to the proven
  payload with another text; what else it says was said by the frame before it, and saying it again changes nothing.
* Only the template of the frame that was parsed last is active, so nothing has happened since that could change where
  its text goes. The one thing that depends on the text is asked here (`Rule`).
* A text slot holds what orjson takes for a string (paired escapes only); an ignored slot holds plain ASCII or a number.

Whole blocks are read at once: a *skeleton* pattern, which skips literals by their length, captures the slots; the block
that these and the literals make up must be equal to what came; and all texts are parsed as one array.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ..events import Event, ReasoningDelta, TextDelta, ToolCallDelta
from ..framing.blocks import Blocks, end_of_event
from ..json_codec import loads
from .many_slots import ManySlots
from .one_slot import OneSlot
from .parts import Part
from .shapes import (
    BEGIN_BEHIND_WHOLE,
    IS_SLOT,
    LONGEST_KNOWN,
    LONGEST_LITERALS,
    ReadFew,
    ReadOne,
    Rule,
    Shape,
    SlotKind,
)
from .stream_state import StreamState

_PATIENCE = 24
"""Frames before the first try: what learning costs, a parse or twenty, is earned back by then or never."""
_EAGER = 6
"""Frames before the first try where so many lie ahead that it is worth it: those that open a stream teach nothing."""
_PLENTY = 32 * 1024
"""Bytes that lie ahead in one block."""
_MOST_PATIENCE = 4096
_MISSES = 2
"""So many frames in a row that do not fit, or teach nothing, and the shape changes too often."""
_ENOUGH_HITS = 16
_KNOWN = 4
"""Templates that are kept: thought, text and calls may take turns."""
_FEW = 6
"""Frames in a piece that are sooner read one after another than all at once."""
_FIRST_WINDOW, _LAST_WINDOW = 4 * 1024, 32 * 1024
"""Bytes that are matched at once: more with every success, so that a frame that does not fit costs little. Of larger
ones the copies would be fresh memory each time, which costs more than to compare them."""
_TYPICAL_FRAME = 384
"""Bytes; only to guess how far it is to the frame that is worth a try."""
_MEMBER = re.compile(
    rb'"(?:content|reasoning|reasoning_content|arguments|delta|obfuscation|p|sequence_number)"\s*:\s*'
    rb'(?:"((?:[^"\\]|\\.)*+)"|(\d++))'
)
_TEXT_PLACES = {
    ("delta",),
    *(("choices", "#", "delta", member) for member in ("content", "reasoning", "reasoning_content")),
    ("choices", "#", "delta", "tool_calls", "#", "function", "arguments"),
}
"""Where the wires have their deltas; `#` is any index."""
_IGNORED: dict[tuple[str | int, ...], SlotKind] = {
    ("obfuscation",): "string",
    ("p",): "string",
    ("sequence_number",): "number",
}


class Templates:
    """The door: `one`, `take_piece` and `take` read by sight, `next` says how far to read in full, `learn` what from.

    It stands between the bytes and the parse; neither the wires nor the ledger know of it.
    """

    def __init__(self, state: StreamState, blocks: Blocks) -> None:
        """`state`: where events are told; `blocks`: where the beginning of an event is held."""
        self.one: ReadOne | None = None
        """The delta of a piece that is just one frame that fits, if such a piece may come: nothing else is told."""
        self._state = state
        self._blocks = blocks
        self.active: Shape | None = None
        """The shape that the next frame may have."""
        self._part: Part | None = None
        self._one: ReadOne | None = None
        self._few: ReadFew | None = None
        self._known: list[Shape] = []
        self._wait_until = self._patience = _PATIENCE
        self._misses = 0
        self._learned_at = 0
        self._window = _FIRST_WINDOW
        self._previous = b""
        self._is_single = False
        self._events_before = 0
        self._repairs_before = 0

    @property
    def sequence_number(self) -> int | None:
        """That of the frame that was read last, on a wire that counts its frames."""
        number = self._state.sequence_number
        return number if number is None or self.active is None or self.active.number is None else self.active.number

    def forget(self) -> None:
        """Something else was read: it may have changed what the next frame means."""
        self._keep_number()
        self.active = self.one = None

    def _keep_number(self) -> None:
        """The last sequence number is the stream's, before a frame that is read in full gives the next."""
        self._state.sequence_number = self.sequence_number
        if self.active is not None:
            self.active.number = None

    def take_piece(self, data: bytes) -> tuple[list[Event], bytes]:
        """Read what fits of a piece, and hold what may fit with the next one; its events, and what is left of it."""
        template, blocks = self.active, self._blocks
        events: list[Event] = []
        if template is None:
            return events, data
        position = 0
        if blocks.rest:
            if len(data) > _LAST_WINDOW:
                position = self._take_first(data, events)
            if not position:
                data = blocks.rest + data
            blocks.rest = b""
        if self._few is not None and not position and len(data) <= _FEW * template.fixed:
            rest = data[self._few(data, events) :]
        else:
            rest = data[self._take(data, position, events) :]
        state = self._state
        if state.repairs.frame >= state.compact_at:
            state.compact()
        if not template.may_become(rest):
            rest = rest[self._take(rest, 0, events) :]
            if not template.may_become(rest):
                return events, rest
        blocks.rest = rest
        self.one = None if rest else self._one
        return events, b""

    def _take_first(self, data: bytes, out: list[Event]) -> int:
        """Read the frame whose beginning is held, so that a large piece need not be copied; the position behind it."""
        rest = self._blocks.rest
        taken = self._take(rest + data[: data.find(b"\n\n", 0, LONGEST_KNOWN) + 2], 0, out)
        return taken - len(rest) if taken else 0

    def take(self, data: bytes, position: int) -> int:
        """Read frames from there as long as they fit; the position behind them."""
        return self._take(data, position, self._state.out)

    def _take(self, data: bytes, position: int, out: list[Event]) -> int:
        template, part = self.active, self._part
        if template is None or part is None:
            return position
        size, fixed, rule, window = len(data), template.fixed, template.rule, self._window
        while size - position > fixed:
            known = template.read(data[position : position + window] if position or size > window else data)
            texts = known[0]
            joined = "".join(texts)
            if rule == "arguments" or (rule == "no tag" and "<" in joined):
                allowed = self._allowed(texts, rule, part)
                if allowed < len(texts):
                    known = template.cut(known, allowed)
                    texts = known[0]
                    joined = "".join(texts)
            if not texts:
                if size - position > _FIRST_WINDOW:
                    window = _FIRST_WINDOW
                break
            if template.numbered:
                template.keep_number(known)
            out += self._state.parts.deltas(part, texts, joined)
            self._state.repairs.frame += len(texts)
            position += known[2]
            if window < _LAST_WINDOW:
                window *= 2
        self._window = window
        return position

    @staticmethod
    def _allowed(texts: list[str], rule: Rule, part: Part) -> int:
        """How many texts stand before the first one that needs a decision."""
        if rule == "no tag":
            return next(index for index, text in enumerate(texts) if "<" in text)
        may_be_whole = part.may_end_object()
        for index, text in enumerate(texts):
            if may_be_whole and text[0] in BEGIN_BEHIND_WHOLE:
                return index
            may_be_whole = (text.rstrip() or "}")[-1] == "}"
        return len(texts)

    def rests(self, block: bytes) -> bool:
        """Whether it is too early to learn from a block."""
        return (self._wait_until - self._state.repairs.frame) * _TYPICAL_FRAME > len(block)

    def next(self, block: bytes, position: int) -> int:
        """How far to read in full before the next try to learn: mostly one frame."""
        self._keep_number()
        state = self._state
        wait = self._wait_until - state.repairs.frame
        if self._wait_until == _PATIENCE and len(block) - position > _PLENTY:
            wait = min(wait, _EAGER - state.repairs.frame)
        self._is_single = wait <= 0
        end = end_of_event(block, position if wait <= 0 else position + wait * _TYPICAL_FRAME)
        if end < 0:
            return len(block)
        self._events_before = len(state.out)
        self._repairs_before = sum(state.repairs.counts.values())
        return end

    def learn(self, frame: bytes, straight: bool) -> None:
        """The frame was read in full; `straight`: the wire needed no decision for it."""
        state = self._state
        has_hit = self.active is not None and state.repairs.frame - self._learned_at >= _ENOUGH_HITS
        self.forget()
        if not self._is_single:
            return
        if has_hit:
            self._misses = 0
            self._patience = _PATIENCE
        made = state.out[self._events_before :]
        unchanged = sum(state.repairs.counts.values()) == self._repairs_before
        if straight and unchanged and len(made) == 1 and not state.parts.careful:
            event = made[0]
            may_hold_calls = state.tool_markup and isinstance(event, TextDelta)
            if isinstance(event, TextDelta | ReasoningDelta | ToolCallDelta) and not may_hold_calls:
                self._activate(self._find(frame, event), state.parts.open.get(event.part))
                self._previous = frame
        self._misses += 1
        if self._misses > _MISSES:
            self.forget()
            self._misses = 0
            self._wait_until = state.repairs.frame + self._patience
            self._patience = min(2 * self._patience, _MOST_PATIENCE)

    def _activate(self, template: Shape | None, part: Part | None) -> None:
        if template is not None and part is not None:
            self.active, self._part = template, part
            template.number = self._state.sequence_number if template.numbered else None
            self._one = self.one = template.read_one(part, self._state)
            self._few = template.read_few(part, self._state)
            self._learned_at = self._state.repairs.frame

    def _find(self, frame: bytes, event: TextDelta | ReasoningDelta | ToolCallDelta) -> Shape | None:
        """The template that the frame fits, or a new one."""
        for template in self._known:
            if template.read(frame)[0]:
                return template
        learned = learn_template(frame, self._previous, event)
        if learned is not None:
            self._known = [learned, *self._known[: _KNOWN - 1]]
        return learned


def learn_template(frame: bytes, previous: bytes, event: TextDelta | ReasoningDelta | ToolCallDelta) -> Shape | None:
    """The template of a frame that made one event, if its text is found and every slot is proven.

    Nothing is proven where the previous frame does not begin and end as this one does: so the next one will not.
    """
    members = list(_MEMBER.finditer(frame)) if previous else []
    if not members or (isinstance(event, TextDelta) and event.logprobs):
        return None
    first, last = members[0], members[-1]
    begins = previous.startswith(frame[: first.start(first.lastindex or 1)])
    if not begins or not previous.endswith(frame[last.end(last.lastindex or 1) :]):
        return None
    payload = _payload(frame)
    literals: list[bytes] = []
    kinds: list[SlotKind] = []
    rule: Rule = "arguments" if isinstance(event, ToolCallDelta) else "any"
    end = 0
    for match in members:
        group = match.lastindex or 1
        start = match.start(group)
        other = _payload(frame[:start] + b"1" + frame[start:])
        differences = list(_differences(payload, other))
        if len(differences) != 1:
            continue
        path, value = differences[0]
        kind = _IGNORED.get(path)
        if (
            kind is None
            and value == f"1{event.delta}"
            and tuple("#" if isinstance(step, int) else step for step in path) in _TEXT_PLACES
        ):
            kind = "text"
            if path[-1] == "content":
                rule = "no tag"
        if kind is not None and (kind == "number") == (group == 2) and IS_SLOT[kind](match[group]):
            literals.append(frame[end:start])
            kinds.append(kind)
            end = match.end(group)
    literals.append(frame[end:])
    if "text" not in kinds or len(set(kinds)) < len(kinds) or sum(map(len, literals)) > LONGEST_LITERALS:
        return None
    return OneSlot(literals, kinds, rule) if len(kinds) == 1 else ManySlots(literals, kinds, rule)


def _payload(frame: bytes) -> Any:
    """What the one data line of a frame says, or None."""
    lines = [line[5:] for line in frame.split(b"\n") if line.startswith(b"data:")]
    try:
        return loads(lines[0]) if len(lines) == 1 else None
    except ValueError:
        return None


def _differences(one: Any, other: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Where two payloads differ, and what the other one says there."""
    if isinstance(one, dict) and isinstance(other, dict) and list(one) == list(other):
        for key, value in one.items():
            yield from _differences(value, other[key], (*path, key))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for index, value in enumerate(one):
            yield from _differences(value, other[index], (*path, index))
    elif one != other or type(one) is not type(other):
        yield path, other
