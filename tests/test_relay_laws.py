"""What a relay hands on is legal, says what came in, and is what came in where nothing is wrong with it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamshim import collect
from streamshim.encode import encoder
from streamshim.testing import cuts
from streamshim.wire_order import wire_breaches
from tests.reading import decode
from tests.relaying import Relayed, heard, naive_chat, payloads_in, relay, understood_chat
from tests.strategies import CORPUS, bodies, chunks, damaged, framed, response_events
from tests.test_scenarios import SCENARIOS, load

APIS: tuple[str, ...] = ("chat", "responses")
BY_API = pytest.mark.parametrize("api", APIS)
BODIES = {
    "chat": st.one_of(framed(chunks), damaged(), bodies),
    "responses": st.one_of(framed(response_events), damaged(), bodies),
}
RECORDED = [
    (api, path)
    for api in APIS
    for path in sorted(CORPUS.glob(f"{api}/*"))
    if path.suffix in (".sse", ".json", ".ndjson") and path.stat().st_size < 300_000
]
OWN = [(json.loads(path.read_text(encoding="utf-8"))["api"], name) for name, path in SCENARIOS.items()]
OWN = [(api, name) for api, name in OWN if api in APIS]


@pytest.fixture(autouse=True)
def one_time_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoder, "unix_time", lambda: 1760000000)


def assert_is_handed_on(relayed: Relayed, pieces: list[bytes], api: str, **options: Any) -> None:
    """Legal, and the same answer; of one that failed or was cut no more than came, and the reader is told."""
    assert relayed.breaches == []
    broken = options.pop("broken", False)
    came, went = heard(pieces, api, broken=broken, **options), heard([relayed.body], api, reasoning_tags="off")
    if came["status"] in ("completed", "incomplete"):
        assert went["choices"] == came["choices"]
        assert went["status"] in ("completed", "incomplete")
        assert not relayed.is_cut
    elif came["status"] == "failed":
        assert went["status"] == "failed"
    else:
        assert relayed.is_cut or went["status"] == came["status"] == "cancelled"


@pytest.mark.parametrize(("api", "name"), OWN, ids=[name for _, name in OWN])
def test_scenario_is_handed_on_as_a_legal_stream_that_says_the_same(api: str, name: str) -> None:
    scenario = load(name)
    pieces, options = scenario["pieces"], {"broken": scenario["drop"], **scenario["options"]}
    assert_is_handed_on(relay(pieces, api, **options), pieces, api, **options)


@pytest.mark.skipif(not RECORDED, reason="the recorded streams (../shared/corpus) are not here")
@pytest.mark.parametrize(("api", "path"), RECORDED, ids=lambda value: getattr(value, "name", value))
def test_recorded_stream_is_handed_on_as_a_legal_stream_that_says_the_same(api: str, path: Any) -> None:
    pieces = [path.read_bytes()]
    assert_is_handed_on(relay(pieces, api), pieces, api)


@BY_API
@given(data=st.data())
def test_any_bytes_are_handed_on_as_a_legal_stream(api: str, data: st.DataObject) -> None:
    body = data.draw(BODIES[api])
    broken = data.draw(st.booleans())
    relayed = relay([body], api, broken=broken)
    assert relayed.breaches == []
    assert relayed.is_cut == (relayed.end.status in ("truncated", "cancelled"))


@BY_API
@given(data=st.data())
def test_answer_that_is_whole_arrives_whole(api: str, data: st.DataObject) -> None:
    """In the words of the other API an answer may be another one: of several choices one is told, for example."""
    body = data.draw(BODIES[api])
    start = decode([body])[0]
    relayed = relay([body], api)
    if relayed.end.status in ("completed", "incomplete") and getattr(start, "api", None) == api:
        assert heard([relayed.body], api, reasoning_tags="off")["choices"] == heard([body], api)["choices"]


@BY_API
@given(data=st.data())
def test_the_cut_of_the_bytes_never_shows(api: str, data: st.DataObject) -> None:
    """But for an error, which ends the stream at once: what came in the same piece behind it may have been read."""
    body = data.draw(BODIES[api])
    whole = relay([body], api)
    if whole.end.status != "failed":
        for pieces in cuts(body, sizes=(64,)):
            assert lines_of(relay(pieces, api)) == lines_of(whole)


def lines_of(relayed: Relayed) -> list[bytes]:
    """A line feed that comes with the next piece may have lost its place behind the carriage return."""
    return [line for line in relayed.body.replace(b"\r", b"\n").split(b"\n") if line]


# -- byte for byte ----------------------------------------------------------------------------------------------------


NOT_AS_IT_CAME = {
    "code_interpreter_old_event_names": "events of names that the API has no longer",
    "incomplete_with_tool_call": "a call that was cut is not told to be done",
    "n2-both-in-one-chunk": "several choices, with content beside a finish word",
    "mistral__mistral-small-latest-streaming-mistral-small-tiny-plain-two__0xplaygrounds-rig.sse": "the same",
    "reasoning_and_text_interleaved": "prose that interleaves is told in several items",
    "reasoning_done_after_call_done": "thought is told to be done with its item",
    "tool_name_late": "a call is announced with its name",
    "tool_parallel_interleaved": "a call is announced with its first argument",
    "tool_zero_arguments": "no arguments are an empty object",
}
"""Legal streams that are handed on in other words, or in another order, all the same."""


def needs_no_repair(body: bytes, api: str) -> bool:
    """Whether strict readers take a body for what it is: it is legal, and naively read it says what it means."""
    events = decode([body])
    end: Any = events[-1]
    if end.status not in ("completed", "incomplete") or end.repairs or wire_breaches(body, relayed=True):
        return False
    if not body.rstrip(b"\r\n").endswith(b"data: [DONE]" if api == "chat" else b"}") or body.endswith(b"\n\n\n"):
        return False
    naive = naive_chat(body) if api == "chat" else {}
    counts = [payload.get("usage") or {} for payload in payloads_in(body) if payload != "[DONE]"]
    is_counted = all(isinstance(number, int | dict) for usage in counts for number in usage.values())
    is_finished = all(choice["finish"] for choice in naive.values())
    return api == "responses" or (is_counted and is_finished and naive == understood_chat(collect(events)))


def assert_is_untouched(body: bytes, api: str) -> bool:
    """True if there was anything to assert."""
    if not needs_no_repair(body, api):
        return False
    asks_usage = b'"choices":[]' in body.replace(b" ", b"")
    relayed = relay([body], api, asks_usage=asks_usage)
    assert relayed.body == body
    assert relayed.rewritten == 0
    return True


def count_untouched(bodies: Iterable[tuple[str, str, bytes]]) -> dict[str, int]:
    untouched = dict.fromkeys(APIS, 0)
    for api, name, body in bodies:
        if name not in NOT_AS_IT_CAME:
            untouched[api] += assert_is_untouched(body, api)
    return untouched


@pytest.mark.skipif(not RECORDED, reason="the recorded streams (../shared/corpus) are not here")
def test_recorded_stream_that_needs_no_repair_arrives_byte_for_byte() -> None:
    untouched = count_untouched((api, path.name, path.read_bytes()) for api, path in RECORDED)
    assert untouched["chat"] >= 70
    assert untouched["responses"] >= 50


def test_scenario_that_needs_no_repair_arrives_byte_for_byte() -> None:
    untouched = count_untouched((api, name, b"".join(load(name)["pieces"])) for api, name in OWN)
    assert untouched["chat"] >= 50
    assert untouched["responses"] >= 60


@pytest.mark.parametrize("name", [name for name in NOT_AS_IT_CAME if name in SCENARIOS])
def test_exception_is_one(name: str) -> None:
    """What is listed as handed on in other words is legal, and arrives in other words."""
    scenario = load(name)
    body = b"".join(scenario["pieces"])
    assert needs_no_repair(body, scenario["api"])
    assert relay([body], scenario["api"]).body != body
