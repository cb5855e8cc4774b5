"""From events to one answer: what `Collector` and `collect` make of them, whole and in the middle."""

from __future__ import annotations

import pytest

from streamshim.errors import ErrorInfo
from streamshim.events import (
    Citation,
    ErrorReport,
    Event,
    Evidence,
    Finish,
    MediaDelta,
    MediaEnd,
    MediaStart,
    Metadata,
    RawFrame,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    RefusalDelta,
    RefusalEnd,
    RefusalStart,
    Repair,
    StreamEnd,
    StreamStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    ToolKind,
    ToolProgress,
    ToolStatus,
    Unknown,
    Usage,
    UsageReport,
)
from streamshim.response import Collector, collect
from streamshim.response_models import (
    MediaPart,
    ModelResponse,
    ReasoningPart,
    RefusalPart,
    TextPart,
    ToolCallPart,
)

START = StreamStart("chat", "resp_1", "m-1", 1760000000)


def end(**fields: object) -> StreamEnd:
    values = {"usage": None, "repairs": {}, "response_id": "resp_1", "model": "m-1", **fields}
    return StreamEnd("completed", Evidence(), **values)  # type: ignore[arg-type]


def text(part: int, words: str, *, choice: int = 0) -> list[Event]:
    return [TextStart(part, choice), TextDelta(words, part, choice), TextEnd(words, part, choice)]


def call(
    part: int, *, kind: ToolKind = "function", status: ToolStatus = "complete", arguments: str = "{}", call_id: str = ""
) -> list[Event]:
    call_id = call_id or f"call_{part}"
    return [
        ToolCallStart(part, 0, None, call_id, "look", kind, f"{kind}_call"),
        ToolCallDelta(arguments, part, 0),
        ToolCallEnd(part, 0, call_id, "look", kind, arguments, status),
    ]


EVERYTHING: list[Event] = [
    START,
    ReasoningStart(0, 0, "rs_1", "summary"),
    ReasoningDelta("let me ", 0, 0),
    ReasoningDelta("see", 0, 0),
    ReasoningEnd("let me see", 0, 0, "summary", "sig"),
    ReasoningStart(1, 0, "rs_1", "encrypted"),
    ReasoningEnd("", 1, 0, "encrypted", None, "gAAA"),
    TextStart(2, 0, "msg_1", "final_answer"),
    TextDelta("Hel", 2, 0, [{"token": "Hel", "logprob": -0.1}]),
    TextDelta("lo", 2, 0, [{"token": "lo", "logprob": -0.2}]),
    Citation(2, 0, "https://example.org", "Example", 0, 5),
    TextEnd("Hello", 2, 0),
    RefusalStart(3, 0),
    RefusalDelta("no", 3, 0),
    RefusalEnd("no", 3, 0),
    ToolCallStart(4, 0, "fc_1", "call_1", "look", "function", "function_call"),
    ToolCallDelta('{"at":', 4, 0),
    ToolCallDelta("1}", 4, 0),
    ToolCallEnd(4, 0, "call_1", "look", "function", '{"at":1}', "complete", "call-sig"),
    ToolCallStart(5, 0, "ws_1", "ws_1", "web_search", "server", "web_search_call"),
    ToolProgress(5, 0, "searching", {"n": 1}),
    ToolCallEnd(5, 0, "ws_1", "web_search", "server", "{}", "handled"),
    ToolProgress(5, 0, "completed", {"n": 2}),
    MediaStart(6, 0, "aud_1", "audio/wav"),
    MediaDelta(6, 0, "QUJD", "a b"),
    MediaDelta(6, 0, "REVG", " c"),
    MediaEnd(6, 0, "QUJDREVG", None, "a b c"),
    Metadata({"tier": "default", "region": "eu"}),
    Metadata({"tier": "flex"}),
    Unknown("response.novelty", {"x": [1, 2]}),
    ErrorReport(ErrorInfo("vendor", "first", code="500")),
    ErrorReport(ErrorInfo("vendor", "second")),
    Finish(0, "tool_calls", "tool_use"),
    UsageReport(Usage(11, 7, 18, 4, None, 2, {"prompt_tokens": 11})),
    end(usage=Usage(11, 7, 18, 4, None, 2, {"prompt_tokens": 11}), repairs={"bom": 1}),
]


def test_a_whole_stream_becomes_one_response_with_every_fact() -> None:
    response = collect(EVERYTHING)
    assert (response.api, response.response_id, response.model, response.created_at) == (
        "chat",
        "resp_1",
        "m-1",
        1760000000,
    )
    assert response.status == "completed"
    assert response.error == ErrorInfo("vendor", "first", code="500")
    assert response.usage == Usage(11, 7, 18, 4, None, 2, {"prompt_tokens": 11})
    assert response.repairs == {"bom": 1}
    assert response.metadata == {"tier": "flex", "region": "eu"}
    assert response.unknown == [Unknown("response.novelty", {"x": [1, 2]})]
    assert (response.finish_reason, response.raw_finish_reason) == ("tool_calls", "tool_use")
    assert response.citations == [Citation(2, 0, "https://example.org", "Example", 0, 5)]


def test_parts_stand_in_order_of_appearance_with_all_that_was_said_of_them() -> None:
    assert collect(EVERYTHING).choices[0].parts == [
        ReasoningPart(part=0, id="rs_1", kind="summary", text="let me see", signature="sig"),
        ReasoningPart(part=1, id="rs_1", kind="encrypted", encrypted="gAAA"),
        TextPart(
            part=2,
            id="msg_1",
            phase="final_answer",
            text="Hello",
            logprobs=[{"token": "Hel", "logprob": -0.1}, {"token": "lo", "logprob": -0.2}],
        ),
        RefusalPart(part=3, text="no"),
        ToolCallPart(
            part=4,
            id="fc_1",
            call_id="call_1",
            name="look",
            item_type="function_call",
            arguments='{"at":1}',
            status="complete",
            signature="call-sig",
        ),
        ToolCallPart(
            part=5,
            id="ws_1",
            call_id="ws_1",
            name="web_search",
            kind="server",
            item_type="web_search_call",
            arguments="{}",
            status="handled",
            progress=[ToolProgress(5, 0, "searching", {"n": 1}), ToolProgress(5, 0, "completed", {"n": 2})],
        ),
        MediaPart(part=6, id="aud_1", media_type="audio/wav", data="QUJDREVG", transcript="a b c"),
    ]


def test_derived_properties_speak_of_choice_0() -> None:
    response = collect(EVERYTHING)
    assert response.text == "Hello"
    assert response.reasoning == "let me see"
    assert response.refusal == "no"
    assert [part.call_id for part in response.tool_calls] == ["call_1", "ws_1"]
    assert [part.media_type for part in response.media] == ["audio/wav"]


def test_choices_are_kept_apart_and_ordered_by_index() -> None:
    events = [START, *text(0, "second", choice=1), *text(1, "first"), Finish(1, "length", "max"), Finish(0, "stop")]
    response = collect(events)
    assert [(choice.index, choice.text, choice.finish_reason) for choice in response.choices] == [
        (0, "first", "stop"),
        (1, "second", "length"),
    ]
    assert response.text == "first"


def test_a_response_without_choice_0_is_empty_rather_than_an_error() -> None:
    response = collect([START, *text(0, "second", choice=1)])
    assert (response.text, response.tool_calls, response.finish_reason) == ("", [], None)
    assert collect([]) == ModelResponse()


def test_a_finish_word_alone_opens_its_choice() -> None:
    response = collect([START, Finish(0, "length", "max_tokens")])
    assert (response.finish_reason, response.raw_finish_reason) == ("length", "max_tokens")


def test_while_the_stream_runs_open_parts_show_what_came_and_no_status() -> None:
    collector = Collector()
    seen: list[tuple[str, str]] = []
    for event in [
        START,
        TextStart(0, 0),
        TextDelta("He", 0, 0),
        TextDelta("llo", 0, 0),
        ToolCallStart(1, 0, None, "call_1", "look"),
        ToolCallDelta('{"a', 1, 0),
    ]:
        collector.feed(event)
        response = collector.response
        seen.append((response.text, response.tool_calls[0].arguments if response.tool_calls else ""))
    assert seen == [("", ""), ("", ""), ("He", ""), ("Hello", ""), ("Hello", ""), ("Hello", '{"a')]
    running = collector.response
    assert running.status is None
    assert running.finish_reason is None
    assert running.tool_calls[0].status is None
    assert running.calls_to_answer == []


def test_a_response_taken_early_does_not_change_afterwards() -> None:
    collector = Collector()
    for event in [START, TextStart(0, 0), TextDelta("He", 0, 0), Metadata({"a": 1}), Unknown("x", None)]:
        collector.feed(event)
    early = collector.response
    kept = early.model_copy(deep=True)
    for event in [TextDelta("llo", 0, 0), TextEnd("Hello", 0, 0), Metadata({"b": 2}), Unknown("y", None), end()]:
        collector.feed(event)
    assert early == kept
    assert collector.response.text == "Hello"


def test_open_media_shows_the_data_and_the_transcript_so_far() -> None:
    response = collect(EVERYTHING[: EVERYTHING.index(MediaDelta(6, 0, "REVG", " c")) + 1])
    assert response.media == [
        MediaPart(part=6, id="aud_1", media_type="audio/wav", data="QUJDREVG", transcript="a b c")
    ]


def test_the_end_of_media_has_the_last_word_on_data_and_transcript() -> None:
    events = [START, MediaStart(0, 0), MediaDelta(0, 0, "QQ==", "a b"), MediaEnd(0, 0, "QUI=", None, "A, B.")]
    assert collect(events).media == [MediaPart(part=0, data="QUI=", transcript="A, B.")]


def test_media_that_lies_at_an_address_has_no_data() -> None:
    events = [START, MediaStart(0, 0, None, "image/png"), MediaEnd(0, 0, None, "https://example.org/a.png")]
    assert collect(events).media == [MediaPart(part=0, media_type="image/png", url="https://example.org/a.png")]


def test_texts_are_joined_from_the_deltas_where_the_ends_carry_none() -> None:
    uncollected: list[Event] = []
    for event in EVERYTHING:
        match event:
            case TextEnd(part=part, choice=choice):
                uncollected.append(TextEnd(None, part, choice))
            case RefusalEnd(part=part, choice=choice):
                uncollected.append(RefusalEnd(None, part, choice))
            case ReasoningEnd():
                uncollected.append(ReasoningEnd(None, event.part, 0, event.kind, event.signature, event.encrypted))
            case MediaEnd(part=part, choice=choice):
                uncollected.append(MediaEnd(part, choice))
            case _:
                uncollected.append(event)
    assert collect(uncollected) == collect(EVERYTHING)


def test_the_end_of_a_call_has_the_last_word_on_its_kind_and_arguments() -> None:
    events: list[Event] = [
        ToolCallStart(0, 0, None, "call_1", "shell", "server", "shell_call"),
        ToolCallEnd(0, 0, "call_1", "shell", "builtin", '{"commands":[]}', "complete"),
    ]
    (shell,) = collect(events).tool_calls
    assert (shell.kind, shell.arguments, shell.item_type) == ("builtin", '{"commands":[]}', "shell_call")


@pytest.mark.parametrize(
    ("kind", "status", "is_to_answer"),
    [
        ("function", "complete", True),
        ("function", "invalid", True),
        ("function", "truncated", False),
        ("custom", "complete", True),
        ("builtin", "complete", True),
        ("builtin", "truncated", False),
        ("server", "handled", False),
        ("server", "complete", False),
    ],
)
def test_calls_to_answer_are_whole_ones_that_the_vendor_did_not_run(
    kind: ToolKind, status: ToolStatus, is_to_answer: bool
) -> None:
    response = collect([START, *call(0, kind=kind, status=status)])
    assert bool(response.calls_to_answer) is is_to_answer
    assert len(response.tool_calls) == 1


def test_a_builtin_call_whose_output_came_in_the_same_response_is_answered() -> None:
    output = ToolProgress(0, 0, "output", {"type": "shell_call_output", "call_id": "call_0"})
    progress = ToolProgress(1, 0, "completed", {"type": "shell_call", "call_id": "call_1"})
    response = collect([START, *call(0, kind="builtin"), *call(1, kind="builtin"), output, progress])
    assert [(made.call_id, made.answered) for made in response.tool_calls] == [("call_0", True), ("call_1", False)]
    assert [made.call_id for made in response.calls_to_answer] == ["call_1"]


def test_an_output_item_does_not_answer_a_function_call() -> None:
    output = ToolProgress(0, 0, "output", {"type": "function_call_output", "call_id": "call_0"})
    assert [made.call_id for made in collect([START, *call(0), output]).calls_to_answer] == ["call_0"]


def test_parsed_gives_the_arguments_of_a_whole_call() -> None:
    (made,) = collect([START, *call(0, arguments='{"at": [1]}')]).tool_calls
    assert made.parsed() == {"at": [1]}


@pytest.mark.parametrize(
    ("events", "complaint"),
    [
        (call(0, status="truncated", arguments="{}"), "truncated"),
        (call(0, status="invalid", arguments="{]"), "invalid"),
        (call(0, kind="custom", arguments="[1]"), "no JSON object"),
        (call(0)[:-1], "still open"),
    ],
)
def test_parsed_refuses_arguments_that_must_not_be_used(events: list[Event], complaint: str) -> None:
    (made,) = collect(events).tool_calls
    with pytest.raises(ValueError, match=complaint):
        made.parsed()


def test_an_id_and_a_model_that_come_late_are_taken_from_the_end() -> None:
    response = collect([StreamStart("chat", None, None, None), end(response_id="late", model="later")])
    assert (response.response_id, response.model) == ("late", "later")


def test_an_end_without_id_and_model_takes_nothing_away() -> None:
    response = collect([START, end(response_id=None, model=None)])
    assert (response.response_id, response.model) == ("resp_1", "m-1")


def test_raw_frames_and_repairs_do_not_change_the_answer() -> None:
    extra: list[Event] = [RawFrame(None, {"a": 1}), Repair("bom", "seen", 1)]
    assert collect([EVERYTHING[0], *extra, *EVERYTHING[1:]]) == collect(EVERYTHING)


def test_responses_are_equal_when_they_say_the_same_however_often_they_were_looked_at() -> None:
    collector = Collector()
    for event in EVERYTHING:
        collector.feed(event)
        _ = collector.response
    assert collector.response == collect(EVERYTHING)


def test_responses_differ_when_one_word_does() -> None:
    changed = [TextEnd("Hallo", 2, 0) if event.type == "text_end" else event for event in EVERYTHING]
    assert collect(changed) != collect(EVERYTHING)


def test_a_response_survives_json() -> None:
    response = collect(EVERYTHING)
    assert ModelResponse.model_validate_json(response.model_dump_json()) == response
    assert ModelResponse.model_validate(response.model_dump()) == response


def test_a_partial_response_survives_json() -> None:
    response = collect(EVERYTHING[:9])
    assert ModelResponse.model_validate_json(response.model_dump_json()) == response


def test_json_tells_the_kind_of_each_part() -> None:
    dumped = collect(EVERYTHING).model_dump(mode="json")
    kinds = [part["type"] for part in dumped["choices"][0]["parts"]]
    assert kinds == ["reasoning", "reasoning", "text", "refusal", "tool_call", "tool_call", "media"]


def test_parts_that_are_over_are_not_built_again_at_the_next_look() -> None:
    collector = Collector()
    for event in [START, *text(0, "over"), TextStart(1, 0)]:
        collector.feed(event)
    before = collector.response.choices[0].parts
    collector.feed(TextDelta("open", 1, 0))
    after = collector.response.choices[0].parts
    assert after[0] is before[0]
    assert after[1] is not before[1]


def test_a_look_leaves_one_piece_to_be_joined_at_the_next() -> None:
    collector = Collector()
    for event in [START, TextStart(0, 0), *(TextDelta("x", 0, 0) for _ in range(1000))]:
        collector.feed(event)
    assert collector.response.text == "x" * 1000
    assert collector._parts[0].pieces == ["x" * 1000]


def test_a_whole_text_in_an_end_frees_the_pieces() -> None:
    collector = Collector()
    for event in [START, *text(0, "whole")]:
        collector.feed(event)
    assert collector._parts[0].pieces == []
    assert collector.response.text == "whole"
