"""The subjects: what is measured, through which doors. A door's library is imported when the door is loaded."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from .doors import (
    json_readers,
    langchain,
    litellm_sdk,
    openai_agents,
    openai_sdk,
    pydantic_ai_models,
    sse_parsers,
    streamshim_doors,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .doors import AsyncDoor, Door
    from .loads import Api

    LoadDoor: TypeAlias = Callable[[], Door | AsyncDoor]

_STREAMSHIM = ("streamshim", "orjson")
_OPENAI = ("openai", "httpx2", "pydantic")


@dataclass(frozen=True, slots=True)
class Subject:
    """Something that reads streams, or arguments.

    Attributes:
        name: as the command line and the tables call it.
        description: what is called, in a few words.
        distributions: whose versions matter, the subject's own first.
        doors: what loads the door to each API; an API that is not there cannot be read.
        takes_payloads: it is fed parsed payloads, so that no cut of the bytes can make a difference.
    """

    name: str
    description: str
    distributions: tuple[str, ...]
    doors: Mapping[Api, LoadDoor]
    takes_payloads: bool = False

    @property
    def is_own(self) -> bool:
        """Whether this project is what is measured."""
        return self.distributions[0] == "streamshim"


def _either(load: LoadDoor) -> dict[Api, LoadDoor]:
    return {"chat": load, "responses": load}


def _wires(chat: LoadDoor, responses: LoadDoor) -> dict[Api, LoadDoor]:
    return {"chat": chat, "responses": responses}


_STREAM_READERS = (
    Subject(
        "streamshim-plain",
        "StreamDecoder(fast=False): every frame is parsed",
        _STREAMSHIM,
        _either(partial(streamshim_doors.decoder, fast=False)),
    ),
    Subject("streamshim-fast", "StreamDecoder(), as it is by default", _STREAMSHIM, _either(streamshim_doors.decoder)),
    Subject("streamshim-stream", "stream() around an iterable of bytes", _STREAMSHIM, _either(streamshim_doors.shell)),
    Subject(
        "streamshim-astream",
        "astream() around an asynchronous iterable of bytes",
        _STREAMSHIM,
        _either(streamshim_doors.async_shell),
    ),
    Subject(
        "streamshim-httpx2",
        "stream() around a response of httpx2",
        (*_STREAMSHIM, "httpx2"),
        _either(streamshim_doors.response),
    ),
    Subject(
        "streamshim-push",
        "feed_payload() of payloads that are parsed already",
        _STREAMSHIM,
        _either(streamshim_doors.push),
        takes_payloads=True,
    ),
    Subject(
        "streamshim-relay",
        "convert() to the same wire: bytes in, bytes out",
        _STREAMSHIM,
        _wires(partial(streamshim_doors.relay, "chat"), partial(streamshim_doors.relay, "responses")),
    ),
    Subject("httpx-sse", "httpx-sse, then json.loads", ("httpx-sse", "httpx"), _either(sse_parsers.httpx_sse)),
    Subject("sseclient-py", "sseclient-py, then json.loads", ("sseclient-py",), _either(sse_parsers.sseclient)),
    Subject("openai", "the SDK's create(stream=True)", _OPENAI, _wires(openai_sdk.chat, openai_sdk.responses)),
    Subject(
        "openai-helper",
        "the SDK's .stream() helper, with its final object",
        _OPENAI,
        _wires(openai_sdk.chat_helper, openai_sdk.responses_helper),
    ),
    Subject(
        "openai-agents",
        "the model class's stream_response()",
        ("openai-agents", *_OPENAI),
        _wires(openai_agents.chat, openai_agents.responses),
    ),
    Subject(
        "langchain-openai",
        "ChatOpenAI.stream()",
        ("langchain-openai", "langchain-core", *_OPENAI),
        _wires(langchain.chat, langchain.responses),
    ),
    Subject(
        "pydantic-ai",
        "model_request_stream()",
        ("pydantic-ai-slim", *_OPENAI),
        _wires(pydantic_ai_models.chat, pydantic_ai_models.responses),
    ),
    Subject(
        "litellm",
        "completion(stream=True), responses(stream=True)",
        ("litellm", "httpx", *_OPENAI),
        _wires(litellm_sdk.chat, litellm_sdk.responses),
    ),
)
_UNCOLLECTED = Subject(
    "streamshim-uncollected",
    "StreamDecoder(collect=False), as relays use it",
    _STREAMSHIM,
    _either(partial(streamshim_doors.decoder, collect=False)),
)
_ARGUMENT_READERS = (
    Subject("arguments-feed", "PartialArguments.feed()", _STREAMSHIM[:1], {"arguments": json_readers.told}),
    Subject(
        "arguments-value", "PartialArguments.feed(), then .value", _STREAMSHIM[:1], {"arguments": json_readers.shown}
    ),
    Subject("ijson", "the events of ijson after each delta", ("ijson",), {"arguments": json_readers.ijson_told}),
    Subject("jiter", "all read again after each delta", ("jiter",), {"arguments": json_readers.jiter_shown}),
)

SUBJECTS = {subject.name: subject for subject in (*_STREAM_READERS, _UNCOLLECTED, *_ARGUMENT_READERS)}
STREAM_READERS = tuple(subject.name for subject in _STREAM_READERS)
ARGUMENT_READERS = tuple(subject.name for subject in _ARGUMENT_READERS)
