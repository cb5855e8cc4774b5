"""The ASGI application in front of a server, served by uvicorn on 127.0.0.1 in a thread of its own.

with running(upstream, speak="responses") as base_url:
    client = openai.OpenAI(base_url=base_url, api_key="none")
"""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import uvicorn

from streamshim import asgi
from tests.loopback import PATIENCE_SECONDS


class Server(uvicorn.Server):
    """Says when it can be asked."""

    def __init__(self, app: Any) -> None:
        super().__init__(uvicorn.Config(app, port=0, log_level="warning"))
        self.can_be_asked = threading.Event()

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        self.can_be_asked.set()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.servers[0].sockets[0].getsockname()[1]}/v1"


@contextmanager
def running(upstream: str, **options: Any) -> Generator[str]:
    """The address of the application in front of a server."""
    options.setdefault("speak", "responses")
    server = Server(asgi.create_app(upstream, **options))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        assert server.can_be_asked.wait(PATIENCE_SECONDS)
        yield server.base_url
    finally:
        server.should_exit = True
        thread.join(PATIENCE_SECONDS)
        assert not thread.is_alive()
