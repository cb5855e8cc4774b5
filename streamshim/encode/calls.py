"""Calls of functions and custom tools on the Responses wire."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..events import ToolCallDelta, ToolCallEnd, ToolCallStart
from .output import Item, Output


@dataclass(frozen=True, slots=True)
class CallSpelling:
    """How a call of one kind is written."""

    item_type: str
    input_member: str
    family: str
    """Of the events that carry its input."""


FUNCTION = CallSpelling("function_call", "arguments", "response.function_call_arguments")
CUSTOM = CallSpelling("custom_tool_call", "input", "response.custom_tool_call_input")


class ClientCall:
    """A call that the reader answers. It is done only if it is whole: consumers run a call as soon as it is done."""

    def __init__(self, output: Output, start: ToolCallStart, spelling: CallSpelling, **members: Any) -> None:
        """Announces it. `members`: what else its item has."""
        self._output = output
        self._spelling = spelling
        self._pieces: list[str] = []
        self._has_shown_input = False
        self._item: Item = output.announce(
            spelling.item_type,
            start.id,
            status="in_progress",
            call_id=start.call_id or output.make_id("call"),
            name=start.name,
            **members,
            **{spelling.input_member: ""},
        )
        self._deltas = output.deltas(f"{spelling.family}.delta", self._item.place)

    def delta(self, event: ToolCallDelta) -> None:
        """More of its input."""
        self._add(event.delta)

    def end(self, event: ToolCallEnd) -> None:
        """It is over."""
        streamed = "".join(self._pieces)
        if event.status == "truncated":
            self.abandon()
            return
        self._add(rest_of(streamed, event.arguments))
        self._item.shown[self._spelling.input_member] = "".join(self._pieces)
        if not self._has_shown_input:
            self._show_input()
        self._output.close(self._item, "completed")

    def end_input(self, whole: str) -> None:
        """Its input is over, and this is all of it; the call goes on if other input came."""
        if not self._has_shown_input and whole == "".join(self._pieces):
            self._show_input()

    def abandon(self) -> None:
        """It was cut: only the terminal event shows it once more."""
        self._item.shown[self._spelling.input_member] = "".join(self._pieces)

    def _show_input(self) -> None:
        """All of the input, once more."""
        self._has_shown_input = True
        shown = {self._spelling.input_member: "".join(self._pieces)}
        self._output.write(f"{self._spelling.family}.done", **self._item.place, **shown)

    @property
    def id(self) -> str:
        """Of its item."""
        return str(self._item.shown["id"])

    def _add(self, delta: str) -> None:
        if delta:
            self._pieces.append(delta)
            self._deltas.write(delta)


def rest_of(streamed: str, whole: str) -> str:
    """What the End has beyond the deltas: the `{}` of a call without arguments."""
    if whole.startswith(streamed):
        return whole[len(streamed) :]
    return "" if streamed.strip() else whole
