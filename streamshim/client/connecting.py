"""`connect` and `aconnect`: a client of whichever API a server has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Unpack

from .clients import AsyncChatCompletionsClient, AsyncResponsesClient, ChatCompletionsClient, ResponsesClient

if TYPE_CHECKING:
    from ..history import ConversationStore
    from ..history.content_parts import HistoryApi
    from ..history.stored_state import StateKeeper
    from .client_base import ClientOptions
    from .protocols import AsyncLLMClient, LLMClient

ApiChoice = Literal["auto", "responses", "chat"]
"""Which API to speak: one of the two, or Responses where the server has it and else chat."""

_known: dict[str, HistoryApi] = {}
"""Which API a server was found to have, by base URL, as long as the process lives."""


def connect(
    base_url: str,
    api_key: str | None = None,
    *,
    api: ApiChoice = "auto",
    state: StateKeeper = "auto",
    store: ConversationStore | None = None,
    **options: Unpack[ClientOptions],
) -> LLMClient:
    """A client of a server.

    Args:
        base_url: where its API is, up to `/v1`.
        api_key: sent as a bearer token.
        api: "auto" asks the server whether it has Responses, by a request that no model answers since it lacks its
            input, and takes Chat Completions if not. What is found out is remembered as long as the process lives.
        state: of a `ResponsesClient`.
        store: of a `ResponsesClient`.
        **options: see `ClientOptions`.

    Raises:
        ValueError: `api` or `state` is no word that there is.
        Exception: of the HTTP client, where the server cannot be reached.
    """
    choice = _choice(base_url, api)
    if choice == "chat":
        return ChatCompletionsClient(base_url, api_key, **options)
    client = ResponsesClient(base_url, api_key, state=state, store=store, **options)
    if choice == "responses":
        return client
    try:
        found = client.has_api()
    except BaseException:
        client.close()
        raise
    if _remembered(base_url, found) == "responses":
        return client
    client.close()
    return ChatCompletionsClient(base_url, api_key, **options)


async def aconnect(
    base_url: str,
    api_key: str | None = None,
    *,
    api: ApiChoice = "auto",
    state: StateKeeper = "auto",
    store: ConversationStore | None = None,
    **options: Unpack[ClientOptions],
) -> AsyncLLMClient:
    """An asynchronous client of a server. As `connect()`."""
    choice = _choice(base_url, api)
    if choice == "chat":
        return AsyncChatCompletionsClient(base_url, api_key, **options)
    client = AsyncResponsesClient(base_url, api_key, state=state, store=store, **options)
    if choice == "responses":
        return client
    try:
        found = await client.has_api()
    except BaseException:
        await client.aclose()
        raise
    if _remembered(base_url, found) == "responses":
        return client
    await client.aclose()
    return AsyncChatCompletionsClient(base_url, api_key, **options)


def _choice(base_url: str, api: ApiChoice) -> ApiChoice:
    """The API, or "auto" where the server is to be asked.

    Raises:
        ValueError: there is no such word.
    """
    if api not in ("auto", "responses", "chat"):
        raise ValueError(f'api={api!r} must be "auto", "responses" or "chat"')
    return _known.get(base_url.rstrip("/"), "auto") if api == "auto" else api


def _remembered(base_url: str, found: bool | None) -> HistoryApi:
    """Which API it is. Where the server did not tell, it is chat, which nearly all have, and nothing is remembered."""
    api: HistoryApi = "responses" if found else "chat"
    if found is not None:
        _known[base_url.rstrip("/")] = api
    return api
