"""The report of a check in a real browser."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from streamshim.check import CheckReport, report_page
from streamshim.check.exchanges import Exchange
from streamshim.check.reading import Answer
from tests.checking import check
from tests.timelines import ATTACK, hostile_capture

PHONE = {"width": 390, "height": 800}
SLOPPY = ("ids-change", "names-repeated", "think-tags", "stop-ignored", "n-refused", "no-items-done")


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@cache
def report() -> CheckReport:
    return check(*SLOPPY, skip=["responses.background"])


@pytest.fixture
def seen(open_html: Callable[..., Any]) -> Any:
    return open_html(report_page(report()))


def shown(seen: Any) -> list[str]:
    return [item.get_attribute("id") for item in seen.page.locator(".item").all() if item.is_visible()]


def item(seen: Any, id: str) -> Any:
    return seen.page.locator(f'.item[id="{id}"]')


def box(seen: Any, outcome: str) -> Any:
    return seen.page.locator(f'.sift input[data-outcome="{outcome}"]')


def unfold(seen: Any, id: str, *titles: str) -> None:
    item(seen, id).locator("> summary").click()
    for title in titles:
        item(seen, id).locator(".fold > summary", has_text=title).first.click()


def test_the_page_renders_and_asks_for_nothing(seen: Any) -> None:
    assert seen.page.title() == "toy: streamshim check"
    assert seen.page.locator(".tier b").inner_text() == "3"
    assert shown(seen) == [result.item.id for result in report().results]
    assert seen.page.locator(".faults tbody tr").count() == len(report().faults) == 5
    seen.page.wait_for_load_state("networkidle")
    assert len(seen.requests) == 1
    assert seen.messages == []


def test_the_bar_shows_each_outcome_as_wide_as_it_is_frequent(seen: Any) -> None:
    counts = Counter(result.outcome for result in report().results)
    whole = seen.page.locator(".outcomes svg").bounding_box()["width"]
    for outcome, count in counts.items():
        width = seen.page.locator(f".outcomes rect.{outcome.replace(' ', '-')}").bounding_box()["width"]
        assert width / whole == pytest.approx(count / len(report().results), abs=0.01)


def test_filters_take_items_away_by_their_outcome_and_the_groups_that_are_empty_then(seen: Any) -> None:
    for outcome in ("pass", "unsupported", "not tried"):
        box(seen, outcome).uncheck()
    expected = [result.item.id for result in report().results if result.outcome in ("repaired", "fail")]
    assert shown(seen) == expected
    assert seen.page.locator(".sift output").inner_text() == f"{len(expected)} of 54 items"
    assert not seen.page.locator('.group[data-group="reachability"]').is_visible()
    box(seen, "pass").check()
    assert len(shown(seen)) > len(expected)
    assert seen.messages == []


def test_a_group_can_be_looked_at_alone(seen: Any) -> None:
    seen.page.get_by_label("group").select_option("chat-errors")
    assert shown(seen) == [result.item.id for result in report().results if result.item.group == "chat-errors"]
    seen.page.get_by_label("group").select_option("")
    assert len(shown(seen)) == 54


def test_an_item_opens_to_its_evidence(seen: Any) -> None:
    assert not item(seen, "chat.delta-shape").locator(".sighting").first.is_visible()
    unfold(seen, "chat.delta-shape")
    assert "chunk-id" in item(seen, "chat.delta-shape").locator(".sighting").inner_text()
    assert "chat.completion.chunk" in item(seen, "chat.delta-shape").locator(".sighting pre").inner_text()
    unfold(seen, "chat.stream", "request", "answer")
    request, answer = item(seen, "chat.stream").locator("pre").all()[:2]
    assert "Count to 30" in request.inner_text()
    assert answer.inner_text().startswith("data: {")


def test_a_pointer_leads_to_the_exchange_and_opens_the_item_that_has_it(seen: Any) -> None:
    unfold(seen, "chat.delta-shape")
    goal = seen.page.locator('[id="exchange-chat.stream"]')
    assert not goal.is_visible()
    item(seen, "chat.delta-shape").get_by_role("link", name="chat.stream", exact=True).click()
    assert goal.is_visible()
    assert len(seen.requests) == 1


def test_a_stream_s_timeline_has_its_lanes_and_their_filters_work(seen: Any) -> None:
    unfold(seen, "chat.tool-call", "timeline")
    lanes = item(seen, "chat.tool-call").locator(".lane")
    assert {lane.get_attribute("data-kind") for lane in lanes.all()} >= {"wire", "tools", "repairs", "end"}
    item(seen, "chat.tool-call").locator(".lane.repairs .mark").first.hover(force=True)
    assert "tool-name-repeated" in item(seen, "chat.tool-call").locator(".detail").inner_text()
    item(seen, "chat.tool-call").get_by_label("tool calls").uncheck()
    assert not item(seen, "chat.tool-call").locator(".lane.tools").is_visible()
    assert item(seen, "chat.tool-call").locator(".lane.repairs").first.is_visible()
    assert seen.messages == []


def test_nothing_is_wider_than_a_phone(open_html: Callable[..., Any]) -> None:
    seen = open_html(report_page(report()), viewport=PHONE, has_touch=True, is_mobile=True)
    unfold(seen, "chat.tool-call", "request", "answer", "timeline")
    unfold(seen, "chat.delta-shape")
    assert seen.page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    assert seen.page.locator(".faults tbody td").nth(1).bounding_box()["width"] > 300
    assert seen.messages == []


def test_the_page_is_light_by_day_and_dark_by_night(open_html: Callable[..., Any]) -> None:
    light, dark = (open_html(report_page(report()), color_scheme=scheme) for scheme in ("light", "dark"))
    assert (light.colour(), dark.colour()) == ("rgb(255, 255, 255)", "rgb(20, 24, 30)")
    colours = [
        page.page.evaluate("getComputedStyle(document.querySelector('.card')).backgroundColor")
        for page in (light, dark)
    ]
    assert colours[0] != colours[1]


def test_without_programs_everything_is_there_but_the_filters(open_html: Callable[..., Any]) -> None:
    seen = open_html(report_page(report()), java_script_enabled=False)
    assert not seen.page.locator(".sift").is_visible()
    unfold(seen, "chat.tool-call", "timeline")
    assert item(seen, "chat.tool-call").locator("svg.picture").is_visible()


def test_a_hostile_server_runs_nothing_and_asks_for_nothing(open_html: Callable[..., Any]) -> None:
    good = report()
    hostile = Exchange(good.exchanges["chat.stream"].request, Answer(200, ATTACK, hostile_capture(), ATTACK))
    result = good["chat.stream"]
    exchanges = {**good.exchanges, "chat.stream": hostile}
    bad = CheckReport(ATTACK, ATTACK, good.results, exchanges, good.requests, good.tokens)
    seen = open_html(report_page(bad))
    unfold(seen, result.item.id, "answer", "timeline")
    seen.page.wait_for_load_state("networkidle")
    assert seen.page.evaluate("window.taken") is None
    assert seen.page.title() == f"{ATTACK}: streamshim check"
    assert seen.page.locator("img, iframe").count() == 0
    assert len(seen.requests) == 1
    assert seen.messages == []
