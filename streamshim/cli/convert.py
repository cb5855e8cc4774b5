"""`streamshim convert`: a recorded or piped stream as the bytes of either API."""

from __future__ import annotations

import argparse
import sys
from typing import Any

import streamshim

from .exits import UsageError, exit_code
from .inputs import open_input, read_pieces
from .options import add_decoder_options, add_file_argument, decoder_options

NAME = "convert"
SUMMARY = "write a stream as legal events of the Chat Completions or the Responses API"
_READING = ("reasoning_tags", "tool_markup", "strict", "trust_eof")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Says what may stand behind `streamshim convert`."""
    add_file_argument(parser)
    parser.add_argument("--to", choices=("chat", "responses"), required=True, help="the API whose wire is written")
    parser.add_argument("--reasoning", metavar="FORM", help="how thought is written; see the encoders' options")
    parser.add_argument("--model", metavar="NAME", help="speak in the name of another model")
    parser.add_argument("--response-id", metavar="ID", help="speak under another response id")
    parser.add_argument("--no-done", action="store_true", help="leave out the closing [DONE]")
    add_decoder_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Writes the frames as they come; returns the exit code of the stream that was read."""
    options: dict[str, Any] = {
        key: value for key, value in decoder_options(arguments).items() if key in _READING and value is not None
    }
    for name in ("reasoning", "model", "response_id"):
        if (value := getattr(arguments, name)) is not None:
            options[name] = value
    if arguments.no_done:
        options["done"] = False
    with open_input(arguments.file) as file, _converted(read_pieces(file), arguments.to, options) as frames:
        for frame in frames:
            sys.stdout.buffer.write(frame)
            sys.stdout.buffer.flush()
    return exit_code(frames.end)


def _converted(source: Any, to: str, options: dict[str, Any]) -> Any:
    """The frames of the converted stream.

    Raises:
        UsageError: an option has a value that the encoder does not know.
    """
    try:
        return streamshim.convert(source, to=to, **options)  # type: ignore[call-overload]
    except ValueError as error:
        raise UsageError(str(error)) from None
