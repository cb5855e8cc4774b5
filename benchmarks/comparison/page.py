"""The page `docs/comparison.md`: method, versions, totals, families, and what was seen where an answer was wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from .limits import limit_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from .scenarios import Api

_Value = TypeVar("_Value")

OURS = "streamshim"
"""The column of this project."""
_TITLES: dict[Api, str] = {"chat": "Chat Completions", "responses": "Responses"}
_METHOD = """\
# Comparison

How several clients read the scenarios of this project's tests. This page is written by a script:

```console
$ pip install --editable . --group comparison
$ python -m benchmarks.comparison
```

## Method

Every scenario under `tests/scenarios` that asks for no decoder option is played by an HTTP server on 127.0.0.1, with
status 200, piece by piece, to every client; the content type is JSON where the body begins like JSON, else an event
stream. Each client runs in a process of its own, in its default configuration but for the base URL and no retries, and
has {seconds} seconds a scenario; one that hangs or dies is asked once more. An adapter of a few lines
(`benchmarks/comparison/*_clients.py`) turns what the client shows into one account, which is set against the scenario's
right answer (`benchmarks/comparison/judging.py`). On Responses nothing is read after the terminal event.

The scenarios are this project's own tests, and streamshim is developed against them: its column says that these tests
pass. Many scenarios copy habits of servers that depart from the documented API, and the right answers follow this
project's decisions where the API leaves room.

Judged are, of the first choice: the text, the reasoning, the function and custom tool calls (name, arguments, id), the
finish word, and how the stream ended. Wrong are also:

- a stream that was cut and looks whole: it ends without an exception and with a finish word or a completed status;
- a tool call that must not be run and looks runnable: handed over without an exception, with a JSON object as
  arguments, where the wire's arguments were cut or are no JSON object;
- an error on HTTP 200 that is neither raised nor shown as an error;
- an exception where the answer was whole, be it the client's own or one that its values cause in a plain loop, such as
  a list in the place of text.

Not judged, or taken as right:

- reasoning, where the client has no place for it (reasoning within the text is wrong all the same);
- blanks around text and reasoning; a refusal given as text; ids that the wire does not give; a finish word of another
  vocabulary with the same meaning; `stop` and `tool_calls` in each other's place;
- an answer that the client shows twice, as it comes and again at the end, if one of the two is right;
- any exception where the stream was cut, failed or dropped, and an exception that names the reason where the answer
  was stopped by a limit; the text before it need only be a beginning of the right one;
- usage, citations, media, metadata, further choices and tools that the vendor runs.
"""
_TRANSPORT = """\
## Over streamshim's transport

The same clients and scenarios, but each client with an HTTP client whose transport is `streamshim.transport(httpx2)`
(`benchmarks/comparison/connecting.py`); see [Plugging in](plugging-in.md). Scenarios read right, of all.
"""
_LEFT = """\
## Over streamshim's transport: what was seen

Every scenario that a client reads wrong even then, and why: what the client cannot express.
"""
_FAMILIES = "Scenarios read right, of all in the family."
_SEEN = "Scenarios that at least one client reads wrong. An empty cell is a right answer."


@dataclass(frozen=True, slots=True)
class Result:
    """What came of one scenario with one client.

    Attributes:
        api: of the scenario.
        client: as the tables call it.
        family: of the scenario.
        scenario: its name.
        seen: what was wrong, in three words at most; None if nothing was.
        relayed: whether the client spoke over streamshim's transport.
    """

    api: Api
    client: str
    family: str
    scenario: str
    seen: str | None
    relayed: bool = False


def render(results: Sequence[Result], versions: Mapping[str, str], seconds: int) -> str:
    """The whole page.

    Args:
        results: of every scenario with every client.
        versions: by distribution, the interpreter first.
        seconds: that a client has for one scenario.
    """
    apis = [api for api in _TITLES if any(result.api == api for result in results)]
    relayed = [result for result in results if result.relayed]
    results = [result for result in results if not result.relayed]
    sections = [
        _METHOD.format(seconds=seconds),
        "## Versions\n\n" + table(["package", "version"], [list(row) for row in versions.items()]),
        "## Totals\n\nScenarios read right, of all.\n\n" + _totals(results, apis),
        f"{_TRANSPORT}\n{_before_and_after(results, relayed, apis)}",
        f"{_LEFT}\n{_left(relayed)}",
    ]
    for api in apis:
        own = [result for result in results if result.api == api]
        sections += [
            f"## {_TITLES[api]}: by family\n\n{_FAMILIES}\n\n{_families(own)}",
            f"## {_TITLES[api]}: what was seen\n\n{_SEEN}\n\n{_wrong(own)}",
        ]
    return "\n".join(sections)


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _totals(results: Sequence[Result], apis: Sequence[Api]) -> str:
    rows = [
        [client, *(_score([r for r in results if r.client == client and r.api == api]) for api in apis)]
        for client in _ordered(result.client for result in results)
    ]
    return table(["client", *(_TITLES[api] for api in apis)], rows)


def _before_and_after(before: Sequence[Result], after: Sequence[Result], apis: Sequence[Api]) -> str:
    heads = [head for api in apis for head in (_TITLES[api], "over the transport")]
    rows = [
        [
            client,
            *(
                _score([result for result in results if (result.client, result.api) == (client, api)])
                for api in apis
                for results in (before, after)
            ),
        ]
        for client in _ordered(result.client for result in after)
    ]
    return table(["client", *heads], rows)


def _left(results: Sequence[Result]) -> str:
    wrong = [
        (result.client, _TITLES[result.api], limit_of(result), result.scenario) for result in results if result.seen
    ]
    rows = [
        [client, title, ", ".join(f"`{name}`" for *key, name in wrong if key == [client, title, why]), why]
        for client, title, why in _ordered((client, title, why) for client, title, why, _ in wrong)
    ]
    return table(["client", "API", "scenarios", "why"], rows)


def _families(results: Sequence[Result]) -> str:
    clients = _ordered(result.client for result in results)
    rows = [
        [family, *(_score([r for r in results if r.client == client and r.family == family]) for client in clients)]
        for family in sorted({result.family for result in results})
    ]
    return table(["family", *clients], rows)


def _wrong(results: Sequence[Result]) -> str:
    clients = _ordered(result.client for result in results)
    seen = {(result.scenario, result.client): result.seen or "" for result in results}
    wrong = _ordered((result.family, result.scenario) for result in sorted(results, key=_place) if result.seen)
    rows = [[family, f"`{name}`", *(seen[name, client] for client in clients)] for family, name in wrong]
    return table(["family", "scenario", *clients], rows)


def _place(result: Result) -> tuple[str, str]:
    return result.family, result.scenario


def _score(results: Sequence[Result]) -> str:
    return f"{sum(result.seen is None for result in results)} / {len(results)}" if results else "–"


def _ordered(values: Iterable[_Value]) -> list[_Value]:
    return list(dict.fromkeys(values))
