"""What a client has learned of its server, so that it need not be refused twice."""

from __future__ import annotations

from .fallbacks import FALLBACKS, Fallback


class Memory:
    """What one server does without, by model, and whether it keeps conversations.

    Threads may share it: what is lost when two learn at once is learned again.

    Attributes:
        remembers: whether the server was seen to know what came before; None as long as nothing was seen.
    """

    def __init__(self) -> None:
        """Nothing is known."""
        self.remembers: bool | None = None
        self._refused: dict[str | None, frozenset[str]] = {}

    def refused(self, model: str | None) -> list[Fallback]:
        """What the server refused for this model, in the order in which it is replaced."""
        names = self._refused.get(model, frozenset())
        return [fallback for fallback in FALLBACKS if fallback.name in names]

    def learn(self, model: str | None, fallback: Fallback) -> None:
        """The server refused something for this model."""
        self._refused[model] = self._refused.get(model, frozenset()) | {fallback.name}
