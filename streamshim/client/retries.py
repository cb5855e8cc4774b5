"""When a request is made again that failed before anything of its answer came, and how long is waited before."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from ..errors import ErrorInfo

_FIRST_SECONDS = 0.5
_MOST_SECONDS = 8.0
LONGEST_WAIT_SECONDS = 60.0
"""A server that asks for more than that is not waited for: the error says when to come again."""


@dataclass(slots=True)
class Retries:
    """The tries of one request."""

    most: int
    jitter: random.Random = field(default_factory=random.Random)
    used: int = 0

    def next(self, error: ErrorInfo | None = None) -> float | None:
        """Seconds to wait before the next try; None: there is to be none.

        Args:
            error: what the server said; None where the connection broke.
        """
        if self.used >= self.most or (error is not None and not error.retryable):
            return None
        asked = error.retry_after if error is not None else None
        if asked is not None and asked > LONGEST_WAIT_SECONDS:
            return None
        self.used += 1
        if asked is not None:
            return asked
        seconds: float = min(_MOST_SECONDS, _FIRST_SECONDS * 2 ** (self.used - 1))
        return seconds * (1 - self.jitter.random() / 4)
