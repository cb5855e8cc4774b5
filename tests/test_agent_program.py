"""The same program over either API, synchronously and asynchronously, on strict servers and on sloppy ones."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import streamshim
from tests.agent_program import Stay, agent, async_agent
from tests.servers import serve_model
from tests.servers.vendors import VENDORS

APIS = ("chat", "responses")
RESULTS = {
    "high_water": {"harbour": "Brest", "hour": 9},
    "free_berths": [3, 12],
    "book": "ConnectionError: the harbour office of Brest is closed",
}


def run(url: str, api: Any, *, way: str = "sync", key: str | None = None, **options: Any) -> dict[str, Any]:
    if way == "sync":
        with streamshim.connect(url, key, api=api, model="toy", **options) as client:
            return agent(client)

    async def asynchronously() -> dict[str, Any]:
        async with await streamshim.aconnect(url, key, api=api, model="toy", **options) as client:
            return await async_agent(client)

    return asyncio.run(asynchronously())


def check(outcome: dict[str, Any]) -> None:
    assert outcome["results"] == RESULTS
    assert outcome["shown"].count("[3,12]") == 1
    assert "Iroise" in outcome["memory"]
    assert isinstance(outcome["stay"], Stay)


@pytest.mark.parametrize("way", ["sync", "async"])
@pytest.mark.parametrize("api", [*APIS, "auto"])
def test_on_a_server_that_keeps_to_its_api(api: str, way: str) -> None:
    with serve_model(key="sk-test") as server:
        check(run(server.base_url, api, way=way, key="sk-test"))
        paths = {request.path for request in server.requests}
    assert paths == {"/v1/chat/completions" if api == "chat" else "/v1/responses"}


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize("api", APIS)
def test_on_the_servers_of_vendors(vendor: str, api: str) -> None:
    if api not in VENDORS[vendor].apis:
        pytest.skip("it has no such API")
    with serve_model(vendor=vendor, key="sk-test") as server:
        check(run(server.base_url, api, key="sk-test"))


SLOPPY = {
    "no tools": ("tools-refused",),
    "no tools, said in a stream": ("errors-in-the-stream", "tools-refused"),
    "no tools, said with 200": ("errors-with-200", "tools-refused"),
    "no stream": ("whole-body",),
    "no counts": ("no-usage",),
    "counts cannot be asked for": ("stream-options-refused",),
    "limits by another name": ("max-tokens-refused",),
    "nothing kept": ("store-ignored",),
    "ids refused": ("previous-id-refused",),
    "ids ignored": ("previous-id-ignored",),
    "ids ignored, nothing counted": ("previous-id-ignored", "no-usage"),
    "one call at a time": ("one-call-only",),
    "all at once": ("tools-refused", "stream-options-refused", "previous-id-refused", "max-tokens-refused"),
}


@pytest.mark.parametrize("way", ["sync", "async"])
@pytest.mark.parametrize("habits", SLOPPY.values(), ids=SLOPPY)
@pytest.mark.parametrize("api", APIS)
def test_on_sloppy_servers(api: str, habits: tuple[str, ...], way: str) -> None:
    with serve_model(*habits, key="sk-test") as server:
        check(run(server.base_url, api, way=way, key="sk-test"))


def test_a_server_that_has_chat_alone_is_found_out_by_one_request() -> None:
    with serve_model(apis=("chat",)) as server:
        check(run(server.base_url, "auto"))
        assert [request.path for request in server.requests].count("/v1/responses") == 1
