"""Text for people: broken between words and coloured on a terminal, left as it is in a pipe.

`Terminal` knows the column and writes text as it comes, so that a word which turns out too long for its line moves to
the next one. A pen puts the result on the screen: `PlainPen` anywhere, `RichPen` in colour, where rich is installed.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import unicodedata
from typing import TYPE_CHECKING, Protocol, TextIO

if TYPE_CHECKING:
    from rich.console import Console

JSON = "json"
"""The style of JSON text: a pen that has colours uses them by its grammar. Any other style is one of rich's."""

WIDEST = 100
"""Longer lines are hard to read, however wide the terminal is."""

_IDEOGRAPHS = "\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60"
_PIECE = re.compile(rf"\n|[ \t]+|[{_IDEOGRAPHS}]|[^ \t\n{_IDEOGRAPHS}]+")
_IDEOGRAPH = re.compile(f"[{_IDEOGRAPHS}]")

_CONTROL_PICTURES: dict[int, int | None] = {code: 0x2400 + code for code in range(32)}
_CONTROL_PICTURES |= dict.fromkeys(range(0x80, 0xA0), 0xFFFD)
_CONTROL_PICTURES |= {ord("\n"): ord("\n"), ord("\t"): ord("\t"), ord("\r"): None, 0x7F: 0x2421}


def visible(text: str) -> str:
    """The text with control characters shown, not obeyed: what a model says must not drive the terminal."""
    return text if text.isprintable() else text.translate(_CONTROL_PICTURES)


def cells(text: str) -> int:
    """How many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else not unicodedata.combining(c) for c in text)


class Pen(Protocol):
    """Puts text on a screen or into a file, at once."""

    def write(self, text: str, style: str) -> None:
        """Writes the text as it stands."""

    def erase(self, count: int) -> None:
        """Takes the last `count` columns of this line back."""


class PlainPen:
    """Text without colours."""

    def __init__(self, file: TextIO) -> None:
        """`file` is flushed after each text."""
        self._file = file

    def write(self, text: str, style: str) -> None:  # noqa: ARG002 -- styles are for pens that have colours
        """Writes the text as it stands."""
        self._file.write(text)
        self._file.flush()

    def erase(self, count: int) -> None:
        """Steps back, over blanks."""
        self._file.write("\b" * count + " " * count + "\b" * count)


class RichPen:
    """Text in the colours of rich."""

    def __init__(self, console: Console) -> None:
        """`console` knows what its terminal can show."""
        from rich.highlighter import JSONHighlighter

        self._console = console
        self._highlight_json = JSONHighlighter()

    def write(self, text: str, style: str) -> None:
        """Writes the text in its style, JSON in the colours of its grammar."""
        from rich.text import Text

        marked = self._highlight_json(text) if style == JSON else Text(text, style)
        self._console.print(marked, end="", soft_wrap=True)

    def erase(self, count: int) -> None:
        """Steps back and clears the rest of the line."""
        from rich.control import Control
        from rich.segment import ControlType

        self._console.control(Control((ControlType.CURSOR_BACKWARD, count), (ControlType.ERASE_IN_LINE, 0)))


class Terminal:
    """Writes text as it comes, and knows in which column it stands."""

    def __init__(self, pen: Pen, width: int) -> None:
        """`width` is in columns; `sys.maxsize` where lines are not to be broken."""
        self.width = width
        self._pen = pen
        self._ready: list[str] = []
        self._column = 0
        self._gap = ""
        """Blanks that are to be written once it is known that something follows them on the line."""
        self._word = ""
        """As much of the last word as is on the screen, and the blanks before it."""
        self._blanks = ""

    def write(self, text: str, style: str = "", margin: str = "") -> None:
        """Goes on where the last text ended; `margin` stands at the start of each new line."""
        for piece in _PIECE.findall(visible(text)):
            if piece == "\n":
                self._end_line(margin)
            elif piece.isspace():
                self._gap += piece
                self._word = ""
            else:
                self._add_word(piece, style, margin)
        self._put(style)

    def line(self, text: str = "", style: str = "", margin: str = "") -> None:
        """Writes a line of its own, or an empty one."""
        self.fresh_line()
        self.write(text + "\n", style, margin)

    def block(self, text: str, style: str, indent: str) -> None:
        """Writes whole lines that are not to be broken."""
        self.fresh_line()
        self._pen.write("".join(f"{indent}{line}\n" for line in visible(text).split("\n")), style)

    def fresh_line(self) -> None:
        """Ends the line, unless nothing stands on it."""
        if self._column:
            self._gap = ""
            self._end_line("")
            self._put("")

    def _end_line(self, margin: str) -> None:
        if margin and not self._column:
            self._ready.append(margin.rstrip())
        elif self._column + cells(self._gap) <= self.width:
            self._ready.append(self._gap)
        self._break_line()

    def _add_word(self, fragment: str, style: str, margin: str) -> None:
        if not self._word or _IDEOGRAPH.match(fragment):
            self._word = self._blanks = ""
        too_long = self._column + cells(self._gap + fragment) > self.width
        if too_long and self._column > cells(margin + self._blanks + self._word):
            if self._word:
                self._put(style)
                self._pen.erase(cells(self._blanks + self._word))
                fragment = self._word + fragment
            self._break_line()
        if not self._column:
            self._ready.append(margin)
            self._column = cells(margin)
        self._ready.append(self._gap + fragment)
        self._column += cells(self._gap + fragment)
        self._blanks += self._gap
        self._gap = ""
        self._word = "" if _IDEOGRAPH.match(fragment) else self._word + fragment

    def _break_line(self) -> None:
        self._ready.append("\n")
        self._column = 0
        self._gap = self._word = self._blanks = ""

    def _put(self, style: str) -> None:
        if self._ready:
            self._pen.write("".join(self._ready), style)
            self._ready.clear()


def standard_output() -> Terminal:
    """Standard output: in colour on a terminal where rich is installed and `NO_COLOR` is not set, else plain."""
    screen = sys.stdout
    width = min(shutil.get_terminal_size().columns - 1, WIDEST) if screen.isatty() else sys.maxsize
    return Terminal(_pen(screen), width)


def _pen(screen: TextIO) -> Pen:
    if not screen.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return PlainPen(screen)
    try:
        from rich.console import Console
    except ModuleNotFoundError:
        return PlainPen(screen)
    return RichPen(Console(file=screen))
