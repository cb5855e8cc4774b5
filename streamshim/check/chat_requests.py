"""How chat requests are made."""

from __future__ import annotations

from typing import Any

from .requests import Request

COUNT = "Count to 30, one number after another."
SAY = "Say exactly: lighthouse"
ANSWER_TOKENS = 512
"""Enough for the thought of a model that thinks before a short answer."""

WEATHER: dict[str, Any] = {
    "name": "get_weather",
    "description": "The weather in a city, now.",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string", "description": "The name of the city."}},
        "required": ["city"],
        "additionalProperties": False,
    },
}
TIME: dict[str, Any] = {
    "name": "get_time",
    "description": "The time, now.",
    "parameters": {"type": "object", "properties": {}, "additionalProperties": False},
}
CITY_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "country": {"type": "string"}},
    "required": ["city", "country"],
    "additionalProperties": False,
}
CALL = 'Call get_weather({"city": "Oslo"}).'
TWO_CALLS = 'Call get_weather({"city": "Oslo"}) and get_weather({"city": "Lima"}), both at once.'
NO_ARGUMENTS = "Call get_time()."
WHICH_WORD = "Which word did I ask you to remember?"

RED_SQUARE = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAIAAAD8GO2jAAAAKklEQVR42mO4oKBAU8QwasGoBaMWjF"
    "owasGoBaMWjFowasGoBaMWDBULAE7YQD2B7wk2AAAAAElFTkSuQmCC"
)


class ChatRequests:
    """Makes requests for one model."""

    def __init__(self, model: str) -> None:
        """`model` is asked in all but the one that asks for a model that does not exist."""
        self._model = model

    def ask(
        self, name: str, content: Any, *, tokens: int = ANSWER_TOKENS, stream: bool = True, **members: Any
    ) -> Request:
        """One user message; what is no member of the body goes to `Request`."""
        return self.send(name, [{"role": "user", "content": content}], tokens=tokens, stream=stream, **members)

    def send(self, name: str, messages: list[dict[str, Any]], *, tokens: int, stream: bool, **members: Any) -> Request:
        """Any messages."""
        about = {key: members.pop(key) for key in ("key", "is_wrong", "cut") if key in members}
        body = {"model": self._model, "messages": messages, "max_tokens": tokens, **members}
        if stream:
            body["stream"] = True
        return Request(f"chat.{name}", "chat", "/chat/completions", body, tokens, **about)

    def tool(self, name: str, content: str, *functions: dict[str, Any]) -> Request:
        """A streamed request whose answer must be calls."""
        tools = [{"type": "function", "function": function} for function in functions]
        return self.ask(name, content, tools=tools, tool_choice="required")
