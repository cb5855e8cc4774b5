"""A sloppy vendor: takes an answer and writes it as bytes, with any quirks of the table that can be told apart.

`answers` draws what a model may say; `Vendor` draws habits, freely mixed, and writes the answer with them. Decoding
must give the answer back. Where two habits together destroy what was said (two calls without ids at one index whose
arguments come in pieces, say), no reader could tell, and the vendor has only one of them.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

Chunk = dict[str, Any]


@dataclass
class Call:
    """A tool call as the model meant it."""

    id: str
    name: str
    arguments: dict[str, Any]

    @property
    def text(self) -> str:
        return json.dumps(self.arguments)


@dataclass
class Answer:
    """What the model says: thought, then text, then calls, then text again."""

    reasoning: str
    text: str
    calls: list[Call]
    later_text: str
    word: str
    usage: tuple[int, int] | None
    sources: list[str] = field(default_factory=list)


_letters = st.text(st.sampled_from("abcdefgh ijklm\n,.üß漢😀\\\"'{}[]"), min_size=1, max_size=30)
# words that neither begin with white space nor hold what could be a tag: for places where those mean something
_prose = _letters.map(lambda text: "S" + text)
_values = st.one_of(
    st.integers(-5, 5), st.booleans(), st.none(), st.sampled_from(["", "x", 'a"b', "}{", "{}", "null", "\\"])
)
_arguments = st.dictionaries(st.sampled_from(["a", "b", "long_name", "ü"]), _values, max_size=3)


@st.composite
def answers(draw: st.DrawFn) -> Answer:
    count = draw(st.integers(0, 3))
    calls = [
        # a number in each makes calls differ: two equal ones at one place are a replay to any reader
        Call(f"call_{i}", draw(st.sampled_from(["f", "get_weather", "g"])), {"n": i, **draw(_arguments)})
        for i in range(count)
    ]
    if len(calls) == 1 and draw(st.booleans()):
        calls[0].arguments = {}
    return Answer(
        reasoning=draw(st.one_of(st.just(""), _prose)),
        text=draw(st.one_of(st.just(""), _prose)),
        calls=calls,
        later_text=draw(st.one_of(st.just(""), _prose)) if calls else "",
        word="tool_calls" if calls else draw(st.sampled_from(["stop", "length", "content_filter"])),
        usage=draw(st.one_of(st.none(), st.tuples(st.integers(0, 99), st.integers(1, 99)))),
        sources=draw(st.lists(st.sampled_from(["https://a.example", "https://b.example"]), max_size=2, unique=True)),
    )


_FOREIGN_WORDS = {
    "stop": ["stop", "eos", "end_turn", "COMPLETE"],
    "length": ["length", "max_tokens", "MAX_TOKENS"],
    "content_filter": ["content_filter", "sensitive", "SAFETY"],
    "tool_calls": ["tool_calls", "tool_use", "function_call", "stop"],
}
_TAGS = ["think", "thinking", "THINK", "seed:think"]
_REASONING = ["reasoning_content", "reasoning", "reasoning_text", "details", "thinking_blocks", "parts", "tags", "flag"]


class Vendor:
    """A writer with habits. Each habit is drawn once for the stream, or anew for each chunk."""

    def __init__(self, draw: st.DrawFn, answer: Answer) -> None:
        self._draw = draw
        self._answer = answer
        self.reasoning_field = draw(st.sampled_from(_REASONING))
        self.mirrors = draw(st.booleans()) and self.reasoning_field in ("reasoning_content", "reasoning")
        self.mirrors_tags = draw(st.booleans()) and self.reasoning_field in ("reasoning_content", "reasoning")
        self.tag = draw(st.sampled_from(_TAGS))
        self.content_as_list = draw(st.booleans())
        self.nulls = draw(st.booleans())
        self.role_always = draw(st.booleans())
        self.changing_ids = draw(st.booleans())
        self.ids = draw(st.sampled_from(["once", "always", "empty", "null word", "none"]))
        self.indexes = draw(st.sampled_from(["counted", "from one", "text", "zero", "none"]))
        self.names = draw(st.sampled_from(["once", "always", "split", "late"]))
        self.arguments = draw(st.sampled_from(["pieces", "whole", "object"]))
        self.replays = draw(st.booleans())
        self.form = draw(st.sampled_from(["events", "events", "events", "single", "lines", "array"]))
        self.says_done = self.form != "array" and (self.form != "lines" or draw(st.booleans()))
        self._make_tellable()

    def _make_tellable(self) -> None:
        """Habits that no reader could understand together become ones that can be told apart."""
        several = len(self._answer.calls) > 1
        nameless_ids = self.ids in ("empty", "null word", "none")
        if self.indexes in ("zero", "none"):
            if nameless_ids and several:
                self.arguments = "whole"  # only whole objects part the calls
                self.names = "once"
            elif self.names == "split":
                self.names = "once"
            if several and self.ids == "once" and self.names == "late":
                self.names = "once"
        if self.arguments == "object" or self.names == "late" or (self.indexes == "none" and nameless_ids):
            self.replays = False
        if self.names == "always" and self.replays and several:
            self.replays = self.indexes == "counted"

    def chance(self) -> bool:
        return self._draw(st.booleans())

    def pick(self, options: list[Any]) -> Any:
        return self._draw(st.sampled_from(options))

    def pieces(self, text: str) -> list[str]:
        """The text in pieces, one of which may be all of it."""
        places = sorted(set(self._draw(st.lists(st.integers(1, max(1, len(text) - 1)), max_size=4))))
        edges = [0, *(place for place in places if place < len(text)), len(text)]
        return [text[a:b] for a, b in itertools.pairwise(edges) if a < b]

    # -- deltas -------------------------------------------------------------------------------------------------------

    def deltas(self) -> Iterator[Chunk]:
        answer = self._answer
        yield from self._reasoning(answer.reasoning)
        for piece in self.pieces(answer.text):
            yield self._content(piece)
        yield from self._calls(answer.calls)
        for piece in self.pieces(answer.later_text):
            yield self._content(piece)

    def _content(self, piece: str) -> Chunk:
        return {"content": [{"type": "text", "text": piece}] if self.content_as_list and self.chance() else piece}

    def _reasoning(self, text: str) -> Iterator[Chunk]:
        if not text:
            return
        name = self.reasoning_field
        if name == "tags":
            for piece in self.pieces(f"<{self.tag}>\n{text}</{self.tag}>\n\n"):
                yield {"content": piece}
            return
        mirror = list(self.pieces(f"<{self.tag}>{text}")) if self.mirrors_tags else []
        for piece in self.pieces(text):
            delta = self._thought(name, piece)
            if mirror and "content" not in delta:
                delta["content"] = "".join(mirror)
                mirror = []
            yield delta
        if self.mirrors_tags:
            yield {"content": f"</{self.tag}>\n"}

    def _thought(self, name: str, piece: str) -> Chunk:
        if name == "details":
            return {"reasoning_details": [{"type": "reasoning.text", "text": piece}]}
        if name == "thinking_blocks":
            return {"thinking_blocks": [{"type": "thinking", "thinking": piece, "signature": ""}]}
        if name == "parts":
            return {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": piece}]}]}
        if name == "flag":
            return {"content": piece, "extra_content": {"google": {"thought": True}}}
        other = "reasoning" if name == "reasoning_content" else "reasoning_content"
        return {name: piece, **({other: piece} if self.mirrors else {})}

    # -- calls --------------------------------------------------------------------------------------------------------

    def _calls(self, calls: list[Call]) -> Iterator[Chunk]:
        heads = [list(self._entries(position, call)) for position, call in enumerate(calls)]
        routable = self.indexes in ("counted", "from one", "text")
        # a name is final as soon as another call begins, so one in pieces comes in one go
        if routable and self.names != "split" and self.chance():
            for entry in _interleaved(heads):
                yield {"tool_calls": [entry]}
            return
        for entries in heads:
            if len(entries) == 1 and self.chance():
                yield {"content": None, "tool_calls": entries}
            else:
                for entry in entries:
                    yield {"tool_calls": [entry]}

    def _entries(self, position: int, call: Call) -> Iterator[Chunk]:
        names = {"split": self.pieces(call.name), "late": [None, call.name]}.get(self.names, [call.name])
        arguments = self._argument_pieces(call)
        first = True
        while names or arguments:
            entry: Chunk = {**self._index(position), "type": "function"}
            if first or self.ids == "always":
                entry |= self._id(call)
            elif self.ids in ("empty", "null word"):
                entry["id"] = "" if self.ids == "empty" else "null"
            function: Chunk = {}
            if names:
                name = names.pop(0)
                if name is not None:
                    function["name"] = name
            elif self.names == "always":
                function["name"] = call.name
            if not names and arguments and (self.names != "late" or not first):
                function["arguments"] = arguments.pop(0)
            elif self.chance():
                function["arguments"] = None
            yield {**entry, "function": function}
            first = False
        if self.replays and call.arguments:
            yield {**self._index(position), **self._id(call), "function": {"name": call.name, "arguments": call.text}}

    def _argument_pieces(self, call: Call) -> list[Any]:
        if not call.arguments:
            return [self.pick(["", "{}", "null", None])]
        if self.arguments == "object":
            return [call.arguments]
        return [call.text] if self.arguments == "whole" else list(self.pieces(call.text))

    def _index(self, position: int) -> Chunk:
        if self.indexes == "none":
            return {}
        if self.indexes == "text":
            return {"index": str(position)}
        return {"index": {"counted": position, "from one": position + 1, "zero": 0}[self.indexes]}

    def _id(self, call: Call) -> Chunk:
        return {
            "once": {"id": call.id},
            "always": {"id": call.id},
            "empty": {"id": ""},
            "null word": {"id": "null"},
        }.get(self.ids, {})

    # -- chunks -------------------------------------------------------------------------------------------------------

    def chunks(self) -> list[Chunk]:
        answer = self._answer
        chunks = [self._chunk({"role": "assistant", "content": ""})]
        chunks += [self._chunk(delta) for delta in self.deltas()]
        self._finish(chunks)
        if answer.sources:
            self.pick(chunks)["citations"] = answer.sources
            chunks[-1]["citations"] = answer.sources
        if answer.usage:
            self._report_usage(chunks, answer.usage)
        return chunks

    def _chunk(self, delta: Chunk, **choice: Any) -> Chunk:
        if self.role_always:
            delta = {"role": "assistant", **delta}
        if self.nulls:
            delta = {"refusal": None, "tool_calls": None, "reasoning_content": None, "function_call": None} | delta
        head: Chunk = {"id": f"x{self.chance()}" if self.changing_ids else "x", "object": "chat.completion.chunk"}
        body = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": None} | choice
        if self.chance():
            del body["finish_reason"], body["logprobs"]
            body |= choice
        return {**head, "created": 1, "model": "m", "choices": [body], "vendor_extra": {"a": [1]}}

    def _finish(self, chunks: list[Chunk]) -> None:
        answer = self._answer
        word = self.pick(_FOREIGN_WORDS[answer.word])
        how = self.pick(["alone", "with the last", "twice", "early", "never"])
        if how == "early" and self.names == "split":  # a finish word makes names final
            how = "alone"
        if how == "never" and self.says_done and answer.word in ("stop", "tool_calls"):
            return
        if how == "with the last" or (how == "early" and len(chunks) > 1):
            chunks[-1 if how == "with the last" else -2]["choices"][0]["finish_reason"] = word
            if how == "early":
                chunks.append(self._chunk({}))
            return
        times = 2 if how == "twice" else 1
        chunks += [self._chunk(self.pick([{}, {"content": ""}]), finish_reason=word) for _ in range(times)]

    def _report_usage(self, chunks: list[Chunk], usage: tuple[int, int]) -> None:
        counts = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
        how = self.pick(["own chunk", "last chunk", "choice", "groq", "everywhere", "then null"])
        if how == "own chunk":
            chunks.append({"id": "x", "choices": [], "usage": counts})
        elif how == "choice":
            chunks[-1]["choices"][0]["usage"] = counts
        elif how == "groq":
            chunks[-1]["x_groq"] = {"id": "req", "usage": counts}
        elif how == "everywhere":
            for chunk in chunks:
                chunk["usage"] = {**counts, "completion_tokens": min(1, usage[1])}
            chunks[-1]["usage"] = counts
        else:
            chunks[-1]["usage"] = counts
            if how == "then null":
                chunks.append({"id": "x", "choices": [], "usage": None})

    # -- bytes --------------------------------------------------------------------------------------------------------

    def body(self) -> bytes:
        payloads = [json.dumps(chunk, ensure_ascii=self.chance()) for chunk in self.chunks()]
        form = self.form
        if form == "array":
            return ("[" + ",\n".join(payloads) + "]").encode()
        if form == "lines":
            end = self.pick(["\n[DONE]", "\n[DONE]\n"] if self.says_done else ["", "\n"])
            return ("\n".join(payloads) + end).encode()
        field_start = self.pick(["data: ", "data:"])
        end = "\n" if form == "single" else "\n\n"
        frames = []
        for payload in payloads:
            if self.chance():
                frames.append(self.pick([": ping\n\n", ":\n", "event: keepalive\n\n", "data: \n\n", "\n"]))
            name = "event: message\n" if form != "single" and self.chance() else ""
            frames.append(f"{name}{field_start}{payload}{end}")
        done = self.pick(["data: [DONE]\n\n", "data:[DONE]", "[DONE]\n", 'data: "[DONE]"\n\n', "data:  [DONE] \n\n"])
        text = self.pick(["", "\ufeff"]) + "".join(frames) + ("\n" if form == "single" else "") + done
        return text.replace("\n", self.pick(["\n", "\r\n", "\r"])).encode()


def _interleaved(rows: list[list[Chunk]]) -> Iterator[Chunk]:
    """Fragments of several calls in turns."""
    for position in range(max(map(len, rows), default=0)):
        for row in rows:
            if position < len(row):
                yield row[position]


@st.composite
def sloppy_streams(draw: st.DrawFn) -> tuple[Answer, bytes]:
    """An answer, and the bytes of a vendor who writes it his own way."""
    answer = draw(answers())
    return answer, Vendor(draw, answer).body()
