"""What a server does not have is done without, and the ledger says so; without leave it is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from streamshim import ChatCompletionsClient, Conversation, OutputError, StreamFailedError, Tool
from streamshim.client.fallbacks import FALLBACKS
from streamshim.client.words import with_tools_in_words
from streamshim.quirks import QUIRKS
from tests.loopback import PAUSE, serve
from tests.scripted import (
    WAYS,
    Script,
    Way,
    answer,
    chat_answer,
    frames,
    refuses,
    repairs_of,
    response_answer,
    response_body,
)

ANSWERS: dict[str, Any] = {"chat": chat_answer, "responses": response_answer}
both_ways = pytest.mark.parametrize("way", WAYS)
both_apis = pytest.mark.parametrize("api", ["chat", "responses"])


def look(at: int) -> str:
    """Look somewhere."""
    return f"nine at {at}"


CALL = '<tool_call>\n{"name": "look", "arguments": {"at": 1}}\n</tool_call>'
NO_TOOLS = [
    refuses(400, "registry.test/library/m:latest does not support tools"),
    refuses(400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
    refuses(500, "tools param requires --jinja flag", type="server_error"),
    refuses(404, "No endpoints found that support tool use."),
    refuses(400, "Unsupported parameter", param="tools", code="unsupported_parameter"),
    refuses(422, "Function calling is not enabled for this model"),
    answer(json.dumps({"detail": [{"loc": ["body", "tools"], "msg": "Extra inputs are not permitted"}]}).encode(),
           status=422, kind="application/json"),
    answer(frames({"error": {"message": "this model does not support tools"}})),
    answer(b'{"error":{"message":"this model does not support tools"}}', kind="application/json"),
]  # fmt: skip


# -- tools ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("refusal", NO_TOOLS, ids=range(len(NO_TOOLS)))
def test_a_server_that_refuses_tools_is_told_of_them_in_words(refusal: Any) -> None:
    script = Script(refusal, chat_answer(CALL), chat_answer("Nine."))
    events, run = script.run("Hi", tools=[look], repairs=True)
    assert [event.output for event in events if event.type == "tool_result"] == ["nine at 1"]
    assert run.response.text == "Nine."
    first, second, third = script.bodies
    assert "tools" in first
    assert not {"tools", "tool_choice"} & second.keys()
    told = second["messages"][0]
    assert told["role"] == "system"
    assert '"name":"look"' in told["content"]
    assert "<tool_call>" in told["content"]
    assert third["messages"][2:] == [
        {"role": "assistant", "content": '<tool_call>\n{"name":"look","arguments":{"at":1}}\n</tool_call>'},
        {"role": "user", "content": "<tool_response>\nnine at 1\n</tool_response>"},
    ]
    assert [quirk for quirk, _ in repairs_of(events)].count("tools-in-prompt") == 2
    assert all("tools-in-prompt" in turn.repairs for turn in run.turns)


@both_ways
@both_apis
def test_tools_in_words_work_over_either_api(api: Any, way: Way) -> None:
    options: dict[str, Any] = {"state": "client"} if api == "responses" else {}
    script = Script(NO_TOOLS[0], ANSWERS[api](CALL), ANSWERS[api]("Nine."), api=api, way=way, **options)
    conversation = Conversation("ann", "Be brief.")
    conversation.user("Hi")
    events, run = script.run(conversation, tools=[look])
    assert run.response.text == "Nine."
    assert any(event.type == "tool_result" and event.output == "nine at 1" for event in events)
    instructions = [body["messages"][0]["content"] if api == "chat" else body["instructions"] for body in script.bodies]
    assert instructions[0] == "Be brief."
    assert all(told.startswith("Be brief.\n\nYou can call these tools.") for told in instructions[1:])


def test_what_was_refused_is_not_asked_for_twice_but_for_another_model() -> None:
    script = Script(NO_TOOLS[0], chat_answer("Hi"), chat_answer("Hi"), chat_answer("Hi"))
    answers = [script.chat("Hi", tools=[look]) for _ in range(2)]
    assert all(answer.repairs == {"tools-in-prompt": 1} for answer in answers)
    assert script.chat("Hi", tools=[look], model="m-2").repairs == {}
    assert ["tools" in body for body in script.bodies] == [True, False, False, True]


@both_apis
def test_a_server_that_ignores_tools_is_found_out_where_a_call_must_come(api: Any) -> None:
    script = Script(ANSWERS[api]("I cannot."), ANSWERS[api](CALL), api=api)
    events = script.events("Hi", tools=[look], tool_choice="look")
    assert "I cannot." not in "".join(event.delta for event in events if event.type == "text_delta")
    assert [event.name for event in events if event.type == "tool_call_end"] == ["look"]
    assert events[-1].repairs["tools-in-prompt"] == 1
    assert "You must call the tool look now." in json.dumps(script.bodies[1])


def test_an_answer_without_the_call_is_shown_where_words_do_not_help_either() -> None:
    script = Script(chat_answer("I cannot."), chat_answer("I still cannot."))
    assert script.chat("Hi", tools=[look], tool_choice="required").text == "I still cannot."


def test_an_answer_that_was_cut_by_its_limit_says_nothing_of_tools() -> None:
    script = Script(chat_answer("I", finish="length"))
    assert script.chat("Hi", tools=[look], tool_choice="required", max_tokens=1).text == "I"
    assert len(script.requests) == 1


def test_a_call_that_comes_is_handed_out_as_it_streams_though_it_must_come() -> None:
    script = Script(chat_answer("Let me see.", calls=[("look", {"at": 1})]))
    events = script.events("Hi", tools=[look], tool_choice="required")
    kinds = [event.type for event in events]
    assert kinds.index("text_delta") < kinds.index("tool_call_start")
    assert events[-1].repairs == {}
    call = {"index": 0, "id": "c1", "function": {"name": "look", "arguments": '{"at"'}}
    rest = {"tool_calls": [{"index": 0, "function": {"arguments": ":1}"}}]}
    begun, more = ({"id": "c", "choices": [{"delta": delta}]} for delta in ({"tool_calls": [call]}, rest))
    done = {"id": "c", "choices": [{"delta": {}, "finish_reason": "tool_calls"}]}
    pieces = [frames(payload, done=False) for payload in (begun, more, done)]
    with serve([pieces[0], PAUSE, *pieces[1:]]) as server, ChatCompletionsClient(server.url) as client:
        stream = client.stream("Hi", tools=[look], tool_choice="required")
        assert any(event.type == "tool_call_delta" for event in stream.next_batch() or ())
        server.go_on()
        assert stream.final().calls_to_answer[0].parsed() == {"at": 1}


def test_a_server_that_cannot_be_made_to_call_is_told_so_in_words() -> None:
    refusal = refuses(400, "tool_choice must be 'auto' or 'none'", param="tool_choice")
    script = Script(refusal, chat_answer(calls=[("look", {"at": 1})]))
    answer = script.chat("Hi", tools=[look], tool_choice="required")
    assert answer.calls_to_answer
    assert answer.repairs == {"member-refused": 1}
    second = script.bodies[1]
    assert "tools" in second
    assert "tool_choice" not in second
    assert "You must call at least one of the tools now." in second["messages"][0]["content"]


@both_apis
def test_a_call_that_leaked_into_the_text_is_a_call_where_tools_were_given(api: Any) -> None:
    script = Script(ANSWERS[api](CALL), ANSWERS[api](CALL), ANSWERS[api](CALL), api=api)
    assert script.chat("Hi", tools=[look]).calls_to_answer[0].parsed() == {"at": 1}
    assert script.chat("Hi").text == CALL
    assert script.chat("Hi", tools=[look], tool_markup=False).text == CALL


def test_tools_that_must_not_be_called_are_not_told_of() -> None:
    body = {"messages": [{"role": "user", "content": "Hi"}], "tools": [Tool(look).declaration()], "tool_choice": "none"}
    assert with_tools_in_words(body) == {"messages": [{"role": "user", "content": "Hi"}]}


@both_apis
def test_a_history_with_calls_is_told_in_words(api: Any) -> None:
    conversation = Conversation()
    conversation.user("Hi")
    options: dict[str, Any] = {"state": "client"} if api == "responses" else {}
    script = Script(
        ANSWERS[api]("See.", calls=[("look", {"at": 1}), ("look", {"at": 2})]),
        NO_TOOLS[0],
        ANSWERS[api]("Nine."),
        api=api,
        **options,
    )
    script.run(conversation, tools=[look])
    said = script.bodies[-1]["messages" if api == "chat" else "input"]
    told = [(item["role"], item["content"]) for item in said if item.get("role") != "system"]
    texts = [text if isinstance(text, str) else text[0]["text"] for _, text in told]
    assert [role for role, _ in told][-1] == "user"
    assert texts[-1].count("<tool_response>") == 2
    assert "".join(texts).count("<tool_call>") == 2
    assert "See." in "".join(texts)


# -- output -----------------------------------------------------------------------------------------------------------


class Berth(BaseModel):
    number: int


NO_SCHEMA = refuses(400, "This response_format type is unavailable now")


@both_ways
@both_apis
def test_a_schema_that_is_refused_is_told_in_words_and_the_answer_held_against_it(api: Any, way: Way) -> None:
    script = Script(NO_SCHEMA, ANSWERS[api]('```json\n{"number": 12}\n```'), api=api, way=way)
    answer = script.chat("Hi", response_format=Berth)
    assert answer.parsed == Berth(number=12)
    assert answer.repairs == {"schema-in-prompt": 1}
    second = script.bodies[1]
    assert not {"response_format", "text"} & second.keys()
    told = second["messages"][0]["content"] if api == "chat" else second["instructions"]
    assert '"number":{"type":"integer"}' in told.replace('"title":"Number",', "")
    script = Script(NO_SCHEMA, ANSWERS[api]("twelve"), api=api, way=way)
    with pytest.raises(OutputError):
        script.chat("Hi", response_format=Berth)


def test_a_json_object_that_cannot_be_demanded_is_asked_for() -> None:
    script = Script(NO_SCHEMA, chat_answer('{"a":1}'))
    assert script.chat("Hi", response_format={"type": "json_object"}).parsed == {"a": 1}
    assert "one JSON object alone" in script.bodies[1]["messages"][0]["content"]


# -- other members ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "refusal", "gone"),
    [
        ({}, refuses(400, "Unrecognized request argument supplied: stream_options"), "stream_options"),
        ({}, refuses(422, "Extra inputs are not permitted"), "stream_options"),
        ({"reasoning_effort": "low"}, refuses(400, "this model does not support reasoning"), "reasoning_effort"),
        (
            {"temperature": 0.2},
            refuses(400, "Unsupported value: 'temperature' does not support 0.2", param="temperature"),
            "temperature",
        ),
        ({"seed": 1}, refuses(400, "Unknown parameter: 'seed'."), "seed"),
        ({"stop": "x"}, refuses(400, "Unsupported parameter: 'stop' is not supported with this model."), "stop"),
        ({"store": True}, refuses(400, "Unsupported parameter: 'store' must be false."), "store"),
        ({"user": "ann"}, refuses(422, "property 'user' is unsupported"), "user"),
    ],
    ids="stream_options unnamed effort temperature seed stop store user".split(),
)
@both_ways
def test_a_member_that_is_refused_is_left_out(options: Any, refusal: Any, gone: str, way: Way) -> None:
    script = Script(refusal, chat_answer("Hi"), way=way)
    answer = script.chat("Hi", **options)
    first, second = script.bodies
    assert first.keys() - second.keys() == {gone}
    assert answer.repairs == {"member-refused": 1}


def test_what_was_left_out_is_named_in_the_ledger() -> None:
    script = Script(refuses(400, "Unknown parameter: 'seed'."), chat_answer("Hi"))
    events = script.events("Hi", seed=1, repairs=True)
    assert repairs_of(events) == [("member-refused", "seed: left out")]
    assert [event.type for event in events][:2] == ["stream_start", "repair"]


def test_a_limit_that_is_refused_is_sent_by_its_other_name() -> None:
    said = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    script = Script(refuses(400, said, param="max_tokens", code="unsupported_parameter"), chat_answer("Hi"))
    script.chat("Hi", max_tokens=5)
    assert script.bodies[1]["max_completion_tokens"] == 5
    assert "max_tokens" not in script.bodies[1]


def test_several_members_are_left_out_one_by_one_and_none_twice() -> None:
    script = Script(
        refuses(400, "Unknown parameter: 'seed'."),
        refuses(400, "Unknown parameter: 'user'."),
        refuses(400, "Unknown parameter: 'seed'."),
    )
    with pytest.raises(StreamFailedError, match="'seed'"):
        script.chat("Hi", seed=1, user="ann")
    assert not {"seed", "user"} & script.bodies[2].keys()


@pytest.mark.parametrize(
    "refusal",
    [
        refuses(400, "Invalid 'temperature': decimal above maximum value.", param="temperature"),
        refuses(400, "temperature must be between 0 and 2"),
        refuses(400, "Invalid schema for function 'look': 'at' is missing", param="tools[0].function.parameters"),
        refuses(404, "The model `m-1` does not exist.", code="model_not_found"),
        refuses(400, "Your input exceeds the context window of this model", code="context_length_exceeded"),
        refuses(401, "You do not have access to tools, which are not enabled"),
        refuses(400, "this model does not support image input"),
    ],
    ids="range words schema model length key image".split(),
)
def test_a_mistake_of_the_caller_is_told_to_the_caller(refusal: Any) -> None:
    script = Script(refusal)
    with pytest.raises(StreamFailedError):
        script.chat("Hi", temperature=3, tools=[look])


@pytest.mark.parametrize("options", [{"tools": [look]}, {"response_format": Berth}, {"seed": 1}])
def test_nothing_is_done_without_where_that_is_not_wanted(options: Any) -> None:
    for refusal in (NO_TOOLS[0], NO_SCHEMA, refuses(400, "Unknown parameter: 'seed'.")):
        script = Script(refusal, degrade=False)
        with pytest.raises(StreamFailedError):
            script.chat("Hi", **options)
        assert len(script.requests) == 1
    leaked = Script(chat_answer(CALL), degrade=False)
    assert leaked.chat("Hi", tools=[look]).text == CALL


# -- whole answers, and counts ----------------------------------------------------------------------------------------


@both_ways
def test_a_whole_answer_to_a_request_for_a_stream_is_the_same_events_and_told(way: Way) -> None:
    body = {"id": "c", "object": "chat.completion", "created": 1, "model": "m-1", "choices": [
        {"index": 0, "message": {"role": "assistant", "content": "Hello"}, "finish_reason": "stop"}
    ]}  # fmt: skip
    whole = answer(json.dumps(body).encode(), kind="application/json; charset=utf-8")
    script = Script(whole, way=way)
    events = script.events("Hi", repairs=True)
    assert "".join(event.delta for event in events if event.type == "text_delta") == "Hello"
    assert repairs_of(events) == [("whole-answer", "the body is one JSON document")]
    whole = answer(json.dumps(response_body("Hello")).encode(), kind="application/json")
    assert Script(whole, api="responses").chat("Hi").repairs == {"whole-answer": 1}


@both_apis
def test_a_server_that_refuses_to_stream_is_asked_for_a_whole_answer(api: Any) -> None:
    said = "Your organization must be verified to stream this model."
    refusal = refuses(400, said, param="stream", code="unsupported_value")
    whole = {"id": "c", "choices": [{"message": {"content": "Hello"}, "finish_reason": "stop"}]}
    body = whole if api == "chat" else response_body("Hello")
    script = Script(refusal, answer(json.dumps(body).encode(), kind="application/json"), api=api)
    result = script.chat("Hi")
    assert (result.text, result.repairs) == ("Hello", {"whole-answer": 1})
    assert script.bodies[1]["stream"] is False
    assert "stream_options" not in script.bodies[1]


def test_a_server_that_does_not_count_has_no_usage() -> None:
    assert Script(chat_answer("Hi")).chat("Hi").usage is None
    counted = Script(chat_answer("Hi", usage={"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4}))
    assert counted.chat("Hi").usage.total_tokens == 4
    assert counted.bodies[0]["stream_options"] == {"include_usage": True}


def test_an_error_in_a_body_of_status_200_is_no_whole_answer() -> None:
    script = Script(answer(b'{"error":{"message":"no"}}', kind="application/json"))
    end = script.events("Hi", errors="event")[-1]
    assert (end.status, end.repairs) == ("failed", {})


# -- the table --------------------------------------------------------------------------------------------------------


def test_every_quirk_of_a_client_is_shown_here() -> None:
    of_client = {quirk.id for quirk in QUIRKS.values() if quirk.made_by == "client"}
    assert {fallback.quirk for fallback in FALLBACKS} <= of_client
    tests = [Path(__file__), Path(__file__).with_name("test_client_state.py")]
    shown = "".join(path.read_text(encoding="utf-8") for path in tests)
    assert all(f'"{quirk}"' in shown for quirk in of_client)


@pytest.mark.parametrize("fallback", FALLBACKS, ids=range(len(FALLBACKS)))
def test_what_is_done_without_is_not_asked_for_any_more(fallback: Any) -> None:
    asked: dict[str, Any] = {"model": "m-1", "messages": [{"role": "user", "content": "Hi"}], "stream": True}
    of_tools = {"tools": [Tool(look).declaration()], "tool_choice": "required", "parallel_tool_calls": True}
    members = dict.fromkeys("max_tokens max_completion_tokens max_output_tokens temperature top_p seed".split(), 1)
    words = dict.fromkeys("stop user reasoning_effort".split(), "low")
    rest = {
        "store": True,
        "metadata": {},
        "include": [],
        "stream_options": {},
        "response_format": {"type": "json_object"},
    }
    body = {**asked, **of_tools, **members, **words, **rest}
    assert fallback.is_asked(body)
    assert not fallback.is_asked(fallback.replaced(body))


def test_strict_refuses_what_a_client_did_without() -> None:
    script = Script(NO_TOOLS[0], chat_answer("Hi"))
    with pytest.raises(StreamFailedError, match="tools-in-prompt"):
        script.chat("Hi", tools=[look], strict={"tools-in-prompt"})
