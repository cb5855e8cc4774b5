"""A live stream is kept as it came, without what is secret, and stays the same stream."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamshim.capture import Capture, Recorder, TimedPiece, read_capture, write_capture
from streamshim.cli import main
from streamshim.events import TextDelta
from streamshim.scrubbing import PERSONAL, mask, scrub
from tests.reading import decode, plain
from tests.small_streams import DONE, chat, frame
from tests.test_cli import POSIX, WHOLE, run, start
from tests.test_corpus import CORPUS
from tests.test_scenarios import SCENARIOS, load

RECORDED = sorted(path for folder in CORPUS.glob("*/") for path in folder.glob("*.*"))


def bodies() -> dict[str, tuple[bytes, dict[str, Any]]]:
    scenarios = {name: load(name) for name in SCENARIOS}
    return {name: (b"".join(one["pieces"]), one["options"]) for name, one in scenarios.items()}


# What scrubbing leaves as it is


def differences(one: Any, other: Any) -> list[tuple[Any, Any]]:
    """The values that differ between two trees of the same shape; two trees of different shape differ as a whole."""
    if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
        return [pair for inner in zip(one, other, strict=True) for pair in differences(*inner)]
    return [] if one == other else [(one, other)]


def assert_same_but_for_secrets(body: bytes, options: dict[str, Any]) -> None:
    scrubbed = scrub(body)
    assert len(scrubbed) == len(body)
    before = [plain(event) for event in decode([body], **options)]
    after = [plain(event) for event in decode([scrubbed], **options)]
    assert len(before) == len(after)
    stand_ins: dict[str, str] = {}
    for value, stand_in in differences(tuple(before), tuple(after)):
        assert isinstance(value, str)
        assert len(stand_in) == len(value)
        assert stand_ins.setdefault(value, stand_in) == stand_in
    ids = {value: other for value, other in stand_ins.items() if other != mask(value)}
    assert len(set(ids.values())) == len(ids)


@pytest.mark.parametrize("part", range(8))
def test_a_scrubbed_scenario_says_the_same_but_for_secrets(part: int) -> None:
    for body, options in list(bodies().values())[part::8]:
        assert_same_but_for_secrets(body, options)


@pytest.mark.skipif(not RECORDED, reason="the recorded streams (../shared/corpus) are not here")
@pytest.mark.parametrize("part", range(8))
def test_a_scrubbed_recording_says_the_same_but_for_secrets(part: int) -> None:
    for path in RECORDED[part::8]:
        assert_same_but_for_secrets(path.read_bytes(), {})


def test_scrubbing_twice_changes_nothing_more() -> None:
    for body, _ in bodies().values():
        scrubbed = scrub(body)
        assert scrub(scrubbed) == scrubbed


def test_what_the_model_says_in_the_scenarios_stays_to_the_byte() -> None:
    said = ("text_delta", "reasoning_delta", "refusal_delta")
    for body, _ in bodies().values():
        before, after = ([event for event in decode([data]) if event.type in said] for data in (body, scrub(body)))
        assert before == after


@given(st.binary(max_size=300))
def test_any_bytes_keep_their_length_and_their_framing(data: bytes) -> None:
    scrubbed = scrub(data)
    assert len(scrubbed) == len(data)
    structure = re.compile(rb'[\r\n"{}\[\],:\\]')
    assert [m.span() for m in structure.finditer(scrubbed)] == [m.span() for m in structure.finditer(data)]


STRINGS = st.text(max_size=8) | st.sampled_from(["a@b.example", "sk-12345678901234"])
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | STRINGS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["user", "id", "item_id", "content", "metadata", "a"]), inner, max_size=4)
    ),
    max_leaves=12,
)


def shape(value: Any) -> Any:
    """What must not change: everything but the characters of strings."""
    if isinstance(value, dict):
        return {name: shape(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [shape(inner) for inner in value]
    return len(value.encode("utf-8", "surrogatepass")) if isinstance(value, str) else value


@given(JSON_VALUES, st.booleans(), st.sampled_from([None, 2]))
def test_a_scrubbed_document_is_json_of_the_same_shape(value: Any, ascii_only: bool, indent: int | None) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent).encode("utf-8", "surrogatepass")
    scrubbed = json.loads(scrub(text).decode("utf-8", "surrogatepass"))
    assert shape(scrubbed) == shape(value)


# What it puts out


def scrubbed_member(**members: Any) -> Any:
    (payload,) = [json.loads(line[6:]) for line in scrub(frame(members)).splitlines() if line]
    return payload


@pytest.mark.parametrize("member", sorted(PERSONAL - {"metadata"}))
def test_members_that_name_somebody_are_masked(member: str) -> None:
    assert scrubbed_member(**{member: "Bob 7, Kéa"}) == {member: "Xxx 0, X\u00b7x"}


def test_members_are_masked_however_they_are_written_and_however_deep() -> None:
    deep = {"Safety-Identifier": ["bob"], "safetyIdentifier": {"name": "bob", "age": 7}}
    assert scrubbed_member(**deep) == {"Safety-Identifier": ["xxx"], "safetyIdentifier": {"name": "xxx", "age": 7}}


def test_metadata_is_masked_but_not_what_a_vendor_adds_to_an_error() -> None:
    assert scrubbed_member(metadata={"trip": "to Roscoff"}) == {"metadata": {"trip": "xx Xxxxxxx"}}
    error = {"error": {"message": "no", "metadata": {"raw": "overloaded"}}}
    assert scrubbed_member(**error) == error


@pytest.mark.parametrize(
    ("text", "scrubbed"),
    [
        ("Incorrect API key: sk-proj-Ab12Cd34Ef56.", "Incorrect API key: sk-xxxx-Xx00Xx00Xx00."),
        ("key sk-abcd1********wxyz", "key sk-xxxx0********xxxx"),
        ("Authorization: Bearer abc.DEF_123-456", "Authorization: Bearer xxx.XXX_000-000"),
        ("eyJhbGciOiJIUzI1.eyJzdWIiOiIx.c2lnbmF0dXJl", "xxXxxXxxXxXXXxX0.xxXxxXXxXxXx.x0xxxxX0xXXx"),
        ("write to bob.k@tide.example, or not", "write to xxx.x@xxxx.xxxxxxx, or not"),
        ("in organization org-Ab12Cd34Ef on tokens", "in organization org-Xx00Xx00Xx on tokens"),
        ("ft:mira-3:harbour-office::a1", "ft:mira-3:xxxxxxx-xxxxxx::x0"),
        ("AKIAABCDEFGH12345678", "AKIAXXXXXXXX00000000"),
    ],
)
def test_keys_tokens_and_addresses_are_masked_in_any_text(text: str, scrubbed: str) -> None:
    assert scrubbed_member(message=text) == {"message": scrubbed}


@pytest.mark.parametrize(
    "text",
    [
        "basic understanding of the tides",
        "sk-learn-is-a-library",
        "user_preferences",
        "a @ b",
        "10:30-11:45",
        "id-card",
    ],
)
def test_words_that_only_look_like_keys_stay(text: str) -> None:
    assert scrubbed_member(content=text) == {"content": text}


def test_an_address_that_deltas_part_is_masked_in_each_and_in_the_snapshot() -> None:
    def event(kind: str, **members: Any) -> bytes:
        return frame({"type": f"response.output_text.{kind}", "item_id": "m", "output_index": 0, **members})

    body = event("delta", delta="Ask bo") + event("delta", delta="b@tide.exa") + event("delta", delta="mple now")
    body += event("done", text="Ask bob@tide.example now")
    deltas = [event.delta for event in decode([scrub(body)]) if isinstance(event, TextDelta)]
    assert deltas == ["Ask xx", "x@xxxx.xxx", "xxxx now"]
    assert b"Ask xxx@xxxx.xxxxxxx now" in scrub(body)


def test_an_address_is_masked_alike_whether_it_is_escaped_or_not() -> None:
    assert scrub(rb'{"a": "b\u006fb@tide.example"}') == rb'{"a": "x\u0078x@xxxx.xxxxxxx"}'
    assert scrub('{"user": "é\\u00e9€\\u20ac🌊\\ud83c\\udf0a"}'.encode()) == (
        '{"user": "·\\u00b7•\\u2022🟦\\ud83d\\udfe6"}'.replace("🟦", "\U0001f7e6").encode()
    )


def test_the_same_id_has_the_same_stand_in_wherever_it_comes() -> None:
    body = frame({"response": {"id": "resp_68af4c2d"}, "item_id": "msg_01XyZ9", "tool_call_id": "call_1"})
    body += frame({"previous_response_id": "resp_68af4c2d", "id": "550e8400-e29b-41d4-a716-446655440000"})
    assert scrub(body) == (
        frame({"response": {"id": "resp_00000001"}, "item_id": "msg_000002", "tool_call_id": "call_1"})
        + frame({"previous_response_id": "resp_00000001", "id": "00000000-0000-0000-0000-000000000003"})
    )


def test_an_id_keeps_its_stand_in_where_it_names_somebody() -> None:
    scrubbed = scrubbed_member(metadata={"trip": "trip_68af4c2d"}, id="trip_68af4c2d")
    assert scrubbed == {"metadata": {"trip": "trip_00000001"}, "id": "trip_00000001"}


def test_a_secret_in_a_frame_that_was_cut_is_put_out_too() -> None:
    assert scrub(b'data: {"user": "bob') == b'data: {"user": "xxx'
    assert scrub(b'data: {"a": "sk-1234567890123') == b'data: {"a": "sk-0000000000000'


def test_other_fields_and_comments_stay() -> None:
    body = b': "user": "bob"\nevent: a\nid: sk-12345678901234\n\n'
    assert scrub(body) == body


def test_a_document_in_several_lines_is_scrubbed_as_one() -> None:
    body = json.dumps({"metadata": {"a": "bob"}, "text": "kept"}, indent=2).encode()
    assert scrub(body) == body.replace(b"bob", b"xxx")


def test_a_broken_frame_does_not_mask_the_next_one() -> None:
    body = b'data: {"metadata": {"a": "bob"\n\ndata: {"content": "kept"}\n\n'
    assert scrub(body) == body.replace(b"bob", b"xxx")


def test_a_document_of_any_depth_is_scrubbed_in_time_that_grows_with_its_length() -> None:
    body = b'{"metadata": "bob", "a": ["b", ' * 60_000
    assert scrub(body) == body.replace(b"bob", b"xxx")


# Recorder and sidecar


class Clock:
    """Time that passes when it is told."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def recorded(*pieces: tuple[bytes, float]) -> Capture:
    clock = Clock()
    recorder = Recorder(clock)
    for data, at in pieces:
        clock.now = 100.0 + at
        recorder.feed(data)
    clock.now += 1
    return recorder.close()


def test_recorder_notes_each_read_with_its_time() -> None:
    capture = recorded((b"one", 0.5), (b"", 0.6), (b"three", 2.25))
    assert capture.pieces == [TimedPiece(b"one", 0.5), TimedPiece(b"three", 2.25)]
    assert (capture.duration, capture.ended, capture.scrubbed, capture.body) == (3.25, "eof", False, b"onethree")


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    capture = recorded((b"one", 0.5), (b"three", 2.25))
    path = tmp_path / "out.sse"
    write_capture(capture, path)
    assert path.read_bytes() == b"onethree"
    assert json.loads((tmp_path / "out.sse.json").read_text()) == {
        "version": 1,
        "bytes": 8,
        "scrubbed": False,
        "ended": "eof",
        "duration": 3.25,
        "pieces": [[0, 0.5], [3, 2.25]],
    }
    assert read_capture(path) == capture


def test_scrubbing_keeps_reads_and_times() -> None:
    capture = recorded((b'data: {"user":"bo', 0.5), (b'b"}\n\n', 2.25))
    scrubbed = capture.scrub()
    assert scrubbed.pieces == [TimedPiece(b'data: {"user":"xx', 0.5), TimedPiece(b'x"}\n\n', 2.25)]
    assert (scrubbed.duration, scrubbed.scrubbed) == (capture.duration, True)


def test_without_a_sidecar_there_is_one_piece_and_no_time(tmp_path: Path) -> None:
    path = tmp_path / "out.sse"
    path.write_bytes(b"data: 1\n\n")
    capture = read_capture(path)
    assert capture.pieces == [TimedPiece(b"data: 1\n\n", None)]
    assert not capture.is_timed
    with pytest.raises(ValueError, match="without times"):
        capture.sidecar()


GOOD = {"version": 1, "bytes": 8, "scrubbed": True, "ended": "eof", "duration": 3.5, "pieces": [[0, 0.5], [3, 2.25]]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 2}, "of version 2"),
        ({"bytes": 9}, "for 9 bytes, and there are 8"),
        ({"pieces": [[0, 0.5], [8, 1.0]]}, "its pieces"),
        ({"pieces": [[1, 0.5]]}, "its pieces"),
        ({"pieces": [[0, 0.5], [3, 0.4]]}, "its pieces"),
        ({"pieces": [[0, "0.5"]]}, "its pieces"),
        ({"pieces": []}, "its pieces"),
        ({"pieces": 3}, "its pieces"),
        ({"duration": None}, "its duration"),
        ({"ended": "tide"}, "ending"),
    ],
)
def test_a_sidecar_that_does_not_fit_is_refused(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = tmp_path / "out.sse"
    path.write_bytes(b"onethree")
    sidecar = tmp_path / "out.sse.json"
    sidecar.write_text(json.dumps(GOOD))
    assert len(read_capture(path).pieces) == 2
    sidecar.write_text(json.dumps({**GOOD, **change}))
    with pytest.raises(ValueError, match=f"out.sse.json is no sidecar of out.sse: .*{message}"):
        read_capture(path)


@pytest.mark.parametrize("text", ["", "[1]", "no JSON"])
def test_a_file_beside_it_that_is_no_sidecar_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "out.sse"
    path.write_bytes(b"onethree")
    (tmp_path / "out.sse.json").write_text(text)
    with pytest.raises(ValueError, match="is no sidecar"):
        read_capture(path)


def test_a_replayed_capture_gives_the_events_of_the_stream(tmp_path: Path) -> None:
    path = tmp_path / "out.sse"
    pieces = [WHOLE[i : i + 50] for i in range(0, len(WHOLE), 50)]
    write_capture(recorded(*((piece, number / 10) for number, piece in enumerate(pieces))), path)
    replayed = [piece.data for piece in read_capture(path).pieces]
    assert replayed == pieces
    assert [plain(event) for event in decode(replayed)] == [plain(event) for event in decode([WHOLE])]


# The command


def test_capture_keeps_a_stream_scrubbed_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "out.sse"
    done = run("capture", path, stdin=frame({**chat({"content": "High water"}), "user": "bob"}) + DONE)
    assert done.returncode == 0
    assert done.stdout == b""
    assert re.fullmatch(rf"{re.escape(str(path))}: \d+ bytes in 1 reads, \d+\.\d s, scrubbed\n", done.stderr.decode())
    assert b"High water" in path.read_bytes()
    assert b"bob" not in path.read_bytes()
    assert read_capture(path).scrubbed


def test_capture_keeps_every_byte_with_the_option(tmp_path: Path) -> None:
    body = frame({"user": "bob"}) + b"\xff\x00"
    assert run("capture", tmp_path / "out.sse", "--no-scrub", stdin=body).returncode == 0
    assert read_capture(tmp_path / "out.sse").body == body
    assert read_capture(tmp_path / "out.sse").scrubbed is False


def test_capture_passes_the_bytes_on_as_they_came(tmp_path: Path) -> None:
    body = frame({"user": "bob"})
    assert run("capture", tmp_path / "out.sse", "--tee", stdin=body).stdout == body
    assert b"xxx" in (tmp_path / "out.sse").read_bytes()


def test_capture_reads_a_file_as_well(tmp_path: Path) -> None:
    source = tmp_path / "in.sse"
    source.write_bytes(WHOLE)
    assert run("capture", tmp_path / "out.sse", source).returncode == 0
    assert len((tmp_path / "out.sse").read_bytes()) == len(WHOLE)


def test_capture_sees_each_read_of_a_live_pipe_and_passes_it_on_at_once(tmp_path: Path) -> None:
    with start("capture", str(tmp_path / "out.sse"), "--tee", "--no-scrub") as process:
        for piece in (b"data: 1", b"\n\nda", b"ta: 2\n\n"):
            process.stdin.write(piece)
            process.stdin.flush()
            assert process.stdout.read(len(piece)) == piece
        process.stdin.close()
        assert process.wait(timeout=60) == 0
    capture = read_capture(tmp_path / "out.sse")
    assert [piece.data for piece in capture.pieces] == [b"data: 1", b"\n\nda", b"ta: 2\n\n"]
    assert capture.ended == "eof"


@POSIX
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_capture_that_is_interrupted_or_ended_keeps_what_came(tmp_path: Path, sent: signal.Signals) -> None:
    with start("capture", str(tmp_path / "out.sse"), "--tee") as process:
        process.stdin.write(b'data: {"user":"bob"}\n\n')
        process.stdin.flush()
        assert process.stdout.read(6) == b"data: "
        process.send_signal(sent)
        assert process.wait(timeout=60) == 130
    capture = read_capture(tmp_path / "out.sse")
    assert (capture.body, capture.ended) == (b'data: {"user":"xxx"}\n\n', "interrupted")


@POSIX
def test_capture_goes_on_when_the_reader_of_the_copy_leaves(tmp_path: Path) -> None:
    with start("capture", str(tmp_path / "out.sse"), "--tee") as process:
        process.stdout.close()
        for _ in range(3):
            process.stdin.write(b"data: 1\n\n")
            process.stdin.flush()
        process.stdin.close()
        assert process.wait(timeout=60) == 0
        assert b"Error" not in process.stderr.read()
    assert (tmp_path / "out.sse").read_bytes() == b"data: 1\n\n" * 3


@pytest.mark.parametrize("place", ["nowhere/out.sse", "."])
def test_capture_says_before_it_reads_that_it_cannot_write(place: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "streamshim", "capture", str(tmp_path / place)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.wait(timeout=60) == 2
        assert process.stderr.read().startswith(b"streamshim: cannot write ")


def test_capture_of_a_file_that_does_not_exist_is_a_usage_error(tmp_path: Path, capsys: Any) -> None:
    assert main(["capture", str(tmp_path / "out.sse"), str(tmp_path / "none.sse")]) == 2
    assert "cannot read" in capsys.readouterr().err
    assert not (tmp_path / "out.sse").exists()
