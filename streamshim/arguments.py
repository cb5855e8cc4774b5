"""Tool arguments as they grow: events for every string, number and container in them, while the call still streams.

An editor can so show a file that is being written while its text is still an argument:

    with streamshim.stream(response) as events:
        for event in streamshim.live_arguments(events):
            match event:
                case streamshim.ArgumentDelta(path=("content",), delta=text):
                    print(text, end="")

`ArgumentDelta` and `ArgumentEnd` come from `live_arguments` alone: they are no members of the union `Event`, and no
decoder gives them.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Generator, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, overload

from .events import Event, ToolCallDelta
from .partial_arguments import PartialArguments
from .partial_object import PartialObject, Path, StringDelta

__all__ = ["ArgumentDelta", "ArgumentEnd", "LiveEvent", "PartialArguments", "PartialObject", "live_arguments"]

SLICE_CHARACTERS = 16_384
"""A longer delta is read in slices: a path may have a thousand keys, and what one slice says is held at once."""


@dataclass(slots=True, match_args=False)
class ArgumentDelta:
    """More of a string in a call's arguments, escapes decoded. `path` leads to it by keys and indexes."""

    part: int
    choice: int
    path: Path
    delta: str
    type: Literal["argument_delta"] = "argument_delta"


@dataclass(slots=True, match_args=False)
class ArgumentEnd:
    """A value in a call's arguments is whole; with the path `()`, all of them. Treat `value` as immutable.

    Whether the call may be run is told by its `ToolCallEnd` alone.
    """

    part: int
    choice: int
    path: Path
    value: Any
    type: Literal["argument_end"] = "argument_end"


ArgumentEvent: TypeAlias = ArgumentDelta | ArgumentEnd

LiveEvent: TypeAlias = Event | ArgumentEvent
"""What `live_arguments` gives."""


@overload
def live_arguments(events: Iterable[Event]) -> Generator[LiveEvent, None, None]: ...
@overload
def live_arguments(events: AsyncIterable[Event]) -> AsyncGenerator[LiveEvent, None]: ...
def live_arguments(
    events: Iterable[Event] | AsyncIterable[Event],
) -> Generator[LiveEvent, None, None] | AsyncGenerator[LiveEvent, None]:
    """Every event as it is, and right behind each `ToolCallDelta` what it says of the arguments.

    A string gives an `ArgumentDelta` for what each delta brings of it, and an `ArgumentEnd`; numbers, words and
    containers give an `ArgumentEnd`. Of a key that comes twice both values are told. The input of custom tools is free
    text and gives none of either. Where arguments stop being one JSON object nothing more is told of them.

    The events themselves are neither closed nor kept: hand in an `EventStream` inside of its `with` block.

    Args:
        events: an iterable or an asynchronous iterable; what comes back is a generator of the same kind.
    """
    return _alive(events) if isinstance(events, AsyncIterable) else _live(events)


def _live(events: Iterable[Event]) -> Generator[LiveEvent, None, None]:
    calls = _OpenCalls()
    for event in events:
        yield event
        if told := calls.told_by(event):
            yield from told


async def _alive(events: AsyncIterable[Event]) -> AsyncGenerator[LiveEvent, None]:
    calls = _OpenCalls()
    async for event in events:
        yield event
        for argument in calls.told_by(event):
            yield argument


class _OpenCalls:
    """The calls that are being written, by part."""

    __slots__ = ("_arguments",)

    def __init__(self) -> None:
        self._arguments: dict[int, PartialArguments] = {}

    def told_by(self, event: Event) -> Iterable[ArgumentEvent]:
        """What an event says of arguments."""
        if event.type == "tool_call_delta":
            if arguments := self._arguments.get(event.part):
                if len(event.delta) <= SLICE_CHARACTERS:
                    return self._read(arguments, event.delta, event.part, event.choice)
                return self._read_slices(arguments, event)
        elif event.type == "tool_call_start":
            if event.kind != "custom":
                self._arguments[event.part] = PartialArguments()
        elif event.type == "tool_call_end":
            self._arguments.pop(event.part, None)
        return ()

    def _read(self, arguments: PartialArguments, delta: str, part: int, choice: int) -> Iterable[ArgumentEvent]:
        told: list[ArgumentEvent] = []
        for piece in arguments.feed(delta):
            if isinstance(piece, StringDelta):
                told.append(ArgumentDelta(part, choice, piece.path, piece.delta))
            else:
                told.append(ArgumentEnd(part, choice, piece.path, piece.value))
        return told if arguments.error is None else self._read_last(told, part)

    def _read_last(self, told: list[ArgumentEvent], part: int) -> Iterator[ArgumentEvent]:
        yield from told
        self._arguments.pop(part, None)

    def _read_slices(self, arguments: PartialArguments, event: ToolCallDelta) -> Iterator[ArgumentEvent]:
        for start in range(0, len(event.delta), SLICE_CHARACTERS):
            yield from self._read(arguments, event.delta[start : start + SLICE_CHARACTERS], event.part, event.choice)
