"""What stands behind each path: the toy model, asked in the words of one API and answering in them."""

from __future__ import annotations

import itertools
import json
import urllib.parse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .chat import chat_body, chat_stream, read_chat
from .completions import completion_body, completion_stream, read_completion
from .memory import Kept, Memory, running
from .parameters import MODELS, check_model
from .question import Json, NoSuchPathError, RefusedError
from .responses import input_items, is_stored, read_responses, responses_stream
from .speech import CREATED_AT, speak


@dataclass
class Reply:
    """An HTTP status, a body, which is JSON or the frames of a stream, and the API that it speaks."""

    status: int
    body: Any
    api: str = ""


class Endpoints:
    """Answers requests. Ids are counted, so that two servers that are asked the same answer the same."""

    def __init__(self, apis: Sequence[str]) -> None:
        self._apis = apis
        self._memory = Memory()
        self._numbers = itertools.count(1)
        self._paths = {
            "/v1/chat/completions": ("chat", self._chat),
            "/v1/responses": ("responses", self._responses),
            "/v1/completions": ("completions", self._completions),
        }

    def answer(self, method: str, address: str, body: Any) -> Reply:
        """The reply to a request.

        Raises:
            RefusedError: there is no such path, or the request is not legal.
        """
        split = urllib.parse.urlsplit(address)
        path = split.path.rstrip("/")
        if method == "GET" and path == "/v1/models":
            return Reply(200, {"object": "list", "data": [_model(name) for name in MODELS]})
        if method == "GET" and path.startswith("/v1/models/"):
            check_model(path.removeprefix("/v1/models/"))
            return Reply(200, _model(path.removeprefix("/v1/models/")))
        if path.startswith("/v1/responses/") and "responses" in self._apis:
            return self._kept(method, path.removeprefix("/v1/responses/"), dict(urllib.parse.parse_qsl(split.query)))
        api, endpoint = self._paths.get(path, ("", self._chat))
        if api not in self._apis or method != "POST":
            raise NoSuchPathError(method, address)
        if not isinstance(body, dict):
            raise RefusedError(400, "We could not parse the JSON body of your request.")
        return endpoint(body)

    def make_id(self, prefix: str) -> str:
        """The next id."""
        return f"{prefix}_{next(self._numbers):08x}"

    # -- the three APIs -----------------------------------------------------------------------------------------------

    def _chat(self, body: Json) -> Reply:
        question = read_chat(body)
        events = speak(question, "chat", self.make_id("chatcmpl"), self.make_id)
        said = chat_stream(events, body, self.make_id) if body.get("stream") else chat_body(events, self.make_id)
        return Reply(200, said, "chat")

    def _completions(self, body: Json) -> Reply:
        events = speak(read_completion(body), "completions", self.make_id("cmpl"), self.make_id)
        said = completion_stream(events, body) if body.get("stream") else completion_body(events)
        return Reply(200, said, "completions")

    def _responses(self, body: Json) -> Reply:
        earlier = self._memory.before(body.get("previous_response_id"))
        items = input_items(body, self._memory.items)
        question = read_responses(body, earlier + items)
        if body.get("background") and not is_stored(body):
            raise RefusedError(400, "Background responses must be stored.", param="background")
        events = speak(question, "responses", self.make_id("resp"), self.make_id)
        frames = responses_stream(events, body, self.make_id)
        whole = _last_response(frames)
        kept = Kept(earlier + items, items, whole, frames)
        if is_stored(body):
            self._memory.keep(kept)
        if body.get("stream"):
            return Reply(200, frames, "responses")
        if body.get("background"):
            kept.runs = True
            return Reply(200, running(whole, "queued"), "responses")
        return Reply(200, whole, "responses")

    # -- responses that are kept --------------------------------------------------------------------------------------

    def _kept(self, method: str, path: str, query: dict[str, str]) -> Reply:
        id, _, action = path.partition("/")
        kept = self._memory.get(id)
        if method == "DELETE" and not action:
            self._memory.forget(id)
            return Reply(200, {"id": id, "object": "response", "deleted": True})
        if method == "POST" and action == "cancel":
            if kept.runs:
                kept.runs = False
                kept.body = running(kept.body, "cancelled")
            return Reply(200, kept.body, "responses")
        if method == "GET" and action == "input_items":
            return Reply(200, {"object": "list", "data": kept.input, "has_more": False})
        if method == "GET" and not action and query.get("stream") == "true":
            return Reply(200, kept.frames[int(query.get("starting_after", -1)) + 1 :], "responses")
        if method == "GET" and not action:
            return Reply(200, kept.shown(), "responses")
        raise NoSuchPathError(method, f"/v1/responses/{path}")


def _model(name: str) -> Json:
    return {"id": name, "object": "model", "created": CREATED_AT, "owned_by": "streamshim"}


def _last_response(frames: list[bytes]) -> Json:
    """What the terminal event shows."""
    return json.loads(frames[-1].split(b"data: ", 1)[1])["response"]
