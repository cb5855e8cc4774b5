"""The report as JSON: for programs, and to be set beside an earlier one."""

from __future__ import annotations

from typing import Any

from ..quirks import QUIRKS
from .exchanges import Exchange
from .faults import FAULTS, Sighting
from .items import CheckResult
from .reading import Answer
from .requests import Request
from .running import CheckReport
from .verdict import verdict

VERSION = 1
"""Of the format: it is raised when a member changes its meaning or goes; new members may come in any release."""

LONGEST_EXCERPT = 2000
"""Characters of an answer's beginning, and of its end."""


def report_json(report: CheckReport) -> dict[str, Any]:
    """The report as JSON values; see docs/check.md for what each member means."""
    from streamshim import __version__

    judged = verdict(report)
    return {
        "version": VERSION,
        "streamshim": __version__,
        "target": report.target,
        "model": report.model,
        "requests": report.requests,
        "tokens": report.tokens,
        "verdict": {
            "tier": judged.tier,
            "summary": judged.summary,
            "sdk_alone": judged.sdk_alone,
            "sdk_with_streamshim": judged.sdk_with_streamshim,
            "breaks_sdk": [
                {"fault": one.fault, "loop": one.loop, "helper": one.helper, "lost": one.is_lost}
                for one in judged.alone
            ],
            "lost": list(judged.lost),
            "scores": {
                group: {"working": score.working, "tried": score.tried, **dict(sorted(score.counts.items()))}
                for group, score in judged.scores.items()
            },
        },
        "items": [_item(result) for result in report.results],
        "unread": list(report.unread),
        "exchanges": {name: exchange_json(exchange) for name, exchange in report.exchanges.items()},
    }


def _item(result: CheckResult) -> dict[str, Any]:
    item = result.item
    return {
        "id": item.id,
        "title": item.title,
        "group": item.group,
        "tier": item.tier,
        "asks": item.asks,
        "must_see": item.must_see,
        "why": item.why,
        "requests": [request.name for request in item.requests],
        "max_tokens": item.max_tokens,
        "outcome": result.outcome,
        "detail": result.detail,
        "cause": result.cause,
        "quirks": [fault for fault in result.faults if fault in QUIRKS],
        "breaches": [fault for fault in result.faults if fault not in QUIRKS],
        "sightings": [_sighting(sighting) for sighting in result.sightings],
        "exchanges": list(result.exchanges),
    }


def _sighting(sighting: Sighting) -> dict[str, Any]:
    fault = FAULTS[sighting.fault]
    return {
        "fault": fault.id,
        "aspect": fault.aspect,
        "seen": fault.seen,
        "detail": sighting.detail,
        "count": sighting.count,
        "frame": sighting.frame,
    }


def exchange_json(exchange: Exchange) -> dict[str, Any]:
    """A request and its answer, shortened."""
    request, answer = exchange.request, exchange.answer
    return {
        "request": request_json(request) if request.is_live else None,
        "answer": {
            "status": answer.status,
            "content_type": answer.content_type,
            "failure": answer.failure,
            "bytes": len(exchange.body),
            "reads": _reads(answer),
            "seconds": answer.capture.duration,
            "first_byte": answer.capture.pieces[0].time if answer.capture.pieces else None,
            "body": excerpt(exchange.body),
        },
    }


def request_json(request: Request) -> dict[str, Any]:
    """What is asked; ids of other answers stand as words."""
    return {
        "method": request.method,
        "path": request.path + (request.resource or ""),
        "body": request.body,
    }


def excerpt(body: bytes) -> str:
    """The beginning and the end of an answer."""
    text = body.decode("utf-8", "replace")
    if len(text) <= 2 * LONGEST_EXCERPT:
        return text
    left_out = len(text) - 2 * LONGEST_EXCERPT
    return f"{text[:LONGEST_EXCERPT]}\n… {left_out:,} characters left out …\n{text[-LONGEST_EXCERPT:]}"


def _reads(answer: Answer) -> int | None:
    return len(answer.capture.pieces) if answer.capture.is_timed else None
