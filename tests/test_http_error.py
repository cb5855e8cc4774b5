"""Error bodies of refused requests, in the shapes that vendors send them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from streamshim import read_error


@pytest.mark.parametrize(
    ("body", "message", "code", "type"),
    [
        (b'{"error":{"message":"m","type":"t","code":"c"}}', "m", "c", "t"),
        (b'{"error":{"message":"m","code":429}}', "m", "429", None),
        (b'[{"error":{"code":400,"message":"m","status":"INVALID_ARGUMENT"}}]', "m", "400", "INVALID_ARGUMENT"),
        (b'{"detail":[{"loc":["body"],"msg":"m"}]}', "m", None, None),
        (b'{"error":"invalid_client","error_description":"m"}', "m", "invalid_client", None),
        (b'data: {"error":{"code":"inspection_failed","message":"m"},"id":"x"}\n\n', "m", "inspection_failed", None),
        (b'{"code":"c","message":"data: {\\"error\\":{\\"message\\":\\"m\\"}}","request_id":"r"}', "m", "c", None),
        (b'{"base_resp":{"status_code":1008,"status_msg":"m"}}', "m", "1008", None),
        (b'{"Response":{"Error":{"Code":"C","Message":"m"}}}', "m", "C", None),
    ],
)
def test_error_is_found_in_the_shape_of_any_vendor(
    body: bytes, message: str, code: str | None, type: str | None
) -> None:
    error = read_error(400, None, body)
    assert (error.kind, error.message, error.code, error.type, error.status) == ("vendor", message, code, type, 400)


@pytest.mark.parametrize("body", [b"", b"   ", b"<html>Bad gateway</html>", b"\x1f\x8b\x08\x00", b"{}", b"7"])
def test_body_that_names_no_error_is_told_by_its_status(body: bytes) -> None:
    error = read_error(502, {}, body)
    assert error.message.startswith("the server answered with HTTP status 502")
    assert (error.status, error.retryable) == (502, True)


@pytest.mark.parametrize(
    ("status", "headers", "body", "retryable"),
    [
        (429, {}, b"", True),
        (503, {}, b"", True),
        (400, {}, b"", False),
        (404, {}, b"", False),
        (429, {}, b'{"error":{"message":"m","code":"insufficient_quota"}}', False),
        (400, {}, b'{"error":{"message":"m","type":"overloaded_error"}}', True),
        (500, {"X-Should-Retry": "false"}, b"", False),
        (400, {"x-should-retry": "true"}, b"", True),
    ],
)
def test_whether_to_try_again_follows_from_header_words_and_status(
    status: int, headers: dict[str, str], body: bytes, retryable: bool
) -> None:
    assert read_error(status, headers, body).retryable is retryable


@pytest.mark.parametrize(
    ("headers", "body", "seconds"),
    [
        ({"Retry-After": "7"}, b"", 7.0),
        ({"retry-after-ms": "250", "retry-after": "9"}, b"", 0.25),
        ({"retry-after": "soon"}, b"", None),
        ({}, b'{"error":{"message":"Rate limit reached. Please try again in 1.5s."}}', 1.5),
        ({}, b'{"error":{"message":"Please try again in 20ms."}}', 0.02),
        ({}, b'{"error":{"message":"Please retry after 2 minutes"}}', 120.0),
        ({"retry-after": "3"}, b'{"error":{"message":"try again in 1s"}}', 1.0),
    ],
)
def test_how_long_to_wait_is_read_from_body_and_head(
    headers: dict[str, str], body: bytes, seconds: float | None
) -> None:
    assert read_error(429, headers, body).retry_after == seconds


def test_a_date_to_wait_for_becomes_seconds() -> None:
    soon = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    past = format_datetime(datetime.now(UTC) - timedelta(hours=1), usegmt=True)
    assert 3500 < (read_error(429, {"retry-after": soon}, b"").retry_after or 0) <= 3600
    assert read_error(429, {"retry-after": past}, b"").retry_after == 0.0
