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
