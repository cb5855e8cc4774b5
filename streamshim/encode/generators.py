"""Events in, bytes out, as generators: `encode_chat`, `encode_responses` and their asynchronous twins."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Generator, Iterable
from typing import Unpack

from ..events import Event
from .chat import ChatEncoder
from .encoder import Encoder
from .options import ChatOptions, ResponsesOptions
from .responses import ResponsesEncoder


def encode_chat(events: Iterable[Event], **options: Unpack[ChatOptions]) -> Generator[bytes, None, None]:
    """The frames of a Chat Completions stream. The options are those of `ChatEncoder`.

    Raises:
        ValueError: an option is given a word that it does not know.
    """
    return _frames(ChatEncoder(**options), events)


def encode_responses(events: Iterable[Event], **options: Unpack[ResponsesOptions]) -> Generator[bytes, None, None]:
    """The frames of a Responses stream. The options are those of `ResponsesEncoder`.

    Raises:
        ValueError: an option is given a word that it does not know.
    """
    return _frames(ResponsesEncoder(**options), events)


def aencode_chat(events: AsyncIterable[Event], **options: Unpack[ChatOptions]) -> AsyncGenerator[bytes, None]:
    """As `encode_chat()`, of asynchronous events.

    Raises:
        ValueError: an option is given a word that it does not know.
    """
    return _aframes(ChatEncoder(**options), events)


def aencode_responses(events: AsyncIterable[Event], **options: Unpack[ResponsesOptions]) -> AsyncGenerator[bytes, None]:
    """As `encode_responses()`, of asynchronous events.

    Raises:
        ValueError: an option is given a word that it does not know.
    """
    return _aframes(ResponsesEncoder(**options), events)


def _frames(encoder: Encoder, events: Iterable[Event]) -> Generator[bytes, None, None]:
    yield from encoder.encode(events)
    yield from encoder.close()


async def _aframes(encoder: Encoder, events: AsyncIterable[Event]) -> AsyncGenerator[bytes, None]:
    async for event in events:
        for frame in encoder.feed(event):
            yield frame
    for frame in encoder.close():
        yield frame
