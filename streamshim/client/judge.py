"""`Judge`: keeps an answer back until it is known whether it is the one to be shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..decode import StreamDecoder
from ..events import Event

if TYPE_CHECKING:
    from ..history import StoredState
    from ..response_models import ModelResponse

_SAYS = frozenset(("text_start", "reasoning_start", "refusal_start", "tool_call_start", "media_start"))


class Judge:
    """Reads ahead of the reader, and holds the bytes back until nothing speaks against them.

    A server that is known to remember (`trusted`) refuses a conversation that it lost before it says anything, if it
    does at all. Of one that is not known yet, only the end tells: by what it counted. Where nothing will be counted,
    its echo of the id decides, which comes first.

    Attributes:
        is_open: whether bytes pass.
    """

    def __init__(self, state: StoredState | None, *, trusted: bool, must_call: bool) -> None:
        """Know nothing yet.

        Args:
            state: of a conversation that the server is relied on to hold.
            trusted: whether the server was seen to hold one.
            must_call: whether the answer must have a call.
        """
        from ..response import Collector

        self.is_open = False
        self._state = state
        self._trusted = trusted
        self._must_call = must_call
        self._collector = Collector()
        self._decoder = StreamDecoder(tool_markup=must_call)
        self._held: list[bytes] = []

    def read(self, data: bytes) -> list[bytes]:
        """The next bytes that came: what may be shown by now."""
        if self.is_open:
            return [data]
        self._held.append(data)
        self._see(self._decoder.feed(data))
        if not self.is_open:
            return []
        return self.release()

    def end(self) -> ModelResponse | None:
        """There are no more: the whole answer that was kept back; None if it was shown."""
        if self.is_open:
            return None
        self._see(self._decoder.close())
        return None if self.is_open else self._collector.response

    def release(self) -> list[bytes]:
        """What was kept back, to be shown."""
        self.is_open = True
        held, self._held = self._held, []
        return held

    def _see(self, events: list[Event]) -> None:
        for event in events:
            self._collector.feed(event)
            if event.type == "tool_call_start":
                self._must_call = False
            if self._state is not None and (event.type in _SAYS or event.type == "metadata"):
                self._believe(event, self._state)
        self.is_open = self.is_open or (self._state is None and not self._must_call)

    def _believe(self, event: Event, state: StoredState) -> None:
        """Stop asking for the state where nothing more can speak against the server."""
        if (self._trusted and event.type in _SAYS) or state.vouched_for(self._collector.response):
            self._state = None
