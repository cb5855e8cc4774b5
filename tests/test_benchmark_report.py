"""What the benchmark tells: tables, JSON, the page and its charts come from the measurements, and from nothing else."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from benchmarks.__main__ import main
from benchmarks.charts import charts
from benchmarks.page import figures, filled, write
from benchmarks.report import Measurement, Report, Spread
from benchmarks.svg import Bar, Line, LogScale, bar_chart, line_chart
from benchmarks.tables import LAYOUTS, Table, figure

PAGE = Path(__file__).parent.parent / "docs" / "performance.md"
SVG = "{http://www.w3.org/2000/svg}"


def timed(case: str, variant: str, subject: str, *ratios: float, deltas: int = 2000, streams: int = 1) -> Measurement:
    """Runs that took so many times a baseline of a millisecond."""
    samples = tuple((ratio / 1000, 1 / 1000) for ratio in ratios)
    return Measurement(case, variant, subject, samples=samples, deltas=deltas, streams=streams, size=1000)


def without(case: str, variant: str, subject: str, outcome: Any, reason: str) -> Measurement:
    return Measurement(case, variant, subject, outcome=outcome, reason=reason)


def a_report(*measurements: Measurement) -> Report:
    return Report(15, 20, "CPython 3.11.7", 2, {"openai": "3.57.0"}, list(measurements))


def table(name: str, *measurements: Measurement) -> Table:
    (found,) = LAYOUTS[name].tables(a_report(*measurements))
    return found


WHOLE = a_report(
    *(
        timed("chat-obfuscation", "64KB", name, 1.5 * n, 2 * n, 3 * n)
        for n, name in enumerate(("openai", "litellm"), 40)
    ),
    timed("chat-obfuscation", "64KB", "streamshim-fast", 0.4, 0.5, 0.6),
    timed("chat-obfuscation", "64KB", "streamshim-plain", 1.4, 1.5, 1.6),
    timed("chat-obfuscation", "64KB", "streamshim-relay", 3.4, 3.5, 3.6),
    without("chat-obfuscation", "64KB", "httpx-sse", "faulty", "wrong text"),
    timed("chat-obfuscation", "event", "openai", 99.0),
    timed("growth-text", "2k", "streamshim-fast", 1),
    timed("growth-text", "20k", "streamshim-fast", 10, deltas=20_000),
    timed("growth-text", "200k", "streamshim-fast", 100, deltas=200_000),
    timed("growth-text", "2k", "litellm", 600),
    without("growth-text", "20k", "litellm", "slow", "not read within 20 s"),
    without("growth-text", "200k", "litellm", "slow", "not tried: 20k was too much already"),
    without("growth-text", "2k", "httpx-sse", "absent", "httpx-sse is not installed"),
)


# -- figures ----------------------------------------------------------------------------------------------------------


def test_a_ratio_is_that_of_neighbours() -> None:
    found = Measurement("chat", "64KB", "openai", samples=((1.0, 1.0), (8.0, 2.0), (9.0, 3.0)))
    assert found.ratio == Spread(1.0, 3.0, 4.0)
    assert found.seconds == 8.0


def test_times_are_given_a_delta_and_a_stream() -> None:
    found = timed("short", "64KB", "openai", 40, deltas=20, streams=100)
    assert found.microseconds_per_delta == pytest.approx(20)
    assert found.microseconds_per_stream == pytest.approx(400)


@pytest.mark.parametrize(
    ("value", "words"), [(0.483, "0.48"), (9.999, "10.00"), (12.34, "12.3"), (123.4, "123"), (12345.6, "12,346")]
)
def test_a_figure_has_three_digits_that_matter(value: float, words: str) -> None:
    assert figure(value) == words


def test_a_report_survives_json() -> None:
    assert Report.from_json(json.loads(json.dumps(WHOLE.to_json()))) == WHOLE


# -- tables -----------------------------------------------------------------------------------------------------------


def test_a_reading_table_has_the_median_and_the_spread_of_the_ratios() -> None:
    found = table(
        "reading",
        timed("chat", "64KB", "openai", 70, 72, 75),
        timed("chat", "event", "openai", 80),
        timed("chat", "64KB", "streamshim-fast", 0.5),
        timed("chat", "event", "streamshim-fast", 0.7),
    )
    assert found.header == ("", "64KB", "event")
    assert found.rows == [
        ("openai", "72.0 (70.0–75.0)", "80.0 (80.0–80.0)"),
        ("streamshim-fast", "0.50 (0.50–0.50)", "0.70 (0.70–0.70)"),
    ]


def test_each_reading_case_has_a_table_and_all_stand_in_the_table_of_speeds() -> None:
    report = a_report(timed("chat", "64KB", "openai", 70), timed("responses", "64KB", "openai", 60))
    assert [found.title for found in LAYOUTS["reading"].tables(report)] == ["Reading chat", "Reading responses"]
    (speeds,) = LAYOUTS["speed"].tables(report)
    assert (speeds.header, speeds.rows) == (("", "chat", "responses"), [("openai", "35.0", "30.0")])


def test_who_has_no_figure_stands_in_the_table_with_the_reason() -> None:
    found = table(
        "reading",
        without("chat", "64KB", "openai", "faulty", "wrong text: 3 characters"),
        without("chat", "event", "openai", "slow", "not read within 20 s"),
        without("chat", "64KB", "litellm", "absent", "litellm is not installed"),
        without("chat", "event", "litellm", "absent", "litellm is not installed"),
    )
    assert found.rows == [("openai", "error (a)", "too slow (b)"), ("litellm", "– (c)", "– (c)")]
    assert found.reasons == ["wrong text: 3 characters", "not read within 20 s", "litellm is not installed"]
    assert "(c) litellm is not installed" in found.text()
    assert "- (c) litellm is not installed" in found.markdown(3)


def test_a_gateway_shows_time_and_memory_for_each_stream() -> None:
    weighed = Measurement(
        "gateway", "100", "streamshim-fast", samples=((0.2, 0.1),), deltas=2000, streams=100, peak=12_000_000
    )
    assert table("gateway", weighed).rows == [("streamshim-fast", "1.00 µs, 120 KB")]


def test_memory_is_set_against_the_answer() -> None:
    weighed = Measurement("memory-100MB", "peak", "streamshim-fast", peak=30_000_000, answer=3_000_000)
    assert table("memory", weighed).rows == [("streamshim-fast", "30.0 MB, 10.0 × the answer")]


def test_framing_is_told_in_milliseconds_by_case() -> None:
    found = table(
        "framing", timed("huge-line-drip", "own", "openai", 29), timed("huge-line-drip", "own", "httpx-sse", 24)
    )
    assert (found.header, found.rows) == (("", "openai", "httpx-sse"), [("huge-line-drip", "29.0", "24.0")])


def test_a_table_is_aligned_in_a_terminal_and_legal_in_markdown() -> None:
    found = Table("Title", "what", ("", "a", "long"), [("x", "1", "2"), ("yyy", "3", "4")], [])
    assert found.text() == "Title: what\n     a  long\nx    1     2\nyyy  3     4\n"
    assert found.markdown(3) == (
        "### Title\n\nWhat.\n\n|  | a | long |\n| --- | ---: | ---: |\n| x | 1 | 2 |\n| yyy | 3 | 4 |\n"
    )


# -- the command line -------------------------------------------------------------------------------------------------


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "figures.json"
    path.write_text(json.dumps(WHOLE.to_json()), encoding="utf-8")
    return path


def test_figures_are_told_again_from_a_file(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--read", str(saved)]) == 0
    told = capsys.readouterr().out
    assert told.startswith("CPython 3.11.7, 2 cores; openai 3.57.0\n")
    assert "80.0 (60.0–120)" in told


def test_json_goes_to_a_file_beside_the_tables_or_alone_to_standard_output(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--read", str(saved), "--json", str(tmp_path / "again.json")]) == 0
    assert "Reading chat-obfuscation" in capsys.readouterr().out
    assert json.loads((tmp_path / "again.json").read_text(encoding="utf-8")) == json.loads(saved.read_text("utf-8"))
    assert main(["--read", str(saved), "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(saved.read_text("utf-8"))


def test_chosen_cases_and_peers_are_measured(capsys: pytest.CaptureFixture[str]) -> None:
    chosen = ["--case", "short", "small-chunk", "--peer", "streamshim-plain", "--rounds", "1", "--json", "-"]
    assert main(chosen) == 0
    report = json.loads(capsys.readouterr().out)
    found = [(row["case"], row["variant"], row["subject"], row["outcome"]) for row in report["measurements"]]
    assert found == [
        ("short", "64KB", "streamshim-plain", "measured"),
        ("short", "event", "streamshim-plain", "measured"),
        ("small-chunk", "own", "streamshim-plain", "measured"),
    ]
    assert report["versions"].keys() == {"streamshim", "orjson"}


@pytest.mark.parametrize(("subject", "code"), [("streamshim-fast", 1), ("openai", 0)])
def test_only_a_fault_of_this_project_is_a_failure(tmp_path: Path, subject: str, code: int) -> None:
    path = tmp_path / "figures.json"
    report = a_report(without("chat", "64KB", subject, "faulty", "wrong text"))
    path.write_text(json.dumps(report.to_json()), encoding="utf-8")
    assert main(["--read", str(path)]) == code


def test_a_case_is_profiled(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--profile", "short/64KB", "--peer", "streamshim-plain"]) == 0
    head, columns, *rows = capsys.readouterr().out.splitlines()
    assert (head, columns.split()[:2]) == ("streamshim-plain, short", ["own", "ns/delta"])
    assert any("ChatWire." in row for row in rows)


# -- the page ---------------------------------------------------------------------------------------------------------


def test_only_what_stands_between_markers_is_written_anew() -> None:
    first, second = "<!-- figures: growth -->\n", "<!-- figures: memory -->\n"
    end = "<!-- end of figures -->\n"
    written = filled(f"before\n{first}old\n{end}after\n{second}{end}", {"growth": "new\n", "memory": "more"})
    assert written == f"before\n{first}\nnew\n\n{end}after\n{second}\nmore\n\n{end}"
    assert filled(written, {"growth": "new", "memory": "more"}) == written


def test_the_page_says_on_what_machine_and_with_which_versions() -> None:
    assert figures(WHOLE)["machine"].startswith(
        "CPython 3.11.7 on a machine of 2 cores; at most 15 rounds, at most 20 seconds a run. openai 3.57.0."
    )
    assert "| litellm | completion(stream=True), responses(stream=True) |" in figures(WHOLE)["subjects"]


def test_the_page_and_its_charts_are_written_from_one_report(tmp_path: Path) -> None:
    (tmp_path / "performance.md").write_text("<!-- figures: reading -->\n<!-- end of figures -->\n", encoding="utf-8")
    written = write(WHOLE, tmp_path)
    assert sorted(path.name for path in written) == sorted(
        ["performance.md", "performance-chat.svg", "performance-growth-text.svg"]
    )
    assert "| openai | 80.0 (60.0–120) |" in (tmp_path / "performance.md").read_text(encoding="utf-8")


def test_the_written_page_asks_for_figures_that_there_are_and_shows_every_chart() -> None:
    text = PAGE.read_text(encoding="utf-8")
    asked = re.findall(r"<!-- figures: ([\w-]+) -->", text)
    assert sorted(asked) == sorted(figures(WHOLE))
    assert text.count("<!-- end of figures -->") == len(asked)
    shown = re.findall(r"\]\((performance-[\w-]+\.svg)\)", text)
    assert {path.name for path in PAGE.parent.glob("performance-*.svg")} == set(shown)
    assert set(charts(WHOLE)) <= set(shown)


# -- charts -----------------------------------------------------------------------------------------------------------


def parts(chart: str, kind: str, style: str) -> list[ElementTree.Element]:
    """The elements of a chart that have a class; parsing it shows that it is well-formed."""
    root = ElementTree.fromstring(chart)
    return [element for element in root.iter(f"{SVG}{kind}") if style in (element.get("class") or "").split()]


def words(chart: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(chart).iter(f"{SVG}text")]


def test_a_bar_chart_has_one_bar_for_each_row_that_has_a_figure() -> None:
    chart = charts(WHOLE)["performance-chat.svg"]
    assert len(parts(chart, "rect", "bar")) == 4
    assert len(parts(chart, "rect", "own")) == 2
    assert len(parts(chart, "line", "spread")) == 4
    told = words(chart)
    assert [
        word for word in told if word in ("streamshim-fast", "streamshim-plain", "openai", "litellm", "httpx-sse")
    ] == [
        "streamshim-fast",
        "streamshim-plain",
        "openai",
        "litellm",
        "httpx-sse",
    ]
    assert "error" in told
    assert "0.50×" in told


def test_bars_begin_at_the_bare_loop_and_are_as_long_as_their_logarithm() -> None:
    rows = [Bar(name, value, value, value, "", is_own=False) for name, value in (("a", 10), ("b", 100), ("c", 0.1))]
    ten, hundred, tenth = (
        (float(bar.get("x", "")), float(bar.get("width", "")))
        for bar in parts(bar_chart("", "", "", rows), "rect", "bar")
    )
    assert ten[0] == hundred[0] == pytest.approx(tenth[0] + tenth[1])
    assert hundred[1] == pytest.approx(2 * ten[1], abs=0.3)
    assert tenth[1] == pytest.approx(ten[1], abs=0.3)


def test_a_line_chart_has_a_line_for_each_subject_and_a_point_for_each_figure() -> None:
    chart = charts(WHOLE)["performance-growth-text.svg"]
    assert len(parts(chart, "polyline", "line")) == 2
    assert len(parts(chart, "circle", "point")) == 3 + 1
    told = words(chart)
    assert "streamshim-fast" in told
    assert "litellm (too slow)" in told
    assert "Without figures: httpx-sse (–)." in told


def test_labels_of_lines_that_end_together_are_kept_apart() -> None:
    lines = [Line(f"line {number}", [1, 100 + number], is_own=False) for number in range(6)]
    root = ElementTree.fromstring(line_chart("", "", ["a", "b"], lines))
    heights = sorted(
        float(text.get("y", "")) for text in root.iter(f"{SVG}text") if (text.text or "").startswith("line")
    )
    assert min(after - before for before, after in pairwise(heights)) >= 17
    assert heights[-1] <= float(root.get("height", ""))


def test_words_of_a_chart_are_escaped() -> None:
    chart = bar_chart("a < b & c", "", "", [Bar("<x>", 2, 2, 2, "&", is_own=False)])
    assert {"a < b & c", "<x>", "&"} <= set(words(chart))


def test_a_scale_goes_from_a_round_number_to_a_round_number() -> None:
    assert LogScale([0.6, 73], 0, 1).ticks == [0.5, 1, 2, 5, 10, 20, 50, 100]
    assert LogScale([5, 5], 0, 1).ticks == [5, 10]
    assert LogScale([1, 2], 0, 1).ticks == [1, 2]


def test_charts_follow_the_scheme_of_the_reader_and_name_themselves() -> None:
    for chart in charts(WHOLE).values():
        root = ElementTree.fromstring(chart)
        assert "prefers-color-scheme: dark" in (root.findtext(f"{SVG}style") or "")
        assert root.findtext(f"{SVG}title")
        assert root.findtext(f"{SVG}desc")


def test_there_is_no_chart_where_nothing_was_measured() -> None:
    assert charts(a_report(without("responses", "64KB", "openai", "absent", "not installed"))) == {}
