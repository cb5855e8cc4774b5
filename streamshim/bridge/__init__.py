"""A caller of one API on a server of the other: requests and answers in the words of either. No I/O."""

from .losses import LeftOut, UnsupportedMemberError
from .members import chat_members, responses_members

__all__ = ["LeftOut", "UnsupportedMemberError", "chat_members", "responses_members"]
