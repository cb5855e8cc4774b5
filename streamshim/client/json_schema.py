"""JSON Schema of Python types, and the stricter form that structured outputs demand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

_MAPS = ("additionalProperties", "patternProperties", "propertyNames")


class _Untitled(GenerateJsonSchema):
    """Without titles that only repeat the names of the fields: they cost tokens."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 -- the signature is pydantic's
        return False


def schema_of(adapter: TypeAdapter[Any]) -> dict[str, Any]:
    """The schema of what an adapter takes.

    Raises:
        pydantic.errors.PydanticInvalidForJsonSchema: the type has none.
    """
    return adapter.json_schema(schema_generator=_Untitled)


def strict_schema(schema: dict[str, Any]) -> dict[str, Any] | None:
    """The schema as strict modes want it: every member of an object required, and no other allowed.

    Returns:
        None where it cannot be had: an object whose members are not known by name.
    """
    try:
        strict: dict[str, Any] = _strict(schema)
    except _OpenObjectError:
        return None
    return strict


class _OpenObjectError(Exception):
    """An object may have members of any name."""


def _strict(schema: Any) -> Any:
    if not isinstance(schema, dict):
        return schema
    strict = {key: _KEYWORDS[key](value) if key in _KEYWORDS else value for key, value in schema.items()}
    strict.pop("default", None)
    if strict.get("type") == "object" or "properties" in strict:
        members = strict.get("properties") or {}
        is_closed = bool(members) or schema.get("additionalProperties") is False
        if not is_closed or any(schema.get(key) for key in _MAPS):
            raise _OpenObjectError
        strict.update(properties=members, required=list(members), additionalProperties=False)
    return strict


def _named(schemas: Any) -> Any:
    return {name: _strict(schema) for name, schema in schemas.items()}


def _listed(schemas: Any) -> Any:
    return [_strict(schema) for schema in schemas]


_KEYWORDS: dict[str, Callable[[Any], Any]] = {
    "$defs": _named,
    "definitions": _named,
    "properties": _named,
    "items": _strict,
    "prefixItems": _listed,
    "anyOf": _listed,
    "oneOf": _listed,
    "allOf": _listed,
}
"""Where schemas stand inside of a schema."""
