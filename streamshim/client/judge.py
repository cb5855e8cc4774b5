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

    Three things may: a refusal that comes in the body of an answer, before anything is said; a conversation that the
    server lost; an answer without the call that it must have. A server that is known to remember (`trusted`) says that
    it lost one before it says anything else, if it does at all. Of one that is not known yet only the end tells, by
    what it counted; where nothing will be counted, its echo of the id decides, which comes first.

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
        self._may_refuse = True
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
        return self.release() if self.is_open else []

    def end(self) -> ModelResponse | None:
        """There are no more: the whole answer that was kept back; None if it was shown."""
        if self.is_open:
            return None
        self._see(self._decoder.close())
        return None if self.is_open else self._collector.response

    @property
    def has_error(self) -> bool:
        """Whether an error came before anything else was said."""
        return self._collector.response.error is not None

    def release(self) -> list[bytes]:
        """What was kept back, to be shown."""
        self.is_open = True
        held, self._held = self._held, []
        return held

    def _see(self, events: list[Event]) -> None:
        for event in events:
            self._collector.feed(event)
            says = event.type in _SAYS
            self._may_refuse = self._may_refuse and not says
            self._must_call = self._must_call and event.type != "tool_call_start"
            if self._state is not None and (says or event.type == "metadata"):
                vouched = self._state.vouched_for(self._collector.response)
                self._state = None if vouched or (self._trusted and says) else self._state
        self.is_open = self._state is None and not (self._may_refuse or self._must_call)
