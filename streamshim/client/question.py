"""`Question`: one question to a model, and how often and in which words it is asked. No I/O."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from ..errors import ErrorInfo
from ..json_codec import clean
from .fallbacks import FALLBACKS, TOOLS, Fallback
from .judge import Judge
from .retries import Retries
from .words import forced_choice

if TYPE_CHECKING:
    from ..bridge import LeftOut
    from ..event_stream import StreamOptions
    from ..history import StateFallback, StoredState
    from ..response_models import ModelResponse
    from .memory import Memory
    from .wires import Asked, Wire

logger = logging.getLogger("streamshim")

Patience = Literal["none", "first", "whole"]
"""How long an answer may be kept back: until it says something; its first one to a new kind of request until it is
known whether it is the right one; or always until it is whole, since nobody sees it before."""


class Question:
    """Decides what is sent, and after each answer or refusal whether something else is.

    `content()` before each try, then one of `refused()`, `broke()` or, of an answer that comes, `opened()` and `judge`.

    Attributes:
        asked: what the caller asked for.
        judge: of the answer that comes: whether it may be shown yet.
        state_fallback: that the server lost the conversation, if it is this question that tells it.
    """

    def __init__(
        self,
        wire: Wire,
        asked: Asked,
        memory: Memory,
        *,
        state: StoredState | None = None,
        retries: Retries,
        degrade: bool = True,
        patience: Patience = "first",
    ) -> None:
        """Ask nothing yet.

        Args:
            wire: the API.
            asked: what is asked.
            memory: what is known of the server.
            state: of a conversation on the Responses API.
            retries: how often a failed try is made again.
            degrade: whether to do without what the server does not have.
            patience: how long an answer may be kept back for what is not known of the server.
        """
        self.asked = asked
        self._notes: list[tuple[str, str]] = []
        self.judge: Judge | None = None
        self._wire = wire
        self._memory = memory
        self._state = state
        self._retries = retries
        self._degrade = degrade
        self._patience: Patience = patience
        self._without: list[Fallback] = []
        self._body: dict[str, Any] = {}
        self._is_whole = False
        self._ready: str | None = None
        self.state_fallback: StateFallback | None = None

    def prepare(self) -> None:
        """Write the first request, so that what is wrong with it is told at once.

        Raises:
            InputError: the messages or items are not what the API reads.
            ValueError: a call of the conversation waits for its result, or something cannot be written as JSON.
        """
        self._ready = _written(self._next_body())

    def content(self) -> str:
        """The request to make now, as JSON."""
        ready, self._ready = self._ready, None
        return ready or _written(self._next_body())

    def _next_body(self) -> dict[str, Any]:
        self._notes.clear()
        self._note_state()
        left_out: list[LeftOut] | None = [] if self._degrade else None
        body = self._wire.body(self.asked, self._state, left_out)
        self._notes += (("member-refused", f"{param}: {reason}") for param, reason in left_out or ())
        known = self._memory.refused(self.asked.model) if self._degrade else []
        for fallback in FALLBACKS:
            if (fallback in known or fallback in self._without) and fallback.is_asked(body):
                body = fallback.replaced(body)
                self._notes.append((fallback.quirk, f"{fallback.name}: {fallback.done}"))
        self._body = body
        return body

    def _note_state(self) -> None:
        """The whole history is sent where it would not have been."""
        fallback = self._state.untold() if self._state is not None else None
        self.state_fallback = fallback or self.state_fallback
        if (told := self.state_fallback) is not None:
            self._notes.append(("state-lost", f"{told.response_id} was {told.reason}: {told.detail}"))

    # -- what came of it ----------------------------------------------------------------------------------------------

    def refused(self, error: ErrorInfo) -> float | None:
        """The server answered with an error.

        Returns:
            Seconds to wait before the next try; None where the error is the answer.
        """
        if self._lost_state(error):
            return 0.0
        if self._does_without(error):
            return 0.0
        seconds = self._retries.next(error)
        if seconds is not None:
            logger.info("the server refused (%s), and is asked again in %.2f seconds", error.message, seconds)
        return seconds

    def broke(self, problem: BaseException) -> float | None:
        """The connection failed before anything of the answer came; the result is that of `refused`."""
        seconds = self._retries.next()
        if seconds is not None:
            logger.info("the request failed (%s), and is made again in %.2f seconds", problem, seconds)
        return seconds

    def _does_without(self, error: ErrorInfo) -> bool:
        """Whether an error refuses something that the request can do without; from now on it does."""
        if not self._degrade:
            return False
        for fallback in FALLBACKS:
            if fallback.is_asked(self._body) and fallback.is_refused_by(error):
                logger.info("the server refuses %s: %s", fallback.name, error.message)
                self._without.append(fallback)
                self._memory.learn(self.asked.model, fallback)
                return True
        return False

    def opened(self, headers: Mapping[str, str]) -> None:
        """An answer begins."""
        kind = next((value for name, value in headers.items() if name.lower() == "content-type"), "")
        self._is_whole = self._body.get("stream") is True and kind.startswith("application/json")
        self.judge = self._judge()

    def ledger(self) -> list[tuple[str, str]]:
        """What the server did without: pairs of quirk id and detail. Known by the first bytes that are shown."""
        if self._is_whole and not (self.judge is not None and self.judge.has_error):
            return [*self._notes, ("whole-answer", "the body is one JSON document")]
        return self._notes

    def _judge(self) -> Judge | None:
        """Who decides whether the answer may be shown; None where nothing speaks against any."""
        state = self._state if self._leans_on_server and self._state and self._state.state == "auto" else None
        if state is None and not self._degrade:
            return None
        knows = self._memory.remembers is True and self._patience != "whole"
        hurried = self._patience == "none"
        return Judge(state, trusted=knows or hurried, must_call=self._degrade and self._must_call() and not hurried)

    @property
    def _leans_on_server(self) -> bool:
        return self._state is not None and "previous_response_id" in self._body

    def _must_call(self) -> bool:
        """Whether an answer without a call shows that the server ignores the tools, or that one must be called."""
        if not TOOLS.is_asked(self._body):
            return False
        return forced_choice(self._body) is not None

    def rejected(self, response: ModelResponse) -> bool:
        """Whether an answer that was kept back is not to be shown: the question is to be asked again."""
        is_rejected = self._lost_state(response) or self._refused_inside(response) or self._ignored_tools(response)
        if is_rejected:
            self.judge = None
        return is_rejected

    def _refused_inside(self, response: ModelResponse) -> bool:
        """Whether the answer is nothing but a refusal of what can be done without."""
        return not response.choices and response.error is not None and self._does_without(response.error)

    def _ignored_tools(self, response: ModelResponse) -> bool:
        """Whether the answer lacks the call that was demanded, though it was free to have one."""
        is_whole = response.status in ("completed", "incomplete") and response.finish_reason != "length"
        if not is_whole or response.tool_calls or not self._must_call():
            return False
        logger.info("the server answers without a call though one is required: the tools are told in words")
        self._without.append(TOOLS)
        return True

    def settle(self, response: ModelResponse) -> None:
        """The answer was shown, and is over."""
        self._lost_state(response)

    def _lost_state(self, outcome: ModelResponse | ErrorInfo) -> bool:
        """Whether the server shows that it does not hold the conversation, and all of it can be sent instead."""
        if self._state is None or not self._leans_on_server:
            return False
        self._body = {name: value for name, value in self._body.items() if name != "previous_response_id"}
        fallback = self._state.learn(outcome)
        if fallback is None:
            if not isinstance(outcome, ErrorInfo) and outcome.status in ("completed", "incomplete"):
                self._memory.remembers = True
            return False
        level = logging.WARNING if self._state.state == "server" else logging.INFO
        logger.log(level, "the server does not hold the conversation: %s", fallback.detail)
        if fallback.reason == "forgotten" or not _is_about_one(outcome):
            self._memory.remembers = False
        return self._state.state == "auto"

    # -- how the answer is read ---------------------------------------------------------------------------------------

    def reading(self, options: StreamOptions) -> StreamOptions:
        """The options of the stream: calls that stand in the text are read where tools were given."""
        if self._degrade and self.asked.tools:
            return {"tool_markup": True, **options}
        return options


def _written(body: dict[str, Any]) -> str:
    """A body as JSON. Half a character, which no server reads, is written as U+FFFD.

    Raises:
        ValueError: something in it cannot be written.
    """
    try:
        return clean(json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")))
    except (TypeError, ValueError, RecursionError) as problem:
        raise ValueError(f"the request cannot be written as JSON: {problem}") from problem


def _is_about_one(outcome: ModelResponse | ErrorInfo) -> bool:
    """Whether a refusal speaks of this one id alone: it expired, say."""
    error = outcome if isinstance(outcome, ErrorInfo) else outcome.error
    if error is None:
        return False
    said = f"{error.code or ''} {error.message}".lower()
    return error.status == 404 or any(word in said for word in ("not_found", "not found", "expired", "no response"))
