"""Recorded streams of real servers, where they are at hand: what they say, in any cut, is what is expected."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from streamshim.testing import breaches, cuts
from tests.expectations import problems
from tests.expected_failures import judge
from tests.reading import decode, first_difference

CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpus"
EXPECTED = CORPUS / "expected.jsonl"


def entries() -> list[dict[str, Any]]:
    if not EXPECTED.exists():
        return []
    return [json.loads(line) for line in EXPECTED.read_text(encoding="utf-8").splitlines()]


absent = pytest.mark.skipif(not EXPECTED.exists(), reason="the recorded streams (../shared/corpus) are not here")
foreign = sorted(CORPUS.glob("foreign/*"))


@absent
@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry["file"])
def test_recorded_stream_says_what_is_expected_in_every_cut(entry: dict[str, Any]) -> None:
    data = (CORPUS / entry["file"]).read_bytes()
    rough = entry.get("compare_stripped") or {}
    events = decode([data])
    found = problems(
        events, {**entry["expect"], **rough}, stripped=tuple(rough), client_calls=entry.get("client_calls")
    )
    for number, pieces in enumerate(cuts(data, seed=len(data))):
        if difference := first_difference(events, decode(pieces)):
            found.append(f"cut {number}: {difference}")
    judge(entry["file"], found)


@absent
@pytest.mark.parametrize("path", foreign, ids=lambda path: path.name)
def test_foreign_wire_never_passes_for_a_whole_answer(path: Path) -> None:
    data = path.read_bytes()
    events = decode([data])
    assert breaches(events) == []
    assert events[-1].type == "stream_end"
    assert events[-1].status in ("truncated", "failed")
    for pieces in cuts(data, seed=len(data)):
        assert first_difference(events, decode(pieces)) is None
