"""`ConversationStore`: responses under their ids, each bound to the key of whoever may continue it."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, cast

from ..errors import StreamshimError
from ..json_codec import dumps, loads
from .database import Database

_CHAIN = """
WITH RECURSIVE chain (response_id, previous_response_id, created_at, content, depth) AS (
    SELECT response_id, previous_response_id, created_at, content, 0
    FROM responses WHERE key = :key AND response_id = :response_id
    UNION ALL
    SELECT r.response_id, r.previous_response_id, r.created_at, r.content, chain.depth + 1
    FROM responses r JOIN chain ON r.key = :key AND r.response_id = chain.previous_response_id
)
SELECT response_id, previous_response_id, created_at, content FROM chain ORDER BY depth DESC
"""
_BRANCH = """
WITH RECURSIVE branch (response_id) AS (
    SELECT response_id FROM responses WHERE key = :key AND response_id = :response_id
    UNION ALL
    SELECT r.response_id FROM responses r JOIN branch ON r.key = :key AND r.previous_response_id = branch.response_id
)
DELETE FROM responses WHERE key = :key AND response_id IN (SELECT response_id FROM branch) RETURNING thread, bytes
"""


class ResponseNotFoundError(StreamshimError, LookupError):
    """No response of this id can be continued under this key: unknown, expired, deleted, or somebody else's."""


@dataclass(slots=True, frozen=True)
class StoredResponse:
    """One response.

    Attributes:
        key: whose it is.
        response_id: its id.
        previous_response_id: the one that it continued.
        input: the items that were new with its request.
        output: the items that it answered with.
        body: whatever else was to be kept of it.
        created_at: when it was stored, in seconds since 1970.
    """

    key: str
    response_id: str
    previous_response_id: str | None
    input: list[dict[str, Any]]
    output: list[dict[str, Any]]
    body: Any
    created_at: float


class ConversationStore:
    """Keeps responses in memory, or in an SQLite file that threads and processes may share.

    Responses that continue one another are one thread; a thread is forgotten as a whole, so that no chain ever lacks
    its beginning. Whatever is found out about an id is found out under a key alone: a foreign id is an unknown one.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        max_age: float | None = None,
        max_responses: int | None = None,
        max_bytes: int | None = None,
        busy_timeout: float = 10.0,
        now: Callable[[], float] = time.time,
    ) -> None:
        """Open the store, and make its file where there is none, readable by its owner alone.

        Args:
            path: the file; None keeps all in memory, for this process alone.
            max_age: seconds after which a thread that nobody continued is forgotten.
            max_responses: how many responses are kept in all; the threads longest unused go first.
            max_bytes: the same, counted in bytes of their JSON.
            busy_timeout: seconds to wait for another process that writes.
            now: the clock, in seconds since 1970.

        Raises:
            ValueError: the file is another program's, or of a newer version than is known.
            sqlite3.Error: the file cannot be opened, or is no database.
        """
        self._database = Database(None if path is None else Path(path), busy_timeout)
        self._max_age = max_age
        self._max_responses = max_responses
        self._max_bytes = max_bytes
        self._now = now

    # -- writing ------------------------------------------------------------------------------------------------------

    def put(
        self,
        key: str,
        response_id: str,
        *,
        input: Sequence[Mapping[str, Any]] = (),
        output: Sequence[Mapping[str, Any]] = (),
        previous_response_id: str | None = None,
        body: Any = None,
    ) -> None:
        """Keep a response; one of the same key and id is replaced.

        Args:
            key: whose it is; nobody else can read or continue it.
            response_id: its id.
            input: the items that were new with its request.
            output: the items that it answered with.
            previous_response_id: the response that it continues.
            body: whatever else is to be kept of it, as JSON.

        Raises:
            ResponseNotFoundError: the response that it continues is not there.
            ValueError: an id or key is empty, the one that it replaces continues another response, or its thread alone
                is larger than the limits.
        """
        if not key or not response_id:
            raise ValueError("a response is stored under a key and an id, neither of them empty")
        content = dumps({"input": list(input), "output": list(output), "body": body})
        size = len(content.encode())
        with self._database.writing() as connection:
            thread, replaced = self._place(connection, key, response_id, previous_response_id)
            row = (key, response_id, previous_response_id, thread, self._now(), size, content)
            connection.execute("INSERT OR REPLACE INTO responses VALUES (?, ?, ?, ?, ?, ?, ?)", row)
            connection.execute(
                "UPDATE threads SET used_at = ?, responses = responses + ?, bytes = bytes + ? WHERE thread = ?",
                (self._now(), 0 if replaced is not None else 1, size - (replaced or 0), thread),
            )
            self._prune(connection, keep=thread)

    def _place(
        self, connection: sqlite3.Connection, key: str, response_id: str, previous_response_id: str | None
    ) -> tuple[int, int | None]:
        """The thread that a response belongs to, and the size of the one that it replaces."""
        old = connection.execute(
            "SELECT thread, bytes, previous_response_id FROM responses WHERE key = ? AND response_id = ?",
            (key, response_id),
        ).fetchone()
        if old is not None:
            if old[2] != previous_response_id:
                raise ValueError(f"{response_id!r} is there already, and continues {old[2]!r}: that cannot change")
            return old[0], old[1]
        if previous_response_id is not None:
            return self._thread(connection, key, previous_response_id), None
        number = connection.execute("INSERT INTO threads VALUES (NULL, ?, 0, 0)", (self._now(),)).lastrowid
        return cast("int", number), None

    def _thread(self, connection: sqlite3.Connection, key: str, response_id: str) -> int:
        """The thread of a response that can be continued."""
        row = connection.execute(
            "SELECT thread FROM responses JOIN threads USING (thread) "
            "WHERE key = ? AND response_id = ? AND used_at >= ?",
            (key, response_id, self._oldest()),
        ).fetchone()
        if row is None:
            raise ResponseNotFoundError(
                f"no response {response_id!r} can be continued here: it is unknown, expired, deleted or of another "
                "key; send the whole history instead"
            )
        return int(row[0])

    def delete(self, key: str, response_id: str) -> int:
        """Forget a response and all that continue it: how many that were, 0 if there is none of this id."""
        with self._database.writing() as connection:
            gone = connection.execute(_BRANCH, {"key": key, "response_id": response_id}).fetchall()
            for thread, size in gone:
                connection.execute(
                    "UPDATE threads SET responses = responses - 1, bytes = bytes - ? WHERE thread = ?", (size, thread)
                )
            connection.execute("DELETE FROM threads WHERE responses = 0")
        return len(gone)

    def prune(self) -> int:
        """Forget what is past the limits now, and say how many responses that were. `put` does it as well."""
        with self._database.writing() as connection:
            return self._prune(connection, keep=None)

    def _prune(self, connection: sqlite3.Connection, keep: int | None) -> int:
        gone = 0
        if self._max_age is not None:
            gone += _forget(connection, "used_at < ?", self._oldest())
        for column, limit in (("responses", self._max_responses), ("bytes", self._max_bytes)):
            if limit is not None:
                gone += self._shrink(connection, column, limit, keep)
        return gone

    def _shrink(self, connection: sqlite3.Connection, column: str, limit: int, keep: int | None) -> int:
        """Forget the threads longest unused until the sum of a column is within its limit."""
        total = connection.execute(f"SELECT COALESCE(SUM({column}), 0) FROM threads").fetchone()[0]  # noqa: S608
        gone = 0
        while total > limit:
            row = connection.execute(
                f"SELECT thread, {column} FROM threads WHERE thread IS NOT ? ORDER BY used_at, thread LIMIT 1",  # noqa: S608
                (keep,),
            ).fetchone()
            if row is None:
                raise ValueError(f"this thread alone has {total} {column}: the store is limited to {limit}")
            total -= row[1]
            gone += _forget(connection, "thread = ?", row[0])
        return gone

    # -- reading ------------------------------------------------------------------------------------------------------

    def get(self, key: str, response_id: str) -> StoredResponse | None:
        """A response; None where there is none of this id under this key, or it expired."""
        with self._database.reading() as connection:
            row = connection.execute(
                "SELECT response_id, previous_response_id, created_at, content "
                "FROM responses JOIN threads USING (thread) WHERE key = ? AND response_id = ? AND used_at >= ?",
                (key, response_id, self._oldest()),
            ).fetchone()
        return None if row is None else _stored(key, row)

    def chain(self, key: str, response_id: str) -> list[StoredResponse]:
        """A response and all that it continues, the oldest first.

        Raises:
            ResponseNotFoundError: there is none of this id under this key, or it expired.
        """
        with self._database.reading() as connection:
            rows = connection.execute(_CHAIN, {"key": key, "response_id": response_id}).fetchall()
            self._thread(connection, key, response_id)
        return [_stored(key, row) for row in rows]

    def history(self, key: str, response_id: str) -> list[dict[str, Any]]:
        """Everything up to and with a response, as items: what `previous_response_id` stands for.

        Raises:
            ResponseNotFoundError: as for `chain`.
        """
        return [item for stored in self.chain(key, response_id) for item in (*stored.input, *stored.output)]

    def __len__(self) -> int:
        """How many responses are kept, those included that expired and were not pruned."""
        with self._database.reading() as connection:
            return int(connection.execute("SELECT COUNT(*) FROM responses").fetchone()[0])

    def _oldest(self) -> float:
        return self._now() - self._max_age if self._max_age is not None else float("-inf")

    def close(self) -> None:
        """Close the file; what was kept in memory is gone. May be called again."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _forget(connection: sqlite3.Connection, condition: str, value: float) -> int:
    """Forget threads and all that is in them."""
    threads = f"SELECT thread FROM threads WHERE {condition}"  # noqa: S608
    gone = connection.execute(f"DELETE FROM responses WHERE thread IN ({threads})", (value,)).rowcount  # noqa: S608
    connection.execute(f"DELETE FROM threads WHERE {condition}", (value,))  # noqa: S608
    return gone


def _stored(key: str, row: tuple[str, str | None, float, str]) -> StoredResponse:
    response_id, previous_response_id, created_at, content = row
    data = loads(content)
    return StoredResponse(
        key, response_id, previous_response_id, data["input"], data["output"], data["body"], created_at
    )
