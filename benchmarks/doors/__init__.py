"""How each subject is fed, and what it says: one file for each library.

A door imports its library when it is loaded, in a process of its own, and is fed from memory.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, Callable, Iterable
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from ..loads import Load, Said

MODEL = "gpt-4.1"
"""A name that litellm knows: of others it takes no stream on the Responses API."""

PROMPT = "Hello"


@dataclass(frozen=True, slots=True)
class Door:
    """A way to have one stream read synchronously.

    Attributes:
        read: takes what `prepare` gave, and gives batches of items, each as soon as it can; whoever goes over all
            items has read the stream.
        said: what those items say.
        prepare: what `read` takes; done before, and not timed.
        lacks: kinds of delta for which the library has no place: they are not looked for.
    """

    read: Callable[[Any], Iterable[Iterable[Any]]]
    said: Callable[[Iterable[Any]], Said]
    prepare: Callable[[Load], Any] = attrgetter("pieces")
    lacks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AsyncDoor:
    """A way to have one stream read asynchronously: as `Door`, but `read` gives the items one by one."""

    read: Callable[[Any], AsyncIterable[Any]]
    said: Callable[[Iterable[Any]], Said]
    prepare: Callable[[Load], Any] = attrgetter("pieces")
    lacks: tuple[str, ...] = ()
