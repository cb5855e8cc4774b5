"""`StoredState`: whether the next request leans on what the server keeps, and what to do once the server does not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ..errors import ErrorInfo

if TYPE_CHECKING:
    from ..encode.history import ItemReasoning
    from ..response_models import ModelResponse
    from .conversation import Conversation

StateKeeper = Literal["auto", "server", "client"]
"""Who keeps the conversation: the server as long as it does, the server alone, or the client alone."""
_REFUSALS = frozenset(("previous_response_not_found", "response_not_found"))
_PARAMETER = "previous_response_id"
_WORDS = (_PARAMETER, "previous response")


@dataclass(slots=True, frozen=True)
class StateFallback:
    """The server does not hold the conversation. Told once.

    Attributes:
        reason: "refused": it said that it does not know the id, or does not take any; "forgotten": it answered as if
            nothing had been said before.
        response_id: the id that was sent.
        detail: what showed it.
    """

    reason: Literal["refused", "forgotten"]
    response_id: str
    detail: str
    type: Literal["state_fallback"] = "state_fallback"


class StoredState:
    """Decides what each Responses request of one conversation carries, and learns from what came of it.

    It does no I/O: `request()` before, `learn()` after. Where `learn()` gives a record, the request did not carry what
    it should have: send what `request()` gives now.
    """

    def __init__(self, state: StateKeeper = "auto", *, reasoning: ItemReasoning = "as_received") -> None:
        """Nothing is known of the server.

        Args:
            state: "auto": `previous_response_id` and what is new, until it shows that the server does not hold what
                came before, from then on the whole history; "server": always the former, and the record is a warning;
                "client": always the whole history.
            reasoning: which thought goes back, as in `Conversation.to_response_items`.

        Raises:
            ValueError: `state` is another word.
        """
        if state not in ("auto", "server", "client"):
            raise ValueError(f'state={state!r} must be "auto", "server" or "client"')
        self.state = state
        self.reasoning: ItemReasoning = reasoning
        self.fallback: StateFallback | None = None
        self._sent: ModelResponse | None = None
        self._answered_calls: list[str] = []
        """The calls whose results the last request carried without the calls themselves."""
        self._is_told = False

    def request(self, conversation: Conversation) -> dict[str, Any]:
        """The members of the next request: `input`, and `previous_response_id` where the server is relied on.

        Raises:
            ValueError: a call waits for its result.
        """
        self._sent = self._reliable_answer(conversation)
        if self._sent is None or self._sent.response_id is None:
            return {"input": conversation.to_response_items(reasoning=self.reasoning)}
        response_id = self._sent.response_id
        items = conversation.items_after(response_id, reasoning=self.reasoning)
        made = {item.get("call_id") for item in items if not _is_result(item)}
        self._answered_calls = [item["call_id"] for item in items if _is_result(item) and item["call_id"] not in made]
        return {"input": items, "previous_response_id": response_id}

    def _reliable_answer(self, conversation: Conversation) -> ModelResponse | None:
        """The newest answer that the server may have kept."""
        if self.state == "client" or (self.state == "auto" and self.fallback is not None):
            return None
        return next((answer for answer in reversed(conversation.own_answers) if _may_be_kept(answer)), None)

    def vouched_for(self, answer: ModelResponse) -> bool:
        """Whether an answer that still runs shows already that the server remembers: where nothing will be counted."""
        if self._sent is None or _least_tokens(self._sent) is not None:
            return False
        return answer.metadata.get(_PARAMETER) == self._sent.response_id

    def untold(self) -> StateFallback | None:
        """The record, once: for whoever tells it beside the first request that carries everything because of it."""
        if self.state != "auto" or self.fallback is None or self._is_told:
            return None
        self._is_told = True
        return self.fallback

    def learn(self, outcome: ModelResponse | ErrorInfo) -> StateFallback | None:
        """What came of the request.

        Args:
            outcome: the response, whole or cut, or the error by which the request was refused.

        Returns:
            A record the first time that the server turns out not to hold the conversation, else None.
        """
        sent, self._sent = self._sent, None
        if sent is None or sent.response_id is None or self.fallback is not None:
            return None
        error = outcome if isinstance(outcome, ErrorInfo) else outcome.error
        if error is not None and _speaks_of(error, sent.response_id, self._answered_calls):
            self.fallback = StateFallback("refused", sent.response_id, error.message)
        elif not isinstance(outcome, ErrorInfo) and (detail := _amnesia(sent, outcome)):
            self.fallback = StateFallback("forgotten", sent.response_id, detail)
        return self.fallback


def _may_be_kept(answer: ModelResponse) -> bool:
    return answer.api == "responses" and bool(answer.response_id) and answer.status in ("completed", "incomplete")


def _is_result(item: dict[str, Any]) -> bool:
    return str(item["type"]).endswith("_output") and "call_id" in item


def _speaks_of(error: ErrorInfo, response_id: str, calls: list[str]) -> bool:
    """Whether an error is about the id that was sent, or about results of calls that only the one who kept them knows.

    Servers word it in many ways, few give it the code.
    """
    if error.code in _REFUSALS or error.param == _PARAMETER:
        return True
    if any(call_id in error.message for call_id in calls):
        return True
    message = error.message.lower()
    return response_id.lower() in message or any(word in message for word in _WORDS)


def _amnesia(sent: ModelResponse, answer: ModelResponse) -> str | None:
    """What shows that the server answered without what came before; None where nothing does.

    Token counts are facts, an echo is a claim: some servers echo nothing and remember. Where neither speaks for the
    server, it is not believed: to send too much costs little, an answer without memory is wrong.
    """
    echo = answer.metadata.get(_PARAMETER)
    counted, least = _input_tokens(answer), _least_tokens(sent)
    if counted is not None and least is not None and not _was_shortened(answer):
        if counted >= least:
            return None
        if echo != sent.response_id or counted * 2 < least:
            return f"{counted} input tokens were counted, and at least {least} had been said before"
    if echo == sent.response_id or answer.status not in ("completed", "incomplete"):
        return None
    return f"the response names {echo!r} as the one before it"


def _input_tokens(response: ModelResponse) -> int | None:
    """All input; some servers count what was cached apart."""
    usage = response.usage
    if usage is None or usage.input_tokens is None:
        return None
    cached = usage.cached_input_tokens or 0
    return usage.input_tokens + (cached if cached > usage.input_tokens else 0)


def _least_tokens(sent: ModelResponse) -> int | None:
    """What a server that remembers must count: the input of the answer before, and half of what could be read of it.

    Half, since the same words count differently as output. A vendor's own tools have it read its input several times:
    then nothing can be said.
    """
    counted = _input_tokens(sent)
    if counted is None or sent.usage is None or any(call.kind == "server" for call in sent.tool_calls):
        return None
    seen = (sent.usage.output_tokens or 0) - (sent.usage.reasoning_tokens or 0)
    return counted + max(seen, 0) // 2


def _was_shortened(answer: ModelResponse) -> bool:
    return any(unknown.name == "compaction" for unknown in answer.unknown)
