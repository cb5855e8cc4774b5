"""A stream told to people: thought apart from text, calls with their arguments, and the verdict at the end."""

from __future__ import annotations

import json
from collections import Counter

from ..errors import ErrorInfo
from ..events import (
    Citation,
    ErrorReport,
    Event,
    Finish,
    MediaEnd,
    MediaStart,
    Metadata,
    RawFrame,
    ReasoningDelta,
    ReasoningEnd,
    RefusalDelta,
    RefusalEnd,
    Repair,
    StreamEnd,
    StreamStart,
    TextDelta,
    TextEnd,
    ToolCallEnd,
    ToolCallStart,
    ToolProgress,
    Unknown,
)
from ..json_codec import dumps
from ..wording import VERDICTS, error_facts, finish_words, token_counts
from .terminal import JSON, Terminal

QUIET = "dim"
GOOD = "bold green"
DOUBTFUL = "bold yellow"
BAD = "bold red"
NAME = "bold cyan"

LINE_WIDTH = 79
"""How wide a rule is, and how long JSON may be that stands on one line."""

_LABEL_WIDTH = 12

_SPOKEN = {"text": ("", ""), "reasoning": (QUIET, "│ "), "refusal": (DOUBTFUL, "! ")}
"""Style and margin of what the model says."""

_MARKS = {
    "completed": ("✓", GOOD),
    "incomplete": ("!", DOUBTFUL),
    "failed": ("✗", BAD),
    "truncated": ("✗", BAD),
    "cancelled": ("!", DOUBTFUL),
}


class Presenter:
    """Shows one stream, event by event, as it comes.

    Only the first choice is shown live; others stand whole where they end, since answers that come in turns cannot be
    read.
    """

    def __init__(self, terminal: Terminal, *, repairs: bool = False) -> None:
        """With `repairs` each kind is shown where it was first made as well; all stand at the end in any case."""
        self._terminal = terminal
        self._show_repairs = repairs
        self._block: object = None
        self._live_choice: int | None = None
        self._names: dict[int, str] = {}
        self._progress: tuple[int, str] | None = None
        self._sources: dict[tuple[str | None, str | None], None] = {}
        self._finishes: list[Finish] = []
        self._repair_details: dict[str, str] = {}
        self._unknown: Counter[str] = Counter()
        self._metadata: dict[str, object] = {}

    def show(self, event: Event) -> None:
        """Shows the event now, or keeps it for the end."""
        match event:
            case StreamStart():
                self._show_start(event)
            case TextDelta() | ReasoningDelta() | RefusalDelta():
                self._show_spoken(event)
            case TextEnd() | ReasoningEnd() | RefusalEnd():
                self._end_spoken(event)
            case ToolCallStart():
                self._show_call(event)
            case ToolProgress():
                self._show_progress(event)
            case ToolCallEnd():
                self._end_call(event)
            case Citation():
                self._sources[event.url, event.title] = None
            case MediaStart():
                self._names[event.part] = event.media_type or "media"
            case MediaEnd():
                self._end_media(event)
            case ErrorReport():
                self._show_error(event.error)
            case Repair():
                self._show_repair(event)
            case RawFrame():
                self._show_frame(event)
            case Finish():
                self._finishes.append(event)
            case Metadata():
                self._metadata |= event.data
            case Unknown():
                self._unknown[event.name] += 1
            case StreamEnd():
                self._show_end(event)
            case _:
                pass

    def _begin(self, block: object) -> None:
        """Sets what follows apart from what came, unless it goes on with the same block."""
        if block != self._block:
            self._terminal.fresh_line()
            if self._block is not None:
                self._terminal.line()
            self._block = block

    def _show_start(self, event: StreamStart) -> None:
        if facts := [fact for fact in (event.api, event.model) if fact]:
            self._begin("start")
            self._terminal.line(" · ".join(facts), QUIET)

    def _show_spoken(self, event: TextDelta | ReasoningDelta | RefusalDelta) -> None:
        if self._live_choice is None:
            self._live_choice = event.choice
        if event.choice == self._live_choice:
            self._say(event.type.removesuffix("_delta"), event.part, event.delta)

    def _say(self, kind: str, part: int, text: str) -> None:
        self._begin(part)
        style, margin = _SPOKEN[kind]
        self._terminal.write(text, style, margin)

    def _end_spoken(self, event: TextEnd | ReasoningEnd | RefusalEnd) -> None:
        if event.choice not in (self._live_choice, None) and event.text:
            self._begin(event.part)
            self._terminal.line(f"choice {event.choice}", QUIET)
            self._say(event.type.removesuffix("_end"), event.part, event.text)
        if isinstance(event, ReasoningEnd) and event.encrypted:
            self._say("reasoning", event.part, f"(encrypted thought, {len(event.encrypted):,} characters)")
        self._show_sources()

    def _show_sources(self) -> None:
        for number, (url, title) in enumerate(self._sources, 1):
            self._begin("sources")
            self._terminal.write(f"[{number}] ", NAME)
            self._terminal.write((title or url or "a source") + "\n", "", "    ")
            if title and url:
                self._terminal.block(url, QUIET, "    ")
        self._sources.clear()

    def _show_call(self, event: ToolCallStart) -> None:
        self._names[event.part] = event.name or "(no name)"
        self._show_call_line(event.part)

    def _show_call_line(self, part: int) -> None:
        self._begin("calls")
        self._terminal.fresh_line()
        self._terminal.write(f"→ {self._names.get(part, 'a tool')}", NAME)
        self._progress = (part, "")

    def _show_progress(self, event: ToolProgress) -> None:
        """A status that is told twice, by its own event and by the item, is shown once."""
        if self._block != "calls" or self._progress is None or self._progress[0] != event.part:
            self._show_call_line(event.part)
        if self._progress != (event.part, event.status):
            self._terminal.write(f" · {event.status}", QUIET)
            self._progress = (event.part, event.status)

    def _end_call(self, event: ToolCallEnd) -> None:
        good = event.status in ("complete", "handled")
        self._begin("calls")
        self._progress = None
        self._terminal.fresh_line()
        self._terminal.write(f"{'✓' if good else '✗'} {event.name or '(no name)'}", GOOD if good else BAD)
        self._terminal.write(f"  {event.status}", GOOD if good else BAD)
        self._terminal.write(f"  {event.call_id}\n", QUIET)
        self._terminal.block(readable(event.arguments), JSON, "  ")

    def _end_media(self, event: MediaEnd) -> None:
        self._begin(event.part)
        size = f"{len(event.data):,} characters of base64" if event.data else "no data"
        self._terminal.line(f"{self._names.get(event.part, 'media')}: {event.url or size}", NAME)
        if event.transcript:
            self._terminal.line(event.transcript)

    def _show_error(self, error: ErrorInfo) -> None:
        self._begin(error)
        self._terminal.write("✗ error  ", BAD)
        self._terminal.write(error.message + "\n", "", "  ")
        if facts := error_facts(error):
            self._terminal.line("  " + " · ".join(facts), QUIET)

    def _show_repair(self, event: Repair) -> None:
        """Once for each kind, for some habits of a vendor show in every frame; the count stands at the end."""
        is_new = event.quirk not in self._repair_details
        self._repair_details.setdefault(event.quirk, event.detail)
        if is_new and self._show_repairs:
            self._begin("repairs")
            self._terminal.line(f"repaired {event.quirk} in frame {event.frame}: {event.detail}", QUIET, "  ")

    def _show_frame(self, event: RawFrame) -> None:
        data = event.data if isinstance(event.data, str) else dumps(event.data)
        text = f"‹ {event.event + ' ' if event.event else ''}{data}"
        width = self._terminal.width
        self._begin("frames")
        self._terminal.block(text if len(text) <= width else text[: width - 1] + "…", QUIET, "")

    def _show_end(self, event: StreamEnd) -> None:
        self._show_sources()
        self._begin("end")
        self._terminal.line("─" * min(LINE_WIDTH, self._terminal.width), QUIET)
        mark, style = _MARKS[event.status]
        meaning = VERDICTS[event.status]
        self._terminal.write(f"{mark} {event.status}", style)
        self._terminal.write(f"  {meaning}\n" if meaning else "\n")
        for finish in self._finishes:
            choice = f"choice {finish.choice}: " if len(self._finishes) > 1 else ""
            self._row("finish", choice + finish_words(finish))
        if event.usage and (counts := token_counts(event.usage)):
            self._row("tokens", counts)
        if event.response_id:
            self._row("id", event.response_id)
        for quirk, count in event.repairs.items():
            self._row("repaired", f"{quirk} ×{count}  {self._repair_details.get(quirk, '')}")
        for name, count in self._unknown.items():
            self._row("unknown", f"{name} ×{count}")
        if self._metadata:
            self._row("metadata", dumps(self._metadata))

    def _row(self, label: str, text: str) -> None:
        self._terminal.write(f"  {label:<{_LABEL_WIDTH - 2}}", QUIET)
        self._terminal.write(text + "\n", "", " " * _LABEL_WIDTH)


def readable(arguments: str) -> str:
    """A call's arguments: a JSON object with what fits on a line in one line; anything else stays as it came."""
    try:
        value = json.loads(arguments)
        return _laid_out(value, "") if isinstance(value, dict) else arguments
    except (ValueError, RecursionError):
        return arguments


def _laid_out(value: object, indent: str, used: int = 0) -> str:
    line = json.dumps(value, ensure_ascii=False)
    if len(indent) + used + len(line) < LINE_WIDTH - 2 or not value or not isinstance(value, dict | list):
        return line
    inner = indent + "  "
    if isinstance(value, dict):
        keys = [json.dumps(key, ensure_ascii=False) + ": " for key in value]
        members = [key + _laid_out(member, inner, len(key)) for key, member in zip(keys, value.values(), strict=True)]
    else:
        members = [_laid_out(member, inner) for member in value]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return f"{opening}\n{inner}" + f",\n{inner}".join(members) + f"\n{indent}{closing}"
