"""A server on this machine that replays recorded streams, cut into pieces as a network would cut them."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from itertools import cycle
from time import sleep

from ..events import Api, EndStatus

PIECE_LENGTHS = (97, 211, 64, 340, 128, 83)
"""In bytes, in turns: most events come in two or three pieces, some pieces hold the ends of two."""

PAUSE = 0.02
"""In seconds, between two pieces: about the pace of a fast model."""


@dataclass(frozen=True)
class Capture:
    """A recorded stream, and what it is to show.

    Attributes:
        name: of the file, and the first part of the address it is served at.
        api: the wire that it speaks.
        title: what the reader will see.
        ends: how it must end.
    """

    name: str
    api: Api
    title: str
    ends: EndStatus

    @property
    def path(self) -> str:
        """Where the server replays it."""
        return f"/{self.name}/v1/" + ("responses" if self.api == "responses" else "chat/completions")

    def read(self) -> bytes:
        """The body as it was recorded."""
        return (resources.files("streamshim.cli") / "captures" / f"{self.name}.sse").read_bytes()


CAPTURES = (
    Capture(
        "sloppy_gateway",
        "chat",
        "Chat, by a sloppy gateway: every thought is sent twice, two calls come whole under one index, and the finish "
        "reason comes after the usage and says the wrong word.",
        "completed",
    ),
    Capture(
        "web_search",
        "responses",
        "Responses: a summary of the thought, a web search that the vendor runs, and an answer that cites its source.",
        "completed",
    ),
    Capture(
        "cut",
        "chat",
        "Chat, cut in the middle of a call. To HTTP this is a success: status 200 and a proper end of the body.",
        "truncated",
    ),
)


def cut(body: bytes) -> Iterator[bytes]:
    """The body in pieces of uneven lengths, none of which ends where an event or a line ends, but the last."""
    start = 0
    for length in cycle(PIECE_LENGTHS):
        end = start + length
        while body[end - 1 : end] == b"\n":
            end += 1
        yield body[start:end]
        if end >= len(body):
            return
        start = end


class _Replay(BaseHTTPRequestHandler):
    """Answers a request with the capture that is kept under its path."""

    protocol_version = "HTTP/1.1"
    pause = PAUSE

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        capture = next((capture for capture in CAPTURES if capture.path == self.path), None)
        if capture is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.send_header("connection", "close")
        self.end_headers()
        with suppress(ConnectionError):  # a reader need not wait for the end of the body
            for piece in cut(capture.read()):
                self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
                sleep(self.pause)
            self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: object) -> None:
        """Keeps the server silent."""


@contextmanager
def replay_server(pause: float = PAUSE) -> Generator[str, None, None]:
    """Serves the captures on a free port of 127.0.0.1 as long as the block runs; gives `http://127.0.0.1:PORT`."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Replay", (_Replay,), {"pause": pause}))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
