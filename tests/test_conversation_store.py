"""Responses under their ids: bound to their owner, shared by threads and processes, never half a history."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamshim import Conversation, ConversationStore, ResponseNotFoundError
from streamshim.history.database import APPLICATION, SCHEMA, Database
from tests.strategies import json_values
from tests.test_history import MESSAGE, responses_answer

ROOT = Path(__file__).parent.parent


class Clock:
    """A clock that stands until it is set."""

    def __init__(self) -> None:
        self.time = 1000.0

    def __call__(self) -> float:
        return self.time


@pytest.fixture(params=["memory", "file"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path | None:
    return tmp_path / "store.db" if request.param == "file" else None


@pytest.fixture
def store(path: Path | None) -> Iterator[ConversationStore]:
    with ConversationStore(path) as opened:
        yield opened


def item(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}


def put_chain(store: ConversationStore, *ids: str, key: str = "ann", previous: str | None = None) -> None:
    for id in ids:
        store.put(key, id, input=[item(f"ask {id}")], output=[item(f"say {id}")], previous_response_id=previous)
        previous = id


# -- one owner --------------------------------------------------------------------------------------------------------


def test_a_response_comes_back_as_it_was_stored(store: ConversationStore) -> None:
    store.put("ann", "r1", input=[item("Hi")], output=[MESSAGE], body={"model": "m-1"})
    stored = store.get("ann", "r1")
    assert (stored.key, stored.response_id, stored.previous_response_id) == ("ann", "r1", None)
    assert (stored.input, stored.output, stored.body) == ([item("Hi")], [MESSAGE], {"model": "m-1"})


def test_a_chain_is_the_whole_history_in_order(store: ConversationStore) -> None:
    put_chain(store, "r1", "r2", "r3")
    put_chain(store, "fork", previous="r1")
    assert [stored.response_id for stored in store.chain("ann", "r3")] == ["r1", "r2", "r3"]
    assert [stored.response_id for stored in store.chain("ann", "fork")] == ["r1", "fork"]
    assert store.history("ann", "fork") == [item(text) for text in ("ask r1", "say r1", "ask fork", "say fork")]


def test_a_foreign_id_is_an_unknown_one(store: ConversationStore) -> None:
    put_chain(store, "r1")
    assert store.get("bob", "r1") is None
    assert store.delete("bob", "r1") == 0
    messages: list[str] = []
    for id in ("r1", "r9"):
        with pytest.raises(ResponseNotFoundError) as read:
            store.chain("bob", id)
        with pytest.raises(ResponseNotFoundError) as continued:
            put_chain(store, "r2", key="bob", previous=id)
        messages += [str(caught.value).replace(id, "…") for caught in (read, continued)]
    assert len(set(messages)) == 1
    assert len(store) == 1


def test_two_owners_may_have_the_same_id(store: ConversationStore) -> None:
    put_chain(store, "r1", "r2")
    put_chain(store, "r1", key="bob")
    store.delete("ann", "r1")
    assert store.get("ann", "r1") is None
    assert [stored.key for stored in store.chain("bob", "r1")] == ["bob"]


def test_what_a_response_continues_cannot_change(store: ConversationStore) -> None:
    put_chain(store, "r1", "r2")
    with pytest.raises(ValueError, match="continues None"):
        put_chain(store, "r1", previous="r2")
    store.put("ann", "r2", output=[item("better")], previous_response_id="r1")
    assert store.history("ann", "r2") == [item("ask r1"), item("say r1"), item("better")]
    assert len(store) == 2


def test_what_continues_a_deleted_response_goes_with_it(store: ConversationStore) -> None:
    put_chain(store, "r1", "r2", "r3")
    put_chain(store, "fork", previous="r1")
    assert store.delete("ann", "r2") == 2
    assert [store.get("ann", id) is not None for id in ("r1", "r2", "r3", "fork")] == [True, False, False, True]
    assert store.delete("ann", "r2") == 0
    with pytest.raises(ResponseNotFoundError, match="r3"):
        store.history("ann", "r3")


def test_an_empty_key_owns_nothing(store: ConversationStore) -> None:
    for key, id in (("", "r1"), ("ann", "")):
        with pytest.raises(ValueError, match="neither of them empty"):
            store.put(key, id)


def test_a_conversation_is_stored_by_its_items(store: ConversationStore) -> None:
    conversation = Conversation("ann")
    conversation.user("Hi")
    answer = responses_answer(MESSAGE)
    asked = conversation.to_response_items()
    conversation.answer(answer)
    store.put("ann", "resp_1", input=asked, output=answer.to_response_items(keep_ids=False))
    assert store.history("ann", "resp_1") == conversation.to_response_items()


stored_values = json_values.map(
    lambda value: json.loads(json.dumps(value).replace("NaN", "0").replace("-Infinity", "0").replace("Infinity", "0"))
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.dictionaries(st.text(max_size=4), stored_values, max_size=3), max_size=3), stored_values)
def test_whatever_json_is_stored_comes_back(items: list[Any], body: Any) -> None:
    with ConversationStore() as store:
        store.put("ann", "r1", input=items, output=items, body=body)
        stored = store.get("ann", "r1")
        assert stored.input == stored.output == items
        assert stored.body == body


# -- limits -----------------------------------------------------------------------------------------------------------


def test_what_nobody_continued_expires_as_a_whole(path: Path | None) -> None:
    clock = Clock()
    with ConversationStore(path, max_age=100, now=clock) as store:
        put_chain(store, "old1", "old2")
        put_chain(store, "r1")
        clock.time += 90
        put_chain(store, "r2", previous="r1")
        clock.time += 20
        assert store.get("ann", "old2") is None
        with pytest.raises(ResponseNotFoundError, match="old2"):
            store.chain("ann", "old2")
        with pytest.raises(ResponseNotFoundError, match="old2"):
            put_chain(store, "old3", previous="old2")
        assert len(store.chain("ann", "r2")) == 2
        assert store.prune() == 2
        assert len(store) == 2


def test_past_a_number_the_threads_longest_unused_go_first(path: Path | None) -> None:
    clock = Clock()
    with ConversationStore(path, max_responses=3, now=clock) as store:
        for id, previous in (("a", None), ("b", None), ("a2", "a"), ("c", None)):
            clock.time += 1
            put_chain(store, id, previous=previous)
        assert [store.get("ann", id) is not None for id in ("a", "a2", "b", "c")] == [True, True, False, True]
        put_chain(store, "c2", "c3", previous="c")
        with pytest.raises(ValueError, match="this thread alone has 4 responses"):
            put_chain(store, "c4", previous="c3")
        assert len(store.chain("ann", "c3")) == 3
        assert store.get("ann", "c4") is None


def test_past_a_size_the_threads_longest_unused_go_first(path: Path | None) -> None:
    clock = Clock()
    with ConversationStore(path, max_bytes=1000, now=clock) as store:
        for number in range(20):
            clock.time += 1
            store.put("ann", f"r{number}", output=[item("x" * 200)])
        kept = [number for number in range(20) if store.get("ann", f"r{number}")]
        assert kept == [17, 18, 19]
        store.put("ann", "r19", output=[])
        clock.time += 1
        store.put("ann", "r20", output=[item("x" * 200)])
        assert len(store) == 4  # what was replaced no longer counts


# -- the file ---------------------------------------------------------------------------------------------------------


def test_what_was_stored_is_there_after_closing(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with ConversationStore(path) as store:
        put_chain(store, "r1", "r2")
    store.close()
    with pytest.raises(ValueError, match="closed"):
        store.get("ann", "r1")
    with ConversationStore(str(path)) as again:
        assert len(again.chain("ann", "r2")) == 2
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_file_of_another_program_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE threads (x)")
    other.close()
    before = path.read_bytes()
    with pytest.raises(ValueError, match="another program"):
        ConversationStore(path)
    assert path.read_bytes() == before
    (tmp_path / "text").write_text("no database " * 100)
    with pytest.raises(sqlite3.DatabaseError):
        ConversationStore(tmp_path / "text")


def test_a_store_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    ConversationStore(path).close()
    newer = sqlite3.connect(path)
    newer.execute("PRAGMA user_version = 2")
    newer.close()
    with pytest.raises(ValueError, match="version 2"):
        ConversationStore(path)


def test_a_refused_put_leaves_nothing_behind(store: ConversationStore) -> None:
    put_chain(store, "r1")
    with pytest.raises(ResponseNotFoundError):
        put_chain(store, "r3", previous="r2")
    assert len(store) == 1
    put_chain(store, "r2", previous="r1")
    assert len(store) == 2


# -- threads and processes --------------------------------------------------------------------------------------------


def test_32_threads_lose_nothing(store: ConversationStore) -> None:
    def work(name: str) -> int:
        put_chain(store, *(f"{name}-{number}" for number in range(10)), key=name)
        return len(store.chain(name, f"{name}-9"))

    with ThreadPoolExecutor(32) as pool:
        assert list(pool.map(work, [f"key{number}" for number in range(32)])) == [10] * 32
    assert len(store) == 320


WRITER = """
import sys
from streamshim import ConversationStore
path, name, number = sys.argv[1], sys.argv[2], int(sys.argv[3])
with ConversationStore(path, busy_timeout=60) as store:
    previous = None
    for at in range(number):
        store.put(name, f"r{at}", output=[{"type": "message", "text": "x" * 2000}], previous_response_id=previous)
        previous = f"r{at}"
        print(at, flush=True)
"""


def writer(path: Path, name: str, number: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(path), name, str(number)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def test_4_processes_that_open_a_new_store_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    processes = [writer(path, f"process{number}", 40) for number in range(4)]
    for process in processes:
        process.communicate(timeout=120)
    assert [process.returncode for process in processes] == [0] * 4
    with ConversationStore(path) as store:
        assert [len(store.chain(f"process{number}", "r39")) for number in range(4)] == [40] * 4


@contextmanager
def opened_meanwhile(path: Path) -> Generator[None]:
    """A store opened by another thread while the block runs, which must succeed after it."""
    with ThreadPoolExecutor(1) as pool:
        opening = pool.submit(ConversationStore, path)
        time.sleep(0.2)
        try:
            assert not opening.done()
        finally:
            yield
            opening.result().close()


def test_a_store_waits_for_whoever_makes_its_tables(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with opened_meanwhile(path):
        for statement in (*SCHEMA.split(";"), f"PRAGMA application_id = {APPLICATION}", "PRAGMA user_version = 1"):
            other.execute(statement)
        other.execute("COMMIT")
    other.close()


def test_a_store_waits_for_whoever_reads_before_it_changes_the_journal(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with ConversationStore(path) as store:
        put_chain(store, "r1")
    other = sqlite3.connect(path, isolation_level=None)
    assert other.execute("PRAGMA journal_mode = DELETE").fetchone() == ("delete",)
    other.execute("BEGIN")
    other.execute("SELECT * FROM responses").fetchone()
    with opened_meanwhile(path):
        other.execute("COMMIT")
    other.close()


def test_a_process_killed_while_it_writes_leaves_all_that_was_stored(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    for attempt in range(3):
        process = writer(path, f"killed{attempt}", 100_000)
        try:
            told = [process.stdout.readline() for _ in range(20 + 7 * attempt)]
        finally:
            os.kill(process.pid, signal.SIGKILL)
            rest, _ = process.communicate(timeout=60)
        last = int((told + rest.split())[-1])
        with ConversationStore(path) as store:
            assert len(store.chain(f"killed{attempt}", f"r{last}")) == last + 1
            store.put(f"killed{attempt}", "next", previous_response_id=f"r{last}")
    check = sqlite3.connect(path)
    assert check.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    check.close()


class Busy:
    """A connection that is locked a few times."""

    def __init__(self, times: int) -> None:
        self.times = times

    def execute(self, statement: str) -> None:
        self.times -= 1
        if self.times >= 0:
            raise sqlite3.OperationalError("database is locked")


def test_a_journal_that_is_locked_is_tried_again_for_as_long_as_was_allowed() -> None:
    busy: Any = Busy(3)
    patient, hasty = Database(None, 10), Database(None, 0)
    patient._set_journal(busy)
    assert busy.times < 0
    busy.times = 10**9
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        hasty._set_journal(busy)
    patient.close()
    hasty.close()


OPENERS = """
import os, sys, time
from pathlib import Path
from streamshim import ConversationStore
bad = 0
for turn in range(12):
    path, start = Path(sys.argv[1]) / f"{turn}.db", time.time() + 0.05
    children = []
    for number in range(8):
        children.append(os.fork())
        if children[-1] == 0:
            while time.time() < start:
                pass
            with ConversationStore(path) as store:
                store.put(f"key{number}", "r1")
            os._exit(0)
    bad += sum(os.waitpid(child, 0)[1] != 0 for child in children)
    with ConversationStore(path) as store:
        bad += len(store) != 8
print(bad)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_processes_that_make_a_store_at_the_same_moment_do_not_mistake_it_for_another_programs(tmp_path: Path) -> None:
    command = [sys.executable, "-c", OPENERS, str(tmp_path)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout == "0\n", run.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_writes_through_a_connection_of_its_own(tmp_path: Path) -> None:
    program = (
        "import os, sys, streamshim\n"
        "store = streamshim.ConversationStore(sys.argv[1])\n"
        "store.put('ann', 'r1')\n"
        "child = os.fork()\n"
        "len(store)\n"
        "assert store._database._handle.process == os.getpid()\n"
        "for at in range(20): store.put('child' if child == 0 else 'parent', f'r{at}')\n"
        "if child == 0: os._exit(0)\n"
        "status = os.waitpid(child, 0)[1]\n"
        "print(status, len(store)); store.close()\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "store.db")]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout == "0 41\n"
