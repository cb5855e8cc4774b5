"""Tool arguments while they grow: JSON text in any cut, nothing read over and over, unfinished strings shown.

`PartialArguments` is fed the deltas of one call. `feed` tells what a delta says, `value` shows all that came so far,
`state` tells a cut object from a broken one and from one with text behind it. It knows nothing of events.

A text is "whole" where a strict reader takes it for a JSON object: NaN, raw control characters and lone halves of
surrogate pairs are faults. Reading stops at a fault: what came before stays, what follows is not looked at.

There are two ways through a text. In steps goes everything: a step is a character between tokens, or what there is of
a token. Patterns take at once what is plain, and leave to the steps whatever is odd, wrong, or at a limit. The table at
the end of this module says what may stand where, for both ways.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import ClassVar, Literal, TypeAlias

from . import json_tokens
from .growing_object import GrowingObject, new
from .json_places import (
    AFTER_ITEM,
    AFTER_MEMBER,
    COLON,
    FIRST_ITEM,
    FIRST_KEY,
    IN_STRING,
    IN_TOKEN,
    KEY,
    MAX_KNOWN_CHARACTERS,
    START,
    VALUE,
    Element,
)
from .json_tokens import (
    BLANKS,
    CUT,
    KEY_TEXT,
    NUMBER,
    STRING_TEXT,
    WORD,
    WORDS,
    BreakError,
    Fault,
    NumberToken,
    StringToken,
    Token,
    WordToken,
    unescaped,
)
from .partial_object import PartialObject, Piece, StringDelta

MAX_CHARACTERS = 16 * 1024 * 1024
"""Of one call: the longest answers are a million tokens of some four characters."""

MAX_KEY_CHARACTERS = 65_536
"""A key is held until it is whole, and real ones are words."""

State = Literal["empty", "open", "whole", "glued", "broken"]

_Element: TypeAlias = Element["PartialArguments"]
_Taker: TypeAlias = Callable[["PartialArguments", re.Match[str]], bool]

_BEFORE_VALUE = (KEY, COLON, VALUE)
"""What a pattern finds and leads there says nothing yet, and does the same in every call."""

_find_blanks = re.compile(BLANKS).match


class PartialArguments(GrowingObject):
    """The arguments of one call, fed as they come. No text makes it raise.

    What it holds grows with the text, up to limits; past one of them the state is "broken".

    Attributes:
        error: what is wrong with the text; None while it is, or may become, one JSON object.
    """

    __slots__ = ("_held", "_offset", "_token", "error")

    def __init__(self) -> None:
        """Nothing has come."""
        super().__init__()
        self.error: Fault | None = None
        self._offset = 0
        self._held = ""
        """A short key, number or word that the last delta cut: it is read again with the next."""
        self._token: Token | None = None
        """Any other token that the text stands inside of."""

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
        in_scalar = bool(self._held or self._string_path) or self._token is not None
        return self._snapshot(in_scalar=in_scalar)

    def feed(self, delta: str) -> list[Piece]:
        """More of the text: what it says, in order.

        A string gives its new characters and then its end; numbers and words give their end alone; containers theirs
        when they close. An escape or a surrogate pair that the delta cuts is held until the rest of it comes.
        """
        end = self._offset + len(delta)
        if end > MAX_CHARACTERS:
            return self._feed_last(delta)
        self._offset = end
        # What can be printed holds no control character, and no half of a surrogate pair.
        if self._place is IN_STRING and '"' not in delta and "\\" not in delta and delta.isprintable() and delta:
            self._parts.append(delta)
            piece = new(StringDelta)
            piece.path = self._string_path
            piece.delta = delta
            return [piece]
        pieces = self._pieces = []
        text = rest = self._held + delta
        self._held = ""
        position, size = 0, len(text)
        try:
            while position < size:
                place = self._place
                known = place.known.get(rest)  # `rest` is what is left, or nothing where that is long
                if known is not None and self._left:
                    self._place, self._held, key = known
                    if key is not None:
                        self._key = key
                    return pieces
                key = self._key
                found = place.find(text, position)
                if found is not None and place.takers[found.lastindex](self, found):  # type: ignore[index]
                    position = found.end()
                    if position == size and rest and self._place in _BEFORE_VALUE:
                        place.learn(rest, (self._place, self._held, None if self._key is key else self._key))
                else:
                    position = self._step(text, position, end - size)
                if position < size:
                    rest = text[position:] if size - position <= MAX_KNOWN_CHARACTERS else ""
        except BreakError as reason:
            self._break(reason.fault)
        if self._token is not None:
            self._tell_token(self._token)
        return pieces

    def _feed_last(self, delta: str) -> list[Piece]:
        """More than may come, or something behind a fault."""
        if self.error is not None:
            return []
        pieces = self.feed(delta[: MAX_CHARACTERS - self._offset])
        if self.error is None:
            self._break(Fault(MAX_CHARACTERS, f"at most {MAX_CHARACTERS:,} characters"))
        return pieces

    def _break(self, fault: Fault) -> None:
        self.error = fault
        self._offset = MAX_CHARACTERS + 1  # nothing more is read

    # -- in steps -----------------------------------------------------------------------------------------------------

    def _step(self, text: str, position: int, base: int) -> int:
        """Read a character between tokens, or what there is of a token: gives the position behind it."""
        if self._token is not None:
            position = self._token.read(text, position, base)
            if self._token.is_closed:
                self._end_token(self._token)
        elif self._place is IN_STRING:
            self._begin_token(StringToken())
        else:
            position = _find_blanks(text, position).end()  # type: ignore[union-attr]
            if position < len(text):
                action = self._place.actions.get(text[position])
                if action is None:
                    raise BreakError(base + position, self._place.expected)
                action(self, text[position], base + position)
                position += 1
        return position

    def _begin_token(self, token: Token) -> None:
        self._token = token
        self._place = IN_TOKEN

    def _end_token(self, token: Token) -> None:
        self._token = None
        if not isinstance(token, StringToken):
            self._end_value(token.value())
        elif self._string_path:
            self._end_string("".join(token.fresh))
        else:
            self._key = "".join(token.fresh)
            self._place = COLON

    def _tell_token(self, token: Token) -> None:
        """What came of a string, keys excepted, that no piece has told yet."""
        if self._string_path and isinstance(token, StringToken):
            self._tell("".join(token.fresh))
            token.fresh.clear()
            if not token.is_cut:
                self._token = None
                self._place = IN_STRING

    # What a character does between tokens. Some may be done to what a pattern found as well.

    def _begin_value(self, offset: int) -> None:
        if not self._left:
            raise BreakError(offset, self._limit)
        self._left -= 1

    def _open_container(self, character: str, offset: int) -> None:
        if not self._enter(character):
            raise BreakError(offset, self._limit)

    def _expect_key(self, _seen: object, _offset: int = 0) -> bool:
        self._place = KEY
        return True

    def _expect_colon(self, _seen: object, _offset: int = 0) -> bool:
        self._place = COLON
        return True

    def _expect_value(self, _seen: object, _offset: int = 0) -> bool:
        self._place = VALUE
        return True

    def _begin_key(self, _character: str, _offset: int) -> None:
        self._begin_token(StringToken(MAX_KEY_CHARACTERS))

    def _open_string(self, _character: str, offset: int) -> None:
        self._begin_value(offset)
        self._begin_string()

    def _begin_number(self, character: str, offset: int) -> None:
        self._begin_value(offset)
        self._begin_token(NumberToken(character))

    def _begin_word(self, character: str, offset: int) -> None:
        self._begin_value(offset)
        self._begin_token(WordToken(character))

    # -- what a pattern found: whether it was taken -------------------------------------------------------------------

    def _hold_key(self, found: re.Match[str]) -> bool:
        held = '"' + found["name"]
        if len(held) > MAX_KEY_CHARACTERS:
            return False
        self._held = held
        self._place = KEY
        return True

    def _hold_value(self, found: re.Match[str]) -> bool:
        held = found[found.lastindex]  # type: ignore[index]
        if len(held) > json_tokens.MAX_NUMBER_CHARACTERS or not self._left:
            return False
        self._held = held
        self._place = VALUE
        return True

    def _take_number(self, found: re.Match[str]) -> bool:
        digits = found["digits"]
        if len(digits) > json_tokens.MAX_NUMBER_CHARACTERS or not self._left:
            return False
        self._left -= 1
        try:
            value = float(digits) if "." in digits else int(digits)
        except ValueError:  # an exponent and no point
            value = float(digits)
        self._end_value(value)
        return True

    def _take_word(self, found: re.Match[str]) -> bool:
        if not self._left:
            return False
        self._left -= 1
        self._end_value(WORDS[found.lastgroup])  # type: ignore[index]
        return True

    def _take_string(self, found: re.Match[str]) -> bool:
        if not self._left:
            return False
        self._left -= 1
        self._begin_string()
        return self._take_text(found)

    def _take_whole_string(self, found: re.Match[str]) -> bool:
        if not self._left:
            return False
        self._left -= 1
        text = found["text"]
        value = unescaped(text) if "\\" in text else text
        if value:
            self._pieces.append(StringDelta(self._member_path(), value))
        self._end_value(value)
        return True

    def _take_container(self, found: re.Match[str]) -> bool:
        return self._enter("{" if found.lastgroup == "brace" else "[")

    def _take_text(self, found: re.Match[str]) -> bool:
        text = found["text"]
        self._tell(unescaped(text) if "\\" in text else text)
        return True

    def _take_text_end(self, found: re.Match[str]) -> bool:
        text = found["text"]
        self._end_string(unescaped(text) if "\\" in text else text)
        return True

    @staticmethod
    def _behind_key(takers: Mapping[str, _Taker]) -> dict[str, _Taker]:
        """Takers of a key, and of what was found behind it."""

        def behind_key(take: _Taker) -> _Taker:
            def take_both(self: PartialArguments, found: re.Match[str]) -> bool:
                name = found["name"]
                if len(name) > MAX_KEY_CHARACTERS:
                    return False
                self._key = name
                return take(self, found)

            return take_both

        return {group: behind_key(take) for group, take in takers.items()}

    # -- what may stand where: the grammar ----------------------------------------------------------------------------

    _OBJECT: ClassVar = _Element({"{": _open_container}, r"\{(?P<brace>)", {"brace": _take_container})
    _ANY_VALUE: ClassVar = _Element(
        {
            '"': _open_string,
            **dict.fromkeys("{[", _open_container),
            **dict.fromkeys("tfn", _begin_word),
            **dict.fromkeys("-0123456789", _begin_number),
        },
        rf'"{STRING_TEXT}|\{{(?P<brace>)|\[(?P<bracket>)|{WORD}|{NUMBER}|{CUT}',
        {
            "text": _take_string,
            "text_end": _take_whole_string,
            **dict.fromkeys(("brace", "bracket"), _take_container),
            "number": _take_number,
            **dict.fromkeys(WORDS, _take_word),
            **dict.fromkeys(("digits", "cut"), _hold_value),
        },
    )
    _NEXT_VALUE: ClassVar = rf"{BLANKS}(?:{_ANY_VALUE.pattern}|(?P<value_next>))"
    _MEMBER_VALUE: ClassVar = _Element(
        {":": _expect_value}, f":{_NEXT_VALUE}", {**_ANY_VALUE.takers, "value_next": _expect_value}
    )
    _MEMBER: ClassVar = _Element(
        {'"': _begin_key},
        rf'{KEY_TEXT}(?:"{BLANKS}(?:{_MEMBER_VALUE.pattern}|(?P<colon_next>))|\Z)',
        {**_behind_key({**_MEMBER_VALUE.takers, "colon_next": _expect_colon}), "name": _hold_key},
    )
    _NEXT_MEMBER: ClassVar = _Element(
        {",": _expect_key},
        f",{BLANKS}(?:{_MEMBER.pattern}|(?P<key_next>))",
        {**_MEMBER.takers, "key_next": _expect_key},
    )
    _NEXT_ITEM: ClassVar = _Element({",": _expect_value}, f",{_NEXT_VALUE}", _MEMBER_VALUE.takers)
    _END_OF_OBJECT: ClassVar = _Element({"}": GrowingObject._leave}, r"\}(?P<end>)", {"end": GrowingObject._leave})
    _END_OF_LIST: ClassVar = _Element({"]": GrowingObject._leave}, r"\](?P<end>)", {"end": GrowingObject._leave})
    _STRING_TEXT: ClassVar = _Element({}, STRING_TEXT, {"text": _take_text, "text_end": _take_text_end})

    START.hold(_OBJECT)
    FIRST_KEY.hold(_MEMBER, _END_OF_OBJECT)
    KEY.hold(_MEMBER)
    COLON.hold(_MEMBER_VALUE)
    VALUE.hold(_ANY_VALUE)
    FIRST_ITEM.hold(_ANY_VALUE, _END_OF_LIST)
    AFTER_MEMBER.hold(_NEXT_MEMBER, _END_OF_OBJECT)
    AFTER_ITEM.hold(_NEXT_ITEM, _END_OF_LIST)
    IN_STRING.hold(_STRING_TEXT, blanks="")
