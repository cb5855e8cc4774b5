"""`streamshim chat`: talk to a model in the terminal, and let it call Python functions."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ..errors import StreamshimError
from ..json_codec import dumps
from ..quirks import QUIRKS
from ..wording import VERDICTS, token_counts
from .exits import BAD_STREAM, OK, UsageError
from .presenter import BAD, DOUBTFUL, GOOD, QUIET, Presenter, readable
from .terminal import JSON, Terminal, standard_output

if TYPE_CHECKING:
    from ..client import LLMClient, Run, Tool, ToolResult
    from ..events import Repair
    from ..history import Conversation

NAME = "chat"
SUMMARY = "talk to a model, and let it call Python functions; without a terminal, one prompt a line"

PROMPT = "> "
_SHOWN_CHARACTERS = 2000
"""How much of a tool's result is shown."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Says what may stand behind `streamshim chat`."""
    parser.add_argument("--base-url", metavar="URL", required=True, help="where the API is, up to /v1")
    parser.add_argument("--model", help="the model to talk to")
    parser.add_argument(
        "--api",
        choices=("auto", "chat", "responses"),
        default="auto",
        help="the API to speak (default: auto, Responses where the server has it)",
    )
    parser.add_argument("--api-key-env", metavar="NAME", help="the environment variable that holds the API key")
    parser.add_argument(
        "--tools", metavar="MODULE:FUNCTION,…", default="", help="functions that the model may call, such as a:f,a:g"
    )
    parser.add_argument("--instructions", help="the system prompt")
    parser.add_argument("--max-tokens", type=int, metavar="N", help="how long an answer may be")


def run(arguments: argparse.Namespace) -> int:
    """Talks until the input ends. Ctrl-C stops an answer, Ctrl-D leaves."""
    from ..history import Conversation

    tools = [_tool(name) for name in arguments.tools.split(",") if name]
    with _client(arguments) as client:
        terminal = standard_output()
        chat = _Chat(terminal, client, Conversation(instructions=arguments.instructions), tools, arguments.max_tokens)
        terminal.line(f"{client!r}; Ctrl-C stops an answer, Ctrl-D leaves", QUIET)
        all_well = True
        for prompt in _prompts(terminal):
            all_well = chat.ask(prompt) and all_well
    return OK if all_well or sys.stdin.isatty() else BAD_STREAM


class _Chat:
    """A conversation, and how it is shown."""

    def __init__(
        self,
        terminal: Terminal,
        client: LLMClient,
        conversation: Conversation,
        tools: list[Tool],
        max_tokens: int | None,
    ) -> None:
        self._terminal = terminal
        self._client = client
        self._conversation = conversation
        self._tools = tools
        self._told: set[str] = set()
        """What was said of the server already."""
        self._options: dict[str, Any] = {} if max_tokens is None else {"max_tokens": max_tokens}

    def ask(self, prompt: str) -> bool:
        """Show the answer to a prompt; whether it ended well."""
        terminal, before = self._terminal, len(self._conversation)
        self._conversation.user(prompt)
        ended_well = True
        with self._client.run(self._conversation, tools=self._tools, repairs=True, **self._options) as answer:
            try:
                self._show(answer)
            except KeyboardInterrupt:
                terminal.fresh_line()
                terminal.line("stopped", DOUBTFUL)
            except StreamshimError as error:
                ended_well = False
                terminal.fresh_line()
                terminal.write(f"✗ {type(error).__name__}: ", BAD)
                terminal.write(f"{error}\n", "", "  ")
        self._conversation.decline_calls()
        if len(self._conversation) == before + 1:  # nothing came: the prompt may be given again
            self._conversation = self._conversation.fork(length=before)
        if answer.usage is not None:
            terminal.line(token_counts(answer.usage), QUIET)
        return ended_well

    def _show(self, answer: Run) -> None:
        presenter = Presenter(self._terminal)
        for event in answer:
            match event.type:
                case "stream_start":
                    presenter = Presenter(self._terminal)
                case "stream_end":
                    if event.status != "completed":
                        self._terminal.line(f"{event.status}: {VERDICTS[event.status]}", DOUBTFUL)
                case "tool_result":
                    self._show_result(event)
                case "repair":
                    self._show_repair(event)
                case "state_fallback" | "error_report":
                    pass  # the repair tells the one, the exception the other
                case _:
                    presenter.show(event)
        self._terminal.fresh_line()

    def _show_repair(self, repair: Repair) -> None:
        """What the server does not have, once; how its stream was put right is of no interest here."""
        if QUIRKS[repair.quirk].made_by == "client" and repair.detail not in self._told:
            self._told.add(repair.detail)
            self._terminal.line(f"{repair.quirk}: {repair.detail}", QUIET)

    def _show_result(self, result: ToolResult) -> None:
        self._terminal.line(f"← {result.name}{' failed' if result.is_error else ''}", BAD if result.is_error else GOOD)
        text = result.output if isinstance(result.output, str) else readable(dumps(result.output))
        self._terminal.block(text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "…", JSON, "  ")


def _client(arguments: argparse.Namespace) -> LLMClient:
    from ..client import connect
    from ..http_module import http_module

    key = None
    if name := arguments.api_key_env:
        key = os.environ.get(name, "").strip()
        if not key:
            raise UsageError(f"the environment variable {name} is not set")
    try:
        module = http_module()
    except ModuleNotFoundError as error:
        raise UsageError(str(error)) from None
    try:
        return connect(arguments.base_url, key, api=arguments.api, model=arguments.model)
    except (module.HTTPError, module.InvalidURL) as error:
        raise UsageError(f"{arguments.base_url} cannot be reached: {error}") from None


def _tool(name: str) -> Tool:
    """The tool `module:function`; modules may lie in the directory that the command was started in."""
    from ..client import Tool

    module_name, _, function_name = name.strip().partition(":")
    if not function_name:
        raise UsageError(f"--tools {name}: name functions as module:function")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        function = getattr(importlib.import_module(module_name), function_name)
        return function if isinstance(function, Tool) else Tool(function)
    except (ImportError, AttributeError, TypeError) as error:
        raise UsageError(f"--tools {name}: {error}") from None


def _prompts(terminal: Terminal) -> Iterator[str]:
    """What the user says: typed, or a line each of standard input."""
    if not sys.stdin.isatty():
        for line in sys.stdin:
            if prompt := line.strip():
                terminal.line(PROMPT + prompt)
                yield prompt
        return
    with suppress(ImportError):
        importlib.import_module("readline")  # gives input() a history, and a line that can be edited
    while True:
        try:
            prompt = input(PROMPT).strip()
        except EOFError:
            terminal.line()
            return
        except KeyboardInterrupt:
            terminal.line()
            continue
        if prompt:
            yield prompt
