"""Thought between tags, cut anywhere, and its mirrors."""

from __future__ import annotations

import pytest

from streamshim.decode.reasoning_tags import TagSplitter
from streamshim.decode.stream_state import TagMode


def split(
    pieces: list[str], mode: TagMode = "auto", structured: dict[int, str] | None = None
) -> tuple[list[tuple[str, str]], list[str]]:
    """Neighbouring pieces of a kind joined, and the quirks that were noted."""
    quirks: list[str] = []
    splitter = TagSplitter(mode, lambda quirk, _: quirks.append(quirk))
    sorted_pieces: list[tuple[str, str]] = []
    for position, piece in enumerate(pieces):
        if structured and position in structured:
            splitter.see_structured(structured[position])
        sorted_pieces += splitter.feed(piece)
    joined: list[tuple[str, str]] = []
    for kind, text in sorted_pieces + splitter.end():
        if joined and joined[-1][0] == kind:
            joined[-1] = (kind, joined[-1][1] + text)
        else:
            joined.append((kind, text))
    return joined, sorted(set(quirks))


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("<think>\nab</think>\n\nc", [("thought", "ab"), ("text", "c")]),
        (" \n<think>a</think>b", [("thought", "a"), ("text", "b")]),
        ("<think>a</think> b", [("thought", "a"), ("text", " b")]),
        ("<think>a</think>\n<thinking>b</thinking>c", [("thought", "ab"), ("text", "c")]),
        ("<THINK>a</ThInK>b", [("thought", "a"), ("text", "b")]),
        ("◁think▷a◁/think▷b", [("thought", "a"), ("text", "b")]),
        ("<think>a <think> b</think>c", [("thought", "a <think> b"), ("text", "c")]),
        ("<think>a</thinking></think>b", [("thought", "a</thinking>"), ("text", "b")]),
        ("<think>\n\n</think>\n\nx", [("text", "x")]),
        ("<think>a</thi", [("thought", "a</thi")]),
        ("<think>", []),
        ("hi <think>x</think>", [("text", "hi <think>x</think>")]),
        ("<thinker>x", [("text", "<thinker>x")]),
        (" \n x", [("text", " \n x")]),
        ("İ<think>x", [("text", "İ<think>x")]),
    ],
)
def test_tags_are_sorted_in_every_cut(content: str, expected: list[tuple[str, str]]) -> None:
    assert split([content])[0] == expected
    assert split(list(content))[0] == expected


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("plan\n</think>\n\nhi", [("thought", "plan\n"), ("text", "hi")]),
        ("\n<think>x</think>y", [("thought", "x"), ("text", "y")]),
        ("never closed", [("thought", "never closed")]),
    ],
)
def test_open_mode_begins_inside_a_thought(content: str, expected: list[tuple[str, str]]) -> None:
    assert split([content], "open")[0] == expected
    assert split(list(content), "open")[0] == expected


def test_off_mode_leaves_everything() -> None:
    assert split(["<think>a</think>b"], "off") == ([("text", "<think>a</think>b")], [])


@pytest.mark.parametrize("pieces", [["plan</think>hi"], list("plan</think>hi")])
def test_closer_without_opener_stays_and_is_noted(pieces: list[str]) -> None:
    assert split(pieces) == ([("text", "plan</think>hi")], ["reasoning-orphan-closer"])


def test_text_that_talks_of_tags_is_no_orphan() -> None:
    assert split(["use <think> and ", "</think> so"])[1] == []


@pytest.mark.parametrize(
    ("pieces", "structured", "expected"),
    [
        (["<think>Hm", "Hm</think>ok"], {0: "Hm", 1: "Hm"}, [("text", "ok")]),
        (["<think>", "Hm", "</think>ok"], {1: "Hm"}, [("text", "ok")]),
        (["<think>", "", "answer"], {1: "Hm"}, [("text", "answer")]),
        (["", "</think>\nok"], {0: "Hm"}, [("text", "ok")]),
        (["", "<think>Hm"], {0: "Hm"}, [("mirror", "Hm")]),
        (["<think>own", "</think>ok"], {}, [("thought", "own"), ("text", "ok")]),
    ],
)
def test_tagged_copy_of_structured_thought_is_dropped(
    pieces: list[str], structured: dict[int, str], expected: list[tuple[str, str]]
) -> None:
    assert split(pieces, structured=structured)[0] == expected


def test_text_flows_at_once_where_no_tag_can_be() -> None:
    splitter = TagSplitter("auto", lambda quirk, detail: None)
    assert splitter.feed("<") == []
    assert splitter.feed("b>bold") == [("text", "<b>bold")]
    assert splitter.feed(" <") == [("text", " <")]
