"""What a source gives and what can be done with it: `read()` a piece, and close it.

`Source` is read synchronously, `AsyncSource` asynchronously. Which objects can be one is told in `sources.py`.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from . import events
from .errors import SourceError

if TYPE_CHECKING:
    from asyncio import Task

logger = logging.getLogger("streamshim")

Piece: TypeAlias = bytes | dict[str, Any]
"""What a source gives: bytes, or a payload that somebody has parsed already."""

_END = object()
_closing: set[Task[None]] = set()
"""The tasks that close what was abandoned: a loop does not hold its tasks itself."""


def as_piece(item: Any) -> Piece:
    """One item of an iterable as a piece.

    Raises:
        SourceError: it is neither bytes nor a payload.
    """
    if isinstance(item, (bytes, bytearray, memoryview)):
        return bytes(item)
    if isinstance(item, dict):
        return item
    if isinstance(item, Mapping):
        return dict(item)
    if can(item, "model_dump"):
        quiet = {"warnings": False} if hasattr(item, "__pydantic_serializer__") else {}
        dumped: dict[str, Any] = item.model_dump(exclude_unset=True, **quiet)
        return dumped
    hint = ""
    if isinstance(item, str):
        hint = "; hand in the bytes: iter_bytes(), not iter_text() or iter_lines()"
    elif type(item).__module__ == events.__name__:
        hint = "; it is an event: collect(events) makes a response of them, encode_chat(events) a wire"
    raise SourceError(f"the source gave {described(item)}, which is neither bytes nor a parsed chunk{hint}")


@dataclass(slots=True)
class Head:
    """The head of the HTTP response behind a source; the status is None as long as there is no response."""

    status: int | None = None
    headers: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, response: object) -> Self:
        """What a response says of itself."""
        return cls(_http_status(response), _http_headers(response))


class Source:
    """A source that is read synchronously.

    Attributes:
        head: the head of the HTTP response behind it; known by the time that the first piece was read.
    """

    def __init__(
        self, items: Iterable[object], *owners: object, response: object = None, head: Head | None = None
    ) -> None:
        """Read `items`; closing closes them, then the owners."""
        self.head = head or Head.of(response)
        self._items = iter(items)
        self._owners = [self._items, *(owner for owner in owners if owner is not self._items)]

    def read(self) -> Piece | None:
        """The next piece, None at the end. Whatever the source raises passes through.

        Raises:
            SourceError: what came is neither bytes nor a payload.
        """
        item = next(self._items, _END)
        if item is _END:
            return None
        return item if type(item) is bytes else as_piece(item)

    def borrow(self, first: Piece | None = None) -> Source:
        """The rest of this source, after `first`, as a source whose closing leaves this one open."""
        return Source(self._rest(first), head=self.head)

    def _rest(self, first: Piece | None) -> Iterator[Piece]:
        piece = self.read() if first is None else first
        while piece is not None:
            yield piece
            piece = self.read()

    def close(self) -> None:
        """Release the source. May be called again; what goes wrong is logged, for nobody can act on it."""
        while self._owners:
            owner = self._owners.pop(0)
            if can(owner, "close"):
                try:
                    owner.close()  # type: ignore[attr-defined]
                except Exception:
                    logger.debug("closing %s failed", described(owner), exc_info=True)


class AsyncSource:
    """A source that is read asynchronously; the twin of `Source`."""

    def __init__(
        self, items: AsyncIterator[object], *owners: object, response: object = None, head: Head | None = None
    ) -> None:
        """Read `items`; closing closes them, then the owners."""
        self.head = head or Head.of(response)
        self._owners = [items, *(owner for owner in owners if owner is not items)]
        self._items = _guarded(items, self._owners)

    async def read(self) -> Piece | None:
        """The next piece, None at the end. Whatever the source raises passes through.

        Raises:
            SourceError: what came is neither bytes nor a payload.
        """
        item = await anext(self._items, _END)
        if item is _END:
            return None
        return item if type(item) is bytes else as_piece(item)

    def borrow(self, first: Piece | None = None) -> AsyncSource:
        """The rest of this source, after `first`, as a source whose closing leaves this one open."""
        return AsyncSource(self._rest(first), head=self.head)

    async def _rest(self, first: Piece | None) -> AsyncGenerator[Piece, None]:
        piece = await self.read() if first is None else first
        while piece is not None:
            yield piece
            piece = await self.read()

    async def aclose(self) -> None:
        """Release the source. May be called again; what goes wrong is logged, for nobody can act on it."""
        await _aclose(self._owners)
        try:
            await self._items.aclose()
        except RuntimeError:
            logger.debug("another task is reading the source that is being closed", exc_info=True)

    def abandon(self) -> None:
        """Nobody holds it any longer: the event loop closes it, where one runs."""
        from asyncio import get_running_loop

        with suppress(RuntimeError):
            closing = get_running_loop().create_task(self.aclose())
            _closing.add(closing)
            closing.add_done_callback(_closing.discard)


async def _guarded(items: AsyncIterator[object], owners: list[object]) -> AsyncGenerator[object, None]:
    """The items. A generator, so that the event loop closes the owners when nobody holds it any longer."""
    try:
        async for item in items:
            yield item
    finally:
        await _aclose(owners)


async def _aclose(owners: list[object]) -> None:
    """Close them all, even if the task is cancelled while it waits for one."""
    while owners:
        owner: Any = owners.pop(0)
        close = getattr(owner, "aclose", None) or getattr(owner, "close", None)
        if callable(close):
            try:
                closing = close()
                if inspect.isawaitable(closing):
                    await closing
            except Exception:
                logger.debug("closing %s failed", described(owner), exc_info=True)
            except BaseException:
                await _aclose(owners)
                raise


def _http_status(response: Any) -> int | None:
    for name in ("status_code", "status"):
        status = getattr(response, name, None)
        if isinstance(status, int):
            return status
    return None


def _http_headers(response: Any) -> dict[str, str]:
    headers: Any = getattr(response, "headers", None)
    return {str(name): str(value) for name, value in headers.items()} if can(headers, "items") else {}


def can(thing: object, ability: str) -> bool:
    """Whether it has a method of that name."""
    return callable(getattr(thing, ability, None))


def described(thing: object) -> str:
    """What it is, for a message: "None", "an int", "a requests.models.Response"."""
    if thing is None:
        return "None"
    kind = type(thing)
    name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    return f"an {name}" if name[0] in "aeiou" else f"a {name}"
