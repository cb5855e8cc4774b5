r"""Event-stream framing (WHATWG HTML, section 9.2), as forgiving as real servers need it.

Bytes come in any pieces; `Framer.feed` gives frames as bytes, lazily, so that a reader who stops at a
frame can still ask for what stands behind it (`unread`). Looser than the standard where servers are:

* `data:` may stand before `event:`, so an event is dispatched at its blank line, which may hold blanks;
* events parted by a single LF: a data line that is a whole JSON value by itself is an event of its own;
* the field `error:` is an event named "error"; a bare `[DONE]` line is one too;
* a line that begins with `{` or `[` opens a JSON document outside of any field (`json_body`): an error that a proxy
  wrote into the stream, JSON lines, an array of chunks, or a whole answer that is no event stream at all;
* at the end of the body an event that no blank line ended is still read.

Lines end at LF, CRLF or CR only (not at U+2028 or U+0085). A partial line is a list of fragments, joined once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..json_codec import loads
from .json_body import JsonBody


@dataclass(slots=True)
class Notice:
    """What the framing has to tell between two frames: a repair, or a frame dropped for its length."""

    quirk: str
    detail: str


Frame = bytes | Notice
"""The data of a frame; `Framer.event` holds the `event:` line that came with it. Or what there is to tell."""

_CARRIAGE_RETURN = 0x0D
_BOM = b"\xef\xbb\xbf"
_DONE = b"[DONE]"
_FIELD = re.compile(rb"(?:data|event|id|retry|error)?:")
_FIELD_PREFIXES = frozenset(
    name[:length] for name in (b"data:", b"event:", b"id:", b"retry:", b"error:") for length in range(1, len(name))
)
_BETWEEN_DOCUMENTS = b" \t,"
_COMPRESSED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"\x78\x9c": "deflate", b"\x78\xda": "deflate"}
_DECISIVE_BYTES = 80
"""So many bytes of a line, blanks before it included, tell what it is: a field, `[DONE]` or a JSON document."""
_PROSE_BYTES = 2000
"""How much of a body that is no stream is kept to be shown: 500 characters of at most 4 bytes."""


class Framer:
    """Cuts bytes into frames, incrementally: no byte is scanned twice, and no frame grows beyond `max_frame_bytes`."""

    def __init__(self, max_frame_bytes: int) -> None:
        """`max_frame_bytes` bounds one line, one event and one JSON document."""
        self.prose = b""
        """The beginning of what was no field, no comment and no JSON."""
        self.compression: str | None = None
        self.event: bytes | None = None
        """The `event:` line of the frame that was given last, or None."""
        self.last_event_id: str | None = None
        """What the last `id:` line said whose event has ended: until then a reader who resumes needs it again."""
        self.cut_document = b""
        """A JSON document that the end of the body cut."""
        self._max = max_frame_bytes
        self._first_bytes: bytes | None = b""  # None once the body has begun
        self._skip_line_feed = False
        self._lines: Iterator[bytes] = iter(())
        self._tail = b""
        self._fragments: list[bytes] = []
        self._fragments_size = 0
        self._dropping_line = False
        self._event: bytes | None = None
        self._id: str | None = None
        self._data: bytes | None = None
        self._more_data: list[bytes] = []
        self._event_size = 0
        self._document: JsonBody | None = None
        self._inside_document_line = False
        self._behind_document = False

    # -- the public verbs ---------------------------------------------------------------------------------------------

    def feed(self, piece: bytes) -> Iterator[Frame]:
        """The frames that `piece` completes."""
        if _CARRIAGE_RETURN in piece or self._skip_line_feed:
            piece = self._normalise(piece)
        if self._first_bytes is not None and not (piece := self._begin(self._first_bytes + piece)):
            return
        if self._behind_document:
            piece = piece.lstrip(_BETWEEN_DOCUMENTS)
            self._behind_document = not piece
        if self._inside_document_line:
            head, line_end, piece = piece.partition(b"\n")
            yield from self._read_document(head + line_end)
        lines = piece.split(b"\n")
        self._tail = lines.pop()
        if lines and self._fragments:
            lines[0] = self._joined(lines[0])
        may_be_long = len(piece) > self._max or (len(lines) > 0 and len(lines[0]) > self._max)
        lines_left = self._lines = iter(lines)
        event, data = self._event, self._data
        plain = self._document is None and not may_be_long
        several = self._event_size > 0
        has_id = self._id is not None
        for line in lines_left:
            if not line:
                if has_id:
                    self._take_id()
                    has_id = False
                if data is not None:
                    if several:
                        self._data = data
                        yield from self._dispatch(event)
                        several = False
                    else:
                        self.event = event
                        yield data
                    data = None
                event = None
            elif plain and data is None and line.startswith(b"data:"):
                data = line[5:]
            elif plain and line.startswith(b"event:"):
                event = line
            else:
                self._event, self._data = event, data
                yield from self._line(line)
                event, data = self._event, self._data
                plain = self._document is None and not may_be_long
                several = self._event_size > 0
                has_id = self._id is not None
        self._event, self._data = event, data
        tail, self._tail = self._tail, b""
        if tail:
            yield from self._keep(tail)

    def close(self) -> Iterator[Frame]:
        """The body is over: what no line end and no blank line ended is read all the same."""
        if self._first_bytes:
            self._fragments = [self._begin(self._first_bytes, whole=True)]
        if self._fragments:
            line = b"".join(self._fragments)
            self._fragments = []
            yield from self._line(line)
        if self._document is not None:
            if self._document.too_long:
                yield self._too_long("JSON value")
            self.cut_document = self._document.rest()
            self._document = None
        if self._data is not None:
            yield from self._dispatch(self._event)

    def unread(self) -> bytes:
        """The bytes behind the last frame that was given out (line ends are LF by now)."""
        rest = b"".join(line + b"\n" for line in self._lines) + self._tail
        self._tail = b""
        return rest

    @property
    def is_between_events(self) -> bool:
        """Whether nothing is held: a reader of whole events may take the next bytes."""
        return not (
            self._fragments
            or self._data is not None
            or self._event is not None
            or self._id is not None
            or self._document is not None
            or self._inside_document_line
            or self._behind_document
            or self._skip_line_feed
            or self._first_bytes
        )

    def begin(self) -> None:
        """The first bytes were an event, and read elsewhere: no byte order mark can follow."""
        self._first_bytes = None

    # -- pieces -------------------------------------------------------------------------------------------------------

    def _normalise(self, piece: bytes) -> bytes:
        """CRLF and CR become LF. A CR at a piece's end is a line end at once; the LF that may follow is eaten."""
        if self._skip_line_feed and piece:
            self._skip_line_feed = False
            piece = piece.removeprefix(b"\n")
        if piece.endswith(b"\r"):
            self._skip_line_feed = True
        return piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def _begin(self, piece: bytes, *, whole: bool = False) -> bytes:
        """The first bytes: a byte order mark is dropped, a compressed body is recognised."""
        if not whole and any(len(piece) < len(mark) and mark.startswith(piece) for mark in (_BOM, *_COMPRESSED)):
            self._first_bytes = piece
            return b""
        self._first_bytes = None
        for magic, name in _COMPRESSED.items():
            if piece.startswith(magic):
                self.compression = name
        return piece.removeprefix(_BOM)

    def _joined(self, line: bytes) -> bytes:
        """The line whose beginning earlier pieces brought."""
        fragments, self._fragments = self._fragments, []
        self._fragments_size = 0
        if self._dropping_line:
            self._dropping_line = False
            return b":"  # reported when it passed the limit: a comment by now
        return b"".join([*fragments, line])

    def _keep(self, tail: bytes) -> Iterator[Frame]:
        """The unfinished line at a piece's end: into a JSON document, or kept until its end comes."""
        fragments = self._fragments
        if not fragments or len(fragments[0]) < _DECISIVE_BYTES:
            tail = b"".join([*fragments, tail])
            fragments.clear()
            self._fragments_size = 0
            if self._document is not None:
                if _FIELD.match(tail):
                    yield self._abandon_document(self._document)
                elif tail not in _FIELD_PREFIXES:
                    yield from self._read_document(tail)
                    return
            elif _opens_document(tail) and tail.strip() != b"[":
                yield from self._open_document(tail)
                return
        self._fragments_size += len(tail)
        if self._fragments_size <= self._max:
            fragments.append(tail)
        elif not self._dropping_line:
            self._dropping_line = True
            self._fragments = [bytes(_DECISIVE_BYTES)]
            yield self._too_long("line")

    # -- lines --------------------------------------------------------------------------------------------------------

    def _line(self, line: bytes) -> Iterator[Frame]:
        """Any line but the plain `data:` and `event:` lines of an event stream."""
        if self._document is not None:
            if not _FIELD.match(line):
                yield from self._read_document(line + b"\n")
                return
            yield self._abandon_document(self._document)
        if len(line) > self._max and not _opens_document(line):
            yield self._too_long("line")
            return
        name, colon, value = line.partition(b":")
        if name == b"data":
            yield from self._add_data(value)
        elif name == b"event":
            self._event = line
        elif name == b"error" and colon:
            yield Notice("error-field", "the SSE field `error:` carries an error")
            self._event = b"event:error"
            yield from self._add_data(value)
        elif not line or line.isspace():
            self._take_id()
            if self._data is not None:
                yield from self._dispatch(self._event)
            self._event = None
        elif line.lstrip().startswith(_DONE):
            yield Notice("done-form", "`[DONE]` stands on a line of its own, without `data:`")
            yield from self._add_data(line)
        elif _opens_document(line):
            yield from self._open_document(line + b"\n")
        elif name == b"id" and colon:
            if b"\0" not in value:
                self._id = value.removeprefix(b" ").decode("utf-8", "replace")
        elif not (colon and name in (b"", b"retry")) and len(self.prose) < _PROSE_BYTES:
            self.prose += line[:_PROSE_BYTES] + b"\n"

    # -- documents ----------------------------------------------------------------------------------------------------

    def _open_document(self, data: bytes) -> Iterator[Frame]:
        if self._data is not None:  # a document cannot stand inside an event
            yield from self._dispatch(self._event)
        self._event = None
        self._document = JsonBody(self._max)
        yield from self._read_document(data)

    def _abandon_document(self, document: JsonBody) -> Frame:
        """A line of the event stream comes though the document never closed: it was none."""
        self._document = None
        self.event = None
        return document.rest()[:_PROSE_BYTES]

    def _read_document(self, data: bytes) -> Iterator[Frame]:
        """Feed the open document; behind its end another document or a line of an event stream may follow."""
        while (document := self._document) is not None:
            values, data_behind = document.feed(data)
            for value in values:
                self.event = None
                yield value or self._too_long("JSON value")
            self._inside_document_line = not document.closed and not data.endswith(b"\n")
            if not document.closed:
                return
            self._document = None
            data = data_behind.lstrip(_BETWEEN_DOCUMENTS)
            self._behind_document = not data
            if _opens_document(data) and data != b"[":
                self._document = JsonBody(self._max)
            elif data.endswith(b"\n"):
                yield from self._line(data[:-1])
            elif data:
                self._fragments = [data]
                self._fragments_size = len(data)

    # -- events -------------------------------------------------------------------------------------------------------

    def _add_data(self, value: bytes) -> Iterator[Frame]:
        """A data line that may not be the only one of its event."""
        if self._data is None:
            self._data = value
        elif not self._event_size and _is_whole(self._data):
            yield Notice("single-line-feed", "events are parted by a single line feed")
            self.event = self._event
            yield self._data
            self._data = value
        else:
            self._event_size = (self._event_size or len(self._data)) + len(value) + 1
            if self._event_size <= self._max:
                self._more_data.append(value)

    def _take_id(self) -> None:
        if self._id is not None:
            self.last_event_id, self._id = self._id, None

    def _dispatch(self, event: bytes | None) -> Iterator[Frame]:
        """An event of one or several data lines; lines that are whole values each are events of their own."""
        lines = [self._data or b"", *self._more_data]
        too_long = self._event_size > self._max
        self._data = None
        self._more_data = []
        self._event_size = 0
        if too_long:
            yield self._too_long("event")
            return
        joined = b"\n".join(line.removeprefix(b" ") for line in lines)
        if len(lines) > 1 and joined.strip() and not _is_whole(joined) and all(map(_is_whole_or_blank, lines)):
            yield Notice("single-line-feed", "several payloads stand in one event")
        else:
            lines = [joined]
        self.event = event
        yield from lines

    def _too_long(self, what: str) -> Frame:
        return Notice("frame-too-long", f"a {what} is longer than {self._max} bytes and was dropped")


def _opens_document(line: bytes) -> bool:
    """Whether a line begins a JSON document; `[DONE]` does not, and `[` alone may."""
    start = line[:_DECISIVE_BYTES].lstrip(b" \t")[: len(_DONE)]
    return start.startswith((b"{", b"[")) and (len(start) == 1 or not _DONE.startswith(start))


def _is_whole(line: bytes) -> bool:
    if line.strip().startswith(_DONE):
        return True
    try:
        loads(line)
    except ValueError:
        return False
    return True


def _is_whole_or_blank(line: bytes) -> bool:
    return not line.strip() or _is_whole(line)
