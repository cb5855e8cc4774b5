"""Whole answers that a caller gets: in JSON, with errors in the shape that both APIs share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..encode.encoder import TRUNCATED_CODE, TRUNCATED_MESSAGE
from ..errors import ErrorInfo
from ..http_error import read_error
from ..json_codec import dumps
from .losses import UnsupportedMemberError

_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
}
"""What OpenAI calls an error of a status where nothing else is known; other client errors are invalid requests."""
BAD_GATEWAY = 502


class Reply(NamedTuple):
    """A whole answer.

    Attributes:
        status: the HTTP status.
        body: JSON.
    """

    status: int
    body: bytes


def reply(value: Any, status: int = 200) -> Reply:
    """A value as an answer."""
    return Reply(status, dumps(value).encode())


def error_reply(
    status: int, message: str, *, type: str | None = None, param: str | None = None, code: str | None = None
) -> Reply:
    """An error. `type` is that of the status, where none is given."""
    by_status = _TYPES.get(status, "invalid_request_error" if status < 500 else "server_error")
    return reply({"error": {"message": message, "type": type or by_status, "param": param, "code": code}}, status)


def unsupported_reply(error: UnsupportedMemberError) -> Reply:
    """What a caller hears who asked for what cannot be had."""
    return error_reply(400, str(error), param=error.param, code=error.code)


def refused_reply(status: int, headers: Mapping[str, str] | None, body: bytes) -> Reply:
    """An error of the server behind, whatever its shape, under the same status."""
    error = read_error(status, headers, body)
    return error_reply(status, error.message, type=error.type, param=error.param, code=error.code)


def failed_reply(error: ErrorInfo | None) -> Reply:
    """An answer that failed, or that was cut, though its status was none of an error."""
    if error is None or error.kind == "transport":
        return error_reply(BAD_GATEWAY, TRUNCATED_MESSAGE, code=TRUNCATED_CODE)
    status = error.status if error.status is not None and 400 <= error.status < 600 else BAD_GATEWAY
    return error_reply(status, error.message, type=error.type, param=error.param, code=error.code)
