"""`streamshim demo`: streams read live over HTTP, recorded ones or the answer of a real endpoint."""

from __future__ import annotations

import argparse
import os
from contextlib import AbstractContextManager
from types import ModuleType
from typing import TYPE_CHECKING, Any

import streamshim

from ..errors import StreamEndError
from ..events import Api, StreamEnd
from ..http_module import http_module
from .exits import BAD_STREAM, OK, UsageError, exit_code
from .options import add_decoder_options, decoder_options
from .presenter import BAD, GOOD, QUIET, Presenter
from .terminal import Terminal, standard_output

if TYPE_CHECKING:
    from .replay import Capture

NAME = "demo"
SUMMARY = "watch streams being read over HTTP: three recorded ones, or the answer of a real endpoint"

HEADING = "bold"
CODE = "cyan"

DEFAULT_PROMPT = "Why is the sea lowest just after a new moon? Answer in three sentences."

PATIENCE = 300.0
"""In seconds: a model may think for long before it says anything."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Says what may stand behind `streamshim demo`."""
    parser.add_argument("--fast", action="store_true", help="replay the recorded streams without pauses")
    group = parser.add_argument_group("a real endpoint instead of the recorded streams")
    group.add_argument("--base-url", metavar="URL", help="its address up to /v1, such as http://localhost:11434/v1")
    group.add_argument("--model", help="the model to ask")
    group.add_argument("--api-key-env", metavar="NAME", help="the environment variable that holds the API key")
    group.add_argument("--api", choices=("chat", "responses"), help="the wire to ask for (default: chat)")
    group.add_argument("--prompt", help=f"what to ask (default: {DEFAULT_PROMPT})")
    add_decoder_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Shows the recorded streams, or with `--base-url` one answer of that endpoint."""
    try:
        client = http_module()
    except ModuleNotFoundError as error:
        raise UsageError(str(error)) from None
    terminal = standard_output()
    if arguments.base_url:
        return _ask_endpoint(client, terminal, arguments)
    for option in ("model", "api_key_env", "api", "prompt"):
        if getattr(arguments, option) is not None:
            raise UsageError(f"--{option.replace('_', '-')} needs --base-url")
    return _replay_captures(client, terminal, arguments)


def request_body(api: Api, model: str, prompt: str) -> dict[str, Any]:
    """What is posted to ask for a streamed answer on that wire."""
    if api == "responses":
        return {"model": model, "input": prompt, "stream": True}
    messages = [{"role": "user", "content": prompt}]
    return {"model": model, "messages": messages, "stream": True, "stream_options": {"include_usage": True}}


def _replay_captures(client: ModuleType, terminal: Terminal, arguments: argparse.Namespace) -> int:
    from .replay import CAPTURES, PAUSE, replay_server

    as_announced = 0
    with replay_server(0.0 if arguments.fast else PAUSE) as base_url:
        terminal.line(f"{base_url} replays recorded streams, cut into pieces at any byte.", QUIET)
        for number, capture in enumerate(CAPTURES, 1):
            _announce(terminal, number, capture, client.__name__)
            body = request_body(capture.api, "recorded", DEFAULT_PROMPT)
            with client.stream("POST", base_url + capture.path, json=body, trust_env=False) as response:
                end = _watch(terminal, response, arguments)
            as_announced += end is not None and end.status == capture.ends
    whole = as_announced == len(CAPTURES)
    terminal.line()
    terminal.line(f"{as_announced} of {len(CAPTURES)} streams ended as announced.", GOOD if whole else BAD)
    return OK if whole else BAD_STREAM


def _announce(terminal: Terminal, number: int, capture: Capture, client_name: str) -> None:
    terminal.line()
    terminal.write(f"{number}. ", HEADING)
    terminal.write(f"{capture.title} It must end {capture.ends}.\n", HEADING, "   ")
    _show_code(terminal, f'with {client_name}.stream("POST", url, json=body) as response:')


def _show_code(terminal: Terminal, request: str) -> None:
    code = f"{request}\n    for event in streamshim.stream(response):\n        show(event)"
    terminal.line()
    terminal.block(code, CODE, "    ")
    terminal.line()


def _watch(terminal: Terminal, response: Any, arguments: argparse.Namespace) -> StreamEnd | None:
    """Shows each event as it comes, and the exception that a reader gets where a stream ends badly."""
    presenter = Presenter(terminal, repairs=arguments.repairs)
    options = decoder_options(arguments)
    options["repairs"] = True
    with streamshim.stream(response, **options) as events:
        try:
            for event in events:
                presenter.show(event)
        except StreamEndError as error:
            terminal.write("  raised    ", QUIET)
            terminal.write(f"{type(error).__name__}: {error}\n", BAD, " " * 12)
    return events.end


def _ask_endpoint(client: ModuleType, terminal: Terminal, arguments: argparse.Namespace) -> int:
    url, headers = _endpoint(arguments)
    body = request_body(arguments.api or "chat", arguments.model, arguments.prompt or DEFAULT_PROMPT)
    terminal.line(f"POST {url}", QUIET)
    terminal.line(body.get("input") or body["messages"][0]["content"], HEADING)
    _show_code(terminal, f'with {client.__name__}.stream("POST", url, json=body, headers=headers) as response:')
    try:
        request: AbstractContextManager[Any] = client.stream("POST", url, json=body, headers=headers, timeout=PATIENCE)
        with request as response:
            return exit_code(_watch(terminal, response, arguments))
    except (client.InvalidURL, client.UnsupportedProtocol) as error:
        raise UsageError(f"{url} is no address: {error}") from None
    except client.HTTPError as error:
        terminal.line(f"✗ {type(error).__name__}: {error}", BAD)
        return BAD_STREAM


def _endpoint(arguments: argparse.Namespace) -> tuple[str, dict[str, str]]:
    if not arguments.model:
        raise UsageError("--base-url needs --model")
    headers = {}
    if name := arguments.api_key_env:
        key = os.environ.get(name, "").strip()
        if not key:
            raise UsageError(f"the environment variable {name} is not set")
        headers["authorization"] = f"Bearer {key}"
    path = "responses" if arguments.api == "responses" else "chat/completions"
    return f"{arguments.base_url.rstrip('/')}/{path}", headers
