"""Content parts for what the user says: texts, images and files, from wherever they are."""

from __future__ import annotations

import base64
import mimetypes
import os
from pathlib import Path
from typing import Any, Literal

_SIGNATURES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
    b"%PDF-": "application/pdf",
}
_ADDRESSES = ("http://", "https://", "data:", "gs://")


def text_part(text: str) -> dict[str, Any]:
    """A piece of text beside other parts."""
    return {"type": "text", "text": text}


def image_part(
    image: str | os.PathLike[str] | bytes,
    *,
    detail: Literal["auto", "low", "high"] | None = None,
    media_type: str | None = None,
) -> dict[str, Any]:
    """An image, for `Conversation.user()` or the content of a message.

    Args:
        image: an address (`https:`, `data:`), the path of a file, or its bytes. What is not an address is sent along,
            as base64.
        detail: how closely it is looked at.
        media_type: its MIME type, where neither its name nor its first bytes tell.

    Raises:
        OSError: the file cannot be read.
        ValueError: the type is not known.
    """
    url = image if isinstance(image, str) and image.startswith(_ADDRESSES) else _data_url(image, media_type)
    return {"type": "image_url", "image_url": {"url": url, **({"detail": detail} if detail else {})}}


def file_part(
    file: str | os.PathLike[str] | bytes, *, filename: str | None = None, media_type: str | None = None
) -> dict[str, Any]:
    """A file, such as a PDF, for `Conversation.user()` or the content of a message.

    Args:
        file: its path, its bytes, or a `data:` address.
        filename: what it is called; a path tells.
        media_type: its MIME type, where neither its name nor its first bytes tell.

    Raises:
        OSError: the file cannot be read.
        ValueError: the type is not known.
    """
    name = filename or ("file" if isinstance(file, bytes) or _is_data(file) else Path(file).name)
    data = file if isinstance(file, str) and _is_data(file) else _data_url(file, media_type or _type_of(name))
    return {"type": "file", "file": {"filename": name, "file_data": data}}


def _is_data(file: object) -> bool:
    return isinstance(file, str) and file.startswith("data:")


def _type_of(name: str) -> str | None:
    return mimetypes.guess_type(name)[0]


def _data_url(source: str | os.PathLike[str] | bytes, media_type: str | None) -> str:
    data = source if isinstance(source, bytes) else Path(source).read_bytes()
    found = media_type or (None if isinstance(source, bytes) else _type_of(os.fspath(source))) or _type_in(data)
    if found is None:
        raise ValueError("what kind of file this is cannot be seen: give its media_type, such as image/png")
    return f"data:{found};base64,{base64.b64encode(data).decode()}"


def _type_in(data: bytes) -> str | None:
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for signature, kind in _SIGNATURES.items() if data.startswith(signature)), None)
