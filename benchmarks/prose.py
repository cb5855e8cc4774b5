"""Text as a model writes it: prose, lists, code and quotes in several languages, cut into tokens."""

from __future__ import annotations

import random
import re

_PROSE = (
    " The {adjective} {noun} keeps {number} copies of every {other}, and drops the oldest when the {noun} is full.",
    " In practice a {adjective} {noun} costs about {number} milliseconds; the {other} behind it costs far more.",
    ' She called it "the {adjective} {noun}", and nobody in {place} asked why.',
    " That’s the trade-off: either the {noun} grows, or every {other} waits for a {adjective} one.",
    " Before you change the {noun}, measure it: {number} runs on a {adjective} machine are usually enough.",
    " People who moved from {place} remember the {noun} well, although the {other} was never finished.",
    " When the {other} arrives late, the {noun} simply continues with what it has already received.",
)
_SPECIAL = (
    " Here is what the {noun} in {place} does, step by step:\n\n1. Read the {other}.\n2. Keep `{identifier}`.\n\n",
    "\n\n- **{adjective}**: the {noun} is kept as it was\n- **{other}**: {number} of all requests\n\n",
    '\n\n```python\nfor {identifier} in range({number}):\n    print(f"{noun}\\t{{{identifier}}}")\n```\n\n',
    " Une {noun} « {adjective} » coûte {number} € à {place}, déjà payée l’été dernier.",
    " Für den {noun} genügt eine größere Zahl: {number} Stück, höchstens.",
    " {place}では{number}件の{noun}が記録されています。",
    " The path is C:\\data\\{identifier}\\{number}.json, not /srv/{identifier}.",
    " Good news 🎉: all {number} checks of the {noun} passed ✅",
    "\n\n## The {adjective} {noun}\n\n",
)
_SLOTS = {
    "adjective": ["quick", "small", "careful", "distributed", "reliable", "temporary", "second", "well-built", "local"],
    "noun": ["cache", "harbour", "letter", "decoder", "garden", "window", "schedule", "bridge", "library", "signal"],
    "other": ["index", "record", "engine", "transaction", "visitor", "newspaper", "connection", "message", "answer"],
    "place": ["Lisbon", "Zürich", "Kraków", "Osaka", "Montréal", "Reykjavík", "Valparaíso"],
    "identifier": ["row", "total_size", "next_item", "buffer", "retries", "user_id"],
}
_PROSE_PER_SPECIAL = 3
_TOKEN = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]{1,2}| ?\d{1,3}| ?[^\W\d_]{1,6}| ?[^\w\s]{1,3}|_|\s{1,4}")


def tokens(count: int, seed: int) -> list[str]:
    """Cut made-up text into tokens of about four characters; the same seed gives the same text.

    Args:
        count: how many tokens, none of them empty.
        seed: of the pseudo-random text.
    """
    pick = random.Random(seed)
    pieces: list[str] = []
    while len(pieces) < count:
        pieces += _TOKEN.findall(_paragraph(pick))
    return pieces[:count]


def random_word(pick: random.Random, length: int) -> str:
    """Make an id-like word of letters and digits."""
    return "".join(pick.choices("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", k=length))


def _paragraph(pick: random.Random) -> str:
    templates = pick.choices(_PROSE, k=_PROSE_PER_SPECIAL) + pick.choices(_SPECIAL)
    return "".join(_fill(template, pick) for template in templates)


def _fill(template: str, pick: random.Random) -> str:
    words = {slot: pick.choices(choice)[0] for slot, choice in _SLOTS.items()}
    return template.format(number=pick.choices(range(2, 4000))[0], **words)
