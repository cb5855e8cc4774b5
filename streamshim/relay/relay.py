"""`Relay`: the bytes of a vendor's stream in, the bytes of a legal stream of the same API out. No I/O.

The decoder reads the stream, and the encoder is told what it read, so there is always a legal way to say it. Each block
of the vendor's that says just that, in the place where the encoder stands, is handed on byte for byte; else what the
encoder wrote goes out. What the decoder holds back until it is certain, its block waits for.
"""

from __future__ import annotations

from collections.abc import Callable

from ..decode import StreamDecoder
from ..encode.options import ToolCallMode
from ..events import Event
from .blocks import Block, BlockCutter
from .chat import ChatStandard
from .chat_writer import ChatWriter
from .matching import Matcher
from .responses import ResponsesStandard
from .responses_writer import ResponsesWriter
from .standard import Standard
from .statements import Statement

_ENDS = frozenset(
    "text_end reasoning_end refusal_end tool_call_end media_end finish usage_report error_report stream_end".split()
)
"""What is not told of a stream that was cut: nothing in it has come to its end."""


class Relay:
    """Hands one stream on. `feed()` it the body, then `close()`.

    Attributes:
        is_over: nothing more will be handed on.
        is_cut: the stream ended before the answer was whole: whoever reads it must not take it for a whole one.
    """

    def __init__(self, decoder: StreamDecoder, standard: Standard, max_block_bytes: int) -> None:
        """Nothing came yet."""
        self.is_over = False
        self.is_cut = False
        self._decoder = decoder
        self._standard = standard
        self._matcher = Matcher(standard)
        self._cutter = BlockCutter(max_block_bytes)
        self._has_id = False
        self._done_handed_on = False
        self._is_failing = False
        self._held: list[bytes] = []

    @property
    def rewritten(self) -> int:
        """How many of the vendor's blocks were not handed on as they came."""
        return self._matcher.rewritten

    # -- the verbs ----------------------------------------------------------------------------------------------------

    def feed(self, piece: bytes) -> bytes:
        """Some more bytes, cut anywhere: what can be handed on by now."""
        for portion, block in self._cutter.cut(piece):
            if self.is_over:
                self._after_end(block)
            elif self._is_failing:
                self._after_error(portion, block)
            else:
                self._take(self._decoder.feed(portion), block)
        return self._given()

    def close(self, error: BaseException | None = None) -> bytes:
        """The body is over, or broke with `error`: what is left to be handed on."""
        rest = self._cutter.rest()
        if not self.is_over and self._is_failing and rest is not None:
            self._after_error(b"", rest)
        if not self.is_over:
            self._take(self._decoder.close(error), None if self._is_failing else rest)
        return self._given()

    def _given(self) -> bytes:
        out = b"".join(self._matcher.out)
        self._matcher.out.clear()
        return out

    # -- blocks -------------------------------------------------------------------------------------------------------

    def _take(self, events: list[Event], block: Block | None) -> None:
        """What was read, and the block that ended with it, if one did."""
        if block is not None and len(events) == 1 and self._goes_straight(events[0], block):
            return
        decoder, matcher = self._decoder, self._matcher
        if decoder.end is None and self._is_the_end(events, block):
            events = events + decoder.close()
        speaks = self._tell(events, block)
        if block is not None:
            self._place(block)
        elif speaks:  # what speaks before its blank line is no plain event of an event stream
            self._cutter.forget()
            self._place(Block(b""))
            matcher.rewritten += 1
        matcher.settle(is_final=decoder.end is not None)
        self.is_over = decoder.end is not None

    def _goes_straight(self, event: Event, block: Block) -> bool:
        """Whether the block is one more delta, as the standard has it, and nothing stands before it: most are."""
        if not self._matcher.is_empty or self._has_id:
            return False
        told = self._standard.told_by(event)
        if told is None or told != self._read(block):
            return False
        self._standard.skip(event)
        self._matcher.hand_on(block)
        return True

    def _is_the_end(self, events: list[Event], block: Block | None) -> bool:
        """Whether nothing more can count, though the decoder would read on."""
        if any(event.type == "error_report" for event in events):
            said = self._read(block) if block is not None else None
            self._is_failing = not self._standard.ends_at_error and any(key == ("error",) for key, _ in said or ())
            return not self._is_failing
        return self._standard.ends_at_done and self._decoder.is_done

    def _tell(self, events: list[Event], block: Block | None) -> bool:
        """Let the encoder say it, but no ends where the stream was cut. False: there was nothing to say."""
        end = self._decoder.end
        if end is not None and end.status in self._standard.unsaid:
            self.is_cut = True
            told = [event for event in events if event.type not in _ENDS]
            events = [] if [event.type for event in told] == ["stream_start"] else told
        frames = [frame for event in events for frame in self._standard.tell(event)]
        self._matcher.add_frames(frames, block)
        return bool(frames)

    def _place(self, block: Block) -> None:
        """Read a block, and put it in its row."""
        if self._has_id:
            block.raw = block.raw.lstrip(b"\r\n")  # readers take another blank line for an event without data
        self._has_id = self._has_id or block.has_id
        if block.is_comment:
            block.statements = []
            if self._has_id:
                return
        elif self._read(block) is not None:
            self._matcher.add_frames(self._standard.announced_by(block), block)
        self._matcher.add(block)

    def _read(self, block: Block) -> list[Statement] | None:
        """What a block says, read once; None: it does not conform."""
        if not block.was_read:
            block.was_read = True
            block.statements = self._standard.read(block) if block.payload is not None else None
        return block.statements

    def _after_error(self, portion: bytes, block: Block | None) -> None:
        """Behind an error nothing counts but that the response has failed."""
        self._held.append(portion)
        if block is None or block.is_comment:
            return
        if isinstance(block.payload, dict) and block.payload.get("type") == "response.failed":
            decoder = self._decoder
            events = decoder.feed(b"".join(self._held))
            self._take(events if decoder.end is not None else events + decoder.close(), block)
        else:
            self._take(self._decoder.close(), None)

    def _after_end(self, block: Block | None) -> None:
        """Behind the end nothing counts but a `[DONE]` that the vendor sends with it."""
        may_be_done = not self._standard.ends_at_done and not self._done_handed_on and not self.is_cut
        if may_be_done and block is not None and block.payload == "[DONE]":
            self._done_handed_on = True
            self._matcher.out.append(block.raw)


def chat_relay(
    decoder: StreamDecoder,
    max_block_bytes: int,
    make_id: Callable[[str], str] | None,
    *,
    asks_usage: bool,
    tool_calls: ToolCallMode = "stream",
) -> Relay:
    """A relay of Chat Completions.

    Args:
        decoder: reads the stream.
        max_block_bytes: a longer block is never handed on as it came.
        make_id: makes an id of a prefix, where the vendor gives none.
        asks_usage: whether the request asks for a chunk with the token counts.
        tool_calls: "stream", or "whole": each call is handed on at its end, and one that was cut never.
    """
    writer = ChatWriter(asks_usage=asks_usage, tool_calls=tool_calls, make_id=make_id)
    return Relay(decoder, ChatStandard(writer), max_block_bytes)


def responses_relay(decoder: StreamDecoder, max_block_bytes: int, make_id: Callable[[str], str] | None) -> Relay:
    """A relay of Responses; the arguments are those of `chat_relay`."""
    return Relay(decoder, ResponsesStandard(ResponsesWriter(make_id=make_id)), max_block_bytes)
