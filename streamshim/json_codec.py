"""JSON in one place: orjson where it has a wheel, else the standard library, and a lenient second try that says why.

`loads` is strict and fast. `loads_lenient` reads what sloppy servers write: NaN and Infinity, lone surrogates, bytes
that are not UTF-8, a byte order mark, raw control characters in strings, a stray quote behind the value.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import Any, Generic, TypeVar, cast

try:
    import orjson
except ImportError:  # no wheel for this Python: slower, same meaning
    orjson = None  # type: ignore[assignment]

LENIENT_DEPTH = 200
"""How deep the second try goes: far below Python's recursion limit, so that the caller's stack depth never shows."""

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")
_STREAMED_KEYS = frozenset(
    (
        *("content", "text", "delta", "reasoning", "reasoning_content", "reasoning_text", "thinking", "summary"),
        *("arguments", "input", "refusal", "transcript", "code"),
    )
)
"""Members that carry deltas: what is half a character in one may be whole with the next."""


def _refuse_constant(word: str) -> None:
    raise ValueError(f"{word} is not JSON")


def _integer(digits: str) -> int | float:
    """As orjson reads them: integers beyond 64 bits are floats (and no digit limit of Python's can be hit)."""
    if len(digits) > 20:
        return float(digits)
    number = int(digits)
    return number if -(2**63) <= number < 2**64 else float(digits)


_STRICT = json.JSONDecoder(parse_constant=_refuse_constant, parse_int=_integer)
_LENIENT = json.JSONDecoder(parse_int=_integer, strict=False)


def _stdlib_loads(data: object) -> Any:
    if not isinstance(data, bytes | str):
        raise ValueError("input must be bytes or str")  # noqa: TRY004  (as orjson has it)
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    try:
        value = _STRICT.decode(raw.decode("utf-8"))
    except RecursionError:
        raise ValueError("nested too deep") from None
    if _SURROGATE_ESCAPE.search(raw):
        json.dumps(value, ensure_ascii=False).encode("utf-8")  # a lone half raises UnicodeEncodeError, a ValueError
    return value


def _stdlib_dumps(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


loads: Callable[[object], Any]
"""Strict: raises ValueError on anything that is not JSON, or no text at all."""

if orjson is not None:
    loads = orjson.loads  # type: ignore[assignment]
    _encode = orjson.dumps
else:
    loads = _stdlib_loads
    _encode = _stdlib_dumps


def dumps(value: Any) -> str:
    """Compact JSON text; what JSON cannot say (NaN, lone surrogates, huge integers) is written as null or U+FFFD."""
    try:
        return _encode(value).decode()
    except (TypeError, ValueError, RecursionError):
        try:
            return clean(json.dumps(_finite(value), ensure_ascii=False, separators=(",", ":"), default=str))
        except (ValueError, RecursionError):
            return "null"


def dumps_string(text: str) -> bytes:
    """One string as it stands in what `dumps` writes, in UTF-8."""
    try:
        return _encode(text)
    except (TypeError, ValueError):
        return dumps(text).encode()


def loads_lenient(data: bytes | str) -> tuple[Any, str]:
    """A second try after `loads` failed: the value, and in a few words what was wrong.

    Strings under keys that carry deltas may keep half a surrogate pair at an edge, since the other half may follow.

    Raises:
        ValueError: it is no JSON, however kindly one looks.
    """
    text = data if isinstance(data, str) else data.decode("utf-8", "replace")
    why = "not UTF-8" if not isinstance(data, str) and "\ufffd" in text and _is_not_utf8(data) else ""
    text = text.lstrip("\ufeff \t\r\n\v\f")
    if why:
        try:
            return loads(text), why
        except ValueError:
            pass
    if depth_of(text) > LENIENT_DEPTH:
        raise ValueError("nested too deep")
    try:
        value, end = _LENIENT.raw_decode(text)
    except RecursionError:
        raise ValueError("nested too deep") from None
    if rest := text[end:].strip(" \t\r\n\v\f\0\"'"):
        raise ValueError(f"more behind the value: {rest[:20]!r}")
    if isinstance(value, dict | list) and (_SURROGATE_ESCAPE.search(text.encode("utf-8", "surrogatepass"))):
        value = _scrub(value, streamed=False)
        why = why or "lone surrogate"
    return value, why or ("text behind the value" if text[end:].strip(" \t\r\n") else "characters that JSON forbids")


def _is_not_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return True
    return False


def _finite(value: Any) -> Any:
    """The value with null for every number that JSON has no word for."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    return [_finite(inner) for inner in value] if isinstance(value, list | tuple) else value


def clean(text: str) -> str:
    """The text with every lone surrogate replaced by U+FFFD."""
    return _LONE_SURROGATE.sub("\ufffd", text)


def _scrub(value: Any, streamed: bool) -> Any:
    """Lone surrogates become U+FFFD, but at the edges of streamed strings, where the other half may follow."""
    if isinstance(value, str):
        if not streamed or len(value) == 0:
            return clean(value)
        first = value[0] if "\udc00" <= value[0] <= "\udfff" else ""
        last = value[-1] if "\ud800" <= value[-1] <= "\udbff" else ""
        return first + clean(value[len(first) : len(value) - len(last)]) + last if len(value) > 1 else value
    if isinstance(value, dict):
        return {clean(k): _scrub(v, k in _STREAMED_KEYS) for k, v in value.items()}
    if isinstance(value, list):
        return [_scrub(v, streamed) for v in value]
    return value


def rescue(data: bytes) -> Any:
    """What is whole in a JSON document that was cut: strings and numbers that are not finished are left out."""
    import ijson
    from ijson.common import ObjectBuilder

    builder = ObjectBuilder()
    try:
        for name, value in ijson.basic_parse(data, use_float=True):
            builder.event(name, value)
    except (ijson.JSONError, ValueError):
        pass
    return getattr(builder, "value", None)


Text = TypeVar("Text", bytes, str)

# Everything up to the next bracket: brackets inside whole strings do not count. Possessive, so linear.
_SKIP_BYTES = re.compile(rb'(?:[^"{}\[\]]++|"(?:[^"\\]++|\\.)*+")*+', re.DOTALL)
_SKIP_STR = re.compile(r'(?:[^"{}\[\]]++|"(?:[^"\\]++|\\.)*+")*+', re.DOTALL)
_IN_STRING_BYTES = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)
_IN_STRING_STR = re.compile(r'(?:[^"\\]++|\\.)*+', re.DOTALL)


class Brackets(Generic[Text]):
    """Counts brackets through JSON text that comes in pieces; each character is looked at once.

    It does not validate: it finds where a value that opened with a bracket is closed.
    """

    __slots__ = ("_escaped", "_in_string", "depth")

    def __init__(self) -> None:
        """Outside of everything."""
        self.depth = 0
        self._in_string = False
        self._escaped = False

    def next(self, text: Text, position: int = 0) -> int:
        """The position just behind the next bracket outside of strings (`depth` has counted it), or -1: none left."""
        is_bytes = isinstance(text, bytes)
        skip = cast("re.Pattern[Text]", _SKIP_BYTES if is_bytes else _SKIP_STR)
        in_string = cast("re.Pattern[Text]", _IN_STRING_BYTES if is_bytes else _IN_STRING_STR)
        length = len(text)
        while position < length:
            if self._escaped:
                self._escaped = False
                position += 1
            if self._in_string:
                position = in_string.match(text, position).end()  # type: ignore[union-attr]
                if position >= length:
                    return -1
                self._in_string = False
                if text[position : position + 1] in (b"\\", "\\"):
                    self._in_string = self._escaped = True  # the piece ends in a backslash
                    return -1
                position += 1
            position = skip.match(text, position).end()  # type: ignore[union-attr]
            if position >= length:
                return -1
            character = text[position : position + 1]
            position += 1
            if character in (b'"', '"'):
                self._in_string = True  # a string that this piece does not finish
                continue
            self.depth += 1 if character in (b"{", b"[", "{", "[") else -1
            return position
        return -1

    def closes(self, text: Text) -> int:
        """The position just behind the bracket that brings the depth back to 0, or -1 while it is open."""
        position = 0
        while (position := self.next(text, position)) >= 0:
            if self.depth <= 0:
                return position
        return -1


def depth_of(text: str) -> int:
    """How deep the brackets of a JSON text nest."""
    brackets: Brackets[str] = Brackets()
    deepest = position = 0
    while (position := brackets.next(text, position)) >= 0:
        deepest = max(deepest, brackets.depth)
    return deepest
