"""Parsers of event streams with `json.loads` behind them: payloads as dicts, and no word on what they mean."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from . import Door
from .memory_http import URL, MemoryWire
from .payloads import said_by_payloads

Pieces = Sequence[bytes]
Payloads = Iterator[dict[str, Any]]


def httpx_sse() -> Door:
    """httpx-sse around a response of httpx."""
    import httpx
    from httpx_sse import connect_sse

    wire = MemoryWire(httpx)
    client = wire.client()

    def read(pieces: Pieces) -> Iterator[Payloads]:
        wire.pieces = pieces
        with connect_sse(client, "POST", URL, json={}) as source:
            yield _loaded(source.iter_sse())

    return Door(read, said_by_payloads)


def sseclient() -> Door:
    """sseclient-py around the pieces."""
    from sseclient import SSEClient

    def read(pieces: Pieces) -> Iterator[Payloads]:
        yield _loaded(SSEClient(pieces).events())

    return Door(read, said_by_payloads)


def _loaded(events: Iterable[Any]) -> Payloads:
    for event in events:
        if event.data != "[DONE]":
            yield json.loads(event.data)
