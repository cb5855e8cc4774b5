"""The places in a JSON text, and what may stand there.

What may stand in a text can be read in two ways: in steps, where its first character tells what begins, and at once,
where its pattern finds it. The reader says what either does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Generic, NamedTuple, TypeVar

from .json_tokens import BLANKS

Reader = TypeVar("Reader")

_NOTHING = "(?!)"


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
        takers: those of the elements, by the number of the group that matches last.
    """

    __slots__ = ("actions", "expected", "find", "takers")

    def __init__(self, expected: str) -> None:
        """Nothing may stand there yet."""
        self.expected = expected
        self.hold()

    def hold(self, *elements: Element[Reader], blanks: str = BLANKS) -> None:
        """What may stand there."""
        pattern = re.compile(f"{blanks}(?:{'|'.join(element.pattern for element in elements) or _NOTHING})")
        takers = {group: take for element in elements for group, take in element.takers.items()}
        self.actions = {character: action for element in elements for character, action in element.actions.items()}
        self.find = pattern.match
        self.takers = {number: takers[group] for group, number in pattern.groupindex.items()}
