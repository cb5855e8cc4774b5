"""How each client is asked for a chat completion, and where it shows the answer.

Each function takes the base URL, and whether the client speaks over streamshim's transport; it gives the function that
makes one request and fills an account.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from .account import Account, Answer, Call, as_text
from .connecting import async_sdk, http_client, sdk
from .reading import MODEL, PROMPT, Read, agents_reader, streamshim_reader

if TYPE_CHECKING:
    from collections.abc import Iterable

MESSAGES: list[Any] = [{"role": "user", "content": PROMPT}]


def openai_loop(url: str, *, relayed: bool) -> Read:
    """The SDK's plain loop over chunks."""
    client = sdk(url, relayed=relayed)

    def read(account: Account) -> None:
        _read_chunks(client.chat.completions.create(model=MODEL, messages=MESSAGES, stream=True), account)

    return read


def openai_helper(url: str, *, relayed: bool) -> Read:
    """The SDK's `.stream()` helper: its text as it comes, and its final completion."""
    client = sdk(url, relayed=relayed)

    def read(account: Account) -> None:
        with client.chat.completions.stream(model=MODEL, messages=MESSAGES) as stream:
            for event in stream:
                if event.type == "chunk" and event.snapshot.choices:
                    account.text = as_text(event.snapshot.choices[0].message.content or "")
            choice = stream.get_final_completion().choices[0]
        account.finish = choice.finish_reason
        account.tool_calls = [_call(call.function, call.id) for call in choice.message.tool_calls or []]
        if choice.message.function_call:
            account.tool_calls.append(_call(choice.message.function_call, None))
        account.final = Answer(as_text(choice.message.content or ""), None, account.tool_calls)

    return read


def openai_agents(url: str, *, relayed: bool) -> Read:
    """The model class that openai-agents runs on Chat Completions; it speaks in events of the Responses API."""
    from agents import OpenAIChatCompletionsModel

    return agents_reader(OpenAIChatCompletionsModel(MODEL, async_sdk(url, relayed=relayed)))


def litellm(url: str, *, relayed: bool) -> Read:
    """`litellm.completion`, read with the same loop as the SDK's chunks."""
    import litellm

    client = sdk(url, relayed=True) if relayed else None

    def read(account: Account) -> None:
        account.reasoning = ""
        chunks: Any = litellm.completion(
            model=f"openai/{MODEL}",
            messages=MESSAGES,
            api_base=url,
            api_key="none",
            stream=True,
            max_retries=0,
            client=client,
        )
        _read_chunks(chunks, account)

    return read


def langchain(url: str, *, relayed: bool) -> Read:
    """`ChatOpenAI.stream`, its chunks added up."""
    from langchain_openai import ChatOpenAI
    from pydantic import SecretStr

    model = ChatOpenAI(
        model=MODEL,
        base_url=url,
        api_key=SecretStr("none"),
        max_retries=0,
        http_client=http_client(relayed=relayed),
    )

    def read(account: Account) -> None:
        message: Any = None
        for chunk in model.stream(PROMPT):
            message = chunk if message is None else message + chunk
            account.text = message.text
        account.finish = message.response_metadata.get("finish_reason")
        legacy = message.additional_kwargs.get("function_call")
        account.tool_calls = [
            Call(call["name"] or "", as_text(call["args"]), call.get("id"))
            for call in (*message.tool_calls, *message.invalid_tool_calls)
        ] + ([Call(legacy["name"], legacy["arguments"])] if legacy else [])

    return read


def pydantic_ai(url: str, *, relayed: bool) -> Read:
    """`OpenAIChatModel`, streamed by a direct model request."""
    from pydantic_ai import ModelRequest
    from pydantic_ai.direct import model_request_stream
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    provider = OpenAIProvider(openai_client=async_sdk(url, relayed=relayed))
    model = OpenAIChatModel(MODEL, provider=provider)
    runner = asyncio.Runner()

    async def ask(account: Account) -> None:
        async with model_request_stream(model, [ModelRequest.user_text_prompt(PROMPT)]) as stream:
            try:
                async for _event in stream:
                    pass
            finally:
                _read_message(stream.get(), account)

    return lambda account: runner.run(ask(account))


def streamshim(url: str, *, relayed: bool) -> Read:
    """`streamshim.stream` around a response of httpx2; over the transport there is nothing to compare."""
    return streamshim_reader(f"{url}/chat/completions", {"model": MODEL, "messages": MESSAGES, "stream": True})


CHAT_CLIENTS = {
    "openai loop": openai_loop,
    "openai .stream()": openai_helper,
    "openai-agents": openai_agents,
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
            if choice.delta:
                _read_delta(choice.delta, account, calls)
                account.tool_calls = list(calls.values())


def _read_delta(delta: Any, account: Account, calls: dict[Any, Call]) -> None:
    account.text += delta.content or ""
    if account.reasoning is not None:
        account.reasoning += getattr(delta, "reasoning_content", None) or ""
    for call in delta.tool_calls or []:
        _add_call(calls, call.index, _call(getattr(call, "function", None) or getattr(call, "custom", None), call.id))
    if delta.function_call:
        _add_call(calls, "function_call", _call(delta.function_call, None))


def _add_call(calls: dict[Any, Call], key: Any, more: Call) -> None:
    call = calls.setdefault(key, Call("", ""))
    call.id = call.id or more.id
    call.name += more.name if more.name != call.name else ""
    call.arguments += more.arguments


def _call(function: Any, call_id: str | None) -> Call:
    arguments = getattr(function, "arguments", None) or getattr(function, "input", None)
    return Call(getattr(function, "name", None) or "", as_text(arguments) if arguments else "", call_id)


def _read_message(message: Any, account: Account) -> None:
    parts = message.parts
    account.text = "".join(part.content for part in parts if part.part_kind == "text")
    account.reasoning = "".join(part.content for part in parts if part.part_kind == "thinking")
    account.finish = message.finish_reason or (message.provider_details or {}).get("finish_reason")
    account.tool_calls = [
        Call(part.tool_name, as_text(part.args), part.tool_call_id) for part in parts if part.part_kind == "tool-call"
    ]
