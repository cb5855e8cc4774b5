"""An agent of the AI SDK over the ASGI application: a program in another language that speaks Responses."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from tests.asgi_server import running
from tests.servers import serve_model

SEEN = {
    "whole": ["Results: sunny in Wien; sunny in Graz", 2],
    "streamed": ["Results: sunny in Wien; sunny in Graz", 2],
    "continued": "again",
    "refused": [400, True],
}


def seen_by_an_agent() -> dict[str, Any]:
    """What it sees in front of a sloppy server that has Chat Completions alone."""
    with serve_model("calls-without-index", apis=("chat",)) as server, running(server.base_url) as base_url:
        command = ["node", "speak.mjs", base_url]
        done = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)
