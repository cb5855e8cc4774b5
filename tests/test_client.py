"""What a client asks and gives, over either API, synchronously and asynchronously."""

from __future__ import annotations

import asyncio
import itertools
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import httpx2
import pytest

import streamshim
from streamshim import (
    AsyncLLMClient,
    AsyncResponsesClient,
    ChatCompletionsClient,
    Conversation,
    InputError,
    LLMClient,
    ResponsesClient,
    StreamFailedError,
    StreamTruncatedError,
)
from streamshim.client.options import RequestOptions, chat_members_of
from tests.loopback import PATIENCE_SECONDS, PAUSE, WATCH, serve
from tests.scripted import (
    WAYS,
    Script,
    Way,
    answer,
    breaks_after,
    chat_answer,
    frames,
    refuses,
    response_answer,
)
from tests.servers import serve_model
from tests.small_streams import CHAT, frame

ANSWERS: dict[str, Any] = {"chat": chat_answer, "responses": response_answer}
numbers = itertools.count()
"""What is found out of a server is remembered: each test asks another one."""
both_ways = pytest.mark.parametrize("way", WAYS)
both_apis = pytest.mark.parametrize("api", ["chat", "responses"])


# -- asking and reading -----------------------------------------------------------------------------------------------


@both_ways
@both_apis
def test_a_text_is_asked_and_the_answer_comes_whole_or_as_events(api: Any, way: Way) -> None:
    script = Script(ANSWERS[api]("Hello"), ANSWERS[api]("Hello"), api=api, way=way)
    assert script.chat("Hi").text == "Hello"
    events = script.events("Hi")
    assert events[0].type == "stream_start"
    assert "".join(event.delta for event in events if event.type == "text_delta") == "Hello"
    assert events[-1].status == "completed"
    first, second = script.bodies
    assert first == second
    said = first["messages" if api == "chat" else "input"]
    assert said == [{"role": "user", "content": "Hi"}]
    assert (first["model"], first["stream"]) == ("m-1", True)
    path = "/v1/chat/completions" if api == "chat" else "/v1/responses"
    assert (script.requests[0].url.path, script.requests[0].headers["authorization"]) == (path, "Bearer key")


@both_ways
@both_apis
def test_a_conversation_goes_on_with_the_answer(api: Any, way: Way) -> None:
    echo = {"echo": "resp_a"} if api == "responses" else {}
    first = {"id": "resp_a"} if api == "responses" else {}
    script = Script(ANSWERS[api]("Hello", **first), ANSWERS[api]("Nine", **echo), api=api, way=way)
    conversation = Conversation("ann", "Be brief.")
    conversation.user("Hi")
    script.chat(conversation)
    conversation.user("When?")
    script.events(conversation)
    assert [answer.text for answer in conversation.answers] == ["Hello", "Nine"]
    last = script.bodies[-1]
    if api == "chat":
        assert [message["role"] for message in last["messages"]] == ["system", "user", "assistant", "user"]
    else:
        assert last["instructions"] == "Be brief."
        assert last["previous_response_id"] == conversation.answers[0].response_id


@both_ways
def test_an_answer_that_failed_or_was_cut_is_no_part_of_the_conversation(way: Way) -> None:
    half = frames({"id": "c", "choices": [{"delta": {"content": "Hel"}}]}, done=False)
    script = Script(refuses(400, "no"), breaks_after(half), chat_answer("Hello"), way=way)
    conversation = Conversation()
    conversation.user("Hi")
    with pytest.raises(StreamFailedError):
        script.chat(conversation)
    with pytest.raises(StreamTruncatedError) as cut:
        script.chat(conversation)
    assert cut.value.response.text == "Hel"
    assert len(conversation) == 1
    assert script.chat(conversation).text == "Hello"
    assert len(conversation) == 2


def test_a_stream_that_the_reader_leaves_closes_the_connection_and_what_was_said_stays() -> None:
    begun = frame({"id": "c", "choices": [{"delta": {"content": "Hello"}}]})
    conversation = Conversation()
    conversation.user("Hi")
    with serve([begun, WATCH]) as server, ChatCompletionsClient(server.url) as client:
        with client.stream(conversation) as events:
            for event in events:
                if event.type == "text_delta":
                    break
        assert server.sees_the_client_close()
    assert (conversation.answers[0].status, conversation.answers[0].text) == ("cancelled", "Hello")


def test_a_task_that_is_cancelled_closes_the_connection() -> None:
    begun = frame({"id": "c", "choices": [{"delta": {"content": "Hello"}}]})

    async def leave(url: str) -> None:
        async with streamshim.AsyncChatCompletionsClient(url) as client:
            begins = asyncio.Event()

            async def read() -> None:
                async with client.stream("Hi") as events:
                    async for event in events:
                        if event.type == "text_delta":
                            begins.set()

            task = asyncio.create_task(read())
            await begins.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    with serve([begun, WATCH]) as server:
        asyncio.run(leave(server.url))
        assert server.sees_the_client_close()


def test_deltas_are_handed_out_before_the_answer_is_whole() -> None:
    first, second = (frame({"id": "c", "choices": [{"delta": {"content": word}}]}) for word in ("Hel", "lo"))
    script = [first, PAUSE, second, *CHAT[-2:]]
    with serve(script) as server, ChatCompletionsClient(server.url) as client, client.stream("Hi") as events:
        texts = events.text_deltas()
        assert next(texts) == "Hel"
        server.go_on()
        assert "".join(texts) == "lo"


@both_ways
def test_nothing_is_sent_before_the_first_event_is_asked_for(way: Way) -> None:
    script = Script(way=way)
    stream = script.client.stream("Hi")
    assert script.requests == []
    if way == "sync":
        stream.close()
    else:
        asyncio.run(stream.aclose())
    assert script.requests == []


# -- what is given as input -------------------------------------------------------------------------------------------

CHAT_RESULT = [
    {"role": "user", "content": "Hi"},
    {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"},
    {"role": "tool", "tool_call_id": "c1", "content": "nine"},
]


@both_ways
def test_input_of_the_wrong_shape_is_refused_before_anything_is_sent(way: Way) -> None:
    script = Script(api="responses", way=way)
    with pytest.raises(InputError) as problem:
        script.chat(CHAT_RESULT)
    assert [finding.code for finding in problem.value.findings] == ["chat-result"]
    script = Script(way=way)
    with pytest.raises(InputError):
        script.chat([{"type": "function_call_output", "call_id": "c1", "output": "nine"}])
    assert script.requests == []


@both_apis
def test_content_parts_alone_are_what_the_user_says(api: Any) -> None:
    script = Script(ANSWERS[api]("A boat."), api=api)
    picture = streamshim.image_part("https://a.test/boat.png", detail="low")
    script.chat([streamshim.text_part("What is this?"), picture])
    if api == "chat":
        assert script.bodies[0]["messages"][0]["content"] == [{"type": "text", "text": "What is this?"}, picture]
    else:
        assert script.bodies[0]["input"][0]["content"] == [
            {"type": "input_text", "text": "What is this?"},
            {"type": "input_image", "image_url": "https://a.test/boat.png", "detail": "low"},
        ]


@pytest.mark.parametrize("given", [7, {"role": "user", "content": "Hi"}, b"Hi", None])
def test_what_cannot_be_asked_is_a_type_error_that_says_so(given: Any) -> None:
    with pytest.raises(TypeError, match="cannot be asked"):
        Script().chat(given)


def test_a_conversation_whose_calls_wait_cannot_be_asked() -> None:
    script = Script(chat_answer(calls=[("look", {})]))
    conversation = Conversation()
    conversation.user("Hi")
    script.chat(conversation)
    with pytest.raises(ValueError, match="wait for their results: look"):
        script.chat(conversation)


def test_what_cannot_be_written_as_json_is_refused_before_anything_is_sent() -> None:
    script = Script()
    with pytest.raises(ValueError, match="cannot be written as JSON"):
        script.chat("Hi", extra={"thing": object()})
    assert script.requests == []


def test_items_that_continue_an_answer_may_hold_results_alone() -> None:
    script = Script(response_answer("Nine"), api="responses")
    result = {"type": "function_call_output", "call_id": "c1", "output": "nine"}
    script.chat([result], extra={"previous_response_id": "resp_1"})
    assert script.bodies[0]["input"] == [result]
    with pytest.raises(InputError, match="never made"):
        script.chat([result])


# -- options ----------------------------------------------------------------------------------------------------------

OPTIONS: dict[str, Any] = {
    "max_tokens": 5,
    "temperature": 0.5,
    "top_p": 0.9,
    "reasoning_effort": "low",
    "user": "ann",
    "store": True,
    "metadata": {"a": "b"},
}


def test_options_are_members_of_a_chat_request() -> None:
    script = Script(chat_answer("Hi"))
    script.chat("Hi", **OPTIONS, stop=("a", "b"), seed=3)
    body = script.bodies[0]
    assert {name: body[name] for name in OPTIONS} == OPTIONS
    assert (body["stop"], body["seed"]) == (["a", "b"], 3)


def test_options_are_members_of_a_responses_request() -> None:
    script = Script(response_answer("Hi"), api="responses")
    script.chat("Hi", **OPTIONS)
    body = script.bodies[0]
    assert (body["max_output_tokens"], body["reasoning"]) == (5, {"effort": "low"})
    same = ("temperature", "top_p", "user", "store", "metadata")
    assert {name: body[name] for name in same} == {name: OPTIONS[name] for name in same}
    assert not {"max_tokens", "reasoning_effort", "stream_options"} & body.keys()


def test_what_the_responses_api_has_no_word_for_is_left_out_and_told() -> None:
    script = Script(response_answer("Hi"), api="responses")
    told = script.chat("Hi", stop="x", seed=3)
    assert not {"stop", "seed"} & script.bodies[0].keys()
    assert told.repairs == {"member-refused": 2}
    with pytest.raises(ValueError, match="stop is not available"):
        Script(api="responses", degrade=False).chat("Hi", stop="x")


@pytest.mark.parametrize(
    ("choice", "chat", "responses"),
    [
        ("auto", "auto", "auto"),
        ("none", "none", "none"),
        ("required", "required", "required"),
        ("look", {"type": "function", "function": {"name": "look"}}, {"type": "function", "name": "look"}),
    ],
)
def test_a_tool_choice_is_a_word_or_the_name_of_a_tool(choice: str, chat: Any, responses: Any) -> None:
    def look() -> str:
        """Look."""
        return "nine"

    for api, expected in (("chat", chat), ("responses", responses)):
        script = Script(ANSWERS[api](calls=[("look", {})]), api=api)  # type: ignore[arg-type]
        script.chat("Hi", tools=[look], tool_choice=choice, parallel_tool_calls=False)
        assert script.bodies[0]["tool_choice"] == expected
        assert script.bodies[0]["parallel_tool_calls"] is False


@both_apis
def test_what_is_said_of_tools_is_left_out_where_there_are_none(api: Any) -> None:
    script = Script(ANSWERS[api]("Hi"), api=api)
    script.chat("Hi", tool_choice="auto", parallel_tool_calls=True)
    assert not {"tools", "tool_choice", "parallel_tool_calls"} & script.bodies[0].keys()


@both_apis
def test_extra_members_and_headers_go_over_all_others(api: Any) -> None:
    script = Script(ANSWERS[api]("Hi"), api=api, headers={"X-Team": "a", "X-Other": "b"})
    script.chat("Hi", temperature=1, extra={"temperature": 2, "top_k": 4}, extra_headers={"x-team": "c"})
    assert (script.bodies[0]["temperature"], script.bodies[0]["top_k"]) == (2, 4)
    sent = script.requests[0].headers
    assert (sent["x-team"], sent["x-other"], sent["authorization"]) == ("c", "b", "Bearer key")


@both_apis
def test_instructions_are_those_of_the_conversation_unless_others_are_given(api: Any) -> None:
    options: dict[str, Any] = {"state": "client"} if api == "responses" else {}
    script = Script(*[ANSWERS[api]("Hi")] * 3, api=api, **options)
    conversation = Conversation(instructions="Be brief.")
    conversation.user("Hi")
    script.chat(conversation)
    conversation.user("Hi")
    script.chat(conversation, instructions="Rhyme.")
    script.chat("Hi", instructions="Sing.")
    told = [body["messages"][0]["content"] if api == "chat" else body["instructions"] for body in script.bodies]
    assert told == ["Be brief.", "Rhyme.", "Sing."]
    if api == "chat":
        assert [message["role"] for message in script.bodies[1]["messages"]].count("system") == 1


def test_an_option_that_does_not_exist_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match="max_length"):
        Script().chat("Hi", max_length=5)


def test_every_option_of_a_request_has_its_place() -> None:
    members = set(chat_members_of({**dict.fromkeys(RequestOptions.__annotations__, "look"), "metadata": {}}))
    special = {"instructions", "response_format", "timeout", "extra", "extra_headers"}
    of_stream = set(streamshim.event_stream.StreamOptions.__annotations__)
    assert members | special | of_stream == set(RequestOptions.__annotations__)


def test_options_of_the_stream_are_passed_on() -> None:
    seen: list[str] = []
    script = Script(chat_answer("Hi"))
    events = script.events("Hi", raw=True, on_event=lambda event: seen.append(event.type))
    assert any(event.type == "raw_frame" for event in events)
    assert seen == [event.type for event in events]


def test_errors_are_events_where_that_is_asked_for() -> None:
    script = Script(refuses(400, "no"))
    assert script.events("Hi", errors="event")[-1].status == "failed"


@both_ways
def test_a_refusal_raises_with_all_that_the_server_said(way: Way) -> None:
    script = Script(refuses(404, "no such model", code="model_not_found"), way=way)
    with pytest.raises(StreamFailedError, match="no such model") as problem:
        script.chat("Hi")
    assert (problem.value.error.status, problem.value.error.code) == (404, "model_not_found")


# -- the HTTP client --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("module", [httpx, httpx2])
def test_either_http_client_will_do_and_is_left_open(module: Any) -> None:
    with serve(CHAT) as server, module.Client() as http:
        with ChatCompletionsClient(server.url, http_client=http) as client:
            assert client.chat("Hi").text == "Hello"
        assert not http.is_closed


@pytest.mark.parametrize("module", [httpx, httpx2])
def test_either_asynchronous_http_client_will_do_and_is_left_open(module: Any) -> None:
    async def ask(url: str) -> tuple[str, bool]:
        async with module.AsyncClient() as http:
            async with streamshim.AsyncChatCompletionsClient(url, http_client=http) as client:
                text = (await client.chat("Hi")).text
            return text, http.is_closed

    with serve(CHAT) as server:
        assert asyncio.run(ask(server.url)) == ("Hello", False)


def test_a_client_closes_what_it_opened() -> None:
    with serve(CHAT) as server:
        client = ChatCompletionsClient(server.url)
        assert client.chat("Hi").text == "Hello"
        client.close()
        with pytest.raises(RuntimeError, match="closed"):
            client._http.get(server.url)
        client.close()


def test_another_http_client_is_refused() -> None:
    with pytest.raises(TypeError, match="no client of httpx2 or httpx"):
        ChatCompletionsClient("http://a.test", http_client=object())


def test_a_timeout_is_that_of_the_request_or_of_the_client() -> None:
    script = Script(chat_answer("Hi"), chat_answer("Hi"))
    script.chat("Hi", timeout=3.0)
    script.chat("Hi")
    assert script.requests[0].extensions["timeout"]["read"] == 3.0
    assert script.requests[1].extensions["timeout"]["read"] == script.http.timeout.read


@both_apis
def test_clients_are_what_the_protocols_ask_for(api: Any) -> None:
    assert isinstance(Script(api=api).client, LLMClient)
    assert isinstance(Script(api=api, way="async").client, AsyncLLMClient)


# -- which API --------------------------------------------------------------------------------------------------------


def probed(*answers: Any) -> tuple[list[str], Any]:
    """What is asked to find out, and the client that comes of it."""
    script = Script(*answers)
    found = streamshim.connect(f"http://server-{next(numbers)}.test/v1", http_client=script.http, model="m-1")
    return [request.url.path for request in script.requests], found


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        (refuses(400, "Missing required parameter: 'input'.", param="input"), ResponsesClient),
        (refuses(422, "Field required"), ResponsesClient),
        (refuses(404, "The model `m-1` does not exist.", code="model_not_found"), ResponsesClient),
        (refuses(404, "Not Found"), ChatCompletionsClient),
        (refuses(405, "Method Not Allowed"), ChatCompletionsClient),
        (refuses(501, "not implemented"), ChatCompletionsClient),
        (refuses(401, "no key"), ChatCompletionsClient),
        (refuses(503, "busy"), ChatCompletionsClient),
        (answer(b"<html>a page", kind="text/html"), ChatCompletionsClient),
        (answer(b"<html>no model here", status=404, kind="text/html"), ChatCompletionsClient),
        (answer(b'{"object":"response","status":"completed","output":[]}', kind="application/json"), ResponsesClient),
    ],
    ids="no-input unprocessable no-model no-path no-method not-implemented no-key busy page lost response".split(),
)
def test_a_server_is_asked_once_whether_it_has_responses(said: Any, kind: type) -> None:
    paths, client = probed(said)
    assert paths == ["/v1/responses"]
    assert type(client) is kind


def test_what_was_found_is_remembered_and_what_was_not_is_asked_again() -> None:
    script = Script(refuses(401, "no key"), refuses(404, "Not Found"))
    for _ in range(3):
        client = streamshim.connect("http://remembered.test/v1/", http_client=script.http)
        assert isinstance(client, ChatCompletionsClient)
    assert len(script.requests) == 2


def test_the_probe_asks_no_model() -> None:
    script = Script(refuses(400, "no input"))
    streamshim.connect("http://cheap.test/v1", http_client=script.http, model="m-1")
    assert script.bodies == [{"model": "m-1"}]


def test_a_chosen_api_is_not_asked_for() -> None:
    script = Script()
    assert isinstance(streamshim.connect("http://a.test", api="responses", http_client=script.http), ResponsesClient)
    assert isinstance(streamshim.connect("http://a.test", api="chat", http_client=script.http), ChatCompletionsClient)
    assert script.requests == []
    with pytest.raises(ValueError, match='"auto", "responses" or "chat"'):
        streamshim.connect("http://a.test", api="completions")  # type: ignore[arg-type]


def test_an_asynchronous_client_is_found_the_same_way() -> None:
    async def find(*answers: Any) -> Any:
        script = Script(*answers, way="async")
        return await streamshim.aconnect(f"http://server-{next(numbers)}.test/v1", http_client=script.http)

    assert isinstance(asyncio.run(find(refuses(400, "no input"))), AsyncResponsesClient)
    assert isinstance(asyncio.run(find(refuses(404, "Not Found"))), streamshim.AsyncChatCompletionsClient)


def test_a_server_that_cannot_be_reached_is_told_by_the_http_client() -> None:
    with pytest.raises((httpx.ConnectError, httpx2.ConnectError)):
        streamshim.connect("http://127.0.0.1:9/v1")


def test_threads_may_share_a_client() -> None:
    with serve_model() as server, ChatCompletionsClient(server.base_url, model="toy") as client:
        together = threading.Barrier(8, timeout=PATIENCE_SECONDS)

        def ask(number: int) -> str:
            together.wait()
            return client.chat(f"Say exactly: {number}").text

        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(ask, range(8))) == [str(number) for number in range(8)]


def test_a_key_is_never_shown() -> None:
    script = Script(chat_answer("Hi"))
    assert "key" not in repr(script.client)
    assert json.dumps(script.bodies) == "[]"
