"""Facts of a stream in a few words, for people: the verdict, the finish, token counts, an error."""

from __future__ import annotations

from .errors import ErrorInfo
from .events import EndStatus, Finish, Usage

VERDICTS: dict[EndStatus, str] = {
    "completed": "",
    "incomplete": "the vendor stopped early",
    "failed": "an error ended it; what came before is kept",
    "truncated": "it was cut before anything said that it was whole",
    "cancelled": "somebody called it off",
}
"""What a status means, where the word does not say it."""


def counted(number: int, noun: str) -> str:
    """So many of them: the noun takes an s unless there is one."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def finish_words(finish: Finish) -> str:
    """Why a choice ended, and the wire's own word where it differs."""
    reason = finish.reason or "none was given"
    differs = finish.raw_reason and finish.raw_reason != finish.reason
    return f'{reason} (the wire said "{finish.raw_reason}")' if differs else reason


def token_counts(usage: Usage) -> str:
    """The counts that are known, in one line."""

    def counted(total: int | None, word: str, **shares: int | None) -> list[str]:
        known = ", ".join(f"{share:,} {name}" for name, share in shares.items() if share)
        return [] if total is None else [f"{total:,} {word}" + (f" ({known})" if known else "")]

    return " · ".join(
        counted(usage.input_tokens, "in", cached=usage.cached_input_tokens, written=usage.cache_write_tokens)
        + counted(usage.output_tokens, "out", reasoning=usage.reasoning_tokens)
        + counted(usage.total_tokens, "total")
    )


def error_facts(error: ErrorInfo) -> list[str]:
    """What else is known of an error, each in a few words."""
    facts = [f"{name} {value}" for name in ("code", "type", "param") if (value := getattr(error, name))]
    if error.status:
        facts.append(f"HTTP {error.status}")
    if error.retry_after is not None:
        facts.append(f"retry after {error.retry_after:g} s")
    elif error.retryable:
        facts.append("may be retried")
    return facts
