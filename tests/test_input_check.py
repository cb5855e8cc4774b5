"""What is wrong with what is to be sent, named before it is."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamshim import InputError, check_input, raise_for_findings
from tests.strategies import json_values

USER = {"role": "user", "content": "Hi"}
ASKING: dict[str, Any] = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}],
}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "nine"}
ITEM_USER = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]}
ITEM_ANSWER = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hi"}]}
ITEM_CALL = {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"}
ITEM_RESULT = {"type": "function_call_output", "call_id": "c1", "output": "nine"}
THOUGHT = {"type": "reasoning", "summary": [], "encrypted_content": "gAAAA"}


def found(items: Any, api: Any, **options: Any) -> list[tuple[str, str]]:
    return [(finding.path, finding.code) for finding in check_input(items, api, **options)]


def asking(**changes: Any) -> dict[str, Any]:
    return {**ASKING, "tool_calls": [{**ASKING["tool_calls"][0], **changes}]}


def function(**changes: Any) -> dict[str, Any]:
    return asking(function={"name": "look", "arguments": "{}", **changes})


# -- what is right ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("api", "items"),
    [
        (
            "chat",
            [{"role": "system", "content": "Be brief."}, USER, ASKING, RESULT, {"role": "assistant", "content": "9"}],
        ),
        ("chat", [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "u"}}]}]),
        ("chat", [{"role": "assistant", "content": None, "refusal": "No."}]),
        ("chat", [{"role": "assistant", "content": None, "audio": {"id": "audio_1"}}]),
        ("chat", [{"role": "user", "content": [{"type": "a_type_of_tomorrow"}]}]),
        ("responses", "Hi"),
        ("responses", [{"role": "user", "content": "Hi"}]),
        ("responses", [ITEM_USER, THOUGHT, ITEM_CALL, ITEM_RESULT, ITEM_ANSWER]),
        (
            "responses",
            [
                {"type": "custom_tool_call", "call_id": "c1", "name": "p", "input": "free text"},
                {**ITEM_RESULT, "type": "custom_tool_call_output"},
            ],
        ),
        ("responses", [{"type": "item_reference", "id": "fc_1"}, ITEM_RESULT]),
        (
            "responses",
            [
                {"type": "mcp_approval_request", "id": "m1"},
                {"type": "mcp_approval_response", "approval_request_id": "m1", "approve": True},
            ],
        ),
        ("responses", [{"type": "an_item_of_tomorrow"}]),
    ],
)
def test_nothing_is_found_where_nothing_is_wrong(api: Any, items: Any) -> None:
    assert check_input(items, api) == []


# -- the other API's shapes -------------------------------------------------------------------------------------------


def test_a_chat_shaped_result_among_items_is_named_once() -> None:
    (finding,) = check_input([ITEM_CALL, RESULT], "responses")
    assert (finding.path, finding.code) == ("input[1]", "chat-result")
    assert "function_call_output" in finding.expected
    assert str(finding) == f"input[1]: {finding.seen}; expected: {finding.expected}"


def test_an_item_shaped_result_among_messages_is_named() -> None:
    assert found([ASKING, ITEM_RESULT], "chat") == [
        ("messages[1]", "responses-result"),
        ("messages[0].tool_calls[0]", "unanswered-call"),
    ]


@pytest.mark.parametrize(
    ("api", "item", "path", "code"),
    [
        ("responses", ASKING, "input[0].tool_calls", "chat-member"),
        (
            "responses",
            {**USER, "role": "assistant", "reasoning_content": "Hm"},
            "input[0].reasoning_content",
            "chat-member",
        ),
        ("responses", ASKING["tool_calls"][0], "input[0]", "chat-call"),
        (
            "responses",
            {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
            "input[0].content[0].type",
            "part-type",
        ),
        (
            "responses",
            {"role": "user", "content": [{"type": "output_text", "text": "Hi"}]},
            "input[0].content[0].type",
            "part-type",
        ),
        (
            "responses",
            {"role": "assistant", "content": [{"type": "input_text", "text": "Hi"}]},
            "input[0].content[0].type",
            "part-type",
        ),
        ("chat", ITEM_CALL, "messages[0]", "responses-item"),
        ("chat", THOUGHT, "messages[0]", "responses-item"),
        ("chat", {**ITEM_USER}, "messages[0].content[0].type", "part-type"),
        (
            "chat",
            {"role": "user", "content": [{"type": "refusal", "refusal": "No"}]},
            "messages[0].content[0].type",
            "part-type",
        ),
    ],
)
def test_shapes_of_the_other_api_are_named(api: Any, item: Any, path: str, code: str) -> None:
    assert found([item], api) == [(path, code)]


def test_members_of_a_result_that_belong_to_the_other_api_are_named() -> None:
    result = {"type": "function_call_output", "tool_call_id": "c1", "content": "nine"}
    assert found([result], "responses") == [
        ("input[0].tool_call_id", "chat-result"),
        ("input[0].content", "chat-result"),
    ]
    message = {"role": "tool", "call_id": "c1", "output": "nine"}
    assert found([message], "chat") == [
        ("messages[0].tool_call_id", "result-id"),
        ("messages[0].output", "responses-result"),
    ]


# -- calls and their results ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("api", "items", "expected"),
    [
        ("chat", [RESULT], [("messages[0]", "unknown-call")]),
        ("chat", [ASKING], [("messages[0].tool_calls[0]", "unanswered-call")]),
        (
            "chat",
            [ASKING, USER, RESULT],
            [("messages[0].tool_calls[0]", "unanswered-call"), ("messages[2]", "result-repeated")],
        ),
        ("chat", [ASKING, RESULT, RESULT], [("messages[2]", "result-repeated")]),
        ("chat", [ASKING, RESULT, ASKING, RESULT], [("messages[2].tool_calls[0].id", "call-id")]),
        ("chat", [asking(id=""), USER], [("messages[0].tool_calls[0].id", "call-id")]),
        ("chat", [ASKING, {**RESULT, "content": None}], [("messages[1].content", "content-missing")]),
        ("responses", [ITEM_RESULT], [("input[0]", "unknown-call")]),
        ("responses", [ITEM_RESULT, ITEM_CALL], [("input[0]", "unknown-call"), ("input[1]", "unanswered-call")]),
        ("responses", [ITEM_CALL, ITEM_USER], [("input[0]", "unanswered-call")]),
        ("responses", [ITEM_CALL, ITEM_RESULT, ITEM_RESULT], [("input[2]", "result-repeated")]),
        ("responses", [ITEM_CALL, ITEM_CALL, ITEM_RESULT], [("input[1].call_id", "call-id")]),
        (
            "responses",
            [ITEM_CALL, {**ITEM_RESULT, "type": "custom_tool_call_output"}],
            [("input[1].type", "result-type")],
        ),
        ("responses", [{**ITEM_CALL, "call_id": None}], [("input[0].call_id", "call-id")]),
        ("responses", [{"type": "computer_call", "id": "x", "call_id": "c9"}], [("input[0]", "unanswered-call")]),
    ],
)
def test_calls_and_results_that_do_not_belong_together_are_named(api: Any, items: Any, expected: Any) -> None:
    assert found(items, api) == expected


def test_a_result_may_answer_a_call_that_the_server_holds() -> None:
    assert check_input([ITEM_RESULT], "responses", continued=True) == []


def test_calls_that_the_server_runs_need_no_result() -> None:
    shell = {"type": "shell_call", "call_id": "c1", "environment": {"type": "container_reference"}}
    assert check_input([shell], "responses") == []
    assert check_input([shell, {"type": "shell_call_output", "call_id": "c1", "output": []}], "responses") == []
    assert found([{**shell, "environment": {"type": "local"}}], "responses") == [("input[0]", "unanswered-call")]


@pytest.mark.parametrize("arguments", ['{"at"', "", '{"at":1'])
def test_a_cut_call_is_named(arguments: str) -> None:
    path = "messages[0].tool_calls[0].function.arguments"
    assert found([function(arguments=arguments), RESULT], "chat") == [(path, "call-truncated")]
    items = [{**ITEM_CALL, "arguments": arguments}, ITEM_RESULT]
    assert found(items, "responses") == [("input[0].arguments", "call-truncated")]


def test_a_call_marked_as_incomplete_is_named() -> None:
    items = [{**ITEM_CALL, "status": "incomplete"}, ITEM_RESULT]
    assert found(items, "responses") == [("input[0].status", "call-truncated")]


@pytest.mark.parametrize("arguments", [{"at": 1}, None, "[]", "7"])
def test_arguments_that_are_no_text_of_an_object_are_named(arguments: Any) -> None:
    path = "messages[0].tool_calls[0].function.arguments"
    assert found([function(arguments=arguments), RESULT], "chat") == [(path, "call-arguments")]
    items = [{**ITEM_CALL, "arguments": arguments}, ITEM_RESULT]
    assert found(items, "responses") == [("input[0].arguments", "call-arguments")]


def test_a_call_without_a_name_is_named() -> None:
    assert found([function(name=""), RESULT], "chat") == [("messages[0].tool_calls[0].function.name", "call-name")]
    assert found([{**ITEM_CALL, "name": ""}, ITEM_RESULT], "responses") == [("input[0].name", "call-name")]


# -- roles, content, thought ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", ["model", "ai", None, 7])
def test_a_role_that_the_api_does_not_know_is_named(role: Any) -> None:
    assert found([{"role": role, "content": "Hi"}], "chat") == [("messages[0].role", "role")]
    assert found([{"role": role, "content": "Hi"}], "responses") == [("input[0].role", "role")]


@pytest.mark.parametrize("content", [None, [], 7, {}])
def test_content_that_is_missing_is_named(content: Any) -> None:
    assert found([{"role": "user", "content": content}], "chat") == [("messages[0].content", "content-missing")]
    assert found([{"role": "assistant", "content": content}], "chat") == [("messages[0].content", "content-missing")]
    assert found([{"role": "user", "content": content}], "responses") == [("input[0].content", "content-missing")]


@pytest.mark.parametrize("behind", [[], [ITEM_USER], [{"type": "function_call_output", "call_id": "c0", "output": ""}]])
def test_thought_that_nothing_follows_is_named(behind: list[Any]) -> None:
    assert found([THOUGHT, *behind], "responses", continued=True) == [("input[0]", "reasoning-order")]


def test_thought_and_what_follows_it_keep_their_ids_together() -> None:
    assert found([{**THOUGHT, "id": "rs_1"}, ITEM_ANSWER], "responses") == [("input[0]", "reasoning-ids")]
    assert found([THOUGHT, {**ITEM_ANSWER, "id": "msg_1"}], "responses") == [("input[0]", "reasoning-ids")]
    assert found([{**THOUGHT, "id": "rs_1"}, {**ITEM_ANSWER, "id": "msg_1"}], "responses") == []


def test_thought_without_a_summary_or_with_null_content_is_named() -> None:
    assert found([{"type": "reasoning", "content": None}, ITEM_ANSWER], "responses") == [
        ("input[0].summary", "reasoning-shape"),
        ("input[0].content", "reasoning-shape"),
    ]


# -- findings ---------------------------------------------------------------------------------------------------------


def test_findings_are_raised_together() -> None:
    raise_for_findings([])
    findings = check_input([RESULT, {"role": "ai"}], "chat")
    with pytest.raises(InputError, match=r"messages\[0\].*\n.*messages\[1\]") as caught:
        raise_for_findings(findings)
    assert caught.value.findings == findings
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("items", [None, "text", {"role": "user"}, 7])
def test_messages_that_are_no_list_are_named(items: Any) -> None:
    assert found(items, "chat") == [("messages", "not-a-list")]
    assert found([items] if isinstance(items, str) else ["text"], "chat") == [("messages[0]", "not-an-object")]


NAMES = (
    "role type content tool_calls tool_call_id call_id id output function custom name arguments input summary".split()
)
WORDS = "user assistant tool message reasoning function_call function_call_output custom shell_call text c1".split()
values = st.recursive(
    json_values | st.sampled_from(WORDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.dictionaries(st.sampled_from(NAMES), values, max_size=5), max_size=4) | values)
def test_nothing_makes_the_check_raise(items: Any) -> None:
    for api in ("chat", "responses"):
        for finding in check_input(items, api):
            assert finding.path.startswith(("messages", "input"))
            assert finding.seen
            assert finding.expected
