"""What a client said about one stream, in the same few words for every client."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Ending = Literal["ok", "raised", "hung", "crashed"]


@dataclass(slots=True)
class Call:
    """A tool call that the reader is given to run.

    Attributes:
        name: of the tool.
        arguments: JSON text as the client gives it, dumped again where the client gives an object; a custom tool's
            free text.
        id: of the call; None where the client has none.
    """

    name: str
    arguments: str
    id: str | None = None


@dataclass(slots=True)
class Answer:
    """What the model said.

    Attributes:
        text: the answer proper.
        reasoning: the thought; None where the client has no place for it.
        tool_calls: of function and custom tools.
    """

    text: str = ""
    reasoning: str | None = None
    tool_calls: list[Call] = field(default_factory=list)


@dataclass(slots=True)
class Account(Answer):
    """One stream as a client shows it. An adapter fills it while it reads, so that it survives an exception.

    Attributes:
        final: the answer once more, where the client shows it as it comes and again at the end.
        finish: the finish word, or the status of the terminal event; None where the client shows neither.
        error: what the client reports as an error: an exception as "Name: message", or the message of an error object.
        ended: "ok", "raised" (an exception), "hung" (the time was up) or "crashed" (the process was gone).
    """

    final: Answer | None = None
    finish: str | None = None
    error: str | None = None
    ended: Ending = "ok"

    @property
    def answers(self) -> list[Answer]:
        """The one or two places where the client shows the answer."""
        return [self, self.final] if self.final else [self]

    def to_json(self) -> dict[str, Any]:
        """The account as plain JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Account:
        """The account again."""
        final = value["final"]
        return cls(**{**value, **_calls(value), "final": Answer(**{**final, **_calls(final)}) if final else None})


def as_text(value: Any) -> str:
    """Text as it is; an object in the place of text as JSON; nothing as an empty object."""
    return value if isinstance(value, str) else json.dumps(value or {})


def _calls(value: dict[str, Any]) -> dict[str, list[Call]]:
    return {"tool_calls": [Call(**call) for call in value["tool_calls"]]}
