"""`streamshim response`: the finished answer as JSON."""

from __future__ import annotations

import argparse
import sys

from .exits import OK, exit_code
from .inputs import open_streams
from .options import add_decoder_options, add_file_argument, decoder_options

NAME = "response"
SUMMARY = "print the finished ModelResponse as JSON"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Says what may stand behind `streamshim response`."""
    add_file_argument(parser)
    add_decoder_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Prints each response of the input, one JSON document after another; returns the worst exit code."""
    code = OK
    for events in open_streams(arguments.file, decoder_options(arguments), progress=True):
        sys.stdout.buffer.write(events.final().model_dump_json(indent=2).encode() + b"\n")
        code = max(code, exit_code(events.end))
    return code
