"""What a response with an error status says: its body, in any shape, and its head for what the body leaves open."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from .decode.decoder import StreamDecoder
from .errors import ErrorInfo
from .events import ErrorReport
from .pieces import Head

_RETRYABLE_STATUSES = frozenset((408, 409, 425, 429))
"""Besides those from 500 on."""
_SHOWN_CHARACTERS = 500


def read_error(status: int, headers: Mapping[str, str] | None, body: bytes) -> ErrorInfo:
    """The error of a refused request.

    Args:
        status: the HTTP status.
        headers: the response's headers; names in any case.
        body: the whole body: JSON of any vendor's shape, a list of it, an event stream, HTML or plain text.
    """
    decoder = StreamDecoder()
    events = decoder.feed(body) + decoder.close()
    reports = [event.error for event in events if isinstance(event, ErrorReport)]
    if reports and reports[0].kind == "vendor":
        error = reports[0]
    else:
        text = body.decode("utf-8", "replace").strip()[:_SHOWN_CHARACTERS]
        message = f"the server answered with HTTP status {status}" + (f": {text}" if text else "")
        error = ErrorInfo("vendor", message, raw=text or None)
    add_head(error, status, headers)
    return error


def refusal(error: BaseException) -> tuple[Head, bytes] | None:
    """The head and the body of the refused request that a client's exception stands for; None if it is another one.

    A response without headers was never one: some exceptions make one up for a connection that broke.
    """
    response = getattr(error, "response", None)
    head = Head.of(error if response is None else response)
    if head.status is None or head.status < 400 or not head.headers:
        return None
    try:
        body = getattr(response, "content", None)
    except RuntimeError:  # it was not read
        body = None
    return head, body if isinstance(body, bytes) else str(error).encode() if response is None else b""


def add_head(error: ErrorInfo, status: int, headers: Mapping[str, str] | None) -> None:
    """Fill in what the head of the response says: the status, whether to try again, and when."""
    head = {str(name).lower(): str(value).strip() for name, value in (headers or {}).items()}
    error.status = status
    if error.retry_after is None:
        error.retry_after = _retry_after(head)
    if head.get("x-should-retry") in ("true", "false"):  # OpenAI's servers say so
        error.retryable = head["x-should-retry"] == "true"
    elif error.retryable is None:
        error.retryable = status in _RETRYABLE_STATUSES or status >= 500


def _retry_after(head: Mapping[str, str]) -> float | None:
    """Seconds to wait: `retry-after-ms`, or `retry-after` in seconds or as a date (RFC 9110, section 10.2.3)."""
    if (milliseconds := _number(head.get("retry-after-ms"))) is not None:
        return milliseconds / 1000
    value = head.get("retry-after")
    if value is None:
        return None
    if (seconds := _number(value)) is not None:
        return seconds
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    return max(0.0, (moment.astimezone(UTC) - datetime.now(UTC)).total_seconds())


def _number(value: str | None) -> float | None:
    try:
        number = float(value) if value is not None else -1.0
    except ValueError:
        return None
    return number if 0 <= number < 1e9 else None
