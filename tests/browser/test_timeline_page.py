"""The page of a timeline in a real browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from streamshim.capture import Capture
from streamshim.timeline import page, read_timelines
from streamshim.timeline.lanes import lanes_of
from tests.timelines import full_capture, hostile_capture

PHONE = {"width": 390, "height": 800}


class Visit:
    """A page that is open, and what is on it."""

    def __init__(self, opened: Any) -> None:
        self.page = opened.page
        self.requests = opened.requests
        self.messages = opened.messages
        self.colour = opened.colour

    def lanes(self) -> list[str]:
        return [lane.get_attribute("data-label") for lane in self.page.locator(".lane").all() if lane.is_visible()]

    def detail(self) -> str:
        return self.page.locator(".detail").inner_text()

    def mark(self, kind: str, number: int = 0) -> Any:
        return self.page.locator(f".lane.{kind} .mark").nth(number)


@pytest.fixture
def visit(open_html: Callable[..., Any]) -> Callable[..., Visit]:
    def open_page(capture: Capture, name: str = "full.sse", **options: Any) -> Visit:
        return Visit(open_html(page(name, read_timelines(capture), capture), **options))

    return open_page


def labels(capture: Capture) -> list[str]:
    return [lane.label for timeline in read_timelines(capture) for lane in lanes_of(timeline)]


def test_the_page_renders_and_asks_for_nothing(visit: Any) -> None:
    seen = visit(full_capture())
    assert seen.page.title() == "full.sse: timeline"
    assert seen.lanes() == labels(full_capture())
    assert seen.page.locator(".status").inner_text() == "completed"
    assert seen.page.locator(".mark").count() > 10
    seen.mark("text").hover()
    seen.page.wait_for_load_state("networkidle")
    assert len(seen.requests) == 1
    assert seen.messages == []


def test_a_filter_takes_its_lanes_away_and_the_others_close_up(visit: Any) -> None:
    seen = visit(full_capture())
    height = seen.page.locator("svg.picture").bounding_box()["height"]
    below = seen.page.locator(".lane.end").bounding_box()["y"]
    seen.page.get_by_label("tool calls").uncheck()
    assert seen.lanes() == [label for label in labels(full_capture()) if label not in ("tide", "berth")]
    assert seen.page.locator("svg.picture").bounding_box()["height"] < height
    assert seen.page.locator(".lane.end").bounding_box()["y"] < below
    seen.page.get_by_label("tool calls").check()
    assert seen.lanes() == labels(full_capture())
    assert seen.page.locator("svg.picture").bounding_box()["height"] == height
    assert seen.messages == []


def test_pointing_at_a_mark_tells_what_came(visit: Any) -> None:
    seen = visit(full_capture())
    assert seen.detail() == "Point at a mark, or tap it, to see what came."
    seen.mark("text").hover()
    assert seen.detail() == "text · 1.500 s · 3 together\nHigh water at noon."
    seen.mark("repairs", 1).hover()
    assert seen.detail().startswith("reasoning-mirrored-fields · 0.450 s\nframe 2: ")


def test_marks_that_cover_one_another_are_told_together(visit: Any) -> None:
    seen = visit(full_capture())
    seen.mark("tools").hover(force=True)
    assert seen.detail().splitlines() == [
        "tide · 1.800 s",
        "call of tide · function · call_0",
        "tide · 1.800 s",
        '{"day"',
    ]


def test_the_arrow_keys_go_from_mark_to_mark(visit: Any) -> None:
    seen = visit(full_capture())
    seen.page.locator("svg.picture").focus()
    seen.page.keyboard.press("ArrowRight")
    first = seen.detail()
    seen.page.keyboard.press("ArrowRight")
    assert seen.detail() != first
    seen.page.keyboard.press("ArrowLeft")
    assert seen.detail() == first


def test_a_tap_on_a_phone_tells_what_came_and_nothing_is_wider_than_the_screen(visit: Any) -> None:
    seen = visit(full_capture(), viewport=PHONE, has_touch=True, is_mobile=True)
    seen.page.locator(".lane.text").scroll_into_view_if_needed()
    box = seen.mark("text").bounding_box()
    seen.page.touchscreen.tap(box["x"] + 12, box["y"] + 3)
    assert "High water at noon." in seen.detail()
    assert seen.page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    assert seen.messages == []


def test_the_page_is_light_by_day_and_dark_by_night(visit: Any) -> None:
    light, dark = (visit(full_capture(), color_scheme=scheme).colour() for scheme in ("light", "dark"))
    assert light == "rgb(255, 255, 255)"
    assert dark == "rgb(20, 24, 30)"


def test_a_hostile_stream_runs_nothing_and_asks_for_nothing(visit: Any) -> None:
    seen = visit(hostile_capture(), "<script>window.taken = true</script>")
    for kind in ("text", "reasoning", "refusal", "tools", "other", "errors", "end"):
        seen.mark(kind).hover(force=True)  # another mark may cover it
        assert "window.taken" in seen.detail() or kind == "end"
    seen.page.locator("details summary").click()
    seen.page.wait_for_load_state("networkidle")
    assert seen.page.evaluate("window.taken") is None
    assert seen.page.title() == "<script>window.taken = true</script>: timeline"
    assert seen.page.locator("img, b:not(.detail b), iframe").count() == 0
    assert len(seen.requests) == 1
    assert seen.messages == []


def test_a_program_that_got_onto_the_page_is_not_run(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "out.html"
    html = page("full.sse", read_timelines(full_capture()))
    path.write_text(html.replace("</h1>", "</h1><script>window.taken = true</script>"), encoding="utf-8")
    context = browser.new_context()
    opened = context.new_page()
    opened.goto(path.as_uri())
    assert opened.evaluate("window.taken") is None
    context.close()
