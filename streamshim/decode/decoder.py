"""The sans-IO heart: bytes or payloads in, events out. It never raises on what the wire says."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..errors import ErrorInfo
from ..events import EndStatus, Event, Evidence, RawFrame, StreamEnd, StreamStart, Usage, UsageReport
from ..framing.blocks import Blocks
from ..framing.sse import Frame, Notice
from ..identifiers import random_id
from ..json_codec import loads, loads_lenient, rescue
from .chat import ChatWire
from .error_body import find_error, read_error
from .frame_reader import FrameReader
from .limits import FRAMES_BEFORE_START, MAX_FRAME_BYTES
from .parts import TooManyPartsError
from .payload import KEEPALIVES, UNREAD, unwrap, wire_of
from .responses import ResponsesWire
from .shapes import LONGEST_KNOWN
from .stream_state import StreamState, TagMode
from .template import Templates

_SHOWN_CHARACTERS = 500


class StreamDecoder:
    """Turns the bytes of one streamed answer, of either wire, into typed events.

    `feed` takes bytes in any pieces, `feed_payload` what is parsed already; `close` says that the source is over (or
    broke), `cancel` that the reader leaves. Each returns the events that can be told by then. On the Responses wire
    the terminal event ends the stream; on chat the end of the bytes does.
    """

    def __init__(
        self,
        *,
        reasoning_tags: TagMode = "auto",
        tool_markup: bool = False,
        raw: bool = False,
        repairs: bool = False,
        strict: bool | Iterable[str] = False,
        collect: bool = True,
        fast: bool = True,
        trust_eof: bool = False,
        max_frame_bytes: int = MAX_FRAME_BYTES,
        make_id: Callable[[str], str] | None = None,
    ) -> None:
        """Start a stream.

        Args:
            reasoning_tags: "auto" sorts `<think>` and its kin out of the text, "off" leaves them in, "open" is for
                models whose template opens the thought, so that only a closing tag comes.
            tool_markup: read tool calls that leaked into the text as markup.
            raw: give a `RawFrame` before the events of each frame.
            repairs: give a `Repair` for everything that is put right.
            strict: quirk ids (or True: all) that are errors instead of repairs.
            collect: whether the Ends of text, reasoning and refusal carry it; False for relays.
            fast: know frames by sight that differ from the last one in nothing but the text; the events are the same.
            trust_eof: a clean end of the bytes is enough, for vendors that never say that they are done.
            max_frame_bytes: a longer frame is dropped and reported.
            make_id: makes call ids where the wire has none.

        Raises:
            ValueError: an option has a value that does not exist.
        """
        if reasoning_tags not in ("auto", "off", "open"):
            raise ValueError(f'reasoning_tags must be "auto", "off" or "open", not {reasoning_tags!r}')
        self.end: StreamEnd | None = None
        """The last event, once the stream is over."""
        self._state = StreamState(
            collect=collect,
            tell_repairs=repairs,
            strict=strict,
            make_id=make_id or random_id,
            reasoning_tags=reasoning_tags,
            tool_markup=tool_markup,
        )
        blocks = Blocks()
        self._templates = Templates(self._state, blocks)
        self._reader = FrameReader(max_frame_bytes, self._frame, self._too_many_parts, blocks)
        if fast and not raw and max_frame_bytes >= LONGEST_KNOWN:
            self._reader.templates = self._templates
        self._raw = raw
        self._trust_eof = trust_eof
        self._started = False
        self._chat: ChatWire | None = None
        self._responses: ResponsesWire | None = None
        self._done_seen = False
        self._closing = False
        self._cut = False
        """The body ended inside a frame or a document."""
        self._document_cut = False

    # -- what can be asked --------------------------------------------------------------------------------------------

    @property
    def usage(self) -> Usage | None:
        """The last token counts that the wire gave, live."""
        return self._state.usage

    @property
    def repairs(self) -> dict[str, int]:
        """How often each quirk was put right so far."""
        return dict(self._state.repairs.counts)

    @property
    def response_id(self) -> str | None:
        """The first id that the wire gave."""
        return self._state.response_id

    @property
    def model(self) -> str | None:
        """The first model that the wire named."""
        return self._state.model

    @property
    def sequence_number(self) -> int | None:
        """The last one that the Responses wire gave: what a broken background response is resumed after."""
        return self._templates.sequence_number

    @property
    def last_event_id(self) -> str | None:
        """The last SSE `id:`, by the standard's rules."""
        return self._reader.framer.last_event_id

    @property
    def frames(self) -> int:
        """How many frames were read so far."""
        return self._state.repairs.frame

    @property
    def is_done(self) -> bool:
        """Whether `[DONE]` ended a chat stream: what comes behind it adds nothing to the answer."""
        return self._chat is not None and self._chat.done_seen and self._chat.modelled

    @property
    def unused_data(self) -> bytes:
        """Bytes behind the event that ended a Responses stream."""
        return b"".join(self._reader.unused)

    # -- the verbs ----------------------------------------------------------------------------------------------------

    def feed(self, data: bytes) -> list[Event]:
        """Some more bytes, cut anywhere."""
        if data.__class__ is not bytes:
            data = bytes(data)
        templates = self._templates
        one = templates.one
        if one is not None and (event := one(data)) is not None:
            return [event]
        if templates.active is not None:
            events, data = templates.take_piece(data)
            if not data:
                return events
            self._state.out += events
        if self.end is not None:
            self._reader.unused.append(data)
            return []
        self._reader.read(data)
        self._state.compact()
        return self._taken()

    def feed_payload(self, payload: Any, event: str | None = None) -> list[Event]:
        """A payload that is parsed already: an SDK's chunk as a dict, a WebSocket message, a line of a log.

        `event` is the name that stood beside it, where one did.
        """
        if self.end is None:
            state = self._state
            self._templates.forget()
            state.parts.careful = True  # it did not come through our JSON module: strings may hold anything
            if not self._reader.read_payload(payload, event):
                state.repairs.frame += 1
                if self._raw:
                    state.out.append(RawFrame(event, payload))
                self._payload(payload, event)
                self._set_course()
            state.compact()
        return self._taken()

    def close(self, error: BaseException | None = None) -> list[Event]:
        """The source is over, or broke with `error`."""
        if self.end is None:
            self._closing = True
            self._reader.close()
            if self.end is None:
                self._judge_body()
                self._finish(error=error, cancelled=False)
        return self._taken()

    def note(self, quirk: str, detail: str) -> None:
        """Put something into the ledger that was put right before the stream: by whoever made the request.

        Args:
            quirk: its id in the table of repairs.
            detail: what was seen.
        """
        self._state.repair(quirk, detail)

    def cancel(self) -> list[Event]:
        """The reader leaves: what is open ends, and is cut."""
        if self.end is None:
            self._finish(error=None, cancelled=True)
        return self._taken()

    # -- frames -------------------------------------------------------------------------------------------------------

    def _frame(self, frame: Frame, line: bytes | None, payload: Any) -> None:
        """Any frame, with everything that may be wrong about it; `line` and `payload` as `FrameReader` gives them."""
        state = self._state
        if not isinstance(frame, Notice):
            state.repairs.frame += 1
            name = line.decode("utf-8", "replace").removeprefix("event:").strip() or None if line is not None else None
            if self._raw:
                state.out.append(RawFrame(name, frame.removeprefix(b" ").decode("utf-8", "replace")))
            if payload is UNREAD:
                self._body(frame, name)
            else:
                self._payload(payload, name)
        elif frame.quirk == "frame-too-long":
            state.limit(frame.detail)
        else:
            state.repair(frame.quirk, frame.detail)
        self._set_course()

    def _set_course(self) -> None:
        """A frame was read with all care: may the next one go straight to the wire?"""
        self._try_start()
        if self._started and not self._raw:
            wire = self._chat or self._responses
            self._reader.straight = wire.straight if wire is not None else None

    def _body(self, body: bytes, event: str | None) -> None:
        """The data of a frame: JSON, nearly JSON, or a word."""
        try:
            payload = loads(body)
        except ValueError:
            text = body.strip()
            if text.startswith(b"[DONE]"):
                self._done()
                return
            if not text or text.lower().decode("utf-8", "replace") in KEEPALIVES:
                return
            try:
                payload, why = loads_lenient(body)
            except ValueError:
                self._unreadable(text, event)
                return
            self._state.repair("json-lenient", f"the payload is not quite JSON: {why}")
            self._state.parts.careful = True
        self._payload(payload, event)

    def _unreadable(self, body: bytes, event: str | None) -> None:
        text = body.decode("utf-8", "replace")
        if event == "error":
            self._state.error(read_error(text))
            return
        if self._closing:
            self._cut = True
            self._state.repair("half-frame", "the body ends inside a frame")
            return
        self._state.repair("unreadable-frame", f"a frame is not JSON: {text[:60]!r}")
        self._state.unknown(event or "(not json)", text)

    def _payload(self, payload: Any, event: str | None) -> None:
        """A payload, whatever it is."""
        if isinstance(payload, dict):
            if payload:
                try:
                    self._object(unwrap(payload), event)
                except TooManyPartsError:
                    self._too_many_parts()
        elif isinstance(payload, str) and payload.strip().startswith("[DONE]"):
            self._state.repair("done-form", "`[DONE]` is a JSON string")
            self._done()
        elif isinstance(payload, list) and any(isinstance(entry, dict) for entry in payload):
            for entry in payload:
                if isinstance(entry, dict) and self.end is None:
                    self._payload(entry, event)
        elif event == "error" and payload:
            self._state.error(read_error(payload))
        else:
            self._state.repair("payload-no-object", "a payload is JSON, but no object")

    def _object(self, payload: dict[str, Any], event: str | None) -> None:
        wire, name = wire_of(payload, event)
        if wire == "chat" and self._responses is None:
            if event == "error" and (error := find_error(payload, named="choices" not in payload)):
                self._state.error(error)
            else:
                self._chat_wire().chunk(payload)
        elif wire == "responses" and self._chat is None:
            self._responses_event(payload, name)
        elif wire == "response_body" and self._chat is None:
            self._responses_wire().body(payload, cut=self._document_cut)
            if not self._document_cut:
                self._finish(error=None, cancelled=False)
        elif name in KEEPALIVES or event in KEEPALIVES:
            return
        elif error := find_error(payload, named=event == "error"):
            self._state.error(error)
        else:
            self._state.unknown(name or "(no type)", payload)

    def _responses_event(self, payload: dict[str, Any], name: str) -> None:
        responses = self._responses_wire()
        responses.event(payload, name)
        if responses.status is not None:
            self._finish(error=None, cancelled=False)

    def _done(self) -> None:
        self._done_seen = True
        if self._chat is not None:
            self._chat.done()

    def _chat_wire(self) -> ChatWire:
        if self._chat is None:
            self._state.api = "chat"
            self._chat = ChatWire(self._state)
        return self._chat

    def _responses_wire(self) -> ResponsesWire:
        if self._responses is None:
            self._state.api = "responses"
            self._responses = ResponsesWire(self._state)
        return self._responses

    def _too_many_parts(self) -> None:
        self._state.limit("more parts than anyone needs: the rest is dropped")

    # -- start and end ------------------------------------------------------------------------------------------------

    def _try_start(self) -> None:
        """StreamStart waits for a frame that has an id or a model, or that makes something happen."""
        state = self._state
        if self._started:
            return
        if (
            state.response_id is not None
            or state.model is not None
            or state.parts.count
            or state.errors
            or state.repairs.frame >= FRAMES_BEFORE_START
            or (self._chat is not None and self._chat.word_seen)
            or (self._responses is not None and self._responses.status is not None)
        ):
            self._start()

    def _start(self) -> None:
        if not self._started:
            self._started = True
            state = self._state
            state.out.insert(0, StreamStart(state.api, state.response_id, state.model, state.created_at))

    def _taken(self) -> list[Event]:
        """The events that may be told."""
        if not self._started:
            return []
        events = self._state.out[:]
        self._state.out.clear()
        return events

    def _judge_body(self) -> None:
        """The body is over: a JSON document that was cut is shown as far as it is whole; prose is an error."""
        framer, state = self._reader.framer, self._state
        if framer.cut_document.strip():
            self._cut = self._document_cut = True
            state.repair("half-frame", "the body ends inside a JSON document")
            if state.repairs.frame == 0 and isinstance(whole := rescue(framer.cut_document), dict):
                self._payload(whole, None)
        elif state.repairs.frame == 0 and not state.errors and (framer.compression or framer.prose.strip()):
            prose = framer.prose.decode("utf-8", "replace").strip()[:_SHOWN_CHARACTERS]
            if framer.compression:
                message = f"the body is still compressed ({framer.compression}); let the HTTP client decode it"
            else:
                message = f"the body is neither an event stream nor JSON: {prose}"
            state.error(ErrorInfo("body", message, raw=prose))

    def _finish(self, *, error: BaseException | None, cancelled: bool) -> None:
        state = self._state
        open_parts = len(state.parts.open)
        state.parts.closing = True
        status = self._status(error, cancelled=cancelled)
        if error is not None and status == "truncated":
            state.error(
                ErrorInfo("transport", f"the connection broke: {error}" if str(error) else "the connection broke")
            )
        if self._chat is not None:
            self._chat.end(status)
            word_seen = self._chat.word_seen
        else:
            word_seen = False
        if self._responses is not None:
            self._responses.end(status)
        self._start()
        usage = state.usage
        if usage is not None:
            state.out.append(UsageReport(usage))
        terminal = self._responses is not None and self._responses.status is not None
        evidence = Evidence(
            finish_reason_seen=word_seen,
            terminal_event_seen=terminal,
            done_seen=self._done_seen,
            clean_eof=self._closing and error is None,
            open_parts=open_parts,
        )
        if state.repairs.strict_error:
            status = "failed"
        self._reader.over = True
        self._templates.forget()
        self.end = StreamEnd(status, evidence, usage, dict(state.repairs.counts), state.response_id, state.model)
        state.out.append(self.end)

    def _status(self, error: BaseException | None, *, cancelled: bool) -> EndStatus:
        state = self._state
        if self._chat is not None:
            trusted = self._trust_eof and self._closing and error is None and not self._cut
            status = self._chat.status(cancelled=cancelled, trusted=trusted)
            return "truncated" if self._document_cut and status == "completed" else status
        if self._responses is not None and self._responses.status is not None:
            return self._responses.status
        if state.truncated_by_encoder:
            return "truncated"
        if state.has_failed:
            return "failed"
        return "cancelled" if cancelled else "truncated"
