"""The words with which a choice ends, and the verdict over the stream."""

from __future__ import annotations

from dataclasses import dataclass

from ..events import EndStatus, FinishReason


@dataclass(frozen=True, slots=True)
class Word:
    """What a finish word means. `cut_short`: the vendor stopped early, the stream is incomplete."""

    reason: FinishReason
    cut_short: bool
    weight: int
    """Contradicting words: the heavier one wins."""


_STOP = Word("stop", cut_short=False, weight=2)
_TOOL_CALLS = Word("tool_calls", cut_short=False, weight=3)
_CUT_SHORT = Word("other", cut_short=True, weight=4)
_LENGTH = Word("length", cut_short=True, weight=5)
_FILTER = Word("content_filter", cut_short=True, weight=6)
_ERROR = Word("error", cut_short=False, weight=7)
_UNHEARD_OF = Word("other", cut_short=False, weight=1)

_WORDS: dict[str, Word] = {
    word: meaning
    for meaning, words in {
        _STOP: "stop eos eos_token end end_turn stop_sequence complete normal",
        _TOOL_CALLS: "tool_calls function_call tool_use tool_call",
        _CUT_SHORT: "abort aborted cancelled repetition_truncation pause_turn steered max_messages time_limit",
        _LENGTH: "length max_tokens model_length max_output_tokens model_context_window_exceeded",
        _FILTER: "content_filter sensitive safety refusal",
        _ERROR: "error network_error network-error insufficient_system_resource resource-exhausted error_finish",
    }.items()
    for word in words.split()
}
_PLAIN = frozenset(("stop", "length", "tool_calls", "content_filter", "error"))


def is_word(value: object) -> bool:
    """Whether a finish reason says anything: absent, null, "" and the word "null" do not."""
    return isinstance(value, str) and value.strip().lower() not in ("", "null")


def meaning(word: str) -> Word:
    """What a finish word means; an unheard-of one means that the choice ended, and no more."""
    lower = word.strip().lower()
    if known := _WORDS.get(lower):
        return known
    return _ERROR if lower.endswith("malformed_function_call") else _UNHEARD_OF


def is_foreign(word: str) -> bool:
    """Whether the word is not one of the five that the wire defines."""
    return word not in _PLAIN


class FinishWord:
    """The word that won among those that a choice was given."""

    __slots__ = ("meaning", "raw")

    def __init__(self) -> None:
        """No word yet."""
        self.raw: str | None = None
        self.meaning: Word | None = None

    def say(self, word: str) -> bool:
        """One more word; False where it contradicts one that came before (equal meanings do not)."""
        said = meaning(word)
        before = self.meaning
        if before is None or said.weight >= before.weight:
            self.raw, self.meaning = word, said
        return before is None or before is said

    def reason(self, status: EndStatus, *, calls_to_answer: bool) -> FinishReason | None:
        """The unified reason: calls to answer turn a stop into tool_calls, and their absence the other way round."""
        if self.meaning is None:
            if status == "failed":
                return "error"
            return "tool_calls" if calls_to_answer and status == "completed" else None
        if status in ("failed", "cancelled"):
            return self.meaning.reason
        if self.meaning is _STOP and calls_to_answer:
            return "tool_calls"
        if self.meaning is _TOOL_CALLS and not calls_to_answer:
            return "stop"
        return self.meaning.reason


def verdict(words: list[Word], *, failed: bool, cancelled: bool, complete: bool) -> EndStatus:
    """The status of a chat stream: the worst choice decides. `complete`: something said that the stream was whole."""
    if failed or _ERROR in words:
        return "failed"
    if cancelled:
        return "cancelled"
    if any(word.cut_short for word in words):
        return "incomplete"
    return "completed" if words or complete else "truncated"
