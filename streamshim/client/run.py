"""`Run` and `AsyncRun`: a model and its tools, turn after turn, as one stream of events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import aclosing
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, Self

from .answer_stream import AnswerStream, AsyncAnswerStream
from .run_loop import STOPPED, RunEvent, RunLoop
from .tool_calls import arun_tool, run_tool

if TYPE_CHECKING:
    from ..events import Usage
    from ..history import Conversation
    from ..response_models import ModelResponse, ToolCallPart
    from .tool import ToolResult

_MOST_THREADS = 32


class RunBase:
    """What both kinds know of a run."""

    def __init__(self, loop: RunLoop) -> None:
        """Nothing was asked yet."""
        self._loop = loop
        self._stream: AnswerStream | AsyncAnswerStream | None = None

    @property
    def conversation(self) -> Conversation:
        """All that was said: grows with each turn."""
        return self._loop.conversation

    @property
    def turns(self) -> list[ModelResponse]:
        """The answers that are over."""
        return list(self._loop.turns)

    @property
    def usage(self) -> Usage | None:
        """The token counts of the answers that are over, together; None where no server counted."""
        return self._loop.usage

    @property
    def response(self) -> ModelResponse:
        """The newest answer: partial while it runs, that of the model's last turn at the end."""
        if self._stream is None:
            from ..response import Collector

            return Collector().response
        return self._stream.response


class Run(RunBase):
    """The events of all turns. Made by `run()` of a client.

    Closed in between, it cancels the answer that runs; calls that wait are answered with an error.
    """

    def __init__(self, loop: RunLoop, ask: Callable[[dict[str, Any]], AnswerStream]) -> None:
        """Ask for each turn by `ask`, with its options."""
        super().__init__(loop)
        self._ask = ask
        self._events = self._play()

    def __iter__(self) -> Iterator[RunEvent]:
        """The events that are still to come; raises as `__next__` does."""
        return self

    def __next__(self) -> RunEvent:
        """The next event.

        Raises:
            MaxTurnsError: the model asks for more turns than are allowed.
            StreamEndError: a turn ended badly, as in `stream()`.
            OutputError: the last answer does not fit `response_format`.
        """
        return next(self._events)

    def text_deltas(self) -> Iterator[str]:
        """The text of all answers, piece by piece; raises as `__next__` does."""
        for event in self:
            if event.type == "text_delta" and event.choice == 0:
                yield event.delta

    def final(self) -> ModelResponse:
        """Run to the end and return the last answer; may be called again. Raises as `__next__` does."""
        for _ in self:
            pass
        return self.response

    def close(self) -> None:
        """Stop. May be called again."""
        self._events.close()

    def __enter__(self) -> Self:
        """The run itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Stop."""
        self.close()

    def _play(self) -> Generator[RunEvent]:
        loop = self._loop
        try:
            yield from self._run_calls(loop.calls())
            while True:
                with self._ask(loop.options()) as stream:
                    self._stream = stream
                    is_told = False
                    for event in stream:
                        if not is_told and stream.state_fallback is not None:
                            yield stream.state_fallback
                        is_told = True
                        yield event
                if not loop.goes_on(stream.response):
                    return
                yield from self._run_calls(loop.calls())
                if loop.is_handed_over():
                    return
        except (GeneratorExit, KeyboardInterrupt):
            loop.conversation.decline_calls(STOPPED)
            raise

    def _run_calls(self, calls: list[ToolCallPart]) -> Generator[ToolResult]:
        """Run calls side by side, and tell each result as it comes."""
        if not calls:
            return
        results: dict[int, ToolResult] = {}
        pool = ThreadPoolExecutor(min(len(calls), _MOST_THREADS), "streamshim-tool")
        try:
            places: dict[Future[ToolResult], int] = {
                pool.submit(copy_context().run, run_tool, call, self._loop.tools): at for at, call in enumerate(calls)
            }
            for done in as_completed(places):
                results[places[done]] = done.result()
                yield results[places[done]]
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            self._loop.take(calls, results)


class AsyncRun(RunBase):
    """The events of all turns, asynchronously; the twin of `Run`."""

    def __init__(self, loop: RunLoop, ask: Callable[[dict[str, Any]], AsyncAnswerStream]) -> None:
        """Ask for each turn by `ask`, with its options."""
        super().__init__(loop)
        self._ask = ask
        self._events = self._play()

    def __aiter__(self) -> AsyncIterator[RunEvent]:
        """The events that are still to come; raises as `__anext__` does."""
        return self

    async def __anext__(self) -> RunEvent:
        """The next event. Raises as `Run.__next__` does."""
        return await anext(self._events)

    async def text_deltas(self) -> AsyncIterator[str]:
        """The text of all answers, piece by piece; raises as `__anext__` does."""
        async for event in self:
            if event.type == "text_delta" and event.choice == 0:
                yield event.delta

    async def final(self) -> ModelResponse:
        """Run to the end and return the last answer; may be called again. Raises as `__anext__` does."""
        async for _ in self:
            pass
        return self.response

    async def aclose(self) -> None:
        """Stop. May be called again."""
        await self._events.aclose()

    async def __aenter__(self) -> Self:
        """The run itself."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop."""
        await self.aclose()

    async def _play(self) -> AsyncGenerator[RunEvent]:
        loop = self._loop
        try:
            async with aclosing(self._run_calls(loop.calls())) as results:
                async for result in results:
                    yield result
            while True:
                async with self._ask(loop.options()) as stream:
                    self._stream = stream
                    is_told = False
                    async for event in stream:
                        if not is_told and stream.state_fallback is not None:
                            yield stream.state_fallback
                        is_told = True
                        yield event
                if not loop.goes_on(stream.response):
                    return
                async with aclosing(self._run_calls(loop.calls())) as results:
                    async for result in results:
                        yield result
                if loop.is_handed_over():
                    return
        except (GeneratorExit, asyncio.CancelledError):
            loop.conversation.decline_calls(STOPPED)
            raise

    async def _run_calls(self, calls: list[ToolCallPart]) -> AsyncGenerator[ToolResult]:
        """Run calls side by side, and tell each result as it comes."""
        results: dict[int, ToolResult] = {}
        places = {asyncio.ensure_future(arun_tool(call, self._loop.tools)): at for at, call in enumerate(calls)}
        try:
            waiting = set(places)
            while waiting:
                done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    results[places[task]] = task.result()
                    yield results[places[task]]
        finally:
            for task in places:
                task.cancel()
            await asyncio.gather(*places, return_exceptions=True)
            self._loop.take(calls, results)
