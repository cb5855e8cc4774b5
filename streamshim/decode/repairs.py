"""The ledger of repairs: counted always, told on request, refused where the reader is strict."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from ..errors import ErrorInfo
from ..events import ErrorReport, Event, Repair
from ..quirks import QUIRKS

logger = logging.getLogger("streamshim")


class Repairs:
    """Counts what was put right, by quirk id."""

    def __init__(self, out: list[Event], *, tell: bool, strict: bool | Iterable[str]) -> None:
        """`tell`: emit `Repair` events; `strict`: the quirks (or all) that are errors instead."""
        self.counts: dict[str, int] = {}
        self.frame = 0
        """The number of the frame that is being read, from 1."""
        self.strict_error = False
        self._out = out
        self._tell = tell
        self._all_strict = strict is True
        self._strict = frozenset(() if isinstance(strict, bool) else strict)
        if unknown := self._strict - QUIRKS.keys():
            raise ValueError(f"strict names quirks that do not exist: {', '.join(sorted(unknown))}")

    def note(self, quirk: str, detail: str) -> None:
        """Something was put right; `detail` says what was seen."""
        seen = self.counts.get(quirk, 0)
        self.counts[quirk] = seen + 1
        if not seen:
            logger.debug("frame %d: %s: %s", self.frame, quirk, detail)
        if self._tell:
            self._out.append(Repair(quirk, detail, self.frame))
        if self._all_strict or quirk in self._strict:
            self.strict_error = True
            message = f"frame {self.frame}: {detail}: {QUIRKS[quirk].done} without strict={{{quirk!r}}}"
            self._out.append(ErrorReport(ErrorInfo("strict", message, code=quirk)))
