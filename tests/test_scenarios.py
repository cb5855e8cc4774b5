"""Every scenario, fed as the network gave it, in one piece, and byte by byte: the right answer, and the same events."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.expectations import problems
from tests.expected_failures import expected_failures, judge
from tests.reading import decode, first_difference

FOLDER = Path(__file__).with_name("scenarios")
SCENARIOS = {path.stem: path for api in ("chat", "responses") for path in sorted((FOLDER / api).glob("*.json"))}


def load(name: str) -> dict[str, Any]:
    scenario: dict[str, Any] = json.loads(SCENARIOS[name].read_text(encoding="utf-8"))
    scenario["pieces"] = [
        bytes.fromhex(piece["hex"]) if isinstance(piece, dict) else piece.encode("utf-8", "surrogatepass")
        for piece in scenario["pieces"]
    ]
    return scenario


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenario_gives_the_right_answer_in_every_cut(name: str) -> None:
    scenario = load(name)
    pieces, options = scenario["pieces"], {"broken": scenario["drop"], **scenario["options"]}
    events = decode(pieces, **options)
    found = problems(events, scenario["expect"])
    whole = b"".join(pieces)
    for label, cut in (("joined", [whole]), ("byte by byte", [whole[i : i + 1] for i in range(len(whole))])):
        if difference := first_difference(events, decode(cut, **options)):
            found.append(f"{label}: {difference}")
    judge(name, found)


def test_scenarios_are_all_there() -> None:
    assert len(SCENARIOS) >= 528


def test_expected_failures_name_things_that_exist() -> None:
    names = {name for name in expected_failures() if "/" not in name}
    assert names <= SCENARIOS.keys()
