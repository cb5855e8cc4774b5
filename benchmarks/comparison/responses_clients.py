"""How each client is asked for a response, and where it shows the answer.

Each function takes the base URL, and whether the client speaks over streamshim's transport; it gives the function that
makes one request and fills an account.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .connecting import async_sdk, sdk
from .reading import MODEL, PROMPT, Read, agents_reader, answer_of, read_event, streamshim_reader

if TYPE_CHECKING:
    from .account import Account


def openai_loop(url: str, *, relayed: bool) -> Read:
    """The SDK's plain loop over events."""
    client = sdk(url, relayed=relayed)

    def read(account: Account) -> None:
        account.reasoning = ""
        for event in client.responses.create(model=MODEL, input=PROMPT, stream=True):
            read_event(event, account)

    return read


def openai_helper(url: str, *, relayed: bool) -> Read:
    """The SDK's `.stream()` helper: its events as they come, and its final response."""
    client = sdk(url, relayed=relayed)

    def read(account: Account) -> None:
        account.reasoning = ""
        with client.responses.stream(model=MODEL, input=PROMPT) as stream:
            for event in stream:
                read_event(event, account)
            if account.finish in (None, "completed"):
                account.final = answer_of(stream.get_final_response())

    return read


def openai_agents(url: str, *, relayed: bool) -> Read:
    """The model class that openai-agents runs on the Responses API."""
    from agents import OpenAIResponsesModel

    return agents_reader(OpenAIResponsesModel(MODEL, async_sdk(url, relayed=relayed)))


def streamshim(url: str, *, relayed: bool) -> Read:
    """`streamshim.stream` around a response of httpx2; over the transport there is nothing to compare."""
    return streamshim_reader(f"{url}/responses", {"model": MODEL, "input": PROMPT, "stream": True})


RESPONSES_CLIENTS = {
    "openai loop": openai_loop,
    "openai .stream()": openai_helper,
    "openai-agents": openai_agents,
    "streamshim": streamshim,
}
