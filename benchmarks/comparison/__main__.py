"""The command line: `python -m benchmarks.comparison`, `--only tool-custom`, `--client litellm`."""

from __future__ import annotations

import argparse
import platform
import sys
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from .judging import judge
from .page import OURS, Result, render
from .running import SECONDS_PER_SCENARIO, accounts
from .scenarios import APIS, load_scenarios
from .worker import CLIENTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_PAGE = Path(__file__).parents[2] / "docs" / "comparison.md"
_DISTRIBUTIONS = (
    "openai",
    "openai-agents",
    "litellm",
    "langchain-openai",
    "langchain-core",
    "pydantic-ai-slim",
    "streamshim",
    "httpx",
    "httpx2",
    "pydantic",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all and write the page; or, for chosen clients or scenarios, print what each client said."""
    options = _parser().parse_args(arguments)
    try:
        versions = _versions()
    except metadata.PackageNotFoundError as missing:
        print(f"{missing.name} is not installed: pip install --editable . --group comparison", file=sys.stderr)
        return 2
    results = list(_results(options))
    if options.only or options.client:
        return 0
    _PAGE.write_text(render(results, versions, SECONDS_PER_SCENARIO), encoding="utf-8")
    print(f"{_PAGE} written")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.comparison", description=__doc__)
    clients = list(dict.fromkeys(client for api in APIS for client in CLIENTS[api]))
    names = [scenario.name for api in APIS for scenario in load_scenarios(api)]
    parser.add_argument("--client", nargs="+", choices=clients, help="print the accounts of these clients")
    parser.add_argument("--only", nargs="+", choices=names, metavar="SCENARIO", help="print the accounts of these")
    return parser


def _results(options: argparse.Namespace) -> Iterator[Result]:
    for api in APIS:
        scenarios = [scenario for scenario in load_scenarios(api) if scenario.name in (options.only or [scenario.name])]
        for client in CLIENTS[api] if scenarios else ():
            if client not in (options.client or [client]):
                continue
            for relayed in (False, True) if client != OURS else (False,):
                print(f"{api}: {client}{' over the transport' if relayed else ''}", flush=True)
                for scenario, account in accounts(api, client, scenarios, relayed=relayed):
                    seen = judge(account, scenario.expect, dropped=scenario.dropped)
                    if options.only or options.client:
                        print(f"  {scenario.name}: {seen or 'right'}: {account}")
                    yield Result(api, client, scenario.family, scenario.name, seen, relayed)


def _versions() -> dict[str, str]:
    return {platform.python_implementation(): platform.python_version()} | {
        name: metadata.version(name) for name in _DISTRIBUTIONS
    }


if __name__ == "__main__":
    sys.exit(main())
