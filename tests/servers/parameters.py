"""The parameters of a request, refused where OpenAI refuses them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from .question import Json, RefusedError

MODELS = ("toy", "thinker")
LONGEST_INPUT = 8000
"""In words."""

_BOTH = """
    model stream stream_options temperature top_p top_logprobs tools tool_choice parallel_tool_calls store metadata user
    service_tier safety_identifier prompt_cache_key prompt_cache_retention verbosity
"""
CHAT_PARAMETERS = frozenset(
    f"""{_BOTH} messages max_tokens max_completion_tokens stop n seed logprobs logit_bias response_format
    reasoning_effort frequency_penalty presence_penalty modalities audio prediction functions function_call
    web_search_options""".split()
)
RESPONSES_PARAMETERS = frozenset(
    f"""{_BOTH} input instructions max_output_tokens text reasoning include previous_response_id conversation background
    truncation max_tool_calls prompt context_management""".split()
)
COMPLETIONS_PARAMETERS = frozenset(
    """model prompt stream stream_options temperature top_p max_tokens stop n seed logprobs echo suffix best_of
    frequency_penalty presence_penalty logit_bias user""".split()
)
RANGES = {
    "temperature": (0, 2),
    "top_p": (0, 1),
    "frequency_penalty": (-2, 2),
    "presence_penalty": (-2, 2),
}
_COUNTS = {"max_tokens": 1, "max_completion_tokens": 1, "max_output_tokens": 1, "n": 1, "top_logprobs": 0}


def check_parameters(body: Json, known: Collection[str]) -> None:
    """Refuse what no such request may hold.

    Raises:
        RefusedError: a parameter is unknown, of the wrong type, or out of its range; or there is no such model.
    """
    for name in body:
        if name not in known:
            raise RefusedError(400, f"Unknown parameter: '{name}'.", param=name, code="unknown_parameter")
    check_model(body.get("model"))
    for name, (lowest, highest) in RANGES.items():
        _check_number(name, body.get(name), lowest, highest)
    for name, lowest in _COUNTS.items():
        _check_count(name, body.get(name), lowest)
    if body.get("stream_options") is not None and not body.get("stream"):
        message = "The 'stream_options' parameter is only allowed when 'stream' is enabled."
        raise RefusedError(400, message, param="stream_options", code="invalid_value")
    if (body.get("parallel_tool_calls") is not None or body.get("tool_choice") is not None) and not body.get("tools"):
        name = "tool_choice" if body.get("tool_choice") is not None else "parallel_tool_calls"
        if body.get(name) not in ("auto", "none"):
            raise RefusedError(400, f"'{name}' is only allowed when 'tools' are specified.", param=name)


def check_model(model: Any) -> None:
    """Refuse a model that is not served.

    Raises:
        RefusedError: it is none of `MODELS`.
    """
    if not isinstance(model, str) or not model:
        raise RefusedError(400, "you must provide a model parameter", param="model")
    if model not in MODELS:
        message = f"The model `{model}` does not exist or you do not have access to it."
        raise RefusedError(404, message, code="model_not_found")


def check_length(words: int, param: str) -> None:
    """Refuse an input that is too long.

    Raises:
        RefusedError: it has more than `LONGEST_INPUT` words.
    """
    if words > LONGEST_INPUT:
        message = (
            f"This model's maximum context length is {LONGEST_INPUT} tokens. However, your messages resulted in "
            f"{words} tokens. Please reduce the length of the messages."
        )
        raise RefusedError(400, message, param=param, code="context_length_exceeded")


def _check_number(name: str, value: Any, lowest: float, highest: float) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _wrong_type(name, "a decimal", value)
    if value > highest:
        message = (
            f"Invalid '{name}': decimal above maximum value. Expected a value <= {highest}, but got {value} instead."
        )
        raise RefusedError(400, message, param=name, code="decimal_above_max_value")
    if value < lowest:
        message = (
            f"Invalid '{name}': decimal below minimum value. Expected a value >= {lowest}, but got {value} instead."
        )
        raise RefusedError(400, message, param=name, code="decimal_below_min_value")


def _check_count(name: str, value: Any, lowest: int) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int):
        raise _wrong_type(name, "an integer", value)
    if value < lowest:
        message = (
            f"Invalid '{name}': integer below minimum value. Expected a value >= {lowest}, but got {value} instead."
        )
        raise RefusedError(400, message, param=name, code="integer_below_min_value")


def _wrong_type(name: str, expected: str, value: Any) -> RefusedError:
    message = f"Invalid type for '{name}': expected {expected}, but got {type(value).__name__} instead."
    return RefusedError(400, message, param=name, code="invalid_type")


def texts_of(value: Any) -> list[str]:
    """One text, or several: what `stop` and `prompt` may be."""
    return [value] if isinstance(value, str) else list(value or ())
