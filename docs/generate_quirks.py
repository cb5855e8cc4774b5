"""Writes quirks.md from the table in the code: `python -m docs.generate_quirks`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from streamshim.quirks import QUIRKS, Maker, Quirk

PAGE = Path(__file__).with_name("quirks.md")

_HEAD = """\
<!-- Written by docs/generate_quirks.py from streamshim/quirks.py: do not edit. -->

# Quirks

What is put right on the way, by id. Every repair is counted under its id in `decoder.repairs`, `StreamEnd.repairs` and
`ModelResponse.repairs`. With `repairs=True` a `Repair` event tells it at the place as well; `strict={{"finish-wrong"}}`
makes an error of it, `strict=True` of all of them. See [Options](options.md).

Nothing here is chosen by a vendor's name: what is seen on the wire decides, whoever sent it. The vendors are those that
were seen doing it, not all that do.

How sure we are: *recorded*, bytes, a server's source or a vendor's documentation were seen ({recorded}); *reported*,
users or authors of adapters showed the bytes ({reported}); *inferred*, second-hand, or a hostile case that no vendor is
known for ({inferred}). One piece of evidence is named for each.

## What is read otherwise

By the decoder, whoever gives it the bytes.

| id | seen | done | seen at | evidence | how sure |
|---|---|---|---|---|---|
"""

_REQUESTS = """
## What is asked otherwise

By a [client](client.md), where the server does not have what was asked for. It stands in the ledger of the answer.

| id | seen | done | seen at | evidence | how sure |
|---|---|---|---|---|---|
"""


def page() -> str:
    """The whole page."""
    sure = Counter(quirk.certainty for quirk in QUIRKS.values())
    head = _HEAD.format(recorded=sure["recorded"], reported=sure["reported"], inferred=sure["inferred"])
    return head + _rows("decoder") + _REQUESTS + _rows("client")


def _rows(maker: Maker) -> str:
    return "".join(_row(quirk) for quirk in QUIRKS.values() if quirk.made_by == maker)


def _row(quirk: Quirk) -> str:
    cells = (f"`{quirk.id}`", quirk.seen, quirk.done, quirk.seen_at, quirk.evidence, quirk.certainty)
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
