"""The HTTP client that what is not the core brings along: the one that is installed."""

from __future__ import annotations

import importlib
from types import ModuleType


def http_module() -> ModuleType:
    """The module httpx2 if it is installed, else httpx.

    Raises:
        ModuleNotFoundError: neither is.
    """
    for name in ("httpx2", "httpx"):
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError:
            continue
    raise ModuleNotFoundError("this speaks HTTP and needs a client: pip install httpx2 (httpx will do as well)")
