"""An object that grows, a value at a time: the containers that are open, and the pieces that tell of it."""

from __future__ import annotations

from typing import Any

from .json_places import AFTER_ITEM, AFTER_MEMBER, BEHIND, FIRST_ITEM, FIRST_KEY, IN_STRING, START
from .partial_object import PartialObject, Path, Piece, StringDelta, ValueEnd

MAX_VALUES = 1_000_000
"""Of one object, containers included: the smallest takes two characters of text, and a hundred bytes of memory."""

MAX_DEPTH = 1_000
"""Levels of nesting: JSON readers stop about there as well, orjson at 1,024."""

new = object.__new__
"""Makes a piece without its `__init__`, the call of which costs as much as its fields: for where most time goes."""


class GrowingObject:
    """What is open, what came of the string that is being written, and which place this leaves the text at."""

    __slots__ = ("_key", "_left", "_open", "_parts", "_path", "_pieces", "_place", "_string_path", "_whole")

    def __init__(self) -> None:
        """Nothing has come."""
        self._pieces: list[Piece] = []
        """What the last delta said."""
        self._open: list[Any] = []
        """The containers that are open, the outermost first."""
        self._path: Path = ()
        """Where the innermost of them stands."""
        self._key: str | None = None
        """The key of its member that is being written; None in a list."""
        self._string_path: Path = ()
        """Where the string stands that is being written, keys excepted; `()` outside of one."""
        self._parts: list[str] = []
        """What was told of that string."""
        self._whole: dict[str, Any] | None = None
        self._left = MAX_VALUES
        """How many values may still come."""
        self._place = START

    def _member_path(self) -> Path:
        """Where the member of the innermost container stands that is being written."""
        return self._path + (len(self._open[-1]) if self._key is None else self._key,)

    @property
    def _limit(self) -> str:
        """Why nothing more can begin, in a few words."""
        return f"at most {MAX_DEPTH:,} levels of nesting" if self._left else f"at most {MAX_VALUES:,} values"

    def _enter(self, bracket: str) -> bool:
        """A container opens; False where there are too many, of any values or around it."""
        if not self._left or len(self._open) == MAX_DEPTH:
            return False
        self._left -= 1
        if self._open:
            self._path = self._member_path()
            self._key = None
        if bracket == "{":
            self._open.append({})
            self._place = FIRST_KEY
        else:
            self._open.append([])
            self._place = FIRST_ITEM
        return True

    def _leave(self, _seen: object = None, _offset: int = 0) -> bool:
        """The innermost container closes, whatever was seen: True, since that can always be."""
        container, path = self._open.pop(), self._path
        self._pieces.append(ValueEnd(path, container))
        if not path:
            self._whole = container
            self._place = BEHIND
            return True
        outer, key = self._open[-1], path[-1]
        self._path = path[:-1]
        if isinstance(outer, dict):
            outer[key] = container
            self._place = AFTER_MEMBER
        else:
            outer.append(container)
            self._place = AFTER_ITEM
        return True

    def _begin_string(self) -> None:
        """A string that is no key begins."""
        self._string_path = self._member_path()
        self._place = IN_STRING

    def _tell(self, told: str) -> None:
        """More of it."""
        if told:
            self._parts.append(told)
            self._pieces.append(StringDelta(self._string_path, told))

    def _end_string(self, told: str) -> None:
        """The last of it."""
        self._tell(told)
        value = "".join(self._parts)
        self._parts.clear()
        self._string_path = ()
        self._end_value(value)

    def _end_value(self, value: Any) -> None:
        """A value that is no container is whole."""
        container, key = self._open[-1], self._key
        piece = new(ValueEnd)
        piece.value = value
        if key is None:
            piece.path = self._path + (len(container),)
            container.append(value)
            self._place = AFTER_ITEM
        else:
            piece.path = self._path + (key,)
            container[key] = value
            self._key = None
            self._place = AFTER_MEMBER
        self._pieces.append(piece)

    def _snapshot(self, *, in_scalar: bool) -> PartialObject:
        """All that came so far; `in_scalar` where a string, number or word is being written, or a key."""
        if self._whole is not None:
            return PartialObject(self._whole, None)
        open_path = self._path
        if self._key is not None or (in_scalar and isinstance(self._open[-1], list)):
            open_path = self._member_path()
        shown: list[Any] = []
        if self._string_path:
            self._parts = ["".join(self._parts)]
            shown = [self._parts[0]]
        for depth in range(len(self._open) - 1, -1, -1):
            container = self._open[depth].copy()
            if isinstance(container, list):
                container += shown
            elif shown:
                container[open_path[depth]] = shown[0]
            shown = [container]
        return PartialObject(shown[0] if shown else {}, open_path)
