"""Thought between tags in the text (`<think>` and its kin), split over any number of deltas.

An opener counts only at the very start of a choice's content, or at a line start right after a think block or a tool
call. What could be the beginning of a tag is held, and no more: once the text has begun it flows freely. Where the wire
has structured reasoning as well, tagged thought is its mirror and is dropped.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from typing import Literal

from .limits import MAX_HELD_CHARACTERS
from .stream_state import TagMode

_NAMES = ("think", "thinking", "thought", "reasoning", "mm:think", "seed:think")
_CLOSER_OF = {f"<{name}>": f"</{name}>" for name in _NAMES} | {"◁think▷": "◁/think▷"}
_OPENERS, _CLOSERS = tuple(_CLOSER_OF), tuple(_CLOSER_OF.values())
_LONGEST = max(map(len, _CLOSERS))


def _pattern(*tags: str) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, tags)), re.IGNORECASE | re.ASCII)


_ANY_OPENER, _ANY_CLOSER = _pattern(*_OPENERS), _pattern(*_CLOSERS)
_PATTERN_OF = {closer: _pattern(closer) for closer in _CLOSERS}

Piece = tuple[Literal["text", "thought", "mirror"], str]
"""A piece of content, sorted. "mirror": it may repeat the structured thought, and no closer ever came to say so."""


class TagSplitter:
    """Sorts the content of one choice into text and thought."""

    def __init__(self, mode: TagMode, repair: Callable[[str, str], None]) -> None:
        """`mode`: "auto", "off" (tags are text) or "open" (the content begins inside a thought)."""
        self._state: Literal["start", "thought", "text"] = {"auto": "start", "off": "text", "open": "thought"}[mode]  # type: ignore[assignment]
        self._is_off = mode == "off"
        self._repair = repair
        self._buffer = ""
        self._closers, self._closer = _CLOSERS, _ANY_CLOSER
        self._opener_may_follow = mode == "open"
        self._drop_newlines = mode == "open"  # right behind an opener or a closer
        self._has_spoken = False  # a thought or text was given out since the content began
        self._structured = False
        self._mirror: _Mirror | None = None
        self._looks_for_orphans = mode == "auto"
        self._orphan_tail = ""

    @property
    def flows(self) -> bool:
        """Whether content passes through as text, with nothing to look for."""
        return self._state == "text" and not self._looks_for_orphans

    @property
    def is_text(self) -> bool:
        """Whether content that holds no tag character passes through as text."""
        return self._state == "text" and not self._orphan_tail

    @property
    def compares_thought(self) -> bool:
        """Whether structured thought must be told to it: tagged content may be its mirror."""
        return self._state == "thought"

    def after_tool_call(self) -> None:
        """Behind a tool call a tag may open again."""
        if self._state == "text" and not self._is_off:
            self._state, self._has_spoken = "start", True

    def see_structured(self, thought: str) -> None:
        """The wire has fields of its own for thought; `thought` is what they said now."""
        self._structured = True
        if self._state == "thought" and not self._has_spoken and self._mirror is None:
            self._mirror = _Mirror(lone_opener=True)
        if self._mirror is not None:
            self._mirror.original.append(thought)

    def feed(self, content: str) -> list[Piece]:
        """More content, sorted as far as can be told."""
        self._buffer += content
        pieces: list[Piece] = []
        while self._buffer and self._step(pieces):
            pass
        return pieces

    def end(self) -> list[Piece]:
        """The content is over: what was held is what it looks like; a thought that no closer ended was thought."""
        held, self._buffer = self._buffer, ""
        mirror, self._mirror = self._mirror, None
        was_thought = self._state == "thought"
        self._state = "text"
        if mirror is not None:
            return [("mirror", mirror.text() + held)]
        return [("thought" if was_thought else "text", held)] if held else []

    # -- states: each takes from the buffer, and tells whether there is more to do ------------------------------------

    def _step(self, pieces: list[Piece]) -> bool:
        if self._state == "start":
            return self._at_start()
        if self._state == "thought":
            return self._in_thought(pieces)
        text, self._buffer = self._buffer, ""
        if self._looks_for_orphans:
            self._look_for_orphan(text)
        pieces.append(("text", text))
        return False

    def _at_start(self) -> bool:
        content = self._buffer
        body = content.lstrip("\r\n" if self._drop_newlines else None)
        if match := _ANY_OPENER.match(body):
            self._open(match[0].lower())
            self._buffer = body[match.end() :]
            return True
        tags = _OPENERS
        if self._structured and not self._has_spoken:
            tags += _CLOSERS
            if match := _ANY_CLOSER.match(body):
                self._repair("reasoning-mirrored-tags", "a closing tag is left of a thought that came in a field")
                self._buffer, self._drop_newlines = body[match.end() :], True
                return True
        if len(content) < MAX_HELD_CHARACTERS and _may_become(tags, body):
            self._buffer = body if self._drop_newlines else content
            return False
        self._state, self._has_spoken = "text", True
        self._buffer = body if self._drop_newlines else content
        self._drop_newlines = False
        return True

    def _open(self, opener: str) -> None:
        closer = _CLOSER_OF[opener]
        self._state = "thought"
        self._closers, self._closer = (closer,), _PATTERN_OF[closer]
        self._drop_newlines = True
        if self._structured and not self._has_spoken:
            self._mirror = _Mirror(lone_opener=False)

    def _in_thought(self, pieces: list[Piece]) -> bool:
        if self._drop_newlines and not self._begin_thought():
            return bool(self._buffer) and not self._opener_may_follow
        content = self._buffer
        match = self._closer.search(content)
        if match:
            self._say(content[: match.start()], pieces)
            self._close(content[match.end() :])
            return True
        held = _tag_beginning(self._closers, content)
        self._buffer = content[len(content) - held :]
        self._say(content[: len(content) - held], pieces)
        return self._state != "thought"

    def _begin_thought(self) -> bool:
        """Newlines right behind the opener go; in "open" mode one opener may stand there all the same."""
        self._buffer = self._buffer.lstrip("\r\n")
        body = self._buffer.lstrip()
        if self._opener_may_follow:
            if match := _ANY_OPENER.match(body):
                self._buffer = body[match.end() :]
                self._opener_may_follow = False
                return False
            if _may_become(_OPENERS, body):
                return False
            self._opener_may_follow = False
        if not self._buffer:
            return False
        self._drop_newlines = False
        return True

    def _say(self, thought: str, pieces: list[Piece]) -> None:
        if not thought:
            return
        mirror = self._mirror
        if mirror is None:
            self._has_spoken = True
            pieces.append(("thought", thought))
        elif not mirror.add(thought):  # no mirror after all: a lone opener stood before the answer
            self._mirror = None
            self._repair("reasoning-mirrored-tags", "a lone opening tag stands before a thought that came in a field")
            self._buffer = mirror.text() + self._buffer
            self._state, self._drop_newlines = "text", False

    def _close(self, rest: str) -> None:
        if self._mirror is not None:
            self._repair("reasoning-mirrored-tags", "tagged thought repeats what came in a field")
            self._mirror = None
        self._state, self._buffer = "start", rest
        self._has_spoken = self._drop_newlines = True

    # -- closers without an opener ------------------------------------------------------------------------------------

    def _look_for_orphan(self, text: str) -> None:
        """It is too late to call the text thought, but not to say so."""
        if not self._orphan_tail and "<" not in text:
            return
        text = self._orphan_tail + text
        self._orphan_tail = text[len(text) - _tag_beginning(_OPENERS + _CLOSERS, text) :]
        if _ANY_OPENER.search(text):  # an answer that talks of tags
            self._looks_for_orphans, self._orphan_tail = False, ""
        elif _ANY_CLOSER.search(text):
            self._looks_for_orphans, self._orphan_tail = False, ""
            self._repair("reasoning-orphan-closer", 'a closing tag without an opener; see reasoning_tags="open"')


class _Mirror:
    """Tagged content that may repeat structured reasoning: held until its closer comes, or until it is no repeat."""

    def __init__(self, *, lone_opener: bool) -> None:
        """`lone_opener`: the opener came before any structured reasoning, so the answer itself may follow it."""
        self.original: deque[str] = deque()
        self._lone_opener = lone_opener
        self._held: list[str] = []
        self._size = 0
        self._offset = 0

    def text(self) -> str:
        return "".join(self._held)

    def add(self, content: str) -> bool:
        """More content; False where it cannot be the mirror."""
        self._held.append(content)
        self._size += len(content)
        return self._size < MAX_HELD_CHARACTERS and (not self._lone_opener or self._matches(content))

    def _matches(self, content: str) -> bool:
        """Whether the original goes on just so. Each character of both is looked at once."""
        while content and self.original:
            piece = self.original[0]
            if self._size == len(content) and self._offset == 0:
                piece = self.original[0] = piece.lstrip("\r\n")
            length = min(len(content), len(piece) - self._offset)
            if not piece.startswith(content[:length], self._offset):
                return False
            content = content[length:]
            self._offset += length
            if self._offset >= len(piece):
                self.original.popleft()
                self._offset = 0
        return not content


def _may_become(tags: tuple[str, ...], text: str) -> bool:
    """Whether the text is the beginning of a tag, or nothing yet."""
    return len(text) < _LONGEST and any(tag.startswith(text.lower()) for tag in tags)


def _tag_beginning(tags: tuple[str, ...], text: str) -> int:
    """How many characters at the end of the text may be the beginning of a tag."""
    tail = text[1 - _LONGEST :]
    start = max(tail.rfind("<"), tail.rfind("◁"))
    return len(tail) - start if start >= 0 and _may_become(tags, tail[start:]) else 0
