"""The order of a Responses stream that its strict readers rely on."""

from __future__ import annotations

from typing import Any

from .findings import Findings

_TERMINAL = frozenset(("response.completed", "response.incomplete", "response.failed"))
_LIFECYCLE = _TERMINAL | {"response.created", "response.in_progress", "response.queued"}
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

    def __init__(self, findings: Findings, *, relayed: bool) -> None:
        """Nothing seen. `relayed`: events of a vendor may be among them."""
        self._findings = findings
        self._relayed = relayed
        self._number = -1
        self._items: list[_Item] = []
        self._count = 0
        self._id: Any = None
        self._error_seen = False
        self.is_over = False

    def event(self, payload: dict[str, Any]) -> None:
        """One event."""
        kind, expect = str(payload.get("type")), self._findings.expect
        expect(not self.is_over, f"{kind} follows the terminal event")
        self._numbered(payload.get("sequence_number"))
        expect(not self._error_seen or kind == "response.failed", f"{kind} follows an error, not response.failed")
        expect(self._count > 0 or kind == "response.created", f"the first event is {kind}, not response.created")
        self._count += 1
        self._error_seen = kind == "error"
        family, _, action = kind.rpartition(".")
        if kind in _LIFECYCLE and isinstance(response := payload.get("response"), dict):
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
        elif "item_id" in payload and not self._relayed:
            self._item_of(payload)

    def _numbered(self, number: Any) -> None:
        """Numbers rise; our own without gaps."""
        if self._relayed:
            self._findings.expect(isinstance(number, int) and number > self._number, f"sequence_number {number}")
            self._number = number if isinstance(number, int) else self._number
        else:
            self._findings.expect(number == self._count, f"sequence_number is not {self._count}")

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
            expect(not self._relayed or _is_bare_call(raw), "a call is announced with input, or without a name")
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
        in_progress = raw.get("status") == "in_progress"
        expect(self._relayed or not in_progress, f"item {raw.get('id')} is done and in progress")
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
            counts = self._relayed or index == part.annotations
            self._findings.expect(counts, f"annotation_index {index} is not {part.annotations}")
            part.annotations += 1

    def _input(self, payload: dict[str, Any], member: str, action: str) -> None:
        if (item := self._item_of(payload)) is None:
            return
        if action == "delta":
            self._findings.expect(bool(payload.get("delta")), "an empty delta")
            item.input.append(str(payload.get("delta")))
        else:
            self._findings.expect(payload.get(member) == "".join(item.input), "the whole input is not the deltas")

    def _has_what_readers_ask_for(self, kind: str, response: dict[str, Any]) -> None:
        expect, usage = self._findings.expect, response.get("usage")
        expect(response.get("object") == "response" and "model" in response and "created_at" in response, "no response")
        if kind in _TERMINAL and usage is not None:
            details = (usage.get("input_tokens_details"), usage.get("output_tokens_details"))
            expect(all(isinstance(detail, dict) for detail in details), "token counts without details")

    # -- the response -------------------------------------------------------------------------------------------------

    def _response(self, kind: str, response: dict[str, Any]) -> None:
        expect = self._findings.expect
        self._id = self._id or response.get("id")
        expect(bool(self._id) and response.get("id") == self._id, "the response id changes, or there is none")
        if self._relayed:
            self._has_what_readers_ask_for(kind, response)
        is_beginning = not self._items if self._relayed else self._count <= 2
        is_beginning = is_beginning and (kind != "response.created" or self._count == 1)
        expect(is_beginning or kind in _TERMINAL, f"a second {kind}")
        if kind not in _TERMINAL:
            expect(not response.get("output"), f"{kind} has output")
            return
        self.is_over = True
        if self._relayed and kind == "response.failed":
            return  # what came before the failure is not shown again by all
        output = response.get("output") or []
        expect([raw.get("id") for raw in output] == [item.id for item in self._items], "the output is not the items")
        for raw, item in zip(output, self._items, strict=False):
            if item.done is None:
                expect(raw.get("status") == "incomplete", f"item {item.id} was never done, and is not incomplete")
            elif self._relayed:
                expect(_said_by(raw) == _said_by(item.done), f"item {item.id} does not say what it said when done")
            else:
                # a source, and the rest of an image, may come late: they stand in the last snapshot only
                expect(_bare(raw) == _bare(item.done), f"item {item.id} is not what it was when it was done")


def _is_bare_call(item: dict[str, Any]) -> bool:
    """Whether a call is announced by its names, without input. One that never got a name has an empty one."""
    member = {"function_call": "arguments", "custom_tool_call": "input"}.get(str(item.get("type")))
    return member is None or (item.get(member) == "" and isinstance(item.get("name"), str) and "call_id" in item)


def _words_of(part: Any) -> Any:
    return part.get("text", part.get("refusal")) if isinstance(part, dict) else None


def _said_by(item: dict[str, Any]) -> Any:
    """What readers take from an item: vendors change the rest between its end and the last snapshot."""
    parts = [_words_of(part) for home in ("summary", "content") for part in item.get(home) or ()]
    members = [item.get(member) for member in ("type", "id", "call_id", "name", "arguments", "input")]
    return members, [words for words in parts if words is not None]


def _bare(item: dict[str, Any]) -> dict[str, Any]:
    """An item without its annotations, and without its image."""
    bare = {key: value for key, value in item.items() if key != "result"}
    if isinstance(content := item.get("content"), list):
        bare["content"] = [{k: v for k, v in part.items() if k != "annotations"} for part in content]
    return bare
