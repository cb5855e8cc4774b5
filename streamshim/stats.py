"""`StreamStats`: how fast a stream was, and how much of it there was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter

from .deadlines import tells_something
from .events import Event


@dataclass(slots=True, frozen=True)
class StreamStats:
    """Seconds and counts of one stream, as far as it has come. Times count from the call of `stream()`.

    Attributes:
        time_to_first_byte: until the first piece of the source came; None until then, as with the other two.
        time_to_first_event: until the first event that belongs to the answer came; not `StreamStart`, `Metadata`,
            `Unknown`, `Repair` or `RawFrame`.
        time_to_first_text: until the first `TextDelta` came.
        duration: until the stream was over, or until now.
        bytes: of the source, decompressed; 0 where it gave parsed chunks.
        frames: payloads, `[DONE]` included.
        events: handed out; those that were dropped because the reader left count as well.
        deltas: those among them whose type ends in "_delta".
        output_tokens: as the vendor counted them; None where it did not.
    """

    time_to_first_byte: float | None
    time_to_first_event: float | None
    time_to_first_text: float | None
    duration: float
    bytes: int
    frames: int
    events: int
    deltas: int
    output_tokens: int | None

    @property
    def tokens_per_second(self) -> float | None:
        """Output tokens over the whole duration; None where they are not known."""
        return self.output_tokens / self.duration if self.output_tokens is not None and self.duration else None


class Clock:
    """The moments of a stream: looked at once a piece, and no longer at events once all three are known."""

    def __init__(self) -> None:
        """The stream begins."""
        self._start = perf_counter()
        self._end: float | None = None
        self.first_byte: float | None = None
        self.first_event: float | None = None
        self.first_text: float | None = None

    def see_byte(self) -> None:
        """The first piece came."""
        self.first_byte = perf_counter() - self._start

    def see(self, events: Sequence[Event]) -> bool:
        """Events came. Gives whether the first text is still to come; once it came there is nothing more to see."""
        if self.first_event is None and tells_something(events):
            self.first_event = perf_counter() - self._start
        for event in events:
            if event.type == "text_delta":
                self.first_text = perf_counter() - self._start
                return False
        return True

    def stop(self) -> None:
        """The stream is over; only the first time counts."""
        if self._end is None:
            self._end = perf_counter()

    @property
    def duration(self) -> float:
        """Seconds until the end, or until now."""
        return (perf_counter() if self._end is None else self._end) - self._start
