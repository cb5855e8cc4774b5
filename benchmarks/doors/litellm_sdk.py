"""litellm: `completion` and `responses`, streamed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from . import MODEL, PROMPT, Door
from .memory_http import URL, MemoryWire
from .openai_sdk import MESSAGES, memory_client
from .payloads import said_by_models


def chat() -> Door:
    """`litellm.completion(stream=True)` over a client of the openai SDK."""
    import litellm

    wire, client = memory_client()

    def read(pieces: Sequence[bytes]) -> Iterator[Iterable[Any]]:
        wire.pieces = pieces
        yield litellm.completion(
            f"openai/{MODEL}", MESSAGES, client=client, api_key="none", api_base=URL, stream=True, max_retries=0
        )

    return Door(read, said_by_models)


def responses() -> Door:
    """`litellm.responses(stream=True)` over a client of its own."""
    import httpx
    import litellm
    from litellm.llms.custom_httpx.http_handler import HTTPHandler

    wire = MemoryWire(httpx)
    client = HTTPHandler(client=wire.client())

    def read(pieces: Sequence[bytes]) -> Iterator[Iterable[Any]]:
        wire.pieces = pieces
        yield litellm.responses(
            input=PROMPT, model=f"openai/{MODEL}", client=client, api_key="none", api_base=URL, stream=True
        )

    return Door(read, said_by_models)
