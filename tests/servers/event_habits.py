"""Habits of Responses streams: events that are missing, numbers and ids that are wrong, and other names."""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Callable, Iterator

from .manners import Stage, each, habit
from .question import Json

Events = list[Json]
TERMINAL = ("response.completed", "response.incomplete", "response.failed")


def terminal_of(events: Events) -> Json:
    """The last event."""
    return events[-1]


def _without(name: str, drops: Callable[[str], bool]) -> None:
    """A habit of leaving events out; the numbers stay without gaps."""

    def change(events: Events) -> Events:
        kept = [event for event in events if not drops(event["type"])]
        for at, event in enumerate(kept):
            event["sequence_number"] = at
        return kept

    habit(name, Stage.EVENTS)(change)


# -- events that are missing ------------------------------------------------------------------------------------------

_without("no-created", lambda kind: kind in ("response.created", "response.in_progress"))
_without("no-in-progress", lambda kind: kind == "response.in_progress")
_without("no-items-added", lambda kind: kind == "response.output_item.added")
_without("no-items-done", lambda kind: kind == "response.output_item.done")
_without("no-content-parts", lambda kind: kind.startswith("response.content_part."))
_without("no-summary-parts", lambda kind: kind.startswith("response.reasoning_summary_part."))
_without("no-text-done", lambda kind: kind in ("response.output_text.done", "response.content_part.done"))
_without("no-text-deltas", lambda kind: kind == "response.output_text.delta")
_without("no-argument-deltas", lambda kind: kind == "response.function_call_arguments.delta")
_without("no-arguments", lambda kind: kind.startswith("response.function_call_arguments."))
_without("no-arguments-done", lambda kind: kind == "response.function_call_arguments.done")
_without("no-terminal-event", lambda kind: kind in TERMINAL)
_without("only-the-terminal-event", lambda kind: kind not in TERMINAL)


@habit("created-in-short", Stage.EVENTS)
def created_in_short(events: Events) -> None:
    """The first events have hardly any settings."""
    for event in events[:2]:
        event["response"] = {key: event["response"][key] for key in ("id", "object", "status")}


# -- numbers, indices and ids -----------------------------------------------------------------------------------------


@each("no-sequence-numbers", Stage.EVENTS)
def no_sequence_numbers(event: Json) -> None:
    del event["sequence_number"]


@each("sequence-constant", Stage.EVENTS)
def sequence_constant(event: Json) -> None:
    event["sequence_number"] = 1


@each("no-output-index", Stage.EVENTS)
def no_output_index(event: Json) -> None:
    event.pop("output_index", None)


@each("output-index-zero", Stage.EVENTS)
def output_index_zero(event: Json) -> None:
    if "output_index" in event:
        event["output_index"] = 0


@each("no-content-index", Stage.EVENTS)
def no_content_index(event: Json) -> None:
    event.pop("content_index", None)


@each("content-index-of-item", Stage.EVENTS)
def content_index_of_item(event: Json) -> None:
    """Content is counted through the whole response."""
    if "content_index" in event:
        event["content_index"] = event["output_index"]


@each("no-item-ids", Stage.EVENTS)
def no_item_ids(event: Json) -> None:
    event.pop("item_id", None)


@each("no-call-item-ids", Stage.EVENTS)
def no_call_item_ids(event: Json) -> None:
    if event.get("item", {}).get("type") == "function_call":
        del event["item"]["id"]


@habit("item-ids-change", Stage.EVENTS)
def item_ids_change(events: Events) -> None:
    """An item has another id in every event."""
    numbers = itertools.count(1)
    for event in events:
        if "item_id" in event:
            event["item_id"] = f"item_{next(numbers)}"
        if "item" in event:
            event["item"]["id"] = f"item_{next(numbers)}"


@habit("item-ids-change-at-end", Stage.EVENTS)
def item_ids_change_at_end(events: Events) -> None:
    """Items get new ids as the response is shown whole."""
    for at, item in enumerate(terminal_of(events)["response"]["output"]):
        item["id"] = f"item_{at}"


@habit("response-id-changes", Stage.EVENTS)
def response_id_changes(events: Events) -> None:
    terminal_of(events)["response"]["id"] += "_final"


@habit("bare-ids", Stage.EVENTS)
def bare_ids(events: Events) -> None:
    """Ids without prefixes."""
    for event in events:
        for holder in _holders(event):
            for key in ("id", "item_id"):
                if key in holder:
                    holder[key] = f"00000000-0000-4000-8000-{holder[key].rpartition('_')[2]:0>12}"


def _holders(event: Json) -> Iterator[Json]:
    """Whatever in an event has the id of an item or of a response; a response keeps its own, to be continued by."""
    yield event
    yield event.get("item", {})
    yield from event.get("response", {}).get("output", [])


# -- the end ----------------------------------------------------------------------------------------------------------


@habit("empty-output", Stage.EVENTS)
def empty_output(events: Events) -> None:
    terminal_of(events)["response"]["output"] = []


@habit("null-output", Stage.EVENTS)
def null_output(events: Events) -> None:
    terminal_of(events)["response"]["output"] = None


@habit("completed-says-incomplete", Stage.EVENTS)
def completed_says_incomplete(events: Events) -> None:
    """The last event is always named completed, whatever the status in it."""
    terminal_of(events)["type"] = "response.completed"


@habit("length-as-completed", Stage.RESPONSE_BODY)
def length_as_completed_body(body: Json) -> None:
    body.update(status="completed", incomplete_details=None)


@habit("length-as-completed", Stage.EVENTS)
def length_as_completed(events: Events) -> None:
    """An answer that was cut counts as completed."""
    if terminal_of(events)["type"] == "response.incomplete":
        terminal_of(events)["type"] = "response.completed"
        length_as_completed_body(terminal_of(events)["response"])


@habit("response-done", Stage.EVENTS)
def response_done(events: Events) -> None:
    terminal_of(events)["type"] = "response.done"


@habit("events-after-the-end", Stage.EVENTS)
def events_after_the_end(events: Events) -> Events:
    """Facts about the response come when it is over."""
    facts: Json = {"type": "response.metadata", "sequence_number": len(events), "headers": {}}
    return [*events, facts]


@habit("keepalive-events", Stage.EVENTS)
def keepalive_events(events: Events) -> Events:
    keepalive: Json = {"type": "keepalive"}
    told = [*events[:3], keepalive, *events[3:]]
    for at, event in enumerate(told):
        event["sequence_number"] = at
    return told


@habit("no-usage", Stage.RESPONSE_BODY)
def no_usage_body(body: Json) -> None:
    body["usage"] = None


@habit("no-usage", Stage.EVENTS)
def no_usage(events: Events) -> None:
    no_usage_body(terminal_of(events)["response"])


@habit("usage-without-details", Stage.EVENTS)
def usage_without_details(events: Events) -> None:
    for details in ("input_tokens_details", "output_tokens_details"):
        del terminal_of(events)["response"]["usage"][details]


# -- words that are told twice ----------------------------------------------------------------------------------------


def _change_text(events: Events, change: Callable[[str], str]) -> None:
    """Change every repeat of the text, but none of the deltas."""
    for event in events:
        if event["type"] == "response.output_text.done":
            event["text"] = change(event["text"])
        parts = [event.get("part", {}), *event.get("item", {}).get("content", [])]
        for item in event.get("response", {}).get("output", []):
            parts += item.get("content", [])
        for part in parts:
            if part.get("text") and part.get("type") == "output_text":
                part["text"] = change(part["text"])


@habit("text-longer-when-done", Stage.EVENTS)
def text_longer_when_done(events: Events) -> Events:
    """The last delta never comes; what repeats the text has it."""
    deltas = [event for event in events if event["type"] == "response.output_text.delta"]
    return [event for event in events if event is not deltas[-1]] if deltas else events


@habit("text-differs-when-done", Stage.EVENTS)
def text_differs_when_done(events: Events) -> None:
    _change_text(events, lambda text: "~" + text[1:])


@habit("delta-after-end", Stage.EVENTS)
def delta_after_end(events: Events) -> Events:
    """A delta comes once more when its item is over."""
    deltas = [event for event in events if event["type"].endswith(".delta")]
    return [*events[:-1], copy.deepcopy(deltas[-1]), events[-1]] if deltas else events


# -- thought ----------------------------------------------------------------------------------------------------------

_RAW = {
    "response.reasoning_summary_part.added": "response.content_part.added",
    "response.reasoning_summary_part.done": "response.content_part.done",
    "response.reasoning_summary_text.delta": "response.reasoning_text.delta",
    "response.reasoning_summary_text.done": "response.reasoning_text.done",
}


def _raw_item(item: Json) -> None:
    if item.get("type") == "reasoning":
        item["content"] = [{**part, "type": "reasoning_text"} for part in item["summary"]]
        item["summary"] = []


def _raw_body(body: Json) -> None:
    for item in body["output"]:
        _raw_item(item)


def _raw_thought(name: str, names: dict[str, str]) -> None:
    """A habit of telling thought as it is, never in summaries."""

    def change(events: Events) -> None:
        for event in events:
            event["type"] = names.get(event["type"], event["type"])
            if "summary_index" in event:
                event["content_index"] = event.pop("summary_index")
            if event.get("part", {}).get("type") == "summary_text":
                event["part"]["type"] = "reasoning_text"
            _raw_item(event.get("item", {}))
            if event.get("response", {}).get("output"):
                _raw_body(event["response"])

    habit(name, Stage.EVENTS)(change)
    habit(name, Stage.RESPONSE_BODY)(_raw_body)


_raw_thought("raw-reasoning", _RAW)
_raw_thought(
    "raw-reasoning-by-its-short-name",
    {
        **_RAW,
        "response.reasoning_summary_text.delta": "response.reasoning.delta",
        "response.reasoning_summary_text.done": "response.reasoning.done",
    },
)
_raw_thought(
    "reasoning-parts",
    {
        **_RAW,
        "response.reasoning_summary_part.added": "response.reasoning_part.added",
        "response.reasoning_summary_part.done": "response.reasoning_part.done",
    },
)


@habit("reasoning-only-when-done", Stage.EVENTS)
def reasoning_only_when_done(events: Events) -> Events:
    """Thought comes in one event, without a delta."""
    return [event for event in events if not event["type"].startswith("response.reasoning") or "text" in event]


@each("reasoning-items-in-short", Stage.EVENTS)
def reasoning_items_in_short(event: Json) -> None:
    """A reasoning item is announced without its lists."""
    if event["type"] == "response.output_item.added" and event["item"]["type"] == "reasoning":
        del event["item"]["summary"]


@each("no-logprobs", Stage.EVENTS)
def no_logprobs(event: Json) -> None:
    event.pop("logprobs", None)


# -- calls ------------------------------------------------------------------------------------------------------------


@habit("arguments-as-object", Stage.EVENTS)
def arguments_as_object(events: Events) -> Events:
    """Only the items have the arguments, and as objects."""
    kept = [event for event in events if not event["type"].startswith("response.function_call_arguments.")]
    for event in kept:
        for item in (event.get("item", {}), *event.get("response", {}).get("output", [])):
            if item.get("arguments"):
                item["arguments"] = json.loads(item["arguments"])
    return kept
