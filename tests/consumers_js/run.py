"""The AI SDK reads what is encoded, over a real connection: `python -m tests.consumers_js.run`.

Needs Node.js 20 or newer and npm. Says what every reader made of every stream, and what an agent saw that speaks
Responses to a chat server; ends with 1 if that is not what was there.
"""

from __future__ import annotations

import contextlib
import http.server
import json
import subprocess
import sys
import threading
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import streamshim
from tests.consumers import chat_answer, counts, first_choice, responses_answer
from tests.consumers_js.speaking import SEEN, seen_by_an_agent
from tests.test_corpus import CORPUS
from tests.test_real_consumers import GOLDENS, golden_events, golden_frames, ids, recorded

HERE = Path(__file__).parent
READERS = {"responses": ("openai responses", "open-responses"), "chat": ("openai chat", "openai-compatible")}
VARIANTS: list[tuple[str, str, dict[str, Any]]] = [
    ("07_incomplete_length", "responses", {"length_as_completed": True}),
    ("09_failed_mid_text", "responses", {"error_event": True}),
    ("10_truncated_call", "chat", {"tool_calls": "whole"}),
]
WORDS = {
    "stop": "stop",
    "tool_calls": "tool-calls",
    "length": "length",
    "max_output_tokens": "length",
    "content_filter": "content-filter",
}
LOOPS = ["03_parallel_calls", "04_text_then_call_without_arguments"]


@dataclass
class Case:
    """A stream, and who reads it; with `loop` the calls are run and a second turn answers."""

    name: str
    wire: str
    reader: str
    response: streamshim.ModelResponse
    bodies: list[list[bytes]]
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def loop(self) -> bool:
        return len(self.bodies) > 1

    def job(self, number: int, url: str) -> dict[str, Any]:
        kinds = {call.name: call.kind for call in self.response.tool_calls}
        return {
            "reader": self.reader,
            "urls": [f"{url}/{number}/{turn}" for turn in range(len(self.bodies))],
            "tools": [{"name": name, "custom": kind == "custom"} for name, kind in kinds.items()],
        }


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, cases: list[Case]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.cases = cases

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client may leave whenever it likes."""


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ClassVar[Any]

    def do_POST(self) -> None:
        """The path begins with the number of the case and of the turn. One frame a write."""
        self.rfile.read(int(self.headers.get("content-length", 0)))
        _, case, turn, *_ = self.path.split("/")
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for frame in self.server.cases[int(case)].bodies[int(turn)]:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(frame), frame))
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextlib.contextmanager
def served(cases: list[Case]) -> Generator[str]:
    server = _Server(cases)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def cases() -> list[Case]:
    found = []
    golden = {name: streamshim.collect(golden_events(name)) for name in GOLDENS}
    for wire, readers in READERS.items():
        plain: list[tuple[str, str, dict[str, Any]]] = [(name, wire, {}) for name in GOLDENS]
        for name, _, options in plain + [variant for variant in VARIANTS if variant[1] == wire]:
            frames = golden_frames(wire, name, **options)
            found += [Case(name, wire, reader, golden[name], [frames], options) for reader in readers]
        for name in LOOPS:
            turns = [golden_frames(wire, name), golden_frames(wire, "01_text_only")]
            found += [Case(f"{name} (loop)", wire, reader, golden[name], turns) for reader in readers]
        for file in recorded():
            data = (CORPUS / file).read_bytes()
            response = streamshim.parse(data, make_id=ids(), errors="event")
            with streamshim.convert(data, wire, make_id=ids()) as stream:  # pyright: ignore[reportArgumentType, reportCallIssue]
                frames = list(stream)
            # with several choices this reader mixes their texts
            if wire == "responses" or len(response.choices) < 2:
                found += [Case(file, wire, reader, response, [frames]) for reader in readers]
    return found


def read_all(found: list[Case]) -> list[dict[str, Any]]:
    wanted, installed = HERE / "package-lock.json", HERE / "node_modules" / ".package-lock.json"
    if not installed.exists() or installed.stat().st_mtime < wanted.stat().st_mtime:
        subprocess.run(["npm", "ci", "--no-audit", "--no-fund"], cwd=HERE, check=True)
    with served(found) as url:
        jobs = json.dumps([case.job(number, url) for number, case in enumerate(found)])
        done = subprocess.run(["node", "read.mjs"], cwd=HERE, input=jobs, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def parsed(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


def finish_of(case: Case, calls: list[Any]) -> str:
    """The reader's word for the end."""
    response = case.response
    if response.status in ("failed", "truncated"):
        return "error"
    if case.wire == "chat":
        return WORDS.get(str(chat_answer(response).finish), "other")
    if response.status == "incomplete" and not case.options.get("length_as_completed"):
        return WORDS.get(str(responses_answer(response).finish), "other")
    return "tool-calls" if calls else "stop"


def expected(case: Case) -> dict[str, Any]:
    response = case.response
    answer = chat_answer(response) if case.wire == "chat" else responses_answer(response)
    custom = {call.call_id for call in response.tool_calls if call.kind == "custom"}
    calls = [
        [id, name, arguments if case.wire == "responses" and id in custom else parsed(arguments)]
        for id, name, arguments in answer.calls
        if not (case.reader == "open-responses" and id in custom)
    ]
    if case.options.get("tool_calls") == "whole":
        calls = []
    finish = finish_of(case, calls)
    if answer.refusal and case.reader != "open-responses":  # a refusal is text, and has a finish of its own
        answer.text += answer.refusal
        finish = "content-filter"
    said = {
        "text": answer.text,
        "reasoning": "" if case.reader == "openai chat" else answer.reasoning,
        "calls": calls,
        "finish": finish,
        "usage": usage_of(response),
        # the other reader of Responses has no error part, only the finish
        "reported": response.status in ("failed", "truncated") and case.reader != "open-responses",
    }
    if case.loop:
        said |= {"text": answer.text + "Tide turns at nine.", "finish": "stop", "ran": calls, "sent": results(calls)}
        said["usage"] = [one + (other or 0) for one, other in zip([11, 7, 4, 2], usage_of(response), strict=True)]
    return said


def usage_of(response: streamshim.ModelResponse) -> list[int | None]:
    """Input, output, cached input and reasoning tokens; the reader adds up the total itself."""
    usage = counts(response.usage)
    return [usage[index] for index in (0, 1, 3, 4)] if usage else [None] * 4


def results(calls: list[Any]) -> list[list[str]]:
    return sorted([id, f"result of {id}"] for id, *_ in calls)


def hosted(response: streamshim.ModelResponse) -> set[str | None]:
    """The ids of what is shown as a call of the vendor's own."""
    parts = first_choice(response).parts
    media = {part.id for part in parts if part.type == "media"}
    return media | {call.call_id for call in response.tool_calls if call.kind in ("server", "builtin")}


def results_sent(request: dict[str, Any]) -> list[list[str]]:
    """Call id and output of every tool result in a request."""
    said = [[one["tool_call_id"], one["content"]] for one in request.get("messages", ()) if one["role"] == "tool"]
    items = [one for one in request.get("input", ()) if one.get("type") == "function_call_output"]
    return sorted(said + [[item["call_id"], item["output"]] for item in items])


def made_of_it(case: Case, answer: dict[str, Any]) -> dict[str, Any]:
    if "thrown" in answer:
        return answer
    said = {key: answer[key] for key in ("text", "reasoning", "finish", "usage")}
    theirs = hosted(case.response) if case.wire == "responses" else set()
    said["calls"] = [call for call in answer["calls"] if call[0] not in theirs]
    said["reported"] = bool(answer["errors"])
    if case.loop:
        said |= {"ran": answer["ran"], "sent": results_sent(answer["requests"][-1])}
    if answer["errors"] and answer["finish"] is None:  # where an error comes first, there is no last part
        said |= {"finish": "error", "usage": usage_of(case.response)}
    return said


def main() -> int:
    found = cases()
    faults = 0
    for case, answer in zip(found, read_all(found), strict=True):
        wanted, actual = expected(case), made_of_it(case, answer)
        wrong = {key: (actual.get(key), value) for key, value in wanted.items() if actual.get(key) != value}
        if wrong:
            faults += 1
            print(f"{case.name} {case.options or ''} by {case.reader}: {answer.get('errors', answer)}")
            for key, (got, value) in wrong.items():
                print(f"    {key}: {got!r}, not {value!r}"[:400])
    print(f"{len(found)} streams were read, {faults} of them wrongly")
    if (seen := seen_by_an_agent()) != SEEN:
        faults += 1
        print(f"an agent that speaks Responses to a chat server saw {seen}, not {SEEN}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
