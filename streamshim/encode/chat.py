"""`ChatEncoder`: events as a Chat Completions stream that the strict readers of that wire accept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from ..errors import ErrorInfo
from ..events import (
    Citation,
    ErrorReport,
    Finish,
    MediaDelta,
    MediaEnd,
    MediaStart,
    Metadata,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    RefusalDelta,
    RefusalStart,
    StreamEnd,
    TextDelta,
    TextStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    ToolProgress,
    Usage,
    UsageReport,
)
from ..json_codec import dumps_string
from .chat_calls import HeldCall, StreamedCall
from .details import finish_word, source_of, written_logprobs
from .encoder import DONE, FAILED_MESSAGE, MARK, TRUNCATED_CODE, TRUNCATED_MESSAGE, Encoder, frame, frame_around
from .options import ChatReasoning, ChatTruncated, CustomTools, ToolCallMode, check_word
from .response_object import total_of


class _Choice:
    """What was written of one choice."""

    __slots__ = ("calls", "citations", "finish", "finished", "images", "introduced")

    def __init__(self) -> None:
        self.introduced = False
        self.finished = False
        self.finish: Finish | None = None
        self.calls = 0
        self.citations = 0
        self.images = 0

    def next_call(self) -> int:
        self.calls += 1
        return self.calls - 1


class _Sound:
    """Audio that is being spoken."""

    __slots__ = ("has_transcript", "id")

    def __init__(self, id: str) -> None:
        self.id = id
        self.has_transcript = False


class ChatEncoder(Encoder):
    """Encodes events as the stream of the Chat Completions API: `feed()` them in order, then `close()`.

    Attributes:
        dropped: how often something was left out because the wire cannot say it, by kind.
    """

    _ID_PREFIX = "chatcmpl"

    def __init__(
        self,
        *,
        reasoning: ChatReasoning = "reasoning_content",
        include_usage: bool = True,
        done: bool = True,
        custom_tools: CustomTools = "function",
        tool_calls: ToolCallMode = "stream",
        truncated: ChatTruncated = "error",
        unknown_finish: str | None = "stop",
        model: str | None = None,
        response_id: str | None = None,
        make_id: Callable[[str], str] | None = None,
        now: Callable[[], int] | None = None,
    ) -> None:
        """Nothing was said yet.

        Args:
            reasoning: the field that carries visible thought, or "none" to leave it out.
            include_usage: whether a chunk with the token counts comes at the end.
            done: whether `data: [DONE]` ends a stream that did not fail.
            custom_tools: how a custom tool's call is written: "function" (with the arguments `{"input": ...}`), or
                "custom", which many readers do not know.
            tool_calls: "stream", or "whole": each call in one chunk at its end; a cut call is then never written.
            truncated: how a cut stream ends: with an "error", or "silent".
            unknown_finish: the finish reason of a completed choice that was given none; None writes none.
            model: speak under this name instead of the source's.
            response_id: speak under this id instead of the source's.
            make_id: makes an id of a prefix, where the source has none.
            now: the time in Unix seconds.

        Raises:
            ValueError: an option is given a word that it does not know.
        """
        check_word("reasoning", reasoning, ChatReasoning)
        check_word("custom_tools", custom_tools, CustomTools)
        check_word("tool_calls", tool_calls, ToolCallMode)
        check_word("truncated", truncated, ChatTruncated)
        super().__init__(model=model, response_id=response_id, make_id=make_id, now=now)
        self._reasoning = reasoning
        self._include_usage = include_usage
        self._done = done
        self._custom_tools = custom_tools
        self._tool_calls = tool_calls
        self._truncated = truncated
        self._unknown_finish = unknown_finish
        self._head: dict[str, Any] = {}
        self._tail: dict[str, Any] = {}
        self._choices: dict[int, _Choice] = {}
        self._calls: dict[int, StreamedCall | HeldCall] = {}
        self._sounds: dict[int, _Sound] = {}
        self._media_types: dict[int, str | None] = {}
        self._around: dict[object, list[bytes]] = {}
        self._error: ErrorInfo | None = None
        self._usage: Usage | None = None

    def _begin(self, id: str, model: str, created_at: int) -> None:
        self._head = {"id": id, "object": "chat.completion.chunk", "created": created_at, "model": model}

    # -- chunks -------------------------------------------------------------------------------------------------------

    def _chunk(self, choices: list[dict[str, Any]], **beside: Any) -> None:
        self._frames.append(frame(self._payload(choices, **beside)))

    def _payload(self, choices: list[dict[str, Any]], **beside: Any) -> dict[str, Any]:
        return {**self._head, "choices": choices, **beside, **self._tail}

    def _delta(self, index: int, delta: dict[str, Any], logprobs: Any = None, finish: str | None = None) -> None:
        """One chunk of a choice, after that which introduces the choice."""
        self._introduce(index, None)
        self._chunk([_entry(index, delta, logprobs, finish)])

    def _say(self, index: int, field: str, text: str) -> None:
        """More of a field: a chunk that differs from the last one in the text alone."""
        key = index, field
        around = self._around.get(key) or self._look_around(key, index, {field: MARK})
        self._frames.append(dumps_string(text).join(around))

    def _say_input(self, call: StreamedCall, index: int, text: str) -> None:
        """More of a call's input, in the same way."""
        around = self._around.get(call) or self._look_around(call, index, {"tool_calls": [call.entry(MARK)]})
        self._frames.append(dumps_string(text).join(around))

    def _look_around(self, key: object, index: int, delta: dict[str, Any]) -> list[bytes]:
        """What such chunks have around their text, until what stands beside the choices changes."""
        self._introduce(index, None)
        around = self._around[key] = frame_around(self._payload([_entry(index, delta)]))
        return around

    def _introduce(self, index: int, content: str | None) -> None:
        """The role, in a chunk of its own, once for each choice."""
        choice = self._choices.setdefault(index, _Choice())
        if not choice.introduced:
            choice.introduced = True
            self._delta(index, {"role": "assistant", "content": content})

    # -- prose --------------------------------------------------------------------------------------------------------

    def _on_text_start(self, event: TextStart) -> None:
        self._introduce(event.choice, "")

    def _on_text_delta(self, event: TextDelta) -> None:
        if event.logprobs and event.delta:
            logprobs = written_logprobs(event.logprobs)
            shown = {"content": logprobs, "refusal": None} if logprobs else None
            self._delta(event.choice, {"content": event.delta}, shown)
        elif event.delta:
            self._say(event.choice, "content", event.delta)

    def _on_refusal_start(self, event: RefusalStart) -> None:
        self._introduce(event.choice, None)

    def _on_refusal_delta(self, event: RefusalDelta) -> None:
        if event.delta:
            self._say(event.choice, "refusal", event.delta)

    def _on_reasoning_start(self, event: ReasoningStart) -> None:
        if event.kind != "encrypted" and self._reasoning != "none":
            self._introduce(event.choice, None)

    def _on_reasoning_delta(self, event: ReasoningDelta) -> None:
        if self._reasoning == "none":
            self._drop(event.type)
        elif event.delta:
            self._say(event.choice, self._reasoning, event.delta)

    def _on_reasoning_end(self, event: ReasoningEnd) -> None:
        if event.encrypted:
            self._drop("encrypted")
        if event.signature:
            self._drop("signature")

    # -- calls --------------------------------------------------------------------------------------------------------

    def _on_tool_call_start(self, event: ToolCallStart) -> None:
        if event.kind == "server":
            self._drop("server_call")
            return
        choice = self._choices.setdefault(event.choice, _Choice())
        call_id = event.call_id or self._make_id("call")
        custom = event.kind == "custom" and self._custom_tools == "custom"

        def write(entry: dict[str, Any]) -> None:
            self._delta(event.choice, {"tool_calls": [entry]})

        # who runs a hosted tool is certain only at its end
        if self._tool_calls == "whole" or event.kind == "builtin":
            self._calls[event.part] = HeldCall(event, call_id, choice.next_call, write, custom=custom)
        else:
            index = choice.next_call()
            self._calls[event.part] = StreamedCall(event, call_id, index, write, self._say_input, custom=custom)

    def _on_tool_call_delta(self, event: ToolCallDelta) -> None:
        if call := self._calls.get(event.part):
            call.delta(event)

    def _on_tool_call_end(self, event: ToolCallEnd) -> None:
        if call := self._calls.pop(event.part, None):
            call.end(event)
            self._around.pop(call, None)
            if event.kind == "server":
                self._drop("server_call")

    def _on_tool_progress(self, event: ToolProgress) -> None:
        self._drop(event.type)

    # -- sources and media --------------------------------------------------------------------------------------------

    def _on_citation(self, event: Citation) -> None:
        choice = self._choices.setdefault(event.choice, _Choice())
        entry = {"index": choice.citations, "type": "url_citation", "url_citation": source_of(event)}
        choice.citations += 1
        self._delta(event.choice, {"annotations": [entry]})

    def _on_media_start(self, event: MediaStart) -> None:
        if (event.media_type or "").startswith("audio/"):
            self._sounds[event.part] = _Sound(event.id or self._make_id("audio"))
        else:
            self._media_types[event.part] = event.media_type

    def _on_media_delta(self, event: MediaDelta) -> None:
        if sound := self._sounds.get(event.part):
            self._say_sound(event, sound, event.transcript)

    def _on_media_end(self, event: MediaEnd) -> None:
        if sound := self._sounds.pop(event.part, None):
            if event.transcript and not sound.has_transcript:
                self._say_sound(MediaDelta(event.part, event.choice), sound, event.transcript)
            return
        media_type = self._media_types.pop(event.part, None) or "image/png"
        address = f"data:{media_type};base64,{event.data}" if event.data else event.url
        if not address or not media_type.startswith("image/"):
            self._drop("media")
            return
        choice = self._choices.setdefault(event.choice, _Choice())
        entry = {"index": choice.images, "type": "image_url", "image_url": {"url": address}}
        choice.images += 1
        self._delta(event.choice, {"images": [entry]})

    def _say_sound(self, event: MediaDelta, sound: _Sound, transcript: str | None) -> None:
        said = {"data": event.data, "transcript": transcript}
        told = {key: value for key, value in said.items() if value}
        sound.has_transcript = sound.has_transcript or bool(transcript)
        if told:
            self._delta(event.choice, {"audio": {"id": sound.id, **told}})

    # -- facts and the end --------------------------------------------------------------------------------------------

    def _on_metadata(self, event: Metadata) -> None:
        tier = event.data.get("service_tier")
        if isinstance(tier, str) and tier:
            self._tail = {"service_tier": tier}
            self._around.clear()
        if event.data.keys() - {"service_tier"}:
            self._drop(event.type)

    def _on_error_report(self, event: ErrorReport) -> None:
        if self._error is None:
            self._error = event.error
        else:
            self._drop(event.type)

    def _on_finish(self, event: Finish) -> None:
        choice = self._choices.setdefault(event.choice, _Choice())
        choice.finish = event
        if self._error is None:
            self._write_finish(event.choice, choice)

    def _write_finish(self, index: int, choice: _Choice, otherwise: str | None = None) -> None:
        """The finish chunk, once; a reason that the wire has no word for waits for the end."""
        said = choice.finish
        word = finish_word(said.reason, said.raw_reason, otherwise) if said else otherwise
        if word and not choice.finished:
            choice.finished = True
            self._delta(index, {}, finish=word)

    def _on_usage_report(self, event: UsageReport) -> None:
        self._usage = event.usage

    def _on_stream_end(self, event: StreamEnd) -> None:
        self._ended = True
        if self._error is not None and event.status != "failed":
            self._drop("error_report")
        if event.status in ("completed", "incomplete"):
            self._end_well(self._unknown_finish if event.status == "completed" else None)
        elif event.status == "failed":
            self._end_badly(error_body(self._error))
        elif event.status == "truncated" and self._truncated == "error":
            self._end_badly(error_body(None, truncated=True))

    def _end_well(self, unknown_finish: str | None) -> None:
        if not self._choices and unknown_finish:
            self._choices[0] = _Choice()
        for index, choice in self._choices.items():
            self._write_finish(index, choice, unknown_finish)
        self._write_usage()
        if self._done:
            self._frames.append(DONE)

    def _end_badly(self, error: dict[str, Any]) -> None:
        self._write_usage()
        self._frames.append(frame({"error": error}))

    def _write_usage(self) -> None:
        if self._usage is not None and self._include_usage:
            self._chunk([], usage=written_chat_usage(self._usage))

    _HANDLERS: ClassVar[dict[str, Callable[[Any, Any], None]]] = {
        "stream_start": Encoder._pass,
        "text_start": _on_text_start,
        "text_delta": _on_text_delta,
        "text_end": Encoder._pass,
        "reasoning_start": _on_reasoning_start,
        "reasoning_delta": _on_reasoning_delta,
        "reasoning_end": _on_reasoning_end,
        "refusal_start": _on_refusal_start,
        "refusal_delta": _on_refusal_delta,
        "refusal_end": Encoder._pass,
        "tool_call_start": _on_tool_call_start,
        "tool_call_delta": _on_tool_call_delta,
        "tool_call_end": _on_tool_call_end,
        "tool_progress": _on_tool_progress,
        "citation": _on_citation,
        "media_start": _on_media_start,
        "media_delta": _on_media_delta,
        "media_end": _on_media_end,
        "metadata": _on_metadata,
        "error_report": _on_error_report,
        "finish": _on_finish,
        "usage_report": _on_usage_report,
        "stream_end": _on_stream_end,
    }


def _entry(index: int, delta: dict[str, Any], logprobs: Any = None, finish: str | None = None) -> dict[str, Any]:
    """One entry of `choices`."""
    return {"index": index, "delta": delta, "logprobs": logprobs, "finish_reason": finish}


def written_chat_usage(usage: Usage) -> dict[str, Any]:
    """Token counts in the words of the chat wire."""
    return {
        "prompt_tokens": usage.input_tokens or 0,
        "completion_tokens": usage.output_tokens or 0,
        "total_tokens": total_of(usage),
        "prompt_tokens_details": {"cached_tokens": usage.cached_input_tokens or 0},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens or 0},
    }


def error_body(error: ErrorInfo | None, *, truncated: bool = False) -> dict[str, Any]:
    """An error in the words of the chat wire; `truncated`: the answer was cut, whatever else was said."""
    if truncated:
        error = ErrorInfo("transport", TRUNCATED_MESSAGE, TRUNCATED_CODE, TRUNCATED_CODE)
    elif error is None:
        error = ErrorInfo("vendor", FAILED_MESSAGE, type="server_error")
    return {"message": error.message, "type": error.type, "param": error.param, "code": error.code}
