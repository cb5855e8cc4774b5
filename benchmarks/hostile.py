"""Chat streams in which no chunk looks like the one before it: the text of `chat`, and something that keeps changing.

They ask what it costs where a reader expects frames that are alike, and none are.
"""

from __future__ import annotations

import json
import random
from functools import cache
from typing import TYPE_CHECKING, Any

from .bodies import DONE, Body, JsonObject, body, chat_usage, frame
from .prose import random_word

if TYPE_CHECKING:
    from collections.abc import Callable

    Change = Callable[[JsonObject, int, random.Random], bytes]

_PREFIX = b"data: "
_BLANKS = ("", " ", "  ", "\t")


@cache
def hostile_body(name: str) -> Body:
    """A body by its name, made once: the chunks of `chat`, each changed."""
    change, pick = CHANGES[name], random.Random(41)
    plain = body("chat")
    payloads = [json.loads(each.removeprefix(_PREFIX)) for each in plain.frames[:-1]]
    frames = [change(payload, number, pick) for number, payload in enumerate(payloads)]
    return Body(name, (*frames, DONE), plain.deltas, text=plain.text)


def ids(payload: JsonObject, _number: int, pick: random.Random) -> bytes:
    """Each chunk has an id of its own."""
    return frame(payload | {"id": f"chatcmpl-{random_word(pick, 29)}"})


def usage(payload: JsonObject, number: int, _pick: random.Random) -> bytes:
    """Each chunk has the token counts so far."""
    return frame(payload | {"usage": chat_usage(number)})


def logprobs(payload: JsonObject, _number: int, pick: random.Random) -> bytes:
    """Each chunk has the log probability of its token, and of two others."""
    (choice,) = payload["choices"]
    token = choice["delta"].get("content")
    if token:
        others = [_scored(random_word(pick, 4), pick) for _ in range(2)]
        choice["logprobs"] = {"content": [_scored(token, pick) | {"top_logprobs": others}], "refusal": None}
    return frame(payload)


def choices(payload: JsonObject, number: int, _pick: random.Random) -> bytes:
    """Two choices take turns; the last chunk finishes both."""
    (choice,) = payload["choices"]
    choice["index"] = number % 2
    if choice["finish_reason"]:
        payload["choices"] = [choice | {"index": 0}, choice | {"index": 1}]
    return frame(payload)


def layout(payload: JsonObject, _number: int, pick: random.Random) -> bytes:
    """Each chunk has its keys in another order, and other blanks between them."""
    comma, colon = ("," + pick.choice(_BLANKS), ":" + pick.choice(_BLANKS))
    text = json.dumps(_shuffled(payload, pick), ensure_ascii=False, separators=(comma, colon))
    return _PREFIX + text.encode() + b"\n\n"


CHANGES: dict[str, Change] = {
    "hostile-ids": ids,
    "hostile-usage": usage,
    "hostile-logprobs": logprobs,
    "hostile-choices": choices,
    "hostile-layout": layout,
}


def _scored(token: str, pick: random.Random) -> JsonObject:
    return {"token": token, "logprob": -round(pick.random(), 6), "bytes": list(token.encode())}


def _shuffled(value: Any, pick: random.Random) -> Any:
    if isinstance(value, list):
        return [_shuffled(item, pick) for item in value]
    if not isinstance(value, dict):
        return value
    keys = list(value)
    pick.shuffle(keys)
    return {key: _shuffled(value[key], pick) for key in keys}
