"""One vocabulary of request options, and the members of a chat request that they become."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..event_stream import StreamOptions

_CONNECTION = frozenset(("timeout", "extra", "extra_headers"))
"""What is no member of a request by itself."""


class RequestOptions(StreamOptions, total=False):
    """What a request may ask for, whichever API it goes to; and how its answer is read, as in `stream()`.

    Attributes:
        instructions: the system prompt; of a `Conversation` its own is used where this is left out.
        max_tokens: how many tokens the answer may have at most, thought included.
        temperature: how freely tokens are chosen, from 0 on.
        top_p: which share of the likeliest tokens is chosen from, 0 to 1.
        stop: text before which the answer stops.
        seed: for answers that can be had again.
        reasoning_effort: how long is thought, in the server's own words: "low", "high", "none" …
        response_format: a pydantic model or any other type, or a JSON Schema: the answer is JSON that fits it, and the
            value is `response.parsed`. An object as the API has it (`{"type": "json_object"}`) is sent as it is.
        tool_choice: "auto", "none", "required", or the name of the tool that must be called.
        parallel_tool_calls: whether one answer may have several calls.
        user: who asks, for the vendor's statistics.
        store: whether the vendor keeps the answer.
        metadata: facts that the vendor keeps beside the answer.
        timeout: seconds that the HTTP client waits for the connection, and for each piece of the answer.
        extra: more members of the request, as its API has them; they go over all others.
        extra_headers: more headers; they go over all others.
    """

    instructions: str
    max_tokens: int
    temperature: float
    top_p: float
    stop: str | Sequence[str]
    seed: int
    reasoning_effort: str
    response_format: Any
    tool_choice: str
    parallel_tool_calls: bool
    user: str
    store: bool
    metadata: Mapping[str, str]
    timeout: float | None
    extra: Mapping[str, Any]
    extra_headers: Mapping[str, str]


def _tool_choice(choice: str) -> Any:
    if choice in ("auto", "none", "required"):
        return choice
    return {"type": "function", "function": {"name": choice}}


_SAME = "max_tokens temperature top_p seed reasoning_effort parallel_tool_calls user store".split()
_MEMBERS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(_SAME, lambda value: value),
    "stop": lambda stop: stop if isinstance(stop, str) else list(stop),
    "metadata": dict,
    "tool_choice": _tool_choice,
}
"""What stands in a chat request under the option's own name."""
_SPECIAL = frozenset(("instructions", "response_format"))
"""What becomes a member with the help of others: the input, a schema."""


def chat_members_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """The members of a chat request that options stand for; an option that is None was not given."""
    return {name: _MEMBERS[name](value) for name, value in options.items() if name in _MEMBERS and value is not None}


def split_options(options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The options of the request, and those of the stream that reads its answer.

    Raises:
        TypeError: an option does not exist.
    """
    of_request = {name: value for name, value in options.items() if name in _MEMBERS.keys() | _SPECIAL | _CONNECTION}
    of_stream = {name: value for name, value in options.items() if name not in of_request}
    if unknown := of_stream.keys() - StreamOptions.__annotations__.keys():
        raise TypeError(
            f"there is no option {', '.join(sorted(unknown))}; members of one API alone go into extra={{…}}"
        )
    return of_request, of_stream
