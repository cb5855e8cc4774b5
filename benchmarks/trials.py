"""A subject's door and a load: something that can be run, checked, timed and weighed."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Callable, Iterable, Iterator
from time import perf_counter, process_time, sleep
from typing import Any, TypeAlias

from .baselines import LOOPS
from .doors import AsyncDoor, Door
from .loads import Load

Action: TypeAlias = Callable[[], None]
Sample: TypeAlias = tuple[float, float]
"""CPU seconds of a run, and of the baseline just before it."""

_MOMENT_SECONDS = 0.01
_MOMENTS = 300


class Trial:
    """One load, to be read through one door."""

    def __init__(self, door: Door | AsyncDoor, load: Load, runner: asyncio.Runner) -> None:
        """Prepare what the door takes; asynchronous doors are read in the runner's event loop."""
        self._door = door
        self._load = load
        self._runner = runner
        self._prepared = door.prepare(load)

    def run(self) -> None:
        """Read all streams of the load, and take every item."""
        if isinstance(self._door, AsyncDoor):
            self._runner.run(self._adrain(self._door))
        elif self._load.interleaved:
            _drain_in_turns([self._door.read(self._prepared) for _ in range(self._load.streams)])
        else:
            for _ in range(self._load.streams):
                for batch in self._door.read(self._prepared):
                    for _item in batch:
                        pass

    def fault(self) -> str | None:
        """Read one stream and tell, in words, where it says something else than it should; None if it does not."""
        if isinstance(self._door, AsyncDoor):
            said = self._door.said(self._runner.run(self._items(self._door)))
        else:
            said = self._door.said(item for batch in self._door.read(self._prepared) for item in batch)
        lacks = self._door.lacks
        return said.without(lacks).difference(self._load.said.without(lacks))

    async def _adrain(self, door: AsyncDoor) -> None:
        for _ in range(self._load.streams):
            async for _item in door.read(self._prepared):
                pass

    async def _items(self, door: AsyncDoor) -> list[Any]:
        return [item async for item in door.read(self._prepared)]


def baseline_of(load: Load, name: str) -> Action:
    """What a loop does with all streams of a load."""
    loop, data = LOOPS[name], load.joined()

    def run() -> None:
        for _ in range(load.streams):
            loop(data)

    return run


def samples(run: Action, baseline: Action, rounds: int, seconds: float) -> Iterator[Sample]:
    """Baseline, run, baseline, run …, so that a slow moment of the machine hits both.

    It ends after so many rounds, or with the first that ends when the seconds are over. The garbage collector has
    nothing left to do when a run begins, and works as usual within it. The seconds of a run are those that the process
    has computed: nothing waits here, and what others do on the same machine is not counted.
    """
    begun = perf_counter()
    for _ in range(rounds):
        before = _timed(baseline)
        yield _timed(run), before
        if perf_counter() - begun > seconds:
            return


def _wait_for_threads() -> None:
    """A library may leave threads at work when a stream is over; they would slow down the baseline."""
    for _ in range(_MOMENTS if threading.active_count() > 1 else 0):
        before = process_time()
        sleep(_MOMENT_SECONDS)
        if process_time() - before < _MOMENT_SECONDS / 10:
            return


def _timed(action: Action) -> float:
    _wait_for_threads()
    gc.collect()
    start = process_time()
    action()
    return process_time() - start


def _drain_in_turns(streams: list[Iterable[Iterable[Any]]]) -> None:
    """A batch of each stream, then the next of each; all are alike, so all end in the same turn."""
    waiting = [iter(stream) for stream in streams]
    while waiting:
        for stream in waiting:
            for batch in stream:
                for _item in batch:
                    pass
                break
            else:
                waiting = []
