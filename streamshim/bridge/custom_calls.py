"""Calls of functions that stand for custom tools, as calls of those: their text is told as the arguments grow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ..events import Event, ToolCallDelta, ToolCallEnd, ToolCallStart
from ..json_codec import loads
from ..partial_arguments import PartialArguments
from ..partial_object import StringDelta
from .tools import CUSTOM_INPUT, DeclaredTool


class _Call:
    """One call: its arguments, and what was told of the text in them."""

    __slots__ = ("arguments", "told")

    def __init__(self) -> None:
        self.arguments = PartialArguments()
        self.told: list[str] = []

    def feed(self, delta: str) -> str:
        """More of its arguments: what that brings of the text."""
        pieces = self.arguments.feed(delta)
        text = "".join(p.delta for p in pieces if isinstance(p, StringDelta) and p.path == (CUSTOM_INPUT,))
        self.told.append(text)
        return text


class CustomCalls:
    """Turns the calls of one answer back."""

    def __init__(self, tools: Mapping[str, DeclaredTool]) -> None:
        """`tools`: those that are called otherwise than they were declared."""
        self._names = frozenset(name for name, tool in tools.items() if tool.is_custom)
        self._open: dict[int, _Call] = {}

    def told(self, events: Iterable[Event]) -> Iterator[Event]:
        """The events, with calls of custom tools where functions stood for these."""
        for event in events:
            if isinstance(event, ToolCallStart) and event.kind == "function" and event.name in self._names:
                self._open[event.part] = _Call()
                yield replace(event, kind="custom")
            elif isinstance(event, ToolCallDelta) and (call := self._open.get(event.part)) is not None:
                if text := call.feed(event.delta):
                    yield replace(event, delta=text)
            elif isinstance(event, ToolCallEnd) and (call := self._open.pop(event.part, None)) is not None:
                yield _ended(event, "".join(call.told))
            else:
                yield event


def _ended(end: ToolCallEnd, told: str) -> ToolCallEnd:
    """The end of a call: its text, however the model wrote it down."""
    if end.status == "truncated":
        return replace(end, kind="custom", arguments=told)
    text = _text_in(end.arguments)
    if text is None:  # not what was asked for: plain text, most likely
        return replace(end, kind="custom", arguments=told or end.arguments, status="invalid" if told else "complete")
    return replace(end, kind="custom", arguments=text, status="complete")


def _text_in(arguments: str) -> str | None:
    """The text in whole arguments: the one string in them, whatever it is called."""
    try:
        value: Any = loads(arguments)
    except ValueError:
        return None
    if isinstance(value, str):
        return value
    if not isinstance(value, dict):
        return None
    strings = [value[CUSTOM_INPUT]] if CUSTOM_INPUT in value else list(value.values())
    return strings[0] if len(strings) == 1 and isinstance(strings[0], str) else None
