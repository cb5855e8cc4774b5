"""`streamshim serve`: an API that a server does not have, for programs in any language."""

from __future__ import annotations

import argparse
import importlib.util
import os
import socket
import sqlite3
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING

from ..history import ConversationStore
from .exits import OK, UsageError
from .options import add_reading_options

if TYPE_CHECKING:
    from ..asgi import App

NAME = "serve"
SUMMARY = "speak Responses in front of a server that has Chat Completions alone, or the other way round"

_LOOPBACK = frozenset(("127.0.0.1", "::1", "localhost"))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Says what may stand behind `streamshim serve`."""
    parser.add_argument("--upstream", metavar="URL", required=True, help="the server behind: its address up to /v1")
    parser.add_argument("--speak", choices=("responses", "chat"), required=True, help="the API that callers speak")
    parser.add_argument("--host", default="127.0.0.1", help="where to listen (default: 127.0.0.1, this machine alone)")
    parser.add_argument("--port", type=int, default=8088, help="the port (default: 8088)")
    parser.add_argument(
        "--api-key-env",
        metavar="NAME",
        help="the environment variable that holds the key of the server behind; without it callers send their own",
    )
    parser.add_argument(
        "--store", metavar="FILE", help="keep responses in this SQLite file, and not in memory (with --speak responses)"
    )
    parser.add_argument(
        "--leave-out-hosted-tools", action="store_true", help="go on without tools that the vendor would have to run"
    )
    add_reading_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Serves until it is interrupted."""
    from ..asgi import create_app

    if importlib.util.find_spec("uvicorn") is None:
        raise UsageError('serve needs uvicorn: pip install "streamshim[serve]"')
    key = _key(arguments.api_key_env)
    if arguments.store and arguments.speak != "responses":
        raise UsageError("--store needs --speak responses: on the chat API nothing is stored")
    with ExitStack() as stack:
        try:
            app = create_app(
                arguments.upstream,
                speak=arguments.speak,
                store=stack.enter_context(ConversationStore(arguments.store)) if arguments.store else None,
                api_key=key,
                hosted_tools="leave_out" if arguments.leave_out_hosted_tools else "refuse",
                reasoning_tags=arguments.reasoning_tags,
                tool_markup=arguments.tool_markup,
                trust_eof=arguments.trust_eof,
            )
        except (ModuleNotFoundError, ValueError) as error:
            raise UsageError(str(error)) from None
        except (OSError, sqlite3.Error) as error:
            raise UsageError(f"cannot open {arguments.store}: {error}") from None
        _serve(app, arguments)
    return OK


def _serve(app: App, arguments: argparse.Namespace) -> None:
    """Listen until interrupted; say where once somebody can ask there."""
    import uvicorn

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if self.started:
                _announce(arguments, self.servers[0].sockets[0].getsockname()[1])

    Server(uvicorn.Config(app, host=arguments.host, port=arguments.port, log_level="warning")).run()


def _key(name: str | None) -> str | None:
    if name is None:
        return None
    key = os.environ.get(name, "").strip()
    if not key:
        raise UsageError(f"the environment variable {name} is not set")
    return key


def _announce(arguments: argparse.Namespace, port: int) -> None:
    host = f"[{arguments.host}]" if ":" in arguments.host else arguments.host
    print(f"http://{host}:{port}/v1 speaks {arguments.speak}; Ctrl+C ends it", file=sys.stderr, flush=True)
    if arguments.host not in _LOOPBACK:
        whose = "with keys of their own" if arguments.api_key_env is None else "with the key of this program"
        print(f"streamshim: warning: others on the network can ask here, {whose}", file=sys.stderr, flush=True)
