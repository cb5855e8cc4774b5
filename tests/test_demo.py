"""The recorded streams that ship with the package, the server that replays them, and `streamshim demo`."""

import contextlib
import http.client
import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

import streamshim
from streamshim.cli import demo, main
from streamshim.cli.replay import CAPTURES, cut, replay_server
from streamshim.events import StreamEnd, ToolProgress

NAMES = [capture.name for capture in CAPTURES]
BODIES = {capture.name: capture.read() for capture in CAPTURES}


def payloads(name):
    """The parsed `data:` of each whole event, `[DONE]` left out."""
    events = BODIES[name].split(b"\n\n")[:-1]
    lines = [line for event in events for line in event.split(b"\n") if line.startswith(b"data: {")]
    return [json.loads(line.removeprefix(b"data: ")) for line in lines]


def events_of(name, event_type):
    decoder = streamshim.StreamDecoder()
    events = decoder.feed(BODIES[name]) + decoder.close()
    return [event for event in events if isinstance(event, event_type)]


# What the recorded streams hold


def test_sloppy_gateway_is_what_it_is_announced_as():
    """The bytes, before anybody repairs them."""
    chunks = payloads("sloppy_gateway")
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks]
    calls = [call for delta in deltas for call in delta.get("tool_calls", [])]
    assert all(d["reasoning"] == d["reasoning_details"][0]["text"] for d in deltas if "reasoning" in d)
    assert [call["index"] for call in calls] == [0, 0]
    assert len({call["id"] for call in calls}) == 2
    assert "usage" in chunks[-2]
    assert [chunk["choices"][0]["finish_reason"] for chunk in chunks[-2:]] == [None, "stop"]


def test_sloppy_gateway_is_read_right():
    answer = streamshim.parse(BODIES["sloppy_gateway"])
    assert answer.status == "completed"
    assert answer.api == "chat"
    assert answer.reasoning == (
        "Two harbours are asked for, so two tables: Saint-Malo and Granville, both on the 14th. "
        "I call the tool once for each."
    )
    assert answer.text == "I look up both tide tables; a spring tide is due, so mind the causeway."
    assert [(call.call_id, call.name, call.parsed()["harbour"]) for call in answer.calls_to_answer] == [
        ("tool_0_tide_table_Wb4nKe81", "tide_table", "Saint-Malo"),
        ("tool_0_tide_table_Jc7uZq25", "tide_table", "Granville"),
    ]
    assert (answer.finish_reason, answer.raw_finish_reason) == ("tool_calls", "stop")
    assert (answer.usage.input_tokens, answer.usage.output_tokens, answer.usage.total_tokens) == (212, 118, 330)
    assert (answer.usage.cached_input_tokens, answer.usage.reasoning_tokens) == (128, 34)
    assert answer.repairs
    assert answer.unknown == []


def test_web_search_follows_the_protocol():
    """The bytes: numbered events, whose text and annotations are the same wherever they are repeated."""
    events = payloads("web_search")
    message = events[-1]["response"]["output"][2]
    [part] = message["content"]
    [annotation] = part["annotations"]
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert part["text"] == "".join(e["delta"] for e in events if e["type"] == "response.output_text.delta")
    assert part["text"][annotation["start_index"] : annotation["end_index"]].startswith("([tides.example](")
    assert [e["item"] for e in events if e["type"] == "response.output_item.done"] == events[-1]["response"]["output"]


def test_web_search_is_read_right():
    answer = streamshim.parse(BODIES["web_search"])
    assert answer.status == "completed"
    assert answer.api == "responses"
    assert answer.reasoning.startswith("**Finding the causeway's hours**\n\nThe causeway to the Grand Bé is dry")
    assert answer.text.startswith("On Sunday 17 May the sea is lowest at 14:58")
    assert answer.text.endswith("the next crossing is at four in the morning. 🌊")
    [call] = answer.tool_calls
    assert (call.name, call.kind, call.status) == ("web_search", "server", "handled")
    assert json.loads(call.arguments)["query"] == "Saint-Malo tide table 17 May 2026"
    assert answer.calls_to_answer == []
    [citation] = answer.citations
    assert citation.url == "https://tides.example/saint-malo/2026-05"
    assert citation.title == "Tide table for Saint-Malo, May 2026"
    assert (answer.finish_reason, answer.usage.output_tokens) == ("stop", 187)
    assert answer.unknown == []


def test_web_search_needs_no_repair():
    assert streamshim.parse(BODIES["web_search"]).repairs == {}


def test_web_search_tells_how_the_search_goes_on():
    assert [progress.status for progress in events_of("web_search", ToolProgress)][:3] == [
        "in_progress",
        "searching",
        "completed",
    ]


def test_cut_stream_is_cut_inside_an_event():
    assert not BODIES["cut"].endswith(b"\n")
    assert all(chunk["choices"][0]["finish_reason"] is None for chunk in payloads("cut"))


def test_cut_stream_is_read_as_truncated():
    answer = streamshim.parse(BODIES["cut"], errors="event")
    assert answer.status == "truncated"
    assert answer.text == (
        "Roscoff has a free berth on Saturday. You can pass the sill from 09:40, so I book B12 for two nights."
    )
    [call] = answer.tool_calls
    assert (call.name, call.status) == ("book_berth", "truncated")
    assert call.arguments == '{"harbour":"Roscoff","berth":"B12","nights":2'
    assert answer.calls_to_answer == []
    assert answer.finish_reason is None


@pytest.mark.parametrize("capture", CAPTURES, ids=NAMES)
def test_capture_ends_as_announced(capture):
    assert [end.status for end in events_of(capture.name, StreamEnd)] == [capture.ends]


# The network


@pytest.mark.parametrize("name", NAMES)
def test_pieces_are_the_body_cut_where_no_event_ends(name):
    pieces = list(cut(BODIES[name]))
    assert b"".join(pieces) == BODIES[name]
    assert len(pieces) > 20
    assert not any(piece.endswith(b"\n") for piece in pieces[:-1])


@pytest.mark.parametrize("capture", CAPTURES, ids=NAMES)
def test_server_replays_the_capture_to_a_proper_end(capture):
    with replay_server(pause=0) as base_url:
        connection = http.client.HTTPConnection(base_url.removeprefix("http://"), timeout=30)
        with contextlib.closing(connection):
            connection.request("POST", capture.path, body=b"{}")
            response = connection.getresponse()
            assert (response.status, response.getheader("content-type")) == (200, "text/event-stream")
            assert response.read() == capture.read()
            assert response.will_close


def test_server_knows_no_other_path():
    with replay_server(pause=0) as base_url:
        connection = http.client.HTTPConnection(base_url.removeprefix("http://"), timeout=30)
        with contextlib.closing(connection):
            connection.request("POST", "/v1/embeddings", body=b"{}")
            assert connection.getresponse().status == 404


# The command


def run_demo(*arguments, environment=None):
    return subprocess.run(
        [sys.executable, "-m", "streamshim", "demo", *arguments],
        capture_output=True,
        timeout=120,
        env=os.environ | (environment or {}),
        check=False,
    )


def test_demo_shows_three_streams_that_end_as_announced():
    done = run_demo("--fast")
    shown = done.stdout.decode()
    assert done.returncode == 0
    assert done.stderr == b""
    assert shown.count('with httpx2.stream("POST", url, json=body) as response:') == 3
    assert shown.count("for event in streamshim.stream(response):") == 3
    assert shown.count("✓ completed") == 2
    assert shown.count("✗ truncated") == 1
    assert 'finish    tool_calls (the wire said "stop")' in shown
    assert "→ web_search · in_progress · searching · completed" in shown
    assert "[1] Tide table for Saint-Malo, May 2026\n    https://tides.example/saint-malo/2026-05\n" in shown
    assert "✗ book_berth  truncated  call_Zk8RwU3hNq6sYpT1vXcE" in shown
    assert "StreamTruncatedError: " in shown
    assert shown.endswith("3 of 3 streams ended as announced.\n")


def test_demo_does_not_go_through_a_proxy():
    assert run_demo("--fast", environment={"HTTP_PROXY": "http://127.0.0.1:1", "ALL_PROXY": ""}).returncode == 0


def test_demo_exits_1_when_a_stream_ends_otherwise(capsys):
    """With `--strict` what was repaired is an error: the sloppy stream and the cut one fail."""
    assert main(["demo", "--fast", "--strict"]) == 1
    assert capsys.readouterr().out.endswith("1 of 3 streams ended as announced.\n")


def test_demo_reads_with_httpx_where_there_is_no_httpx2(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "httpx2", None)
    assert main(["demo", "--fast"]) == 0
    assert 'with httpx.stream("POST", url, json=body) as response:' in capsys.readouterr().out


def test_demo_without_an_http_client_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "httpx2", None)
    monkeypatch.setitem(sys.modules, "httpx", None)
    assert main(["demo", "--fast"]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert "pip install httpx2" in output.err


# A real endpoint


class Endpoint(HTTPServer):
    """Answers every request alike, and keeps what it was asked."""

    def __init__(self, status, content_type, body):
        super().__init__(("127.0.0.1", 0), _Answer)
        self.answer = (status, content_type, body)
        self.requests = []

    @property
    def base_url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class _Answer(BaseHTTPRequestHandler):
    def do_POST(self):
        assert isinstance(self.server, Endpoint)
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.requests.append((self.path, self.headers.get("authorization"), body))
        status, content_type, answer = self.server.answer
        self.send_response(status)
        self.send_header("content-type", content_type)
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format, *args):
        """Silent."""


@pytest.fixture
def serve(monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    with contextlib.ExitStack() as stack:

        def start(body, status=200, content_type="text/event-stream"):
            server = stack.enter_context(Endpoint(status, content_type, body))
            thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
            thread.start()
            stack.callback(thread.join)
            stack.callback(server.shutdown)
            return server

        yield start


def test_demo_asks_a_chat_endpoint(serve, monkeypatch, capsys):
    server = serve(BODIES["sloppy_gateway"])
    monkeypatch.setenv("HARBOUR_KEY", "sk-harbour\n")
    code = main(
        [
            "demo",
            "--base-url",
            server.base_url + "/",
            "--model",
            "mira-3",
            "--api-key-env",
            "HARBOUR_KEY",
            "--prompt",
            "Tides?",
        ]
    )
    [(path, authorization, body)] = server.requests
    shown = capsys.readouterr().out
    assert code == 0
    assert (path, authorization) == ("/v1/chat/completions", "Bearer sk-harbour")
    assert body == {
        "model": "mira-3",
        "messages": [{"role": "user", "content": "Tides?"}],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    assert "I look up both tide tables" in shown
    assert "sk-harbour" not in shown


def test_demo_asks_a_responses_endpoint_without_a_key(serve, capsys):
    server = serve(BODIES["web_search"])
    assert main(["demo", "--base-url", server.base_url, "--model", "mira-3", "--api", "responses"]) == 0
    assert server.requests == [
        ("/v1/responses", None, {"model": "mira-3", "input": demo.DEFAULT_PROMPT, "stream": True})
    ]
    assert "[1] Tide table for Saint-Malo, May 2026" in capsys.readouterr().out


def test_demo_shows_why_an_endpoint_refuses(serve, capsys):
    refusal = json.dumps({"error": {"message": "No such key", "type": "authentication_error", "code": "bad_key"}})
    server = serve(refusal.encode(), status=401, content_type="application/json")
    assert main(["demo", "--base-url", server.base_url, "--model", "mira-3"]) == 1
    shown = capsys.readouterr().out
    assert "✗ error  No such key\n" in shown
    assert "HTTP 401" in shown
    assert "StreamFailedError: " in shown


def test_demo_exits_1_for_an_answer_that_is_cut(serve):
    assert main(["demo", "--base-url", serve(BODIES["cut"]).base_url, "--model", "mira-3"]) == 1


def test_demo_exits_1_where_nobody_listens(serve, capsys):
    with Endpoint(200, "", b"") as server:
        base_url = server.base_url
    assert main(["demo", "--base-url", base_url, "--model", "mira-3"]) == 1
    assert "✗ ConnectError: " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--base-url", "http://127.0.0.1:1/v1"], "--base-url needs --model"),
        (["--model", "mira-3"], "--model needs --base-url"),
        (["--api-key-env", "HARBOUR_KEY"], "--api-key-env needs --base-url"),
        (["--prompt", "Tides?"], "--prompt needs --base-url"),
        (
            ["--base-url", "http://127.0.0.1:1/v1", "--model", "mira-3", "--api-key-env", "NO_SUCH_HARBOUR_KEY"],
            "the environment variable NO_SUCH_HARBOUR_KEY is not set",
        ),
        (["--base-url", "harbour/v1", "--model", "mira-3"], "harbour/v1/chat/completions is no address"),
    ],
)
def test_demo_called_wrongly_is_a_usage_error(arguments, complaint, capsys):
    assert main(["demo", *arguments]) == 2
    assert f"streamshim: {complaint}" in capsys.readouterr().err
