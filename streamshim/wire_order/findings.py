"""What was found wrong with a stream so far."""

from __future__ import annotations


class Findings:
    """What was found so far, and at which frame we are."""

    def __init__(self) -> None:
        """Nothing yet."""
        self.all: list[str] = []
        self.position = 0

    def note(self, what: str) -> None:
        """Something is wrong with the frame at this position."""
        self.all.append(f"frame {self.position}: {what}")

    def expect(self, holds: bool, what: str) -> None:
        """`what` is noted unless it holds."""
        if not holds:
            self.note(what)
