"""How Responses requests are made."""

from __future__ import annotations

from typing import Any

from .chat_requests import ANSWER_TOKENS
from .requests import IdOf, Request

REMEMBER = "Remember the word {word}."


class ResponsesRequests:
    """Makes requests for one model."""

    def __init__(self, model: str) -> None:
        """`model` is asked in all but the one that asks for a model that does not exist."""
        self._model = model

    def ask(
        self, name: str, input: Any, *, tokens: int = ANSWER_TOKENS, stream: bool = True, **members: Any
    ) -> Request:
        """A text or items; what is no member of the body goes to `Request`."""
        about = {key: members.pop(key) for key in ("key", "is_wrong", "cut") if key in members}
        body = {"model": self._model, "input": input, "max_output_tokens": tokens, **members}
        if stream:
            body["stream"] = True
        return Request(f"responses.{name}", "responses", "/responses", body, tokens, **about)

    def tool(self, name: str, input: Any, *functions: dict[str, Any], **members: Any) -> Request:
        """A streamed request with tools."""
        tools = [{"type": "function", **function} for function in functions]
        return self.ask(name, input, tools=tools, **members)

    def look_up(self, name: str, of: Request, times: int) -> Request:
        """What became of an answer that was begun."""
        return Request(f"responses.{name}", "responses", "/responses/", resource=IdOf(of.name), times=times)
