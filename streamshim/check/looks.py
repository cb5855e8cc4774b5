"""A look at the bytes themselves: where they depart from the documented wire, whoever can read them all the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..events import ReasoningStart
from .chat_look import ChatLook
from .faults import Sighting
from .framing_look import look_at_framing
from .payloads import BYTE_ORDER_MARK, read_payloads, shown
from .responses_look import ResponsesLook

if TYPE_CHECKING:
    from .reading import Reading


def look(exchange: Reading) -> Iterator[Sighting]:
    """Every departure of an answer from the wire that was asked for."""
    yield from _error(exchange)
    if not exchange.is_answered:
        return
    api = exchange.request.api or exchange.response.api
    if not exchange.request.is_streamed:
        return
    body = exchange.body
    if body.lstrip(BYTE_ORDER_MARK).lstrip()[:1] in (b"{", b"[", b"<"):
        if exchange.error is None and exchange.request.is_live:
            yield Sighting("not-an-event-stream", "the body is JSON", shown(body))
        return
    yield from look_at_framing(exchange, has_done=api != "responses")
    payloads = list(read_payloads(body))
    if api == "responses":
        yield from ResponsesLook(payloads, exchange).sightings()
    else:
        yield from ChatLook(payloads, exchange).sightings()
    if any(isinstance(event, ReasoningStart) and event.kind == "tag" for event in exchange.events):
        yield Sighting("reasoning-in-text", "the text holds thought between tags")


def _error(exchange: Reading) -> Iterator[Sighting]:
    """Errors in another shape or at another place than documented; what breaks later is told by the stream itself."""
    if exchange.is_refused:
        error = exchange.json.get("error") if isinstance(exchange.json, dict) else None
        if not isinstance(error, dict) or not isinstance(message := error.get("message"), str) or not message:
            yield Sighting("error-shape", f"HTTP {exchange.answer.status} with another body", shown(exchange.body))
    elif exchange.request.is_wrong and exchange.is_answered and exchange.error is not None:
        yield Sighting("error-status", exchange.error.message, shown(exchange.body))
