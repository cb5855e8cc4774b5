"""What a type checker knows about an event after a `match`, and after a look at its `type`."""

# pyright: strict, reportUnnecessaryTypeIgnoreComment=true

from typing import Any, Literal, assert_never, assert_type

import streamshim
from streamshim import ErrorInfo, Event, Usage


def narrows_by_class(event: Event) -> None:
    match event:
        case streamshim.TextDelta(delta=text, logprobs=logprobs):
            assert_type(event, streamshim.TextDelta)
            assert_type(text, str)
            assert_type(logprobs, list[Any] | None)
        case streamshim.ToolCallEnd(status="complete" | "handled"):
            assert_type(event, streamshim.ToolCallEnd)
            assert_type(event.parsed(), dict[str, Any])
        case streamshim.TextEnd(text=whole) | streamshim.ReasoningEnd(text=whole):
            assert_type(whole, str | None)
        case streamshim.ErrorReport(error=error):
            assert_type(error, ErrorInfo)
        case streamshim.Finish(reason=reason):
            assert_type(reason, Literal["stop", "length", "tool_calls", "content_filter", "error", "other"] | None)
        case streamshim.StreamEnd(status=status, usage=usage):
            assert_type(status, Literal["completed", "incomplete", "failed", "truncated", "cancelled"])
            assert_type(usage, Usage | None)
        case _:
            pass


def narrows_by_the_type_field(event: Event) -> None:
    if event.type == "text_delta":
        assert_type(event, streamshim.TextDelta)
    elif event.type == "tool_call_start":
        assert_type(event, streamshim.ToolCallStart)
        assert_type(event.kind, Literal["function", "custom", "server", "builtin"])


def is_exhausted_by_all_events(event: Event) -> None:
    match event:
        case streamshim.StreamStart() | streamshim.StreamEnd():
            pass
        case streamshim.TextStart() | streamshim.TextDelta() | streamshim.TextEnd():
            pass
        case streamshim.ReasoningStart() | streamshim.ReasoningDelta() | streamshim.ReasoningEnd():
            pass
        case streamshim.RefusalStart() | streamshim.RefusalDelta() | streamshim.RefusalEnd():
            pass
        case streamshim.ToolCallStart() | streamshim.ToolCallDelta() | streamshim.ToolCallEnd():
            pass
        case streamshim.MediaStart() | streamshim.MediaDelta() | streamshim.MediaEnd():
            pass
        case streamshim.ToolProgress() | streamshim.Citation() | streamshim.Metadata():
            pass
        case streamshim.ErrorReport() | streamshim.Finish() | streamshim.UsageReport():
            pass
        case streamshim.Unknown() | streamshim.Repair() | streamshim.RawFrame():
            pass
        case _:
            assert_never(event)


def is_not_exhausted_without_its_end(event: Event) -> None:
    match event:
        case streamshim.StreamEnd():
            pass
        case _:
            assert_never(event)  # type: ignore[arg-type]


def refuses_a_field_that_the_event_has_not(event: Event) -> None:
    if event.type == "text_delta":
        event.arguments  # type: ignore[attr-defined]  # noqa: B018
