"""Real clients read what is encoded, over a real connection, and find in it what was in the events."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Callable, Iterator
from importlib import util
from typing import Any

import pytest

import streamshim
from streamshim import Event
from tests.consumers import (
    CHAT,
    RESPONSES,
    Answer,
    ToolLoop,
    agents_answer,
    expected_of_agents,
    expected_outcome,
    outcome,
)
from tests.event_json import event_of
from tests.loopback import serve
from tests.test_corpus import CORPUS, EXPECTED, absent, entries
from tests.test_encode_goldens import FOLDER, encoded

pytestmark = pytest.mark.skipif(not util.find_spec("openai"), reason="the openai SDK is not installed")

GOLDENS = [path.stem for path in sorted(FOLDER.glob("*.json"))]
CONSUMERS = {"chat": CHAT, "responses": RESPONSES}
BY_WIRE = pytest.mark.parametrize("wire", CONSUMERS)
with_agents = pytest.mark.skipif(not util.find_spec("agents"), reason="openai-agents is not installed")
OF_EACH_KIND = 12
LARGEST = 150_000
LOOPS = 5


@pytest.fixture(scope="module")
def connect() -> Iterator[Callable[[str], Any]]:
    """A client for an address; all share one pool of connections."""
    import openai

    with openai.OpenAI(base_url="http://127.0.0.1", api_key="none", max_retries=0) as sdk:
        yield lambda url: sdk.with_options(base_url=url)


def recorded() -> list[Any]:
    """Some files of either API for each thing that they may hold: every n-th, so that all vendors have their turn."""
    if not (CORPUS / "manifest.jsonl").exists():
        return []
    rows = [json.loads(line) for line in (CORPUS / "manifest.jsonl").read_text(encoding="utf-8").splitlines()]
    chosen = set()
    for api, feature in itertools.product(("chat", "responses"), ("tool_calls", "reasoning", "text")):
        files = sorted(row["file"] for row in rows if row["api"] == api and feature in row["features"])
        files = [file for file in files if (CORPUS / file).stat().st_size <= LARGEST]
        chosen.update(files[:: max(1, len(files) // OF_EACH_KIND)])
    return sorted(chosen)


def with_calls() -> list[str]:
    """Recordings that end in calls of functions, all of them whole."""
    if not EXPECTED.exists():
        return []
    found: dict[str, list[str]] = {"chat": [], "responses": []}
    for entry in entries():
        calls = entry["expect"].get("tool_calls") or ()
        whole = calls and all((call.get("kind"), call.get("status")) == ("function", "complete") for call in calls)
        api = entry["file"].partition("/")[0]
        if api in found and whole and entry["expect"]["status"] == "completed":
            found[api].append(entry["file"])
    return [file for files in found.values() for file in sorted(files)[:: max(1, len(files) // LOOPS)]]


def ids() -> Callable[[str], str]:
    """Made-up ids that are the same whoever makes them up, the decoder alone or a whole conversion."""
    numbers: dict[str, int] = {}

    def make(prefix: str) -> str:
        numbers[prefix] = numbers.get(prefix, 0) + 1
        return f"{prefix}_made_{numbers[prefix]}"

    return make


def golden_events(name: str) -> list[Event]:
    golden = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return [event_of(raw) for raw in golden["events"]]


def golden_frames(wire: str, name: str, **options: Any) -> list[bytes]:
    golden = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return [frame.encode() for frame in encoded(wire, golden["events"], **options)]


@BY_WIRE
@pytest.mark.parametrize("consumer", ["create", "stream"])
@pytest.mark.parametrize("name", GOLDENS)
def test_openai_reads_a_golden_as_it_was_meant(name: str, consumer: str, wire: str, connect: Any) -> None:
    with serve(golden_frames(wire, name)) as server:
        actual = outcome(CONSUMERS[wire][consumer], connect(server.url))
    assert actual == expected_outcome(consumer, wire, streamshim.collect(golden_events(name)))


@absent
@BY_WIRE
@pytest.mark.parametrize("file", recorded(), ids=str)
def test_openai_reads_a_converted_recording_as_the_events_of_it(file: str, wire: Any, connect: Any) -> None:
    data = (CORPUS / file).read_bytes()
    response = streamshim.parse(data, make_id=ids(), errors="event")
    with streamshim.convert(data, wire, make_id=ids()) as frames, serve(list(frames)) as server:
        for name, consumer in CONSUMERS[wire].items():
            assert outcome(consumer, connect(server.url)) == expected_outcome(name, wire, response), name


@absent
def test_recordings_of_both_wires_are_among_those_that_are_read() -> None:
    assert len(recorded()) >= 60
    assert {file.partition("/")[0] for file in recorded()} >= {"chat", "responses"}


async def answer_of_agents(wire: str, url: str) -> Any:
    import openai

    async with openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as sdk:
        return await agents_answer(wire, sdk)


@with_agents
@BY_WIRE
@pytest.mark.parametrize("name", GOLDENS)
def test_model_class_of_agents_reads_a_golden_as_it_was_meant(name: str, wire: str) -> None:
    with serve(golden_frames(wire, name)) as server:
        actual = asyncio.run(answer_of_agents(wire, server.url))
    assert actual == expected_of_agents(wire, streamshim.collect(golden_events(name)))


@with_agents
def test_length_as_completed_lets_both_helpers_take_the_answer(connect: Any) -> None:
    with serve(golden_frames("responses", "07_incomplete_length", length_as_completed=True)) as server:
        by_agents = asyncio.run(answer_of_agents("responses", server.url))
        by_openai = outcome(RESPONSES["stream"], connect(server.url))
    usage = (11, 7, 18, 4, 2)
    assert by_openai == Answer("Tide turns ", finish="completed", usage=usage)
    assert by_agents == Answer("Tide turns ", finish="response.completed", usage=usage)


def run_loop(wire: str, frames: list[bytes], response: streamshim.ModelResponse) -> ToolLoop:
    """Two turns: the frames, and when a tool was run, a golden answer in plain text."""
    loop = ToolLoop()
    with serve(frames) as server:

        def answer_next() -> None:
            server.script = golden_frames(wire, "01_text_only")

        tools = loop.tools(response.tool_calls, wire, answer_next)
        asyncio.run(loop.run(wire, server.url, tools))
    return loop


def assert_loop_is_whole(wire: str, loop: ToolLoop, response: streamshim.ModelResponse) -> None:
    calls = getattr(expected_outcome("create", wire, response), "calls", [])
    assert sorted(loop.ran) == sorted(calls)
    assert (loop.raised, loop.final, len(loop.requests)) == (None, "Tide turns at nine.", 2)
    assert sorted(loop.results_sent()) == sorted((id, f"result of {id}") for id, _, _ in calls)
    assert loop.input_tokens == ((response.usage.input_tokens or 0) if response.usage else 0) + 11


@with_agents
@BY_WIRE
@pytest.mark.parametrize("name", ["03_parallel_calls", "04_text_then_call_without_arguments", "12_responses_native"])
def test_agent_runs_the_calls_of_a_golden_and_sends_the_results(name: str, wire: str) -> None:
    response = streamshim.collect(golden_events(name))
    assert_loop_is_whole(wire, run_loop(wire, golden_frames(wire, name), response), response)


@absent
@with_agents
@BY_WIRE
@pytest.mark.parametrize("file", with_calls(), ids=str)
def test_agent_runs_the_calls_of_a_converted_recording(file: str, wire: Any) -> None:
    data = (CORPUS / file).read_bytes()
    response = streamshim.parse(data, make_id=ids())
    with streamshim.convert(data, wire, make_id=ids()) as frames:
        loop = run_loop(wire, list(frames), response)
    assert_loop_is_whole(wire, loop, response)


@with_agents
@BY_WIRE
def test_agent_never_runs_a_truncated_call(wire: str) -> None:
    name = "10_truncated_call"
    loop = run_loop(wire, golden_frames(wire, name), streamshim.collect(golden_events(name)))
    assert loop.ran == []
    assert loop.raised == {"chat": "APIError", "responses": "ModelBehaviorError"}[wire]
    assert len(loop.requests) == 1
