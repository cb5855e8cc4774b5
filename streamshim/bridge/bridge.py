"""`Bridge`: which requests are turned into those of the other API, and the `Exchange` that each one is. No I/O."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, Literal, TypeAlias, TypedDict, cast

from ..decode import StreamDecoder
from ..encode.history import ReasoningReplay
from ..encode.options import CustomTools, check_word
from ..history.conversation_store import ConversationStore, ResponseNotFoundError
from ..json_codec import dumps, loads
from .amendments import amended
from .answers import Answer, ChatAnswer, ResponsesAnswer, StreamedAnswer, whole_reply
from .losses import LeftOut, UnsupportedMemberError
from .members import MaxTokensName
from .replies import Reply, error_reply, refused_reply, unsupported_reply
from .requests import chat_request, input_items, responses_request
from .stored_responses import Identity, StoredResponses, key_of, previous_not_found
from .tools import HostedTools, declared_tools

Speak: TypeAlias = Literal["responses", "chat"]
"""The API that callers speak; the server behind speaks the other."""

_RESPONSES = re.compile(r"(?P<base>.*)/responses(?:/(?P<id>[^/]+)(?:/(?P<rest>[^/]+))?)?/?\Z")
_CHAT = re.compile(r"(?P<base>.*)/chat/completions/?\Z")
_KEPT_SECONDS = 30 * 24 * 3600.0
"""How long responses are kept in memory: as long as at OpenAI."""
_KEPT_BYTES = 256 * 1024 * 1024
"""How much is kept in memory: what a long-running program can spare."""


class DecoderOptions(TypedDict, total=False):
    """The options of `StreamDecoder` that matter to whoever hands an answer on."""

    reasoning_tags: Literal["auto", "off", "open"]
    tool_markup: bool
    strict: bool | Collection[str]
    trust_eof: bool
    max_frame_bytes: int
    make_id: Callable[[str], str] | None


class BridgeOptions(TypedDict, total=False):
    """The options of the way to the other API."""

    hosted_tools: HostedTools
    custom_tools: CustomTools
    max_tokens_name: MaxTokensName
    reasoning_replay: ReasoningReplay
    conversation_key: str | None


_WORDS: dict[str, Any] = {
    "hosted_tools": HostedTools,
    "custom_tools": CustomTools,
    "max_tokens_name": MaxTokensName,
    "reasoning_replay": ReasoningReplay,
}


class Bridge:
    """Callers of one API on a server of the other."""

    def __init__(
        self,
        speak: Speak,
        *,
        store: ConversationStore | None = None,
        decoding: DecoderOptions | None = None,
        options: BridgeOptions | None = None,
    ) -> None:
        """No request came.

        Args:
            speak: the API that callers speak.
            store: keeps the responses that callers may continue; by default one in memory.
            decoding: how the answers of the server are read.
            options: how requests are turned.

        Raises:
            ValueError: an option is given a word that it does not know.
        """
        check_word("speak", speak, Speak)
        self._options: BridgeOptions = options or {}
        for name, words in _WORDS.items():
            if name in self._options:
                check_word(name, cast("dict[str, str]", self._options)[name], words)
        self._speak = speak
        self._decoding: DecoderOptions = decoding or {}
        # an empty store is falsy
        self._store = ConversationStore(max_age=_KEPT_SECONDS, max_bytes=_KEPT_BYTES) if store is None else store

    def takes(self, method: str, path: str) -> bool:
        """Whether a request is turned, or answered from what is kept; all others pass untouched."""
        if self._speak == "chat":
            return method == "POST" and _CHAT.match(path) is not None
        return _RESPONSES.match(path) is not None

    def receive(
        self, method: str, path: str, query: Mapping[str, str], headers: Mapping[str, str], body: bytes
    ) -> Exchange | Reply:
        """A request that it takes: what is to be asked of the server behind, or an answer that needs none.

        Args:
            method: of the request.
            path: its path, without the query.
            query: the query.
            headers: its headers; names in lower case.
            body: its whole body.
        """
        try:
            if self._speak == "chat":
                return self._chat(path, _request_in(body))
            mine = StoredResponses(self._store, self._options.get("conversation_key") or key_of(headers))
            found = cast("re.Match[str]", _RESPONSES.match(path))
            if found["id"] is None and method == "POST":
                return self._responses(found["base"], mine, _request_in(body))
            return _about_stored(mine, method, found, query)
        except UnsupportedMemberError as error:
            return unsupported_reply(error)

    def _chat(self, path: str, request: dict[str, Any]) -> Exchange:
        left_out: list[LeftOut] = []
        written = responses_request(request, left_out=left_out)
        options = request.get("stream_options")
        declares_custom = any(tool.get("type") == "custom" for tool in request.get("tools") or ())
        answer = ChatAnswer(
            asks_usage=isinstance(options, dict) and options.get("include_usage") is True,
            custom_tools="custom" if declares_custom else "function",
        )
        base = cast("re.Match[str]", _CHAT.match(path))["base"]
        return Exchange(f"{base}/responses", written, answer, left_out, self._decoding)

    def _responses(self, base: str, mine: StoredResponses, request: dict[str, Any]) -> Exchange | Reply:
        left_out: list[LeftOut] = []
        options = self._options
        items = [mine.resolve(f"input[{at}]", item) for at, item in enumerate(input_items(request.get("input")))]
        try:
            history = mine.history(request.get("previous_response_id"))
        except ResponseNotFoundError:
            return previous_not_found(request.get("previous_response_id"))
        custom_tools = options.get("custom_tools", "function")
        written = chat_request(
            {**request, "input": items},
            history=history,
            left_out=left_out,
            hosted_tools=options.get("hosted_tools", "refuse"),
            custom_tools=custom_tools,
            max_tokens_name=options.get("max_tokens_name", "max_tokens"),
            reasoning=options.get("reasoning_replay", "tool_turns"),
        )
        stores = request.get("store") is not False
        identity = Identity()

        def keep(response: dict[str, Any]) -> None:
            if stores:
                mine.keep(response, items, identity.make_id)

        answer = ResponsesAnswer(
            declared_tools(request.get("tools")),
            request.get("model"),
            keep,
            request=_echo(request, stores=stores),
            response_id=identity.response_id,
            make_id=identity.make_id,
        )
        return Exchange(f"{base}/chat/completions", written, answer, left_out, self._decoding)


class Exchange:
    """One request that was turned, and its answer on its way back.

    Attributes:
        path: where the server behind is asked.
        asks_for_stream: whether the caller reads a stream.
        left_out: what was left out of the request.
        decoder: reads the answer.
        relay: hands the answer on, if the caller reads a stream: it is fed the body of the server's.
    """

    def __init__(
        self, path: str, request: dict[str, Any], answer: Answer, left_out: list[LeftOut], decoding: DecoderOptions
    ) -> None:
        """Made by `Bridge.receive`."""
        self.path = path
        self._request = request
        self.asks_for_stream = request.get("stream") is True
        self.left_out = left_out
        self.decoder = StreamDecoder(collect=False, **decoding)
        self.relay = StreamedAnswer(self.decoder, answer)
        self._answer = answer

    @property
    def body(self) -> bytes:
        """What the server is asked, as JSON."""
        return dumps(self._request).encode()

    def amend(self, status: int, body: bytes) -> bool:
        """The server refused: whether it is to be asked once more, without what it need not be asked."""
        if "messages" not in self._request or (other := amended(self._request, status, body)) is None:
            return False
        self._request, left_out = other
        self.left_out += left_out
        return True

    def whole(self, body: bytes) -> Reply:
        """The answer, if the caller reads no stream: of the whole body of the server's."""
        return whole_reply(self.decoder, self._answer, body)

    def refused(self, status: int, headers: Mapping[str, str], body: bytes) -> Reply:
        """The error that the server answered with, in the shape that the caller knows."""
        return refused_reply(status, headers, body)


def _request_in(body: bytes) -> dict[str, Any]:
    try:
        request = loads(body)
    except ValueError:
        request = None
    if not isinstance(request, dict):
        raise UnsupportedMemberError("body", "The body of the request must be a JSON object.", "unsupported_value")
    return request


def _echo(request: Mapping[str, Any], *, stores: bool) -> dict[str, Any]:
    """What the response object shows of the request; the model is the answer's to name."""
    text = request.get("text")
    shown_text = {"format": {"type": "text"}, **text} if isinstance(text, Mapping) else None
    return {**{name: value for name, value in request.items() if name != "model"}, "store": stores, "text": shown_text}


def _about_stored(mine: StoredResponses, method: str, found: re.Match[str], query: Mapping[str, str]) -> Reply:
    """A request about a response that may be kept here."""
    response_id, rest = found["id"], found["rest"]
    if method == "GET" and response_id and rest is None:
        if query.get("stream") == "true":
            raise UnsupportedMemberError("stream", "stream is not available: nothing runs in the background")
        return mine.get(response_id)
    if method == "GET" and rest == "input_items":
        return mine.input_items(response_id, query)
    if method == "DELETE" and response_id and rest is None:
        return mine.delete(response_id)
    if method == "POST" and (endpoint := rest or response_id):
        raise UnsupportedMemberError(
            endpoint, f"{endpoint} is not available: the server behind this address has Chat Completions alone"
        )
    return error_reply(404, f"Unknown request: {method} {found[0]}", type="invalid_request_error")
