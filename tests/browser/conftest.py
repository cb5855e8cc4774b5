"""A real browser: Chromium, driven by Playwright. `make browser` installs what it can."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: make browser")

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
BROWSER = next(filter(None, map(shutil.which, NAMES)), None)

DESKTOP = {"width": 1100, "height": 900}


# While it is open, an event loop of the driver's runs in this thread, and no other test could run one: so it is
# closed with the module, not with the session.
@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if BROWSER is None:
        pytest.skip("there is no Chromium here; on Debian: apt install chromium")
    sandbox = [] if os.geteuid() else ["--no-sandbox"]  # it refuses to run as root with one
    with playwright.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=BROWSER, args=sandbox)
        yield running
        running.close()


@dataclass
class Opened:
    """A page that is open, and all that it said or asked for."""

    page: Any
    requests: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)

    def colour(self) -> str:
        return self.page.evaluate("getComputedStyle(document.body).backgroundColor")


@pytest.fixture
def open_html(browser: Any, tmp_path: Path) -> Generator[Callable[..., Opened]]:
    """Opens a document from a file; it may ask for nothing else."""
    contexts = []

    def open_page(html: str, **options: Any) -> Opened:
        path = tmp_path / "out.html"
        path.write_text(html, encoding="utf-8")
        contexts.append(browser.new_context(**{"viewport": DESKTOP, **options}))
        seen = Opened(contexts[-1].new_page())
        seen.page.set_default_timeout(5000)
        seen.page.on("request", lambda request: seen.requests.append(request.url))
        seen.page.on("console", lambda message: seen.messages.append(message.text))
        seen.page.on("pageerror", lambda error: seen.messages.append(str(error)))
        seen.page.goto(path.as_uri())
        assert seen.requests == [path.as_uri()]
        return seen

    yield open_page
    for context in contexts:
        context.close()
