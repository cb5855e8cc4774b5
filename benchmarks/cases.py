"""The cases: what is fed to whom, in which variants, and what the time is set against."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeAlias

from .argument_texts import long_string, many_values
from .bodies import DELTAS, PIECES, body, long_chat
from .framing import framing_case
from .hostile import hostile_body
from .subjects import ARGUMENT_READERS, STREAM_READERS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .loads import Api, Load
    from .subjects import Subject

Group: TypeAlias = Literal["reading", "short", "growth", "hostile", "gateway", "framing", "arguments", "memory"]
Baseline: TypeAlias = Literal["bare-loop", "split-lines", "parse-once", "streamshim-plain"]

LENGTHS = {"2k": 2_000, "20k": 20_000, "200k": 200_000}
"""Deltas of one stream, where the length is what varies."""

_GATEWAY_DELTAS = 200_000
_SHORT_DELTAS = 20
_SHORT_STREAMS = 100
_LONG_BYTES = 100_000_000
_SHORT_CUTS = ("64KB", "event")
_DECODERS = ("streamshim-plain", "streamshim-fast")
_FRAMERS = (*_DECODERS, "streamshim-stream", "httpx-sse", "sseclient-py", "openai")


@dataclass(frozen=True, slots=True)
class Case:
    """One question, asked in one or several variants.

    Attributes:
        name: as the command line calls it.
        description: what is fed, in a sentence without its full stop.
        group: which table it belongs to.
        loads: what makes the load of each variant.
        api: of the loads.
        subjects: whom it is meant for.
        baseline: what runs before each run of a subject, on the same bytes.
        is_timed: whether time is measured.
        is_weighed: whether memory is measured, in a process of its own.
        cuts_bytes: the variants are ways to cut the same bytes.
        grows: each variant is longer than the one before it: who is too slow for one is not asked the next.
    """

    name: str
    description: str
    group: Group
    loads: Mapping[str, Callable[[], Load]]
    api: Api = "chat"
    subjects: tuple[str, ...] = STREAM_READERS
    baseline: Baseline = "bare-loop"
    is_timed: bool = True
    is_weighed: bool = False
    cuts_bytes: bool = False
    grows: bool = False

    def why_not(self, subject: Subject, variant: str) -> str | None:
        """Why a subject that is meant cannot be asked; None if it can."""
        if self.api not in subject.doors:
            return f"it has no door for {self.api}"
        if subject.takes_payloads and self.cuts_bytes and variant != "event":
            return "it is fed parsed payloads, not bytes, and is measured under “event”"
        return None


def _by_cut(load: Callable[[int | None], Load], cuts: tuple[str, ...] = tuple(PIECES)) -> dict[str, Callable[[], Load]]:
    return {cut: partial(load, PIECES[cut]) for cut in cuts}


def _reading(name: str, description: str, api: Api = "chat") -> Case:
    return Case(name, description, "reading", _by_cut(lambda size: body(name).load(size)), api, cuts_bytes=True)


def _short(name: str, description: str, deltas: int) -> Case:
    def load(size: int | None) -> Load:
        return body("chat", deltas).load(size, streams=_SHORT_STREAMS)

    return Case(name, description, "short", _by_cut(load, _SHORT_CUTS), cuts_bytes=True)


def _growth(name: str, description: str, body_name: str) -> Case:
    def load(deltas: int) -> Load:
        return body(body_name, deltas).load(PIECES["64KB"])

    loads = {variant: partial(load, deltas) for variant, deltas in LENGTHS.items()}
    return Case(name, description, "growth", loads, grows=True)


def _hostile(name: str, description: str) -> Case:
    loads = _by_cut(lambda size: hostile_body(name).load(size), _SHORT_CUTS)
    subjects = ("streamshim-fast",)
    return Case(name, description, "hostile", loads, subjects=subjects, baseline="streamshim-plain", cuts_bytes=True)


def _gateway() -> Case:
    def load(streams: int) -> Load:
        return body("chat", _GATEWAY_DELTAS // streams).load(None, streams=streams, interleaved=True)

    loads = {f"{streams:,}": partial(load, streams) for streams in (1, 100, 10_000)}
    what = "200,000 deltas in as many streams as the variant says, all open at once, an event of each in turn"
    return Case("gateway", what, "gateway", loads, subjects=_DECODERS, is_weighed=True)


def _framing(name: str, description: str, api: Api = "chat") -> Case:
    loads = {"own": lambda: framing_case(name).load()}
    return Case(name, description, "framing", loads, api, _FRAMERS, "split-lines")


def _arguments(name: str, description: str, make: Callable[[int], Load]) -> Case:
    loads = {variant: partial(make, deltas) for variant, deltas in LENGTHS.items()}
    return Case(name, description, "arguments", loads, "arguments", ARGUMENT_READERS, "parse-once", grows=True)


def _memory(name: str, description: str, load: Callable[[], Load], subjects: tuple[str, ...] = STREAM_READERS) -> Case:
    return Case(name, description, "memory", {"peak": load}, subjects=subjects, is_timed=False, is_weighed=True)


_CASES = (
    _reading("chat", f"{DELTAS:,} text deltas on Chat Completions"),
    _reading("chat-obfuscation", "chat with `obfuscation` and `usage: null` in every chunk"),
    _reading("reasoning", "thought in `reasoning_content`, then text"),
    _reading("tool-arguments", f"one tool call, its arguments in {DELTAS:,} deltas"),
    _reading("responses", f"{DELTAS:,} text deltas on Responses, with large first and last events", "responses"),
    _short("short", f"{_SHORT_STREAMS} chat streams of {_SHORT_DELTAS} deltas, one after the other", _SHORT_DELTAS),
    _short("empty", f"{_SHORT_STREAMS} chat streams without any delta: what a stream costs before its first word", 0),
    _growth("growth-text", "chat text in ever more deltas, pieces of 64 KB", "chat"),
    _growth("growth-arguments", "one tool call in ever more deltas, pieces of 64 KB", "tool-arguments"),
    _hostile("hostile-ids", "chat with another id in every chunk"),
    _hostile("hostile-usage", "chat with token counts in every chunk"),
    _hostile("hostile-logprobs", "chat with log probabilities in every chunk"),
    _hostile("hostile-choices", "two choices that take turns"),
    _hostile("hostile-layout", "chat with other blanks and another order of keys in every chunk"),
    _gateway(),
    _framing("data-only", "events of one `data:` line, in reads of 16 KB"),
    _framing("named-event", "events of an `event:` and a `data:` line, in reads of 16 KB", "responses"),
    _framing("multibyte", "text of two to four bytes a character, in reads of 16 KB"),
    _framing("heartbeat", "four comments before every event, each line a piece"),
    _framing("idle-stream", "a comment that grows by a byte a piece, 20,000 times, before the answer begins"),
    _framing("invalid-line-drip", "a line of 1 MB that can be no field, in pieces of 64 bytes"),
    _framing("huge-line-drip", "one `data:` line of 10 MB, in pieces of 1 KB"),
    _framing("small-chunk", "chat in pieces of 1 to 15 bytes"),
    _framing("large-multiline-data", "pretty-printed JSON, 1,800 `data:` lines an event, in reads of 16 KB"),
    _arguments("arguments-long-string", "a tool call's arguments: one string in ever more deltas", long_string),
    _arguments("arguments-many-values", "a tool call's arguments: ever more small values", many_values),
    _memory("memory-chat", "chat text of 20,000 deltas", lambda: body("chat", LENGTHS["20k"]).load(PIECES["64KB"])),
    _memory(
        "memory-100MB",
        "a chat stream of 100 MB, collected and not",
        lambda: long_chat(_LONG_BYTES).load(PIECES["64KB"]),
        ("streamshim-fast", "streamshim-uncollected"),
    ),
)
CASES = {case.name: case for case in _CASES}
