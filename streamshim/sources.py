"""Anything that bytes or chunks can be read from, behind one small interface: `read()` and `close()`.

A source is recognised by what it can do (`iter_bytes`, `iter_content`, `content.iter_any`, `read1`, `__iter__` …),
never by its class: no HTTP client is imported here, and their forks work as well.
"""

from __future__ import annotations

import inspect
import io
import os
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    Awaitable,
    Callable,
    Generator,
    Iterable,
    Iterator,
    Mapping,
)
from contextlib import aclosing, closing
from functools import partial
from typing import Any

from .errors import SourceError
from .pieces import AsyncSource, Head, Piece, Source, as_piece, can, described

PIECE_BYTES = 64 * 1024
"""How much is asked of a file, and how large bytes in memory are cut: large enough to be fast, small enough to flow."""


def open_source(source: object) -> Source:
    """A source that is read synchronously.

    Raises:
        SourceError: it is of no known kind, asynchronous, or consumed already.
    """
    if isinstance(source, Source):
        return source
    source = _unwrapped(source)
    pieces = _in_memory(source)
    if pieces is not None:
        return Source(pieces)
    for recognise in (_sdk_stream, _iter_bytes, _iter_content, _pooled_response, _file, _iterable, _entrance):
        opened = recognise(source)
        if opened is not None:
            return opened
    raise SourceError(_complaint(source, _is_async(source), "asynchronously: use astream() or aparse()"))


def open_async_source(source: object) -> AsyncSource:
    """A source that is read asynchronously; bytes and payloads in memory are welcome here too.

    Raises:
        SourceError: it is of no known kind, synchronous, or consumed already.
    """
    if isinstance(source, AsyncSource):
        return source
    source = _unwrapped(source)
    pieces = _in_memory(source)
    if pieces is not None:
        return AsyncSource(_without_waiting(pieces))
    for recognise in (
        _async_sdk_stream,
        _aiter_bytes,
        _iter_any,
        _loaded_content,
        _async_reader,
        _async_iterable,
        _async_entrance,
    ):
        opened = recognise(source)
        if opened is not None:
            return opened
    raise SourceError(_complaint(source, _is_sync(source), "synchronously: use stream() or parse()"))


def _unwrapped(source: Any) -> Any:
    """The HTTP response in an SDK's raw response; the stream of chunks under an SDK's stream of events of its own."""
    source = getattr(source, "http_response", source)
    return getattr(source, "_raw_stream", source)


def _in_memory(source: Any) -> Iterable[Piece] | None:
    """Bytes in slices, so that events flow and memory stays small; a payload as it is."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        data = bytes(source)
        return (data[start : start + PIECE_BYTES] for start in range(0, len(data), PIECE_BYTES))
    if isinstance(source, Mapping) or (can(source, "model_dump") and not _was_read(source)):
        return [as_piece(source)]
    return None


async def _without_waiting(pieces: Iterable[Piece]) -> AsyncGenerator[Piece, None]:
    for piece in pieces:
        yield piece


def _sdk_stream(source: Any) -> Source | None:
    """An SDK's stream of chunk objects: the bytes under it, or the chunks once the first one was taken."""
    response: Any = getattr(source, "response", None)
    if not (can(source, "__next__") and can(response, "iter_bytes")):
        return None
    if _is_fresh(response):
        return Source(response.iter_bytes(), source, response=response)
    _refuse_consumed(source, response.is_closed)
    return Source(source, source, response=response)


def _async_sdk_stream(source: Any) -> AsyncSource | None:
    response: Any = getattr(source, "response", None)
    if not (can(source, "__anext__") and can(response, "aiter_bytes")):
        return None
    if _is_fresh(response):
        return AsyncSource(response.aiter_bytes(), source, response=response)
    _refuse_consumed(source, response.is_closed)
    return AsyncSource(aiter(source), source, response=response)


def _iter_bytes(source: Any) -> Source | None:
    """Asked without a chunk size: a response that is given one holds its bytes back until it has that many."""
    if not can(source, "iter_bytes") or not _body_allows(source, "__iter__"):
        return None
    _refuse_consumed(source, not _is_fresh(source))
    return Source(source.iter_bytes(), source, response=source)


def _aiter_bytes(source: Any) -> AsyncSource | None:
    if not can(source, "aiter_bytes") or not _body_allows(source, "__aiter__"):
        return None
    _refuse_consumed(source, not _is_fresh(source))
    return AsyncSource(source.aiter_bytes(), source, response=source)


def _iter_content(source: Any) -> Source | None:
    """A body without chunked encoding is read below `iter_content`, which would wait for the end of it."""
    if not can(source, "iter_content") or inspect.iscoroutinefunction(source.iter_content):
        return None
    _refuse_consumed(source, _was_closed_unread(source))
    raw: Any = getattr(source, "raw", None)
    try:
        items = source.iter_content(None)
    except TypeError as error:
        raise SourceError(_CONSUMED.format(described(source))) from error
    if can(raw, "read1") and not raw.closed and not getattr(raw, "chunked", True):
        items = _as_it_arrives(raw)
    return Source(items, source, response=source)


def _pooled_response(source: Any) -> Source | None:
    """A connection pool's response: `read1` as in a file, but an empty answer need not be the end."""
    if not (can(source, "read1") and can(source, "stream")) or inspect.iscoroutinefunction(source.read1):
        return None
    if not source.closed:
        return Source(_as_it_arrives(source), source, response=source)
    _refuse_consumed(source, not source.data and getattr(source, "_body", None) is None)
    return Source([source.data], source, response=source)


def _as_it_arrives(response: Any) -> Iterator[bytes]:
    while True:
        data = response.read1(decode_content=True)
        if data:
            yield data
        elif response.closed:
            return


def _file(source: Any) -> Source | None:
    read = getattr(source, "read1", None) or getattr(source, "read", None)
    if not callable(read) or inspect.iscoroutinefunction(read) or isinstance(source, io.TextIOBase):
        return None
    if can(source, "iter_bytes"):  # a response of an asynchronous client: its `read` is there, and raises
        return None
    is_closed = getattr(source, "closed", False) is True or (can(source, "isclosed") and source.isclosed())
    _refuse_consumed(source, is_closed)
    return Source(iter(partial(read, PIECE_BYTES), b""), source, response=source)


def _iterable(source: Any) -> Source | None:
    if not isinstance(source, Iterable) or isinstance(source, (str, io.TextIOBase, type)) or _was_read(source):
        return None
    if not _wrapped_allows(source, "__next__") or inspect.iscoroutinefunction(getattr(source, "iter_content", None)):
        return None
    _refuse_consumed(source, inspect.isgenerator(source) and source.gi_frame is None)
    return Source(source, source, response=source)


def _iter_any(source: Any) -> AsyncSource | None:
    """A stream reader that gives whatever came, or a response that has one as its `content`.

    `content` is looked up without running it: elsewhere it is a property that reads the whole body.
    """
    content = inspect.getattr_static(source, "content", None)
    reader = source if can(source, "iter_any") else content
    if not can(reader, "iter_any"):
        return None
    was_released = getattr(source, "closed", False) is True and can(reader, "exception") and reader.exception()
    _refuse_consumed(source, bool(was_released) or (getattr(reader, "total_bytes", 0) > 0 and reader.at_eof()))
    return AsyncSource(aiter(reader.iter_any()), source, response=source)


def _loaded_content(source: Any) -> AsyncSource | None:
    """A response that has read its body and keeps it, whichever way it was read."""
    _refuse_consumed(source, _was_closed_unread(source))
    if getattr(source, "_content_consumed", False) is not True:
        return None
    content: Any = getattr(source, "_content", None)
    _refuse_consumed(source, not isinstance(content, bytes))
    return AsyncSource(_without_waiting([content]), source, response=source)


def _async_reader(source: Any) -> AsyncSource | None:
    """A reader whose own iteration is by lines, of a limited length: read, or streamed, as it comes."""
    if inspect.isasyncgenfunction(getattr(source, "stream", None)):
        return AsyncSource(source.stream(-1), source, response=source)
    if can(source, "readuntil") and inspect.iscoroutinefunction(source.read):
        return AsyncSource(_read_async(source.read), source)
    return None


async def _read_async(read: Callable[[int], Awaitable[bytes]]) -> AsyncGenerator[bytes, None]:
    while data := await read(PIECE_BYTES):
        yield data


def _async_iterable(source: Any) -> AsyncSource | None:
    if not isinstance(source, AsyncIterable) or isinstance(source, type) or _was_read(source):
        return None
    if not _wrapped_allows(source, "__anext__"):
        return None
    _refuse_consumed(source, inspect.isasyncgen(source) and source.ag_frame is None)
    return AsyncSource(aiter(source), source, response=source)


def _entrance(source: Any) -> Source | None:
    """A context manager that only leads to a source: the first read enters it, closing leaves it.

    One that has a `close` of its own is a client or a session, and leads nowhere.
    """
    if not _is_entrance(source, "__enter__", "__exit__"):
        return None
    head = Head()
    return Source(_entered(source, head), head=head)


def _entered(manager: Any, head: Head) -> Generator[Piece, None, None]:
    with manager as given:
        _refuse_nothing(manager, given)
        with closing(open_source(given)) as source:
            head.status, head.headers = source.head.status, source.head.headers
            while (piece := source.read()) is not None:
                yield piece


def _async_entrance(source: Any) -> AsyncSource | None:
    if not _is_entrance(source, "__aenter__", "__aexit__"):
        return None
    head = Head()
    return AsyncSource(_aentered(source, head), head=head)


async def _aentered(manager: Any, head: Head) -> AsyncGenerator[Piece, None]:
    async with manager as given:
        _refuse_nothing(manager, given)
        async with aclosing(open_async_source(given)) as source:
            head.status, head.headers = source.head.status, source.head.headers
            while (piece := await source.read()) is not None:
                yield piece


def _is_entrance(source: object, enter: str, leave: str) -> bool:
    if isinstance(source, os.PathLike) or _can_any(source, ("close", "aclose", "__await__")):
        return False
    return can(source, enter) and can(source, leave)


def _refuse_nothing(manager: object, given: object) -> None:
    if given is manager:
        raise SourceError(_complaint(manager, False, ""))


def _is_fresh(response: Any) -> bool:
    """Whether the bytes can still be had: nothing was taken yet, or the body is in memory."""
    taken = getattr(response, "is_stream_consumed", False) or getattr(response, "is_closed", False)
    return not taken or _is_loaded(response)


def _is_loaded(response: Any) -> bool:
    try:
        return isinstance(response.content, bytes)
    except RuntimeError:
        return False


def _was_closed_unread(response: Any) -> bool:
    is_unread = getattr(response, "_content_consumed", None) is False
    return is_unread and getattr(response.raw, "closed", False) is True


def _body_allows(response: Any, ability: str) -> bool:
    """Whether a response with both `iter_bytes` and `aiter_bytes` came from a client of the kind that is asked for."""
    body = getattr(response, "stream", None)
    return not _can_any(body, ("__iter__", "__aiter__")) or can(body, ability) or _is_loaded(response)


def _wrapped_allows(wrapper: Any, ability: str) -> bool:
    """Whether a wrapper that can be iterated both ways wraps a stream of chunks of the kind that is asked for."""
    wrapped = getattr(wrapper, "completion_stream", None)
    return not _can_any(wrapped, ("__next__", "__anext__")) or can(wrapped, ability)


def _is_async(source: object) -> bool:
    if _is_entrance(source, "__aenter__", "__aexit__"):
        return True
    return _can_any(source, _ASYNC_ABILITIES) or inspect.iscoroutinefunction(getattr(source, "read", None))


def _is_sync(source: object) -> bool:
    return _can_any(source, _SYNC_ABILITIES) or _is_entrance(source, "__enter__", "__exit__")


def _was_read(source: object) -> bool:
    """Whether it is one of ours: a stream of events, or an answer."""
    return _can_any(source, ("text_deltas", "to_chat_messages"))


def _refuse_consumed(source: object, consumed: bool) -> None:
    if consumed:
        raise SourceError(_CONSUMED.format(described(source)))


def _can_any(thing: object, abilities: Iterable[str]) -> bool:
    return any(can(thing, ability) for ability in abilities)


_SYNC_ABILITIES = ("iter_bytes", "iter_content", "read1", "read", "__iter__", "__next__")
_ASYNC_ABILITIES = ("aiter_bytes", "__aiter__", "__anext__")
_CONSUMED = "{} was consumed or closed already: hand it in before anything is read from it"


def _complaint(source: object, reads_otherwise: bool, otherwise: str) -> str:
    """What was given, and what to do."""
    given = described(source)
    if isinstance(source, str) and source.startswith(("http://", "https://")):
        return f"{given} with an address cannot be read: request it with an HTTP client, and hand in the response"
    if isinstance(source, str):
        return f"{given} cannot be read: encode the text to bytes; of a file, hand in open(path, 'rb')"
    if isinstance(source, io.TextIOBase):
        return f"{given} reads text: open the file in binary mode, open(path, 'rb')"
    if isinstance(source, os.PathLike):
        return f"{given} is a path: open it in binary mode, open(path, 'rb')"
    if _was_read(source):
        return f"{given} is what comes of reading: take its events or its text as they are"
    if inspect.isawaitable(source):
        return f"{given} was not awaited: await it first"
    if inspect.isroutine(source) or isinstance(source, type):
        return f"{given} was not called: call it first"
    if reads_otherwise:
        return f"{given} is read {otherwise}"
    if _can_any(source, ("__enter__", "__aenter__")):
        return f"{given} gives nothing to read: make a request with it, and hand in the response"
    return f"{given} cannot be read: hand in bytes, a response, a binary file, an SDK stream, or an iterable of bytes"
