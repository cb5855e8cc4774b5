"""A request is made again where nothing of its answer came, as often and as late as is right."""

from __future__ import annotations

import random
from typing import Any

import httpx2
import pytest

from streamshim import ChatCompletionsClient, ErrorInfo, StreamFailedError, StreamTruncatedError
from streamshim.client.retries import LONGEST_WAIT_SECONDS, Retries
from tests.scripted import WAYS, Script, Way, breaks, breaks_after, chat_answer, frames, refuses

both_ways = pytest.mark.parametrize("way", WAYS)


@both_ways
def test_a_connection_that_fails_is_tried_again_after_a_wait(way: Way) -> None:
    script = Script(breaks(), breaks(httpx2.ReadTimeout("too slow")), chat_answer("Hi"), way=way)
    assert script.chat("Hello").text == "Hi"
    first, second = script.waits
    assert 0.375 <= first <= 0.5
    assert 0.75 <= second <= 1.0
    assert script.bodies[0] == script.bodies[2]


@both_ways
@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
def test_a_status_that_may_pass_is_tried_again(way: Way, status: int) -> None:
    script = Script(refuses(status, "later"), chat_answer("Hi"), way=way)
    assert script.chat("Hello").text == "Hi"
    assert len(script.waits) == 1


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_a_status_that_will_not_pass_is_the_answer(status: int) -> None:
    script = Script(refuses(status, "no"))
    with pytest.raises(StreamFailedError):
        script.chat("Hello")
    assert script.waits == []


def test_tries_end_and_the_last_error_is_the_answer() -> None:
    script = Script(*[refuses(429, f"busy {number}") for number in range(3)])
    with pytest.raises(StreamFailedError, match="busy 2"):
        script.chat("Hello")
    script = Script(*[breaks()] * 3)
    with pytest.raises(StreamTruncatedError, match="connection refused") as problem:
        script.chat("Hello")
    assert isinstance(problem.value.__cause__, httpx2.ConnectError)


def test_tries_are_counted_for_each_request_alone() -> None:
    script = Script(*[refuses(429, "busy"), chat_answer("Hi")] * 3, max_retries=1)
    assert [script.chat("Hello").text for _ in range(3)] == ["Hi"] * 3


def test_no_try_is_made_again_where_none_is_wanted() -> None:
    script = Script(refuses(429, "busy"), max_retries=0)
    with pytest.raises(StreamFailedError):
        script.chat("Hello")


@both_ways
def test_the_server_says_how_long_to_wait(way: Way) -> None:
    script = Script(refuses(429, "busy", headers={"retry-after": "7"}), chat_answer("Hi"), way=way)
    script.chat("Hello")
    assert script.waits == [7.0]


def test_a_wait_that_is_too_long_is_left_to_the_caller() -> None:
    script = Script(refuses(429, "busy", headers={"retry-after": str(int(LONGEST_WAIT_SECONDS) + 1)}))
    with pytest.raises(StreamFailedError) as problem:
        script.chat("Hello")
    assert problem.value.error.retry_after == LONGEST_WAIT_SECONDS + 1
    assert script.waits == []


@both_ways
def test_an_answer_that_breaks_off_is_never_asked_for_again(way: Way) -> None:
    begun = frames({"id": "c", "choices": [{"delta": {"content": "Hel"}}]}, done=False)
    for pieces in ([begun], [b": a comment\n\n"], [begun[:10]]):
        script = Script(breaks_after(*pieces), way=way)
        with pytest.raises(StreamTruncatedError):
            script.chat("Hello")
        assert script.waits == []


def test_a_connection_that_breaks_behind_the_head_is_tried_again() -> None:
    script = Script(breaks_after(), chat_answer("Hi"))
    assert script.chat("Hello").text == "Hi"


def test_what_is_wrong_with_the_address_is_not_tried_again() -> None:
    waits: list[float] = []
    client = ChatCompletionsClient("ftp://model.test", sleep=waits.append)
    with client, pytest.raises(StreamTruncatedError, match="ftp"):
        client.chat("Hello")
    assert waits == []


class _Highest(random.Random):
    def random(self) -> float:
        return 0.999


@pytest.mark.parametrize("jitter", [random.Random(1), _Highest()], ids=["seeded", "highest"])
def test_waits_grow_up_to_a_limit_and_differ_from_client_to_client(jitter: Any) -> None:
    retries = Retries(9, jitter)
    waits: list[Any] = [retries.next() for _ in range(9)]
    assert all(0.75 * bound <= wait <= bound for wait, bound in zip(waits, [0.5, 1, 2, 4, 8, 8, 8, 8, 8], strict=True))
    assert retries.next() is None


def test_an_error_of_which_nothing_is_known_is_not_tried_again() -> None:
    assert Retries(2).next(ErrorInfo("vendor", "hm")) is None
