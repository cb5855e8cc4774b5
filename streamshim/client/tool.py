"""`Tool`: a plain typed function that a model may call, and how it is declared to either API."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from pydantic import TypeAdapter

ToolLike: TypeAlias = "Callable[..., Any] | Tool | Mapping[str, Any]"
"""What can be given as a tool: a function, a `Tool`, or a declaration in the words of either API."""


class InvalidArgumentsError(Exception):
    """A model called a tool with arguments that its signature does not take."""


@dataclass(slots=True, frozen=True)
class ToolResult:
    """What became of a call.

    Attributes:
        call_id: the id of the call.
        name: the tool's name.
        output: text, content parts, or any JSON value.
        is_error: the tool failed, and `output` says why.
    """

    call_id: str
    name: str
    output: Any
    is_error: bool = False
    type: Literal["tool_result"] = field(default="tool_result", repr=False)


class Tool:
    """A function that a model may call.

    The JSON Schema of its arguments comes from its signature, the description from its docstring; what stands in
    `Annotated[…, Field(description=…)]` describes a parameter.

    Attributes:
        name: what the model calls it.
        description: what it is for.
        parameters: the JSON Schema of its arguments.
        strict: whether the server is to hold the model to the schema.
        function: what is run.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        name: str | None = None,
        description: str | None = None,
        strict: bool = False,
    ) -> None:
        """Make a tool of a function, synchronous or asynchronous.

        Args:
            function: what is run; each parameter can be given by name.
            name: instead of the function's own.
            description: instead of its docstring.
            strict: ask the server for arguments that always fit. Parameters with defaults are then always given.

        Raises:
            TypeError: it is no function, no JSON Schema can be made of the signature, or no strict one.
        """
        if not callable(function):
            raise TypeError(f"{function!r} is no tool: give a function, a Tool, or a declaration")
        self.function = function
        self.name = str(name or getattr(function, "__name__", type(function).__name__))
        self.description = description if description is not None else inspect.getdoc(function) or ""
        self.strict = strict
        self._adapter = _adapter(function, self.name)
        self.parameters = _parameters(self._adapter, self.name, strict=strict)

    def __repr__(self) -> str:
        return f"<Tool {self.name}({', '.join(self.parameters['properties'])})>"

    def declaration(self) -> dict[str, Any]:
        """What stands for it in the `tools` of a chat request."""
        strict = {"strict": True} if self.strict else {}
        function = {"name": self.name, "description": self.description, "parameters": self.parameters, **strict}
        return {"type": "function", "function": function}

    def call(self, arguments: Mapping[str, Any]) -> Any:
        """Run it with arguments as JSON has them; an asynchronous function gives what is to be awaited.

        Raises:
            InvalidArgumentsError: its signature does not take them.
            BaseException: whatever the function raises.
        """
        from pydantic import ValidationError
        from pydantic_core import ArgsKwargs

        try:
            return self._adapter.validate_python(ArgsKwargs((), dict(arguments)))
        except ValidationError as problem:
            if problem.title != self._title:
                raise
            raise InvalidArgumentsError(_told(problem)) from problem

    @property
    def _title(self) -> str:
        return str(self._adapter.validator.title)


def _adapter(function: Callable[..., Any], name: str) -> TypeAdapter[Any]:
    from pydantic import PydanticUserError, TypeAdapter

    try:
        kind: Any = function  # whose type says nothing of its parameters
        return TypeAdapter(kind)
    except (PydanticUserError, NameError) as problem:
        raise TypeError(f"{name} cannot be a tool: {_first_sentence(problem)}") from problem


def _first_sentence(problem: Exception) -> str:
    """What is wrong; pydantic's advice for models, which follows, is of no use here."""
    return str(problem).partition("\n")[0].partition(". ")[0]


def _parameters(adapter: TypeAdapter[Any], name: str, *, strict: bool) -> dict[str, Any]:
    from pydantic import PydanticUserError

    from .json_schema import schema_of, strict_schema

    try:
        schema = schema_of(adapter)
    except PydanticUserError as problem:
        raise TypeError(f"{name} cannot be a tool: {_first_sentence(problem)}") from problem
    if schema.get("type") != "object":
        raise TypeError(f"{name} cannot be a tool: each of its parameters must be one that can be given by name")
    schema.setdefault("properties", {})
    if not strict:
        return schema
    stricter = strict_schema(schema)
    if stricter is None:
        raise TypeError(f"{name} cannot be strict: one of its parameters is an object with members of any name")
    return stricter


def _told(problem: Any) -> str:
    """What is wrong with the arguments, for the model that made them."""
    return "; ".join(
        f"{'.'.join(map(str, error['loc'])) or 'the arguments'}: {error['msg']}"
        for error in problem.errors(include_url=False, include_context=False, include_input=False)
    )


class Toolbox:
    """The tools of one request: how they are declared, and which function a name stands for."""

    def __init__(self, tools: Iterable[ToolLike] | None) -> None:
        """Take functions, tools and declarations.

        Raises:
            TypeError: one is none of these, or no tool can be made of it.
            ValueError: two have one name.
        """
        self._given = [_as_tool(tool) for tool in tools or ()]
        self._named: dict[str, Tool | None] = {}
        for tool in self._given:
            name = tool.name if isinstance(tool, Tool) else _declared_name(tool)
            if name in self._named:
                raise ValueError(f"two tools are called {name!r}")
            if name is not None:
                self._named[name] = tool if isinstance(tool, Tool) else None

    def __bool__(self) -> bool:
        return bool(self._given)

    @property
    def names(self) -> list[str]:
        """What the tools that have a name are called."""
        return list(self._named)

    def declarations(self) -> list[dict[str, Any]]:
        """The member `tools` of a chat request."""
        return [tool.declaration() if isinstance(tool, Tool) else _nested(tool) for tool in self._given]

    def tool(self, name: str) -> Tool | None:
        """What can be run under a name."""
        return self._named.get(name)

    def is_declared_only(self, name: str) -> bool:
        """Whether a name was given as a declaration: who gave it runs it."""
        return name in self._named and self._named[name] is None


def _as_tool(tool: ToolLike) -> Tool | Mapping[str, Any]:
    if isinstance(tool, Tool):
        return tool
    if isinstance(tool, Mapping):
        if not isinstance(tool.get("type"), str):
            raise TypeError(f"{tool!r} declares no tool: there is no `type`")
        return tool
    return Tool(tool)


def _declared_name(tool: Mapping[str, Any]) -> str | None:
    inner = tool.get(str(tool["type"]))
    name = inner.get("name") if isinstance(inner, Mapping) else tool.get("name")
    return name if isinstance(name, str) else None


def _nested(tool: Mapping[str, Any]) -> dict[str, Any]:
    """A declaration as the chat API has it: what the other one has beside the type stands inside."""
    kind = tool["type"]
    if kind in ("function", "custom") and not isinstance(tool.get(kind), Mapping):
        return {"type": kind, kind: {key: value for key, value in tool.items() if key != "type"}}
    return dict(tool)
