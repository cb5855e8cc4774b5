"""openai and openai-agents over `transport(speak=…)`: callers of one API on servers of the other, sloppy ones too."""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import agents
import httpx
import httpx2
import openai
import pydantic
import pytest

import streamshim
from streamshim import RelayLedger
from streamshim.wire_order import wire_breaches
from tests.servers import serve_model
from tests.servers.habits import HABITS, Stage

KEY = "sk-test-of-speaking"
WEATHER = {
    "type": "function",
    "name": "weather",
    "description": "The weather in a city",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    "strict": False,
}
CHAT_WEATHER = {"type": "function", "function": {key: WEATHER[key] for key in ("name", "description", "parameters")}}
ASK_WEATHER = 'weather({"city": "Wien"}) weather({"city": "Graz"})'

ENDS_BADLY = {"cut-stream", "half-frame", "silent-end", "no-terminal-event"} | {
    name for name in HABITS if name.startswith("fails-midway")
}
"""Habits of streams that fail or are cut."""
SAYS_ANOTHER_THING = {
    *("broken-arguments", "function-call", "one-call-only", "tools-ignored", "text-again-at-end"),
    *(name for name in HABITS if name.startswith("calls-in-text")),
}
"""Habits of models that answer otherwise, or in another form that is read on request only."""
THINKS_OTHERWISE = {"effort-ignored", "no-reasoning", "unopened-tags"}
"""Habits of models that do not think, or not so that anybody could tell."""
OF_ONE_API = {"chat": {Stage.CHUNKS, Stage.CHAT_BODY}, "responses": {Stage.EVENTS, Stage.RESPONSE_BODY}}


def shown_by(api: str) -> list[str]:
    """The habits that a server of one API can show, but for that of refusing what is asked here."""
    other = OF_ONE_API["responses" if api == "chat" else "chat"]
    return sorted(name for name, stages in HABITS.items() if stages.keys() - other and name != "tools-refused")


SHOWN = [(api, habit) for api in OF_ONE_API for habit in shown_by(api)]


@contextmanager
def served(*habits: str, api: str = "chat", **options: Any) -> Generator[tuple[Any, Any]]:
    """A server of one API with its habits, and a client that speaks the other."""
    speak = "responses" if api == "chat" else "chat"
    http_client = httpx2.Client(transport=streamshim.transport(httpx2, speak=speak, **options))
    with (
        serve_model(*habits, apis=(api,), key=KEY) as server,
        openai.OpenAI(api_key=KEY, base_url=server.base_url, max_retries=0, http_client=http_client) as client,
    ):
        yield server, client


# -- openai: responses.create and its kin -----------------------------------------------------------------------------


def test_whole_answer():
    with served() as (server, client):
        answer = client.responses.create(model="toy", input="Say exactly: High water", instructions="Be brief.")
    assert (answer.output_text, answer.status, answer.instructions) == ("High water", "completed", "Be brief.")
    assert answer.usage.output_tokens == 2
    assert [request.path for request in server.requests] == ["/v1/chat/completions"]
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


def test_streamed_answer():
    with served() as (_, client):
        stream = client.responses.create(model="toy", input="Count to 3", stream=True)
        events = list(stream)
    assert "".join(event.delta for event in events if event.type == "response.output_text.delta") == "1 2 3"
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert events[-1].type == "response.completed"
    assert events[-1].response.usage.output_tokens == 3


def test_stream_helper_with_tools_and_their_results():
    with served() as (_, client):
        with client.responses.stream(model="toy", input=ASK_WEATHER, tools=[WEATHER]) as stream:
            final = stream.until_done().get_final_response()
        assert [(call.name, call.arguments) for call in final.output] == [
            ("weather", '{"city": "Wien"}'),
            ("weather", '{"city": "Graz"}'),
        ]
        results = [
            {"type": "function_call_output", "call_id": call.call_id, "output": output}
            for call, output in zip(final.output, ("sunny", "rain"), strict=True)
        ]
        answer = client.responses.create(model="toy", input=results, previous_response_id=final.id, tools=[WEATHER])
        whole = [{"role": "user", "content": ASK_WEATHER}, *final.output, *results]
        again = client.responses.create(model="toy", input=whole, tools=[WEATHER], store=False)
    assert answer.output_text == again.output_text == "Results: sunny; rain"


def test_structured_output_is_parsed():
    class City(pydantic.BaseModel):
        name: str
        inhabitants: int

    with served() as (server, client):
        answer = client.responses.parse(model="toy", input="Any city", text_format=City)
    assert isinstance(answer.output_parsed, City)
    assert server.requests[0].body["response_format"]["json_schema"]["name"] == "City"


def test_image_is_shown():
    part = {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo="}
    said = {"role": "user", "content": [{"type": "input_text", "text": "What is in the image?"}, part]}
    with served() as (_, client):
        assert client.responses.create(model="toy", input=[said]).output_text == "I see an image."


def test_thought_is_shown_as_a_summary():
    with served() as (_, client):
        answer = client.responses.create(model="toy", input="Say exactly: well", reasoning={"effort": "low"})
    thought, message = answer.output
    assert (thought.type, thought.summary[0].text) == ("reasoning", "Let me think about it.")
    assert message.content[0].text == "well"


def test_stored_responses_are_continued_shown_and_deleted():
    with served() as (server, client):
        first = client.responses.create(model="toy", input="Remember the word Zebra.")
        second = client.responses.create(model="toy", input="Say exactly: ok", previous_response_id=first.id)
        question = "Which word did I ask you to remember?"
        third = client.responses.create(model="toy", input=question, previous_response_id=second.id)
        assert third.output_text == "Zebra"
        assert client.responses.create(model="toy", input=question).output_text == "I do not know."
        asked = len(server.requests)
        assert client.responses.retrieve(third.id) == third
        (item,) = client.responses.input_items.list(third.id).data
        assert item.content[0].text == question
        client.responses.delete(third.id)
        with pytest.raises(openai.NotFoundError, match=third.id):
            client.responses.retrieve(third.id)
        with pytest.raises(openai.BadRequestError) as caught:
            client.responses.create(model="toy", input="x", previous_response_id=third.id)
        assert caught.value.code == "previous_response_not_found"
        assert len(server.requests) == asked  # none of it is the vendor's business


def test_answers_from_streams_are_stored_too():
    with served() as (_, client):
        stream = client.responses.create(model="toy", input="Remember the word Zebra.", stream=True)
        first = [event.response for event in stream if event.type == "response.completed"]
        question = "Which word did I ask you to remember?"
        answer = client.responses.create(model="toy", input=question, previous_response_id=first[0].id)
    assert answer.output_text == "Zebra"


def test_store_in_a_file_is_shared_by_two_programs(tmp_path):
    with streamshim.ConversationStore(tmp_path / "store.db") as store, served(store=store) as (_, client):
        first = client.responses.create(model="toy", input="Remember the word Zebra.")
    with streamshim.ConversationStore(tmp_path / "store.db") as store, served(store=store) as (_, client):
        question = "Which word did I ask you to remember?"
        answer = client.responses.create(model="toy", input=question, previous_response_id=first.id)
    assert answer.output_text == "Zebra"


def test_errors_of_the_vendor_are_raised_as_what_they_are():
    with served() as (_, client):
        with pytest.raises(openai.NotFoundError) as caught:
            client.responses.create(model="nope", input="x")
        assert caught.value.code == "model_not_found"
        with pytest.raises(openai.AuthenticationError):
            client.with_options(api_key="wrong").responses.create(model="toy", input="x", stream=True)
        with pytest.raises(openai.BadRequestError) as refused:
            client.responses.create(model="toy", input="x", tools=[{"type": "web_search"}])
        assert (refused.value.param, refused.value.code) == ("tools[0]", "unsupported_value")


def test_other_paths_pass_untouched_and_chat_is_relayed():
    with served("calls-without-index") as (server, client):
        assert [model.id for model in client.models.list()] == ["toy", "thinker"]
        messages = [{"role": "user", "content": ASK_WEATHER}]
        stream = client.chat.completions.create(model="toy", messages=messages, tools=[CHAT_WEATHER], stream=True)
        calls = [call.index for chunk in stream for choice in chunk.choices for call in choice.delta.tool_calls or ()]
        assert set(calls) == {0, 1}
        assert stream.response.extensions["streamshim"].left_out == ()
    assert [request.path for request in server.requests] == ["/v1/models", "/v1/chat/completions"]


def test_ledger_tells_repairs_and_what_was_left_out():
    ledgers: list[RelayLedger] = []
    with served("calls-without-index", on_end=ledgers.append) as (_, client):
        stream = client.responses.create(
            model="toy", input=ASK_WEATHER, tools=[WEATHER], stream=True, include=["reasoning.encrypted_content"]
        )
        ledger = stream.response.extensions["streamshim"]
        list(stream)
        client.responses.create(model="toy", input="x", truncation="auto")
    assert ledger.end.status == "completed"
    assert ledger.rewritten > 3
    assert [entry.param for entry in ledger.left_out] == ["include"]
    assert ledgers[0] is ledger
    assert [entry.param for entry in ledgers[1].left_out] == ["truncation"]
    assert ledgers[1].end.status == "completed"


def test_what_the_chat_wire_cannot_say_is_counted():
    ledgers: list[RelayLedger] = []
    with served(api="responses", on_end=ledgers.append) as (_, client):
        messages = [{"role": "user", "content": "Say exactly: well"}]
        client.chat.completions.create(model="toy", messages=messages, stream=False)
    assert ledgers[0].dropped == {}
    assert ledgers[0].end.status == "completed"


# -- sloppy servers ---------------------------------------------------------------------------------------------------


def asked_responses(client: Any, *, stream: bool, **request: Any) -> Any:
    """What an answer says: text, thought, calls."""
    answer = client.responses.create(model="toy", stream=stream, **request)
    if stream:
        answer = [event for event in answer][-1].response  # noqa: C416  (an SDK's stream is no list)
    thought = "".join(part.text for item in answer.output if item.type == "reasoning" for part in item.summary)
    calls = [(i.name, json.loads(i.arguments)) for i in answer.output if i.type == "function_call"]
    return answer.status, answer.output_text, thought, calls


def asked_chat(client: Any, *, stream: bool, input: str, **request: Any) -> Any:
    """The same, of a caller who speaks chat."""
    if "tools" in request:
        request["tools"] = [CHAT_WEATHER]
    if "reasoning" in request:
        request["reasoning_effort"] = request.pop("reasoning")["effort"]
    messages = [{"role": "user", "content": input}]
    if not stream:
        choice = client.chat.completions.create(model="toy", messages=messages, **request).choices[0]
        message, finish = choice.message, choice.finish_reason
    else:
        with client.chat.completions.stream(model="toy", messages=messages, **request) as events:
            choice = events.get_final_completion().choices[0]
        message, finish = choice.message, choice.finish_reason
    calls = [(call.function.name, json.loads(call.function.arguments)) for call in message.tool_calls or ()]
    return finish, message.content or "", getattr(message, "reasoning_content", ""), calls


QUESTIONS: list[dict[str, Any]] = [
    {"input": "Count to 5"},
    {"input": ASK_WEATHER, "tools": [WEATHER]},
    {"input": "Say exactly: well", "reasoning": {"effort": "low"}},
]


def heard_of(api: str, *habits: str) -> list[Any]:
    """What is heard of a server of that API, whole and streamed, of each question."""
    asked: Callable[..., Any] = asked_responses if api == "chat" else asked_chat
    with served(*habits, api=api) as (_, client):
        return [asked(client, stream=stream, **question) for question in QUESTIONS for stream in (False, True)]


@functools.cache
def perfectly_heard(api: str) -> list[Any]:
    heard = heard_of(api)
    assert heard[2][3] == heard[3][3] == [("weather", {"city": "Wien"}), ("weather", {"city": "Graz"})]
    assert heard[4][2] == heard[5][2] == "Let me think about it."
    return heard


@pytest.mark.parametrize(
    ("api", "habit"), [each for each in SHOWN if each[1] not in ENDS_BADLY | SAYS_ANOTHER_THING], ids="-".join
)
def test_sloppy_server_is_heard_as_a_perfect_one(api: str, habit: str):
    compared = 4 if habit in THINKS_OTHERWISE else 6
    assert heard_of(api, habit)[:compared] == perfectly_heard(api)[:compared]


@pytest.mark.parametrize(("api", "habit"), SHOWN, ids="-".join)
def test_every_streamed_answer_keeps_the_order_of_its_wire(api: str, habit: str):
    with served(habit, api=api) as (_, client):
        for question in QUESTIONS:
            if api == "chat":
                create, request = client.responses.with_streaming_response.create, question
            else:
                create = client.chat.completions.with_streaming_response.create
                request = {"messages": [{"role": "user", "content": question["input"]}]}
                request |= {"tools": [CHAT_WEATHER]} if "tools" in question else {}
            with create(model="toy", stream=True, **request) as answer:
                body = answer.http_response.read()
            assert wire_breaches(body) == []
            assert (b"response.failed" in body or b'data: {"error"' in body) is (habit in ENDS_BADLY)


def test_calls_in_the_text_are_read_on_request():
    with served("calls-in-text", tool_markup=True) as (_, client):
        answer = client.responses.create(model="toy", input=ASK_WEATHER, tools=[WEATHER])
    assert [item.name for item in answer.output if item.type == "function_call"] == ["weather", "weather"]


@pytest.mark.parametrize("stream", [False, True])
def test_vendor_that_wants_the_limit_under_its_new_name_gets_it(stream: bool):
    with served("max-tokens-refused") as (server, client):
        answer = client.responses.create(model="toy", input="Count to 9", max_output_tokens=3, stream=stream)
        final = [event for event in answer][-1].response if stream else answer  # noqa: C416
    assert (final.status, final.incomplete_details.reason) == ("incomplete", "max_output_tokens")
    assert final.output_text == "1 2 3"
    assert [("max_completion_tokens" in request.body) for request in server.requests] == [False, True]


# -- Codex' way of calling --------------------------------------------------------------------------------------------


def test_codex_calls_with_its_whole_input_each_time():
    patch = {
        "type": "custom",
        "name": "apply_patch",
        "description": "Edit files",
        "format": {"type": "grammar", "syntax": "lark", "definition": 'start: "*** Begin Patch"'},
    }
    request: dict[str, Any] = {
        "model": "toy",
        "instructions": "You are a coding agent.",
        "tools": [WEATHER, patch],
        "tool_choice": "auto",
        "parallel_tool_calls": False,
        "reasoning": {"effort": "medium", "summary": "auto"},
        "store": False,
        "stream": True,
        "include": ["reasoning.encrypted_content"],
        "prompt_cache_key": "5f1c",
        "text": {"verbosity": "low"},
    }
    said: list[Any] = [
        {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "<permissions/>"}]},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "<environment_context/>"}]},
        {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": 'apply_patch({"input": "*** Begin Patch"})'}],
        },
    ]
    with served("calls-without-index") as (server, client):
        done = [e.item for e in client.responses.create(input=said, **request) if e.type == "response.output_item.done"]
        assert [item.type for item in done] == ["reasoning", "custom_tool_call"]
        assert done[1].input == "*** Begin Patch"
        said += [item.to_dict() for item in done]
        said.append({"type": "custom_tool_call_output", "call_id": done[1].call_id, "output": "Success."})
        events = list(client.responses.create(input=said, **request))
    assert events[-1].response.output_text == "Results: Success."
    first, second = (request.body for request in server.requests)
    assert first["messages"][0] == {"role": "system", "content": "You are a coding agent.\n\n<permissions/>"}
    assert first["tools"][1]["function"]["parameters"]["required"] == ["input"]
    assert first.keys() >= {"parallel_tool_calls", "prompt_cache_key", "reasoning_effort", "verbosity"}
    assert not first.keys() & {"include", "store", "text", "reasoning", "instructions"}
    assert second["messages"][3]["reasoning_content"] == "Let me think about it."
    assert second["messages"][4] == {"role": "tool", "tool_call_id": done[1].call_id, "content": "Success."}


# -- openai-agents ----------------------------------------------------------------------------------------------------


@agents.function_tool
def weather(city: str) -> str:
    """The weather in a city."""
    return {"Wien": "sunny", "Graz": "rain"}[city]


@pytest.mark.parametrize("habits", [(), ("calls-without-index", "no-usage"), ("whole-calls",), ("whole-body",)])
@pytest.mark.parametrize("api", ["chat", "responses"])
@pytest.mark.parametrize("streams", [False, True])
def test_agent_runs_two_turns_with_tools(api: str, streams: bool, habits: tuple[str, ...]):
    agents.set_tracing_disabled(True)

    async def run(agent: Any, input: Any, **options: Any) -> Any:
        if not streams:
            return await agents.Runner.run(agent, input, **options)
        result = agents.Runner.run_streamed(agent, input, **options)
        async for _ in result.stream_events():
            pass
        return result

    async def both_turns(base_url: str) -> tuple[Any, Any]:
        speak: Any = "responses" if api == "chat" else "chat"
        http_client = httpx2.AsyncClient(transport=streamshim.transport(httpx2, speak=speak))
        async with openai.AsyncOpenAI(api_key=KEY, base_url=base_url, max_retries=0, http_client=http_client) as client:
            model: Any = (
                agents.OpenAIResponsesModel("toy", client)
                if api == "chat"
                else agents.OpenAIChatCompletionsModel("toy", client)
            )
            agent = agents.Agent(name="agent", instructions="Use your tools.", model=model, tools=[weather])
            first = await run(agent, ASK_WEATHER)
            if api == "chat":
                continued = {"previous_response_id": first.last_response_id}
                return first, await run(agent, 'And weather({"city": "Graz"})?', **continued)
            said = [*first.to_input_list(), {"role": "user", "content": 'And weather({"city": "Graz"})?'}]
            return first, await run(agent, said)

    with serve_model(*habits, apis=(api,), key=KEY) as server:
        first, second = asyncio.run(both_turns(server.base_url))
    assert first.final_output == "Results: sunny; rain"
    assert second.final_output == "Results: rain"


# -- asynchronous, and the other module -------------------------------------------------------------------------------


@pytest.mark.parametrize("module", [httpx, httpx2], ids=lambda module: module.__name__)
def test_asynchronous_client_over_either_module(module: Any):
    async def run(base_url: str) -> tuple[str, str, str]:
        http_client = module.AsyncClient(transport=streamshim.transport(module, speak="responses"))
        async with openai.AsyncOpenAI(api_key=KEY, base_url=base_url, max_retries=0, http_client=http_client) as client:
            first = await client.responses.create(model="toy", input="Remember the word Zebra.")
            stream = await client.responses.create(
                model="toy",
                input="Which word did I ask you to remember?",
                previous_response_id=first.id,
                stream=True,
            )
            events = [event async for event in stream]
            with pytest.raises(openai.NotFoundError) as caught:
                await client.responses.create(model="nope", input="x")
            shown = await client.responses.retrieve(events[-1].response.id)
            return events[-1].response.output_text, shown.output_text, str(caught.value.code)

    with serve_model("stream-options-refused", apis=("chat",), key=KEY) as server:
        assert asyncio.run(run(server.base_url)) == ("Zebra", "Zebra", "model_not_found")


def test_caller_of_chat_on_a_responses_server():
    with served(api="responses") as (server, client):
        messages: list[Any] = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": ASK_WEATHER}]
        made = client.chat.completions.create(model="toy", messages=messages, tools=[CHAT_WEATHER], max_tokens=50)
        messages.append(made.choices[0].message)
        messages += [
            {"role": "tool", "tool_call_id": call.id, "content": "sunny"} for call in made.choices[0].message.tool_calls
        ]
        stream = client.chat.completions.create(
            model="toy", messages=messages, tools=[CHAT_WEATHER], stream=True, stream_options={"include_usage": True}
        )
        chunks = list(stream)
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text == "Results: sunny; sunny"
    assert chunks[-1].usage.total_tokens > 0
    body = server.requests[0].body
    assert (body["instructions"], body["store"], body["max_output_tokens"]) == ("Be brief.", False, 50)
    assert [request.path for request in server.requests] == ["/v1/responses", "/v1/responses"]


# -- the door ---------------------------------------------------------------------------------------------------------


def test_options_of_speaking_need_it():
    with pytest.raises(ValueError, match="hosted_tools is an option of `speak`"):
        streamshim.transport(httpx2, hosted_tools="leave_out")
    with pytest.raises(ValueError, match="store is an option of `speak`"):
        streamshim.transport(httpx2, store=streamshim.ConversationStore())
    with pytest.raises(ValueError, match="speak='klingon'"):
        streamshim.transport(httpx2, speak="klingon")  # type: ignore[arg-type]
