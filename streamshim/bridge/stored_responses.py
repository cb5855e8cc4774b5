"""Responses that are kept on this side: what `previous_response_id` stands for, and what `GET /responses` answers."""

from __future__ import annotations

import hashlib
import itertools
import logging
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from os import urandom
from typing import Any

from ..history.conversation_store import ConversationStore, ResponseNotFoundError
from .losses import UnsupportedMemberError
from .replies import Reply, error_reply, reply

logger = logging.getLogger("streamshim")

_CREDENTIALS = ("authorization", "api-key", "x-api-key")
_STEM_BYTES = 12
_STEM = 2 * _STEM_BYTES
_MOST_LISTED = 100


def key_of(headers: Mapping[str, str]) -> str:
    """Whose responses a caller may continue: a hash of the credentials, from which they cannot be read."""
    credentials = "\n".join(f"{name}:{headers[name]}" for name in _CREDENTIALS if headers.get(name))
    return hashlib.sha256(f"streamshim\n{credentials}".encode()).hexdigest()


class Identity:
    """The ids of one response. Those of its items begin as its own does, so that an item is found by its id."""

    def __init__(self) -> None:
        """A new response."""
        self._stem = urandom(_STEM_BYTES).hex()
        self._numbers = itertools.count()
        self.response_id = f"resp_{self._stem}"

    def make_id(self, prefix: str) -> str:
        """An id for something in it."""
        return f"{prefix}_{self._stem}{next(self._numbers):08x}"


def response_of(item_id: str) -> str:
    """The id of the response that an item belongs to, if it is one of ours."""
    return f"resp_{item_id.rpartition('_')[2][:_STEM]}"


class StoredResponses:
    """The responses of one caller."""

    def __init__(self, store: ConversationStore, key: str) -> None:
        """`key`: whose they are."""
        self._store = store
        self._key = key

    def history(self, response_id: Any) -> list[dict[str, Any]]:
        """The items that a `previous_response_id` stands for.

        Raises:
            ResponseNotFoundError: it is unknown, expired, or another caller's.
        """
        return self._store.history(self._key, response_id) if isinstance(response_id, str) else []

    def resolve(self, param: str, item: Any) -> Any:
        """An item, or the one that it refers to.

        Raises:
            UnsupportedMemberError: there is none of this id.
        """
        if not isinstance(item, Mapping) or item.get("type", "item_reference") != "item_reference" or "role" in item:
            return item
        item_id = str(item.get("id"))
        stored = self._store.get(self._key, response_of(item_id))
        items = [*stored.input, *stored.output] if stored is not None else []
        found = next((each for each in items if each.get("id") == item_id), None)
        if found is None:
            raise UnsupportedMemberError(f"{param}.id", f"Item with id '{item_id}' not found.", "unsupported_value")
        return found

    def keep(
        self,
        response: Mapping[str, Any],
        input: Sequence[Mapping[str, Any]],
        make_id: Callable[[str], str],
    ) -> None:
        """Keep a response that is over. Where that fails, the caller has the answer all the same."""
        if response["status"] not in ("completed", "incomplete"):
            return
        body = {name: value for name, value in response.items() if name != "output"}
        try:
            self._store.put(
                self._key,
                response["id"],
                input=[_kept(item, make_id) for item in input],
                output=response["output"],
                previous_response_id=response["previous_response_id"],
                body=body,
            )
        except (ResponseNotFoundError, ValueError, sqlite3.Error):
            logger.warning("a response could not be stored, and cannot be continued by its id", exc_info=True)

    # -- answers about them -------------------------------------------------------------------------------------------

    def get(self, response_id: str) -> Reply:
        """The response."""
        stored = self._store.get(self._key, response_id)
        return _not_found(response_id) if stored is None else reply({**stored.body, "output": stored.output})

    def delete(self, response_id: str) -> Reply:
        """Forget it, and all that continue it."""
        if not self._store.delete(self._key, response_id):
            return _not_found(response_id)
        return reply({"id": response_id, "object": "response", "deleted": True})

    def input_items(self, response_id: str, query: Mapping[str, str]) -> Reply:
        """What was new with its request, a page at a time, the newest first unless `order` is "asc"."""
        stored = self._store.get(self._key, response_id)
        if stored is None:
            return _not_found(response_id)
        limit = query.get("limit", "20")
        if not limit.isdigit() or not 1 <= int(limit) <= _MOST_LISTED:
            return error_reply(400, f"limit must be 1 to {_MOST_LISTED}", param="limit", code="invalid_value")
        items = stored.input if query.get("order") == "asc" else stored.input[::-1]
        ids = [item["id"] for item in items]
        begin = ids.index(query["after"]) + 1 if query.get("after") in ids else 0
        page = items[begin : begin + int(limit)]
        more = begin + len(page) < len(items)
        first, last = (page[0]["id"], page[-1]["id"]) if page else (None, None)
        return reply({"object": "list", "data": page, "first_id": first, "last_id": last, "has_more": more})


def _kept(item: Mapping[str, Any], make_id: Callable[[str], str]) -> dict[str, Any]:
    """An item as it is shown and referred to later: with an id, and a message in full."""
    kind = item.get("type", "message")
    kept = {"id": make_id("msg" if kind == "message" else "item"), "type": kind, **item}
    if kind == "message":
        content = item.get("content")
        part_type = "output_text" if item.get("role") == "assistant" else "input_text"
        parts = [{"type": part_type, "text": content}] if isinstance(content, str) else content
        kept = {"status": "completed", **kept, "content": parts}
    return kept


def _not_found(response_id: str) -> Reply:
    return error_reply(
        404, f"Response with id '{response_id}' not found.", type="invalid_request_error", code="response_not_found"
    )


def previous_not_found(response_id: Any) -> Reply:
    """What a caller hears who continues what cannot be continued."""
    return error_reply(
        400,
        f"Previous response with id '{response_id}' not found.",
        param="previous_response_id",
        code="previous_response_not_found",
    )
