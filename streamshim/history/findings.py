"""What a check of input finds, and how it is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(slots=True, frozen=True)
class InputFinding:
    """One thing that is wrong with what is to be sent.

    Attributes:
        path: where, such as `input[3].output` or `messages[2].tool_calls[0]`.
        code: what kind of thing, a stable word such as `unanswered-call`.
        seen: what stands there.
        expected: what should.
    """

    path: str
    code: str
    seen: str
    expected: str

    def __str__(self) -> str:
        return f"{self.path}: {self.seen}; expected: {self.expected}"


class Report:
    """The findings so far."""

    def __init__(self) -> None:
        """Nothing was found."""
        self.findings: list[InputFinding] = []

    def add(self, path: str, code: str, seen: str, expected: str) -> None:
        """One more."""
        self.findings.append(InputFinding(path, code, seen, expected))


def kind_of(value: Any) -> str:
    """What a value is, in the words of JSON, with as much of it as fits in a sentence."""
    if value is None:
        return "null"
    if isinstance(value, dict):
        return f"an object of type {value['type']!r}" if isinstance(value.get("type"), str) else "an object"
    if isinstance(value, list | tuple):
        return "a list" if value else "an empty list"
    return f"{value!r}" if len(repr(value)) <= 60 else f"{repr(value)[:57]}..."
