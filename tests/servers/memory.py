"""What the server keeps of its responses: their items, for who continues them, and their faces, for who asks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .question import Json, RefusedError


@dataclass
class Kept:
    """One response: the items before it and of it, and how it looks whole. `polls` is how often it was looked at."""

    items: list[Json]
    input: list[Json]
    body: Json
    frames: list[bytes]
    runs: bool = False
    polls: int = 0

    def shown(self) -> Json:
        """The response now: one that runs in the background is done when it is looked at for the second time."""
        if not self.runs:
            return self.body
        self.polls += 1
        if self.polls > 1:
            self.runs = False
            return self.body
        return running(self.body, "in_progress")


def running(body: Json, status: str) -> Json:
    """A response before it is done."""
    return {**body, "status": status, "output": [], "usage": None, "completed_at": None, "incomplete_details": None}


class Memory:
    """Responses under their ids."""

    def __init__(self) -> None:
        self._kept: dict[str, Kept] = {}

    @property
    def items(self) -> dict[str, Json]:
        """Every item that was answered with, by its id."""
        return {item["id"]: item for kept in self._kept.values() for item in kept.body["output"]}

    def keep(self, kept: Kept) -> None:
        """Keep one more."""
        self._kept[kept.body["id"]] = kept

    def forget(self, id: str) -> None:
        """Forget one.

        Raises:
            RefusedError: it is not kept.
        """
        self.get(id)
        del self._kept[id]

    def get(self, id: str) -> Kept:
        """One by its id.

        Raises:
            RefusedError: it is not kept.
        """
        if id not in self._kept:
            raise RefusedError(404, f"Response with id '{id}' not found.")
        return self._kept[id]

    def before(self, id: Any) -> list[Json]:
        """The items that lead up to a request which continues a response.

        Raises:
            RefusedError: that response is not kept.
        """
        if id is None:
            return []
        if id not in self._kept:
            message = f"Previous response with id '{id}' not found."
            raise RefusedError(400, message, param="previous_response_id", code="previous_response_not_found")
        kept = self._kept[id]
        return kept.items + kept.body["output"]
