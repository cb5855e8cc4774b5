"""`LLMClient` and `AsyncLLMClient`: what an application needs of a client, whichever API is behind it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol, Self, Unpack, runtime_checkable

if TYPE_CHECKING:
    from ..events import ToolCallEnd
    from ..response_models import ModelResponse, ToolCallPart
    from ..streams import AsyncEventStream, EventStream
    from .options import RequestOptions
    from .run import AsyncRun, Run
    from .tool import ToolLike, ToolResult
    from .wires import ModelInput


@runtime_checkable
class LLMClient(Protocol):
    """A client of one server and one API."""

    def stream(
        self,
        input: ModelInput,
        *,
        tools: Iterable[ToolLike] | None = None,
        model: str | None = None,
        **options: Unpack[RequestOptions],
    ) -> EventStream:
        """Ask, and read the answer as it comes."""
        ...

    def chat(
        self,
        input: ModelInput,
        *,
        tools: Iterable[ToolLike] | None = None,
        model: str | None = None,
        **options: Unpack[RequestOptions],
    ) -> ModelResponse:
        """Ask, and return the whole answer."""
        ...

    def call_tool(self, call: ToolCallPart | ToolCallEnd, tools: Iterable[ToolLike]) -> ToolResult:
        """Run the tool that a call names."""
        ...

    def run(
        self,
        input: ModelInput,
        *,
        tools: Iterable[ToolLike] = (),
        max_turns: int = ...,
        model: str | None = None,
        **options: Unpack[RequestOptions],
    ) -> Run:
        """Ask, run the tools that are called, tell what they gave, and so on until the model is done."""
        ...

    def close(self) -> None:
        """Close what the client opened."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


@runtime_checkable
class AsyncLLMClient(Protocol):
    """The twin of `LLMClient` for asynchronous programs."""

    def stream(
        self,
        input: ModelInput,
        *,
        tools: Iterable[ToolLike] | None = None,
        model: str | None = None,
        **options: Unpack[RequestOptions],
    ) -> AsyncEventStream:
        """Ask, and read the answer as it comes."""
        ...

    async def chat(
        self,
        input: ModelInput,
        *,
        tools: Iterable[ToolLike] | None = None,
        model: str | None = None,
        **options: Unpack[RequestOptions],
    ) -> ModelResponse:
        """Ask, and return the whole answer."""
        ...

    async def call_tool(self, call: ToolCallPart | ToolCallEnd, tools: Iterable[ToolLike]) -> ToolResult:
        """Run the tool that a call names."""
        ...

    def run(
        self,
        input: ModelInput,
        *,
        tools: Iterable[ToolLike] = (),
        max_turns: int = ...,
        model: str | None = None,
        **options: Unpack[RequestOptions],
    ) -> AsyncRun:
        """Ask, run the tools that are called, tell what they gave, and so on until the model is done."""
        ...

    async def aclose(self) -> None:
        """Close what the client opened."""
        ...

    async def __aenter__(self) -> Self: ...

    async def __aexit__(self, *_: object) -> None: ...
