"""Whole values that the wire repeats, set against what was streamed: only what is missing is told."""

from __future__ import annotations



class Seen:
    """Text that was streamed, kept in pieces and joined only where a snapshot asks."""

    __slots__ = ("_pieces", "size")

    def __init__(self) -> None:
        """Nothing seen."""
        self._pieces: list[str] = []
        self.size = 0

    def add(self, text: str) -> None:
        """More was streamed."""
        self._pieces.append(text)
        self.size += len(text)

    def text(self) -> str:
        """All that was streamed."""
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""

    def missing(self, snapshot: str) -> str | None:
        """What the snapshot has beyond the streamed text: "" if nothing, None if it tells something else."""
        if not self.size:
            return snapshot
        if len(snapshot) < self.size:
            return None if snapshot and not self.text().startswith(snapshot) else ""
        return snapshot[self.size :] if snapshot.startswith(self.text()) else None

    def is_suffix_of(self, snapshot: str) -> bool:
        """Whether a resumed stream brought the end of what the snapshot shows whole."""
        return bool(self.size) and snapshot.endswith(self.text())


