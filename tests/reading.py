"""Reads bytes with a decoder the way most tests need it: made-up ids that are the same in every run."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable
from typing import Any

from streamshim import Event, StreamDecoder


def decode(pieces: Iterable[bytes], *, broken: bool = False, **options: Any) -> list[Event]:
    """All events of a stream, after its end. `broken`: the connection breaks behind the last piece."""
    numbers = itertools.count()
    options.setdefault("make_id", lambda prefix: f"{prefix}_made_{next(numbers)}")
    decoder = StreamDecoder(**options)
    events = [event for piece in pieces for event in decoder.feed(piece)]
    return events + decoder.close(ConnectionError("connection broke") if broken else None)


def plain(value: Any) -> Any:
    """A value for comparison: scalars keep their type (1, 1.0 and True differ, NaN equals NaN), dicts their order."""
    if value is None or isinstance(value, str):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return (type(value).__name__, *(plain(getattr(value, field.name)) for field in dataclasses.fields(value)))
    if isinstance(value, dict):
        return tuple((key, plain(inner)) for key, inner in value.items())
    if isinstance(value, list | tuple):
        return tuple(plain(inner) for inner in value)
    return f"{type(value).__name__}:{value!r}"


def first_difference(events: list[Event], others: list[Event]) -> str | None:
    """Where two streams part, or None."""
    one, other = [plain(event) for event in events], [plain(event) for event in others]
    if one == other:
        return None
    index = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    shown = [str(side[index])[:200] if index < len(side) else "nothing" for side in (one, other)]
    return f"event {index} of {len(one)}/{len(other)}: {shown[0]} against {shown[1]}"
