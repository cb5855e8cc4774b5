"""All habits by their names. The modules that define them note them in `HABITS` as they are imported."""

from __future__ import annotations

from . import (
    call_habits,
    chunk_habits,
    event_habits,
    framing_habits,
    reasoning_habits,
    refusal_habits,
    request_habits,
)
from .manners import HABITS, Manners, Stage

__all__ = ["HABITS", "MODULES", "Manners", "Stage"]

MODULES = (
    framing_habits,
    chunk_habits,
    reasoning_habits,
    call_habits,
    event_habits,
    refusal_habits,
    request_habits,
)
"""Where they are defined."""
