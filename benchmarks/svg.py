"""Two kinds of chart as SVG: bars and lines on logarithmic scales. They follow the reader's light or dark scheme."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from math import log10
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_WIDTH = 760
_HEAD = 64
_STYLE = """\
svg { --surface: #ffffff; --ink: #1f2328; --muted: #59636e; --grid: #e4e8ec; --own: #2563eb; --peer: #a3adb8 }
@media (prefers-color-scheme: dark) {
  svg { --surface: #16181c; --ink: #e6e8eb; --muted: #9aa4af; --grid: #2c3137; --own: #6aa2ff; --peer: #68727d }
}
text { font: 13px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; fill: var(--ink) }
.surface { fill: var(--surface) }
.title { font-size: 15px; font-weight: 600 }
.muted { fill: var(--muted); font-size: 12px }
.value { font-variant-numeric: tabular-nums }
.own-text { fill: var(--own); font-weight: 600 }
.grid { stroke: var(--grid) }
.origin { stroke: var(--muted) }
.bar { fill: var(--peer) }
.line { fill: none; stroke: var(--peer); stroke-width: 2; stroke-linejoin: round }
.point { fill: var(--peer); stroke: var(--surface); stroke-width: 1.5 }
.leader { fill: none; stroke: var(--muted); stroke-width: 1; stroke-dasharray: 2 3 }
.spread { stroke: var(--ink); stroke-width: 1.5 }
.bar.own, .point.own { fill: var(--own) }
.line.own { stroke: var(--own); stroke-width: 3 }"""


@dataclass(frozen=True, slots=True)
class Bar:
    """A row of a bar chart.

    Attributes:
        label: of the row.
        value: where the bar ends; None where there is none.
        least: of the spread.
        greatest: of the spread.
        note: what is written at the bar's end, or instead of a bar.
        is_own: whether it is set off from the others.
    """

    label: str
    value: float | None
    least: float
    greatest: float
    note: str
    is_own: bool


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a line chart.

    Attributes:
        label: at its end.
        values: one for each step, as far as there are any; at least one.
        is_own: whether it is set off from the others.
    """

    label: str
    values: Sequence[float]
    is_own: bool


class LogScale:
    """A logarithmic scale from a round number to a round number."""

    def __init__(self, values: Sequence[float], start: float, end: float) -> None:
        """From `start` to `end`, in pixels, just wide enough for all values."""
        least, greatest = min(values), max(values)
        self.ticks = _round_numbers(least, greatest)
        self._low, self._high = log10(self.ticks[0]), log10(self.ticks[-1])
        self._start, self._length = start, end - start

    def __call__(self, value: float) -> float:
        """Where a value stands, in pixels."""
        share = (log10(value) - self._low) / (self._high - self._low)
        return round(self._start + share * self._length, 1)


def bar_chart(title: str, note: str, origin: str, bars: Sequence[Bar]) -> str:
    """Bars from 1, where `origin` stands, to the right for what is more and to the left for what is less."""
    left, right, row = 170, _WIDTH - 90, 26
    top, bottom = _HEAD + 22, _HEAD + 22 + row * len(bars)
    scale = LogScale([1, *(end for bar in bars if bar.value for end in (bar.least, bar.greatest))], left, right)
    parts = [_rule("origin" if tick == 1 else "grid", scale(tick), top, scale(tick), bottom) for tick in scale.ticks]
    parts += [_text(scale(tick), bottom + 18, f"{tick:g}×", "muted", "middle") for tick in scale.ticks]
    parts.append(_text(scale(1), top - 8, origin, "muted", "middle"))
    for number, bar in enumerate(bars):
        parts += _bar(bar, scale, left, top + row * number, row)
    return _chart(title, note, bottom + 34, parts)


def line_chart(title: str, note: str, steps: Sequence[str], lines: Sequence[Line], remark: str = "") -> str:
    """A line over steps of equal width, its label at the right; one that ends early is led there by dots.

    The remark stands at the foot.
    """
    left, right, top, bottom = 56, _WIDTH - 220, _HEAD + 10, _HEAD + 330
    scale = LogScale([value for line in lines for value in line.values], bottom, top)
    places = [round(left + 20 + (right - left - 40) * step / (len(steps) - 1), 1) for step in range(len(steps))]
    parts = [_rule("grid", left, scale(tick), right, scale(tick)) for tick in scale.ticks]
    parts += [_text(left - 8, scale(tick) + 4, f"{tick:g}", "muted", "end") for tick in scale.ticks]
    parts += [_text(place, bottom + 20, step, "muted", "middle") for place, step in zip(places, steps, strict=True)]
    drawn = sorted(lines, key=lambda line: (-line.values[-1], line.label))
    heights = _apart([scale(line.values[-1]) for line in drawn], 17, top, bottom)
    for line, height in zip(drawn, heights, strict=True):
        parts += _line(line, scale, places, right, height)
    parts.append(_text(left, bottom + 44, remark, "muted"))
    return _chart(title, note, bottom + (60 if remark else 36), parts)


def _bar(bar: Bar, scale: LogScale, left: float, y: float, row: float) -> Iterable[str]:
    own, middle = " own" if bar.is_own else "", y + row / 2
    yield _text(left - 12, middle + 4, bar.label, "own-text" if bar.is_own else "label", "end")
    if bar.value is None:
        yield _text(scale(1) + 8, middle + 4, bar.note, "muted")
        return
    start, end = sorted((scale(1), scale(bar.value)))
    width = round(max(end - start, 1), 1)
    yield f'<rect class="bar{own}" x="{start}" y="{y + 6}" width="{width}" height="{row - 12}" rx="2"/>'
    least, greatest = scale(bar.least), scale(bar.greatest)
    yield _rule("spread", least, middle, greatest, middle)
    yield _text(max(end, greatest, scale(1)) + 8, middle + 4, bar.note, "value")


def _line(line: Line, scale: LogScale, places: Sequence[float], right: float, height: float) -> Iterable[str]:
    own = " own" if line.is_own else ""
    points = [(place, scale(value)) for place, value in zip(places, line.values, strict=False)]
    path = " ".join(f"{x},{y}" for x, y in points)
    x, y = points[-1]
    yield f'<polyline class="leader" points="{x + 6},{y} {right},{y} {right + 16},{height}"/>'
    yield f'<polyline class="line{own}" points="{path}"/>'
    yield from (f'<circle class="point{own}" cx="{x}" cy="{y}" r="4"/>' for x, y in points)
    yield _text(right + 22, height + 4, line.label, "own-text" if line.is_own else "label")


def _chart(title: str, note: str, height: float, parts: Iterable[str]) -> str:
    size = f'viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="title note">',
            f"<style>\n{_STYLE}\n</style>",
            f'<title id="title">{escape(title)}</title>',
            f'<desc id="note">{escape(note)}</desc>',
            f'<rect class="surface" width="{_WIDTH}" height="{height}" rx="6"/>',
            _text(20, 28, title, "title"),
            _text(20, 48, note, "muted"),
            *parts,
            "</svg>\n",
        ]
    )


def _rule(style: str, x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line class="{style}" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>'


def _text(x: float, y: float, words: str, style: str, anchor: str = "start") -> str:
    return f'<text class="{style}" x="{x}" y="{y}" text-anchor="{anchor}">{escape(words)}</text>'


def _round_numbers(least: float, greatest: float) -> list[float]:
    """1, 2, 5, 10 … from the last that is not above the least value to the first that is not below the greatest."""
    first = _decade(least)
    numbers: list[float] = []
    for exponent in count(first):
        for digit in (1, 2, 5):
            number = digit * 10.0**exponent
            if number <= least:
                numbers = [number]
            else:
                numbers.append(number)
            if number >= greatest and len(numbers) > 1:
                return numbers
    raise AssertionError


def _decade(value: float) -> int:
    return int(log10(value) // 1)


def _apart(heights: Sequence[float], distance: float, top: float, bottom: float) -> list[float]:
    """The heights, from the top down, moved so that no two are nearer than the distance."""
    found: list[float] = []
    for height in heights:
        found.append(max(height, found[-1] + distance if found else top))
    overhang = max(0.0, found[-1] - bottom) if found else 0.0
    for place in range(len(found) - 1, -1, -1):
        limit = found[place + 1] - distance if place + 1 < len(found) else found[place] - overhang
        found[place] = min(found[place], limit)
    return found
