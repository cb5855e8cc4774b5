"""Images and files become content parts, from wherever they are."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from streamshim import Conversation, file_part, image_part, text_part
from tests.scripted import Script, chat_answer, response_answer

PNG = b"\x89PNG\r\n\x1a\n" + b"rest"
PDF = b"%PDF-1.7 rest"


def url(kind: str, data: bytes) -> str:
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0rest", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8 ", "image/webp"),
    ],
    ids=["png", "jpeg", "gif", "webp"],
)
def test_bytes_are_sent_along_with_the_type_that_they_begin_as(data: bytes, kind: str) -> None:
    assert image_part(data) == {"type": "image_url", "image_url": {"url": url(kind, data)}}


def test_a_file_is_read_and_its_name_tells_its_type(tmp_path: Path) -> None:
    path = tmp_path / "chart.png"
    path.write_bytes(b"anything")
    for given in (path, str(path)):
        assert image_part(given, detail="high") == {
            "type": "image_url",
            "image_url": {"url": url("image/png", b"anything"), "detail": "high"},
        }


@pytest.mark.parametrize("address", ["https://a.test/b.png", "http://a.test/b", url("image/png", PNG)])
def test_an_address_stays_one(address: str) -> None:
    assert image_part(address)["image_url"]["url"] == address


def test_a_type_can_be_given_and_must_be_where_it_cannot_be_seen() -> None:
    assert image_part(b"??", media_type="image/avif")["image_url"]["url"] == url("image/avif", b"??")
    with pytest.raises(ValueError, match="media_type"):
        image_part(b"??")
    with pytest.raises(FileNotFoundError):
        image_part("no-such-file.png")


def test_files_have_names(tmp_path: Path) -> None:
    path = tmp_path / "tides.pdf"
    path.write_bytes(PDF)
    expected = {"filename": "tides.pdf", "file_data": url("application/pdf", PDF)}
    assert file_part(path) == {"type": "file", "file": expected}
    assert file_part(PDF, filename="tides.pdf") == {"type": "file", "file": expected}
    assert file_part(PDF)["file"] == {"filename": "file", "file_data": url("application/pdf", PDF)}
    assert file_part(url("text/csv", b"a"), filename="a.csv")["file"]["file_data"] == url("text/csv", b"a")
    assert file_part(b"a,b", filename="a.csv")["file"]["file_data"] == url("text/csv", b"a,b")


@pytest.mark.parametrize(
    ("api", "expected"),
    [
        (
            "chat",
            [
                {"type": "text", "text": "What are these?"},
                {"type": "image_url", "image_url": {"url": url("image/png", PNG), "detail": "low"}},
                {"type": "file", "file": {"filename": "t.pdf", "file_data": url("application/pdf", PDF)}},
            ],
        ),
        (
            "responses",
            [
                {"type": "input_text", "text": "What are these?"},
                {"type": "input_image", "image_url": url("image/png", PNG), "detail": "low"},
                {"type": "input_file", "filename": "t.pdf", "file_data": url("application/pdf", PDF)},
            ],
        ),
    ],
    ids=["chat", "responses"],
)
def test_parts_are_sent_in_the_words_of_the_api(api: Any, expected: Any) -> None:
    answer = chat_answer("A chart.") if api == "chat" else response_answer("A chart.")
    script = Script(answer, api=api)
    conversation = Conversation()
    parts = [text_part("What are these?"), image_part(PNG, detail="low"), file_part(PDF, filename="t.pdf")]
    conversation.user(parts)
    script.chat(conversation)
    assert script.bodies[0]["messages" if api == "chat" else "input"][0]["content"] == expected
