"""Tools, and the choice among them, in the words of either API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

from .losses import LeftOut, UnsupportedMemberError, list_at, name_at, object_at

Tool = Mapping[str, Any]
HostedTools = Literal["refuse", "leave_out"]
"""What becomes of tools that the vendor of a Responses API runs itself, and a chat vendor cannot."""

_FUNCTION = ("name", "description", "parameters", "strict")
_CUSTOM = ("name", "description", "format")
_ONLY_ON_RESPONSES = {
    "allowed_callers": "a chat model calls its tools itself",
    "async": "a chat model waits for the results of its tools",
    "defer_loading": "all tools are declared at once",
    "output_schema": "a chat vendor does not read what a tool returns",
}
_SYNTAXES = {"lark": "Lark grammar", "regex": "regular expression"}
CUSTOM_INPUT = "input"
"""The one parameter of a function that stands for a custom tool."""


def flat_name(name: str, namespace: str | None) -> str:
    """The name of a function on the chat API, which has no namespaces."""
    return f"{namespace}__{name}" if namespace else name


def each_tool(tools: Any) -> Iterator[tuple[str, Tool, str | None]]:
    """The tools of a Responses request: where each stands, and in which namespace it is.

    Raises:
        UnsupportedMemberError: they are no list of objects.
    """
    for at, entry in enumerate(list_at("tools", tools)):
        tool = object_at(f"tools[{at}]", entry)
        if tool.get("type") == "namespace":
            for inner, member in enumerate(list_at(f"tools[{at}].tools", tool.get("tools"))):
                place = f"tools[{at}].tools[{inner}]"
                yield place, object_at(place, member), name_at(f"tools[{at}]", tool)
        else:
            yield f"tools[{at}]", tool, None


class DeclaredTool(NamedTuple):
    """A tool of a Responses request that is called otherwise on the chat API.

    Attributes:
        name: its name.
        namespace: the namespace that it is in.
        is_custom: whether it takes text, and not JSON.
    """

    name: str
    namespace: str | None
    is_custom: bool


def declared_tools(tools: Any) -> dict[str, DeclaredTool]:
    """The tools of a Responses request that are called otherwise on the chat API, by their names there."""
    declared = (
        (flat_name(str(tool.get("name")), namespace), DeclaredTool(str(tool.get("name")), namespace, kind == "custom"))
        for _, tool, namespace in each_tool(tools or ())
        if (kind := tool.get("type")) == "custom" or namespace
    )
    return dict(declared)


# -- chat to Responses ------------------------------------------------------------------------------------------------


def item_tool(param: str, tool: Any) -> dict[str, Any]:
    """A tool of a chat request, flat. Types that are not the API's own are the vendor's, and stay as they are.

    Raises:
        UnsupportedMemberError: it is no tool.
    """
    kind = object_at(param, tool).get("type")
    if kind not in ("function", "custom"):
        return dict(tool)
    inner = object_at(f"{param}.{kind}", tool.get(kind))
    name_at(f"{param}.{kind}", inner)
    around = {key: value for key, value in tool.items() if key != kind}
    return {**around, **(item_function(inner) if kind == "function" else _item_custom(inner))}


def item_function(function: Tool) -> dict[str, Any]:
    """A function, flat. What is optional on the chat API, and not strict by default, is said on the other."""
    return {
        "type": "function",
        **function,
        "parameters": function.get("parameters") or {"type": "object", "properties": {}},
        "strict": bool(function.get("strict")),
    }


def _item_custom(custom: Tool) -> dict[str, Any]:
    format = custom.get("format")
    if isinstance(format, Mapping) and isinstance(format.get("grammar"), Mapping):
        return {**custom, "format": {"type": "grammar", **format["grammar"]}}
    return dict(custom)


def item_tool_choice(choice: Any) -> Any:
    """A tool choice of a chat request, flat."""
    if not isinstance(choice, Mapping):
        return choice
    kind = choice.get("type")
    if kind == "allowed_tools" and isinstance(choice.get("allowed_tools"), Mapping):
        allowed = choice["allowed_tools"]
        return {
            "type": kind,
            **allowed,
            "tools": [item_tool_choice(t) for t in list_at("tool_choice", allowed.get("tools"))],
        }
    if kind in ("function", "custom") and isinstance(choice.get(kind), Mapping):
        return {"type": kind, **choice[kind]}
    return dict(choice)


def item_web_search(options: Tool) -> dict[str, Any]:
    """The web search of a chat request, which is a tool on the Responses API."""
    tool: dict[str, Any] = {"type": "web_search", **options}
    location = options.get("user_location")
    if isinstance(location, Mapping) and isinstance(location.get("approximate"), Mapping):
        tool["user_location"] = {"type": "approximate", **location["approximate"]}
    return tool


# -- Responses to chat ------------------------------------------------------------------------------------------------


def chat_tools(
    tools: Any, left_out: list[LeftOut], *, hosted_tools: HostedTools, custom_as_functions: bool
) -> list[dict[str, Any]]:
    """The tools of a Responses request, nested.

    Raises:
        UnsupportedMemberError: one of them is run by the vendor, and `hosted_tools` is "refuse".
    """
    result: list[dict[str, Any]] = []
    for at, tool, namespace in each_tool(tools):
        kind = tool.get("type")
        if kind not in ("function", "custom"):
            _without_hosted(at, f"the tool {kind!r}", left_out, hosted_tools)
            continue
        named = {**tool, "name": flat_name(name_at(at, tool), namespace)}
        left_out += [LeftOut(f"{at}.{key}", reason) for key, reason in _ONLY_ON_RESPONSES.items() if tool.get(key)]
        if kind == "function":
            result.append(_nested(named, "function", _function(named)))
        elif custom_as_functions:
            result.append(_nested(named, "function", _custom_as_function(named)))
        else:
            result.append(_nested(named, "custom", _custom(named)))
    return result


def _without_hosted(param: str, what: str, left_out: list[LeftOut], hosted_tools: HostedTools) -> None:
    if hosted_tools == "refuse":
        message = f"{what} is not available here: the model behind this address has Chat Completions alone, where "
        raise UnsupportedMemberError(param, message + "tools are functions", "unsupported_value")
    left_out.append(LeftOut(param, f"{what} is not available, and hosted tools are left out"))


def _nested(tool: Tool, kind: str, inner: dict[str, Any]) -> dict[str, Any]:
    known = {"type", *_FUNCTION, *_CUSTOM, *_ONLY_ON_RESPONSES}
    return {"type": kind, kind: inner, **{key: value for key, value in tool.items() if key not in known}}


def _function(tool: Tool) -> dict[str, Any]:
    """Strictness is only said where it is asked for: it is off by default, and not every vendor knows the word."""
    function = {key: tool[key] for key in _FUNCTION if tool.get(key) is not None}
    if not function.get("strict"):
        function.pop("strict", None)
    return function


def _custom(tool: Tool) -> dict[str, Any]:
    custom = {key: tool[key] for key in _CUSTOM if tool.get(key) is not None}
    format = custom.get("format")
    if isinstance(format, Mapping) and format.get("type") == "grammar":
        custom["format"] = {"type": "grammar", "grammar": {k: v for k, v in format.items() if k != "type"}}
    return custom


def _custom_as_function(tool: Tool) -> dict[str, Any]:
    """A tool that takes text, as a function with one string; the grammar that binds the text is told in words."""
    wanted = "The whole input of the tool, as plain text."
    format = tool.get("format")
    if isinstance(format, Mapping) and format.get("definition"):
        syntax = _SYNTAXES.get(str(format.get("syntax")), "grammar")
        wanted += f" It must match this {syntax}:\n{format['definition']}"
    parameters = {
        "type": "object",
        "properties": {CUSTOM_INPUT: {"type": "string", "description": wanted}},
        "required": [CUSTOM_INPUT],
        "additionalProperties": False,
    }
    described = {"description": tool["description"]} if tool.get("description") else {}
    return {"name": tool["name"], **described, "parameters": parameters}


def chat_tool_choice(
    choice: Any,
    tools: list[dict[str, Any]],
    left_out: list[LeftOut],
    *,
    hosted_tools: HostedTools,
    custom_as_functions: bool,
) -> tuple[Any, list[dict[str, Any]]]:
    """A tool choice of a Responses request, nested, and the tools that are left to choose from.

    A choice among some of the tools is made by declaring no others: no chat vendor but one knows the words for it.

    Raises:
        UnsupportedMemberError: a hosted tool is chosen, and `hosted_tools` is "refuse".
    """
    if not isinstance(choice, Mapping):
        return choice, tools
    kind = choice.get("type")
    if kind == "allowed_tools":
        chosen = (object_at("tool_choice.tools", tool) for tool in list_at("tool_choice.tools", choice.get("tools")))
        names = {flat_name(str(tool.get("name")), tool.get("namespace")) for tool in chosen}
        allowed = [tool for tool in tools if tool[tool["type"]]["name"] in names]
        return choice.get("mode", "auto"), allowed
    if kind in ("function", "custom"):
        nested = "function" if custom_as_functions else kind
        return {
            "type": nested,
            nested: {"name": flat_name(name_at("tool_choice", choice), choice.get("namespace"))},
        }, tools
    _without_hosted("tool_choice", f"the tool {kind!r}", left_out, hosted_tools)
    return None, tools
