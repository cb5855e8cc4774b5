"""The page around the picture: one file that needs nothing else, and from which nothing is asked of any network."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import resources

from ..capture import Capture
from .document import document
from .drawing import draw
from .lanes import KINDS, lanes_of
from .markup import Markup, element, join
from .moments import Timeline
from .summary import event_table, summary


@cache
def style() -> Markup:
    """The style sheet of pictures and pages, to stand in a `<style>` element."""
    return _resource("page.css")


@cache
def script() -> Markup:
    """The program behind filters and details, to stand in a `<script>` element behind all figures."""
    return _resource("page.js")


def figure(timeline: Timeline) -> Markup:
    """The picture with its filters and a place for details: what a page of one's own embeds."""
    present = {lane.kind for lane in lanes_of(timeline)}
    filters = (
        element(
            "label",
            element("input", type="checkbox", checked=True, data_kind=kind),
            element("span", "", class_=f"swatch {kind}"),
            name,
        )
        for kind, name in KINDS.items()
        if kind in present
    )
    hint = "Point at a mark, or tap it, to see what came."
    return element(
        "figure",
        element("div", *filters, class_="filters", hidden=True),
        element("output", hint, class_="detail", hidden=True),
        element("div", draw(timeline), class_="frame"),
        class_="timeline",
    )


def page(title: str, timelines: Iterable[Timeline], capture: Capture | None = None) -> str:
    """A whole page: each response with its summary, its picture and its events."""
    sections = [
        element("article", summary(timeline, capture), figure(timeline), event_table(timeline))
        for timeline in timelines
    ]
    if len(sections) > 1:
        numbers = (element("h2", f"response {number} of {len(sections)}") for number in range(1, len(sections) + 1))
        sections = [join(pair) for pair in zip(numbers, sections, strict=True)]
    return document(f"{title}: timeline", element("h1", title), *sections, style=style(), script=script())


def _resource(name: str) -> Markup:
    return Markup(resources.files("streamshim.timeline").joinpath(name).read_text(encoding="utf-8"))
