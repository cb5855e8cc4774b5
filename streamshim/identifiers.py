"""Identifiers for what the wire left without one."""

from __future__ import annotations

from os import urandom


def random_id(prefix: str) -> str:
    """The prefix and 24 random hex digits, such as `call_9f…`."""
    return f"{prefix}_{urandom(12).hex()}"
