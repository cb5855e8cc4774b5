"""`streamshim chat`: a conversation in the terminal, or a prompt a line without one."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.commands import interruptible
from tests.loopback import PATIENCE_SECONDS, WATCH, serve
from tests.servers import serve_model
from tests.small_streams import VENDOR_ERROR, frame

ROOT = Path(__file__).parent.parent
TOOLS = '''
def tide(harbour: str) -> dict:
    """When the water is highest."""
    return {"harbour": harbour, "hour": 9}

def fail() -> str:
    """Fail."""
    raise ConnectionError("the office is closed")

number = 7
'''
ENVIRONMENT = {"PYTHONPATH": str(ROOT), "PYTHONUTF8": "1", "PATH": os.environ["PATH"], "NO_PROXY": "127.0.0.1"}


def command(*arguments: str) -> list[str]:
    return interruptible("chat", *arguments)


def chat(*arguments: str, said: str = "", folder: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments),
        input=said,
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=60,
        env={**ENVIRONMENT, **environment},
    )


@pytest.mark.parametrize("api", ["chat", "responses", "auto"])
def test_each_line_is_a_prompt_of_one_conversation(api: str) -> None:
    said = "Remember the word Iroise.\n\nWhich word did I ask you to remember?\n"
    with serve_model() as server:
        run = chat(
            "--base-url", server.base_url, "--model", "toy", "--api", api, "--instructions", "Be brief.", said=said
        )
        bodies = [request.body for request in server.requests]
    assert (run.returncode, run.stderr) == (0, "")
    prompts = [line for line in run.stdout.splitlines() if line.startswith("> ")]
    assert prompts == ["> " + line for line in said.splitlines() if line]
    assert "\nIroise" in run.stdout
    assert " in · " in run.stdout.splitlines()[-1]
    last = bodies[-1]
    assert (last["messages"][0]["content"] if api == "chat" else last["instructions"]) == "Be brief."


def test_thought_calls_and_their_results_are_shown(tmp_path: Path) -> None:
    (tmp_path / "harbour.py").write_text(TOOLS, encoding="utf-8")
    with serve_model() as server:
        arguments = ("--base-url", server.base_url, "--model", "thinker", "--tools", "harbour:tide,harbour:fail")
        run = chat(*arguments, said='tide({"harbour": "Brest"}) fail()\n', folder=tmp_path)
    assert run.returncode == 0
    shown = run.stdout
    assert "│ Let me think about it." in shown
    assert "✓ tide  complete" in shown
    assert '← tide\n  {"harbour": "Brest", "hour": 9}\n' in shown
    assert "← fail failed\n  ConnectionError: the office is closed\n" in shown
    assert 'Results: {"harbour":"Brest","hour":9}; {"error":"ConnectionError: the office is closed"}' in shown


def test_what_the_server_does_not_have_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "harbour.py").write_text(TOOLS, encoding="utf-8")
    with serve_model("tools-refused") as server:
        arguments = ("--base-url", server.base_url, "--model", "toy", "--tools", "harbour:tide")
        run = chat(*arguments, said='tide({"harbour": "Brest"})\nCount to 3\n', folder=tmp_path)
    assert run.stdout.count("tools-in-prompt") == 1
    assert 'Results: {"harbour":"Brest","hour":9}' in run.stdout


def test_the_key_comes_from_the_environment_and_is_shown_nowhere() -> None:
    with serve_model(key="sk-secret") as server:
        arguments = ("--base-url", server.base_url, "--model", "toy", "--api-key-env", "MODEL_KEY")
        run = chat(*arguments, said="Count to 3\n", MODEL_KEY="sk-secret")
        missing = chat(*arguments, said="Count to 3\n")
    assert "1 2 3" in run.stdout
    assert "sk-secret" not in run.stdout + run.stderr
    assert (missing.returncode, missing.stdout) == (2, "")
    assert "MODEL_KEY is not set" in missing.stderr


def test_a_limit_is_passed_on_and_an_answer_that_it_cut_says_so() -> None:
    with serve_model() as server:
        run = chat("--base-url", server.base_url, "--model", "toy", "--max-tokens", "2", said="Count to 9\n")
    assert "1 2\nincomplete: " in run.stdout
    assert run.returncode == 0


def test_an_answer_that_fails_is_told_and_the_chat_goes_on() -> None:
    with serve_model() as server:
        arguments = ("--base-url", server.base_url, "--api", "chat", "--model", "toy")
        run = chat(*arguments, "--max-tokens", "-1", said="Count to 3\n")
        assert "✗ StreamFailedError: Invalid 'max_tokens'" in run.stdout
        assert run.returncode == 1
    broken = [frame({"choices": [{"delta": {"content": "Hel"}}]}), frame(VENDOR_ERROR)]
    with serve(broken) as server:
        run = chat("--base-url", server.url, "--api", "chat", said="one\ntwo\n")
        assert run.stdout.count("the engine is on fire") == 2
        assert run.stdout.count("Hel") == 2


@pytest.mark.parametrize(
    ("tools", "said"),
    [
        ("nowhere", "module:function"),
        ("no_such_module:f", "no_such_module"),
        ("harbour:no_such_function", "no_such_function"),
        ("harbour:number", "is no tool"),
    ],
)
def test_tools_that_cannot_be_had_are_told_in_one_line(tools: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "harbour.py").write_text(TOOLS, encoding="utf-8")
    run = chat("--base-url", "http://127.0.0.1:9/v1", "--api", "chat", "--tools", tools, said="Hi\n", folder=tmp_path)
    assert run.returncode == 2
    assert said in run.stderr
    assert run.stderr.count("\n") == 1


def test_a_server_that_cannot_be_reached_is_told_in_one_line() -> None:
    for address in ("http://127.0.0.1:9/v1", "nowhere"):
        run = chat("--base-url", address, said="Hi\n")
        assert run.returncode == 2
        assert address in run.stderr
        assert run.stderr.count("\n") == 1


class Output:
    """What a program says, waited for word by word."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._said = ""

    def until(self, words: str) -> str:
        """All up to some words; what stands behind them is for the next time."""
        while words not in self._said:
            ready, _, _ = select.select([self._descriptor], [], [], PATIENCE_SECONDS)
            piece = os.read(self._descriptor, 1024).decode() if ready else ""
            assert piece, f"{words!r} never came; what came is {self._said!r}"
            self._said += piece
        said, self._said = self._said.split(words, 1)
        return said + words


@contextmanager
def running(*arguments: str, **streams: Any) -> Generator[Any]:
    """The program, which is ended with the block if it has not ended itself."""
    environment = {**ENVIRONMENT, "TERM": "dumb"}
    with subprocess.Popen(command(*arguments), cwd=ROOT, env=environment, **streams) as process:
        try:
            yield process
            process.wait(PATIENCE_SECONDS)
        finally:
            process.kill()


def test_ctrl_c_stops_an_answer_and_the_chat_goes_on() -> None:
    begun = frame({"choices": [{"delta": {"content": "Hello"}}]})
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with serve([begun, WATCH]) as server, running("--base-url", server.url, "--api", "chat", **pipes) as process:
        output = Output(process.stdout.fileno())
        process.stdin.write(b"Hi\n")
        process.stdin.flush()
        output.until("Hello")
        process.send_signal(signal.SIGINT)
        assert server.sees_the_client_close()
        output.until("stopped")
        process.stdin.close()
        process.wait(PATIENCE_SECONDS)
        assert (process.returncode, process.stderr.read()) == (0, b"")


def test_on_a_terminal_it_asks_until_ctrl_d() -> None:
    ours, theirs = pty.openpty()
    terminal = dict.fromkeys(("stdin", "stdout", "stderr"), theirs)
    with serve_model() as server, running("--base-url", server.base_url, "--model", "toy", **terminal) as process:
        os.close(theirs)
        output = Output(ours)
        output.until("> ")
        os.write(ours, b"Count to 3\n")
        assert "1 2 3" in output.until(" total")
        output.until("> ")
        os.write(ours, b"\x04")
        process.wait(PATIENCE_SECONDS)
    os.close(ours)
    assert process.returncode == 0
