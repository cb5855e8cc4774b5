"""langchain-openai: `ChatOpenAI.stream` over either API."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..loads import Said
from . import MODEL, PROMPT, Door
from .memory_http import URL, MemoryWire
from .payloads import Word, joined


def chat() -> Door:
    """`ChatOpenAI.stream`."""
    return _door(use_responses_api=False, lacks=("reasoning",))


def responses() -> Door:
    """`ChatOpenAI.stream` over the Responses API."""
    return _door(use_responses_api=True, lacks=())


def _door(*, use_responses_api: bool, lacks: tuple[str, ...]) -> Door:
    import httpx2
    from langchain_openai import ChatOpenAI
    from pydantic import SecretStr

    wire = MemoryWire(httpx2)
    model = ChatOpenAI(
        model=MODEL,
        base_url=URL,
        api_key=SecretStr("none"),
        max_retries=0,
        http_client=wire.client(),
        use_responses_api=use_responses_api,
    )

    def read(pieces: Sequence[bytes]) -> Iterator[Iterable[Any]]:
        wire.pieces = pieces
        yield model.stream(PROMPT)

    return Door(read, _said, lacks=lacks)


def _said(chunks: Iterable[Any]) -> Said:
    return joined(word for chunk in chunks for word in _words(chunk))


def _words(chunk: Any) -> Iterable[Word]:
    yield "text", chunk.text
    for call in chunk.tool_call_chunks:
        yield "arguments", call["args"] or ""
