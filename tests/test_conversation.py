"""The conversation that survives: what the next request carries, on either wire, and as JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamshim import Conversation, ModelResponse, check_input, collect, parse
from tests.reading import decode
from tests.strategies import bodies, real_streams
from tests.test_history import CALL, MESSAGE, REASONING, call, chat_answer, responses_answer, scenario_answer
from tests.test_scenarios import SCENARIOS


def said(*steps: str | ModelResponse, **options: Any) -> Conversation:
    """A conversation of what the user said and what came back."""
    conversation = Conversation(**options)
    for step in steps:
        if isinstance(step, str):
            conversation.user(step)
        else:
            conversation.answer(step)
    return conversation


def asking(name: str = "look", thought: str | None = None) -> ModelResponse:
    deltas = [{"reasoning_content": thought}] if thought else []
    return chat_answer(*deltas, {"tool_calls": [call(name, "{}")]})


def telling(text: str, thought: str | None = None) -> ModelResponse:
    deltas = [{"reasoning_content": thought}] if thought else []
    return chat_answer(*deltas, {"content": text}, finish="stop")


# -- one conversation, two wires ----------------------------------------------------------------------------------


def test_a_tool_loop_renders_for_either_wire() -> None:
    conversation = said("What time is it?", asking(thought="Look."), key="ann", instructions="Be brief.")
    conversation.tool_result(conversation.unanswered_calls[0], {"hour": 9})
    conversation.answer(telling("Nine."))
    assert conversation.to_chat_messages() == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "What time is it?"},
        {
            "role": "assistant",
            "content": None,
            "reasoning_content": "Look.",
            "tool_calls": [{"id": "call_look", "type": "function", "function": {"name": "look", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "call_look", "content": '{"hour":9}'},
        {"role": "assistant", "content": "Nine."},
    ]
    assert conversation.to_response_items() == [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "What time is it?"}]},
        {"type": "function_call", "call_id": "call_look", "name": "look", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_look", "output": '{"hour":9}'},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "Nine.", "annotations": []}],
        },
    ]


def test_instructions_speak_in_the_role_that_is_asked_for() -> None:
    messages = said("Hi", instructions="Be brief.").to_chat_messages(instructions_role="developer")
    assert messages[0] == {"role": "developer", "content": "Be brief."}


def test_results_stand_behind_their_answer_in_the_order_of_the_calls() -> None:
    conversation = said("Hi", chat_answer({"tool_calls": [call("a", "{}"), call("b", "{}", index=1)]}))
    conversation.user("And?")
    conversation.tool_result("call_b", "second")
    conversation.tool_result("call_a", "first")
    assert [message.get("content") for message in conversation.to_chat_messages()] == [
        *("Hi", None, "first", "second", "And?")
    ]


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_content_parts_of_either_api_are_said_in_the_words_of_the_next(api: Any) -> None:
    chat_parts = [
        {"type": "text", "text": "Look:"},
        {"type": "image_url", "image_url": {"url": "https://e.example/a.png", "detail": "low"}},
        {"type": "file", "file": {"file_id": "file-1"}},
    ]
    item_parts = [
        {"type": "input_text", "text": "Look:"},
        {"type": "input_image", "image_url": "https://e.example/a.png", "detail": "low"},
        {"type": "input_file", "file_id": "file-1"},
    ]
    conversation = Conversation()
    conversation.user(chat_parts if api == "responses" else item_parts)
    assert conversation.to_chat_messages()[0]["content"] == chat_parts
    assert conversation.to_response_items()[0]["content"] == item_parts


def test_an_image_known_by_its_file_is_a_file_on_chat() -> None:
    conversation = Conversation()
    conversation.user([{"type": "input_image", "file_id": "file-1"}])
    assert conversation.to_chat_messages()[0]["content"] == [{"type": "file", "file": {"file_id": "file-1"}}]


def test_a_result_in_parts_is_text_on_chat_unless_it_holds_more() -> None:
    conversation = said("Hi", chat_answer({"tool_calls": [call("a", "{}"), call("b", "{}", index=1)]}))
    conversation.tool_result("call_a", [{"type": "input_text", "text": "x"}, {"type": "input_text", "text": "y"}])
    image = {"type": "input_image", "image_url": "data:image/png;base64,iVBO"}
    conversation.tool_result("call_b", [image])
    first, second = (message["content"] for message in conversation.to_chat_messages()[-2:])
    assert first == "x\ny"
    assert second == [{"type": "image_url", "image_url": {"url": image["image_url"]}}]
    assert conversation.to_response_items()[-1]["output"] == [image]


# -- thought --------------------------------------------------------------------------------------------------------


def thoughts(conversation: Conversation, reasoning: Any) -> list[str | None]:
    return [
        message.get("reasoning_content")
        for message in conversation.to_chat_messages(reasoning=reasoning)
        if message["role"] == "assistant"
    ]


@pytest.mark.parametrize(
    ("reasoning", "expected"),
    [
        ("tool_turns", [None, "b", "c", None]),
        ("always", ["a", "b", "c", "d"]),
        ("never", [None, None, None, None]),
    ],
)
def test_the_thought_of_a_turn_with_tools_goes_back_to_its_end(reasoning: Any, expected: list[str | None]) -> None:
    conversation = said("1", telling("one", "a"), "2", asking(thought="b"), telling("two", "c"), "3", telling("x", "d"))
    conversation.tool_result("call_look", "ok")
    assert thoughts(conversation, reasoning) == expected


def test_a_call_without_thought_gets_an_empty_one_only_on_demand() -> None:
    conversation = said("1", asking())
    conversation.tool_result("call_look", "ok")
    assert thoughts(conversation, "tool_turns") == [None]
    assert thoughts(conversation, "always") == [""]


def test_thought_goes_back_between_tags_on_demand() -> None:
    body = b'{"choices":[{"message":{"content":"<think>\\nHm.\\n</think>\\n\\nNine."},"finish_reason":"stop"}]}'
    messages = said("Hi", parse(body)).to_chat_messages(reasoning="in_content")
    assert messages[1] == {"role": "assistant", "content": "<think>\nHm.\n</think>\n\nNine."}


def test_thought_goes_back_as_details_on_demand() -> None:
    details = [{"type": "reasoning.text", "text": "Hm."}]
    answer = chat_answer({"reasoning_details": details}, {"content": "Nine."}, finish="stop")
    messages = said("Hi", answer).to_chat_messages(reasoning="details")
    assert messages[1] == {"role": "assistant", "content": "Nine.", "reasoning_details": details}


def test_encrypted_thought_of_items_does_not_cross_to_chat() -> None:
    conversation = said("Hi", responses_answer(REASONING, MESSAGE))
    assert "gAAAA" not in json.dumps(conversation.to_chat_messages(reasoning="details"))
    assert conversation.to_chat_messages(reasoning="details")[1]["reasoning_details"][0]["text"] == "Look it up."


def test_thought_goes_back_as_the_item_that_it_was() -> None:
    conversation = said("1", responses_answer(REASONING, MESSAGE), "2", telling("x", "readable"))
    types = [item["type"] for item in conversation.to_response_items()]
    assert types == ["message", "reasoning", "message", "message", "message"]
    assert conversation.to_response_items()[1]["encrypted_content"] == "gAAAA"
    assert len(conversation.to_response_items(reasoning="always")) == len(types) + 1
    assert "reasoning" not in [item["type"] for item in conversation.to_response_items(reasoning="never")]


def test_without_thought_no_item_keeps_its_id() -> None:
    conversation = said("Hi", responses_answer(REASONING, MESSAGE))
    assert [item.get("id") for item in conversation.to_response_items(keep_ids=True)] == [None, "rs_1", "msg_1"]
    assert not any("id" in item for item in conversation.to_response_items(keep_ids=True, reasoning="never"))


def test_a_summary_alone_is_no_thought_without_its_id() -> None:
    summary = {key: value for key, value in REASONING.items() if key != "encrypted_content"}
    conversation = said("Hi", responses_answer(summary, MESSAGE))
    assert [item["type"] for item in conversation.to_response_items()] == ["message", "message"]
    assert [item["type"] for item in conversation.to_response_items(keep_ids=True)] == [
        "message",
        "reasoning",
        "message",
    ]


# -- items as they came -----------------------------------------------------------------------------------------------


def test_items_that_were_kept_go_back_with_what_is_not_modelled() -> None:
    came = {**CALL, "namespace": "clock", "caller": {"type": "direct"}}
    conversation = said("Hi")
    conversation.answer(responses_answer(CALL), items=[{**REASONING, "content": None}, came])
    conversation.tool_result("call_1", "nine")
    _, thought, again, result = conversation.to_response_items(keep_ids=True)
    assert again == came
    assert "content" not in thought  # null is refused by some
    assert result == {"type": "function_call_output", "call_id": "call_1", "output": "nine"}


def test_what_was_compacted_stands_for_all_before_it() -> None:
    compacted = {"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAA"}
    conversation = said("1", telling("one"), "2")
    conversation.answer(responses_answer(MESSAGE), items=[compacted, MESSAGE])
    conversation.user("3")
    assert [item["type"] for item in conversation.to_response_items()] == ["compaction", "message", "message"]
    assert [message["content"] for message in conversation.to_chat_messages()] == [
        *("1", "one", "2"),
        "One moment.",
        "3",
    ]


# -- calls ----------------------------------------------------------------------------------------------------------


def test_nothing_is_sent_while_a_call_waits() -> None:
    conversation = said("Hi", asking())
    for render in (conversation.to_chat_messages, conversation.to_response_items):
        with pytest.raises(ValueError, match=r"look \(call_look\)"):
            render()
    conversation.decline_calls()
    assert conversation.unanswered_calls == []
    assert conversation.to_chat_messages()[-1]["content"] == '{"error":"The tool was not run."}'


def test_a_result_needs_a_call_that_waits_for_one() -> None:
    conversation = said("Hi", asking())
    with pytest.raises(ValueError, match=r"'other'.*waiting: call_look"):
        conversation.tool_result("other", "x")
    conversation.tool_result("call_look", "x")
    with pytest.raises(ValueError, match="waiting: none"):
        conversation.tool_result("call_look", "x")


def test_a_cut_call_waits_for_nothing_and_is_not_sent() -> None:
    cut = chat_answer({"content": "One moment."}, {"tool_calls": [call("look", '{"at"')]}, finish="length")
    conversation = said("Hi", cut)
    assert conversation.unanswered_calls == []
    assert [set(message) for message in conversation.to_chat_messages()] == [{"role", "content"}] * 2
    with pytest.raises(ValueError, match="owed none"):
        conversation.tool_result("call_look", "x")


def test_ids_that_come_again_are_told_apart() -> None:
    conversation = said("1", asking())
    conversation.tool_result("call_look", "one")
    conversation.user("2")
    conversation.answer(asking())
    conversation.tool_result("call_look", "two")
    messages = conversation.to_chat_messages()
    assert [message["tool_call_id"] for message in messages if message["role"] == "tool"] == [
        "call_look",
        "call_look-2",
    ]
    outputs = [item for item in conversation.to_response_items() if item["type"] == "function_call_output"]
    assert [(item["call_id"], item["output"]) for item in outputs] == [("call_look", "one"), ("call_look-2", "two")]


def test_arguments_that_are_no_object_go_back_inside_of_one() -> None:
    conversation = said("Hi", chat_answer({"tool_calls": [call("look", "at nine")]}))
    conversation.tool_result("call_look", "no JSON", is_error=True)
    message, result = conversation.to_chat_messages()[1:]
    assert json.loads(message["tool_calls"][0]["function"]["arguments"]) == {"invalid_arguments": "at nine"}
    assert result["content"] == '{"error":"no JSON"}'


def test_a_call_without_a_name_is_not_sent() -> None:
    nameless = {"index": 0, "id": "call_1", "type": "function", "function": {"arguments": "{}"}}
    conversation = said("Hi", chat_answer({"content": "One moment."}, {"tool_calls": [nameless]}))
    assert len(conversation.answers[0].calls_to_answer) == 1
    assert conversation.unanswered_calls == []
    assert "tool_calls" not in conversation.to_chat_messages()[1]
    assert [item["type"] for item in conversation.to_response_items()] == ["message", "message"]


def test_a_hosted_call_that_a_gateway_answered_goes_back_as_items_only() -> None:
    shell = {
        "type": "shell_call",
        "id": "sh_1",
        "call_id": "call_1",
        "status": "completed",
        "action": {"commands": ["ls"]},
    }
    output = {"type": "shell_call_output", "id": "sho_1", "call_id": "call_1", "status": "completed", "output": []}
    conversation = said("Hi", responses_answer(shell, output, MESSAGE))
    assert conversation.unanswered_calls == []
    assert "tool_calls" not in conversation.to_chat_messages()[1]
    types = [item["type"] for item in conversation.to_response_items()]
    assert types == ["message", "shell_call", "shell_call_output", "message"]


def test_a_failed_patch_says_so_in_its_own_word() -> None:
    conversation = said("Hi", scenario_answer("apply_patch_call"))
    conversation.tool_result(conversation.unanswered_calls[0], "no such file", is_error=True)
    result = conversation.to_response_items()[-1]
    assert (result["type"], result["status"], result["output"]) == (
        *("apply_patch_call_output", "failed"),
        "no such file",
    )


def test_a_failure_in_parts_begins_with_a_word_on_it() -> None:
    conversation = said("Hi", asking())
    conversation.tool_result(
        "call_look", [{"type": "input_image", "image_url": "https://e.example/a.png"}], is_error=True
    )
    assert conversation.to_response_items()[-1]["output"][0] == {"type": "input_text", "text": "The tool failed."}


def test_a_running_response_is_no_answer() -> None:
    with pytest.raises(ValueError, match="still runs"):
        Conversation().answer(ModelResponse())


@pytest.mark.parametrize("content", [[], [{"text": "no type"}], ["text"], [{"type": "text", "text": b"bytes"}], 7])
def test_content_that_no_api_reads_is_refused(content: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        Conversation().user(content)


# -- forks and JSON ---------------------------------------------------------------------------------------------------


def test_forks_go_their_own_ways() -> None:
    conversation = said("1", asking(), key="ann")
    fork = conversation.fork()
    fork.tool_result("call_look", "x")
    fork.user("2")
    assert (len(conversation), len(fork), fork.key) == (2, 3, "ann")
    assert len(conversation.unanswered_calls) == 1
    earlier = conversation.fork(key="bob", length=1)
    assert (earlier.key, earlier.to_chat_messages()) == ("bob", [{"role": "user", "content": "1"}])


def test_a_portable_fork_leaves_out_what_only_its_vendor_can_read() -> None:
    signed = {"extra_content": {"google": {"thought_signature": "secret"}}}
    details = [{"type": "reasoning.text", "text": "Hm.", "signature": "secret"}]
    searching = scenario_answer("web_search")
    compacted = scenario_answer("compaction_before_answer")
    conversation = said(
        "1", chat_answer({"reasoning_details": details}, {"tool_calls": [call("look", "{}", **signed)]})
    )
    conversation.tool_result("call_look", "nine")
    conversation.answer(
        responses_answer({**REASONING, "encrypted_content": "secret"}, CALL), items=[{**CALL, "caller": "secret"}]
    )
    conversation.tool_result("call_1", "ten")
    conversation.answer(searching)
    conversation.answer(compacted)
    for render in ("to_chat_messages", "to_response_items"):
        assert "secret" in json.dumps(getattr(conversation.fork(length=3), render)())
        assert "secret" not in json.dumps(getattr(conversation.fork(length=3, portable=True), render)())
    fork = conversation.fork(portable=True)
    types = [item["type"] for item in fork.to_response_items()]
    assert not {"compaction", "web_search_call"} & set(types)
    assert types[:5] == ["message", *["function_call", "function_call_output"] * 2]
    assert [message["content"] for message in fork.to_chat_messages() if message["role"] == "tool"] == ["nine", "ten"]
    assert searching.text in json.dumps(fork.to_chat_messages(), ensure_ascii=False)


def test_what_the_caller_does_to_its_objects_later_changes_nothing() -> None:
    part = {"type": "text", "text": "a"}
    conversation = Conversation()
    conversation.user([part])
    part["text"] = "b"
    conversation.to_chat_messages()[0]["content"][0]["text"] = "c"
    assert conversation.to_chat_messages()[0]["content"] == [{"type": "text", "text": "a"}]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[]", "no conversation"),
        ('{"format":"streamshim.conversation","version":2,"entries":[]}', "version 2"),
        ('{"format":"streamshim.conversation","version":1,"entries":[{}]}', "damaged"),
        (
            '{"format":"streamshim.conversation","version":1,"entries":[{"type":"answer","response":{"status":7},"items":null,"results":[]}]}',
            "status",
        ),
    ],
)
def test_what_is_no_conversation_of_ours_is_refused(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        Conversation.from_json(text)
    with pytest.raises(ValueError, match="."):
        Conversation.from_json(text[:-1])


# -- laws -------------------------------------------------------------------------------------------------------------

answers = st.one_of(st.deferred(lambda: bodies), st.deferred(lambda: st.sampled_from(real_streams()))).map(
    lambda body: collect(decode([body]))
)
outputs = st.one_of(st.text(max_size=8), st.just({"a": 1}), st.just([{"type": "input_text", "text": "x"}]), st.none())


@st.composite
def conversations(draw: st.DrawFn) -> Conversation:
    conversation = Conversation(draw(st.none() | st.just("ann")), draw(st.none() | st.just("Be brief.")))
    for step in draw(st.lists(st.one_of(st.text(min_size=1, max_size=6), answers), max_size=5)):
        if isinstance(step, str):
            conversation.user(step)
        else:
            conversation.answer(step)
        for waiting in conversation.unanswered_calls:
            conversation.tool_result(waiting, draw(outputs), draw(st.booleans()))
    return conversation


@settings(max_examples=60, deadline=None)
@given(conversations(), st.sampled_from(["tool_turns", "always", "details", "in_content", "never"]))
def test_a_conversation_on_chat_always_passes_the_check(conversation: Conversation, reasoning: Any) -> None:
    assert check_input(conversation.to_chat_messages(reasoning=reasoning), "chat") == []


@settings(max_examples=60, deadline=None)
@given(conversations(), st.sampled_from(["as_received", "always", "never"]), st.booleans())
def test_a_conversation_on_responses_always_passes_the_check(
    conversation: Conversation, reasoning: Any, keep_ids: bool
) -> None:
    assert check_input(conversation.to_response_items(reasoning=reasoning, keep_ids=keep_ids), "responses") == []


@settings(max_examples=40, deadline=None)
@given(conversations())
def test_a_conversation_survives_as_json(conversation: Conversation) -> None:
    text = conversation.to_json()
    again = Conversation.from_json(text)
    assert again.to_json() == text
    assert again.to_chat_messages() == conversation.to_chat_messages()
    assert again.to_response_items(keep_ids=True) == conversation.to_response_items(keep_ids=True)


@pytest.mark.parametrize("name", [*SCENARIOS])
def test_real_answers_go_into_the_next_request(name: str) -> None:
    conversation = said("Hi", scenario_answer(name), "Go on")
    conversation.decline_calls()
    assert check_input(conversation.to_chat_messages()) == []
    assert check_input(conversation.to_response_items(), "responses") == []
    assert Conversation.from_json(conversation.to_json()).to_chat_messages() == conversation.to_chat_messages()
