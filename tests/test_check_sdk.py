"""What the table of faults says of the official SDK is what the official SDK does."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import openai
import pytest

from streamshim.check.faults import FAULTS, HARMLESS
from tests.servers import serve_model
from tests.servers.expected_checks import EXPECTED

WEATHER = {
    "name": "get_weather",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
        "additionalProperties": False,
    },
    "strict": True,
}
TIME = {
    "name": "get_time",
    "parameters": {"type": "object", "properties": {}, "additionalProperties": False},
    "strict": True,
}
COUNT = "Count to 4, one number after another."
CALLS = 'Call get_weather({"city": "Oslo"}) and get_weather({"city": "Lima"}).'


def chat(text: str, *functions: dict[str, Any], **members: Any) -> dict[str, Any]:
    tools = [{"type": "function", "function": function} for function in functions]
    return {"messages": [{"role": "user", "content": text}], **({"tools": tools} if tools else {}), **members}


def responses(text: str, *functions: dict[str, Any]) -> dict[str, Any]:
    tools = [{"type": "function", **function} for function in functions]
    return {"input": text, **({"tools": tools} if tools else {})}


BODIES = {
    "chat": [
        chat(COUNT),
        chat(COUNT, stream_options={"include_usage": True}),
        chat(CALLS, WEATHER),
        chat("Call get_time().", TIME),
        chat("Say exactly: lighthouse", reasoning_effort="low"),
    ],
    "responses": [responses(COUNT), responses(CALLS, WEATHER), responses("Call get_time().", TIME)],
}


def chat_loop(client: openai.OpenAI, body: dict[str, Any]) -> Any:
    text, calls, finish = "", {}, None
    for chunk in client.chat.completions.create(model="toy", stream=True, **body):
        if "stream_options" in body and not chunk.choices:
            continue
        choice = chunk.choices[0]
        text += choice.delta.content or ""
        finish = choice.finish_reason or finish
        for call in choice.delta.tool_calls or ():
            calls[call.index] = calls.get(call.index, "") + (call.function.arguments or "" if call.function else "")
    return text, [*calls.values()], finish


def chat_helper(client: openai.OpenAI, body: dict[str, Any]) -> Any:
    with client.chat.completions.stream(model="toy", **body) as stream:
        for _ in stream:
            pass
        (choice,) = stream.get_final_completion().choices
    calls = [(call.function.name, call.function.arguments) for call in choice.message.tool_calls or ()]
    return choice.message.content, calls, choice.finish_reason, choice.message.role


def responses_loop(client: openai.OpenAI, body: dict[str, Any]) -> Any:
    deltas, output = "", None
    for event in client.responses.create(model="toy", stream=True, **body):
        if event.type in ("response.output_text.delta", "response.function_call_arguments.delta"):
            deltas += event.delta
        elif event.type == "response.completed":
            output = [item.type for item in event.response.output or ()]
    return deltas, output


def responses_helper(client: openai.OpenAI, body: dict[str, Any]) -> Any:
    with client.responses.stream(model="toy", **body) as stream:
        for _ in stream:
            pass
        response = stream.get_final_response()
    calls = [(item.name, item.arguments) for item in response.output if item.type == "function_call"]
    return response.output_text, calls


READERS: dict[str, dict[str, Callable[[openai.OpenAI, dict[str, Any]], Any]]] = {
    "chat": {"loop": chat_loop, "helper": chat_helper},
    "responses": {"loop": responses_loop, "helper": responses_helper},
}


@contextmanager
def client_of(*habits: str) -> Iterator[openai.OpenAI]:
    with (
        serve_model(*habits) as server,
        openai.OpenAI(base_url=server.base_url, api_key="any", max_retries=0) as client,
    ):
        yield client


def told(reader: Callable[[openai.OpenAI, dict[str, Any]], Any], client: openai.OpenAI, body: dict[str, Any]) -> Any:
    """What it says; the name of the exception where it raises one."""
    try:
        with warnings.catch_warnings(action="ignore"):  # pydantic's, of values that are not what they should be
            return reader(client, body)
    except Exception as error:  # noqa: BLE001 -- whatever it is
        return f"raises {type(error).__name__}"


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def alone() -> Iterator[tuple[str, str, str]]:
    """Each fault with the habits that show it and no other, and the APIs where they do."""
    for habit, expected in EXPECTED.items():
        faults = {fault for _, faults in expected.values() for fault in faults}
        apis = {item.partition(".")[0] for item, (_, named) in expected.items() if named} & BODIES.keys()
        fault, *others = faults or {""}
        if fault and not others and FAULTS[fault].aspect != "errors":
            yield from ((fault, habit, api) for api in sorted(apis))


def test_of_an_error_in_another_shape_the_sdk_gives_neither_code_nor_parameter() -> None:
    body = {**chat(COUNT), "temperature": "hot"}
    for habit, known in (("error-as-detail", None), (None, "temperature")):
        with client_of(*filter(None, [habit])) as client, pytest.raises(openai.BadRequestError) as caught:
            client.chat.completions.create(model="toy", **body)
        assert caught.value.param == known


@pytest.mark.parametrize(("fault", "habit", "api"), sorted(alone()))
def test_the_sdk_raises_where_the_table_says_so_and_nowhere_else(fault: str, habit: str, api: str) -> None:
    row = FAULTS[fault]
    claims = {"loop": row.sdk, "helper": row.helper or row.sdk}
    with client_of(habit) as client, client_of() as perfect:
        for way, reader in READERS[api].items():
            seen = [told(reader, client, body) for body in BODIES[api]]
            right = [told(reader, perfect, body) for body in BODIES[api]]
            raised = {one.removeprefix("raises ") for one in seen if str(one).startswith("raises ")}
            claimed = set(re.findall(r"[A-Z]\w+Error", claims[way]))
            if not claims[way].startswith("may "):
                assert raised <= claimed, way
            if claims[way].startswith("raises "):
                assert raised, way
            if claims[way] in ("", HARMLESS):
                assert seen == right, way
