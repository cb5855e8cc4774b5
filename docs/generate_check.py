"""Writes the tables of check.md from the code: `python -m docs.generate_check`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from streamshim.check import all_items, plan
from streamshim.check.faults import FAULTS, HARMLESS, Fault
from streamshim.check.items import GROUPS
from streamshim.quirks import QUIRKS

PAGE = Path(__file__).with_name("check.md")


def page(text: str) -> str:
    """The page with every table written anew; what stands outside of them stays."""
    for name, lines in {"cost": _cost(), "items": _items(), "faults": _faults()}.items():
        body = "\n".join(lines)
        pattern = rf"(<!-- {name}: .*? -->\n\n).*?(\n\n<!-- end of {name} -->)"
        text = re.sub(pattern, lambda marks, body=body: marks[1] + body + marks[2], text, flags=re.DOTALL)
    return text


def _cost() -> Iterator[str]:
    whole = plan("any")
    yield (
        f"The whole checklist has {len(whole.items)} items. They take at most {whole.most_requests} requests, at most"
        f" {whole.most_output_tokens:,} tokens out and about {whole.input_tokens:,} tokens in;"
    )
    long = next(request for request in whole.requests if request.name == "chat.too-long")
    words = str((long.body or {})["messages"][0]["content"]).count(" ")
    yield f"most of those in are the {words:,} words of `chat.too-long`."


def _items() -> Iterator[str]:
    items = all_items("any")
    yield "| item | asks | must see | why |"
    yield "|---|---|---|---|"
    for group in GROUPS:
        yield f"| **{group}** | | | |"
        for item in (item for item in items if item.group == group):
            yield f"| `{item.id}` | {item.asks} | {item.must_see} | {item.why} |"


def _faults() -> Iterator[str]:
    yield "| fault | seen | a loop over the SDK's stream | the SDK's `.stream()` | streamshim |"
    yield "|---|---|---|---|---|"
    for fault in FAULTS.values():
        id = f"[`{fault.id}`](quirks.md)" if fault.id in QUIRKS else f"`{fault.id}`"
        yield f"| {id} | {fault.seen} | {fault.sdk or HARMLESS} | {_helper(fault)} | {_streamshim(fault)} |"


def _helper(fault: Fault) -> str:
    return fault.helper or fault.sdk or HARMLESS


def _streamshim(fault: Fault) -> str:
    if fault.option:
        return f"reads it right with `{fault.option}`"
    return "it is lost" if fault.lost else "reads it right"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
