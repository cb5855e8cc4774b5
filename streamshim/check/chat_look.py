"""A look at the chunks of a chat stream, or of its older sister."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..decode.deltas import is_flagged
from .faults import Sighting
from .payloads import Payload

if TYPE_CHECKING:
    from .reading import Reading

_WORDS = ("content", "refusal", "reasoning_content", "reasoning", "tool_calls", "function_call")


class ChatLook:
    """Goes over the chunks once, and notes what is odd about them."""

    def __init__(self, payloads: Sequence[Payload], exchange: Reading) -> None:
        """Nothing is looked at until `sightings` is asked for."""
        self._payloads = payloads
        self._exchange = exchange
        self._is_chat = exchange.request.api == "chat" or exchange.response.api == "chat"
        self._found: list[Sighting] = []
        self._payload = Payload(None, {}, "")
        self._id: Any = None
        self._spoken: set[int] = set()
        self._finished: set[int] = set()
        self._with_calls: set[int] = set()
        self._calls: dict[Any, Any] = {}
        """The id of each call, by choice and index."""
        self._arguments = ""
        self._usages: list[bool] = []
        """For each chunk with token counts, whether it has no choices."""
        self._counted: Payload | None = None

    def sightings(self) -> Iterator[Sighting]:
        """Every departure, in order of appearance."""
        for payload in self._payloads:
            self._payload = payload
            self._chunk(payload.value)
        self._end()
        yield from self._found

    def _note(self, fault: str, detail: str) -> None:
        self._found.append(Sighting(fault, detail, self._payload.text))

    def _chunk(self, chunk: dict[str, Any]) -> None:
        choices = chunk.get("choices")
        if choices is None:
            self._note("choices-missing", f"the members are {', '.join(chunk) or 'none'}")
        choices = choices if isinstance(choices, list) else []
        if choices:
            self._head(chunk)
        for choice in choices:
            if isinstance(choice, dict):
                self._choice(choice)
        if chunk.get("usage") is not None:
            self._usages.append(not choices)
            self._counted = self._payload

    def _head(self, chunk: dict[str, Any]) -> None:
        id, kind = chunk.get("id"), chunk.get("object")
        expected = "chat.completion.chunk" if self._is_chat else "text_completion"
        self._id = self._id or id
        if not id or id != self._id:
            self._note("chunk-id", f"the id is {id!r}" + (f", not {self._id!r}" if self._id and id else ""))
        if kind != expected:
            self._note("chunk-object", f"the object is {kind!r}")
        if not isinstance(chunk.get("model"), str) or not isinstance(chunk.get("created"), int):
            self._note("chunk-head", f"the model is {chunk.get('model')!r}, the time {chunk.get('created')!r}")

    def _choice(self, choice: dict[str, Any]) -> None:
        index = choice.get("index")
        if not isinstance(index, int):
            self._note("choice-index-missing", f"the index is {index!r}")
            index = 0
        delta = choice.get("delta") if self._is_chat else {"content": choice.get("text")}
        if not isinstance(delta, dict):
            self._note("delta-missing", f"the members are {', '.join(choice)}")
            delta = choice["message"] if isinstance(choice.get("message"), dict) else {}
        elif self._is_chat:
            self._role(index, delta)
        if isinstance(delta.get("content"), list):
            self._note("content-parts", "the content is a list")
        elif delta.get("content") and is_flagged(delta.get("extra_content")):
            self._note("reasoning-in-text", "the content is thought, and only a flag beside it says so")
        says = any(delta.get(member) for member in _WORDS)
        if says and index in self._finished:
            self._note("text-after-finish", f"choice {index} was finished")
        self._calls_of(index, delta)
        self._finish(index, choice.get("finish_reason"))

    def _role(self, index: int, delta: dict[str, Any]) -> None:
        role = delta.get("role")
        if index not in self._spoken:
            if not role:
                self._note("role-missing", f"the first delta of choice {index} has no role")
        elif role:
            self._note("role-repeated", f"the role {role!r} came before")
        self._spoken.add(index)

    def _finish(self, index: int, word: Any) -> None:
        if word == "":
            self._note("finish-empty", "the finish word is an empty text")
        elif word is not None:
            if index in self._finished:
                self._note("finish-repeated", f"choice {index} was finished, and is again: {word!r}")
            self._finished.add(index)

    def _calls_of(self, index: int, delta: dict[str, Any]) -> None:
        entries = delta.get("tool_calls")
        if isinstance(call := delta.get("function_call"), dict):
            self._with_calls.add(index)
            self._arguments += str(call.get("arguments") or "")
        for entry in entries if isinstance(entries, list) else ():
            if isinstance(entry, dict):
                self._with_calls.add(index)
                self._call(index, entry)

    def _call(self, index: int, entry: dict[str, Any]) -> None:
        number = entry.get("index")
        function = entry.get("function")
        name = function.get("name") if isinstance(function, dict) else None
        if not isinstance(number, int):
            self._note("tool-index-missing", f"the index of a fragment is {number!r}")
        id = entry.get("id")
        if isinstance(function, dict) and isinstance(function.get("arguments"), str | dict):
            self._arguments += str(function["arguments"])
        if (index, number) in self._calls:
            if id and id in ("null", self._calls[index, number]):
                self._note("tool-id-repeated", f"the id {id!r} comes again")
        elif name:
            if not entry.get("type"):
                self._note("call-type-missing", f"the call of {name} has no type")
            if isinstance(number, int) and number != sum(of == index for of, _ in self._calls):
                self._note("tool-index-gap", f"the index is {number}")
            self._calls[index, number] = id

    def _usage(self, asked: bool) -> None:
        """Counts that come once, unasked and beside the finish word harm nobody."""
        if len(self._usages) > 1:
            self._note("usage-repeated", f"{len(self._usages)} chunks have token counts")
        elif self._usages and asked and not self._usages[0]:
            self._note("usage-beside-choices", "the chunk with the token counts has choices")
        elif self._usages and self._usages[0] and not asked and self._exchange.request.is_live:
            self._note("usage-unasked", "stream_options.include_usage was not given")
        elif not self._usages and asked and self._exchange.end.usage:
            self._note("usage-elsewhere", "no chunk has `usage`, and yet token counts came")
        elif not self._usages and asked:
            self._note("usage-missing", "no chunk has token counts")

    def _end(self) -> None:
        request, status = self._exchange.request, self._exchange.end.status
        if request.cut or status not in ("completed", "incomplete"):
            return
        self._payload = self._payloads[-1] if self._payloads else self._payload
        for index in sorted(self._spoken - self._finished - self._with_calls):
            self._note("finish-missing", f"choice {index} has no finish word")
        self._end_calls()
        self._payload = self._counted or self._payload
        self._usage(asked=bool((request.body or {}).get("stream_options")))

    def _end_calls(self) -> None:
        """Calls of which no argument came: the empty object that they end with is ours."""
        response = self._exchange.response
        is_told = "tool-arguments-empty" in response.repairs
        if self._with_calls and not self._arguments.strip() and not is_told and response.tool_calls:
            self._note("call-arguments-missing", f"the call of {response.tool_calls[0].name} has no arguments")
