"""The types that users see: the files in `typing/` hold assertions that mypy and pyright must both accept."""

import subprocess
import sys
from importlib import util
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FILES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "tests" / "typing").glob("*.py"))
MYPY = [sys.executable, "-m", "mypy", "--follow-imports=silent"]
PYRIGHT = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable]


@pytest.mark.parametrize("checker", [MYPY, PYRIGHT], ids=["mypy", "pyright"])
def test_type_checkers_accept_every_assertion_about_the_public_types(checker: list[str]) -> None:
    if util.find_spec(checker[2]) is None:
        pytest.skip(f"{checker[2]} is not installed: `make types` brings it")
    run = subprocess.run([*checker, *FILES], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
