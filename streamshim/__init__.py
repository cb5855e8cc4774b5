"""One typed event stream from any streamed LLM answer: Chat Completions or Responses, any vendor, cut in any way."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .decode import StreamDecoder
from .errors import (
    ErrorInfo,
    SourceError,
    StreamFailedError,
    StreamshimError,
    StreamTimeoutError,
    StreamTruncatedError,
)
from .events import (
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
    ToolProgress,
    Unknown,
    Usage,
    UsageReport,
)

if TYPE_CHECKING:
    from .arguments import ArgumentDelta, ArgumentEnd, PartialArguments, PartialObject, live_arguments
    from .conversion import aconvert, convert
    from .encode import (
        ChatEncoder,
        ResponsesEncoder,
        aencode_chat,
        aencode_responses,
        encode_chat,
        encode_responses,
        tool_result,
    )
    from .http_error import read_error
    from .response import Collector, ModelResponse, collect
    from .streams import (
        AsyncEventStream,
        EventStream,
        aiter_responses,
        aparse,
        astream,
        iter_responses,
        parse,
        stream,
    )

_LAZY = {
    **dict.fromkeys(("Collector", "ModelResponse", "collect"), ".response"),
    "read_error": ".http_error",
    **dict.fromkeys(("aconvert", "convert"), ".conversion"),
    **dict.fromkeys(
        ("ArgumentDelta", "ArgumentEnd", "PartialArguments", "PartialObject", "live_arguments"), ".arguments"
    ),
    **dict.fromkeys(
        (
            "ChatEncoder",
            "ResponsesEncoder",
            "aencode_chat",
            "aencode_responses",
            "encode_chat",
            "encode_responses",
            "tool_result",
        ),
        ".encode",
    ),
    **dict.fromkeys(
        (
            "AsyncEventStream",
            "EventStream",
            "aiter_responses",
            "aparse",
            "astream",
            "iter_responses",
            "parse",
            "stream",
        ),
        ".streams",
    ),
}

__all__ = [
    "ArgumentDelta",
    "ArgumentEnd",
    "AsyncEventStream",
    "ChatEncoder",
    "Citation",
    "Collector",
    "ErrorInfo",
    "ErrorReport",
    "Event",
    "EventStream",
    "Evidence",
    "Finish",
    "MediaDelta",
    "MediaEnd",
    "MediaStart",
    "Metadata",
    "ModelResponse",
    "PartialArguments",
    "PartialObject",
    "RawFrame",
    "ReasoningDelta",
    "ReasoningEnd",
    "ReasoningStart",
    "RefusalDelta",
    "RefusalEnd",
    "RefusalStart",
    "Repair",
    "ResponsesEncoder",
    "SourceError",
    "StreamDecoder",
    "StreamEnd",
    "StreamFailedError",
    "StreamStart",
    "StreamTimeoutError",
    "StreamTruncatedError",
    "StreamshimError",
    "TextDelta",
    "TextEnd",
    "TextStart",
    "ToolCallDelta",
    "ToolCallEnd",
    "ToolCallStart",
    "ToolProgress",
    "Unknown",
    "Usage",
    "UsageReport",
    "aconvert",
    "aencode_chat",
    "aencode_responses",
    "aiter_responses",
    "aparse",
    "astream",
    "collect",
    "convert",
    "encode_chat",
    "encode_responses",
    "iter_responses",
    "live_arguments",
    "parse",
    "read_error",
    "stream",
    "tool_result",
]


def __getattr__(name: str) -> Any:
    """The names that need pydantic, and the version, are loaded when they are asked for."""
    if name in _LAZY:
        return getattr(import_module(_LAZY[name], __name__), name)
    if name == "__version__":
        from importlib.metadata import version

        return version("streamshim")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
