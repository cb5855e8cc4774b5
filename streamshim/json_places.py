"""The places in a JSON text, and what may stand there.

What may stand in a text can be read in two ways: in steps, where its first character tells what begins, and at once,
where its pattern finds it. The reader says what either does.

Of what is short and says nothing yet, a place remembers where it led, for all readers: the same keys, and the marks
around them, come over and over, in this text and in the next, and to look that up costs half of what reading it does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from .json_tokens import BLANKS

Reader = TypeVar("Reader")

_NOTHING = "(?!)"

MAX_KNOWN = 1_000
"""Texts, for each place: the keys of many tools, and what stands around them."""

MAX_KNOWN_CHARACTERS = 32
"""Of a text that is known: a delta is about a token, and a key that it cuts stands before it."""

Known: TypeAlias = "tuple[Place[Any], str, str | None]"
"""Where a text leads, what of it is held, and the key that it ends."""


class Element(NamedTuple, Generic[Reader]):
    """What may stand in a text.

    Attributes:
        actions: by its first character: what is done to that, at which offset.
        pattern: finds what is taken at once; a group that matches last tells what it is.
        takers: by that group: takes what was found, or leaves it to the steps.
    """

    actions: Mapping[str, Callable[[Reader, str, int], object]]
    pattern: str
    takers: Mapping[str, Callable[[Reader, re.Match[str]], bool]]


class Place(Generic[Reader]):
    """A place in a text.

    Attributes:
        expected: what may stand there, in a few words.
        actions: those of the elements.
        find: the pattern of the elements, behind blanks.
        known: what was learned, by text.
        takers: those of the elements, by the number of the group that matches last.
    """

    __slots__ = ("actions", "expected", "find", "known", "takers")

    def __init__(self, expected: str) -> None:
        """Nothing may stand there yet."""
        self.expected = expected
        self.known: dict[str, Known] = {}
        self.hold()

    def hold(self, *elements: Element[Reader], blanks: str = BLANKS) -> None:
        """What may stand there."""
        pattern = re.compile(f"{blanks}(?:{'|'.join(element.pattern for element in elements) or _NOTHING})")
        takers = {group: take for element in elements for group, take in element.takers.items()}
        self.actions = {character: action for element in elements for character, action in element.actions.items()}
        self.find = pattern.match
        self.takers = {number: takers[group] for group, number in pattern.groupindex.items()}

    def learn(self, text: str, outcome: Known) -> None:
        """Remember it, if it is short; with too many, all are forgotten."""
        if len(text) <= MAX_KNOWN_CHARACTERS:
            if len(self.known) >= MAX_KNOWN:
                self.known.clear()
            self.known[text] = outcome


# What they hold is told by the reader: what is read at one place leads to another.
START = Place[Any]("an object")
FIRST_KEY = Place[Any]("a key or the end of the object")
KEY = Place[Any]("a key")
COLON = Place[Any]("a colon")
VALUE = Place[Any]("a value")
FIRST_ITEM = Place[Any]("a value or the end of the list")
AFTER_MEMBER = Place[Any]("a comma or the end of the object")
AFTER_ITEM = Place[Any]("a comma or the end of the list")
BEHIND = Place[Any]("nothing behind the object")
IN_STRING = Place[Any]("")
IN_TOKEN = Place[Any]("")
