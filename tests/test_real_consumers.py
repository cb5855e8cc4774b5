"""Real clients read what is encoded, over a real connection, and find in it what was in the events."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from importlib import util
from typing import Any

import pytest

import streamshim
from streamshim import Event
from streamshim.convert import convert
from tests.consumers import CHAT, RESPONSES, expected_outcome, outcome
from tests.event_json import event_of
from tests.loopback import serve
from tests.test_corpus import CORPUS
from tests.test_encode_goldens import FOLDER, encoded

pytestmark = pytest.mark.skipif(not util.find_spec("openai"), reason="the openai SDK is not installed")

GOLDENS = [path.stem for path in sorted(FOLDER.glob("*.json"))]
CONSUMERS = {"chat": CHAT, "responses": RESPONSES}
BY_WIRE = pytest.mark.parametrize("wire", CONSUMERS)
OF_EACH_KIND = 12
LARGEST = 150_000


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


@pytest.mark.skipif(not recorded(), reason="the recorded streams (../shared/corpus) are not here")
@BY_WIRE
@pytest.mark.parametrize("file", recorded(), ids=str)
def test_openai_reads_a_converted_recording_as_the_events_of_it(file: str, wire: Any, connect: Any) -> None:
    data = (CORPUS / file).read_bytes()
    response = streamshim.parse(data, make_id=ids(), errors="event")
    with convert(data, wire, make_id=ids()) as frames, serve(list(frames)) as server:
        for name, consumer in CONSUMERS[wire].items():
            assert outcome(consumer, connect(server.url)) == expected_outcome(name, wire, response), name


@pytest.mark.skipif(not recorded(), reason="the recorded streams (../shared/corpus) are not here")
def test_recordings_of_both_wires_are_among_those_that_are_read() -> None:
    assert len(recorded()) >= 60
    assert {file.partition("/")[0] for file in recorded()} >= {"chat", "responses"}
