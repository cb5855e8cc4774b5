"""The benchmark's table of cases: each can be fed to whom it is meant for, and each reader says what it should."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from importlib import metadata

import pytest

from benchmarks.__main__ import main
from benchmarks.bodies import PIECES
from benchmarks.cases import CASES
from benchmarks.processes import WorkerProcess
from benchmarks.subjects import ARGUMENT_READERS, STREAM_READERS, SUBJECTS
from benchmarks.tables import LAYOUTS

SMALL = [
    (case.name, variant)
    for case in CASES.values()
    for variant in case.loads
    if variant not in ("20k", "200k", "1", "10,000") and case.name not in ("memory-100MB", "huge-line-drip")
]
"""What is made in no time."""


@pytest.mark.parametrize(("case", "variant"), SMALL)
def test_a_load_holds_what_its_case_says(case: str, variant: str) -> None:
    load = CASES[case].loads[variant]()
    assert load.api == CASES[case].api
    assert load.size == sum(map(len, load.pieces)) > 0
    assert load.said.text or load.said.arguments or load.deltas == 0
    size = PIECES[variant] if CASES[case].cuts_bytes else None
    if size:
        assert max(map(len, load.pieces)) <= size


def test_the_lengths_of_a_growing_case_are_what_their_names_say() -> None:
    for case in CASES.values():
        if case.grows:
            assert list(case.loads) == ["2k", "20k", "200k"]
            assert case.loads["2k"]().deltas == pytest.approx(2_000, rel=0.02)


def test_a_gateway_reads_the_same_number_of_deltas_however_many_streams_are_open() -> None:
    for variant in ("100", "10,000"):
        load = CASES["gateway"].loads[variant]()
        assert (load.streams, load.streams * load.deltas) == (int(variant.replace(",", "")), 200_000)
        assert load.interleaved
        assert all(len(piece.split(b"\n\n")) == 2 for piece in load.pieces if isinstance(piece, bytes))


def test_every_case_is_described_has_a_table_and_is_meant_for_subjects_that_exist() -> None:
    for name, case in CASES.items():
        assert name == case.name
        assert case.description
        assert not case.description.endswith(".")
        assert set(case.subjects) <= SUBJECTS.keys()
        assert case.group in {layout.group for layout in LAYOUTS.values()}
        assert case.is_timed or case.is_weighed


def test_every_subject_is_asked_in_some_case_and_can_answer_it() -> None:
    asked = {(name, case.api) for case in CASES.values() for name in case.subjects}
    assert {name for name, _ in asked} == set(SUBJECTS)
    assert {(name, api) for name, api in asked if api not in SUBJECTS[name].doors} == set()
    assert set(STREAM_READERS).isdisjoint(ARGUMENT_READERS)


def test_who_is_fed_payloads_is_not_asked_for_cuts_of_the_bytes_and_says_why() -> None:
    push = SUBJECTS["streamshim-push"]
    assert "payloads" in (CASES["chat"].why_not(push, "64KB") or "")
    assert CASES["chat"].why_not(push, "event") is None
    assert CASES["growth-text"].why_not(push, "2k") is None
    assert CASES["chat"].why_not(SUBJECTS["streamshim-fast"], "64KB") is None
    assert CASES["chat"].why_not(SUBJECTS["jiter"], "64KB") == "it has no door for chat"


def test_the_list_names_and_describes_every_case_and_every_subject(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0
    listed = capsys.readouterr().out
    for named in (*CASES.values(), *SUBJECTS.values()):
        assert f"  {named.name} " in listed
        assert named.description in listed


# -- every reader, in its own process ---------------------------------------------------------------------------------


READ = [
    "chat-obfuscation",
    "reasoning",
    "tool-arguments",
    "responses",
    "arguments-long-string",
    "arguments-many-values",
]


@pytest.fixture(scope="module")
def worker_of() -> Iterator[Callable[[str], WorkerProcess]]:
    """Gives the process of a subject, the same as long as there are tests."""
    with ExitStack() as stack:
        yield cache(lambda subject: stack.enter_context(WorkerProcess.of(subject)))


@pytest.mark.parametrize(
    ("subject", "case"),
    [(subject, case) for subject in SUBJECTS for case in READ if CASES[case].api in SUBJECTS[subject].doors],
)
def test_a_reader_says_what_the_stream_holds(
    worker_of: Callable[[str], WorkerProcess], subject: str, case: str
) -> None:
    for name in SUBJECTS[subject].distributions:
        try:
            metadata.version(name)
        except metadata.PackageNotFoundError:
            pytest.skip(f"{name} is not installed; `make bench` installs it")
    process = worker_of(subject)
    process.ask({"do": "load", "case": case, "variant": next(iter(CASES[case].loads))}, 60)
    assert process.ask({"do": "check"}, 60) == {"fault": None}
