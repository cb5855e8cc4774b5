"""Conversations in a `ConversationStore`: each answer with what was said since the one before it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..history import Conversation, ConversationStore
from ..json_codec import dumps, loads

if TYPE_CHECKING:
    from ..response_models import ModelResponse


def keep(store: ConversationStore, conversation: Conversation, response: ModelResponse) -> None:
    """Store the answer that a conversation ends with. One without an id, or of nobody, is not kept.

    Raises:
        sqlite3.Error: it cannot be written.
        ValueError: it alone is larger than the store.
    """
    key, response_id = conversation.key, response.response_id
    if not key or not response_id:
        return
    written = loads(conversation.to_json())
    entries: list[dict[str, Any]] = written.pop("entries")
    before = _newest_kept(store, key, entries[:-1])
    results = entries[before]["results"] if before is not None else []
    previous = entries[before]["response"]["response_id"] if before is not None else None
    entries = entries[0 if before is None else before + 1 :]
    store.put(
        key,
        response_id,
        previous_response_id=previous,
        input=_said(conversation, previous),
        output=response.to_response_items(),
        body={"head": written, "results": results, "entries": entries},
    )


def _newest_kept(store: ConversationStore, key: str, entries: list[dict[str, Any]]) -> int | None:
    """The place of the newest answer that the store has."""
    for at in range(len(entries) - 1, -1, -1):
        response_id = entries[at].get("response", {}).get("response_id")
        if response_id and store.get(key, response_id) is not None:
            return at
    return None


def _said(conversation: Conversation, previous: str | None) -> list[dict[str, Any]]:
    """What was new with the newest answer."""
    before = conversation.fork(length=len(conversation) - 1)
    return before.to_response_items() if previous is None else before.items_after(previous)


def recall(store: ConversationStore, key: str, response_id: str) -> Conversation:
    """The conversation that ends with an answer.

    Raises:
        ResponseNotFoundError: there is none of this id under this key, or it expired.
    """
    head: dict[str, Any] = {}
    entries: list[dict[str, Any]] = []
    for stored in store.chain(key, response_id):
        head = stored.body["head"]
        if entries:
            entries[-1]["results"] = stored.body["results"]
        entries += stored.body["entries"]
    return Conversation.from_json(dumps({**head, "entries": entries}))
