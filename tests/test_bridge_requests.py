"""Whole requests of one API as those of the other."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamshim import check_input
from streamshim.bridge import LeftOut, UnsupportedMemberError, chat_request, responses_request

PNG = "data:image/png;base64,iVBORw0KGgo="


def messages(*items: Any, **options: Any) -> list[dict[str, Any]]:
    """The messages of a request with these items."""
    written = chat_request({"model": "m", "input": list(items)}, **options)["messages"]
    assert check_input(written, "chat") == []
    return written


def said(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": text}


def call(call_id: str, name: str = "weather", arguments: str = "{}") -> dict[str, Any]:
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments}


def result(call_id: str, output: Any = "sunny") -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call_id, "output": output}


def chat_call(call_id: str, name: str = "weather", arguments: str = "{}") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def tool(call_id: str, content: str = "sunny") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def thought(text: str) -> dict[str, Any]:
    return {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": text}]}


# -- Responses to chat ------------------------------------------------------------------------------------------------


def test_text_is_what_the_user_said():
    request = {"model": "m", "input": "Hello", "instructions": "Be brief.", "stream": True}
    assert chat_request(request) == {
        "model": "m",
        "messages": [said("system", "Be brief."), said("user", "Hello")],
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_messages_keep_their_roles_and_what_they_show():
    parts = [
        {"type": "input_text", "text": "What is it?"},
        {"type": "input_image", "image_url": PNG, "detail": "low"},
        {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,AA=="},
    ]
    answer = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "A cat."}]}
    assert messages({"role": "user", "content": parts}, answer, said("user", "Sure?")) == [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "What is it?"},
                {"type": "image_url", "image_url": {"url": PNG, "detail": "low"}},
                {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,AA=="}},
            ],
        },
        {"role": "assistant", "content": "A cat."},
        said("user", "Sure?"),
    ]


def test_text_is_no_list_since_few_vendors_read_one():
    parts = [{"type": "input_text", "text": "one"}, {"type": "input_text", "text": "two"}]
    assert messages({"type": "message", "role": "user", "content": parts}) == [said("user", "one\ntwo")]


def test_what_comes_first_is_one_system_message():
    request = {"instructions": "A", "input": [said("developer", "B"), said("user", "x"), said("developer", "C")]}
    assert chat_request(request)["messages"] == [said("system", "A\n\nB"), said("user", "x"), said("system", "C")]


def test_thought_text_and_calls_of_one_answer_are_one_message():
    spoken = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Looking."}]}
    items = [said("user", "x"), thought("hm"), spoken, call("a"), call("b"), result("a"), result("b", "rain")]
    assert messages(*items) == [
        said("user", "x"),
        {
            "role": "assistant",
            "content": "Looking.",
            "reasoning_content": "hm",
            "tool_calls": [chat_call("a"), chat_call("b")],
        },
        tool("a"),
        tool("b", "rain"),
    ]


def test_calls_one_after_the_other_are_messages_of_their_own():
    assert messages(said("user", "x"), call("a"), result("a"), call("b"), result("b")) == [
        said("user", "x"),
        {"role": "assistant", "content": None, "tool_calls": [chat_call("a")]},
        tool("a"),
        {"role": "assistant", "content": None, "tool_calls": [chat_call("b")]},
        tool("b"),
    ]


def test_results_follow_their_calls_whatever_stood_between():
    written = messages(call("a"), call("b"), said("user", "and?"), result("b", "rain"), result("a"))
    assert written[1:] == [tool("a"), tool("b", "rain"), said("user", "and?")]


def test_call_without_a_result_is_answered_and_a_result_without_a_call_refused():
    assert messages(call("a"), said("user", "never mind"))[1] == tool("a", "The tool was not run.")
    with pytest.raises(UnsupportedMemberError, match="call_id b") as caught:
        messages(call("a"), result("b"))
    assert caught.value.param == "input[1]"


def test_calls_that_were_numbered_anew_are_told_apart():
    written = messages(call("call_0"), result("call_0", "one"), call("call_0"), result("call_0", "two"))
    assert [m["tool_calls"][0]["id"] for m in written if m["role"] == "assistant"] == ["call_0", "call_0-2"]
    assert [m["content"] for m in written if m["role"] == "tool"] == ["one", "two"]


def test_cut_calls_and_broken_arguments_do_not_go_back_as_they_are():
    left_out: list[LeftOut] = []
    written = messages(
        call("a", arguments='{"x": '), result("a"), {**call("b"), "status": "incomplete"}, left_out=left_out
    )
    arguments = json.loads(written[0]["tool_calls"][0]["function"]["arguments"])
    assert arguments == {"invalid_arguments": '{"x": '}
    assert len(written) == 2
    assert [entry.param for entry in left_out] == ["input[2]"]


def test_what_a_tool_shows_comes_in_a_message_behind_its_result():
    shown = [{"type": "input_text", "text": "the chart"}, {"type": "input_image", "image_url": PNG}]
    assert messages(call("a"), result("a", shown))[1:] == [
        tool("a", "the chart"),
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "The result of weather:"},
                {"type": "image_url", "image_url": {"url": PNG}},
            ],
        },
    ]


def test_custom_calls_are_calls_of_functions_with_one_string():
    items = [
        {"type": "custom_tool_call", "call_id": "a", "name": "apply_patch", "input": 'say "hi"'},
        {"type": "custom_tool_call_output", "call_id": "a", "output": "done"},
    ]
    written = messages(*items)
    assert json.loads(written[0]["tool_calls"][0]["function"]["arguments"]) == {"input": 'say "hi"'}
    assert written[1] == tool("a", "done")
    own = messages(*items, custom_tools="custom")
    assert own[0]["tool_calls"] == [
        {"id": "a", "type": "custom", "custom": {"name": "apply_patch", "input": 'say "hi"'}}
    ]


def test_calls_of_a_namespace_carry_its_name():
    written = messages({**call("a", "read"), "namespace": "files"}, result("a"))
    assert written[0]["tool_calls"] == [chat_call("a", "files__read")]


def test_shell_calls_are_told_as_those_of_a_function():
    action = {"type": "exec", "command": ["ls"]}
    items = [
        {"type": "local_shell_call", "id": "lsh_1", "call_id": "a", "action": action, "status": "completed"},
        {"type": "local_shell_call_output", "id": "lsh_1", "output": "a.txt"},
    ]
    written = messages(*items)
    assert written[0]["tool_calls"] == [
        chat_call("lsh_1", "local_shell", json.dumps({"action": action}, separators=(",", ":")))
    ]
    assert written[1] == tool("lsh_1", "a.txt")


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("tool_turns", [None, "b", "c"]),
        ("always", ["a", "b", "c"]),
        ("never", [None, None, None]),
    ],
)
def test_thought_goes_back_as_is_asked_for(mode, expected):
    first = {"type": "message", "role": "assistant", "content": "one"}
    items = [
        *(said("user", "1"), thought("a"), first),
        *(said("user", "2"), thought("b"), call("x"), result("x"), thought("c"), first),
    ]
    answers = [m for m in messages(*items, reasoning=mode) if m["role"] == "assistant"]
    assert [answer.get("reasoning_content") for answer in answers] == expected


def test_thought_goes_back_between_tags_or_as_details():
    items = [thought("hm"), {"type": "message", "role": "assistant", "content": "one"}]
    assert messages(*items, reasoning="in_content")[0]["content"] == "<think>\nhm</think>\n\none"
    details = messages(*items, reasoning="details")[0]["reasoning_details"]
    assert details == [{"type": "reasoning.text", "text": "hm"}]


def test_encrypted_thought_and_what_a_vendor_ran_are_left_out_and_said():
    left_out: list[LeftOut] = []
    encrypted = {"type": "reasoning", "summary": [], "encrypted_content": "gAAA"}
    search = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
    assert messages(said("user", "x"), encrypted, search, left_out=left_out) == [said("user", "x")]
    assert [entry.param for entry in left_out] == ["input[1]", "input[2]"]


def test_history_stands_before_what_is_new():
    history = [said("user", "1"), call("a")]
    assert messages(result("a"), history=history)[-1] == tool("a")


@pytest.mark.parametrize(
    ("item", "param"),
    [
        ({"type": "compaction", "encrypted_content": "x"}, "input[0]"),
        ({"type": "computer_call", "call_id": "a"}, "input[0]"),
        ({"type": "message", "role": "tool", "content": "x"}, "input[0].role"),
        ({"role": "user", "content": 5}, "input[0].content"),
        ({"type": "function_call", "call_id": "a", "arguments": "{}"}, "input[0].name"),
        ("hello", "input[0]"),
    ],
)
def test_item_that_cannot_be_told_is_refused_by_its_place(item, param):
    with pytest.raises(UnsupportedMemberError) as caught:
        messages(item)
    assert caught.value.param == param


@pytest.mark.parametrize("input", [None, [], 5, {}])
def test_request_that_says_nothing_is_refused(input):
    with pytest.raises(UnsupportedMemberError) as caught:
        chat_request({"model": "m", "input": input})
    assert caught.value.param == "input"


# -- chat to Responses ------------------------------------------------------------------------------------------------


def items(*messages: Any, **options: Any) -> list[dict[str, Any]]:
    """The items of a request with these messages."""
    written = responses_request({"model": "m", "messages": list(messages)}, **options)["input"]
    assert check_input(written, "responses") == []
    return written


def user(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}


def test_first_system_messages_are_the_instructions():
    request = {"model": "m", "messages": [said("system", "A"), said("developer", "B"), said("user", "x")]}
    assert responses_request(request) == {"model": "m", "instructions": "A\n\nB", "input": [user("x")], "store": False}
    later = items(said("user", "x"), said("system", "C"))[1]
    assert later == {"type": "message", "role": "system", "content": [{"type": "input_text", "text": "C"}]}


def test_request_of_system_messages_alone_has_an_input_all_the_same():
    assert items(said("system", "A"))[0]["role"] == "system"


def test_server_keeps_what_it_is_asked_to_keep():
    request = {"model": "m", "messages": [said("user", "x")], "store": True, "metadata": {"a": "b"}}
    written = responses_request(request)
    assert (written["store"], written["metadata"]) == (True, {"a": "b"})


def test_calls_and_results_are_items_of_their_own():
    answer = {"role": "assistant", "content": "Looking.", "tool_calls": [chat_call("a"), chat_call("b")]}
    assert items(said("user", "x"), answer, tool("a"), tool("b", "rain")) == [
        user("x"),
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "Looking.", "annotations": []}],
        },
        call("a"),
        call("b"),
        result("a"),
        result("b", "rain"),
    ]


def test_custom_calls_keep_their_kind():
    made = {"id": "a", "type": "custom", "custom": {"name": "p", "input": "x"}}
    assert items({"role": "assistant", "content": None, "tool_calls": [made]}, tool("a", "done")) == [
        {"type": "custom_tool_call", "call_id": "a", "name": "p", "input": "x"},
        {"type": "custom_tool_call_output", "call_id": "a", "output": "done"},
    ]


def test_legacy_calls_are_matched_with_their_results():
    made = {"role": "assistant", "content": None, "function_call": {"name": "weather", "arguments": "{}"}}
    written = items(said("user", "x"), made, {"role": "function", "name": "weather", "content": "sunny"})
    assert written[1]["call_id"] == written[2]["call_id"]
    assert written[2]["output"] == "sunny"


def test_images_files_and_refusals_are_told_in_items():
    shown = [
        {"type": "text", "text": "What?"},
        {"type": "image_url", "image_url": {"url": PNG, "detail": "high"}},
        {"type": "file", "file": {"file_id": "file_1"}},
    ]
    written = items({"role": "user", "content": shown}, {"role": "assistant", "content": None, "refusal": "No."})
    assert written[0]["content"] == [
        {"type": "input_text", "text": "What?"},
        {"type": "input_image", "image_url": PNG, "detail": "high"},
        {"type": "input_file", "file_id": "file_1"},
    ]
    assert written[1]["content"] == [{"type": "refusal", "refusal": "No."}]


def test_thought_of_the_chat_wire_is_left_out_and_said():
    left_out: list[LeftOut] = []
    answer = {"role": "assistant", "content": "one", "reasoning_content": "hm"}
    assert len(items(said("user", "x"), answer, left_out=left_out)) == 2
    assert [entry.param for entry in left_out] == ["messages[1].reasoning_content"]


@pytest.mark.parametrize(
    ("message", "param"),
    [
        ({"role": "tool", "content": "x"}, "messages[0].tool_call_id"),
        ({"role": "user", "content": None}, "messages[0].content"),
        ({"role": "wizard", "content": "x"}, "messages[0].role"),
        ({"role": "assistant", "tool_calls": [{"id": "a", "type": "function"}]}, "messages[0].tool_calls[0].function"),
        (5, "messages[0]"),
    ],
)
def test_message_that_cannot_be_told_is_refused_by_its_place(message, param):
    with pytest.raises(UnsupportedMemberError) as caught:
        items(message)
    assert caught.value.param == param


@pytest.mark.parametrize("request_", [{}, {"messages": []}, {"messages": "x"}])
def test_request_without_messages_is_refused(request_):
    with pytest.raises(UnsupportedMemberError) as caught:
        responses_request(request_)
    assert caught.value.param == "messages"


# -- both ways --------------------------------------------------------------------------------------------------------

texts = st.text(min_size=1).filter(str.strip)
turns = st.lists(
    st.tuples(texts, st.lists(st.text(min_size=1), max_size=2), texts).map(
        lambda turn: [
            said("user", turn[0]),
            *(
                message
                for at, output in enumerate(turn[1])
                for message in (
                    {"role": "assistant", "content": None, "tool_calls": [chat_call(f"{turn[0]}-{at}")]},
                    tool(f"{turn[0]}-{at}", output),
                )
            ),
            {"role": "assistant", "content": turn[2]},
        ]
    ),
    min_size=1,
    max_size=3,
    unique_by=lambda turn: str(turn[0]["content"]),
)


@given(st.one_of(st.none(), texts), turns)
def test_conversation_of_the_chat_api_survives_both_ways(system, spoken):
    first = [said("system", system)] if system is not None else []
    conversation = [*first, *(message for turn in spoken for message in turn)]
    there = responses_request({"model": "m", "messages": conversation})
    assert chat_request(there)["messages"] == conversation


RESPONSES_REQUEST = {
    "model": "m",
    "instructions": "Be brief.",
    "input": [
        {"role": "user", "content": [{"type": "input_text", "text": "x"}, {"type": "input_image", "image_url": PNG}]},
        thought("hm"),
        {"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]},
        {**call("a"), "namespace": "files"},
        result("a", [{"type": "input_text", "text": "y"}, {"type": "input_image", "image_url": PNG}]),
        {"type": "custom_tool_call", "call_id": "b", "name": "p", "input": "x"},
        {"type": "custom_tool_call_output", "call_id": "b", "output": "done"},
        {"type": "local_shell_call", "id": "c", "action": {"command": ["ls"]}},
        {"type": "local_shell_call_output", "id": "c", "output": "z"},
    ],
    "tools": [
        {"type": "function", "name": "weather", "parameters": {"type": "object"}, "strict": True},
        {"type": "custom", "name": "p", "format": {"type": "grammar", "syntax": "lark", "definition": "x"}},
        {"type": "namespace", "name": "files", "tools": [{"type": "function", "name": "weather"}]},
    ],
    "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "weather"}]},
    "text": {"format": {"type": "json_schema", "name": "n", "schema": {}}, "verbosity": "low"},
    "reasoning": {"effort": "low"},
    "include": ["message.output_text.logprobs"],
    "stream": True,
    "stream_options": {"include_obfuscation": False},
    "top_logprobs": 3,
}
CHAT_REQUEST = {
    "model": "m",
    "messages": [
        {"role": "system", "content": [{"type": "text", "text": "A"}]},
        {"role": "user", "content": [{"type": "text", "text": "x"}, {"type": "image_url", "image_url": {"url": PNG}}]},
        {"role": "assistant", "content": [{"type": "text", "text": "y"}], "tool_calls": [chat_call("a")]},
        {"role": "tool", "tool_call_id": "a", "content": [{"type": "text", "text": "z"}]},
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "z"},
    ],
    "tools": [{"type": "function", "function": {"name": "weather"}}, {"type": "custom", "custom": {"name": "p"}}],
    "tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [{"type": "function"}]}},
    "functions": [{"name": "f"}],
    "function_call": {"name": "f"},
    "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {}}},
    "stream_options": {"include_usage": True},
    "web_search_options": {"user_location": {"type": "approximate", "approximate": {"city": "Wien"}}},
    "max_tokens": 5,
    "max_completion_tokens": 6,
}


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where anything stands in a value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, each in inner for place in places(each, (*path, key)))][0 if path else 1 :]


def with_other(value: Any, path: tuple[Any, ...], other: Any) -> Any:
    """A copy with something else at one place."""
    if not path:
        return other
    changed = dict(value) if isinstance(value, dict) else list(value)
    changed[path[0]] = with_other(value[path[0]], path[1:], other)
    return changed


ODD = [None, True, 0, 5.5, "", "x", [], {}, ["x"], {"type": "text"}, {"x": {}}, [None], [{}], [[]]]


@pytest.mark.parametrize(
    ("turn", "request_"),
    [(chat_request, RESPONSES_REQUEST), (responses_request, CHAT_REQUEST)],
    ids=["responses", "chat"],
)
def test_whatever_a_request_is_it_is_turned_or_refused(turn, request_):
    """No other exception may come of what a caller sends."""
    outcomes = {"turned": 0, "refused": 0}
    for place in places(request_):
        for other in ODD:
            try:
                turn(with_other(request_, place, other))
            except UnsupportedMemberError:
                outcomes["refused"] += 1
            except Exception as error:
                raise AssertionError(f"{place}: {other!r}") from error
            else:
                outcomes["turned"] += 1
    assert min(outcomes.values()) > 100
