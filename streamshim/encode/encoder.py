"""What both encoders share: identity, made-up values, drops, and how a frame is written."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar

from ..events import Event, Evidence, StreamEnd, StreamStart
from ..identifiers import random_id
from ..json_codec import dumps, dumps_string

DONE = b"data: [DONE]\n\n"
PING = b": ping\n\n"
TRUNCATED_CODE = "stream_truncated"
TRUNCATED_MESSAGE = "The upstream stream ended before it was complete."
FAILED_MESSAGE = "The upstream reported an error and gave no message."
MARK = random_id("mark")
"""Stands for the text of a delta where all but that text is written. Random, so that nothing else can hold it."""


def unix_time() -> int:
    """Now, in whole seconds."""
    return int(time.time())


def frame(payload: dict[str, Any], event: str | None = None) -> bytes:
    """A payload as an event of an event stream, with or without an `event:` line."""
    head = f"event: {event}\n" if event else ""
    return f"{head}data: {dumps(payload)}\n\n".encode()


def frame_around(payload: dict[str, Any], event: str | None = None) -> list[bytes]:
    """What `frame` writes before, between and behind the marks of a payload."""
    return frame(payload, event).split(dumps_string(MARK))


class Encoder:
    """Events in, frames out: what does not depend on the wire.

    Attributes:
        dropped: how often something was left out because the wire cannot say it, by kind.
    """

    _HANDLERS: ClassVar[dict[str, Callable[[Any, Any], None]]]
    _ID_PREFIX: ClassVar[str]
    _choice: int | None = None
    """The one choice that the wire speaks of; None: all."""

    def __init__(
        self,
        *,
        model: str | None,
        response_id: str | None,
        make_id: Callable[[str], str] | None,
        now: Callable[[], int] | None,
    ) -> None:
        """Nothing was said yet."""
        self.dropped: dict[str, int] = {}
        self._make_id = make_id or random_id
        self._now = now or unix_time
        self._own_model = model
        self._own_id = response_id
        self._frames: list[bytes] = []
        self._begun = False
        self._ended = False

    def feed(self, event: Event) -> list[bytes]:
        """Encode one event: the frames that it gives, one an entry. After `StreamEnd` nothing is written any more."""
        self._take(event)
        frames = self._frames[:]
        self._frames.clear()
        return frames

    def encode(self, events: Iterable[Event]) -> Iterator[bytes]:
        """Encode events, each when its frames are asked for. At the end of the stream `close()` is still owed."""
        frames = self._frames
        for event in events:
            self._take(event)
            yield from frames
            frames.clear()

    def close(self) -> list[bytes]:
        """No more events: without a `StreamEnd` the stream counts as truncated. May be called again."""
        return self.feed(StreamEnd("truncated", Evidence(), None, {}, None, None))

    @staticmethod
    def ping() -> bytes:
        """A frame that keeps the connection alive; it may stand between any two others."""
        return PING

    def _take(self, event: Event) -> None:
        """Write what one event says to `_frames`."""
        handler = self._HANDLERS.get(event.type)
        if self._ended:
            return
        if handler is None:
            self._drop(event.type)
            return
        if not self._begun:
            self._begun = True
            self._start(event if isinstance(event, StreamStart) else StreamStart(None, None, None, None))
        if self._choice is None or getattr(event, "choice", self._choice) == self._choice:
            handler(self, event)
        else:
            self._drop("choice")

    def _start(self, start: StreamStart) -> None:
        """Fix who speaks; what the source leaves open is made up."""
        id = self._own_id or start.response_id or self._make_id(self._ID_PREFIX)
        created_at = self._now() if start.created_at is None else start.created_at
        self._begin(id, self._own_model or start.model or "", created_at)

    def _begin(self, id: str, model: str, created_at: int) -> None:
        raise NotImplementedError

    def _drop(self, kind: str) -> None:
        self.dropped[kind] = self.dropped.get(kind, 0) + 1

    def _pass(self, event: Event) -> None:
        """Events that say nothing on this wire, and are no loss."""
