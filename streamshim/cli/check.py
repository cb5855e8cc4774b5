"""`streamshim check`: what an "OpenAI-compatible" endpoint, or a folder of recorded streams, really does."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from .exits import BAD_STREAM, OK, UsageError
from .terminal import visible

if TYPE_CHECKING:
    from ..check import CheckReport, Plan

NAME = "check"
SUMMARY = "try an endpoint, or judge recorded streams: what works, what is repaired, and what nobody can repair"

_TIMEOUT = 60.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Says what may stand behind `streamshim check`."""
    target = parser.add_argument_group("what is checked")
    target.add_argument("--base-url", metavar="URL", help="of the API, such as http://127.0.0.1:8080/v1")
    target.add_argument("--model", metavar="NAME", help="the model that is asked")
    target.add_argument(
        "--api-key-env",
        metavar="VARIABLE",
        help="the environment variable with the key, such as OPENAI_API_KEY; without this option no key is sent",
    )
    target.add_argument("--recorded", metavar="DIR", help="judge the streams in this folder; nothing is sent")
    cost = parser.add_argument_group("how much is asked")
    cost.add_argument("--dry-run", action="store_true", help="show every request, and send none")
    cost.add_argument("--only", action="append", metavar="ITEMS", help="ids or groups, with commas between them")
    cost.add_argument("--skip", action="append", metavar="ITEMS", help="ids or groups, with commas between them")
    cost.add_argument("--max-requests", type=int, metavar="N", help="never send more requests")
    cost.add_argument("--max-tokens", type=int, metavar="N", help="never ask for more tokens, in and out together")
    cost.add_argument(
        "--timeout", type=float, default=_TIMEOUT, metavar="S", help=f"seconds for one answer (default: {_TIMEOUT:g})"
    )
    output = parser.add_argument_group("what comes out")
    output.add_argument("--json", metavar="FILE", help="write the report as JSON; '-' is standard output")
    output.add_argument("--html", metavar="FILE", help="write the report as one page that needs no network")


def run(arguments: argparse.Namespace) -> int:
    """Checks, writes the reports, and returns 1 where an item failed."""
    if arguments.recorded:
        report = _recorded(arguments)
    else:
        chosen = _plan(arguments)
        if arguments.dry_run:
            _show(chosen)
            return OK
        report = _tried(arguments, chosen)
    _write(arguments, report)
    failed = any(result.outcome == "fail" and result.cause != "model" for result in report.results)
    return BAD_STREAM if failed else OK


def _plan(arguments: argparse.Namespace) -> Plan:
    from ..check import plan

    if not arguments.base_url or not arguments.model:
        raise UsageError("check needs --base-url and --model, or --recorded")
    try:
        return plan(arguments.model, _words(arguments.only), _words(arguments.skip))
    except ValueError as error:
        raise UsageError(str(error)) from None


def _words(values: list[str] | None) -> list[str]:
    return [word.strip() for value in values or () for word in value.split(",") if word.strip()]


def _show(chosen: Plan) -> None:
    """Every request, as it would be sent."""
    from ..json_codec import dumps

    for request in chosen.requests:
        wrong = ", with a key that cannot be right" if request.key == "wrong" else ""
        again = f", at most {request.times} times" if request.times > 1 else ""
        print(f"{request.name}: {request.method} {request.path}{request.resource or ''}{wrong}{again}")
        if request.body is not None:
            body = dumps(request.body)
            print("    " + (body if len(body) < 2000 else f"{body[:1000]} … {len(body) - 1000:,} characters more"))
    print(_cost(chosen))


def _cost(chosen: Plan) -> str:
    return (
        f"{len(chosen.items)} items: at most {chosen.most_requests} requests, "
        f"at most {chosen.most_output_tokens:,} tokens out and about {chosen.input_tokens:,} in"
    )


def _key(name: str | None) -> str | None:
    if name is None:
        return None
    key = os.environ.get(name)
    if not key:
        raise UsageError(f"there is no key in the environment variable {name}")
    return key


def _tried(arguments: argparse.Namespace, chosen: Plan) -> CheckReport:
    from ..check import run_checks
    from ..check.live_table import live_table

    screen: TextIO = sys.stderr if arguments.json == "-" else sys.stdout
    api_key = _key(arguments.api_key_env)
    print(_cost(chosen), file=screen, flush=True)
    try:
        with live_table(screen, len(chosen.items)) as table:
            return run_checks(
                arguments.base_url,
                model=arguments.model,
                api_key=api_key,
                only=_words(arguments.only),
                skip=_words(arguments.skip),
                timeout=arguments.timeout,
                max_requests=arguments.max_requests,
                max_tokens=arguments.max_tokens,
                watcher=table,
            )
    except (ValueError, ModuleNotFoundError) as error:
        raise UsageError(str(error)) from None


def _recorded(arguments: argparse.Namespace) -> CheckReport:
    from ..check import judge_recorded
    from ..check.live_table import PlainLines

    try:
        report = judge_recorded(arguments.recorded)
    except OSError as error:
        raise UsageError(f"cannot read {error.filename}: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(str(error)) from None
    told = [result for result in report.results if result.outcome != "not tried"]
    lines = PlainLines(sys.stderr if arguments.json == "-" else sys.stdout, len(told))
    for result in told:
        lines.concluded(result)
    return report


def _write(arguments: argparse.Namespace, report: CheckReport) -> None:
    from ..check.report_json import report_json
    from ..check.summary import summary_lines
    from ..json_codec import dumps

    screen = sys.stderr if arguments.json == "-" else sys.stdout
    for line in summary_lines(report):
        print(visible(line), file=screen)
    if arguments.json == "-":
        print(dumps(report_json(report)))
    elif arguments.json:
        _write_file(arguments.json, dumps(report_json(report)) + "\n")
    if arguments.html:
        from ..check.report_page import report_page

        _write_file(arguments.html, report_page(report))


def _write_file(name: str, text: str) -> None:
    try:
        Path(name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {name}: {error.strerror}") from None
