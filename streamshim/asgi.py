"""An ASGI application that speaks an API which the server behind it does not have: for programs in any language.

    app = streamshim.asgi.create_app("https://api.example.com/v1", speak="responses")      # uvicorn mymodule:app

It is a reverse proxy over `transport(speak=…)`. What is turned there is turned here; `/v1/models` and all other paths
are handed on as they are. `GET /healthz` says that it runs.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, MutableMapping
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack
from urllib.parse import quote, urlsplit

from .bridge import Reply, Speak
from .bridge.replies import BAD_GATEWAY, error_reply, reply
from .http_module import http_module
from .http_transport import TransportOptions, transport

if TYPE_CHECKING:
    from .history import ConversationStore

__all__ = ["App", "create_app"]

logger = logging.getLogger("streamshim")

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]

MAX_BODY_BYTES = 128 * 1024 * 1024
"""Of one request: a conversation with some images of 20 MB."""
_GATEWAY_TIMEOUT = 504
_PATIENCE_SECONDS = 600.0
"""A model may think for long before it says anything: the OpenAI SDK waits as long."""
_CONNECT_SECONDS = 10.0
_OF_THE_CONNECTION = frozenset(
    (
        *("connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer"),
        *("transfer-encoding", "upgrade"),
    )
)
"""Headers that are meant for the next in the row alone (RFC 9110, section 7.6.1)."""
_NOT_ASKED_ON = _OF_THE_CONNECTION | {"accept-encoding", "content-length", "cookie", "expect", "host", "origin"}
_NOT_ANSWERED_ON = _OF_THE_CONNECTION | {"content-encoding", "content-length", "set-cookie"}
_CREDENTIALS = ("authorization", "api-key", "x-api-key")
_LOOPBACK = frozenset(("localhost", "127.0.0.1", "::1"))


def create_app(
    upstream: str,
    *,
    speak: Speak,
    store: ConversationStore | None = None,
    api_key: str | None = None,
    module: ModuleType | None = None,
    **options: Unpack[TransportOptions],
) -> App:
    """The application.

    Args:
        upstream: the address of the server behind, up to its `/v1`.
        speak: the API that callers speak, "responses" or "chat".
        store: as in `transport()`.
        api_key: the key that the server behind is given, in place of what callers send. It is never logged, and not
            shown where an error of that server repeats it.
        module: httpx or httpx2; by default the one that is installed.
        **options: those of `transport()`.

    Raises:
        ModuleNotFoundError: there is no HTTP client.
        ValueError: `upstream` is no address, or an option is given a word that it does not know.
    """
    address = urlsplit(upstream)
    if address.scheme not in ("http", "https") or not address.hostname:
        raise ValueError("upstream must be an address that begins with http:// or https://")
    module = module or http_module()
    wrapped = module.AsyncHTTPTransport()
    if api_key is not None:
        wrapped = _WithKey(wrapped, api_key)
    return App(
        module, upstream.rstrip("/"), transport(module, wrap=wrapped, speak=speak, store=store, **options), api_key
    )


class _WithKey:
    """A transport that asks with a key of its own, whatever the caller's."""

    def __init__(self, wrapped: Any, api_key: str) -> None:
        self._wrapped = wrapped
        self._api_key = api_key

    async def handle_async_request(self, request: Any) -> Any:
        for name in _CREDENTIALS:
            request.headers.pop(name, None)
        request.headers["authorization"] = f"Bearer {self._api_key}"
        return await self._wrapped.handle_async_request(request)

    async def aclose(self) -> None:
        await self._wrapped.aclose()


class _RefusedError(Exception):
    """A request that goes no further."""

    def __init__(self, refusal: Reply) -> None:
        super().__init__()
        self.refusal = refusal


class App:
    """Made by `create_app()`: an ASGI 3 application. It needs asyncio."""

    def __init__(self, module: Any, upstream: str, transport: Any, api_key: str | None) -> None:
        """See `create_app()`."""
        self._module = module
        self._upstream = upstream
        self._transport = transport
        self._secret = api_key.encode() if api_key else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One connection, or the life of the server."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http":
            await self._serve(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1000})

    async def aclose(self) -> None:
        """Close the connections to the server behind; the end of the server's life does."""
        await self._transport.aclose()

    async def _live(self, receive: Receive, send: Send) -> None:
        while (await receive())["type"] != "lifespan.shutdown":
            await send({"type": "lifespan.startup.complete"})
        await self.aclose()
        await send({"type": "lifespan.shutdown.complete"})

    # -- one request --------------------------------------------------------------------------------------------------

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, unless the caller leaves before: then the server behind is left as well."""
        try:
            request = self._request(scope, await _body(receive))
        except _RefusedError as refused:
            await _reply(send, refused.refusal)
            return
        if request is None:
            await _reply(send, reply({"status": "ok"}))
            return
        answering = asyncio.ensure_future(self._hand_on(request, send))
        leaving = asyncio.ensure_future(_until_left(receive))
        try:
            await asyncio.wait((answering, leaving), return_when=asyncio.FIRST_COMPLETED)
            if answering.done():
                answering.result()
        finally:
            answering.cancel()
            leaving.cancel()
            await asyncio.gather(answering, leaving, return_exceptions=True)

    def _request(self, scope: Scope, body: bytes) -> Any:
        """The request to the server behind; None for one about this program's health."""
        mounted_at = scope.get("root_path", "")
        path = scope["path"].removeprefix(mounted_at)
        if path == "/healthz":
            return None
        headers = [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in scope["headers"]]
        _refuse_foreign_pages(dict(headers))
        if any(part in (".", "..") for part in path.split("/")):
            raise _RefusedError(error_reply(404, f"Unknown request: {path}", type="invalid_request_error"))
        raw_path = scope["raw_path"].decode("latin-1") if scope.get("raw_path") else quote(scope["path"])
        raw_path = raw_path.removeprefix(quote(mounted_at))
        behind = raw_path.removeprefix("/v1") if path.startswith("/v1/") else raw_path
        query = f"?{scope['query_string'].decode('latin-1')}" if scope["query_string"] else ""
        patience = dict.fromkeys(("read", "write", "pool"), _PATIENCE_SECONDS)
        return self._module.Request(
            scope["method"],
            f"{self._upstream}{behind}{query}",
            headers=[(name, value) for name, value in headers if name not in _NOT_ASKED_ON],
            content=body,
            extensions={"timeout": {"connect": _CONNECT_SECONDS, **patience}},
        )

    async def _hand_on(self, request: Any, send: Send) -> None:
        """Ask the server behind, and hand its answer on piece by piece."""
        module = self._module
        try:
            response = await self._transport.handle_async_request(request)
        except module.TimeoutException:
            await _reply(send, error_reply(_GATEWAY_TIMEOUT, "The server behind this address did not answer in time."))
            return
        except module.TransportError as error:
            logger.warning("the server behind cannot be asked: %s", type(error).__name__)
            message = f"The server behind this address cannot be reached ({type(error).__name__})."
            await _reply(send, error_reply(BAD_GATEWAY, message))
            return
        try:
            pieces = response.aiter_bytes()
            if self._secret is not None:
                pieces = _without(self._secret, pieces, at_once=response.status_code >= 400)
            await _start(send, response.status_code, _kept(response.headers.multi_items()))
            async for piece in pieces:
                await send({"type": "http.response.body", "body": piece, "more_body": True})
        except module.TransportError as error:
            # what was sent so far says no more than that: the connection is closed before the answer is whole
            logger.warning("the answer of the server behind was cut: %s", type(error).__name__)
            return
        finally:
            await response.aclose()
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def _refuse_foreign_pages(headers: dict[str, str]) -> None:
    """A page of a browser may ask if it was loaded from this machine: others must not spend the key that is kept here.

    Raises:
        _RefusedError: the request comes from another page.
    """
    origin = urlsplit(headers.get("origin", ""))
    is_page = origin.scheme in ("http", "https") or origin.path == "null"
    if is_page and origin.hostname not in _LOOPBACK:
        raise _RefusedError(error_reply(403, "Pages of other hosts may not ask here."))


async def _body(receive: Receive) -> bytes:
    """The whole body of the request.

    Raises:
        _RefusedError: it is too long.
    """
    pieces: list[bytes] = []
    size, more = 0, True
    while more:
        message = await receive()
        piece = message.get("body", b"")
        size += len(piece)
        if size > MAX_BODY_BYTES:
            raise _RefusedError(error_reply(413, f"The body of the request is longer than {MAX_BODY_BYTES:,} bytes."))
        pieces.append(piece)
        more = message["type"] == "http.request" and message.get("more_body", False)
    return b"".join(pieces)


async def _until_left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _without(secret: bytes, pieces: AsyncIterator[bytes], *, at_once: bool) -> AsyncIterator[bytes]:
    """A body without the key that an error in it may repeat; `at_once`: in one piece, since it is all error."""
    if at_once:
        yield b"".join([piece async for piece in pieces]).replace(secret, b"[key]")
        return
    async for piece in pieces:
        yield piece.replace(secret, b"[key]")


def _kept(headers: Iterable[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    return [(n.lower().encode("latin-1"), v.encode("latin-1")) for n, v in headers if n.lower() not in _NOT_ANSWERED_ON]


async def _start(send: Send, status: int, headers: list[tuple[bytes, bytes]]) -> None:
    await send({"type": "http.response.start", "status": status, "headers": headers})


async def _reply(send: Send, answer: Reply) -> None:
    length = str(len(answer.body)).encode()
    await _start(send, answer.status, [(b"content-type", b"application/json"), (b"content-length", length)])
    await send({"type": "http.response.body", "body": answer.body, "more_body": False})
