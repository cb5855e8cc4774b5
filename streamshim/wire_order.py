"""For tests of code that writes a wire: the order that strict readers of Responses and chat streams rely on.

`wire_breaches(frames)` says what is wrong with a stream; an empty list means that nothing is.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

_TERMINAL = frozenset(("response.completed", "response.incomplete", "response.failed"))
_PART_INDEX = {"response.reasoning_summary_part": "summary_index", "response.content_part": "content_index"}
_WORDS = {
    "response.output_text": "content_index",
    "response.refusal": "content_index",
    "response.reasoning_text": "content_index",
    "response.reasoning": "content_index",
    "response.reasoning_summary_text": "summary_index",
}
_INPUTS = {
    "response.function_call_arguments": "arguments",
    "response.custom_tool_call_input": "input",
    "response.mcp_call_arguments": "arguments",
    "response.code_interpreter_call_code": "code",
}


class _Findings:
    """What was found so far."""

    def __init__(self) -> None:
        self.all: list[str] = []
        self.position = 0

    def note(self, what: str) -> None:
        self.all.append(f"frame {self.position}: {what}")

    def expect(self, holds: bool, what: str) -> None:
        if not holds:
            self.note(what)


class _Part:
    """A content part or a summary part of an item."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.whole: str | None = None
        self.done = False
        self.annotations = 0


class _Item:
    """An item that was announced."""

    def __init__(self, raw: dict[str, Any]) -> None:
        self.id = raw.get("id")
        self.type = raw.get("type")
        self.call_id = raw.get("call_id")
        self.parts: dict[str, list[_Part]] = {"content_index": [], "summary_index": []}
        self.input: list[str] = []
        self.done: dict[str, Any] | None = None


class ResponsesOrder:
    """Watches the events of one Responses stream."""

    def __init__(self, findings: _Findings) -> None:
        """Nothing seen."""
        self._findings = findings
        self._items: list[_Item] = []
        self._count = 0
        self._id: Any = None
        self._error_seen = False
        self.is_over = False

    def event(self, payload: dict[str, Any]) -> None:
        """One event."""
        kind, expect = str(payload.get("type")), self._findings.expect
        expect(not self.is_over, f"{kind} follows the terminal event")
        expect(payload.get("sequence_number") == self._count, f"sequence_number is not {self._count}")
        expect(not self._error_seen or kind == "response.failed", f"{kind} follows an error, not response.failed")
        expect(self._count > 0 or kind == "response.created", f"the first event is {kind}, not response.created")
        self._count += 1
        self._error_seen = kind == "error"
        family, _, action = kind.rpartition(".")
        if isinstance(response := payload.get("response"), dict):
            self._response(kind, response)
        elif family == "response.output_item":
            self._item_event(payload, action)
        elif family in _PART_INDEX:
            self._part_event(payload, _PART_INDEX[family], action)
        elif family in _WORDS:
            self._words(payload, _WORDS[family], action)
        elif kind == "response.output_text.annotation.added":
            self._annotation(payload)
        elif family in _INPUTS:
            self._input(payload, _INPUTS[family], action)
        elif "item_id" in payload:
            self._item_of(payload)

    def close(self, *, cut: bool) -> None:
        """The stream is over."""
        self._findings.expect(self.is_over != cut, "a terminal event" if cut else "no terminal event")

    # -- items --------------------------------------------------------------------------------------------------------

    def _item_event(self, payload: dict[str, Any], action: str) -> None:
        raw, index, expect = payload.get("item"), payload.get("output_index"), self._findings.expect
        if not isinstance(raw, dict):
            self._findings.note("no item")
        elif action == "added":
            expect(index == len(self._items), f"output_index {index} is not the next, {len(self._items)}")
            expect(bool(raw.get("id")), "an item without an id")
            expect(all(item.id != raw.get("id") for item in self._items), f"two items have the id {raw.get('id')!r}")
            self._items.append(_Item(raw))
        elif (item := self._item_of({"item_id": raw.get("id"), "output_index": index})) is not None:
            expect(item.type == raw.get("type"), f"item {index} changes its type")
            expect(item.call_id == raw.get("call_id"), f"item {index} changes its call_id")
            item.done = raw
            self._whole_item(item, raw)

    def _item_of(self, payload: dict[str, Any]) -> _Item | None:
        """The item that an event speaks of, if it may."""
        index = payload.get("output_index")
        if not isinstance(index, int) or not 0 <= index < len(self._items):
            self._findings.note(f"output_index {index} was not announced")
            return None
        item = self._items[index]
        self._findings.expect(item.id == payload.get("item_id"), f"item {index} is not {payload.get('item_id')!r}")
        self._findings.expect(item.done is None, f"item {index} is done already")
        return item

    def _whole_item(self, item: _Item, raw: dict[str, Any]) -> None:
        expect = self._findings.expect
        expect(raw.get("status") != "in_progress", f"item {raw.get('id')} is done and in progress")
        for index, home in (("content_index", "content"), ("summary_index", "summary")):
            parts = item.parts[index]
            expect(all(part.done for part in parts), f"item {raw.get('id')} is done before its parts")
            if item.type in ("message", "reasoning"):
                shown = [_words_of(part) for part in raw.get(home) or ()]
                expect(shown == [part.whole for part in parts], f"the {home} of item {raw.get('id')} is not its parts")
        if item.type in ("function_call", "custom_tool_call"):
            whole = raw.get("arguments", raw.get("input"))
            expect(whole == "".join(item.input), f"the input of {raw.get('id')} is not its deltas")

    # -- parts --------------------------------------------------------------------------------------------------------

    def _part_of(self, payload: dict[str, Any], index: str) -> _Part | None:
        item, position = self._item_of(payload), payload.get(index)
        if item is None:
            return None
        if not isinstance(position, int) or not 0 <= position < len(item.parts[index]):
            self._findings.note(f"{index} {position} was not announced")
            return None
        part = item.parts[index][position]
        self._findings.expect(not part.done, f"{index} {position} is done already")
        return part

    def _part_event(self, payload: dict[str, Any], index: str, action: str) -> None:
        expect = self._findings.expect
        if action == "added":
            if (item := self._item_of(payload)) is not None:
                parts = item.parts[index]
                expect(payload.get(index) == len(parts), f"{index} {payload.get(index)} is not the next, {len(parts)}")
                expect(_words_of(payload.get("part")) == "", "a part is announced with words in it")
                parts.append(_Part())
        elif (part := self._part_of(payload, index)) is not None:
            expect(part.whole is not None, "a part is done before its words")
            expect(_words_of(payload.get("part")) == part.whole, "a part does not show its words")
            part.done = True

    def _words(self, payload: dict[str, Any], index: str, action: str) -> None:
        part = self._part_of(payload, index)
        if part is None:
            return
        self._findings.expect(part.whole is None, "words follow the whole of them")
        if action == "delta":
            self._findings.expect(bool(payload.get("delta")), "an empty delta")
            part.pieces.append(str(payload.get("delta")))
        else:
            part.whole = payload.get("text", payload.get("refusal"))
            self._findings.expect(part.whole == "".join(part.pieces), "the whole words are not the deltas")

    def _annotation(self, payload: dict[str, Any]) -> None:
        if (part := self._part_of(payload, "content_index")) is not None:
            index = payload.get("annotation_index")
            self._findings.expect(index == part.annotations, f"annotation_index {index} is not {part.annotations}")
            part.annotations += 1

    def _input(self, payload: dict[str, Any], member: str, action: str) -> None:
        if (item := self._item_of(payload)) is None:
            return
        if action == "delta":
            self._findings.expect(bool(payload.get("delta")), "an empty delta")
            item.input.append(str(payload.get("delta")))
        else:
            self._findings.expect(payload.get(member) == "".join(item.input), "the whole input is not the deltas")

    # -- the response -------------------------------------------------------------------------------------------------

    def _response(self, kind: str, response: dict[str, Any]) -> None:
        expect = self._findings.expect
        self._id = self._id or response.get("id")
        expect(bool(self._id) and response.get("id") == self._id, "the response id changes, or there is none")
        expect(self._count <= 2 or kind in _TERMINAL, f"a second {kind}")
        if kind not in _TERMINAL:
            expect(response.get("output") == [], f"{kind} has output")
            return
        self.is_over = True
        output = response.get("output") or []
        expect([raw.get("id") for raw in output] == [item.id for item in self._items], "the output is not the items")
        for raw, item in zip(output, self._items, strict=False):
            if item.done is None:
                expect(raw.get("status") == "incomplete", f"item {item.id} was never done, and is not incomplete")
            else:
                # a source, and the rest of an image, may come late: they stand in the last snapshot only
                expect(_bare(raw) == _bare(item.done), f"item {item.id} is not what it was when it was done")


def _words_of(part: Any) -> Any:
    return part.get("text", part.get("refusal")) if isinstance(part, dict) else None


def _bare(item: dict[str, Any]) -> dict[str, Any]:
    """An item without its annotations, and without its image."""
    bare = {key: value for key, value in item.items() if key != "result"}
    if isinstance(content := item.get("content"), list):
        bare["content"] = [{k: v for k, v in part.items() if k != "annotations"} for part in content]
    return bare


class _ChatChoice:
    """What was seen of one choice."""

    def __init__(self) -> None:
        self.finished = False
        self.calls = 0
        self.counts = {"annotations": 0, "images": 0}


class ChatOrder:
    """Watches the chunks of one chat stream."""

    def __init__(self, findings: _Findings) -> None:
        """Nothing seen."""
        self._findings = findings
        self._choices: dict[int, _ChatChoice] = {}
        self._head: Any = None
        self._usage_seen = False
        self._failed = False

    @property
    def is_over(self) -> bool:
        """Whether something said that the stream is over."""
        finished = [choice.finished for choice in self._choices.values()]
        return self._failed or (bool(finished) and all(finished))

    def event(self, payload: dict[str, Any]) -> None:
        """One chunk."""
        expect = self._findings.expect
        expect(not self._failed, "a chunk follows the error")
        if "error" in payload:
            self._failed = True
            expect(isinstance(payload["error"], dict) and bool(payload["error"].get("message")), "an empty error")
            return
        head = [payload.get(key) for key in ("id", "object", "created", "model")]
        self._head = self._head or head
        expect(head == self._head and bool(head[0]), "id, object, created or model change, or there is no id")
        expect(payload.get("object") == "chat.completion.chunk", "the object is no chunk")
        choices = payload.get("choices")
        expect(not self._usage_seen, "a chunk follows the usage")
        if payload.get("usage") is not None:
            self._usage_seen = True
            expect(choices == [], "the usage chunk has choices")
        else:
            expect(isinstance(choices, list) and len(choices) == 1, "not one choice in a chunk")
        for raw in choices if isinstance(choices, list) else ():
            self._choice(raw)

    def close(self, *, cut: bool) -> None:
        """The stream is over."""
        self._findings.expect(self.is_over != cut, "an end" if cut else "no finish reason and no error")

    def _choice(self, raw: dict[str, Any]) -> None:
        expect, index, delta = self._findings.expect, raw.get("index"), raw.get("delta")
        if not isinstance(index, int) or not isinstance(delta, dict):
            self._findings.note("a choice without index or delta")
            return
        is_first = index not in self._choices
        choice = self._choices.setdefault(index, _ChatChoice())
        expect(is_first == ("role" in delta), "the role comes first, and once")
        expect(not choice.finished, f"choice {index} was finished already")
        choice.finished = choice.finished or raw.get("finish_reason") is not None
        for entry in delta.get("tool_calls") or ():
            self._call(choice, entry)
        for key in choice.counts:
            for entry in delta.get(key) or ():
                expect(entry.get("index") == choice.counts[key], f"the {key} are not counted")
                choice.counts[key] += 1

    def _call(self, choice: _ChatChoice, entry: dict[str, Any]) -> None:
        expect, index = self._findings.expect, entry.get("index")
        form = entry.get(str(entry.get("type"))) or {}
        if index == choice.calls:
            expect(bool(entry.get("id")) and bool(entry.get("type")) and "name" in form, "a call without id or name")
            choice.calls += 1
        else:
            expect(isinstance(index, int) and 0 <= index < choice.calls, f"call {index} was not begun")
            expect(not {"id", "type"} & entry.keys(), f"call {index} repeats its id or type")
            members = [member for member in entry.values() if isinstance(member, dict)]
            expect(all("name" not in member for member in members), f"call {index} repeats its name")


def wire_breaches(frames: bytes | Iterable[bytes], *, cut: bool = False) -> list[str]:
    """Every breach of the order in a whole stream; empty if there is none.

    Args:
        frames: the stream, whole or in frames.
        cut: whether the stream ends silently: then nothing may say that it is over.
    """
    body = frames if isinstance(frames, bytes) else b"".join(frames)
    findings = _Findings()
    order: ResponsesOrder | ChatOrder | None = None
    done = False
    findings.expect(body.endswith(b"\n\n"), "the last frame is not closed by a blank line")
    for findings.position, frame in enumerate(body.removesuffix(b"\n\n").split(b"\n\n")):
        payload = _read_frame(frame, findings)
        if payload is None:
            continue
        findings.expect(not done, "a frame follows [DONE]")
        if payload == "[DONE]":
            done = True
            findings.expect(order is not None and order.is_over, "[DONE] before the end")
            findings.expect(not getattr(order, "_failed", False), "[DONE] follows an error")
            continue
        if order is None:
            order = ResponsesOrder(findings) if "type" in payload else ChatOrder(findings)
        order.event(payload)
    if order is None:
        findings.note("nothing but comments")
    else:
        order.close(cut=cut)
    return findings.all


def _read_frame(frame: bytes, findings: _Findings) -> Any:
    """The payload of a frame; None for a comment, and for what is no legal frame."""
    lines = frame.decode().split("\n")
    if all(line.startswith(":") for line in lines):
        return None
    name = lines.pop(0).removeprefix("event: ") if lines[0].startswith("event: ") else None
    if len(lines) != 1 or not lines[0].startswith("data: "):
        findings.note("not one data line, or a field that readers choke on")
        return None
    data = lines[0].removeprefix("data: ")
    if data == "[DONE]":
        return data
    try:
        payload = json.loads(data)
    except ValueError:
        payload = None
    if not isinstance(payload, dict):
        findings.note("the data is no JSON object")
        return None
    findings.expect(name in (None, payload.get("type")), f"the event line says {name}")
    return payload
