"""Tool arguments while they grow: JSON text in any cut, each character looked at once, unfinished strings shown.

`PartialArguments` is fed the deltas of one call. `feed` tells what a delta says, `value` shows all that came so far,
`state` tells a cut object from a broken one and from one with text behind it. It knows nothing of events.

A text is "whole" where a strict reader takes it for a JSON object: NaN, raw control characters and lone halves of
surrogate pairs are faults. Reading stops at a fault: what came before stays, what follows is not looked at.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

from .json_tokens import BreakError, Fault, NumberToken, StringToken, Token, WordToken

MAX_CHARACTERS = 16 * 1024 * 1024
"""Of one call: the longest answers are a million tokens of some four characters."""

MAX_VALUES = 1_000_000
"""Of one call, containers included: the smallest takes two characters of text, and a hundred bytes of memory."""

MAX_DEPTH = 1_000
"""Levels of nesting: JSON readers stop about there as well, orjson at 1,024."""

MAX_KEY_CHARACTERS = 65_536
"""A key is held until it is whole, and real ones are words."""

Path: TypeAlias = tuple[str | int, ...]
"""Where a value stands: the keys and indexes that lead to it from the object of the arguments, which is `()`."""

State = Literal["empty", "open", "whole", "glued", "broken"]


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


_Action: TypeAlias = Callable[["PartialArguments", str, int], None]


@dataclass(frozen=True, slots=True)
class _Place:
    """A place between tokens: what may stand there, and what each first character does."""

    expected: str
    actions: Mapping[str, _Action]


_find_blanks = re.compile(r"[ \t\n\r]*").match


class PartialArguments:
    """The arguments of one call, fed as they come. No text makes it raise.

    What it holds grows with the text, up to the limits of this module; past one the state is "broken".

    Attributes:
        error: what is wrong with the text; None while it is, or may become, one JSON object.
    """

    __slots__ = (
        *("_keys", "_offset", "_open", "_parts", "_pieces", "_place", "_string_path", "_token", "_values", "_whole"),
        "error",
    )

    def __init__(self) -> None:
        """Nothing has come."""
        self.error: Fault | None = None
        self._offset = 0
        self._pieces: list[Piece] = []
        self._values = 0
        self._open: list[Any] = []
        """The containers that are open, the outermost first."""
        self._keys: list[str | int] = []
        """For each of them the key or index of its member that is being written; the innermost may have none."""
        self._whole: dict[str, Any] | None = None
        self._place = self._START
        self._token: Token | None = None
        """What the text stands inside of; None between tokens."""
        self._string_path: Path | None = None
        """Where the token is a string that is no key: where it stands."""
        self._parts: list[str] = []
        """What was told of that string."""

    @property
    def state(self) -> State:
        """How the text stands.

        "empty": blanks at most; "open": an object that is not closed, so a cut one where nothing more comes; "whole":
        one object and no more; "glued": text stands behind a whole object; "broken": a fault in the JSON, or a limit.
        """
        if self.error is not None:
            return "broken" if self._whole is None else "glued"
        if self._whole is not None:
            return "whole"
        return "open" if self._open else "empty"

    @property
    def value(self) -> PartialObject:
        """All that came so far; of a key that comes twice, the last value.

        Costs a copy of the containers and the string that are open. What is closed is shared: treat it as immutable.
        """
        if self._whole is not None:
            return PartialObject(self._whole, None)
        shown: list[Any] = []
        if self._string_path is not None:
            self._parts = ["".join(self._parts)]
            shown = [self._parts[0]]
        for depth in range(len(self._open) - 1, -1, -1):
            container = self._open[depth].copy()
            if isinstance(container, list):
                container += shown
            elif shown:
                container[self._keys[depth]] = shown[0]
            shown = [container]
        return PartialObject(shown[0] if shown else {}, tuple(self._keys))

    def feed(self, delta: str) -> list[Piece]:
        """More of the text: what it says, in order.

        A string gives its new characters and then its end; numbers and words give their end alone; containers theirs
        when they close. An escape or a surrogate pair that the delta cuts is held until the rest of it comes.
        """
        pieces = self._pieces = []
        if self.error is None:
            allowed = MAX_CHARACTERS - self._offset
            try:
                self._read(delta[:allowed])
            except BreakError as reason:
                self.error = reason.fault
            self._tell_string()
            if len(delta) > allowed and self.error is None:
                self.error = Fault(MAX_CHARACTERS, f"at most {MAX_CHARACTERS:,} characters")
            self._offset += len(delta)
        return pieces

    def _read(self, text: str) -> None:
        position = 0
        while position < len(text):
            if self._token is None:
                position = _find_blanks(text, position).end()  # type: ignore[union-attr]
                if position < len(text):
                    self._turn(text[position], self._offset + position)
                    position += 1
            else:
                position = self._token.read(text, position, self._offset)
                if self._token.is_closed:
                    self._end_token(self._token)

    def _turn(self, character: str, offset: int) -> None:
        """A character between tokens."""
        action = self._place.actions.get(character)
        if action is None:
            raise BreakError(offset, self._place.expected)
        action(self, character, offset)

    def _end_token(self, token: Token) -> None:
        self._token = None
        if not isinstance(token, StringToken):
            self._end_value(token.value())
        elif self._string_path is None:
            self._keys.append("".join(token.fresh))
            self._place = self._COLON
        else:
            self._tell_string(token)
            value = "".join(self._parts)
            self._parts.clear()
            self._string_path = None
            self._end_value(value)

    def _tell_string(self, token: Token | None = None) -> None:
        """What came of a string, its key excepted, that no piece has told yet."""
        token = token or self._token
        if self._string_path is not None and isinstance(token, StringToken) and token.fresh:
            told = "".join(token.fresh)
            token.fresh.clear()
            self._parts.append(told)
            self._pieces.append(StringDelta(self._string_path, told))

    def _begin_value(self, offset: int) -> None:
        if self._values == MAX_VALUES:
            raise BreakError(offset, f"at most {MAX_VALUES:,} values")
        self._values += 1
        if self._open and isinstance(self._open[-1], list):
            self._keys.append(len(self._open[-1]))

    def _end_value(self, value: Any) -> None:
        self._pieces.append(ValueEnd(tuple(self._keys), value))
        if not self._open:
            self._whole = value
            self._place = self._BEHIND
            return
        container, key = self._open[-1], self._keys.pop()
        if isinstance(container, dict):
            container[key] = value
            self._place = self._AFTER_MEMBER
        else:
            container.append(value)
            self._place = self._AFTER_ITEM

    # -- what a character does between tokens -------------------------------------------------------------------------

    def _open_container(self, character: str, offset: int) -> None:
        if len(self._open) == MAX_DEPTH:
            raise BreakError(offset, f"at most {MAX_DEPTH:,} levels of nesting")
        self._begin_value(offset)
        self._open.append({} if character == "{" else [])
        self._place = self._FIRST_KEY if character == "{" else self._FIRST_ITEM

    def _close_container(self, _character: str, _offset: int) -> None:
        self._end_value(self._open.pop())

    def _expect_next(self, _character: str, _offset: int) -> None:
        self._place = self._KEY if isinstance(self._open[-1], dict) else self._VALUE

    def _begin_key(self, _character: str, _offset: int) -> None:
        self._token = StringToken(MAX_KEY_CHARACTERS)

    def _expect_value(self, _character: str, _offset: int) -> None:
        self._place = self._VALUE

    def _begin_string(self, _character: str, offset: int) -> None:
        self._begin_value(offset)
        self._string_path = tuple(self._keys)
        self._token = StringToken()

    def _begin_number(self, character: str, offset: int) -> None:
        self._begin_value(offset)
        self._token = NumberToken(character)

    def _begin_word(self, character: str, offset: int) -> None:
        self._begin_value(offset)
        self._token = WordToken(character)

    _values_begin: ClassVar = {
        '"': _begin_string,
        **dict.fromkeys("{[", _open_container),
        **dict.fromkeys("-0123456789", _begin_number),
        **dict.fromkeys("tfn", _begin_word),
    }
    _START = _Place("an object", {"{": _open_container})
    _FIRST_KEY = _Place("a key or the end of the object", {'"': _begin_key, "}": _close_container})
    _KEY = _Place("a key", {'"': _begin_key})
    _COLON = _Place("a colon", {":": _expect_value})
    _VALUE = _Place("a value", _values_begin)
    _FIRST_ITEM = _Place("a value or the end of the list", {**_values_begin, "]": _close_container})
    _AFTER_MEMBER = _Place("a comma or the end of the object", {",": _expect_next, "}": _close_container})
    _AFTER_ITEM = _Place("a comma or the end of the list", {",": _expect_next, "]": _close_container})
    _BEHIND = _Place("nothing behind the object", {})
