"""Puts scenarios to a client: a loopback server here, the client in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Self

from tests.loopback import BREAK, serve

from .account import Account

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .scenarios import Api, Scenario

SECONDS_PER_SCENARIO = 10
_SECONDS_TO_LOAD = 300
_ROOT = Path(__file__).parents[2]
_FOREIGN_SETTINGS = ("OPENAI_", "LITELLM_", "LANGCHAIN_", "LANGSMITH_", "PYDANTIC_AI_", "LOGFIRE_")
_SETTINGS = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "NO_PROXY": "127.0.0.1",
    "no_proxy": "127.0.0.1",
    "OPENAI_AGENTS_DISABLE_TRACING": "1",
    "PYTHONHASHSEED": "0",
}


def accounts(
    api: Api, client: str, scenarios: Iterable[Scenario], *, relayed: bool
) -> Iterator[tuple[Scenario, Account]]:
    """Put each scenario to one client, `relayed` or not, and give its account of it."""
    with serve([]) as server, ClientProcess(api, client, server.url, relayed=relayed) as process:
        for scenario in scenarios:
            server.script = [*scenario.pieces, BREAK] if scenario.dropped else scenario.pieces
            server.headers = {"Content-Type": scenario.content_type}
            yield scenario, process.ask()


class ClientProcess:
    """A client's process; one that hangs or dies is replaced before the next request."""

    def __init__(self, api: Api, client: str, url: str, *, relayed: bool) -> None:
        """Say which client, and where the server is; the process starts with the first request."""
        over = ["relayed"] if relayed else []
        self._command = [sys.executable, "-m", "benchmarks.comparison.worker", api, client, url, *over]
        self._process: subprocess.Popen[str] | None = None
        self._log = tempfile.TemporaryFile("w+")  # noqa: SIM115

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._stop()
        self._log.close()

    def ask(self) -> Account:
        """Let the client make one request; it hangs or crashes only if it does so twice."""
        account = self._ask()
        return self._ask() if account.ended in ("hung", "crashed") else account

    def _ask(self) -> Account:
        if self._process is None:
            self._process = self._start()
        timed_out, line = self._exchange(self._process, "go\n", SECONDS_PER_SCENARIO)
        if line:
            return Account.from_json(json.loads(line))
        self._stop()
        return Account(ended="hung" if timed_out else "crashed")

    def _start(self) -> subprocess.Popen[str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN_SETTINGS)}
        process = subprocess.Popen(
            self._command,
            cwd=_ROOT,
            env=kept | _SETTINGS,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )
        _timed_out, line = self._exchange(process, "", _SECONDS_TO_LOAD)
        if not line:
            self._log.seek(0)
            raise RuntimeError(f"{' '.join(self._command)} does not start:\n{self._log.read()}")
        return process

    def _exchange(self, process: subprocess.Popen[str], request: str, seconds: float) -> tuple[bool, str]:
        assert process.stdin
        assert process.stdout
        timed_out = threading.Event()

        def give_up() -> None:
            timed_out.set()
            process.kill()

        timer = threading.Timer(seconds, give_up)
        timer.start()
        try:
            process.stdin.write(request)
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            timer.cancel()
        return timed_out.is_set(), line

    def _stop(self) -> None:
        if self._process:
            self._process.kill()
            self._process.communicate()
            self._process = None
