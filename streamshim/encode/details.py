"""Small things that streams and whole bodies say in the same words: log probabilities, sources, finish words."""

from __future__ import annotations

import math
from typing import Any

from ..events import Citation, FinishReason

_NO_LOGPROB = -9999.0
"""What the wire itself says of a token that was out of the question: it has no word for minus infinity."""

_FILE_ANNOTATIONS = ("file_citation", "container_file_citation", "file_path")
"""Those that the wire knows besides addresses; readers that check what they get refuse any other."""


def written_logprobs(entries: list[Any] | None) -> list[dict[str, Any]]:
    """Log probabilities with all members that the wires demand; entries without a token are left out."""
    if not entries:
        return []
    return [
        {**_token(entry), "top_logprobs": [_token(top) for top in _tops(entry.get("top_logprobs"))]}
        for entry in entries
        if _has_token(entry)
    ]


def _has_token(entry: Any) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("token"), str)


def _tops(tops: Any) -> list[dict[str, Any]]:
    if isinstance(tops, dict):  # text completions: {token: logprob}
        tops = [{"token": token, "logprob": logprob} for token, logprob in tops.items()]
    return [top for top in tops if _has_token(top)] if isinstance(tops, list) else []


def _token(entry: dict[str, Any]) -> dict[str, Any]:
    token, logprob, octets = entry["token"], entry.get("logprob"), entry.get("bytes")
    is_number = isinstance(logprob, int | float) and not isinstance(logprob, bool) and math.isfinite(logprob)
    has_bytes = isinstance(octets, list) and all(isinstance(octet, int) for octet in octets)
    return {
        "token": token,
        "logprob": logprob if is_number else _NO_LOGPROB,
        "bytes": octets if has_bytes else list(token.encode("utf-8", "replace")),
    }


def source_of(citation: Citation) -> dict[str, Any]:
    """The members of a `url_citation`; what is not known is empty, or 0."""
    return {
        "url": citation.url or "",
        "title": citation.title or "",
        "start_index": citation.start or 0,
        "end_index": citation.end or 0,
    }


def annotation_of(citation: Citation) -> dict[str, Any]:
    """A source as an annotation of the Responses wire: verbatim if it came as one."""
    data = citation.data if isinstance(citation.data, dict) else {}
    kind = data.get("type")
    if kind in _FILE_ANNOTATIONS:
        return data
    is_flat = kind == "url_citation" and "url_citation" not in data
    return {**(data if is_flat else {}), "type": "url_citation", **source_of(citation)}


def finish_word(reason: FinishReason | None, raw_reason: str | None, otherwise: str | None) -> str | None:
    """The word of the chat wire for a finish reason; `otherwise` where it has none."""
    if reason == "other":
        return raw_reason or "stop"
    return otherwise if reason in ("error", None) else reason
