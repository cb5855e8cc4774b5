"""The bytes of an event stream in pieces: the lines between blank lines, and the JSON objects in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..decode.error_body import find_error
from ..json_codec import loads, loads_lenient

_LINE = re.compile(rb"\r\n|\r|\n")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
SHOWN = 600
"""Bytes of a frame that are kept as the proof of a fault."""


@dataclass(frozen=True, slots=True)
class Payload:
    """The JSON object of one event, its name, and its text."""

    name: str | None
    value: dict[str, Any]
    text: str


def read_payloads(body: bytes) -> Iterator[Payload]:
    """The JSON objects of an event stream up to [DONE], however they are parted; errors are another's matter."""
    for lines, _ in blocks_of(body.removeprefix(BYTE_ORDER_MARK)):
        names = [value_of(line) for line in lines if line.startswith(b"event:")]
        name = names[-1].decode("utf-8", "replace") if names else None
        data = [value_of(line) for line in lines if line.startswith(b"data:")]
        if data == [b"[DONE]"]:
            return
        whole = _object(b"\n".join(data))
        for value, text in [whole] if whole else filter(None, map(_object, data)):
            if "choices" in value or find_error(value, named=name == "error") is None:
                yield Payload(name if whole else None, value, shown(text))


def _object(text: bytes) -> tuple[dict[str, Any], bytes] | None:
    try:
        value = loads(text)
    except ValueError:
        try:
            value, _ = loads_lenient(text)
        except ValueError:
            return None
    return (value, text) if isinstance(value, dict) else None


def blocks_of(body: bytes) -> Iterator[tuple[list[bytes], bool]]:
    """The lines between blank lines, and whether a blank line closes them."""
    block: list[bytes] = []
    for line in _LINE.split(body):
        if line:
            block.append(line)
        elif block:
            yield block, True
            block = []
    if block:
        yield block, False


def value_of(line: bytes) -> bytes:
    """What stands behind the colon of a line."""
    return line.partition(b":")[2].removeprefix(b" ")


def shown(text: bytes) -> str:
    """As much of it as is kept as a proof."""
    return text[:SHOWN].decode("utf-8", "replace")
