"""The report as one page, which needs nothing else: summary, items with their evidence, timelines."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib import resources
from itertools import groupby

from ..timeline import figure, read_timelines
from ..timeline import script as timeline_script
from ..timeline import style as timeline_style
from ..timeline.details import when
from ..timeline.document import document
from ..timeline.markup import Markup, element, join
from .exchanges import Exchange
from .faults import FAULTS, HARMLESS, Sighting
from .items import OUTCOMES, CheckResult, Outcome
from .live_table import SIGNS
from .report_json import excerpt, request_json
from .requests import Request
from .running import CheckReport
from .summary import score_words
from .verdict import Expectation, Score, Verdict, verdict

_FAULT_HEADS = ("fault", "what is seen", "a loop over the SDK's stream", "the SDK's .stream()", "streamshim")
_LONGEST_REQUEST = 3000

MEANINGS: dict[Outcome, str] = {
    "pass": "as documented",
    "repaired": "not as documented, and streamshim reads it right",
    "fail": "lost, wrong or ignored, whoever reads",
    "unsupported": "the server says that it does not have it, or has nothing to show",
    "not tried": "skipped, or something that it needs failed",
}


def report_page(report: CheckReport) -> str:
    """The whole page."""
    judged = verdict(report)
    title = report.model or report.target
    return document(
        f"{title}: streamshim check",
        _head(report, judged),
        _bar(_total(report)),
        _expectations(judged),
        _scores(judged),
        _faults(report, judged),
        _filters(report),
        *_items(report),
        style=_style(),
        script=_script(),
    )


@cache
def _style() -> Markup:
    return join((timeline_style(), _resource("report.css")))


@cache
def _script() -> Markup:
    return join((timeline_script(), _resource("report.js")))


def _resource(name: str) -> Markup:
    return Markup(resources.files("streamshim.check").joinpath(name).read_text(encoding="utf-8"))


# -- summary ----------------------------------------------------------------------------------------------------------


def _head(report: CheckReport, judged: Verdict) -> Markup:
    cost = f"{report.requests} requests, {report.tokens:,} tokens" if report.requests else "recorded streams"
    facts = " · ".join(fact for fact in (report.model and report.target, cost) if fact)
    return element(
        "header",
        element(
            "p",
            element("span", "tier", class_="aside"),
            element("b", judged.tier or "–"),
            class_=f"tier tier-{judged.tier}",
        ),
        element(
            "div",
            element("h1", report.model or report.target),
            element("p", facts, class_="aside"),
            element("p", judged.summary),
        ),
        class_="report",
    )


def _total(report: CheckReport) -> Score:
    return Score(Counter(result.outcome for result in report.results))


def _bar(score: Score) -> Markup:
    """How many items came to which outcome, as one bar, and in words below it."""
    return element(
        "section",
        _segments(score),
        element(
            "p",
            *(
                element(
                    "span", SIGNS[outcome], element("b", f" {score.counts[outcome]} "), outcome, class_=_word(outcome)
                )
                for outcome in OUTCOMES
                if score.counts[outcome]
            ),
            class_="legend",
        ),
        class_="outcomes",
    )


def _segments(score: Score) -> Markup:
    """An SVG: a style sheet may not be written into elements here, and attributes may."""
    total, at, parts = sum(score.counts.values()), 0.0, []
    for outcome in OUTCOMES:
        if score.counts[outcome]:
            width = 100 * score.counts[outcome] / total
            parts.append(element("rect", class_=_word(outcome), x=f"{at:.2f}%", width=f"{width:.2f}%", height="100%"))
            at += width
    return element("svg", *parts, class_="segments", width="100%", role="img", aria_label=score_words(score))


def _word(outcome: Outcome) -> str:
    """The outcome as a class."""
    return outcome.replace(" ", "-")


def _expectations(judged: Verdict) -> Markup:
    cards = (("The official SDK alone", judged.sdk_alone), ("With streamshim", judged.sdk_with_streamshim))
    return element(
        "section",
        *(
            element("div", element("h2", title), element("p", _sentence(words)), class_="card")
            for title, words in cards
        ),
        class_="cards",
    )


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."


def _scores(judged: Verdict) -> Markup:
    rows = (
        element(
            "tr",
            element("td", group),
            element("td", _segments(score), class_="wide"),
            element("td", f"{score.working} of {score.tried}", title=score_words(score)),
        )
        for group, score in judged.scores.items()
    )
    head = element("tr", *(element("th", name, scope="col") for name in ("group", "", "work")))
    return element("table", element("thead", head), element("tbody", *rows), class_="scores")


def _faults(report: CheckReport, judged: Verdict) -> Markup:
    """Every fault that was seen, and what it does."""
    if not report.faults:
        return element("p", "No fault of the wire was seen.", class_="aside")
    breaks = {expected.fault: expected for expected in judged.alone}
    rows = (_fault(fault, breaks.get(fault)) for fault in report.faults)
    head = element("tr", *(element("th", name, scope="col") for name in _FAULT_HEADS))
    table = element("table", element("thead", head), element("tbody", *rows), class_="faults")
    title = f"{len(report.faults)} faults of the wire" if len(report.faults) > 1 else "1 fault of the wire"
    return element("section", element("h2", title), element("div", table, class_="scroll"))


def _fault(id: str, expected: Expectation | None) -> Markup:
    loop = (expected.loop if expected else "") or HARMLESS
    helper = (expected.helper if expected else "") or HARMLESS
    lost, option = FAULTS[id].lost, FAULTS[id].option
    read = f"reads it right with {option}" if option else "it is lost" if lost else "reads it right"
    cells: tuple[tuple[str, str | None], ...] = (
        (id, None),
        (FAULTS[id].seen, None),
        (loop, None if loop == HARMLESS else "hurt"),
        (helper, None if helper == HARMLESS else "hurt"),
        (read, "hurt" if lost and not option else "healed"),
    )
    heads = ("", *_FAULT_HEADS[1:])
    rows = zip(cells, heads, strict=True)
    return element("tr", *(element("td", text, class_=tone, data_head=head or None) for (text, tone), head in rows))


# -- items ------------------------------------------------------------------------------------------------------------


def _filters(report: CheckReport) -> Markup:
    """Shown where programs run."""
    total = _total(report)
    boxes = (
        element(
            "label",
            element("input", type="checkbox", checked=True, data_outcome=outcome),
            element("span", SIGNS[outcome], class_=_word(outcome)),
            f"{outcome} ({total.counts[outcome]})",
            title=MEANINGS[outcome],
        )
        for outcome in OUTCOMES
        if total.counts[outcome]
    )
    groups = dict.fromkeys(result.item.group for result in report.results)
    options = [element("option", "all groups", value=""), *(element("option", group, value=group) for group in groups)]
    return element(
        "form",
        *boxes,
        element("label", "group", element("select", *options)),
        element("output", f"{len(report.results)} items"),
        class_="sift",
        hidden=True,
    )


def _items(report: CheckReport) -> Iterator[Markup]:
    homes = _homes(report)
    for group, results in groupby(report.results, lambda result: result.item.group):
        items = [_item(result, report, homes) for result in results]
        yield element("section", element("h2", group), *items, class_="group", data_group=group)


def _homes(report: CheckReport) -> dict[str, str]:
    """In which item each exchange stands: the first that asked for it, or else that shows it."""
    homes: dict[str, str] = {}
    for result in report.results:
        for request in result.item.requests:
            homes.setdefault(request.name, result.item.id)
    for result in report.results:
        for name in result.exchanges:
            homes.setdefault(name, result.item.id)
    return homes


def _item(result: CheckResult, report: CheckReport, homes: dict[str, str]) -> Markup:
    item = result.item
    sign = element("span", SIGNS[result.outcome], class_=f"sign {_word(result.outcome)}", title=result.outcome)
    name = element("span", element("b", item.title), element("span", item.id, class_="aside"), class_="name")
    heading = element("summary", sign, name, element("span", _told(result), class_="told"))
    terms = (("asks", item.asks), ("must see", item.must_see), ("why", item.why), ("seen", _seen(result)))
    facts = element("dl", *(element("div", element("dt", term), element("dd", text)) for term, text in terms))
    return element(
        "details",
        heading,
        facts,
        *map(_sighting, result.sightings),
        *_evidence(result, report, homes),
        class_="item",
        id=item.id,
        data_outcome=result.outcome,
        data_group=item.group,
    )


def _told(result: CheckResult) -> str:
    return ", ".join(result.faults) or result.detail


def _seen(result: CheckResult) -> str:
    blame = {"wire": "the wire", "server": "the server", "model": "the model, not the wire", None: ""}[result.cause]
    return f"{result.outcome}: {result.detail}" + (f" — to blame: {blame}" if blame else "")


def _sighting(sighting: Sighting) -> Markup:
    times = f" ×{sighting.count}" if sighting.count > 1 else ""
    fault = FAULTS[sighting.fault]
    return element(
        "div",
        element("p", element("b", fault.id + times), element("span", f"{fault.seen}: {sighting.detail}")),
        element("pre", sighting.frame) if sighting.frame else "",
        class_="sighting",
    )


def _evidence(result: CheckResult, report: CheckReport, homes: dict[str, str]) -> Iterator[Markup]:
    """The exchanges that prove it: each stands in one item, and others point there."""
    pointed = []
    for name in result.exchanges:
        if homes[name] == result.item.id:
            yield _exchange(report.exchanges[name])
        else:
            pointed.append(element("a", name, href=f"#exchange-{name}"))
    if pointed:
        links = join(part for link in pointed for part in (" ", link))
        yield element("p", "Seen in:", links, class_="aside pointers")


def _exchange(exchange: Exchange) -> Markup:
    request, answer = exchange.request, exchange.answer
    asked = f"{request.method} {request.path}{request.resource or ''}" if request.is_live else ""
    facts = [
        f"HTTP {answer.status}" if answer.status else "",
        f"{len(exchange.body):,} bytes",
        f"{len(answer.capture.pieces):,} reads" if answer.capture.is_timed else "",
        when(answer.capture.duration, "seconds") if answer.capture.duration is not None else "",
        answer.failure or "",
    ]
    told = " → ".join(filter(None, (asked, " · ".join(filter(None, facts)))))
    parts = [element("p", element("b", exchange.name), " ", told, id=f"exchange-{exchange.name}")]
    if request.body is not None:
        parts.append(_fold("request", element("pre", _request_text(request))))
    if exchange.body:
        parts.append(_fold("answer", element("pre", excerpt(exchange.body))))
    if exchange.is_answered and request.is_streamed:
        parts.extend(
            _fold("timeline", figure(timeline))
            for timeline in read_timelines(answer.capture, tool_markup=request.has_tools)
        )
    return element("div", *parts, class_="exchange")


def _request_text(request: Request) -> str:
    text = json.dumps(request_json(request)["body"], indent=2, ensure_ascii=False)
    return text if len(text) <= _LONGEST_REQUEST else f"{text[:_LONGEST_REQUEST]}\n… {len(text):,} characters in all"


def _fold(title: str, *content: object) -> Markup:
    return element("details", element("summary", title), *content, class_="fold")
