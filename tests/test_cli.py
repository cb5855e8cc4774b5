"""The command line: `events`, `show`, `response`, and what they have in common."""

import contextlib
import io
import itertools
import json
import os
import signal
import subprocess
import sys
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

import streamshim
from streamshim.cli import main
from streamshim.cli.inputs import PROGRESS_FROM_BYTES, read_pieces
from streamshim.cli.presenter import Presenter, readable, token_counts
from streamshim.cli.terminal import Terminal, cells, visible
from streamshim.errors import ErrorInfo
from streamshim.events import (
    Citation,
    EndStatus,
    ErrorReport,
    Event,
    Evidence,
    Finish,
    MediaEnd,
    MediaStart,
    ReasoningEnd,
    RefusalDelta,
    Repair,
    StreamEnd,
    TextDelta,
    TextEnd,
    ToolCallEnd,
    ToolCallStart,
    ToolProgress,
    Unknown,
    Usage,
)
from tests.commands import interruptible

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="signals and pseudo-terminals of POSIX")


def chunk(delta, finish=None, **more):
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    shell = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1778738400, "model": "mira-3"}
    return b"data: " + json.dumps(shell | {"choices": [choice]} | more).encode() + b"\n\n"


DONE = b"data: [DONE]\n\n"
CALL = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "tide", "arguments": '{"day":14}'}}
TEXT = chunk({"content": "High water"}) + chunk({"content": " at noon."})
WHOLE = chunk({"reasoning_content": "The moon is new."}) + TEXT + chunk({"tool_calls": [CALL]}, "tool_calls") + DONE
ERROR = b'data: {"error":{"message":"The harbour is closed","type":"server_error","code":"503"}}\n\n'
ENDINGS = {
    "completed": (WHOLE, 0),
    "incomplete": (TEXT + chunk({}, "length") + DONE, 0),
    "failed": (TEXT + ERROR, 1),
    "truncated": (TEXT, 1),
}


def run(*arguments, stdin=b"", environment=None):
    """Runs the command line in a process of its own; standard output and error are kept as bytes."""
    command = [sys.executable, "-m", "streamshim", *map(str, arguments)]
    return subprocess.run(
        command, input=stdin, capture_output=True, timeout=60, env=os.environ | (environment or {}), check=False
    )


def start(*arguments):
    """A process to talk to."""
    pipe = subprocess.PIPE
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return subprocess.Popen(interruptible(*arguments), stdin=pipe, stdout=pipe, stderr=pipe, env=buffered)


def run_in_terminal(*command, columns=80, environment=None):
    """What a command writes to an 80-column terminal."""
    import fcntl
    import pty
    import struct
    import termios

    controller, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    clean = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "FORCE_COLOR")}
    environment = clean | {"TERM": "xterm-256color"} | (environment or {})
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=terminal, stderr=terminal, env=environment):
        os.close(terminal)
        seen = b""
        with contextlib.suppress(OSError):  # how Linux says that the other side has closed
            while data := os.read(controller, 4096):
                seen += data
    os.close(controller)
    return seen.decode()


@pytest.fixture
def stream_file(tmp_path):
    def write(body):
        path = tmp_path / "stream.sse"
        path.write_bytes(body)
        return str(path)

    return write


@pytest.fixture
def stdin(monkeypatch):
    def replace(body):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(body)))

    return replace


def printed_events(output):
    return [json.loads(line) for line in output.splitlines()]


def expected_events(body, **options):
    decoder = streamshim.StreamDecoder(**options)
    return decoder.feed(body) + decoder.close()


# How commands end


@pytest.mark.parametrize("command", ["events", "show", "response"])
@pytest.mark.parametrize("status", ENDINGS)
def test_exit_code_says_how_the_stream_ended(command, status, stream_file, capsys):
    body, code = ENDINGS[status]
    assert main([command, stream_file(body)]) == code
    assert status in capsys.readouterr().out


@pytest.mark.parametrize("command", ["events", "show", "response"])
def test_empty_input_is_a_truncated_stream(command, stdin, capsys):
    stdin(b"")
    assert main([command]) == 1
    assert "truncated" in capsys.readouterr().out


def test_process_exits_with_the_code():
    assert run("events", "-", stdin=TEXT).returncode == 1
    assert run("events", "-", stdin=WHOLE).returncode == 0


@pytest.mark.parametrize("command", ["events", "show", "response"])
def test_missing_file_is_a_usage_error(command, tmp_path):
    done = run(command, tmp_path / "absent.sse")
    assert done.returncode == 2
    assert done.stdout == b""
    assert done.stderr.decode().startswith(f"streamshim: cannot read {tmp_path / 'absent.sse'}: No such file")
    assert done.stderr.count(b"\n") == 1


def test_unknown_option_is_a_usage_error():
    done = run("events", "--sideways", "-")
    assert done.returncode == 2
    assert b"--sideways" in done.stderr


def test_command_is_required():
    assert run().returncode == 2


def test_version_is_that_of_the_package():
    done = run("--version")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode().split() == ["streamshim", streamshim.__version__]


def test_help_names_every_command():
    done = run("--help")
    assert done.returncode == 0
    assert {b"events", b"show", b"response", b"demo"} <= set(done.stdout.split())


@POSIX
@pytest.mark.parametrize("command", ["events", "show"])
def test_interrupt_exits_130_and_says_nothing(command):
    with start(command, "-") as process:
        process.stdin.write(TEXT)
        process.stdin.flush()
        assert process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
        assert process.stderr.read() == b""


@POSIX
@pytest.mark.parametrize("command", ["events", "show"])
def test_reader_that_leaves_is_no_error(command, stream_file):
    path = stream_file(chunk({"content": "word\n"}) * 20_000 + chunk({}, "stop") + DONE)
    with start(command, path) as process:
        process.stdin.close()
        assert process.stdout.readline()
        process.stdout.close()
        assert process.wait(60) == 0
        assert process.stderr.read() == b""


# events


def test_events_prints_what_the_decoder_gives(stream_file, capfdbinary):
    assert main(["events", stream_file(WHOLE)]) == 0
    assert printed_events(capfdbinary.readouterr().out) == [asdict(event) for event in expected_events(WHOLE)]


def test_event_lines_validate_as_events(stream_file, capfdbinary):
    main(["events", stream_file(WHOLE)])
    adapter = TypeAdapter(Event)
    lines = capfdbinary.readouterr().out.splitlines()
    assert [adapter.validate_json(line) for line in lines] == expected_events(WHOLE)


def test_event_line_starts_with_its_type_and_is_utf8(stdin, capfdbinary):
    stdin(chunk({"content": "Grève 🌊"}, "stop") + DONE)
    main(["events"])
    lines = capfdbinary.readouterr().out.splitlines()
    assert lines[2].startswith('{"type":"text_delta","delta":"Grève 🌊"'.encode())


def test_events_come_out_while_the_input_is_still_open():
    with start("events", "-") as process:
        process.stdin.write(TEXT[:-40])
        process.stdin.flush()
        types = [json.loads(process.stdout.readline())["type"] for _ in range(3)]
        process.communicate(TEXT[-40:], timeout=60)
    assert types == ["stream_start", "text_start", "text_delta"]


def test_shown_text_comes_out_while_the_input_is_still_open():
    with start("show", "-") as process:
        process.stdin.write(chunk({"content": "High water\nat noon."}))
        process.stdin.flush()
        lines = [process.stdout.readline() for _ in range(3)]
        process.communicate(timeout=60)
    assert lines[2] == b"High water\n"


def test_data_nested_too_deep_for_json_leaves_a_line_that_is_json(stdin, capfdbinary):
    stdin(b'data: {"depth":' + b"[" * 1000 + b"]" * 1000 + b"}\n\n" + WHOLE)
    main(["events", "--raw"])
    events = printed_events(capfdbinary.readouterr().out)
    assert [event["type"] for event in events].count("raw_frame") == 6
    assert "".join(event["delta"] for event in events if event["type"] == "text_delta") == "High water at noon."


def test_what_is_nested_deep_leaves_the_rest_of_its_event_readable(stdin, capfdbinary):
    """As deep as orjson reads, but deeper than it writes."""
    deep = b"[" * 300 + b"]" * 300
    stdin(TEXT + b'data: {"error":{"message":"The harbour is closed","details":' + deep + b"}}\n\n")
    main(["events"])
    [report] = [e for e in printed_events(capfdbinary.readouterr().out) if e["type"] == "error_report"]
    assert report["error"]["message"] == "The harbour is closed"
    assert json.dumps(report["error"]["raw"]).count("[") == 300


@pytest.mark.parametrize("command", ["events", "show", "response"])
def test_each_response_of_one_input_is_read_and_the_worst_decides(command, stream_file, capfd):
    created = b'data: {"type":"response.created","response":{"id":"%b","status":"in_progress"}}\n\n'
    failed = b'data: {"type":"response.failed","response":{"id":"%b","status":"failed"}}\n\n'
    completed = b'data: {"type":"response.completed","response":{"id":"%b","status":"completed","output":[]}}\n\n'
    body = created % b"resp_1" + failed % b"resp_1" + created % b"resp_2" + completed % b"resp_2"
    assert main([command, stream_file(body)]) == 1
    out = capfd.readouterr().out
    assert out.index("failed") < out.index("resp_2")
    assert "completed" in out[out.index("resp_2") - 100 :]


# Options


TAGGED = chunk({"content": "<think>Ebb.</think>Go now."}, "stop") + DONE
OPEN_TAG = chunk({"content": "Ebb.</think>Go now."}, "stop") + DONE
MARKUP = chunk({"content": '<tool_call>{"name": "tide", "arguments": {"day": 14}}</tool_call>'}, "stop") + DONE


def types_of(arguments, body, stdin, capfdbinary):
    stdin(body)
    code = main(["events", *arguments])
    return code, {event["type"] for event in printed_events(capfdbinary.readouterr().out)}


@pytest.mark.parametrize(
    ("option", "body", "without", "with_it"),
    [
        ("--reasoning-tags=off", TAGGED, "reasoning_delta", "text_delta"),
        ("--reasoning-tags=open", OPEN_TAG, "text_delta", "reasoning_delta"),
        ("--tool-markup", MARKUP, "text_delta", "tool_call_start"),
        ("--raw", WHOLE, "stream_start", "raw_frame"),
    ],
)
def test_option_reaches_the_decoder(option, body, without, with_it, stdin, capfdbinary):
    _, plain = types_of([], body, stdin, capfdbinary)
    _, optioned = types_of([option], body, stdin, capfdbinary)
    assert without in plain
    assert with_it in optioned
    assert plain != optioned


def test_trust_eof_takes_the_end_of_the_bytes_for_the_end_of_the_answer(stdin):
    stdin(TEXT)
    assert main(["events", "--trust-eof"]) == 0


REPAIRED = chunk({"tool_calls": [CALL]}, "stop") + chunk({"tool_calls": [CALL | {"id": "call_2"}]}) + DONE


def test_repairs_are_printed_on_request(stdin, capfdbinary):
    _, plain = types_of([], REPAIRED, stdin, capfdbinary)
    _, optioned = types_of(["--repairs"], REPAIRED, stdin, capfdbinary)
    assert optioned - plain == {"repair"}


def test_strict_makes_repairs_errors(stdin, capfdbinary):
    code, types = types_of(["--strict"], REPAIRED, stdin, capfdbinary)
    assert code == 1
    assert "error_report" in types


# response


def test_response_prints_the_model_response(stream_file, capfdbinary):
    assert main(["response", stream_file(WHOLE)]) == 0
    answer = streamshim.ModelResponse.model_validate_json(capfdbinary.readouterr().out)
    assert answer == streamshim.parse(WHOLE)
    assert (answer.text, answer.reasoning) == ("High water at noon.", "The moon is new.")
    assert [call.parsed() for call in answer.calls_to_answer] == [{"day": 14}]


def test_response_keeps_half_an_answer(stdin, capfdbinary):
    stdin(TEXT)
    assert main(["response"]) == 1
    answer = json.loads(capfdbinary.readouterr().out)
    assert answer["status"] == "truncated"


# show


def test_show_in_a_pipe_is_plain_text(stdin, capsys):
    stdin(WHOLE)
    main(["show"])
    assert capsys.readouterr().out == (
        "chat · mira-3\n"
        "\n"
        "│ The moon is new.\n"
        "\n"
        "High water at noon.\n"
        "\n"
        "→ tide\n"
        "✓ tide  complete  call_1\n"
        '  {"day": 14}\n'
        "\n" + "─" * 79 + "\n"
        "✓ completed\n"
        "  finish    tool_calls\n"
        "  id        chatcmpl-1\n"
    )


@POSIX
def test_show_in_a_terminal_is_coloured(stream_file):
    seen = run_in_terminal(sys.executable, "-m", "streamshim", "show", stream_file(WHOLE))
    assert "\x1b[2m│ The moon is new.\x1b[0m" in seen
    assert "\x1b[1;32m✓ tide\x1b[0m" in seen


@POSIX
@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_show_in_a_terminal_without_colours_is_plain(environment, stream_file):
    command = (sys.executable, "-m", "streamshim", "show", stream_file(WHOLE))
    seen = run_in_terminal(*command, environment=environment)
    assert "✓ tide  complete  call_1" in seen
    assert "\x1b" not in seen


@POSIX
@pytest.mark.parametrize("terminal", ["xterm-256color", "dumb"])
def test_a_word_that_grows_too_long_is_taken_back_on_any_terminal(terminal, stream_file):
    body = chunk({"content": "Low water, and the cause"}) + chunk({"content": "way is dry."}, "stop") + DONE
    command = (sys.executable, "-m", "streamshim", "show", stream_file(body))
    seen = run_in_terminal(*command, columns=27, environment={"TERM": terminal})
    erased = "\x1b[6D\x1b[0K" if terminal != "dumb" else "\b" * 6 + " " * 6 + "\b" * 6
    assert f"Low water, and the cause{erased}\r\ncauseway is dry.\r\n" in seen


@POSIX
def test_show_in_a_terminal_without_rich_is_plain(stream_file):
    program = "import sys; sys.modules['rich'] = None; from streamshim.cli import main; sys.exit(main())"
    seen = run_in_terminal(sys.executable, "-c", program, "show", stream_file(WHOLE))
    assert "✓ tide  complete  call_1" in seen
    assert "\x1b" not in seen


@pytest.mark.parametrize("command", ["events", "show"])
def test_no_command_loads_what_it_does_not_need(command, stream_file):
    program = (
        "import sys; from streamshim.cli import main; main(); "
        "sys.exit(' '.join({'rich', 'pydantic', 'httpx', 'httpx2', 'ijson'} & set(sys.modules)))"
    )
    arguments = [sys.executable, "-c", program, command, stream_file(WHOLE)]
    done = subprocess.run(arguments, capture_output=True, timeout=60, check=False)
    assert done.stderr.strip() == b""


def test_control_characters_are_shown_and_not_obeyed(stdin, capsys):
    stdin(chunk({"content": "a\x1b[2Jb\x07\x9bc\r\nd\te"}, "stop") + DONE)
    main(["show"])
    assert "a␛[2Jb␇\ufffdc\nd\te\n" in capsys.readouterr().out


def test_output_that_cannot_show_a_character_shows_a_question_mark(stream_file):
    done = run("show", stream_file(WHOLE), environment={"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0
    assert b"? tide  complete  call_1" in done.stdout


def test_repairs_stand_at_the_end_without_the_option(stdin, capsys):
    stdin(REPAIRED)
    main(["show"])
    out = capsys.readouterr().out
    repair = next(event for event in expected_events(REPAIRED, repairs=True) if isinstance(event, Repair))
    assert f"  repaired  {repair.quirk} ×1  {repair.detail}\n" in out.partition("✓ completed")[2]
    assert "repaired" not in out.partition("✓ completed")[0]


def test_repairs_stand_where_they_were_made_with_the_option(stdin, capsys):
    stdin(REPAIRED)
    main(["show", "--repairs"])
    assert "\n  repaired tool-index-reused in frame 2: " in capsys.readouterr().out.partition("✓ completed")[0]


def test_raw_frames_are_shown_with_the_option(stdin, capsys):
    stdin(WHOLE)
    main(["show", "--raw"])
    out = capsys.readouterr().out
    assert out.count("\n‹ ") == 5
    assert "‹ [DONE]\n" in out


# The presenter, on events made by hand


def shown(*events):
    """What a pipe gets for the events."""
    file = io.StringIO()
    presenter = Presenter(Terminal(Screen(file), sys.maxsize))
    for event in events:
        presenter.show(event)
    return file.getvalue()


class Screen:
    """A pen that writes into a file; erasing takes characters back."""

    def __init__(self, file):
        self.file = file

    def write(self, text, style):
        self.file.write(text)

    def erase(self, count):
        text = self.file.getvalue()
        while count > 0:
            count -= cells(text[-1])
            text = text[:-1]
        self.file.seek(0)
        self.file.truncate()
        self.file.write(text)


def end(status: EndStatus = "completed"):
    return StreamEnd(status, Evidence(), None, {}, None, None)


def test_sources_stand_under_the_text_once_each():
    out = shown(
        TextDelta("Low water", 0, 0),
        Citation(0, 0, "https://tides.example", "Tides", 0, 3),
        Citation(0, 0, "https://tides.example", "Tides", 4, 9),
        Citation(0, 0, None, "almanac.pdf"),
        TextDelta(" at six.", 0, 0),
        TextEnd("Low water at six.", 0, 0),
        TextDelta("Go.", 1, 0),
        TextEnd("Go.", 1, 0),
    )
    sources = "[1] Tides\n    https://tides.example\n[2] almanac.pdf\n"
    assert out == f"Low water at six.\n\n{sources}\nGo."


def test_a_tool_that_the_vendor_runs_shows_its_progress_on_one_line():
    out = shown(
        ToolCallStart(0, 0, "ws_1", "ws_1", "web_search", "server"),
        ToolProgress(0, 0, "in_progress"),
        ToolProgress(0, 0, "completed"),
        ToolProgress(0, 0, "completed", {"id": "ws_1"}),
        ToolCallEnd(0, 0, "ws_1", "web_search", "server", '{"query":"tides"}', "handled"),
    )
    assert out == '→ web_search · in_progress · completed\n✓ web_search  handled  ws_1\n  {"query": "tides"}\n'


def test_progress_of_two_tools_is_told_apart():
    out = shown(
        ToolCallStart(0, 0, "ws_1", "ws_1", "web_search", "server"),
        ToolCallStart(1, 0, "ci_1", "ci_1", "code_interpreter", "server"),
        ToolProgress(0, 0, "searching"),
        ToolProgress(1, 0, "interpreting"),
        ToolProgress(1, 0, "completed"),
    )
    assert out.splitlines() == [
        "→ web_search",
        "→ code_interpreter",
        "→ web_search · searching",
        "→ code_interpreter · interpreting · completed",
    ]


@pytest.mark.parametrize("status", ["truncated", "invalid"])
def test_a_call_that_must_not_run_is_marked_and_its_arguments_stay_as_they_came(status):
    out = shown(ToolCallEnd(0, 0, "call_1", "tide", "function", '{"day":  14', status))
    assert out == f'✗ tide  {status}  call_1\n  {{"day":  14\n'


def test_an_error_stands_with_what_is_known_of_it():
    error = ErrorInfo("vendor", "Too many boats", code="429", type="rate_limit", status=429, retry_after=2.5)
    assert shown(ErrorReport(error)) == (
        "✗ error  Too many boats\n  code 429 · type rate_limit · HTTP 429 · retry after 2.5 s\n"
    )


def test_a_refusal_is_told_apart_from_text():
    assert shown(TextDelta("Yes.", 0, 0), RefusalDelta("No.", 1, 0)) == "Yes.\n\n! No."


def test_encrypted_thought_is_mentioned():
    assert (
        shown(ReasoningEnd(None, 0, 0, "encrypted", encrypted="x" * 1200)) == "│ (encrypted thought, 1,200 characters)"
    )


def test_a_second_answer_stands_whole_where_it_ends():
    out = shown(
        TextDelta("One", 0, 0),
        TextDelta("Two", 1, 1),
        TextDelta(" one.", 0, 0),
        TextDelta(" two.", 1, 1),
        TextEnd("One one.", 0, 0),
        TextEnd("Two two.", 1, 1),
        Finish(0, "stop", "stop"),
        Finish(1, "length", "max_tokens"),
        end("incomplete"),
    )
    assert out.startswith("One one.\n\nchoice 1\nTwo two.\n\n")
    assert "choice 0: stop\n" in out
    assert 'choice 1: length (the wire said "max_tokens")\n' in out
    assert "! incomplete  the vendor stopped early\n" in out


def test_an_image_is_told_by_its_size_or_address():
    assert shown(MediaStart(0, 0, None, "image/png"), MediaEnd(0, 0, "A" * 4000)) == (
        "image/png: 4,000 characters of base64\n"
    )
    assert shown(MediaEnd(0, 0, url="https://tides.example/map.png")) == "media: https://tides.example/map.png\n"


def test_frames_that_are_not_modelled_are_counted_at_the_end():
    assert shown(Unknown("sonar", {}), Unknown("sonar", {}), end()).endswith("  unknown   sonar ×2\n")


def test_long_arguments_are_indented_and_short_ones_are_not():
    assert readable('{"a":[1,2]}') == '{"a": [1, 2]}'
    long = {"harbour": "x" * 80, "days": [1, 2], "notes": ["y" * 80]}
    assert readable(json.dumps(long)).splitlines() == [
        "{",
        '  "harbour": "' + "x" * 80 + '",',
        '  "days": [1, 2],',
        '  "notes": [',
        '    "' + "y" * 80 + '"',
        "  ]",
        "}",
    ]
    assert readable("*** Begin Patch") == "*** Begin Patch"


def test_token_counts_leave_out_what_is_not_known():
    assert (
        token_counts(Usage(8214, 187, 8401, 1792, 0, 64))
        == "8,214 in (1,792 cached) · 187 out (64 reasoning) · 8,401 total"
    )
    assert token_counts(Usage(output_tokens=0)) == "0 out"
    assert token_counts(Usage()) == ""


# The terminal

WORDS = st.text(alphabet="ab é潮🌊\n\x1b", max_size=60)


def on_screen(pieces, width, margin=""):
    file = io.StringIO()
    terminal = Terminal(Screen(file), width)
    for piece in pieces:
        terminal.write(piece, "", margin)
    terminal.fresh_line()
    return file.getvalue()


@given(WORDS, st.lists(st.integers(0, 60)), st.integers(4, 30))
def test_lines_break_alike_however_the_text_comes(text, cuts, width):
    borders = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    pieces = [text[a:b] for a, b in itertools.pairwise(borders)]
    assert on_screen(pieces, width, "│ ") == on_screen([text], width, "│ ")


@given(WORDS, st.integers(4, 30))
def test_no_line_is_wider_than_the_terminal_unless_one_word_is(text, width):
    for line in on_screen([text], width).splitlines():
        assert cells(line) <= width or " " not in line.strip()


@given(WORDS)
def test_a_pipe_gets_the_text_as_it_is(text):
    shown_text = on_screen([text], sys.maxsize)
    assert shown_text.rstrip(" \n") == visible(text).rstrip(" \n")


def test_a_word_that_grows_too_long_moves_to_the_next_line():
    assert on_screen(["High wa", "ter at noon"], 9) == "High\nwater at\nnoon\n"


# Progress


class TerminalFile(io.StringIO):
    def isatty(self):
        return True


LARGE = 4 * PROGRESS_FROM_BYTES
"""So many bytes that some pieces do not change the percentage."""


@pytest.fixture
def large_file(tmp_path):
    path = tmp_path / "large.sse"
    path.write_bytes(b":" * LARGE)
    return path


def test_progress_of_a_large_file_is_told_and_taken_back(large_file):
    screen = TerminalFile()
    with large_file.open("rb") as file:
        read = sum(map(len, read_pieces(file, screen)))
    assert read == LARGE
    lines = screen.getvalue().split("\r")
    assert [line.rstrip() for line in lines if "100 %" in line] == ["reading 100 %  16.8 of 16.8 MB"]
    assert len(lines) < 110
    assert lines[-1] == ""
    assert lines[-2].isspace()


def test_no_progress_where_nobody_looks(large_file, tmp_path):
    pipe, screen = io.StringIO(), TerminalFile()
    small = tmp_path / "small.sse"
    small.write_bytes(WHOLE)
    with large_file.open("rb") as large, small.open("rb") as file:
        assert len(list(read_pieces(large, pipe))) > 1
        assert list(read_pieces(file, screen)) == [WHOLE]
    assert pipe.getvalue() == ""
    assert screen.getvalue() == ""


def test_progress_goes_to_standard_error_only(large_file, monkeypatch, capfdbinary):
    screen = TerminalFile()
    monkeypatch.setattr(sys, "stderr", screen)
    main(["response", str(large_file)])
    assert "100 %" in screen.getvalue()
    assert json.loads(capfdbinary.readouterr().out)["status"] == "truncated"
