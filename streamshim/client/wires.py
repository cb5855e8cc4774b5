"""What a request looks like on either API: its path, its input, its members."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, TypeAlias

from ..bridge import LeftOut, UnsupportedMemberError, responses_members
from ..history import Conversation, check_input, raise_for_findings
from ..history.content_parts import FOREIGN_PARTS, HistoryApi
from .options import chat_members_of
from .tool import Toolbox

if TYPE_CHECKING:
    from ..encode.history import ItemReasoning, ReasoningReplay
    from ..history import StoredState
    from ..history.stored_state import StateKeeper
    from .output_format import OutputFormat

ModelInput: TypeAlias = str | Conversation | Sequence[Mapping[str, Any]]
"""What a model is asked: a text, a conversation, content parts of one message, or the messages or items of an API."""

_PARTS = frozenset(name for parts in FOREIGN_PARTS.values() for pair in parts.items() for name in pair) - {
    "output_text"
}
_ENCRYPTED_THOUGHT = "reasoning.encrypted_content"


@dataclass(slots=True)
class Asked:
    """What one request asks for, in the words of neither API.

    Attributes:
        input: the conversation, or the messages or items as they were given.
        tools: what may be called.
        model: who is asked.
        options: what `RequestOptions` has for the request.
        format: the form of the answer.
    """

    input: Conversation | str | list[dict[str, Any]]
    tools: Toolbox
    model: str | None
    options: Mapping[str, Any] = field(default_factory=dict)
    format: OutputFormat | None = None

    @property
    def conversation(self) -> Conversation | None:
        """The conversation that the answer belongs to, where one was given."""
        return self.input if isinstance(self.input, Conversation) else None

    @property
    def instructions(self) -> str | None:
        """The system prompt."""
        own = self.conversation.instructions if self.conversation is not None else None
        given: str | None = self.options.get("instructions")
        return own if given is None else given

    def chat_members(self) -> dict[str, Any]:
        """What a chat request asks for, but for the input. What is said of tools is left out where there are none."""
        members = chat_members_of(self.options)
        if self.format is not None:
            members["response_format"] = self.format.member
        if self.tools:
            return {"tools": self.tools.declarations(), **members}
        return {name: value for name, value in members.items() if name not in _OF_TOOLS}

    @property
    def extra(self) -> dict[str, Any]:
        """Members that the caller gave as the API has them."""
        return dict(self.options.get("extra") or {})


def as_input(given: Any) -> Conversation | str | list[dict[str, Any]]:
    """The input, which is to be a `ModelInput`: content parts alone become the words of a user.

    Raises:
        TypeError: it is nothing that can be asked.
    """
    if isinstance(given, Conversation | str):
        return given
    if isinstance(given, Mapping | bytes) or not isinstance(given, Sequence):
        raise TypeError(f"{given!r} cannot be asked: give a text, a Conversation, or a list of messages or items")
    items: list[Any] = [dict(item) if isinstance(item, Mapping) else item for item in given]
    if items and all(isinstance(item, dict) and item.get("type") in _PARTS for item in items):
        conversation = Conversation()
        conversation.user(items)
        return conversation
    return items


class Wire(Protocol):
    """One of the two APIs, as far as requests go."""

    api: ClassVar[HistoryApi]
    path: ClassVar[str]

    def body(self, asked: Asked, state: StoredState | None, left_out: list[LeftOut] | None) -> dict[str, Any]:
        """The request.

        Args:
            asked: what is asked.
            state: of a conversation that the server may hold.
            left_out: is told what the API cannot be asked for; without it, that is refused.

        Raises:
            InputError: the messages or items are not what the API reads.
            UnsupportedMemberError: the API cannot be asked for an option.
            ValueError: a call of the conversation waits for its result.
        """
        ...


class ChatWire:
    """Chat Completions."""

    api: ClassVar[HistoryApi] = "chat"
    path: ClassVar[str] = "chat/completions"

    def __init__(
        self,
        reasoning: ReasoningReplay = "tool_turns",
        instructions_role: Literal["system", "developer"] = "system",
    ) -> None:
        """Both as in `Conversation.to_chat_messages`."""
        self._reasoning: ReasoningReplay = reasoning
        self._role: Literal["system", "developer"] = instructions_role

    def body(
        self,
        asked: Asked,
        state: StoredState | None,  # noqa: ARG002 -- no server keeps any here
        left_out: list[LeftOut] | None,  # noqa: ARG002 -- the options are those of this API
    ) -> dict[str, Any]:
        """The request."""
        streamed = {"stream": True, "stream_options": {"include_usage": True}}
        said = {"model": asked.model, "messages": self._messages(asked)}
        body = {**said, **asked.chat_members(), **streamed, **asked.extra}
        return {name: value for name, value in body.items() if value is not None}

    def _messages(self, asked: Asked) -> list[dict[str, Any]]:
        given = asked.input
        head = [{"role": self._role, "content": asked.instructions}] if asked.instructions is not None else []
        if isinstance(given, str):
            return [*head, {"role": "user", "content": given}]
        if isinstance(given, Conversation):
            messages = given.to_chat_messages(reasoning=self._reasoning)
            return [*head, *(messages if given.instructions is None else messages[1:])]
        raise_for_findings(check_input(given, "chat"))
        return [*head, *given]


class ResponsesWire:
    """Responses."""

    api: ClassVar[HistoryApi] = "responses"
    path: ClassVar[str] = "responses"

    def __init__(self, reasoning: ItemReasoning = "as_received", state: StateKeeper = "auto") -> None:
        """`reasoning` as in `Conversation.to_response_items`, `state` as in `StoredState`."""
        self.reasoning: ItemReasoning = reasoning
        self._state: StateKeeper = state

    def body(self, asked: Asked, state: StoredState | None, left_out: list[LeftOut] | None) -> dict[str, Any]:
        """The request; of a conversation as its stored state has it."""
        kept = _kept_by_the_client(asked) if self._state == "client" else {}
        body = {
            "model": asked.model,
            **({"instructions": asked.instructions} if asked.instructions is not None else {}),
            **self._input(asked, state),
            **kept,
            **_responses_members(asked.chat_members(), left_out),
            "stream": True,
            **asked.extra,
        }
        return {name: value for name, value in body.items() if value is not None}

    def _input(self, asked: Asked, state: StoredState | None) -> dict[str, Any]:
        given = asked.input
        if isinstance(given, str):
            return {"input": [{"role": "user", "content": given}]}
        if isinstance(given, Conversation):
            return state.request(given) if state else {"input": given.to_response_items(reasoning=self.reasoning)}
        continued = any(asked.extra.get(name) for name in ("previous_response_id", "conversation"))
        raise_for_findings(check_input(given, "responses", continued=continued))
        return {"input": given}


_OF_TOOLS = frozenset(("tool_choice", "parallel_tool_calls"))
"""What servers refuse where there are no tools."""


def _responses_members(members: dict[str, Any], left_out: list[LeftOut] | None) -> dict[str, Any]:
    """The members on the Responses API; what it has no word for is told, if it may be left out.

    Raises:
        UnsupportedMemberError: it may not.
    """
    while True:
        try:
            return responses_members(members, left_out=left_out)
        except UnsupportedMemberError as problem:
            if left_out is None or problem.param not in members:
                raise
            left_out.append(LeftOut(problem.param, str(problem)))
            members = {name: value for name, value in members.items() if name != problem.param}


def _kept_by_the_client(asked: Asked) -> dict[str, Any]:
    """The server is to keep nothing; and so that thought can go back, it is asked for in a form that can."""
    thinks = asked.options.get("reasoning_effort") not in (None, "none")
    return {"store": False, **({"include": [_ENCRYPTED_THOUGHT]} if thinks else {})}
