"""Sets events against an expectation object (see scenarios/README.md): what is not said is not judged."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from typing import Any

from streamshim import events as e
from streamshim.testing import breaches

Expectation = dict[str, Any]
_USAGE = "input_tokens output_tokens total_tokens cached_input_tokens cache_write_tokens reasoning_tokens".split()


class Account:
    """What a stream of events adds up to."""

    def __init__(self, events: Iterable[e.Event]) -> None:
        self.events = list(events)
        self.start = self._only(e.StreamStart)
        self.end = self._only(e.StreamEnd)
        self.errors = [event.error for event in self.events if isinstance(event, e.ErrorReport)]
        self._ends = {event.part: event for event in self.events if isinstance(event, e.ToolCallEnd)}

    def _only(self, kind: type[Any]) -> Any:
        found = [event for event in self.events if isinstance(event, kind)]
        return found[0] if len(found) == 1 else None

    def joined(self, kind: type[Any], choice: int) -> str:
        return "".join(event.delta for event in self.events if isinstance(event, kind) and event.choice == choice)

    def ends(self, kind: type[Any], choice: int) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind) and event.choice == choice]

    def calls(self, choice: int) -> list[e.ToolCallEnd]:
        starts = [event for event in self.events if isinstance(event, e.ToolCallStart) and event.choice == choice]
        return [self._ends[start.part] for start in starts]

    def finish(self, choice: int) -> e.Finish:
        found = [event for event in self.events if isinstance(event, e.Finish) and event.choice == choice]
        return found[0] if found else e.Finish(choice, None)

    def usage(self) -> dict[str, Any] | None:
        report = self._only(e.UsageReport)
        return {name: getattr(report.usage, name) for name in _USAGE} if report else None

    def media(self) -> list[dict[str, Any]]:
        types = {event.part: event.media_type for event in self.events if isinstance(event, e.MediaStart)}
        return [
            {
                "media_type": types.get(event.part),
                "data_sha256": hashlib.sha256(event.data.encode()).hexdigest() if event.data else None,
                "transcript": event.transcript,
                "url": event.url,
            }
            for event in self.events
            if isinstance(event, e.MediaEnd)
        ]

    def citations(self) -> list[dict[str, Any]]:
        return [{"url": c.url, "title": c.title} for c in self.events if isinstance(c, e.Citation)]


_CHOICE_FIELDS: dict[str, Callable[[Account, int], Any]] = {
    "text": lambda account, choice: account.joined(e.TextDelta, choice),
    "reasoning": lambda account, choice: account.joined(e.ReasoningDelta, choice),
    "refusal": lambda account, choice: account.joined(e.RefusalDelta, choice),
    "text_parts": lambda account, choice: [end.text for end in account.ends(e.TextEnd, choice)],
    "reasoning_parts": lambda account, choice: [
        end.text for end in account.ends(e.ReasoningEnd, choice) if end.kind != "encrypted"
    ],
    "encrypted": lambda account, choice: [
        end.encrypted for end in account.ends(e.ReasoningEnd, choice) if end.encrypted
    ],
    "finish_reason": lambda account, choice: account.finish(choice).reason,
    "raw_finish_reason": lambda account, choice: account.finish(choice).raw_reason,
}
_STREAM_FIELDS: dict[str, Callable[[Account], Any]] = {
    "status": lambda account: account.end.status,
    "response_id": lambda account: account.end.response_id,
    "model": lambda account: account.end.model,
    "api": lambda account: account.start.api,
    "stream_errors": lambda account: len(account.errors),
    "unknown": lambda account: sorted({event.name for event in account.events if isinstance(event, e.Unknown)}),
}
_LISTS: dict[str, Callable[[Account], list[dict[str, Any]]]] = {
    "citations": Account.citations,
    "media": Account.media,
}


def problems(
    events: Iterable[e.Event],
    want: Expectation,
    *,
    stripped: Iterable[str] = (),
    client_calls: list[Expectation] | None = None,
) -> list[str]:
    """Every way in which the events are not what is wanted; `stripped` fields are equal but for blanks around them."""
    account = Account(events)
    found = breaches(account.events)
    if account.start is None or account.end is None:
        return found
    for name, get in _STREAM_FIELDS.items():
        if name in want:
            wanted = sorted(want[name]) if name == "unknown" else want[name]
            found += _differs(name, get(account), wanted)
    found += _choice_problems(account, 0, want, "", stripped)
    for index, inner in (want.get("choices") or {}).items():
        found += _choice_problems(account, int(index), inner, f"choice {index} ", ())
    if client_calls is not None:
        found += _call_problems("client_calls", _client(account, 0), client_calls)
    if "usage" in want:
        found += _member_problems("usage", account.usage(), want["usage"])
    if "error" in want:
        found += _error_problems(account, want["error"])
    for name, get_list in _LISTS.items():
        if name in want:
            found += _list_problems(name, get_list(account), want[name])
    return found


def _differs(name: str, got: Any, wanted: Any) -> list[str]:
    return [] if got == wanted else [f"{name} is {got!r:.200}, not {wanted!r:.200}"]


def _choice_problems(
    account: Account, choice: int, want: Expectation, where: str, stripped: Iterable[str]
) -> list[str]:
    found = []
    for name, get in _CHOICE_FIELDS.items():
        if name in want:
            got, wanted = get(account, choice), want[name]
            if name in stripped:
                got, wanted = got.strip(), wanted.strip()
            found += _differs(where + name, got, wanted)
    if "tool_calls" in want:
        found += _call_problems(f"{where}tool_calls", account.calls(choice), want["tool_calls"])
    if "client_calls" in want:
        found += _call_problems(f"{where}client_calls", _client(account, choice), want["client_calls"])
    return found


def _client(account: Account, choice: int) -> list[e.ToolCallEnd]:
    return [call for call in account.calls(choice) if call.kind != "server"]


def _call_problems(name: str, got: list[e.ToolCallEnd], want: list[Expectation]) -> list[str]:
    if len(got) != len(want):
        return [f"{name}: {len(got)} calls, not {len(want)}: {got!r:.300}"]
    ids = [call.call_id for call in got]
    found = []
    for position, (call, wanted) in enumerate(zip(got, want, strict=True)):
        where = f"{name}[{position}]."
        for member in ("name", "kind", "status"):
            if member in wanted:
                found += _differs(where + member, getattr(call, member), wanted[member])
        if "call_id" in wanted and wanted["call_id"] is None:
            if not call.call_id or ids.count(call.call_id) > 1:
                found.append(f"{where}call_id is {call.call_id!r}, neither empty nor used twice was wanted")
        elif "call_id" in wanted:
            found += _differs(where + "call_id", call.call_id, wanted["call_id"])
        if "arguments_text" in wanted:
            found += _differs(where + "arguments", call.arguments, wanted["arguments_text"])
        if "arguments" in wanted:
            found += _differs(where + "arguments", _parsed(call.arguments), wanted["arguments"])
    return found


def _parsed(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except ValueError:
        return f"(not JSON) {arguments}"


def _member_problems(name: str, got: dict[str, Any] | None, want: Expectation | None) -> list[str]:
    if got is None or want is None:
        return [] if got is None and want is None else [f"{name} is {got!r}, not {want!r}"]
    return [p for member, value in want.items() for p in _differs(f"{name}.{member}", got.get(member), value)]


def _error_problems(account: Account, want: Expectation | None) -> list[str]:
    if want is None:
        return _differs("errors", [error.message for error in account.errors], [])
    if len(account.errors) != 1:
        return [f"{len(account.errors)} errors, not one: {account.errors!r:.300}"]
    error = account.errors[0]
    found = []
    if "message_contains" in want and want["message_contains"] not in error.message:
        found.append(f"error.message is {error.message!r}, without {want['message_contains']!r}")
    for member in ("message", "code", "type"):
        if member in want:
            found += _differs(f"error.{member}", getattr(error, member), want[member])
    return found


def _list_problems(name: str, got: list[dict[str, Any]], want: list[Expectation]) -> list[str]:
    if len(got) != len(want):
        return [f"{name}: {len(got)}, not {len(want)}: {got!r:.300}"]
    return [
        problem
        for position, (entry, wanted) in enumerate(zip(got, want, strict=True))
        for problem in _member_problems(f"{name}[{position}]", entry, wanted)
    ]
