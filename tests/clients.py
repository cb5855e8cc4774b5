"""Real HTTP clients and a real SDK, each as a context manager that gives a response to be streamed from a URL.

Nothing is encrypted on this machine: `verify=False` spares them the reading of certificates, which takes long.
"""

from __future__ import annotations

import contextlib
import http.client
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import Any, TypeAlias

import aiohttp
import httpx
import httpx2
import niquests
import openai
import pytest
import requests
import urllib3

Opener: TypeAlias = Callable[[str], AbstractContextManager[Any]]
AsyncOpener: TypeAlias = Callable[[str], AbstractAsyncContextManager[Any]]


# -- HTTP clients -----------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def with_httpx(url: str) -> Generator[Any]:
    with httpx.stream("POST", url, verify=False) as response:
        yield response


@contextlib.contextmanager
def with_httpx2(url: str) -> Generator[Any]:
    with httpx2.stream("POST", url, verify=False) as response:
        yield response


@contextlib.contextmanager
def with_requests(url: str) -> Generator[Any]:
    with requests.Session() as session, session.post(url, stream=True) as response:
        yield response


@contextlib.contextmanager
def with_niquests(url: str) -> Generator[Any]:
    with niquests.Session() as session, session.post(url, stream=True) as response:
        yield response


@contextlib.contextmanager
def with_urllib3(url: str) -> Generator[Any]:
    with urllib3.PoolManager(retries=False) as pool:
        response = pool.request("POST", url, preload_content=False)
        try:
            yield response
        finally:
            response.close()


@contextlib.contextmanager
def with_urllib(url: str) -> Generator[Any]:
    try:
        response = urllib.request.urlopen(url)
    except urllib.error.HTTPError as error:
        response = error
    with response:
        yield response


@contextlib.contextmanager
def with_http_client(url: str) -> Generator[Any]:
    address = urllib.parse.urlsplit(url)
    with contextlib.closing(http.client.HTTPConnection(str(address.hostname), address.port)) as connection:
        connection.request("POST", address.path)
        with connection.getresponse() as response:
            yield response


SYNC_CLIENTS = [with_httpx, with_httpx2, with_requests, with_niquests, with_urllib3, with_urllib, with_http_client]
every_client = pytest.mark.parametrize("open_response", SYNC_CLIENTS, ids=lambda opener: opener.__name__)


@contextlib.asynccontextmanager
async def with_async_httpx(url: str) -> AsyncGenerator[Any]:
    async with httpx.AsyncClient(verify=False) as client, client.stream("POST", url) as response:
        yield response


@contextlib.asynccontextmanager
async def with_async_httpx2(url: str) -> AsyncGenerator[Any]:
    async with httpx2.AsyncClient(verify=False) as client, client.stream("POST", url) as response:
        yield response


@contextlib.asynccontextmanager
async def with_aiohttp(url: str) -> AsyncGenerator[Any]:
    async with aiohttp.ClientSession() as session, session.post(url) as response:
        yield response


@contextlib.asynccontextmanager
async def with_async_niquests(url: str) -> AsyncGenerator[Any]:
    async with niquests.AsyncSession() as session:
        response = await session.post(url, stream=True)
        try:
            yield response
        finally:
            await response.close()


ASYNC_CLIENTS = [with_async_httpx, with_async_httpx2, with_aiohttp, with_async_niquests]
every_async_client = pytest.mark.parametrize("open_response", ASYNC_CLIENTS, ids=lambda opener: opener.__name__)


# -- an SDK -----------------------------------------------------------------------------------------------------------


def sdk(url: str) -> openai.OpenAI:
    return openai.OpenAI(base_url=url, api_key="x", max_retries=0, http_client=httpx2.Client(verify=False))


def async_sdk(url: str) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(base_url=url, api_key="x", max_retries=0, http_client=httpx2.AsyncClient(verify=False))


class Endpoint:
    """One wire of an SDK's client, sync or async alike, and every way to ask it for a stream."""

    def __init__(self, client: Any, wire: str) -> None:
        self.resource = client.chat.completions if wire == "chat" else client.responses
        said = {"messages": [{"role": "user", "content": "hi"}]} if wire == "chat" else {"input": "hi"}
        self.arguments: dict[str, Any] = {"model": "m-1", **said}

    def create(self) -> Any:
        return self.resource.create(**self.arguments, stream=True)

    def raw(self) -> Any:
        return self.resource.with_raw_response.create(**self.arguments, stream=True)

    def streaming(self) -> Any:
        """A context manager, and what it gives is a response."""
        return self.resource.with_streaming_response.create(**self.arguments, stream=True)

    def helper(self) -> Any:
        """A context manager, and what it gives is a stream of events of the SDK's own."""
        return self.resource.stream(**self.arguments)

    def whole(self) -> Any:
        return self.resource.create(**self.arguments)


@contextlib.contextmanager
def with_sdk_stream(url: str) -> Generator[Any]:
    with sdk(url) as client:
        yield Endpoint(client, "chat").create()


@contextlib.contextmanager
def with_begun_sdk_stream(url: str) -> Generator[Any]:
    with sdk(url) as client:
        stream = Endpoint(client, "chat").create()
        next(stream)
        yield stream


@contextlib.contextmanager
def with_sdk_raw_response(url: str) -> Generator[Any]:
    with sdk(url) as client:
        yield Endpoint(client, "chat").raw()


@contextlib.contextmanager
def with_sdk_streaming_response(url: str) -> Generator[Any]:
    with sdk(url) as client, Endpoint(client, "chat").streaming() as response:
        yield response


@contextlib.contextmanager
def with_sdk_streaming_manager(url: str) -> Generator[Any]:
    with sdk(url) as client:
        yield Endpoint(client, "chat").streaming()


@contextlib.contextmanager
def with_sdk_helper(url: str) -> Generator[Any]:
    with sdk(url) as client, Endpoint(client, "chat").helper() as stream:
        yield stream


@contextlib.contextmanager
def with_sdk_helper_manager(url: str) -> Generator[Any]:
    with sdk(url) as client:
        yield Endpoint(client, "chat").helper()


@contextlib.contextmanager
def with_httpx_manager(url: str) -> Generator[Any]:
    yield httpx.stream("POST", url, verify=False)


SDK_FORMS = [
    with_sdk_stream,
    with_begun_sdk_stream,
    with_sdk_raw_response,
    with_sdk_streaming_response,
    with_sdk_streaming_manager,
    with_sdk_helper,
    with_sdk_helper_manager,
]


@contextlib.asynccontextmanager
async def with_async_sdk_stream(url: str) -> AsyncGenerator[Any]:
    async with async_sdk(url) as client:
        yield await Endpoint(client, "chat").create()


@contextlib.asynccontextmanager
async def with_begun_async_sdk_stream(url: str) -> AsyncGenerator[Any]:
    async with async_sdk(url) as client:
        stream = await Endpoint(client, "chat").create()
        await anext(stream)
        yield stream


@contextlib.asynccontextmanager
async def with_async_sdk_raw_response(url: str) -> AsyncGenerator[Any]:
    async with async_sdk(url) as client:
        yield await Endpoint(client, "chat").raw()


@contextlib.asynccontextmanager
async def with_async_sdk_streaming_response(url: str) -> AsyncGenerator[Any]:
    async with async_sdk(url) as client, Endpoint(client, "chat").streaming() as response:
        yield response


@contextlib.asynccontextmanager
async def with_async_sdk_streaming_manager(url: str) -> AsyncGenerator[Any]:
    async with async_sdk(url) as client:
        yield Endpoint(client, "chat").streaming()


@contextlib.asynccontextmanager
async def with_async_sdk_helper(url: str) -> AsyncGenerator[Any]:
    async with async_sdk(url) as client, Endpoint(client, "chat").helper() as stream:
        yield stream


@contextlib.asynccontextmanager
async def with_async_sdk_helper_manager(url: str) -> AsyncGenerator[Any]:
    async with async_sdk(url) as client:
        yield Endpoint(client, "chat").helper()


@contextlib.asynccontextmanager
async def with_async_httpx_manager(url: str) -> AsyncGenerator[Any]:
    async with httpx.AsyncClient(verify=False) as client:
        yield client.stream("POST", url)


ASYNC_SDK_FORMS = [
    with_async_sdk_stream,
    with_begun_async_sdk_stream,
    with_async_sdk_raw_response,
    with_async_sdk_streaming_response,
    with_async_sdk_streaming_manager,
    with_async_sdk_helper,
    with_async_sdk_helper_manager,
]
