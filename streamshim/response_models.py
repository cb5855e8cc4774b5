"""What a stream said, as one value: `ModelResponse`, its choices and their parts.

Frozen pydantic models, so that the responses that a running stream shows may share the parts that are over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, Unpack

from pydantic import BaseModel, ConfigDict, Field

from .errors import ErrorInfo
from .events import (
    Api,
    Citation,
    EndStatus,
    FinishReason,
    ReasoningKind,
    ToolCallEnd,
    ToolKind,
    ToolProgress,
    ToolStatus,
    Unknown,
    Usage,
)

if TYPE_CHECKING:
    from .encode.history import ItemReasoning, ReasoningReplay
    from .encode.options import ChatBodyOptions, ResponsesOptions


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True)


class TextPart(_Model):
    """A piece of the answer. `logprobs` is the wire's own list, one entry for each token."""

    type: Literal["text"] = "text"
    part: int
    id: str | None = None
    phase: str | None = None
    text: str = ""
    logprobs: list[Any] | None = None


class ReasoningPart(_Model):
    """A thought. `signature` and `encrypted` are opaque: hand them back to the same vendor unchanged."""

    type: Literal["reasoning"] = "reasoning"
    part: int
    id: str | None = None
    kind: ReasoningKind = "raw"
    text: str = ""
    signature: str | None = None
    encrypted: str | None = None


class RefusalPart(_Model):
    """A refusal."""

    type: Literal["refusal"] = "refusal"
    part: int
    id: str | None = None
    text: str = ""


class ToolCallPart(_Model):
    """A tool call. `status` is None while it is open; `arguments` are what came so far.

    `progress` is what the call's tool told on its way.
    """

    type: Literal["tool_call"] = "tool_call"
    part: int
    id: str | None = None
    call_id: str
    name: str
    kind: ToolKind = "function"
    item_type: str | None = None
    arguments: str = ""
    status: ToolStatus | None = None
    signature: str | None = None
    progress: list[ToolProgress] = Field(default_factory=list)

    @property
    def answered(self) -> bool:
        """Whether a call of a builtin tool has its output in the same response: a gateway ran it for the reader."""
        return self.kind == "builtin" and any(step.status == "output" for step in self.progress)

    def parsed(self) -> dict[str, Any]:
        """The arguments as a JSON object.

        Raises:
            ValueError: the call is open, truncated or invalid, or its arguments are no JSON object.
        """
        if self.status is None:
            raise ValueError(f"the call {self.name!r} ({self.call_id}) is still open: its arguments are not whole")
        end = ToolCallEnd(self.part, 0, self.call_id, self.name, self.kind, self.arguments, self.status)
        return end.parsed()


class MediaPart(_Model):
    """An image or audio: its base64 text, or the address where it lies. `media_type` is a MIME type."""

    type: Literal["media"] = "media"
    part: int
    id: str | None = None
    media_type: str | None = None
    data: str | None = None
    url: str | None = None
    transcript: str | None = None


Part = Annotated[TextPart | ReasoningPart | RefusalPart | ToolCallPart | MediaPart, Field(discriminator="type")]
"""Any part of a choice; `type` tells them apart."""
PART_MODELS: dict[str, type[TextPart | ReasoningPart | RefusalPart | ToolCallPart | MediaPart]] = {
    "text": TextPart,
    "reasoning": ReasoningPart,
    "refusal": RefusalPart,
    "tool_call": ToolCallPart,
    "media": MediaPart,
}
"""By type."""


class Choice(_Model):
    """One answer: its parts in order of appearance, and why it ended."""

    index: int
    parts: list[Part] = Field(default_factory=list)
    citations: list[Citation] = Field(default_factory=list)
    finish_reason: FinishReason | None = None
    raw_finish_reason: str | None = None

    @property
    def text(self) -> str:
        """The answer, its pieces joined."""
        return "".join([part.text for part in self.parts if isinstance(part, TextPart)])

    @property
    def reasoning(self) -> str:
        """The thought that can be read, its pieces joined."""
        return "".join([part.text for part in self.parts if isinstance(part, ReasoningPart)])

    @property
    def refusal(self) -> str:
        """The refusal; empty where the model did not decline."""
        return "".join([part.text for part in self.parts if isinstance(part, RefusalPart)])

    @property
    def tool_calls(self) -> list[ToolCallPart]:
        """Every tool call, whoever runs it and however it ended."""
        return [part for part in self.parts if isinstance(part, ToolCallPart)]

    @property
    def calls_to_answer(self) -> list[ToolCallPart]:
        """The calls that the next request must answer: complete and invalid ones, never those the vendor ran."""
        return [
            call
            for call in self.tool_calls
            if call.kind != "server" and call.status in ("complete", "invalid") and not call.answered
        ]

    @property
    def media(self) -> list[MediaPart]:
        """Images and audio."""
        return [part for part in self.parts if isinstance(part, MediaPart)]


class ModelResponse(_Model):
    """What a stream said, as far as it came. Two responses are equal when they say the same.

    Attributes:
        status: that of `StreamEnd`; None while the stream runs.
        error: the first error that was reported.
        usage: the last snapshot that the wire gave.
        repairs: how often each quirk was put right, by its id.
        metadata: all `Metadata` merged, later facts over earlier ones.
        unknown: the frames that are not modelled.
        choices: by index. `text`, `tool_calls` and the other properties speak of choice 0.
        parsed: of a client's answer, the value that `response_format` asked for. It is not written down with the rest.
    """

    api: Api | None = None
    response_id: str | None = None
    model: str | None = None
    created_at: int | None = None
    status: EndStatus | None = None
    error: ErrorInfo | None = None
    usage: Usage | None = None
    repairs: dict[str, int] = Field(default_factory=dict)
    metadata: dict[str, Any] = Field(default_factory=dict)
    unknown: list[Unknown] = Field(default_factory=list)
    choices: list[Choice] = Field(default_factory=list)
    parsed: Any = Field(default=None, exclude=True, repr=False)

    @property
    def _first(self) -> Choice:
        return next((choice for choice in self.choices if choice.index == 0), _EMPTY_CHOICE)

    @property
    def text(self) -> str:
        """The answer, its pieces joined."""
        return self._first.text

    @property
    def reasoning(self) -> str:
        """The thought that can be read, its pieces joined."""
        return self._first.reasoning

    @property
    def refusal(self) -> str:
        """The refusal; empty where the model did not decline."""
        return self._first.refusal

    @property
    def tool_calls(self) -> list[ToolCallPart]:
        """Every tool call, whoever runs it and however it ended."""
        return self._first.tool_calls

    @property
    def calls_to_answer(self) -> list[ToolCallPart]:
        """The calls that the next request must answer: complete and invalid ones, never those the vendor ran."""
        return self._first.calls_to_answer

    @property
    def citations(self) -> list[Citation]:
        """The sources, in order of appearance."""
        return list(self._first.citations)

    @property
    def media(self) -> list[MediaPart]:
        """Images and audio."""
        return self._first.media

    @property
    def finish_reason(self) -> FinishReason | None:
        """Why the answer ended; None while it runs, and where nothing was said."""
        return self._first.finish_reason

    @property
    def raw_finish_reason(self) -> str | None:
        """The wire's own word for it."""
        return self._first.raw_finish_reason

    def to_response(self, **options: Unpack[ResponsesOptions]) -> dict[str, Any]:
        """The whole body in the shape of the Responses API; the options are those of `ResponsesEncoder`.

        Raises:
            ValueError: an option is given a word that it does not know.
        """
        from .encode.bodies import response_body

        return response_body(self, **options)

    def to_chat_completion(self, **options: Unpack[ChatBodyOptions]) -> dict[str, Any]:
        """The whole body in the shape of the Chat Completions API.

        An answer that failed or was cut has no finish reason, and an `error` beside its choices. Calls that were cut
        are left out.
        """
        from .encode.bodies import chat_body

        return chat_body(self, **options)

    def to_chat_messages(self, *, reasoning: ReasoningReplay = "tool_turns") -> list[dict[str, Any]]:
        """What the next chat request must carry of choice 0: the assistant message, in a list, or nothing.

        Args:
            reasoning: "tool_turns": thought goes back beside tool calls, as vendors that interleave the two demand;
                "always": also elsewhere, and as `""` beside calls without thought; "details": always, as
                `reasoning_details`; "in_content": always, between think tags before the text; "never".
        """
        from .encode.history import chat_messages

        return chat_messages(self, reasoning=reasoning)

    def to_response_items(self, *, keep_ids: bool = True, reasoning: ItemReasoning = "always") -> list[dict[str, Any]]:
        """What the `input` of the next Responses request must carry of choice 0: its items, in their order.

        Args:
            keep_ids: keep the ids of the source, for a vendor that stores its answers. Thought and what follows it
                keep them together or not at all: where the source left one open, or thought is left out, all are
                stripped.
            reasoning: "always": all thought; "as_received": only what came as an item; "never".
        """
        from .encode.history import response_items

        return response_items(self, keep_ids=keep_ids, reasoning=reasoning)


_EMPTY_CHOICE = Choice(index=0)
