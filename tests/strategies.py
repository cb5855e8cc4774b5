"""What the laws are tried on: arbitrary bytes, nearly-right streams, and real ones that were damaged."""

from __future__ import annotations

import itertools
import json
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from tests.test_scenarios import SCENARIOS, load

CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpus"

words = st.sampled_from(
    [
        *("Hello", " world", "\n", "</think>", "<think>", "<th", "ink>", "ü", "😀", "{", '"', "\\", " ", "`", "```\n"),
        *("<tool_call>", "</tool_call>", '{"name":"f"}', "<tool_", "call>", "f", "[TOOL_CALLS]", "[]", "<function=f>"),
    ]
)
texts = st.one_of(words, st.text(max_size=12))
argument_texts = st.one_of(st.sampled_from(['{"a":1}', '{"a":', "1}", "null", "{}", '{"b":"}{"}', '"{}"', " "]), texts)
scalars = st.one_of(st.none(), st.booleans(), st.integers(-3, 10**12), st.floats(), texts)
json_values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=6), inner, max_size=3)),
    max_leaves=6,
)
ids = st.one_of(st.sampled_from(["c1", "c2", "", "null"]), st.none())
indexes = st.one_of(st.integers(0, 2), st.sampled_from([None, "1", -1, 10**9]))


def member(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Mostly what belongs there, now and then anything."""
    return st.integers(0, 19).flatmap(lambda dice: json_values if dice == 0 else strategy)


def objects(required: dict[str, Any], optional: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {key: member(value) for key, value in required.items()},
        optional={key: member(value) for key, value in optional.items()},
    )


tool_calls = st.lists(
    objects(
        {},
        {
            "index": indexes,
            "id": ids,
            "type": st.just("function"),
            "function": objects({}, {"name": st.sampled_from(["f", "g", "", None]), "arguments": argument_texts}),
        },
    ),
    max_size=2,
)
deltas = objects(
    {},
    {
        "role": st.just("assistant"),
        "content": st.one_of(
            texts, st.none(), st.lists(objects({}, {"type": st.just("text"), "text": texts}), max_size=2)
        ),
        "reasoning_content": texts,
        "reasoning": texts,
        "reasoning_details": st.lists(
            objects({}, {"text": texts, "id": ids, "index": indexes, "data": texts}), max_size=2
        ),
        "refusal": st.one_of(st.none(), texts),
        "tool_calls": tool_calls,
        "function_call": objects({}, {"name": st.just("f"), "arguments": argument_texts}),
        "audio": objects({}, {"id": ids, "data": st.just("UklG"), "transcript": texts}),
        "images": st.lists(st.just({"image_url": {"url": "data:image/png;base64,iVBO"}}), max_size=1),
        "annotations": st.lists(st.just({"type": "url_citation", "url_citation": {"url": "https://e.x"}}), max_size=1),
    },
)
chunks = objects(
    {
        "choices": st.lists(
            objects(
                {"delta": deltas},
                {
                    "index": indexes,
                    "finish_reason": st.sampled_from(
                        [None, "stop", "length", "tool_calls", "error", "normal", "", "eh"]
                    ),
                    "message": deltas,
                    "text": texts,
                    "logprobs": st.just({"content": [{"token": "a", "logprob": -0.1}]}),
                },
            ),
            max_size=2,
        )
    },
    {
        "id": st.just("chatcmpl-1"),
        "model": st.just("m-1"),
        "usage": st.just({"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}),
        "error": st.one_of(st.none(), st.just({"message": "boom"})),
        "type": st.sampled_from(["response.output_text.delta", "error", "chunk"]),
        "code": st.just("overloaded"),
        "message": texts,
        "citations": st.just(["https://e.x"]),
    },
)

_item_types = [
    "message",
    "reasoning",
    "function_call",
    "custom_tool_call",
    "web_search_call",
    "shell_call",
    "compaction",
]
items = objects(
    {"type": st.sampled_from(_item_types)},
    {
        "id": st.sampled_from(["i1", "i2", "i3", "", None]),
        "status": st.sampled_from(["in_progress", "completed", "incomplete"]),
        "content": st.lists(
            objects({"type": st.sampled_from(["output_text", "refusal"])}, {"text": texts}), max_size=2
        ),
        "summary": st.lists(objects({"type": st.just("summary_text")}, {"text": texts}), max_size=2),
        "encrypted_content": texts,
        "call_id": ids,
        "name": st.sampled_from(["f", "g", ""]),
        "arguments": argument_texts,
        "input": texts,
    },
)
_event_types = """
    response.created response.in_progress response.queued response.output_item.added response.output_item.done
    response.content_part.added response.content_part.done response.output_text.delta response.output_text.done
    response.refusal.delta response.refusal.done response.reasoning_text.delta response.reasoning_text.done
    response.reasoning_summary_text.delta response.reasoning_summary_part.added response.reasoning_summary_text.done
    response.function_call_arguments.delta response.function_call_arguments.done response.custom_tool_call_input.delta
    response.web_search_call.searching response.shell_call_command.delta response.audio.delta error keepalive
    response.output_text.annotation.added response.completed response.incomplete response.failed vendor.thing
""".split()
responses = objects(
    {},
    {
        "id": st.sampled_from(["r1", "r2", ""]),
        "model": st.just("m-1"),
        "status": st.sampled_from(["completed", "incomplete", "failed", "in_progress", None]),
        "output": st.lists(items, max_size=3),
        "usage": st.one_of(st.none(), st.just({"input_tokens": 1, "output_tokens": 2, "total_tokens": 3})),
        "incomplete_details": st.one_of(st.none(), st.just({"reason": "max_output_tokens"})),
        "error": st.one_of(st.none(), st.just({"code": "server_error", "message": "boom"})),
    },
)
response_events = objects(
    {"type": st.sampled_from(_event_types)},
    {
        "item_id": st.sampled_from(["i1", "i2", "i3", "", "other"]),
        "output_index": indexes,
        "content_index": indexes,
        "summary_index": indexes,
        "delta": argument_texts,
        "text": texts,
        "arguments": argument_texts,
        "part": objects({"type": st.sampled_from(["output_text", "reasoning_text", "refusal"])}, {"text": texts}),
        "item": items,
        "response": responses,
        "annotation": st.just({"type": "url_citation", "url": "https://e.x", "title": "T"}),
        "message": texts,
    },
)


def _text(payload: Any) -> str:
    return json.dumps(payload, ensure_ascii=False)


@st.composite
def framed(draw: st.DrawFn, payloads: st.SearchStrategy[Any]) -> bytes:
    """Payloads as a body: an event stream, well or badly written, JSON lines, or an array."""
    values = draw(st.lists(payloads, max_size=8))
    form = draw(st.sampled_from(["sse", "sse", "sse", "events", "single", "lines", "array"]))
    if form == "lines":
        body = "".join(_text(value) + "\n" for value in values)
    elif form == "array":
        body = "[" + ",\n".join(map(_text, values)) + "]"
    else:
        end = {"single": "\n"}.get(form, "\n\n")
        names = ["event: message\n", "event: error\n", "event: response.created\n", ""] if form == "events" else [""]
        body = "".join(f"{draw(st.sampled_from(names))}data: {_text(value)}{end}" for value in values)
    body += draw(st.sampled_from(["", "data: [DONE]\n\n", "[DONE]", ": ping\n\n", "error: {}\n"]))
    data = body.encode("utf-8", "surrogatepass")
    if draw(st.booleans()):
        data = data.replace(b"\n", draw(st.sampled_from([b"\r\n", b"\r", b"\n"])))
    return data


@cache
def real_streams() -> list[bytes]:
    """Bodies of all scenarios, and of the recorded streams where they are at hand."""
    bodies = [b"".join(load(name)["pieces"]) for name in SCENARIOS]
    bodies += [path.read_bytes() for path in sorted(CORPUS.glob("*/*")) if path.suffix in (".sse", ".json", ".ndjson")]
    return [body for body in bodies if len(body) < 30_000]


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A real stream with bytes flipped, and frames dropped, doubled, swapped or cut."""
    data = draw(st.sampled_from(real_streams()))
    frames = data.split(b"\n\n")
    for _ in range(draw(st.integers(0, 3))):
        at, other = (draw(st.integers(0, len(frames) - 1)) for _ in range(2))
        action = draw(st.sampled_from(["drop", "double", "swap"]))
        if action == "drop" and len(frames) > 1:
            del frames[at]
        elif action == "double":
            frames.insert(at, frames[at])
        else:
            frames[at], frames[other % len(frames)] = frames[other % len(frames)], frames[at]
    data = b"\n\n".join(frames)
    for _ in range(draw(st.integers(0, 3))):
        if data:
            at = draw(st.integers(0, len(data) - 1))
            data = data[:at] + bytes([draw(st.integers(0, 255))]) + data[at + 1 :]
    if draw(st.booleans()):
        data = data[: draw(st.integers(0, len(data)))]
    return data


_scraps = [
    b"data: ",
    b"data:",
    b"event: error\n",
    b"event: response.created\n",
    b"\n",
    b"\n\n",
    b"\r",
    b"\r\n",
    b": c\n",
]
_scraps += [
    b"{",
    b"}",
    b"[",
    b"]",
    b'"',
    b"\\",
    b"[DONE]",
    b"error: ",
    b"id: 1\n",
    b"retry: 2\n",
    b"\xef\xbb\xbf",
    b"\xff",
]
_scraps += [
    b'{"choices":[{"delta":{"content":"a"}}]}',
    b'{"error":"e"}',
    b"null",
    b"\x1f\x8b",
    b"NaN",
    b'"\\ud83d"',
    b"\t",
]
arbitrary = st.one_of(
    st.binary(max_size=60),
    st.lists(st.one_of(st.sampled_from(_scraps), st.binary(max_size=3)), max_size=20).map(b"".join),
)
bodies = st.one_of(arbitrary, framed(chunks), framed(response_events), framed(json_values), damaged())


@st.composite
def cut_bodies(draw: st.DrawFn) -> tuple[bytes, list[bytes]]:
    """A body, and the same in pieces."""
    body = draw(bodies)
    places = sorted(draw(st.lists(st.integers(0, len(body)), max_size=12)))
    edges = [0, *places, len(body)]
    return body, [body[start:end] for start, end in itertools.pairwise(edges)]
