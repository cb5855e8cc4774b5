"""How long a reader waits for the next sign of life. Only waiting counts: a slow reader is no slow stream."""

from __future__ import annotations

from collections.abc import Iterable
from time import monotonic
from typing import TYPE_CHECKING

from .events import Event

if TYPE_CHECKING:
    from .pieces import AsyncSource, Piece, Source

BESIDE_THE_ANSWER = frozenset(("stream_start", "metadata", "unknown", "repair", "raw_frame"))
"""Events that say nothing of the answer itself: a server that hangs may still send them, to keep the line warm."""


def tells_something(events: Iterable[Event]) -> bool:
    """Whether one of the events belongs to the answer: a sign of life."""
    return any(event.type not in BESIDE_THE_ANSWER for event in events)


class DeadlineError(TimeoutError):
    """A deadline has passed."""


class Deadline:
    """What may still be waited until the next sign of life.

    A read that waits is stopped asynchronously; synchronously it cannot be, and what it brings in the end is welcome.
    """

    def __init__(self, first: float | None, idle: float | None) -> None:
        """Seconds until the first sign of life, and from one to the next; where one is None there is no such limit.

        Raises:
            ValueError: a limit is not a positive number.
        """
        for name, seconds in (("first_event_timeout", first), ("idle_timeout", idle)):
            if seconds is not None and not seconds > 0:
                raise ValueError(f"{name} must be a positive number of seconds or None, not {seconds!r}")
        self._idle = idle
        self._seconds = idle if first is None else first
        self._name = "idle_timeout" if first is None else "first_event_timeout"
        self._waited = 0.0

    def see(self, events: Iterable[Event]) -> bool:
        """Events came, or a piece without any. Gives whether the stream is still in time."""
        if tells_something(events):
            self._seconds, self._name, self._waited = self._idle, "idle_timeout", 0.0
        return self._seconds is None or self._waited < self._seconds

    @property
    def error(self) -> DeadlineError:
        """What there is to say once it has passed."""
        return DeadlineError(f"nothing of the answer came for {self._seconds:g} s ({self._name})")

    def read(self, source: Source) -> Piece | None:
        """Read, and count the waiting. Whatever the source raises passes through."""
        start = monotonic()
        try:
            return source.read()
        finally:
            self._waited += monotonic() - start

    async def aread(self, source: AsyncSource) -> Piece | None:
        """Read for as long as is left. Whatever the source raises passes through.

        Raises:
            DeadlineError: nothing came in time.
        """
        if self._seconds is None:
            return await source.read()
        from asyncio import timeout

        start = monotonic()
        limit = timeout(self._seconds - self._waited)
        try:
            async with limit:
                return await source.read()
        except TimeoutError:
            if limit.expired():
                raise self.error from None
            raise
        finally:
            self._waited += monotonic() - start
