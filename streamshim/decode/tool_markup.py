"""Tool calls that leaked into the text as the markup of a model's own template (opt-in: `tool_markup=True`).

One scanner with a table of families. What could be the beginning of an opener is held, and no more; behind an opener
the text is held until its closer, or until it cannot be a call. Markup that never closes, that holds no call, or that
stands in code is text like any other.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import product

from ..json_codec import Brackets
from .limits import MAX_HELD_CHARACTERS
from .tool_markup_body import MarkupCall, read_calls

Piece = str | MarkupCall


@dataclass(frozen=True, slots=True)
class Family:
    """One template's way to write calls. Without a closer the markup ends with its JSON."""

    opener: str
    closer: str | None


_TAGS = ("tool_call", "tool_calls", "function_calls", "longcat_tool_call", "minimax:tool_call", "seed:tool_call")


def _families() -> list[Family]:
    bars = ("｜", "｜｜", "|", "||", "‖")
    marked = [(f"<{bar}{{}}{bar}>", bar, line) for bar, line in product(("｜", "|"), ("▁", "_"))]
    return [
        *(Family(f"<{tag}>", f"</{tag}>") for tag in _TAGS),
        *(
            Family(f"<{bar}DSML{bar}{name}>", f"</{bar}DSML{bar}{name}>")
            for bar, name in product(bars, ("function_calls", "tool_calls"))
        ),
        *(
            Family(form.format(f"tool{line}calls{line}begin"), form.format(f"tool{line}calls{line}end"))
            for form, _, line in marked
        ),
        Family("<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"),
        Family("<|FunctionCallBegin|>", "<|FunctionCallEnd|>"),
        Family("<function=", "</function>"),
        Family("<invoke name=", "</invoke>"),
        Family("[TOOL_CALLS]", None),
    ]


_FAMILIES = {family.opener: family for family in _families()}
_OPENER = re.compile("|".join(re.escape(opener) for opener in sorted(_FAMILIES, key=len, reverse=True)))
_LONGEST = max(map(len, _FAMILIES))
_STARTS = tuple({opener[0] for opener in _FAMILIES})
_MAY_BE_CALL = re.compile(r'\s*(?:[\[{<"]|[\w.\-/$]*\s*$|[\w.\-/$]+\s*[<>{\[\n])')
"""A body begins with JSON, with a tag, or with a bare name that a tag, JSON or a line end follows."""
_PROOF = 200
"""So many characters of a body are enough to see that it is prose."""


class MarkupScanner:
    """Finds calls in the text of one choice."""

    def __init__(self) -> None:
        """Nothing seen."""
        self._held = ""
        self._family: Family | None = None
        self._body: list[str] = []
        self._size = 0
        self._brackets: Brackets[str] = Brackets()
        self._drop_newlines = False
        self._line = ""
        self._last = ""
        self._in_fence = False

    def feed(self, text: str) -> list[Piece]:
        """The text that is text, and the calls that were found in it, in order."""
        pieces: list[Piece] = []
        text, self._held = self._held + text, ""
        while text:
            if self._family is not None:
                text = self._inside(text, pieces)
            elif self._drop_newlines and not (text := text.lstrip("\r\n")):
                break
            else:
                self._drop_newlines = False
                text = self._outside(text, pieces)
        return pieces

    def end(self) -> list[Piece]:
        """The text is over: what never closed was text."""
        pieces: list[Piece] = []
        rest = self._held
        if self._family is not None:
            rest = self._family.opener + "".join(self._body) + rest
            self._family = None
        self._held = ""
        self._say(rest, pieces)
        return pieces

    # -- outside and inside of markup ---------------------------------------------------------------------------------

    def _outside(self, text: str, pieces: list[Piece]) -> str:
        match = _OPENER.search(text)
        if match is None:
            keep = _opener_beginning(text)
            self._held = text[len(text) - keep :]
            self._say(text[: len(text) - keep], pieces)
            return ""
        self._say(text[: match.start()], pieces)
        if self._in_code():
            self._say(match[0], pieces)
        else:
            self._family = _FAMILIES[match[0]]
            self._body, self._size = [], 0
            self._brackets = Brackets()
        return text[match.end() :]

    def _inside(self, text: str, pieces: list[Piece]) -> str:
        family = self._family
        if family is None:
            return text
        overlap = self._tail(len(family.closer) - 1) if family.closer else ""
        end = self._find_end(family, overlap + text)
        if end >= 0:
            self._body.append(text[: max(0, end - len(overlap))])
            self._close(family, pieces)
            return text[max(0, end - len(overlap)) :]
        self._body.append(text)
        self._size += len(text)
        head = "".join(self._body)[:_PROOF] if self._size <= 2 * _PROOF else None
        if self._size > MAX_HELD_CHARACTERS or (head is not None and not self._may_be_call(family, head)):
            self._family = None
            self._say(family.opener, pieces)
            return "".join(self._body)
        return ""

    def _find_end(self, family: Family, text: str) -> int:
        """The position behind the closer, or behind the JSON where there is none."""
        if family.closer is None:
            return self._brackets.closes(text)
        position = text.find(family.closer)
        return position + len(family.closer) if position >= 0 else -1

    @staticmethod
    def _may_be_call(family: Family, body: str) -> bool:
        return family.opener.endswith("=") or _MAY_BE_CALL.match(body) is not None

    def _tail(self, length: int) -> str:
        """The last characters of the body."""
        tail = ""
        for piece in reversed(self._body):
            tail = piece[-length:] + tail
            if len(tail) >= length:
                break
        return tail[-length:] if length else ""

    def _close(self, family: Family, pieces: list[Piece]) -> None:
        markup = family.opener + "".join(self._body)
        self._family = None
        calls = read_calls(markup, len(family.opener), len(family.closer or ""))
        if calls:
            pieces.extend(calls)
            self._drop_newlines = True
            self._last = ""
        else:
            self._say(markup, pieces)

    # -- code ---------------------------------------------------------------------------------------------------------

    def _say(self, text: str, pieces: list[Piece]) -> None:
        if not text:
            return
        pieces.append(text)
        *lines, rest = text.split("\n")
        for line in lines:
            if (self._line + line[:8]).lstrip().startswith(("```", "~~~")):
                self._in_fence = not self._in_fence
            self._line = ""
        self._line = (self._line + rest[: 8 - len(self._line)]) if len(self._line) < 8 else self._line
        self._last = text[-1]

    def _in_code(self) -> bool:
        return self._in_fence or self._last == "`"


def _opener_beginning(text: str) -> int:
    """How many characters at the end of the text may be the beginning of an opener."""
    tail = text[1 - _LONGEST :]
    for start, character in enumerate(tail):
        if character in _STARTS and any(opener.startswith(tail[start:]) for opener in _FAMILIES):
            return len(tail) - start
    return 0
