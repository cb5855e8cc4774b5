"""Token counts of our own, with what the vendor counts beside them."""

from __future__ import annotations

from typing import Any


def with_more_counts(counts: dict[str, Any], vendors: Any) -> dict[str, Any]:
    """`counts` and whatever else the vendor's object has, if it has the words of the same API."""
    first = next(iter(counts))
    if not isinstance(vendors, dict) or first not in vendors:
        return counts
    details = {
        key: {**more, **value}
        for key, value in counts.items()
        if isinstance(value, dict) and isinstance(more := vendors.get(key), dict)
    }
    return {**vendors, **counts, **details}
