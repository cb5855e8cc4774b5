"""A recorded stream as a picture: what is drawn where, and that a stream can say nothing but text."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from streamshim.capture import Capture, TimedPiece, write_capture
from streamshim.cli import main
from streamshim.events import StreamStart, TextDelta
from streamshim.timeline import Moment, Read, Timeline, draw, figure, page, read_timelines, script, style
from streamshim.timeline.drawing import COLUMNS
from streamshim.timeline.lanes import KINDS, MOST_LANES, Lane, lanes_of
from streamshim.timeline.markup import element, join, text
from tests.reading import decode, plain
from tests.small_streams import DONE, VENDOR_ERROR, chat, frame, response_payloads
from tests.test_cli import WHOLE, run
from tests.test_corpus import CORPUS
from tests.test_scenarios import SCENARIOS, load
from tests.timelines import ATTACKS, FRAMES, call, full_capture, hostile_capture, timed

RECORDED = sorted(path for folder in CORPUS.glob("*/") for path in folder.glob("*.*"))


def lanes_by_label(timeline: Timeline) -> dict[str, Lane]:
    return {lane.label: lane for lane in lanes_of(timeline)}


def full() -> Timeline:
    (timeline,) = read_timelines(full_capture())
    return timeline


def untimed(body: bytes) -> Capture:
    return Capture([TimedPiece(body, None)])


# Moments


def test_each_event_has_the_time_of_the_piece_that_made_it() -> None:
    timeline = full()
    deltas = [(moment.at, moment.event.delta) for moment in timeline.moments if isinstance(moment.event, TextDelta)]
    assert deltas == [(1.5, "High "), (1.5, "water"), (1.5, " at noon.")]
    assert (timeline.start, timeline.end, timeline.unit) == (0.0, 2.2, "seconds")
    assert timeline.reads[0] == Read(0.4, len(frame(FRAMES[0][1])))
    assert [timeline.first(kind) for kind in ("reasoning_delta", "text_delta", "refusal_delta")] == [0.4, 1.5, None]


def test_events_are_those_of_the_stream_with_its_repairs() -> None:
    capture = full_capture()
    expected = decode([piece.data for piece in capture.pieces], repairs=True)
    assert [plain(moment.event) for moment in full().moments] == [plain(event) for event in expected]


def test_a_silence_is_told_from_when_to_when() -> None:
    assert full().silences() == [(0.0, 0.4), (0.45, 1.5)]


def test_a_steady_stream_has_no_silence() -> None:
    frames = [(number / 10, chat({"content": "a"})) for number in range(1, 30)]
    (timeline,) = read_timelines(timed(frames, 3.0))
    assert timeline.silences() == []


def test_without_times_the_bytes_are_the_measure() -> None:
    body = b"".join(frame(payload) for _, payload in FRAMES) + DONE
    (timeline,) = read_timelines(untimed(body))
    assert (timeline.unit, timeline.end) == ("bytes", len(body))
    first = next(moment.at for moment in timeline.moments if isinstance(moment.event, TextDelta))
    assert first == sum(len(frame(payload)) for _, payload in FRAMES[:3])
    assert timeline.silences() == []
    assert "wire" not in {lane.kind for lane in lanes_of(timeline)}


@pytest.mark.parametrize("line_end", [b"\r\n", b"\r", b"\n"])
def test_without_times_events_are_told_apart_whatever_ends_the_lines(line_end: bytes) -> None:
    body = b"".join(frame(payload) for _, payload in FRAMES).replace(b"\n", line_end)
    (timeline,) = read_timelines(untimed(body))
    assert len({moment.at for moment in timeline.moments}) > 8


def test_several_responses_of_a_capture_follow_one_another() -> None:
    frames = [(1.0, payload) for payload in response_payloads("one")]
    frames += [(2.0, payload) for payload in response_payloads("two", response_id="resp_2")]
    first, second = read_timelines(timed(frames, 3.0))
    assert [(first.start, first.end), (second.start, second.end)] == [(0.0, 1.0), (1.0, 2.0)]
    assert [timeline.stream_end.response_id for timeline in (first, second)] == ["resp_1", "resp_2"]
    html = page("two", [first, second])
    assert "response 1 of 2" in html
    assert html.count("<figure") == 2


def test_a_stream_of_nothing_is_drawn_too() -> None:
    for capture in (Capture(), Capture([], 0.0), Capture([], 3.0)):
        (timeline,) = read_timelines(capture)
        assert timeline.stream_end.status == "truncated"
        assert "truncated" in page("nothing", [timeline], capture)


# Lanes


def test_each_thing_that_a_stream_does_has_its_lane_in_order() -> None:
    assert [(lane.kind, lane.label, lane.note) for lane in lanes_of(full())] == [
        ("wire", "bytes", f"{len(full_capture().body):,} in 12 reads"),
        ("reasoning", "reasoning", "16 characters in 2 deltas"),
        ("text", "text", "19 characters in 3 deltas"),
        ("tools", "tide", "complete"),
        ("tools", "berth", "complete"),
        ("media", "media", "12 characters"),
        ("repairs", "reasoning-mirrored-fields", "×2"),
        ("usage", "usage", ""),
        ("end", "start and end", ""),
    ]


def test_a_lane_knows_from_when_to_when_its_parts_were_open() -> None:
    lanes = lanes_by_label(full())
    assert list(lanes["reasoning"].spans.values()) == [(0.4, 1.5)]
    assert list(lanes["tide"].spans.values()) == [(1.8, 2.2)]


def test_what_ended_badly_is_marked() -> None:
    frames = [(0.1, chat({"tool_calls": [call(0, "tide", '{"day"')]})), (0.2, VENDOR_ERROR)]
    capture = Capture(timed(frames, 1.0).pieces[:-1], 1.0)
    (timeline,) = read_timelines(capture)
    lanes = lanes_by_label(timeline)
    assert lanes["tide"].note == "truncated"
    assert {lane.label for lane in lanes.values() if lane.is_bad} == {"tide", "errors", "start and end"}
    assert [mark.detail for mark in lanes["errors"].marks] == [
        "error: the engine is on fire · code overheated · type server_error · may be retried"
    ]


def test_answers_of_several_choices_have_lanes_of_their_own() -> None:
    frames = [(0.1, chat({"content": "one"})), (0.2, chat({"content": "two"}, index=1))]
    (timeline,) = read_timelines(timed(frames, 1.0))
    assert {"text", "text · choice 1"} <= lanes_by_label(timeline).keys()


def test_calls_beyond_the_most_share_a_lane() -> None:
    calls = [chat({"tool_calls": [call(number, f"tool_{number}", "{}")]}) for number in range(MOST_LANES + 5)]
    (timeline,) = read_timelines(timed([(1.0, payload) for payload in calls], 2.0))
    tools = [lane.label for lane in lanes_of(timeline) if lane.kind == "tools"]
    assert tools[-1] == "more tool calls"
    assert len(tools) == MOST_LANES + 1


# The picture


def marks_of(svg: str, label: str) -> list[Any]:
    lanes = {lane.get("data-label"): lane for lane in ElementTree.fromstring(svg).iter("g")}
    return [one for one in lanes[label].iter() if "mark" in one.get("class", "").split()]


def test_a_picture_is_well_formed_svg_with_a_group_for_each_lane() -> None:
    svg = draw(full())
    root = ElementTree.fromstring(svg)
    assert root.tag == "svg"
    assert [one.get("data-label") for one in root.iter("g") if one.get("data-label")] == [*lanes_by_label(full())]


def test_marks_stand_where_their_time_is() -> None:
    (text_mark,) = marks_of(draw(full()), "text")
    share = 1.5 / 2.2 * (1 - 1 / COLUMNS)
    assert float(text_mark.get("x").removesuffix("%")) == pytest.approx(100 * share, abs=0.001)
    assert text_mark.get("data-detail") == "1.500 s · 3 together\nHigh water at noon."


def test_a_repair_is_marked_with_its_quirk_id() -> None:
    marks = marks_of(draw(full()), "reasoning-mirrored-fields")
    assert [mark.get("data-detail").splitlines()[0] for mark in marks] == ["0.400 s", "0.450 s"]


def test_a_burst_is_higher_than_a_drop() -> None:
    frames = [(0.5, chat({"content": "a"})), (1.5, chat({"content": "a" * 100}))]
    (timeline,) = read_timelines(timed(frames, 2.0))
    small, large = (float(mark.get("height")) for mark in marks_of(draw(timeline), "text"))
    assert small * 2 < large


def test_a_long_stream_has_no_more_marks_than_a_picture_can_show() -> None:
    moments = [Moment(at / 1000, TextDelta("a", 0, 0)) for at in range(20_000)]
    assert 300 < len(marks_of(draw(Timeline(moments, end=20.0)), "text")) < 500


def test_events_and_times_of_ones_own_are_enough() -> None:
    moments = [Moment(0.5, StreamStart("chat", "c-1", "m-1", None)), Moment(1.0, TextDelta("High water", 0, 0))]
    svg = draw(Timeline(moments, end=2.0))
    assert marks_of(svg, "text")[0].get("data-detail") == "1.000 s\nHigh water"
    assert "it runs still" in page("live", [Timeline(moments, end=2.0)])


def test_a_figure_has_a_filter_for_each_kind_of_lane_that_is_there() -> None:
    filters = re.findall(r'<input type="checkbox" checked data-kind="(\w+)">', figure(full()))
    assert filters == list(dict.fromkeys(lane.kind for lane in lanes_of(full())))


@pytest.mark.parametrize("colours", ["", "(prefers-color-scheme: dark)"])
def test_each_kind_of_lane_has_a_colour_by_day_and_by_night(colours: str) -> None:
    sheet = style().partition("@media (prefers-color-scheme: dark)")[2 if colours else 0]
    assert [kind for kind in KINDS if f"--{kind}: #" not in sheet] == []
    assert [kind for kind in KINDS if f".{kind} {{ --lane: var(--{kind}); }}" not in style()] == []


# The page


class Tags(HTMLParser):
    """What a browser makes of a page: its elements, their attributes, and the text in scripts."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def hostile_page() -> str:
    capture = hostile_capture()
    return page("".join(ATTACKS), read_timelines(capture), capture)


def test_a_hostile_stream_adds_nothing_but_text() -> None:
    html = hostile_page()
    tags = Tags(html.replace(script(), "")).found
    assert [tag for tag, _ in tags if tag in ("script", "img", "b", "iframe", "a")] == ["script"]
    assert [name for _, attributes in tags for name in attributes if name.startswith("on")] == []
    for attack in ATTACKS[:3]:
        assert attack not in html
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", html)
    assert "&lt;script&gt;window.taken" in html


def test_a_hostile_picture_is_well_formed() -> None:
    (timeline,) = read_timelines(hostile_capture())
    root = ElementTree.fromstring(draw(timeline))
    assert {one.tag for one in root.iter()} <= {"svg", "g", "rect", "line", "text", "circle", "path"}


def test_a_page_names_nothing_outside_of_itself() -> None:
    html = page("full", [full()], full_capture())
    links = [
        attributes.get(name) for _, attributes in Tags(html).found for name in ("src", "href") if name in attributes
    ]
    assert links == ["data:,"]
    assert not re.search(r"https?://|@import|url\(", style() + script())
    assert "default-src &#x27;none&#x27;" in html


def test_the_summary_has_the_figures() -> None:
    html = page("full", [full()], full_capture())
    terms = dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", html))
    assert terms == {
        "finish": "tool_calls",
        "model": "m-1",
        "wire": "chat",
        "response": "chatcmpl-1",
        "tokens": "9 in · 12 out · 21 total",
        "text": "19 characters in 3 deltas",
        "reasoning": "16 characters in 2 deltas",
        "tool calls": "2",
        "events": str(len(full().moments)),
        "bytes": f"{len(full_capture().body):,}",
        "reads": "12",
        "first byte": "0.400 s",
        "first thought": "0.400 s",
        "first text": "1.500 s",
        "duration": "2.200 s",
        "longest silence": "1.050 s",
    }
    assert '<strong class="status completed">completed</strong>' in html
    assert "<td>reasoning-mirrored-fields</td><td>×2</td>" in html


def test_an_interrupted_recording_says_so() -> None:
    capture = Capture([TimedPiece(WHOLE[:100], 0.1)], 1.0, "interrupted")
    assert "interrupted: more may have come" in page("cut", read_timelines(capture), capture)


def test_a_long_table_of_events_says_what_it_leaves_out() -> None:
    moments = [Moment(at / 1000, TextDelta("a", 0, 0)) for at in range(2100)]
    html = page("long", [Timeline(moments, end=3.0)])
    assert "the first 2,000 events" in html
    assert "100 more" in html


@pytest.mark.parametrize("part", range(4))
def test_every_scenario_is_drawn(part: int) -> None:
    for name in list(SCENARIOS)[part::4]:
        for timeline in read_timelines(untimed(b"".join(load(name)["pieces"]))):
            ElementTree.fromstring(draw(timeline))


@pytest.mark.skipif(not RECORDED, reason="the recorded streams (../shared/corpus) are not here")
@pytest.mark.parametrize("part", range(4))
def test_every_recording_is_drawn(part: int) -> None:
    for path in RECORDED[part::4]:
        for timeline in read_timelines(untimed(path.read_bytes())):
            ElementTree.fromstring(draw(timeline))


# Markup


def test_only_markup_is_markup() -> None:
    inner = element("b", "<i>", class_="a", data_kind='"', hidden=True, title=None, lang=False)
    assert inner == '<b class="a" data-kind="&quot;" hidden>&lt;i&gt;</b>'
    assert element("p", inner, 1) == f"<p>{inner}1</p>"
    assert element("br") == "<br>"
    assert join(["<", inner]) == f"&lt;{inner}"
    assert text("a\x00\u202e\ud800b\n") == "a\u2400\ufffd\ufffdb\n"


# The command


def test_timeline_writes_a_page_with_the_times_of_the_sidecar(tmp_path: Path) -> None:
    write_capture(full_capture(), tmp_path / "in.sse")
    done = run("timeline", tmp_path / "in.sse", "--html", tmp_path / "out.html")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    html = (tmp_path / "out.html").read_text(encoding="utf-8")
    assert "<title>in.sse: timeline</title>" in html
    assert "<dt>first text</dt><dd>1.500 s</dd>" in html
    assert str(tmp_path) not in html


def test_timeline_without_a_sidecar_says_that_it_has_no_times(tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "in.sse").write_bytes(WHOLE)
    assert main(["timeline", str(tmp_path / "in.sse"), "--html", str(tmp_path / "out.html")]) == 0
    assert "in.sse has no sidecar" in capsys.readouterr().err
    assert "the picture counts bytes" in (tmp_path / "out.html").read_text(encoding="utf-8")


def test_timeline_reads_standard_input(tmp_path: Path) -> None:
    assert run("timeline", "--html", tmp_path / "out.html", stdin=WHOLE).returncode == 0
    assert "High water" in (tmp_path / "out.html").read_text(encoding="utf-8")


def test_timeline_of_a_cut_stream_ends_with_1_and_is_drawn_all_the_same(tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "in.sse").write_bytes(WHOLE[:300])
    assert main(["timeline", str(tmp_path / "in.sse"), "--html", str(tmp_path / "out.html")]) == 1
    assert '"status truncated"' in (tmp_path / "out.html").read_text(encoding="utf-8")


def test_timeline_passes_the_options_of_the_decoder_on(tmp_path: Path) -> None:
    body = frame(chat({"content": "Ebb.</think>Go."}, "stop")) + DONE
    assert run("timeline", "--html", tmp_path / "out.html", "--reasoning-tags=open", stdin=body).returncode == 0
    assert 'data-kind="reasoning"' in (tmp_path / "out.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("file", "out", "sidecar", "message"),
    [
        ("none.sse", "out.html", None, "cannot read"),
        ("in.sse", "none/out.html", None, "cannot write"),
        ("in.sse", "out.html", "{}", "in.sse.json is no sidecar of in.sse"),
    ],
)
def test_timeline_that_cannot_be_drawn_is_a_usage_error(
    file: str, out: str, sidecar: str | None, message: str, tmp_path: Path, capsys: Any
) -> None:
    (tmp_path / "in.sse").write_bytes(WHOLE)
    if sidecar is not None:
        (tmp_path / "in.sse.json").write_text(sidecar)
    assert main(["timeline", str(tmp_path / file), "--html", str(tmp_path / out)]) == 2
    assert message in capsys.readouterr().err
