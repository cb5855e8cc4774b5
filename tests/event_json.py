"""Events as the JSON of the golden files: `type` and the fields; what is left out has its default."""

from __future__ import annotations

import dataclasses
from typing import Any

from streamshim import ErrorInfo, Event, Evidence, Usage, events

_CLASSES: dict[Any, Any] = {
    cls.__dataclass_fields__["type"].default: cls
    for cls in vars(events).values()
    if dataclasses.is_dataclass(cls) and "type" in cls.__dataclass_fields__
}
_DEFAULTS: dict[str, Any] = {
    "stream_end": {"evidence": Evidence(), "usage": None, "repairs": {}, "response_id": None, "model": None}
}


def event_of(raw: dict[str, Any]) -> Event:
    said = {**_DEFAULTS.get(raw["type"], {}), **raw}
    kind = said.pop("type")
    if kind == "usage_report":
        said["usage"] = Usage(**said["usage"])
    if kind == "error_report":
        said["error"] = ErrorInfo("vendor", **said["error"])
    return _CLASSES[kind](**said)
