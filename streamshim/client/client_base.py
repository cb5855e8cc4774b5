"""What the clients of both kinds share: everything but I/O."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict, cast
from weakref import WeakKeyDictionary

from ..history import Conversation, ConversationStore, StoredState
from ..history.stored_state import StateKeeper
from ..http_module import http_module
from .kept_conversations import keep, recall
from .memory import Memory
from .options import split_options
from .output_format import OutputFormat
from .question import Patience, Question
from .retries import Retries
from .run_loop import RunLoop
from .tool import Toolbox, ToolLike
from .wires import Asked, ModelInput, Wire, as_input

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..event_stream import StreamOptions
    from ..response_models import ModelResponse

PATIENCE_SECONDS = 600.0
"""How long the HTTP client waits for the next piece of an answer: models may think for long."""
_CONNECT_SECONDS = 10.0
MAX_TURNS = 10
"""How many turns a run takes where nobody says."""


class ClientOptions(TypedDict, total=False):
    """The options of every client.

    Attributes:
        model: who is asked where a request does not say.
        headers: more headers for every request.
        timeout: seconds that the HTTP client waits for each piece of an answer; None: for ever.
        max_retries: how often a request is made again that failed before anything of its answer came.
        degrade: whether to do without what the server does not have; without it, its refusal is the answer.
        http_client: a client of httpx2 or httpx that is there already. It is not closed with this one.
        sleep: waits between tries.
    """

    model: str | None
    headers: Mapping[str, str] | None
    timeout: float | None
    max_retries: int
    degrade: bool
    http_client: Any
    sleep: Callable[[float], Any]


class Prepared(NamedTuple):
    """A question that is ready to be asked."""

    question: Question
    reading: StreamOptions
    headers: dict[str, str]
    timeout: Any


class ClientBase:
    """A client without its I/O: what it asks, and what it has learned of its server.

    Attributes:
        base_url: where the API is, up to `/v1`.
        model: who is asked where a request does not say.
    """

    _kind: str
    """The class of the HTTP client."""

    def __init__(
        self,
        wire: Wire,
        base_url: str,
        api_key: str | None,
        *,
        model: str | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = PATIENCE_SECONDS,
        max_retries: int = 2,
        degrade: bool = True,
        http_client: Any = None,
        state: StateKeeper = "auto",
        store: ConversationStore | None = None,
    ) -> None:
        """Keep what is given; an HTTP client is made where none is."""
        self.base_url = base_url.rstrip("/")
        self.model = model
        self._wire = wire
        self._headers = _headers(api_key, headers)
        self._max_retries = max_retries
        self._degrade = degrade
        self._state: StateKeeper = state
        self._store = store
        self._states: WeakKeyDictionary[Conversation, StoredState] = WeakKeyDictionary()
        self._memory = Memory()
        self._owns_http = http_client is None
        self._module = http_module() if http_client is None else _module_of(http_client)
        self._http = http_client or getattr(self._module, self._kind)(timeout=self._timeout(timeout))
        StoredState(state)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.base_url}>"

    @property
    def _broken(self) -> tuple[type[Exception], ...]:
        """What may pass: all that the network does, but no address or header that is wrong."""
        module = self._module
        return (module.TimeoutException, module.NetworkError, module.RemoteProtocolError, module.ProxyError)

    def _timeout(self, seconds: float | None) -> Any:
        connect = _CONNECT_SECONDS if seconds is None else min(seconds, _CONNECT_SECONDS)
        return self._module.Timeout(seconds, connect=connect)

    def _request(self, content: str, *, headers: Mapping[str, str] | None = None, timeout: Any = None) -> Any:
        """A request to the path of the API."""
        url = f"{self.base_url}/{self._wire.path}"
        return self._http.build_request(
            "POST",
            url,
            content=content.encode(),
            headers=headers or self._headers,
            timeout=timeout or self._http.timeout,
        )

    # -- asking -------------------------------------------------------------------------------------------------------

    def _prepare(
        self,
        given: ModelInput,
        tools: Iterable[ToolLike] | Toolbox | None,
        model: str | None,
        options: Mapping[str, Any],
        *,
        whole: bool,
    ) -> Prepared:
        """What is asked, written down; `whole`: nobody sees the answer before it is.

        Raises:
            InputError: the messages or items are not what the API reads.
            TypeError: there is no such option, or a tool or schema cannot be made of what was given.
            ValueError: a call of the conversation waits for its result, or an option has a value that does not exist.
        """
        of_request, of_stream = split_options(options)
        wanted = of_request.get("response_format")
        asked = Asked(
            as_input(given),
            tools if isinstance(tools, Toolbox) else Toolbox(tools),
            model or self.model,
            of_request,
            None if wanted is None else OutputFormat(wanted),
        )
        question = Question(
            self._wire,
            asked,
            self._memory,
            state=self._stored_state(asked.conversation, kept=of_request.get("store")),
            retries=Retries(self._max_retries),
            degrade=self._degrade,
            patience=_patience(of_stream, whole=whole),
        )
        question.prepare()
        timeout = self._timeout(of_request["timeout"]) if "timeout" in of_request else self._http.timeout
        headers = {**self._headers, **of_request.get("extra_headers", {})}
        return Prepared(question, question.reading(cast("StreamOptions", of_stream)), headers, timeout)

    def _stored_state(self, conversation: Conversation | None, *, kept: bool | None) -> StoredState | None:
        """Who keeps the conversation. A server that was seen to lose one is not relied on with another."""
        if conversation is None or self._wire.api != "responses":
            return None
        if kept is False:  # the caller has it so
            self._states[conversation] = StoredState("client")
        elif conversation not in self._states:
            forgets = self._state == "auto" and self._memory.remembers is False
            self._states[conversation] = StoredState("client" if forgets else self._state)
        return self._states[conversation]

    def _settle(self, conversation: Conversation | None, question: Question, response: ModelResponse) -> None:
        """An answer is over: the conversation goes on with it, unless it failed or was cut."""
        question.settle(response)
        if conversation is None or response.status in ("failed", "truncated"):
            return
        if response.status == "cancelled" and not any(choice.parts for choice in response.choices):
            return
        conversation.answer(response)
        if self._store is not None:
            keep(self._store, conversation, response)

    def _loop(
        self, given: ModelInput, tools: Iterable[ToolLike], max_turns: int, options: Mapping[str, Any]
    ) -> RunLoop:
        """A run: of a conversation, or of a new one that begins with what was given.

        Raises:
            TypeError: messages or items cannot be run: they are no conversation yet; or there is no such option.
        """
        split_options(options)
        start = as_input(given)
        if isinstance(start, str):
            conversation = Conversation(instructions=options.get("instructions"))
            conversation.user(start)
        elif isinstance(start, Conversation):
            conversation = start
        else:
            raise TypeError("run() takes a text, content parts or a Conversation, not messages or items")
        return RunLoop(conversation, Toolbox(tools), max_turns, options)

    def _recall(self, key: str, response_id: str) -> Conversation:
        if self._store is None:
            raise ValueError("this client was made without a store=")
        return recall(self._store, key, response_id)


def _patience(reading: Mapping[str, Any], *, whole: bool) -> Patience:
    """What is kept back would look like a server that is too slow, where the reader has a deadline."""
    if reading.get("idle_timeout") is not None or reading.get("first_event_timeout") is not None:
        return "none"
    return "whole" if whole else "first"


def _headers(api_key: str | None, headers: Mapping[str, str] | None) -> dict[str, str]:
    key = {"authorization": f"Bearer {api_key}"} if api_key else {}
    given = {name.lower(): value for name, value in (headers or {}).items()}
    return {"content-type": "application/json", "accept": "text/event-stream, application/json", **key, **given}


def _module_of(http_client: Any) -> ModuleType:
    """The module of an HTTP client that the caller made.

    Raises:
        TypeError: it is neither httpx2's nor httpx's.
    """
    roots = [kind.__module__.partition(".")[0] for kind in type(http_client).__mro__]
    name = next((root for root in roots if root in ("httpx2", "httpx")), None)
    if name is None:
        raise TypeError(f"http_client={http_client!r} is no client of httpx2 or httpx")
    return importlib.import_module(name)
