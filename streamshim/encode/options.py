"""The options of the encoders, for everybody who passes them on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias, TypedDict, get_args

ResponsesReasoning: TypeAlias = Literal["summary", "text", "open_responses", "none"]
ResponsesTruncated: TypeAlias = Literal["failed", "incomplete", "silent"]
ChatReasoning: TypeAlias = Literal["reasoning_content", "reasoning", "none"]
ChatTruncated: TypeAlias = Literal["error", "silent"]
CustomTools: TypeAlias = Literal["function", "custom"]
ToolCallMode: TypeAlias = Literal["stream", "whole"]


class EncoderOptions(TypedDict, total=False):
    """What both encoders take."""

    done: bool
    model: str | None
    response_id: str | None
    make_id: Callable[[str], str] | None
    now: Callable[[], int] | None


class ResponsesOptions(EncoderOptions, total=False):
    """The options of `ResponsesEncoder`."""

    reasoning: ResponsesReasoning
    event_lines: bool
    length_as_completed: bool
    error_event: bool
    truncated: ResponsesTruncated
    refusal_as_text: bool
    choice: int
    request: Mapping[str, Any] | None


class ChatOptions(EncoderOptions, total=False):
    """The options of `ChatEncoder`."""

    reasoning: ChatReasoning
    include_usage: bool
    custom_tools: CustomTools
    tool_calls: ToolCallMode
    truncated: ChatTruncated
    unknown_finish: str | None


class ChatBodyOptions(TypedDict, total=False):
    """What a whole chat body takes; the members mean what they mean to `ChatEncoder`."""

    reasoning: ChatReasoning
    custom_tools: CustomTools
    unknown_finish: str | None
    model: str | None
    response_id: str | None
    make_id: Callable[[str], str] | None
    now: Callable[[], int] | None


def check_word(option: str, word: str, words: object) -> None:
    """Refuse a word that an option does not know; `words` is its `Literal`.

    Raises:
        ValueError: it is none of them.
    """
    if word not in get_args(words):
        known = ", ".join(map(repr, get_args(words)))
        raise ValueError(f"{option}={word!r} is not known: it is one of {known}")
