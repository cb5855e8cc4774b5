"""`streamshim show`: a stream for people, as it comes."""

from __future__ import annotations

import argparse

from .exits import OK, exit_code
from .inputs import open_streams
from .options import add_decoder_options, add_file_argument, decoder_options
from .presenter import Presenter
from .terminal import standard_output

NAME = "show"
SUMMARY = "show a stream for people: thought, text, tool calls, usage, repairs and the verdict"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Says what may stand behind `streamshim show`."""
    add_file_argument(parser)
    add_decoder_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Shows each response of the input; returns the worst exit code."""
    terminal = standard_output()
    code = OK
    options = decoder_options(arguments)
    options["repairs"] = True
    for number, events in enumerate(open_streams(arguments.file, options)):
        if number:
            terminal.line()
        presenter = Presenter(terminal, repairs=arguments.repairs)
        for event in events:
            presenter.show(event)
        code = max(code, exit_code(events.end))
    return code
