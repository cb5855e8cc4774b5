"""Generated streams of events that obey the grammar, whatever wire they might have come from."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from streamshim import events as e
from streamshim.errors import ErrorInfo

_WORDS = st.sampled_from(["Hello", " world", "\n", "<think>", "ü", "😀", "{", '"', "\\", " ", "data: x\n\n", "\u2028"])
_IDS = st.sampled_from([None, None, "i1", "i2"])
_WHOLE = ['{"a":1}', '{"b":"}{"}', '{ "c": [1, "ü"] }', "{}"]
_HALF = ['{"a":', "x", "[1]"]
_KINDS: Any = st.sampled_from(["raw", "summary", "tag", "encrypted"])
_COUNTS = st.one_of(st.none(), st.integers(0, 99))


class _Draft:
    """A stream that is being made up."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.events: list[e.Event] = []
        self.parts = 0
        self.open_calls: list[tuple[e.ToolCallStart, list[str], list[str]]] = []
        self.last_text: int | None = None

    def next_part(self) -> int:
        self.parts += 1
        return self.parts - 1

    def words(self) -> list[str]:
        return self.draw(st.lists(_WORDS, min_size=1, max_size=3))

    def text(self, choice: int = 0) -> None:
        part, words = self.next_part(), self.words()
        self.events.append(e.TextStart(part, choice, self.draw(_IDS), self.draw(st.sampled_from([None, "commentary"]))))
        for word in words:
            logprobs = self.draw(st.sampled_from([None, [{"token": word, "logprob": -0.5}]]))
            self.events.append(e.TextDelta(word, part, choice, logprobs))
        self.events.append(e.TextEnd("".join(words), part, choice))
        if choice == 0:
            self.last_text = part

    def refusal(self) -> None:
        part, words = self.next_part(), self.words()
        self.events.append(e.RefusalStart(part, 0, self.draw(_IDS)))
        self.events += [e.RefusalDelta(word, part, 0) for word in words]
        self.events.append(e.RefusalEnd("".join(words), part, 0))

    def reasoning(self) -> None:
        part, kind = self.next_part(), self.draw(_KINDS)
        words = [] if kind == "encrypted" else self.words()
        self.events.append(e.ReasoningStart(part, 0, self.draw(_IDS), kind))
        self.events += [e.ReasoningDelta(word, part, 0) for word in words]
        encrypted = self.draw(st.sampled_from(["gAAA", "gBBB"])) if kind == "encrypted" else None
        self.events.append(e.ReasoningEnd("".join(words), part, 0, kind, None, encrypted))

    def call(self) -> None:
        part = self.next_part()
        kind: Any = self.draw(st.sampled_from(["function", "function", "custom"]))
        arguments = self.draw(st.sampled_from([*_WHOLE, *_HALF, ""]))
        edge = self.draw(st.integers(0, len(arguments)))
        pieces = [piece for piece in (arguments[:edge], arguments[edge:]) if piece]
        start = e.ToolCallStart(part, 0, self.draw(_IDS), f"call_{part}", self.draw(st.sampled_from("fg")), kind)
        self.events.append(start)
        self.open_calls.append((start, pieces, []))

    def call_goes_on(self) -> None:
        for start, pieces, said in self.open_calls[:1]:
            if pieces:
                said.append(pieces.pop(0))
                self.events.append(e.ToolCallDelta(said[-1], start.part, 0))

    def citation(self) -> None:
        number = len(self.events)
        url = f"https://e.example/{number}"
        self.events.append(e.Citation(self.last_text, 0, url, self.draw(st.sampled_from([None, "T"])), number, 9))

    def image(self) -> None:
        part = self.next_part()
        self.events += [
            e.MediaStart(part, 0, None, "image/png"),
            e.MediaDelta(part, 0, "iVBO"),
            e.MediaEnd(part, 0, "iVBO"),
        ]

    def aside(self) -> None:
        self.events += [e.Metadata({"service_tier": "flex"}), e.Unknown("vendor.thing", {}), e.RawFrame(None, {})]

    def finish(self, status: str) -> None:
        """Every End, then what the end of the stream says."""
        cut = status in ("truncated", "failed", "cancelled")
        for start, pieces, said in self.open_calls:
            if not cut:
                self.events += [e.ToolCallDelta(piece, start.part, 0) for piece in pieces]
                said += pieces
            self.events.append(self._call_end(start, "".join(said), cut=cut, status=status))
        if status == "failed":
            self.events.append(
                e.ErrorReport(ErrorInfo("vendor", "Slow down.", self.draw(st.sampled_from([None, "c"]))))
            )
        reason: Any = {"incomplete": "length", "completed": "stop"}.get(status, "error" if status == "failed" else None)
        answerable = any(isinstance(event, e.ToolCallEnd) for event in self.events)
        reason = "tool_calls" if reason == "stop" and answerable else reason
        if self.parts or not cut:
            self.events.append(e.Finish(0, reason, reason))

    @staticmethod
    def _call_end(start: e.ToolCallStart, said: str, *, cut: bool, status: str) -> e.ToolCallEnd:
        is_whole = said in _WHOLE or (start.kind == "custom" and bool(said)) or (not said and status == "completed")
        arguments = "{}" if not said and start.kind == "function" and status == "completed" else said
        verdict: Any = "complete" if is_whole else "truncated" if status == "incomplete" else "invalid"
        verdict = "truncated" if cut else verdict
        return e.ToolCallEnd(start.part, 0, start.call_id, start.name, start.kind, arguments, verdict)


@st.composite
def event_streams(draw: st.DrawFn) -> list[e.Event]:
    """A whole stream: parts of every kind, calls that interleave, now and then a second choice, any ending."""
    draft = _Draft(draw)
    steps = [draft.text, draft.text, draft.reasoning, draft.refusal, draft.call, draft.call_goes_on, draft.call_goes_on]
    steps += [draft.citation, draft.image, draft.aside]
    draft.events.append(
        e.StreamStart(
            "chat",
            draw(st.sampled_from([None, "resp_1"])),
            draw(st.sampled_from([None, "m-1"])),
            draw(st.sampled_from([None, 1760000000])),
        )
    )
    for step in draw(st.lists(st.sampled_from(steps), max_size=8)):
        step()
    status: Any = draw(st.sampled_from(["completed", "completed", "incomplete", "failed", "truncated"]))
    if status == "completed" and draw(st.booleans()):
        draft.text(choice=1)
        draft.events.append(e.Finish(1, "stop", "stop"))
    draft.finish(status)
    usage = draw(st.one_of(st.none(), st.builds(e.Usage, _COUNTS, _COUNTS, _COUNTS, _COUNTS)))
    if usage:
        draft.events.append(e.UsageReport(usage))
    draft.events.append(e.StreamEnd(status, e.Evidence(), usage, {}, None, None))
    return draft.events
