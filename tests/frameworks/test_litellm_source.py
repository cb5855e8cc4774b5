"""litellm's stream wrapper is a source, sync and async: over a real server, where litellm is installed."""

from __future__ import annotations

import asyncio
import gc
import importlib
import importlib.util
import os
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from streamshim.errors import SourceError, StreamTruncatedError
from streamshim.streams import aparse, astream, parse, stream
from tests.loopback import BREAK, WATCH, LoopbackServer, serve
from tests.small_streams import CHAT, CHAT_CALL, VENDOR_ERROR, chat, frame

if importlib.util.find_spec("litellm") is None:
    pytest.skip("litellm is not installed: make frameworks", allow_module_level=True)

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # else importing it asks the network
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    litellm: Any = importlib.import_module("litellm")

pytestmark = pytest.mark.filterwarnings("ignore")
"""What litellm itself deprecates and leaves open is not ours to judge."""


@pytest.fixture(autouse=True, scope="module")
def _collect_what_is_left_open() -> Iterator[None]:
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        litellm.in_memory_llm_clients_cache.flush_cache()
        asyncio.set_event_loop(None)
        gc.collect()


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def arguments(server: LoopbackServer) -> dict[str, Any]:
    said = [{"role": "user", "content": "hi"}]
    return {"model": "openai/m-1", "messages": said, "api_base": server.url, "api_key": "x", "max_retries": 0}


def ask(server: LoopbackServer) -> Any:
    return litellm.completion(**arguments(server), stream=True)


async def ask_async(server: LoopbackServer) -> Any:
    return await litellm.acompletion(**arguments(server), stream=True)


def test_text_thought_and_calls_are_read_from_the_wrapper_s_chunks() -> None:
    with serve([frame(chat({"reasoning_content": "hm"})), *CHAT]) as server:
        answer = parse(ask(server))
        assert (answer.reasoning, answer.text, answer.status) == ("hm", "Hello", "completed")
    with serve(CHAT_CALL) as server:
        (call,) = parse(ask(server)).calls_to_answer
        assert (call.name, call.parsed()) == ("look", {"at": 1})


def test_a_wrapper_that_was_begun_gives_the_rest() -> None:
    with serve(CHAT) as server:
        wrapper = ask(server)
        next(wrapper)
        assert parse(wrapper).text == "lo"


def test_an_async_wrapper_is_read_like_the_sync_one() -> None:
    async def main() -> None:
        with serve(CHAT_CALL) as server:
            (call,) = (await aparse(await ask_async(server))).calls_to_answer
            assert (call.name, call.parsed()) == ("look", {"at": 1})

    asyncio.run(main())


def test_the_connection_is_closed_by_a_reader_who_leaves() -> None:
    async def leave_async(server: LoopbackServer) -> None:
        async with astream(await ask_async(server)) as events:
            async for event in events:
                if event.type == "text_delta":
                    break
        assert await asyncio.to_thread(server.sees_the_client_close)

    with serve([*CHAT[:2], WATCH]) as server:
        with stream(ask(server)) as events:
            next(events.text_deltas())
        assert server.sees_the_client_close()
    with serve([*CHAT[:2], WATCH]) as server:
        asyncio.run(leave_async(server))


@pytest.mark.parametrize(
    ("pieces", "said"),
    [([*CHAT[:2], BREAK], "Connection error"), (CHAT[:2], "Stream ended"), ([CHAT[0], frame(VENDOR_ERROR)], "on fire")],
    ids=["broken", "cut", "the vendor's error"],
)
def test_whatever_ends_it_badly_is_a_broken_stream_in_litellm_s_words(pieces: Any, said: str) -> None:
    with serve(pieces) as server, pytest.raises(StreamTruncatedError, match=said) as raised:
        parse(ask(server))
    assert raised.value.response is not None
    assert raised.value.response.text in ("Hel", "Hello")
    assert raised.value.__cause__ is not None


def test_a_wrapper_of_the_other_kind_is_refused_though_it_can_be_iterated_both_ways() -> None:
    async def main() -> None:
        with serve(CHAT) as server:
            with pytest.raises(SourceError, match=r"read asynchronously: use astream\(\)"):
                stream(await ask_async(server))
            with pytest.raises(SourceError, match=r"read synchronously: use stream\(\)"):
                astream(ask(server))

    asyncio.run(main())
