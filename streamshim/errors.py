"""What can go wrong, and how it is said.

    StreamshimError
    ├── StreamFailedError      the vendor said error, or a limit of ours was passed
    ├── StreamTruncatedError   the bytes ended before anything said that the answer was whole
    ├── StreamTimeoutError     nothing of it came in the time allowed (a `TimeoutError` as well)
    └── SourceError            what was handed in cannot be read

The decoder itself never raises on bytes: it reports an `ErrorInfo` in an event. The exceptions belong to the shells.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from .cursor import Cursor
    from .response_models import ModelResponse

ErrorKind = Literal["vendor", "transport", "timeout", "limit", "body", "strict"]
"""Who said error: the vendor, the connection, a deadline of the reader's, a limit of ours, a body that is no stream at
all, or a strict option."""


@dataclass(slots=True, match_args=False)
class ErrorInfo:
    """One error, whatever shape the wire gave it.

    Attributes:
        kind: who said error.
        message: a sentence for people; ours where the wire had none.
        code: the vendor's code as a string (`500` becomes `"500"`).
        type: the vendor's error type.
        param: the request parameter that the vendor blames.
        status: an HTTP status, where one is known.
        retryable: whether the same request may succeed later; None where nothing is known.
        retry_after: seconds to wait before the next try, where the vendor says so.
        raw: what the wire said, for whatever else it holds.
    """

    kind: ErrorKind
    message: str
    code: str | None = None
    type: str | None = None
    param: str | None = None
    status: int | None = None
    retryable: bool | None = None
    retry_after: float | None = None
    raw: Any = field(default=None)


class StreamshimError(Exception):
    """The root of every exception that streamshim raises."""


class StreamEndError(StreamshimError):
    """A stream ended badly. What was received before is kept in `response`, and how far that goes in `cursor`."""

    def __init__(
        self,
        message: str,
        *,
        error: ErrorInfo | None = None,
        response: ModelResponse | None = None,
        cursor: Cursor | None = None,
    ) -> None:
        """Keep the error that was reported, the partial response and where it stopped."""
        super().__init__(message)
        self.error = error
        self.response = response
        self.cursor = cursor


class StreamFailedError(StreamEndError):
    """The vendor said error, in the stream or by the HTTP status, or a limit of ours was passed."""


class StreamTruncatedError(StreamEndError):
    """The bytes ended, or the connection broke, before anything said that the answer was whole."""


class StreamTimeoutError(StreamEndError, TimeoutError):
    """Nothing of the answer came in the time that the reader allowed."""


class SourceError(StreamshimError, TypeError):
    """What was handed in is no source that can be read: of an unknown kind, consumed, or sync where async was asked."""
