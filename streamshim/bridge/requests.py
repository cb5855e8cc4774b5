"""Whole requests of one API as those of the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..encode.history import ReasoningReplay
from ..encode.options import CustomTools
from .items import Items, instructions_in
from .losses import LeftOut, UnsupportedMemberError, list_at
from .members import MaxTokensName, chat_members, responses_members
from .messages import Messages
from .tools import HostedTools


def chat_request(
    responses: Mapping[str, Any],
    *,
    history: Sequence[Mapping[str, Any]] = (),
    left_out: list[LeftOut] | None = None,
    hosted_tools: HostedTools = "refuse",
    custom_tools: CustomTools = "function",
    max_tokens_name: MaxTokensName = "max_tokens",
    reasoning: ReasoningReplay = "tool_turns",
) -> dict[str, Any]:
    """A Responses request as a chat request.

    Args:
        responses: the request.
        history: the items that its `previous_response_id` stands for.
        left_out: is told what was left out.
        hosted_tools: as in `chat_members`.
        custom_tools: as in `chat_members`.
        max_tokens_name: as in `chat_members`.
        reasoning: how thought goes back, as in `Conversation.to_chat_messages`.

    Raises:
        UnsupportedMemberError: a chat vendor cannot be asked for something in it, or it is no request.
    """
    reported: list[LeftOut] = [] if left_out is None else left_out
    members = chat_members(
        responses,
        left_out=reported,
        hosted_tools=hosted_tools,
        custom_tools=custom_tools,
        max_tokens_name=max_tokens_name,
    )
    messages = Messages(reported, reasoning=reasoning, custom_tools=custom_tools)
    if (instructions := responses.get("instructions")) is not None:
        messages.read("instructions", {"role": "system", "content": instructions})
    for item in history:
        messages.read("previous_response_id", item)
    for at, item in enumerate(input_items(responses.get("input"))):
        messages.read(f"input[{at}]", item)
    written = messages.written()
    if not written:
        raise UnsupportedMemberError("input", "Missing required parameter: 'input'.", "unsupported_value")
    model = {"model": members.pop("model")} if "model" in members else {}
    return {**model, "messages": written, **members}


def input_items(input: Any) -> list[Any]:
    """The `input` of a Responses request as a list: text is what the user said.

    Raises:
        UnsupportedMemberError: it is neither text nor a list.
    """
    if input is None:
        return []
    if isinstance(input, str):
        return [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": input}]}]
    return list(list_at("input", input))


def responses_request(chat: Mapping[str, Any], *, left_out: list[LeftOut] | None = None) -> dict[str, Any]:
    """A chat request as a Responses request. The server is asked to keep nothing, unless the request says otherwise.

    Args:
        chat: the request.
        left_out: is told what was left out.

    Raises:
        UnsupportedMemberError: the Responses API cannot be asked for something in it, or it is no request.
    """
    reported: list[LeftOut] = [] if left_out is None else left_out
    members = responses_members(chat, left_out=reported)
    messages = list(list_at("messages", chat.get("messages")))
    instructions, behind = instructions_in(messages)
    if behind == len(messages):
        instructions, behind = None, 0
    items = Items(reported)
    for at, message in enumerate(messages[behind:], behind):
        items.read(f"messages[{at}]", message)
    if not items.written:
        raise UnsupportedMemberError("messages", "messages must hold at least one message", "unsupported_value")
    model = {"model": members.pop("model")} if "model" in members else {}
    spoken = (
        {"input": items.written} if instructions is None else {"instructions": instructions, "input": items.written}
    )
    return {**model, **spoken, "store": False, **members}
