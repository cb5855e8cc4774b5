"""Plain typed functions as tools: what is declared, and what becomes of a call."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime
import json
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, TypeAdapter

from streamshim import ChatCompletionsClient, Tool, ToolCallEnd, ToolResult
from streamshim.client.tool import Toolbox
from tests.scripted import WAYS, Script, Way, chat_answer, response_answer

both_ways = pytest.mark.parametrize("way", WAYS)


class Odd:
    """Nothing that JSON has."""


@dataclasses.dataclass
class Tide:
    at: datetime.time
    heights: tuple[float, ...]


class Place(BaseModel):
    harbour: str
    berth: int = 1


def book(
    place: Place,
    nights: Annotated[int, Field(ge=1, description="How long to stay.")],
    kind: Literal["berth", "buoy"] = "berth",
) -> dict[str, Any]:
    """Book a place.

    For as long as is wanted.
    """
    return {"harbour": place.harbour, "berth": place.berth, "nights": nights, "kind": kind}


async def look(at: int) -> str:
    """Look somewhere."""
    await asyncio.sleep(0)
    return f"nine at {at}"


def clock() -> str:
    """Tell the time."""
    return "nine"


def called(name: str, arguments: Any, *, status: Any = "complete") -> ToolCallEnd:
    written = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return ToolCallEnd(0, 0, "call_1", name, "function", written, status)


def call(way: Way, ended: ToolCallEnd, *tools: Any) -> ToolResult:
    client: Any = Script(way=way).client
    result = client.call_tool(ended, tools)
    return result if way == "sync" else asyncio.run(result)


# -- declared ---------------------------------------------------------------------------------------------------------


def test_a_function_is_declared_by_its_signature_and_docstring() -> None:
    declared = Tool(book).declaration()
    assert declared["type"] == "function"
    function = declared["function"]
    assert function.keys() == {"name", "description", "parameters"}
    assert function["name"] == "book"
    assert function["description"] == "Book a place.\n\nFor as long as is wanted."
    parameters = function["parameters"]
    assert parameters["required"] == ["place", "nights"]
    assert parameters["additionalProperties"] is False
    assert parameters["properties"]["nights"] == {"type": "integer", "minimum": 1, "description": "How long to stay."}
    assert parameters["properties"]["kind"]["enum"] == ["berth", "buoy"]
    assert parameters["$defs"]["Place"]["properties"]["harbour"] == {"type": "string"}


def test_a_function_without_parameters_is_declared_as_an_empty_object() -> None:
    assert Tool(clock).parameters == {"type": "object", "properties": {}, "additionalProperties": False}


def test_name_and_description_can_be_given() -> None:
    tool = Tool(clock, name="time", description="What time it is.")
    assert (tool.name, tool.description) == ("time", "What time it is.")
    assert repr(Tool(book)) == "<Tool book(place, nights, kind)>"


def test_methods_and_objects_that_can_be_called_are_tools() -> None:
    class Harbour:
        def __init__(self, name: str) -> None:
            self.name = name

        def tide(self, hour: int) -> str:
            """The tide."""
            return f"{self.name} at {hour}"

    assert Tool(Harbour("Brest").tide).call({"hour": 3}) == "Brest at 3"


def test_a_strict_tool_demands_all_and_forbids_the_rest() -> None:
    tool = Tool(book, strict=True)
    assert tool.declaration()["function"]["strict"] is True
    assert tool.parameters["required"] == ["place", "nights", "kind"]
    place = tool.parameters["$defs"]["Place"]
    assert (place["required"], place["additionalProperties"]) == (["harbour", "berth"], False)
    assert "default" not in json.dumps(tool.parameters)
    assert Tool(clock, strict=True).parameters["required"] == []


def test_what_cannot_be_strict_is_refused() -> None:
    def count(words: dict[str, int]) -> int:
        return len(words)

    with pytest.raises(TypeError, match="count cannot be strict"):
        Tool(count, strict=True)
    assert Tool(count).call({"words": {"a": 1}}) == 1


def test_what_cannot_be_a_tool_is_refused_by_name() -> None:
    def first(a: int, /) -> int:
        return a

    def odd(thing: Odd) -> None:
        """Take what JSON has not."""

    with pytest.raises(TypeError, match="first cannot be a tool.*given by name"):
        Tool(first)
    with pytest.raises(
        TypeError, match=r"^odd cannot be a tool: Unable to generate pydantic-core schema for [^\n]*Odd'>$"
    ):
        Tool(odd)
    for nothing in (7, "look", None):
        with pytest.raises(TypeError, match="is no tool"):
            Toolbox([nothing])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="declares no tool"):
        Toolbox([{"name": "look"}])


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="two tools are called 'clock'"):
        Toolbox([clock, {"type": "function", "name": "clock"}])


NESTED = {"type": "function", "function": {"name": "find", "parameters": {"type": "object", "properties": {}}}}
FLAT = {"type": "function", "name": "find", "parameters": {"type": "object", "properties": {}}}


@pytest.mark.parametrize("given", [NESTED, FLAT], ids=["nested", "flat"])
def test_a_declaration_in_either_apis_words_is_sent_in_those_of_the_other(given: dict[str, Any]) -> None:
    script = Script(chat_answer("Hi"))
    script.chat("Hi", tools=[given, clock])
    declared, other = script.bodies[0]["tools"]
    assert declared == NESTED
    assert other["function"]["name"] == "clock"
    script = Script(response_answer("Hi"), api="responses")
    script.chat("Hi", tools=[given, clock])
    declared, other = script.bodies[0]["tools"]
    assert {name: declared[name] for name in FLAT} == FLAT
    assert (other["type"], other["name"], other["parameters"]["type"]) == ("function", "clock", "object")


def test_tools_that_the_vendor_runs_are_declared_as_they_are() -> None:
    script = Script(response_answer("Hi"), api="responses")
    script.chat("Hi", tools=[{"type": "web_search"}])
    assert script.bodies[0]["tools"] == [{"type": "web_search"}]


# -- called -----------------------------------------------------------------------------------------------------------


@both_ways
def test_a_call_runs_its_function_with_arguments_of_the_right_types(way: Way) -> None:
    arguments = {"place": {"harbour": "Brest"}, "nights": 2}
    expected = {"harbour": "Brest", "berth": 1, "nights": 2, "kind": "berth"}
    assert call(way, called("book", arguments), book) == ToolResult("call_1", "book", expected)
    assert call(way, called("look", {"at": 3}), look).output == "nine at 3"
    assert call(way, called("clock", {}), clock).output == "nine"


@both_ways
def test_arguments_that_do_not_fit_are_told_to_the_model(way: Way) -> None:
    result = call(way, called("book", {"place": {}, "nights": 0}), book)
    assert result.is_error
    assert result.output.startswith("invalid arguments: ")
    assert "place.harbour: Field required" in result.output
    assert "nights: Input should be greater than or equal to 1" in result.output
    assert "[1, 2]" in call(way, called("look", "[1, 2]", status="invalid"), look).output
    assert call(way, called("look", {"at": 1, "more": 2}), look).is_error


@both_ways
def test_a_tool_that_fails_is_told_to_the_model_without_its_traceback(way: Way) -> None:
    def sink() -> None:
        """Fail."""
        raise ConnectionError("the harbour is closed")

    def silent() -> None:
        """Fail and say nothing."""
        raise KeyError

    def confused() -> Place:
        """Fail as arguments do."""
        return TypeAdapter(Place).validate_python({})

    assert call(way, called("sink", {}), sink) == ToolResult(
        "call_1", "sink", "ConnectionError: the harbour is closed", is_error=True
    )
    assert call(way, called("silent", {}), silent).output == "KeyError"
    assert call(way, called("confused", {}), confused).output.startswith("ValidationError: ")


@both_ways
def test_a_tool_that_is_not_there_is_told_to_the_model_with_those_that_are(way: Way) -> None:
    result = call(way, called("loook", {}), look, clock)
    assert (result.is_error, result.output) == (True, "there is no tool 'loook' (there are: look, clock)")


@both_ways
def test_a_call_that_was_cut_is_never_run(way: Way) -> None:
    ran: list[int] = []

    def note(at: int = 0) -> None:
        """Take a note."""
        ran.append(at)

    result = call(way, called("note", {"at": 1}, status="truncated"), note)
    assert result.is_error
    assert "was cut" in result.output
    assert ran == []


@both_ways
def test_whatever_a_tool_gives_is_json(way: Way) -> None:
    def tide() -> Tide:
        """Tell the tide."""
        return Tide(datetime.time(9, 30), (1.5, float("nan")))

    def odd() -> object:
        """Give what JSON has not."""
        return object()

    assert call(way, called("tide", {}), tide).output == {"at": "09:30:00", "heights": [1.5, None]}
    result = call(way, called("odd", {}), odd)
    assert result.is_error
    assert "cannot be written as JSON" in result.output


def test_what_ends_the_program_is_no_failure_of_a_tool() -> None:
    def leave() -> None:
        """Leave."""
        raise SystemExit(3)

    client = Script().client
    assert isinstance(client, ChatCompletionsClient)
    with pytest.raises(SystemExit):
        client.call_tool(called("leave", {}), [leave])
