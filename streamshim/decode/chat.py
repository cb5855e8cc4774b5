"""The Chat Completions wire: what a chunk says.

A chunk may carry everything at once; it is read in one order, whatever else it holds: reasoning, text, refusal, media,
tool calls, finish, usage, error. Finish reasons are advisory until the end.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..events import Citation, EndStatus, Finish
from .choice import Choice
from .citations import CITATION_LISTS, read_citations
from .completions import completion_delta, completion_logprobs, is_completion
from .deltas import DELTA_MEMBERS, DeltaReader
from .error_body import failed_status, read_error
from .finish import is_foreign, is_word, verdict
from .limits import MAX_CHOICES
from .parts import Part
from .payload import UNREAD
from .stream_state import StreamState
from .tool_routing import usable, whole_number

_CHOICE_EXTRAS = frozenset(
    "message messages text usage error content_filter_results content_filter_result moderation_hit_type".split()
)
_CHOICE_METADATA = ("content_filter_results", "content_filter_result", "moderation_hit_type")
_CHUNK_METADATA = (
    *("moderation", "prompt_filter_results", "prompt_annotations", "provider_metadata", "bot_usage"),
    *("timings", "time_info", "latency_checkpoint", "copilot_confirmation", "copilot_references", "copilot_errors"),
)
_MAX_SHAPES = 64
"""Different sets of members that the chunks of one stream may have and still be known by sight."""
_BESIDE_CHOICES = frozenset((*_CHUNK_METADATA, *CITATION_LISTS, "x_groq", "base_resp", "error"))


class ChatWire:
    """Reads the chunks of one chat stream (or of text completions)."""

    def __init__(self, state: StreamState) -> None:
        """`state`: where everything is told."""
        self.done_seen = False
        self.modelled = False
        """Something was said that is modelled."""
        self._state = state
        self._choices: dict[int, Choice] = {}
        self._ended = False
        self._said: dict[str, Any] = {}
        """The last value of each member beside `choices`, but for the usage: it may be set back by another member."""
        self._deltas = DeltaReader(state)
        self._unidentified = True
        self._delta_shapes: dict[tuple[str, ...], tuple[str, ...]] = {}
        state.parts.exclusive = True

    # -- chunks -------------------------------------------------------------------------------------------------------

    def straight(self, payloads: Iterator[Any]) -> Any:
        """Reads chunks that only add to the part that is open; gives the first that does more, or `UNREAD`.

        Raises:
            ValueError: a payload is not JSON.
            TooManyPartsError: two calls were glued, and the second is one part too many.
        """
        if self._unidentified or self._ended:
            return next(payloads, UNREAD)
        repairs, choices, said = self._state.repairs, self._choices, self._said
        told: Part | None = None
        texts: list[str] = []
        try:
            for payload in payloads:
                try:
                    (raw,) = payload["choices"]
                    choice = choices[raw["index"]]
                    delta = raw["delta"]
                    content = delta.get("content")
                except (KeyError, TypeError, ValueError, AttributeError):
                    return payload
                tier = payload.get("service_tier")
                if (
                    payload.get("usage")
                    or (tier and tier != said.get("service_tier"))
                    or not (_BESIDE_CHOICES.isdisjoint(payload) or self._says_nothing_new(payload))
                ):
                    return payload
                part = choice.plain_text
                if (
                    content
                    and part is not None
                    and part.is_open
                    and content.__class__ is str
                    and "<" not in content
                    # besides index and delta there are at most a null finish reason and null log probabilities
                    and len(raw) == 2 + (raw.get("finish_reason", 0) is None) + (raw.get("logprobs", 0) is None)
                    and (len(delta) == 1 or self._says_only(delta, "content"))
                ):
                    if part is not told:
                        self._state.tell_texts(told, texts)
                        told = part
                    texts.append(content)
                    continue
                self._state.tell_texts(told, texts)
                repairs.frame += 1
                if content or not self._plain_delta(choice, raw, delta):
                    repairs.frame -= 1
                    return payload
        finally:
            self._state.tell_texts(told, texts)
        return UNREAD

    def _says_nothing_new(self, payload: dict[str, Any]) -> bool:
        """Whether what stands beside the choices was told."""
        return all(
            not value or key not in _BESIDE_CHOICES or value == self._said.get(key) for key, value in payload.items()
        )

    def chunk(self, payload: dict[str, Any]) -> None:
        """One chunk, which may hold anything."""
        if self._unidentified:
            self._state.identify(payload)
            self._unidentified = self._state.unidentified
        choices: Any = payload.get("choices")
        if choices.__class__ is not list or self._ended:
            self._odd_choices(choices)
        else:
            for raw in choices:
                if isinstance(raw, dict):
                    self._any_choice(raw)
        self._beside_choices(payload)

    def _odd_choices(self, choices: Any) -> None:
        """Choices behind `[DONE]`, or none, or no list."""
        if choices and self._ended:
            self._state.repair("data-after-done", "choices after [DONE] are not read")
        elif choices:
            self._state.repair("choices-shape", f"`choices` is {_kind(choices)}, not a list")

    def _beside_choices(self, payload: dict[str, Any]) -> None:
        """What a chunk says beside its choices, told once as long as it does not change."""
        self._state.see_usage(payload.get("usage"))
        sources: list[Citation] = []
        for key, value in payload.items():
            if not value or (key not in _BESIDE_CHOICES and key != "service_tier") or value == self._said.get(key):
                continue
            self._said[key] = value
            if key in CITATION_LISTS:
                sources += read_citations({key: value}, self._open_text(), 0)
            else:
                self._fact(key, value)
        if sources:
            self._state.cite(sources)

    def _fact(self, key: str, value: Any) -> None:
        if key == "error":
            self._error(value)
        elif key == "x_groq" and isinstance(value, dict):
            self._state.see_usage(value.get("usage"))
            if error := value.get("error"):
                self._error(error)
        elif key == "base_resp":
            if failed_status(value):
                self._error({"base_resp": value})
        else:
            self._state.metadata({key: value})

    def _open_text(self) -> int | None:
        """The number of the text part that is open in choice 0."""
        prose = self._state.parts.prose(0)
        return prose.number if prose is not None and prose.kind == "text" else None

    def _plain_delta(self, choice: Choice, raw: dict[str, Any], delta: dict[str, Any]) -> bool:
        """More thought or more arguments and nothing else; False where anything needs a decision."""
        if len(raw) != 2 + (raw.get("finish_reason", 0) is None) + (raw.get("logprobs", 0) is None):
            return False
        if len(delta) == 1:
            calls = delta.get("tool_calls")
            if isinstance(calls, list):
                return choice.plain_calls(calls)
        part = choice.plain_thought
        if part is None or not part.is_open:
            return False
        for key in ("reasoning_content", "reasoning"):
            thought = delta.get(key)
            if thought.__class__ is str and thought and self._says_only(delta, key):
                self._state.parts.reasoning(part, thought)
                return True
        return False

    def _says_only(self, delta: dict[str, Any], only: str) -> bool:
        """Whether no other member of the delta that has a meaning says anything."""
        keys = tuple(delta)
        meaningful = self._delta_shapes.get(keys)
        if meaningful is None:
            meaningful = tuple(key for key in keys if key in DELTA_MEMBERS)
            if len(self._delta_shapes) < _MAX_SHAPES:
                self._delta_shapes[keys] = meaningful
        for key in meaningful:
            if delta[key] and key != only:
                return False
        return True

    def _any_choice(self, raw: dict[str, Any]) -> None:
        """A choice that may hold anything."""
        choice = self._find_choice(raw.get("index"))
        if choice is None:
            return
        delta = raw.get("delta")
        choice.provisional_word = None
        word = raw.get("finish_reason")
        logprobs = _logprobs(raw.get("logprobs"))
        if isinstance(delta, dict):
            self._deltas.delta(choice, delta, logprobs, ends=is_word(word))
        if not _CHOICE_EXTRAS.isdisjoint(raw):
            self._choice_extras(choice, raw, logprobs)
        if word is not None:
            self._word(choice, word)
        choice.find_plain_ways()

    def _find_choice(self, index: object) -> Choice | None:
        """The choice of an index, which may be missing, null or text; a new one is opened."""
        number = whole_number(index)
        if number is None:
            number = 0
        choice = self._choices.get(number)
        if choice is None:
            if len(self._choices) >= MAX_CHOICES:
                self._state.limit(f"more than {MAX_CHOICES} choices: the rest is dropped")
                return None
            choice = self._choices[number] = Choice(self._state, number)
            self.modelled = True
        return choice

    def _word(self, choice: Choice, word: Any) -> None:
        if not is_word(word):
            return
        if word.lower() == "normal":
            choice.provisional_word = word
            return
        if is_foreign(word):
            self._state.repair("finish-word", f"the finish word is {word!r}")
        choice.tools.settle()
        if not choice.word.say(word):
            self._state.repair("finish-contradiction", f"the finish word {word!r} contradicts an earlier one")

    # -- what stands beside the delta ---------------------------------------------------------------------------------

    def _choice_extras(self, choice: Choice, raw: dict[str, Any], logprobs: list[Any] | None) -> None:
        message = raw.get("message")
        if isinstance(message, dict):
            self._deltas.message(choice, message, logprobs)
        elif is_completion(raw):
            self._state.api = "completions"
            self._deltas.delta(choice, completion_delta(raw), logprobs, ends=is_word(raw.get("finish_reason")))
        if isinstance(messages := raw.get("messages"), list):
            for inner in messages:
                if isinstance(inner, dict):
                    self._deltas.cite(choice, inner)
        if facts := {key: raw[key] for key in _CHOICE_METADATA if raw.get(key)}:
            self._state.metadata(facts)
        self._state.see_usage(raw.get("usage"))
        if error := raw.get("error"):
            self._error(error)

    def _error(self, error: Any) -> None:
        """An error beside choices: nothing, empty and all-empty objects are none."""
        if error is True or (isinstance(error, dict) and not any(usable(str(v)) and v for v in error.values())):
            return
        self.modelled = True
        self._state.error(read_error(error))

    # -- the end ------------------------------------------------------------------------------------------------------

    def done(self) -> None:
        """`[DONE]`: all Ends and Finishes at once."""
        if self.done_seen:
            return
        self.done_seen = True
        self._state.parts.closing = True
        if self.modelled:
            self.end(self.status(cancelled=False, trusted=False))

    def status(self, *, cancelled: bool, trusted: bool) -> EndStatus:
        """How the stream ends, as far as the wire said. `trusted`: its end is enough to be whole."""
        state = self._state
        for choice in self._choices.values():
            choice.flush()
        words = [choice.word.meaning for choice in self._choices.values() if choice.word.meaning is not None]
        if not state.errors:
            for choice in self._choices.values():
                if choice.word.meaning is not None and choice.word.meaning.reason == "error" and choice.word.raw:
                    state.word_error(choice.word.raw)
        complete = self.modelled and (self.done_seen or trusted)
        if state.truncated_by_encoder:
            return "truncated"
        return verdict(words, failed=state.has_failed, cancelled=cancelled, complete=complete)

    def end(self, status: EndStatus) -> None:
        """Every End, then the Finish of each choice that was opened."""
        if self._ended:
            return
        self._ended = True
        for choice in self._choices.values():
            choice.end(cut=status in ("truncated", "failed", "cancelled"))
        for choice in self._choices.values():
            if not choice.was_opened:
                continue
            reason = choice.reason(status)
            meaning = choice.word.meaning
            if meaning is not None and meaning.reason == "tool_calls" and reason == "stop":
                self._state.repair("finish-without-calls", "the finish word promises tool calls, but none came")
            elif reason == "tool_calls" and (meaning is None or meaning.reason != "tool_calls"):
                self._state.repair("finish-wrong", f"tool calls end with the finish word {choice.word.raw!r}")
            self._state.out.append(Finish(choice.index, reason, choice.word.raw))

    @property
    def word_seen(self) -> bool:
        """Whether any choice was given a finish word."""
        return any(choice.word.raw is not None for choice in self._choices.values())


def _logprobs(value: Any) -> list[Any] | None:
    if isinstance(value, dict):
        content = value.get("content")
        return content if isinstance(content, list) and content else completion_logprobs(value)
    return value if isinstance(value, list) else None


def _kind(value: object) -> str:
    return "an object" if isinstance(value, dict) else "text" if isinstance(value, str) else type(value).__name__
