"""The exchange of a request and its answer between the APIs, without any I/O."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable
from typing import Any

import pytest

from streamshim import ConversationStore
from streamshim.bridge import Bridge, Exchange, Reply
from streamshim.wire_order import wire_breaches
from tests.relaying import payloads_in
from tests.small_streams import DONE, frame

ANNA, BERT = {"authorization": "Bearer anna"}, {"authorization": "Bearer bert"}
PATCH = {"type": "custom", "name": "apply_patch", "description": "Edit files"}
TEXT = '*** Begin Patch\n+say "hi" 🦊\n*** End Patch'


def chunk(delta: dict[str, Any], finish: str | None = None, **members: Any) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return frame({"id": "chatcmpl-1", "model": "toy-1", "created": 5, "choices": [choice], **members})


def text_answer(text: str) -> list[bytes]:
    return [*(chunk({"content": word}) for word in text.split(" ")), chunk({}, "stop"), DONE]


def call_answer(name: str, arguments: str, size: int = 5) -> list[bytes]:
    pieces = [arguments[at : at + size] for at in range(0, len(arguments), size)]
    head = {"index": 0, "id": "call_1", "type": "function", "function": {"name": name, "arguments": ""}}
    return [
        chunk({"tool_calls": [head]}),
        *(chunk({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}) for piece in pieces),
        chunk({}, "tool_calls"),
        DONE,
    ]


def ask(bridge: Bridge, headers: dict[str, str] | None = None, **request: Any) -> Exchange | Reply:
    body = json.dumps({"model": "toy", "input": "x", **request}).encode()
    return bridge.receive("POST", "/v1/responses", {}, headers or ANNA, body)


def about(bridge: Bridge, method: str, path: str, headers: dict[str, str] | None = None, **query: str) -> Any:
    answer = bridge.receive(method, f"/v1/responses{path}", query, headers or ANNA, b"")
    assert isinstance(answer, Reply)
    return answer.status, json.loads(answer.body)


def streamed(exchange: Exchange | Reply, pieces: Iterable[bytes], error: Exception | None = None) -> list[Any]:
    """The events that a caller reads; their order is legal."""
    assert isinstance(exchange, Exchange)
    given = [exchange.relay.feed(piece) for piece in pieces]
    body = b"".join([*given, exchange.relay.close(error)])
    assert wire_breaches(body) == []
    return [payload for payload in payloads_in(body) if payload != "[DONE]"]


def answered(bridge: Bridge, pieces: Iterable[bytes], headers: dict[str, str] | None = None, **request: Any) -> Any:
    """The response that a streamed answer ends with."""
    return streamed(ask(bridge, headers, stream=True, **request), pieces)[-1]["response"]


def error_of(answer: Exchange | Reply) -> tuple[int, dict[str, Any]]:
    assert isinstance(answer, Reply)
    return answer.status, json.loads(answer.body)["error"]


@pytest.fixture
def bridge() -> Bridge:
    return Bridge("responses")


# -- requests ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("speak", "method", "path", "takes"),
    [
        ("responses", "POST", "/v1/responses", True),
        ("responses", "POST", "/openai/v1/responses/", True),
        ("responses", "GET", "/v1/responses/resp_1", True),
        ("responses", "GET", "/v1/responses/resp_1/input_items", True),
        ("responses", "POST", "/v1/chat/completions", False),
        ("responses", "GET", "/v1/models", False),
        ("responses", "POST", "/v1/responses_of_mine", False),
        ("chat", "POST", "/v1/chat/completions", True),
        ("chat", "GET", "/v1/chat/completions", False),
        ("chat", "POST", "/v1/responses", False),
    ],
)
def test_only_requests_of_the_spoken_api_are_taken(speak, method, path, takes):
    assert Bridge(speak).takes(method, path) is takes


def test_request_goes_to_the_other_path_of_the_same_address(bridge):
    exchange = bridge.receive("POST", "/api/paas/v4/responses", {}, {}, b'{"model": "m", "input": "x"}')
    assert exchange.path == "/api/paas/v4/chat/completions"
    assert json.loads(exchange.body) == {"model": "m", "messages": [{"role": "user", "content": "x"}]}
    chat = json.dumps({"model": "m", "messages": [{"role": "user", "content": "x"}]}).encode()
    assert Bridge("chat").receive("POST", "/v1/chat/completions", {}, {}, chat).path == "/v1/responses"


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff"])
def test_body_that_is_no_object_is_refused(bridge, body):
    status, error = error_of(bridge.receive("POST", "/v1/responses", {}, {}, body))
    assert (status, error["type"], error["param"]) == (400, "invalid_request_error", "body")


@pytest.mark.parametrize(
    ("request_", "param", "code"),
    [
        ({"tools": [{"type": "web_search"}]}, "tools[0]", "unsupported_value"),
        ({"tools": [{"type": "file_search", "vector_store_ids": []}]}, "tools[0]", "unsupported_value"),
        ({"tools": [{"type": "code_interpreter"}]}, "tools[0]", "unsupported_value"),
        ({"tools": [{"type": "mcp"}]}, "tools[0]", "unsupported_value"),
        ({"tools": [{"type": "computer"}]}, "tools[0]", "unsupported_value"),
        ({"tools": [{"type": "image_generation"}]}, "tools[0]", "unsupported_value"),
        ({"background": True}, "background", "unsupported_value"),
        ({"conversation": "conv_1"}, "conversation", "unsupported_parameter"),
        ({"prompt": {"id": "pmpt_1"}}, "prompt", "unsupported_parameter"),
        ({"context_management": [{"type": "compaction"}]}, "context_management", "unsupported_value"),
    ],
)
def test_what_cannot_be_had_is_refused_by_name(bridge, request_, param, code):
    status, error = error_of(ask(bridge, **request_))
    assert (status, error["type"], error["param"], error["code"]) == (400, "invalid_request_error", param, code)
    thing = request_.get("tools", [{"type": param}])[0]["type"]
    assert thing in error["message"]


@pytest.mark.parametrize("path", ["/compact", "/input_tokens", "/resp_1/cancel"])
def test_endpoints_that_cannot_be_had_are_refused_by_name(bridge, path):
    status, body = about(bridge, "POST", path)
    assert (status, body["error"]["param"]) == (400, path.rpartition("/")[2])
    assert body["error"]["code"] == "unsupported_parameter"


def test_hosted_tools_are_left_out_on_request():
    exchange = ask(Bridge("responses", options={"hosted_tools": "leave_out"}), tools=[{"type": "web_search"}])
    assert isinstance(exchange, Exchange)
    assert "tools" not in json.loads(exchange.body)
    assert [entry.param for entry in exchange.left_out] == ["tools[0]"]


def test_option_with_an_unknown_word_is_refused():
    with pytest.raises(ValueError, match="hosted_tools='maybe'"):
        Bridge("responses", options={"hosted_tools": "maybe"})  # type: ignore[typeddict-item]
    with pytest.raises(ValueError, match="speak='both'"):
        Bridge("both")  # type: ignore[arg-type]


# -- refusals that can be mended --------------------------------------------------------------------------------------


def refused(exchange: Exchange | Reply, message: str, status: int = 400) -> bool:
    assert isinstance(exchange, Exchange)
    return exchange.amend(status, json.dumps({"error": {"message": message}}).encode())


def test_refused_member_that_changes_no_answer_is_left_out(bridge):
    exchange = ask(bridge, stream=True, prompt_cache_key="k", service_tier="flex", temperature=1)
    assert refused(exchange, "Unknown field: prompt_cache_key")
    assert refused(exchange, "stream_options: Extra inputs are not permitted", 422)
    assert json.loads(exchange.body) == {
        "model": "toy",
        "messages": [{"role": "user", "content": "x"}],
        "stream": True,
        "service_tier": "flex",
        "temperature": 1,
    }
    assert [entry.param for entry in exchange.left_out] == ["prompt_cache_key", "stream_options"]


def test_refusal_that_names_nothing_is_answered_by_leaving_out_all_that_may_be(bridge):
    exchange = ask(bridge, stream=True, prompt_cache_key="k")
    assert refused(exchange, "Extra inputs are not permitted", 422)
    assert json.loads(exchange.body).keys() == {"model", "messages", "stream"}
    assert not refused(exchange, "Extra inputs are not permitted", 422)


def test_limit_goes_under_the_name_that_the_vendor_wants(bridge):
    exchange = ask(bridge, max_output_tokens=7)
    assert refused(exchange, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
    assert json.loads(exchange.body)["max_completion_tokens"] == 7


@pytest.mark.parametrize(
    ("status", "message"), [(400, "temperature must be at most 1"), (401, "no"), (429, "stream_options"), (500, "x")]
)
def test_other_refusals_stand(bridge, status, message):
    assert not refused(ask(bridge, stream=True, temperature=2), message, status)
    assert not refused(ask(bridge, tools=[], parallel_tool_calls=False), "parallel_tool_calls")


# -- answers ----------------------------------------------------------------------------------------------------------


def test_streamed_answer_is_a_complete_sequence_of_events(bridge):
    usage = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
    pieces = [chunk({"reasoning_content": "hm"}), *text_answer("High water")[:-1], chunk({}, None, usage=usage), DONE]
    events = streamed(ask(bridge, stream=True), pieces)
    assert [event["type"] for event in events][:2] == ["response.created", "response.in_progress"]
    final = events[-1]["response"]
    assert events[-1]["type"] == "response.completed"
    assert [item["type"] for item in final["output"]] == ["reasoning", "message"]
    assert final["output"][1]["content"][0]["text"] == "Highwater"
    assert final["usage"]["total_tokens"] == 5
    assert {event["response"]["id"] for event in events if "response" in event} == {final["id"]}


def test_response_shows_what_was_asked(bridge):
    tool = {"type": "function", "name": "weather", "parameters": {}, "strict": True}
    asked: dict[str, Any] = {
        "instructions": "Be brief.",
        "temperature": 0.5,
        "top_p": 0.9,
        "metadata": {"a": "b"},
        "tools": [tool],
        "tool_choice": "required",
        "parallel_tool_calls": False,
        "reasoning": {"effort": "low", "summary": "auto"},
        "text": {"verbosity": "low"},
        "max_output_tokens": 7,
        "truncation": "auto",
        "prompt_cache_key": "k",
        "safety_identifier": "s",
    }
    final = answered(bridge, text_answer("ok"), ANNA, **asked)
    assert {name: final[name] for name in asked} == {
        **asked,
        "text": {"format": {"type": "text"}, "verbosity": "low"},
    }
    assert (final["store"], final["previous_response_id"], final["model"]) == (True, None, "toy-1")


def test_model_that_the_answer_does_not_name_is_the_one_that_was_asked(bridge):
    nameless = [frame({"choices": [{"index": 0, "delta": {"content": "ok"}, "finish_reason": "stop"}]}), DONE]
    assert answered(bridge, nameless)["model"] == "toy"


def test_every_response_has_an_id_of_its_own_whatever_the_vendor_says(bridge):
    first, second = answered(bridge, text_answer("one")), answered(bridge, text_answer("two"))
    assert first["id"] != second["id"]
    assert first["id"].startswith("resp_")


def test_whole_answer_is_a_response(bridge):
    whole = {
        "id": "c",
        "object": "chat.completion",
        "model": "toy-1",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hello"}, "finish_reason": "length"}],
    }
    exchange = ask(bridge)
    assert isinstance(exchange, Exchange)
    reply = exchange.whole(json.dumps(whole).encode())
    body = json.loads(reply.body)
    assert (reply.status, body["object"], body["status"]) == (200, "response", "incomplete")
    assert body["incomplete_details"] == {"reason": "max_output_tokens"}
    assert body["output"][0]["content"][0]["text"] == "Hello"


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        (b'{"base_resp": {"status_code": 1004, "status_msg": "login fail"}}', 502, "login fail"),
        (b'{"error": {"message": "slow down", "code": 429}}', 429, "slow down"),
        (b"<html>oops</html>", 502, "oops"),
        (b'{"choices": [{"message": {"content": "Hal', 502, "ended before"),
        (b"", 502, "ended before"),
    ],
)
def test_whole_answer_that_is_none_is_an_error(bridge, body, status, message):
    exchange = ask(bridge)
    assert isinstance(exchange, Exchange)
    got, error = error_of(exchange.whole(body))
    assert got == status
    assert message in error["message"]


def test_error_of_the_server_keeps_its_status_and_what_it_says(bridge):
    exchange = ask(bridge)
    assert isinstance(exchange, Exchange)
    status, error = error_of(exchange.refused(429, {}, b'{"code": "1302", "msg": "too many requests"}'))
    assert (status, error["message"], error["code"], error["type"]) == (
        *(429, "too many requests", "1302", "rate_limit_error"),
    )
    status, error = error_of(exchange.refused(503, {}, b"<html>maintenance</html>"))
    assert (status, error["type"]) == (503, "server_error")


def test_error_in_the_stream_fails_the_response(bridge):
    pieces = [chunk({"content": "Hel"}), frame({"error": {"message": "on fire", "code": "boom"}})]
    last = streamed(ask(bridge, stream=True), pieces)[-1]
    assert (last["type"], last["response"]["error"]) == ("response.failed", {"code": "boom", "message": "on fire"})


@pytest.mark.parametrize("error", [None, ConnectionError("gone")])
def test_cut_stream_fails_the_response(bridge, error):
    last = streamed(ask(bridge, stream=True), [chunk({"content": "Hel"})], error)[-1]
    assert (last["type"], last["response"]["error"]["code"]) == ("response.failed", "stream_truncated")
    assert last["response"]["output"][0]["content"][0]["text"] == "Hel"


def test_answer_is_over_at_done_though_the_connection_stays_open(bridge):
    exchange = ask(bridge, stream=True)
    assert isinstance(exchange, Exchange)
    given = b"".join(exchange.relay.feed(piece) for piece in text_answer("ok"))
    assert b"response.completed" in given
    assert exchange.relay.is_over


# -- custom tools and namespaces --------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize("arguments", [json.dumps({"input": TEXT}), json.dumps({"input": TEXT}, ensure_ascii=False)])
def test_function_that_stands_for_a_custom_tool_is_called_as_one(bridge, size, arguments):
    events = streamed(ask(bridge, stream=True, tools=[PATCH]), call_answer("apply_patch", arguments, size))
    deltas = [event["delta"] for event in events if event["type"] == "response.custom_tool_call_input.delta"]
    assert "".join(deltas) == TEXT
    assert len(deltas) > 1 or size == 1000
    (item,) = events[-1]["response"]["output"]
    assert (item["type"], item["name"], item["call_id"], item["input"]) == (
        *("custom_tool_call", "apply_patch", "call_1", TEXT),
    )


@pytest.mark.parametrize(
    "arguments", [TEXT, json.dumps({"patch": TEXT}), json.dumps(TEXT)], ids=["text", "another name", "string"]
)
def test_input_of_a_custom_tool_is_found_however_the_model_wrote_it(bridge, arguments):
    (item,) = answered(bridge, call_answer("apply_patch", arguments), tools=[PATCH])["output"]
    assert (item["type"], item["input"]) == ("custom_tool_call", TEXT)


def test_cut_call_of_a_custom_tool_is_never_done(bridge):
    pieces = call_answer("apply_patch", json.dumps({"input": TEXT}))[:6]
    events = streamed(ask(bridge, stream=True, tools=[PATCH]), pieces)
    assert "response.output_item.done" not in [event["type"] for event in events]
    (item,) = events[-1]["response"]["output"]
    assert (item["status"], TEXT.startswith(item["input"])) == ("incomplete", True)


def test_other_functions_stay_functions(bridge):
    tools = [PATCH, {"type": "function", "name": "weather", "parameters": {}}]
    (item,) = answered(bridge, call_answer("weather", '{"input": "x"}'), tools=tools)["output"]
    assert (item["type"], item["arguments"]) == ("function_call", '{"input": "x"}')


def test_tools_of_a_namespace_are_called_by_the_names_that_they_were_declared_with(bridge):
    read = {"type": "function", "name": "read", "parameters": {}}
    tools = [{"type": "namespace", "name": "files", "tools": [read, PATCH]}]
    (item,) = answered(bridge, call_answer("files__read", "{}"), tools=tools)["output"]
    assert (item["type"], item["namespace"], item["name"]) == ("function_call", "files", "read")
    (item,) = answered(bridge, call_answer("files__apply_patch", '{"input": "x"}'), tools=tools)["output"]
    assert (item["type"], item["namespace"], item["name"], item["input"]) == (
        *("custom_tool_call", "files", "apply_patch", "x"),
    )


# -- state ------------------------------------------------------------------------------------------------------------


def messages_of(exchange: Exchange | Reply) -> list[str]:
    assert isinstance(exchange, Exchange)
    return [message["content"] for message in json.loads(exchange.body)["messages"]]


def test_response_is_continued_by_its_id_over_three_turns(bridge):
    first = answered(bridge, text_answer("one"), input="1", instructions="Be brief.")
    second = answered(bridge, text_answer("two"), input="2", previous_response_id=first["id"])
    assert second["previous_response_id"] == first["id"]
    third = ask(bridge, input="3", previous_response_id=second["id"])
    assert messages_of(third) == ["1", "one", "2", "two", "3"]
    fork = ask(bridge, input="other", previous_response_id=first["id"])
    assert messages_of(fork) == ["1", "one", "other"]


def test_response_can_be_continued_as_soon_as_its_end_is_read(bridge):
    exchange = ask(bridge, stream=True)
    assert isinstance(exchange, Exchange)
    for piece in text_answer("one"):
        if b"response.completed" in (given := exchange.relay.feed(piece)):
            response_id = payloads_in(given)[-2]["response"]["id"]
            assert messages_of(ask(bridge, previous_response_id=response_id)) == ["x", "one", "x"]
            return
    pytest.fail("the answer never ended")


def test_tool_results_find_their_calls_in_the_stored_response(bridge):
    tools = [PATCH]
    first = answered(bridge, call_answer("apply_patch", json.dumps({"input": "x"})), tools=tools)
    result = {"type": "custom_tool_call_output", "call_id": "call_1", "output": "done"}
    exchange = ask(bridge, input=[result], previous_response_id=first["id"], tools=tools)
    assert isinstance(exchange, Exchange)
    messages = json.loads(exchange.body)["messages"]
    assert messages[1]["tool_calls"][0]["function"] == {"name": "apply_patch", "arguments": '{"input":"x"}'}
    assert messages[2] == {"role": "tool", "tool_call_id": "call_1", "content": "done"}


def test_id_that_is_unknown_or_another_callers_is_not_found(bridge):
    first = answered(bridge, text_answer("one"))
    for headers, response_id in ((ANNA, "resp_unknown"), (BERT, first["id"]), ({}, first["id"])):
        status, error = error_of(ask(bridge, headers or {"x": "y"}, previous_response_id=response_id))
        assert (status, error["param"], error["code"]) == (
            *(400, "previous_response_id", "previous_response_not_found"),
        )
    for headers in (BERT, {"api-key": "anna"}):
        assert about(bridge, "GET", f"/{first['id']}", headers)[0] == 404
        assert about(bridge, "DELETE", f"/{first['id']}", headers)[0] == 404
    assert about(bridge, "GET", f"/{first['id']}")[0] == 200


def test_conversation_key_takes_the_place_of_the_credentials():
    store = ConversationStore()
    team = Bridge("responses", store=store, options={"conversation_key": "team"})
    first = answered(team, text_answer("one"), ANNA)
    assert isinstance(ask(team, BERT, previous_response_id=first["id"]), Exchange)
    assert store.get("team", first["id"]) is not None


def test_credentials_are_not_in_the_store(tmp_path):
    path = tmp_path / "store.db"
    with ConversationStore(path) as store:
        answered(Bridge("responses", store=store), text_answer("one"), {"authorization": "Bearer sk-secret"})
        files = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert b"resp_" in files
    assert b"sk-secret" not in files


def test_response_that_is_not_to_be_stored_is_not(bridge):
    first = answered(bridge, text_answer("one"), store=False)
    assert first["store"] is False
    assert about(bridge, "GET", f"/{first['id']}")[0] == 404


@pytest.mark.parametrize("pieces", [[chunk({"content": "Hel"})], [frame({"error": "on fire"})]], ids=["cut", "failed"])
def test_answer_that_failed_or_was_cut_cannot_be_continued(bridge, pieces):
    final = answered(bridge, pieces)
    assert error_of(ask(bridge, previous_response_id=final["id"]))[0] == 400


def test_stored_response_is_had_whole_and_deleted(bridge):
    final = answered(bridge, text_answer("one"), metadata={"a": "b"})
    assert about(bridge, "GET", f"/{final['id']}") == (200, final)
    assert about(bridge, "GET", f"/{final['id']}", stream="true")[1]["error"]["param"] == "stream"
    deleted = {"id": final["id"], "object": "response", "deleted": True}
    assert about(bridge, "DELETE", f"/{final['id']}") == (200, deleted)
    status, body = about(bridge, "GET", f"/{final['id']}")
    assert (status, body["error"]["code"]) == (404, "response_not_found")
    assert final["id"] in body["error"]["message"]


def test_input_items_of_a_stored_response_come_in_pages(bridge):
    said = [{"role": "user", "content": str(number)} for number in range(5)]
    response_id = answered(bridge, text_answer("one"), input=said)["id"]

    def page(**query: str) -> Any:
        return about(bridge, "GET", f"/{response_id}/input_items", ANNA, **query)[1]

    whole = page()
    assert [item["content"][0]["text"] for item in whole["data"]] == ["4", "3", "2", "1", "0"]
    assert whole["has_more"] is False
    assert all(item["id"] and item["type"] == "message" for item in whole["data"])
    first = page(limit="2", order="asc")
    assert ([item["content"][0]["text"] for item in first["data"]], first["has_more"]) == (["0", "1"], True)
    second = page(limit="2", order="asc", after=first["last_id"])
    assert [item["content"][0]["text"] for item in second["data"]] == ["2", "3"]
    assert about(bridge, "GET", f"/{response_id}/input_items", limit="0")[0] == 400
    assert about(bridge, "GET", "/resp_unknown/input_items")[0] == 404


def test_items_can_be_referred_to_by_their_ids(bridge):
    final = answered(bridge, text_answer("one"), input="1")
    (asked,) = about(bridge, "GET", f"/{final['id']}/input_items")[1]["data"]
    references = [{"type": "item_reference", "id": item["id"]} for item in (asked, *final["output"])]
    exchange = ask(bridge, input=[*references, {"role": "user", "content": "2"}])
    assert messages_of(exchange) == ["1", "one", "2"]
    again = {"type": "item_reference", "id": "msg_unknown"}
    for headers, reference in ((ANNA, again), (BERT, references[0])):
        status, error = error_of(ask(bridge, headers, input=[reference]))
        assert (status, error["param"]) == (400, "input[0].id")


def test_store_that_is_full_costs_no_answer(caplog):
    bridge = Bridge("responses", store=ConversationStore(max_bytes=10))
    with caplog.at_level(logging.WARNING, "streamshim"):
        final = answered(bridge, text_answer("one"))
    assert final["status"] == "completed"
    assert "could not be stored" in caplog.text


# -- the other way ----------------------------------------------------------------------------------------------------


def ask_chat(**request: Any) -> Exchange:
    body = {"model": "toy", "messages": [{"role": "user", "content": "x"}], **request}
    exchange = Bridge("chat").receive("POST", "/v1/chat/completions", {}, {}, json.dumps(body).encode())
    assert isinstance(exchange, Exchange)
    return exchange


def response_events(answer: str) -> list[bytes]:
    """A Responses stream, as it is written for the answer of a chat model."""
    exchange = ask(Bridge("responses"), stream=True)
    assert isinstance(exchange, Exchange)
    return [exchange.relay.feed(piece) for piece in text_answer(answer)]


def test_answer_of_a_responses_server_is_a_chat_stream():
    chunks = streamed(ask_chat(stream=True), response_events("High water"))
    text = "".join(choice["delta"].get("content") or "" for each in chunks for choice in each["choices"])
    assert text == "Highwater"
    assert chunks[-1]["choices"][0]["finish_reason"] == "stop"


def test_token_counts_come_if_they_were_asked_for():
    usage = {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5}
    body = {"id": "resp_1", "object": "response", "status": "completed", "model": "m", "output": [], "usage": usage}
    events = [frame({"type": "response.created", "response": {**body, "usage": None, "status": "in_progress"}})]
    events.append(frame({"type": "response.completed", "response": body}))
    asks = ask_chat(stream=True, stream_options={"include_usage": True})
    assert "stream_options" not in json.loads(asks.body)
    assert streamed(asks, events)[-1]["usage"]["total_tokens"] == 5
    assert all("usage" not in each for each in streamed(ask_chat(stream=True), events))
    whole = json.loads(ask_chat().whole(json.dumps(body).encode()).body)
    assert (whole["object"], whole["usage"]["total_tokens"]) == ("chat.completion", 5)


def test_failure_of_a_responses_server_is_an_error_of_the_chat_wire():
    failed = {"id": "r", "object": "response", "status": "failed", "error": {"code": "boom", "message": "on fire"}}
    events = [frame({"type": "response.failed", "response": failed})]
    assert streamed(ask_chat(stream=True), events)[-1]["error"]["message"] == "on fire"
    status, error = error_of(ask_chat().whole(json.dumps(failed).encode()))
    assert (status, error["message"], error["code"]) == (502, "on fire", "boom")


def test_custom_tools_of_the_chat_wire_are_called_in_its_own_form():
    call = {"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_1", "name": "p", "input": "x"}
    body = {"id": "r", "object": "response", "status": "completed", "output": [{**call, "status": "completed"}]}
    raw = json.dumps(body).encode()
    declared = ask_chat(tools=[{"type": "custom", "custom": {"name": "p"}}])
    (made,) = json.loads(declared.whole(raw).body)["choices"][0]["message"]["tool_calls"]
    assert made == {"id": "call_1", "type": "custom", "custom": {"name": "p", "input": "x"}}


@pytest.mark.parametrize(
    ("member", "param"), [({"n": 2}, "n"), ({"stop": "x"}, "stop"), ({"messages": []}, "messages")]
)
def test_what_a_responses_server_cannot_be_asked_is_refused(member, param):
    body = {"model": "toy", "messages": [{"role": "user", "content": "x"}], **member}
    answer = Bridge("chat").receive("POST", "/v1/chat/completions", {}, {}, json.dumps(body).encode())
    status, error = error_of(answer)
    assert (status, error["param"]) == (400, param)
