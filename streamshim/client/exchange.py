"""The requests that a question takes, over httpx or httpx2: two thin halves that differ in `await`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import aclosing, closing
from typing import Any

from ..event_stream import ERROR_BODY_BYTES
from ..http_error import read_error
from ..pieces import Head
from .question import Question


def exchange(
    question: Question,
    send: Callable[[str], Any],
    head: Head,
    *,
    broken: tuple[type[Exception], ...],
    sleep: Callable[[float], object],
) -> Generator[bytes]:
    """The bytes of the answer that is to be shown, and in `head` what its response says of itself.

    Args:
        question: decides what is asked, and whether again.
        send: posts JSON and gives a response whose body was not read.
        head: is filled in before the first bytes are given.
        broken: what the HTTP client raises where a connection fails that may not fail again.
        sleep: waits for some seconds.

    Raises:
        Exception: of the HTTP client, where the connection failed and is not tried again.
    """
    while True:
        shown = False
        wait: float | None = 0.0
        try:
            with closing(send(question.content())) as response:
                if response.status_code >= 400:
                    wait, body = _judge_refusal(question, response, b"".join(_limited(response.iter_bytes())))
                    if wait is None:
                        _fill(head, response)
                        yield body
                        return
                else:
                    question.opened(response.headers)
                    _fill(head, response)
                    for data in response.iter_bytes():
                        for piece in question.judge.read(data) if question.judge else (data,):
                            shown = True
                            yield piece
                    if not _is_rejected(question):
                        yield from question.judge.release() if question.judge else ()
                        return
        except Exception as problem:
            held = question.judge.release() if question.judge else []
            wait = None if shown or held or not isinstance(problem, broken) else question.broke(problem)
            if wait is None:
                yield from held
                raise
        if wait:
            sleep(wait)


async def aexchange(
    question: Question,
    send: Callable[[str], Awaitable[Any]],
    head: Head,
    *,
    broken: tuple[type[Exception], ...],
    sleep: Callable[[float], Awaitable[object]],
) -> AsyncGenerator[bytes]:
    """The same, asynchronously."""
    while True:
        shown = False
        wait: float | None = 0.0
        try:
            async with aclosing(await send(question.content())) as response:
                if response.status_code >= 400:
                    wait, body = _judge_refusal(question, response, await _alimited(response.aiter_bytes()))
                    if wait is None:
                        _fill(head, response)
                        yield body
                        return
                else:
                    question.opened(response.headers)
                    _fill(head, response)
                    async for data in response.aiter_bytes():
                        for piece in question.judge.read(data) if question.judge else (data,):
                            shown = True
                            yield piece
                    if not _is_rejected(question):
                        for piece in question.judge.release() if question.judge else ():
                            yield piece
                        return
        except Exception as problem:
            held = question.judge.release() if question.judge else []
            wait = None if shown or held or not isinstance(problem, broken) else question.broke(problem)
            if wait is None:
                for piece in held:
                    yield piece
                raise
        if wait:
            await sleep(wait)


def _fill(head: Head, response: Any) -> None:
    known = Head.of(response)
    head.status, head.headers = known.status, known.headers


def _judge_refusal(question: Question, response: Any, body: bytes) -> tuple[float | None, bytes]:
    """How long to wait before the next try, if there is to be one; and what is shown if not."""
    return question.refused(read_error(response.status_code, response.headers, body)), body


def _is_rejected(question: Question) -> bool:
    held = question.judge.end() if question.judge else None
    return held is not None and question.rejected(held)


def _limited(pieces: Any) -> Generator[bytes]:
    """As much of the body of an error as anybody reads."""
    size = 0
    for data in pieces:
        yield data
        size += len(data)
        if size >= ERROR_BODY_BYTES:
            return


async def _alimited(pieces: Any) -> bytes:
    body = bytearray()
    async for data in pieces:
        body += data
        if len(body) >= ERROR_BODY_BYTES:
            break
    return bytes(body)
