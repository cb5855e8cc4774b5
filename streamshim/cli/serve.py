"""`streamshim serve`: an API that a server does not have, for programs in any language."""

from __future__ import annotations

import argparse
import os
import sqlite3
import sys
from contextlib import ExitStack

from ..history import ConversationStore
from .exits import OK, UsageError

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


def run(arguments: argparse.Namespace) -> int:
    """Serves until it is interrupted."""
    from ..asgi import create_app

    try:
        import uvicorn
    except ModuleNotFoundError:
        raise UsageError('serve needs uvicorn: pip install "streamshim[serve]"') from None
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
            )
        except (ModuleNotFoundError, ValueError) as error:
            raise UsageError(str(error)) from None
        except (OSError, sqlite3.Error) as error:
            raise UsageError(f"cannot open {arguments.store}: {error}") from None
        _announce(arguments, has_key=key is not None)
        uvicorn.run(app, host=arguments.host, port=arguments.port, log_level="warning")
    return OK


def _key(name: str | None) -> str | None:
    if name is None:
        return None
    key = os.environ.get(name, "").strip()
    if not key:
        raise UsageError(f"the environment variable {name} is not set")
    return key


def _announce(arguments: argparse.Namespace, *, has_key: bool) -> None:
    host = f"[{arguments.host}]" if ":" in arguments.host else arguments.host
    print(f"http://{host}:{arguments.port}/v1 speaks {arguments.speak}; Ctrl+C ends it", file=sys.stderr)
    if arguments.host not in _LOOPBACK:
        whose = "with the key of this program" if has_key else "with keys of their own"
        print(f"streamshim: warning: others on the network can ask here, {whose}", file=sys.stderr)
