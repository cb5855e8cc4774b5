"""What is encoded for the Responses wire, set against the schema and the state machine of Open Responses."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources, util
from typing import Any

import pytest

from streamshim import StreamStart
from streamshim.encode import ResponsesEncoder
from tests.reading import decode
from tests.test_encode_goldens import FOLDER, encoded
from tests.test_round_trip import encode
from tests.test_scenarios import SCENARIOS, load

pytestmark = pytest.mark.skipif(
    not (util.find_spec("openresponses") and util.find_spec("jsonschema")),
    reason="openresponses-py and jsonschema are not installed",
)

GOLDENS = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.json"))}
UNKNOWN_TO_THE_SCHEMA = ("custom_tool_call", "reasoning_text", "audio", "_call_", "_call.", "mcp_list_tools")


def variants(golden: dict[str, Any]) -> list[dict[str, Any]]:
    others = [variant["options"] for variant in golden.get("variants", ()) if variant["wire"] == "responses"]
    return [golden["responses_options"], *others]


CASES = [
    pytest.param(golden["events"], options, id="-".join([name, *map(str, options.items())]))
    for name, golden in GOLDENS.items()
    for options in variants(golden)
]


@cache
def validators() -> dict[str, Any]:
    """A validator for each event type."""
    from jsonschema import Draft202012Validator

    file = resources.files("openresponses") / "openapi" / "2026-04-24.json"
    document = json.loads(file.read_text(encoding="utf-8"))
    found = {}
    for name, schema in document["components"]["schemas"].items():
        if name.endswith("StreamingEvent"):
            for event_type in schema["properties"]["type"]["enum"]:
                whole = {"$ref": f"#/components/schemas/{name}", "components": document["components"]}
                found[event_type] = Draft202012Validator(whole)
    return found


def payloads(frames: list[str]) -> list[dict[str, Any]]:
    lines = [line for frame in frames for line in frame.split("\n") if line.startswith("data: {")]
    return [json.loads(line[6:]) for line in lines]


def complaints(payload: dict[str, Any]) -> list[str]:
    validator = validators().get(payload["type"])
    if validator is None:
        return [f"{payload['type']} is unknown"]
    return [f"{payload['type']}: {error.message[:200]}" for error in validator.iter_errors(payload)]


def is_sayable(payload: dict[str, Any]) -> bool:
    """Whether the schema has words for it: hosted and custom tools, and the files they make, are not in it."""
    items = [payload.get("item"), *(payload.get("response") or {}).get("output", ())]
    known = ("message", "reasoning", "function_call")
    hosted = any(item and item["type"] not in known for item in items)
    return (
        not hosted
        and "container_file_citation" not in json.dumps(payload)
        and not any(word in payload["type"] for word in UNKNOWN_TO_THE_SCHEMA)
    )


@pytest.mark.parametrize(("events", "options"), CASES)
def test_every_event_of_a_golden_fits_the_schema(events: list[dict[str, Any]], options: dict[str, Any]) -> None:
    said = payloads(encoded("responses", events, **options))
    assert len(said) > 2
    assert [found for payload in said if is_sayable(payload) for found in complaints(payload)] == []


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_event_of_a_scenario_fits_the_schema(name: str) -> None:
    scenario = load(name)
    events = decode(scenario["pieces"], broken=scenario["drop"], **scenario["options"])
    said = payloads([frame.decode() for frame in encode("responses", events)])
    assert [found for payload in said if is_sayable(payload) for found in complaints(payload)] == []


def test_the_schema_refuses_what_is_not_said_in_full() -> None:
    """The check itself can fail: a response object without all of its members does not pass."""
    encoder = ResponsesEncoder()
    created, _ = encoder.feed(StreamStart("chat", "resp_1", "m-1", 1))
    payload = payloads([created.decode()])[0]
    del payload["response"]["truncation"]
    assert complaints(payload)


@pytest.mark.parametrize(("events", "options"), [case for case in CASES if "12_" not in str(case.id)])
def test_state_machine_accepts_the_order_of_a_golden(events: list[dict[str, Any]], options: dict[str, Any]) -> None:
    from openresponses.streaming import StreamState
    from openresponses.types.protocol import StreamingEventAdapter

    state = StreamState()
    for payload in payloads(encoded("responses", events, **options)):
        if is_sayable(payload):
            state.accept(StreamingEventAdapter.validate_python(payload))
    assert state.terminal_seen == (options.get("truncated") != "silent")
