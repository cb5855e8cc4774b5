"""Habits in how a server says no: the shape of its errors, and where in the exchange they come."""

from __future__ import annotations

import json
from typing import Any

from .manners import DONE, Stage, habit
from .question import Json, RefusedError


def _shape(name: str, write: Any) -> None:
    """A habit that writes the body of an error its own way; `write` is given the usual one and the status."""

    def change(refused: RefusedError) -> None:
        refused.body = write(refused.body["error"], refused.status)

    habit(name, Stage.REFUSAL)(change)


_shape("error-as-text", lambda error, status: {"error": error["message"]})
_shape(
    "error-with-code", lambda error, status: {"code": error["code"] or "invalid-argument", "error": error["message"]}
)
_shape("error-as-detail", lambda error, status: {"detail": error["message"]})
_shape("error-as-message", lambda error, status: {"message": error["message"]})
_shape("error-in-list", lambda error, status: [{"error": {**error, "code": status}}])
_shape("error-code-number", lambda error, status: {"error": {**error, "code": status}})
_shape("error-without-code", lambda error, status: {"error": {key: error[key] for key in ("message", "type")}})
_shape(
    "error-flat",
    lambda error, status: {"object": "error", "message": error["message"], "type": "BadRequestError", "code": status},
)


@habit("error-base-resp", Stage.REFUSAL)
def error_base_resp(refused: RefusedError) -> None:
    """HTTP 200, and a body without choices."""
    refused.body = {"base_resp": {"status_code": 2013, "status_msg": refused.body["error"]["message"]}}
    refused.status = 200


@habit("errors-with-200", Stage.REFUSAL)
def errors_with_200(refused: RefusedError) -> None:
    refused.status = 200


@habit("errors-in-the-stream", Stage.REFUSAL)
def errors_in_the_stream(refused: RefusedError) -> None:
    """HTTP 200, and the error as the only frame of a stream, where one was asked for."""
    if refused.streams:
        refused.status = 200
        refused.body = [f"event: error\ndata: {json.dumps(refused.body)}\n\n".encode(), DONE]


@habit("error-as-frame", Stage.REFUSAL)
def error_as_frame(refused: RefusedError) -> None:
    """The body of the error is an event stream, whatever was asked for."""
    refused.body = [f"data: {json.dumps(refused.body)}\n\n".encode()]


@habit("overflow-ends-the-stream", Stage.REFUSAL)
def overflow_ends_the_stream(refused: RefusedError) -> None:
    """An input that is too long is noticed when the stream has begun: it ends without a byte."""
    if refused.streams and refused.body["error"]["code"] == "context_length_exceeded":
        refused.status = 200
        refused.body = [b""]


# -- errors in the middle of an answer --------------------------------------------------------------------------------

_ERROR: Json = {"message": "The engine is overloaded.", "type": "server_error", "param": None, "code": "overloaded"}


def _fails(name: str, frame: bytes) -> None:
    """A habit of streams that fail in the middle, and say so with this frame."""
    habit(name, Stage.FRAMES)(lambda frames: [*frames[: len(frames) // 2], frame])


_fails("fails-midway", f"data: {json.dumps({'error': _ERROR})}\n\n".encode())
_fails("fails-midway-then-done", f"data: {json.dumps({'error': _ERROR})}\n\n".encode() + DONE)
_fails("fails-midway-in-event", f"event: error\ndata: {json.dumps({'error': _ERROR})}\n\n".encode())
_fails("fails-midway-in-field", f"error: {json.dumps(_ERROR)}\n\n".encode())
_fails("fails-midway-flat", f"data: {json.dumps({'object': 'error', **_ERROR})}\n\n".encode())
_fails("fails-midway-without-frame", f"{json.dumps({'error': _ERROR})}\n".encode())
_fails("fails-midway-typed", f"event: error\ndata: {json.dumps({**_ERROR, 'type': 'error'})}\n\n".encode())
