"""The shapes that the members of a chunk must have."""

from __future__ import annotations

from typing import Any

_TEXT_OR_NOTHING = (str, type(None))


def is_call(entry: Any) -> bool:
    """Whether it is an entry of `tool_calls`."""
    if entry.__class__ is not dict or entry.get("index").__class__ is not int or entry["index"] < 0:
        return False
    id, function = entry.get("id"), entry.get("function")
    return (
        function.__class__ is dict
        and all(function.get(member).__class__ in _TEXT_OR_NOTHING for member in ("name", "arguments"))
        and id.__class__ in _TEXT_OR_NOTHING
        and bool(id) == bool(function.get("name"))  # some readers add names up, others take the last
        and entry.get("type") in ("function", None)
    )


def is_logprobs(logprobs: Any) -> bool:
    """Whether it holds the log probabilities of a choice, or nothing."""
    if logprobs is None:
        return True
    if not isinstance(logprobs, dict):
        return False
    return all(
        logprobs.get(member) is None or (isinstance(logprobs[member], list) and all(map(_is_token, logprobs[member])))
        for member in ("content", "refusal")
    )


def _is_token(entry: Any) -> bool:
    return (
        isinstance(entry, dict)
        and isinstance(entry.get("token"), str)
        and isinstance(entry.get("logprob"), int | float)
        and isinstance(entry.get("top_logprobs"), list)
    )


def is_usage(usage: Any) -> bool:
    """Whether it has all the counts that readers ask for."""
    counts = ("prompt_tokens", "completion_tokens", "total_tokens")
    details = ("prompt_tokens_details", "completion_tokens_details")
    return (
        isinstance(usage, dict)
        and all(usage.get(count).__class__ is int for count in counts)
        and all(usage.get(detail) is None or isinstance(usage[detail], dict) for detail in details)
    )


def is_error(error: Any) -> bool:
    """Whether it has words."""
    return isinstance(error, dict) and isinstance(error.get("message"), str) and bool(error["message"])
