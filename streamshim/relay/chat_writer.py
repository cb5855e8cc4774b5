"""Our own chunks in a relayed chat stream, in the manner of the vendor's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from ..encode.chat import ChatEncoder, written_chat_usage
from ..encode.options import ChatReasoning, ToolCallMode
from .counts import with_more_counts


class ChatWriter(ChatEncoder):
    """Our own chunks, in the manner of the vendor's."""

    def __init__(self, *, asks_usage: bool, tool_calls: ToolCallMode, make_id: Callable[[str], str] | None) -> None:
        """`asks_usage`: the request asks for a chunk with the token counts."""
        super().__init__(truncated="silent", tool_calls=tool_calls, make_id=make_id)
        self._asks_usage = asks_usage
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
        """Where the vendor shows token counts."""
        if payload.get("usage") and not payload.get("choices"):
            self._shows_usage_alone = True

    def speak_of_thought_as(self, member: str) -> None:
        """The member of a delta that carries thought."""
        self._reasoning = cast("ChatReasoning", member)

    @property
    def has_usage_alone(self) -> bool:
        """Whether the reader expects a chunk without choices: who neither asked for one nor sees any does not."""
        return self._asks_usage or self._shows_usage_alone

    def _write_usage(self) -> None:
        if (usage := self._usage) is not None:
            self._chunk([], usage=with_more_counts(written_chat_usage(usage), usage.raw))
