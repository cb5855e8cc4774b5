"""The page around the picture: one file that needs nothing else, and from which nothing is asked of any network."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from importlib import resources

from ..capture import Capture
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
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_policy()),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("link", rel="icon", href="data:,"),
        element("title", f"{title}: timeline"),
        element("style", style()),
    )
    body = element("body", element("h1", title), *sections, element("script", script()))
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n"


def _policy() -> str:
    """Nothing may be loaded, and nothing run but our own program: a stream cannot even if it got past the escaping."""
    return f"default-src 'none'; img-src data:; style-src {_hash(style())}; script-src {_hash(script())}"


def _hash(content: str) -> str:
    return f"'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'"


def _resource(name: str) -> Markup:
    return Markup(resources.files("streamshim.timeline").joinpath(name).read_text(encoding="utf-8"))
