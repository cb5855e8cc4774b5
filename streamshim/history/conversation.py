"""`Conversation`: what was said, answered and found out by tools, as the next request to either API must carry it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal, Self

from ..encode.history import chat_messages, response_items
from ..json_codec import dumps, loads
from .answers import Prepared, Result, calls_of, portable_response
from .content_parts import content_for, is_content

if TYPE_CHECKING:
    from ..encode.history import ItemReasoning, ReasoningReplay
    from ..events import ToolCallEnd
    from ..response_models import ModelResponse, ToolCallPart

_FORMAT = "streamshim.conversation"
_VERSION = 1


@dataclass(slots=True)
class _Said:
    """What the user said."""

    content: str | list[dict[str, Any]]

    def to_json(self) -> dict[str, Any]:
        return {"type": "user", "content": self.content}


@dataclass(slots=True)
class _Answered:
    """What came back, and the results of its calls by their place among all its calls."""

    response: ModelResponse
    key: str | None
    """Whose conversation it was answered in: nobody else's can be continued by its id."""
    items: list[dict[str, Any]] | None = None
    results: dict[int, Result] = field(default_factory=dict)

    def copy(self, *, portable: bool) -> _Answered:
        if not portable:
            return _Answered(self.response, self.key, self.items, dict(self.results))
        results = [self.results.get(at) for at, _ in calls_of(self.response)]
        response = portable_response(self.response)
        places = [at for at, _ in calls_of(response)]
        kept = {at: result for at, result in zip(places, results, strict=True) if result}
        return _Answered(response, self.key, None, kept)

    def to_json(self) -> dict[str, Any]:
        results = [{"call": at, "output": r.output, "is_error": r.is_error} for at, r in sorted(self.results.items())]
        response = self.response.model_dump(mode="json")
        return {"type": "answer", "key": self.key, "response": response, "items": self.items, "results": results}

    def unanswered(self) -> Iterator[tuple[int, ToolCallPart]]:
        return ((at, call) for at, call in calls_of(self.response) if at not in self.results)


class Conversation:
    """What the user said, what came back, and the results of tools. Not for several threads at once.

    Attributes:
        key: whom it belongs to, for a `ConversationStore`.
        instructions: goes first on the chat API. On the Responses API it is a parameter of its own, which every
            request must carry anew: stored answers do not pass it on.
    """

    def __init__(self, key: str | None = None, instructions: str | None = None) -> None:
        """Nothing was said yet."""
        self.key = key
        self.instructions = instructions
        self._entries: list[_Said | _Answered] = []

    def __len__(self) -> int:
        """How often somebody spoke: what users said, and answers."""
        return len(self._entries)

    def __repr__(self) -> str:
        return f"<Conversation key={self.key!r}: {len(self)} entries, {len(self.unanswered_calls)} calls to answer>"

    # -- growing ------------------------------------------------------------------------------------------------------

    def user(self, content: str | Sequence[Mapping[str, Any]]) -> None:
        """The user speaks.

        Args:
            content: text, or content parts in the words of either API (`text` or `input_text`, `image_url` or
                `input_image` …).

        Raises:
            ValueError: it is neither, or cannot be written as JSON.
        """
        said = content if isinstance(content, str) else _as_json(list(content), "the content")
        if not isinstance(said, str) and not is_content(said):
            raise ValueError("the content must be text, or a list of objects that have a `type`")
        self._entries.append(_Said(said))

    def answer(self, response: ModelResponse, items: Sequence[Mapping[str, Any]] | None = None) -> None:
        """What came back.

        Args:
            response: whole or cut, but over. What it carries on is decided when it is asked for: never a cut call.
            items: of the Responses API, the output items as they came, for what is not modelled (the namespace of a
                call, say). Without them they are written anew.

        Raises:
            ValueError: the response still runs, or the items are no objects with a `type`.
        """
        if response.status is None:
            raise ValueError("the response still runs: give it once its stream has ended")
        verbatim = None if items is None else _as_json(list(items), "an item")
        if verbatim and not is_content(verbatim):
            raise ValueError("the items must be objects that have a `type`")
        self._entries.append(_Answered(response, self.key, verbatim))

    def tool_result(self, call: ToolCallPart | ToolCallEnd | str, output: Any, is_error: bool = False) -> None:
        """The result of a call that waits for one.

        Args:
            call: the call, or its id.
            output: as in `streamshim.tool_result`: text, content parts, or any JSON value.
            is_error: the tool failed, and `output` says why. Neither API has a mark for it: a function's or custom
                tool's goes back as `{"error": output}`.

        Raises:
            ValueError: no call of this id waits for a result, or the output cannot be written as JSON.
        """
        call_id = call if isinstance(call, str) else call.call_id
        for answered in self._answers():
            for at, waiting in answered.unanswered():
                if waiting.call_id == call_id:
                    answered.results[at] = Result(_as_json(output, "the output"), is_error)
                    return
        waiting_ids = ", ".join(call.call_id for call in self.unanswered_calls) or "none"
        raise ValueError(f"no call {call_id!r} waits for a result (waiting: {waiting_ids}); a cut call is owed none")

    def decline_calls(self, reason: str = "The tool was not run.") -> None:
        """Answer every call that still waits with an error, so that the conversation can go on without it."""
        for answered in self._answers():
            for at, _ in list(answered.unanswered()):
                answered.results[at] = Result(reason, is_error=True)

    # -- reading ------------------------------------------------------------------------------------------------------

    @property
    def answers(self) -> list[ModelResponse]:
        """All that came back, in order."""
        return [answered.response for answered in self._answers()]

    @property
    def own_answers(self) -> list[ModelResponse]:
        """Those that came while it belonged to whom it belongs now: the others' ids are not its own to continue."""
        return [answered.response for answered in self._answers() if answered.key == self.key]

    @property
    def unanswered_calls(self) -> list[ToolCallPart]:
        """The calls that must have a result before the next request."""
        return [call for answered in self._answers() for _, call in answered.unanswered()]

    def _answers(self) -> Iterator[_Answered]:
        return (entry for entry in self._entries if isinstance(entry, _Answered))

    def fork(self, *, key: str | None = None, length: int | None = None, portable: bool = False) -> Conversation:
        """Another conversation that begins as this one and then goes its own way.

        Args:
            key: whom the new one belongs to; that of this one if left out. Another one's requests carry everything:
                what a server keeps for one is not continued for another.
            length: how many entries it takes over; all if left out.
            portable: leave out what only the vendor that made it can read: signed and encrypted thought, compacted
                history, items as they came, the calls that it ran. For going on at another vendor.
        """
        other = Conversation(self.key if key is None else key, self.instructions)
        other._entries = [
            entry.copy(portable=portable) if isinstance(entry, _Answered) else entry for entry in self._entries[:length]
        ]
        return other

    # -- what the next request carries --------------------------------------------------------------------------------

    def to_chat_messages(
        self,
        *,
        reasoning: ReasoningReplay = "tool_turns",
        instructions_role: Literal["system", "developer"] = "system",
    ) -> list[dict[str, Any]]:
        """The `messages` of the next chat request. They always pass `check_input`.

        Args:
            reasoning: "tool_turns": the thought of every turn in which a tool was called (a turn goes from one word of
                the user's to the next); "always": all thought, and `""` beside calls without any; "details": all
                thought as `reasoning_details`; "in_content": all thought, between think tags before the text;
                "never".
            instructions_role: the role of the instructions.

        Raises:
            ValueError: a call waits for its result.
        """
        self._refuse_unanswered()
        messages: list[dict[str, Any]] = []
        if self.instructions is not None:
            messages.append({"role": instructions_role, "content": self.instructions})
        used_ids: set[str] = set()
        turns = list(zip(self._turns(), self._entries, strict=True))
        tool_turns = {turn for turn, entry in turns if isinstance(entry, _Answered) and any(calls_of(entry.response))}
        for turn, entry in turns:
            if isinstance(entry, _Said):
                messages.append({"role": "user", "content": content_for(entry.content, "chat")})
                continue
            prepared = Prepared(entry.response, None, entry.results, used_ids, "chat")
            # a thought without a call belongs to the tools as well where one was called in its turn
            all_thought = reasoning == "tool_turns" and turn in tool_turns and not prepared.has_calls
            messages += chat_messages(prepared.response, reasoning="always" if all_thought else reasoning)
            messages += prepared.results()
        return messages

    def to_response_items(
        self, *, reasoning: ItemReasoning = "as_received", keep_ids: bool = False
    ) -> list[dict[str, Any]]:
        """The `input` of the next Responses request: everything since the newest compaction, or from the beginning.

        They always pass `check_input`. The instructions are not among them: give them as `instructions`.

        Args:
            reasoning: "as_received": thought that came as an item goes back as that item; "always": also what came on
                the chat API, as readable thought; "never".
            keep_ids: keep the ids of items, for the vendor that made and stored them. One that does not know them
                refuses them.

        Raises:
            ValueError: a call waits for its result.
        """
        items = self._items(-1, reasoning=reasoning, keep_ids=keep_ids)
        compacted = [at for at, item in enumerate(items) if item["type"] == "compaction"]
        return items[compacted[-1] :] if compacted else items

    def items_after(
        self, response_id: str, *, reasoning: ItemReasoning = "as_received", keep_ids: bool = False
    ) -> list[dict[str, Any]]:
        """What came behind an answer, the results of its calls included: the `input` beside `previous_response_id`.

        Raises:
            ValueError: no answer has this id, or a call waits for its result.
        """
        for at in range(len(self._entries) - 1, -1, -1):
            entry = self._entries[at]
            if isinstance(entry, _Answered) and entry.response.response_id == response_id:
                return self._items(at, reasoning=reasoning, keep_ids=keep_ids)
        raise ValueError(f"no answer of this conversation has the id {response_id!r}")

    def _items(self, behind: int, *, reasoning: ItemReasoning, keep_ids: bool) -> list[dict[str, Any]]:
        """The items behind an entry; of that entry itself, what its calls gave."""
        self._refuse_unanswered()
        items: list[dict[str, Any]] = []
        used_ids: set[str] = set()
        for at, entry in enumerate(self._entries):
            if isinstance(entry, _Said):
                if at > behind:
                    items.append(_user_item(entry.content))
                continue
            # what the server holds, it holds under the ids that it gave
            known_ids: set[str] = set() if at == behind else used_ids
            prepared = Prepared(entry.response, entry.items, entry.results, known_ids, "responses")
            used_ids |= known_ids
            if at > behind:
                items += response_items(prepared.response, keep_ids=keep_ids, reasoning=reasoning, items=prepared.items)
            if at >= behind:
                items += prepared.results()
        return items

    def _refuse_unanswered(self) -> None:
        if waiting := self.unanswered_calls:
            calls = ", ".join(f"{call.name} ({call.call_id})" for call in waiting)
            raise ValueError(f"calls wait for their results: {calls}; give them by tool_result(), or decline_calls()")

    def _turns(self) -> list[int]:
        """For each entry, how often the user had spoken: each word of theirs begins a turn."""
        return list(accumulate(isinstance(entry, _Said) for entry in self._entries))

    # -- JSON ---------------------------------------------------------------------------------------------------------

    def to_json(self) -> str:
        """The conversation as JSON text, for `from_json`."""
        entries = [entry.to_json() for entry in self._entries]
        head = {"format": _FORMAT, "version": _VERSION, "key": self.key, "instructions": self.instructions}
        return dumps({**head, "entries": entries})

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """The conversation that `to_json` wrote down.

        Raises:
            ValueError: the text is not JSON, no conversation, or of a newer version than is known.
        """
        data = loads(text)
        if not isinstance(data, dict) or data.get("format") != _FORMAT:
            raise ValueError(f"this is no conversation: there is no `format` that says {_FORMAT!r}")
        if data.get("version") != _VERSION:
            raise ValueError(f"a conversation of version {data.get('version')!r}: only {_VERSION} is known")
        conversation = cls(data.get("key"), data.get("instructions"))
        try:
            conversation._entries = [_entry(entry, conversation.key) for entry in data["entries"]]
        except (KeyError, TypeError) as problem:
            raise ValueError(f"an entry of the conversation is damaged: {problem!r}") from problem
        return conversation


def _entry(data: dict[str, Any], key: str | None) -> _Said | _Answered:
    from ..response_models import ModelResponse

    if data["type"] == "user":
        return _Said(data["content"])
    results = {entry["call"]: Result(entry["output"], entry["is_error"]) for entry in data["results"]}
    response = ModelResponse.model_validate(data["response"])
    return _Answered(response, data.get("key", key), data["items"], results)


def _user_item(content: str | list[dict[str, Any]]) -> dict[str, Any]:
    parts = [{"type": "input_text", "text": content}] if isinstance(content, str) else content_for(content, "responses")
    return {"type": "message", "role": "user", "content": parts}


def _as_json(value: Any, what: str) -> Any:
    """A copy of a value as JSON has it, which nobody else can change."""
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError) as problem:
        raise ValueError(f"{what} cannot be written as JSON: {problem}") from problem
