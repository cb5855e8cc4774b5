"""What only the vendor can read, on its way through the caller and back: in the `encrypted_content` of reasoning items.

Some chat vendors sign thought or calls, or encrypt thought, and refuse the next request without it. The Responses API
has one place for what nobody but the vendor can read, and callers send it back as it came.
"""

from __future__ import annotations

import base64
import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from ..events import Event, ReasoningEnd, ReasoningStart, ToolCallEnd
from ..json_codec import dumps, loads

_PREFIX = "streamshim:"


class Seal(NamedTuple):
    """What is carried: of a thought, or the signature of the call that has this id."""

    signature: str | None = None
    encrypted: str | None = None
    call_id: str | None = None

    def written(self) -> str:
        """As `encrypted_content`."""
        return _PREFIX + base64.b64encode(dumps(self._asdict()).encode()).decode()


def seal_in(encrypted_content: Any) -> Seal | None:
    """What is carried in an `encrypted_content`; None if it is none of ours."""
    if not isinstance(encrypted_content, str) or not encrypted_content.startswith(_PREFIX):
        return None
    try:
        carried = loads(base64.b64decode(encrypted_content.removeprefix(_PREFIX), validate=True))
    except ValueError:
        return None
    if not isinstance(carried, dict):
        return None
    values: list[Any] = [carried.get(name) for name in Seal._fields]
    return Seal(*values) if all(value is None or isinstance(value, str) for value in values) else None


class Seals:
    """Seals what is signed or encrypted in one answer: a thought in its own item, a call in one behind it."""

    def __init__(self, make_id: Callable[[str], str]) -> None:
        """`make_id` makes the ids of items."""
        self._make_id = make_id
        self._parts = itertools.count(-1, -1)
        """Numbers that no part of a stream has."""
        self._was_sealed = False

    def told(self, events: Iterable[Event]) -> Iterator[Event]:
        """The events, with seals in place of what is opaque."""
        for event in events:
            if isinstance(event, ReasoningStart) and self._was_sealed:
                yield replace(event, id=event.id or self._make_id("rs"))  # an item has room for one seal
            elif isinstance(event, ReasoningEnd) and (event.signature or event.encrypted):
                self._was_sealed = True
                yield replace(event, signature=None, encrypted=Seal(event.signature, event.encrypted).written())
            elif isinstance(event, ToolCallEnd) and event.signature and event.status != "truncated":
                yield replace(event, signature=None)
                part, seal = next(self._parts), Seal(event.signature, call_id=event.call_id)
                yield ReasoningStart(part, event.choice, self._make_id("rs"), "encrypted")
                yield ReasoningEnd(None, part, event.choice, "encrypted", None, seal.written())
                self._was_sealed = True
            else:
                yield event
