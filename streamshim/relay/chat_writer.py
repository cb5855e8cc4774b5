"""Our own chunks in a relayed chat stream, in the manner of the vendor's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from ..encode.chat import ChatEncoder
from ..encode.encoder import frame
from ..encode.options import ChatReasoning
from .standard import payload_of


class ChatWriter(ChatEncoder):
    """Our own chunks, in the manner of the vendor's."""

    def __init__(self, *, asks_usage: bool, make_id: Callable[[str], str] | None) -> None:
        """`asks_usage`: the request asks for a chunk with the token counts."""
        super().__init__(truncated="silent", make_id=make_id)
        self._asks_usage = asks_usage
        self._shows_usage = False
        self._shows_usage_alone = False

    @property
    def id(self) -> str | None:
        """The id of the stream, once it is known."""
        return self._head.get("id")

    @property
    def introduced(self) -> set[object]:
        """The choices whose role was told."""
        return {index for index, choice in self._choices.items() if choice.introduced}

    def introduce(self, index: int) -> list[bytes]:
        """Open a choice, if nothing was said of it."""
        self._introduce(index, "")
        frames = self._frames[:]
        self._frames.clear()
        return frames

    def notice(self, payload: dict[str, Any]) -> None:
        """Where the vendor shows token counts, and in which member thought."""
        if payload.get("usage"):
            self._shows_usage = True
            self._shows_usage_alone = self._shows_usage_alone or not payload.get("choices")

    def speak_of_thought_as(self, member: str) -> None:
        """The member of a delta that carries thought."""
        self._reasoning = cast("ChatReasoning", member)

    def _write_usage(self) -> None:
        """Nobody who did not ask for a chunk without choices expects one: then the last chunk has the counts."""
        if self._asks_usage or self._shows_usage_alone:
            super()._write_usage()
        elif self._shows_usage and self._frames:
            last = len(self._frames) - 1
            super()._write_usage()
            if len(self._frames) > last + 1:
                usage = payload_of(self._frames.pop())["usage"]
                self._frames[last] = frame({**payload_of(self._frames[last]), "usage": usage})
