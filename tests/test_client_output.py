"""Structured output: what is asked for over either API, and the value that comes of it."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import jsonschema
import pytest
from pydantic import BaseModel
from typing_extensions import TypedDict  # pydantic wants this one before Python 3.12

from streamshim import OutputError
from streamshim.client.json_schema import strict_schema
from tests.scripted import WAYS, Script, Way, chat_answer, response_answer

ANSWERS: dict[str, Any] = {"chat": chat_answer, "responses": response_answer}
both_ways = pytest.mark.parametrize("way", WAYS)
both_apis = pytest.mark.parametrize("api", ["chat", "responses"])


class Berth(BaseModel):
    harbour: str
    number: int | None = None


class Tide(TypedDict):
    hour: int


@dataclasses.dataclass
class Boat:
    name: str


SCHEMA = {"type": "object", "properties": {"hour": {"type": "integer"}}, "required": ["hour"]}


def asked(body: dict[str, Any]) -> dict[str, Any]:
    """The declaration of the schema, without where each API has it."""
    if "response_format" in body:
        assert body["response_format"]["type"] == "json_schema"
        return body["response_format"]["json_schema"]
    format = dict(body["text"]["format"])
    assert format.pop("type") == "json_schema"
    return format


@both_ways
@both_apis
def test_a_model_is_asked_for_by_its_strict_schema_and_comes_back_as_itself(api: Any, way: Way) -> None:
    script = Script(ANSWERS[api]('{"harbour":"Brest","number":null}'), api=api, way=way)
    answer = script.chat("Hi", response_format=Berth)
    assert answer.parsed == Berth(harbour="Brest")
    declared = asked(script.bodies[0])
    assert (declared["name"], declared["strict"]) == ("Berth", True)
    assert declared["schema"]["required"] == ["harbour", "number"]
    assert declared["schema"]["additionalProperties"] is False


@pytest.mark.parametrize(
    ("wanted", "text", "value", "name"),
    [
        (Tide, '{"hour":9}', {"hour": 9}, "Tide"),
        (Boat, '{"name":"Iroise"}', Boat("Iroise"), "Boat"),
        (list[Tide], '[{"hour":9}]', [{"hour": 9}], "list"),
        (dict[str, int], '{"a":1}', {"a": 1}, "dict"),
        (int, "9", 9, "int"),
    ],
    ids=["typed dict", "dataclass", "list", "map", "scalar"],
)
def test_any_type_that_has_a_schema_will_do(wanted: Any, text: str, value: Any, name: str) -> None:
    script = Script(chat_answer(text))
    assert script.chat("Hi", response_format=wanted).parsed == value
    declared = asked(script.bodies[0])
    assert declared["name"] == name
    jsonschema.validate(json.loads(text), declared["schema"])
    assert declared["strict"] is (name != "dict")


@both_apis
def test_a_schema_is_sent_as_it_is_and_the_answer_held_against_it(api: Any) -> None:
    script = Script(ANSWERS[api]('{"hour":9}'), ANSWERS[api]('{"hour":"nine"}'), api=api)
    assert script.chat("Hi", response_format=SCHEMA).parsed == {"hour": 9}
    assert asked(script.bodies[0])["schema"] == SCHEMA
    assert "strict" not in asked(script.bodies[0])
    with pytest.raises(OutputError, match=r"\$\.hour: 'nine' is not of type 'integer'") as problem:
        script.chat("Hi", response_format=SCHEMA)
    assert problem.value.response.text == '{"hour":"nine"}'


@pytest.mark.parametrize(
    "given",
    [
        {"type": "json_schema", "json_schema": {"name": "tide", "schema": SCHEMA, "strict": True}},
        {"type": "json_schema", "name": "tide", "schema": SCHEMA, "strict": True},
    ],
    ids=["chat", "responses"],
)
@both_apis
def test_a_schema_in_either_apis_words_is_sent_in_those_of_the_other(given: Any, api: Any) -> None:
    script = Script(ANSWERS[api]('{"hour":9}'), api=api)
    assert script.chat("Hi", response_format=given).parsed == {"hour": 9}
    assert asked(script.bodies[0]) == {"name": "tide", "schema": SCHEMA, "strict": True}


def test_a_json_object_is_any_and_text_is_none() -> None:
    script = Script(chat_answer('{"a":1}'), chat_answer("Hi"))
    assert script.chat("Hi", response_format={"type": "json_object"}).parsed == {"a": 1}
    assert script.chat("Hi", response_format={"type": "text"}).parsed is None
    assert script.bodies[0]["response_format"] == {"type": "json_object"}


@both_ways
def test_an_answer_that_does_not_fit_raises_once_all_its_events_were_handed_out(way: Way) -> None:
    script = Script(chat_answer("nine"), chat_answer("nine"), way=way)
    with pytest.raises(OutputError, match="does not fit response_format"):
        script.chat("Hi", response_format=Berth)
    seen: list[str] = []
    with pytest.raises(OutputError):
        script.events("Hi", response_format=Berth, on_event=lambda event: seen.append(event.type))
    assert seen[-1] == "stream_end"


def test_an_answer_that_does_not_fit_is_none_where_errors_are_events() -> None:
    script = Script(chat_answer("nine"))
    assert script.chat("Hi", response_format=Berth, errors="event").parsed is None


def test_the_value_is_on_the_response_of_a_stream_at_its_end_and_not_written_down() -> None:
    script = Script(chat_answer('{"harbour":"Brest"}'))
    with script.client.stream("Hi", response_format=Berth) as events:
        next(events)
        assert events.response.parsed is None
        answer = events.final()
    assert answer.parsed == events.response.parsed == Berth(harbour="Brest")
    assert "parsed" not in answer.model_dump()


@pytest.mark.parametrize(
    "answer",
    [
        chat_answer('{"harb', finish="length"),
        chat_answer(calls=[("look", {})]),
        chat_answer('{"harb', finish="content_filter"),
    ],
    ids=["length", "call", "filter"],
)
def test_an_answer_that_is_no_value_has_none(answer: Any) -> None:
    assert Script(answer).chat("Hi", response_format=Berth).parsed is None


def test_a_fence_around_the_value_is_taken_off() -> None:
    for text in ('```json\n{"harbour":"Brest"}\n```', '```\n{"harbour":"Brest"}\n```', '  {"harbour":"Brest"}\n'):
        assert Script(chat_answer(text)).chat("Hi", response_format=Berth).parsed.harbour == "Brest"


def test_the_last_answer_of_a_run_has_the_value() -> None:
    def look() -> str:
        """Look."""
        return "nine"

    script = Script(chat_answer(calls=[("look", {})]), chat_answer('{"harbour":"Brest"}'))
    _, run = script.run("Hi", tools=[look], response_format=Berth)
    assert run.response.parsed == Berth(harbour="Brest")


def test_what_has_no_schema_is_refused() -> None:
    class Odd:
        """Nothing that JSON has."""

    for wanted in (Odd, 7):
        with pytest.raises(TypeError, match="response_format"):
            Script().chat("Hi", response_format=wanted)


def test_strict_schemas_reach_every_object() -> None:
    class Fleet(BaseModel):
        boats: list[Boat]
        flagship: Boat | None = None
        tide: Tide

    strict = strict_schema(Fleet.model_json_schema())
    assert strict is not None
    assert [strict["$defs"][name]["additionalProperties"] for name in ("Boat", "Tide")] == [False, False]
    assert strict["required"] == ["boats", "flagship", "tide"]
    assert "default" not in json.dumps(strict)
    assert strict_schema({"type": "object"}) is None
    assert strict_schema({"type": "object", "properties": {"default": {"type": "string"}}}) == {
        "type": "object",
        "properties": {"default": {"type": "string"}},
        "required": ["default"],
        "additionalProperties": False,
    }
