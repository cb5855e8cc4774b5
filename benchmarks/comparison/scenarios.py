"""The scenarios of the tests that are put to the clients, and how a server plays them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

Api = Literal["chat", "responses"]
APIS: tuple[Api, ...] = ("chat", "responses")

_FOLDER = Path(__file__).parents[2] / "tests" / "scenarios"


@dataclass(frozen=True, slots=True)
class Scenario:
    """One stream and its right answer; see `tests/scenarios/README.md`.

    Attributes:
        name: unique within its API.
        family: the drawer in which it lies.
        pieces: the reads of the network, in order.
        dropped: whether the connection breaks after the last piece.
        expect: the right answer.
    """

    name: str
    family: str
    pieces: tuple[bytes, ...]
    dropped: bool
    expect: dict[str, Any]

    @property
    def content_type(self) -> str:
        """The header that a server would send: JSON where the body begins like JSON, else an event stream."""
        return "application/json" if b"".join(self.pieces).lstrip()[:1] in (b"{", b"[") else "text/event-stream"


def load_scenarios(api: Api) -> list[Scenario]:
    """All scenarios of one API that ask for no decoder option, by family and name."""
    found = [json.loads(path.read_text(encoding="utf-8")) for path in (_FOLDER / api).glob("*.json")]
    chosen = [_scenario(value) for value in found if value["api"] == api and not value["options"]]
    return sorted(chosen, key=lambda scenario: (scenario.family, scenario.name))


def _scenario(value: dict[str, Any]) -> Scenario:
    pieces = tuple(
        bytes.fromhex(piece["hex"]) if isinstance(piece, dict) else piece.encode("utf-8", "surrogatepass")
        for piece in value["pieces"]
    )
    return Scenario(value["name"], value["family"], pieces, value["drop"], value["expect"])
