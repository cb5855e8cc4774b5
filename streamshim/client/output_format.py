"""What the answer must look like: the schema that is asked for, and the value that the text gives."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..errors import StreamshimError
from ..json_codec import loads

if TYPE_CHECKING:
    from ..response_models import ModelResponse

_FENCED = re.compile(r"\A```(?:json)?[ \t]*\n(.*?)\n?```\Z", re.DOTALL)
_OF_THE_API = ("json_schema", "json_object", "text", "grammar")
_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]+")


class OutputError(StreamshimError, ValueError):
    """The answer is whole, and does not fit what was asked for by `response_format`. It is kept in `response`."""

    def __init__(self, message: str, response: ModelResponse) -> None:
        """Keep the answer beside what is wrong with it."""
        super().__init__(message)
        self.response = response


class OutputFormat:
    """What `response_format` asks for.

    Attributes:
        member: `response_format` of a chat request.
        schema: the JSON Schema, where there is one.
    """

    def __init__(self, wanted: Any) -> None:
        """Take a type, a JSON Schema, or the API's own object.

        Raises:
            TypeError: it is none of these.
        """
        self.member: dict[str, Any]
        self.schema: dict[str, Any] | None = None
        self._read: Callable[[str], Any] = loads
        if not isinstance(wanted, Mapping):
            self._of_type(wanted)
        elif wanted.get("type") in _OF_THE_API:
            self._of_api(dict(wanted))
        else:
            self._of_schema(dict(wanted), str(wanted.get("title") or "output"), strict=None)

    def _of_type(self, wanted: Any) -> None:
        from pydantic import PydanticUserError, TypeAdapter

        from .json_schema import schema_of, strict_schema

        try:
            adapter: TypeAdapter[Any] = TypeAdapter(wanted)
            schema = schema_of(adapter)
        except PydanticUserError as problem:
            raise TypeError(f"response_format={wanted!r} is no type that has a JSON Schema: {problem}") from problem
        self._read = adapter.validate_json
        strict = strict_schema(schema)
        self._declare(strict or schema, getattr(wanted, "__name__", "output"), strict=strict is not None)

    def _of_api(self, wanted: dict[str, Any]) -> None:
        declared = wanted.get("json_schema", wanted)
        if wanted["type"] == "json_schema" and isinstance(schema := declared.get("schema"), dict):
            self._of_schema(schema, str(declared.get("name") or "output"), strict=declared.get("strict"))
            return
        self.member = wanted
        if wanted["type"] != "json_object":
            self._read = lambda text: None

    def _of_schema(self, schema: dict[str, Any], name: str, *, strict: bool | None) -> None:
        self._read = lambda text: _validated(text, schema)
        self._declare(schema, name, strict=strict)

    def _declare(self, schema: dict[str, Any], name: str, *, strict: bool | None) -> None:
        self.schema = schema
        declared: dict[str, Any] = {"name": _NOT_IN_NAMES.sub("_", name)[:64], "schema": schema}
        if strict is not None:
            declared["strict"] = strict
        self.member = {"type": "json_schema", "json_schema": declared}

    def parse(self, response: ModelResponse) -> Any:
        """The value of an answer; None where there is none to be had: a call, a refusal, an answer that was cut.

        Raises:
            OutputError: the text is not JSON, or does not fit.
        """
        if response.status != "completed" or response.refusal or response.calls_to_answer:
            return None
        text = response.text.strip()
        fenced = _FENCED.match(text)
        try:
            return self._read(fenced[1] if fenced else text)
        except ValueError as problem:
            raise OutputError(f"the answer does not fit response_format: {problem}", response) from problem


def _validated(text: str, schema: dict[str, Any]) -> Any:
    """The value, if it fits the schema.

    Raises:
        ValueError: it is not JSON, or does not fit.
    """
    from jsonschema import ValidationError
    from jsonschema.validators import validator_for

    value = loads(text)
    try:
        validator_for(schema)(schema).validate(value)
    except ValidationError as problem:
        raise ValueError(f"{problem.json_path}: {problem.message}") from problem
    return value
