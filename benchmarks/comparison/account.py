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
        arguments: JSON text as the client gives it; dumped again where the client gives an object.
        id: of the call; None where the client has none.
    """

    name: str
    arguments: str
    id: str | None = None


@dataclass(slots=True)
class Account:
    """One stream as a client shows it. An adapter fills it while it reads, so that it survives an exception.

    Attributes:
        text: the answer.
        reasoning: the thought; None where the client has no place for it.
        tool_calls: of function and custom tools.
        finish: the finish word, or the status of the terminal event; None where the client shows neither.
        error: what the client reports as an error: an exception as "Name: message", or the message of an error object.
        ended: "ok", "raised" (an exception), "hung" (the time was up) or "crashed" (the process was gone).
    """

    text: str = ""
    reasoning: str | None = None
    tool_calls: list[Call] = field(default_factory=list)
    finish: str | None = None
    error: str | None = None
    ended: Ending = "ok"

    def to_json(self) -> dict[str, Any]:
        """The account as plain JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Account:
        """The account again."""
        return cls(**{**value, "tool_calls": [Call(**call) for call in value["tool_calls"]]})


def as_text(arguments: Any) -> str:
    """Arguments as JSON text, whichever of text, an object and nothing the client gives."""
    return arguments if isinstance(arguments, str) else json.dumps(arguments or {})
