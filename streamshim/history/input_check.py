"""`check_input`: what models silently ignore and servers refuse, named before anything is sent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..errors import StreamshimError
from .chat_check import ChatCheck
from .content_parts import HistoryApi
from .findings import InputFinding, kind_of
from .item_check import ItemCheck


class InputError(StreamshimError, ValueError):
    """What is to be sent is not what the API reads. `findings` has all that is wrong."""

    def __init__(self, findings: list[InputFinding]) -> None:
        """Keep the findings and tell each on a line."""
        super().__init__("\n".join(str(finding) for finding in findings))
        self.findings = findings


def check_input(items: Any, api: HistoryApi = "chat", *, continued: bool = False) -> list[InputFinding]:
    """Look over the `messages` of a chat request, or the `input` of a Responses request.

    Args:
        items: what is to be sent; a text alone is a legal `input`.
        api: which API it goes to.
        continued: the server holds what came before (`previous_response_id`, `conversation`), so that results may
            answer calls that do not stand here.

    Returns:
        All that is wrong, in order of appearance; empty where nothing is. Never raises, whatever the items are.
    """
    if api == "responses" and isinstance(items, str):
        return []
    name = "messages" if api == "chat" else "input"
    if not isinstance(items, list | tuple):
        return [InputFinding(name, "not-a-list", kind_of(items), f"a list of {name}")]
    checker = ChatCheck() if api == "chat" else ItemCheck(continued=continued)
    for at, item in enumerate(items):
        path = f"{name}[{at}]"
        if isinstance(item, dict):
            checker.read(path, item)
        else:
            checker.report.add(path, "not-an-object", kind_of(item), "an object")
    checker.end()
    return checker.report.findings


def raise_for_findings(findings: Iterable[InputFinding]) -> None:
    """Refuse input in which something was found.

    Raises:
        InputError: there are findings.
    """
    if found := list(findings):
        raise InputError(found)
