"""A timeline as an SVG fragment: lanes under one axis, to be put into any page that has `style()`.

Across, places are percentages, so that the picture is as wide as the page; down, they are pixels, so that letters and
marks are of the same size on every screen.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from .details import LONGEST, shortened, when
from .lanes import Lane, Mark, lanes_of
from .markup import Markup, element, join
from .moments import Timeline

COLUMNS = 420
"""Marks of one lane that are closer than one of so many columns are drawn as one."""

_HEAD = 44
"""The height of the axis and of the line for silences, in pixels."""
_LABEL = 18
_TRACK = {"wire": 26, "reasoning": 34, "text": 34, "refusal": 34, "tools": 30, "media": 30}
_LOW_TRACK = 18
_GAP = 10
_SHORTEST_BAR = 4
_BAR_WIDTH = 3
_LABELLED_SILENCE = 0.07
"""A silence that takes less of the width has no room for its length."""
_TICKS = 6


@dataclass(slots=True)
class _Column:
    """Marks that are drawn as one."""

    share: float
    size: int
    detail: str
    is_bad: bool


def draw(timeline: Timeline) -> Markup:
    """The picture: an `<svg>` element. `script()` lets people filter its lanes and ask for details."""
    lanes = lanes_of(timeline)
    top = _HEAD
    groups = []
    for lane in lanes:
        groups.append(_lane(lane, timeline, top))
        top += _height(lane)
    return element(
        "svg",
        _axis(timeline),
        _silences(timeline),
        element("line", class_="cursor", x1="0", x2="0", y1=_HEAD - 18, y2="100%"),
        *groups,
        class_="picture",
        width="100%",
        height=top,
        data_head=_HEAD,
        role="img",
        tabindex="0",
        aria_label=f"{len(lanes)} lanes of events over time; the arrow keys go from mark to mark",
    )


def percent(share: float) -> str:
    """A place across the picture."""
    return f"{100 * share:.3f}".rstrip("0").rstrip(".") + "%"


def _height(lane: Lane) -> int:
    return _LABEL + _TRACK.get(lane.kind, _LOW_TRACK) + _GAP


def _axis(timeline: Timeline) -> Markup:
    step = _step(timeline.extent / _TICKS)
    parts = []
    for number in range(int(timeline.extent / step + 1e-9) + 1):
        share = number * step / timeline.extent
        anchor = "start" if number == 0 else "end" if share > 0.96 else "middle"
        label = _tick(number * step, step, timeline)
        parts.append(element("line", class_="grid", x1=percent(share), x2=percent(share), y1="20", y2="100%"))
        parts.append(element("text", label, class_="tick", x=percent(share), y="13", text_anchor=anchor))
    return element("g", *parts, class_="axis")


def _step(least: float) -> float:
    """The next round number: 1, 2 or 5 and zeros."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= least * 0.999)


def _tick(distance: float, step: float, timeline: Timeline) -> str:
    if timeline.unit == "bytes":
        return f"{timeline.start + distance:,.0f}" + ("" if distance else " bytes")
    return f"{timeline.start + distance:.{max(0, -math.floor(math.log10(step)))}f} s"


def _silences(timeline: Timeline) -> Markup:
    parts = []
    for start, end in timeline.silences():
        left, right = timeline.share(start), timeline.share(end)
        parts.append(
            element("rect", class_="silence", x=percent(left), width=percent(right - left), y="22", height="100%")
        )
        if right - left >= _LABELLED_SILENCE:
            label = f"{end - start:.3g} s"
            parts.append(
                element("text", label, class_="pause", x=percent((left + right) / 2), y="35", text_anchor="middle")
            )
    return element("g", *parts, class_="silences")


def _lane(lane: Lane, timeline: Timeline, top: int) -> Markup:
    track = _TRACK.get(lane.kind, _LOW_TRACK)
    columns = list(_columns(lane.marks, timeline))
    is_bars = lane.kind in _TRACK
    largest = max((column.size for column in columns), default=0)
    marks: Iterable[Markup] = (
        _bar(column, largest, track) if is_bars and column.size else _sign(column, lane, track) for column in columns
    )
    return element(
        "g",
        element("text", shortened(lane.label, 48), class_="label", x="0", y=_LABEL - 5),
        element("text", shortened(lane.note, 64), class_="note", x="100%", y=_LABEL - 5, text_anchor="end"),
        element("rect", class_="track", x="0", width="100%", y=_LABEL, height=track, rx="3"),
        _spans(lane, timeline, track),
        join(marks),
        class_=f"lane {lane.kind}" + (" bad" if lane.is_bad else ""),
        transform=f"translate(0 {top})",
        data_kind=lane.kind,
        data_label=lane.label,
        data_height=_height(lane),
    )


def _spans(lane: Lane, timeline: Timeline, track: int) -> Markup:
    """From where to where parts were open."""
    parts = []
    for start, end in lane.spans.values():
        left, right = timeline.share(start), timeline.share(timeline.end if end is None else end)
        width = percent(max(right - left, 0.003))
        parts.append(
            element("rect", class_="span", x=percent(left), width=width, y=_LABEL + 1, height=track - 2, rx="3")
        )
    return join(parts)


def _bar(column: _Column, largest: int, track: int) -> Markup:
    """By its height how much came: by the root, so that single characters are seen beside whole paragraphs."""
    height = _SHORTEST_BAR + (track - _SHORTEST_BAR) * math.sqrt(column.size / largest)
    return element(
        "rect",
        class_="mark bar" + (" bad" if column.is_bad else ""),
        x=percent(column.share * (1 - 1 / COLUMNS)),
        width=_BAR_WIDTH,
        y=f"{_LABEL + track - height:.1f}",
        height=f"{height:.1f}",
        rx="1",
        data_detail=column.detail,
    )


def _sign(column: _Column, lane: Lane, track: int) -> Markup:
    """What has no size: a diamond for a repair, a dot for everything else."""
    about = {"class_": "mark sign" + (" bad" if column.is_bad else ""), "data_detail": column.detail}
    across, centre = percent(column.share), f"{_LABEL + track / 2:g}"
    if lane.kind == "repairs":
        diamond = element("path", d="M0-6 6 0 0 6-6 0z", **about)
        return element("svg", diamond, x=across, y=centre, overflow="visible")
    return element("circle", cx=across, cy=centre, r="5", **about)


def _columns(marks: list[Mark], timeline: Timeline) -> Iterator[_Column]:
    """Marks that are too close to be told apart, as one; bad ones stay alone with their like."""

    def place(mark: Mark) -> tuple[int, bool, bool]:
        return int(timeline.share(mark.at) * (COLUMNS - 1)), mark.is_bad, mark.size == 0

    for _, group in groupby(marks, place):
        together = list(group)
        first, last = together[0], together[-1]
        size = sum(mark.size for mark in together)
        moment = when(first.at, timeline.unit)
        if last.at != first.at:
            moment += f" to {when(last.at, timeline.unit)}"
        heading = moment + (f" · {len(together):,} together" if len(together) > 1 else "")
        yield _Column(timeline.share(first.at), size, f"{heading}\n{_details(together)}", first.is_bad)


def _details(marks: list[Mark]) -> str:
    """What they say: pieces of a text joined, sentences in lines of their own."""
    texts = []
    length = 0
    for mark in marks:
        texts.append(mark.detail)
        length += len(mark.detail)
        if length > LONGEST:
            break
    separator = "" if marks[0].size and not marks[0].detail.startswith("a read of") else "\n"
    return shortened(separator.join(texts))
