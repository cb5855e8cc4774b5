"""What a wire cannot say, as a projection: two responses are the same to a wire if they are equal under it.

Everything that is left out or mapped here stands in a list of losses in the documentation of the encoders; all else
must come back unchanged. Ids and times that an encoder made up count as none.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from streamshim import Event, collect
from streamshim.response_models import Choice, ModelResponse, Part

MADE_UP = "made-up-"
MADE_UP_TIME = 7
COMPLETED_WORDS = ("stop", "tool_calls", "length", "content_filter")


def known_id(id: str | None) -> str | None:
    """The id, unless an encoder made it up."""
    return None if id is None or id.startswith(MADE_UP) else id


# -- what both wires say alike ----------------------------------------------------------------------------------------


def head(start: Any) -> dict[str, Any]:
    """What is known when the stream starts: an id or a model that comes later is not said."""
    return {
        "response_id": known_id(start.response_id),
        "model": start.model,
        "created_at": None if start.created_at == MADE_UP_TIME else start.created_at,
    }


def counts(response: ModelResponse, *, cache_write: bool) -> Any:
    """None counts come back as 0, a missing total as the sum."""
    usage = response.usage
    if usage is None:
        return None
    given = [usage.input_tokens or 0, usage.output_tokens or 0, usage.cached_input_tokens or 0]
    given += [usage.reasoning_tokens or 0, (usage.cache_write_tokens or 0) if cache_write else 0]
    return [*given, sum(given[:2]) if usage.total_tokens is None else usage.total_tokens]


def citations(choice: Choice) -> list[Any]:
    """Offsets that are None come back as 0, titles as "", late ones at a later place, cited texts not at all."""
    return sorted({(c.url or "", c.title or "", c.start or 0, c.end or 0) for c in choice.citations})


def logprobs(entries: list[Any] | None) -> list[Any]:
    """Only tokens that have a text; a number that JSON cannot say comes back as that of the impossible token."""
    found = []
    for entry in entries or ():
        if isinstance(entry, dict) and isinstance(entry.get("token"), str):
            number = entry.get("logprob")
            is_said = isinstance(number, int | float) and math.isfinite(number)
            found.append((entry["token"], number if is_said else -9999.0))
    return found


def is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def sounds(choice: Choice) -> list[str]:
    """The parts of audio are not told apart."""
    parts = [part for part in choice.media if (part.media_type or "").startswith("audio/")]
    return ["".join(part.data or "" for part in parts), "".join(part.transcript or "" for part in parts)]


# -- Responses --------------------------------------------------------------------------------------------------------


def on_responses(events: list[Event]) -> dict[str, Any]:
    """One choice; a completed answer is "stop", or "tool_calls" where there are calls to answer."""
    response = collect(events)
    choice = next((choice for choice in response.choices if choice.index == 0), Choice(index=0))
    status = response.status
    if len(response.choices) > 1 and status == "incomplete" and choice.finish_reason in ("stop", "tool_calls"):
        status = "completed"
    error = response.error if status == "failed" else None
    return {
        **head(events[0]),
        "status": status,
        "error": (error.code or error.type or "server_error", error.message) if error else None,
        "usage": counts(response, cache_write=True),
        "service_tier": response.metadata.get("service_tier") or "default",
        "finish_reason": finish_on_responses(choice, status),
        "citations": citations(choice) if any(part.type == "text" for part in choice.parts) else [],
        "sounds": sounds(choice),
        "parts": parts_on_responses(choice),
    }


def finish_on_responses(choice: Choice, status: str | None) -> Any:
    if status == "completed":
        return "tool_calls" if any(not call.answered for call in choice.calls_to_answer) else "stop"
    if status == "incomplete":
        return choice.finish_reason if choice.finish_reason in ("length", "content_filter") else "other"
    return None


def parts_on_responses(choice: Choice) -> list[Any]:
    """Kinds of thought come back as summary. In an item what is encrypted comes last, and once."""
    said: list[Any] = []
    for item in in_items(choice.parts):
        said += [spoken for part in item.parts if (spoken := part_on_responses(part, item.id))]
        if encrypted := [part.encrypted for part in item.parts if part.type == "reasoning" and part.encrypted]:
            said.append(("encrypted", item.id, encrypted[-1]))
    return said


@dataclass
class Item:
    """An output item: a call, a medium, or what prose goes together."""

    id: str | None
    parts: list[Any]


def in_items(parts: Iterable[Part]) -> list[Item]:
    """Neighbouring prose of one item type, id and phase is one item; an id that an earlier item has is made up anew."""
    items: list[Item] = []
    asked: str | None = None
    phase: str | None = None
    used: set[str | None] = {None}
    for part in parts:
        id = part.id or None
        if part.type == "tool_call" and part.kind in ("server", "builtin"):
            id = id or part.call_id
        last = items[-1].parts[-1] if items else None
        in_phase = part.type != "text" or (part.phase or None) == phase
        if last is not None and family(last) == family(part) and id in (None, asked) and in_phase:
            items[-1].parts.append(part)
        else:
            asked, phase = id, (part.phase or None) if part.type == "text" else None
            items.append(Item(None if id in used else known_id(id), [part]))
            used.add(id)
    return items


def family(part: Part) -> Any:
    """What may share an item: a refusal fits into any message."""
    if part.type == "reasoning":
        return "reasoning"
    return "message" if part.type in ("text", "refusal") else part


def part_on_responses(part: Part, id: str | None) -> Any:
    if part.type == "text":
        return part.text and (part.type, id, part.text, part.phase or None, logprobs(part.logprobs))
    if part.type == "refusal":
        return part.text and (part.type, id, part.text)
    if part.type == "reasoning":
        return part.text and part.kind != "encrypted" and ("summary", id, part.text)
    if part.type == "tool_call":
        return call_on_responses(part, id)
    # an image comes back with the call that made it; what lies at an address is not said
    is_image = (part.media_type or "image/png").startswith("image/") and part.data
    return is_image and ("image", part.media_type or "image/png", part.data)


def call_on_responses(call: Any, id: str | None) -> Any:
    if call.kind in ("function", "custom"):
        return ("call", id, call.call_id, call.name, call.kind, call.arguments.strip(), call.status)
    if not call.item_type or call.item_type == "image_generation_call":
        return None
    if call.status == "truncated":  # it is shown once more, as incomplete
        return ("call", id, call.name)
    return ("call", id, call.name, call.kind, call.arguments, call.status)


# -- chat -------------------------------------------------------------------------------------------------------------


def on_chat(events: list[Event]) -> dict[str, Any]:
    """A cancelled stream just ends; how a stream ended early is said by "length" and "content_filter" alone."""
    response = collect(events)
    status: Any = "truncated" if response.status == "cancelled" else response.status
    if response.choices and all(choice.finish_reason == "other" for choice in response.choices):
        status = "incomplete or completed"
    choices = {choice.index: choice_on_chat(choice, status) for choice in response.choices}
    if status == "completed" and not choices:
        choices = {0: choice_on_chat(Choice(index=0, finish_reason="stop"), status)}
    if status in ("failed", "truncated"):  # then a choice has no finish reason to stand for it
        nothing = choice_on_chat(Choice(index=0), status)
        choices = {index: said for index, said in choices.items() if said != nothing}
    error = response.error if status == "failed" else None
    is_said = choices or response.usage is not None
    return {
        **(head(events[0]) if is_said else {}),
        "status": status,
        "error": (error.code, error.message, error.type, error.param) if error else None,
        "usage": counts(response, cache_write=False),
        # one that is known after the last chunk has no place when the stream ends badly
        "service_tier": response.metadata.get("service_tier") or None
        if status not in ("failed", "truncated")
        else None,
        "choices": choices,
    }


def choice_on_chat(choice: Choice, status: str) -> dict[str, Any]:
    """Neighbouring parts of a kind are one, without ids, phase or kind of thought."""
    cut = status in ("failed", "truncated")
    calls = [said for call in choice.tool_calls if (said := call_on_chat(call, choice, cut))]
    texts = [part for part in choice.parts if part.type == "text"]
    images = [part for part in choice.media if not (part.media_type or "").startswith("audio/")]
    reason = choice.finish_reason
    if status == "completed" and reason in ("error", None):
        reason = "stop"
    return {
        "text": choice.text,
        "logprobs": [entry for part in texts for entry in logprobs(part.logprobs)],
        "reasoning": choice.reasoning,
        "refusal": choice.refusal,
        "calls": calls,
        "images": [(part.media_type if part.data else None, part.data, part.url) for part in images],
        "sounds": sounds(choice),
        "citations": citations(choice),
        "finish_reason": None if cut else reason,
        "order": list(dict.fromkeys(said for part in choice.parts if (said := kind_on_chat(part)))),
    }


def kind_on_chat(part: Part) -> str | None:
    if part.type == "tool_call":  # hosted calls and images are written when they are whole
        return "call" if part.kind != "server" else None
    return part.type if part.type != "media" and part.text else None


def call_on_chat(call: Any, choice: Choice, cut: bool) -> Any:
    """The vendor's calls are not said; hosted ones are functions, and so are custom tools, with their input inside."""
    if call.kind == "server" or (call.kind == "builtin" and call.status == "truncated"):
        return None
    arguments = call.arguments
    if call.kind == "custom" and call.status != "truncated":
        arguments = json.dumps({"input": arguments}, ensure_ascii=False, separators=(",", ":"))
    elif call.kind == "custom":
        arguments = '{"input":"' + json.dumps(arguments, ensure_ascii=False)[1:-1]
    status = "complete" if is_object(arguments) else "truncated" if choice.finish_reason == "length" else "invalid"
    return call.call_id, call.name, arguments.strip(), "truncated" if cut else status
