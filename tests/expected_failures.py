"""Scenarios and corpus files that are not right yet, by name. The list may only shrink: a name that passes fails."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

FILE = Path(__file__).with_name("expected_failures.txt")


def expected_failures() -> set[str]:
    """The names, one a line; lines that begin with # are remarks."""
    lines = FILE.read_text(encoding="utf-8").splitlines()
    return {line.strip() for line in lines if line.strip() and not line.startswith("#")}


def judge(name: str, problems: Iterable[str]) -> None:
    """Fail on a problem, unless the name is expected to fail; then fail where there is none."""
    found = list(problems)
    if name in expected_failures():
        assert found, f"{name} passes now: take it out of {FILE.name}"
    else:
        assert not found, "\n".join(found)
