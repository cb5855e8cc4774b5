"""Requests for servers that do without: tools and schemas told in the instructions, calls and results as text.

Each function takes the body of a request of either API, and gives another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..json_codec import dumps, loads

Body = Mapping[str, Any]

_TOOLS = """\
You can call these tools. Each is told as a JSON object, with the JSON Schema of its arguments:

<tools>
{declarations}
</tools>

To call a tool, write a JSON object with its name and its arguments between these two tags, and stop after your calls:

<tool_call>
{{"name": "the name of the tool", "arguments": {{"the name of an argument": "its value"}}}}
</tool_call>

Write one such block for each call. The results are given to you between <tool_response> and </tool_response>."""
_MUST_CALL = "You must call {} now."
_SCHEMA = """\
Answer with one JSON value alone, without any other text around it. It must fit this JSON Schema:

{schema}"""
_JSON = "Answer with one JSON object alone, without any other text around it."
_OF_CALLS = frozenset(("function_call", "custom_tool_call"))
_OF_RESULTS = frozenset(("function_call_output", "custom_tool_call_output"))


def with_tools_in_words(body: Body) -> dict[str, Any]:
    """Tools in the instructions; calls as the markup that they ask for, and results as the user's words."""
    declared = [] if body.get("tool_choice") == "none" else [_declaration(tool) for tool in body.get("tools") or ()]
    told = _without(body, "tools", "tool_choice", "parallel_tool_calls")
    if "messages" in body:
        told["messages"] = list(_spoken_messages(body["messages"]))
    elif not isinstance(body.get("input"), str):
        told["input"] = list(_spoken_items(body["input"]))
    if not declared:
        return told
    text = _TOOLS.format(declarations="\n".join(map(dumps, declared)))
    if must := forced_choice(body):
        text += "\n\n" + _MUST_CALL.format(must)
    return _instructed(told, text)


def forced_choice(body: Body) -> str | None:
    """Which tool must be called, in words; None where none must."""
    choice = body.get("tool_choice")
    if choice == "required":
        return "at least one of the tools"
    if isinstance(choice, Mapping) and choice.get("type") in ("function", "custom"):
        return "the tool " + str(choice.get("name") or choice.get(choice["type"], {}).get("name"))
    return None


def with_choice_in_words(body: Body) -> dict[str, Any]:
    """The call that must be made is told in the instructions."""
    return _instructed(_without(body, "tool_choice"), _MUST_CALL.format(forced_choice(body)))


def with_schema_in_words(body: Body) -> dict[str, Any]:
    """The schema of the answer in the instructions."""
    format = asked_format(body) or {}
    told = _without(body, "response_format")
    if isinstance(told.get("text"), Mapping):
        told["text"] = _without(told["text"], "format")
        if not told["text"]:
            del told["text"]
    schema = format.get("json_schema", format).get("schema")
    if schema is not None:
        return _instructed(told, _SCHEMA.format(schema=dumps(schema)))
    return _instructed(told, _JSON) if format.get("type") == "json_object" else told


def asked_format(body: Body) -> dict[str, Any] | None:
    """What form the answer is asked for in, other than text."""
    text = body.get("text")
    format = body.get("response_format") or (text.get("format") if isinstance(text, Mapping) else None)
    return format if isinstance(format, dict) and format.get("type") != "text" else None


def _without(body: Body, *names: str) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name not in names}


def _declaration(tool: Mapping[str, Any]) -> dict[str, Any]:
    inner = tool.get(str(tool.get("type")))
    told = inner if isinstance(inner, Mapping) else tool
    return {key: told[key] for key in ("name", "description", "parameters") if told.get(key)}


# -- instructions -----------------------------------------------------------------------------------------------------


def _instructed(body: dict[str, Any], text: str) -> dict[str, Any]:
    """The body with more instructions behind its own."""
    if "messages" not in body:
        return {**body, "instructions": "\n\n".join(filter(None, (body.get("instructions"), text)))}
    messages = list(body["messages"])
    first = messages[0] if messages else {}
    if first.get("role") in ("system", "developer"):
        messages[0] = {**first, "content": _joined(first.get("content"), text)}
    else:
        messages.insert(0, {"role": "system", "content": text})
    return {**body, "messages": messages}


def _joined(content: Any, text: str) -> Any:
    if isinstance(content, list):
        return [*content, {"type": "text", "text": text}]
    return f"{content}\n\n{text}" if content else text


# -- what was called, and what came of it -----------------------------------------------------------------------------


def _spoken_messages(messages: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    results: list[str] = []
    for message in messages:
        if message.get("role") == "tool":
            results.append(_result(message.get("content")))
            continue
        if results:
            yield {"role": "user", "content": "\n".join(results)}
            results = []
        yield _spoken_message(message) if message.get("tool_calls") else message
    if results:
        yield {"role": "user", "content": "\n".join(results)}


def _spoken_message(message: dict[str, Any]) -> dict[str, Any]:
    calls = "\n".join(_call(call.get(call.get("type", "function")) or {}) for call in message["tool_calls"])
    kept = _without(message, "tool_calls", "reasoning_content", "reasoning_details", "content")
    return {**kept, "content": _joined(message.get("content"), calls)}


def _spoken_items(items: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Calls that stand together are one message, and so are results; thought belongs to calls that are no more."""
    calls: list[str] = []
    results: list[str] = []
    for item in items:
        kind = item.get("type")
        if kind == "reasoning":
            continue
        if calls and kind not in _OF_CALLS:
            yield {"role": "assistant", "content": "\n".join(calls)}
            calls = []
        if results and kind not in _OF_RESULTS:
            yield {"role": "user", "content": "\n".join(results)}
            results = []
        if kind in _OF_CALLS:
            calls.append(_call(item))
        elif kind in _OF_RESULTS:
            results.append(_result(item.get("output")))
        else:
            yield item
    if calls or results:
        yield {"role": "assistant" if calls else "user", "content": "\n".join(calls or results)}


def _call(call: Mapping[str, Any]) -> str:
    arguments = call.get("arguments", call.get("input"))
    try:
        value = loads(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        value = arguments
    return f"<tool_call>\n{dumps({'name': call.get('name'), 'arguments': value})}\n</tool_call>"


def _result(content: Any) -> str:
    if isinstance(content, list):
        content = "\n".join(str(part.get("text", dumps(part))) for part in content)
    return f"<tool_response>\n{content}\n</tool_response>"
