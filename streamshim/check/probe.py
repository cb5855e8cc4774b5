"""Sends what is asked, keeps the bytes of the answers with the time of each read, and never passes its budget.

What it hands on is scrubbed already: no key, and no id of the vendor's, is in anything that is told of an answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock
from time import perf_counter, sleep
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from ..capture import Capture, Recorder, TimedPiece
from ..http_module import http_module
from ..json_codec import dumps, loads
from .exchanges import Exchange
from .plan import input_tokens
from .reading import Answer
from .requests import IdOf, Request

MAX_ANSWER_BYTES = 4 * 1024 * 1024
"""Of one answer: none that is asked for here is a hundredth of it."""

WRONG_KEY = "wrong-key-of-streamshim-check"
_LEAST_KEY = 6
"""Characters from which on a key is put out wherever it stands: a shorter word may be any word."""
_POLL_SECONDS = 0.5
_NEW_NAME = "max_completion_tokens"
"""What `max_tokens` of chat is called by servers that refuse the old name."""


class OverBudgetError(Exception):
    """The next request would pass the budget: it was not sent."""


@dataclass(slots=True)
class Budget:
    """What may be spent, and what was."""

    max_requests: int
    max_tokens: int
    requests: int = 0
    tokens: int = 0
    _lock: Any = field(default_factory=Lock)

    def take(self, request: Request) -> int:
        """Sets aside what a request may cost, and says how many tokens that is.

        Raises:
            OverBudgetError: it is more than what is left.
        """
        tokens = request.output_tokens + input_tokens(request)
        with self._lock:
            if self.requests + 1 > self.max_requests:
                raise OverBudgetError(f"the budget of {self.max_requests} requests is used up")
            if self.tokens + tokens > self.max_tokens:
                raise OverBudgetError(f"the budget of {self.max_tokens:,} tokens would be passed")
            self.requests += 1
            self.tokens += tokens
        return tokens

    def settle(self, taken: int, used: int | None) -> None:
        """Puts what the server counted in the place of what was set aside."""
        if used is not None:
            with self._lock:
                self.tokens += used - taken


class Probe:
    """Asks one endpoint."""

    def __init__(self, base_url: str, budget: Budget, *, api_key: str | None = None, timeout: float = 60.0) -> None:
        """Nothing is sent yet.

        Args:
            base_url: of the API, such as `http://127.0.0.1:8080/v1`.
            budget: what may be spent.
            api_key: sent as a bearer token; None: none is sent.
            timeout: seconds for one answer.

        Raises:
            ModuleNotFoundError: no HTTP client is installed.
            ValueError: the base URL is none.
        """
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise ValueError(f"{shown_url(base_url)!r} is no URL of an API; it looks like http://127.0.0.1:8080/v1")
        self.budget = budget
        self._base_url = base_url.rstrip("/")
        self._api_key = api_key
        self._timeout = timeout
        self._http: ModuleType = http_module()
        self._client = self._http.Client(timeout=timeout)
        self._exchanges: dict[str, Exchange] = {}
        self._ids: dict[str, str] = {}
        self._new_names: dict[str, str] = {}
        secrets = [api_key, parts.password, parts.query]
        self._secrets = [secret for secret in secrets if secret and len(secret) >= _LEAST_KEY]

    def close(self) -> None:
        """Closes the connections."""
        self._client.close()

    def ask(self, request: Request) -> Exchange | None:
        """The answer, of earlier where it was asked before; None where it waits for an id that never came.

        Raises:
            OverBudgetError: it was not sent.
        """
        if request.name not in self._exchanges:
            if any(needed.name not in self._ids for needed in request.waits_for):
                return None
            self._exchanges[request.name] = Exchange(request, self._answer(request))
        return self._exchanges[request.name]

    def ask_at_once(self, requests: Sequence[Request]) -> list[Exchange | None]:
        """The answers of requests that are sent at the same time.

        Raises:
            OverBudgetError: at least one was not sent.
        """
        with ThreadPoolExecutor(len(requests)) as pool:
            return list(pool.map(self.ask, requests))

    # -- one request --------------------------------------------------------------------------------------------------

    def _answer(self, request: Request) -> Answer:
        attempts = 0
        while True:
            taken = self.budget.take(request)
            attempts += 1
            status, content_type, capture, failure = self._send_as_taken(request)
            document = _document(capture.body)
            self.budget.settle(taken, _tokens(document))
            if attempts >= request.times or document.get("status") not in ("queued", "in_progress"):
                break
            sleep(_POLL_SECONDS)
        if status is not None and status < 400 and isinstance(id := document.get("id"), str) and id:
            self._ids[request.name] = id
        return Answer(status, content_type, self._without_secrets(capture).scrub(), failure, attempts)

    def _send_as_taken(self, request: Request) -> tuple[int | None, str | None, Capture, str | None]:
        """Sends it; where the server wants the limit under its new name, once more and from then on under that."""
        sent = self._send(request)
        status, _, capture, _ = sent
        if status == 400 and request.api == "chat" and not self._new_names and _NEW_NAME.encode() in capture.body:
            self.budget.take(request)
            self._new_names = {"max_tokens": _NEW_NAME}
            return self._send(request)
        return sent

    def _send(self, request: Request) -> tuple[int | None, str | None, Capture, str | None]:
        """Status, content type, the bytes, and why they are not all."""
        recorder, status, content_type, failure = Recorder(), None, None, None
        deadline, size = perf_counter() + self._timeout, 0
        try:
            with self._client.stream(request.method, self._url(request), **self._about(request)) as response:
                status, content_type = response.status_code, response.headers.get("content-type")
                for piece in response.iter_bytes():
                    recorder.feed(piece)
                    size += len(piece)
                    if request.cut is not None and size >= request.cut:
                        break
                    if size > MAX_ANSWER_BYTES:
                        failure = f"more than {MAX_ANSWER_BYTES // 1024**2} MB came"
                        break
                    if perf_counter() > deadline:
                        failure = f"it was not over after {self._timeout:g} s"
                        break
        except self._http.TimeoutException:
            failure = f"nothing came for {self._timeout:g} s"
        except (self._http.HTTPError, self._http.InvalidURL) as error:
            failure = self._told(f"{type(error).__name__}: {error}")
        return status, content_type, recorder.close(), failure

    def _url(self, request: Request) -> str:
        resource = self._ids[request.resource.name] if request.resource else ""
        parts = urlsplit(self._base_url)
        return urlunsplit(parts._replace(path=parts.path.rstrip("/") + request.path + resource))

    def _about(self, request: Request) -> dict[str, Any]:
        key = self._api_key if request.key == "given" else WRONG_KEY
        # an answer that broke may leave its connection broken: the next item must not suffer for it
        headers = {"Accept": "text/event-stream" if request.is_streamed else "application/json", "Connection": "close"}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        if request.body is None:
            return {"headers": headers}
        names = self._new_names if request.api == "chat" else {}
        body = {
            names.get(name, name): self._ids[value.name] if isinstance(value, IdOf) else value
            for name, value in request.body.items()
        }
        return {"headers": {**headers, "Content-Type": "application/json"}, "content": dumps(body).encode()}

    # -- secrets ------------------------------------------------------------------------------------------------------

    def _without_secrets(self, capture: Capture) -> Capture:
        """The same reads, with the key put out wherever the server repeats it."""
        body, at, pieces = capture.body, 0, []
        for secret in self._secrets:
            for form in {secret, dumps(secret)[1:-1]}:
                body = body.replace(form.encode(), b"x" * len(form.encode()))
        for piece in capture.pieces:
            pieces.append(TimedPiece(body[at : at + len(piece.data)], piece.time))
            at += len(piece.data)
        return Capture(pieces, capture.duration, capture.ended, capture.scrubbed)

    def _told(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "x" * len(secret))
        return text


def shown_url(url: str) -> str:
    """The URL without a name, a password and a query: what reports show of it."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _document(body: bytes) -> dict[str, Any]:
    """The body where it is one JSON object, else an empty one."""
    with suppress(ValueError):
        value = loads(body)
        if isinstance(value, dict):
            return value
    return {}


def _tokens(document: dict[str, Any]) -> int | None:
    """What the server counted; None where it does not say."""
    usage = document.get("usage")
    total = usage.get("total_tokens") if isinstance(usage, dict) else None
    return total if isinstance(total, int) else None
