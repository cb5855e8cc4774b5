"""The members of a request in the words of the other API."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat import completion_create_params
from openai.types.responses import response_create_params

from streamshim.bridge import LeftOut, UnsupportedMemberError, chat_members, responses_members

WEATHER = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
CHAT_TOOL = {"type": "function", "function": {"name": "weather", "description": "The weather", "parameters": WEATHER}}
ITEM_TOOL = {
    "type": "function",
    "name": "weather",
    "description": "The weather",
    "parameters": WEATHER,
    "strict": False,
}
SCHEMA = {"name": "answer", "schema": {"type": "object"}, "strict": True}
GRAMMAR = {"syntax": "lark", "definition": "start: /.+/"}


@pytest.mark.parametrize(
    ("chat", "responses"),
    [
        ({"model": "m", "temperature": 0.5, "top_p": 0.9}, {"model": "m", "temperature": 0.5, "top_p": 0.9}),
        ({"max_tokens": 7}, {"max_output_tokens": 7}),
        ({"reasoning_effort": "low"}, {"reasoning": {"effort": "low"}}),
        ({"verbosity": "low"}, {"text": {"verbosity": "low"}}),
        ({"response_format": {"type": "json_object"}}, {"text": {"format": {"type": "json_object"}}}),
        (
            {"response_format": {"type": "json_schema", "json_schema": SCHEMA}, "verbosity": "high"},
            {"text": {"format": {"type": "json_schema", **SCHEMA}, "verbosity": "high"}},
        ),
        ({"tools": [CHAT_TOOL]}, {"tools": [ITEM_TOOL]}),
        (
            {"tools": [CHAT_TOOL], "tool_choice": {"type": "function", "function": {"name": "weather"}}},
            {"tools": [ITEM_TOOL], "tool_choice": {"type": "function", "name": "weather"}},
        ),
        (
            {"tools": [CHAT_TOOL], "tool_choice": "required", "parallel_tool_calls": False},
            {"tools": [ITEM_TOOL], "tool_choice": "required", "parallel_tool_calls": False},
        ),
        ({"logprobs": True}, {"include": ["message.output_text.logprobs"]}),
        (
            {"logprobs": True, "top_logprobs": 3},
            {"include": ["message.output_text.logprobs"], "top_logprobs": 3},
        ),
        ({"stream": True, "stream_options": {"include_usage": True}}, {"stream": True}),
        ({"stream": False}, {"stream": False}),
        ({"user": "u", "safety_identifier": "s"}, {"user": "u", "safety_identifier": "s"}),
        (
            {"service_tier": "flex", "prompt_cache_key": "k", "prompt_cache_retention": "24h"},
            {"service_tier": "flex", "prompt_cache_key": "k", "prompt_cache_retention": "24h"},
        ),
        ({"enable_thinking": True, "top_k": 5}, {"enable_thinking": True, "top_k": 5}),
    ],
)
def test_what_both_apis_have_is_renamed_both_ways(chat, responses):
    assert responses_members(chat) == responses
    assert chat_members(responses) == chat


def test_what_was_said_is_left_to_others():
    assert responses_members({"messages": [], "model": "m"}) == {"model": "m"}
    said = {"input": "hi", "instructions": "be", "previous_response_id": "resp_1", "model": "m"}
    assert chat_members(said) == {"model": "m"}


def test_null_says_nothing():
    assert responses_members({"temperature": None, "stop": None, "tools": None}) == {}
    assert chat_members({"temperature": None, "background": None, "reasoning": {"effort": None}}) == {}


def test_the_newer_name_of_the_limit_counts():
    assert responses_members({"max_tokens": 5, "max_completion_tokens": 9}) == {"max_output_tokens": 9}
    assert responses_members({"max_completion_tokens": 9, "max_tokens": 5}) == {"max_output_tokens": 9}
    assert chat_members({"max_output_tokens": 9}, max_tokens_name="max_completion_tokens") == {
        "max_completion_tokens": 9
    }


def test_legacy_functions_are_tools():
    legacy = {"functions": [CHAT_TOOL["function"]], "function_call": {"name": "weather"}}
    assert responses_members(legacy) == {
        "tools": [ITEM_TOOL],
        "tool_choice": {"type": "function", "name": "weather"},
    }


def test_a_function_without_parameters_takes_none():
    tool = {"type": "function", "function": {"name": "now"}}
    assert responses_members({"tools": [tool]})["tools"] == [
        {"type": "function", "name": "now", "parameters": {"type": "object", "properties": {}}, "strict": False}
    ]


def test_what_a_vendor_puts_beside_a_function_stays_beside_it():
    marked = {**CHAT_TOOL, "cache_control": {"type": "ephemeral"}}
    flat = responses_members({"tools": [marked]})
    assert flat["tools"] == [{**ITEM_TOOL, "cache_control": {"type": "ephemeral"}}]
    assert chat_members(flat)["tools"] == [marked]


def test_custom_tools_go_as_functions_of_one_string():
    tool = {"type": "custom", "name": "apply_patch", "description": "Edit", "format": {"type": "grammar", **GRAMMAR}}
    written = chat_members({"tools": [tool], "tool_choice": {"type": "custom", "name": "apply_patch"}})
    function = written["tools"][0]["function"]
    assert (function["name"], function["description"]) == ("apply_patch", "Edit")
    assert function["parameters"]["required"] == ["input"]
    assert GRAMMAR["definition"] in function["parameters"]["properties"]["input"]["description"]
    assert written["tool_choice"] == {"type": "function", "function": {"name": "apply_patch"}}


def test_custom_tools_stay_custom_where_the_vendor_has_them():
    tool = {"type": "custom", "name": "p", "format": {"type": "grammar", **GRAMMAR}}
    chat = {"type": "custom", "custom": {"name": "p", "format": {"type": "grammar", "grammar": GRAMMAR}}}
    choice = {"type": "custom", "name": "p"}
    assert chat_members({"tools": [tool], "tool_choice": choice}, custom_tools="custom") == {
        "tools": [chat],
        "tool_choice": {"type": "custom", "custom": {"name": "p"}},
    }
    assert responses_members({"tools": [chat]}) == {"tools": [tool]}


def test_a_choice_among_some_tools_declares_no_others():
    tools = [ITEM_TOOL, {**ITEM_TOOL, "name": "other"}]
    choice = {"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "weather"}]}
    written = chat_members({"tools": tools, "tool_choice": choice})
    assert written == {"tools": [CHAT_TOOL], "tool_choice": "required"}
    nested = {"mode": "auto", "tools": [{"type": "function", "function": {"name": "weather"}}]}
    assert responses_members({"tool_choice": {"type": "allowed_tools", "allowed_tools": nested}}) == {
        "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "weather"}]}
    }


def test_the_tools_of_a_namespace_carry_its_name():
    namespace = {"type": "namespace", "name": "files", "description": "d", "tools": [ITEM_TOOL]}
    assert chat_members({"tools": [namespace]})["tools"][0]["function"]["name"] == "files__weather"


def test_without_tools_there_is_no_choice():
    assert chat_members({"tools": [], "tool_choice": "auto", "parallel_tool_calls": True}) == {}


def test_web_search_options_are_a_tool():
    place = {"type": "approximate", "approximate": {"country": "AT"}}
    options = {"search_context_size": "low", "user_location": place}
    assert responses_members({"web_search_options": options})["tools"] == [
        {"type": "web_search", "search_context_size": "low", "user_location": {"type": "approximate", "country": "AT"}}
    ]


@pytest.mark.parametrize(
    ("member", "param", "code"),
    [
        ({"stop": ["\n"]}, "stop", "unsupported_value"),
        ({"n": 2}, "n", "unsupported_value"),
        ({"logit_bias": {"5": 1}}, "logit_bias", "unsupported_value"),
        ({"modalities": ["text", "audio"]}, "modalities", "unsupported_value"),
        ({"audio": {"voice": "x"}}, "audio", "unsupported_parameter"),
        ({"tools": [{"type": "function"}]}, "tools[0].function", "unsupported_value"),
        ({"tools": {}}, "tools", "unsupported_value"),
    ],
)
def test_a_chat_request_that_the_responses_api_cannot_be_asked_is_refused_by_name(member, param, code):
    with pytest.raises(UnsupportedMemberError) as caught:
        responses_members(member)
    assert (caught.value.param, caught.value.code) == (param, code)


@pytest.mark.parametrize(
    ("member", "param"),
    [
        ({"background": True}, "background"),
        ({"conversation": "conv_1"}, "conversation"),
        ({"prompt": {"id": "pmpt_1"}}, "prompt"),
        ({"context_management": [{"type": "compaction"}]}, "context_management"),
        ({"tools": [ITEM_TOOL, {"type": "web_search"}]}, "tools[1]"),
        ({"tools": [{"type": "mcp", "server_label": "s"}]}, "tools[0]"),
        ({"tools": [ITEM_TOOL], "tool_choice": {"type": "file_search"}}, "tool_choice"),
        ({"tools": [{"type": "function"}]}, "tools[0].name"),
        ({"tools": ["weather"]}, "tools[0]"),
        ({"reasoning": "high"}, "reasoning"),
    ],
)
def test_a_responses_request_that_the_chat_api_cannot_be_asked_is_refused_by_name(member, param):
    with pytest.raises(UnsupportedMemberError) as caught:
        chat_members(member)
    assert caught.value.param == param
    assert param.partition("[")[0].partition(".")[0] in str(caught.value) or "tool" in str(caught.value)


def test_hosted_tools_can_be_left_out():
    left_out: list[LeftOut] = []
    tools = [{"type": "web_search"}, ITEM_TOOL]
    request = {"tools": tools, "tool_choice": {"type": "web_search"}}
    assert chat_members(request, left_out=left_out, hosted_tools="leave_out") == {"tools": [CHAT_TOOL]}
    assert [entry.param for entry in left_out] == ["tools[0]", "tool_choice"]


def test_what_the_answer_is_right_without_is_left_out_and_said():
    left_out: list[LeftOut] = []
    request = {
        "include": ["reasoning.encrypted_content"],
        "truncation": "auto",
        "store": True,
        "metadata": {"a": "b"},
        "max_tool_calls": 3,
        "reasoning": {"effort": "low", "summary": "auto"},
        "tools": [{**ITEM_TOOL, "defer_loading": True}],
    }
    assert chat_members(request, left_out=left_out) == {"reasoning_effort": "low", "tools": [CHAT_TOOL]}
    assert [entry.param for entry in left_out] == [
        *("include", "truncation", "store", "metadata", "max_tool_calls", "reasoning.summary"),
        "tools[0].defer_loading",
    ]
    chat_left_out: list[LeftOut] = []
    assert responses_members({"seed": 1, "n": 1, "prediction": {}}, left_out=chat_left_out) == {}
    assert [entry.param for entry in chat_left_out] == ["seed", "prediction"]


def test_what_asks_for_nothing_is_not_reported():
    left_out: list[LeftOut] = []
    assert chat_members({"truncation": "disabled", "metadata": {}, "background": False}, left_out=left_out) == {}
    assert left_out == []


# -- the documentation ------------------------------------------------------------------------------------------------

TURNED = (
    ("What becomes of a Responses request", response_create_params, chat_members),
    ("What becomes of a chat request", completion_create_params, responses_members),
)
ASKING: dict[str, Any] = {
    "background": True,
    "context_management": [{"type": "compaction"}],
    "conversation": "conv_1",
    "prompt": {"id": "pmpt_1"},
    "audio": {},
    "logit_bias": {"5": 1},
    "modalities": ["audio"],
    "n": 2,
    "stop": "x",
    "reasoning": {"summary": "auto"},
    "include": ["reasoning.encrypted_content"],
    "truncation": "auto",
    "metadata": {"a": "b"},
}
"""Values that ask for something."""


def told_of(heading: str) -> dict[str, str]:
    """What a table of the documentation says of each member."""
    page = (Path(__file__).parent.parent / "docs" / "speaking.md").read_text(encoding="utf-8")
    section = page.partition(f"## {heading}\n")[2].partition("| member |")[2].partition("\n\n")[0]
    rows = [line.strip("|").split(" | ") for line in section.splitlines() if line.startswith("| `")]
    return {name: becomes for names, becomes in rows for name in re.findall(r"`(\w+)`", names)}


@pytest.mark.parametrize(("heading", "params", "turn"), TURNED, ids=["responses", "chat"])
def test_documentation_says_what_becomes_of_every_member_of_the_api(heading, params, turn):
    told = told_of(heading)
    (base,) = (kind for name, kind in vars(params).items() if name.endswith("CreateParamsBase"))
    assert told.keys() == base.__annotations__.keys() | {"stream"}
    for name, becomes in told.items():
        if becomes.startswith("refused"):
            with pytest.raises(UnsupportedMemberError):
                turn({name: ASKING[name]})
        elif becomes.startswith("left out"):
            left_out: list[LeftOut] = []
            assert turn({name: ASKING.get(name, {"a": 1})}, left_out=left_out) == {}
            assert left_out[0].param.startswith(name)
        elif becomes.startswith("the same"):
            tools = [ITEM_TOOL if turn is chat_members else CHAT_TOOL]
            value: Any = {"include_obfuscation": True} if name == "stream_options" else True
            assert turn({"tools": tools, name: value})[name] == value


# -- both ways --------------------------------------------------------------------------------------------------------

names = st.text("abcdefgh_", min_size=1, max_size=8)
schemas = st.fixed_dictionaries({"type": st.just("object"), "properties": st.dictionaries(names, st.just({}))})
functions = st.fixed_dictionaries(
    {"name": names, "parameters": schemas}, optional={"description": st.text(min_size=1), "strict": st.just(True)}
).map(lambda function: {"type": "function", "function": function})
choices = st.one_of(
    st.sampled_from(["auto", "none", "required"]),
    names.map(lambda name: {"type": "function", "function": {"name": name}}),
)
json_schemas = st.fixed_dictionaries(
    {"name": names, "schema": schemas}, optional={"description": st.text(), "strict": st.booleans()}
).map(lambda schema: {"type": "json_schema", "json_schema": schema})
known_to_both = st.fixed_dictionaries(
    {},
    optional={
        "model": names,
        "temperature": st.floats(0, 2),
        "top_p": st.floats(0, 1),
        "max_tokens": st.integers(1, 1000),
        "reasoning_effort": st.sampled_from(["none", "low", "high"]),
        "verbosity": st.sampled_from(["low", "high"]),
        "response_format": st.one_of(st.just({"type": "text"}), st.just({"type": "json_object"}), json_schemas),
        "logprobs": st.just(True),
        "user": names,
        "safety_identifier": names,
        "service_tier": st.sampled_from(["auto", "flex"]),
        "prompt_cache_key": names,
        "stream": st.booleans(),
        "thinking": st.dictionaries(names, st.integers()),
    },
)
with_tools = st.fixed_dictionaries(
    {"tools": st.lists(functions, min_size=1, max_size=3)},
    optional={"tool_choice": choices, "parallel_tool_calls": st.booleans()},
)


@given(known_to_both, st.one_of(st.just({}), with_tools))
def test_what_both_know_survives_both_ways(members, tools):
    chat = {**members, **tools}
    if chat.get("stream"):
        chat["stream_options"] = {"include_usage": True}
    assert chat_members(responses_members(chat)) == chat
