"""`streamshim events`: one JSON object for each event, a line each, as they come."""

from __future__ import annotations

import argparse
import sys
from dataclasses import is_dataclass
from typing import Any

from ..events import Event
from ..json_codec import dumps
from .exits import OK, exit_code
from .inputs import open_streams
from .options import add_decoder_options, add_file_argument, decoder_options

NAME = "events"
SUMMARY = "print one JSON object for each event, a line each, as they come"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Says what may stand behind `streamshim events`."""
    add_file_argument(parser)
    add_decoder_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Prints each event of the input; returns the worst exit code."""
    code = OK
    for events in open_streams(arguments.file, decoder_options(arguments)):
        for event in events:
            sys.stdout.buffer.write(json_line(event))
            sys.stdout.buffer.flush()
        code = max(code, exit_code(events.end))
    return code


def json_line(event: Event) -> bytes:
    """The event as a line of JSON in UTF-8, its `type` first; data nested deeper than JSON is written becomes null."""
    record = {"type": event.type, **_members(event)}
    line = dumps(record)
    if line == "null":
        line = dumps({name: None if isinstance(value, dict | list) else value for name, value in record.items()})
    return line.encode() + b"\n"


def _members(value: Any) -> dict[str, Any]:
    """Not `asdict`, which copies everything and fails on data that is nested deep."""
    members = ((name, getattr(value, name)) for name in value.__slots__)
    return {name: _members(member) if is_dataclass(member) else member for name, member in members}
