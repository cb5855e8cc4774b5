"""`transport()`: repairs the wire under an SDK that speaks through httpx or httpx2.

One object serves clients of both kinds, `Client` and `AsyncClient`. It hands requests on as they are. The answer to one
that asks for a stream of either API comes back as a legal stream of that API; everything else passes untouched.

With `speak` the client speaks one API and the server the other: requests and answers are turned (`Bridge`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self, Unpack, cast

from .bridge import Bridge, BridgeOptions, DecoderOptions, Exchange, Reply, Speak
from .decode import StreamDecoder
from .decode.limits import MAX_FRAME_BYTES
from .encode.options import ToolCallMode, check_word
from .json_codec import loads
from .relay import chat_relay, responses_relay
from .relayed_response import AsyncRelayedBody, ExchangeLedger, RelayedAnswer, RelayedBody, RelayLedger

if TYPE_CHECKING:
    from .history import ConversationStore

_APIS = {"/chat/completions": "chat", "/responses": "responses"}
"""How the paths end that are relayed."""
_OF_THE_BODY = frozenset(("content-encoding", "content-length", "content-type", "transfer-encoding"))
"""Headers that tell of the body as it came over the network."""
_NAMES = (
    *("BaseTransport", "AsyncBaseTransport", "HTTPTransport", "AsyncHTTPTransport", "SyncByteStream"),
    *("AsyncByteStream", "Request", "RequestNotRead", "RemoteProtocolError", "Response"),
)
"""What a module has that speaks HTTP as httpx does."""


class TransportOptions(DecoderOptions, BridgeOptions, total=False):
    """The options of `StreamDecoder` that `transport()` takes, and those of `speak`."""


def transport(
    module: ModuleType,
    *,
    wrap: Any = None,
    on_end: Callable[[RelayLedger], None] | None = None,
    tool_calls: ToolCallMode = "stream",
    speak: Speak | None = None,
    store: ConversationStore | None = None,
    **options: Unpack[TransportOptions],
) -> Any:
    """A transport for clients of `module`, sync and async, that repairs streamed answers on their way to an SDK.

    Repaired are the answers to `POST …/chat/completions` and `POST …/responses` whose request asks for a stream, unless
    their status is an error. What needs no repair is handed on byte for byte. The `RelayLedger` of such an answer is in
    `response.extensions["streamshim"]`.

    With `speak` the caller speaks an API that the server does not have: `POST …/responses` is asked as
    `POST …/chat/completions`, or the other way round, streamed or whole. Stored responses are kept on this side. What
    the server cannot be asked for is refused with an error of the caller's API, which names it.

    Args:
        module: httpx or httpx2, whichever the client is of.
        wrap: the transport that does the work; by default the module's own, made when it is needed.
        on_end: is called once for each relayed answer that is over, with its ledger. It must not raise.
        tool_calls: on Chat Completions: "stream", or "whole": each call is handed on at its end, and one that was cut
            never, for clients that take it for a whole one.
        speak: "responses": the caller speaks Responses, the server Chat Completions; "chat": the other way round. None:
            both speak the same.
        store: with speak="responses": where responses are kept, for `previous_response_id` and `GET …/responses/{id}`;
            by default in memory.
        **options: `reasoning_tags`, `tool_markup`, `strict`, `trust_eof`, `max_frame_bytes` and `make_id` of
            `StreamDecoder`; and with speak="responses":
            `hosted_tools`: "refuse" tools that the vendor of a Responses API runs, or "leave_out";
            `custom_tools`: tools that take text are asked for as "function" or as "custom";
            `max_tokens_name`: "max_tokens" or "max_completion_tokens";
            `reasoning_replay`: how thought goes back, as in `Conversation.to_chat_messages`;
            `conversation_key`: whose the stored responses are, by default a hash of the caller's credentials.

    Raises:
        TypeError: `module` is no such module, or `wrap` no transport. Later, when a request is made: the client is of
            another module, or of the other kind than `wrap` is for.
        ValueError: an option has a value that does not exist.
    """
    missing = [name for name in _NAMES if not hasattr(module, name)]
    if missing:
        raise TypeError(f"transport() takes the module httpx or httpx2; {module!r} has no {missing[0]}")
    if wrap is not None and not (_can(wrap, "handle_request") or _can(wrap, "handle_async_request")):
        raise TypeError(f"wrap={wrap!r} is no transport: it has neither handle_request nor handle_async_request")
    check_word("tool_calls", tool_calls, ToolCallMode)
    bridging = _some(options, BridgeOptions)
    decoding = cast("DecoderOptions", _some(options, DecoderOptions))
    StreamDecoder(**decoding)
    if speak is None and (bridging or store is not None):
        raise ValueError(f"{next(iter(bridging), 'store')} is an option of `speak`, which was not given")
    bridge = None
    if speak is not None:
        bridge = Bridge(speak, store=store, decoding=decoding, options=cast("BridgeOptions", bridging))
    return _classes_for(module).transport(module, wrap, on_end, tool_calls, decoding, bridge)


def _some(options: TransportOptions, kind: type) -> dict[str, Any]:
    """Those of the options that a `TypedDict` has."""
    return {name: value for name, value in options.items() if name in kind.__annotations__}


class _Question(NamedTuple):
    """What a request asks for, as far as its answer depends on it."""

    api: str
    asks_usage: bool


def _question_in(request: Any, not_read: type[Exception]) -> _Question | None:
    """What a request asks for; None if it does not ask for a stream of a known API."""
    path = request.url.path.rstrip("/")
    api = next((api for ending, api in _APIS.items() if path.endswith(ending)), None)
    if api is None or request.method != "POST":
        return None
    try:
        content = request.content
        body = loads(content) if b'"stream"' in content else None
    except (ValueError, not_read):
        return None
    if not isinstance(body, dict) or body.get("stream") is not True:
        return None
    options = body.get("stream_options")
    return _Question(api, isinstance(options, dict) and options.get("include_usage") is True)


class _Transport:
    """The transport without the base classes of its module, which `_classes_for` adds."""

    def __init__(
        self,
        module: Any,
        wrap: Any,
        on_end: Callable[[RelayLedger], None] | None,
        tool_calls: ToolCallMode,
        options: DecoderOptions,
        bridge: Bridge | None,
    ) -> None:
        self._module = module
        self._wrap = wrap
        self._on_end = on_end
        self._tool_calls: ToolCallMode = tool_calls
        self._options = options
        self._bridge = bridge
        self._own: Any = None
        self._own_async: Any = None

    # -- requests -----------------------------------------------------------------------------------------------------

    def handle_request(self, request: Any) -> Any:
        """Hand a request on, and its answer back."""
        if self._is_turned(request):
            request.read()
            exchange = self._receive(request)
            if isinstance(exchange, Reply):
                return self._replied(exchange)
            while True:
                response = self._sync().handle_request(self._turned(request, exchange))
                if (answer := self._exchanged(exchange, response)) is not None:
                    return self._relayed(response, answer, _classes_for(self._module).body)
                try:
                    response.read()
                finally:
                    response.close()
                if not exchange.amend(response.status_code, response.content):
                    return self._whole(exchange, response)
        question = _question_in(request, self._module.RequestNotRead)
        response = self._sync().handle_request(request)
        answer = self._answer(question, response)
        return response if answer is None else self._relayed(response, answer, _classes_for(self._module).body)

    async def handle_async_request(self, request: Any) -> Any:
        """Hand a request on, and its answer back."""
        if self._is_turned(request):
            await request.aread()
            exchange = self._receive(request)
            if isinstance(exchange, Reply):
                return self._replied(exchange)
            while True:
                response = await self._async().handle_async_request(self._turned(request, exchange))
                if (answer := self._exchanged(exchange, response)) is not None:
                    return self._relayed(response, answer, _classes_for(self._module).async_body)
                try:
                    await response.aread()
                finally:
                    await response.aclose()
                if not exchange.amend(response.status_code, response.content):
                    return self._whole(exchange, response)
        question = _question_in(request, self._module.RequestNotRead)
        response = await self._async().handle_async_request(request)
        answer = self._answer(question, response)
        return response if answer is None else self._relayed(response, answer, _classes_for(self._module).async_body)

    def _is_turned(self, request: Any) -> bool:
        """Whether a request is turned into one of the other API.

        Raises:
            TypeError: it comes from the client of another module.
        """
        if not isinstance(request, self._module.Request):
            name, other = self._module.__name__, type(request).__module__.partition(".")[0]
            raise TypeError(
                f"this transport was made for {name}, and a client of {other} uses it: make it of the client's own "
                f"module, streamshim.transport({other})"
            )
        return self._bridge is not None and self._bridge.takes(request.method, request.url.path)

    def _answer(self, question: _Question | None, response: Any) -> RelayedAnswer | None:
        """The answer that is to be relayed, or None: it passes untouched."""
        if question is None or not 200 <= response.status_code < 300:
            return None
        options = self._options
        decoder = StreamDecoder(collect=False, **options)
        most, make_id = options.get("max_frame_bytes", MAX_FRAME_BYTES), options.get("make_id")
        if question.api == "chat":
            relay = chat_relay(decoder, most, make_id, asks_usage=question.asks_usage, tool_calls=self._tool_calls)
        else:
            relay = responses_relay(decoder, most, make_id)
        return RelayedAnswer(relay, decoder, cut_error=self._module.RemoteProtocolError, on_end=self._on_end)

    def _relayed(self, response: Any, answer: RelayedAnswer, body: Callable[[Any, RelayedAnswer], Any]) -> Any:
        """A response of the module with another body, and what tells of the body put right."""
        headers = [(name, value) for name, value in response.headers.multi_items() if name not in _OF_THE_BODY]
        kind = response.headers.get("content-type", "")
        headers.append(("content-type", kind if kind.startswith("text/event-stream") else "text/event-stream"))
        return self._module.Response(
            response.status_code,
            headers=headers,
            stream=body(response, answer),
            extensions={**response.extensions, "streamshim": answer.ledger},
        )

    # -- the other API ------------------------------------------------------------------------------------------------

    def _receive(self, request: Any) -> Exchange | Reply:
        """What is to be asked of the server, or an answer that needs none."""
        bridge = cast("Bridge", self._bridge)
        url = request.url
        return bridge.receive(request.method, url.path, dict(url.params), request.headers, request.content)

    def _turned(self, request: Any, exchange: Exchange) -> Any:
        """The request to the server."""
        headers = [(name, value) for name, value in request.headers.multi_items() if name not in _OF_THE_BODY]
        return self._module.Request(
            request.method,
            request.url.copy_with(path=exchange.path),
            headers=[*headers, ("content-type", "application/json")],
            content=exchange.body,
            extensions=request.extensions,
        )

    def _exchanged(self, exchange: Exchange, response: Any) -> RelayedAnswer | None:
        """The answer that is to be streamed, or None: it is to be whole."""
        if not exchange.asks_for_stream or not 200 <= response.status_code < 300:
            return None
        return RelayedAnswer(
            exchange.relay,
            exchange.decoder,
            cut_error=self._module.RemoteProtocolError,
            on_end=self._on_end,
            ledger=ExchangeLedger(exchange),
        )

    def _whole(self, exchange: Exchange, response: Any) -> Any:
        """The whole answer, or the error, of a response that was read."""
        if not 200 <= response.status_code < 300:
            refused = exchange.refused(response.status_code, response.headers, response.content)
            return self._replied(refused, response)
        reply = exchange.whole(response.content)
        ledger = ExchangeLedger(exchange)
        if self._on_end is not None:
            self._on_end(ledger)
        return self._replied(reply, response, streamshim=ledger)

    def _replied(self, reply: Reply, response: Any = None, **extensions: Any) -> Any:
        """An answer in JSON, under the other headers of the server's, if it was asked."""
        headers = [] if response is None else response.headers.multi_items()
        headers = [(name, value) for name, value in headers if name not in _OF_THE_BODY]
        return self._module.Response(
            reply.status,
            headers=[*headers, ("content-type", "application/json")],
            content=reply.body,
            extensions={**({} if response is None else response.extensions), **extensions},
        )

    # -- the transport that does the work -----------------------------------------------------------------------------

    def _sync(self) -> Any:
        if self._wrap is not None:
            return self._wrapped("handle_request", "asynchronous", "Client")
        if self._own is None:
            self._own = self._module.HTTPTransport()
        return self._own

    def _async(self) -> Any:
        if self._wrap is not None:
            return self._wrapped("handle_async_request", "synchronous", "AsyncClient")
        if self._own_async is None:
            self._own_async = self._module.AsyncHTTPTransport()
        return self._own_async

    def _wrapped(self, ability: str, nature: str, client: str) -> Any:
        """The caller's own transport, if it is of the kind that is asked for.

        Raises:
            TypeError: it is of the other kind.
        """
        if not _can(self._wrap, ability):
            raise TypeError(
                f"wrap={self._wrap!r} is {nature}, and {client} uses it: wrap a transport that serves {client}"
            )
        return self._wrap

    # -- entered and closed -------------------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        self._sync().__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> None:
        self._sync().__exit__(kind, error, traceback)

    async def __aenter__(self) -> Self:
        await self._async().__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> None:
        await self._async().__aexit__(kind, error, traceback)

    def close(self) -> None:
        """Close the transport that does the work."""
        if (inner := self._wrap or self._own) is not None:
            inner.close()

    async def aclose(self) -> None:
        """Close the transport that does the work."""
        if (inner := self._wrap or self._own_async) is not None:
            await inner.aclose()


class _Classes(NamedTuple):
    """The classes for one module: its clients insist on its own."""

    transport: Callable[..., Any]
    body: Callable[[Any, RelayedAnswer], Any]
    async_body: Callable[[Any, RelayedAnswer], Any]


@functools.cache
def _classes_for(module: Any) -> _Classes:
    return _Classes(
        type("StreamshimTransport", (_Transport, module.BaseTransport, module.AsyncBaseTransport), {}),
        type("StreamshimBody", (RelayedBody, module.SyncByteStream), {}),
        type("StreamshimAsyncBody", (AsyncRelayedBody, module.AsyncByteStream), {}),
    )


def _can(thing: object, ability: str) -> bool:
    return callable(getattr(thing, ability, None))
