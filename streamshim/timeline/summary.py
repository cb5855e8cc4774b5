"""What a response was, in figures and tables, beside its picture."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..capture import Capture
from ..events import ErrorReport, Event, Finish, Repair, StreamStart, UsageReport
from ..wording import VERDICTS, error_facts, finish_words, token_counts
from .details import describe, when
from .markup import Markup, element
from .moments import Timeline

MOST_ROWS = 2000
"""Of the table of all events: a page of more is slow to open on a phone."""


def summary(timeline: Timeline, capture: Capture | None = None) -> Markup:
    """Status, figures, errors and repairs; `capture` tells what is known of the recording."""
    parts = (_verdict(timeline), _figures(timeline, capture), _errors(timeline), _repairs(timeline))
    return element("section", *parts, class_="summary")


def event_table(timeline: Timeline) -> Markup:
    """Every event in a line, for those who read or search rather than look."""
    rows = [
        (when(moment.at, timeline.unit), moment.event.type, describe(moment.event))
        for moment in timeline.moments[:MOST_ROWS]
    ]
    left_out = len(timeline.moments) - len(rows)
    title = f"the first {MOST_ROWS:,} events" if left_out else f"all {len(rows):,} events"
    rest = element("p", f"{left_out:,} more: streamshim events shows them all.", class_="aside") if left_out else ""
    table = _table(("when", "event", "what it says"), rows)
    return element("details", element("summary", title), table, rest, class_="events")


def _verdict(timeline: Timeline) -> Markup:
    end = timeline.stream_end
    status = end.status if end else "open"
    meaning = VERDICTS[end.status] if end else "it runs still"
    return element(
        "p", element("strong", status, class_=f"status {status}"), " ", element("span", meaning, class_="aside")
    )


def _figures(timeline: Timeline, capture: Capture | None) -> Markup:
    terms = (
        element("div", element("dt", name), element("dd", value))
        for name, value in _facts(timeline, capture)
        if value is not None
    )
    return element("dl", *terms)


def _facts(timeline: Timeline, capture: Capture | None) -> Iterator[tuple[str, str | None]]:
    events = [moment.event for moment in timeline.moments]
    start = next((event for event in events if isinstance(event, StreamStart)), None)
    usage = next((event.usage for event in events if isinstance(event, UsageReport)), None)
    finishes = [finish_words(event) for event in events if isinstance(event, Finish)]
    end = timeline.stream_end
    yield "finish", ", ".join(finishes) or None
    yield "model", (end.model if end else None) or (start.model if start else None)
    yield "wire", start.api if start else None
    yield "response", (end.response_id if end else None) or (start.response_id if start else None)
    yield "tokens", (token_counts(usage) or None) if usage else None
    yield "text", _characters(events, "text_delta")
    yield "reasoning", _characters(events, "reasoning_delta")
    calls = [event for event in events if event.type == "tool_call_start"]
    yield "tool calls", str(len(calls)) if calls else None
    yield "events", f"{len(events):,}"
    if timeline.reads:
        yield "bytes", f"{sum(read.size for read in timeline.reads):,}"
    yield from _times(timeline)
    if capture is not None and capture.ended == "interrupted":
        yield "recording", "interrupted: more may have come"


def _times(timeline: Timeline) -> Iterator[tuple[str, str | None]]:
    if timeline.unit != "seconds":
        yield "times", "not recorded: the picture counts bytes"
        return
    if timeline.reads:
        yield "reads", f"{len(timeline.reads):,}"
        yield "first byte", when(timeline.reads[0].at - timeline.start, "seconds")
    thought, text = timeline.first("reasoning_delta"), timeline.first("text_delta")
    yield "first thought", when(thought, "seconds") if thought is not None else None
    yield "first text", when(text, "seconds") if text is not None else None
    yield "duration", when(timeline.end - timeline.start, "seconds")
    silences = [end - start for start, end in timeline.silences()]
    yield "longest silence", when(max(silences), "seconds") if silences else None


def _characters(events: Iterable[Event], type: str) -> str | None:
    lengths = [len(getattr(event, "delta", "")) for event in events if event.type == type]
    deltas = f"{len(lengths):,} delta" + ("" if len(lengths) == 1 else "s")
    return f"{sum(lengths):,} characters in {deltas}" if lengths else None


def _errors(timeline: Timeline) -> Markup:
    errors = [moment.event.error for moment in timeline.moments if isinstance(moment.event, ErrorReport)]
    lines = (element("p", " · ".join([error.message, *error_facts(error)]), class_="error") for error in errors)
    return element("div", *lines)


def _repairs(timeline: Timeline) -> Markup:
    end = timeline.stream_end
    if end is None or not end.repairs:
        return element("p", "nothing had to be repaired", class_="aside")
    details: dict[str, str] = {}
    for moment in timeline.moments:
        if isinstance(moment.event, Repair):
            details.setdefault(moment.event.quirk, moment.event.detail)
    rows = [(quirk, f"×{count:,}", details.get(quirk, "")) for quirk, count in end.repairs.items()]
    return _table(("repaired", "", "what it was"), rows, class_="repairs")


def _table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]], **attributes: str) -> Markup:
    head = element("tr", *(element("th", name, scope="col") for name in heads))
    body = (element("tr", *(element("td", cell) for cell in row)) for row in rows)
    table = element("table", element("thead", head), element("tbody", *body), **attributes)
    return element("div", table, class_="scroll")
