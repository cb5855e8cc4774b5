"""Streams whose cost lies in the framing: how the bytes are cut, and what stands between the events.

The names follow the benchmark of eventsource-parser. Every case holds a whole stream, so that its text can be checked.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from .bodies import DONE, Body, ChatChunks, JsonObject, body, cut
from .loads import Api, Load, Said
from .prose import tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_READ = 16 * 1024
_DRIP = 1024
_HUGE_LINE = 10 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class FramingCase:
    """A stream, cut as the case says.

    Attributes:
        name: as the command line calls it.
        pieces: what the network delivers, in order.
        text: the deltas of the answer, joined.
        deltas: how many they are.
        api: the wire.
    """

    name: str
    pieces: tuple[bytes, ...]
    text: str
    deltas: int
    api: Api = "chat"

    @property
    def data(self) -> bytes:
        """All pieces in one."""
        return b"".join(self.pieces)

    def load(self) -> Load:
        """The case as something that a subject is fed."""
        return Load(self.api, self.pieces, Said(self.text), self.deltas)


def framing_cases() -> dict[str, FramingCase]:
    """All cases by name."""
    return {name: framing_case(name) for name in MAKERS}


@cache
def framing_case(name: str) -> FramingCase:
    """A case by its name, made once."""
    return MAKERS[name]()


def data_only() -> FramingCase:
    """Events of one `data:` line, in reads of 16 KB."""
    return _of_body("data-only", body("chat"))


def named_event() -> FramingCase:
    """Events of an `event:` and a `data:` line, in reads of 16 KB."""
    return _of_body("named-event", body("responses"))


def multibyte() -> FramingCase:
    """Text of two to four bytes a character; the reads of 16 KB cut characters as well."""
    words = ("日本語", "キャッシュ", "записи", " 데이터", "🎉✅", "é", " naïve", "ελληνικά")
    pieces = random.Random(21).choices(words, k=4000)
    return _case("multibyte", cut(b"".join(_chat_stream(pieces)), _READ), pieces)


def heartbeat() -> FramingCase:
    """Four comments before every event, each line a piece of its own."""
    pieces = tokens(1000, seed=22)
    network = [piece for event in _chat_stream(pieces) for piece in (*[b": keep-alive\n"] * 4, event)]
    return _case("heartbeat", network, pieces)


def idle_stream() -> FramingCase:
    """A comment that grows by one byte a piece and ends only when the answer begins."""
    pieces = tokens(20, seed=23)
    return _case("idle-stream", [*[b":"] * 20_000, b"\n", *_chat_stream(pieces)], pieces)


def invalid_line_drip() -> FramingCase:
    """A line of 1 MB that can never be a field, in pieces of 64 bytes, then an answer."""
    pieces = tokens(20, seed=24)
    hopeless = cut(b"never a field " * 75_000, 64)
    return _case("invalid-line-drip", [*hopeless, b"\n", *_chat_stream(pieces)], pieces)


def huge_line_drip() -> FramingCase:
    """One `data:` line of 10 MB, in pieces of 1 KB."""
    text = "".join(tokens(5000, seed=25))
    text *= _HUGE_LINE // len(text.encode()) + 1
    return _case("huge-line-drip", cut(b"".join(_chat_stream([text])), _DRIP), [text])


def small_chunk() -> FramingCase:
    """Chat events in pieces of 1 to 15 bytes."""
    pieces = tokens(500, seed=26)
    data = b"".join(_chat_stream(pieces))
    return _case("small-chunk", _random_pieces(data, longest=15), pieces)


def large_multiline_data() -> FramingCase:
    """Pretty-printed JSON, a `data:` line for each of its lines: 20 events of 1,800 lines, in reads of 16 KB."""
    pieces = tokens(20 * 300, seed=27)
    groups = [pieces[start : start + 300] for start in range(0, len(pieces), 300)]
    events = [*map(_pretty_event, groups), *_chat_stream([])]
    return _case("large-multiline-data", cut(b"".join(events), _READ), ["".join(group) for group in groups])


MAKERS: dict[str, Callable[[], FramingCase]] = {
    "data-only": data_only,
    "named-event": named_event,
    "multibyte": multibyte,
    "heartbeat": heartbeat,
    "idle-stream": idle_stream,
    "invalid-line-drip": invalid_line_drip,
    "huge-line-drip": huge_line_drip,
    "small-chunk": small_chunk,
    "large-multiline-data": large_multiline_data,
}


def _case(name: str, pieces: Iterable[bytes], deltas: list[str]) -> FramingCase:
    return FramingCase(name, tuple(pieces), "".join(deltas), len(deltas))


def _of_body(name: str, whole: Body) -> FramingCase:
    return FramingCase(name, tuple(cut(whole.data, _READ)), whole.text, whole.deltas, whole.api)


def _chat_stream(pieces: Iterable[str]) -> Iterator[bytes]:
    chunks = ChatChunks(seed=28)
    for piece in pieces:
        yield chunks.delta({"content": piece})
    yield chunks.delta({}, finish_reason="stop")
    yield DONE


def _pretty_event(pieces: list[str]) -> bytes:
    scores: JsonObject = {"logprob": -0.25, "bytes": None, "top_logprobs": []}
    entries = [{"token": piece, **scores} for piece in pieces]
    choice: JsonObject = {"index": 0, "delta": {"content": "".join(pieces)}, "logprobs": {"content": entries}}
    lines = json.dumps({"id": "chatcmpl-pretty", "choices": [choice]}, ensure_ascii=False, indent=2).split("\n")
    return ("".join(f"data: {line}\n" for line in lines) + "\n").encode()


def _random_pieces(data: bytes, longest: int) -> Iterator[bytes]:
    pick = random.Random(29)
    start = 0
    while start < len(data):
        size = 1 + int(pick.random() * longest)
        yield data[start : start + size]
        start += size
