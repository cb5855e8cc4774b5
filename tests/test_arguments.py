"""Tool arguments as they grow: held against two other parsers, in every cut, where they break, and what they cost."""

from __future__ import annotations

import asyncio
import gc
import itertools
import json
import re
import sys
import weakref
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterable
from dataclasses import fields
from typing import Any, assert_type

import ijson
import jiter
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from streamshim import StreamDecoder, arguments, growing_object, json_codec, json_places, json_tokens, partial_arguments
from streamshim.arguments import ArgumentDelta, ArgumentEnd, LiveEvent, live_arguments
from streamshim.events import Event, TextDelta, ToolCallDelta, ToolCallEnd, ToolCallStart, ToolKind
from streamshim.json_tokens import Fault
from streamshim.partial_arguments import PartialArguments
from streamshim.partial_object import PartialObject, Piece, StringDelta, ValueEnd
from tests.small_streams import chat, frame

# -- what is read -----------------------------------------------------------------------------------------------------

blanks = st.sampled_from(["", "", "", " ", "\n  ", "\t\r\n"])
strings = st.one_of(
    st.text(max_size=8).map(json.dumps),
    st.text(max_size=8).map(lambda text: json.dumps(text, ensure_ascii=False)),
    st.sampled_from(
        [
            *(r'"\"\\\/\b\f\n\r\t"', r'"\u00e9\uD83D\uDE00\u0000"', '"😀\\ud83d\\ude00"', '"}{][,:"', '"a"', '""'),
            *(f'"{"k" * 62}"', f'"{"k" * 63}"', '"\u3000\x7f\u200d"'),
        ]
    ),
)
numbers = st.one_of(
    st.integers().map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.sampled_from(["-0", "0.10", "1e5", "1E+2", "-1.5e-3", "1e400", "123456789012345678901234567890"]),
    st.sampled_from(["1" * 31, "1" * 32, f"-{'1' * 31}.{'5' * 30}", f"0.{'5' * 31}"]),
)
scalars = st.one_of(strings, numbers, st.sampled_from(["true", "false", "null"]))


def joined(opening: str, members: list[str], closing: str, blank: str) -> str:
    return opening + blank + f"{blank},{blank}".join(members) + blank + closing


def lists_of(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.builds(joined, st.just("["), st.lists(values, max_size=4), st.just("]"), blanks)


def objects_of(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    members = st.builds(lambda key, blank, value: f"{key}{blank}:{blank}{value}", strings, blanks, values)
    return st.builds(joined, st.just("{"), st.lists(members, max_size=4), st.just("}"), blanks)


values = st.recursive(scalars, lambda inner: st.one_of(lists_of(inner), objects_of(inner)), max_leaves=12)
documents = st.builds(lambda before, text, after: before + text + after, blanks, objects_of(values), blanks)
scraps = st.sampled_from(
    [
        *('"', "\\", "{", "}", "[", "]", ",", ":", "-", ".", "e", "0", "7", "+", "true", "nul", "x", " ", "\x01", "é"),
        *("\\u", "\\ud83d", "\\ude00", "\\uZ", "\ud83d", "\ude00", "\\x", "NaN", '{"a":', '"b":[', "\ufeff", "\xa0"),
    ]
)


@st.composite
def damaged_documents(draw: st.DrawFn) -> str:
    text = draw(documents)
    for _ in range(draw(st.integers(1, 3))):
        position = draw(st.integers(0, len(text)))
        text = text[:position] + draw(scraps) + text[position + draw(st.integers(0, 2)) :]
    return text


texts = st.one_of(documents, damaged_documents(), st.lists(scraps, max_size=12).map("".join))


@st.composite
def cut_texts(draw: st.DrawFn, of: st.SearchStrategy[str] = texts) -> tuple[str, list[str]]:
    text = draw(of)
    borders = sorted({0, len(text), *draw(st.lists(st.integers(0, len(text)), max_size=8))})
    deltas = [text[start:end] for start, end in itertools.pairwise(borders)]
    return text, draw(st.sampled_from([deltas, list(text)]))


def read(deltas: Iterable[str]) -> tuple[PartialArguments, list[Piece]]:
    partial = PartialArguments()
    return partial, [piece for delta in deltas for piece in partial.feed(delta)]


def merged(pieces: list[Piece]) -> list[Piece]:
    """With the neighbouring deltas of a string joined."""
    result: list[Piece] = []
    for piece in pieces:
        if isinstance(piece, StringDelta) and result and isinstance(result[-1], StringDelta):
            assert result[-1].path == piece.path
            result[-1] = StringDelta(piece.path, result[-1].delta + piece.delta)
        else:
            result.append(piece)
    return result


# -- against other parsers --------------------------------------------------------------------------------------------


def without_unfinished_number(prefix: str) -> str:
    """We leave out a number that may go on, jiter shows it."""
    if '"' in re.sub(r'"(?:[^"\\]|\\.)*"', "", prefix, flags=re.DOTALL):
        return prefix
    return re.sub(r"(?:-?[0-9][-+.0-9eE]*|-)\Z", "", prefix)


@given(documents)
def test_the_snapshot_of_every_prefix_is_what_jiter_makes_of_it(text: str) -> None:
    partial = PartialArguments()
    for position, character in enumerate(text, 1):
        partial.feed(character)
        prefix = without_unfinished_number(text[:position])
        known = jiter.from_json(prefix.encode(), partial_mode="trailing-strings") if prefix.strip() else {}
        assert partial.value == known
        assert repr(dict(partial.value)) == repr(known)
    assert partial.state == "whole"


@given(cut_texts(documents))
def test_the_ends_are_the_events_of_ijson_in_any_cut(cut: tuple[str, list[str]]) -> None:
    _, deltas = cut
    events: Any = ijson.sendable_list()
    parser = ijson.basic_parse_coro(events)
    for delta in deltas:
        parser.send(delta.encode())
    parser.close()
    path: list[str | int] = []
    ends: list[tuple[tuple[str | int, ...], Any]] = []
    for name, value in events:
        if name == "map_key":
            path[-1] = value
            continue
        if name in ("end_map", "end_array"):
            path.pop()
        elif path and isinstance(path[-1], int):
            path[-1] += 1
        if name in ("start_map", "start_array"):
            path.append("" if name == "start_map" else -1)
        else:
            ends.append((tuple(path), value))
    pieces = [piece for piece in read(deltas)[1] if isinstance(piece, ValueEnd)]
    assert [piece.path for piece in pieces] == [path for path, _ in ends]
    for piece, (_, value) in zip(pieces, ends, strict=True):
        if isinstance(piece.value, (dict, list)):
            assert value is None
        elif isinstance(piece.value, float):
            assert piece.value == float(value)
        else:
            assert piece.value == value


@given(texts.filter(lambda text: not re.search("[\ud800-\udfff]", text)))
@example('{"":"\\ud83d","":0}')
def test_a_text_is_whole_where_a_strict_reader_takes_it_for_an_object(text: str) -> None:
    try:
        known = json_codec._stdlib_loads(text)  # orjson refuses numbers beyond the largest float
        pairs = json.loads(text, object_pairs_hook=list)  # of a key that comes twice the first value may be at fault
        json.dumps(pairs, ensure_ascii=False).encode()
    except ValueError:
        known = None
    partial, pieces = read([text])
    assert (partial.state == "whole") == isinstance(known, dict)
    if partial.state == "whole":
        assert dict(partial.value) == json.loads(text)
        assert pieces[-1] == ValueEnd((), json.loads(text))


def completions(partial: PartialArguments) -> Iterable[str]:
    """What may close an open text: the end of a token, what a key or comma asks for, and the brackets."""
    brackets = "".join("}" if isinstance(container, dict) else "]" for container in reversed(partial._open))
    escapes = ("n", "0000", "000", "00", "0", "u0000", "\\ude00", "ude00", "de00", "e00")
    words = (word[start:] for word in ("true", "false", "null") for start in range(1, len(word)))
    for token in ("", "0", *words, *(escape + '"' for escape in ("", *escapes))):
        for member in ("", ":0", "0", '"":0'):
            yield token + member + brackets


@given(texts)
def test_a_text_is_open_where_it_can_still_become_an_object(text: str) -> None:
    partial, _ = read([text])
    if partial.state == "open":
        assert any(read([text, more])[0].state == "whole" for more in completions(partial))


@given(texts.filter(lambda text: not re.search("[\ud800-\udfff]", text)))
def test_what_jiter_refuses_as_a_beginning_is_broken(text: str) -> None:
    try:
        jiter.from_json(text.encode(), partial_mode="trailing-strings", allow_inf_nan=False)
    except ValueError:
        assert read([text])[0].state in ("broken", "empty")


# -- any cut ----------------------------------------------------------------------------------------------------------

Finder = Callable[[str, int], re.Match[str] | None]
PLACES = [place for place in vars(json_places).values() if isinstance(place, json_places.Place)]
HOMES = {"MAX_NUMBER_CHARACTERS": json_tokens, "MAX_VALUES": growing_object, "MAX_DEPTH": growing_object}
"""Of the limits; the others stand beside the reader."""


def forget() -> None:
    """Nothing is known of where short texts lead."""
    for place in PLACES:
        place.known.clear()


@pytest.fixture(autouse=True)
def forgetful() -> None:
    forget()


class InSteps(str):
    """A delta that is never taken as it is."""

    __slots__ = ()

    def isprintable(self) -> bool:
        return False


def account_of(deltas: Iterable[str]) -> list[object]:
    """What each delta says, and how the text stands behind it."""
    partial = PartialArguments()
    return [(partial.feed(delta), partial.state, partial.error, repr(partial.value)) for delta in deltas]


@given(
    cut_texts(),
    st.sampled_from(["MAX_CHARACTERS", "MAX_VALUES", "MAX_DEPTH", "MAX_KEY_CHARACTERS", "MAX_NUMBER_CHARACTERS"]),
    st.integers(0, 12) | st.just(10_000),
)
def test_what_is_taken_at_once_says_what_the_steps_say(cut: tuple[str, list[str]], limit: str, size: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(HOMES.get(limit, partial_arguments), limit, size)
        forget()
        at_once = account_of(cut[1])
        assert at_once == account_of(cut[1])
        forget()
        for place in PLACES:
            patch.setattr(place, "find", lambda text, position: None)
        assert at_once == account_of(map(InSteps, cut[1]))


@given(cut_texts())
def test_the_same_text_says_the_same_in_any_cut(cut: tuple[str, list[str]]) -> None:
    text, deltas = cut
    whole, whole_pieces = read([text])
    partial, pieces = read(deltas)
    assert merged(pieces) == merged(whole_pieces)
    assert (partial.state, partial.error) == (whole.state, whole.error)
    assert repr(partial.value) == repr(whole.value)


@given(cut_texts(), cut_texts())
def test_a_text_says_the_same_whatever_was_read_before(
    cut: tuple[str, list[str]], other: tuple[str, list[str]]
) -> None:
    forget()
    alone = account_of(cut[1])
    forget()
    account_of(other[1])
    assert account_of(cut[1]) == alone


@pytest.mark.parametrize("size", range(1, 9))
def test_of_what_strings_say_nothing_is_remembered(size: int) -> None:
    text = '{"key":"SAID","list":["SAID"]}'
    read(text[start : start + size] for start in range(0, len(text), size))
    known = "".join(text for place in PLACES for text in place.known)
    assert known
    assert not set("SAID") & set(known)


def test_few_and_short_texts_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_places, "MAX_KNOWN", 8)
    limit = json_places.MAX_KNOWN_CHARACTERS
    members = [(f'"{"k" * size}":', "true", ",") for size in range(1, limit + 9)]
    partial, _ = read(["{", *itertools.chain(*members)])
    assert (partial.state, len(partial.value)) == ("open", limit + 8)
    assert 1 < max(len(place.known) for place in PLACES) <= 8
    assert max(len(text) for place in PLACES for text in place.known) == limit


@given(cut_texts())
def test_a_look_at_the_snapshot_changes_nothing(cut: tuple[str, list[str]]) -> None:
    looked = PartialArguments()
    pieces: list[Piece] = []
    for delta in cut[1]:
        pieces += looked.feed(delta)
        assert looked.value.complete == (looked.state in ("whole", "glued"))
    unseen, expected = read(cut[1])
    assert (pieces, repr(looked.value)) == (expected, repr(unseen.value))


@given(cut_texts())
def test_deltas_joined_are_the_string_that_ends(cut: tuple[str, list[str]]) -> None:
    open_text: dict[Any, str] = {}
    for piece in read(cut[1])[1]:
        if isinstance(piece, StringDelta):
            assert piece.delta
            open_text[piece.path] = open_text.get(piece.path, "") + piece.delta
        elif isinstance(piece.value, str):
            assert piece.value == open_text.pop(piece.path, "")
    assert len(open_text) <= 1


@pytest.mark.parametrize(
    ("deltas", "told"),
    [
        (["a", "b"], ["a", "b"]),
        (["a\\", "nb"], ["a", "\nb"]),
        (["a\\u0", "0e", "9b"], ["a", None, "éb"]),
        (["a\\ud83d", "\\ude00b"], ["a", "😀b"]),
        (["\\ud83", "d\\u", "de0", "0"], [None, None, None, "😀"]),
        (["a\ud83d", "\ude00b"], ["a", "😀b"]),
        (["\ud83d\ude00"], ["😀"]),
        (["\\n\\t", '\\"'], ["\n\t", '"']),
        (["😀"], ["😀"]),
    ],
)
def test_what_a_delta_cuts_in_a_string_is_held_until_it_is_whole(deltas: list[str], told: list[str | None]) -> None:
    partial = PartialArguments()
    partial.feed('{"a":"')
    for delta, text in zip(deltas, told, strict=True):
        assert partial.feed(delta) == ([StringDelta(("a",), text)] if text else [])
    whole = "".join(text for text in told if text)
    assert partial.value == {"a": whole}
    assert partial.feed('"') == [ValueEnd(("a",), whole)]


def test_an_empty_delta_says_nothing() -> None:
    text = r'{"key":["a\n\u00e9",-1.5,true,{}]} '
    partial = PartialArguments()
    for character in text:
        before = (partial.state, repr(partial.value))
        assert partial.feed("") == []
        assert (partial.state, repr(partial.value)) == before
        partial.feed(character)
    assert partial.state == "whole"


def test_numbers_and_words_are_told_when_they_end() -> None:
    partial = PartialArguments()
    said = [partial.feed(delta) for delta in ('{"a":[1', "2", ".5", ",tr", "ue,n", "ull", ",-0]")]
    ends = [[], [], [], [ValueEnd(("a", 0), 12.5)], [ValueEnd(("a", 1), True)], [ValueEnd(("a", 2), None)]]
    assert said == [*ends, [ValueEnd(("a", 3), 0), ValueEnd(("a",), [12.5, True, None, 0])]]


def test_of_a_key_that_comes_twice_all_is_told_and_the_last_counts() -> None:
    partial = PartialArguments()
    assert partial.feed('{"a":"x","b":1,"a":"y') == [
        StringDelta(("a",), "x"),
        ValueEnd(("a",), "x"),
        ValueEnd(("b",), 1),
        StringDelta(("a",), "y"),
    ]
    assert partial.value == {"a": "y", "b": 1}
    partial.feed('z"}')
    assert partial.value == {"a": "yz", "b": 1}


# -- the snapshot -----------------------------------------------------------------------------------------------------


def test_a_snapshot_does_not_pass_for_a_dict() -> None:
    partial, _ = read(['{"path":"a.txt","edits":[{"old":"x'])
    assert not isinstance(partial.value, dict)
    with pytest.raises(TypeError):
        json.dumps(partial.value)
    with pytest.raises(TypeError):
        hash(partial.value)
    assert partial.value == {"path": "a.txt", "edits": [{"old": "x"}]}
    assert list(partial.value) == ["path", "edits"]
    assert len(partial.value) == 2
    assert partial.value["path"] == "a.txt"
    assert repr(partial.value).startswith("PartialObject({'path': 'a.txt', ")


@pytest.mark.parametrize(
    ("text", "open_path"),
    [
        ("", ()),
        ("{", ()),
        ('{"a', ()),
        ('{"a"', ("a",)),
        ('{"a":"', ("a",)),
        ('{"a":"b"', ()),
        ('{"a":1', ("a",)),
        ('{"a":[', ("a",)),
        ('{"a":[1', ("a", 0)),
        ('{"a":[1,', ("a",)),
        ('{"a":[1,{"b":"c', ("a", 1, "b")),
        ('{"a":[1]', ()),
        ('{"a":[1]}', None),
        ("{} {", None),
    ],
)
def test_a_snapshot_knows_what_is_still_being_written(text: str, open_path: tuple[str | int, ...] | None) -> None:
    value = read([text])[0].value
    assert value.open_path == open_path
    assert value.complete == (open_path is None)
    assert value.is_partial() == (open_path is not None)
    if open_path is not None:
        assert all(value.is_partial(open_path[:length]) for length in range(len(open_path) + 1))
        assert value.is_partial([*open_path])
        assert not value.is_partial((*open_path, "a"))
        assert not value.is_partial(("other",))


def test_a_snapshot_stays_as_it_was() -> None:
    partial, _ = read(['{"a":["b'])
    before = partial.value
    partial.feed('c",1],"d":2}')
    assert before == {"a": ["b"]}
    assert before.is_partial(("a", 0))
    assert partial.value == {"a": ["bc", 1], "d": 2}


# -- how the text stands ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "state", "offset", "expected"),
    [
        ("", "empty", None, None),
        (" \n\t\r", "empty", None, None),
        ("{", "open", None, None),
        ('{"a":"\\ud83d', "open", None, None),
        (" {} \n", "whole", None, None),
        ("{}{", "glued", 2, "nothing behind the object"),
        ("{} x", "glued", 3, "nothing behind the object"),
        ("[1]", "broken", 0, "an object"),
        ("null", "broken", 0, "an object"),
        ("\ufeff{}", "broken", 0, "an object"),
        ("\xa0{}", "broken", 0, "an object"),
        ("{1", "broken", 1, "a key or the end of the object"),
        ('{"a":1,}', "broken", 7, "a key"),
        ('{"a" 1', "broken", 5, "a colon"),
        ('{"a":,', "broken", 5, "a value"),
        ('{"a":]', "broken", 5, "a value"),
        ('{"a":NaN', "broken", 5, "a value"),
        ('{"a":[,', "broken", 6, "a value or the end of the list"),
        ('{"a":[1,]', "broken", 8, "a value"),
        ('{"a":[1}', "broken", 7, "a comma or the end of the list"),
        ('{"a":1]', "broken", 6, "a comma or the end of the object"),
        ('{"a":1 "b"', "broken", 7, "a comma or the end of the object"),
        ('{"a":01', "broken", 6, "a comma or the end of the object"),
        ('{"a":-}', "broken", 6, "a digit"),
        ('{"a":1.}', "broken", 7, "a digit"),
        ('{"a":1e+}', "broken", 8, "a digit"),
        ('{"a":trie', "broken", 7, "the word true"),
        ('{"a":nulL', "broken", 8, "the word null"),
        ('{"a":"\n', "broken", 6, "an escape instead of a control character"),
        ('{"a\x00', "broken", 3, "an escape instead of a control character"),
        ('{"a":"\\x', "broken", 7, 'one of "\\/bfnrtu behind a backslash'),
        ('{"a":"\\u12G', "broken", 10, "four hexadecimal digits"),
        ('{"a":"\\u12"', "broken", 10, "four hexadecimal digits"),
        ('{"a":"\\ud83dx', "broken", 12, "the second half of a surrogate pair"),
        ('{"a":"\\ud83d"', "broken", 12, "the second half of a surrogate pair"),
        ('{"a":"\\ud83d\\n', "broken", 12, "the second half of a surrogate pair"),
        ('{"a":"\\ud83d\\ud83d', "broken", 12, "the second half of a surrogate pair"),
        ('{"a":"b\\ude00', "broken", 7, "the first half of a surrogate pair before the second"),
        ('{"a":"\ud83dx', "broken", 7, "the second half of a surrogate pair"),
        ('{"a":"\ude00', "broken", 6, "the first half of a surrogate pair before the second"),
    ],
)
def test_glued_cut_and_broken_texts_are_told_apart(
    text: str, state: str, offset: int | None, expected: str | None
) -> None:
    for deltas in ([text], list(text)):
        partial, _ = read(deltas)
        assert partial.state == state
        assert partial.error == (None if expected is None else Fault(offset or 0, expected))


def test_behind_a_fault_nothing_is_read_and_what_came_before_stays() -> None:
    partial = PartialArguments()
    assert partial.feed('{"a":"b\x00c"}') == [StringDelta(("a",), "b")]
    assert partial.feed('d","e":1}') == []
    assert (partial.state, partial.value) == ("broken", {"a": "b"})
    assert partial.value.is_partial(("a",))


def test_a_glued_text_keeps_its_first_object() -> None:
    partial, pieces = read(['{"a":1}{"a":2}'])
    assert pieces == [ValueEnd(("a",), 1), ValueEnd((), {"a": 1})]
    assert partial.value == {"a": 1}


# -- limits -----------------------------------------------------------------------------------------------------------


def test_nesting_is_read_a_thousand_levels_deep_and_no_deeper() -> None:
    partial, pieces = read(['{"a":' * 999 + "[" + '"x"'])
    assert (partial.state, len(pieces[-1].path)) == ("open", 1000)
    value: Any = partial.value
    for _ in range(999):
        value = value["a"]
    assert value == ["x"]
    assert read(['{"a":' + "[" * 999 + "]" * 999 + "}"])[0].state == "whole"
    partial, _ = read(['{"a":' + "[" * 1_000_000])
    assert partial.error == Fault(5 + 999, "at most 1,000 levels of nesting")


@pytest.mark.parametrize(
    ("limit", "text", "offset", "expected"),
    [
        ("MAX_KEY_CHARACTERS", '{"12345678":1,"1\\n34567890', 24, "at most 8 characters"),
        ("MAX_VALUES", '{"a":[1,2,3,4,5,6],"b":7', 23, "at most 8 values"),
        ("MAX_DEPTH", '{"a":[[[[[[[[', 12, "at most 8 levels of nesting"),
        ("MAX_CHARACTERS", '{"a":"bcdef', 8, "at most 8 characters"),
        ("MAX_NUMBER_CHARACTERS", '{"a":12345678,"b":-12345678', 26, "at most 8 characters"),
    ],
)
def test_what_a_hostile_text_makes_us_hold_is_limited(
    limit: str, text: str, offset: int, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(HOMES.get(limit, partial_arguments), limit, 8)
    for deltas in ([text], list(text), [text[:7], text[7:]]):
        partial, _ = read(deltas)
        assert (partial.state, partial.error) == ("broken", Fault(offset, expected))
    assert read([text[:offset]])[0].state == "open"


@pytest.mark.parametrize("before", ['{"a":[1,', '{"a":[],"b":"c","d":'])
@pytest.mark.parametrize("value", ["7,", "7", "-", "true", "tr", '"', "{", "["])
def test_a_value_too_many_is_a_fault_whatever_it_is(before: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read([before, value])
    monkeypatch.setattr(growing_object, "MAX_VALUES", 3)
    for deltas in ([before + value], [before, value]):
        assert read(deltas)[0].error == Fault(len(before), "at most 3 values")


def test_an_integer_of_more_digits_than_the_process_allows_is_a_float() -> None:
    allowed = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    try:
        partial, _ = read(['{"a":' + "1" * 641 + ',"b":' + "1" * 640 + "}"])
    finally:
        sys.set_int_max_str_digits(allowed)
    assert partial.value == {"a": float("inf"), "b": (10**640 - 1) // 9}


# -- the cost ---------------------------------------------------------------------------------------------------------


def calls_made(action: Callable[[], object]) -> int:
    """How many functions, of Python and of C, an action calls."""
    count = 0

    def see(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(see)
    try:
        action()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("size", [1, 4, 10**9], ids=["by characters", "by fours", "at once"])
@pytest.mark.parametrize(
    ("beginning", "repeated"),
    [
        ('{"k":"', "word "),
        ('{"k":"', r"\n\u00e9\ud83d\ude00"),
        ('{"', "word "),
        ('{"k":"', '","k":"'),
        ('{"k":["', '",1,true,[-1.5e3],{"":0},"'),
        ('{"k":[["', '"],["'),
        ('{"k":', '{"k":'),
        ('{"k":', "9876543210"),
    ],
    ids=["text", "escapes", "key", "members", "values", "lists", "levels", "digits"],
)
def test_twice_the_text_takes_twice_the_calls(beginning: str, repeated: str, size: int) -> None:
    def calls(times: int) -> int:
        text = beginning + repeated * times
        deltas = [text[start : start + size] for start in range(0, len(text), size)]
        return calls_made(lambda: read(deltas))

    calls(50)
    unit, twice, four_times = calls(50), calls(100), calls(200)
    assert four_times - twice <= 2.05 * (twice - unit)


TEXTS_OF_ONE_KIND = {
    "string": '{"key":"' + "some text " * 200 + '"}',
    "escapes": '{"key":"' + r"\n\ud83d\ude00 " * 100 + '"}',
    "key": '{"' + "key" * 500 + '":1}',
    "digits": '{"a":' + "9" * 1500 + "}",
    "blanks": '{"a":' + " " * 1500 + "1}",
    "values": '{"a":[' + '1,true,-2.5,"b",{"c":null},' * 50 + "0]}",
}


@pytest.mark.parametrize("size", [1, 3, 100])
@pytest.mark.parametrize("kind", TEXTS_OF_ONE_KIND)
def test_of_what_came_before_a_few_characters_at_most_are_read_again(
    kind: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def watched(find: Finder) -> Finder:
        def find_and_see(text: str, position: int) -> re.Match[str] | None:
            assert len(text) <= size + 63
            return find(text, position)

        return find_and_see

    for place in PLACES:
        monkeypatch.setattr(place, "find", watched(place.find))
    monkeypatch.setattr(json_tokens, "_find_plain", watched(json_tokens._find_plain))
    monkeypatch.setattr(partial_arguments, "_find_blanks", watched(partial_arguments._find_blanks))
    text = TEXTS_OF_ONE_KIND[kind]
    partial, _ = read(text[start : start + size] for start in range(0, len(text), size))
    assert partial.state == "whole"


def test_what_is_plain_is_taken_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    behind_escape, _ = read(['{"text":"', "\\", "n"])

    def step(partial: PartialArguments, text: str, position: int, base: int) -> int:
        assert not text[position:].strip()
        return len(text)

    monkeypatch.setattr(PartialArguments, "_step", step)
    text = '{"rows" : [{"id":17,"name":"anné \u3000","ok":true,"no":false,"none":null,"x":-0.25,"tags":[1,2,[]]} , {}]}'
    for size in range(1, len(text) + 1):
        partial, _ = read(text[start : start + size] for start in range(0, len(text), size))
        assert partial.value == json.loads(text)
    assert read(['{"text":"', r"a\n", r"\u00e9\ud83d\ude00\"", r'\\"}'])[0].value == {"text": 'a\né😀"\\'}
    assert behind_escape.feed(r'a\t"}')[-1] == ValueEnd((), {"text": "\na\t"})


# -- events -----------------------------------------------------------------------------------------------------------


def call(*deltas: str, kind: ToolKind = "function", part: int = 0) -> list[Event]:
    return [
        ToolCallStart(part, 0, None, "c", "f", kind),
        *(ToolCallDelta(delta, part, 0) for delta in deltas),
        ToolCallEnd(part, 0, "c", "f", kind, "".join(deltas), "complete"),
    ]


def told(events: Iterable[Event]) -> list[LiveEvent]:
    return [event for event in live_arguments(events) if event.type in ("argument_delta", "argument_end")]


def test_each_delta_of_a_call_is_followed_by_what_it_says() -> None:
    start, first, second, end = call('{"path":"a.txt","content":"He', 'y","n":1}')
    text = TextDelta("x", 1, 0)
    assert list(live_arguments([start, first, text, second, end])) == [
        start,
        first,
        ArgumentDelta(0, 0, ("path",), "a.txt"),
        ArgumentEnd(0, 0, ("path",), "a.txt"),
        ArgumentDelta(0, 0, ("content",), "He"),
        text,
        second,
        ArgumentDelta(0, 0, ("content",), "y"),
        ArgumentEnd(0, 0, ("content",), "Hey"),
        ArgumentEnd(0, 0, ("n",), 1),
        ArgumentEnd(0, 0, (), {"path": "a.txt", "content": "Hey", "n": 1}),
        end,
    ]


def test_asynchronous_events_give_the_same() -> None:
    events = call('{"a":"b', 'c"}')

    async def source() -> AsyncIterator[Event]:
        for event in events:
            yield event

    async def read_all() -> list[LiveEvent]:
        return [event async for event in live_arguments(source())]

    assert_type(live_arguments(source()), AsyncGenerator[LiveEvent, None])
    assert_type(live_arguments(events), Generator[LiveEvent, None, None])
    assert asyncio.run(read_all()) == list(live_arguments(events))
    assert len(told(events)) == 4


def test_calls_that_overlap_are_kept_apart() -> None:
    start_1, one, one_more, end_1 = call('{"a":"', 'x"}', part=1)
    start_2, two, two_more, end_2 = call('{"b":"', 'y"}', part=2)
    assert told([start_1, start_2, one, two, two_more, end_2, one_more, end_1]) == [
        ArgumentDelta(2, 0, ("b",), "y"),
        ArgumentEnd(2, 0, ("b",), "y"),
        ArgumentEnd(2, 0, (), {"b": "y"}),
        ArgumentDelta(1, 0, ("a",), "x"),
        ArgumentEnd(1, 0, ("a",), "x"),
        ArgumentEnd(1, 0, (), {"a": "x"}),
    ]


@pytest.mark.parametrize("kind", ["function", "server", "builtin"])
def test_calls_with_json_arguments_are_shown_whoever_runs_them(kind: ToolKind) -> None:
    assert told(call('{"a":1}', kind=kind)) == [ArgumentEnd(0, 0, ("a",), 1), ArgumentEnd(0, 0, (), {"a": 1})]


def test_custom_input_and_code_say_nothing_of_arguments() -> None:
    for events in (call('{"a":1}', kind="custom"), call("import os\n", '{"a":1}', kind="server")):
        assert list(live_arguments(events)) == events


def test_a_delta_without_its_start_says_nothing_of_arguments() -> None:
    events = call('{"a":1}')[1:]
    assert list(live_arguments(events)) == events


@pytest.mark.parametrize(
    ("text", "paths"), [('{"a":1}{"b":2}', [("a",), ()]), ('{"a":1\x00', [("a",)])], ids=["glued", "broken"]
)
def test_behind_a_fault_the_events_go_on_and_arguments_do_not(text: str, paths: list[tuple[str, ...]]) -> None:
    events = call(text, '{"c":3}')
    assert [event.path for event in told(events)] == paths
    assert [event for event in live_arguments(events) if event in events] == events


@pytest.mark.parametrize(
    ("deltas", "last"), [(["{}", " "], "tool_call_end"), (["{}x", "y"], "argument_end")], ids=["ended", "at fault"]
)
def test_a_call_that_says_no_more_is_not_held(deltas: list[str], last: str, monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[weakref.ref[PartialArguments]] = []

    class Watched(PartialArguments):
        def __init__(self) -> None:
            super().__init__()
            held.append(weakref.ref(self))

    monkeypatch.setattr(arguments, "PartialArguments", Watched)
    held_at: list[str] = []
    for event in live_arguments([*call(*deltas), TextDelta("x", 1, 0)]):
        gc.collect()
        if held and held[0]() is not None:
            held_at.append(event.type)
    assert held_at[-1] == last


def test_a_long_delta_is_told_in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arguments, "SLICE_CHARACTERS", 8)
    assert told(call('{"a":"bcdefgh')) == [ArgumentDelta(0, 0, ("a",), "bc"), ArgumentDelta(0, 0, ("a",), "defgh")]


def test_arguments_that_a_decoder_gives_are_shown_while_they_stream() -> None:
    def delta(**function: str) -> bytes:
        return frame(chat({"tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": function}]}))

    decoder = StreamDecoder()
    events = decoder.feed(delta(name="write", arguments='{"text":"a'))
    events += decoder.feed(delta(arguments='\\nb"}')) + decoder.feed(frame(chat({}, "tool_calls"))) + decoder.close()
    assert told(events) == [
        ArgumentDelta(0, 0, ("text",), "a"),
        ArgumentDelta(0, 0, ("text",), "\nb"),
        ArgumentEnd(0, 0, ("text",), "a\nb"),
        ArgumentEnd(0, 0, (), {"text": "a\nb"}),
    ]


def test_the_last_field_of_each_event_is_its_type() -> None:
    assert [fields(event)[-1].default for event in (ArgumentDelta, ArgumentEnd)] == ["argument_delta", "argument_end"]
    assert [[field.name for field in fields(event)][:-1] for event in (ArgumentDelta, ArgumentEnd)] == [
        ["part", "choice", "path", "delta"],
        ["part", "choice", "path", "value"],
    ]
    assert isinstance(read(["{}"])[0].value, PartialObject)
