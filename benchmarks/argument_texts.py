"""The arguments of a tool call, in deltas of about a token each.

One long string, as of a call that writes a file, and many small values, as of a call that fills a table.
"""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

from .loads import Load, Said
from .prose import tokens

if TYPE_CHECKING:
    from collections.abc import Iterator

_TOKEN_CHARACTERS = 4
_ROW_CHARACTERS = 60
"""What a row has at least."""


def long_string(count: int) -> Load:
    """One member takes nearly all of the text."""
    content = [json.dumps(token, ensure_ascii=False)[1:-1] for token in tokens(count - 2, seed=31)]
    return _load(['{"path":"notes.md","content":"', *content, '"}'])


def many_values(count: int) -> Load:
    """An array of rows with numbers, words, short strings, an array and an object in each."""
    pick = random.Random(32)
    words = tokens(1000, seed=33)
    length = count * _TOKEN_CHARACTERS
    rows = [_row(number, pick, words) for number in range(length // _ROW_CHARACTERS + 1)]
    text = json.dumps({"rows": rows}, ensure_ascii=False)
    head, foot = text[: length - _TOKEN_CHARACTERS], "]}"
    whole = head[: head.rindex(", {")] + foot
    return _load([whole[start : start + _TOKEN_CHARACTERS] for start in range(0, len(whole), _TOKEN_CHARACTERS)])


def leaves(value: Any) -> Iterator[str]:
    """The values of a JSON document that are no containers, in order, each as JSON text."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from leaves(item)
    else:
        yield json.dumps(value, ensure_ascii=False)


def _row(number: int, pick: random.Random, words: list[str]) -> dict[str, Any]:
    name, unit = pick.choices(words, k=2)
    price = round(pick.random() * 100, 2)
    return {"id": number, "name": name, "price": price, "sold": pick.random() < 0.5, "tags": [unit], "at": {"x": None}}


def _load(deltas: list[str]) -> Load:
    """What is said are the leaves: every reader of JSON can tell them."""
    said = Said(arguments="\n".join(leaves(json.loads("".join(deltas)))))
    return Load("arguments", deltas, said, len(deltas))
