"""How each client is asked for a response, and where it shows the answer.

Each function takes the base URL and gives the function that makes one request and fills an account.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from .account import Account, Call, as_text

Read = Callable[[Account], None]

MODEL = "m-1"
INPUT = "Hello"
_REASONING = ("response.reasoning_summary_text.delta", "response.reasoning_text.delta")
_TERMINAL = ("response.completed", "response.incomplete", "response.failed", "response.cancelled")


def openai_loop(url: str) -> Read:
    """The SDK's plain loop over events."""
    from openai import OpenAI

    client = OpenAI(api_key="none", base_url=url, max_retries=0)

    def read(account: Account) -> None:
        account.reasoning = ""
        for event in client.responses.create(model=MODEL, input=INPUT, stream=True):
            _read_event(event, account)

    return read


def openai_helper(url: str) -> Read:
    """The SDK's `.stream()` helper: its events while it runs, its final response at the end."""
    from openai import OpenAI

    client = OpenAI(api_key="none", base_url=url, max_retries=0)

    def read(account: Account) -> None:
        account.reasoning = ""
        with client.responses.stream(model=MODEL, input=INPUT) as stream:
            for event in stream:
                _read_event(event, account)
            if account.finish in (None, "completed"):
                _read_response(stream.get_final_response(), account)

    return read


def agents(url: str) -> Read:
    """The model class that openai-agents runs on the Responses API."""
    from agents import OpenAIResponsesModel
    from openai import AsyncOpenAI

    return agents_reader(OpenAIResponsesModel(MODEL, AsyncOpenAI(api_key="none", base_url=url, max_retries=0)))


def streamshim(url: str) -> Read:
    """`streamshim.stream` around a response of httpx2."""
    return streamshim_reader(f"{url}/responses", {"model": MODEL, "input": INPUT, "stream": True})


RESPONSES_CLIENTS = {
    "openai loop": openai_loop,
    "openai .stream()": openai_helper,
    "openai-agents": agents,
    "streamshim": streamshim,
}


def agents_reader(model: Any) -> Read:
    """Read a model of openai-agents: its events while it runs, the response of the terminal event at the end."""
    from agents import ModelSettings, ModelTracing

    runner = asyncio.Runner()

    async def ask(account: Account) -> None:
        account.reasoning = ""
        events = model.stream_response(
            system_instructions=None,
            input=INPUT,
            model_settings=ModelSettings(),
            tools=[],
            output_schema=None,
            handoffs=[],
            tracing=ModelTracing.DISABLED,
            previous_response_id=None,
            conversation_id=None,
            prompt=None,
        )
        async for event in events:
            _read_event(event, account)

    return lambda account: runner.run(ask(account))


def streamshim_reader(url: str, body: dict[str, Any]) -> Read:
    """Read a body of either API with streamshim."""
    import httpx2

    import streamshim

    client = httpx2.Client()

    def read(account: Account) -> None:
        with client.stream("POST", url, json=body) as response, streamshim.stream(response) as events:
            try:
                for _event in events:
                    pass
            finally:
                answer = events.response
                account.text, account.reasoning, account.finish = answer.text, answer.reasoning, answer.finish_reason
                account.tool_calls = [
                    Call(call.name, call.arguments, call.call_id)
                    for call in answer.calls_to_answer
                    if call.kind in ("function", "custom")
                ]

    return read


def _read_event(event: Any, account: Account) -> None:
    if event.type == "response.output_text.delta":
        account.text += event.delta
    elif event.type in _REASONING:
        account.reasoning = (account.reasoning or "") + event.delta
    elif event.type == "response.output_item.done":
        account.tool_calls += _calls([event.item])
    elif event.type in _TERMINAL:
        response = event.response
        details = response.incomplete_details
        account.finish = (details.reason if details else None) or response.status or event.type.removeprefix("response.")
        account.error = response.error.message if response.error else None


def _read_response(response: Any, account: Account) -> None:
    account.text = response.output_text
    account.tool_calls = _calls(response.output)


def _calls(items: list[Any]) -> list[Call]:
    return [
        Call(item.name, as_text(item.arguments if item.type == "function_call" else item.input), item.call_id)
        for item in items
        if item.type in ("function_call", "custom_tool_call")
    ]
