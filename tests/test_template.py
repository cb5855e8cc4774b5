"""Frames that are known by sight: the same bytes give the same events as with every frame parsed in full (law 8)."""

from __future__ import annotations

import contextlib
import itertools
import json
import re
from collections.abc import Generator, Iterator, Sequence
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamshim import StreamDecoder
from streamshim.decode import stream_state, template
from streamshim.events import Event
from tests.reading import decode, first_difference
from tests.strategies import bodies, real_streams
from tests.test_corpus import CORPUS, absent, entries

_CHAT = '{"id":"c1","object":"chunk","model":"m-1","choices":[{"index":0,"delta":%s,"finish_reason":null}]%s}'
_CALL = '{"tool_calls":[{"index":0,"function":{"arguments":%s}}]}'
_PLACE = '"item_id":"i1","output_index":0'

shapes: dict[str, list[str]] = {
    "text": ["data: " + _CHAT % ('{"content":%s}', "")],
    "spaced": ["data: " + (_CHAT % ('{"content": %s}', ', "usage": null')).replace('":"', '": "')],
    "padded": ["data: " + _CHAT % ('{"content":%s}', ',"usage":null,"obfuscation":%%s')],
    "padded first": ["data: " + _CHAT.replace("{", '{"p":%%s,', 1) % ('{"content":%s}', "")],
    "both fields": ["data: " + _CHAT % ('{"content":null,"reasoning_content":%s}', "")],
    "both fields, text": ["data: " + _CHAT % ('{"content":%s,"reasoning_content":null}', "")],
    "arguments": ["data: " + _CHAT % (_CALL, ',"obfuscation":%%s')],
    "twice named": ["data: " + _CHAT % ('{"content":"old","content":%s}', "")],
    "look-alike": ["data: " + _CHAT % ('{"content":%s,"role":"\\"content\\":\\"x\\""}', "")],
    "two choices": [
        "data: " + _CHAT % ('{"content":%s}', ""),
        "data: " + (_CHAT % ('{"content":%s}', "")).replace('"index":0', '"index":1'),
    ],
    "responses": [
        'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","sequence_number":%d,'
        + _PLACE
        + ',"content_index":0,"delta":%s,"logprobs":[],"obfuscation":%%s}'
    ],
    "responses, numbered last": [
        'data: {"content_index":0,"delta":%s,"item_id":"i1","logprobs":[],"obfuscation":%%s,"output_index":0,'
        + '"sequence_number":%d,"type":"response.output_text.delta"}'
    ],
    "responses, numbered only": [
        'data: {"type":"response.output_text.delta","sequence_number": %d,' + _PLACE + ',"content_index":0,"delta":%s}'
    ],
    "numbered on chat": ["data: " + _CHAT.replace("{", '{"sequence_number":%%d,', 1) % ('{"content":%s}', "")],
    "percent": ["data: " + _CHAT % ('{"content":%s}', ',"note":"5% of %b, 100%%","obfuscation":%%s')],
    "responses, arguments": [
        'data: {"type":"response.function_call_arguments.delta",' + _PLACE + ',"delta":%s,"sequence_number":%d}'
    ],
    "responses, thought": [
        'event: response.reasoning_text.delta\ndata: {"type":"response.reasoning_text.delta",'
        + _PLACE
        + ',"content_index":0,"delta":%s}'
    ],
}
"""Frames without their blank line: `%s` takes the text as JSON, `%%s` the padding, `%d` the number."""

_heads = {
    "arguments": 'data: {"id":"c1","model":"m-1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"t1",'
    '"function":{"name":"f","arguments":""}}]}}]}\n\n',
    "responses, arguments": 'data: {"type":"response.output_item.added","output_index":0,'
    '"item":{"type":"function_call","id":"i1","call_id":"t1","name":"f"}}\n\n',
}
_words = [
    "Hello",
    " world",
    "!",
    "ü",
    "日本",
    "\u2028",
    "\u00a0",
    "a\tb",
    "line\n",
    'say "x"',
    "back\\slash",
    "ends in \\",
    '\\"',
    '"\\\\"',
    '\\\\\\"x',
    "{",
    "}",
    '"',
    "[1]",
]
_words += [
    "<",
    "<think>",
    "</think>",
    "a<b",
    "",
    " ",
    "null",
    '{"a":',
    "1}",
    '{"a":1}',
    '"}',
    "%s",
    "%",
    "\x7f",
    "😀",
    "[TOOL_CALLS]f{}",
    "```json",
]
words = st.one_of(st.sampled_from(_words[:6]), st.sampled_from(_words), st.text(max_size=6))
_tokens = st.sampled_from(
    [
        r'"\u003cthink>"',
        r'"\ud83d"',
        r'"\ude00"',
        r'"\ud83d\ude00"',
        r'"\x"',
        '"raw\ttab"',
        r'"\u00e9"',
        "null",
        "1",
        '"',
    ],
)
_paddings = st.sampled_from(
    ['""', '"aB3"', '"xyz123abc"', '"with space"', r'"\u0041"', r'"\ud800"', '"ü"', "null", "7"]
)
_between = st.sampled_from(
    [
        *(": ping\n\n", "\n", "data: [DONE]\n\n", 'data: {"choices":[],"usage":{"prompt_tokens":1}}\n\n', "id: 7\n"),
        *(
            "event: error\n",
            "\r\n",
            'data: {"error":{"message":"m"}}\n\n',
            '{"error":"e"}\n',
            "data: {}\n\n",
            "retry: 1\n\n",
        ),
        'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n',
        'data: {"choices":[{"index":0,"delta":{"content":"x"}}],"service_tier":"flex"}\n\n',
        'data: {"type":"response.output_item.done","output_index":0,"item":{"type":"message","id":"i1"}}\n\n',
        'data: {"type":"response.completed","response":{"id":"r1","status":"completed"}}\n\n',
    ]
)


@st.composite
def regular(draw: st.DrawFn) -> bytes:
    """A stream of one or two shapes, long enough to be known by sight, with here and there something else."""
    names = draw(st.lists(st.sampled_from(sorted(shapes)), min_size=1, max_size=2))
    body = ""
    number = draw(st.sampled_from([0, 1, 9, 10**15 - 3, 10**16 - 3]))
    for name in names:
        body += _heads.get(name, "")
        for form in itertools.islice(itertools.cycle(shapes[name]), draw(st.integers(2, 14))):
            number += draw(st.sampled_from([1, 1, 1, 2]))
            token = (
                draw(_tokens)
                if draw(st.integers(0, 12)) == 0
                else json.dumps(draw(words), ensure_ascii=draw(st.booleans()))
            )
            padding = draw(_paddings) if draw(st.integers(0, 6)) == 0 else '"aB3xY"'
            body += _filled(form, token, padding, number) + "\n\n"
            if draw(st.integers(0, 9)) == 0:
                body += draw(_between)
    data = body.encode("utf-8", "surrogatepass")
    for _ in range(draw(st.sampled_from([0, 0, 1, 2]))):
        at = draw(st.integers(0, len(data) - 1))
        data = (
            data[:at]
            + draw(st.sampled_from([b"", b"\xff", b'"', b"\\", b"\n", b"\r", b"0", b"x", b"{"]))
            + data[at + 1 :]
        )
    return data


def _filled(form: str, token: str, padding: str, number: int) -> str:
    return form.replace("%%s", padding).replace("%d", str(number)).replace("%s", token)


def by_events(data: bytes) -> list[bytes]:
    return re.split(rb"(?<=\n\n)", data)


@st.composite
def cut(draw: st.DrawFn, data: bytes) -> list[bytes]:
    """One of the ways in which bytes come: at once, by events, in small pieces, anyhow."""
    way = draw(st.sampled_from(["whole", "events", "small", "anyhow"]))
    if way == "whole":
        return [data]
    if way == "events":
        return by_events(data)
    if way == "small":
        size = draw(st.integers(1, 700))
        return [data[at : at + size] for at in range(0, len(data), size)]
    places = sorted(draw(st.lists(st.integers(0, len(data)), max_size=8)))
    return [data[start:end] for start, end in itertools.pairwise([0, *places, len(data)])]


@contextlib.contextmanager
def eager(patience: int, few: int = 0, window: int = 4096) -> Generator[None]:
    """Learns so early that short streams are known by sight as well, and joins what is kept after each few frames.

    `few`: how many frames are read one after another; `window`: how many bytes at once (larger pieces are not copied).
    """
    with (
        mock.patch.object(template, "_PATIENCE", patience),
        mock.patch.object(template, "_FEW", few),
        mock.patch.object(template, "_FIRST_WINDOW", window // 2),
        mock.patch.object(template, "_LAST_WINDOW", window),
        mock.patch.object(stream_state, "COMPACT_FRAMES", 3),
    ):
        yield


def difference(pieces: Sequence[bytes], **options: Any) -> str | None:
    return first_difference(decode(pieces, fast=False, **options), decode(pieces, **options))


def last_numbers(pieces: Sequence[bytes], *, fast: bool) -> list[int | None]:
    decoder = StreamDecoder(make_id=str, fast=fast)
    numbers = []
    for piece in pieces:
        decoder.feed(piece)
        numbers.append(decoder.sequence_number)
    return numbers


options = st.fixed_dictionaries(
    {},
    optional={
        "reasoning_tags": st.sampled_from(["auto", "off", "open"]),
        "tool_markup": st.booleans(),
        "repairs": st.booleans(),
        "strict": st.booleans(),
        "collect": st.booleans(),
    },
)


@given(
    data=st.data(),
    body=regular(),
    patience=st.integers(0, 3),
    few=st.sampled_from([0, 2, 8]),
    window=st.sampled_from([600, 4096]),
    options=options,
)
def test_regular_streams_give_the_same_events(
    data: st.DataObject, body: bytes, patience: int, few: int, window: int, options: Any
) -> None:
    with eager(patience, few, window):
        assert difference(data.draw(cut(body)), **options) is None


@given(data=st.data(), body=bodies, patience=st.integers(0, 3), options=options)
def test_damaged_and_arbitrary_streams_give_the_same_events(
    data: st.DataObject, body: bytes, patience: int, options: Any
) -> None:
    with eager(patience, few=3, window=600):
        assert difference(data.draw(cut(body)), **options) is None


@given(data=st.data(), body=regular(), patience=st.integers(0, 3), few=st.sampled_from([0, 8]))
def test_each_piece_brings_what_it_brings_without_templates(
    data: st.DataObject, body: bytes, patience: int, few: int
) -> None:
    pieces = data.draw(cut(body))
    with eager(patience, few):
        fast, full = StreamDecoder(make_id=str), StreamDecoder(make_id=str, fast=False)
        for piece in pieces:
            assert first_difference(full.feed(piece), fast.feed(piece)) is None
            assert fast.sequence_number == full.sequence_number
            assert fast.last_event_id == full.last_event_id
    assert fast.unused_data == full.unused_data


def test_real_streams_give_the_same_events_in_every_cut() -> None:
    with eager(0):
        for body in real_streams():
            for pieces in ([body], by_events(body), [body[at : at + 500] for at in range(0, len(body), 500)]):
                assert difference(pieces) is None


@absent
@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry["file"])
def test_recorded_streams_give_the_same_events_in_every_feeding(entry: dict[str, Any]) -> None:
    body = (CORPUS / entry["file"]).read_bytes()
    full = decode([body], fast=False)
    feedings = [
        by_events(body),
        *([body[at : at + size] for at in range(0, len(body), size)] for size in (65536, 1024, 9)),
    ]
    for pieces in feedings:
        assert first_difference(full, decode(pieces)) is None
        with eager(0, few=8, window=32 * 1024):
            assert first_difference(full, decode(pieces)) is None


_ODD = [
    *(json.dumps(word) for word in _words),
    *(json.dumps(word, ensure_ascii=False) for word in ("日本", "\u2028", "\x7f", "</think>", "◁/think▷")),
    *(
        r'"\u003c/think\u003e"',
        r'"\ud83d"',
        r'"\ude00"',
        r'"\ud83d\ude00"',
        r'"\x"',
        '"raw\ttab"',
        '"raw\nline"',
        r'"\u00e9"',
    ),
    *(
        "null",
        "1",
        "true",
        '"',
        r'"\"',
        '{"text":"x"}',
        '["x"]',
        '"x","delta":"y"',
        '"x","content":"y"',
        '"x" ',
        ' "x"',
    ),
    *('"{\\"b\\":1}"', '"\\"{}\\""', '"}"', '"<"', '""'),
]
_ODD_PADDINGS = [
    r'"\ud800"',
    r'"\x"',
    '"\t"',
    '"ü"',
    '"\\""',
    "null",
    "7",
    '"x","delta":"y"',
    '"x","error":{"message":"m"}',
    '"a" ',
    '""',
]


@pytest.mark.parametrize("name", sorted(shapes))
def test_odd_words_among_plain_ones_give_the_same_events(name: str) -> None:
    def stream(words: Sequence[tuple[str, str]]) -> bytes:
        forms = itertools.cycle(shapes[name])
        frames = [_filled(next(forms), word, padding, 5 + n) + "\n\n" for n, (word, padding) in enumerate(words)]
        return (_heads.get(name, "") + "".join(frames)).encode("utf-8", "surrogatepass")

    plain = [('"word"', '"aB3"')] * 4
    begun = ['"{\\"a\\":1"', '"1"', '"1"', '"1"', '"}"']  # whole arguments, behind which little can stand
    cases = [[(token, '"aB3"')] for token in _ODD] + [[('"x"', padding)] for padding in _ODD_PADDINGS]
    cases += [[(json.dumps('{"a":1}'), '"p"'), (token, '"p"')] for token in _ODD]
    for case in cases:
        for first in (plain, [(word, '"aB3"') for word in begun]):
            body = stream([*first, *case, *plain])
            small = [body[at : at + 400] for at in range(0, len(body), 400)]
            for pieces, few in (([body], 0), (by_events(body), 0), (small, 8)):
                with eager(0, few):
                    assert difference(pieces, make_id=str) is None, case
                    assert last_numbers(pieces, fast=True) == last_numbers(pieces, fast=False), case
                    assert difference(pieces, make_id=str, tool_markup=True) is None, case


@pytest.mark.parametrize("name", sorted(shapes))
def test_frames_that_are_cut_or_lack_an_end_give_the_same_events(name: str) -> None:
    forms = shapes[name]
    frames = [(_filled(forms[n % len(forms)], '"w"', '"aB3"', 5 + n) + "\n\n").encode() for n in range(8)]
    known, frame, more = [_heads.get(name, "").encode(), *frames[:4]], frames[4], frames[5:]
    for at in range(len(frame)):
        begun, left = frame[:at], frame[at:]
        for pieces, few in (
            ([*known, begun, left, *more], 0),
            ([*known, begun, *more], 0),
            ([*known, left, *more], 0),
            ([*known, frame + left + frame, *more], 8),
            ([*known, begun + b"".join(more)], 8),
        ):
            with eager(0, few):
                assert difference(pieces, make_id=str) is None, (at, pieces)


@pytest.mark.parametrize("name", ["text", "padded", "responses"])
def test_a_frame_that_is_too_long_is_dropped_though_it_looks_like_the_last_one(name: str) -> None:
    def frame(text: str, number: int) -> bytes:
        return (_filled(shapes[name][0], json.dumps(text), '"aB3"', number) + "\n\n").encode()

    pieces = [frame("w", number) for number in range(5, 50)] + [frame("w" * 200_000, 50), frame("w", 51)]
    expected = decode(pieces, fast=False, max_frame_bytes=128 * 1024)
    assert [event.error.kind for event in expected if event.type == "error_report"] == ["limit"]
    assert first_difference(expected, decode(pieces, max_frame_bytes=128 * 1024)) is None


# -- what is known by sight, and what is not --------------------------------------------------------------------------


def parses(name: str, texts: Sequence[str], *, fast: bool = True) -> tuple[int, list[Event]]:
    """How many of the frames of a shape were parsed in full, and the events."""
    form = shapes[name][0]
    frames = [_filled(form, json.dumps(text), '"aB3"', 5 + n) + "\n\n" for n, text in enumerate(texts)]
    body = (_heads.get(name, "") + "".join(frames)).encode()
    with eager(2), mock.patch("streamshim.decode.frame_reader.loads", wraps=json.loads) as loads:
        events = decode([body], fast=fast)
    return loads.call_count, events


@pytest.mark.parametrize(
    "name", ["text", "spaced", "padded", "both fields", "arguments", "responses", "responses, thought"]
)
def test_a_stream_of_one_shape_is_parsed_only_at_its_beginning(name: str) -> None:
    texts = [f"word {n}" for n in range(80)]
    texts += [*(f'a quote " and {n}' for n in range(40)), *['\\"', "ends in \\", '"\\"x'] * 20, "line\n", "tab\t"]
    texts += ["word"] * 20
    full, expected = parses(name, texts, fast=False)
    known, events = parses(name, texts)
    assert full >= 195
    assert known <= 8
    assert first_difference(expected, events) is None


@pytest.mark.parametrize(("frames", "most"), [(400, 30), (80, 80)], ids=["plenty", "few"])
def test_a_stream_is_learned_from_early_where_plenty_lies_ahead(frames: int, most: int) -> None:
    body = (_filled(shapes["text"][0], '"a word"', "", 0) + "\n\n").encode() * frames
    assert (len(body) > 32 * 1024) == (frames == 400)
    with mock.patch("streamshim.decode.frame_reader.loads", wraps=json.loads) as loads:
        events = decode([body])
    assert most // 2 < loads.call_count <= most
    assert first_difference(decode([body], fast=False), events) is None


@pytest.mark.parametrize("name", ["twice named", "two choices"])
def test_what_is_ambiguous_or_changes_is_parsed_in_full(name: str) -> None:
    frames = [_filled(form, '"x"', '""', 5) for form in itertools.islice(itertools.cycle(shapes[name]), 100)]
    body = ("\n\n".join(frames) + "\n\n").encode()
    with eager(2), mock.patch("streamshim.decode.frame_reader.loads", wraps=json.loads) as loads:
        events = decode([body])
    assert first_difference(decode([body], fast=False), events) is None
    if name == "two choices":
        assert loads.call_count >= 90


def test_one_event_a_piece_is_known_by_sight() -> None:
    frames = [(_filled(shapes["responses"][0], f'"w{n}"', '"p"', 5 + n) + "\n\n").encode() for n in range(100)]
    with (
        mock.patch("streamshim.decode.frame_reader.loads", wraps=json.loads) as loads,
        mock.patch.object(
            template.Templates, "take_piece", autospec=True, side_effect=template.Templates.take_piece
        ) as far,
    ):
        decoder = StreamDecoder()
        events: Iterator[Event] = (event for frame in frames for event in decoder.feed(frame))
        assert [event.delta for event in events if event.type == "text_delta"] == [f"w{n}" for n in range(100)]
    assert loads.call_count < 40
    assert not far.called
    assert decoder.sequence_number == 104


def test_nothing_is_told_after_the_end() -> None:
    frame = (_filled(shapes["responses"][0], '"w"', '"p"', 5) + "\n\n").encode()
    terminal = b'data: {"type":"response.completed","response":{"id":"r1","status":"completed"}}\n\n'
    for end in (lambda decoder: decoder.feed(terminal), StreamDecoder.cancel, StreamDecoder.close):
        decoder = StreamDecoder()
        for _ in range(60):
            assert decoder.feed(frame)
        assert end(decoder)[-1].type == "stream_end"
        for late in (frame, frame * 2, frame[:9]):
            assert decoder.feed(late) == []
        assert decoder.unused_data == frame * 3 + frame[:9]


def test_an_event_that_ends_otherwise_does_not_wait_for_the_next_piece() -> None:
    frame = (_filled(shapes["text"][0], '"w"', "", 0) + "\n\n").encode()
    decoder = StreamDecoder()
    for _ in range(60):
        assert decoder.feed(frame)
    assert [event.delta for event in decoder.feed(frame + frame[:-2] + b"\r\r")] == ["w", "w"]


def test_a_payload_between_the_bytes_is_not_overlooked() -> None:
    def mixed(fast: bool) -> list[Event]:
        decoder = StreamDecoder(fast=fast, make_id=str)
        frame = (_filled(shapes["text"][0], '"a"', "", 0) + "\n\n").encode()
        events = [event for _ in range(60) for event in decoder.feed(frame)]
        events += decoder.feed_payload({"choices": [{"index": 0, "delta": {"reasoning_content": "hm"}}]})
        return events + decoder.feed(frame) + decoder.close()

    assert first_difference(mixed(False), mixed(True)) is None


def test_a_document_that_opens_between_events_is_not_overlooked() -> None:
    frame = (_filled(shapes["text"][0], '"a"', "", 0) + "\n\n").encode()
    for pieces in ([b"{ata: {}\n\n" + frame * 4], [b"{ata: {}\n\n", frame * 4], [b"{ata: {}\n\n", *[frame] * 4]):
        with eager(0):
            assert difference(pieces) is None
            assert first_difference(decode([b"".join(pieces)]), decode(pieces)) is None


def test_the_sequence_number_is_that_of_the_last_frame_however_it_was_read() -> None:
    decoder = StreamDecoder()
    for number in range(1, 60):
        padding = '"\\u0041"' if number in (45, 59) else '"p"'
        decoder.feed((_filled(shapes["responses"][0], '"w"', padding, number) + "\n\n").encode())
        assert decoder.sequence_number == number
