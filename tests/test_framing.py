"""Bytes to frames: every body whole, byte by byte, and in odd pieces, always with the same frames."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from streamshim.framing.json_body import JsonBody
from streamshim.framing.sse import Frame, Framer, Notice
from streamshim.testing import cuts

LIMIT = 1000
Told = tuple[bytes | str | None, bytes | None]


def frames(pieces: list[bytes], limit: int = LIMIT) -> tuple[list[Told], Framer]:
    """Frames as (event line, data), notices as (quirk, None)."""
    framer = Framer(limit)

    def told(frames: Iterator[Frame]) -> list[Told]:
        return [(frame.quirk, None) if isinstance(frame, Notice) else (framer.event, frame) for frame in frames]

    return [frame for piece in pieces for frame in told(framer.feed(piece))] + told(framer.close()), framer


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"data: 1\n\ndata:2\n\n", [(None, b" 1"), (None, b"2")]),
        (b"data: 1\r\n\r\ndata: 2\r\r", [(None, b" 1"), (None, b" 2")]),
        (b"\xef\xbb\xbfdata: 1\n\n", [(None, b" 1")]),
        (b"event: a\ndata: 1\n\ndata: 2\nevent: b\n\n", [(b"event: a", b" 1"), (b"event: b", b" 2")]),
        (b"event: lost\n\ndata: 1\n\n", [(None, b" 1")]),
        (b": c\nid: 7\nretry: 1\nmeta: x\nword\ndata: 1\n\n", [(None, b" 1")]),
        (b"data: 1\n \t\ndata: 2", [(None, b"1"), (None, b"2")]),
        (b'data: {\ndata: "a": 1}\n\n', [(None, b'{\n"a": 1}')]),
        (b"data: 1\ndata: 2\n\n", [("single-line-feed", None), (None, b" 1"), (None, b" 2")]),
        (b"data: a\ndata: b\n\n", [(None, b"a\nb")]),
        (b"data: \xe2\x80\xa8\xc2\x85\n\n", [(None, b" \xe2\x80\xa8\xc2\x85")]),
        (b"[DONE]\n", [("done-form", None), (None, b"[DONE]")]),
        (b'error: {"e":1}\n\n', [("error-field", None), (b"event:error", b' {"e":1}')]),
        (b'{"a":1}\n{"b":2}', [(None, b'{"a":1}'), (None, b'{"b":2}')]),
        (b'\n [ {"a":[1]},\n{"b":"]"} , 7]', [(None, b'{"a":[1]}'), (None, b'{"b":"]"}')]),
        (b'{"a":1}data: 2\n\n', [(None, b'{"a":1}'), (None, b" 2")]),
        (b'data: 1\n\n{"e":1}\ndata: 2\n\n', [(None, b" 1"), (None, b'{"e":1}'), (None, b" 2")]),
        (b'data: 1\n{"e":1}\n', [(None, b"1"), (None, b'{"e":1}')]),
        (b'{"a":1},\t{"b":2} data: 3\n\n', [(None, b'{"a":1}'), (None, b'{"b":2}'), (None, b" 3")]),
        (b"{}\tdata", [(None, b"{}"), (None, b"")]),
        (b"{oops\ndata: 1\n\n", [(None, b"{oops\n"), (None, b" 1")]),
        (b'{"unclosed\ndata: 1\n\n', [(None, b'{"unclosed\n'), (None, b" 1")]),
        (b"", []),
        (b"\n\n\r\n", []),
    ],
)
def test_body_gives_these_frames_in_every_cut(body: bytes, expected: list[Told]) -> None:
    for pieces in cuts(body, sizes=(2, 5)):
        assert frames(pieces)[0] == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"data: " + b"x" * 50 + b"\n\ndata: 1\n\n", [("frame-too-long", None), (None, b" 1")]),
        (b"data: xxxx\n" * 9 + b"\ndata: 1\n\n", [("frame-too-long", None), (None, b" 1")]),
        (b'{"a":"' + b"x" * 50 + b'"}\ndata: 1\n\n', [("frame-too-long", None), (None, b" 1")]),
        (b'{"a":"' + b"x" * 50, [("frame-too-long", None)]),
    ],
)
def test_what_is_too_long_is_dropped_and_reading_goes_on(body: bytes, expected: list[Told]) -> None:
    for pieces in cuts(body, sizes=(2, 5)):
        assert frames(pieces, limit=40)[0] == expected


def test_bytes_behind_a_frame_can_be_asked_for() -> None:
    framer = Framer(LIMIT)
    for frame in framer.feed(b"data: 1\n\ndata: 2\n\n: c\nda"):
        assert frame == b" 1"
        break
    assert framer.unread() == b"data: 2\n\n: c\nda"


@pytest.mark.parametrize(
    ("body", "compression"), [(b"\x1f\x8b\x08", "gzip"), (b"\x28\xb5\x2f\xfd", "zstd"), (b"\x1fdata", None)]
)
def test_compressed_body_is_recognised_by_its_first_bytes(body: bytes, compression: str | None) -> None:
    for pieces in cuts(body):
        assert frames(pieces)[1].compression == compression


def test_prose_is_kept_to_be_shown_and_no_more_of_it() -> None:
    framer = frames([b"<html>\n", b"x" * 900 + b"\n"] * 9)[1]
    assert framer.prose.startswith(b"<html>\n")
    assert len(framer.prose) < 4_000


def test_document_that_the_end_cuts_is_kept() -> None:
    for pieces in cuts(b'{"a":{"b":"c'):
        told, framer = frames(pieces)
        assert (told, framer.cut_document) == ([], b'{"a":{"b":"c')


def test_json_body_gives_what_stands_behind_it() -> None:
    body = JsonBody(LIMIT)
    assert body.feed(b'{"a":"}\\"') == ([], b"")
    assert body.feed(b'"} rest') == ([b'{"a":"}\\""}'], b" rest")
    assert body.closed


@pytest.mark.parametrize(
    ("body", "event_id"),
    [
        (b"id: 7\ndata: 1\n\n", "7"),
        (b"data: 1\nid:7\r\n\r\n", "7"),
        (b"id: 7\n\n", "7"),
        (b"id: 7\n\nid: a\0b\n\n", "7"),
        (b"id: 7\n\nid: \ndata: 1\n\n", ""),
        (b"id: 7\ndata: 1\n\nid: 8\ndata: 2\n", "7"),
        (b"id: 7\ndata: 1\n\nid: 8", "7"),
        (b"data: 1\n\n", None),
    ],
)
def test_an_id_counts_once_its_event_has_ended(body: bytes, event_id: str | None) -> None:
    for pieces in cuts(body):
        assert frames(list(pieces))[1].last_event_id == event_id
