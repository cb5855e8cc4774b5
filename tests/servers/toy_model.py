"""The toy model: it looks at the conversation and always gives the same answer to the same question."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from .question import Call, Json, Question, Tool, Turn

THOUGHT = "Let me think about it."
_CALL_EXAMPLE = re.compile(r"<tool_call>(.*?)</tool_call>", re.DOTALL)
_CALL_RESULT = re.compile(r"<tool_response>\s*(.*?)\s*</tool_response>", re.DOTALL)
_REMEMBER = re.compile(r"Remember the word (\w+)")


@dataclass
class Answer:
    """What the model says: thought, then text, then calls."""

    reasoning: str = ""
    text: str = ""
    calls: list[Call] = field(default_factory=list)


def answer(question: Question) -> Answer:
    """The model's answer, before any limit of the request cuts it."""
    said = _say(question, _newest_user_turn(question.turns))
    if question.thinks:
        said.reasoning = THOUGHT
    return said


def _newest_user_turn(turns: list[Turn]) -> int:
    """Its place; -1 where no user has spoken."""
    return max((place for place, turn in enumerate(turns) if turn.role == "user"), default=-1)


def _say(question: Question, place: int) -> Answer:
    asked = question.turns[place] if place >= 0 else Turn("user")
    since = question.turns[place + 1 :]
    results = [turn.text for turn in since if turn.role == "tool"]
    if calls := _calls(question, asked.text, sum(turn.calls for turn in since)):
        return Answer(calls=calls)
    if question.schema is not None:
        return Answer(text=json.dumps(instance_of(question.schema, question.schema)))
    if results := results or _CALL_RESULT.findall(asked.text):
        return Answer(text="Results: " + "; ".join(results))
    return Answer(text=_written_calls(question, asked.text) or _reply(question, asked))


def _reply(question: Question, asked: Turn) -> str:
    text = asked.text
    if asked.images and "image" in text:
        return "I see an image."
    if said := re.search(r"Say exactly: (.*)", text, re.DOTALL):
        return said[1]
    if counted := re.search(r"Count to (\d+)", text):
        return " ".join(str(number) for number in range(1, int(counted[1]) + 1))
    if "Which word did I ask you to remember?" in text:
        words = [word for turn in question.turns for word in _REMEMBER.findall(turn.text)]
        return words[-1] if words else "I do not know."
    if _REMEMBER.search(text):
        return "I will remember it."
    return f"You said: {text}"


# -- calls ------------------------------------------------------------------------------------------------------------


def _calls(question: Question, text: str, made: int) -> list[Call]:
    """The calls that are made now; `made` were made since the user spoke."""
    choice = question.tool_choice
    if choice == "none" or not question.tools:
        return []
    offered = [tool for tool in question.tools if choice in ("auto", "required", tool.name)]
    asked = calls_in(text, offered)
    if choice != "auto":
        asked = asked or [_made_up(offered[0])]
        made = 0
    if not question.parallel:
        return asked[made : made + 1]
    return [] if made else asked


def calls_in(text: str, tools: list[Tool]) -> list[Call]:
    """The calls of these tools that a text spells out, in order: `name({...})`, `name()`, `custom(any text)`."""
    if not tools:
        return []
    by_name = {tool.name: tool for tool in tools}
    names = "|".join(sorted(map(re.escape, by_name), key=len, reverse=True))
    found = []
    for match in re.finditer(rf"(?<![\w.-])({names})\(", text):
        arguments = _arguments_at(text, match.end(), by_name[match[1]].kind)
        if arguments is not None:
            found.append(Call(match[1], arguments, by_name[match[1]].kind))
    return found


def _arguments_at(text: str, start: int, kind: str) -> str | None:
    if kind == "custom":
        end = text.find(")", start)
        return text[start:end] if end >= 0 else None
    if text.startswith(")", start):
        return "{}"
    try:
        value, end = json.JSONDecoder().raw_decode(text, start)
    except ValueError:
        return None
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) and text.startswith(")", end) else None


def _made_up(tool: Tool) -> Call:
    if tool.kind == "custom":
        return Call(tool.name, "some text", "custom")
    return Call(tool.name, json.dumps(instance_of(tool.schema, tool.schema) if tool.schema.get("properties") else {}))


def _written_calls(question: Question, text: str) -> str:
    """Calls as text, in the form that the instructions show, where no tools are offered in any other way."""
    told = "\n".join(turn.text for turn in question.turns if turn.role in ("system", "developer"))
    if question.tools or not (example := _CALL_EXAMPLE.search(told)):
        return ""
    names = {name for name in re.findall(r"([\w-]+)\(", text) if name in told}
    member = "parameters" if '"parameters"' in example[1] and '"arguments"' not in example[1] else "arguments"
    calls = calls_in(text, [Tool(name) for name in names])
    spelled = [json.dumps({"name": call.name, member: json.loads(call.arguments)}) for call in calls]
    return "\n".join(f"<tool_call>\n{call}\n</tool_call>" for call in spelled)


# -- JSON -------------------------------------------------------------------------------------------------------------


def instance_of(schema: Any, root: Json) -> Any:
    """A value that fits a schema: small, and always the same."""
    if not isinstance(schema, dict):
        return {}
    if reference := schema.get("$ref"):
        return instance_of(_referenced(root, reference), root)
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return schema["enum"][0]
    if options := schema.get("anyOf") or schema.get("oneOf"):
        return instance_of(options[0], root)
    kind = schema.get("type", "object")
    return _instance_of_kind(kind[0] if isinstance(kind, list) else kind, schema, root)


def _instance_of_kind(kind: str, schema: Json, root: Json) -> Any:
    if kind == "object":
        members = schema.get("properties", {})
        return {name: instance_of(member, root) for name, member in members.items()} if members else {"answer": "text"}
    if kind == "array":
        return [instance_of(schema.get("items", {"type": "string"}), root)] * max(1, schema.get("minItems", 1))
    if kind in ("integer", "number"):
        return schema.get("minimum", 1)
    return {"string": "text".ljust(schema.get("minLength", 0), "."), "boolean": True, "null": None}[kind]


def _referenced(root: Json, reference: str) -> Any:
    found: Any = root
    for name in reference.removeprefix("#").strip("/").split("/"):
        found = found[name] if name else found
    return found
