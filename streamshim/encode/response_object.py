"""The response object: what the first and the last events of the Responses wire carry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..events import Usage

_SETTINGS: dict[str, Any] = {
    "id": "",
    "object": "response",
    "created_at": 0,
    "completed_at": None,
    "status": "in_progress",
    "incomplete_details": None,
    "model": "",
    "previous_response_id": None,
    "instructions": None,
    "output": [],
    "error": None,
    "tools": [],
    "tool_choice": "auto",
    "truncation": "disabled",
    "parallel_tool_calls": True,
    "text": {"format": {"type": "text"}},
    "top_p": 1.0,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
    "top_logprobs": 0,
    "temperature": 1.0,
    "reasoning": None,
    "usage": None,
    "max_output_tokens": None,
    "max_tool_calls": None,
    "store": False,
    "background": False,
    "service_tier": "default",
    "metadata": {},
    "safety_identifier": None,
    "prompt_cache_key": None,
}
_DECIDED_BY_THE_STREAM = frozenset("object completed_at status incomplete_details output error usage".split())


class ResponseObject:
    """The settings of one response, and its face at any moment."""

    def __init__(self, request: Mapping[str, Any] | None) -> None:
        """`request`: settings to echo; those that no response object has, or that a stream decides, are ignored."""
        self._request = {
            key: value
            for key, value in (request or {}).items()
            if key in _SETTINGS
            and key not in _DECIDED_BY_THE_STREAM
            and (value is not None or _SETTINGS[key] is None)  # a request's null stands for the default
        }
        self._settings = {**_SETTINGS, **self._request}

    def identify(self, **said: object) -> None:
        """Who speaks, as far as the request does not say otherwise."""
        self._settings.update({**said, **self._request})

    def settle(self, **said: object) -> None:
        """Facts that count whatever the request says."""
        self._settings.update(said)

    def shown(self, status: str, output: Sequence[dict[str, Any]] = (), **said: object) -> dict[str, Any]:
        """The object now; `said` are members that only its last face has."""
        return {**self._settings, "status": status, "output": list(output), **said}


def written_usage(usage: Usage | None) -> dict[str, Any] | None:
    """Token counts in the words of the Responses wire: whole or not at all."""
    if usage is None:
        return None
    return {
        "input_tokens": usage.input_tokens or 0,
        "input_tokens_details": {
            "cached_tokens": usage.cached_input_tokens or 0,
            "cache_write_tokens": usage.cache_write_tokens or 0,
        },
        "output_tokens": usage.output_tokens or 0,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens or 0},
        "total_tokens": total_of(usage),
    }


def total_of(usage: Usage) -> int:
    """The total, or the sum where the source gave none."""
    if usage.total_tokens is not None:
        return usage.total_tokens
    return (usage.input_tokens or 0) + (usage.output_tokens or 0)
