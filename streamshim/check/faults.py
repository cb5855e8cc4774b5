"""The table of every fault that the check can name: what it is a fault of, and what it does to the official SDK.

A fault is either a repair of streamshim, under the id that it has in `streamshim.quirks`, or a departure from the
documented wire that streamshim reads past without a repair. What the SDK does is measured by the tests.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..quirks import QUIRKS

Aspect = Literal[
    "framing",
    "delta shape",
    "finish",
    "usage",
    "reasoning",
    "call identity",
    "several calls",
    "call arguments",
    "empty arguments",
    "errors",
    "sequence",
    "sequence numbers",
    "ids",
    "snapshots",
]
"""What a fault is a fault of: one item of each API names it, and no other."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One row of the table.

    Attributes:
        id: of the fault.
        aspect: what it is a fault of.
        seen: what is seen on the wire.
        sdk: what a loop over the official SDK's stream does; empty where it reads past it.
        helper: what the SDK's `.stream()` helper does, where that is something else; `HARMLESS` where it reads past it.
        lost: whether something is gone that nobody can bring back.
        entails: faults that are seen wherever this one is, and are not told beside it.
        option: the option that streamshim's decoder needs for it.
    """

    id: str
    aspect: Aspect
    seen: str
    sdk: str = ""
    helper: str = ""
    lost: bool = False
    entails: tuple[str, ...] = ()
    option: str = ""


@dataclass(frozen=True, slots=True)
class _Row:
    """What is known of a quirk beside the table of quirks."""

    aspect: Aspect
    sdk: str = ""
    helper: str = ""
    lost: bool = False
    entails: tuple[str, ...] = ()
    option: str = ""


HARMLESS = "reads past it"

_RAISES = "raises JSONDecodeError"
_QUIRKS: dict[str, _Row] = {
    "single-line-feed": _Row(
        "framing", "gives an empty answer, or raises JSONDecodeError", "raises AssertionError or RuntimeError"
    ),
    "done-form": _Row("framing", "may raise AttributeError"),
    "error-field": _Row("errors", "does not report the error"),
    "unreadable-frame": _Row("framing", _RAISES, lost=True),
    "half-frame": _Row("framing", "may not report that it was cut", lost=True, entails=("last-event-open", "cut")),
    "json-lenient": _Row("framing", "may raise UnicodeDecodeError or JSONDecodeError"),
    "payload-no-object": _Row("framing", "raises AttributeError"),
    "choices-shape": _Row("delta shape", "raises KeyError", "raises TypeError"),
    "content-number": _Row("delta shape", "raises TypeError where texts are joined", "loses text"),
    "data-after-done": _Row("framing"),
    "message-repeated": _Row(
        "delta shape",
        "may raise AttributeError, and loses what only the message says",
        "loses what only the message says",
        entails=("delta-missing", "chunk-object", "text-after-finish", "finish-repeated"),
    ),
    "text-cumulative": _Row("delta shape", "gives the text twice"),
    "finish-word": _Row("finish", "hands on a word that no reader expects"),
    "finish-contradiction": _Row("finish", "hands on both words", entails=("finish-repeated",)),
    "finish-wrong": _Row("finish", "hands on the wrong word: loops that wait for tool_calls run no tool"),
    "finish-without-calls": _Row("finish", "hands on the wrong word: loops wait for calls that never come"),
    "reasoning-mirrored-fields": _Row("reasoning", "shows the thought twice, in fields that it does not know"),
    "reasoning-mirrored-tags": _Row("reasoning", "leaves the thought in the text"),
    "reasoning-cumulative": _Row("reasoning", "shows the thought again and again"),
    "reasoning-orphan-closer": _Row(
        "reasoning", "leaves the thought in the text", lost=True, option='reasoning_tags="open"'
    ),
    "tool-id-missing": _Row("call identity", "gives a call that cannot be answered"),
    "tool-id-changes": _Row("call identity", "", "glues the ids together"),
    "tool-id-duplicate": _Row("several calls", "gives two calls that cannot be told apart", "glues the ids together"),
    "tool-index-missing": _Row("call identity", "joins the arguments wrongly", "may raise TypeError"),
    "tool-index-reused": _Row("several calls", "merges the calls into one"),
    "tool-name-repeated": _Row("call identity", "", "glues the names together"),
    "tool-name-markup": _Row("call identity", "gives a name that no tool has"),
    "tool-arguments-object": _Row("call arguments", "may raise TypeError, or loses the arguments", "raises TypeError"),
    "tool-arguments-empty": _Row("empty arguments", "gives arguments that are no object"),
    "tool-arguments-repeated": _Row("call arguments", "gives the arguments twice: no JSON"),
    "tool-arguments-glued": _Row(
        "several calls", "gives two objects in one text: no JSON", entails=("tool-id-missing", "tool-name-repeated")
    ),
    "tool-call-invalid": _Row(
        "call arguments", "hands on arguments that are no JSON object", "raises JSONDecodeError", lost=True
    ),
    "tool-markup": _Row(
        "call identity",
        "gives the call as text",
        entails=("tool-id-missing", "finish-wrong", "finish-missing"),
        option="tool_markup=True",
    ),
    "tool-legacy-function-call": _Row(
        "call identity",
        "gives a function_call, which few readers still look for",
        entails=("tool-id-missing", "finish-word"),
    ),
    "response-id-changes": _Row("ids", "", "raises RuntimeError"),
    "status-over-name": _Row(
        "sequence", "takes a stopped answer for a whole one, or misses the end", "may raise RuntimeError"
    ),
    "delta-after-end": _Row("sequence", "gives words twice", "may raise IndexError"),
    "snapshot-longer": _Row("snapshots", "loses the end of the text, where only deltas are read", HARMLESS),
    "snapshot-differs": _Row("snapshots", "gives one text in the deltas and another at the end"),
}

_BREACHES = (
    # framing
    Fault(
        "not-an-event-stream",
        "framing",
        "the answer to a streamed request is JSON, and no event stream",
        "gives an empty answer without a word",
        "raises AssertionError or RuntimeError",
    ),
    Fault("content-type", "framing", "an event stream is called something else in the head of the answer"),
    Fault("byte-order-mark", "framing", "the body begins with a byte order mark", "loses the first event"),
    Fault("event-without-data", "framing", "an event has a name, an id or a retry time, and no data", _RAISES),
    Fault("empty-data", "framing", "the data of an event is empty", _RAISES),
    Fault("last-event-open", "framing", "the last event is not closed by a blank line", "may lose the last event"),
    Fault("done-missing", "framing", "the stream ends without [DONE]"),
    Fault(
        "cut",
        "framing",
        "the bytes end before anything says that the answer is whole",
        "may not report that it was cut",
        lost=True,
    ),
    # chat chunks
    Fault(
        "choices-missing",
        "delta shape",
        "a chunk has no choices",
        "raises TypeError where choices are looked at",
        "raises TypeError",
    ),
    Fault("chunk-id", "delta shape", "a chunk has no id, or another one than the chunk before"),
    Fault(
        "chunk-object", "delta shape", "the object of a chunk is not chat.completion.chunk", "", "raises AssertionError"
    ),
    Fault("chunk-head", "delta shape", "a chunk has no model or no time", "gives None where a value is promised"),
    Fault(
        "choice-index-missing",
        "delta shape",
        "a choice has no index",
        "gives None",
        "raises TypeError",
        entails=("role-repeated", "finish-repeated"),
    ),
    Fault(
        "content-parts",
        "delta shape",
        "the content is a list of parts",
        "raises TypeError where texts are joined",
        "may raise RuntimeError, or loses text",
    ),
    Fault(
        "delta-missing",
        "delta shape",
        "a choice has no delta",
        "raises AttributeError where it is looked at",
        "raises AttributeError",
    ),
    Fault("role-missing", "delta shape", "the first delta does not say the role", "", "gives a message without a role"),
    Fault("role-repeated", "delta shape", "the role comes again with later deltas", "", "glues the roles together"),
    # finish
    Fault("finish-missing", "finish", "no finish word comes", "gives None", lost=True, entails=("finish-wrong",)),
    Fault("finish-empty", "finish", "the finish word of a running choice is an empty text, not null"),
    Fault("finish-repeated", "finish", "the finish word comes with several chunks"),
    Fault("text-after-finish", "finish", "more comes behind the finish word", "", "may raise JSONDecodeError"),
    # usage
    Fault("usage-missing", "usage", "token counts were asked for and do not come", "gives None", lost=True),
    Fault(
        "usage-repeated",
        "usage",
        "token counts come in several chunks",
        "gives them all: who adds up counts double",
        HARMLESS,
    ),
    Fault("usage-beside-choices", "usage", "token counts stand in a chunk that has choices"),
    Fault("usage-elsewhere", "usage", "token counts stand in another place than `usage`", "gives None"),
    Fault(
        "usage-unasked",
        "usage",
        "a chunk of token counts without choices comes unasked",
        "raises IndexError where the first choice is taken",
        HARMLESS,
    ),
    Fault("usage-details-missing", "usage", "token counts come without their details", "gives None"),
    # reasoning
    Fault(
        "reasoning-in-text", "reasoning", "thought stands between tags in the text", "leaves the thought in the text"
    ),
    # calls
    Fault("tool-id-repeated", "call identity", "the id comes again with later pieces", "", "glues the ids together"),
    Fault("tool-index-gap", "call identity", "the indices of calls do not count from 0", "", "raises IndexError"),
    Fault("call-type-missing", "call identity", "a call does not say its type", "gives None for the type"),
    Fault(
        "call-arguments-missing",
        "empty arguments",
        "a call has no arguments, not even an empty object",
        "gives an empty text, which is no JSON",
        "may raise TypeError",
    ),
    # errors
    Fault(
        "error-shape", "errors", "an error is not an object `error` with a message", "raises without code and parameter"
    ),
    Fault("error-status", "errors", "an error comes with HTTP status 200", "reports it late, or not at all"),
    # Responses
    Fault(
        "type-missing",
        "sequence",
        "an event does not say its type in its data",
        "gives an event of no type",
        "raises RuntimeError",
    ),
    Fault("event-name", "sequence", "the name of an event is not its type"),
    Fault("created-missing", "sequence", "the first event is not response.created", "", "raises RuntimeError"),
    Fault(
        "place-missing",
        "sequence",
        "an event does not say the index of its item or part",
        "gives None",
        "raises RuntimeError or TypeError",
    ),
    Fault(
        "place-wrong",
        "sequence",
        "two items share one index, or the parts of an item are not counted from 0",
        "",
        "may raise RuntimeError or IndexError",
    ),
    Fault("item-not-announced", "sequence", "words come for an item that was not added", "", "raises RuntimeError"),
    Fault("part-not-announced", "sequence", "words come for a part that was not added", "", "raises IndexError"),
    Fault("item-not-closed", "sequence", "an item that was added is never done"),
    Fault("part-not-closed", "sequence", "a part or its words are never done"),
    Fault("event-after-end", "sequence", "events come behind the one that ends the response"),
    Fault("response-shape", "sequence", "the response lacks its object, model or time", "gives None"),
    Fault("sequence-number-missing", "sequence numbers", "events have no sequence number", "gives None"),
    Fault("sequence-number-order", "sequence numbers", "sequence numbers do not rise"),
    Fault("item-id-missing", "ids", "an item has no id", "gives None"),
    Fault("item-id-changes", "ids", "events name an item otherwise than where it was added", "", "raises RuntimeError"),
    Fault(
        "deltas-missing",
        "snapshots",
        "words come only when they are done, without deltas",
        "shows nothing of them",
        HARMLESS,
    ),
    Fault("output-missing", "snapshots", "the last response does not show the items", "gives an empty output"),
    Fault("output-differs", "snapshots", "the last response shows the items otherwise than they were streamed"),
)

FAULTS: dict[str, Fault] = {
    **{
        id: Fault(id, row.aspect, QUIRKS[id].seen, row.sdk, row.helper, row.lost, row.entails, row.option)
        for id, row in _QUIRKS.items()
    },
    **{fault.id: fault for fault in _BREACHES},
}
"""Every fault by its id: the quirks first."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """A fault that was seen.

    Attributes:
        fault: its id in `FAULTS`.
        detail: what was seen, in a few words.
        frame: the text of the frame that shows it.
        count: how often.
    """

    fault: str
    detail: str
    frame: str = ""
    count: int = 1

    @property
    def aspect(self) -> Aspect:
        """What it is a fault of."""
        return FAULTS[self.fault].aspect
