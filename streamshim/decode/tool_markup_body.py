"""What stands between the tags of leaked tool markup: JSON, named parameters, or a name and its arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..json_codec import dumps, loads


@dataclass(frozen=True, slots=True)
class MarkupCall:
    """One call that was found: `arguments` is JSON text; `id` is the markup's own, where it has one."""

    name: str
    arguments: str
    id: str | None = None


_PREFIX = re.compile(r"(</?)(?:[｜|‖]{1,2}DSML[｜|‖]{1,2}|steptml:|minimax:|seed:)")
_INVOKE = re.compile(r'<invoke name="?([^">\s]+)"?\s*>(.*?)</invoke>', re.DOTALL)
_FUNCTION = re.compile(r"<function=([^>\s]+)\s*>(.*?)</function>", re.DOTALL)
_PARAMETER = re.compile(r'<parameter(?: name="?([^">\s]+)"?|=([^>\s]+))([^>]*)>(.*?)</parameter>', re.DOTALL)
_NUMBERED = re.compile(
    r"<\|tool_call_begin\|>\s*(.*?)\s*<\|tool_call_argument_begin\|>\s*(.*?)\s*<\|tool_call_end\|>", re.DOTALL
)
_SEPARATED = re.compile(
    r"<[｜|]tool[▁_]call[▁_]begin[｜|]>(.*?)<[｜|]tool[▁_]sep[｜|]>(.*?)<[｜|]tool[▁_]call[▁_]end[｜|]>", re.DOTALL
)
_FENCE = re.compile(r"```(?:json)?\s*(.*?)\s*```", re.DOTALL)
_KEYED = re.compile(r"<arg_key>(.*?)</arg_key>\s*<arg_value>(.*?)</arg_value>", re.DOTALL)
_NAME = re.compile(r"[\w.\-/$]+")


def read_calls(markup: str, opener: int, closer: int) -> list[MarkupCall]:
    """The calls in one piece of markup, if any; `opener` and `closer` are the lengths of its tags."""
    plain = _PREFIX.sub(r"\1", markup)
    body = markup[opener : len(markup) - closer].strip()
    for read, text in ((_tagged, plain), (_numbered, body), (_separated, body), (_json, body), (_named, body)):
        if calls := list(read(text)):
            return calls
    return []


def _tagged(markup: str) -> Iterator[MarkupCall]:
    """`<invoke name="f"><parameter name="a">1</parameter></invoke>` and `<function=f><parameter=a>…`."""
    for match in (*_INVOKE.finditer(markup), *_FUNCTION.finditer(markup)):
        arguments = {
            named or equated: _value(text, is_text='string="true"' in rest)
            for named, equated, rest, text in _PARAMETER.findall(match[2])
        }
        yield MarkupCall(match[1], dumps(arguments))


def _numbered(body: str) -> Iterator[MarkupCall]:
    """`<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{…}<|tool_call_end|>`."""
    for id, arguments in _NUMBERED.findall(body):
        name = id.removeprefix("functions.").rsplit(":", 1)[0]
        if _NAME.fullmatch(name):
            yield MarkupCall(name, arguments or "{}", id)


def _separated(body: str) -> Iterator[MarkupCall]:
    """`<｜tool▁call▁begin｜>function<｜tool▁sep｜>f`, then fenced JSON; or the name first, JSON behind the mark."""
    for kind, rest in _SEPARATED.findall(body):
        tagged = list(_tagged(_PREFIX.sub(r"\1", rest)))
        if tagged:
            yield from tagged
            continue
        fence = _FENCE.search(rest)
        name = rest[: fence.start()].strip() if fence else kind.strip()
        arguments = fence[1] if fence else rest.strip()
        if _NAME.fullmatch(name):
            yield MarkupCall(name, arguments or "{}")


def _json(body: str) -> Iterator[MarkupCall]:
    """`{"name": …, "arguments": {…}}`, one or a list of them; `parameters` is the same."""
    try:
        value = loads(body)
    except ValueError:
        return
    for entry in value if isinstance(value, list) else [value]:
        entry = entry.get("function", entry) if isinstance(entry, dict) else entry
        if isinstance(entry, dict) and isinstance(name := entry.get("name"), str) and name:
            arguments = entry.get("arguments", entry.get("parameters", {}))
            id = entry.get("id")
            text = arguments if isinstance(arguments, str) else dumps(arguments)
            yield MarkupCall(name, text, id if isinstance(id, str) and id else None)


def _named(body: str) -> Iterator[MarkupCall]:
    """A bare name, then `<arg_key>`s and `<arg_value>`s, or one JSON object, or nothing."""
    match = _NAME.match(body)
    if match is None:
        return
    rest = body[match.end() :].removeprefix("[ARGS]").strip()
    pairs = _KEYED.findall(rest)
    if pairs:
        yield MarkupCall(match[0], dumps({key.strip(): _value(text, is_text=False) for key, text in pairs}))
    elif not rest or rest.startswith("{"):
        yield MarkupCall(match[0], rest or "{}")


def _value(text: str, *, is_text: bool) -> Any:
    """A parameter: text as it stands, or JSON where it is JSON other than a string."""
    if is_text:
        return text
    stripped = text.removeprefix("\n").removesuffix("\n")
    try:
        value = loads(stripped)
    except ValueError:
        return stripped
    return stripped if isinstance(value, str) else value
