"""Which call a fragment on the chat wire belongs to: by its id, then its index, then the last call.

The rules are written for what gateways really send: every call at index 0, ids that come late, again, empty, as the
word "null" or anew with each chunk, no index at all, names in pieces or in full on every fragment.
"""

from __future__ import annotations

from typing import Any

from ..events import ToolKind
from ..json_codec import clean, dumps, loads
from .reasoning_fields import signature_in
from .stream_state import StreamState
from .tool_calls import Call, is_object


def usable(value: object) -> str | None:
    """A string that says something: not empty, not the word "null"."""
    return value if isinstance(value, str) and value.strip() and value != "null" else None


def whole_number(value: object) -> int | None:
    """An index, which may be written as text."""
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and len(value) < 20 and value.strip().lstrip("-").isdecimal():
        return int(value)
    return None


_ENTRY_EXTRAS = frozenset(("custom", "extra_content", "provider_specific_fields"))


class ToolCallRouter:
    """The calls of one choice of a chat stream."""

    def __init__(self, state: StreamState, choice: int) -> None:
        """`choice`: its index."""
        self.calls: list[Call] = []
        self._state = state
        self._choice = choice
        self._by_id: dict[str, Call] = {}
        self._by_index: dict[int, Call] = {}
        self._index_of: dict[int, int | None] = {}
        self._pending: Call | None = None

    def read(self, entries: object) -> None:
        """The `tool_calls` of one delta."""
        if isinstance(entries, dict | str):
            entries = [entries]
        if not isinstance(entries, list):
            return
        for entry in entries:
            if isinstance(entry, str):
                entry = _decoded(entry)
            if isinstance(entry, dict):
                self._entry(entry)

    def read_plainly(self, entry: Any) -> bool:
        """A bare fragment of a call that has started: index and argument text, no name, no other id."""
        if entry.__class__ is not dict or not _ENTRY_EXTRAS.isdisjoint(entry):
            return False
        index, function = entry.get("index"), entry.get("function")
        call = self._by_index.get(index) if index.__class__ is int else None
        if call is None or call.part is None or function.__class__ is not dict:
            return False
        id, arguments = entry.get("id"), function.get("arguments")
        if arguments.__class__ is not str or (id and id != call.call_id) or function.get("name"):
            return False
        if arguments:
            call.add(arguments)
            if call.split is not None:
                self._split(call, index)
        return True

    def read_legacy(self, function_call: dict[str, Any]) -> None:
        """The deprecated `function_call`, unless the same call came under its new name."""
        if self.calls and not self._by_index.get(-1):
            return
        self._state.repair("tool-legacy-function-call", "the call came as `function_call`")
        self._entry({"index": -1, "function": function_call})

    def add_call(self, name: str, arguments: str, id: str | None) -> None:
        """A whole call that stood somewhere else than in `tool_calls`."""
        call = self._open(None, "function")
        call.name, call.call_id = name, id
        if id is not None:
            self._by_id.setdefault(id, call)
        call.add(arguments)

    def settle(self) -> None:
        """Another part begins, or a finish word came: the newest call's name and id are final now, if it has a name."""
        pending, self._pending = self._pending, None
        if pending is not None and pending.name:
            pending.start()

    # -- one fragment -------------------------------------------------------------------------------------------------

    def _entry(self, entry: dict[str, Any]) -> None:
        body, kind = _body(entry)
        name = usable(body.get("name"))
        raw_arguments = body.get("input") if kind == "custom" else body.get("arguments", body.get("parameters"))
        arguments = self._arguments_text(raw_arguments)
        raw_id = usable(entry.get("id"))
        index = whole_number(entry.get("index"))
        if name and "<|" in name:
            self._state.repair("tool-name-markup", f"the name {name!r} carries control marks")
            name = name.split("<|", 1)[0]
        call = self._find(raw_id, index, name, arguments)
        if call is None:
            if not (raw_id or name or arguments):
                return
            call = self._open(index, kind)
        if raw_id and not call.call_id:
            call.call_id = clean(raw_id)
            self._by_id.setdefault(raw_id, call)
        self._name(call, name, arguments)
        if signature := signature_in(entry):
            call.signature = signature
        if arguments:
            call.add(arguments)
            if call.split is not None:
                self._split(call, index)

    def _find(self, raw_id: str | None, index: int | None, name: str | None, arguments: str) -> Call | None:
        """The call that a fragment belongs to, or None: it opens a new one."""
        slot = self._by_index.get(index) if index is not None else None
        last = self.calls[-1] if self.calls else None
        if raw_id is not None:
            known = slot if slot is not None and slot.call_id == raw_id else self._by_id.get(raw_id)
            if known is not None:
                moved = index is not None and self._index_of[id(known)] not in (None, index)
                if moved and name and known.name and name != known.name:
                    self._state.repair("tool-id-duplicate", f"two calls share the id {raw_id!r}")
                    return None
                return self._or_new(known, name, arguments)
            if slot is not None and not slot.call_id and not (name and slot.name and slot.has_arguments):
                return slot
            if name or (index is not None and slot is None) or last is None:
                if slot is not None:
                    self._state.repair("tool-index-reused", f"index {index} is used by more than one call")
                return None
            self._state.repair("tool-id-changes", f"the id changed to {raw_id!r} without a name")
            return slot or last
        if slot is not None:
            return self._or_new(slot, name, arguments)
        if name and not (last is not None and index is None and self._takes(last, name)):
            return None
        if last is not None and (arguments or name):
            self._state.repair("tool-index-missing", "a fragment without a known index or id goes to the last call")
        return last

    @staticmethod
    def _takes(call: Call, name: str) -> bool:
        """Whether a name without id and index is this call's: it had none, or its arguments have begun and go on."""
        return not call.name or (call.name == name and call.has_arguments and not call.is_whole())

    def _or_new(self, call: Call, name: str | None, arguments: str) -> Call | None:
        """The known call, unless a second whole object with a name comes: then the old one is over."""
        if name and arguments and call.is_whole() and is_object(arguments) and not _same(call, arguments):
            self._state.repair("tool-index-reused", f"a second whole call {name!r} came under the same id or index")
            return None
        return call

    def _open(self, index: int | None, kind: ToolKind) -> Call:
        self.settle()
        call = Call(self._state, self._choice, kind)
        self.calls.append(call)
        self._pending = call
        self._index_of[id(call)] = index
        if index is not None:
            self._by_index[index] = call
        return call

    def _name(self, call: Call, name: str | None, arguments: str) -> None:
        """Names are set once; an equal repeat says nothing, a continuation counts while no arguments have come."""
        if not name:
            return
        if not call.name:
            call.name = clean(name)
            if call is not self._pending or (call.has_arguments and not arguments):
                call.start()
        elif call.has_arguments or call.part is not None:
            call.second_head = name
            self._state.repair("tool-name-repeated", f"the name {name!r} came again")
        elif name == call.name:
            self._state.repair("tool-name-repeated", f"the name {name!r} came again")
        else:
            call.name += clean(name)

    def _split(self, call: Call, index: int | None) -> None:
        """Two objects were glued under one index: the second is a call of its own."""
        arguments, call.split = call.split or "", None
        name, call.second_head = call.second_head or call.name, None
        second = self._open(index if index is not None else self._index_of[id(call)], call.kind)
        second.name = name
        second.add(arguments)

    def _arguments_text(self, value: object) -> str:
        if isinstance(value, str):
            return value
        if isinstance(value, dict | list):
            self._state.repair("tool-arguments-object", "the arguments are an object, not text")
            return dumps(value)
        return ""


def _same(call: Call, arguments: str) -> bool:
    return call.arguments().strip() == arguments.strip()


def _decoded(entry: str) -> object:
    try:
        return loads(entry)
    except ValueError:
        return None


def _body(entry: dict[str, Any]) -> tuple[dict[str, Any], ToolKind]:
    """Where name and arguments stand, and what kind of call it is."""
    custom, function = entry.get("custom"), entry.get("function")
    if isinstance(custom, dict) and not isinstance(function, dict):
        return custom, "custom"
    if isinstance(function, dict):
        return function, "function"
    return (entry, "function") if "arguments" in entry or "name" in entry else ({}, "function")
