"""What a stream has said about itself so far, shared by both wires: identity, usage, errors, metadata, the unknown."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Any, Literal

from ..errors import ErrorInfo
from ..events import Api, Citation, ErrorReport, Event, Metadata, Unknown, Usage
from ..json_codec import clean
from .limits import MAX_CITATIONS, MAX_ERRORS, MAX_UNKNOWN_NAMES
from .parts import Part, Parts
from .repairs import Repairs
from .usage import merge, read_usage

logger = logging.getLogger("streamshim")
COMPACT_FRAMES = 4096
TagMode = Literal["auto", "off", "open"]


class StreamState:
    """The one object that every room of the decoder writes to."""

    def __init__(
        self,
        *,
        collect: bool,
        tell_repairs: bool,
        strict: bool | Iterable[str],
        make_id: Callable[[str], str],
        reasoning_tags: TagMode,
        tool_markup: bool,
    ) -> None:
        """The options of the decoder that reach beyond it."""
        self.out: list[Event] = []
        self.parts = Parts(self.out, collect=collect)
        self.repairs = Repairs(self.out, tell=tell_repairs, strict=strict)
        self.make_id = make_id
        self.reasoning_tags: TagMode = reasoning_tags
        self.tool_markup = tool_markup
        self.api: Api | None = None
        self.response_id: str | None = None
        self.model: str | None = None
        self.created_at: int | None = None
        self.sequence_number: int | None = None
        """The last one that the Responses wire gave."""
        self.unidentified = True
        """Whether the id or the model is still to come."""
        self.errors = 0
        """How many errors were reported."""
        self.truncated_by_encoder = False
        """The wire said, in the words of our own encoder, that the stream behind it was cut."""
        self.compact_at = COMPACT_FRAMES
        """The number of the frame behind which there is something to compact."""
        self._failed = False
        self._error_keys: set[tuple[str | None, str]] = set()
        self._usage: dict[str, Any] | None = None
        self._cited: dict[tuple[object, ...], None] = {}
        self._last_sources: Any = None
        self._unknown_names: set[str] = set()
        self._metadata: dict[str, Any] = {}

    def compact(self) -> None:
        """Join the pieces of what is kept, once in `COMPACT_FRAMES`."""
        if self.repairs.frame >= self.compact_at:
            self.compact_at = self.repairs.frame + COMPACT_FRAMES
            self.parts.compact()

    # -- identity and usage -------------------------------------------------------------------------------------------

    def identify(self, payload: dict[str, Any]) -> None:
        """The first non-empty id, model and time count."""
        if self.response_id is None and isinstance(found := payload.get("id"), str) and found:
            self.response_id = clean(found)
        if self.model is None and isinstance(found := payload.get("model"), str) and found:
            self.model = clean(found)
        if self.created_at is None:
            found = payload.get("created", payload.get("created_at"))
            if isinstance(found, int | float) and not isinstance(found, bool) and 0 < found < 1e15:
                self.created_at = int(found)
        self.unidentified = self.response_id is None or self.model is None

    def see_usage(self, raw: object) -> None:
        """A usage object, wherever it stood."""
        if isinstance(raw, dict) and raw:
            self._usage = merge(self._usage, raw)

    @property
    def usage(self) -> Usage | None:
        """The counts of the last snapshot."""
        return read_usage(self._usage) if self._usage else None

    # -- what is told -------------------------------------------------------------------------------------------------

    def tell_texts(self, part: Part | None, texts: list[str]) -> None:
        """The texts of as many frames in a row, which all go into one part; they are told, and the list is empty."""
        if texts and part is not None:
            self.repairs.frame += len(texts)
            self.parts.texts(part, texts)
            texts.clear()

    def repair(self, quirk: str, detail: str) -> None:
        """Something was put right."""
        self.repairs.note(quirk, detail)

    @property
    def has_failed(self) -> bool:
        """Whether the vendor said error, a limit was passed or a strict option was broken."""
        return self._failed or self.repairs.strict_error

    def error(self, info: ErrorInfo) -> None:
        """An error, once: the same words again (a frame, then a terminal event that repeats it) are not another."""
        if "stream_truncated" in (info.code, info.type):
            self.truncated_by_encoder = True
            return
        self._failed = self._failed or info.kind != "transport"
        key = (info.code, info.message)
        if key in self._error_keys or len(self._error_keys) >= MAX_ERRORS:
            return
        self._error_keys.add(key)
        self.errors += 1
        self.out.append(ErrorReport(info))

    def word_error(self, word: str) -> None:
        """A finish word means error, and no error object says more."""
        self.error(ErrorInfo("vendor", word, code=word, raw=word))

    def limit(self, message: str) -> None:
        """A limit of ours was passed."""
        self.error(ErrorInfo("limit", message, code="limit"))

    def metadata(self, data: dict[str, Any]) -> None:
        """Facts beside the answer; what was told before and did not change is not told again."""
        news = {key: value for key, value in data.items() if value is not None and self._metadata.get(key) != value}
        if news:
            self._metadata.update(news)
            self.out.append(Metadata(news))

    def unknown(self, name: str, data: Any) -> None:
        """A frame that is not modelled."""
        if name not in self._unknown_names:
            if len(self._unknown_names) >= MAX_UNKNOWN_NAMES:
                self.limit(f"more than {MAX_UNKNOWN_NAMES} kinds of unknown frames: the rest is dropped")
                return
            self._unknown_names.add(name)
            logger.debug("unknown frame %s", name)
        self.out.append(Unknown(name, data))

    def cite(self, citations: list[Citation]) -> None:
        """Sources, each once for its choice, address and span; of two in one frame the richer title wins."""
        fresh: dict[tuple[object, ...], Citation] = {}
        for citation in citations:
            key = (citation.choice, citation.url or citation.title, citation.start, citation.end)
            known = fresh.get(key)
            if key in self._cited:
                continue
            if known is None or len(citation.title or "") > len(known.title or ""):
                fresh[key] = citation
        if len(self._cited) + len(fresh) > MAX_CITATIONS:
            self.limit(f"more than {MAX_CITATIONS} citations: the rest is dropped")
            return
        self._cited.update(dict.fromkeys(fresh))
        self.out.extend(fresh.values())
