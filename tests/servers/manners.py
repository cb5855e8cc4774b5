"""How habits are written down, and what they do to a request, a stream, a body or a refusal.

A habit is a name with one small function for each stage of an exchange that it touches. The function changes what it
is given, or returns something else in its place. Several habits work in the order in which they are named.
"""

from __future__ import annotations

import copy
import enum
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from streamshim.json_codec import dumps

from .question import Json, RefusedError

Function = Callable[[Any], Any]


class Stage(enum.Enum):
    """Where a habit can touch an exchange, and what its function is given there."""

    PATH = "method and path of the request; it may raise RefusedError"
    REQUEST = "the body of the request, before it is read; it may raise RefusedError"
    CHUNKS = "all payloads of a chat stream"
    EVENTS = "all payloads of a Responses stream"
    FRAMES = "all frames of a stream; None breaks the connection"
    CHAT_BODY = "the whole body of a chat answer"
    RESPONSE_BODY = "the whole body of a Responses answer"
    REFUSAL = "a RefusedError"
    HEADERS = "the headers of a stream"


HABITS: dict[str, dict[Stage, Function]] = {}
"""Every habit by its name."""


def habit(name: str, *stages: Stage) -> Callable[[Function], Function]:
    """Note a function as what a habit does at some stages."""

    def note(function: Function) -> Function:
        for stage in stages:
            known = HABITS.setdefault(name, {})
            if stage in known:
                raise ValueError(f"{name!r} does two things at {stage}")
            known[stage] = function
        return function

    return note


def each(name: str, stage: Stage) -> Callable[[Function], Function]:
    """Note a function over one payload, or one frame, as a habit over all of them."""

    def note(function: Function) -> Function:
        def change_all(values: list[Any]) -> list[Any]:
            return [_result(function, value) for value in values]

        habit(name, stage)(change_all)
        return function

    return note


def each_choice(name: str) -> Callable[[Function], Function]:
    """Note a function over the chunks of one choice as a habit; chunks without choices stay behind them."""

    def note(function: Function) -> Function:
        def change_all(chunks: list[Json]) -> list[Json]:
            by_index: dict[Any, list[Json]] = {}
            beside = [chunk for chunk in chunks if not chunk["choices"]]
            for chunk in chunks:
                if chunk["choices"]:
                    by_index.setdefault(chunk["choices"][0].get("index"), []).append(chunk)
            return [chunk for own in by_index.values() for chunk in _result(function, own)] + beside

        habit(name, Stage.CHUNKS)(change_all)
        return function

    return note


def each_delta(name: str, *, whole: bool = True) -> Callable[[Function], Function]:
    """Note a function over a chat delta as a habit; with `whole`, over the message of a whole body as well."""

    def note(function: Function) -> Function:
        def change_all(chunks: list[Json]) -> None:
            for choice in choices_of(chunks):
                choice["delta"] = _result(function, choice["delta"])

        def change_body(body: Json) -> None:
            for choice in body["choices"]:
                choice["message"] = _result(function, choice["message"])

        habit(name, Stage.CHUNKS)(change_all)
        if whole:
            habit(name, Stage.CHAT_BODY)(change_body)
        return function

    return note


def each_call(name: str, *, whole: bool = True) -> Callable[[Function], Function]:
    """Note a function over an entry of `tool_calls` as a habit."""

    def note(function: Function) -> Function:
        def change_calls(delta: Json) -> None:
            if delta.get("tool_calls"):
                delta["tool_calls"] = [_result(function, entry) for entry in delta["tool_calls"]]

        each_delta(name, whole=whole)(change_calls)
        return function

    return note


def _result(function: Function, value: Any) -> Any:
    result = function(value)
    return value if result is None else result


def choices_of(chunks: Iterable[Json]) -> Iterator[Json]:
    """Every choice that has a delta, of every chunk."""
    for chunk in chunks:
        for choice in chunk.get("choices") or ():
            if isinstance(choice, dict) and isinstance(choice.get("delta"), dict):
                yield choice


def frame_of(payload: Json) -> bytes:
    """A payload as a frame; those of the Responses API have an `event:` line."""
    line = f"event: {payload['type']}\n" if isinstance(payload.get("type"), str) else ""
    return f"{line}data: {dumps(payload)}\n\n".encode()


DONE = b"data: [DONE]\n\n"


class Manners:
    """The habits of one server."""

    def __init__(self, names: Sequence[str]) -> None:
        if unknown := [name for name in names if name not in HABITS]:
            raise ValueError(f"no such habit: {', '.join(unknown)}")
        self._names = names

    def path(self, method: str, path: str) -> None:
        """Look at where a request goes.

        Raises:
            RefusedError: a habit refuses it.
        """
        self._apply(Stage.PATH, f"{method} {path}")

    def request(self, body: Json) -> Json:
        """The request as it is read.

        Raises:
            RefusedError: a habit refuses it.
        """
        return self._apply(Stage.REQUEST, copy.deepcopy(body))

    def stream(self, api: str, frames: list[bytes]) -> list[bytes | None]:
        """The stream as it is sent. Without habits it stays as it is, byte by byte."""
        stage = {"chat": Stage.CHUNKS, "responses": Stage.EVENTS}.get(api)
        if stage is not None and self._touches(stage):
            ends = frames[-1] == DONE
            payloads = [json.loads(frame.split(b"data: ", 1)[1]) for frame in frames[: len(frames) - ends]]
            frames = [frame_of(payload) for payload in self._apply(stage, payloads)] + [DONE] * ends
        return self._apply(Stage.FRAMES, list(frames))

    def body(self, api: str, body: Json) -> Json:
        """A whole body as it is sent."""
        stage = {"chat": Stage.CHAT_BODY, "responses": Stage.RESPONSE_BODY}.get(api)
        return body if stage is None else self._apply(stage, copy.deepcopy(body))

    def refusal(self, refused: RefusedError) -> RefusedError:
        """A refusal as it is sent."""
        return self._apply(Stage.REFUSAL, refused)

    def headers(self) -> dict[str, str]:
        """The headers of a stream."""
        return self._apply(Stage.HEADERS, {"Content-Type": "text/event-stream; charset=utf-8"})

    def _touches(self, stage: Stage) -> bool:
        return any(stage in HABITS[name] for name in self._names)

    def _apply(self, stage: Stage, value: Any) -> Any:
        for name in self._names:
            if function := HABITS[name].get(stage):
                value = _result(function, value)
        return value
