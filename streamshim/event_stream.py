"""What both shells share: the part of an event stream that does not touch I/O."""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from itertools import islice
from operator import length_hint
from typing import TYPE_CHECKING, Literal, TypeAlias, TypedDict, Unpack

from .cursor import Cursor
from .deadlines import Deadline, DeadlineError
from .decode.decoder import StreamDecoder
from .errors import ErrorInfo, SourceError, StreamEndError, StreamFailedError, StreamTimeoutError, StreamTruncatedError
from .events import ErrorReport, Event, StreamEnd
from .http_error import add_head, refusal
from .pieces import Head, Piece
from .stats import Clock, StreamStats

if TYPE_CHECKING:
    from .response import Collector
    from .response_models import ModelResponse

ErrorMode: TypeAlias = Literal["raise", "event"]
"""What a failed or truncated stream does once all its events were handed out: raise, or nothing more."""

ERROR_BODY_BYTES = 1024 * 1024
"""How much of an HTTP error's body is read: error messages are short, and the rest would be of no use."""

KEPT_EVENTS = 16 * 1024
"""How many events wait for the collector at most: some megabytes. Few streams are so long; the others never need it."""

_UNCOLLECTED = frozenset(("text_delta", "reasoning_delta", "refusal_delta", "media_delta"))
_DELTAS = _UNCOLLECTED | {"tool_call_delta"}
_OTHER_DELTAS = _DELTAS - {"text_delta"}


class DecoderOptions(TypedDict, total=False):
    """The options of `StreamDecoder`, which every door takes."""

    reasoning_tags: Literal["auto", "off", "open"]
    tool_markup: bool
    raw: bool
    repairs: bool
    strict: bool | Collection[str]
    collect: bool
    fast: bool
    trust_eof: bool
    max_frame_bytes: int
    make_id: Callable[[str], str] | None


class WatchOptions(TypedDict, total=False):
    """The options of the shells that watch a stream while it is read."""

    first_event_timeout: float | None
    idle_timeout: float | None
    on_event: Callable[[Event], object] | None


class StreamOptions(DecoderOptions, WatchOptions, total=False):
    """All options of `stream()` and its kin. See there."""

    errors: ErrorMode


class Observer:
    """Shows each event to a function just before the reader gets it.

    What the function raises ends the batch and is kept in `error`: the shell closes the source before it lets it pass.
    """

    def __init__(self, on_event: Callable[[Event], object]) -> None:
        """Show events to `on_event`.

        Raises:
            TypeError: it would have to be awaited.
        """
        if inspect.iscoroutinefunction(on_event):
            raise TypeError("on_event must be a plain function: it is called, not awaited")
        self._on_event = on_event
        self.error: BaseException | None = None

    def over(self, events: Iterator[Event]) -> Iterator[Event]:
        """The events, each shown when it is taken."""
        for event in events:
            try:
                self._on_event(event)
            except BaseException as error:  # noqa: BLE001 -- whatever it is, it passes once the source was closed
                self.error = error
                return
            yield event


class EventStreamBase:
    """An event stream without its I/O: what was handed out, what was said so far, and how it ends.

    Events are handed out from `_queue`, an iterator over the batch that one piece of the source gave. How far the one
    under it has come (`_rest`: they are the same where nobody observes) tells which of them the reader has seen, at no
    cost per event.
    """

    def __init__(
        self,
        head: Head,
        *,
        errors: ErrorMode = "raise",
        first_event_timeout: float | None = None,
        idle_timeout: float | None = None,
        on_event: Callable[[Event], object] | None = None,
        **options: Unpack[DecoderOptions],
    ) -> None:
        """Take what the source knows of itself; it is read by the shells. For the options see `stream()`."""
        if errors not in ("raise", "event"):
            raise ValueError(f'errors must be "raise" or "event", not {errors!r}')
        self._options = options
        self._decoder = self._new_decoder()
        self._raises = errors == "raise"
        self._collects = options.get("collect", True)
        self._deadline: Deadline | None = None
        if first_event_timeout is not None or idle_timeout is not None:
            self._deadline = Deadline(first_event_timeout, idle_timeout)
        self._observer = Observer(on_event) if on_event is not None else None
        self._head = head
        self._error_body: bytearray | None = None
        self._cause: BaseException | None = None
        self._left_early = False
        self._is_over = False
        self._batch: list[Event] = []
        self._rest: Iterator[Event] = iter(self._batch)
        self._queue = self._rest
        self._taken = 0
        self._kept: list[Event] = []
        self._collector: Collector | None = None
        self._clock = Clock()
        self._has_begun = False
        self._is_plain = False
        """Whether bytes go straight to the decoder: the first piece has come, is no error, and no deadline runs."""
        self._awaits_text = True
        self._bytes = 0
        self._events = 0
        """How many were handed out and are not among the kept ones."""
        self._deltas = 0
        self._counted = 0
        """How many of the kept ones were looked at for deltas."""

    @property
    def response(self) -> ModelResponse:
        """The answer as far as its events were handed out: partial while the stream runs, whole at the end.

        With `collect=False` its texts stay empty; tool calls are whole all the same.
        """
        self._keep_seen()
        return self._collect().response

    @property
    def end(self) -> StreamEnd | None:
        """The `StreamEnd`, once it was handed out or the stream was closed; None before."""
        last = self._batch[-1] if self._batch and not length_hint(self._rest) else None
        return last if isinstance(last, StreamEnd) else None

    @property
    def stats(self) -> StreamStats:
        """How fast the stream is and how much has come: live while it runs, final once it is over."""
        self._keep_seen()
        self._count_deltas()
        usage = self._decoder.usage
        return StreamStats(
            time_to_first_byte=self._clock.first_byte,
            time_to_first_event=self._clock.first_event,
            time_to_first_text=self._clock.first_text,
            duration=self._clock.duration,
            bytes=self._bytes,
            frames=self._decoder.frames,
            events=self._events + len(self._kept),
            deltas=self._deltas,
            output_tokens=usage.output_tokens if usage else None,
        )

    @property
    def cursor(self) -> Cursor:
        """Where reading stands: live, and after every way out. All before it is, or will be, in `response`."""
        decoder = self._decoder
        return Cursor(decoder.response_id, decoder.sequence_number, decoder.last_event_id)

    @property
    def unused_data(self) -> bytes | None:
        """The bytes that came with the terminal event but after it; None unless one was reached."""
        ended_by_the_wire = not self._left_early and self.end is not None and self.end.evidence.terminal_event_seen
        return self._decoder.unused_data if ended_by_the_wire else None

    # -- events in and out --------------------------------------------------------------------------------------------

    def _serve(self, events: list[Event]) -> None:
        """Make a batch the next to be handed out; the one before it has been."""
        self._keep(self._batch[self._taken :] if self._taken else self._batch)
        self._batch, self._taken = events, 0
        self._queue = self._rest = iter(events)
        if self._observer is not None and self._observer.error is None:
            self._queue = self._observer.over(self._rest)
        # a thought or a call may come in thousands of single deltas before any text does
        if self._awaits_text and (len(events) > 1 or events[0].type not in _OTHER_DELTAS):
            self._awaits_text = self._clock.see(events)
        if self._decoder.end is not None:
            self._is_over = True
            self._clock.stop()

    def _has_more(self) -> bool:
        """Whether the batch has events that the reader is still to be handed."""
        return length_hint(self._rest) > 0 and (self._observer is None or self._observer.error is None)

    def _keep_seen(self) -> None:
        """Keep for the collector what the reader has seen of the batch since the last time."""
        seen = len(self._batch) - length_hint(self._rest)
        self._keep(self._batch[self._taken : seen])
        self._taken = seen

    def _keep(self, events: list[Event]) -> None:
        if self._collects:
            self._kept += events
        else:
            kept = [event for event in events if event.type not in _UNCOLLECTED]
            self._events += len(events) - len(kept)
            self._deltas += len(events) - len(kept)
            self._kept += kept
        if len(self._kept) > KEPT_EVENTS:
            self._collect()

    def _collect(self) -> Collector:
        if self._collector is None:
            from .response import Collector

            self._collector = Collector()
        self._count_deltas()
        for event in self._kept:
            self._collector.feed(event)
        self._events += len(self._kept)
        self._kept.clear()
        self._counted = 0
        return self._collector

    def _count_deltas(self) -> None:
        """Only when somebody asks, or before the events are gone: counting costs as much as handing out."""
        self._deltas += sum(event.type in _DELTAS for event in islice(self._kept, self._counted, None))
        self._counted = len(self._kept)

    def _new_decoder(self) -> StreamDecoder:
        return StreamDecoder(**self._options)

    # -- what the source did ------------------------------------------------------------------------------------------

    def _take(self, piece: Piece | None) -> list[Event]:
        """A piece came, or (None) the end."""
        if isinstance(piece, bytes):
            self._bytes += len(piece)
            if self._is_plain:
                return self._decoder.feed(piece)
        if not self._has_begun:
            self._begin(piece)
        if self._error_body is not None:
            events = self._take_error_body(self._error_body, piece)
        elif isinstance(piece, bytes):
            events = self._decoder.feed(piece)
        else:
            events = self._decoder.close() if piece is None else self._decoder.feed_payload(piece)
        deadline = self._deadline
        if deadline is not None and not deadline.see(events):
            events = events + (self._break(deadline.error) or [])
        return events

    def _begin(self, piece: Piece | None) -> None:
        """The first piece came, and with it the head of the response; or the end, or an exception instead."""
        self._has_begun = True
        if piece is not None:
            self._clock.see_byte()
        if self._head.status is not None and self._head.status >= 400:
            self._error_body = bytearray()
        self._is_plain = self._error_body is None and self._deadline is None

    def _break(self, error: BaseException) -> list[Event] | None:
        """The source raised. None: the error is not the stream's, and the caller must let it pass."""
        if isinstance(error, SourceError) or not isinstance(error, Exception):
            self._leave()
            return None
        if self._is_over:
            return []
        self._cause = error
        if not self._has_begun:
            self._begin(None)
            refused = refusal(error)
            if refused is not None:
                self._head, body = refused
                return self._http_error_events(body)
        if self._error_body is not None:
            return self._take_error_body(self._error_body, None)
        if isinstance(error, DeadlineError):
            return self._time_out(error)
        said = getattr(error, "body", None)
        if isinstance(said, dict | str) and said:
            return self._decoder.feed_payload({"error": said}) + self._decoder.close()
        return self._decoder.close(error)

    def _time_out(self, error: DeadlineError) -> list[Event]:
        """The stream ends as one whose connection broke, but says that it was the reader who would not wait."""
        events = self._decoder.close(error)
        for event in events:
            if isinstance(event, ErrorReport) and event.error.kind == "transport":
                event.error = ErrorInfo("timeout", str(error))
        return events

    def _take_error_body(self, body: bytearray, piece: Piece | None) -> list[Event]:
        """An HTTP error has no stream: its body, once it is there, gives the error."""
        if isinstance(piece, bytes):
            body += piece
            if len(body) < ERROR_BODY_BYTES:
                return []
        return self._http_error_events(bytes(body))

    def _http_error_events(self, body: bytes) -> list[Event]:
        status = self._head.status or 0
        events = self._decoder.feed(body) + self._decoder.close()
        if not any(isinstance(event, ErrorReport) and event.error.kind == "vendor" for event in events):
            text = body.decode(errors="replace").strip()[:500]
            message = f"the server answered with HTTP status {status}" + (f": {text}" if text else "")
            self._decoder = self._new_decoder()
            events = self._decoder.feed_payload({"error": {"message": message}}) + self._decoder.close()
        for event in events:
            if isinstance(event, ErrorReport):
                add_head(event.error, status, self._head.headers)
        return events

    # -- the end ------------------------------------------------------------------------------------------------------

    def _leave(self) -> None:
        """The reader leaves, or is torn away: what was read but not handed out yet goes to the response."""
        if self.end is not None:
            return
        self._left_early = True
        self._keep_seen()
        self._taken = len(self._batch)
        rest = list(self._rest)
        if self._decoder.end is not None:
            rest[-1] = replace(self._decoder.end, status="cancelled")
        self._serve(rest + self._decoder.cancel())
        self._skip_batch()

    def _skip_batch(self) -> None:
        """Take the whole batch as handed out."""
        deque(self._queue, maxlen=0)
        deque(self._rest, maxlen=0)

    def _raise_from_observer(self) -> None:
        """Let what the observer raised pass: once, and after the source was closed."""
        if self._observer is not None and self._observer.error is not None:
            error, self._observer = self._observer.error, None
            raise error

    def _raise_bad_end(self) -> None:
        """Raise what the end calls for, if anything.

        Raises:
            StreamFailedError: the vendor said error, or a limit of ours was passed.
            StreamTimeoutError: a deadline of the reader's passed.
            StreamTruncatedError: the stream was cut.
        """
        status = self.end.status if self.end else None
        if not self._raises or self._left_early or status not in ("failed", "truncated"):
            return
        error = self.response.error
        kind: type[StreamEndError] = StreamTruncatedError
        if status == "failed":
            kind, message = StreamFailedError, error.message if error else "the stream failed"
        elif isinstance(self._cause, DeadlineError):
            kind, message = StreamTimeoutError, str(self._cause)
        else:
            reason = error.message if error else "" if self._clock.first_byte is not None else "nothing came at all"
            message = "the stream ended before the answer was whole" + (f": {reason}" if reason else "")
        cause = None if isinstance(self._cause, DeadlineError) else self._cause
        raise kind(message, error=error, response=self.response, cursor=self.cursor) from cause
