"""What a conversion of requests cannot carry: refused, or left out and said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from ..errors import StreamshimError

_TEXTS = frozenset(("text", "input_text", "output_text", "summary_text", "reasoning_text"))


class UnsupportedMemberError(StreamshimError, ValueError):
    """A request asks for something that the other API cannot be asked for.

    Attributes:
        param: where it stands in the request: `"background"`, `"tools[1]"`.
        code: "unsupported_parameter": the other API has no such member; "unsupported_value": it has not this value.
    """

    def __init__(
        self,
        param: str,
        message: str,
        code: Literal["unsupported_parameter", "unsupported_value"] = "unsupported_parameter",
    ) -> None:
        """`message` is a sentence for whoever made the request."""
        super().__init__(message)
        self.param = param
        self.code = code


class LeftOut(NamedTuple):
    """Something that was left out of a request because the answer is right without it.

    Attributes:
        param: where it stood in the request.
        reason: why it is not needed, or what is done instead.
    """

    param: str
    reason: str


def object_at(param: str, value: Any) -> Mapping[str, Any]:
    """A value that must be an object.

    Raises:
        UnsupportedMemberError: it is none.
    """
    if not isinstance(value, Mapping):
        raise UnsupportedMemberError(param, f"{param} must be an object, not {value!r:.40}", "unsupported_value")
    return value


def list_at(param: str, value: Any) -> Sequence[Any]:
    """A value that must be a list.

    Raises:
        UnsupportedMemberError: it is none.
    """
    if not isinstance(value, (list, tuple)):
        raise UnsupportedMemberError(param, f"{param} must be a list, not {value!r:.40}", "unsupported_value")
    return value


def content_at(param: str, content: Any) -> str | list[dict[str, Any]]:
    """What a message or a tool says: text, or a list of parts, those of text with their text.

    Raises:
        UnsupportedMemberError: it is neither.
    """
    if isinstance(content, str):
        return content
    if not isinstance(content, (list, tuple)):
        raise UnsupportedMemberError(param, f"{param} must be text or a list of content parts", "unsupported_value")
    for at, entry in enumerate(content):
        part = object_at(f"{param}[{at}]", entry)
        if not isinstance(kind := part.get("type"), str):
            raise UnsupportedMemberError(f"{param}[{at}].type", f"{param}[{at}] must have a type", "unsupported_value")
        if kind in _TEXTS and not isinstance(part.get("text"), str):
            raise UnsupportedMemberError(f"{param}[{at}].text", f"{param}[{at}] must have a text", "unsupported_value")
    return list(content)


def name_at(param: str, thing: Mapping[str, Any]) -> str:
    """The name of a tool.

    Raises:
        UnsupportedMemberError: it has none.
    """
    name = thing.get("name")
    if not isinstance(name, str) or not name:
        raise UnsupportedMemberError(f"{param}.name", f"{param} must have a name", "unsupported_value")
    return name
