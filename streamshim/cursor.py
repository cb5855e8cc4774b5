"""`Cursor`: how far a stream was read, in the words that servers know, so that it can be resumed there."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True, frozen=True)
class Cursor:
    """The place behind the last frame that was read.

    Attributes:
        response_id: the id of the response, to ask for it again.
        sequence_number: of the last event on the Responses wire that had one; goes into `starting_after`.
        event_id: the last `id:` of the event stream; goes into the header `Last-Event-ID`.
    """

    response_id: str | None = None
    sequence_number: int | None = None
    event_id: str | None = None
