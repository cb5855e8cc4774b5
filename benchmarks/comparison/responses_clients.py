"""How each client is asked for a response, and where it shows the answer.

Each function takes the base URL and gives the function that makes one request and fills an account.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .reading import MODEL, PROMPT, Read, agents_reader, answer_of, read_event, streamshim_reader

if TYPE_CHECKING:
    from .account import Account


def openai_loop(url: str) -> Read:
    """The SDK's plain loop over events."""
    from openai import OpenAI

    client = OpenAI(api_key="none", base_url=url, max_retries=0)

    def read(account: Account) -> None:
        account.reasoning = ""
        for event in client.responses.create(model=MODEL, input=PROMPT, stream=True):
            read_event(event, account)

    return read


def openai_helper(url: str) -> Read:
    """The SDK's `.stream()` helper: its events as they come, and its final response."""
    from openai import OpenAI

    client = OpenAI(api_key="none", base_url=url, max_retries=0)

    def read(account: Account) -> None:
        account.reasoning = ""
        with client.responses.stream(model=MODEL, input=PROMPT) as stream:
            for event in stream:
                read_event(event, account)
            if account.finish in (None, "completed"):
                account.final = answer_of(stream.get_final_response())

    return read


def openai_agents(url: str) -> Read:
    """The model class that openai-agents runs on the Responses API."""
    from agents import OpenAIResponsesModel
    from openai import AsyncOpenAI

    return agents_reader(OpenAIResponsesModel(MODEL, AsyncOpenAI(api_key="none", base_url=url, max_retries=0)))


def streamshim(url: str) -> Read:
    """`streamshim.stream` around a response of httpx2."""
    return streamshim_reader(f"{url}/responses", {"model": MODEL, "input": PROMPT, "stream": True})


RESPONSES_CLIENTS = {
    "openai loop": openai_loop,
    "openai .stream()": openai_helper,
    "openai-agents": openai_agents,
    "streamshim": streamshim,
}
