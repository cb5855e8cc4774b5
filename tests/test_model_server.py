"""The tests' own model server: the real SDK gets from it what the interface promises, and its wire is legal."""

from __future__ import annotations

import json
from collections.abc import Generator
from typing import Any

import httpx
import httpx2
import openai
import pydantic
import pytest

from streamshim.testing import wire_breaches
from tests.servers import ModelServer, serve_model

WEATHER = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
CHAT_TOOLS: list[Any] = [
    {"type": "function", "function": {"name": "weather", "parameters": WEATHER}},
    {"type": "function", "function": {"name": "now"}},
]
TOOLS: list[Any] = [
    {"type": "function", "name": "weather", "parameters": WEATHER, "strict": None},
    {"type": "function", "name": "now", "parameters": {"type": "object", "properties": {}}, "strict": None},
]
TWO_CALLS = 'Please weather({"city": "Paris"}) and weather({"city": "Rome"}).'


@pytest.fixture
def server() -> Generator[ModelServer]:
    with serve_model() as server:
        yield server


@pytest.fixture
def sdk(server: ModelServer) -> Generator[openai.OpenAI]:
    with client_of(server) as client:
        yield client


def client_of(server: ModelServer, key: str = "sk-test") -> openai.OpenAI:
    http_client = httpx2.Client(verify=False)
    return openai.OpenAI(base_url=server.base_url, api_key=key, max_retries=0, http_client=http_client)


def user(text: str) -> list[Any]:
    return [{"role": "user", "content": text}]


def post(server: ModelServer, path: str, **body: Any) -> httpx.Response:
    return httpx.post(f"{server.base_url}/{path}", json={"model": "toy"} | body, verify=False)


# -- chat -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("Say exactly: two  words\nand a line", "two  words\nand a line"),
        ("Count to 4", "1 2 3 4"),
        ("Remember the word plum.", "I will remember it."),
        ("Which word did I ask you to remember?", "I do not know."),
        ("anything", "You said: anything"),
    ],
)
def test_the_model_answers_the_newest_user_text(sdk: openai.OpenAI, asked: str, said: str) -> None:
    whole = sdk.chat.completions.create(model="toy", messages=user(asked))
    assert (whole.choices[0].message.content, whole.choices[0].finish_reason) == (said, "stop")
    assert whole.usage is not None
    assert whole.usage.prompt_tokens == len(asked.split())
    assert whole.usage.completion_tokens == len(said.split())
    chunks = list(sdk.chat.completions.create(model="toy", messages=user(asked), stream=True))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == said
    assert sum(bool(chunk.choices[0].delta.content) for chunk in chunks) == len(said.split())
    assert sdk.responses.create(model="toy", input=asked).output_text == said


def test_chat_calls_are_streamed_in_parallel_and_their_results_are_read(sdk: openai.OpenAI) -> None:
    messages = user(TWO_CALLS)
    with sdk.chat.completions.stream(model="toy", messages=messages, tools=CHAT_TOOLS) as stream:
        choice = stream.get_final_completion().choices[0]
    calls = choice.message.tool_calls or []
    assert [(call.function.name, json.loads(call.function.arguments)) for call in calls] == [
        ("weather", {"city": "Paris"}),
        ("weather", {"city": "Rome"}),
    ]
    assert len({call.id for call in calls}) == 2
    assert choice.finish_reason == "tool_calls"
    shown = choice.message.model_dump(exclude_none=True, include={"role", "content", "tool_calls"})
    for call in shown["tool_calls"]:
        call["function"] = {name: call["function"][name] for name in ("name", "arguments")}
        call.pop("index", None)
    messages.append(shown)
    messages += [{"role": "tool", "tool_call_id": call.id, "content": f"sun {at}"} for at, call in enumerate(calls)]
    whole = sdk.chat.completions.create(model="toy", messages=messages, tools=CHAT_TOOLS)
    assert whole.choices[0].message.content == "Results: sun 0; sun 1"


def test_calls_come_one_at_a_time_where_they_may_not_be_parallel(sdk: openai.OpenAI) -> None:
    messages = user(TWO_CALLS)
    cities = []
    for _ in range(2):
        said = sdk.chat.completions.create(
            model="toy", messages=messages, tools=CHAT_TOOLS, parallel_tool_calls=False
        ).choices[0]
        (call,) = said.message.tool_calls or []
        assert call.type == "function"
        cities.append(json.loads(call.function.arguments)["city"])
        messages.append({"role": "assistant", "tool_calls": [call.model_dump()]})
        messages.append({"role": "tool", "tool_call_id": call.id, "content": "rain"})
    assert cities == ["Paris", "Rome"]
    last = sdk.chat.completions.create(model="toy", messages=messages, tools=CHAT_TOOLS, parallel_tool_calls=False)
    assert last.choices[0].message.content == "Results: rain; rain"


@pytest.mark.parametrize(
    ("choice", "name", "arguments"),
    [
        ("required", "weather", {"city": "text"}),
        ({"type": "function", "function": {"name": "now"}}, "now", {}),
    ],
)
def test_a_call_that_must_be_made_is_made_up_of_the_schema(
    sdk: openai.OpenAI, choice: Any, name: str, arguments: dict[str, Any]
) -> None:
    said = sdk.chat.completions.create(model="toy", messages=user("hi"), tools=CHAT_TOOLS, tool_choice=choice)
    (call,) = said.choices[0].message.tool_calls or []
    assert call.type == "function"
    assert (call.function.name, json.loads(call.function.arguments)) == (name, arguments)


def test_no_tool_is_called_where_none_may_be(sdk: openai.OpenAI) -> None:
    said = sdk.chat.completions.create(model="toy", messages=user("now()"), tools=CHAT_TOOLS, tool_choice="none")
    assert (said.choices[0].message.tool_calls, said.choices[0].message.content) == (None, "You said: now()")


def test_a_tool_without_parameters_is_called_with_an_empty_object(sdk: openai.OpenAI) -> None:
    said = sdk.chat.completions.create(model="toy", messages=user("now()"), tools=CHAT_TOOLS)
    (call,) = said.choices[0].message.tool_calls or []
    assert call.type == "function"
    assert (call.function.name, call.function.arguments) == ("now", "{}")


def test_max_tokens_and_stop_are_obeyed(sdk: openai.OpenAI) -> None:
    cut = sdk.chat.completions.create(model="toy", messages=user("Count to 9"), max_completion_tokens=3).choices[0]
    assert (cut.message.content, cut.finish_reason) == ("1 2 3", "length")
    stopped = sdk.chat.completions.create(model="toy", messages=user("Count to 9"), stop=["7", "5"]).choices[0]
    assert (stopped.message.content, stopped.finish_reason) == ("1 2 3 4 ", "stop")
    response = sdk.responses.create(model="toy", input="Count to 9", max_output_tokens=2)
    assert (response.output_text, response.status) == ("1 2", "incomplete")
    assert response.incomplete_details is not None
    assert response.incomplete_details.reason == "max_output_tokens"


def test_choices_and_log_probabilities_are_given(sdk: openai.OpenAI) -> None:
    said = sdk.chat.completions.create(
        model="toy", messages=user("Count to 2"), n=2, logprobs=True, top_logprobs=2
    ).choices
    assert [(choice.index, choice.message.content) for choice in said] == [(0, "1 2"), (1, "1 2")]
    assert said[1].logprobs is not None
    entries = said[1].logprobs.content or []
    assert [(entry.token, len(entry.top_logprobs), entry.top_logprobs[0].token) for entry in entries] == [
        ("1", 2, "1"),
        (" 2", 2, " 2"),
    ]


class Place(pydantic.BaseModel):
    """What is asked for."""

    city: str
    people: int
    roads: list[str]


def test_json_fits_the_schema_that_is_asked_for(sdk: openai.OpenAI) -> None:
    place = sdk.chat.completions.parse(model="toy", messages=user("where?"), response_format=Place)
    assert place.choices[0].message.parsed == Place(city="text", people=1, roads=["text"])
    assert sdk.responses.parse(model="toy", input="where?", text_format=Place).output_parsed is not None
    said = sdk.chat.completions.create(model="toy", messages=user("JSON?"), response_format={"type": "json_object"})
    assert json.loads(said.choices[0].message.content or "") == {"answer": "text"}


def test_the_thought_stands_apart_from_the_answer(sdk: openai.OpenAI) -> None:
    said: Any = sdk.chat.completions.create(model="toy", messages=user("hi"), reasoning_effort="low")
    assert said.choices[0].message.reasoning_content == "Let me think about it."
    assert said.choices[0].message.content == "You said: hi"
    assert said.usage.completion_tokens_details.reasoning_tokens == 5
    unthinking: Any = sdk.chat.completions.create(model="toy", messages=user("hi"), reasoning_effort="none")
    assert not hasattr(unthinking.choices[0].message, "reasoning_content")


def test_an_image_is_seen(sdk: openai.OpenAI) -> None:
    address = "data:image/png;base64,iVBORw0KGgo="
    parts: list[Any] = [
        {"type": "text", "text": "Is there an image?"},
        {"type": "image_url", "image_url": {"url": address}},
    ]
    said = sdk.chat.completions.create(model="toy", messages=[{"role": "user", "content": parts}])
    assert said.choices[0].message.content == "I see an image."
    items: list[Any] = [
        {"type": "input_text", "text": "Is there an image?"},
        {"type": "input_image", "image_url": address, "detail": "auto"},
    ]
    assert sdk.responses.create(model="toy", input=[{"role": "user", "content": items}]).output_text == (
        "I see an image."
    )


def test_tools_that_are_only_told_of_are_called_in_the_text(sdk: openai.OpenAI) -> None:
    told = 'Tool weather. Call: <tool_call>\n{"name": "x", "arguments": {}}\n</tool_call>'
    messages: list[Any] = [{"role": "system", "content": told}, *user('weather({"city": "Paris"})')]
    said = sdk.chat.completions.create(model="toy", messages=messages).choices[0]
    assert said.message.content == ('<tool_call>\n{"name": "weather", "arguments": {"city": "Paris"}}\n</tool_call>')
    assert said.finish_reason == "stop"
    answered: list[Any] = [*messages, {"role": "assistant", "content": said.message.content}]
    answered += user("<tool_response>sun</tool_response>")
    assert sdk.chat.completions.create(model="toy", messages=answered).choices[0].message.content == "Results: sun"


# -- responses --------------------------------------------------------------------------------------------------------


def test_responses_calls_are_streamed_and_answered_by_the_stored_state(sdk: openai.OpenAI) -> None:
    with sdk.responses.stream(model="toy", input=TWO_CALLS, tools=TOOLS) as stream:
        first = stream.get_final_response()
    calls = [item for item in first.output if item.type == "function_call"]
    assert [(call.name, json.loads(call.arguments)) for call in calls] == [
        ("weather", {"city": "Paris"}),
        ("weather", {"city": "Rome"}),
    ]
    results: list[Any] = [
        {"type": "function_call_output", "call_id": call.call_id, "output": f"sun {at}"}
        for at, call in enumerate(calls)
    ]
    second = sdk.responses.create(model="toy", input=results, previous_response_id=first.id, tools=TOOLS)
    assert second.output_text == "Results: sun 0; sun 1"
    assert second.previous_response_id == first.id


def test_the_stored_state_is_remembered_but_not_the_instructions(sdk: openai.OpenAI) -> None:
    first = sdk.responses.create(model="toy", input="Remember the word plum.", instructions="Be brief.")
    asked = "Which word did I ask you to remember?"
    second = sdk.responses.create(model="toy", input=asked, previous_response_id=first.id)
    assert second.output_text == "plum"
    assert second.usage is not None
    assert second.usage.input_tokens == 4 + 4 + 8  # what was said before, the answer, what is asked
    third = sdk.responses.create(model="toy", input=asked, previous_response_id=second.id)
    assert third.output_text == "plum"
    whole: list[Any] = [*user("Remember the word fig."), {"role": "assistant", "content": "Yes."}, *user(asked)]
    assert sdk.responses.create(model="toy", input=whole).output_text == "fig"


def test_a_stored_response_can_be_had_again_and_one_that_is_not_stored_cannot(sdk: openai.OpenAI) -> None:
    kept = sdk.responses.create(model="toy", input="hi")
    assert sdk.responses.retrieve(kept.id).output_text == "You said: hi"
    sdk.responses.delete(kept.id)
    passing = sdk.responses.create(model="toy", input="hi", store=False)
    assert passing.store is False
    for id in (kept.id, passing.id):
        with pytest.raises(openai.NotFoundError, match="not found"):
            sdk.responses.retrieve(id)
        with pytest.raises(openai.BadRequestError) as refused:
            sdk.responses.create(model="toy", input="hi", previous_response_id=id)
        assert refused.value.code == "previous_response_not_found"


def test_a_response_in_the_background_is_queued_and_then_done(sdk: openai.OpenAI) -> None:
    first = sdk.responses.create(model="toy", input="hi", background=True)
    looks = [first, sdk.responses.retrieve(first.id), sdk.responses.retrieve(first.id)]
    assert [(look.status, look.output_text) for look in looks] == [
        ("queued", ""),
        ("in_progress", ""),
        ("completed", "You said: hi"),
    ]
    other = sdk.responses.create(model="toy", input="hi", background=True)
    assert sdk.responses.cancel(other.id).status == "cancelled"


def test_a_stream_is_resumed_where_it_broke_off(sdk: openai.OpenAI) -> None:
    events = list(sdk.responses.create(model="toy", input="Count to 3", stream=True))
    id = next(event.response.id for event in events if event.type == "response.created")
    rest = list(sdk.responses.retrieve(id, stream=True, starting_after=4))
    assert [event.sequence_number for event in rest] == [event.sequence_number for event in events[5:]]


def test_sealed_thought_is_given_on_request_and_taken_back(sdk: openai.OpenAI) -> None:
    said = sdk.responses.create(
        model="thinker", input="hi", store=False, include=["reasoning.encrypted_content"], reasoning={"effort": "low"}
    )
    thought, message = said.output
    assert thought.type == "reasoning"
    assert thought.summary[0].text == "Let me think about it."
    assert thought.encrypted_content is not None
    history: list[Any] = [
        *user("hi"),
        *(item.model_dump(exclude_none=True) for item in (thought, message)),
        *user("more"),
    ]
    again = sdk.responses.create(model="toy", input=history, store=False)
    assert again.output_text == "You said: more"
    history[1]["encrypted_content"] = "foreign"
    with pytest.raises(openai.BadRequestError) as refused:
        sdk.responses.create(model="toy", input=history, store=False)
    assert refused.value.code == "invalid_encrypted_content"


# -- completions, models, refusals ------------------------------------------------------------------------------------


def test_the_older_api_completes_a_prompt(sdk: openai.OpenAI) -> None:
    whole = sdk.completions.create(model="toy", prompt="Count to 3", logprobs=1)
    assert (whole.choices[0].text, whole.choices[0].finish_reason) == ("1 2 3", "stop")
    assert whole.choices[0].logprobs is not None
    assert whole.choices[0].logprobs.text_offset == [0, 1, 3]
    options: Any = {"include_usage": True}
    chunks = list(
        sdk.completions.create(model="toy", prompt="Count to 3", max_tokens=2, stream=True, stream_options=options)
    )
    assert "".join(chunk.choices[0].text for chunk in chunks[:-1]) == "1 2"
    assert (chunks[-2].choices[0].finish_reason, chunks[-1].usage and chunks[-1].usage.total_tokens) == ("length", 5)


def test_the_models_are_listed(sdk: openai.OpenAI) -> None:
    assert [model.id for model in sdk.models.list()] == ["toy", "thinker"]
    assert sdk.models.retrieve("thinker").owned_by == "streamshim"


@pytest.mark.parametrize("api", ["chat", "responses"])
@pytest.mark.parametrize(
    ("said", "status", "code"),
    [
        ({"model": "other"}, 404, "model_not_found"),
        ({"temperature": "hot"}, 400, "invalid_type"),
        ({"temperature": 3}, 400, "decimal_above_max_value"),
        ({"no_such_parameter": 1}, 400, "unknown_parameter"),
        ({"messages": [], "input": None}, 400, None),
        ({"messages": user("w " * 8001), "input": "w " * 8001}, 400, "context_length_exceeded"),
    ],
)
def test_what_is_no_legal_request_is_refused(
    server: ModelServer, api: str, said: dict[str, Any], status: int, code: str | None
) -> None:
    path, member = ("chat/completions", "messages") if api == "chat" else ("responses", "input")
    other = "input" if api == "chat" else "messages"
    body = {member: user("hi"), **{name: value for name, value in said.items() if name != other}}
    reply = post(server, path, **body)
    error = reply.json()["error"]
    assert reply.status_code == status
    assert error["type"] == "invalid_request_error"
    assert code in (None, error["code"])


def test_a_result_without_its_call_is_refused(sdk: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError, match="never made"):
        sdk.chat.completions.create(
            model="toy", messages=[*user("hi"), {"role": "tool", "tool_call_id": "c", "content": "x"}]
        )


def test_a_key_is_asked_for_and_requests_are_kept() -> None:
    with serve_model(key="sk-right", apis=["chat"]) as server:
        with client_of(server, "sk-wrong") as wrong, pytest.raises(openai.AuthenticationError):
            wrong.models.list()
        with client_of(server, "sk-right") as right:
            assert right.chat.completions.create(model="toy", messages=user("hi")).choices
            with pytest.raises(openai.NotFoundError, match="Invalid URL"):
                right.responses.create(model="toy", input="hi")
        assert [(request.method, request.path) for request in server.requests] == [
            ("GET", "/v1/models"),
            ("POST", "/v1/chat/completions"),
            ("POST", "/v1/responses"),
        ]
        assert server.requests[1].headers["authorization"] == "Bearer sk-right"
        assert server.requests[1].body == {"model": "toy", "messages": user("hi")}


# -- the wire ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "said",
    [
        {"text": "hi"},
        {"text": "Count to 9", "limit": 4},
        {"text": TWO_CALLS, "tools": True},
        {"text": TWO_CALLS, "tools": True, "limit": 3},
        {"text": "now()", "tools": True},
        {"text": "Count to 9", "model": "thinker"},
        {"text": "Count to 9", "model": "thinker", "limit": 3},
    ],
    ids=lambda said: f"{said.get('model', 'toy')} {said['text']} {said.get('limit', '')}",
)
def test_the_wire_of_the_perfect_server_is_legal(server: ModelServer, said: dict[str, Any]) -> None:
    model = said.get("model", "toy")
    for path, tools, limit, body in (
        ("chat/completions", CHAT_TOOLS, "max_tokens", {"messages": user(said["text"])}),
        ("responses", TOOLS, "max_output_tokens", {"input": said["text"]}),
    ):
        options = {limit: said["limit"]} if "limit" in said else {}
        options |= {"tools": tools} if "tools" in said else {}
        options |= {"stream_options": {"include_usage": True}} if path == "chat/completions" else {}
        reply = post(server, path, **body, **options, model=model, stream=True)
        assert reply.headers["content-type"].startswith("text/event-stream")
        assert wire_breaches(reply.content) == []
        assert reply.content.endswith(b"data: [DONE]\n\n") == (path == "chat/completions")
