"""One choice of a chat stream: sorts what it is told into parts, and remembers what was told."""

from __future__ import annotations

from typing import Any

from ..events import EndStatus, FinishReason, ReasoningKind
from .finish import FinishWord
from .media import Audio, emit_image
from .parts import Part
from .reasoning_fields import Thought
from .reasoning_tags import Piece, TagSplitter
from .snapshots import Digest, Pieces, equals, missing, size_of
from .stream_state import StreamState
from .tool_markup import MarkupScanner
from .tool_markup_body import MarkupCall
from .tool_routing import ToolCallRouter

CUMULATIVE_LENGTH = 20
"""A delta that says all the text so far again is a repeat from this length on; shorter ones may be meant ("ha")."""
CUMULATIVE_ENTRY_LENGTH = 8
"""The same for an entry that names itself by id and index, which says more than its length does."""


class Choice:
    """The parts of one choice, in the order in which they come."""

    def __init__(self, state: StreamState, index: int) -> None:
        """`index`: the wire's own."""
        self.index = index
        self.tools = ToolCallRouter(state, index)
        self.word = FinishWord()
        self.provisional_word: str | None = None
        self.has_structured_thought = False
        self.had_delta: set[str] = set()
        """The kinds that deltas brought: a whole `message` adds only the others."""
        self.plain_text: Part | None = None
        """The part that text may go straight into, as long as it is open."""
        self.plain_thought: Part | None = None
        """The same for structured thought."""
        self._state = state
        self._parts = state.parts
        self._tags = TagSplitter(state.reasoning_tags, state.repair)
        self._field_tags: TagSplitter | None = None
        self._markup = MarkupScanner() if state.tool_markup else None
        self._text_part: Part | None = None
        self._reasoning_part: Part | None = None
        self._text_parts: list[Part] = []
        self._held_logprobs: list[Any] | None = None
        self._entries: dict[tuple[object, object], list[Pieces]] = {}
        self._encrypted: set[str] = set()
        self._audio: Audio | None = None

    def find_plain_ways(self) -> None:
        """After anything unusual: may the next delta of text or thought go straight into the open part?"""
        part = self._parts.prose(self.index)
        self.plain_text = self.plain_thought = None
        if part is None or self.provisional_word is not None or self._held_logprobs or self._markup is not None:
            return
        if part is self._text_part and self._tags.is_text:
            self.plain_text = part
        elif part is self._reasoning_part and not self._tags.compares_thought and self._field_tags is not None:
            self.plain_thought = part if self._field_tags.is_text else None

    # -- text ---------------------------------------------------------------------------------------------------------

    def content(self, content: str, logprobs: list[Any] | None = None) -> None:
        """More content, which may hold tagged thought."""
        tags = self._tags
        if tags.flows or (tags.is_text and "<" not in content):
            self._read_text(content, logprobs)
            return
        self._sort(tags.feed(content), logprobs)

    def _read_text(self, text: str, logprobs: list[Any] | None) -> None:
        """Text that is no thought: on request it may hold calls."""
        if self._markup is None:
            self.text(text, logprobs)
        else:
            self._read_markup(self._markup.feed(text), logprobs)

    def _read_markup(self, pieces: list[str | MarkupCall], logprobs: list[Any] | None = None) -> None:
        for piece in pieces:
            if isinstance(piece, str):
                self.text(piece, logprobs)
                logprobs = None
            else:
                self._state.repair("tool-markup", f"a call of {piece.name!r} stood in the text as markup")
                self.tools.add_call(piece.name, piece.arguments, piece.id)
                self._tags.after_tool_call()

    def _sort(self, pieces: list[Piece], logprobs: list[Any] | None = None) -> None:
        for kind, piece in pieces:
            if kind == "text":
                self._read_text(piece, logprobs)
                logprobs = None
            elif kind == "thought":
                self._think(piece, "tag")
            elif piece and not any(map(self._repeats_thought, (piece, piece.lstrip(), piece.strip()))):
                self._read_text(piece, None)
        if logprobs:
            self._hold_logprobs(logprobs)

    def text(self, text: str, logprobs: list[Any] | None = None) -> None:
        """More text of the answer."""
        if not text:
            if logprobs:
                self._hold_logprobs(logprobs)
            return
        part = self._text_part
        if part is None or not part.is_open:
            self.tools.settle()
            part = self._text_part = self._parts.start_text(self.index)
            self._text_parts.append(part)
        if self._held_logprobs:
            logprobs = self._held_logprobs + (logprobs or [])
            self._held_logprobs = None
        self._parts.text(part, text, logprobs)

    def _hold_logprobs(self, logprobs: list[Any]) -> None:
        """Half a character has log probabilities but no text yet: they go with the next delta."""
        self._held_logprobs = (self._held_logprobs or []) + logprobs

    def repeats_all_text(self, text: str) -> bool:
        """Whether the text is all that was said so far, once more."""
        return len(text) >= CUMULATIVE_LENGTH and equals([part.pieces for part in self._text_parts], text)

    def refusal(self, text: str) -> None:
        """More of a refusal."""
        part = self._parts.prose(self.index)
        if part is None or part.kind != "refusal":
            self.tools.settle()
            part = self._parts.start_refusal(self.index)
        self._parts.refusal(part, text)

    # -- thought ------------------------------------------------------------------------------------------------------

    def thought(self, thought: Thought) -> None:
        """Structured reasoning: words, signature, encrypted data, steps."""
        if thought.sources > 1:
            self._state.repair("reasoning-mirrored-fields", "several reasoning fields of one chunk hold the thought")
        text = self._new_words(thought)
        if text:
            self.has_structured_thought = True
            self._tags.see_structured(text)
            if self._field_tags is None:
                self._field_tags = TagSplitter("off" if self._state.reasoning_tags == "off" else "auto", _no_repair)
            if self._field_tags.is_text:
                self._think(text, thought.kind)
            else:
                for _, piece in self._field_tags.feed(text):
                    self._think(piece, thought.kind)
        for step in thought.steps:
            self.has_structured_thought = True
            self._end_thought()
            self._think(step, thought.kind)
        if thought.signature:
            self._sign(thought.signature)
        for encrypted in thought.encrypted:
            self._encrypt(encrypted)

    def flagged_thought(self, text: str) -> None:
        """Content that the wire flags as thought; the tags around it are content like any other."""
        for _, piece in self._tags.feed(text):
            self._think(piece, "raw")

    def _new_words(self, thought: Thought) -> str:
        """The words without what an entry repeats of itself, or of all the thought before its signature."""
        text = thought.text
        if thought.entry is not None and text:
            seen = self._entries.setdefault(thought.entry, [Digest()])
            if CUMULATIVE_ENTRY_LENGTH <= size_of(seen) < len(text) and (rest := missing(seen, text)) is not None:
                self._state.repair("reasoning-cumulative", "a reasoning entry repeats all its words so far")
                text = rest
            seen[0].append(text)
        if thought.signature and text and self._repeats_thought(text):
            self._state.repair("reasoning-mirrored-fields", "the entry with the signature repeats the thought")
            return ""
        return text

    def _repeats_thought(self, text: str) -> bool:
        return self._reasoning_part is not None and equals([self._reasoning_part.pieces], text)

    def _think(self, text: str, kind: ReasoningKind) -> None:
        part = self._reasoning_part
        if part is None or not part.is_open:
            self.tools.settle()
            part = self._reasoning_part = self._parts.start_reasoning(self.index, None, kind)
        if text:
            self._parts.reasoning(part, text)

    def _end_thought(self) -> None:
        if self._reasoning_part is not None:
            self._parts.end(self._reasoning_part)

    def _sign(self, signature: str) -> None:
        """A signature belongs to the thought that is open; a late one stands alone, with no words."""
        part = self._reasoning_part
        if part is not None and part.is_open:
            kind, _, encrypted = part.thought
            part.thought = (kind, signature, encrypted)
        elif signature not in self._encrypted:
            self._encrypted.add(signature)
            self.tools.settle()
            late = self._parts.start_reasoning(self.index, None, "encrypted")
            late.thought = ("encrypted", signature, None)
            self._parts.end(late)

    def _encrypt(self, data: str) -> None:
        if data in self._encrypted:
            return
        self._encrypted.add(data)
        self.tools.settle()
        part = self._parts.start_reasoning(self.index, None, "encrypted")
        part.thought = ("encrypted", None, data)
        self._parts.end(part)

    # -- calls, images, audio -----------------------------------------------------------------------------------------

    def tool_calls(self, entries: object) -> None:
        """More of tool calls. What a tag might have become before them is text."""
        before = len(self.tools.calls)
        self.tools.read(entries)
        if len(self.tools.calls) > before:
            self._tags.after_tool_call()

    def plain_calls(self, entries: list[Any]) -> bool:
        """More arguments of one call that has started; False where the entries say more than that."""
        return len(entries) == 1 and self.tools.read_plainly(entries[0])

    def function_call(self, function_call: dict[str, Any]) -> None:
        """The deprecated form of a tool call."""
        self.tools.read_legacy(function_call)
        self._tags.after_tool_call()

    def image(self, address: str) -> None:
        """A whole image."""
        self.tools.settle()
        emit_image(self._parts, self.index, address)

    def audio(self, audio: dict[str, Any]) -> None:
        """A piece of audio, of its transcript, or both."""
        id = audio.get("id") if isinstance(audio.get("id"), str) else None
        if self._audio is None or (id and self._audio.id and id != self._audio.id):
            if self._audio is not None:
                self._audio.end()
            self.tools.settle()
            self._audio = Audio(self._parts, self.index, id)
        self._audio.add(audio.get("data"), audio.get("transcript"))

    # -- the end ------------------------------------------------------------------------------------------------------

    def flush(self) -> None:
        """Nothing more comes: what was held is given out."""
        if self.provisional_word is not None:
            self.word.say(self.provisional_word)
        self._sort(self._tags.end())
        if self._markup is not None:
            self._read_markup(self._markup.end())
        if self._field_tags is not None:
            for _, piece in self._field_tags.end():
                self._think(piece, "raw")
        if self._held_logprobs:
            self._state.metadata({"logprobs": self._held_logprobs})

    def end(self, *, cut: bool) -> None:
        """The End of every part that is open."""
        self._parts.end_prose(self.index)
        at_length = self.word.meaning is not None and self.word.meaning.reason == "length"
        for call in self.tools.calls:
            call.end(cut=cut, at_length=at_length)
        if self._audio is not None:
            self._audio.end()

    @property
    def was_opened(self) -> bool:
        """Whether it had a part, or a finish word."""
        return self.word.raw is not None or bool(self.tools.calls) or self.index in self._parts.choices

    def reason(self, status: EndStatus) -> FinishReason | None:
        """The unified finish reason, once the calls have ended."""
        return self.word.reason(status, calls_to_answer=any(call.is_answerable for call in self.tools.calls))


def _no_repair(quirk: str, detail: str) -> None:
    """Tags that wrap a reasoning field are stripped without a word: the field already said that it is thought."""
