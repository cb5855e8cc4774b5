"""What every time is set against: the least that anyone must do with the same bytes."""

from __future__ import annotations

import orjson


def bare_loop(data: bytes) -> None:
    """Split a body into events and parse each payload; touch nothing, make no events of our own."""
    for event in data.split(b"\n\n"):
        start = event.find(b"{")
        if start >= 0:
            orjson.loads(event[start:])


def split_lines(data: bytes) -> None:
    """Split a body into lines: the least that any framing must do."""
    data.split(b"\n")


def parse_once(data: bytes) -> None:
    """Parse JSON text when all of it is there."""
    orjson.loads(data)


LOOPS = {"bare-loop": bare_loop, "split-lines": split_lines, "parse-once": parse_once}
