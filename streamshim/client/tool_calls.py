"""A model's call made to happen: what the tool gives, or why it could not, as a result for the model to read."""

from __future__ import annotations

import asyncio
import inspect
import logging
from typing import TYPE_CHECKING, Any

from .tool import InvalidArgumentsError, Toolbox, ToolResult

if TYPE_CHECKING:
    from ..events import ToolCallEnd
    from ..response_models import ToolCallPart

logger = logging.getLogger("streamshim")

_SHOWN_CHARACTERS = 200


class _UnknownToolError(Exception):
    """A model called a tool that it was not given."""


def run_tool(call: ToolCallPart | ToolCallEnd, tools: Toolbox) -> ToolResult:
    """Run the tool that a call names, and wait for it. Only what is no `Exception` is raised."""
    try:
        output = _start(call, tools)
        if inspect.isawaitable(output):
            output = asyncio.run(_awaited(output))
    except Exception as error:  # noqa: BLE001 -- the model is told
        return _failed(call, error)
    return _given(call, output)


async def arun_tool(call: ToolCallPart | ToolCallEnd, tools: Toolbox) -> ToolResult:
    """The same, asynchronously: what is synchronous runs in a thread."""
    try:
        tool = tools.tool(call.name)
        if tool is not None and inspect.iscoroutinefunction(tool.function):
            output = _start(call, tools)
        else:
            output = await asyncio.to_thread(_start, call, tools)
        if inspect.isawaitable(output):
            output = await output
    except Exception as error:  # noqa: BLE001 -- the model is told
        return _failed(call, error)
    return _given(call, output)


def _start(call: ToolCallPart | ToolCallEnd, tools: Toolbox) -> Any:
    """What the tool's function gives.

    Raises:
        InvalidArgumentsError: it does not take the arguments.
        _UnknownToolError: there is no such tool.
        ValueError: the call was cut, or its arguments are no JSON object.
        Exception: whatever the function raises.
    """
    if call.status in ("truncated", None):
        raise ValueError(f"the call was cut: {call.name} was not run")
    tool = tools.tool(call.name)
    if tool is None:
        known = ", ".join(tools.names) or "none"
        raise _UnknownToolError(f"there is no tool {call.name!r} (there are: {known})")
    try:
        arguments = call.parsed()
    except ValueError as problem:
        raise InvalidArgumentsError(f"no JSON object, but {call.arguments[:_SHOWN_CHARACTERS]}") from problem
    return tool.call(arguments)


async def _awaited(output: Any) -> Any:
    return await output


def _given(call: ToolCallPart | ToolCallEnd, output: Any) -> ToolResult:
    """What the tool gave, as JSON has it."""
    try:
        plain = _as_json(output)
    except ValueError as error:
        return _failed(call, error)
    return ToolResult(call.call_id, call.name, plain)


def _as_json(output: Any) -> Any:
    """A tool's output as JSON: models, dataclasses, dates and what else pydantic can write.

    Raises:
        ValueError: it cannot be written as JSON.
    """
    from pydantic_core import PydanticSerializationError, to_jsonable_python

    try:
        return to_jsonable_python(output, inf_nan_mode="null")
    except (PydanticSerializationError, RecursionError) as problem:
        raise ValueError(f"the tool's output cannot be written as JSON: {problem}") from problem


def _failed(call: ToolCallPart | ToolCallEnd, error: Exception) -> ToolResult:
    """A failure told to the model. Its traceback goes to the log: it may hold what is nobody's business."""
    logger.debug("the tool %s failed", call.name, exc_info=error)
    if isinstance(error, InvalidArgumentsError):
        said = f"invalid arguments: {error}"
    elif isinstance(error, _UnknownToolError):
        said = str(error)
    else:
        said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return ToolResult(call.call_id, call.name, said, is_error=True)
