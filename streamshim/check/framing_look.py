"""A look at the framing of an event stream."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .faults import Sighting
from .payloads import BYTE_ORDER_MARK, SHOWN, blocks_of, shown, value_of

if TYPE_CHECKING:
    from .reading import Reading


def look_at_framing(exchange: Reading, *, has_done: bool) -> Iterator[Sighting]:
    """Every departure of the framing; `has_done`: whether [DONE] must end it."""
    body = exchange.body
    content_type = exchange.answer.content_type
    if content_type is not None and not content_type.lower().startswith("text/event-stream"):
        yield Sighting("content-type", f"Content-Type: {content_type}")
    if body.startswith(BYTE_ORDER_MARK):
        yield Sighting("byte-order-mark", "the first three bytes", shown(body))
    blocks = list(blocks_of(body.removeprefix(BYTE_ORDER_MARK)))
    for lines, _ in blocks:
        fields = [line for line in lines if not line.startswith(b":")]
        data = [line for line in fields if line.startswith(b"data")]
        if fields and not data and all(re.match(rb"(event|id|retry)(:|$)", line) for line in fields):
            yield Sighting("event-without-data", "an event without data", shown(b"\n".join(lines)))
        elif data and not b"".join(value_of(line) for line in data).strip():
            yield Sighting("empty-data", "an event with empty data", shown(b"\n".join(lines)))
    if exchange.request.cut is not None:
        return
    if blocks and not blocks[-1][1]:
        yield Sighting("last-event-open", "no blank line at the end", shown(b"\n".join(blocks[-1][0])))
    if exchange.end.status == "truncated":
        why = exchange.answer.failure or "nothing says that the answer is whole"
        yield Sighting("cut", why, shown(body[-SHOWN:]))
    elif has_done and not exchange.end.evidence.done_seen and exchange.error is None:
        yield Sighting("done-missing", "no [DONE] at the end", shown(body[-200:]))
