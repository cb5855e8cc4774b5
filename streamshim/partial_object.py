"""An object that grows: what is told of it, a piece at a time, and a snapshot of all that came."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

Path: TypeAlias = tuple[str | int, ...]
"""Where a value stands: the keys and indexes that lead to it from the object of the arguments, which is `()`."""


@dataclass(slots=True, match_args=False)
class StringDelta:
    """More of the string at `path`, escapes decoded."""

    path: Path
    delta: str


@dataclass(slots=True, match_args=False)
class ValueEnd:
    """The value at `path` is whole: a string, number, bool, None, list or dict. Treat it as immutable."""

    path: Path
    value: Any


Piece: TypeAlias = StringDelta | ValueEnd
"""What a delta says."""


class PartialObject(Mapping[str, Any]):
    """What is known of an object that may not be whole: a snapshot, and no dict, so that it never passes for one.

    Strings show what came of them; numbers, words and keys that are not whole are left out. Containers inside are
    plain dicts and lists, open ones too: ask `is_partial`. `json.dumps` refuses it; `dict(snapshot)` makes a dict.

    Attributes:
        open_path: leads to the value that is being written; None where the object is closed.
    """

    __slots__ = ("_members", "open_path")

    def __init__(self, members: dict[str, Any], open_path: Path | None) -> None:
        """A view of the members."""
        self._members = members
        self.open_path = open_path

    @property
    def complete(self) -> bool:
        """Whether the object is closed. Whether a call may be run is told by its `ToolCallEnd` alone."""
        return self.open_path is None

    def is_partial(self, path: Sequence[str | int] = ()) -> bool:
        """Whether the value at this path is still being written; `()` is the object itself."""
        return self.open_path is not None and self.open_path[: len(path)] == tuple(path)

    def __getitem__(self, key: str) -> Any:
        return self._members[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def __repr__(self) -> str:
        return f"PartialObject({self._members!r}, open_path={self.open_path!r})"


class GrowingObject:
    """An object that is being read: what is open in it, and what came of the string that is being written."""

    __slots__ = ("_key", "_open", "_parts", "_path", "_pieces", "_string_path", "_whole")

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

    def _member_path(self) -> Path:
        """Where the member of the innermost container stands that is being written."""
        return self._path + (len(self._open[-1]) if self._key is None else self._key,)

    def _tell(self, told: str) -> None:
        """More of the string that is being written."""
        if told:
            self._parts.append(told)
            self._pieces.append(StringDelta(self._string_path, told))

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
