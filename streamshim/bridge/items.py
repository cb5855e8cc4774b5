"""Messages of a chat request as the input items of a Responses request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..history.content_parts import content_for, is_content
from ..json_codec import dumps
from .losses import LeftOut, UnsupportedMemberError, content_at, list_at, object_at

Message = Mapping[str, Any]

_SYSTEM_ROLES = ("system", "developer")
_THOUGHT = ("reasoning_content", "reasoning", "reasoning_details")


def instructions_in(messages: list[Any]) -> tuple[str | None, int]:
    """The instructions that a chat request begins with, and how many messages they are.

    Every Responses server knows `instructions`; not every one takes a system message among its items.
    """
    texts: list[str] = []
    for message in messages:
        if not isinstance(message, Mapping) or message.get("role") not in _SYSTEM_ROLES:
            break
        if (text := _only_text(message.get("content"))) is None:
            break
        texts.append(text)
    return "\n\n".join(texts) if texts else None, len(texts)


def _only_text(content: Any) -> str | None:
    if isinstance(content, str) or content is None:
        return content or ""
    if is_content(content) and all(part["type"] == "text" and isinstance(part.get("text"), str) for part in content):
        return "\n".join(part["text"] for part in content)
    return None


class Items:
    """Reads messages in order; `written` is the items so far."""

    def __init__(self, left_out: list[LeftOut]) -> None:
        """No message was read. `left_out` is told what was left out."""
        self.written: list[dict[str, Any]] = []
        self._left_out = left_out
        self._custom_calls: set[str] = set()
        self._last_function: str | None = None

    def read(self, param: str, message: Any) -> None:
        """The next message; `param` is where it stands in the request.

        Raises:
            UnsupportedMemberError: it is nothing that the Responses API can be told.
        """
        role = object_at(param, message).get("role")
        if role in ("user", *_SYSTEM_ROLES):
            self.written.append({"type": "message", "role": role, "content": _content(param, message.get("content"))})
        elif role == "assistant":
            self._assistant(param, message)
        elif role == "tool":
            self._result(param, message.get("tool_call_id"), message)
        elif role == "function":
            self._result(param, self._last_function, message)
        else:
            raise UnsupportedMemberError(
                f"{param}.role", f"{param}.role must be system, developer, user, assistant or tool", "unsupported_value"
            )

    def _assistant(self, param: str, message: Message) -> None:
        for name in _THOUGHT:
            if message.get(name):
                reason = "thought goes back to a Responses server as the item it was, which chat has no place for"
                self._left_out.append(LeftOut(f"{param}.{name}", reason))
        if message.get("audio"):
            self._left_out.append(LeftOut(f"{param}.audio", "the Responses API has no audio"))
        if parts := list(_said(param, message)):
            self.written.append({"type": "message", "role": "assistant", "content": parts})
        for at, call in enumerate(list_at(f"{param}.tool_calls", message.get("tool_calls") or [])):
            self.written.append(self._call(f"{param}.tool_calls[{at}]", call))
        if message.get("function_call"):
            function = object_at(f"{param}.function_call", message["function_call"])
            self._last_function = f"call_{len(self.written)}"
            self.written.append(_function_call(self._last_function, function))

    def _call(self, param: str, call: Any) -> dict[str, Any]:
        call_id = object_at(param, call).get("id")
        if call.get("type") == "custom":
            custom = object_at(f"{param}.custom", call.get("custom"))
            self._custom_calls.add(str(call_id))
            return {"type": "custom_tool_call", "call_id": call_id, **_known(custom, "name", "input")}
        return _function_call(call_id, object_at(f"{param}.function", call.get("function")))

    def _result(self, param: str, call_id: Any, message: Message) -> None:
        if not isinstance(call_id, str) or not call_id:
            raise UnsupportedMemberError(
                f"{param}.tool_call_id", f"{param}.tool_call_id must be the id of a call", "unsupported_value"
            )
        item_type = "custom_tool_call_output" if call_id in self._custom_calls else "function_call_output"
        content: Any = message.get("content")
        output: Any = _only_text(content)
        if output is None:
            output = content_for(content, "responses") if is_content(content) else dumps(content)
        self.written.append({"type": item_type, "call_id": call_id, "output": output})


def _known(thing: Message, *names: str) -> dict[str, Any]:
    return {name: thing.get(name) or "" for name in names}


def _function_call(call_id: Any, function: Message) -> dict[str, Any]:
    arguments = function.get("arguments") or "{}"
    written = arguments if isinstance(arguments, str) else dumps(arguments)
    return {"type": "function_call", "call_id": call_id, **_known(function, "name"), "arguments": written}


def _content(param: str, content: Any) -> list[dict[str, Any]]:
    told = content_at(f"{param}.content", content)
    parts = [{"type": "text", "text": told}] if isinstance(told, str) else told
    return [part for part in content_for(parts, "responses") if isinstance(part, dict)]


def _said(param: str, message: Message) -> Iterator[dict[str, Any]]:
    content = message.get("content")
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
    for at, entry in enumerate(list_at(f"{param}.content", parts)):
        part = object_at(f"{param}.content[{at}]", entry)
        if part.get("text"):
            yield {"type": "output_text", "text": part["text"], "annotations": []}
        elif part.get("refusal"):
            yield {"type": "refusal", "refusal": part["refusal"]}
    if message.get("refusal"):
        yield {"type": "refusal", "refusal": message["refusal"]}
