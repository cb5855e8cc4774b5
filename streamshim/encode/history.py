"""What the next request must carry of an answer, in the shape of either API.

Calls that were cut are left out: an answer to them is owed to nobody. Calls that the vendor ran itself go back on the
Responses API only, as the items they were.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from ..events import ToolCallEnd
from ..json_codec import dumps
from .chat_calls import message_call
from .replay import replay
from .responses import ResponsesEncoder

if TYPE_CHECKING:
    from ..response_models import ModelResponse, ReasoningPart, ToolCallPart

ReasoningReplay = Literal["tool_turns", "always", "details", "in_content", "never"]
"""How thought goes back on the chat API: beside tool calls, always, as `reasoning_details`, between tags, or never."""
ItemReasoning = Literal["as_received", "always", "never"]
"""Which thought goes back on the Responses API: what came as an item, also what came on the chat API, or none."""

_MADE_UP = "\0"
"""No id of a source: it marks those that the encoder had to make up."""
_STRIPPED = frozenset(("message", "reasoning", "function_call", "custom_tool_call"))
"""Items that may go back without an id. They keep their ids together or lose them together."""
_SIGNATURE_HOME = ("extra_content", "google", "thought_signature")
"""Where a signed call keeps its signature on the chat API: without it the next request is refused."""
HOSTED_RESULTS = {
    "apply_patch_call": ("apply_patch_call_output", "call_id", "output", {"status": "completed"}),
    "computer_call": ("computer_call_output", "call_id", "output", {}),
    "local_shell_call": ("local_shell_call_output", "id", "output", {}),
    "mcp_approval_request": ("mcp_approval_response", "approval_request_id", "approve", {}),
    "shell_call": ("shell_call_output", "call_id", "output", {}),
    "tool_search_call": ("tool_search_output", "call_id", "tools", {"execution": "client", "status": "completed"}),
}
"""How hosted tools are answered: item type, name of the id, name of the result, and what else belongs to it."""


def chat_messages(response: ModelResponse, *, reasoning: ReasoningReplay = "tool_turns") -> list[dict[str, Any]]:
    """The assistant message of choice 0, in a list; an empty list where there is nothing to carry.

    Args:
        response: what was answered.
        reasoning: "tool_turns": thought goes back beside tool calls, as vendors that interleave the two demand;
            "always": also elsewhere, and as `""` beside calls without thought; "details": always, as
            `reasoning_details`; "in_content": always, between think tags before the text; "never".
    """
    calls = [call for call in response.tool_calls if call.kind != "server" and not call.answered and _is_whole(call)]
    audio = [part for part in response.media if part.id and (part.media_type or "").startswith("audio/")]
    if not (calls or audio or response.text or response.refusal):
        return []
    message: dict[str, Any] = {"role": "assistant", "content": response.text or None}
    if response.refusal:
        message["refusal"] = response.refusal
    if reasoning == "in_content" and response.reasoning:
        message["content"] = text_with_thought(response.reasoning, response.text)
    elif reasoning == "details":
        message.update(_detailed_thought(response))
    elif reasoning == "always" or (reasoning == "tool_turns" and calls):
        message.update(_thought(response, placeholder=reasoning == "always" and bool(calls)))
    if audio:
        message["audio"] = {"id": audio[-1].id}
    if calls:
        message["tool_calls"] = [_call(call, came_from_chat=response.api == "chat") for call in calls]
    return [message]


def _call(call: ToolCallPart, *, came_from_chat: bool) -> dict[str, Any]:
    """A custom tool that came on the chat API is known there; elsewhere it is declared as a function."""
    entry = message_call(call, custom=came_from_chat)
    return signed_call(entry, call.signature) if call.signature and came_from_chat else entry


def signed_call(entry: dict[str, Any], signature: str) -> dict[str, Any]:
    """A call with its signature where the chat API keeps it."""
    outer, inner, name = _SIGNATURE_HOME
    return {**entry, outer: {inner: {name: signature}}}


def _is_whole(call: ToolCallPart) -> bool:
    return call.status not in ("truncated", None)


def _thought(response: ModelResponse, *, placeholder: bool) -> dict[str, Any]:
    """Thought in the words of the chat API; what is signed or encrypted goes back to where it came from only."""
    thought: dict[str, Any] = {}
    if response.reasoning or placeholder:
        thought["reasoning_content"] = response.reasoning
    parts = _thoughts(response)
    if response.api == "chat" and any(part.signature or part.encrypted for part in parts):
        thought["reasoning_details"] = [detail for part in parts for detail in _details(part)]
    return thought


def _detailed_thought(response: ModelResponse) -> dict[str, Any]:
    details = [detail for part in _thoughts(response) for detail in _details(part, opaque=response.api == "chat")]
    return {"reasoning_details": details} if details else {}


def _thoughts(response: ModelResponse) -> list[ReasoningPart]:
    return [part for choice in response.choices[:1] for part in choice.parts if part.type == "reasoning"]


def _details(part: ReasoningPart, *, opaque: bool = True) -> list[dict[str, Any]]:
    """`opaque`: with what is signed or encrypted."""
    return thought_details(part.text, part.signature if opaque else None, part.encrypted if opaque else None)


def thought_details(text: str, signature: str | None, encrypted: str | None) -> list[dict[str, Any]]:
    """A thought as entries of `reasoning_details`."""
    details: list[dict[str, Any]] = []
    if text or signature:
        signed = {"signature": signature} if signature else {}
        details.append({"type": "reasoning.text", "text": text, **signed})
    if encrypted:
        details.append({"type": "reasoning.encrypted", "data": encrypted})
    return details


def text_with_thought(thought: str, text: str) -> str:
    """A text behind its thought, which stands between tags."""
    return f"<think>\n{thought}</think>\n\n{text}"


def response_items(
    response: ModelResponse,
    *,
    keep_ids: bool = True,
    reasoning: ItemReasoning = "always",
    items: Sequence[Mapping[str, Any]] | None = None,
) -> list[dict[str, Any]]:
    """The items of choice 0 in their order, ready to be put into the next `input`.

    Args:
        response: what was answered.
        keep_ids: keep the ids of the source, for a vendor that stores its answers. Thought and what follows it keep
            them together or not at all: where the source left one open, or thought is left out, all are stripped.
        reasoning: "always": all thought; "as_received": only what came as an item; "never".
        items: the items as they came, with what is not modelled; without them they are written anew.
    """
    came = list(items) if items is not None else _written(response)
    carries_thought = reasoning == "always" or (reasoning == "as_received" and response.api == "responses")
    came = [item for item in came if _is_carried(item) and (carries_thought or item["type"] != "reasoning")]
    keep_ids = keep_ids and carries_thought and all(_has_id(item) for item in came)
    carried = [_carried(item, keep_ids=keep_ids) for item in came]
    carried = [item for item in carried if _says_anything(item)]
    while carried and carried[-1]["type"] == "reasoning":
        carried.pop()  # thought that nothing follows is refused
    return carried


def _written(response: ModelResponse) -> list[dict[str, Any]]:
    encoder = ResponsesEncoder(reasoning="text", make_id=lambda prefix: _MADE_UP + prefix)
    for event in replay(response):
        encoder.feed(event)
    # what was compacted stands for all that came before it
    compacted = [unknown.data for unknown in response.unknown if unknown.name == "compaction"]
    return [*compacted, *encoder.response["output"]]


def _has_id(item: Mapping[str, Any]) -> bool:
    id = item.get("id")
    return isinstance(id, str) and id != "" and not id.startswith(_MADE_UP)


def _is_carried(item: Mapping[str, Any]) -> bool:
    if item["type"] == "image_generation_call" and not _has_id(item):
        return False  # an image that no call of this API made
    return item["type"] in ("message", "reasoning") or item.get("status") != "incomplete"


def _carried(item: Mapping[str, Any], *, keep_ids: bool) -> dict[str, Any]:
    """An item as input: log probabilities are of no use there, and a null content or status is refused."""
    left_out = {"id", "status"} if item["type"] in _STRIPPED and not keep_ids else set[str]()
    left_out |= {key for key in ("content", "status") if item.get(key) is None}
    carried = {key: value for key, value in item.items() if key not in left_out}
    if item["type"] == "message" and isinstance(item.get("content"), list):
        carried["content"] = [
            {key: value for key, value in part.items() if key != "logprobs"} for part in item["content"]
        ]
    return carried


def _says_anything(item: dict[str, Any]) -> bool:
    """Whether an item holds more than its name: an id alone is enough where the vendor keeps what it stands for."""
    if item["type"] == "message":
        content = item.get("content")
        if not isinstance(content, list):
            return bool(content)
        return any(part.get("text") or part.get("refusal") for part in content)
    if item["type"] == "reasoning":
        return any(item.get(key) for key in ("id", "content", "encrypted_content"))  # a summary is for people
    return True


def tool_result(
    call: ToolCallPart | ToolCallEnd, output: Any, api: Literal["chat", "responses"] = "chat"
) -> dict[str, Any]:
    """The answer to a tool call: a message of the chat API, or an input item of the Responses API.

    Args:
        call: the call, of a response or of its `ToolCallEnd`.
        output: text, a list of content parts, or any JSON value, which is sent as text. For hosted tools: what their
            result holds, or an object that has it as a member (`{"output": ..., "status": "failed"}`).
        api: which API the next request goes to.

    Raises:
        ValueError: the call was cut or is still open, the vendor ran it, or it is of a hosted tool that is not known.
    """
    if call.kind == "server" or call.status in ("truncated", None):
        reason = "was run by the vendor" if call.kind == "server" else f"is {call.status or 'still open'}"
        raise ValueError(f"the call {call.name!r} ({call.call_id}) {reason}: there is nothing to answer")
    if api == "chat":
        return {"role": "tool", "tool_call_id": call.call_id, "content": _content(output)}
    if call.kind == "builtin":
        return _hosted_result(call, output)
    item_type = "custom_tool_call_output" if call.kind == "custom" else "function_call_output"
    return {"type": item_type, "call_id": call.call_id, "output": _content(output)}


def _hosted_result(call: ToolCallPart | ToolCallEnd, output: Any) -> dict[str, Any]:
    item_type = getattr(call, "item_type", None) or f"{call.name}_call"
    if item_type not in HOSTED_RESULTS:
        raise ValueError(f"how to answer a call of type {item_type!r} is not known")
    answer_type, id_name, result_name, besides = HOSTED_RESULTS[item_type]
    result = output if isinstance(output, Mapping) and result_name in output else {result_name: output}
    return {"type": answer_type, id_name: call.call_id, **besides, **result}


def _content(output: Any) -> str | list[Any]:
    """Text or content parts as they are; anything else as JSON."""
    if isinstance(output, str):
        return output
    if isinstance(output, Sequence) and output and all(isinstance(part, Mapping) and "type" in part for part in output):
        return list(output)
    return dumps(output)
