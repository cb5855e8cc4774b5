"""The HTTP side of the clients: their own, or a client whose transport is streamshim's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from openai import AsyncOpenAI, OpenAI


def sdk(url: str, *, relayed: bool) -> OpenAI:
    """The SDK as it comes, but for the address and no retries; `relayed`: over streamshim's transport."""
    import openai

    return openai.OpenAI(api_key="none", base_url=url, max_retries=0, http_client=http_client(relayed=relayed))


def async_sdk(url: str, *, relayed: bool) -> AsyncOpenAI:
    """The asynchronous twin of `sdk`."""
    import openai

    return openai.AsyncOpenAI(
        api_key="none", base_url=url, max_retries=0, http_client=async_http_client(relayed=relayed)
    )


def http_client(*, relayed: bool) -> Any:
    """A client over streamshim's transport; None: whatever the SDK makes."""
    import httpx2

    import streamshim

    return httpx2.Client(transport=streamshim.transport(httpx2)) if relayed else None


def async_http_client(*, relayed: bool) -> Any:
    """The asynchronous twin of `http_client`."""
    import httpx2

    import streamshim

    return httpx2.AsyncClient(transport=streamshim.transport(httpx2)) if relayed else None
