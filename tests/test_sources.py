"""What can be read from, recognised by what it can do; and what is refused, with a word on what to do instead."""

from __future__ import annotations

import asyncio
import io
import logging
import pathlib
from collections.abc import AsyncIterator, Iterator
from types import MappingProxyType
from typing import Any

import pydantic
import pytest

from streamshim.errors import SourceError
from streamshim.pieces import AsyncSource, Piece, Source
from streamshim.sources import PIECE_BYTES, open_async_source, open_source
from tests.fake_sources import (
    BODY,
    PIECES,
    AsyncBody,
    AsyncSdkStream,
    BytesResponse,
    ContentResponse,
    Pooled,
    RawResponse,
    Reader,
    ReaderResponse,
    ReadOnlyFile,
    SdkStream,
    SyncBody,
    agenerate,
    generate,
)


class Chunk(pydantic.BaseModel):
    id: str
    model: str | None = None
    usage: dict[str, int] | None = None


def read(source: object) -> list[Piece]:
    opened = open_source(source)
    return list(iter(opened.read, None))


def read_async(source: object) -> list[Piece]:
    async def main() -> list[Piece]:
        opened = open_async_source(source)
        pieces: list[Piece] = []
        while (piece := await opened.read()) is not None:
            pieces.append(piece)
        await opened.aclose()
        return pieces

    return asyncio.run(main())


@pytest.mark.parametrize("data", [BODY, bytearray(BODY), memoryview(BODY)])
def test_bytes_in_memory_are_read_through_both_doors(data: object) -> None:
    assert read(data) == [BODY]
    assert read_async(data) == [BODY]


def test_a_response_whose_content_was_loaded_is_read_from_it_and_not_from_the_connection() -> None:
    drained = Pooled()
    drained.closed = True
    assert read(ContentResponse(drained)) == [BODY]


def test_a_file_is_asked_for_what_is_there_rather_than_for_all_that_it_could_wait_for() -> None:
    class Pipe:
        def __init__(self) -> None:
            self.pieces = [*PIECES, b""]

        def read1(self, size: int) -> bytes:
            return self.pieces.pop(0)

        def read(self, size: int) -> bytes:
            raise AssertionError("waits until that many bytes came")

    assert read(Pipe()) == PIECES


def test_a_sync_reader_that_reads_until_a_separator_is_refused_by_the_async_door() -> None:
    class Serial(ReadOnlyFile):
        def readuntil(self, separator: bytes) -> bytes:
            raise AssertionError("not asked for")

    with pytest.raises(SourceError, match="read synchronously"):
        open_async_source(Serial())


def test_a_file_that_can_also_be_streamed_otherwise_is_read_as_a_file() -> None:
    class Blob(ReadOnlyFile):
        def stream(self) -> None:
            raise AssertionError("not a pool's response")

    assert read(Blob()) == [BODY]


def test_items_that_are_bytes_of_another_kind_become_bytes() -> None:
    assert read([bytearray(PIECES[0]), memoryview(PIECES[1])]) == PIECES


def test_large_bytes_come_in_slices() -> None:
    data = bytes(range(256)) * 1000
    pieces = read(data)
    assert b"".join(pieces) == data  # type: ignore[arg-type]
    assert [len(piece) for piece in pieces] == [PIECE_BYTES] * 3 + [len(data) - 3 * PIECE_BYTES]


@pytest.mark.parametrize(
    "source",
    [
        PIECES,
        tuple(PIECES),
        generate(),
        iter(PIECES),
        SyncBody(),
        BytesResponse(SyncBody()),
        RawResponse(BytesResponse(SyncBody())),
        SdkStream(BytesResponse(SyncBody())),
        Pooled(),
        ContentResponse(Pooled()),
    ],
    ids=lambda source: type(source).__name__,
)
def test_sync_sources_give_their_bytes_as_they_come(source: object) -> None:
    assert read(source) == PIECES


@pytest.mark.parametrize(
    "source",
    [
        agenerate(),
        AsyncBody(),
        Reader(),
        ReaderResponse(Reader(total_bytes=9, at_eof=False)),
        BytesResponse(AsyncBody()),
        RawResponse(BytesResponse(AsyncBody())),
        AsyncSdkStream(BytesResponse(AsyncBody())),
    ],
    ids=lambda source: type(source).__name__,
)
def test_async_sources_give_their_bytes_as_they_come(source: object) -> None:
    assert read_async(source) == PIECES


def test_files_are_read_in_pieces_not_in_lines(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "stream.sse"
    path.write_bytes(BODY)
    with path.open("rb") as buffered, path.open("rb", buffering=0) as raw:
        assert read(buffered) == read(raw) == read(io.BytesIO(BODY)) == read(ReadOnlyFile()) == [BODY]


def test_a_body_with_chunked_encoding_is_read_through_iter_content() -> None:
    assert read(ContentResponse(Pooled(chunked=True))) == [BODY]
    assert read(ContentResponse(None)) == [BODY]


def test_a_response_that_was_read_into_memory_can_still_be_parsed() -> None:
    for body in (SyncBody(), AsyncBody()):
        response = BytesResponse(body, loaded=BODY)
        response.is_stream_consumed = response.is_closed = True
        assert read(response) == [BODY]
        assert read_async(response) == [BODY]
    preloaded = Pooled()
    preloaded.closed, preloaded.data = True, BODY
    assert read(preloaded) == [BODY]


def test_asyncio_stream_reader_is_read_past_its_line_limit() -> None:
    async def main() -> bytes:
        reader = asyncio.StreamReader(limit=16)
        reader.feed_data(b"data: " + b"x" * 1000)
        reader.feed_eof()
        source = open_async_source(reader)
        return b"".join([piece async for piece in _pieces(source)])

    assert asyncio.run(main()) == b"data: " + b"x" * 1000


async def _pieces(source: AsyncSource) -> AsyncIterator[bytes]:
    while (piece := await source.read()) is not None:
        assert isinstance(piece, bytes)
        yield piece


def test_an_async_pooled_response_is_streamed_as_it_comes() -> None:
    class LinewisePooled:
        async def stream(self, amt: int) -> AsyncIterator[bytes]:
            assert amt == -1, "any other size is waited for"
            for piece in PIECES:
                yield piece

        def __aiter__(self) -> AsyncIterator[bytes]:
            raise AssertionError("iterates by lines")

    assert read_async(LinewisePooled()) == PIECES


@pytest.mark.parametrize(
    "items", [[{"id": "a"}], [MappingProxyType({"id": "a"})], [Chunk(id="a")], [pydantic.RootModel({"id": "a"})]]
)
def test_parsed_chunks_come_as_payloads(items: list[Any]) -> None:
    assert read(items) == [{"id": "a"}]
    assert read(items[0]) == [{"id": "a"}]
    assert read_async(agenerate(items)) == [{"id": "a"}]
    assert read_async(items[0]) == [{"id": "a"}]


def test_models_give_what_was_set_and_no_defaults() -> None:
    assert read([Chunk(id="a", usage={"n": 1})]) == [{"id": "a", "usage": {"n": 1}}]


def test_models_with_values_that_their_types_do_not_allow_are_dumped_without_a_warning() -> None:
    assert read([Chunk.model_construct(id=7)]) == [{"id": 7}]


def test_models_that_are_not_pydantic_s_are_dumped_too() -> None:
    class Homemade:
        def model_dump(self, *, exclude_unset: bool) -> dict[str, object]:
            return {"exclude_unset": exclude_unset}

    assert read(Homemade()) == [{"exclude_unset": True}]


def test_an_sdk_stream_gives_its_chunks_once_one_was_taken() -> None:
    taken = SdkStream(BytesResponse(SyncBody()), [Chunk(id="a"), Chunk(id="b")])
    next(taken)
    assert read(taken) == [{"id": "b"}]

    async def main() -> list[Piece]:
        ataken = AsyncSdkStream(BytesResponse(AsyncBody()), [Chunk(id="a"), Chunk(id="b")])
        await anext(ataken)
        source = open_async_source(ataken)
        return [piece async for piece in _payloads(source)]

    assert asyncio.run(main()) == [{"id": "b"}]


async def _payloads(source: AsyncSource) -> AsyncIterator[Piece]:
    while (piece := await source.read()) is not None:
        yield piece


def _exhausted(iterator: Iterator[Any]) -> Iterator[Any]:
    list(iterator)
    return iterator


def _closed_file() -> io.BytesIO:
    file = io.BytesIO(BODY)
    file.close()
    return file


def _consumed_response(body: object) -> BytesResponse:
    response = BytesResponse(body)
    response.is_stream_consumed = True
    return response


def _finished_sdk_stream(kind: Any) -> Any:
    response = _consumed_response(SyncBody())
    response.is_closed = True
    return kind(response)


def _closed_pooled() -> Pooled:
    response = Pooled()
    response.close()
    return response


@pytest.mark.parametrize(
    "source",
    [
        _exhausted(generate()),
        _closed_file(),
        _consumed_response(SyncBody()),
        _finished_sdk_stream(SdkStream),
        ContentResponse(None, consumed=True),
        _closed_pooled(),
    ],
    ids=lambda source: type(source).__name__,
)
def test_a_consumed_sync_source_is_refused(source: object) -> None:
    with pytest.raises(SourceError, match=f"{type(source).__qualname__} was consumed or closed already"):
        open_source(source)


@pytest.mark.parametrize(
    "source",
    [
        _consumed_response(AsyncBody()),
        _finished_sdk_stream(AsyncSdkStream),
        Reader(total_bytes=9),
        ReaderResponse(Reader(total_bytes=9)),
    ],
    ids=lambda source: type(source).__name__,
)
def test_a_consumed_async_source_is_refused(source: object) -> None:
    with pytest.raises(SourceError, match=f"{type(source).__qualname__} was consumed or closed already"):
        open_async_source(source)


def test_an_exhausted_async_generator_is_refused() -> None:
    async def main() -> None:
        source = agenerate()
        async for _ in source:
            pass
        with pytest.raises(SourceError, match="consumed"):
            open_async_source(source)

    asyncio.run(main())


class Client:
    def __enter__(self) -> Any:
        raise AssertionError("not to be entered: it would only be closed by that")

    def __exit__(self, *raised: object) -> None: ...

    def close(self) -> None: ...

    __aenter__, __aexit__ = __enter__, __exit__


@pytest.mark.parametrize(
    ("source", "given", "what_to_do"),
    [
        (None, "None", "hand in bytes"),
        (7, "an int", "hand in bytes"),
        ("data: 1\n\n", "a str", "encode"),
        (io.StringIO("data: 1"), "StringIO", "binary mode"),
        (pathlib.Path("stream.sse"), "Path", "binary mode"),
        ("https://example.com/v1", "a str", "request it with an HTTP client"),
        (Client(), "Client", "make a request with it"),
        (BytesResponse(None).iter_bytes, "a method", "call it first"),
        (list, "a type", "call it first"),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_word_on_what_to_do(source: object, given: str, what_to_do: str) -> None:
    for door in (open_source, open_async_source):
        with pytest.raises(SourceError, match=what_to_do) as refusal:
            door(source)
        assert given in str(refusal.value)


def test_a_refusal_is_a_type_error() -> None:
    with pytest.raises(TypeError):
        open_source(None)


def test_a_coroutine_that_was_not_awaited_is_refused() -> None:
    async def create() -> None: ...

    coroutine = create()
    for door in (open_source, open_async_source):
        with pytest.raises(SourceError, match="await it first"):
            door(coroutine)
    coroutine.close()


class AsyncContentResponse:
    async def iter_content(self, chunk_size: int | None = None) -> None:
        raise AssertionError("never awaited here")

    def __aiter__(self) -> AsyncIterator[bytes]:
        return agenerate()


class AsyncPooled:
    async def read1(self, amt: int = -1) -> None:
        raise AssertionError("never awaited here")

    async def stream(self, amt: int) -> AsyncIterator[bytes]:
        for piece in PIECES:
            yield piece

    def __aiter__(self) -> AsyncIterator[bytes]:
        return agenerate()


@pytest.mark.parametrize(
    "source",
    [
        AsyncContentResponse(),
        AsyncPooled(),
        agenerate(),
        AsyncBody(),
        BytesResponse(AsyncBody()),
        Reader(),
        ReaderResponse(Reader()),
    ],
    ids=lambda source: type(source).__name__,
)
def test_an_async_source_is_refused_by_the_sync_door(source: object) -> None:
    with pytest.raises(SourceError, match=r"read asynchronously: use astream\(\)"):
        open_source(source)


@pytest.mark.parametrize(
    "source",
    [PIECES, generate(), io.BytesIO(BODY), BytesResponse(SyncBody()), ContentResponse(None), Pooled()],
    ids=lambda source: type(source).__name__,
)
def test_a_sync_source_is_refused_by_the_async_door(source: object) -> None:
    with pytest.raises(SourceError, match=r"read synchronously: use stream\(\)"):
        open_async_source(source)


@pytest.mark.parametrize(
    ("item", "complaint"), [("data: 1", "a str.*iter_text"), (None, "None"), (7, "an int"), ([b"x"], "a list")]
)
def test_items_that_are_neither_bytes_nor_payloads_are_refused_when_they_come(item: object, complaint: str) -> None:
    source = open_source([b"fine", item])
    assert source.read() == b"fine"
    with pytest.raises(SourceError, match=complaint):
        source.read()


def test_what_a_source_raises_passes_through() -> None:
    def broken() -> Iterator[bytes]:
        yield b"a"
        raise ConnectionResetError("gone")

    source = open_source(broken())
    assert source.read() == b"a"
    with pytest.raises(ConnectionResetError, match="gone"):
        source.read()


@pytest.mark.parametrize(
    ("response", "status"),
    [(BytesResponse(SyncBody()), 200), (Pooled(), 200), (PIECES, None), (SdkStream(BytesResponse(SyncBody())), 200)],
)
def test_the_http_status_is_told_where_there_is_one(response: object, status: int | None) -> None:
    assert open_source(response).head.status == status


@pytest.mark.parametrize(
    "source",
    [SdkStream(BytesResponse(SyncBody())), ContentResponse(None)],
    ids=lambda source: type(source).__name__,
)
def test_closing_closes_what_was_handed_in(source: Any) -> None:
    opened = open_source(source)
    opened.read()
    opened.close()
    assert source.was_closed


def test_closing_runs_the_end_of_a_generator_and_may_be_repeated() -> None:
    ends: list[str] = []

    def generate() -> Iterator[bytes]:
        try:
            yield from PIECES
        finally:
            ends.append("closed")

    source = open_source(generate())
    source.read()
    source.close()
    source.close()
    assert ends == ["closed"]


def test_closing_async_closes_an_sdk_stream_whether_or_not_it_was_read() -> None:
    async def main(*, read_first: bool) -> bool:
        sdk_stream = AsyncSdkStream(BytesResponse(AsyncBody()))
        source = open_async_source(sdk_stream)
        if read_first:
            await source.read()
        await source.aclose()
        await source.aclose()
        return sdk_stream.was_closed

    assert asyncio.run(main(read_first=True))
    assert asyncio.run(main(read_first=False))


def test_closing_async_awaits_a_response_once_and_takes_a_sync_close_too() -> None:
    async def main() -> tuple[list[str], bool]:
        response, reader_response = BytesResponse(AsyncBody()), ReaderResponse(Reader())
        for source in (open_async_source(response), open_async_source(reader_response)):
            await source.read()
            await source.aclose()
        return response.closed_by, reader_response.was_closed

    assert asyncio.run(main()) == (["aclose"], True)


def test_nothing_more_is_read_once_an_async_source_was_closed() -> None:
    async def main() -> Piece | None:
        source = open_async_source(AsyncSdkStream(_consumed_response(AsyncBody()), [{"id": "a"}, {"id": "b"}]))
        await source.read()
        await source.aclose()
        return await source.read()

    assert asyncio.run(main()) is None


def test_something_that_has_a_response_but_does_not_iterate_is_no_sdk_stream() -> None:
    class FailureError(Exception):
        response = BytesResponse(SyncBody())

    for door in (open_source, open_async_source):
        with pytest.raises(SourceError, match="FailureError cannot be read"):
            door(FailureError())


class BadlyClosing:
    def __init__(self) -> None:
        self.calls = 0

    def close(self) -> None:
        self.calls += 1
        raise OSError("already gone")


def test_a_close_that_fails_is_logged_and_the_others_are_closed_all_the_same(caplog: pytest.LogCaptureFixture) -> None:
    bad, good = BadlyClosing(), SdkStream(BytesResponse(SyncBody()))
    with caplog.at_level(logging.DEBUG, "streamshim"):
        Source(PIECES, bad, good).close()
        asyncio.run(AsyncSource(agenerate(), bad, good).aclose())
    assert bad.calls == 2
    assert good.was_closed
    assert [record.message.partition(" ")[0] for record in caplog.records] == ["closing", "closing"]


def test_what_is_borrowed_can_be_closed_without_closing_the_whole() -> None:
    whole = open_source(generate([b"b", b"c", b"d"]))
    first = whole.borrow(b"a")
    assert [first.read(), first.read()] == [b"a", b"b"]
    first.close()
    rest = whole.borrow()
    assert [rest.read(), rest.read(), rest.read()] == [b"c", b"d", None]


def test_what_is_borrowed_asynchronously_can_be_closed_without_closing_the_whole() -> None:
    async def main() -> list[Piece | None]:
        whole = open_async_source(agenerate([b"b", b"c", b"d"]))
        first = whole.borrow(b"a")
        pieces = [await first.read(), await first.read()]
        await first.aclose()
        rest = whole.borrow()
        return [*pieces, await rest.read(), await rest.read(), await rest.read()]

    assert asyncio.run(main()) == [b"a", b"b", b"c", b"d", None]


def test_what_is_borrowed_knows_the_head_of_the_http_response() -> None:
    response = BytesResponse(SyncBody())
    response.status_code, response.headers = 429, {"retry-after": "2"}
    borrowed = open_source(response).borrow()
    assert (borrowed.head.status, borrowed.head.headers) == (429, {"retry-after": "2"})
    response.stream = AsyncBody()
    async_borrowed = open_async_source(response).borrow()
    assert (async_borrowed.head.status, async_borrowed.head.headers) == (429, {"retry-after": "2"})


def test_an_open_source_is_taken_as_it_is() -> None:
    source = Source(PIECES)
    assert open_source(source) is source
    async_source = AsyncSource(agenerate())
    assert open_async_source(async_source) is async_source


# -- context managers that lead to a source ---------------------------------------------------------------------------


class Entrance:
    """As what a client gives for a request that is made when it is entered."""

    def __init__(self, given: Any = None) -> None:
        self.given = given
        self.steps: list[str] = []

    def __enter__(self) -> Any:
        self.steps.append("entered")
        return self if self.given is None else self.given

    def __exit__(self, *raised: object) -> None:
        self.steps.append("left")


class AsyncEntrance(Entrance):
    async def __aenter__(self) -> Any:
        return super().__enter__()

    async def __aexit__(self, *raised: object) -> None:
        super().__exit__()

    __enter__ = __exit__ = None  # type: ignore[assignment]


def test_a_context_manager_is_entered_by_the_first_read_and_left_by_closing() -> None:
    response = BytesResponse(SyncBody())
    response.status_code = 429
    entrance = Entrance(RawResponse(response))
    source = open_source(entrance)
    assert (entrance.steps, source.head.status) == ([], None)
    assert source.read() == PIECES[0]
    assert (entrance.steps, source.head.status) == (["entered"], 429)
    source.close()
    assert entrance.steps == ["entered", "left"]
    assert response.closed_by == ["close"]


def test_an_async_context_manager_is_entered_by_the_first_read_and_left_by_closing() -> None:
    async def main() -> None:
        response = BytesResponse(AsyncBody())
        entrance = AsyncEntrance(response)
        source = open_async_source(entrance)
        assert entrance.steps == []
        assert await source.read() == PIECES[0]
        assert (entrance.steps, source.head.status) == (["entered"], 200)
        await source.aclose()
        assert entrance.steps == ["entered", "left"]
        assert response.closed_by == ["aclose"]

    asyncio.run(main())


def test_a_context_manager_that_was_never_read_is_never_entered() -> None:
    entrance = Entrance(PIECES)
    open_source(entrance).close()
    assert entrance.steps == []


@pytest.mark.parametrize(("given", "complaint"), [(7, "an int"), (None, "gives nothing to read")])
def test_a_context_manager_that_leads_to_no_source_is_refused_and_left(given: object, complaint: str) -> None:
    entrance, async_entrance = Entrance(given), AsyncEntrance(given)
    with pytest.raises(SourceError, match=complaint):
        read(entrance)
    with pytest.raises(SourceError, match=complaint):
        read_async(async_entrance)
    assert entrance.steps == async_entrance.steps == ["entered", "left"]


def test_a_context_manager_of_the_other_kind_is_refused() -> None:
    with pytest.raises(SourceError, match=r"read synchronously: use stream\(\)"):
        open_async_source(Entrance(PIECES))
    with pytest.raises(SourceError, match=r"read asynchronously: use astream\(\)"):
        open_source(AsyncEntrance(agenerate()))
