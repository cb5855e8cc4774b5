"""Elements of HTML and SVG as text, everything in them escaped."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

_VOID = frozenset(("meta", "link", "input", "br"))

_SHOWN: dict[int, int] = {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n"}
_SHOWN |= dict.fromkeys([0x7F, *range(0x80, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)], 0xFFFD)
_SHOWN |= dict.fromkeys(range(0xD800, 0xE000), 0xFFFD)
"""Characters that control something (the direction of text as well) are shown: what a model says drives nothing."""


class Markup(str):
    """Text that is markup already, and goes into other markup as it is."""

    __slots__ = ()


def text(value: object) -> Markup:
    """The value as text between tags or in an attribute: nothing in it is markup, whatever it says."""
    return value if isinstance(value, Markup) else Markup(escape(str(value).translate(_SHOWN)))


def element(name: str, /, *children: object, **attributes: object) -> Markup:
    """An element. Children that are no markup are escaped; attributes that are None are left out.

    An underscore at the end of an attribute's name is dropped (`class_`), others are hyphens (`data_kind`); True is an
    attribute without a value.
    """
    opening = name + "".join(map(_attribute, attributes.items()))
    if name in _VOID:
        return Markup(f"<{opening}>")
    return Markup(f"<{opening}>{join(children)}</{name}>")


def join(children: Iterable[object]) -> Markup:
    """Children one after another."""
    return Markup("".join(map(text, children)))


def _attribute(item: tuple[str, object]) -> str:
    name, value = item
    if value is None or value is False:
        return ""
    name = name.rstrip("_").replace("_", "-")
    # a bare line feed in an attribute is a blank to XML
    return f" {name}" if value is True else f' {name}="{text(value).replace(chr(10), "&#10;")}"'
