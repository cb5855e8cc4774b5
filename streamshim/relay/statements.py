"""What frames say to a strict reader, in words that can be compared: the vendor's frames with our own.

A statement is a key and a text. Readers add up what comes under one key, so two groups of frames say the same if their
texts, added up, are the same. On chat the sums alone count, on Responses the order as well.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

Key: TypeAlias = tuple[object, ...]
Statement: TypeAlias = tuple[Key, str]


class Saying:
    """The sum of what some frames say."""

    __slots__ = ("_in_order", "_order", "_texts")

    def __init__(self, statements: Iterable[Statement] = (), *, in_order: bool) -> None:
        """`in_order`: only neighbours under one key are added, and their order counts."""
        self._in_order = in_order
        self._texts: dict[Key, str] = {}
        self._order: list[Statement] = []
        for key, text in statements:
            self.add(key, text)

    def add(self, key: Key, text: str) -> None:
        """One more statement."""
        order = self._order
        if not self._in_order:
            self._texts[key] = self._texts.get(key, "") + text
        elif order and order[-1][0] == key:
            order[-1] = (key, order[-1][1] + text)
        else:
            order.append((key, text))

    def __bool__(self) -> bool:
        return bool(self._texts or self._order)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Saying) and self._texts == other._texts and self._order == other._order

    __hash__ = None  # type: ignore[assignment]

    @property
    def subjects(self) -> set[Key]:
        """What is spoken of."""
        return {key for key, _ in self._order} if self._in_order else set(self._texts)

    def may_become(self, other: Saying) -> bool:
        """Whether more statements may make it the other one."""
        if not self._in_order:
            return all(other._texts.get(key, "").startswith(text) for key, text in self._texts.items())
        if not self._order:
            return True
        *before, (key, text) = self._order
        if len(other._order) < len(self._order) or before != other._order[: len(before)]:
            return False
        other_key, whole = other._order[len(before)]
        return key == other_key and whole.startswith(text)
