"""The ASGI application, served by uvicorn on 127.0.0.1, and `streamshim serve`."""

from __future__ import annotations

import asyncio
import http.client
import importlib.util
import json
import logging
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import httpx
import httpx2
import openai
import pytest
import uvicorn

import streamshim
from streamshim import asgi
from streamshim.cli import main
from tests.asgi_server import running
from tests.commands import interruptible
from tests.loopback import BREAK, PAUSE, WATCH, serve
from tests.servers import serve_model
from tests.small_streams import CHAT, DONE, frame

ROOT = Path(__file__).parent.parent
KEY = "sk-of-the-vendor"
ASK = {"model": "toy", "input": "x"}


def client_of(base_url: str, key: str = "anna") -> Any:
    return openai.OpenAI(api_key=key, base_url=base_url, max_retries=0)


@pytest.mark.parametrize("module", [httpx, httpx2], ids=lambda module: module.__name__)
def test_programs_speak_responses_to_a_chat_server(module: Any):
    with (
        serve_model("calls-without-index", apis=("chat",), key=KEY) as server,
        running(server.base_url, api_key=KEY, module=module) as base_url,
        client_of(base_url) as client,
    ):
        first = client.responses.create(model="toy", input="Remember the word Zebra.")
        stream = client.responses.create(
            model="toy",
            input="Which word did I ask you to remember?",
            previous_response_id=first.id,
            stream=True,
        )
        final = list(stream)[-1].response
        assert final.output_text == "Zebra"
        assert client.responses.retrieve(final.id) == final
        assert [model.id for model in client.models.list()] == ["toy", "thinker"]
        with pytest.raises(openai.NotFoundError) as caught:
            client.responses.create(model="nope", input="x")
        assert caught.value.code == "model_not_found"
    assert {request.headers["authorization"] for request in server.requests} == {f"Bearer {KEY}"}
    assert [request.path for request in server.requests][-2:] == ["/v1/models", "/v1/chat/completions"]


def test_programs_speak_chat_to_a_responses_server():
    with (
        serve_model(apis=("responses",), key="anna") as server,
        running(server.base_url, speak="chat") as base_url,
        client_of(base_url) as client,
    ):
        messages: Any = [{"role": "user", "content": "Say exactly: High water"}]
        answer = client.chat.completions.create(model="toy", messages=messages)
    assert answer.choices[0].message.content == "High water"
    assert server.requests[0].headers["authorization"] == "Bearer anna"


def test_stored_responses_are_each_callers_own_though_the_key_behind_is_one():
    with (
        serve_model(apis=("chat",), key=KEY) as server,
        running(server.base_url, api_key=KEY) as base_url,
        client_of(base_url) as anna,
        client_of(base_url, "bert") as bert,
    ):
        first = anna.responses.create(**ASK)
        with pytest.raises(openai.NotFoundError):
            bert.responses.retrieve(first.id)
        with pytest.raises(openai.BadRequestError):
            bert.responses.create(**ASK, previous_response_id=first.id)
        assert anna.responses.retrieve(first.id).id == first.id


def test_pieces_are_handed_on_as_they_come():
    with (
        serve([CHAT[0], PAUSE, *CHAT[1:], DONE]) as server,
        running(server.url) as base_url,
        client_of(base_url) as client,
    ):
        stream = client.responses.create(**ASK, stream=True)
        seen = []
        for event in stream:
            seen.append(event.type)
            if event.type == "response.created":
                server.go_on()
    assert seen[-1] == "response.completed"


def test_caller_who_leaves_is_followed():
    with serve([CHAT[0], WATCH]) as server, running(server.url) as base_url, client_of(base_url) as client:
        stream = client.responses.create(**ASK, stream=True)
        next(iter(stream))
        stream.close()
        assert server.sees_the_client_close()


def test_cut_answer_fails_the_response_and_cuts_what_is_only_handed_on():
    with serve([*CHAT[:1], BREAK]) as server, running(server.url) as base_url, client_of(base_url) as client:
        last = list(client.responses.create(**ASK, stream=True))[-1]
        assert (last.type, last.response.error.code) == ("response.failed", "stream_truncated")
        with pytest.raises(httpx2.RemoteProtocolError):
            httpx2.post(f"{base_url}/audio/speech", json={})


# -- what is refused --------------------------------------------------------------------------------------------------


def test_server_that_cannot_be_reached_is_a_bad_gateway():
    with (
        running("http://127.0.0.1:9/v1") as base_url,
        client_of(base_url) as client,
        pytest.raises(openai.InternalServerError, match="cannot be reached") as caught,
    ):
        client.responses.create(**ASK)
    assert caught.value.status_code == 502


def test_server_that_is_too_slow_is_a_gateway_timeout(monkeypatch):
    monkeypatch.setattr(asgi, "_PATIENCE_SECONDS", 0.05)
    with serve([PAUSE], status=200) as server, running(server.url) as base_url:
        answer = httpx2.post(f"{base_url}/responses", json=ASK)
        server.go_on()
    assert answer.status_code == 504
    assert answer.json()["error"]["type"] == "server_error"


@pytest.mark.parametrize("origin", ["https://evil.example", "http://evil.example:8088", "null"])
def test_pages_of_other_hosts_may_not_ask(origin):
    with serve_model(apis=("chat",)) as server, running(server.base_url, api_key=KEY) as base_url:
        answer = httpx2.post(f"{base_url}/responses", json=ASK, headers={"origin": origin})
        own = httpx2.post(f"{base_url}/responses", json=ASK, headers={"origin": "http://localhost:3000"})
    assert (answer.status_code, own.status_code) == (403, 200)
    assert len(server.requests) == 1


def test_body_that_is_too_long_is_refused(monkeypatch):
    monkeypatch.setattr(asgi, "MAX_BODY_BYTES", 100)
    with serve_model(apis=("chat",)) as server, running(server.base_url) as base_url:
        answer = httpx2.post(f"{base_url}/responses", json={**ASK, "input": "x" * 200})
    assert answer.status_code == 413
    assert server.requests == []


def test_path_cannot_lead_out_of_the_address_behind():
    with serve_model(apis=("chat",)) as server, running(server.base_url, api_key=KEY) as base_url:
        port = int(base_url.rpartition(":")[2].partition("/")[0])
        for path in ("/v1/../admin", "/v1/%2e%2e/admin"):
            connection = http.client.HTTPConnection("127.0.0.1", port)
            connection.request("GET", path)
            answer = connection.getresponse()
            answer.read()
            connection.close()
            assert answer.status == 404
    assert server.requests == []


# -- keys -------------------------------------------------------------------------------------------------------------


def test_key_is_nowhere_but_on_the_way_to_the_server(caplog):
    caplog.set_level(logging.DEBUG)
    echo = json.dumps({"error": {"message": f"Incorrect API key provided: {KEY}"}}).encode()
    seen: list[str] = []
    for script, status in (([echo], 401), ([frame({"error": {"message": f"bad key {KEY}"}})], 200), ([BREAK], 200)):
        with serve(script, status=status) as server, running(server.url, api_key=KEY) as base_url:
            for path, body in (("responses", ASK), ("responses", {**ASK, "stream": True}), ("embeddings", {})):
                try:
                    answer = httpx2.post(f"{base_url}/{path}", json=body, headers={"authorization": "Bearer sk-anna"})
                except httpx2.RemoteProtocolError:
                    continue
                seen.append(answer.text + str(answer.headers))
    assert len(seen) >= 6
    assert "Incorrect API key" in seen[0]
    assert KEY not in "".join(seen) + caplog.text
    assert "sk-anna" not in "".join(seen) + caplog.text


def test_cookies_and_credentials_of_the_caller_stay_here():
    with serve_model(apis=("chat",), key=KEY) as server, running(server.base_url, api_key=KEY) as base_url:
        headers = {"authorization": "Bearer anna", "api-key": "anna", "cookie": "a=b", "x-trace": "1"}
        assert httpx2.post(f"{base_url}/responses", json=ASK, headers=headers).status_code == 200
    sent = server.requests[0].headers
    assert (sent["authorization"], sent["x-trace"]) == (f"Bearer {KEY}", "1")
    assert not sent.keys() & {"api-key", "cookie"}


# -- the application --------------------------------------------------------------------------------------------------


def test_health_and_queries():
    with serve_model(apis=("chat",)) as server, running(server.base_url) as base_url:
        root = base_url.removesuffix("/v1")
        assert httpx2.get(f"{root}/healthz").json() == {"status": "ok"}
        assert server.requests == []
        first = httpx2.post(f"{base_url}/responses", json={**ASK, "input": ["x"]}).json()
        assert first["error"]["param"] == "input[0]"
        made = httpx2.post(f"{base_url}/responses?api-version=1", json=ASK).json()
        items = httpx2.get(f"{base_url}/responses/{made['id']}/input_items?order=asc&limit=1").json()
        assert items["data"][0]["content"][0]["text"] == "x"
        # the address behind has a /v1 of its own, and callers may leave theirs out
        assert httpx2.get(f"{root}/models").json() == httpx2.get(f"{base_url}/models").json()


def test_application_can_be_mounted_under_a_path():
    async def run(upstream: str) -> tuple[int, Any]:
        app = asgi.create_app(upstream, speak="responses", module=httpx2)
        mounted: Any = httpx2.ASGITransport(app, root_path="/models of mine")
        async with httpx2.AsyncClient(transport=mounted, base_url="http://here/models%20of%20mine/v1") as client:
            answer = await client.post("/responses", json={**ASK, "input": "Say exactly: High water"})
        await app.aclose()
        return answer.status_code, answer.json()

    with serve_model(apis=("chat",)) as server:
        status, body = asyncio.run(run(server.base_url))
    assert (status, body["output"][0]["content"][0]["text"]) == (200, "High water")


@pytest.mark.parametrize("upstream", ["", "api.example.com/v1", "ftp://api.example.com", "http://"])
def test_upstream_that_is_no_address_is_refused(upstream):
    with pytest.raises(ValueError, match="must be an address"):
        asgi.create_app(upstream, speak="responses")


def test_websockets_are_closed():
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message["type"])

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    async def run() -> None:
        app = asgi.create_app("http://127.0.0.1:9/v1", speak="responses")
        await app({"type": "websocket"}, receive, send)
        await app.aclose()

    asyncio.run(run())
    assert sent == ["websocket.close"]


# -- streamshim serve -------------------------------------------------------------------------------------------------


def test_serve_says_where_it_listens_and_answers_there(tmp_path):
    with serve_model("calls-in-text", apis=("chat",), key=KEY) as server:
        process = subprocess.Popen(
            [
                *interruptible("serve", "--upstream", server.base_url, "--speak", "responses"),
                *("--tool-markup", "--port", "0", "--api-key-env", "VENDOR_KEY", "--store", str(tmp_path / "store.db")),
            ],
            cwd=ROOT,
            env={**os.environ, "VENDOR_KEY": KEY},
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stderr is not None
        with process:
            line = process.stderr.readline()
            with client_of(line.split()[0]) as client:
                tools = [{"type": "function", "name": "tide", "parameters": {}}]
                answer = client.responses.create(model="toy", input="tide()", tools=tools)
            process.send_signal(signal.SIGINT)
            rest = process.stderr.read()
    assert [(item.type, item.name) for item in answer.output] == [("function_call", "tide")]
    assert "speaks responses" in line
    assert (rest, process.returncode) == ("", 130)
    with streamshim.ConversationStore(tmp_path / "store.db") as store:
        assert len(store) == 1


def complaint(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["serve", *arguments]) == 2
    return capsys.readouterr().err


def test_serve_says_what_is_missing(capsys, monkeypatch, tmp_path):
    basics = ("--upstream", "http://127.0.0.1:9/v1", "--speak", "responses")
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    assert "NO_SUCH_KEY is not set" in complaint(capsys, *basics, "--api-key-env", "NO_SUCH_KEY")
    assert "must be an address" in complaint(capsys, "--upstream", "nowhere", "--speak", "chat")
    (tmp_path / "text").write_text("no database, but a text that is long enough to be taken for one " * 50)
    assert "text" in complaint(capsys, *basics, "--store", str(tmp_path / "text"))
    assert "needs --speak responses" in complaint(
        capsys, "--upstream", "http://x/v1", "--speak", "chat", "--store", "x"
    )
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == "uvicorn" else find(name, *rest)
    )
    assert 'pip install "streamshim[serve]"' in complaint(capsys, *basics)


@pytest.mark.parametrize(
    ("host", "key", "warning"),
    [("127.0.0.1", None, None), ("0.0.0.0", None, "keys of their own"), ("0.0.0.0", KEY, "the key of this program")],
)
def test_serve_warns_where_others_can_ask(capsys, monkeypatch, host, key, warning):
    async def main_loop(self: Any) -> None:
        """Nobody asks."""

    monkeypatch.setattr(uvicorn.Server, "main_loop", main_loop)
    monkeypatch.setenv("VENDOR_KEY", KEY)
    key_options = ["--api-key-env", "VENDOR_KEY"] if key else []
    upstream = ["--upstream", "http://127.0.0.1:9/v1", "--speak", "chat"]
    assert main(["serve", *upstream, "--host", host, "--port", "0", *key_options]) == 0
    said = capsys.readouterr().err
    assert (warning is None) is ("warning" not in said)
    assert warning is None or warning in said
    assert KEY not in said
