"""An answer that is relayed through an HTTP client: its body, sync and async, and the ledger of what was done to it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any, Protocol, Self

from .bridge import Exchange, LeftOut
from .decode import StreamDecoder
from .events import StreamEnd

logger = logging.getLogger("streamshim")

_MOST_BEHIND_THE_END = 64 * 1024
"""A body is read to its end, so that its connection can be used again; but no vendor has so much to say behind it."""
_CUT = "the stream ended before the answer was whole: nothing said that it was"


class Relaying(Protocol):
    """What hands an answer on: a `Relay`, or a `StreamedAnswer` in the words of the other API."""

    @property
    def is_over(self) -> bool:
        """Nothing more will be handed on."""
        ...

    @property
    def is_cut(self) -> bool:
        """The reader must be told that the answer was cut, since what was handed on does not say so."""
        ...

    @property
    def rewritten(self) -> int:
        """How many frames were not handed on as they came."""
        ...

    def feed(self, piece: bytes) -> bytes:
        """Some more bytes: what can be handed on by now."""
        ...

    def close(self, error: BaseException | None = None) -> bytes:
        """The body is over, or broke: what is left."""
        ...


class RelayLedger:
    """What a relayed answer went through, live: `response.extensions["streamshim"]`.

    Attributes:
        left_out: what was left out of the request on its way to the other API, and why.
    """

    left_out: Sequence[LeftOut] = ()

    def __init__(self, decoder: StreamDecoder, relay: Relaying) -> None:
        """`decoder` reads the answer, `relay` hands it on."""
        self._decoder = decoder
        self._relay = relay

    @property
    def repairs(self) -> dict[str, int]:
        """How often each quirk was put right so far."""
        return self._decoder.repairs

    @property
    def rewritten(self) -> int:
        """How many of the vendor's frames were left out, or handed on in other words, so far."""
        return self._relay.rewritten

    @property
    def end(self) -> StreamEnd | None:
        """How the answer ended, once it is over; "cancelled" if the reader left before."""
        return self._decoder.end

    @property
    def dropped(self) -> dict[str, int]:
        """What the caller's API cannot say of the answer, and how often that was, by kind."""
        return {}


class ExchangeLedger(RelayLedger):
    """The ledger of an answer that came from the other API."""

    def __init__(self, exchange: Exchange) -> None:
        """`exchange`: the request and its answer."""
        super().__init__(exchange.decoder, exchange.relay)
        self.left_out = exchange.left_out
        self._answer = exchange.relay

    @property
    def dropped(self) -> dict[str, int]:
        """What the caller's API cannot say of the answer, and how often that was, by kind."""
        return dict(self._answer.dropped)


class RelayedAnswer:
    """A relayed answer without its I/O.

    Attributes:
        ledger: what was done to it.
        is_over: nothing more is read of it.
        failure: what its reader must see once everything was handed on.
    """

    def __init__(
        self,
        relay: Relaying,
        decoder: StreamDecoder,
        *,
        cut_error: Callable[[str], Exception],
        on_end: Callable[[RelayLedger], None] | None,
        ledger: RelayLedger | None = None,
    ) -> None:
        """`cut_error` makes the exception that says of a stream that it was cut; `on_end` is called once."""
        self.ledger = ledger or RelayLedger(decoder, relay)
        self.is_over = False
        self.failure: Exception | None = None
        self._relay = relay
        self._decoder = decoder
        self._cut_error = cut_error
        self._on_end = on_end
        self._behind_the_end = 0

    def take(self, piece: bytes) -> bytes:
        """A piece came: what it gives."""
        if self._relay.is_over:
            self._behind_the_end += len(piece)
            self.is_over = self._behind_the_end > _MOST_BEHIND_THE_END
        given = self._relay.feed(piece)
        self._note_the_end()
        return given

    def finish(self, error: Exception | None = None) -> bytes:
        """The body is over, or broke with `error`: what is left."""
        self.is_over = True
        rest = self._relay.close(error)
        if self._relay.is_cut:
            self.failure = error or self._cut_error(_CUT)
        elif error is not None:
            logger.debug("the connection broke behind the end of the answer", exc_info=error)
        self._note_the_end()
        return rest

    def leave(self) -> None:
        """The reader leaves."""
        self.is_over = True
        self._decoder.cancel()
        self._note_the_end()

    def raise_failure(self) -> None:
        """Raise what the reader must see, once."""
        failure, self.failure = self.failure, None
        if failure is not None:
            raise failure

    def _note_the_end(self) -> None:
        if self._decoder.end is not None:
            on_end, self._on_end = self._on_end, None
            if on_end is not None:
                on_end(self.ledger)


class RelayedBody:
    """The body of a synchronous response."""

    def __init__(self, response: Any, answer: RelayedAnswer) -> None:
        """`response` comes from the transport that does the work; nothing was read of it."""
        self._response = response
        self._answer = answer
        self._pieces: Any = None
        self._is_closed = False

    def __iter__(self) -> Self:
        """The body itself: it can be read once."""
        return self

    def __next__(self) -> bytes:
        """What the next piece gives. Nothing is read ahead."""
        answer = self._answer
        while not answer.is_over:
            if self._pieces is None:
                self._pieces = self._response.iter_bytes()
            try:
                piece = next(self._pieces, None)
            except Exception as error:  # noqa: BLE001  (whatever it is, it is raised once all was handed on)
                given = answer.finish(error)
            else:
                given = answer.finish() if piece is None else answer.take(piece)
            if answer.is_over:
                self.close()
            if given:
                return given
        answer.raise_failure()
        raise StopIteration

    def close(self) -> None:
        """Close the response behind it, once."""
        if not self._is_closed:
            self._is_closed = True
            try:
                self._response.close()
            finally:
                self._answer.leave()


class AsyncRelayedBody:
    """The body of an asynchronous response: the twin of `RelayedBody`."""

    def __init__(self, response: Any, answer: RelayedAnswer) -> None:
        """`response` comes from the transport that does the work; nothing was read of it."""
        self._response = response
        self._answer = answer
        self._pieces: Any = None
        self._is_closed = False

    def __aiter__(self) -> Self:
        """The body itself: it can be read once."""
        return self

    async def __anext__(self) -> bytes:
        """What the next piece gives. Nothing is read ahead."""
        answer = self._answer
        while not answer.is_over:
            if self._pieces is None:
                self._pieces = self._response.aiter_bytes()
            try:
                piece = await anext(self._pieces, None)
            except Exception as error:  # noqa: BLE001  (whatever it is, it is raised once all was handed on)
                given = answer.finish(error)
            else:
                given = answer.finish() if piece is None else answer.take(piece)
            if answer.is_over:
                await self.aclose()
            if given:
                return given
        answer.raise_failure()
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """Close the response behind it, once."""
        if not self._is_closed:
            self._is_closed = True
            try:
                await self._response.aclose()
            finally:
                self._answer.leave()
