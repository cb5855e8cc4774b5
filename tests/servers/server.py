"""The HTTP server: paths, keys, bodies, and frames that are flushed one by one.

with serve_model() as server:
    openai.OpenAI(base_url=server.base_url, api_key="any").models.list()
"""

from __future__ import annotations

import contextlib
import http.server
import json
import sys
import threading
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from .endpoints import Endpoints, Reply
from .habits import Manners
from .question import NoSuchPathError, RefusedError
from .vendors import PERFECT, VENDORS


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

    def __init__(self, habits: Sequence[str], apis: Sequence[str], key: str | None) -> None:
        self.manners = Manners(habits)
        self.endpoints = Endpoints(apis)
        self.requests: list[Request] = []
        self.faults: list[BaseException] = []
        self.key = key
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def base_url(self) -> str:
        """What clients are given."""
        return f"http://127.0.0.1:{self.server_port}/v1"

    def answer(self, request: Request) -> Reply:
        """The reply to a request, whatever it is."""
        self.requests.append(request)
        try:
            return self._answer(request)
        except NoSuchPathError as missing:
            return Reply(missing.status, missing.body)
        except RefusedError as refused:
            refused.streams = isinstance(request.body, dict) and bool(request.body.get("stream"))
            refused = self.manners.refusal(refused)
            return Reply(refused.status, refused.body)

    def _answer(self, request: Request) -> Reply:
        self._check_key(request)
        self.manners.path(request.method, request.path)
        body = self.manners.request(request.body) if isinstance(request.body, dict) else request.body
        reply = self.endpoints.answer(request.method, request.path, body)
        if isinstance(reply.body, list):
            return Reply(200, self.manners.stream(reply.api, reply.body))
        return Reply(200, self.manners.body(reply.api, reply.body))

    def _check_key(self, request: Request) -> None:
        if self.key is not None and request.headers.get("authorization") != f"Bearer {self.key}":
            raise RefusedError(401, "Incorrect API key provided.", code="invalid_api_key")

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client may leave whenever it likes; anything else is a fault of the server's own."""
        error = sys.exception()
        if error is not None and not isinstance(error, ConnectionError):
            self.faults.append(error)


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
        if isinstance(reply.body, list) and isinstance(reply.body[0], bytes):
            self._stream(reply.body)
        else:
            self._whole(json.dumps(reply.body).encode())

    def do_GET(self) -> None:
        self.do_POST()

    def do_DELETE(self) -> None:
        self.do_POST()

    def _stream(self, frames: list[bytes | None]) -> None:
        for name, value in self.server.manners.headers().items():
            self.send_header(name, value)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for frame in frames:
            if frame is None:
                return
            if not frame:
                continue  # an empty piece would end the body
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
    *habits: str,
    apis: Sequence[str] | None = None,
    key: str | None = None,
    vendor: str | None = None,
) -> Generator[ModelServer]:
    """Run a server for the length of the block.

    Args:
        habits: names of `habits.HABITS`; none: it is perfect.
        apis: what is served, of "chat", "responses" and "completions"; every other path is 404. Without it, all, or
            what the vendor has.
        key: what clients must name; without one, any key does.
        vendor: a row of `vendors.VENDORS`, whose habits come before the others.
    """
    row = VENDORS[vendor] if vendor else PERFECT
    server = ModelServer([*row.habits, *habits], apis or row.apis, key)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    if server.faults:
        raise server.faults[0]
