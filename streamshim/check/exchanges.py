"""A request and its answer, and every fault that is seen in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property

from ..events import Event, RawFrame, Repair
from .faults import Sighting
from .looks import look
from .payloads import SHOWN
from .reading import Reading


class Exchange(Reading):
    """What was asked, what came, and what is wrong with it."""

    @cached_property
    def sightings(self) -> list[Sighting]:
        """The faults of the wire, each once: those that streamshim put right, and those that it has no need to."""
        repaired = _counted(_ledger(self.decoded)) if self.is_answered else {}
        return list({**_counted(look(self)), **repaired}.values())


def _counted(sightings: Iterable[Sighting]) -> dict[str, Sighting]:
    """The first of each fault, with how often it was seen."""
    found: dict[str, Sighting] = {}
    for sighting in sightings:
        before = found.get(sighting.fault)
        found[sighting.fault] = replace(before, count=before.count + 1) if before else sighting
    return found


def _ledger(events: Iterable[Event]) -> Iterator[Sighting]:
    """The repairs, each with the frame that it was made in."""
    frame = ""
    for event in events:
        if isinstance(event, RawFrame):
            frame = event.data if isinstance(event.data, str) else str(event.data)
        elif isinstance(event, Repair):
            yield Sighting(event.quirk, event.detail, frame[:SHOWN])
