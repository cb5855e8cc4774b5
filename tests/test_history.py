"""What the next request must carry, whole bodies, and the answers to tool calls."""

from __future__ import annotations

import json
from typing import Any

import pytest

from streamshim import ModelResponse, StreamDecoder, collect, parse
from streamshim.encode import tool_result
from streamshim.encode.replay import replay
from tests.losses import MADE_UP, MADE_UP_TIME, on_chat, on_responses
from tests.reading import decode
from tests.small_streams import DONE, chat, frame
from tests.test_scenarios import SCENARIOS, load


def call(name: str, arguments: str, **more: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {"index": more.pop("index", 0), "id": f"call_{name}", "type": "function", "function": function, **more}


def chat_answer(*deltas: dict[str, Any], finish: str | None = "tool_calls") -> ModelResponse:
    end = [frame(chat({}, finish)), DONE] if finish else []
    return parse(b"".join([*(frame(chat(delta)) for delta in deltas), *end]), errors="event")


def responses_answer(*items: dict[str, Any], status: str = "completed") -> ModelResponse:
    body = {"id": "resp_1", "object": "response", "status": status, "model": "m-1", "output": list(items)}
    return parse(json.dumps(body).encode(), errors="event")


def scenario_answer(name: str) -> ModelResponse:
    scenario = load(name)
    return collect(decode(scenario["pieces"], broken=scenario["drop"], **scenario["options"]))


THOUGHT = {"reasoning_content": "Look it up."}
REASONING = {
    "id": "rs_1",
    "type": "reasoning",
    "summary": [{"type": "summary_text", "text": "Look it up."}],
    "encrypted_content": "gAAAA",
}
MESSAGE = {
    "id": "msg_1",
    "type": "message",
    "status": "completed",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "One moment.", "annotations": [], "logprobs": []}],
    "phase": "commentary",
}
CALL = {
    "id": "fc_1",
    "type": "function_call",
    "status": "completed",
    "call_id": "call_1",
    "name": "look",
    "arguments": '{"at":1}',
}


# -- chat -----------------------------------------------------------------------------------------


def test_thought_goes_back_beside_tool_calls() -> None:
    (message,) = chat_answer(
        THOUGHT, {"content": "One moment."}, {"tool_calls": [call("look", "{}")]}
    ).to_chat_messages()
    assert message == {
        "role": "assistant",
        "content": "One moment.",
        "reasoning_content": "Look it up.",
        "tool_calls": [{"id": "call_look", "type": "function", "function": {"name": "look", "arguments": "{}"}}],
    }


@pytest.mark.parametrize(
    ("reasoning", "with_call", "expected"),
    [
        ("tool_turns", False, None),
        ("tool_turns", True, "Look it up."),
        ("always", False, "Look it up."),
        ("never", True, None),
    ],
)
def test_when_thought_goes_back_can_be_chosen(reasoning: Any, with_call: bool, expected: str | None) -> None:
    calls = {"tool_calls": [call("look", "{}")]} if with_call else {}
    (message,) = chat_answer(THOUGHT, {"content": "Hm.", **calls}, finish="stop").to_chat_messages(reasoning=reasoning)
    assert message.get("reasoning_content") == expected


def test_a_call_without_thought_gets_an_empty_one_only_on_demand() -> None:
    answer = chat_answer({"tool_calls": [call("look", "{}")]})
    assert "reasoning_content" not in answer.to_chat_messages()[0]
    assert answer.to_chat_messages(reasoning="always")[0]["reasoning_content"] == ""


def test_signed_and_encrypted_thought_goes_back_as_it_came() -> None:
    details = [
        {"type": "reasoning.text", "text": "Look it up.", "signature": "sig"},
        {"type": "reasoning.encrypted", "data": "gAAAA"},
    ]
    answer = chat_answer({"reasoning_details": details}, {"tool_calls": [call("look", "{}")]})
    (message,) = answer.to_chat_messages()
    assert message["reasoning_details"] == details


def test_a_signed_call_goes_back_with_its_signature() -> None:
    extra = {"extra_content": {"google": {"thought_signature": "sig"}}}
    (message,) = chat_answer({"tool_calls": [call("look", "{}", **extra)]}).to_chat_messages()
    assert message["tool_calls"][0]["extra_content"] == extra["extra_content"]


def test_a_cut_call_is_left_out_and_whole_ones_stay() -> None:
    answer = chat_answer(
        {"content": "One moment."},
        {"tool_calls": [call("look", '{"at":1}'), call("cut", '{"at"', index=1)]},
        finish="length",
    )
    (message,) = answer.to_chat_messages()
    assert [entry["id"] for entry in message["tool_calls"]] == ["call_look"]


def test_a_cut_answer_owes_no_call_at_all() -> None:
    answer = chat_answer({"content": "One moment."}, {"tool_calls": [call("look", '{"at":1}')]}, finish=None)
    assert answer.to_chat_messages() == [{"role": "assistant", "content": "One moment."}]


def test_nothing_but_thought_carries_nothing() -> None:
    assert chat_answer(THOUGHT, finish="length").to_chat_messages() == []


def test_a_refusal_goes_back_as_one() -> None:
    (message,) = chat_answer({"refusal": "No."}, finish="stop").to_chat_messages()
    assert message == {"role": "assistant", "content": None, "refusal": "No."}


def test_audio_goes_back_by_its_id() -> None:
    (message,) = chat_answer(
        {"audio": {"id": "audio_1", "data": "UklG", "transcript": "hi"}}, finish="stop"
    ).to_chat_messages()
    assert message["audio"] == {"id": "audio_1"}


def test_a_custom_tool_goes_back_as_what_the_next_api_knows() -> None:
    custom = {"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_1", "name": "patch", "input": 'a "b"'}
    (message,) = responses_answer(custom).to_chat_messages()
    function = message["tool_calls"][0]
    assert json.loads(function["function"]["arguments"]) == {"input": 'a "b"'}
    entry = {"index": 0, "id": "call_1", "type": "custom", "custom": {"name": "patch", "input": 'a "b"'}}
    (message,) = chat_answer({"tool_calls": [entry]}).to_chat_messages()
    assert message["tool_calls"] == [{key: value for key, value in entry.items() if key != "index"}]


def test_calls_that_the_vendor_ran_do_not_go_back_on_chat() -> None:
    (message,) = scenario_answer("web_search").to_chat_messages()
    assert "tool_calls" not in message


# -- Responses ------------------------------------------------------------------------------------


def test_items_keep_ids_order_phase_and_encrypted_thought() -> None:
    items = responses_answer(REASONING, MESSAGE, CALL).to_response_items()
    assert [item["id"] for item in items] == ["rs_1", "msg_1", "fc_1"]
    assert {key: items[0][key] for key in REASONING} == REASONING
    assert items[1]["phase"] == "commentary"
    assert "logprobs" not in items[1]["content"][0]
    assert items[2] == CALL


def test_ids_are_stripped_from_all_items_together() -> None:
    items = responses_answer(REASONING, MESSAGE, CALL).to_response_items(keep_ids=False)
    assert not [item for item in items if "id" in item or "status" in item]
    assert items[0] == {key: value for key, value in REASONING.items() if key != "id"}
    assert items[2]["call_id"] == "call_1"


def test_one_missing_id_strips_them_all() -> None:
    items = responses_answer(REASONING, {key: value for key, value in CALL.items() if key != "id"}).to_response_items()
    assert ["id" in item for item in items] == [False, False]


def test_an_answer_of_the_chat_api_goes_back_without_made_up_ids() -> None:
    answer = chat_answer(THOUGHT, {"content": "One moment."}, {"tool_calls": [call("look", "{}")]})
    assert answer.to_response_items() == [
        {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "Look it up."}]},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "One moment.", "annotations": []}],
        },
        {"type": "function_call", "call_id": "call_look", "name": "look", "arguments": "{}"},
    ]


def test_a_cut_call_is_left_out_and_so_is_the_thought_before_it() -> None:
    cut = {**CALL, "status": "incomplete", "arguments": '{"at"'}
    assert responses_answer(REASONING, cut, status="incomplete").to_response_items() == []
    items = responses_answer(REASONING, MESSAGE, cut, status="incomplete").to_response_items()
    assert [item["type"] for item in items] == ["reasoning", "message"]


def test_hosted_calls_go_back_verbatim() -> None:
    answer = scenario_answer("web_search")
    sent = [call.progress[-1].data for call in answer.tool_calls]
    items = answer.to_response_items()
    assert sent
    assert [item for item in items if item["type"] == "web_search_call"] == sent


def test_a_compaction_item_goes_first_and_verbatim() -> None:
    answer = scenario_answer("compaction_before_answer")
    first = answer.to_response_items()[0]
    assert first == next(unknown.data for unknown in answer.unknown if unknown.name == "compaction")


def test_nothing_said_carries_nothing() -> None:
    assert responses_answer().to_response_items() == responses_answer().to_chat_messages() == []


# -- tool results ---------------------------------------------------------------------------------


def test_result_of_a_function_on_either_api() -> None:
    (to_answer,) = chat_answer({"tool_calls": [call("look", "{}")]}).calls_to_answer
    assert tool_result(to_answer, "nine") == {"role": "tool", "tool_call_id": "call_look", "content": "nine"}
    assert tool_result(to_answer, {"hour": 9}, "responses") == {
        "type": "function_call_output",
        "call_id": "call_look",
        "output": '{"hour":9}',
    }


def test_result_may_be_content_parts() -> None:
    (to_answer,) = responses_answer(CALL).calls_to_answer
    parts = [{"type": "input_text", "text": "nine"}]
    assert tool_result(to_answer, parts, "responses")["output"] == parts
    assert tool_result(to_answer, [], "responses")["output"] == "[]"


@pytest.mark.parametrize(
    ("scenario", "output", "expected"),
    [
        ("custom_tool_streamed", "ok", {"type": "custom_tool_call_output", "output": "ok"}),
        ("apply_patch_call", "ok", {"type": "apply_patch_call_output", "output": "ok", "status": "completed"}),
        ("apply_patch_call", {"output": "no", "status": "failed"}, {"output": "no", "status": "failed"}),
        ("computer_call", {"type": "computer_screenshot"}, {"output": {"type": "computer_screenshot"}}),
        ("local_shell_call", "ok", {"type": "local_shell_call_output", "id": "call_1", "output": "ok"}),
        ("mcp_approval_request", True, {"type": "mcp_approval_response", "approve": True}),
        ("shell_call_local", [], {"type": "shell_call_output", "output": []}),
        ("tool_search_client", [], {"type": "tool_search_output", "tools": [], "execution": "client"}),
    ],
)
def test_results_of_hosted_and_custom_tools(scenario: str, output: Any, expected: dict[str, Any]) -> None:
    (to_answer,) = scenario_answer(scenario).calls_to_answer
    result = tool_result(to_answer, output, "responses")
    assert {**result, **expected} == result
    assert to_answer.call_id in result.values()


def test_a_cut_or_handled_call_is_not_answered() -> None:
    cut = chat_answer({"tool_calls": [call("look", '{"at":1}')]}, finish=None).tool_calls[0]
    with pytest.raises(ValueError, match="truncated"):
        tool_result(cut, "nine")
    with pytest.raises(ValueError, match="run by the vendor"):
        tool_result(scenario_answer("web_search").tool_calls[0], "nine", "responses")


def test_an_open_call_is_not_answered() -> None:
    decoder = StreamDecoder()
    events = decoder.feed(frame(chat({"tool_calls": [call("look", '{"at":1}')]})))
    with pytest.raises(ValueError, match="open"):
        tool_result(collect(events).tool_calls[0], "nine")


# -- bodies ---------------------------------------------------------------------------------------

FIXED: dict[str, Any] = {"make_id": lambda prefix: MADE_UP + prefix, "now": lambda: MADE_UP_TIME}


def reread(body: dict[str, Any]) -> list[Any]:
    return decode([json.dumps(body).encode()], reasoning_tags="off")


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_response_says_again_what_it_was_collected_from(name: str) -> None:
    answer = scenario_answer(name)
    again = collect(replay(answer))
    assert again.choices == answer.choices
    assert (again.status, again.usage, again.error) == (answer.status, answer.usage, answer.error)


@pytest.mark.parametrize("name", [name for name in SCENARIOS if load(name)["expect"].get("status") == "completed"])
def test_a_whole_chat_body_says_what_the_stream_said(name: str) -> None:
    answer = scenario_answer(name)
    back, said = on_chat(reread(answer.to_chat_completion(**FIXED))), on_chat(list(replay(answer)))
    for choice in (*back["choices"].values(), *said["choices"].values()):
        choice.pop("order")  # a message has one place for each kind
        choice.pop("logprobs")  # those of a whole body are not read
        choice["calls"] = [entry for entry in choice["calls"] if entry[3] != "truncated"]
    assert back == said


@pytest.mark.parametrize("name", [name for name in SCENARIOS if load(name)["expect"].get("status") == "completed"])
def test_a_whole_response_body_says_what_the_stream_said(name: str) -> None:
    answer = scenario_answer(name)
    back, said = on_responses(reread(answer.to_response(**FIXED))), on_responses(list(replay(answer)))
    for parts in (back["parts"], said["parts"]):
        parts[:] = [part[:4] if part[0] == "text" else part for part in parts]  # log probabilities are not read
    sounds = said.pop("sounds")
    assert back.pop("sounds") == ["", ""] or sounds == ["", ""]  # audio has no place in the object
    assert back == said


def test_bodies_speak_under_another_name() -> None:
    answer = chat_answer({"content": "hi"}, finish="stop")
    body = answer.to_chat_completion(model="house-model", response_id="chatcmpl-x")
    assert (body["id"], body["model"], body["object"]) == ("chatcmpl-x", "house-model", "chat.completion")
    response = answer.to_response(model="house-model", request={"temperature": 0.2, "input": "x"})
    assert (response["model"], response["temperature"], "input" in response) == ("house-model", 0.2, False)


@pytest.mark.parametrize(("name", "status"), [("cut_mid_text", "truncated"), ("failed_mid_text", "failed")])
def test_half_an_answer_never_passes_for_a_whole_body(name: str, status: str) -> None:
    answer = scenario_answer(name)
    assert answer.status == status
    body = answer.to_chat_completion()
    assert [choice["finish_reason"] for choice in body["choices"]] == [None]
    assert body["error"]["message"]
    assert answer.to_response()["status"] == "failed"
    assert reread(body)[-1].status == status


def test_bodies_keep_log_probabilities_and_sources() -> None:
    token = {"token": "hi", "logprob": -0.5, "bytes": [104, 105], "top_logprobs": []}
    source = {"url": "https://e.example", "title": "T", "start_index": 0, "end_index": 2}
    chunk = chat({"content": "hi", "annotations": [{"type": "url_citation", "url_citation": source}]})
    chunk["choices"][0]["logprobs"] = {"content": [token]}
    answer = parse(b"".join([frame(chunk), frame(chat({}, "stop")), DONE]))
    choice = answer.to_chat_completion()["choices"][0]
    assert choice["logprobs"] == {"content": [token], "refusal": None}
    assert choice["message"]["annotations"] == [{"type": "url_citation", "url_citation": source}]
    part = answer.to_response()["output"][0]["content"][0]
    assert part["logprobs"] == [token]
    assert {key: part["annotations"][0][key] for key in source} == source


def test_a_body_leaves_cut_calls_out() -> None:
    answer = chat_answer({"tool_calls": [call("look", '{"at"')]}, finish="length")
    message = answer.to_chat_completion()["choices"][0]["message"]
    assert "tool_calls" not in message


def test_a_running_response_is_in_progress() -> None:
    events = StreamDecoder().feed(frame(chat({"content": "hi"})))
    running = collect(events)
    assert running.to_response()["status"] == "in_progress"
    assert running.to_chat_completion()["choices"][0]["finish_reason"] is None


def test_a_null_in_the_request_stands_for_the_default() -> None:
    answer = chat_answer({"content": "hi"}, finish="stop")
    response = answer.to_response(request={"temperature": None, "instructions": None, "max_output_tokens": 9})
    assert (response["temperature"], response["instructions"], response["max_output_tokens"]) == (1.0, None, 9)
