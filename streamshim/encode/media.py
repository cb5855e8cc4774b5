"""Images and audio on the Responses wire."""

from __future__ import annotations

from collections.abc import Callable

from ..events import MediaDelta, MediaEnd, MediaStart
from .output import Item, Output


class Picture:
    """An image becomes an image generation call, once there is data; one that lies at an address cannot be said."""

    def __init__(self, output: Output, start: MediaStart, drop: Callable[[str], None]) -> None:
        """Nothing is announced yet: whether there is data, its Start does not tell."""
        self._output = output
        self._id = start.id
        self._format = (start.media_type or "image/png").removeprefix("image/")
        self._drop = drop
        self._item: Item | None = None

    def delta(self, event: MediaDelta) -> None:
        """There is data; the wire shows it whole, at the end."""
        if event.data:
            self._announce()

    def end(self, event: MediaEnd) -> None:
        """The whole image."""
        if not event.data:
            self._drop("media_url" if event.url else "media")
            return
        item = self._announce()
        item.shown.update(output_format=self._format, result=event.data)
        self._output.write("response.image_generation_call.completed", **item.place)
        self._output.close(item, "completed")

    def abandon(self) -> None:
        """The terminal event shows that it was begun."""

    def _announce(self) -> Item:
        if self._item is None:
            item = self._output.announce("image_generation_call", self._id, status="in_progress")
            self._item = item
            self._output.write("response.image_generation_call.in_progress", **item.place)
            self._output.write("response.image_generation_call.generating", **item.place)
        return self._item


class ShownPicture:
    """An image that is the result of a call: the call's item shows it."""

    def __init__(self, item: Item) -> None:
        """`item` was announced by the call, and may be done."""
        self._item = item

    def delta(self, event: MediaDelta) -> None:
        """The wire shows it whole."""

    def end(self, event: MediaEnd) -> None:
        """The whole image; more than the call showed is left to the terminal event."""
        if event.data:
            self._item.shown["result"] = event.data

    def abandon(self) -> None:
        """The call shows what it has."""


class Sound:
    """Audio has events, but no item."""

    def __init__(self, output: Output) -> None:
        """Nothing is said of its start."""
        self._output = output
        self._has_transcript = False

    def delta(self, event: MediaDelta) -> None:
        """More of it, of its transcript, or of both."""
        if event.data:
            self._output.write("response.audio.delta", delta=event.data)
        if event.transcript:
            self._has_transcript = True
            self._output.write("response.audio.transcript.delta", delta=event.transcript)

    def end(self, event: MediaEnd) -> None:
        """All was said; a transcript that came whole is said now."""
        if event.transcript and not self._has_transcript:
            self._output.write("response.audio.transcript.delta", delta=event.transcript)
        self.abandon()

    def abandon(self) -> None:
        """It is over."""
        self._output.write("response.audio.done")
        self._output.write("response.audio.transcript.done")
