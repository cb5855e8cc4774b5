"""JSON: the lenient second try, what is rescued of a cut document, and brackets counted through pieces."""

from __future__ import annotations

import itertools
import json
import math
from typing import Any

import ijson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamshim import json_codec
from streamshim.json_codec import Brackets, depth_of, dumps, dumps_string, loads, loads_lenient, rescue

values = st.recursive(
    st.one_of(
        *(st.none(), st.booleans(), st.integers(-(2**63), 2**64 - 1), st.text()),
        st.floats(allow_nan=False, allow_infinity=False),
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(), inner, max_size=4)),
)
documents = st.one_of(st.lists(values, max_size=4), st.dictionaries(st.text(), values, max_size=4))


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b'{"a":Infinity}', {"a": math.inf}),
        (b'\xef\xbb\xbf{"a":1}', {"a": 1}),
        (b'{"a":1}"', {"a": 1}),
        (b'{"a":1} \x00', {"a": 1}),
        (b'{"a":"x\ty"}', {"a": "x\ty"}),
        (b'{"a":"\xff"}', {"a": "\ufffd"}),
        (b'{"a":"\\ud83d"}', {"a": "\ufffd"}),
        (b'{"content":"\\ud83d"}', {"content": "\ud83d"}),
        (b'{"content":"\\ud83dx\\ude00"}', {"content": "\ufffdx\ufffd"}),
    ],
)
def test_lenient_try_reads_what_sloppy_servers_write(data: bytes, value: Any) -> None:
    with pytest.raises(ValueError, match=r"."):
        loads(data)
    assert loads_lenient(data)[0] == value


@pytest.mark.parametrize("data", [b"", b"nope", b"{'a': 1}", b'{"a":1} {"b":2}', b'{"a":', b"[" * 5_000 + b"]" * 5_000])
def test_lenient_try_refuses_what_is_no_json(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        loads_lenient(data)


def test_huge_integers_are_floats_as_with_the_fast_parser() -> None:
    text = b'{"a":' + b"9" * 400 + b',"b":18446744073709551615,"c":NaN}'
    value = loads_lenient(text)[0]
    assert (value["a"], value["b"]) == (math.inf, 18446744073709551615)


@given(value=values)
def test_standard_library_means_the_same_as_the_fast_parser(value: Any) -> None:
    text = json.dumps(value, ensure_ascii=False).encode()
    assert json_codec._stdlib_loads(text) == loads(text)


@pytest.mark.parametrize("data", [b"[NaN]", b'["\\ud83d"]', b"[" * 100_000, b'{"a":}', b"\xff"])
def test_standard_library_is_as_strict_as_the_fast_parser(data: bytes) -> None:
    for parse in (loads, json_codec._stdlib_loads):
        with pytest.raises(ValueError, match=r"."):
            parse(data)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"a": [1, "ü"]}, '{"a":[1,"ü"]}'),
        ({"a": "\ud83d"}, '{"a":"\ufffd"}'),
        ({"a": 2**70}, '{"a":1180591620717411303424}'),
        (math.nan, "null"),
        ({"a": [math.inf], "b": "\ud800"}, '{"a":[null],"b":"\ufffd"}'),
    ],
)
def test_dumps_never_raises(value: Any, text: str) -> None:
    assert dumps(value) == text


@given(text=st.one_of(st.text(st.characters()), st.sampled_from(["\ud83d\ude00", "\x00\x7f\u2028", '"\\'])))
def test_one_string_is_written_as_it_stands_in_a_document(text: str) -> None:
    for encode in (json_codec._encode, json_codec._stdlib_dumps):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(json_codec, "_encode", encode)
            assert b'{"a":' + dumps_string(text) + b',"b":"\xc3\xbc"}' == dumps({"a": text, "b": "ü"}).encode()


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b'{"a":1,"b":["x","y', {"a": 1, "b": ["x"]}),
        (b'{"a":{"b":"whole","c":"cut', {"a": {"b": "whole"}}),
        (b'{"a"', {}),
        (b"nonsense", None),
    ],
)
def test_what_is_whole_in_a_cut_document_is_rescued(data: bytes, value: Any) -> None:
    assert rescue(data) == value


@given(
    document=documents, places=st.lists(st.integers(0, 10_000), max_size=6), tail=st.sampled_from([b"", b" x", b"{}"])
)
def test_brackets_close_where_the_document_ends(document: Any, places: list[int], tail: bytes) -> None:
    text = json.dumps(document, ensure_ascii=False).encode()
    data = text + tail
    edges = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    brackets: Brackets[bytes] = Brackets()
    for start, end in itertools.pairwise(edges):
        closed = brackets.closes(data[start:end])
        if closed >= 0:
            assert start + closed == len(text)
            return
    raise AssertionError("never closed")


@given(document=documents)
def test_depth_is_that_of_an_independent_parser(document: Any) -> None:
    text = json.dumps(document)
    depth = deepest = 0
    for event, _ in ijson.basic_parse(text.encode()):
        depth += {"start_map": 1, "start_array": 1, "end_map": -1, "end_array": -1}.get(event, 0)
        deepest = max(deepest, depth)
    assert depth_of(text) == deepest
