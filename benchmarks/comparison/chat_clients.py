"""How each client is asked for a chat completion, and where it shows the answer.

Each function takes the base URL and gives the function that makes one request and fills an account.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from .account import Account, Call, as_text
from .responses_clients import Read, agents_reader, streamshim_reader

if TYPE_CHECKING:
    from collections.abc import Iterable

MODEL = "m-1"
MESSAGES: list[Any] = [{"role": "user", "content": "Hello"}]


def openai_loop(url: str) -> Read:
    """The SDK's plain loop over chunks."""
    from openai import OpenAI

    client = OpenAI(api_key="none", base_url=url, max_retries=0)

    def read(account: Account) -> None:
        _read_chunks(client.chat.completions.create(model=MODEL, messages=MESSAGES, stream=True), account)

    return read


def openai_helper(url: str) -> Read:
    """The SDK's `.stream()` helper: its events while it runs, its final completion at the end."""
    from openai import OpenAI

    client = OpenAI(api_key="none", base_url=url, max_retries=0)

    def read(account: Account) -> None:
        with client.chat.completions.stream(model=MODEL, messages=MESSAGES) as stream:
            for event in stream:
                if event.type == "content.delta":
                    account.text += event.delta
            final = stream.get_final_completion().choices[0]
        account.text = final.message.content or ""
        account.finish = final.finish_reason
        account.tool_calls = [
            Call(call.function.name, as_text(call.function.arguments), call.id) for call in final.message.tool_calls or []
        ]

    return read


def agents(url: str) -> Read:
    """The model class that openai-agents runs on Chat Completions; it speaks in events of the Responses API."""
    from agents import OpenAIChatCompletionsModel
    from openai import AsyncOpenAI

    return agents_reader(OpenAIChatCompletionsModel(MODEL, AsyncOpenAI(api_key="none", base_url=url, max_retries=0)))


def litellm(url: str) -> Read:
    """`litellm.completion`, read with the same loop as the SDK's chunks."""
    import litellm

    def read(account: Account) -> None:
        account.reasoning = ""
        chunks: Any = litellm.completion(
            model=f"openai/{MODEL}", messages=MESSAGES, api_base=url, api_key="none", stream=True, max_retries=0
        )
        _read_chunks(chunks, account)

    return read


def langchain(url: str) -> Read:
    """`ChatOpenAI.stream`, its chunks added up."""
    from langchain_openai import ChatOpenAI
    from pydantic import SecretStr

    model = ChatOpenAI(model=MODEL, base_url=url, api_key=SecretStr("none"), max_retries=0)

    def read(account: Account) -> None:
        message: Any = None
        for chunk in model.stream("Hello"):
            message = chunk if message is None else message + chunk
            account.text = message.text
        account.finish = message.response_metadata.get("finish_reason")
        account.tool_calls = [
            *(Call(call["name"], as_text(call["args"]), call["id"]) for call in message.tool_calls),
            *(Call(call["name"] or "", as_text(call["args"] or ""), call["id"]) for call in message.invalid_tool_calls),
        ]

    return read


def pydantic_ai(url: str) -> Read:
    """`OpenAIChatModel`, streamed by a direct model request."""
    from openai import AsyncOpenAI
    from pydantic_ai import ModelRequest
    from pydantic_ai.direct import model_request_stream
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    client = AsyncOpenAI(api_key="none", base_url=url, max_retries=0)
    model = OpenAIChatModel(MODEL, provider=OpenAIProvider(openai_client=client))
    runner = asyncio.Runner()

    async def ask(account: Account) -> None:
        async with model_request_stream(model, [ModelRequest.user_text_prompt("Hello")]) as stream:
            try:
                async for _event in stream:
                    pass
            finally:
                _read_message(stream.get(), account)

    return lambda account: runner.run(ask(account))


def streamshim(url: str) -> Read:
    """`streamshim.stream` around a response of httpx2."""
    return streamshim_reader(f"{url}/chat/completions", {"model": MODEL, "messages": MESSAGES, "stream": True})


CHAT_CLIENTS = {
    "openai loop": openai_loop,
    "openai .stream()": openai_helper,
    "openai-agents": agents,
    "litellm": litellm,
    "langchain-openai": langchain,
    "pydantic-ai": pydantic_ai,
    "streamshim": streamshim,
}


def _read_chunks(chunks: Iterable[Any], account: Account) -> None:
    calls: dict[Any, Call] = {}
    for chunk in chunks:
        for choice in chunk.choices or []:
            if choice.index:
                continue
            account.finish = choice.finish_reason or account.finish
            delta = choice.delta
            if delta is None:
                continue
            account.text += delta.content or ""
            if account.reasoning is not None:
                account.reasoning += getattr(delta, "reasoning_content", None) or ""
            for call in delta.tool_calls or []:
                _add_call(calls, call.index, call.function, call.id)
            if delta.function_call:
                _add_call(calls, "function_call", delta.function_call, None)
            account.tool_calls = list(calls.values())


def _add_call(calls: dict[Any, Call], key: Any, function: Any, call_id: str | None) -> None:
    call = calls.setdefault(key, Call("", ""))
    call.id = call.id or call_id
    if function:
        if function.name != call.name:
            call.name += function.name or ""
        call.arguments += function.arguments or ""


def _read_message(message: Any, account: Account) -> None:
    parts = message.parts
    account.text = "".join(part.content for part in parts if part.part_kind == "text")
    account.reasoning = "".join(part.content for part in parts if part.part_kind == "thinking")
    account.finish = message.finish_reason
    account.tool_calls = [
        Call(part.tool_name, as_text(part.args), part.tool_call_id)
        for part in parts
        if part.part_kind == "tool-call"
    ]
