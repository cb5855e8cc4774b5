"""Images and audio on the chat wire."""

from __future__ import annotations

from typing import Any

from .parts import Part, Parts

UNKNOWN_AUDIO = "audio/*"
"""The wire does not say which encoding its audio has."""


def image_address(entry: Any) -> str | None:
    """The address of an image: a data URL or a plain one, wherever the entry keeps it."""
    if isinstance(entry, str):
        return entry or None
    if not isinstance(entry, dict):
        return None
    for key in ("image_url", "image", "url", "imageUrl"):
        if address := image_address(entry.get(key)):
            return address
    encoded = entry.get("b64_json")
    if isinstance(encoded, str) and encoded:
        return f"data:image/png;base64,{encoded}"
    return None


def emit_image(parts: Parts, choice: int, address: str) -> None:
    """One whole image."""
    media_type, data = _split_data_url(address)
    part = parts.start_media(choice, None, media_type)
    if data is not None:
        parts.media(part, data, None)
    parts.end_media(part, data, None if data is not None else address, None)


def _split_data_url(address: str) -> tuple[str | None, str | None]:
    if not address.startswith("data:"):
        return None, None
    head, comma, data = address[5:].partition(",")
    return (head.split(";", 1)[0] or None), (data if comma else "")


class Audio:
    """Audio that is being spoken: base64 pieces and their transcript."""

    def __init__(self, parts: Parts, choice: int, id: str | None, media_type: str = UNKNOWN_AUDIO) -> None:
        """Starts the part."""
        self.id = id
        self._parts = parts
        self._part: Part = parts.start_media(choice, id, media_type)
        self._data: list[str] = []
        self._transcript: list[str] = []

    def add(self, data: object, transcript: object) -> None:
        """A piece of either or both."""
        data = data if isinstance(data, str) and data else None
        transcript = transcript if isinstance(transcript, str) and transcript else None
        if data:
            self._data.append(data)
        if transcript:
            self._transcript.append(transcript)
        if data or transcript:
            self._parts.media(self._part, data, transcript)

    def end(self) -> None:
        """The End, with all of it."""
        if self._part.is_open:
            transcript = "".join(self._transcript) or None
            self._parts.end_media(self._part, "".join(self._data) or None, None, transcript)
