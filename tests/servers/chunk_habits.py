"""Habits of chat chunks: their shell, how text is told, the finish word and the token counts."""

from __future__ import annotations

import json
from typing import Any

from .manners import DONE, Stage, choices_of, each, each_choice, each_delta, frame_of, habit
from .question import Json

Chunks = list[Json]


def text_of(chunks: Chunks) -> str:
    """All the text that the deltas bring."""
    return "".join(choice["delta"].get("content") or "" for choice in choices_of(chunks))


def finish_of(chunks: Chunks) -> Json:
    """The last chunk with a finish word."""
    return next(chunk for chunk in reversed(chunks) if chunk["choices"] and chunk["choices"][0].get("finish_reason"))


# -- the shell --------------------------------------------------------------------------------------------------------


@habit("no-object", Stage.CHAT_BODY)
@each("no-object", Stage.CHUNKS)
def no_object(chunk: Json) -> None:
    chunk.pop("object", None)


@habit("no-id", Stage.CHAT_BODY)
@each("no-id", Stage.CHUNKS)
def no_id(chunk: Json) -> None:
    chunk.pop("id", None)


@habit("no-created", Stage.CHAT_BODY)
@each("no-created", Stage.CHUNKS)
def no_created(chunk: Json) -> None:
    chunk["created"] = 0


@habit("no-model", Stage.CHAT_BODY)
@each("no-model", Stage.CHUNKS)
def no_model(chunk: Json) -> None:
    chunk.pop("model", None)


@habit("ids-change", Stage.CHUNKS)
def ids_change(chunks: Chunks) -> None:
    for at, chunk in enumerate(chunks):
        chunk["id"] = f"{chunk['id']}-{at}"


@habit("choices-first", Stage.CHUNKS)
def choices_first(chunks: Chunks) -> Chunks:
    return [{"choices": chunk["choices"], **chunk} for chunk in chunks]


@habit("sorted-keys", Stage.CHUNKS, Stage.EVENTS)
def sorted_keys(payloads: Chunks) -> Chunks:
    """Members come in the order of the alphabet."""
    return [json.loads(json.dumps(payload, sort_keys=True)) for payload in payloads]


@habit("vendor-extras", Stage.CHUNKS)
def vendor_extras(chunks: Chunks) -> None:
    for at, chunk in enumerate(chunks):
        chunk.update(system_fingerprint=None, provider="Somebody", p="abcdefghij"[:at], x_vendor={"id": "req_1"})


@habit("filter-chunks", Stage.CHUNKS)
def filter_chunks(chunks: Chunks) -> Chunks:
    """Results of a content filter: before the answer with empty names, and in its midst without a delta."""
    shell = {"created": 0, "id": "", "model": "", "object": ""}
    safe = {"hate": {"filtered": False, "severity": "safe"}}
    asked = {**shell, "choices": [], "prompt_filter_results": [{"prompt_index": 0, "content_filter_results": safe}]}
    told = {"index": 0, "finish_reason": None, "content_filter_results": safe, "content_filter_offsets": {}}
    return [asked, chunks[0], {**shell, "choices": [told]}, *chunks[1:]]


@habit("no-choice-index", Stage.CHUNKS)
def no_choice_index(chunks: Chunks) -> None:
    for choice in choices_of(chunks):
        choice.pop("index", None)


@habit("choices-null", Stage.CHUNKS)
def choices_null(chunks: Chunks) -> Chunks:
    return [chunks[0], {**chunks[0], "choices": None}, *chunks[1:]]


@habit("choices-object", Stage.CHUNKS)
def choices_object(chunks: Chunks) -> Chunks:
    return [chunks[0], {**chunks[0], "choices": {"index": 0, "delta": {}}}, *chunks[1:]]


@each_choice("no-delta-at-end")
def no_delta_at_end(chunks: Chunks) -> None:
    finish_of(chunks)["choices"][0]["delta"] = None


# -- deltas -----------------------------------------------------------------------------------------------------------


@each_delta("no-role", whole=False)
def no_role(delta: Json) -> None:
    delta.pop("role", None)


@each_delta("role-always", whole=False)
def role_always(delta: Json) -> Json:
    return {"role": "assistant", **delta}


@each_delta("content-always", whole=False)
def content_always(delta: Json) -> Json:
    return {"content": "", **{name: value for name, value in delta.items() if value is not None}}


@each_delta("nulls", whole=False)
def nulls(delta: Json) -> Json:
    members = "role content reasoning_content tool_calls refusal function_call".split()
    return dict.fromkeys(members) | delta


@each_delta("content-numbers")
def content_numbers(delta: Json) -> None:
    content = delta.get("content")
    if isinstance(content, str) and content.isdecimal():
        delta["content"] = int(content)


@each_delta("content-parts")
def content_parts(delta: Json) -> None:
    if isinstance(delta.get("content"), str) and delta["content"]:
        delta["content"] = [{"type": "text", "text": delta["content"]}]


@habit("text-beside-delta", Stage.CHUNKS)
def text_beside_delta(chunks: Chunks) -> None:
    for choice in choices_of(chunks):
        choice["text"] = choice["delta"].get("content") or ""


@each_choice("message-beside-deltas")
def message_beside_deltas(chunks: Chunks) -> None:
    said = ""
    for choice in choices_of(chunks):
        said += choice["delta"].get("content") or ""
        choice["message"] = {"role": "assistant", "content": said}


@each_choice("message-at-end")
def message_at_end(chunks: Chunks) -> Chunks:
    """A last chunk that holds the whole message once more, as if nothing had been streamed."""
    message = {"role": "assistant", "content": text_of(chunks)}
    told = {key: value for key, value in finish_of(chunks)["choices"][0].items() if key != "delta"}
    whole = {**chunks[0], "object": "chat.completion", "choices": [{**told, "message": message}]}
    return [*chunks, whole] if message["content"] else chunks


@each_choice("text-again-at-end")
def text_again_at_end(chunks: Chunks) -> None:
    finish_of(chunks)["choices"][0]["delta"]["content"] = text_of(chunks)


@habit("text-after-done", Stage.FRAMES)
def text_after_done(frames: list[bytes]) -> list[bytes]:
    late = {"index": 0, "delta": {"content": "late"}, "finish_reason": None}
    return [*frames, frame_of({"id": "x", "choices": [late]}), DONE] if frames[-1] == DONE else frames


# -- the finish word --------------------------------------------------------------------------------------------------

_FOREIGN = {"stop": "COMPLETE", "length": "MAX_TOKENS", "tool_calls": "tool_use"}


def _say_words(words: dict[str | None, Any]) -> Any:
    def change(value: Any) -> None:
        for chunk in value if isinstance(value, list) else [value]:
            for choice in chunk["choices"]:
                if "finish_reason" in choice:
                    choice["finish_reason"] = words.get(choice["finish_reason"], choice["finish_reason"])

    return change


_BOTH = (Stage.CHUNKS, Stage.CHAT_BODY)
habit("foreign-words", *_BOTH)(_say_words({**_FOREIGN}))
habit("eos", *_BOTH)(_say_words({"stop": "eos"}))
habit("stop-beside-calls", *_BOTH)(_say_words({"tool_calls": "stop"}))
habit("stop-at-length", *_BOTH)(_say_words({"length": "stop"}))
habit("calls-without-calls", *_BOTH)(_say_words({"stop": "tool_calls"}))
habit("empty-words", Stage.CHUNKS)(_say_words({None: ""}))


@habit("no-finish-key", Stage.CHUNKS)
def no_finish_key(chunks: Chunks) -> None:
    for choice in choices_of(chunks):
        if choice.get("finish_reason") is None:
            choice.pop("finish_reason", None)


@each_choice("no-finish")
def no_finish(chunks: Chunks) -> Chunks:
    return [chunk for chunk in chunks if chunk is not finish_of(chunks)]


@each_choice("finish-twice")
def finish_twice(chunks: Chunks) -> Chunks:
    place = chunks.index(finish_of(chunks))
    return [*chunks[:place], chunks[place], *chunks[place:]]


@each_choice("finish-then-stop")
def finish_then_stop(chunks: Chunks) -> Chunks:
    finish = finish_of(chunks)
    stop = {**finish, "choices": [{**finish["choices"][0], "finish_reason": "stop"}]}
    place = chunks.index(finish)
    return [*chunks[: place + 1], stop, *chunks[place + 1 :]]


@each_choice("finish-early")
def finish_early(chunks: Chunks) -> Chunks:
    """The last words come after the finish word."""
    place = chunks.index(finish_of(chunks))
    return [*chunks[: place - 1], chunks[place], chunks[place - 1], *chunks[place + 1 :]]


@each_choice("finish-with-the-last")
def finish_with_the_last(chunks: Chunks) -> Chunks:
    """The last words and the finish word share a chunk."""
    finish = finish_of(chunks)
    if finish["choices"][0]["delta"].keys() - {"role"}:
        return chunks  # it has something of the answer already
    place = chunks.index(finish)
    chunks[place - 1]["choices"][0]["finish_reason"] = finish["choices"][0]["finish_reason"]
    return [*chunks[:place], *chunks[place + 1 :]]


# -- token counts -----------------------------------------------------------------------------------------------------


@habit("usage-unasked", Stage.REQUEST)
def usage_unasked(body: Json) -> None:
    """Counts come whether they are asked for or not."""
    if body.get("stream") and "messages" in body:
        body["stream_options"] = {"include_usage": True}


@habit("no-stream-usage", Stage.REQUEST)
def no_stream_usage(body: Json) -> None:
    """Counts never come in a stream, though they are asked for."""
    body.pop("stream_options", None)


@habit("no-usage", Stage.REQUEST)
def no_usage(body: Json) -> None:
    body.pop("stream_options", None)


@habit("no-usage", Stage.CHAT_BODY)
def no_usage_in_body(body: Json) -> None:
    body.pop("usage", None)


def _take_usage(chunks: Chunks) -> tuple[Chunks, Any]:
    """The chunks without the one for the counts, and the counts."""
    if chunks[-1]["choices"] == [] and "usage" in chunks[-1]:
        return chunks[:-1], chunks[-1]["usage"]
    return chunks, None


@habit("usage-in-choice", Stage.CHUNKS)
def usage_in_choice(chunks: Chunks) -> Chunks:
    rest, usage = _take_usage(chunks)
    if usage:
        finish_of(rest)["choices"][0]["usage"] = usage
    return rest


@habit("usage-on-finish", Stage.CHUNKS)
def usage_on_finish(chunks: Chunks) -> Chunks:
    rest, usage = _take_usage(chunks)
    if usage:
        finish_of(rest)["usage"] = usage
    return rest


@habit("usage-with-the-finish-again", Stage.CHUNKS)
def usage_with_the_finish_again(chunks: Chunks) -> None:
    """The chunk for the counts says the finish word once more."""
    _, usage = _take_usage(chunks)
    if usage:
        chunks[-1]["choices"] = [{**finish_of(chunks)["choices"][0], "delta": {"role": "assistant", "content": ""}}]


@habit("usage-on-every-chunk", Stage.CHUNKS)
def usage_on_every_chunk(chunks: Chunks) -> None:
    _, usage = _take_usage(chunks)
    for at, chunk in enumerate(chunks[:-1] if usage else ()):
        asked, said = usage["prompt_tokens"], min(at, usage["completion_tokens"])
        chunk["usage"] = {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said}


@habit("usage-null", Stage.CHUNKS)
def usage_null(chunks: Chunks) -> None:
    for chunk in chunks:
        chunk.setdefault("usage", None)


@habit("usage-three-times", Stage.CHUNKS)
def usage_three_times(chunks: Chunks) -> None:
    _, usage = _take_usage(chunks)
    if usage:
        finish_of(chunks).update(x_groq={"id": "req_1", "usage": usage}, usage=usage)


@habit("reasoning-not-counted", *_BOTH)
def reasoning_not_counted(value: Any) -> None:
    """The counts of the output leave thought out; the total does not."""
    for chunk in value if isinstance(value, list) else [value]:
        if usage := chunk.get("usage"):
            usage["completion_tokens"] -= usage["completion_tokens_details"]["reasoning_tokens"]
