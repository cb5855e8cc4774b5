"""The clients: `ChatCompletionsClient`, `ResponsesClient` and their asynchronous twins."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Self, Unpack

from ..pieces import AsyncSource, Head, Source
from .answer_stream import AnswerStream, AsyncAnswerStream
from .client_base import MAX_TURNS, ClientBase, ClientOptions, Prepared
from .exchange import aexchange, exchange
from .probe import PROBE_SECONDS, has_api, probe_body
from .run import AsyncRun, Run
from .tool import Toolbox, ToolLike, ToolResult
from .tool_calls import arun_tool, run_tool
from .wires import ChatWire, ModelInput, ResponsesWire, Wire

if TYPE_CHECKING:
    from ..encode.history import ItemReasoning, ReasoningReplay
    from ..events import ToolCallEnd
    from ..history import Conversation, ConversationStore
    from ..history.stored_state import StateKeeper
    from ..response_models import ModelResponse, ToolCallPart
    from .options import RequestOptions


class SyncClient(ClientBase):
    """What `ChatCompletionsClient` and `ResponsesClient` do alike."""

    _kind = "Client"

    def __init__(
        self,
        wire: Wire,
        base_url: str,
        api_key: str | None,
        *,
        sleep: Callable[[float], object] = time.sleep,
        **options: Any,
    ) -> None:
        """Speak `wire`."""
        super().__init__(wire, base_url, api_key, **options)
        self._sleep = sleep

    def stream(
        self,
        input: ModelInput,
        *,
        tools: Iterable[ToolLike] | None = None,
        model: str | None = None,
        **options: Unpack[RequestOptions],
    ) -> AnswerStream:
        """Ask, and read the answer as it comes. The request is made when the first event is asked for.

        Args:
            input: a text, a `Conversation`, content parts, or messages or items as the API has them. A conversation
                goes on with the answer, unless it fails or is cut.
            tools: what may be called: functions, `Tool`s, or declarations in the words of either API.
            model: who is asked; that of the client if left out.
            **options: see `RequestOptions`.

        Raises:
            InputError: the messages or items are not what the API reads.
            TypeError: there is no such option, or no tool or schema can be made of what was given.
            ValueError: a call of the conversation waits for its result, or an option has a value that does not exist.
        """
        return self._stream(self._prepare(input, tools, model, options, whole=False))

    def chat(
        self,
        input: ModelInput,
        *,
        tools: Iterable[ToolLike] | None = None,
        model: str | None = None,
        **options: Unpack[RequestOptions],
    ) -> ModelResponse:
        """Ask, and return the whole answer. The arguments are those of `stream()`.

        Raises:
            StreamEndError: the answer failed or was cut; what came of it is in `response`.
            OutputError: it does not fit `response_format`.
            Exception: as `stream()`.
        """
        with self._stream(self._prepare(input, tools, model, options, whole=True)) as events:
            return events.final()

    def run(
        self,
        input: ModelInput,
        *,
        tools: Iterable[ToolLike] = (),
        max_turns: int = MAX_TURNS,
        model: str | None = None,
        **options: Unpack[RequestOptions],
    ) -> Run:
        """Ask, run the tools that are called, tell what they gave, and so on until the model is done.

        Args:
            input: a text, content parts or a `Conversation`; calls that wait in it are run first.
            tools: what may be called. Calls of tools that are only declared end the run: they wait for the caller.
            max_turns: how often the model may answer.
            model: who is asked; that of the client if left out.
            **options: see `RequestOptions`.

        Raises:
            TypeError: there is no such option, or no tool can be made of what was given.
            ValueError: no turn is allowed.
        """
        loop = self._loop(input, tools, max_turns, options)

        def ask(of_turn: dict[str, Any]) -> AnswerStream:
            return self._stream(self._prepare(loop.conversation, loop.tools, model, of_turn, whole=False))

        return Run(loop, ask)

    def call_tool(self, call: ToolCallPart | ToolCallEnd, tools: Iterable[ToolLike]) -> ToolResult:
        """Run the tool that a call names. What goes wrong is a result as well, for the model to read."""
        return run_tool(call, Toolbox(tools))

    def has_api(self) -> bool | None:
        """Ask the server whether it has this API, by a request that lacks its input; None where it does not tell.

        Raises:
            Exception: of the HTTP client, where the server cannot be reached.
        """
        response = self._http.send(self._request(probe_body(self.model), timeout=self._timeout(PROBE_SECONDS)))
        return has_api(response.status_code, response.headers, response.content)

    def close(self) -> None:
        """Close the HTTP client that was made for this one. May be called again."""
        if self._owns_http:
            self._http.close()

    def __enter__(self) -> Self:
        """The client itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def _stream(self, prepared: Prepared) -> AnswerStream:
        question, head = prepared.question, Head()
        send = partial(self._send, prepared)
        source = Source(exchange(question, send, head, broken=self._broken, sleep=self._sleep), head=head)
        settle = partial(self._settle, question.asked.conversation, question)
        return AnswerStream(question, source, settle, **prepared.reading)

    def _send(self, prepared: Prepared, content: str) -> Any:
        request = self._request(content, headers=prepared.headers, timeout=prepared.timeout)
        return self._http.send(request, stream=True)


class AsyncClient(ClientBase):
    """What `AsyncChatCompletionsClient` and `AsyncResponsesClient` do alike; the twin of `SyncClient`."""

    _kind = "AsyncClient"

    def __init__(
        self,
        wire: Wire,
        base_url: str,
        api_key: str | None,
        *,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        **options: Any,
    ) -> None:
        """Speak `wire`."""
        super().__init__(wire, base_url, api_key, **options)
        self._sleep = sleep

    def stream(
        self,
        input: ModelInput,
        *,
        tools: Iterable[ToolLike] | None = None,
        model: str | None = None,
        **options: Unpack[RequestOptions],
    ) -> AsyncAnswerStream:
        """Ask, and read the answer as it comes. As `stream()` of the synchronous client; it is not awaited."""
        return self._stream(self._prepare(input, tools, model, options, whole=False))

    async def chat(
        self,
        input: ModelInput,
        *,
        tools: Iterable[ToolLike] | None = None,
        model: str | None = None,
        **options: Unpack[RequestOptions],
    ) -> ModelResponse:
        """Ask, and return the whole answer. As `chat()` of the synchronous client."""
        async with self._stream(self._prepare(input, tools, model, options, whole=True)) as events:
            return await events.final()

    def run(
        self,
        input: ModelInput,
        *,
        tools: Iterable[ToolLike] = (),
        max_turns: int = MAX_TURNS,
        model: str | None = None,
        **options: Unpack[RequestOptions],
    ) -> AsyncRun:
        """Ask, run the tools that are called, and so on. As `run()` of the synchronous client; it is not awaited."""
        loop = self._loop(input, tools, max_turns, options)

        def ask(of_turn: dict[str, Any]) -> AsyncAnswerStream:
            return self._stream(self._prepare(loop.conversation, loop.tools, model, of_turn, whole=False))

        return AsyncRun(loop, ask)

    async def call_tool(self, call: ToolCallPart | ToolCallEnd, tools: Iterable[ToolLike]) -> ToolResult:
        """Run the tool that a call names; a synchronous one in a thread. What goes wrong is a result as well."""
        return await arun_tool(call, Toolbox(tools))

    async def has_api(self) -> bool | None:
        """Ask the server whether it has this API. As `has_api()` of the synchronous client."""
        response = await self._http.send(self._request(probe_body(self.model), timeout=self._timeout(PROBE_SECONDS)))
        return has_api(response.status_code, response.headers, response.content)

    async def aclose(self) -> None:
        """Close the HTTP client that was made for this one. May be called again."""
        if self._owns_http:
            await self._http.aclose()

    async def __aenter__(self) -> Self:
        """The client itself."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close it."""
        await self.aclose()

    def _stream(self, prepared: Prepared) -> AsyncAnswerStream:
        question, head = prepared.question, Head()
        send = partial(self._send, prepared)
        source = AsyncSource(aexchange(question, send, head, broken=self._broken, sleep=self._sleep), head=head)
        settle = partial(self._settle, question.asked.conversation, question)
        return AsyncAnswerStream(question, source, settle, **prepared.reading)

    async def _send(self, prepared: Prepared, content: str) -> Any:
        request = self._request(content, headers=prepared.headers, timeout=prepared.timeout)
        return await self._http.send(request, stream=True)


class ChatCompletionsClient(SyncClient):
    """A client of the Chat Completions API."""

    def __init__(
        self,
        base_url: str,
        api_key: str | None = None,
        *,
        reasoning: ReasoningReplay = "tool_turns",
        instructions_role: Literal["system", "developer"] = "system",
        **options: Unpack[ClientOptions],
    ) -> None:
        """Speak to a server.

        Args:
            base_url: where its API is, up to `/v1`.
            api_key: sent as a bearer token.
            reasoning: which thought goes back, as in `Conversation.to_chat_messages`.
            instructions_role: the role of the instructions.
            **options: see `ClientOptions`.

        Raises:
            ModuleNotFoundError: neither httpx2 nor httpx is installed.
            TypeError: `http_client` is of neither.
        """
        super().__init__(ChatWire(reasoning, instructions_role), base_url, api_key, **options)


class AsyncChatCompletionsClient(AsyncClient):
    """An asynchronous client of the Chat Completions API."""

    def __init__(
        self,
        base_url: str,
        api_key: str | None = None,
        *,
        reasoning: ReasoningReplay = "tool_turns",
        instructions_role: Literal["system", "developer"] = "system",
        **options: Unpack[ClientOptions],
    ) -> None:
        """Speak to a server; the arguments are those of `ChatCompletionsClient`."""
        super().__init__(ChatWire(reasoning, instructions_role), base_url, api_key, **options)


class ResponsesClient(SyncClient):
    """A client of the Responses API."""

    def __init__(
        self,
        base_url: str,
        api_key: str | None = None,
        *,
        reasoning: ItemReasoning = "as_received",
        state: StateKeeper = "auto",
        store: ConversationStore | None = None,
        **options: Unpack[ClientOptions],
    ) -> None:
        """Speak to a server.

        Args:
            base_url: where its API is, up to `/v1`.
            api_key: sent as a bearer token.
            reasoning: which thought goes back, as in `Conversation.to_response_items`.
            state: who keeps conversations, as in `StoredState`.
            store: keeps each answer of a conversation that has a key, for `recall()`.
            **options: see `ClientOptions`.

        Raises:
            ModuleNotFoundError: neither httpx2 nor httpx is installed.
            TypeError: `http_client` is of neither.
            ValueError: `state` is no word that there is.
        """
        super().__init__(ResponsesWire(reasoning, state), base_url, api_key, state=state, store=store, **options)

    def recall(self, key: str, response_id: str) -> Conversation:
        """The conversation that ends with a stored answer, to go on with it, also in another process.

        Raises:
            ResponseNotFoundError: there is none of this id under this key, or it expired.
            ValueError: this client has no store.
        """
        return self._recall(key, response_id)


class AsyncResponsesClient(AsyncClient):
    """An asynchronous client of the Responses API."""

    def __init__(
        self,
        base_url: str,
        api_key: str | None = None,
        *,
        reasoning: ItemReasoning = "as_received",
        state: StateKeeper = "auto",
        store: ConversationStore | None = None,
        **options: Unpack[ClientOptions],
    ) -> None:
        """Speak to a server; the arguments are those of `ResponsesClient`."""
        super().__init__(ResponsesWire(reasoning, state), base_url, api_key, state=state, store=store, **options)

    def recall(self, key: str, response_id: str) -> Conversation:
        """The conversation that ends with a stored answer, to go on with it, also in another process.

        Raises:
            ResponseNotFoundError: there is none of this id under this key, or it expired.
            ValueError: this client has no store.
        """
        return self._recall(key, response_id)
