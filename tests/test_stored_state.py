"""Who keeps the conversation, and what is done once the server turns out not to."""

from __future__ import annotations

import json
from typing import Any

import pytest

from streamshim import Conversation, ErrorInfo, ModelResponse, StoredState, check_input, parse, read_error
from tests.test_history import CALL, MESSAGE, REASONING, call, chat_answer


def answered(
    *output: dict[str, Any],
    id: str = "resp_1",
    echo: str | None = None,
    tokens: tuple[int, int] | None = None,
    **more: Any,
) -> ModelResponse:
    """A response; `tokens` are those of its input and output."""
    usage = {"input_tokens": tokens[0], "output_tokens": tokens[1], **more.pop("usage", {})} if tokens else None
    body = {"id": id, "object": "response", "status": "completed", "previous_response_id": echo, "usage": usage, **more}
    return parse(json.dumps({**body, "output": list(output) or [MESSAGE]}).encode(), errors="event")


def begun(first: ModelResponse | None = None) -> Conversation:
    conversation = Conversation("ann", "Be brief.")
    conversation.user("Hi")
    conversation.answer(first or answered(REASONING, MESSAGE, tokens=(100, 40)))
    conversation.user("And then?")
    return conversation


def texts(request: dict[str, Any]) -> list[str]:
    return [part["text"] for item in request["input"] if item["type"] == "message" for part in item["content"]]


WHOLE = ["Hi", "One moment.", "And then?"]


# -- what is sent -----------------------------------------------------------------------------------------------------


def test_the_first_request_is_whole() -> None:
    conversation = Conversation()
    conversation.user("Hi")
    assert list(StoredState().request(conversation)) == ["input"]


@pytest.mark.parametrize("state", ["auto", "server"])
def test_later_requests_carry_what_is_new(state: Any) -> None:
    request = StoredState(state).request(begun())
    assert request["previous_response_id"] == "resp_1"
    assert texts(request) == ["And then?"]


def test_a_client_that_keeps_the_state_sends_it_all_without_ids() -> None:
    request = StoredState("client").request(begun())
    assert list(request) == ["input"]
    assert texts(request) == WHOLE
    assert not any("id" in item for item in request["input"])


def test_results_of_tools_are_new() -> None:
    conversation = Conversation()
    conversation.user("Hi")
    conversation.answer(answered(REASONING, CALL))
    conversation.tool_result("call_1", "nine")
    request = StoredState().request(conversation)
    assert request["input"] == [{"type": "function_call_output", "call_id": "call_1", "output": "nine"}]
    assert check_input(request["input"], "responses", continued=True) == []


@pytest.mark.parametrize(
    "later",
    [
        chat_answer({"content": "elsewhere"}, finish="stop"),
        answered({**MESSAGE, "content": [{"type": "output_text", "text": "elsewhere"}]}, id="resp_2", status="failed"),
    ],
)
def test_what_the_server_cannot_have_kept_is_new_as_well(later: ModelResponse) -> None:
    conversation = begun()
    conversation.answer(later)
    conversation.user("Go on")
    request = StoredState().request(conversation)
    assert request["previous_response_id"] == "resp_1"
    assert texts(request) == ["And then?", "elsewhere", "Go on"]


def test_a_renamed_call_keeps_its_name_behind_the_answer() -> None:
    conversation = Conversation()
    conversation.answer(chat_answer({"tool_calls": [call("look", "{}")]}))
    conversation.tool_result("call_look", "one")
    conversation.answer(answered({**CALL, "call_id": "call_look"}))
    conversation.tool_result("call_look", "two")
    (result,) = StoredState().request(conversation)["input"]
    assert result["call_id"] == "call_look"  # the server knows it by no other name


@pytest.mark.parametrize("state", ["", "both", None])
def test_another_word_is_refused(state: Any) -> None:
    with pytest.raises(ValueError, match='"auto", "server" or "client"'):
        StoredState(state)


# -- refused ----------------------------------------------------------------------------------------------------------

REFUSALS = [
    (
        400,
        {
            "error": {
                "code": "previous_response_not_found",
                "param": "previous_response_id",
                "message": "Previous response with id 'resp_1' not found.",
                "type": "invalid_request_error",
            }
        },
    ),
    (400, {"type": "error", "status": 400, "error": {"code": "previous_response_not_found", "message": "gone"}}),
    (404, {"error": {"message": "Response with id 'resp_1' not found.", "type": "invalid_request_error", "code": 404}}),
    (
        400,
        {
            "error": {
                "message": "Unknown parameter: 'previous_response_id'.",
                "param": "previous_response_id",
                "code": "unknown_parameter",
            }
        },
    ),
    (422, {"detail": "previous_response_id is not supported"}),
    (400, {"error": {"message": "Invalid value.", "param": "previous_response_id"}}),
]


@pytest.mark.parametrize(("status", "body"), REFUSALS)
def test_an_id_that_the_server_refuses_is_told_once_and_all_is_sent_from_then_on(status: int, body: Any) -> None:
    state, conversation = StoredState(), begun()
    state.request(conversation)
    record = state.learn(read_error(status, None, json.dumps(body).encode()))
    assert (record.reason, record.response_id, record.type) == ("refused", "resp_1", "state_fallback")
    assert record.detail
    request = state.request(conversation)
    assert "previous_response_id" not in request
    assert texts(request) == WHOLE
    assert state.learn(answered(id="resp_2")) is None
    assert "previous_response_id" not in state.request(conversation)
    assert state.fallback is record


def test_a_server_that_does_not_know_the_call_of_a_result_does_not_know_the_conversation() -> None:
    conversation = Conversation()
    conversation.user("Hi")
    conversation.answer(answered(CALL))
    conversation.tool_result("call_1", "nine")
    state = StoredState()
    state.request(conversation)
    said = "No tool call found for function call output with call_id call_1."
    assert state.learn(ErrorInfo("vendor", said, status=400)).reason == "refused"
    assert [item["type"] for item in state.request(conversation)["input"]][1:] == [
        "function_call",
        "function_call_output",
    ]
    other = StoredState()
    other.request(conversation)
    assert other.learn(ErrorInfo("vendor", said.replace("call_1", "call_2"), status=400)) is None


def test_an_id_refused_inside_a_stream_is_told_as_well() -> None:
    state = StoredState()
    state.request(begun())
    error = {"code": "previous_response_not_found", "message": "Previous response not found."}
    assert state.learn(answered(status="failed", error=error, output=[])).reason == "refused"


@pytest.mark.parametrize(
    "error",
    [
        ErrorInfo("vendor", "slow down", status=429),
        ErrorInfo("vendor", "no such page", status=404),
        ErrorInfo("vendor", "Unknown parameter: 'verbosity'.", code="unknown_parameter", param="verbosity"),
    ],
)
def test_other_errors_teach_nothing(error: ErrorInfo) -> None:
    state, conversation = StoredState(), begun()
    state.request(conversation)
    assert state.learn(error) is None
    assert state.request(conversation)["previous_response_id"] == "resp_1"


def test_an_error_about_what_was_not_sent_teaches_nothing() -> None:
    state = StoredState("client")
    state.request(begun())
    assert state.learn(ErrorInfo("vendor", "gone", code="previous_response_not_found")) is None


def test_a_server_that_is_told_to_keep_it_goes_on_being_asked_and_the_record_is_a_warning() -> None:
    state, conversation = StoredState("server"), begun()
    state.request(conversation)
    assert state.learn(answered(id="resp_2", tokens=(12, 4))).reason == "forgotten"
    assert state.request(conversation)["previous_response_id"] == "resp_1"
    assert state.learn(answered(id="resp_2", tokens=(12, 4))) is None


# -- accepted, and forgotten ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("echo", "tokens", "forgotten"),
    [
        ("resp_1", (150, 5), False),  # said and done
        (None, (150, 5), False),  # not said, but counted
        ("resp_1", None, False),  # said, and nothing counted
        (None, None, True),  # neither
        ("resp_0", None, True),  # another one
        (None, (12, 5), True),
        ("resp_1", (12, 5), True),  # said, and far too little counted
        (None, (110, 5), True),  # the instructions again, and nothing else
        ("resp_1", (110, 5), False),
    ],
)
def test_a_server_that_forgot_is_found_out_by_what_it_counts_and_says(
    echo: str | None, tokens: Any, forgotten: bool
) -> None:
    state, conversation = StoredState(), begun()
    state.request(conversation)
    record = state.learn(answered(id="resp_2", echo=echo, tokens=tokens))
    assert (record is not None) == forgotten
    assert ("previous_response_id" in state.request(conversation)) != forgotten
    if record:
        assert (record.reason, record.response_id) == ("forgotten", "resp_1")
        assert ("12 input tokens" if tokens == (12, 5) else "") in record.detail


def test_what_was_cached_counts_as_input_where_it_is_counted_apart() -> None:
    state = StoredState()
    state.request(begun())
    usage = {"input_tokens_details": {"cached_tokens": 130}}
    assert state.learn(answered(id="resp_2", tokens=(12, 5), usage=usage)) is None


def test_thought_is_not_expected_among_the_input() -> None:
    state = StoredState()
    usage = {"output_tokens_details": {"reasoning_tokens": 5000}}
    state.request(begun(answered(REASONING, MESSAGE, tokens=(100, 5020), usage=usage)))
    assert state.learn(answered(id="resp_2", tokens=(150, 5))) is None


def test_counts_are_no_proof_where_the_vendors_tools_read_the_input_again() -> None:
    search = {
        "type": "web_search_call",
        "id": "ws_1",
        "status": "completed",
        "action": {"type": "search", "query": "x"},
    }
    state = StoredState()
    state.request(begun(answered(search, MESSAGE, tokens=(9000, 40))))
    assert state.learn(answered(id="resp_2", echo="resp_1", tokens=(150, 5))) is None


def test_counts_are_no_proof_where_the_server_compacted() -> None:
    compaction = {"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAA"}
    state = StoredState()
    state.request(begun())
    assert state.learn(answered(compaction, MESSAGE, id="resp_2", echo="resp_1", tokens=(20, 5))) is None


def test_an_answer_that_was_cut_teaches_nothing() -> None:
    state, conversation = StoredState(), begun()
    state.request(conversation)
    cut = parse(b'data: {"type":"response.created","response":{"id":"resp_2"}}\n\n', errors="event")
    assert state.learn(cut) is None
    assert state.request(conversation)["previous_response_id"] == "resp_1"


def test_the_record_survives_many_turns_without_being_told_again() -> None:
    state, conversation = StoredState(), begun()
    for turn in range(2, 5):
        state.request(conversation)
        answer = answered(id=f"resp_{turn}", tokens=(12, 5))
        assert (state.learn(answer) is not None) == (turn == 2)
        conversation.answer(answer)
        conversation.user("And then?")
    assert texts(state.request(conversation))[:3] == WHOLE
