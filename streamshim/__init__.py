"""One typed event stream from any streamed LLM answer: Chat Completions or Responses, any vendor, cut in any way."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .arguments import ArgumentDelta, ArgumentEnd, PartialArguments, PartialObject, live_arguments
    from .bridge import LeftOut, UnsupportedMemberError, chat_request, responses_request
    from .client import (
        AsyncChatCompletionsClient,
        AsyncLLMClient,
        AsyncResponsesClient,
        AsyncRun,
        ChatCompletionsClient,
        LLMClient,
        MaxTurnsError,
        OutputError,
        ResponsesClient,
        Run,
        Tool,
        ToolResult,
        aconnect,
        connect,
        file_part,
        image_part,
        text_part,
    )
    from .consecutive import aiter_responses, iter_responses
    from .conversion import aconvert, convert
    from .cursor import Cursor
    from .decode import StreamDecoder
    from .encode import (
        ChatEncoder,
        ResponsesEncoder,
        aencode_chat,
        aencode_responses,
        encode_chat,
        encode_responses,
        tool_result,
    )
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
    from .history import (
        Conversation,
        ConversationStore,
        InputError,
        InputFinding,
        ResponseNotFoundError,
        StateFallback,
        StoredResponse,
        StoredState,
        check_input,
        raise_for_findings,
    )
    from .http_error import read_error
    from .http_transport import transport
    from .relayed_response import RelayLedger
    from .response import Collector, collect
    from .response_models import ModelResponse
    from .stats import StreamStats
    from .streams import AsyncEventStream, EventStream, aparse, astream, parse, stream

_MODULES = {
    ".arguments": "ArgumentDelta ArgumentEnd PartialArguments PartialObject live_arguments",
    ".bridge": "LeftOut UnsupportedMemberError chat_request responses_request",
    ".client": (
        "AsyncChatCompletionsClient AsyncLLMClient AsyncResponsesClient AsyncRun ChatCompletionsClient LLMClient "
        "MaxTurnsError OutputError ResponsesClient Run Tool ToolResult aconnect connect file_part image_part text_part"
    ),
    ".consecutive": "aiter_responses iter_responses",
    ".conversion": "aconvert convert",
    ".cursor": "Cursor",
    ".decode": "StreamDecoder",
    ".encode": "ChatEncoder ResponsesEncoder aencode_chat aencode_responses encode_chat encode_responses tool_result",
    ".errors": "ErrorInfo SourceError StreamFailedError StreamshimError StreamTimeoutError StreamTruncatedError",
    ".events": (
        "Citation ErrorReport Event Evidence Finish MediaDelta MediaEnd MediaStart Metadata RawFrame "
        "ReasoningDelta ReasoningEnd ReasoningStart RefusalDelta RefusalEnd RefusalStart Repair StreamEnd "
        "StreamStart TextDelta TextEnd TextStart ToolCallDelta ToolCallEnd ToolCallStart ToolProgress Unknown "
        "Usage UsageReport"
    ),
    ".history": (
        "Conversation ConversationStore InputError InputFinding ResponseNotFoundError StateFallback StoredResponse "
        "StoredState check_input raise_for_findings"
    ),
    ".http_error": "read_error",
    ".http_transport": "transport",
    ".relayed_response": "RelayLedger",
    ".response": "Collector collect",
    ".response_models": "ModelResponse",
    ".stats": "StreamStats",
    ".streams": "AsyncEventStream EventStream aparse astream parse stream",
}
"""Where the public names are defined: a module is loaded when one of its names is asked for."""
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names.split()}

__all__ = [
    "ArgumentDelta",
    "ArgumentEnd",
    "AsyncChatCompletionsClient",
    "AsyncEventStream",
    "AsyncLLMClient",
    "AsyncResponsesClient",
    "AsyncRun",
    "ChatCompletionsClient",
    "ChatEncoder",
    "Citation",
    "Collector",
    "Conversation",
    "ConversationStore",
    "Cursor",
    "ErrorInfo",
    "ErrorReport",
    "Event",
    "EventStream",
    "Evidence",
    "Finish",
    "InputError",
    "InputFinding",
    "LLMClient",
    "LeftOut",
    "MaxTurnsError",
    "MediaDelta",
    "MediaEnd",
    "MediaStart",
    "Metadata",
    "ModelResponse",
    "OutputError",
    "PartialArguments",
    "PartialObject",
    "RawFrame",
    "ReasoningDelta",
    "ReasoningEnd",
    "ReasoningStart",
    "RefusalDelta",
    "RefusalEnd",
    "RefusalStart",
    "RelayLedger",
    "Repair",
    "ResponseNotFoundError",
    "ResponsesClient",
    "ResponsesEncoder",
    "Run",
    "SourceError",
    "StateFallback",
    "StoredResponse",
    "StoredState",
    "StreamDecoder",
    "StreamEnd",
    "StreamFailedError",
    "StreamStart",
    "StreamStats",
    "StreamTimeoutError",
    "StreamTruncatedError",
    "StreamshimError",
    "TextDelta",
    "TextEnd",
    "TextStart",
    "Tool",
    "ToolCallDelta",
    "ToolCallEnd",
    "ToolCallStart",
    "ToolProgress",
    "ToolResult",
    "Unknown",
    "UnsupportedMemberError",
    "Usage",
    "UsageReport",
    "aconnect",
    "aconvert",
    "aencode_chat",
    "aencode_responses",
    "aiter_responses",
    "aparse",
    "astream",
    "chat_request",
    "check_input",
    "collect",
    "connect",
    "convert",
    "encode_chat",
    "encode_responses",
    "file_part",
    "image_part",
    "iter_responses",
    "live_arguments",
    "parse",
    "raise_for_findings",
    "read_error",
    "responses_request",
    "stream",
    "text_part",
    "tool_result",
    "transport",
]


def __getattr__(name: str) -> Any:
    """Loads a public name, which then stays; and looks up the version."""
    if name in _MODULE_OF:
        value = globals()[name] = getattr(import_module(_MODULE_OF[name], __name__), name)
        return value
    if name == "__version__":
        from importlib.metadata import version

        return version("streamshim")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
