"""Events to a legal wire: encoders, whole bodies, and what the next request must carry."""

from .chat import ChatEncoder
from .generators import aencode_chat, aencode_responses, encode_chat, encode_responses
from .history import tool_result
from .responses import ResponsesEncoder

__all__ = [
    "ChatEncoder",
    "ResponsesEncoder",
    "aencode_chat",
    "aencode_responses",
    "encode_chat",
    "encode_responses",
    "tool_result",
]
