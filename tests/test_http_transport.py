"""The transport inside real clients of httpx and httpx2, over a real connection."""

from __future__ import annotations

import asyncio
import gzip
import json
import types
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import httpx2
import pytest

import streamshim
from tests.loopback import BREAK, PAUSE, WATCH, LoopbackServer, serve
from tests.relaying import payloads_in
from tests.small_streams import CHAT, CHAT_CHUNKS, DONE, RESPONSES, VENDOR_ERROR, chat, frame

Fetch = Callable[..., Any]

MODULES = (httpx, httpx2)
IN_MODULE = pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
BODY = b"".join(CHAT)
SLOPPY = [frame({"choices": [{"delta": {"content": word}}]}) for word in ("Hel", "lo")]
ASKED = {"model": "m-1", "stream": True}


class Fetched:
    """What a client got: the head, the pieces of the body, and what was raised in it."""

    def __init__(self, response: Any) -> None:
        self.response = response
        self.pieces: list[bytes] = []
        self.raised: Exception | None = None

    @property
    def body(self) -> bytes:
        return b"".join(self.pieces)

    @property
    def ledger(self) -> Any:
        return self.response.extensions["streamshim"]


def fetch(
    module: Any,
    server: LoopbackServer,
    path: str = "/chat/completions",
    body: Any = ASKED,
    *,
    method: str = "POST",
    timeout: float = 20,
    **options: Any,
) -> Fetched:
    transport = streamshim.transport(module, **options)
    with (
        module.Client(transport=transport, timeout=timeout) as client,
        client.stream(method, server.url + path, json=body) as response,
    ):
        fetched = Fetched(response)
        try:
            fetched.pieces += response.iter_bytes()
        except Exception as error:  # noqa: BLE001
            fetched.raised = error
        return fetched


def afetch(
    module: Any,
    server: LoopbackServer,
    path: str = "/chat/completions",
    body: Any = ASKED,
    *,
    method: str = "POST",
    timeout: float = 20,
    **options: Any,
) -> Fetched:
    async def run() -> Fetched:
        transport = streamshim.transport(module, **options)
        async with (
            module.AsyncClient(transport=transport, timeout=timeout) as client,
            client.stream(method, server.url + path, json=body) as response,
        ):
            fetched = Fetched(response)
            try:
                async for piece in response.aiter_bytes():
                    fetched.pieces.append(piece)
            except Exception as error:  # noqa: BLE001
                fetched.raised = error
            return fetched

    return asyncio.run(run())


BOTH_WAYS = pytest.mark.parametrize("get", [fetch, afetch], ids=["sync", "async"])


def text_in(body: bytes) -> str:
    chunks = [payload for payload in payloads_in(body) if payload != "[DONE]" and payload.get("choices")]
    return "".join(chunk["choices"][0]["delta"].get("content") or "" for chunk in chunks)


# -- what is relayed --------------------------------------------------------------------------------------------------


@IN_MODULE
@BOTH_WAYS
def test_legal_stream_arrives_byte_for_byte(module: Any, get: Fetch) -> None:
    for path, pieces in (("/chat/completions", CHAT), ("/responses", RESPONSES_NUMBERED)):
        with serve(pieces) as server:
            fetched = get(module, server, path)
        assert fetched.body == b"".join(pieces)
        assert fetched.raised is None
        assert (fetched.ledger.end.status, fetched.ledger.repairs, fetched.ledger.rewritten) == ("completed", {}, 0)


RESPONSES_NUMBERED = [
    frame({**json.loads(piece.split(b"data: ", 1)[1]), "sequence_number": number})
    for number, piece in enumerate(RESPONSES)
]


@IN_MODULE
@BOTH_WAYS
def test_sloppy_stream_arrives_as_a_legal_one(module: Any, get: Fetch) -> None:
    with serve([*SLOPPY, DONE]) as server:
        fetched = get(module, server)
    first, *_, last = payloads_in(fetched.body)
    assert first["object"] == "chat.completion.chunk"
    assert first["choices"][0]["delta"]["role"] == "assistant"
    assert last == "[DONE]"
    assert text_in(fetched.body) == "Hello"
    assert fetched.ledger.rewritten > 0


@IN_MODULE
@BOTH_WAYS
def test_one_transport_serves_clients_of_both_kinds(module: Any, get: Fetch) -> None:
    with serve(CHAT) as server, module.Client(transport=(shared := streamshim.transport(module))) as client:
        assert client.post(server.url + "/chat/completions", json=ASKED).content == BODY

        async def again() -> bytes:
            async with module.AsyncClient(transport=shared) as aclient:
                return (await aclient.post(server.url + "/chat/completions", json=ASKED)).content

        assert asyncio.run(again()) == BODY


@IN_MODULE
@BOTH_WAYS
def test_compressed_stream_is_relayed_and_the_head_no_longer_says_so(module: Any, get: Fetch) -> None:
    packed = gzip.compress(BODY)
    headers = {"Content-Encoding": "gzip", "X-Request-Id": "req_1", "Content-Type": "text/event-stream; charset=utf-8"}
    with serve([packed[:20], packed[20:]], headers=headers) as server:
        fetched = get(module, server)
    assert fetched.body == BODY
    head = fetched.response.headers
    assert not {"content-encoding", "content-length", "transfer-encoding"} & set(head)
    assert (head["x-request-id"], head["content-type"]) == ("req_1", "text/event-stream; charset=utf-8")


@IN_MODULE
@BOTH_WAYS
def test_json_body_becomes_a_stream_whatever_its_head_says(module: Any, get: Fetch) -> None:
    message = {"role": "assistant", "content": "Hello"}
    whole = {
        "id": "c1",
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
    }
    with serve([json.dumps(whole).encode()], headers={"Content-Type": "application/json"}) as server:
        fetched = get(module, server)
    assert fetched.response.headers["content-type"] == "text/event-stream"
    assert text_in(fetched.body) == "Hello"
    assert fetched.body.endswith(DONE)


def test_what_the_transport_below_tells_of_a_response_is_kept() -> None:
    def answer(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, content=BODY, extensions={"http_version": b"HTTP/7"})

    transport = streamshim.transport(httpx2, wrap=httpx2.MockTransport(answer))
    with httpx2.Client(transport=transport) as client:
        response = client.post("http://x/v1/chat/completions", json=ASKED)
    assert response.extensions["http_version"] == b"HTTP/7"
    assert response.content == BODY


@pytest.mark.parametrize(
    "path", ["/chat/completions", "/chat/completions/", "/openai/deployments/d/chat/completions?v=1"]
)
def test_path_is_known_by_its_end(path: str) -> None:
    with serve([*SLOPPY, DONE]) as server:
        assert "streamshim" in fetch(httpx2, server, path).response.extensions


@IN_MODULE
@BOTH_WAYS
@pytest.mark.parametrize("asked", [True, False])
def test_request_says_whether_token_counts_come_in_a_chunk_of_their_own(module: Any, get: Fetch, asked: bool) -> None:
    counts = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
    body = {**ASKED, "stream_options": {"include_usage": asked}}
    with serve([frame({**chat({"content": "Hello"}, "stop"), "usage": counts}), DONE]) as server:
        *_, told, _ = payloads_in(get(module, server, body=body).body)
    assert told["usage"]["total_tokens"] == 5
    assert bool(told["choices"]) is not asked


# -- what is left alone -----------------------------------------------------------------------------------------------


@IN_MODULE
@BOTH_WAYS
@pytest.mark.parametrize(
    ("path", "body", "method"),
    [
        ("/models", None, "GET"),
        ("/embeddings", ASKED, "POST"),
        ("/completions", ASKED, "POST"),
        ("/messages", ASKED, "POST"),
        ("/chat/completions", {"model": "m-1"}, "POST"),
        ("/chat/completions", {"model": "m-1", "stream": False}, "POST"),
        ("/chat/completions", {"messages": [{"content": '"stream": true'}]}, "POST"),
        ("/chat/completions", ASKED, "GET"),
        ("/responses/resp_1?stream=true", None, "GET"),
    ],
)
def test_everything_else_passes_untouched(module: Any, get: Fetch, path: str, body: Any, method: str) -> None:
    odd = b'{"error": "no stream"}\r\n\xff'
    with serve([odd], headers={"Content-Type": "application/json"}) as server:
        fetched = get(module, server, path, body, method=method)
    assert fetched.body == odd
    assert fetched.response.headers["content-type"] == "application/json"
    assert "streamshim" not in fetched.response.extensions


@IN_MODULE
@BOTH_WAYS
@pytest.mark.parametrize("status", [307, 400, 429, 500])
def test_refusal_passes_untouched(module: Any, get: Fetch, status: int) -> None:
    refusal = json.dumps(VENDOR_ERROR).encode()
    with serve([refusal], status=status, headers={"Content-Type": "application/json"}) as server:
        fetched = get(module, server)
    assert (fetched.response.status_code, fetched.body) == (status, refusal)
    assert "streamshim" not in fetched.response.extensions


def test_request_whose_body_is_still_streamed_passes_untouched() -> None:
    def upload() -> Iterator[bytes]:
        yield json.dumps(ASKED).encode()

    transport = streamshim.transport(
        httpx2, wrap=httpx2.MockTransport(lambda request: httpx2.Response(200, content=b"x"))
    )
    with httpx2.Client(transport=transport) as client:
        assert client.post("http://x/v1/chat/completions", content=upload()).content == b"x"


# -- how it ends ------------------------------------------------------------------------------------------------------


@IN_MODULE
@BOTH_WAYS
def test_cut_stream_raises_once_everything_was_handed_on(module: Any, get: Fetch) -> None:
    with serve(SLOPPY) as server:
        fetched = get(module, server)
    assert text_in(fetched.body) == "Hello"
    assert b"[DONE]" not in fetched.body
    assert b'finish_reason":"' not in fetched.body
    assert isinstance(fetched.raised, module.RemoteProtocolError)
    assert "before the answer was whole" in str(fetched.raised)
    assert fetched.ledger.end.status == "truncated"


@IN_MODULE
@BOTH_WAYS
def test_empty_body_raises(module: Any, get: Fetch) -> None:
    with serve([]) as server:
        fetched = get(module, server, "/responses")
    assert fetched.body == b""
    assert isinstance(fetched.raised, module.RemoteProtocolError)


@IN_MODULE
@BOTH_WAYS
def test_broken_connection_is_raised_once_everything_was_handed_on(module: Any, get: Fetch) -> None:
    with serve([*SLOPPY, b'data: {"choi', BREAK]) as server:
        fetched = get(module, server)
    assert text_in(fetched.body) == "Hello"
    assert isinstance(fetched.raised, module.RemoteProtocolError)
    assert "peer closed" in str(fetched.raised)


@IN_MODULE
@BOTH_WAYS
def test_connection_that_breaks_behind_the_finish_word_does_no_harm(module: Any, get: Fetch) -> None:
    with serve([*map(frame, CHAT_CHUNKS), BREAK]) as server:
        fetched = get(module, server)
    assert fetched.body == BODY
    assert fetched.raised is None
    assert fetched.ledger.end.status == "completed"


@IN_MODULE
@BOTH_WAYS
def test_timeout_is_raised_once_everything_was_handed_on(module: Any, get: Fetch) -> None:
    with serve([*SLOPPY, PAUSE]) as server:
        fetched = get(module, server, timeout=0.3)
        server.go_on()
    assert text_in(fetched.body) == "Hello"
    assert isinstance(fetched.raised, module.ReadTimeout)


@IN_MODULE
@BOTH_WAYS
def test_error_in_the_stream_ends_it_at_once(module: Any, get: Fetch) -> None:
    with serve([*SLOPPY, frame({"error": "on fire"}), frame(chat({"content": "!"})), DONE]) as server:
        fetched = get(module, server)
    assert text_in(fetched.body) == "Hello"
    assert payloads_in(fetched.body)[-1]["error"]["message"] == "on fire"
    assert fetched.raised is None
    assert fetched.ledger.end.status == "failed"


def test_vendor_that_never_says_that_it_is_done_can_be_trusted() -> None:
    with serve(SLOPPY) as server:
        fetched = fetch(httpx2, server, trust_eof=True)
    assert fetched.raised is None
    assert fetched.body.endswith(DONE)


@BOTH_WAYS
def test_body_is_read_to_its_end_but_not_without_end(get: Fetch) -> None:
    """So that the connection can be used again, whatever the vendor says behind the end."""
    chatter = b": and another thing\n\n" * 500
    with serve([*CHAT, *[chatter] * 100, WATCH]) as server:
        fetched = get(httpx2, server)
        assert server.sees_the_client_close()
    assert fetched.body == BODY
    assert fetched.raised is None


# -- flow -------------------------------------------------------------------------------------------------------------


@contextmanager
def open_stream(server: LoopbackServer, **options: Any) -> Generator[Any]:
    with (
        httpx2.Client(transport=streamshim.transport(httpx2, **options), timeout=20) as client,
        client.stream("POST", server.url + "/chat/completions", json=ASKED) as response,
    ):
        yield response


def test_each_piece_is_handed_on_before_the_next_one_comes() -> None:
    with serve([SLOPPY[0], PAUSE, SLOPPY[1], PAUSE, DONE]) as server, open_stream(server) as response:
        pieces = response.iter_bytes()
        assert text_in(next(pieces)) == "Hel"
        server.go_on()
        assert text_in(next(pieces)) == "lo"
        server.go_on()
        assert next(pieces).endswith(DONE)


def test_role_is_handed_on_before_the_first_word_comes() -> None:
    """A model may think for a long time in between."""
    script = [frame(chat({"role": "assistant", "content": ""})), PAUSE, *CHAT[1:]]
    with serve(script) as server, open_stream(server) as response:
        pieces = response.iter_bytes()
        assert payloads_in(next(pieces))[0]["choices"][0]["delta"]["role"] == "assistant"
        server.go_on()
        assert b"".join(pieces).endswith(DONE)


def test_comments_keep_the_connection_alive() -> None:
    with serve([b": ping\n\n", PAUSE, *CHAT]) as server, open_stream(server) as response:
        pieces = response.iter_bytes()
        assert next(pieces) == b": ping\n\n"
        server.go_on()
        assert b"".join(pieces) == BODY


def test_leaving_early_closes_the_connection() -> None:
    ends = []
    with serve([SLOPPY[0], WATCH]) as server:
        with open_stream(server, on_end=lambda ledger: ends.append(ledger.end.status)) as response:
            assert text_in(next(response.iter_bytes())) == "Hel"
        assert server.sees_the_client_close()
    assert ends == ["cancelled"]


def test_leaving_before_the_first_piece_closes_the_connection() -> None:
    with serve([SLOPPY[0], WATCH]) as server:
        with open_stream(server):
            pass
        assert server.sees_the_client_close()


def test_cancelled_task_closes_the_connection() -> None:
    async def run(server: LoopbackServer) -> None:
        transport = streamshim.transport(httpx2)
        async with httpx2.AsyncClient(transport=transport, timeout=20) as client:

            async def read() -> None:
                async with client.stream("POST", server.url + "/chat/completions", json=ASKED) as response:
                    async for _ in response.aiter_bytes():
                        started.set()

            started = asyncio.Event()
            task = asyncio.create_task(read())
            await started.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    with serve([SLOPPY[0], WATCH]) as server:
        asyncio.run(run(server))
        assert server.sees_the_client_close()


class CountedStream(httpx2.SyncByteStream, httpx2.AsyncByteStream):
    """A body that counts how often it is closed."""

    def __init__(self, pieces: list[bytes]) -> None:
        self.pieces = pieces
        self.closed = 0

    def __iter__(self) -> Iterator[bytes]:
        yield from self.pieces

    async def __aiter__(self) -> Any:
        for piece in self.pieces:
            yield piece

    def close(self) -> None:
        self.closed += 1

    async def aclose(self) -> None:
        self.closed += 1


def read_and_close(transport: Any, leave_early: bool) -> None:
    with httpx2.Client(transport=transport) as client:
        with client.stream("POST", "http://x/v1/chat/completions", json=ASKED) as response:
            try:
                for _ in response.iter_bytes():
                    if leave_early:
                        break
            except httpx2.RemoteProtocolError:
                pass
        response.close()


def aread_and_close(transport: Any, leave_early: bool) -> None:
    async def run() -> None:
        async with httpx2.AsyncClient(transport=transport) as client:
            async with client.stream("POST", "http://x/v1/chat/completions", json=ASKED) as response:
                try:
                    async for _ in response.aiter_bytes():
                        if leave_early:
                            break
                except httpx2.RemoteProtocolError:
                    pass
            await response.aclose()

    asyncio.run(run())


@pytest.mark.parametrize("read", [read_and_close, aread_and_close], ids=["sync", "async"])
@pytest.mark.parametrize("pieces", [CHAT, SLOPPY, []], ids=["whole", "cut", "empty"])
@pytest.mark.parametrize("leave_early", [False, True])
def test_body_below_is_closed_once(read: Callable[[Any, bool], None], pieces: list[bytes], leave_early: bool) -> None:
    body = CountedStream(pieces)
    ends = []
    wrapped = httpx2.MockTransport(lambda request: httpx2.Response(200, stream=body))
    read(streamshim.transport(httpx2, wrap=wrapped, on_end=lambda ledger: ends.append(ledger.end.status)), leave_early)
    assert body.closed == 1
    assert len(ends) == 1


# -- used wrongly -----------------------------------------------------------------------------------------------------


def test_client_of_another_module_is_told_so() -> None:
    told = pytest.raises(TypeError, match=r"made for httpx, and a client of httpx2.*streamshim\.transport\(httpx2\)")
    with httpx2.Client(transport=streamshim.transport(httpx)) as client, told:
        client.get("http://127.0.0.1:9/")


def test_module_that_is_no_http_client_is_refused() -> None:
    with pytest.raises(TypeError, match="takes the module httpx or httpx2"):
        streamshim.transport(types)


def test_what_is_no_transport_is_refused() -> None:
    with httpx2.Client() as client, pytest.raises(TypeError, match="is no transport"):
        streamshim.transport(httpx2, wrap=client)


def test_option_that_does_not_exist_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="reasoning_tags"):
        streamshim.transport(httpx2, reasoning_tags="maybe")  # type: ignore[arg-type]


def test_wrapped_transport_of_the_other_kind_is_named() -> None:
    url = "http://127.0.0.1:9/"
    with pytest.raises(TypeError, match="is asynchronous, and Client uses it"):
        httpx2.Client(transport=streamshim.transport(httpx2, wrap=httpx2.AsyncHTTPTransport())).get(url)

    async def use() -> None:
        await httpx2.AsyncClient(transport=streamshim.transport(httpx2, wrap=httpx2.HTTPTransport())).get(url)

    with pytest.raises(TypeError, match="is synchronous, and AsyncClient uses it"):
        asyncio.run(use())
