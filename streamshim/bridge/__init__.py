"""A caller of one API on a server of the other: requests and answers in the words of either. No I/O."""

from .bridge import Bridge, BridgeOptions, DecoderOptions, Exchange, Speak
from .losses import LeftOut, UnsupportedMemberError
from .members import chat_members, responses_members
from .replies import Reply
from .requests import chat_request, responses_request

__all__ = [
    "Bridge",
    "BridgeOptions",
    "DecoderOptions",
    "Exchange",
    "LeftOut",
    "Reply",
    "Speak",
    "UnsupportedMemberError",
    "chat_members",
    "chat_request",
    "responses_members",
    "responses_request",
]
