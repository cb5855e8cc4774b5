"""A small real HTTP server on 127.0.0.1 that plays a script: pieces of a body, pauses, a broken connection.

    with serve([b"data: 1\\n\\n", PAUSE, b"data: 2\\n\\n", BREAK]) as server:
        response = httpx.get(server.url)

It runs in a thread of its own and is gone at the end of the block.
"""

from __future__ import annotations

import contextlib
import enum
import http.server
import threading
from collections.abc import Generator, Sequence
from typing import Any, ClassVar

PATIENCE_SECONDS = 20
"""How long anything is waited for before a test is given up as hanging."""


class Step(enum.Enum):
    """What a server can do besides sending a piece."""

    PAUSE = "wait until the test calls `go_on`"
    BREAK = "close the connection without having ended the body"
    WATCH = "wait until the client has closed the connection"


PAUSE, BREAK, WATCH = Step


class LoopbackServer(http.server.ThreadingHTTPServer):
    """Plays the same script for every request, whatever it asks for."""

    def __init__(self, script: Sequence[bytes | Step], status: int, headers: dict[str, str], chunked: bool) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script = script
        self.status = status
        self.headers = headers
        self.chunked = chunked
        self.client_closed = threading.Event()
        self.connections = 0
        self.requests: list[str] = []
        """The path of each request, with its query."""
        self._may_go_on = threading.Semaphore(0)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def go_on(self) -> None:
        """Let a script that stands at PAUSE go on."""
        self._may_go_on.release()

    def wait_to_go_on(self) -> None:
        if not self._may_go_on.acquire(timeout=PATIENCE_SECONDS):
            raise TimeoutError("the test never called go_on()")

    def sees_the_client_close(self) -> bool:
        """Whether the client closes the connection, by the time that the script stands at WATCH; waits for it."""
        return self.client_closed.wait(PATIENCE_SECONDS)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client may leave whenever it likes."""


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ClassVar[Any]

    def setup(self) -> None:
        super().setup()
        self.server.connections += 1

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.server.requests.append(self.path)
        try:
            self._play()
        except ConnectionError:
            self.server.client_closed.set()
            raise

    def _play(self) -> None:
        server = self.server
        headers = {"Content-Type": "text/event-stream", "Connection": "close", **server.headers}
        self.close_connection = headers["Connection"] == "close"
        self.send_response(server.status)
        for name, value in headers.items():
            self.send_header(name, value)
        if server.chunked:
            self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for step in server.script:
            if step is BREAK:
                self.close_connection = True
                return
            self._take(step)
        if server.chunked:
            self.wfile.write(b"0\r\n\r\n")

    def do_GET(self) -> None:
        self.do_POST()

    def _take(self, step: bytes | Step) -> None:
        if isinstance(step, bytes):
            self.wfile.write(b"%x\r\n%b\r\n" % (len(step), step) if self.server.chunked else step)
        elif step is PAUSE:
            self.server.wait_to_go_on()
        else:
            self.connection.settimeout(PATIENCE_SECONDS)
            with contextlib.suppress(ConnectionError):
                self.connection.recv(1)
            self.server.client_closed.set()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextlib.contextmanager
def serve(
    script: Sequence[bytes | Step],
    *,
    status: int = 200,
    headers: dict[str, str] | None = None,
    chunked: bool = True,
) -> Generator[LoopbackServer]:
    """Run a server for the length of the block. Without `chunked` the body ends where the connection does."""
    server = LoopbackServer(script, status, headers or {}, chunked)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
