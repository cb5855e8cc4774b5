"""Where reports go: what cannot be written is told before anything is read or asked."""

from __future__ import annotations

import os
from pathlib import Path

from .exits import UsageError


def refuse_what_cannot_be_written(*targets: Path) -> None:
    """Before anything is read: a stream that was paid for must not be lost.

    Raises:
        UsageError: one is a folder, lies in none, or must not be written.
    """
    for target in targets:
        if target.is_dir():
            raise UsageError(f"cannot write {target}: it is a folder")
        if not target.parent.is_dir():
            raise UsageError(f"cannot write {target}: there is no folder {target.parent}")
        if not os.access(target if target.exists() else target.parent, os.W_OK):
            raise UsageError(f"cannot write {target}: permission denied")
