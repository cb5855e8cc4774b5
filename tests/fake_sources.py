"""Stand-ins for what HTTP clients and SDKs hand out: the habits that matter, and traps where one must not go."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Any

PIECES = [b"data: 1\n\n", b"data: 2\n\n"]
BODY = b"".join(PIECES)


def generate(items: Iterable[Any] = PIECES) -> Iterator[Any]:
    yield from items


async def agenerate(items: Iterable[Any] = PIECES) -> AsyncIterator[Any]:
    for item in items:
        yield item


class SyncBody:
    def __iter__(self) -> Iterator[bytes]:
        return iter(PIECES)


class AsyncBody:
    def __aiter__(self) -> AsyncIterator[bytes]:
        return agenerate()


class BytesResponse:
    """As httpx and its forks: both ways to read, one of which the client allows."""

    status_code = 200
    is_stream_consumed = False
    is_closed = False

    def __init__(self, stream: object, loaded: bytes | None = None) -> None:
        self.stream = stream
        self.headers: dict[str, str] = {}
        self.loaded = loaded
        self.closed_by: list[str] = []

    @property
    def content(self) -> bytes:
        if self.loaded is None:
            raise RuntimeError("not read yet")
        return self.loaded

    def iter_bytes(self, chunk_size: int | None = None) -> Iterator[bytes]:
        assert chunk_size is None, "a chunk size holds bytes back"
        self.is_stream_consumed = True
        yield from [self.loaded] if self.loaded is not None else PIECES

    async def aiter_bytes(self, chunk_size: int | None = None) -> AsyncIterator[bytes]:
        assert chunk_size is None, "a chunk size holds bytes back"
        self.is_stream_consumed = True
        for piece in [self.loaded] if self.loaded is not None else PIECES:
            yield piece

    def read(self) -> bytes:
        raise AssertionError("read() reads the whole body")

    def close(self) -> None:
        self.closed_by.append("close")

    async def aclose(self) -> None:
        self.closed_by.append("aclose")


class Pooled:
    """As a connection pool's response: `read1` that may give nothing before the end, a `stream` that waits."""

    status = 200

    def __init__(
        self, reads: Iterable[bytes] = (b"", PIECES[0], b"", PIECES[1], b""), *, chunked: bool = False
    ) -> None:
        self.reads = list(reads)
        self.chunked = chunked
        self.closed = False
        self.data = b""

    def read1(self, amt: int | None = None, decode_content: bool | None = None) -> bytes:
        assert decode_content, "the body may be compressed"
        piece = self.reads.pop(0)
        self.closed = not self.reads
        return piece

    def stream(self, amt: int = 2**16) -> Iterator[bytes]:
        raise AssertionError("stream() waits for as many bytes as it was asked for")

    def close(self) -> None:
        self.closed = True


class ContentResponse:
    """As requests: `iter_content`, and `content` that reads everything there and then."""

    status_code = 200

    def __init__(self, raw: object, *, consumed: bool = False) -> None:
        self.raw = raw
        self.consumed = consumed
        self.was_closed = False

    @property
    def content(self) -> bytes:
        raise AssertionError("content reads the whole body")

    def iter_content(self, chunk_size: int | None = 1) -> Iterator[bytes]:
        if self.consumed:
            raise TypeError("consumed")
        assert chunk_size is None
        return iter([BODY])

    def close(self) -> None:
        self.was_closed = True


class Reader:
    """As aiohttp's stream reader: iterates by lines, and `iter_any` gives what came."""

    def __init__(self, *, total_bytes: int = 0, at_eof: bool = True) -> None:
        self.total_bytes = total_bytes
        self.is_at_eof = at_eof

    def iter_any(self) -> AsyncIterator[bytes]:
        return agenerate()

    def at_eof(self) -> bool:
        return self.is_at_eof

    def __aiter__(self) -> AsyncIterator[bytes]:
        raise AssertionError("lines are held back until they are whole, and may be too long")


class ReaderResponse:
    """As aiohttp's response."""

    status = 200

    def __init__(self, reader: Reader) -> None:
        self.content = reader
        self.was_closed = False

    async def read(self) -> bytes:
        raise AssertionError("read() reads the whole body")

    def close(self) -> None:
        self.was_closed = True


class SdkStream:
    """As an SDK's stream: chunk objects, over the response that they are read from."""

    def __init__(self, response: BytesResponse, chunks: Iterable[Any] = ()) -> None:
        self.response = response
        self.chunks = iter(chunks)
        self.was_closed = False

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        self.response.is_stream_consumed = True
        return next(self.chunks)

    def close(self) -> None:
        self.was_closed = True


class AsyncSdkStream:
    def __init__(self, response: BytesResponse, chunks: Iterable[Any] = ()) -> None:
        self.response = response
        self.chunks = iter(chunks)
        self.was_closed = False

    def __aiter__(self) -> AsyncIterator[Any]:
        return self

    async def __anext__(self) -> Any:
        self.response.is_stream_consumed = True
        for chunk in self.chunks:
            return chunk
        raise StopAsyncIteration

    async def close(self) -> None:
        self.was_closed = True


class RawResponse:
    """As what `with_raw_response` gives: the HTTP response is inside."""

    def __init__(self, http_response: object) -> None:
        self.http_response = http_response


class ReadOnlyFile:
    def __init__(self) -> None:
        self.file = io.BytesIO(BODY)

    def read(self, size: int) -> bytes:
        return self.file.read(size)
