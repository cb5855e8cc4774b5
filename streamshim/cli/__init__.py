"""The command line: a module for each command."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Sequence

from . import capture, chat, check, convert, demo, events, response, serve, show, timeline
from .exits import INTERRUPTED, OK, USAGE, UsageError, leave_the_pipe

_COMMANDS = (events, show, response, convert, capture, timeline, chat, check, serve, demo)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command.

    Args:
        argv: the arguments behind the program's name; by default those of this process.

    Returns:
        0: all is well. 1: a stream ended badly (failed or truncated). 2: called wrongly, or there is no such file.
        130: interrupted.

    Raises:
        SystemExit: with 2 where the arguments cannot be understood, with 0 after `--help` and `--version`.
    """
    arguments = _parser().parse_args(argv)
    _never_fail_on_characters()
    try:
        code: int = arguments.run(arguments)
        sys.stdout.flush()
    except UsageError as error:
        print(f"streamshim: {error}", file=sys.stderr)
        return USAGE
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        leave_the_pipe()
        return OK
    return code


class _ShowVersion(argparse.Action):
    """Looks it up only when asked: it is read from a file."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from .. import __version__

        print(f"streamshim {__version__}")
        parser.exit()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="streamshim", description="Reads streamed answers of language models, whatever the wire and the vendor."
    )
    parser.add_argument("--version", action=_ShowVersion, nargs=0, help="show the version and exit")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in _COMMANDS:
        child = commands.add_parser(command.NAME, help=command.SUMMARY, description=command.SUMMARY)
        command.add_arguments(child)
        child.set_defaults(run=command.run)
    return parser


def _never_fail_on_characters() -> None:
    """A terminal that cannot show a character shows a question mark."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
