"""The streams that a client gives: those of `stream()`, which know the question that they answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Unpack

from ..decode import StreamDecoder
from ..event_stream import EventStreamBase
from ..pieces import AsyncSource, Piece, Source
from ..streams import AsyncEventStream, EventStream
from .output_format import OutputError

if TYPE_CHECKING:
    from ..event_stream import StreamOptions
    from ..history import StateFallback
    from ..response_models import ModelResponse
    from .question import Question

Settle = Callable[["ModelResponse"], None]
"""What is done with an answer once it is over, but for the reader's own part."""


class AnswerStreamBase(EventStreamBase):
    """What both kinds add: the ledger of the request, the conversation, and the value of structured output."""

    _question: Question
    _settle_answer: Settle
    _is_settled = False
    _parsed: Any = None
    _output_error: OutputError | None = None

    @property
    def response(self) -> ModelResponse:
        """As of every stream; at its end with `parsed`, where `response_format` asked for a value."""
        response = super().response
        return response if self._parsed is None else response.model_copy(update={"parsed": self._parsed})

    @property
    def state_fallback(self) -> StateFallback | None:
        """That the server lost the conversation, where this is the first answer to a request that carries all of it."""
        return self._question.state_fallback

    def _new_decoder(self) -> StreamDecoder:
        """With what the server did without on the first page of its ledger."""
        decoder = super()._new_decoder()
        for quirk, detail in self._question.ledger():
            decoder.note(quirk, detail)
        return decoder

    def _begin(self, piece: Piece | None) -> None:
        """The request was answered: only now is it known what it had to do without."""
        if self._question.ledger():
            self._decoder = self._new_decoder()
        super()._begin(piece)

    def _leave(self) -> None:
        super()._leave()
        self._settle()

    def _raise_bad_end(self) -> None:
        self._settle()
        super()._raise_bad_end()
        if self._output_error is not None and self._raises and not self._left_early:
            raise self._output_error

    def _settle(self) -> None:
        """The stream is over and all of it was handed out: the conversation goes on with it."""
        if self._is_settled or self.end is None:
            return
        self._is_settled = True
        response = super().response
        if (format := self._question.asked.format) is not None:
            try:
                self._parsed = format.parse(response)
            except OutputError as error:
                self._output_error = error
        self._settle_answer(response)


class AnswerStream(AnswerStreamBase, EventStream):
    """The answer to a question."""

    def __init__(self, question: Question, source: Source, settle: Settle, **options: Unpack[StreamOptions]) -> None:
        """Read the answer from `source`, which asks when it is read first."""
        self._question = question
        self._settle_answer = settle
        super().__init__(source, **options)


class AsyncAnswerStream(AnswerStreamBase, AsyncEventStream):
    """The answer to a question, asynchronously."""

    def __init__(
        self, question: Question, source: AsyncSource, settle: Settle, **options: Unpack[StreamOptions]
    ) -> None:
        """Read the answer from `source`, which asks when it is read first."""
        self._question = question
        self._settle_answer = settle
        super().__init__(source, **options)
