"""Hands bodies to the relay the way most tests need it, and says what a reader hears in them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from streamshim import ModelResponse, StreamDecoder, StreamEnd, collect
from streamshim.relay import chat_relay, responses_relay
from streamshim.wire_order import wire_breaches
from tests.reading import decode

MAX_BYTES = 64 * 1024 * 1024


@dataclass
class Relayed:
    """What came of a body.

    Attributes:
        pieces: what each piece of it gave, and last what its end gave.
        end: how it ended.
        is_cut: whether its reader must be told that it was cut.
        rewritten: how many frames of it were not handed on as they came.
    """

    pieces: list[bytes]
    end: StreamEnd
    is_cut: bool
    rewritten: int

    @property
    def body(self) -> bytes:
        return b"".join(self.pieces)

    @property
    def payloads(self) -> list[Any]:
        return payloads_in(self.body)

    @property
    def breaches(self) -> list[str]:
        return wire_breaches(self.body, cut=self.is_cut, relayed=True)


def relay(
    pieces: Iterable[bytes],
    api: str = "chat",
    *,
    broken: bool = False,
    asks_usage: bool = True,
    tool_calls: Any = "stream",
    **options: Any,
) -> Relayed:
    """Relay a body. `broken`: the connection breaks behind the last piece."""
    numbers: Counter[str] = Counter()

    def make_id(prefix: str) -> str:
        numbers[prefix] += 1
        return f"made-up-{prefix}-{numbers[prefix]}"

    decoder = StreamDecoder(collect=False, make_id=make_id, **options)
    most = options.get("max_frame_bytes", MAX_BYTES)
    if api == "chat":
        handed = chat_relay(decoder, most, make_id, asks_usage=asks_usage, tool_calls=tool_calls)
    else:
        handed = responses_relay(decoder, most, make_id)
    given = [handed.feed(piece) for piece in pieces]
    given.append(handed.close(ConnectionError("connection broke") if broken else None))
    assert decoder.end is not None
    return Relayed(given, decoder.end, handed.is_cut, handed.rewritten)


def payloads_in(body: bytes) -> list[Any]:
    """What the events of a body say: JSON, or `[DONE]` as text."""
    blocks = body.decode().replace("\r\n", "\n").replace("\r", "\n").split("\n\n")
    data = ["\n".join(line[5:] for line in block.split("\n") if line.startswith("data:")).strip() for block in blocks]
    return [each if each == "[DONE]" else json.loads(each) for each in data if each]


# -- what is heard ----------------------------------------------------------------------------------------------------


def heard(pieces: Iterable[bytes], api: str, *, broken: bool = False, **options: Any) -> dict[str, Any]:
    """What a stream says, as far as the API can say it. A call without a name has no place of its own in any order."""
    response = collect(decode(pieces, broken=broken, **options))
    choices = {}
    for choice in response.choices if api == "chat" else response.choices[:1]:
        calls = [
            (call.name, _arguments(call, api), call.status)
            for call in choice.tool_calls
            if call.kind in ("function", "custom") and call.name
        ]
        said = {"text": choice.text, "reasoning": choice.reasoning, "refusal": choice.refusal, "calls": calls}
        if any(said.values()):
            choices[choice.index] = said | {"finish": choice.finish_reason or "stop"}
    return {"status": response.status, "choices": choices}


def _arguments(call: Any, api: str) -> str:
    if call.kind == "custom" and api == "chat":
        return json.dumps({"input": call.arguments}, ensure_ascii=False, separators=(",", ":"))
    return str(call.arguments)


def naive_chat(body: bytes) -> dict[int, dict[str, Any]]:
    """What a client that adds up deltas makes of a body without a second thought."""
    choices: dict[int, dict[str, Any]] = {}
    for payload in payloads_in(body):
        for choice in payload["choices"] if payload != "[DONE]" else ():
            found = choices.setdefault(choice["index"], {"text": "", "reasoning": "", "refusal": "", "calls": {}})
            delta = choice["delta"]
            found["text"] += delta.get("content") or ""
            found["reasoning"] += delta.get("reasoning_content") or delta.get("reasoning") or ""
            found["refusal"] += delta.get("refusal") or ""
            found["finish"] = choice.get("finish_reason") or found.get("finish")
            for entry in delta.get("tool_calls") or ():
                call = found["calls"].setdefault(entry["index"], ["", "", "", ""])
                said = entry.get("function") or {}
                more = entry.get("id"), said.get("name"), said.get("arguments"), entry.get("id") and entry.get("type")
                found["calls"][entry["index"]] = [one + (two or "") for one, two in zip(call, more, strict=True)]
    return choices


def understood_chat(response: ModelResponse) -> dict[int, dict[str, Any]]:
    """The same of what the decoder made of it."""
    return {
        choice.index: {
            "text": choice.text,
            "reasoning": choice.reasoning,
            "refusal": choice.refusal,
            "calls": {
                number: [call.call_id, call.name, call.arguments, call.kind]
                for number, call in enumerate(choice.tool_calls)
            },
            "finish": choice.finish_reason,
        }
        for choice in response.choices
    }
