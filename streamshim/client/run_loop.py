"""`RunLoop`: the turns of a model that calls tools, and when they are over. No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeAlias

from ..errors import StreamshimError
from ..events import Event, Usage
from ..history import StateFallback
from .tool import Toolbox, ToolResult

if TYPE_CHECKING:
    from ..history import Conversation
    from ..response_models import ModelResponse, ToolCallPart

RunEvent: TypeAlias = Event | ToolResult | StateFallback
"""What a run tells: the events of each turn, and between turns what the tools gave."""

STOPPED = "The tool was not run: the user stopped it."


_COUNTS = [field.name for field in fields(Usage) if field.name != "raw"]


def _sum(counts: list[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


class MaxTurnsError(StreamshimError):
    """A run took all turns that it was allowed, and the model asks for more.

    The calls of its last answer wait in `conversation`: run it again, or `decline_calls()`.
    """

    def __init__(self, max_turns: int, conversation: Conversation, response: ModelResponse) -> None:
        """Keep what was said."""
        names = ", ".join(call.name for call in response.calls_to_answer)
        super().__init__(f"after {max_turns} turns the model still calls tools: {names}")
        self.conversation = conversation
        self.response = response


class RunLoop:
    """Decides what comes next: a turn, tools, or the end.

    Attributes:
        conversation: grows with each turn.
        tools: what may be called.
        turns: the answers so far.
    """

    def __init__(self, conversation: Conversation, tools: Toolbox, max_turns: int, options: Mapping[str, Any]) -> None:
        """Begin.

        Raises:
            ValueError: no turn is allowed.
        """
        if max_turns < 1:
            raise ValueError(f"max_turns={max_turns!r} must be 1 or more")
        self.conversation = conversation
        self.tools = tools
        self.turns: list[ModelResponse] = []
        self._max_turns = max_turns
        self._options = dict(options)

    def options(self) -> dict[str, Any]:
        """The options of the next turn. A call that must be made is to be made once, not for ever."""
        forced = self.turns and self._options.get("tool_choice") not in (None, "auto", "none")
        return {**self._options, "tool_choice": "auto"} if forced else self._options

    def calls(self) -> list[ToolCallPart]:
        """The calls to run now: those that wait, but for what the caller runs."""
        return [call for call in self.conversation.unanswered_calls if not self._is_the_callers(call)]

    def _is_the_callers(self, call: ToolCallPart) -> bool:
        return call.kind == "builtin" or self.tools.is_declared_only(call.name)

    def take(self, calls: list[ToolCallPart], results: Mapping[int, ToolResult]) -> None:
        """What came of calls, by their place; in their order, since two may have one id."""
        for at in sorted(results):
            self.conversation.tool_result(calls[at], results[at].output, results[at].is_error)

    def goes_on(self, response: ModelResponse) -> bool:
        """A turn is over: whether the model is to be told what its calls gave.

        Raises:
            MaxTurnsError: it would have to be, and no turn is left.
        """
        self.turns.append(response)
        if response.status not in ("completed", "incomplete") or not self.calls():
            return False
        if len(self.turns) >= self._max_turns:
            raise MaxTurnsError(self._max_turns, self.conversation, response)
        return True

    @property
    def usage(self) -> Usage | None:
        """The token counts of all turns together; None where no turn had any."""
        counted = [turn.usage for turn in self.turns if turn.usage is not None]
        if not counted:
            return None
        sums = {name: _sum([getattr(usage, name) for usage in counted]) for name in _COUNTS}
        return Usage(**sums, raw={})

    def is_handed_over(self) -> bool:
        """Whether calls wait that the caller runs."""
        return bool(self.conversation.unanswered_calls)
