"""What the tests of the check share: a run against the tests' own server."""

from __future__ import annotations

from typing import Any

from streamshim.check import CheckReport, run_checks
from tests.servers import ModelServer, serve_model

KEY = "sk-canary-4f1d9c77e0b25a63"


def check(*habits: str, apis: tuple[str, ...] = ("chat", "responses", "completions"), **options: Any) -> CheckReport:
    """A run with the right key."""
    return check_and_see(*habits, apis=apis, **options)[0]


def check_and_see(
    *habits: str,
    apis: tuple[str, ...] = ("chat", "responses", "completions"),
    model: str = "toy",
    api_key: str = KEY,
    **options: Any,
) -> tuple[CheckReport, ModelServer]:
    """A run, and the server that it was made against, which is gone by then."""
    with serve_model(*habits, key=KEY, apis=apis) as server:
        report = run_checks(server.base_url, model=model, api_key=api_key, **options)
    return report, server
