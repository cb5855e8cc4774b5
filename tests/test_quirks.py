"""The table of repairs, the scenarios that show them and the page that tells of them are one."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from streamshim import ErrorReport, Repair, StreamDecoder, StreamEnd
from streamshim.quirks import QUIRKS
from tests.reading import decode
from tests.test_scenarios import SCENARIOS, load

PAGE = Path(__file__).resolve().parents[1] / "docs" / "quirks.md"


@cache
def repairs_of(name: str) -> dict[str, int]:
    scenario = load(name)
    end = decode(scenario["pieces"], broken=scenario["drop"], **scenario["options"])[-1]
    assert isinstance(end, StreamEnd)
    return end.repairs


OF_DECODER = [row.id for row in QUIRKS.values() if row.made_by == "decoder"]


@pytest.mark.parametrize("quirk", OF_DECODER)
def test_every_row_of_the_decoder_has_a_scenario_that_shows_it(quirk: str) -> None:
    assert any(quirk in repairs_of(name) for name in SCENARIOS)


def test_every_repair_that_a_scenario_makes_has_a_row_of_the_decoder() -> None:
    made = {quirk for name in SCENARIOS for quirk in repairs_of(name)}
    assert made == set(OF_DECODER)


@pytest.mark.parametrize("quirk", QUIRKS)
def test_every_row_has_a_line_in_the_docs(quirk: str) -> None:
    assert f"`{quirk}`" in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("row", QUIRKS.values(), ids=lambda row: row.id)
def test_every_row_is_filled_in(row: object) -> None:
    assert all(isinstance(value := getattr(row, name), str) and value for name in row.__slots__)  # type: ignore[attr-defined]


def test_repairs_tell_the_frame_they_were_made_in() -> None:
    body = b'data: {"choices":[{"delta":{"content":"a"}}]}\n\ndata: {nonsense\n\n' + b"data: [DONE]\n\n"
    told = [event for event in decode([body], repairs=True) if isinstance(event, Repair)]
    assert [(event.quirk, event.frame) for event in told] == [("unreadable-frame", 2)]


def test_strict_makes_a_chosen_repair_an_error_and_leaves_the_others() -> None:
    body = b'data: {"choices":[{"delta":{"content":7}}]}\n\ndata: {nonsense\n\ndata: [DONE]\n\n'
    events = decode([body], strict={"unreadable-frame"})
    (report,) = (event for event in events if isinstance(event, ErrorReport))
    end = events[-1]
    assert isinstance(end, StreamEnd)
    assert (report.error.kind, report.error.code) == ("strict", "unreadable-frame")
    assert "frame 2" in report.error.message
    assert (end.status, end.repairs) == ("failed", {"content-number": 1, "unreadable-frame": 1})


def test_strict_refuses_a_quirk_that_does_not_exist() -> None:
    with pytest.raises(ValueError, match="no-such-quirk"):
        StreamDecoder(strict={"no-such-quirk"})


def test_a_repair_is_logged_once_for_each_quirk(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("DEBUG", logger="streamshim"):
        decode([b"data: {nonsense\n\n" * 3])
    assert [record.message for record in caplog.records if "unreadable-frame" in record.message] == [
        "frame 1: unreadable-frame: a frame is not JSON: '{nonsense'"
    ]
