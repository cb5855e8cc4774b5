"""`scrub`: a recorded stream without keys, names and ids, and of the same shape to the byte.

Changed is only what stands inside JSON strings, and never its length: framing, numbers, members and the cut of the
reads stay as they were, so that the stream decodes to the same events but for what was put out. Three things are:

* all strings under members that name a person or an account, such as `user` or `metadata`: masked;
* keys, tokens and e-mail addresses inside any string, even where deltas part them: masked;
* ids, which hold frames together: the same id gets the same stand-in wherever it comes.

A mask keeps the kind of each character (`bob@tide.example` becomes `xxx@xxxx.xxxxxxx`), so that a text gets the same
mask in one piece and in many. What the model said, and what its tools were asked, stays.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from .json_codec import loads

PERSONAL = frozenset(
    (
        *("user", "userid", "username", "enduser", "enduserid", "safetyidentifier", "promptcachekey", "email"),
        *("organization", "organizationid", "orgid", "project", "projectid", "account", "accountid", "tenantid"),
        *("authorization", "apikey", "accesstoken", "clientsecret", "secret", "password", "metadata"),
    )
)
"""Members whose strings are masked, however deep they stand in them; as they are without case, `_` and `-`."""

_TOKEN = r"(?=[A-Za-z_*-]{0,80}\d)"  # noqa: S105 -- words that are joined by hyphens have no digit, keys do
_SECRETS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?<![A-Za-z0-9])(?:sk|pk|rk|gsk|csk|xai|hf|nvapi|pplx|ghp|gho|tgp)[-_]{_TOKEN}([A-Za-z0-9_*-]{{12,}})",
        rf"(?<![A-Za-z0-9])(?:org|proj|user|acct|req)[-_]{_TOKEN}([A-Za-z0-9]{{8,}})",
        r"(?<![A-Za-z0-9])(?i:bearer|basic)[ ]+(?=[A-Za-z._~+/=-]{0,80}\d)([A-Za-z0-9._~+/=-]{12,})",
        r"(?<![A-Za-z0-9])AKIA([0-9A-Z]{16})(?![0-9A-Za-z])",
        r"(?<![A-Za-z0-9])AIza([0-9A-Za-z_-]{35})(?![0-9A-Za-z_-])",
        r"(?<![A-Za-z0-9_-])(eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,})",
        r"(?<![A-Za-z0-9._%+-])([A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+)",
        r"(?<![A-Za-z0-9])ft:[\w.-]{1,64}:([\w.:-]+)",
    )
)
"""Each has one group: what is masked. No pattern looks far ahead or behind, so that the work stays linear."""

_ID_MEMBER = re.compile(r"(?:.*[_-])?ids?|.*[a-z]I[dD]s?")
_RUN = re.compile(r"[A-Za-z0-9]{4,}")
_RANDOM = re.compile(r"\d|[a-z][A-Z]|[A-Z]{2}[a-z]|[A-Za-z]{16}")
_LEAST_RANDOM = 6
"""Ids with fewer random characters, such as `call_1`, tell nothing and stay."""
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"

_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_PAYLOAD_FIELD = re.compile(rb"(?:\xef\xbb\xbf)?(?:data|error)[ \t]*:")
_OTHER_FIELD = re.compile(rb"(?:\xef\xbb\xbf)?(?:event|id|retry)?:")
_TOKENS = re.compile(rb'"([^"\\]*(?:\\.[^"\\]*)*)\\?(?:"|\Z)([ \t]*:)?|[{}\[\],]', re.DOTALL)
_TRACK_MEMBERS = frozenset(("index", "item_id", "output_index", "content_index", "summary_index"))
_SCALAR = re.compile(rb'[ \t]*("[^"\\]*"|\d+)')

_CHARACTER = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|[\x00-\x7f]"
    rb"|[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}|.",
    re.DOTALL,
)


def scrub(data: bytes) -> bytes:
    """The bytes of a recorded stream with keys, personal values and ids put out; as many bytes as there were.

    Bytes that are no JSON inside of event-stream framing, or JSON documents, stay as they are. To scrub twice changes
    nothing more.
    """
    scrubbed = bytearray(data)
    stand_ins = StandIns()
    personal: list[Text] = []
    tracks: defaultdict[object, list[Text]] = defaultdict(list)
    for text in _strings(data):
        if text.is_personal:
            personal.append(text)
        elif _ID_MEMBER.fullmatch(text.member):
            text.write(scrubbed, stand_ins.of(text.value))
        else:
            tracks[text.track].append(text)
    for text in personal:
        text.write(scrubbed, stand_ins.known(text.value) or mask(text.value))
    for texts in tracks.values():
        _mask_secrets(texts, scrubbed)
    return bytes(scrubbed)


def mask(value: str) -> str:
    """The text with every letter and digit replaced by one of its kind, and as long in UTF-8."""
    return "".join(map(_masked, value))


def _masked(character: str) -> str:
    if character.isascii():
        if character.isdigit():
            return "0"
        if character.isalpha():
            return "X" if character.isupper() else "x"
        return character
    if "\ud800" <= character <= "\udfff" or character == "\ufffd":
        return character
    return {2: "\u00b7", 3: "\u2022"}.get(len(character.encode()), "\U0001f7e6")


class StandIns:
    """Other ids for ids: as long, with the same prefix, numbered in order of appearance, each always the same."""

    def __init__(self) -> None:
        """No id was seen."""
        self._known: dict[str, str] = {}

    def known(self, value: str) -> str | None:
        """What stands for it where it came as an id as well."""
        return self._known.get(value)

    def of(self, value: str) -> str:
        """What stands for the id; itself where nothing in it looks random."""
        places = [
            place for run in _RUN.finditer(value) if _RANDOM.search(run[0]) for place in range(run.start(), run.end())
        ]
        if len(places) < _LEAST_RANDOM:
            return value
        if value not in self._known:
            number = len(self._known) + 1
            characters = list(value)
            for place in reversed(places):
                number, digit = divmod(number, len(_DIGITS))
                characters[place] = _DIGITS[digit]
            self._known[value] = "".join(characters)
        return self._known[value]


@dataclass(slots=True)
class Text:
    """A JSON string, and where it stands.

    Attributes:
        start: of what is between its quotes, in the data.
        raw: the bytes between its quotes.
        member: the name of the member that it is the value of, or an item of.
        is_personal: whether this member, or one around it, is one of `PERSONAL`.
        track: the same for strings that continue one another in consecutive frames.
    """

    start: int
    raw: bytes
    member: str
    is_personal: bool
    track: object

    @property
    def _is_plain(self) -> bool:
        """Whether each byte is a character that stands for itself."""
        return self.raw.isascii() and b"\\" not in self.raw

    @property
    def value(self) -> str:
        """The string itself. Each character stands for one of `_CHARACTER` in the raw bytes."""
        return self.raw.decode() if self._is_plain else "".join(map(_read, _CHARACTER.findall(self.raw)))

    def write(self, data: bytearray, value: str) -> None:
        """Put another value in its place, in the notation that each character had."""
        if self._is_plain and value.isascii():
            data[self.start : self.start + len(self.raw)] = value.encode()
        elif value != self.value:
            written = b"".join(map(_written, _CHARACTER.findall(self.raw), value))
            data[self.start : self.start + len(self.raw)] = written


def _read(raw: bytes) -> str:
    if raw.startswith(b"\\"):
        try:
            return str(loads(b'"%b"' % raw))
        except ValueError:
            return "\ufffd"  # half of a surrogate pair, or no escape at all
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return "\ufffd"


def _written(raw: bytes, character: str) -> bytes:
    """The character in the notation of the raw one; the raw one itself where it is meant or the length would differ."""
    if _read(raw) == character:
        return raw
    units = character.encode("utf-16-be", "surrogatepass")
    escaped = b"".join(b"\\u%b" % units[at : at + 2].hex().encode() for at in range(0, len(units), 2))
    written = escaped if raw.startswith(b"\\u") else character.encode()
    return written if len(written) == len(raw) else raw


def _mask_secrets(texts: list[Text], data: bytearray) -> None:
    """Find secrets in strings that continue one another, and mask them in each."""
    values = [text.value for text in texts]
    joined = "".join(values)
    masked = list(joined)
    for pattern in _SECRETS:
        for match in pattern.finditer(joined):
            masked[match.start(1) : match.end(1)] = mask(match[1])
    if masked != list(joined):
        at = 0
        for text, value in zip(texts, values, strict=True):
            text.write(data, "".join(masked[at : at + len(value)]))
            at += len(value)


def _strings(data: bytes) -> Iterator[Text]:
    """All strings in the JSON of the data that are no names of members, frame by frame."""
    frame = _Frame()
    in_event = False
    for line in _LINE.finditer(data):
        field = _PAYLOAD_FIELD.match(line[0])
        if field or not _OTHER_FIELD.match(line[0]):
            if in_event and not line[0].strip():
                yield from frame.end()
            else:
                yield from frame.read(line[0].rstrip(b"\r\n"), field.end() if field else 0, line.start())
        in_event = bool(field or (in_event and line[0].strip()))
    yield from frame.end()


@dataclass(slots=True)
class _Place:
    """A container that is open, or a string in it.

    Attributes:
        path: a number for the members and items that lead there; the same in each frame.
        member: the name of the member that it is the value of, or an item of.
        is_personal: whether this member, or one around it, names a person.
        is_error: whether one of them is an error.
        items: how many came before, in a list; None in an object.
    """

    path: int
    member: str
    is_personal: bool
    is_error: bool
    items: int | None


class _Frame:
    """The JSON of one frame, in one line or several: where in it each string stands."""

    def __init__(self) -> None:
        self._paths: dict[tuple[int, str, int | None], int] = {}
        self._begin()

    def _begin(self) -> None:
        self._open = [_Place(0, "", is_personal=False, is_error=False, items=None)]
        self._member: str | None = None
        self._marks: list[bytes] = []
        self._texts: list[Text] = []

    def end(self) -> Iterator[Text]:
        """The strings of the frame, which is over: only now is it known which track they are of."""
        marks = b" ".join(self._marks)
        for text in self._texts:
            text.track = (text.track, marks)
            yield text
        self._begin()

    def read(self, line: bytes, start: int, offset: int) -> Iterator[Text]:
        """Reads a line from `start` on; the line begins at `offset` of the data."""
        for token in _TOKENS.finditer(line, start):
            mark = token[0]
            if token[2] is not None:
                self._name(token[1], line, token.end())
            elif mark in (b"{", b"["):
                self._open.append(self._place(0 if mark == b"[" else None))
                self._member = None
            elif mark == b",":
                self._member = None
                if self._open[-1].items is not None:
                    self._open[-1].items += 1
            elif mark in (b"}", b"]"):
                self._member = None
                if len(self._open) > 1:
                    self._open.pop()
                if len(self._open) == 1:
                    yield from self.end()
            else:
                place = self._place(None)
                text = Text(offset + token.start(1), token[1], place.member, place.is_personal, place.path)
                self._texts.append(text)

    def _name(self, raw: bytes, line: bytes, end: int) -> None:
        self._member = raw.decode("utf-8", "replace")
        if self._member in _TRACK_MEMBERS and (scalar := _SCALAR.match(line, end)):
            self._marks.append(scalar[1])

    def _place(self, items: int | None) -> _Place:
        """Where the value stands that comes now. What a vendor adds to an error as metadata is worth reading."""
        around = self._open[-1]
        member = around.member if self._member is None else self._member
        path = self._paths.setdefault((around.path, member, around.items), len(self._paths) + 1)
        name = member.lower().replace("_", "").replace("-", "")
        is_error = around.is_error or name == "error"
        is_personal = around.is_personal or (name in PERSONAL and not (is_error and name == "metadata"))
        return _Place(path, member, is_personal, is_error, items)
