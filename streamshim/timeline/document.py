"""A whole HTML document in one file: nothing in it is asked of any network, and no program runs but its own."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256

from .markup import Markup, element


def document(title: str, *body: Markup, style: Markup, script: Markup) -> str:
    """The document; `style` and `script` are all that may shape it and run in it."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_policy(style, script)),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("link", rel="icon", href="data:,"),
        element("title", title),
        element("style", style),
    )
    return f"<!doctype html>\n{element('html', head, element('body', *body, element('script', script)), lang='en')}\n"


def _policy(style: Markup, script: Markup) -> str:
    """Nothing may be loaded, and nothing run but our own program: a stream cannot even if it got past the escaping."""
    return f"default-src 'none'; img-src data:; style-src {_hash(style)}; script-src {_hash(script)}"


def _hash(content: str) -> str:
    return f"'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'"
