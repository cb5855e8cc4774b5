"""Sources, in every shape that vendors give them: annotations, lists of addresses, search results."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..events import Citation
from ..json_codec import clean

CITATION_LISTS = ("citations", "search_results", "web_search", "references", "search_info", "annotations")
"""Members that hold lists of sources, at the top of a chunk, in a delta or in a message."""
_URL = ("url", "link", "uri", "source_url", "href")
_TITLE = ("title", "filename", "name", "display_name")
_CITED = ("cited_text", "quote")


def read_citations(holder: dict[str, Any], part: int | None, choice: int) -> Iterator[Citation]:
    """Every source that the members of `holder` name."""
    for key in CITATION_LISTS:
        value = holder.get(key)
        if isinstance(value, dict):  # {"search_results": [...]}
            yield from read_citations(value, part, choice)
        elif isinstance(value, list):
            for entry in value:
                if citation := read_citation(entry, part, choice):
                    yield citation


def read_citation(entry: Any, part: int | None, choice: int) -> Citation | None:
    """One source: an address, or an object that has one, or a file. None where it names neither."""
    if isinstance(entry, str):
        return Citation(part, choice, entry) if entry.strip() else None
    if not isinstance(entry, dict):
        return None
    inner = entry
    kind = entry.get("type")
    if isinstance(kind, str) and isinstance(nested := entry.get(kind), dict):
        inner = nested
    url = _text(inner, _URL)
    title = _text(inner, _TITLE) or (inner["title"] if inner.get("title") == "" else None)
    file_id = _text(inner, ("file_id",))
    if not url and not file_id and not (title and isinstance(kind, str)):
        return None
    start, end = inner.get("start_index", inner.get("start")), inner.get("end_index", inner.get("end"))
    return Citation(
        part,
        choice,
        url,
        title if title is not None else file_id if not url else None,
        start if isinstance(start, int) else None,
        end if isinstance(end, int) else None,
        _text(inner, _CITED),
        entry,
    )


def _text(holder: dict[str, Any], keys: tuple[str, ...]) -> str | None:
    for key in keys:
        if isinstance(found := holder.get(key), str) and found.strip():
            return clean(found)
    return None
