"""What several adapters share: events of the Responses API, models of openai-agents, and streamshim."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from .account import Account, Answer, Call, as_text

Read = Callable[[Account], None]
"""Makes one request and fills the account of it."""

MODEL = "m-1"
PROMPT = "Hello"

_REASONING = ("response.reasoning_summary_text.delta", "response.reasoning_text.delta")
_TERMINAL = ("response.completed", "response.incomplete", "response.failed", "response.cancelled")


def read_event(event: Any, account: Account) -> None:
    """Take what an event of the Responses API says; what comes after the terminal event is not read."""
    if account.finish:
        return
    if event.type == "response.output_text.delta":
        account.text += event.delta or ""
    elif event.type in _REASONING:
        account.reasoning = (account.reasoning or "") + (event.delta or "")
    elif event.type == "response.output_item.done":
        account.tool_calls += _calls([event.item])
    elif event.type == "error":
        account.error = event.message or "error"
    elif event.type in _TERMINAL:
        account.finish = event.type.removeprefix("response.")
        if event.response:
            _read_terminal(event.response, account)


def answer_of(response: Any) -> Answer:
    """What a whole response of the Responses API says."""
    items = response.output or []
    messages = [part for item in items if item.type == "message" for part in item.content or []]
    thoughts = [part for item in items if item.type == "reasoning" for part in (item.content or item.summary or [])]
    return Answer(
        text="".join(part.text for part in messages if part.type == "output_text"),
        reasoning="".join(part.text for part in thoughts),
        tool_calls=_calls(items),
    )


def agents_reader(model: Any) -> Read:
    """Read a model of openai-agents: its events as they come, and the response of its terminal event."""
    from agents import ModelSettings, ModelTracing

    runner = asyncio.Runner()

    async def ask(account: Account) -> None:
        account.reasoning = ""
        events = model.stream_response(
            system_instructions=None,
            input=PROMPT,
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
            read_event(event, account)

    return lambda account: runner.run(ask(account))


def streamshim_reader(url: str, body: dict[str, Any]) -> Read:
    """Read a body of either API with streamshim around a response of httpx2."""
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


def _read_terminal(response: Any, account: Account) -> None:
    details = response.incomplete_details
    account.finish = (details.reason if details else None) or response.status or account.finish
    account.error = response.error.message if response.error else account.error
    account.final = answer_of(response)


def _calls(items: list[Any]) -> list[Call]:
    return [
        Call(item.name, as_text(item.arguments if item.type == "function_call" else item.input), item.call_id)
        for item in items
        if item.type in ("function_call", "custom_tool_call")
    ]
