"""The other end of a worker: a process that is asked in JSON, and has only so long to answer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

Reply: TypeAlias = dict[str, Any]

SECONDS_TO_LOAD = 300
"""For a library, or for what is fed to it."""

_ROOT = Path(__file__).parents[1]
_SHOWN_CHARACTERS = 500
_FOREIGN_SETTINGS = ("OPENAI_", "LITELLM_", "LANGCHAIN_", "LANGSMITH_", "PYDANTIC_AI_", "LOGFIRE_")
_SETTINGS = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "OPENAI_AGENTS_DISABLE_TRACING": "1",
    "PYTHONHASHSEED": "0",
}


class TooSlowError(Exception):
    """The process did not answer in time, and was ended."""


class WorkerDiedError(Exception):
    """The process ended without an answer."""


class WorkerProcess:
    """A process of one subject. It starts with the first request; one that was ended or died starts anew."""

    def __init__(self, command: Sequence[str]) -> None:
        """`command` says hello in a line of JSON, then answers each line of JSON with another."""
        self._command = list(command)
        self._process: subprocess.Popen[str] | None = None
        self._log = tempfile.TemporaryFile("w+")  # noqa: SIM115

    @classmethod
    def of(cls, subject: str) -> Self:
        """The worker of a subject."""
        return cls([sys.executable, "-m", "benchmarks.worker", subject])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._stop()
        self._log.close()

    def start(self) -> Reply:
        """Start the process, and give what it says first.

        Raises:
            TooSlowError: it takes too long to load.
            WorkerDiedError: it cannot be loaded.
        """
        kept = {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN_SETTINGS)}
        self._stop()
        self._log.truncate(0)
        self._process = subprocess.Popen(
            self._command,
            cwd=_ROOT,
            env=kept | _SETTINGS,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )
        return self._exchange(self._process, "", SECONDS_TO_LOAD)

    def ask(self, request: Reply, seconds: float) -> Reply:
        """Give the answer to one request.

        Raises:
            TooSlowError: it takes more than so many seconds.
            WorkerDiedError: the process ended.
        """
        if self._process is None:
            self.start()
        assert self._process
        return self._exchange(self._process, json.dumps(request) + "\n", seconds)

    def _exchange(self, process: subprocess.Popen[str], request: str, seconds: float) -> Reply:
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
        if line and not timed_out.is_set():
            answer: Reply = json.loads(line)
            return answer
        self._stop()
        if timed_out.is_set():
            raise TooSlowError
        self._log.seek(0)
        raise WorkerDiedError(self._log.read().strip()[-_SHOWN_CHARACTERS:] or "the process ended without a word")

    def _stop(self) -> None:
        if self._process:
            self._process.kill()
            self._process.communicate()
            self._process = None
