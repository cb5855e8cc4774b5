"""A few short streams on both wires, one frame a piece."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any


def frame(payload: Any) -> bytes:
    return b"data: " + json.dumps(payload).encode() + b"\n\n"


def chat(delta: dict[str, Any], finish: str | None = None, *, index: int = 0) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1760000000,
        "model": "m-1",
        "choices": [{"index": index, "delta": delta, "finish_reason": finish}],
    }


def responses(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": f"response.{kind}", **fields}


def response_object(status: str, *, response_id: str = "resp_1", output: Sequence[Any] = ()) -> dict[str, Any]:
    return {
        "id": response_id,
        "object": "response",
        "created_at": 1760000000,
        "status": status,
        "model": "m-1",
        "output": list(output),
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }


DONE = b"data: [DONE]\n\n"

CHAT_CHUNKS = [chat({"role": "assistant", "content": "Hel"}), chat({"content": "lo"}), chat({}, "stop")]
CHAT = [*map(frame, CHAT_CHUNKS), DONE]

CALL = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "look", "arguments": '{"at"'}}
CALL_CHUNKS = [
    chat({"role": "assistant", "content": None, "tool_calls": [CALL]}),
    chat({"tool_calls": [{"index": 0, "function": {"arguments": ":1}"}}]}),
    chat({}, "tool_calls"),
]
CHAT_CALL = [*map(frame, CALL_CHUNKS), DONE]

SLOPPY_ANSWER = [frame({"choices": [{"delta": {"content": "<think>Low at noon.</think>High water"}}]}), DONE]
"""Ids, names and a finish word are missing, and thought stands in the text."""

VENDOR_ERROR = {"error": {"message": "the engine is on fire", "type": "server_error", "code": "overheated"}}


def response_payloads(*words: str, response_id: str = "resp_1") -> list[dict[str, Any]]:
    """The events of one response that says these words."""
    text = "".join(words)
    where = {"item_id": f"msg_{response_id}", "output_index": 0}
    part = {"type": "output_text", "text": text, "annotations": []}
    item = {
        "id": f"msg_{response_id}",
        "type": "message",
        "status": "completed",
        "role": "assistant",
        "content": [part],
    }
    payloads = [
        responses("created", response=response_object("in_progress", response_id=response_id)),
        responses("output_item.added", output_index=0, item={**item, "status": "in_progress", "content": []}),
        responses("content_part.added", **where, content_index=0, part={**part, "text": ""}),
        *(responses("output_text.delta", **where, content_index=0, delta=word, logprobs=[]) for word in words),
        responses("output_text.done", **where, content_index=0, text=text, logprobs=[]),
        responses("content_part.done", **where, content_index=0, part=part),
        responses("output_item.done", output_index=0, item=item),
        responses("completed", response=response_object("completed", response_id=response_id, output=[item])),
    ]
    return [{**payload, "sequence_number": number} for number, payload in enumerate(payloads)]


def response_frames(*words: str, response_id: str = "resp_1") -> list[bytes]:
    """The same as frames, with their `event:` lines."""
    return [
        f"event: {payload['type']}\n".encode() + frame(payload)
        for payload in response_payloads(*words, response_id=response_id)
    ]


RESPONSES = response_frames("Hel", "lo")
