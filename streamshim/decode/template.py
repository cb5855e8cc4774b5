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
  its text goes. The one thing that depends on the text is asked here (`_Rule`).
* A text slot holds what orjson takes for a string (paired escapes only); an ignored slot holds plain ASCII or a number.

Whole blocks are read at once: a *skeleton* pattern, which skips literals by their length, captures the slots; the block
that these and the literals make up must be equal to what came; and all texts are parsed as one array.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, Literal

from ..events import Event, ReasoningDelta, TextDelta, ToolCallDelta
from ..framing.blocks import LONGEST_BEGINNING, Blocks
from ..json_codec import loads
from .parts import Part
from .stream_state import COMPACT_FRAMES, StreamState

_PATIENCE = 32
"""Frames before the first try: what learning costs, a parse or twenty, is earned back by then or never."""
_MOST_PATIENCE = 4096
_MISSES = 2
"""So many frames in a row that do not fit, or teach nothing, and the shape changes too often."""
_ENOUGH_HITS = 16
_KNOWN = 4
"""Templates that are kept: thought, text and calls may take turns."""
_FIRST_WINDOW, LONGEST_KNOWN = 4 * 1024, 128 * 1024
"""Bytes that are matched at once: more with every success, so that a frame that does not fit costs little. None of
them is too long for a frame: a reader who wants shorter ones is served by the parse alone."""

_LINE_FEED = 0x0A
_TYPICAL_FRAME = 384
"""Bytes; only to guess how far it is to the frame that is worth a try."""
SlotKind = Literal["text", "string", "number"]
_Rule = Literal["any", "no tag", "arguments"]
"""Which texts go straight: content without "<"; arguments that cannot stand behind a whole object."""

_PATTERN: dict[SlotKind, bytes] = {
    "text": rb'(?!")([^"\\\x00-\x1f]*+(?:\\.[^"\\\x00-\x1f]*+)*+)',
    "string": rb"([ !#-\[\]-~]*+)",
    "number": rb"([1-9][0-9]{0,15}+)",
}
_MEMBER = re.compile(
    rb'"(?:content|reasoning|reasoning_content|arguments|delta|obfuscation|p|sequence_number)"\s*:\s*'
    rb'(?:"((?:[^"\\]|\\.)*+)"|(\d++))'
)
_WHOLE = {kind: re.compile(pattern).fullmatch for kind, pattern in _PATTERN.items()}
_TEXT_PLACES = {
    ("delta",),
    *(("choices", "#", "delta", member) for member in ("content", "reasoning", "reasoning_content")),
    ("choices", "#", "delta", "tool_calls", "#", "function", "arguments"),
}
"""Where the wires have their deltas; `#` is any index."""
_BEGIN_BEHIND_WHOLE = '{"'
"""What stands behind a whole argument object begins so: a second object, or the first one in quotes."""
_IGNORED: dict[tuple[str | int, ...], SlotKind] = {
    ("obfuscation",): "string",
    ("p",): "string",
    ("sequence_number",): "number",
}
Split = Callable[[bytes], list[Any]]


@lru_cache(maxsize=256)
def _skeleton(lengths: tuple[int, ...], kinds: tuple[SlotKind, ...]) -> Split:
    """Splits a block into the slots of its frames; where the shape ends, the rest is one match without slots."""
    pieces = [rb"(?s:.{%d})" % lengths[0]]
    for kind, length in zip(kinds, lengths[1:], strict=True):
        pieces += [_PATTERN[kind], rb"(?s:.{%d})" % length]
    return re.compile(b"".join(pieces) + rb"|(?s:.+)").split


class Template:
    """The shape of a frame, and what its slots mean."""

    __slots__ = (
        *("_end", "_first", "_form", "_glue", "_kinds", "_last", "_literals", "_number", "_split", "_start"),
        *("_stride", "_text", "fixed", "number", "rule"),
    )

    def __init__(self, literals: list[bytes], kinds: list[SlotKind], rule: _Rule) -> None:
        """`literals` stand around the slots: one more than these."""
        self.rule: _Rule = rule
        self.number: bytes | None = None
        """The sequence number of the frame that was read last."""
        self._literals = literals
        self._first, self._last = literals[0], literals[-1]
        self._glue = self._last + self._first
        self._start, self._end = len(self._first), -len(self._last)
        self._kinds = tuple(kinds)
        self._text = kinds.index("text") + 1
        self._number = kinds.index("number") + 1 if "number" in kinds else 0
        self._stride = len(literals)
        self.fixed = sum(map(len, literals))
        """How many bytes of a frame are not in slots."""
        self._split: Split | None = None
        self._form = b"".join(literal.replace(b"%", b"%%") + b"%b" for literal in literals)
        """A frame, once its slots are filled in, and the empty bytes that a split leaves between two frames."""

    def reader(self, part: Part, state: StreamState) -> Callable[[bytes], Event | None]:
        """Reads a piece that is one frame: more of the part, or None if it does not fit."""
        repairs, compact, tell = state.repairs, state.compact, state.parts.teller(part)
        no_tag, no_bracket = self.rule == "no tag", self.rule == "arguments"
        first, last, start, end = self._first, self._last, self._start, self._end

        def read_only_slot(frame: bytes) -> Event | None:
            if not (frame.startswith(first) and frame.endswith(last)) or len(frame) > LONGEST_KNOWN:
                return None
            try:
                text = frame[start:end].decode()
                if not text.isprintable() or '"' in text or "\\" in text:
                    text = self._unusual(frame[start:end])
            except ValueError:
                return None
            if not text or (no_tag and "<" in text) or (no_bracket and text[0] in _BEGIN_BEHIND_WHOLE):
                return None
            repairs.frame += 1
            if not repairs.frame % COMPACT_FRAMES:
                compact()
            return tell(text)

        width, form, text_slot, number_slot = self._stride + 1, self._form, self._text, self._number

        def read_slots(frame: bytes) -> Event | None:
            slots = (self._split or self._splitter(frame))(frame)
            if (
                len(slots) != width
                or slots[1] is None
                or len(frame) > LONGEST_KNOWN
                or form % tuple(slots[1:]) != frame
            ):
                return None
            try:
                text = slots[text_slot].decode()
                if "\\" in text:
                    text = self._unusual(slots[text_slot])
            except ValueError:
                return None
            if (no_tag and "<" in text) or (no_bracket and text[0] in _BEGIN_BEHIND_WHOLE):
                return None
            if number_slot:
                self.number = slots[number_slot]
            repairs.frame += 1
            if not repairs.frame % COMPACT_FRAMES:
                compact()
            return tell(text)

        return read_only_slot if self._stride == 2 else read_slots

    @staticmethod
    def _unusual(slot: bytes) -> str:
        """A text with escapes, or one that looks odd. Raises ValueError, or gives no text, if it is no JSON string."""
        return loads(b'"' + slot + b'"') if _WHOLE["text"](slot) else ""

    def may_become(self, rest: bytes) -> bool:
        """Whether the bytes are the beginning of a frame of this shape, as far as one can see without reading it."""
        if len(rest) <= self._start:
            return self._first.startswith(rest)
        return (
            rest.startswith(self._first) and len(rest) <= LONGEST_BEGINNING and _LINE_FEED not in rest[self._start : -1]
        )

    def _splitter(self, block: bytes) -> Split:
        """The skeleton, made when a second frame looks like the first."""
        if not block.startswith(self._first):
            return lambda _: [b"", None, b""]
        self._split = _skeleton(tuple(map(len, self._literals)), self._kinds)
        return self._split

    def texts(self, block: bytes) -> tuple[list[str], list[bytes], int]:
        """The texts of the frames at the block's beginning that fit, the slots of these frames, and their bytes."""
        slots = (self._split or self._splitter(block))(block)
        stride = self._stride
        if slots[-2] is None:
            del slots[-stride:]
        count = len(slots) // stride
        if not count:
            return [], [], 0
        texts = slots[self._text :: stride]
        if stride == 2:
            whole = self._first + self._glue.join(texts) + self._last
        else:
            whole = (self._form * count) % tuple(slots[1:])
        size = len(whole)
        if not block.startswith(whole):
            count = self._fitting(block, slots)
            size = self.size(slots, count)
            del texts[count:]
        if not count:
            return [], [], 0
        try:
            return loads(b'["' + b'","'.join(texts) + b'"]'), slots, size
        except ValueError:
            return [], [], 0

    def _fitting(self, block: bytes, slots: list[bytes]) -> int:
        """How many frames are what the block begins with."""
        position = 0
        for start in range(0, len(slots) - 1, self._stride):
            frame = self._form % tuple(slots[start + 1 : start + self._stride + 1])
            if not block.startswith(frame, position):
                return start // self._stride
            position += len(frame)
        return len(slots) // self._stride

    def keep_number(self, slots: list[bytes], count: int) -> None:
        """Remember the sequence number of a frame, counted from 1."""
        if self._number:
            self.number = slots[(count - 1) * self._stride + self._number]

    def size(self, slots: list[bytes], count: int) -> int:
        """How many bytes the first frames are."""
        return sum(map(len, slots[: count * self._stride])) + count * self.fixed


class Templates:
    """The door: `one` and `take` read what is known by sight, `next` says how far to read in full, `learn` what from.

    It stands between the bytes and the parse; neither the wires nor the ledger know of it.
    """

    def __init__(self, state: StreamState, blocks: Blocks) -> None:
        """`state`: where events are told; `blocks`: where the beginning of an event is held."""
        self.one: Callable[[bytes], Event | None] | None = None
        """The delta of a piece that is just one frame that fits, if such a piece may come: nothing else is told."""
        self._state = state
        self._blocks = blocks
        self._active: Template | None = None
        self._part: Part | None = None
        self._known: list[Template] = []
        self._wait_until = self._patience = _PATIENCE
        self._misses = 0
        self._learned_at = 0
        self._window = _FIRST_WINDOW
        self._previous = b""
        self._is_single = False
        self._events_before = 0
        self._repairs_before = 0

    @property
    def sequence_number(self) -> bytes | None:
        """That of the frame that was read last, if it had one."""
        return self._active.number if self._active is not None else None

    def forget(self) -> None:
        """Something else was read: it may have changed what the next frame means."""
        self._keep_number()
        self._active = self.one = None

    def _keep_number(self) -> None:
        """The last sequence number is the stream's, before a frame that is read in full gives the next."""
        if self._active is not None and self._active.number is not None:
            self._state.sequence_number = int(self._active.number)
            self._active.number = None

    def take_piece(self, data: bytes) -> bytes:
        """Read what fits of a piece, and hold what may fit with the next one; gives the rest."""
        template, blocks = self._active, self._blocks
        if template is None:
            return data
        if blocks.rest:
            data = blocks.rest + data
            blocks.rest = b""
        rest = data[self.take(data, 0) :]
        if template.may_become(rest):
            blocks.rest = rest
            self.one = None if rest else self._one
            return b""
        return rest

    def take(self, data: bytes, position: int) -> int:
        """Read frames from there as long as they fit; the position behind them."""
        template, part = self._active, self._part
        if template is None or part is None:
            return position
        parts, repairs = self._state.parts, self._state.repairs
        size = len(data)
        while size - position > template.fixed:
            texts, slots, end = template.texts(
                data[position : position + self._window] if position or size > self._window else data
            )
            count = len(texts)
            if template.rule == "any" or (template.rule == "no tag" and "<" not in "".join(texts)):
                pass
            elif len(texts := self._allowed(texts, template.rule, part)) < count:
                count = len(texts)
                end = template.size(slots, count)
            if not count:
                self._window = _FIRST_WINDOW
                break
            template.keep_number(slots, count)
            parts.deltas(part, texts)
            repairs.frame += count
            position += end
            if self._window < LONGEST_KNOWN:
                self._window *= 2
        return position

    @staticmethod
    def _allowed(texts: list[str], rule: _Rule, part: Part) -> list[str]:
        """The texts before the first one that needs a decision."""
        if rule == "no tag":
            if "<" not in "".join(texts):
                return texts
            return texts[: next(index for index, text in enumerate(texts) if "<" in text)]
        may_be_whole = part.may_end_object()
        for index, text in enumerate(texts):
            if may_be_whole and text[0] in _BEGIN_BEHIND_WHOLE:
                return texts[:index]
            may_be_whole = (text.rstrip() or "}")[-1] == "}"
        return texts

    def rests(self, block: bytes) -> bool:
        """Whether it is too early to learn from a block."""
        return (self._wait_until - self._state.repairs.frame) * _TYPICAL_FRAME > len(block)

    def next(self, block: bytes, position: int) -> int:
        """How far to read in full before the next try to learn: mostly one frame."""
        self._keep_number()
        state = self._state
        wait = self._wait_until - state.repairs.frame
        self._is_single = wait <= 0
        end = block.find(b"\n\n", position if wait <= 0 else position + wait * _TYPICAL_FRAME) + 2
        if end < 2:
            return len(block)
        self._events_before = len(state.out)
        self._repairs_before = sum(state.repairs.counts.values())
        return end

    def learn(self, frame: bytes, straight: bool) -> None:
        """The frame was read in full; `straight`: the wire needed no decision for it."""
        state = self._state
        has_hit = self._active is not None and state.repairs.frame - self._learned_at >= _ENOUGH_HITS
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
            if isinstance(event, TextDelta | ReasoningDelta | ToolCallDelta):
                self._activate(self._find(frame, event), state.parts.open.get(event.part))
                self._previous = frame
        self._misses += 1
        if self._misses > _MISSES:
            self.forget()
            self._misses = 0
            self._wait_until = state.repairs.frame + self._patience
            self._patience = min(2 * self._patience, _MOST_PATIENCE)

    def _activate(self, template: Template | None, part: Part | None) -> None:
        if template is not None and part is not None:
            self._active, self._part = template, part
            template.number = None
            self._one = self.one = template.reader(part, self._state)
            self._learned_at = self._state.repairs.frame

    def _find(self, frame: bytes, event: TextDelta | ReasoningDelta | ToolCallDelta) -> Template | None:
        """The template that the frame fits, or a new one."""
        for template in self._known:
            if template.texts(frame)[0]:
                return template
        learned = learn_template(frame, self._previous, event)
        if learned is not None:
            self._known = [learned, *self._known[: _KNOWN - 1]]
        return learned


def learn_template(frame: bytes, previous: bytes, event: TextDelta | ReasoningDelta | ToolCallDelta) -> Template | None:
    """The template of a frame that made one event, if its text is found and every slot is proven.

    Nothing is proven where the previous frame does not begin and end as this one does: so the next one will not.
    """
    members = list(_MEMBER.finditer(frame))
    if not members or (isinstance(event, TextDelta) and event.logprobs):
        return None
    first, last = members[0], members[-1]
    begins = previous.startswith(frame[: first.start(first.lastindex or 1)])
    if not begins or not previous.endswith(frame[last.end(last.lastindex or 1) :]):
        return None
    payload = _payload(frame)
    literals: list[bytes] = []
    kinds: list[SlotKind] = []
    rule: _Rule = "arguments" if isinstance(event, ToolCallDelta) else "any"
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
        if kind is not None and (kind == "number") == (group == 2) and _WHOLE[kind](match[group]):
            literals.append(frame[end:start])
            kinds.append(kind)
            end = match.end(group)
    if kinds.count("text") != 1 or kinds.count("number") > 1:
        return None
    return Template([*literals, frame[end:]], kinds, rule)


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
