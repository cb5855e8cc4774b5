"""What is measured, and what it is measured against. A subject imports what it needs only when it is loaded."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import orjson

Pieces = Sequence[bytes]
Run = Callable[[Pieces], None]


def bare_loop(data: bytes) -> None:
    """Split a body into events and parse each payload; touch nothing, make no events of our own."""
    for event in data.split(b"\n\n"):
        start = event.find(b"{")
        if start >= 0:
            orjson.loads(event[start:])


def split_lines(data: bytes) -> None:
    """Split a body into lines: the least that any framing must do."""
    data.split(b"\n")


def load_streamshim() -> Run:
    """The decoder, fed every piece, each event taken in a loop."""
    from streamshim import StreamDecoder

    def run(pieces: Pieces) -> None:
        decoder = StreamDecoder()
        for piece in pieces:
            for _event in decoder.feed(piece):
                pass
        for _event in decoder.close():
            pass

    return run


SUBJECTS: dict[str, Callable[[], Run]] = {"streamshim": load_streamshim}
"""By name: a loader that gives the function which reads all pieces of one stream and takes everything it says."""
