"""Reads the tables of the comparison page again."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs" / "comparison.md"
TITLES = {"chat": "Chat Completions", "responses": "Responses"}


def tables() -> dict[str, list[list[str]]]:
    """The rows of the page's tables, header first, by the section in which they stand."""
    found: dict[str, list[list[str]]] = {}
    section = ""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            section = line.removeprefix("## ")
        elif line.startswith("| ") and "| --- |" not in line:
            found.setdefault(section, []).append([cell.strip() for cell in line[2:-1].split("| ")])
    return found


def broken(api: str, client: str) -> set[str]:
    """The scenarios that a client reads wrong by itself."""
    header, *rows = tables()[f"{TITLES[api]}: what was seen"]
    return {row[1].strip("`") for row in rows if row[header.index(client)]}


def broken_over_the_transport(api: str, client: str) -> set[str]:
    """Those that it reads wrong even over the transport."""
    rows = [
        row for row in tables()["Over streamshim's transport: what was seen"][1:] if row[:2] == [client, TITLES[api]]
    ]
    return {name for row in rows for name in re.findall(r"`([^`]+)`", row[2])}
