"""The conversation that survives: what the next request carries, checked, kept, and remembered by either side."""

from .conversation import Conversation
from .conversation_store import ConversationStore, ResponseNotFoundError, StoredResponse
from .findings import InputFinding
from .input_check import InputError, check_input, raise_for_findings
from .stored_state import StateFallback, StoredState

__all__ = [
    "Conversation",
    "ConversationStore",
    "InputError",
    "InputFinding",
    "ResponseNotFoundError",
    "StateFallback",
    "StoredResponse",
    "StoredState",
    "check_input",
    "raise_for_findings",
]
