"""Streams of 2,000 deltas (or as many as are asked for), with the keys that real servers send.

| body | what | bytes a delta |
|---|---|---|
| `chat` | text | 290 |
| `chat-obfuscation` | text, padded by `obfuscation`, `usage: null` on every chunk | 335 |
| `reasoning` | 800 deltas of thought, then 1,200 of text, `usage: null` | 305 |
| `tool-arguments` | one call, its arguments in 2,000 deltas | 365 |
| `responses` | text, with `event:` lines, sequence numbers, item ids, `obfuscation`, and large envelopes | 260 |

All are deterministic. Text goes over the wire as raw UTF-8, in compact JSON.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from .loads import Api, Load, Said
from .prose import random_word, tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

DELTAS = 2000
PIECES = {"64KB": 64 * 1024, "1KB": 1024, "event": None}
"""How the network cuts a body: the name of a size, and bytes a piece; None is one event a piece."""

_CREATED = 1_772_769_872
_THOUGHT_SHARE = 0.4
_PADDED_LENGTH = 16
_TOOLS = ("read_file", "write_file", "run_tests", "search", "list_directory")

JsonObject = dict[str, Any]


@dataclass(frozen=True)
class Body:
    """One stream, and what it says.

    Attributes:
        name: as the command line calls it.
        frames: the events as bytes, each with its blank line.
        deltas: how many deltas the frames carry.
        text: the deltas of the answer, joined.
        reasoning: the deltas of thought, joined.
        arguments: the deltas of the one tool call, joined.
        api: the wire.
    """

    name: str
    frames: tuple[bytes, ...]
    deltas: int = DELTAS
    text: str = ""
    reasoning: str = ""
    arguments: str = ""
    api: Api = "chat"

    @cached_property
    def data(self) -> bytes:
        """All frames in one."""
        return b"".join(self.frames)

    def pieces(self, size: int | None) -> list[bytes]:
        """Cut the body into pieces of `size` bytes, or into its events for None."""
        return list(self.frames) if size is None else cut(self.data, size)

    def load(self, size: int | None, *, streams: int = 1, interleaved: bool = False) -> Load:
        """The body in such pieces, as something that a subject is fed."""
        said = Said(self.text, self.reasoning, self.arguments)
        return Load(self.api, self.pieces(size), said, self.deltas, streams, interleaved)


def cut(data: bytes, size: int) -> list[bytes]:
    """Cut `data` into pieces of `size` bytes; the last one may be shorter."""
    return [data[start : start + size] for start in range(0, len(data), size)]


def frame(payload: JsonObject, event: str | None = None) -> bytes:
    """Write one event: compact JSON in raw UTF-8, after its `event:` line if there is a name."""
    text = json.dumps(payload, ensure_ascii=False, separators=(",", ":"))
    head = f"event: {event}\n" if event else ""
    return f"{head}data: {text}\n\n".encode()


DONE = b"data: [DONE]\n\n"


def bodies() -> dict[str, Body]:
    """All bodies by name, of the usual length."""
    return {name: body(name) for name in MAKERS}


@lru_cache(maxsize=8)
def body(name: str, deltas: int = DELTAS) -> Body:
    """A body by its name; the last few are kept."""
    return MAKERS[name](deltas)


def chat(deltas: int = DELTAS) -> Body:
    """Plain text chunks, without usage."""
    pieces = tokens(deltas, seed=1)
    chunks = ChatChunks(seed=11)
    frames = [chunks.delta({"role": "assistant", "content": "", "refusal": None})]
    frames += [chunks.delta({"content": piece}) for piece in pieces]
    frames += [chunks.delta({}, finish_reason="stop"), DONE]
    return Body("chat", tuple(frames), deltas, text="".join(pieces))


def chat_obfuscation(deltas: int = DELTAS) -> Body:
    """Text chunks padded to an even length, the usage in a last chunk without choices."""
    pieces = tokens(deltas, seed=2)
    chunks = ChatChunks(seed=12, obfuscated=True, usage_key=True)
    frames = [chunks.delta({"role": "assistant", "content": "", "refusal": None})]
    frames += [chunks.delta({"content": piece}, padding_for=piece) for piece in pieces]
    frames += [chunks.delta({}, finish_reason="stop"), chunks.usage(deltas), DONE]
    return Body("chat-obfuscation", tuple(frames), deltas, text="".join(pieces))


def reasoning(deltas: int = DELTAS) -> Body:
    """Thought, then text; each chunk names both fields and one is null; the usage comes with the finish."""
    thoughts = int(deltas * _THOUGHT_SHARE)
    thought, text = tokens(thoughts, seed=3), tokens(deltas - thoughts, seed=4)
    chunks = ChatChunks(seed=13, usage_key=True, service_tier=False)
    frames = [chunks.delta({"role": "assistant", "content": None, "reasoning_content": ""})]
    frames += [chunks.delta({"content": None, "reasoning_content": piece}) for piece in thought]
    frames += [chunks.delta({"content": piece, "reasoning_content": None}) for piece in text]
    last = {"content": "", "reasoning_content": None}
    frames += [chunks.delta(last, finish_reason="stop", usage=chat_usage(deltas, thoughts)), DONE]
    return Body("reasoning", tuple(frames), deltas, text="".join(text), reasoning="".join(thought))


def tool_arguments(deltas: int = DELTAS) -> Body:
    """One call that writes a file: its name and id in the first chunk, then JSON text in small pieces."""
    pieces = _argument_pieces(deltas)
    chunks = ChatChunks(seed=14, obfuscated=True)
    function = {"name": "write_file", "arguments": ""}
    call = {"index": 0, "id": f"call_{chunks.word(24)}", "type": "function", "function": function}
    frames = [chunks.delta({"role": "assistant", "content": None, "tool_calls": [call], "refusal": None})]
    for piece in pieces:
        delta = {"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}
        frames.append(chunks.delta(delta, padding_for=piece))
    frames += [chunks.delta({}, finish_reason="tool_calls"), DONE]
    return Body("tool-arguments", tuple(frames), deltas, arguments="".join(pieces))


def responses(deltas: int = DELTAS) -> Body:
    """One message on the Responses wire, from `response.created` to `response.completed`."""
    pieces = tokens(deltas, seed=5)
    text = "".join(pieces)
    return Body("responses", tuple(_numbered(_responses_events(pieces, text))), deltas, text=text, api="responses")


MAKERS: dict[str, Callable[[int], Body]] = {
    "chat": chat,
    "chat-obfuscation": chat_obfuscation,
    "reasoning": reasoning,
    "tool-arguments": tool_arguments,
    "responses": responses,
}


def long_chat(size: int) -> Body:
    """Plain text chunks of at least so many bytes: those of `chat` over and over, so that they take no memory."""
    short = body("chat")
    first, *middle, finish, done = short.frames
    times = size // sum(map(len, middle)) + 1
    frames = (first, *middle * times, finish, done)
    return Body("long-chat", frames, short.deltas * times, text=short.text * times)


class ChatChunks:
    """Writes the chunks of one Chat Completions stream: what all of them share is said once."""

    def __init__(
        self, seed: int, *, obfuscated: bool = False, usage_key: bool = False, service_tier: bool = True
    ) -> None:
        """Choose which of the optional keys the chunks carry."""
        self._pick = random.Random(seed)
        self._obfuscated = obfuscated
        self._usage_key = usage_key
        self._head: JsonObject = {
            "id": f"chatcmpl-{self.word(29)}",
            "object": "chat.completion.chunk",
            "created": _CREATED,
            "model": "example-4.1-2026-04-14",
        }
        if service_tier:
            self._head["service_tier"] = "default"
        self._head["system_fingerprint"] = f"fp_{self.word(10)}"

    def word(self, length: int) -> str:
        """Make an id-like word from this stream's own seed."""
        return random_word(self._pick, length)

    def delta(
        self,
        delta: JsonObject,
        *,
        finish_reason: str | None = None,
        usage: JsonObject | None = None,
        padding_for: str = "",
    ) -> bytes:
        """Write a chunk with one choice; the padding evens out the length of `padding_for`."""
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        return self._chunk([choice], usage, padding_for)

    def usage(self, tokens: int) -> bytes:
        """Write the chunk that has the usage and no choices."""
        return self._chunk([], chat_usage(tokens), "")

    def _chunk(self, choices: list[JsonObject], usage: JsonObject | None, padding_for: str) -> bytes:
        payload = {**self._head, "choices": choices}
        if self._usage_key:
            payload["usage"] = usage
        if self._obfuscated:
            payload["obfuscation"] = _padding(self._pick, padding_for)
        return frame(payload)


def _padding(pick: random.Random, text: str) -> str:
    return random_word(pick, -len(text) % _PADDED_LENGTH)


def chat_usage(tokens: int, reasoning_tokens: int = 0) -> JsonObject:
    """The token counts of an answer of so many tokens."""
    return {
        "prompt_tokens": 297,
        "completion_tokens": tokens,
        "total_tokens": 297 + tokens,
        "prompt_tokens_details": {"cached_tokens": 128, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": reasoning_tokens, "audio_tokens": 0},
    }


def _argument_pieces(deltas: int) -> list[str]:
    head = ["{", '"', "path", '":', ' "', "docs", "/over", "view", ".md", '",', ' "', "mode", '":', ' "', "create"]
    head += ['",', ' "', "content", '":', ' "']
    foot = ['"', "}"]
    content = tokens(deltas - len(head) - len(foot), seed=6)
    return [*head, *(json.dumps(piece, ensure_ascii=False)[1:-1] for piece in content), *foot]


def _numbered(payloads: Iterable[JsonObject]) -> Iterator[bytes]:
    for number, payload in enumerate(payloads):
        name = payload["type"]
        rest = {key: value for key, value in payload.items() if key != "type"}
        yield frame({"type": name, "sequence_number": number, **rest}, event=name)


def _responses_events(pieces: list[str], text: str) -> Iterator[JsonObject]:
    pick = random.Random(15)
    envelope = _envelope(pick)
    item_id = f"msg_{random_word(pick, 50)}"
    item: JsonObject = {"id": item_id, "type": "message", "status": "in_progress", "content": [], "role": "assistant"}
    place: JsonObject = {"item_id": item_id, "output_index": 0, "content_index": 0}
    part: JsonObject = {"type": "output_text", "annotations": [], "logprobs": [], "text": ""}
    whole_part = {**part, "text": text}
    whole_item = {**item, "status": "completed", "content": [whole_part]}
    usage = {
        "input_tokens": 297,
        "input_tokens_details": {"cached_tokens": 128},
        "output_tokens": len(pieces),
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 297 + len(pieces),
    }
    yield {"type": "response.created", "response": envelope}
    yield {"type": "response.in_progress", "response": envelope}
    yield {"type": "response.output_item.added", "output_index": 0, "item": item}
    yield {"type": "response.content_part.added", **place, "part": part}
    for piece in pieces:
        delta = {"delta": piece, "logprobs": [], "obfuscation": _padding(pick, piece)}
        yield {"type": "response.output_text.delta", **place, **delta}
    yield {"type": "response.output_text.done", **place, "text": text, "logprobs": []}
    yield {"type": "response.content_part.done", **place, "part": whole_part}
    yield {"type": "response.output_item.done", "output_index": 0, "item": whole_item}
    completed = {**envelope, "status": "completed", "output": [whole_item], "usage": usage}
    yield {"type": "response.completed", "response": completed}


def _envelope(pick: random.Random) -> JsonObject:
    """Make the response object that opens and closes the stream: it echoes the request, tools and all."""
    return {
        "id": f"resp_{random_word(pick, 50)}",
        "object": "response",
        "created_at": _CREATED,
        "status": "in_progress",
        "background": False,
        "error": None,
        "incomplete_details": None,
        "instructions": "".join(tokens(500, seed=7)),
        "max_output_tokens": None,
        "max_tool_calls": None,
        "model": "example-5-2026-08-07",
        "output": [],
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "prompt_cache_key": None,
        "reasoning": {"effort": "medium", "summary": None},
        "safety_identifier": None,
        "service_tier": "default",
        "store": True,
        "temperature": 1.0,
        "text": {"format": {"type": "text"}, "verbosity": "medium"},
        "tool_choice": "auto",
        "tools": [_tool(name, seed) for seed, name in enumerate(_TOOLS, 20)],
        "top_logprobs": 0,
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": None,
        "user": None,
        "metadata": {"conversation": random_word(pick, 32)},
    }


def _tool(name: str, seed: int) -> JsonObject:
    description = "".join(tokens(80, seed))
    properties = {
        key: {"type": "string", "description": "".join(tokens(30, seed + len(key)))}
        for key in ("path", "content", "reason")
    }
    parameters = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return {"type": "function", "name": name, "description": description, "parameters": parameters, "strict": True}
