"""A process of its own for one subject: `python -m benchmarks.worker SUBJECT`.

It speaks JSON, a line each. First it says which versions it has loaded: `{"versions": {"openai": "3.57.0"}}`. Then each
line on standard input is a request, answered by a line on standard output:

    {"do": "load", "case": "chat", "variant": "64KB"}     {"deltas": 2000, "streams": 1, "size": 581000}
    {"do": "check"}                                       {"fault": null}
    {"do": "time", "rounds": 9, "seconds": 5}             {"samples": [[0.1, 0.002], …]}
    {"do": "weigh"}                                       {"peak": 1000000, "answer": 8000}

The last three are about what was loaded last. "weigh" is worth something once in a process, and before anything else
was read. What goes wrong is a fault, in words.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
import warnings
from importlib import metadata
from typing import TYPE_CHECKING, Any

from .bodies import PIECES, body
from .cases import CASES
from .memory import NoMemoryFigureError, peak_growth
from .subjects import SUBJECTS
from .trials import Action, Trial, baseline_of, samples

if TYPE_CHECKING:
    from .cases import Case
    from .doors import AsyncDoor, Door
    from .loads import Api, Load

Reply = dict[str, Any]
_WARMING_DELTAS = 20
_SHOWN_CHARACTERS = 500


class Worker:
    """What answers the requests."""

    def __init__(self, subject: str) -> None:
        """Doors are loaded when they are needed."""
        self._subject = subject
        self._runner = asyncio.Runner()
        self._doors: dict[tuple[str, Api], Door | AsyncDoor] = {}
        self._case: Case
        self._load: Load
        self._trial: Trial

    def versions(self) -> dict[str, str]:
        """Of what is measured."""
        return {name: metadata.version(name) for name in SUBJECTS[self._subject].distributions}

    def answer(self, request: Reply) -> Reply:
        """Do what is asked; never raises."""
        try:
            return self._answer(request)
        except NoMemoryFigureError as missing:
            return {"missing": str(missing)}
        except Exception as problem:  # noqa: BLE001
            return {"fault": f"{type(problem).__name__}: {problem}"[:_SHOWN_CHARACTERS]}

    def _answer(self, request: Reply) -> Reply:
        match request["do"]:
            case "load":
                return self._take(CASES[request["case"]], request["variant"])
            case "check":
                return {"fault": self._trial.fault()}
            case "time":
                found = samples(self._trial.run, self._baseline(), request["rounds"], request["seconds"])
                return {"samples": list(found)}
            case "weigh":
                self._warm_up()
                return {"peak": peak_growth(self._trial.run), "answer": sys.getsizeof(self._load.said.text)}
            case other:
                raise ValueError(f"{other!r} is no request")

    def _take(self, case: Case, variant: str) -> Reply:
        self._case, self._load = case, case.loads[variant]()
        self._trial = Trial(self._door(self._subject), self._load, self._runner)
        return {"deltas": self._load.deltas, "streams": self._load.streams, "size": self._load.size}

    def _baseline(self) -> Action:
        if self._case.baseline in SUBJECTS:
            return Trial(self._door(self._case.baseline), self._load, self._runner).run
        return baseline_of(self._load, self._case.baseline)

    def _door(self, subject: str) -> Door | AsyncDoor:
        key = (subject, self._case.api)
        if key not in self._doors:
            self._doors[key] = SUBJECTS[subject].doors[self._case.api]()
        return self._doors[key]

    def _warm_up(self) -> None:
        """What is loaded with the first stream is no part of what a stream takes."""
        short = body("responses" if self._case.api == "responses" else "chat", _WARMING_DELTAS).load(PIECES["64KB"])
        Trial(self._door(self._subject), short, self._runner).run()


def main() -> None:
    """Answer until standard input ends."""
    with os.fdopen(os.dup(1), "w") as answers:
        os.dup2(2, 1)  # what a library prints is no answer
        logging.disable()
        warnings.simplefilter("ignore")
        worker = Worker(sys.argv[1])
        print(json.dumps({"versions": worker.versions()}), file=answers, flush=True)
        for line in sys.stdin:
            print(json.dumps(worker.answer(json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    main()
