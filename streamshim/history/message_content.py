"""Checks that messages of both APIs share: content, and the arguments of calls."""

from __future__ import annotations

from typing import Any, TypeGuard

from ..json_codec import loads
from .content_parts import FOREIGN_PARTS, HistoryApi
from .findings import Report, kind_of


def check_content(
    report: Report, path: str, content: Any, api: HistoryApi, *, wrong: dict[str, str] | None = None
) -> None:
    """Content that must be there: text, or a list of parts.

    Args:
        report: where to tell.
        path: where the content stands.
        content: the content.
        api: whose words it must use.
        wrong: part types that have no place here, and what belongs there instead.
    """
    if isinstance(content, str):
        return
    if not isinstance(content, list) or not content:
        report.add(path, "content-missing", kind_of(content), "text, or a list of content parts")
        return
    refused = {**FOREIGN_PARTS[api], **(wrong or {})}
    for at, part in enumerate(content):
        place = f"{path}[{at}]"
        if not isinstance(part, dict) or not isinstance(part.get("type"), str):
            report.add(place, "part-type", kind_of(part), "an object that has a `type`")
        elif part["type"] in refused:
            report.add(f"{place}.type", "part-type", repr(part["type"]), repr(refused[part["type"]]))


def check_arguments(report: Report, path: str, arguments: Any) -> None:
    """A function's arguments: the JSON text of an object."""
    if not isinstance(arguments, str):
        report.add(path, "call-arguments", kind_of(arguments), "the arguments as JSON text")
        return
    try:
        parsed = loads(arguments)
    except ValueError:
        report.add(path, "call-truncated", f"{kind_of(arguments)}, which is no whole JSON", "a call that was not cut")
        return
    if not isinstance(parsed, dict):
        report.add(path, "call-arguments", kind_of(arguments), "the JSON text of an object")


def usable(value: Any) -> TypeGuard[str]:
    """Whether a value can be an id or a name."""
    return isinstance(value, str) and value != ""
