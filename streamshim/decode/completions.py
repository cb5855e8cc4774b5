"""Text completions (`/v1/completions`): a choice holds `text` where chat has `delta`."""

from __future__ import annotations

from typing import Any


def is_completion(choice: dict[str, Any]) -> bool:
    """Whether the choice speaks the older wire."""
    return (
        "text" in choice and not isinstance(choice.get("delta"), dict) and not isinstance(choice.get("message"), dict)
    )


def completion_delta(choice: dict[str, Any]) -> dict[str, Any]:
    """The choice's text as a chat delta."""
    return {"content": choice["text"]}


def completion_logprobs(logprobs: dict[str, Any]) -> list[Any] | None:
    """The parallel lists of the older wire as one entry for each token."""
    tokens, numbers, top = (logprobs.get(key) for key in ("tokens", "token_logprobs", "top_logprobs"))
    if not isinstance(tokens, list) or not tokens:
        return None
    return [
        {
            "token": token,
            "logprob": numbers[i] if isinstance(numbers, list) and i < len(numbers) else None,
            "top_logprobs": top[i] if isinstance(top, list) and i < len(top) else None,
        }
        for i, token in enumerate(tokens)
    ]
