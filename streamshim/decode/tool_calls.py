"""Tool calls of both wires: what is held back until it is certain, and what a call is worth in the end.

A call's Start waits until its name and id can no longer change. Its arguments go out as they come, but for a lone word
`null`, and for text behind a whole argument object, where nothing legal can follow: a repeat is dropped, a second
object is a second call where the wire named one.
"""

from __future__ import annotations

from ..events import ToolKind, ToolStatus
from ..json_codec import Brackets, loads
from .limits import MAX_HELD_CHARACTERS
from .parts import Part
from .snapshots import Kept
from .stream_state import StreamState

_DOUBLE_ENCODED_TRIES = 16


class Call:
    """One tool call, from its first mention to its End."""

    __slots__ = (
        "_after",
        "_brackets",
        "_held_size",
        "_is_closed",
        "_is_spoiled",
        "_scanned",
        "_waiting",
        "call_id",
        "choice",
        "item_id",
        "item_type",
        "kind",
        "name",
        "part",
        "said_incomplete",
        "second_head",
        "signature",
        "split",
        "state",
        "status",
    )

    def __init__(
        self, state: StreamState, choice: int, kind: ToolKind = "function", *, item_id: str | None = None
    ) -> None:
        """A call that nothing is known of yet.

        Raises:
            TooManyPartsError: there are enough of them.
        """
        state.parts.promise()
        self.state = state
        self.choice = choice
        self.kind: ToolKind = kind
        self.item_id = item_id
        self.item_type: str | None = None
        self.call_id: str | None = None
        self.name: str | None = None
        self.part: Part | None = None
        self.signature: str | None = None
        self.second_head: str | None = None
        """The wire said a name or an id again since arguments came: what that name was."""
        self.split: str | None = None
        """Arguments of a second call that were glued to this one's; whoever routes takes them."""
        self.said_incomplete = False
        """The wire closed the call and called it incomplete."""
        self.status: ToolStatus | None = None
        self._waiting: list[str] = []
        self._held_size = 0
        self._after: _BehindWhole | None = None
        self._brackets: Brackets[str] = Brackets()
        self._scanned = 0
        self._is_closed = False
        self._is_spoiled = False

    # -- arguments ----------------------------------------------------------------------------------------------------

    @property
    def has_arguments(self) -> bool:
        """Whether any argument text has come."""
        return bool(self._waiting) or self.has_given_arguments

    def arguments(self) -> str:
        """The argument text that was given out so far."""
        return (self.part.text() or "") if self.part is not None else ""

    @property
    def has_given_arguments(self) -> bool:
        """Whether any argument text was given out."""
        return self.part is not None and bool(self.part.pieces)

    @property
    def size(self) -> int:
        """How many characters of arguments were given out."""
        return self.part.pieces.size if self.part is not None else 0

    def seen_text(self) -> str:
        """All argument text that the wire gave, held or given out."""
        return self.arguments() + "".join(self._waiting) + (self._after.text() if self._after is not None else "")

    def add(self, text: str) -> None:
        """More argument text; never empty."""
        part = self.part
        if (
            part is None
            or not part.is_open
            or not part.pieces
            or self._after is not None
            or (text[0] in '{"' and self.is_whole())
        ):
            self._add_carefully(text)
        else:
            self.state.parts.arguments(part, text)

    def _add_carefully(self, text: str) -> None:
        if self.part is not None and not self.part.is_open:
            self.state.repair("delta-after-end", f"arguments of {self.name!r} came after the call was over")
        elif not self.has_given_arguments:
            self._begin(text)
        else:
            if self._after is None:
                self._after = _BehindWhole(self.arguments().strip())
            self._after.add(text)
            self._resolve()

    def _begin(self, text: str) -> None:
        """The first of the arguments: held as long as there is no name, or as they may be the word `null`."""
        self._waiting.append(text)
        self._held_size += len(text)
        if not self.name and self.part is None:
            if self._held_size > MAX_HELD_CHARACTERS:
                self.state.limit("the arguments of a call without a name are too long to be held")
                self.start()
            return
        if self.kind == "function" and len(self._waiting) < 8 and "null".startswith("".join(self._waiting).strip()):
            return
        self.start()
        self._give_waiting()

    def _give_waiting(self) -> None:
        """What was held of the arguments; blanks and the word `null` are none."""
        text = "".join(self._waiting)
        self._waiting.clear()
        if self.kind == "function" and text.strip() in ("", "null"):
            if text:
                self.state.repair("tool-arguments-empty", f"the arguments of {self.name!r} are {text!r}")
            return
        if self.kind == "function" and "}{" in text:
            text = self._first_of_equals(text)
        if text and self.part is not None:
            self.state.parts.arguments(self.part, text)

    def start(self) -> None:
        """Name and id are final: the Start. Nothing if it has started."""
        if self.part is not None:
            return
        if not self.call_id:
            self.call_id = self.state.make_id("call")
            self.state.repair("tool-id-missing", f"the call {self.name!r} has no usable id")
        self.part = self.state.parts.start_call(
            self.choice, self.item_id, self.call_id, self.name or "", self.kind, self.item_type
        )

    def _first_of_equals(self, text: str) -> str:
        """One string that holds the same whole object twice or more says it once."""
        end = Brackets[str]().closes(text)
        first, rest = text[:end], text[end:]
        if end <= 0 or rest.replace(first, "").strip():
            return text
        self.state.repair("tool-arguments-repeated", f"the arguments of {self.name!r} stand in one string twice")
        return first

    def is_whole(self) -> bool:
        """Whether the arguments so far are one closed object with nothing behind it. Looks at each character once."""
        part = self.part
        if self._is_spoiled or self.kind != "function" or part is None or not isinstance(part.pieces, Kept):
            return False
        if not part.pieces or not part.may_end_object():
            return False
        new = part.pieces.since(self._scanned)
        if self._scanned == 0 and not new.lstrip().startswith("{"):
            self._is_spoiled = True
            return False
        self._scanned = part.pieces.size
        if not self._is_closed:
            end = self._brackets.closes(new)
            if end < 0:
                return False
            self._is_closed = True
            new = new[end:]
        self._is_spoiled = bool(new.strip())
        return not self._is_spoiled

    def _resolve(self) -> None:
        """What stands behind the whole object, as far as it can be told yet."""
        after = self._after
        if after is None:
            return
        if after.is_repeat:
            self.state.repair("tool-arguments-repeated", f"the whole arguments of {self.name!r} came again")
            self._after = None
        elif after.differs:
            if self.second_head is not None and (after.is_open or after.is_object):
                if after.is_object:
                    self.state.repair("tool-arguments-glued", f"a second call was glued to {self.name!r}")
                    self.split = after.text()
                    self._after = None
                return
            self._flush_after()

    def _flush_after(self) -> None:
        if self._after is not None and self.part is not None:
            text = self._after.text()
            self._after = None
            self._is_spoiled = True
            self.state.parts.arguments(self.part, text)

    # -- the end ------------------------------------------------------------------------------------------------------

    @property
    def is_answerable(self) -> bool:
        """Whether the reader must answer it (a builtin one may have been answered by the vendor)."""
        return self.kind != "server" and self.status in ("complete", "invalid")

    def end(self, *, cut: bool, at_length: bool = False, started_as: ToolKind | None = None) -> None:
        """The End.

        `cut`: the stream broke off while the call was open; `at_length`: the budget ended; `started_as`: the kind
        before its item was whole.
        """
        self.start()
        part = self.part
        if part is None:
            raise AssertionError("a call that has started has a part")
        self._give_waiting()
        if self._after is not None:
            if self._after.differs:
                self._flush_after()
            else:
                self.state.repair("tool-arguments-repeated", f"the arguments of {self.name!r} came again, in part")
        self.state.parts.flush_half(part)
        arguments = self.arguments()
        kind = started_as or self.kind
        status = self.status = call_status(kind, self.name or "", arguments, cut=cut, at_length=at_length)
        if self.kind != "custom" and not arguments.strip() and status != "truncated":
            arguments = "{}"
        if status == "invalid":
            self.state.repair(
                "tool-call-invalid", f"the arguments of {self.name!r} are no JSON object, or it has no name"
            )
        self.state.parts.end_call(part, self.kind, arguments, status, self.signature)


class _BehindWhole:
    """Text that came behind a whole argument object, held until it is plain what it is."""

    def __init__(self, whole: str) -> None:
        self._whole = whole
        self._pieces: list[str] = []
        self._size = 0
        self._tries = 0
        self._brackets: Brackets[str] = Brackets()
        self._is_string = False
        self._looks_equal = True
        self.differs = False
        self.is_repeat = False
        self.is_open = True
        self.is_object = False

    def text(self) -> str:
        """All of it."""
        return "".join(self._pieces)

    def add(self, text: str) -> None:
        if not self._pieces:
            self._is_string = text.startswith('"')
        self._pieces.append(text)
        if self._looks_equal and not self._is_string:
            self._looks_equal = self._whole.startswith(text.rstrip(), self._size)
        self._size += len(text)
        if self._is_string:
            self._compare_decoded(text)
            return
        if self.is_open and self._brackets.closes(text) >= 0:
            self.is_open = False
            self.is_repeat = self._looks_equal and self.text().strip() == self._whole
            self.is_object = is_object(self.text())
        self.differs = not self.is_repeat and (not self._looks_equal or not self.is_open)

    def _compare_decoded(self, text: str) -> None:
        """A JSON string whose content is the whole object: the arguments encoded twice."""
        too_long = self._size > 6 * len(self._whole) + 16
        if self._size > len(self._whole) + 1 and text.rstrip().endswith('"') and self._tries < _DOUBLE_ENCODED_TRIES:
            self._tries += 1
            try:
                decoded = loads(self.text())
            except ValueError:
                decoded = None
            if isinstance(decoded, str):
                self.is_repeat = decoded.strip() == self._whole
                self.differs = not self.is_repeat
        self.differs = self.differs or (too_long and not self.is_repeat) or self._tries >= _DOUBLE_ENCODED_TRIES


def is_object(arguments: str) -> bool:
    """Whether the text is a JSON object."""
    try:
        return isinstance(loads(arguments), dict)
    except ValueError:
        return False


def call_status(kind: ToolKind, name: str, arguments: str, *, cut: bool, at_length: bool) -> ToolStatus:
    """What a call is worth: a cut one must never be run, whatever its JSON looks like."""
    if cut:
        return "truncated"
    if kind == "server":
        return "handled"
    if kind == "custom":
        return "truncated" if at_length else "complete"
    if at_length:
        return "complete" if is_object(arguments) else "truncated"
    return "complete" if name and (not arguments.strip() or is_object(arguments)) else "invalid"
