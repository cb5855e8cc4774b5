"""Streams worth a picture: what each lane shows, with times, and one that would rather run a program."""

from __future__ import annotations

from typing import Any

from streamshim.capture import Capture, TimedPiece
from tests.small_streams import DONE, VENDOR_ERROR, chat, frame

ATTACK = "<script>window.taken = true; document.title = 'taken'</script>"
ATTACKS = (
    ATTACK,
    "\"'><img src=x onerror='window.taken = true'>",
    "</svg></style></script><b>",
    "]]>\x00\x1b[2J\u202e",
)
PIXEL = "data:image/png;base64,iVBORw0KGgo="


def call(number: int, name: str, arguments: str) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {"index": number, "id": f"call_{number}", "type": "function", "function": function}


def more(number: int, arguments: str) -> dict[str, Any]:
    return {"tool_calls": [{"index": number, "function": {"arguments": arguments}}]}


USAGE = {"prompt_tokens": 9, "completion_tokens": 12, "total_tokens": 21}
FRAMES = [
    (0.4, chat({"reasoning_content": "The moon", "reasoning": "The moon"})),
    (0.45, chat({"reasoning_content": " is new.", "reasoning": " is new."})),
    (1.5, chat({"content": "High "})),
    (1.5, chat({"content": "water"})),
    (1.5, chat({"content": " at noon."})),
    (1.7, chat({"images": [{"type": "image_url", "image_url": {"url": PIXEL}}]})),
    (1.8, chat({"tool_calls": [call(0, "tide", '{"day"')]})),
    (1.85, chat(more(0, ":14}"))),
    (1.9, chat({"tool_calls": [call(1, "berth", '{"nights":2}')]})),
    (2.0, chat({}, "tool_calls")),
    (2.1, {**chat({}), "choices": [], "usage": USAGE}),
]
"""When each came, in seconds: two bursts, and a silence of a second between them."""


def timed(frames: list[tuple[float, Any]], end: float) -> Capture:
    pieces = [TimedPiece(frame(payload), at) for at, payload in frames]
    return Capture([*pieces, TimedPiece(DONE, end)], end, scrubbed=True)


def full_capture() -> Capture:
    return timed(FRAMES, 2.2)


def hostile_capture() -> Capture:
    """A stream whose every text is an attack on the page that shows it."""
    frames: list[tuple[float, Any]] = []
    for number, attack in enumerate(ATTACKS):
        started = {**chat({"reasoning": attack}), "model": attack, "id": attack}
        frames += [
            (number + 0.1, started),
            (number + 0.2, chat({"content": attack})),
            (number + 0.3, chat({"refusal": attack})),
            (number + 0.4, chat({"tool_calls": [{**call(number, attack, attack), "id": f"{number}{attack}"}]})),
            (number + 0.5, {"type": attack, "data": attack}),
            (number + 0.6, {**chat({}), "service_tier": attack}),
        ]
    error = {"error": {"message": "".join(ATTACKS), "type": ATTACK, "code": ATTACK}}
    return timed([*frames, (5.0, error), (5.1, chat({}, ATTACK)), (5.2, VENDOR_ERROR)], 6.0)
