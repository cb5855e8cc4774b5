"""Which items are tried, and what that costs at most: known before anything is sent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..json_codec import dumps
from . import (
    chat,
    chat_errors,
    chat_options,
    chat_tools,
    completions,
    reachability,
    responses,
    responses_state,
    responses_tools,
)
from .items import GROUPS, CheckItem
from .requests import Request

_ROOMS = (
    reachability,
    completions,
    chat,
    chat_tools,
    chat_options,
    chat_errors,
    responses,
    responses_tools,
    responses_state,
)
_CHARACTERS_A_TOKEN = 3
"""So many or more, for the English and the JSON that is sent."""


def all_items(model: str) -> list[CheckItem]:
    """The whole checklist, for one model, in the order in which it is tried."""
    return [item for room in _ROOMS for item in room.items(model)]


@dataclass(frozen=True, slots=True)
class Plan:
    """The whole checklist, and the ids of the items that are tried."""

    checklist: Sequence[CheckItem]
    chosen: frozenset[str]

    @property
    def items(self) -> list[CheckItem]:
        """The items that are tried, in order."""
        return [item for item in self.checklist if item.id in self.chosen]

    @property
    def requests(self) -> list[Request]:
        """Everything that is sent, in order; each once."""
        return list({request.name: request for item in self.items for request in item.requests}.values())

    @property
    def _sent(self) -> list[Request]:
        """The first of chat is sent twice where the server wants `max_tokens` under its new name."""
        return [*self.requests, *[request for request in self.requests if request.api == "chat"][:1]]

    @property
    def most_requests(self) -> int:
        """So many requests at most."""
        return sum(request.times for request in self._sent)

    @property
    def most_output_tokens(self) -> int:
        """So many tokens may be answered at most."""
        return sum(request.output_tokens for request in self._sent)

    @property
    def input_tokens(self) -> int:
        """About so many tokens are sent, and rather fewer."""
        return sum(map(input_tokens, self._sent))

    @property
    def most_tokens(self) -> int:
        """Both together."""
        return self.most_output_tokens + self.input_tokens


def input_tokens(request: Request) -> int:
    """About so many tokens a request has, and rather fewer."""
    return 0 if request.body is None else len(dumps(request.body)) // _CHARACTERS_A_TOKEN + 1


def plan(model: str, only: Iterable[str] = (), skip: Iterable[str] = ()) -> Plan:
    """The items that are chosen.

    Args:
        model: the one that is asked.
        only: ids, groups, or the part of an id before the point; all items where it is empty.
        skip: the same, for what is left out.

    Raises:
        ValueError: something of it names no item.
    """
    only, skip = list(only), list(skip)
    items = all_items(model)
    for word in (*only, *skip):
        if not any(_is_named(item, word) for item in items):
            groups = ", ".join(GROUPS)
            raise ValueError(f"{word!r} names no item; it is an id such as chat.framing, or one of the groups {groups}")

    def is_chosen(item: CheckItem) -> bool:
        named = not only or any(_is_named(item, word) for word in only)
        return named and not any(_is_named(item, word) for word in skip)

    return Plan(items, frozenset(item.id for item in items if is_chosen(item)))


def _is_named(item: CheckItem, word: str) -> bool:
    return word in (item.id, item.group, item.id.partition(".")[0])
