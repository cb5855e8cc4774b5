"""Habits of chat servers in how they write tool calls."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from typing import Any

from .manners import Stage, choices_of, each_call, habit
from .question import Json

Chunks = list[Json]


def entries_of(chunks: Chunks) -> Iterator[Json]:
    """Every entry of `tool_calls`, in order."""
    for choice in choices_of(chunks):
        yield from choice["delta"].get("tool_calls") or ()


# -- ids, indices, names ----------------------------------------------------------------------------------------------


@each_call("calls-without-id")
def calls_without_id(entry: Json) -> None:
    entry.pop("id", None)


@each_call("calls-with-empty-id")
def calls_with_empty_id(entry: Json) -> None:
    entry["id"] = ""


@each_call("calls-with-null-word-id", whole=False)
def calls_with_null_word_id(entry: Json) -> None:
    """Later pieces have the word "null" for an id, and an empty name."""
    if "id" not in entry:
        entry["id"] = "null"
        entry["function"]["name"] = ""


@each_call("empty-id-on-pieces", whole=False)
def empty_id_on_pieces(entry: Json) -> None:
    if "id" not in entry:
        entry.update(id="", type="function")


@each_call("null-names-on-pieces", whole=False)
def null_names_on_pieces(entry: Json) -> None:
    if "id" not in entry:
        entry["id"] = None
        entry["function"]["name"] = None


@each_call("calls-without-index", whole=False)
def calls_without_index(entry: Json) -> None:
    entry.pop("index", None)


@each_call("calls-at-index-zero", whole=False)
def calls_at_index_zero(entry: Json) -> None:
    entry["index"] = 0


@each_call("calls-from-index-one", whole=False)
def calls_from_index_one(entry: Json) -> None:
    entry["index"] += 1


@each_call("index-as-text", whole=False)
def index_as_text(entry: Json) -> None:
    entry["index"] = str(entry["index"])


@habit("call-ids-change", Stage.CHUNKS)
def call_ids_change(chunks: Chunks) -> None:
    numbers = itertools.count(1)
    for entry in entries_of(chunks):
        entry["id"] = f"call_{next(numbers)}"


def _head_by_index(chunks: Chunks) -> dict[int, Json]:
    """The first entry of each call."""
    heads: dict[int, Json] = {}
    for entry in entries_of(chunks):
        heads.setdefault(entry["index"], entry)
    return heads


@habit("names-repeated", Stage.CHUNKS)
def names_repeated(chunks: Chunks) -> None:
    """Name and id come with every piece."""
    heads = _head_by_index(chunks)
    for entry in entries_of(chunks):
        head = heads[entry["index"]]
        entry.update(id=head["id"], type="function")
        entry["function"] = {"name": head["function"]["name"], **entry["function"]}


@each_call("name-markup")
def name_markup(entry: Json) -> None:
    if entry["function"].get("name"):
        entry["function"]["name"] += "<|channel|>commentary"


@each_call("numbered-call-ids")
def numbered_call_ids(entry: Json) -> None:
    if entry.get("id"):
        entry["id"] = f"functions.{entry['function']['name']}:{entry.get('index', entry['id'])}"


@each_call("no-call-type", whole=False)
def no_call_type(entry: Json) -> None:
    entry.pop("type", None)


# -- arguments --------------------------------------------------------------------------------------------------------


def _gather(chunks: Chunks) -> tuple[list[Json], list[Json]]:
    """The calls, whole; and the chunks with their first pieces. Chunks that had only later pieces are taken out."""
    calls: dict[Any, Json] = {}
    kept: list[Json] = []
    for chunk in list(chunks):
        entries = list(entries_of([chunk]))
        for entry in entries:
            if entry["index"] in calls:
                calls[entry["index"]]["function"]["arguments"] += entry["function"]["arguments"]
            else:
                calls[entry["index"]] = entry
                kept.append(chunk)
        if entries and chunk not in kept:
            chunks.remove(chunk)
    return list(calls.values()), kept


def _whole_calls(name: str, change: Callable[[list[Json]], object] = lambda calls: None) -> None:
    """A habit that writes each call in one chunk, as `change` likes them."""

    def gather(chunks: Chunks) -> None:
        change(_gather(chunks)[0])

    habit(name, Stage.CHUNKS)(gather)


def _each(change: Callable[[Json], object]) -> Callable[[list[Json]], object]:
    return lambda calls: [change(call) for call in calls]


def arguments_as_object(entry: Json) -> None:
    entry["function"]["arguments"] = json.loads(entry["function"]["arguments"] or "{}")


def one_call_id(entry: Json) -> None:
    """All calls, whole, have one id."""
    entry["id"] = "call_1"


def null_word_arguments(entry: Json) -> None:
    if entry["function"]["arguments"] == "{}":
        entry["function"]["arguments"] = "null"


def no_empty_arguments(entry: Json) -> None:
    if entry["function"]["arguments"] in ("", "{}"):
        entry["function"]["arguments"] = None


def broken_arguments(entry: Json) -> None:
    """The closing brace is lost, and nobody says so."""
    entry["function"]["arguments"] = entry["function"]["arguments"].rstrip().removesuffix("}")


_whole_calls("whole-calls")
_whole_calls("arguments-as-object", _each(arguments_as_object))
_whole_calls("one-call-id", _each(one_call_id))
_whole_calls("arguments-null-word", _each(null_word_arguments))
_whole_calls("arguments-null", _each(no_empty_arguments))
_whole_calls("broken-arguments", _each(broken_arguments))


def _in_messages(name: str, change: Callable[[Json], object]) -> None:
    def change_body(body: Json) -> None:
        for choice in body["choices"]:
            for entry in choice["message"].get("tool_calls") or ():
                change(entry)

    habit(name, Stage.CHAT_BODY)(change_body)


_in_messages("arguments-as-object", arguments_as_object)
_in_messages("one-call-id", one_call_id)
_in_messages("arguments-null-word", null_word_arguments)
_in_messages("arguments-null", no_empty_arguments)
_in_messages("broken-arguments", broken_arguments)


@habit("calls-with-the-finish", Stage.CHUNKS)
def calls_with_the_finish(chunks: Chunks) -> None:
    """All calls, whole, in the chunk with the finish word."""
    calls, kept = _gather(chunks)
    if not calls:
        return
    for chunk in kept:
        chunks.remove(chunk)
    finish = next(choice for choice in choices_of(chunks) if choice.get("finish_reason"))
    finish["delta"]["tool_calls"] = calls


@habit("arguments-again", Stage.CHUNKS)
def arguments_again(chunks: Chunks) -> Chunks:
    """After its last piece each call comes once more, whole and encoded twice."""
    wholes: dict[int, str] = {}
    heads = _head_by_index(chunks)
    for entry in entries_of(chunks):
        wholes[entry["index"]] = wholes.get(entry["index"], "") + entry["function"]["arguments"]
    last = {entry["index"]: chunk for chunk in chunks for entry in entries_of([chunk])}
    told = []
    for chunk in chunks:
        told.append(chunk)
        for index in [index for index, home in last.items() if home is chunk]:
            name = heads[index]["function"]["name"]
            again = {**heads[index], "function": {"name": name, "arguments": json.dumps(wholes[index])}}
            told.append({**chunk, "choices": [{**chunk["choices"][0], "delta": {"tool_calls": [again]}}]})
    return told


@habit("arguments-glued", Stage.CHUNKS)
def arguments_glued(chunks: Chunks) -> None:
    """The second call goes on where the first one ended, with a name but neither id nor index of its own."""
    for entry in entries_of(chunks):
        if entry["index"]:
            entry.pop("id", None)
            entry["index"] = 0


# -- other forms ------------------------------------------------------------------------------------------------------


@habit("function-call", Stage.REQUEST)
def only_one_call(body: Json) -> None:
    """The deprecated form has no room for a second one."""
    if body.get("tools"):
        body["parallel_tool_calls"] = False


@habit("function-call", Stage.CHUNKS)
def function_call(chunks: Chunks) -> None:
    """Calls in the deprecated form."""
    for choice in choices_of(chunks):
        for entry in choice["delta"].pop("tool_calls", None) or ():
            choice["delta"]["function_call"] = entry["function"]
        if choice.get("finish_reason") == "tool_calls":
            choice["finish_reason"] = "function_call"


@habit("function-call", Stage.CHAT_BODY)
def function_call_in_body(body: Json) -> None:
    for choice in body["choices"]:
        if calls := choice["message"].pop("tool_calls", None):
            choice["message"]["function_call"] = calls[0]["function"]
            choice["finish_reason"] = "function_call"


def _json_markup(calls: list[tuple[str, Json]]) -> str:
    return "".join(
        f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>\n"
        for name, arguments in calls
    )


def _dsml_markup(calls: list[tuple[str, Json]]) -> str:
    bar = "｜DSML｜"
    told = "".join(
        f'<{bar}invoke name="{name}">'
        + "".join(
            f'<{bar}parameter name="{key}" string="true">{value}</{bar}parameter>' for key, value in arguments.items()
        )
        + f"</{bar}invoke>"
        for name, arguments in calls
    )
    return f"<{bar}function_calls>{told}</{bar}function_calls>"


def _section_markup(calls: list[tuple[str, Json]]) -> str:
    told = "".join(
        f"<|tool_call_begin|>functions.{name}:{at}<|tool_call_argument_begin|>{json.dumps(arguments)}<|tool_call_end|>"
        for at, (name, arguments) in enumerate(calls)
    )
    return f"<|tool_calls_section_begin|>{told}<|tool_calls_section_end|>"


def _argument_markup(calls: list[tuple[str, Json]]) -> str:
    return "".join(
        f"<tool_call>{name}\n"
        + "".join(f"<arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>\n" for key, value in arguments.items())
        + "</tool_call>\n"
        for name, arguments in calls
    )


def _minimax_markup(calls: list[tuple[str, Json]]) -> str:
    return "".join(
        f'<minimax:tool_call><invoke name="{name}">'
        + "".join(f'<parameter name="{key}">{value}</parameter>' for key, value in arguments.items())
        + "</invoke></minimax:tool_call>"
        for name, arguments in calls
    )


def _markup(name: str, write: Callable[[list[tuple[str, Json]]], str]) -> None:
    """A habit of calls that leak into the text as the markup of the model's template; the finish word is `stop`."""

    def spelled(calls: list[Json]) -> str:
        return write([(call["function"]["name"], json.loads(call["function"]["arguments"])) for call in calls])

    def change(chunks: Chunks) -> None:
        calls, kept = _gather(chunks)
        if not calls:
            return
        for chunk in kept:
            chunk["choices"][0]["delta"].pop("tool_calls")
        text = spelled(calls)
        pieces = [text[start : start + 9] for start in range(0, len(text), 9)]
        place = chunks.index(kept[0])
        for chunk in kept:
            chunks.remove(chunk)
        shell = kept[0]
        for piece in reversed(pieces):
            choice = {**shell["choices"][0], "delta": {"content": piece}}
            chunks.insert(place, {**shell, "choices": [choice]})
        for choice in choices_of(chunks):
            if choice.get("finish_reason") == "tool_calls":
                choice["finish_reason"] = "stop"

    def change_body(body: Json) -> None:
        for choice in body["choices"]:
            if calls := choice["message"].pop("tool_calls", None):
                choice["message"]["content"] = spelled(calls)
                choice["finish_reason"] = "stop"

    habit(name, Stage.CHUNKS)(change)
    habit(name, Stage.CHAT_BODY)(change_body)


_markup("calls-in-text", _json_markup)
_markup("calls-in-text-dsml", _dsml_markup)
_markup("calls-in-text-sections", _section_markup)
_markup("calls-in-text-arguments", _argument_markup)
_markup("calls-in-text-invoke", _minimax_markup)
