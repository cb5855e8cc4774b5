"""Judges recorded streams, without a network: by the items that can be judged from a stream alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from errno import ENOTDIR
from os import strerror
from pathlib import Path

from ..capture import Capture, read_capture, sidecar_path
from ..wording import counted
from .exchanges import Exchange
from .items import Case, CheckItem, CheckResult, Judgement, conclude
from .judging import failed, passed, trouble
from .plan import all_items
from .reading import Answer
from .requests import Request
from .running import CheckReport

_WHOLE = ("completions.stream", "chat.stream", "responses.stream")
"""The item of each API that says whether an answer came whole."""


def judge_recorded(folder: str | Path) -> CheckReport:
    """Judges every file in and below a folder as a stream; sidecars with times are read where they lie beside one.

    Raises:
        OSError: the folder or a file cannot be read.
        ValueError: there is no file in it, or a sidecar belongs to other bytes.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise NotADirectoryError(ENOTDIR, strerror(ENOTDIR), str(folder))
    exchanges = dict(_read(folder))
    if not exchanges:
        raise ValueError(f"there is no file in {folder}")
    results = [_judged(item, exchanges) for item in all_items("")]
    unread = [name for name, exchange in exchanges.items() if exchange.request.api is None]
    return CheckReport(folder.name, None, results, exchanges, unread=unread)


def _read(folder: Path) -> Iterator[tuple[str, Exchange]]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
    sidecars = {sidecar_path(path) for path in paths}
    for path in paths:
        if path not in sidecars:
            name = path.relative_to(folder).as_posix()
            yield name, recorded(name, read_capture(path))


def recorded(name: str, capture: Capture) -> Exchange:
    """A stream that was captured, as an exchange whose request is not known."""
    capture = capture if capture.scrubbed else capture.scrub()
    cut = len(capture.body) if capture.ended == "interrupted" else None
    unknown = Request(name, None, "", cut=cut, is_live=False)
    exchange = Exchange(unknown, Answer(capture=capture))
    return Exchange(replace(unknown, api=exchange.response.api), exchange.answer)


def _judged(item: CheckItem, exchanges: dict[str, Exchange]) -> CheckResult:
    streams = [exchange for exchange in exchanges.values() if exchange.request.api == item.api]
    if not item.api or not (item.aspects or item.id in _WHOLE):
        return CheckResult(item, "not tried", "it takes more than recorded streams")
    if not streams:
        return CheckResult(item, "not tried", "no stream of this API was recorded")
    if item.aspects:
        return conclude(replace(item, judge=_judge_wire), Case([], streams))
    return conclude(replace(item, judge=_judge_whole), Case(streams, streams))


def _judge_wire(case: Case) -> Judgement:
    return passed(f"nothing is wrong in {counted(len(case.all), 'stream')}")


def _judge_whole(case: Case) -> Judgement:
    """Whether each stream says that it is whole."""
    troubles = {exchange.name: found.detail for exchange in case.own if (found := trouble(exchange))}
    if troubles:
        return failed("; ".join(f"{name}: {detail}" for name, detail in troubles.items()), "wire")
    return passed(f"{counted(len(case.own), 'stream')} came whole")
