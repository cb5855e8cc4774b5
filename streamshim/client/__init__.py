"""One small interface to a model behind either API: ask, read, run tools, go on."""

from .clients import AsyncChatCompletionsClient, AsyncResponsesClient, ChatCompletionsClient, ResponsesClient
from .connecting import aconnect, connect
from .content import file_part, image_part, text_part
from .options import RequestOptions
from .output_format import OutputError
from .protocols import AsyncLLMClient, LLMClient
from .run import AsyncRun, Run
from .run_loop import MaxTurnsError, RunEvent
from .tool import Tool, ToolResult

__all__ = [
    "AsyncChatCompletionsClient",
    "AsyncLLMClient",
    "AsyncResponsesClient",
    "AsyncRun",
    "ChatCompletionsClient",
    "LLMClient",
    "MaxTurnsError",
    "OutputError",
    "RequestOptions",
    "ResponsesClient",
    "Run",
    "RunEvent",
    "Tool",
    "ToolResult",
    "aconnect",
    "connect",
    "file_part",
    "image_part",
    "text_part",
]
