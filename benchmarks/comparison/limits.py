"""Why a client reads a scenario wrong even where the wire is right: what it cannot express."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .page import Result


@dataclass(frozen=True, slots=True)
class Limit:
    """What some clients cannot express.

    Attributes:
        clients: those that cannot; empty: none can.
        scenarios: where it shows.
        why: in one sentence.
    """

    clients: frozenset[str]
    scenarios: frozenset[str]
    why: str


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


LIMITS = (
    Limit(
        frozenset(),
        _words("tool-custom"),
        "a chunk has no custom tools: such a call comes as a function's, its text as the argument `input`",
    ),
    Limit(
        frozenset(("langchain-openai", "pydantic-ai")),
        _words(
            "n2 n2-both-in-one-chunk n2-one-cut-by-length n2-same-tool-index-in-both body-completion-two-choices "
            "finish-only-one-of-two-choices finish-words-for-error finish-words-for-filter finish-words-for-stop "
            "hostile-choice-index"
        ),
        "all choices are read as one answer",
    ),
    Limit(
        frozenset(("openai .stream()",)),
        _words("hostile-choice-index"),
        "a choice is kept at its index in a list, which must have no gaps",
    ),
    Limit(
        frozenset(("openai-agents",)),
        _words(
            "finish-stop-then-length finish-word-content-filter finish-words-for-filter tool-length-after-whole-call "
            "tool-truncated-by-length"
        ),
        "every finish word of a chat stream is taken for a stop",
    ),
    Limit(frozenset(("openai-agents",)), _words("audio"), "there is no audio"),
    Limit(
        frozenset(("langchain-openai",)),
        _words("tool-glued-objects-in-one-string tool-length-after-whole-call tool-truncated-by-length"),
        "the JSON of a call that was cut or is broken is completed, and the call handed over as a whole one",
    ),
)
UNEXPLAINED = "not explained"


def limit_of(result: Result) -> str:
    """The reason for a wrong answer over the transport."""
    return next(
        (
            limit.why
            for limit in LIMITS
            if result.scenario in limit.scenarios and (not limit.clients or result.client in limit.clients)
        ),
        UNEXPLAINED,
    )
