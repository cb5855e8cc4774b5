"""The members of a chat request as a Responses request has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def responses_members(members: Mapping[str, Any]) -> dict[str, Any]:
    """All members but the input."""
    given = dict(members)
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
