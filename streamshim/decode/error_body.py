"""Every vendor's error shape becomes one `ErrorInfo`.

The shapes nest in one another (an error object, in an envelope, whose message is JSON, or an event stream): so one walk
looks for the innermost object that says something, and its parents fill what it leaves open.
"""

from __future__ import annotations

import re
from typing import Any

from ..errors import ErrorInfo
from ..json_codec import dumps, loads

_NESTED = ("error", "Error", "errors", "ErrorMsg", "Response", "header", "response")
_MESSAGE = (
    *("message", "Message", "msg", "Msg", "status_msg", "error_msg", "error_message", "err", "detail", "details"),
    *("reason", "error_description", "title", "text"),
)
_CODE = ("code", "Code", "error_code", "status_code", "http_status_code", "error_type")
_TYPE = ("type", "error_type", "status")
_GENERIC_TYPES = frozenset(("error", "response.error", "session.error", "response.failed", "failed"))
_ERROR_TYPES = ("error", "response.error", "session.error")
_FALLBACK = "the vendor reported an error and gave no message"

_RETRYABLE = re.compile(
    r"rate.?limit|too.?many.?requests|overload|server.?error|internal.?error|internalserver|unavailable|timeout|timed.?out"
    r"|slow.?down|network|insufficient.?system.?resource|resource.?exhausted|try.?again|capacity|bad.?gateway",
    re.IGNORECASE,
)
_FINAL = re.compile(
    r"invalid|auth|permission|forbidden|not.?found|quota|balance|content.?filter|inspection|policy|context.?length"
    r"|tool_use_failed|unsupported|billing",
    re.IGNORECASE,
)
_RETRY_AFTER = re.compile(
    r"(?:try again|retry)(?: after| in)? (\d+(?:\.\d+)?) ?(ms|m?s\b|seconds?|m\b|minutes?)", re.IGNORECASE
)


def find_error(payload: dict[str, Any], *, named: bool) -> ErrorInfo | None:
    """The error in a payload that has no choices, or None.

    `named`: the event line already says that it is one, so whatever it holds is the error.
    """
    if not (named or _is_error(payload)):
        return None
    return read_error(payload)


def _is_error(payload: dict[str, Any]) -> bool:
    if payload.get("error") or payload.get("errors") or payload.get("ErrorMsg"):
        return True
    if payload.get("type") in _ERROR_TYPES or payload.get("object") == "error":
        return True
    if failed_status(payload.get("base_resp")):
        return True
    response = payload.get("Response")
    if isinstance(response, dict) and response.get("Error"):
        return True
    if payload.get("error_code") or payload.get("detail"):
        return True
    header = payload.get("header")
    if isinstance(header, dict) and header.get("code") and _text(header.get("message")):
        return True
    if _text(payload.get("message")) and _text(payload.get("code")):
        return True
    if "type" in payload or "object" in payload:
        return False
    if payload.get("code") not in (None, 0, "0", 200, "200", "") and _message(payload):
        return True
    return any(_text(payload.get(key)) for key in ("message", "Message", "msg", "error_msg", "error_type"))


def failed_status(base: object) -> bool:
    """MiniMax's `base_resp` beside an answer or instead of one: a status other than 0 is an error."""
    return isinstance(base, dict) and base.get("status_code") not in (None, 0, "0", "")


def read_error(value: Any) -> ErrorInfo:
    """The error that an object, a string or a list says, however deep it stands."""
    info = ErrorInfo("vendor", "", raw=value)
    _fill(info, value, depth=0)
    info.message = info.message or (f"{_FALLBACK} (code {info.code})" if info.code else _FALLBACK)
    _judge(info)
    return info


def _fill(info: ErrorInfo, value: Any, depth: int) -> None:
    """The innermost object speaks first; what it leaves open the outer ones fill."""
    if isinstance(value, list):
        value = next((entry for entry in value if entry), None)
    if isinstance(value, str):
        if (inner := _json_inside(value)) is not None and depth < 8:
            _fill(info, inner, depth + 1)
        info.message = info.message or value.strip()
        return
    if not isinstance(value, dict) or depth > 8:
        return
    for key in _NESTED:
        nested = value.get(key)
        if isinstance(nested, str) and key == "error" and isinstance(value.get("error_description"), str):
            info.code = info.code or nested
        elif nested and nested is not True:
            _fill(info, nested, depth + 1)
    if failed_status(base := value.get("base_resp")):
        _fill(info, base, depth + 1)
    message = _message(value)
    if not info.message and message:
        _fill(info, message, depth + 1)
    info.code = info.code or _scalar(value, _CODE)
    error_type = _scalar(value, _TYPE)
    if info.type is None and error_type not in _GENERIC_TYPES and not (error_type or "").isdigit():
        info.type = error_type
    info.param = info.param or _text(value.get("param"))
    if info.status is None:
        info.status = _http_status(value)
    if info.retry_after is None:
        info.retry_after = _wait(value)


def _message(value: dict[str, Any]) -> Any:
    """What the object calls its message: text, or an object or list that holds it."""
    for key in _MESSAGE:
        found = value.get(key)
        if isinstance(found, dict | list) and found:
            inner: Any = found[0] if isinstance(found, list) else found
            if isinstance(inner, dict):
                return _message(inner) or dumps(found)
            return inner
        if text := _text(found):
            return text
    return None


def _json_inside(text: str) -> Any:
    """JSON, or an event-stream frame, that stands in a message."""
    stripped = text.strip()
    if stripped.startswith("data:"):
        stripped = stripped[5:].split("\n", 1)[0].strip()
    if not stripped.startswith(("{", "[{")):
        return None
    try:
        return loads(stripped)
    except ValueError:
        return None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def _scalar(value: dict[str, Any], keys: tuple[str, ...]) -> str | None:
    for key in keys:
        found = value.get(key)
        if isinstance(found, str) and found:
            return found
        if isinstance(found, int) and not isinstance(found, bool) and found:
            return str(found)
    return None


def _http_status(value: dict[str, Any]) -> int | None:
    for key in ("status_code", "http_status_code", "status", "code"):
        found = value.get(key)
        if isinstance(found, str) and found.isdigit():
            found = int(found[:4])
        if isinstance(found, int) and 400 <= found < 600:
            return found
    return None


def _wait(value: dict[str, Any]) -> float | None:
    """Seconds to wait, from a header that was copied into the error, or a member of its own."""
    headers = value.get("headers")
    for found in (value.get("retry_after"), headers.get("retry-after") if isinstance(headers, dict) else None):
        if isinstance(found, str) and found.replace(".", "", 1).isdigit():
            return float(found)
        if isinstance(found, int | float) and not isinstance(found, bool) and 0 <= found < 1e9:
            return float(found)
    return None


def _judge(info: ErrorInfo) -> None:
    """Whether the same request may succeed later, by status, then by the words of code and type."""
    if info.retry_after is None and (match := _RETRY_AFTER.search(info.message)):
        scale = {"ms": 0.001, "m": 60.0, "mi": 60.0}.get(match[2][:2].strip().lower(), 1.0)
        info.retry_after = float(match[1]) * scale
    words = f"{info.code or ''} {info.type or ''}"
    if _FINAL.search(words):
        info.retryable = False
    elif _RETRYABLE.search(words) or info.status in (408, 409, 425, 429) or (info.status or 0) >= 500:
        info.retryable = True
    elif info.status is not None:
        info.retryable = False
    elif info.retry_after is not None:
        info.retryable = True
