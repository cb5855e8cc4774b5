"""The options that the commands share: what is read, and how the decoder reads it."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..event_stream import DecoderOptions


def add_file_argument(parser: argparse.ArgumentParser) -> None:
    """Adds `[FILE]`; without it, or with `-`, standard input is read."""
    parser.add_argument("file", nargs="?", default="-", metavar="FILE", help="a recorded stream; '-' is standard input")


def add_reading_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options of `StreamDecoder` that decide what is read in a stream."""
    group = parser.add_argument_group("how the stream is read")
    group.add_argument(
        "--reasoning-tags",
        choices=("auto", "off", "open"),
        default="auto",
        help="look for <think> and its kin in the text; 'open': the text starts inside one (default: auto)",
    )
    group.add_argument("--tool-markup", action="store_true", help="read tool calls that leaked into the text")
    group.add_argument("--trust-eof", action="store_true", help="the end of the bytes is the end of the answer")


def add_decoder_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options of `StreamDecoder` that are worth having on a command line."""
    add_reading_options(parser)
    group = parser.add_argument_group("what is shown of it")
    group.add_argument("--strict", action="store_true", help="report every repair as an error")
    group.add_argument("--repairs", action="store_true", help="show each repair where it was made")
    group.add_argument("--raw", action="store_true", help="show the frames behind the events")


def decoder_options(arguments: argparse.Namespace) -> DecoderOptions:
    """The chosen options as keyword arguments of `StreamDecoder`."""
    return {
        "reasoning_tags": arguments.reasoning_tags,
        "tool_markup": arguments.tool_markup,
        "trust_eof": arguments.trust_eof,
        "strict": arguments.strict,
        "repairs": arguments.repairs,
        "raw": arguments.raw,
    }
