"""The HTTP server: paths, keys, bodies, and frames that are flushed one by one.

with serve_model() as server:
    openai.OpenAI(base_url=server.base_url, api_key="any").models.list()
"""

from __future__ import annotations

import contextlib
import http.server
import json
import threading
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from .endpoints import Endpoints, Reply
from .question import RefusedError


@dataclass
class Request:
    """What a client sent. The names of the headers are in lower case; `body` is None where none came."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any


class ModelServer(http.server.ThreadingHTTPServer):
    """Serves the toy model.

    Attributes:
        requests: all that was asked, in order.
    """

    def __init__(self, apis: Sequence[str], key: str | None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[Request] = []
        self.key = key
        self.endpoints = Endpoints(apis)

    @property
    def base_url(self) -> str:
        """What clients are given."""
        return f"http://127.0.0.1:{self.server_port}/v1"

    def answer(self, request: Request) -> Reply:
        """The reply to a request, whatever it is."""
        self.requests.append(request)
        try:
            self._check_key(request)
            return self.endpoints.answer(request.method, request.path, request.body)
        except RefusedError as refused:
            return Reply(refused.status, refused.body)

    def _check_key(self, request: Request) -> None:
        if self.key is not None and request.headers.get("authorization") != f"Bearer {self.key}":
            raise RefusedError(401, "Incorrect API key provided.", code="invalid_api_key")

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client may leave whenever it likes."""


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ClassVar[Any]

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        try:
            body = json.loads(raw) if raw else None
        except ValueError:
            body = None
        reply = self.server.answer(Request(self.command, self.path, headers, body))
        self.close_connection = True
        self.send_response(reply.status)
        self.send_header("Connection", "close")
        if isinstance(reply.body, list):
            self._stream(reply.body)
        else:
            self._whole(json.dumps(reply.body).encode())

    def do_GET(self) -> None:
        self.do_POST()

    def do_DELETE(self) -> None:
        self.do_POST()

    def _stream(self, frames: list[bytes]) -> None:
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for frame in frames:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(frame), frame))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")

    def _whole(self, body: bytes) -> None:
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextlib.contextmanager
def serve_model(
    *,
    apis: Sequence[str] = ("chat", "responses", "completions"),
    key: str | None = None,
) -> Generator[ModelServer]:
    """Run a server for the length of the block.

    Args:
        apis: what is served; every other path is 404.
        key: what clients must name; without one, any key does.
    """
    server = ModelServer(apis, key)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
