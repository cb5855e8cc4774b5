"""The tool loop: turn after turn until the model is done, stopped, or has had enough turns."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx2
import pytest

from streamshim import Conversation, MaxTurnsError, StreamFailedError, StreamTruncatedError, ToolResult
from tests.loopback import PATIENCE_SECONDS
from tests.scripted import WAYS, Script, Way, answer, breaks_after, chat_answer, frames, refuses, response_answer

ANSWERS: dict[str, Any] = {"chat": chat_answer, "responses": response_answer}
both_ways = pytest.mark.parametrize("way", WAYS)
both_apis = pytest.mark.parametrize("api", ["chat", "responses"])
KEEP_ALL = {"chat": {}, "responses": {"state": "client"}}


def look(at: int = 0) -> str:
    """Look somewhere."""
    return f"nine at {at}"


async def alook(at: int = 0) -> str:
    """Look somewhere."""
    return f"nine at {at}"


def fail() -> str:
    """Fail."""
    raise ConnectionError("the harbour is closed")


def results_in(events: list[Any]) -> dict[str, Any]:
    return {event.name: event.output for event in events if event.type == "tool_result"}


def sent_results(script: Script, request: int) -> list[Any]:
    body = script.bodies[request]
    if "messages" in body:
        return [message["content"] for message in body["messages"] if message["role"] == "tool"]
    return [item["output"] for item in body["input"] if item["type"] == "function_call_output"]


# -- turns ------------------------------------------------------------------------------------------------------------


@both_ways
@both_apis
def test_turns_follow_one_another_until_the_model_calls_nothing(api: Any, way: Way) -> None:
    script = Script(
        ANSWERS[api]("First.", calls=[("look", {"at": 1})]),
        ANSWERS[api](calls=[("look", {"at": 2})]),
        ANSWERS[api]("At nine."),
        api=api,
        way=way,
        **KEEP_ALL[api],
    )
    events, run = script.run("When?", tools=[look])
    kinds = [event.type for event in events if event.type in ("stream_start", "stream_end", "tool_result")]
    assert kinds == ["stream_start", "stream_end", "tool_result"] * 2 + ["stream_start", "stream_end"]
    assert [turn.text for turn in run.turns] == ["First.", "", "At nine."]
    assert run.response == run.turns[-1]
    assert len(run.conversation) == 4
    assert sent_results(script, 2) == ["nine at 1", "nine at 2"]
    assert run.conversation.unanswered_calls == []


@both_ways
def test_an_asynchronous_tool_runs_either_way(way: Way) -> None:
    script = Script(chat_answer(calls=[("alook", {"at": 1})]), chat_answer("Nine."), way=way)
    events, _ = script.run("When?", tools=[alook])
    assert results_in(events) == {"alook": "nine at 1"}


@both_ways
def test_what_goes_wrong_is_handed_back_to_the_model(way: Way) -> None:
    calls = [("fail", {}), ("look", {"at": "there"}), ("loook", {}), ("look", '{"at": 1')]
    script = Script(chat_answer(calls=calls), chat_answer("Sorry."), way=way)
    events, run = script.run("When?", tools=[look, fail])
    told = [event for event in events if event.type == "tool_result"]
    assert len(told) == 4
    assert all(result.is_error for result in told)
    first, second, third, fourth = sent_results(script, 1)
    assert first == '{"error":"ConnectionError: the harbour is closed"}'
    assert "at: Input should be a valid integer" in second
    assert "there is no tool 'loook'" in third
    assert "no JSON object" in fourth
    assert run.response.text == "Sorry."


@both_ways
def test_a_call_that_was_cut_is_never_run(way: Way) -> None:
    ran: list[int] = []

    def note(at: int = 0) -> str:
        """Take a note."""
        ran.append(at)
        return "noted"

    cut = chat_answer(calls=[("note", {"at": 1}), ("note", '{"at": 2')], finish="length")
    script = Script(cut, chat_answer("Done."), way=way)
    _, run = script.run("Note.", tools=[note])
    assert ran == [1]
    assert len(script.bodies[1]["messages"][1]["tool_calls"]) == 1
    assert run.response.text == "Done."
    ran.clear()
    whole = {"index": 0, "id": "c1", "function": {"name": "note", "arguments": '{"at": 3}'}}
    body = frames({"id": "c", "choices": [{"delta": {"tool_calls": [whole]}}]}, done=False)
    for broken in (breaks_after(body), answer(body)):
        script = Script(broken, way=way)
        with pytest.raises(StreamTruncatedError):
            script.run("Note.", tools=[note])
    assert ran == []


@both_ways
def test_a_turn_that_fails_ends_the_run_and_can_be_taken_again(way: Way) -> None:
    script = Script(chat_answer(calls=[("look", {})]), refuses(400, "no"), chat_answer("Nine."), way=way)
    conversation = Conversation()
    conversation.user("When?")
    with pytest.raises(StreamFailedError, match="no"):
        script.run(conversation, tools=[look])
    assert len(conversation) == 2
    _, run = script.run(conversation, tools=[look])
    assert run.response.text == "Nine."
    assert script.bodies[1]["messages"] == script.bodies[2]["messages"]


def test_a_turn_that_fails_ends_the_run_without_a_word_where_errors_are_events() -> None:
    script = Script(chat_answer(calls=[("look", {})]), refuses(400, "no"))
    _, run = script.run("When?", tools=[look], errors="event")
    assert run.response.status == "failed"


# -- enough turns -----------------------------------------------------------------------------------------------------


@both_ways
def test_a_model_that_never_stops_is_stopped_with_all_that_was_said(way: Way) -> None:
    ran: list[int] = []

    def note(at: int) -> str:
        """Take a note."""
        ran.append(at)
        return "noted"

    script = Script(*[chat_answer(calls=[("note", {"at": at})]) for at in range(3)], way=way)
    conversation = Conversation()
    conversation.user("Note.")
    with pytest.raises(MaxTurnsError, match="after 2 turns the model still calls tools: note") as problem:
        script.run(conversation, tools=[note], max_turns=2)
    assert problem.value.conversation is conversation
    assert problem.value.response.calls_to_answer[0].parsed() == {"at": 1}
    assert ran == [0]
    assert [call.name for call in conversation.unanswered_calls] == ["note"]
    script.answers = [chat_answer("Done.")]
    _, run = script.run(conversation, tools=[note])
    assert (ran, run.response.text) == ([0, 1], "Done.")


def test_as_many_turns_as_are_needed_are_enough() -> None:
    script = Script(chat_answer(calls=[("look", {})]), chat_answer("Nine."))
    assert script.run("When?", tools=[look], max_turns=2)[1].response.text == "Nine."
    with pytest.raises(ValueError, match="max_turns"):
        script.client.run("When?", tools=[look], max_turns=0)


def test_a_call_that_must_be_made_must_be_made_once() -> None:
    script = Script(chat_answer(calls=[("look", {})]), chat_answer("Nine."))
    script.run("When?", tools=[look], tool_choice="required")
    assert [body["tool_choice"] for body in script.bodies] == ["required", "auto"]


# -- side by side -----------------------------------------------------------------------------------------------------


@both_ways
def test_calls_of_one_answer_run_side_by_side(way: Way) -> None:
    together = threading.Barrier(3, timeout=PATIENCE_SECONDS)

    def meet(number: int) -> int:
        """Meet the others."""
        together.wait()
        return number

    calls = [("meet", {"number": number}) for number in range(3)]
    script = Script(chat_answer(calls=calls), chat_answer("Met."), way=way)
    events, _ = script.run("Meet.", tools=[meet])
    assert sorted(event.output for event in events if event.type == "tool_result") == [0, 1, 2]
    assert sent_results(script, 1) == ["0", "1", "2"]


def test_asynchronous_calls_run_side_by_side_on_one_loop() -> None:
    together = asyncio.Barrier(3)

    async def meet(number: int) -> int:
        """Meet the others."""
        await asyncio.wait_for(together.wait(), PATIENCE_SECONDS)
        return number

    calls = [("meet", {"number": number}) for number in range(3)]
    script = Script(chat_answer(calls=calls), chat_answer("Met."), way="async")
    script.run("Meet.", tools=[meet])
    assert sent_results(script, 1) == ["0", "1", "2"]


@both_ways
def test_a_result_is_told_as_soon_as_it_is_there(way: Way) -> None:
    told = threading.Event()

    def slow() -> str:
        """Wait until the other was told of."""
        assert told.wait(PATIENCE_SECONDS)
        return "slow"

    def quick() -> str:
        """Be quick."""
        return "quick"

    script = Script(chat_answer(calls=[("slow", {}), ("quick", {})]), chat_answer("Done."), way=way)
    order: list[str] = []

    def see(event: Any) -> None:
        if event.type == "tool_result":
            order.append(event.name)
            told.set()

    if way == "sync":
        with script.client.run("Go.", tools=[slow, quick]) as run:
            for event in run:
                see(event)
    else:

        async def drain() -> None:
            async with script.client.run("Go.", tools=[slow, quick]) as run:
                async for event in run:
                    see(event)

        asyncio.run(drain())
    assert order == ["quick", "slow"]
    assert sent_results(script, 1) == ["slow", "quick"]


@both_ways
def test_two_calls_of_one_id_get_each_its_own_result(way: Way) -> None:
    first_is_done = threading.Event()

    def wait(at: int) -> int:
        """The first is done last."""
        if at == 1:
            assert first_is_done.wait(PATIENCE_SECONDS)
        first_is_done.set()
        return at

    calls = [{"index": at, "id": "same", "function": {"name": "wait", "arguments": f'{{"at":{at}}}'}} for at in (1, 2)]
    both = frames({"id": "c", "choices": [{"delta": {"tool_calls": calls}, "finish_reason": "tool_calls"}]})
    script = Script(answer(both), chat_answer("Done."), way=way)
    script.run("Go.", tools=[wait])
    assert sent_results(script, 1) == ["1", "2"]
    ids = [message["tool_call_id"] for message in script.bodies[1]["messages"] if message["role"] == "tool"]
    assert len(set(ids)) == 2


@both_ways
def test_tools_see_the_context_of_their_caller(way: Way) -> None:
    user = contextvars.ContextVar("user", default="nobody")

    def who() -> str:
        """Tell who asks."""
        return user.get()

    script = Script(chat_answer(calls=[("who", {})]), chat_answer("Ann."), way=way)
    token = user.set("ann")
    events, _ = script.run("Who?", tools=[who])
    user.reset(token)
    assert results_in(events) == {"who": "ann"}


# -- stopped ----------------------------------------------------------------------------------------------------------


class Endless(httpx2.SyncByteStream, httpx2.AsyncByteStream):
    """An answer that begins with a call and text, and never ends by itself."""

    def __init__(self) -> None:
        call = {"index": 0, "id": "c1", "function": {"name": "look", "arguments": "{}"}}
        self.first = frames(
            {"id": "c", "choices": [{"delta": {"tool_calls": [call]}}]},
            {"id": "c", "choices": [{"delta": {"content": "Well"}}]},
            done=False,
        )
        self.closed = False

    def __iter__(self) -> Iterator[bytes]:
        yield self.first
        raise AssertionError("the reader has left")

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self.first
        await asyncio.Event().wait()

    def close(self) -> None:
        self.closed = True

    async def aclose(self) -> None:
        self.closed = True

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, stream=self)


def left(script: Script, conversation: Conversation, at: str) -> None:
    """Leave a run at an event of some kind."""
    if script.way == "sync":
        with script.client.run(conversation, tools=[look]) as run:
            for event in run:
                if event.type == at:
                    break
        return

    async def leave() -> None:
        async with script.client.run(conversation, tools=[look]) as run:
            async for event in run:
                if event.type == at:
                    break

    asyncio.run(leave())


@both_ways
def test_a_run_that_is_left_closes_the_connection_and_its_calls_are_declined(way: Way) -> None:
    endless = Endless()
    script = Script(endless, way=way)
    conversation = Conversation()
    conversation.user("When?")
    left(script, conversation, "text_delta")
    assert endless.closed
    assert [given.status for given in conversation.answers] == ["cancelled"]
    assert conversation.unanswered_calls == []
    conversation.user("Never mind.")
    script.answers = [chat_answer("Fine.")]
    assert script.chat(conversation).text == "Fine."


@both_ways
def test_a_run_that_is_left_between_turns_keeps_the_results_that_came(way: Way) -> None:
    script = Script(chat_answer(calls=[("look", {"at": 1})]), chat_answer("Nine."), way=way)
    conversation = Conversation()
    conversation.user("When?")
    left(script, conversation, "tool_result")
    assert len(script.requests) == 1
    script.chat(conversation)
    assert sent_results(script, 1) == ["nine at 1"]


@both_ways
def test_calls_that_were_not_run_yet_are_declined_where_the_run_is_left(way: Way) -> None:
    script = Script(chat_answer(calls=[("look", {"at": 1})]), chat_answer("Fine."), way=way)
    conversation = Conversation()
    conversation.user("When?")
    left(script, conversation, "finish")
    assert conversation.unanswered_calls == []
    conversation.user("Never mind.")
    script.chat(conversation)
    (told,) = sent_results(script, 1)
    assert "the user stopped it" in told


def test_a_run_whose_task_is_cancelled_stops_its_tools_and_declines_their_calls() -> None:
    conversation = Conversation()
    conversation.user("When?")
    script = Script(chat_answer(calls=[("wait", {})]), way="async")
    stopped: list[bool] = []

    async def leave() -> None:
        begins = asyncio.Event()

        async def wait() -> None:
            """Wait for ever."""
            begins.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                stopped.append(True)
                raise

        async def drain() -> None:
            async with script.client.run(conversation, tools=[wait]) as run:
                await run.final()

        task = asyncio.create_task(drain())
        await begins.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(leave())
    assert stopped == [True]
    assert conversation.unanswered_calls == []


@both_ways
def test_a_run_that_was_never_begun_asks_nothing(way: Way) -> None:
    script = Script(way=way)
    run = script.client.run("When?", tools=[look])
    assert run.response.status is None
    if way == "sync":
        run.close()
    else:
        asyncio.run(run.aclose())
    assert script.requests == []


# -- tools of others --------------------------------------------------------------------------------------------------


@both_ways
@both_apis
def test_calls_of_tools_that_are_only_declared_wait_for_the_caller(api: Any, way: Way) -> None:
    declared = {"type": "function", "name": "ask", "parameters": {"type": "object", "properties": {}}}
    script = Script(
        ANSWERS[api](calls=[("look", {"at": 1}), ("ask", {})]),
        ANSWERS[api]("Nine."),
        api=api,
        way=way,
        **KEEP_ALL[api],
    )
    events, run = script.run("When?", tools=[look, declared])
    assert results_in(events) == {"look": "nine at 1"}
    (waiting,) = run.conversation.unanswered_calls
    assert waiting.name == "ask"
    run.conversation.tool_result(waiting, "Ann says nine.")
    _, run = script.run(run.conversation, tools=[look, declared])
    assert sent_results(script, 1) == ["nine at 1", "Ann says nine."]
    assert run.response.text == "Nine."


# -- what it is asked and tells ---------------------------------------------------------------------------------------


@both_ways
def test_the_last_answer_can_be_had_again_and_the_text_alone(way: Way) -> None:
    turns = [chat_answer("Let me see. ", calls=[("look", {})]), chat_answer("Nine.")]
    script = Script(*turns, *turns, way=way)

    async def afinal() -> list[str]:
        run = script.client.run("When?", tools=[look])
        finals = [(await run.final()).text, (await run.final()).text]
        return [*finals, "".join([text async for text in script.client.run("When?", tools=[look]).text_deltas()])]

    if way == "sync":
        run = script.client.run("When?", tools=[look])
        texts = [run.final().text, run.final().text]
        texts.append("".join(script.client.run("When?", tools=[look]).text_deltas()))
    else:
        texts = asyncio.run(afinal())
    assert texts == ["Nine.", "Nine.", "Let me see. Nine."]


def test_token_counts_of_all_turns_are_added_up() -> None:
    counts = [{"prompt_tokens": 10, "completion_tokens": 2}, {"prompt_tokens": 15, "completion_tokens": 3}]
    script = Script(chat_answer(calls=[("look", {})], usage=counts[0]), chat_answer("Nine.", usage=counts[1]))
    _, run = script.run("When?", tools=[look])
    assert (run.usage.input_tokens, run.usage.output_tokens, run.usage.reasoning_tokens) == (25, 5, None)
    script = Script(chat_answer("Nine."))
    assert script.run("When?")[1].usage is None


def test_a_run_is_of_a_conversation_and_not_of_messages() -> None:
    with pytest.raises(TypeError, match="not messages or items"):
        Script().client.run([{"role": "user", "content": "Hi"}])


def test_a_text_begins_a_conversation_with_the_instructions() -> None:
    script = Script(chat_answer(calls=[("look", {})]), chat_answer("Nine."))
    _, run = script.run("When?", tools=[look], instructions="Be brief.")
    assert run.conversation.instructions == "Be brief."
    assert [message["role"] for message in script.bodies[1]["messages"]] == ["system", "user", "assistant", "tool"]


def test_a_wrong_tool_is_refused_before_anything_is_asked() -> None:
    script = Script()
    with pytest.raises(TypeError, match="is no tool"):
        script.client.run("When?", tools=[7])
    with pytest.raises(TypeError, match="max_length"):
        script.client.run("When?", max_length=5)
    assert script.requests == []


def test_results_are_told_apart_from_events_by_their_type() -> None:
    assert ToolResult("c", "look", "nine").type == "tool_result"
