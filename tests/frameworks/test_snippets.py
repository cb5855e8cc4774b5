"""What "Plugging in" shows of the transport runs, frameworks and all."""

from __future__ import annotations

from pathlib import Path

import pytest
from sybil.document import Document
from sybil.parsers.markdown import PythonCodeBlockParser

from tests.loopback import serve
from tests.small_streams import SLOPPY_ANSWER

for _name in ("agents", "litellm", "langchain_openai", "pydantic_ai"):
    pytest.importorskip(_name, reason=f"{_name} is not installed: make frameworks")

PAGE = Path(__file__).parents[2] / "docs" / "plugging-in.md"
SECTION = "## Under an SDK you already use\n"


@pytest.mark.filterwarnings("ignore")  # frameworks warn of themselves
def test_python_blocks_of_the_section_run_from_top_to_bottom(monkeypatch: pytest.MonkeyPatch) -> None:
    text = PAGE.read_text(encoding="utf-8")
    start = text.index(SECTION)
    end = text.index("\n## ", start)
    document = Document.parse(str(PAGE), PythonCodeBlockParser())
    examples = [example for example in document.examples() if start <= example.start < end]
    assert len(examples) == text.count("\n```python\n", start, end) > 5
    with serve(SLOPPY_ANSWER) as sloppy:
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        document.namespace.update(sloppy_url=sloppy.url)
        for example in examples:
            example.evaluate()
