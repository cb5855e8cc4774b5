"""For tests of code that writes a wire: the order that strict readers of Responses and chat streams rely on.

`wire_breaches(frames)` says what is wrong with a stream; an empty list means that nothing is.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from .chat import ChatOrder
from .findings import Findings
from .responses import ResponsesOrder


def wire_breaches(frames: bytes | Iterable[bytes], *, cut: bool = False, relayed: bool = False) -> list[str]:
    """Every breach of the order in a whole stream; empty if there is none.

    Args:
        frames: the stream, whole or in frames.
        cut: whether the stream ends silently: then nothing may say that it is over.
        relayed: whether frames of a vendor may be among them: what no reader minds is then no breach.
    """
    body = frames if isinstance(frames, bytes) else b"".join(frames)
    if relayed:
        body = body.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    findings = Findings()
    order: ResponsesOrder | ChatOrder | None = None
    done = False
    if body.strip() or not (relayed and cut):
        findings.expect(body.endswith(b"\n\n"), "the last frame is not closed by a blank line")
    for findings.position, frame in enumerate(body.removesuffix(b"\n\n").split(b"\n\n")):
        payload = _read_frame(frame, findings, relayed=relayed)
        if payload is None:
            continue
        findings.expect(not done, "a frame follows [DONE]")
        if payload == "[DONE]":
            done = True
            findings.expect(order is not None and order.is_over, "[DONE] before the end")
            findings.expect(not getattr(order, "_failed", False), "[DONE] follows an error")
            continue
        if order is None:
            is_chat = "choices" in payload or isinstance(payload.get("error"), dict)
            is_typed = "type" in payload and not (relayed and is_chat)
            order = (ResponsesOrder if is_typed else ChatOrder)(findings, relayed=relayed)
        order.event(payload)
    if order is not None:
        order.close(cut=cut)
    elif not (relayed and cut):
        findings.note("nothing but comments")
    return findings.all


def _read_frame(frame: bytes, findings: Findings, *, relayed: bool) -> Any:
    """The payload of a frame; None for a comment, and for what is no legal frame."""
    try:
        lines = frame.decode().split("\n")
    except UnicodeDecodeError:
        findings.note("not UTF-8")
        return None
    if relayed:
        lines = [line for line in lines if line and not line.startswith(":")] or [":"]
        if any(line.startswith("data:") for line in lines):
            lines = sorted((line for line in lines if not line.startswith(("id:", "retry:"))), key=_is_data)
    if all(line.startswith(":") for line in lines):
        return None
    name = lines.pop(0).removeprefix("event:").strip() if lines[0].startswith("event:") else None
    is_event = all(map(_is_data, lines)) if relayed else len(lines) == 1 and lines[0].startswith("data: ")
    if not lines or not is_event:
        findings.note("not one data line, or a field that readers choke on")
        return None
    data = "\n".join(line.removeprefix("data:").removeprefix(" ") for line in lines)
    if data == "[DONE]":
        return data
    try:
        payload = json.loads(data)
    except (ValueError, RecursionError):
        payload = None
    if not isinstance(payload, dict):
        findings.note("the data is no JSON object")
        return None
    if not relayed or ("type" in payload and "choices" not in payload and name != "error"):
        findings.expect(name in (None, payload.get("type")), f"the event line says {name}")
    return payload


def _is_data(line: str) -> bool:
    return line.startswith("data:")
