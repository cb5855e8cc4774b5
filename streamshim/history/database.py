"""The SQLite file under a store: made once, shared by threads, processes and forks."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

APPLICATION = 0x73736869
"""Marks the file as ours ("sshi"): another program's database is never written to."""
VERSION = 1
SCHEMA = """
CREATE TABLE threads (
    thread INTEGER PRIMARY KEY,
    used_at REAL NOT NULL,
    responses INTEGER NOT NULL,
    bytes INTEGER NOT NULL
);
CREATE INDEX threads_by_use ON threads (used_at);
CREATE TABLE responses (
    key TEXT NOT NULL,
    response_id TEXT NOT NULL,
    previous_response_id TEXT,
    thread INTEGER NOT NULL,
    created_at REAL NOT NULL,
    bytes INTEGER NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY (key, response_id)
);
CREATE INDEX responses_by_thread ON responses (thread);
CREATE INDEX responses_by_previous ON responses (key, previous_response_id);
"""


class Database:
    """One connection for all threads of a process, one at a time; another one behind a fork."""

    def __init__(self, path: Path | None, busy_timeout: float) -> None:
        """Open the file, and make its tables where there are none.

        Args:
            path: the file; None for memory.
            busy_timeout: seconds to wait for another process that writes.
        """
        self._path = path
        self._busy_timeout = busy_timeout
        self._closed = False
        self._handle = self._open()

    def close(self) -> None:
        """Close it. May be called again."""
        with self._handle.lock:
            self._closed = True
            self._handle.connection.close()

    @contextmanager
    def writing(self) -> Generator[sqlite3.Connection]:
        """All that is done inside is done, or nothing of it. Other writers wait."""
        with self.reading() as connection, _transaction(connection):
            yield connection

    @contextmanager
    def reading(self) -> Generator[sqlite3.Connection]:
        """The connection, for this thread alone."""
        if self._closed:
            raise ValueError("the store is closed")
        if self._handle.process != os.getpid() and self._path is not None:
            _inherited.append(self._handle)  # a connection must not cross a fork, nor be closed behind it
            self._handle = self._open()
        with self._handle.lock:
            yield self._handle.connection

    def _open(self) -> _Handle:
        if self._path is not None:
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))
        connection = sqlite3.connect(
            self._path or ":memory:", timeout=self._busy_timeout, isolation_level=None, check_same_thread=False
        )
        try:
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return _Handle(connection, threading.Lock(), os.getpid())

    def _prepare(self, connection: sqlite3.Connection) -> None:
        with _transaction(connection, "DEFERRED"):  # one view of the file, whoever may be making it
            is_ready = self._is_ready(connection)
        if not is_ready:
            with _transaction(connection):
                if not self._is_ready(connection):  # nobody else was faster
                    for statement in SCHEMA.split(";"):
                        connection.execute(statement)
                    connection.execute(f"PRAGMA application_id = {APPLICATION}")
                    connection.execute(f"PRAGMA user_version = {VERSION}")
        self._set_journal(connection)
        # with a write-ahead log, this loses nothing to a killed process
        connection.execute("PRAGMA synchronous = NORMAL")

    def _is_ready(self, connection: sqlite3.Connection) -> bool:
        """Whether the file has our tables; False for one that is empty."""
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if application == APPLICATION:
            if version != VERSION:
                raise ValueError(f"{self._path} is a store of version {version}: only {VERSION} is known")
            return True
        if application or version or connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
            raise ValueError(f"{self._path} is the database of another program")
        return False

    def _set_journal(self, connection: sqlite3.Connection) -> None:
        """A write-ahead log. SQLite does not wait for others when it changes to one, so that is done here."""
        deadline = time.monotonic() + self._busy_timeout
        while True:
            try:
                connection.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
            else:
                return


@dataclass(slots=True, frozen=True)
class _Handle:
    connection: sqlite3.Connection
    lock: threading.Lock
    process: int


_inherited: list[_Handle] = []


@contextmanager
def _transaction(
    connection: sqlite3.Connection, kind: Literal["DEFERRED", "IMMEDIATE"] = "IMMEDIATE"
) -> Generator[None]:
    connection.execute(f"BEGIN {kind}")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
