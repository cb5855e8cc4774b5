"""A server that plays a script, under a client that is told to use it: each request gets the next answer.

    script = Script(refuses(400, "tools are not supported"), chat_answer("Hi"))
    script.chat("hello", tools=[look])
    script.bodies     # what was asked, request by request

`Script(…, way="async")` asks by the asynchronous clients, with the same results.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Callable, Iterator
from typing import Any, Literal

import httpx2

import streamshim
from streamshim import ModelResponse
from streamshim.client import RunEvent

Json = dict[str, Any]
Answer = Callable[[httpx2.Request], httpx2.Response]
Way = Literal["sync", "async"]
WAYS: tuple[Way, ...] = ("sync", "async")
_CLIENTS = {
    ("chat", "sync"): streamshim.ChatCompletionsClient,
    ("chat", "async"): streamshim.AsyncChatCompletionsClient,
    ("responses", "sync"): streamshim.ResponsesClient,
    ("responses", "async"): streamshim.AsyncResponsesClient,
}
_numbers = itertools.count(1)


def frames(*payloads: Json, done: bool = True) -> bytes:
    body = b"".join(b"data: " + json.dumps(payload).encode() + b"\n\n" for payload in payloads)
    return body + b"data: [DONE]\n\n" if done else body


def answer(body: bytes, *, status: int = 200, kind: str = "text/event-stream", **headers: str) -> Answer:
    """A body as it stands."""
    told = {"content-type": kind, **{name.replace("_", "-"): value for name, value in headers.items()}}
    return lambda request: httpx2.Response(status, headers=told, content=body)


def chat_answer(
    text: str | None = None,
    *,
    calls: list[tuple[str, Any]] | None = None,
    finish: str | None = None,
    usage: Json | None = None,
) -> Answer:
    """A streamed answer of the chat API: text in two pieces, calls with their arguments."""

    def write(request: httpx2.Request) -> httpx2.Response:
        deltas: list[Json] = []
        if text is not None:
            deltas += [{"content": text[: len(text) // 2]}, {"content": text[len(text) // 2 :]}]
        for index, (name, arguments) in enumerate(calls or []):
            written = arguments if isinstance(arguments, str) else json.dumps(arguments)
            function = {"name": name, "arguments": written}
            entry = {"index": index, "id": f"call_{next(_numbers)}", "type": "function", "function": function}
            deltas.append({"tool_calls": [entry]})
        head = {"id": f"chatcmpl-{next(_numbers)}", "object": "chat.completion.chunk", "created": 1, "model": "m-1"}
        chunks: list[Json]
        chunks = [{**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
        word = finish or ("tool_calls" if calls else "stop")
        chunks.append({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": word}]})
        if usage is not None:
            chunks.append({**head, "choices": [], "usage": usage})
        return answer(frames(*chunks))(request)

    return write


def response_body(
    text: str | None = None,
    *,
    calls: list[tuple[str, Any]] | None = None,
    id: str | None = None,
    tokens: tuple[int, int] | None = None,
    echo: str | None = None,
    **more: Any,
) -> Json:
    output: list[Json] = []
    if text is not None:
        part = {"type": "output_text", "text": text, "annotations": []}
        item = {"type": "message", "role": "assistant", "status": "completed", "content": [part]}
        output.append({"id": f"msg_{next(_numbers)}", **item})
    for name, arguments in calls or []:
        call = {"call_id": f"call_{next(_numbers)}", "name": name, "arguments": json.dumps(arguments)}
        output.append({"id": f"fc_{next(_numbers)}", "type": "function_call", "status": "completed", **call})
    usage = {"input_tokens": tokens[0], "output_tokens": tokens[1], "total_tokens": sum(tokens)} if tokens else None
    head = {"id": id or f"resp_{next(_numbers)}", "object": "response", "created_at": 1, "model": "m-1"}
    rest = {"status": "completed", "output": output, "usage": usage, "previous_response_id": echo}
    return {**head, **rest, **more}


def response_answer(text: str | None = None, **facts: Any) -> Answer:
    """A streamed answer of the Responses API; the facts are those of `response_body`."""

    def write(request: httpx2.Request) -> httpx2.Response:
        body = response_body(text, **facts)
        events: list[Json] = [{"type": "response.created", "response": {**body, "status": "in_progress", "output": []}}]
        for index, item in enumerate(body["output"]):
            where = {"output_index": index, "item_id": item["id"]}
            begun = {**item, "status": "in_progress", **({"content": []} if item["type"] == "message" else {})}
            events.append({"type": "response.output_item.added", "output_index": index, "item": begun})
            if item["type"] == "message":
                delta = item["content"][0]["text"]
                events.append({"type": "response.output_text.delta", **where, "content_index": 0, "delta": delta})
            events.append({"type": "response.output_item.done", "output_index": index, "item": item})
        events.append({"type": f"response.{body['status']}", "response": body})
        return answer(frames(*events, done=False))(request)

    return write


def refuses(status: int, message: str, *, headers: dict[str, str] | None = None, **members: Any) -> Answer:
    """An error in OpenAI's shape."""
    kind = "invalid_request_error" if status in (400, 404, 422) else "error"
    error = {"message": message, "type": kind, "param": None, "code": None, **members}
    return lambda request: httpx2.Response(status, headers=headers, json={"error": error})


def breaks(error: Exception | None = None) -> Answer:
    """The connection fails before anything comes."""

    def fail(request: httpx2.Request) -> httpx2.Response:
        raise error or httpx2.ConnectError("connection refused", request=request)

    return fail


class _Broken(httpx2.SyncByteStream, httpx2.AsyncByteStream):
    """A body that breaks off."""

    def __init__(self, pieces: list[bytes]) -> None:
        self._pieces = pieces

    def __iter__(self) -> Iterator[bytes]:
        yield from self._pieces
        raise httpx2.ReadError("connection reset")

    async def __aiter__(self) -> Any:
        for piece in self._pieces:
            yield piece
        raise httpx2.ReadError("connection reset")


def breaks_after(*pieces: bytes) -> Answer:
    """The connection fails in the middle of a body."""
    return lambda request: httpx2.Response(
        200, headers={"content-type": "text/event-stream"}, stream=_Broken(list(pieces))
    )


class Script:
    """Answers requests, and asks by a client of its own."""

    def __init__(
        self,
        *answers: Answer,
        api: Literal["chat", "responses"] = "chat",
        way: Way = "sync",
        **options: Any,
    ) -> None:
        self.answers = list(answers)
        self.requests: list[httpx2.Request] = []
        self.waits: list[float] = []
        self.is_overrun = False
        self.way = way
        if way == "sync":
            http: Any = httpx2.Client(transport=httpx2.MockTransport(self._answer))
            sleep: Any = self.waits.append
        else:
            http = httpx2.AsyncClient(transport=httpx2.MockTransport(self._answer))
            sleep = self._sleep
        self.http = http
        options = {"model": "m-1", "http_client": http, "sleep": sleep, **options}
        self.client: Any = _CLIENTS[api, way]("http://model.test/v1", "key", **options)

    async def _sleep(self, seconds: float) -> None:
        self.waits.append(seconds)

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        if not self.answers:
            self.is_overrun = True
            raise AssertionError("the script is over, and more is asked")
        return self.answers.pop(0)(request)

    @property
    def bodies(self) -> list[Json]:
        """What was asked."""
        return [json.loads(request.content) for request in self.requests]

    def chat(self, given: Any, **options: Any) -> ModelResponse:
        """The whole answer."""
        try:
            result = self.client.chat(given, **options)
            return result if self.way == "sync" else asyncio.run(result)
        finally:
            assert not self.is_overrun, "more was asked than the script has answers for"

    def events(self, given: Any, **options: Any) -> list[Any]:
        """The events of an answer."""
        return self._drained(lambda: self.client.stream(given, **options))[0]

    def run(self, given: Any, **options: Any) -> tuple[list[RunEvent], Any]:
        """The events of a run, and the run."""
        return self._drained(lambda: self.client.run(given, **options))

    def _drained(self, make: Callable[[], Any]) -> tuple[list[Any], Any]:
        try:
            return self._drain(make)
        finally:
            assert not self.is_overrun, "more was asked than the script has answers for"

    def _drain(self, make: Callable[[], Any]) -> tuple[list[Any], Any]:
        if self.way == "sync":
            with make() as stream:
                return list(stream), stream

        async def drain() -> tuple[list[Any], Any]:
            async with make() as stream:
                return [event async for event in stream], stream

        return asyncio.run(drain())


def repairs_of(events: list[Any]) -> list[tuple[str, str]]:
    """The repairs that were told: quirk and detail."""
    return [(event.quirk, event.detail) for event in events if event.type == "repair"]
