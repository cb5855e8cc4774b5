"""`streamshim timeline`: a recorded stream as a picture, in one HTML page that needs nothing else."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..capture import Capture, TimedPiece, read_capture
from .exits import OK, UsageError, exit_code
from .inputs import open_input
from .options import add_decoder_options, add_file_argument, decoder_options

NAME = "timeline"
SUMMARY = "draw a recorded stream: its events over time, in one HTML page"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Says what may stand behind `streamshim timeline`."""
    add_file_argument(parser)
    parser.add_argument("--html", metavar="OUT", required=True, help="the page to write, such as out.html")
    add_decoder_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Writes the page; returns the worst exit code of the responses in it."""
    from ..timeline import page, read_timelines

    capture = _read(arguments.file)
    timelines = read_timelines(capture, **decoder_options(arguments))
    title = "standard input" if arguments.file == "-" else Path(arguments.file).name
    try:
        Path(arguments.html).write_text(page(title, timelines, capture), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {arguments.html}: {error.strerror}") from None
    if not capture.is_timed:
        print(f"no times are known: {title} has no sidecar; streamshim capture writes one", file=sys.stderr)
    return max((exit_code(timeline.stream_end) for timeline in timelines), default=OK)


def _read(name: str) -> Capture:
    """The recorded stream.

    Raises:
        UsageError: there is no such file, or its sidecar is of no use.
    """
    if name == "-":
        with open_input(name) as file:
            return Capture([TimedPiece(file.read(), None)])
    try:
        return read_capture(name)
    except OSError as error:
        raise UsageError(f"cannot read {name}: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(str(error)) from None
