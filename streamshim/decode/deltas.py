"""What a chat delta says, and what a whole message adds to it: thought, text, refusal, media, sources, calls."""

from __future__ import annotations

from typing import Any

from .choice import Choice
from .citations import CITATION_LISTS, read_citations
from .content_parts import read_parts
from .media import image_address
from .reasoning_fields import OTHER_REASONING_KEYS, REASONING_KEYS, Thought, read_thought
from .snapshots import Kept, Pieces, missing
from .stream_state import StreamState

DELTA_MEMBERS = frozenset(
    (
        *REASONING_KEYS,
        *OTHER_REASONING_KEYS,
        *CITATION_LISTS,
        *("tool_calls", "function_call", "refusal", "audio", "images", "image", "extra_content", "context"),
        *("provider_specific_fields", "provider_metadata", "executed_tools", "tool_call_id"),
    )
)
"""Members of a delta that have a meaning, besides its content."""
_METADATA = ("provider_metadata", "executed_tools")
_REASONING = frozenset((*REASONING_KEYS, *OTHER_REASONING_KEYS, "provider_specific_fields", "extra_content"))
_CITATIONS = frozenset(CITATION_LISTS)


class DeltaReader:
    """Reads the deltas and messages of all choices of a chat stream."""

    def __init__(self, state: StreamState) -> None:
        """`state`: where everything is told."""
        self._state = state
        self._messages: dict[int, list[Pieces]] = {}

    def delta(self, choice: Choice, delta: dict[str, Any], logprobs: list[Any] | None, *, ends: bool) -> None:
        """A delta that may hold anything."""
        content = delta.get("content")
        told = {key: value for key, value in delta.items() if value and key in DELTA_MEMBERS}
        if delta.get("role") in ("tool", "function") and (told.get("tool_call_id")):
            self._state.metadata({"tool_message": delta})
            self.cite(choice, delta)
            return
        if told:
            self._thought(choice, told)
        if content or logprobs:
            choice.had_delta.add("text")
            self._content(choice, content, logprobs, told, ends=ends)
        if told:
            choice.had_delta.update(told)
            self._told(choice, told)

    def _thought(self, choice: Choice, told: dict[str, Any]) -> None:
        text = told.get("reasoning_content") or told.get("reasoning")
        if len(told) == 1 and isinstance(text, str):
            choice.thought(Thought(text, sources=1))
        elif not _REASONING.isdisjoint(told):
            choice.thought(read_thought(told))

    def _content(
        self, choice: Choice, content: Any, logprobs: list[Any] | None, told: dict[str, Any], *, ends: bool
    ) -> None:
        if isinstance(content, int | float) and not isinstance(content, bool):
            self._state.repair("content-number", "the content is a number")
            content = str(content)
        if content is None or isinstance(content, str):
            if content and is_flagged(told.get("extra_content")):
                choice.flagged_thought(content)
            elif content and ends and choice.word.raw is None and choice.repeats_all_text(content):
                self._state.repair("text-cumulative", "the finish chunk repeats all the text")
            else:
                choice.content(content or "", logprobs)
        elif isinstance(content, list | dict):
            if logprobs:
                choice.content("", logprobs)  # they wait for the text
            read_parts(self._state, choice, content)

    def _told(self, choice: Choice, told: dict[str, Any]) -> None:
        """What a delta or a message holds besides content and thought."""
        if isinstance(refusal := told.get("refusal"), str):
            choice.refusal(refusal)
        images = told.get("images") or told.get("image")
        for entry in images if isinstance(images, list) else [images] if images else ():
            if address := image_address(entry):
                choice.image(address)
        if isinstance(audio := told.get("audio"), dict):
            choice.audio(audio)
        self.cite(choice, told)
        if isinstance(context := told.get("context"), dict):
            self.cite(choice, context)
        if calls := told.get("tool_calls"):
            choice.tool_calls(calls)
        if isinstance(call := told.get("function_call"), dict):
            choice.function_call(call)
        if facts := {key: told[key] for key in _METADATA if key in told}:
            self._state.metadata(facts)

    def cite(self, choice: Choice, holder: dict[str, Any]) -> None:
        """The sources that a delta, a message or a context names."""
        if not _CITATIONS.isdisjoint(holder):
            prose = self._state.parts.prose(choice.index)
            part = prose.number if prose is not None and prose.kind == "text" else None
            self._state.cite(list(read_citations(holder, part, choice.index)))

    def message(self, choice: Choice, message: dict[str, Any], logprobs: list[Any] | None) -> None:
        """A whole message: kind by kind, what no delta brought. Alone, chunk after chunk, it grows."""
        had = choice.had_delta
        told = {
            key: value
            for key, value in message.items()
            if value and key in DELTA_MEMBERS and (key not in had or key in CITATION_LISTS)
        }
        seen = self._messages.get(choice.index)
        if seen is None:
            seen = self._messages[choice.index] = [Kept()]
            if not choice.has_structured_thought:
                self._thought(choice, told)
        content = message.get("content")
        if "text" in had:
            if content:
                self._state.repair("message-repeated", "a whole message stands beside deltas")
        elif isinstance(content, str):
            if rest := missing(seen, content):
                seen[0].append(rest)
                choice.content(rest, logprobs if rest == content else None)
            elif rest is None:
                self._state.repair("message-repeated", "a message differs from what came before")
        elif content and not seen[0]:
            self._content(choice, content, logprobs, told, ends=False)
        if isinstance(calls := told.get("tool_calls"), list):
            told["tool_calls"] = calls[len(choice.tools.calls) :]
        self._told(choice, told)


def is_flagged(extra: Any) -> bool:
    """Gemini flags thought that stands in the content."""
    return isinstance(extra, dict) and any(
        isinstance(drawer, dict) and drawer.get("thought") is True for drawer in extra.values()
    )
