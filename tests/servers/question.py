"""What a request asks of the toy model, whichever API it came by, and how a server says no."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]


class RefusedError(Exception):
    """The server does not answer this request: an HTTP status, and an error as OpenAI writes it."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        type: str = "invalid_request_error",
        param: str | None = None,
        code: str | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.streams = False
        """Whether the request asked for a stream."""
        self.body: Any = {"error": {"message": message, "type": type, "param": param, "code": code}}


class NoSuchPathError(RefusedError):
    """There is nothing at this address: no API says so, and no habit of one shows."""

    def __init__(self, method: str, address: str) -> None:
        super().__init__(404, f"Invalid URL ({method} {address})")


@dataclass
class Call:
    """A tool call. `arguments` is JSON text, or free text for a custom tool."""

    name: str
    arguments: str
    kind: str = "function"


@dataclass
class Turn:
    """One message, call or result of the conversation. `calls` is how many calls were made in it."""

    role: str
    text: str = ""
    images: int = 0
    calls: int = 0


@dataclass
class Tool:
    """A tool that is offered: its parameters are a JSON Schema."""

    name: str
    schema: Json = field(default_factory=dict)
    kind: str = "function"


@dataclass
class Question:
    """The whole conversation and every option that the model obeys.

    `tool_choice` is "auto", "none", "required", or the name of a tool. `schema` asks for JSON: any object, where it is
    empty. `top_logprobs` is None where no log probabilities are asked for.
    """

    model: str
    turns: list[Turn]
    tools: list[Tool] = field(default_factory=list)
    tool_choice: str = "auto"
    parallel: bool = True
    schema: Json | None = None
    thinks: bool = False
    max_tokens: int | None = None
    stop: list[str] = field(default_factory=list)
    choices: int = 1
    top_logprobs: int | None = None
    encrypts: bool = False

    @property
    def input_tokens(self) -> int:
        return sum(len(turn.text.split()) for turn in self.turns)
