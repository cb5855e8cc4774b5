"""What a message holds, in the words of either API: text, images, files, sounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeGuard

HistoryApi = Literal["chat", "responses"]
"""The API that the next request goes to."""

Part = Mapping[str, Any]


def _chat_image(part: Part) -> dict[str, Any]:
    if part.get("file_id") and not part.get("image_url"):
        return {"type": "file", "file": {"file_id": part["file_id"]}}
    detail = {"detail": part["detail"]} if part.get("detail") else {}
    return {"type": "image_url", "image_url": {"url": part.get("image_url"), **detail}}


def _item_image(part: Part) -> dict[str, Any]:
    image = part.get("image_url")
    members = image if isinstance(image, Mapping) else {"url": image}
    detail = {"detail": members["detail"]} if members.get("detail") else {}
    return {"type": "input_image", "image_url": members.get("url"), **detail}


def _item_file(part: Part) -> dict[str, Any]:
    file = part.get("file")
    return {"type": "input_file", **(file if isinstance(file, Mapping) else {})}


def _chat_file(part: Part) -> dict[str, Any]:
    return {"type": "file", "file": {key: value for key, value in part.items() if key != "type"}}


_TO_CHAT: dict[str, Callable[[Part], dict[str, Any]]] = {
    "input_text": lambda part: {"type": "text", "text": part.get("text", "")},
    "output_text": lambda part: {"type": "text", "text": part.get("text", "")},
    "input_image": _chat_image,
    "input_file": _chat_file,
}
_TO_ITEMS: dict[str, Callable[[Part], dict[str, Any]]] = {
    "text": lambda part: {"type": "input_text", "text": part.get("text", "")},
    "image_url": _item_image,
    "file": _item_file,
}

FOREIGN_PARTS: dict[HistoryApi, dict[str, str]] = {
    "chat": {"input_text": "text", "output_text": "text", "input_image": "image_url", "input_file": "file"},
    "responses": {"text": "input_text", "image_url": "input_image", "file": "input_file"},
}
"""The part types that the other API has, and what they are called on this one."""


def content_for(content: str | list[dict[str, Any]], api: HistoryApi) -> str | list[dict[str, Any]]:
    """Content in the words of an API. Parts that both know, or that neither does, stay as they are."""
    if isinstance(content, str):
        return content
    words = _TO_CHAT if api == "chat" else _TO_ITEMS
    return [words[part["type"]](part) if part["type"] in words else dict(part) for part in content]


def is_content(value: Any) -> TypeGuard[list[dict[str, Any]]]:
    """Whether a value is a list of content parts."""
    return (
        isinstance(value, list)
        and value != []
        and all(isinstance(part, Mapping) and isinstance(part.get("type"), str) for part in value)
    )


def result_content(parts: list[dict[str, Any]], api: HistoryApi) -> str | list[dict[str, Any]]:
    """Content of a tool's result. On the chat API text goes as such: few servers read a list there."""
    content = content_for(parts, api)
    if api == "chat" and all(part["type"] == "text" for part in content if not isinstance(part, str)):
        return "\n".join(part["text"] for part in content if not isinstance(part, str))
    return content
