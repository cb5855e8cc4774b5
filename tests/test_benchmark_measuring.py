"""How the benchmark measures: how its processes are asked, what is checked before it is timed, how time is taken."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any, Self, cast

import pytest

from benchmarks.baselines import LOOPS
from benchmarks.cases import CASES
from benchmarks.doors import AsyncDoor, Door
from benchmarks.loads import Load, Said
from benchmarks.memory import peak_growth
from benchmarks.processes import TooSlowError, WorkerDiedError, WorkerProcess
from benchmarks.report import Measurement
from benchmarks.running import SubjectRun, run
from benchmarks.subjects import SUBJECTS, Subject
from benchmarks.trials import Trial, baseline_of, samples

HELLO = 'import json, sys; print(json.dumps({"versions": {"one": "1.0"}}), flush=True)\n'
STREAM = Load("chat", [b"He", b"llo"], Said("Hello"), 2)


def scripted(body: str) -> WorkerProcess:
    """A process that says hello, and then does what the script says."""
    return WorkerProcess([sys.executable, "-c", HELLO + body])


# -- the protocol -----------------------------------------------------------------------------------------------------


def test_a_worker_loads_checks_and_times_what_it_is_asked_for() -> None:
    with WorkerProcess.of("streamshim-plain") as process:
        assert process.start()["versions"].keys() == {"streamshim", "orjson"}
        facts = process.ask({"do": "load", "case": "chat", "variant": "64KB"}, 60)
        assert facts == {"deltas": 2000, "streams": 1, "size": CASES["chat"].loads["64KB"]().size}
        assert process.ask({"do": "check"}, 60) == {"fault": None}
        found = process.ask({"do": "time", "rounds": 2, "seconds": 60}, 60)["samples"]
        assert len(found) == 2
        assert all(own > 0 and base > 0 for own, base in found)


def test_a_worker_tells_what_went_wrong_and_goes_on() -> None:
    with WorkerProcess.of("streamshim-plain") as process:
        assert process.ask({"do": "load", "case": "nothing", "variant": "64KB"}, 60) == {"fault": "KeyError: 'nothing'"}
        process.ask({"do": "load", "case": "short", "variant": "64KB"}, 60)
        assert "no request" in process.ask({"do": "dance"}, 60)["fault"]
        assert process.ask({"do": "check"}, 60) == {"fault": None}


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="peak memory is read from /proc")
def test_a_worker_weighs_a_stream_and_its_answer() -> None:
    with WorkerProcess.of("streamshim-plain") as process:
        process.ask({"do": "load", "case": "chat", "variant": "64KB"}, 60)
        found = process.ask({"do": "weigh"}, 60)
    assert 0 <= found["peak"] < 50_000_000
    assert found["answer"] > 8_000


def test_a_process_that_hangs_is_ended_and_starts_anew() -> None:
    with scripted(
        "import time\nfor line in sys.stdin: time.sleep(60 * json.loads(line)['s']); print('{}', flush=True)"
    ) as process:
        with pytest.raises(TooSlowError):
            process.ask({"s": 1}, 0.5)
        assert process.ask({"s": 0}, 60) == {}


def test_a_process_that_dies_leaves_its_last_words() -> None:
    with scripted("sys.stdin.readline(); sys.exit('no such thing')") as process:
        for _ in range(2):
            with pytest.raises(WorkerDiedError, match="no such thing"):
                process.ask({}, 60)


def test_settings_of_the_user_do_not_reach_the_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://elsewhere.test")
    script = (
        "import os\nsys.stdin.readline(); print(json.dumps({'url': os.environ.get('OPENAI_BASE_URL')}), flush=True)"
    )
    with scripted(script) as process:
        assert process.ask({}, 60) == {"url": None}


# -- what is checked --------------------------------------------------------------------------------------------------


def door(*items: str, lacks: tuple[str, ...] = ()) -> Door:
    """A reader that says these words, whatever it is fed."""
    return Door(lambda pieces: [items], lambda found: Said("".join(found)), lacks=lacks)


async def one_by_one(pieces: Any) -> AsyncIterator[str]:
    for piece in pieces:
        yield piece.decode()


def fault(door: Door | AsyncDoor, load: Load = STREAM) -> str | None:
    with asyncio.Runner() as runner:
        return Trial(door, load, runner).fault()


def test_a_reader_that_says_what_it_should_has_no_fault() -> None:
    assert fault(door("Hel", "lo")) is None
    assert fault(AsyncDoor(one_by_one, lambda found: Said("".join(found)))) is None


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (("Hel",), "wrong text: 3 characters instead of 5, from 3 on '' instead of 'lo'"),
        (("Hel", "lo", "!"), "wrong text: 6 characters instead of 5, from 5 on '!' instead of ''"),
        (("Hallo",), "wrong text: 5 characters instead of 5, from 1 on 'allo' instead of 'ello'"),
    ],
)
def test_a_reader_that_says_something_else_is_told_where(said: tuple[str, ...], words: str) -> None:
    assert fault(door(*said)) == words


def test_what_a_library_has_no_place_for_is_not_looked_for() -> None:
    load = Load("chat", [b""], Said("Hello", reasoning="hm"), 2)
    assert fault(door("Hello", lacks=("reasoning",)), load) is None
    assert (fault(door("Hello"), load) or "").startswith("wrong reasoning: 0 characters instead of 2")


class FakeWorker:
    """Answers as it is told, and keeps what it was asked."""

    def __init__(self, **answers: Any) -> None:
        self.answers = {"load": {"deltas": 2, "streams": 1, "size": 5}, "check": {"fault": None}, **answers}
        self.asked: list[str] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        pass

    def start(self) -> dict[str, Any]:
        return {"versions": {"one": "1.0"}}

    def ask(self, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        self.asked.append(request["do"] + (":" + request["variant"] if "variant" in request else ""))
        answer = self.answers[request["do"]]
        if isinstance(answer, Exception):
            raise answer
        return cast("dict[str, Any]", answer)


def measured(worker: FakeWorker, case: str = "hostile-ids", subject: Subject | None = None) -> list[Measurement]:
    start = cast("Callable[[str], WorkerProcess]", lambda name: worker)
    with SubjectRun(subject or SUBJECTS["streamshim-fast"], 3, 10, start) as subject_run:
        return list(subject_run.measure(CASES[case]))


def test_figures_come_from_the_worker() -> None:
    worker = FakeWorker(time={"samples": [[2.0, 1.0], [9.0, 3.0]]})
    first, second = measured(worker)
    assert first == Measurement(
        "hostile-ids", "64KB", "streamshim-fast", samples=((2.0, 1.0), (9.0, 3.0)), deltas=2, size=5
    )
    assert second.variant == "event"
    assert worker.asked == ["load:64KB", "check", "time", "load:event", "check", "time"]


def test_who_says_something_wrong_is_reported_and_never_timed() -> None:
    worker = FakeWorker(check={"fault": "wrong text: …"})
    found = measured(worker)
    assert [(each.outcome, each.reason, each.samples) for each in found] == [("faulty", "wrong text: …", ())] * 2
    assert not any(request.startswith("time") for request in worker.asked)


@pytest.mark.parametrize(
    ("error", "outcome", "reason"),
    [
        (TooSlowError(), "slow", "not read within 10 s"),
        (WorkerDiedError("killed"), "faulty", "the process died: killed"),
    ],
)
def test_who_hangs_or_dies_has_no_figure(error: Exception, outcome: str, reason: str) -> None:
    for step in ("load", "check", "time"):
        for found in measured(FakeWorker(**{step: error})):
            assert (found.outcome, found.reason, found.samples) == (outcome, reason, ())


def test_who_is_too_slow_for_a_stream_is_not_asked_for_a_longer_one() -> None:
    worker = FakeWorker(check=TooSlowError())
    found = measured(worker, "growth-text")
    assert [each.outcome for each in found] == ["slow"] * 3
    assert [each.reason for each in found[1:]] == ["not tried: 2k was too much already"] * 2
    assert worker.asked == ["load:2k", "check"]


def test_memory_is_measured_in_a_fresh_process_after_the_check() -> None:
    started: list[FakeWorker] = []

    def start(name: str) -> WorkerProcess:
        started.append(FakeWorker(weigh={"peak": 3_000_000, "answer": 80_000}))
        return cast("WorkerProcess", started[-1])

    with SubjectRun(SUBJECTS["streamshim-fast"], 3, 10, start) as subject_run:
        (found,) = subject_run.measure(CASES["memory-chat"])
    assert (found.peak, found.answer, found.samples) == (3_000_000, 80_000, ())
    assert [worker.asked for worker in started] == [["load:peak", "check"], ["load:peak", "weigh"]]


def test_a_system_that_tells_no_memory_leaves_the_figure_out_and_says_why() -> None:
    (found,) = measured(FakeWorker(weigh={"missing": "peak memory is read from /proc"}), "memory-chat")
    assert (found.outcome, found.reason) == ("absent", "peak memory is read from /proc")


def test_a_library_that_is_not_installed_is_named() -> None:
    subject = Subject("nobody", "", ("no-such-distribution",), SUBJECTS["streamshim-fast"].doors)
    worker = FakeWorker()
    found = measured(worker, "chat", subject)
    assert {(each.outcome, each.reason) for each in found} == {
        ("absent", "no-such-distribution is not installed; `make bench` installs all")
    }
    assert worker.asked == []


def test_progress_has_a_line_for_each_case(capsys: pytest.CaptureFixture[str]) -> None:
    report = run(["short", "hostile-ids"], ["streamshim-plain", "streamshim-fast"], rounds=1, limit=60)
    lines = capsys.readouterr().err.splitlines()
    assert [line.split()[:2] for line in lines] == [
        ["streamshim-plain", "short"],
        ["streamshim-fast", "short"],
        ["streamshim-fast", "hostile-ids"],
    ]
    assert [(each.subject, each.case, each.variant) for each in report.measurements] == [
        ("streamshim-plain", "short", "64KB"),
        ("streamshim-plain", "short", "event"),
        ("streamshim-fast", "short", "64KB"),
        ("streamshim-fast", "short", "event"),
        ("streamshim-fast", "hostile-ids", "64KB"),
        ("streamshim-fast", "hostile-ids", "event"),
    ]
    assert all(len(each.samples) == 1 for each in report.measurements)
    assert report.versions.keys() == {"streamshim", "orjson"}


# -- how time and memory are taken ------------------------------------------------------------------------------------


def test_the_baseline_runs_before_every_run() -> None:
    order: list[str] = []
    found = list(samples(lambda: order.append("run"), lambda: order.append("baseline"), rounds=3, seconds=60))
    assert order == ["baseline", "run"] * 3
    assert len(found) == 3


def test_no_round_begins_when_the_time_is_over_but_there_is_always_one() -> None:
    def nothing() -> None:
        pass

    assert len(list(samples(nothing, nothing, rounds=100, seconds=0))) == 1


def counting(order: list[str]) -> Door:
    def read(pieces: Any) -> Iterator[list[bytes]]:
        name = f"s{sum(entry.endswith('opened') for entry in order)}"
        order.append(f"{name} opened")
        for piece in pieces:
            order.append(f"{name} {piece.decode()}")
            yield [piece]

    return Door(read, lambda items: Said())


@pytest.mark.parametrize(
    ("interleaved", "turns"),
    [
        (False, ["s0 opened", "s0 He", "s0 llo", "s1 opened", "s1 He", "s1 llo"]),
        (True, ["s0 opened", "s0 He", "s1 opened", "s1 He", "s0 llo", "s1 llo"]),
    ],
)
def test_streams_are_read_one_after_the_other_or_in_turns(interleaved: bool, turns: list[str]) -> None:
    order: list[str] = []
    load = Load("chat", [b"He", b"llo"], Said("Hello"), 2, streams=2, interleaved=interleaved)
    with asyncio.Runner() as runner:
        Trial(counting(order), load, runner).run()
    assert order == turns


def test_the_baseline_does_all_streams_of_a_load(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bytes] = []
    monkeypatch.setitem(LOOPS, "bare-loop", seen.append)
    baseline_of(Load("chat", [b"He", b"llo"], Said("Hello"), 2, streams=3), "bare-loop")()
    assert seen == [b"Hello"] * 3


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="peak memory is read from /proc")
def test_peak_memory_is_what_was_held_at_one_time() -> None:
    def hold(count: int) -> None:
        held = [b"x" * size for _ in range(count)]
        assert sum(map(len, held)) == size * count

    size = 100_000_000  # of its own pages, and not of what was freed before
    assert peak_growth(lambda: hold(1)) == pytest.approx(size, rel=0.1)
    assert peak_growth(lambda: hold(2)) == pytest.approx(2 * size, rel=0.1)
