"""Token counts under all their names. A usage object is a snapshot: the last one counts, never a sum."""

from __future__ import annotations

from typing import Any

from ..events import Usage

_INPUT = ("prompt_tokens", "input_tokens")
_OUTPUT = ("completion_tokens", "output_tokens")
_INPUT_DETAILS = ("prompt_tokens_details", "input_tokens_details")
_OUTPUT_DETAILS = ("completion_tokens_details", "output_tokens_details")
_CACHE_WRITE = ("cache_write_tokens", "cache_creation_input_tokens", "cache_creation_tokens")


def merge(old: dict[str, Any] | None, new: dict[str, Any]) -> dict[str, Any]:
    """The newer snapshot, with the older one's values where the newer has null; all zeros never replace numbers."""
    if not old:
        return new
    if None in new.values():
        new = {**old, **{key: value for key, value in new.items() if value is not None}}
    return old if not _says_anything(new) else new


def _says_anything(usage: dict[str, Any]) -> bool:
    return any(_count(usage.get(key)) for key in (*_INPUT, *_OUTPUT, "total_tokens"))


def read_usage(raw: dict[str, Any]) -> Usage:
    """The counts that the wire gives, each where a vendor puts it."""
    details_in, details_out = _first_dict(raw, _INPUT_DETAILS), _first_dict(raw, _OUTPUT_DETAILS)
    billing = raw.get("x_details")
    row = billing[0] if isinstance(billing, list) and billing and isinstance(billing[0], dict) else {}
    billed = _first_dict(row, _INPUT_DETAILS)
    return Usage(
        _first(raw, _INPUT),
        _first(raw, _OUTPUT),
        _first(raw, ("total_tokens",)),
        _either(
            _first(details_in, ("cached_tokens",)),
            _first(raw, ("prompt_cache_hit_tokens", "cached_tokens", "cache_read_input_tokens")),
            _first(billed, ("cached_tokens",)),
        ),
        _either(_first(details_in, _CACHE_WRITE), _first(raw, _CACHE_WRITE), _first(billed, _CACHE_WRITE)),
        _either(_first(details_out, ("reasoning_tokens",)), _first(raw, ("reasoning_tokens",))),
        raw,
    )


def _first_dict(raw: dict[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    for key in keys:
        if isinstance(value := raw.get(key), dict):
            return value
    return {}


def _first(raw: dict[str, Any], keys: tuple[str, ...]) -> int | None:
    for key in keys:
        if (count := _count(raw.get(key))) is not None:
            return count
    return None


def _either(*counts: int | None) -> int | None:
    return next((count for count in counts if count is not None), None)


def _count(value: object) -> int | None:
    """A number of tokens; servers send floats too."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if value == value and abs(value) < 1e18 else None  # noqa: PLR0124  (NaN is not equal to itself)
