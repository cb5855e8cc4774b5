"""Habits of framing and of JSON: the bytes around what is said."""

from __future__ import annotations

import json
import re

from .manners import DONE, Stage, each, habit
from .question import Json

Frames = list[bytes]

_NO_DATA = (b": keep-alive\n\n", b":\n\n")


# -- lines ------------------------------------------------------------------------------------------------------------


@habit("single-line-feeds", Stage.FRAMES)
def single_line_feeds(frames: Frames) -> Frames:
    return [frame.replace(b"\n\n", b"\n") for frame in frames]


@habit("crlf", Stage.FRAMES)
def crlf(frames: Frames) -> Frames:
    return [frame.replace(b"\n", b"\r\n") for frame in frames]


@habit("cr", Stage.FRAMES)
def cr(frames: Frames) -> Frames:
    return [frame.replace(b"\n", b"\r") for frame in frames]


@habit("three-line-feeds", Stage.FRAMES)
def three_line_feeds(frames: Frames) -> Frames:
    return [frame + b"\n" for frame in frames]


@habit("comments", Stage.FRAMES)
def comments(frames: Frames) -> Frames:
    return [_NO_DATA[at % 2] + frame for at, frame in enumerate(frames)]


@habit("ping-comments", Stage.FRAMES)
def ping_comments(frames: Frames) -> Frames:
    return [b": ping - 2026-01-01 00:00:00.000000\n\n", *frames]


@habit("processing-comments", Stage.FRAMES)
def processing_comments(frames: Frames) -> Frames:
    return [b": OPENROUTER PROCESSING\n\n", *frames[:-2], b": OPENROUTER PROCESSING\n\n", *frames[-2:]]


@habit("bom", Stage.FRAMES)
def bom(frames: Frames) -> Frames:
    return [b"\xef\xbb\xbf" + frames[0], *frames[1:]]


@habit("no-space", Stage.FRAMES)
def no_space(frames: Frames) -> Frames:
    return [frame.replace(b"data: ", b"data:", 1) for frame in frames]


@habit("ids-and-retries", Stage.FRAMES)
def ids_and_retries(frames: Frames) -> Frames:
    return [b"retry: 3000\n\n", *(b"id: %d\n%b" % (at, frame) for at, frame in enumerate(frames))]


@habit("empty-events", Stage.FRAMES)
def empty_events(frames: Frames) -> Frames:
    return [b"event: keepalive\n\n" + frame + b"data:\n\n" for frame in frames]


@habit("event-lines", Stage.FRAMES)
def event_lines(frames: Frames) -> Frames:
    return [frame if frame.startswith(b"event:") else b"event: message\n" + frame for frame in frames]


@habit("no-event-lines", Stage.FRAMES)
def no_event_lines(frames: Frames) -> Frames:
    return [re.sub(rb"^event: [^\n]*\n", b"", frame) for frame in frames]


@habit("other-event-names", Stage.FRAMES)
def other_event_names(frames: Frames) -> Frames:
    """All events have one name, and their types in the data."""
    return [re.sub(rb"^event: [^\n]*\n", b"event: message\n", frame) for frame in frames]


@habit("type-in-event-line", Stage.FRAMES)
def type_in_event_line(frames: Frames) -> Frames:
    """The type of an event is its name, and stands nowhere else."""
    return [re.sub(rb'^(event: [^\n]*\ndata: \{)"type":"[^"]*",', rb"\1", frame) for frame in frames]


@habit("data-before-event", Stage.FRAMES)
def data_before_event(frames: Frames) -> Frames:
    return [re.sub(rb"^(event: [^\n]*\n)(data: [^\n]*\n)", rb"\2\1", frame) for frame in frames]


@habit("pretty-json", Stage.FRAMES)
def pretty_json(frames: Frames) -> Frames:
    return [_rewritten(frame, indent=1) for frame in frames]


def _rewritten(frame: bytes, indent: int) -> bytes:
    head, data = frame.decode().rstrip("\n").split("data: ", 1)
    if data == "[DONE]":
        return frame
    lines = json.dumps(json.loads(data), indent=indent).split("\n")
    return (head + "".join(f"data: {line}\n" for line in lines) + "\n").encode()


@habit("json-lines", Stage.FRAMES)
def json_lines(frames: Frames) -> Frames:
    return [_data_of(frame) + b"\n" for frame in frames if frame != DONE]


def _data_of(frame: bytes) -> bytes:
    return frame.split(b"data: ", 1)[1].rstrip(b"\n")


# -- pieces -----------------------------------------------------------------------------------------------------------


@habit("split-anywhere", Stage.FRAMES)
def split_anywhere(frames: Frames) -> Frames:
    body, pieces, size = b"".join(frames), list[bytes](), 1
    while body:
        pieces.append(body[:size])
        body, size = body[size:], size % 7 + 1
    return pieces


@habit("one-piece", Stage.FRAMES)
def one_piece(frames: Frames) -> Frames:
    return [b"".join(frames)]


# -- the end ----------------------------------------------------------------------------------------------------------


@habit("no-done", Stage.FRAMES)
def no_done(frames: Frames) -> Frames:
    return [frame for frame in frames if frame != DONE]


@habit("done-at-end", Stage.FRAMES)
def done_at_end(frames: Frames) -> Frames:
    return frames if frames[-1] == DONE else [*frames, DONE]


def _written_done(name: str, *written: bytes) -> None:
    """A habit of writing what ends a stream in another way."""
    habit(name, Stage.FRAMES)(lambda frames: [*frames[:-1], *written] if frames[-1] == DONE else frames)


_written_done("done-twice", DONE, DONE)
_written_done("bare-done", b"[DONE]\n\n")
_written_done("done-as-text", b'data: "[DONE]"\n\n')
_written_done("unended-done", b"data: [DONE]")


@habit("half-frame", Stage.FRAMES)
def half_frame(frames: Frames) -> Frames:
    """The body ends inside a frame, in the middle of the answer."""
    kept = frames[: len(frames) // 2]
    return [*kept[:-1], kept[-1][: len(kept[-1]) // 2]]


@habit("cut-stream", Stage.FRAMES)
def cut_stream(frames: Frames) -> list[bytes | None]:
    """The connection breaks in the middle of the answer."""
    return [*frames[: len(frames) // 2], None]


@habit("silent-end", Stage.FRAMES)
def silent_end(frames: Frames) -> Frames:
    """The body ends in good order in the middle of the answer."""
    return frames[: len(frames) // 2]


@habit("text-plain", Stage.HEADERS)
def text_plain(headers: dict[str, str]) -> None:
    headers["Content-Type"] = "text/plain"


@habit("whole-body", Stage.REQUEST)
def whole_body(body: Json) -> None:
    """Streaming is asked for, and a whole JSON body comes."""
    body.pop("stream", None)
    body.pop("stream_options", None)


# -- JSON -------------------------------------------------------------------------------------------------------------


def _with_member(frame: bytes, member: bytes) -> bytes:
    return frame if frame == DONE else re.sub(rb"\}\n\n$", lambda _: b"," + member + b"}\n\n", frame)


@each("not-a-number", Stage.FRAMES)
def not_a_number(frame: bytes) -> bytes:
    return _with_member(frame, b'"score":NaN')


@each("lone-surrogates", Stage.FRAMES)
def lone_surrogates(frame: bytes) -> bytes:
    return _with_member(frame, rb'"note":"\ud83d"')


@each("control-characters", Stage.FRAMES)
def control_characters(frame: bytes) -> bytes:
    return _with_member(frame, b'"note":"\x01\t"')


@each("bad-utf-8", Stage.FRAMES)
def bad_utf_8(frame: bytes) -> bytes:
    return _with_member(frame, b'"note":"\xff"')


@each("stray-quote", Stage.FRAMES)
def stray_quote(frame: bytes) -> bytes:
    return frame if frame == DONE else frame.removesuffix(b"\n\n") + b'"\n\n'


@habit("nonsense-frame", Stage.FRAMES)
def nonsense_frame(frames: Frames) -> Frames:
    return [frames[0], b"data: {keepalive\n\n", *frames[1:]]


@habit("true-frame", Stage.FRAMES)
def true_frame(frames: Frames) -> Frames:
    return [frames[0], b"data: true\n\n", b"data: []\n\n", *frames[1:]]
