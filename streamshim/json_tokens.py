"""Strings, numbers and words of JSON text that comes in any cut: each is read as far as the text goes, and then on.

A token is fed with `read(text, position, base)`: it reads from `position`, gives the position behind what it read, and
is `is_closed` once it ended; `base` is the offset of the text's first character. Each character is looked at once, but
for the few of an escape. They know nothing of the containers around them.

Most tokens are plain and short, and a pattern finds them at once: whole, or as far as the text goes. The last group
that matched tells what was found. What no pattern finds may still be right: that is for the token to say.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, TypeAlias, cast

from .json_codec import loads

MAX_NUMBER_CHARACTERS = 4_300
"""A number is held until it is whole; Python makes no integer of more digits."""


@dataclass(slots=True, match_args=False)
class Fault:
    """Where the text stopped being one JSON object.

    Attributes:
        offset: counts characters from 0, over all deltas.
        expected: what should have stood there, or the limit that was passed, in a few words.
    """

    offset: int
    expected: str


class BreakError(Exception):
    """The text cannot be read on."""

    def __init__(self, offset: int, expected: str) -> None:
        """See `Fault`."""
        super().__init__(expected)
        self.fault = Fault(offset, expected)


BLANKS: Final = r"[ \t\n\r]*+"

_PLAIN = '[^"\\\\\x00-\x1f\ud800-\udfff]'
_HEX = "[0-9a-fA-F]"
_ESCAPE = (
    rf'\\(?:["\\/bfnrt]|u(?![dD][89a-fA-F]){_HEX}{{4}}'
    rf"|u[dD][89abAB]{_HEX}{{2}}\\u[dD][c-fC-F]{_HEX}{{2}})"
)
# Most text has no escape, and a repeated group takes time to set up, and memory for each turn.
_TEXT = rf"{_PLAIN}*+(?:{_ESCAPE}{_PLAIN}*+(?:{_ESCAPE}{_PLAIN}*+){{0,9999}}|)"

KEY_TEXT: Final = rf'"(?P<name>{_PLAIN}{{0,62}}+)'
"""A key without its closing quote. (Keys and numbers are kept short: one that a delta cuts is read again.)"""

STRING_TEXT: Final = rf'(?P<text>{_TEXT})(?:"(?P<text_end>)|\Z)'
"""The text of a string: `text_end` with its closing quote, `text` up to the end of the text."""

NUMBER: Final = (
    r"(?P<digits>-?+(?:0|[1-9][0-9]{0,30}+)(?:\.(?:[0-9]{1,30}+|\Z)|)(?:[eE][-+]?[0-9]{1,3}+|))"
    r"(?:\Z|(?![.eE0-9])(?P<number>))"
)
"""`number`, or `digits` up to the end of the text, where it may go on."""

WORD: Final = "true(?P<true>)|false(?P<false>)|null(?P<null>)"

CUT: Final = r"(?P<cut>t(?:ru?|)|f(?:a(?:ls?|)|)|n(?:ul?|)|-)\Z"
"""The beginning of a word, or of a number, at the end of the text."""

WORDS: Final = {"true": True, "false": False, "null": None}


def unescaped(text: str) -> str:
    """What `STRING_TEXT` found, its escapes decoded: worth a call only where there are any."""
    return cast("str", loads(f'"{text}"'))


_find_plain = re.compile(_PLAIN + "*").match
_find_escape = re.compile(r'["\\/bfnrt]|u[0-9a-fA-F]{4}').match
_find_escape_start = re.compile(r"(?:u[0-9a-fA-F]{0,3})?").match
_LONGEST_ESCAPE = len("u0000")
_ESCAPED = dict(zip('"\\/bfnrt', '"\\/\b\f\n\r\t', strict=True))


class StringToken:
    """A string, or a key, behind its opening quote.

    Attributes:
        fresh: the characters that were read, escapes decoded; whoever shows them takes them out.
        is_closed: whether the closing quote was read.
    """

    __slots__ = ("_escape", "_half", "_size", "_size_limit", "fresh", "is_closed")

    def __init__(self, size_limit: int | None = None) -> None:
        """`size_limit` counts decoded characters."""
        self.fresh: list[str] = []
        self.is_closed = False
        self._size = 0
        self._size_limit = size_limit
        self._escape: str | None = None
        """What came of an escape behind its backslash; None outside of one."""
        self._half = 0
        """The first half of a surrogate pair: the second must follow."""

    @property
    def is_cut(self) -> bool:
        """Whether the text ends inside of an escape, or between the halves of a surrogate pair."""
        return self._escape is not None or self._half != 0

    def read(self, text: str, position: int, base: int) -> int:
        """Read on.

        Raises:
            BreakError: what follows cannot stand in a string.
        """
        while position < len(text) and not self.is_closed:
            if self._escape is not None:
                position = self._read_escape(self._escape, text, position, base)
                continue
            end = _find_plain(text, position).end()  # type: ignore[union-attr]
            if end > position:
                self._take(text[position:end], base + position)
            if end < len(text):
                self._read_special(text[end], base + end)
            position = end + 1
        return min(position, len(text))

    def _read_special(self, character: str, offset: int) -> None:
        if character == "\\":
            self._escape = ""
        elif character >= "\ud800":
            self._take_unit(ord(character), offset)
        elif character != '"':
            raise BreakError(offset, "an escape instead of a control character")
        elif self._half:
            raise BreakError(offset, "the second half of a surrogate pair")
        else:
            self.is_closed = True

    def _read_escape(self, held: str, text: str, position: int, base: int) -> int:
        seen = held + text[position : position + _LONGEST_ESCAPE - len(held)]
        begin = position - len(held)
        if escape := _find_escape(seen):
            self._escape = None
            if seen[0] == "u":
                self._take_unit(int(escape[0][1:], 16), base + begin - 1)
            else:
                self._take(_ESCAPED[seen[0]], base + begin - 1)
            return begin + escape.end()
        valid = _find_escape_start(seen).end()  # type: ignore[union-attr]
        if valid < len(seen):
            expected = "four hexadecimal digits" if valid else 'one of "\\/bfnrtu behind a backslash'
            raise BreakError(base + begin + valid, expected)
        self._escape = seen
        return len(text)

    def _take(self, characters: str, offset: int) -> None:
        if self._half:
            raise BreakError(offset, "the second half of a surrogate pair")
        self.fresh.append(characters)
        if self._size_limit is not None:
            if self._size + len(characters) > self._size_limit:
                raise BreakError(offset + self._size_limit - self._size, f"at most {self._size_limit:,} characters")
            self._size += len(characters)

    def _take_unit(self, unit: int, offset: int) -> None:
        """A UTF-16 code unit that was escaped, or that is half a surrogate pair."""
        if 0xDC00 <= unit < 0xE000:
            if not self._half:
                raise BreakError(offset, "the first half of a surrogate pair before the second")
            unit += 0x10000 + (self._half - 0xD800) * 0x400 - 0xDC00
            self._half = 0
        if 0xD800 <= unit < 0xDC00 and not self._half:
            self._half = unit
        else:
            self._take(chr(unit), offset)


def _followers(**stages: str) -> dict[str, str]:
    return {character: stage for stage, characters in stages.items() for character in characters}


_DIGITS = "0123456789"
# By stage of a number: which character leads to which stage.
_NUMBER = {
    "start": _followers(sign="-", zero="0", integer="123456789"),
    "sign": _followers(zero="0", integer="123456789"),
    "zero": _followers(point=".", exponent="eE"),
    "integer": _followers(integer=_DIGITS, point=".", exponent="eE"),
    "point": _followers(fraction=_DIGITS),
    "fraction": _followers(fraction=_DIGITS, exponent="eE"),
    "exponent": _followers(exponent_sign="+-", exponent_digits=_DIGITS),
    "exponent_sign": _followers(exponent_digits=_DIGITS),
    "exponent_digits": _followers(exponent_digits=_DIGITS),
}
_INTEGERS = frozenset(("zero", "integer"))
_REALS = frozenset(("fraction", "exponent_digits"))


class NumberToken:
    """A number behind its first character. What ends it is not read.

    Attributes:
        is_closed: whether its end was seen.
    """

    __slots__ = ("_parts", "_size", "_stage", "is_closed")

    def __init__(self, first: str) -> None:
        """`first` is a digit or a minus sign."""
        self.is_closed = False
        self._parts = [first]
        self._size = 1
        self._stage = _NUMBER["start"][first]

    def read(self, text: str, position: int, base: int) -> int:
        """Read on.

        Raises:
            BreakError: what follows makes no number.
        """
        end = position
        while end < len(text) and (stage := _NUMBER[self._stage].get(text[end])):
            self._stage = stage
            end += 1
        if self._size + end - position > MAX_NUMBER_CHARACTERS:
            offset = base + position + MAX_NUMBER_CHARACTERS - self._size
            raise BreakError(offset, f"at most {MAX_NUMBER_CHARACTERS:,} characters")
        self._parts.append(text[position:end])
        self._size += end - position
        if end < len(text):
            if self._stage not in _INTEGERS and self._stage not in _REALS:
                raise BreakError(base + end, "a digit")
            self.is_closed = True
        return end

    def value(self) -> int | float:
        """The number, once it is closed."""
        digits = "".join(self._parts)
        if self._stage in _INTEGERS:
            try:
                return int(digits)
            except ValueError:  # this process lets integers have fewer digits still
                pass
        return float(digits)


class WordToken:
    """`true`, `false` or `null`, behind its first letter.

    Attributes:
        is_closed: whether its last letter was read.
    """

    __slots__ = ("_read", "_word", "is_closed")

    def __init__(self, first: str) -> None:
        """`first` is the letter that tells which."""
        self.is_closed = False
        self._word = next(word for word in WORDS if word[0] == first)
        self._read = 1

    def read(self, text: str, position: int, base: int) -> int:
        """Read on.

        Raises:
            BreakError: what follows makes another word.
        """
        while position < len(text) and not self.is_closed:
            if text[position] != self._word[self._read]:
                raise BreakError(base + position, f"the word {self._word}")
            position += 1
            self._read += 1
            self.is_closed = self._read == len(self._word)
        return position

    def value(self) -> bool | None:
        """What the word means."""
        return WORDS[self._word]


Token: TypeAlias = StringToken | NumberToken | WordToken
"""What is read on inside."""
