"""The order of a chat stream that its strict readers rely on."""

from __future__ import annotations

from typing import Any

from .findings import Findings

_MEMBERS = "role content refusal reasoning_content reasoning tool_calls annotations images".split()


class _ChatChoice:
    """What was seen of one choice."""

    def __init__(self) -> None:
        self.finished = False
        self.calls = 0
        self.counts = {"annotations": 0, "images": 0}


class ChatOrder:
    """Watches the chunks of one chat stream."""

    def __init__(self, findings: Findings, *, relayed: bool) -> None:
        """Nothing seen. `relayed`: chunks of a vendor may be among them."""
        self._findings = findings
        self._relayed = relayed
        self._choices: dict[int, _ChatChoice] = {}
        self._head: Any = None
        self._usage_seen = False
        self._failed = False

    @property
    def is_over(self) -> bool:
        """Whether something said that the stream is over."""
        # a vendor may leave some of several choices without a word
        return self._failed or (any(self._finished) and (self._relayed or all(self._finished)))

    @property
    def _finished(self) -> list[bool]:
        return [choice.finished for choice in self._choices.values()]

    def event(self, payload: dict[str, Any]) -> None:
        """One chunk."""
        expect = self._findings.expect
        expect(not self._failed, "a chunk follows the error")
        if payload.get("error") or (not self._relayed and "error" in payload):
            self._failed = True
            expect(isinstance(payload["error"], dict) and bool(payload["error"].get("message")), "an empty error")
            return
        choices = payload.get("choices")
        self._identified(payload, choices)
        expect(isinstance(choices, list), "no list of choices")
        is_empty = self._relayed and not any(map(_says_anything, choices or ()))
        expect(not self._usage_seen or is_empty, "a chunk follows the usage")
        if payload.get("usage") is not None:
            expect(not self._usage_seen, "a second usage")
            self._usage_seen = True
            expect(self._relayed or choices == [], "the usage chunk has choices")
        else:
            expect(self._relayed or len(choices or ()) == 1, "not one choice in a chunk")
        for raw in choices if isinstance(choices, list) else ():
            self._choice(raw if isinstance(raw, dict) else {})

    def _identified(self, payload: dict[str, Any], choices: Any) -> None:
        """Each chunk names the stream; a vendor's facts beside it may come without a name."""
        expect = self._findings.expect
        if self._relayed and not choices and payload.get("object") in ("", "chat.completion.chunk"):
            expect(payload.get("id") in ("", self._head and self._head[0]) or not self._head, "another id")
            return
        names = ("id", "object") if self._relayed else ("id", "object", "created", "model")
        head = [payload.get(key) for key in names]
        self._head = self._head or head
        expect(head == self._head and bool(head[0]), "id, object, created or model change, or there is no id")
        expect(isinstance(payload.get("created"), int) and isinstance(payload.get("model"), str), "no time or model")
        expect(payload.get("object") == "chat.completion.chunk", "the object is no chunk")

    def close(self, *, cut: bool) -> None:
        """The stream is over."""
        is_over = self._failed or (any(self._finished) and all(self._finished)) if cut else self.is_over
        self._findings.expect(is_over != cut, "an end" if cut else "no finish reason and no error")

    def _choice(self, raw: dict[str, Any]) -> None:
        expect, index, delta = self._findings.expect, raw.get("index"), raw.get("delta")
        if not isinstance(index, int) or not isinstance(delta, dict):
            self._findings.note("a choice without index or delta")
            return
        if self._relayed and not _says_anything(raw):
            return
        is_first = index not in self._choices
        choice = self._choices.setdefault(index, _ChatChoice())
        has_role = bool(delta.get("role")) if self._relayed else "role" in delta
        expect(is_first == has_role, "the role comes first, and once")
        expect(delta.get("role") in ("assistant", None), f"the role is {delta.get('role')}")
        expect(not choice.finished, f"choice {index} was finished already")
        choice.finished = choice.finished or raw.get("finish_reason") is not None
        for member in ("content", "refusal", "reasoning_content"):
            expect(isinstance(delta.get(member), str | None), f"the {member} is no text")
        for entry in self._entries(delta, "tool_calls"):
            self._call(choice, entry)
        for key in choice.counts:
            self._counted(choice, key, self._entries(delta, key))

    def _entries(self, delta: dict[str, Any], key: str) -> list[dict[str, Any]]:
        entries = delta.get(key) or []
        if isinstance(entries, list) and all(isinstance(entry, dict) for entry in entries):
            return entries
        self._findings.note(f"the {key} are no list of objects")
        return []

    def _counted(self, choice: _ChatChoice, key: str, entries: list[dict[str, Any]]) -> None:
        """Lists are counted through a message; a vendor that sends one at once need not count it."""
        before = choice.counts[key]
        choice.counts[key] += len(entries)
        numbers = [entry.get("index") for entry in entries]
        is_whole = self._relayed and not before and not any(number is not None for number in numbers)
        counts = is_whole or numbers == list(range(before, before + len(numbers)))
        self._findings.expect(counts, f"the {key} are not counted")

    def _call(self, choice: _ChatChoice, entry: dict[str, Any]) -> None:
        expect, index = self._findings.expect, entry.get("index")
        form = entry.get(str(entry.get("type"))) or {}
        if index == choice.calls:
            expect(bool(entry.get("id")) and bool(entry.get("type")) and "name" in form, "a call without id or name")
            choice.calls += 1
        else:
            expect(isinstance(index, int) and 0 <= index < choice.calls, f"call {index} was not begun")
            repeated = {"id"} if self._relayed else {"id", "type"}
            said = {key for key, value in entry.items() if value or not self._relayed}
            expect(not repeated & said, f"call {index} repeats its id or type")
            members = [member for member in entry.values() if isinstance(member, dict)]
            named = [member for member in members if "name" in member and (member["name"] or not self._relayed)]
            expect(not named, f"call {index} repeats its name")


def _says_anything(raw: Any) -> bool:
    """Whether a choice of a chunk says anything at all."""
    if not isinstance(raw, dict) or not isinstance(raw.get("delta"), dict):
        return True
    delta = raw["delta"]
    audio = delta.get("audio") or {}
    spoken = [delta.get(member) for member in _MEMBERS] + [audio.get("data"), audio.get("transcript")]
    return raw.get("finish_reason") is not None or any(spoken)
