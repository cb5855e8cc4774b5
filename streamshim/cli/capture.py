"""`streamshim capture`: keeps a live stream in a file, with the times of its reads, and without what is secret."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import BinaryIO

from ..capture import Ended, Recorder, sidecar_path, write_capture
from .exits import INTERRUPTED, OK, UsageError, ended_as_interrupted, leave_the_pipe
from .inputs import PIECE_BYTES, open_input
from .outputs import refuse_what_cannot_be_written

NAME = "capture"
SUMMARY = "keep a live stream in a file, with the times of its reads, scrubbed of keys and personal ids"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Says what may stand behind `streamshim capture`."""
    parser.add_argument("out", metavar="OUT", help="the file to write, such as out.sse; the times go to OUT.json")
    parser.add_argument(
        "file", nargs="?", default="-", metavar="FILE", help="what to read; '-', the default, is standard input"
    )
    parser.add_argument("--tee", action="store_true", help="pass the bytes on to standard output, as they come")
    parser.add_argument("--no-scrub", action="store_true", help="keep every byte: keys, e-mail addresses and ids too")


def run(arguments: argparse.Namespace) -> int:
    """Reads to the end, or until interrupted or told to end; what came until then is kept."""
    path = Path(arguments.out)
    refuse_what_cannot_be_written(path, sidecar_path(path))
    recorder = Recorder()
    with open_input(arguments.file) as file, ended_as_interrupted():
        ended = _record(file, recorder, tee=arguments.tee)
    capture = recorder.close(ended)
    if not arguments.no_scrub:
        capture = capture.scrub()
    try:
        write_capture(capture, path)
    except OSError as error:
        raise UsageError(f"cannot write {error.filename}: {error.strerror}") from None
    size, reads = sum(len(piece.data) for piece in capture.pieces), len(capture.pieces)
    scrubbed = ", scrubbed" if capture.scrubbed else ""
    print(f"{path}: {size:,} bytes in {reads:,} reads, {capture.duration:.1f} s{scrubbed}", file=sys.stderr)
    return OK if ended == "eof" else INTERRUPTED


def _record(file: BinaryIO, recorder: Recorder, *, tee: bool) -> Ended:
    """Reads as the pipe gives it, past all buffers; says how it ended. A reader of ours that leaves ends nothing."""
    source = getattr(file, "raw", file)
    try:
        while piece := source.read(PIECE_BYTES):
            recorder.feed(piece)
            if tee:
                tee = _pass_on(piece)
    except KeyboardInterrupt:
        return "interrupted"
    return "eof"


def _pass_on(piece: bytes) -> bool:
    try:
        sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        leave_the_pipe()
        return False
    return True
