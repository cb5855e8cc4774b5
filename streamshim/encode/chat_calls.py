"""Tool calls on the chat wire: as they come, or held until they are whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from ..events import ToolCallDelta, ToolCallEnd, ToolCallStart
from ..json_codec import dumps
from .calls import rest_of

if TYPE_CHECKING:
    from ..response_models import ToolCallPart

Write: TypeAlias = Callable[[dict[str, Any]], None]
"""Writes one entry of `delta.tool_calls`; the index is there already."""
SayInput: TypeAlias = Callable[["StreamedCall", int, str], None]
"""Writes more of a call's input; the call, its choice, the text."""

_OPENING, _CLOSING = '{"input":"', '"}'


def call_entry(call_id: str, name: str, text: str, *, custom: bool) -> dict[str, Any]:
    """A call as the chat wire has it, in a delta or in a message."""
    if custom:
        return {"id": call_id, "type": "custom", "custom": {"name": name, "input": text}}
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": text}}


def message_call(call: ToolCallPart, *, custom: bool) -> dict[str, Any]:
    """A whole call as a message has it. `custom`: custom tools in the form that they have on this wire."""
    is_custom = call.kind == "custom" and custom
    text = wrapped_input(call.arguments) if call.kind == "custom" and not custom else call.arguments
    return call_entry(call.call_id, call.name, text, custom=is_custom)


def wrapped_input(text: str) -> str:
    """A custom tool's input as the arguments of a function."""
    return f"{_OPENING}{_escaped(text)}{_CLOSING}"


def _escaped(text: str) -> str:
    """Text as it stands inside a JSON string."""
    return dumps(text)[1:-1]


class StreamedCall:
    """A call whose arguments are written as they come."""

    def __init__(
        self, start: ToolCallStart, call_id: str, index: int, write: Write, say_input: SayInput, *, custom: bool
    ) -> None:
        """Writes its head. `custom`: in the form that custom tools have on this wire."""
        self._choice = start.choice
        self._index = index
        self._say_input = say_input
        self._custom = custom
        self._wraps = start.kind == "custom" and not custom
        self._streamed: list[str] = []
        write({"index": self._index, **call_entry(call_id, start.name, "", custom=custom)})
        if self._wraps:
            self._more(_OPENING)

    def entry(self, text: str) -> dict[str, Any]:
        """One more piece of its input as the wire has it."""
        piece = {"custom": {"input": text}} if self._custom else {"function": {"arguments": text}}
        return {"index": self._index, **piece}

    def delta(self, event: ToolCallDelta) -> None:
        """More of its input."""
        self._say(event.delta)

    def end(self, event: ToolCallEnd) -> None:
        """It is over; a call that was cut stays open on the wire."""
        if event.status == "truncated":
            return
        self._say(rest_of("".join(self._streamed), event.arguments))
        if self._wraps:
            self._more(_CLOSING)

    def _say(self, text: str) -> None:
        if text:
            self._streamed.append(text)
            self._more(_escaped(text) if self._wraps else text)

    def _more(self, text: str) -> None:
        self._say_input(self, self._choice, text)


class HeldCall:
    """A call that is written once it is whole, or never."""

    def __init__(
        self, start: ToolCallStart, call_id: str, next_index: Callable[[], int], write: Write, *, custom: bool
    ) -> None:
        """Nothing is written yet. `custom`: in the form that custom tools have on this wire."""
        self._call_id = call_id
        self._next_index = next_index
        self._write = write
        self._custom = custom
        self._wraps = start.kind == "custom" and not custom

    def delta(self, event: ToolCallDelta) -> None:
        """Its End has it all."""

    def end(self, event: ToolCallEnd) -> None:
        """The whole call, unless it was cut or somebody else answered it."""
        if event.status == "truncated" or event.kind == "server":
            return
        text = wrapped_input(event.arguments) if self._wraps else event.arguments
        entry = call_entry(self._call_id, event.name, text, custom=self._custom)
        self._write({"index": self._next_index(), **entry})
