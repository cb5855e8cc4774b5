"""Readers of a call's arguments while they grow: fed deltas of JSON text, asked after each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..argument_texts import leaves
from ..loads import Said
from . import Door

Deltas = Sequence[str]


def told() -> Door:
    """`PartialArguments.feed`: what each delta says."""
    from streamshim.partial_arguments import PartialArguments

    def read(deltas: Deltas) -> Iterator[Iterable[Any]]:
        partial = PartialArguments()
        for delta in deltas:
            yield partial.feed(delta)

    def said(pieces: Iterable[Any]) -> Said:
        *_, last = pieces
        return _said_by_value(last.value)

    return Door(read, said)


def shown() -> Door:
    """`PartialArguments.feed`, then `.value`: all that came so far, after each delta."""
    from streamshim.partial_arguments import PartialArguments

    def read(deltas: Deltas) -> Iterator[Iterable[Any]]:
        partial = PartialArguments()
        for delta in deltas:
            partial.feed(delta)
            yield (partial.value,)

    return Door(read, _said_by_the_last)


def ijson_told() -> Door:
    """The events of ijson after each delta; a string is told when it closes."""
    import ijson

    scalars = ("string", "number", "boolean", "null")

    def read(deltas: Deltas) -> Iterator[Iterable[Any]]:
        events = ijson.sendable_list()
        parser = ijson.basic_parse_coro(events, use_float=True)
        for delta in deltas:
            parser.send(delta.encode())
            yield events
            events.clear()
        parser.close()

    def said(events: Iterable[Any]) -> Said:
        return Said(arguments="\n".join(leaf for kind, value in events if kind in scalars for leaf in leaves(value)))

    return Door(read, said)


def jiter_shown() -> Door:
    """jiter in its partial mode: all that came so far, read again after each delta."""
    import jiter

    def read(deltas: Deltas) -> Iterator[Iterable[Any]]:
        text = bytearray()
        for delta in deltas:
            text += delta.encode()
            yield (jiter.from_json(bytes(text), partial_mode="trailing-strings"),)

    return Door(read, _said_by_the_last)


def _said_by_the_last(values: Iterable[Any]) -> Said:
    *_, last = values
    return _said_by_value(dict(last))


def _said_by_value(value: Any) -> Said:
    return Said(arguments="\n".join(leaves(value)))
