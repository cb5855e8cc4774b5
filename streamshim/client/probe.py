"""Whether a server has an API: what it says to a request that lacks its input."""

from __future__ import annotations

from collections.abc import Mapping

from ..http_error import read_error
from ..json_codec import dumps, loads

_ABSENT = frozenset((404, 405, 410, 501))
_UNDECIDED = frozenset((401, 403, 407, 408, 425, 429))
"""Statuses that a server may give before it looks where a request goes to."""
PROBE_SECONDS = 30.0
"""How long is waited for the answer: no model has to think about it."""


def probe_body(model: str | None) -> str:
    """A request that no model can answer: gateways that route by the model find theirs."""
    return dumps({"model": model} if model else {})


def has_api(status: int, headers: Mapping[str, str], body: bytes) -> bool | None:
    """Whether the answer comes from the API that was asked; None where it does not tell."""
    if status in _UNDECIDED or status >= 500 and status not in _ABSENT:
        return None
    if status in _ABSENT:
        error = read_error(status, headers, body)
        speaks_of_model = "model" in f"{error.code} {error.param} {error.message}".lower()
        return speaks_of_model and isinstance(error.raw, dict)  # a page may speak of anything
    if status < 400:  # a page for whatever is asked, or an API that needs no input
        return _is_response(body)
    return True


def _is_response(body: bytes) -> bool:
    try:
        value = loads(body)
    except ValueError:
        return False
    return isinstance(value, dict) and value.get("object") == "response"
