"""The members of a chat request as a Responses request has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..errors import StreamshimError


class UnsupportedMemberError(StreamshimError, ValueError):
    """A request asks for something that the other API cannot be asked for."""

    def __init__(self, param: str, message: str) -> None:
        """`param` is where it stands."""
        super().__init__(message)
        self.param = param


class LeftOut(NamedTuple):
    """Something that was left out of a request."""

    param: str
    reason: str


def responses_members(members: Mapping[str, Any], *, left_out: list[LeftOut] | None = None) -> dict[str, Any]:
    """All members but the input."""
    given = dict(members)
    if "stop" in given:
        raise UnsupportedMemberError("stop", "stop is not available: the Responses API has no stop sequences")
    if given.pop("seed", None) is not None and left_out is not None:
        left_out.append(LeftOut("seed", "the Responses API has no seed"))
    if tools := given.get("tools"):
        given["tools"] = [{"type": tool["type"], **tool.get(tool["type"], tool)} for tool in tools]
    result: dict[str, Any] = {}
    if (most := given.pop("max_tokens", None)) is not None:
        result["max_output_tokens"] = most
    if (effort := given.pop("reasoning_effort", None)) is not None:
        result["reasoning"] = {"effort": effort}
    if (format := given.pop("response_format", None)) is not None:
        result["text"] = {"format": {"type": format["type"], **format.get("json_schema", {})}}
    choice = given.pop("tool_choice", None)
    if choice is not None:
        result["tool_choice"] = choice if isinstance(choice, str) else {"type": "function", **choice["function"]}
    return {**result, **given}
