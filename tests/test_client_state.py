"""Conversations that the server keeps, and what is done once it does not: the answer is right all the same."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from streamshim import Conversation, ConversationStore, ResponseNotFoundError, ResponsesClient
from tests.scripted import WAYS, Script, Way, breaks, refuses, repairs_of, response_answer, response_body
from tests.small_streams import frame, responses

both_ways = pytest.mark.parametrize("way", WAYS)

GONE = refuses(
    400,
    "Previous response with id 'resp_1' not found.",
    param="previous_response_id",
    code="previous_response_not_found",
)
NOT_TAKEN = refuses(400, "Unsupported parameter: 'previous_response_id'.")
FIRST = response_answer("At nine.", id="resp_1", tokens=(100, 40))
"""Whoever continues it counts 120 input tokens at least."""
REMEMBERS = response_answer("At three.", id="resp_2", echo="resp_1", tokens=(160, 5))
FORGOT = response_answer("Which water?", id="resp_2", tokens=(12, 5))
FORGOT_AND_ECHOES = response_answer("Which water?", id="resp_2", echo="resp_1", tokens=(12, 5))
WHOLE = response_answer("At three.", id="resp_3", tokens=(165, 5))
"""What comes of it when all is sent."""


def look() -> str:
    """Look it up."""
    return "nine"


def begun(script: Script) -> Conversation:
    """A conversation with one answer, and a second question."""
    conversation = Conversation("ann", "Be brief.")
    conversation.user("When is high water?")
    script.chat(conversation)
    conversation.user("And low water?")
    return conversation


def said(body: dict[str, Any]) -> list[str]:
    return [part["text"] for item in body["input"] for part in item["content"]]


ALL = ["When is high water?", "At nine.", "And low water?"]


# -- a server that remembers ------------------------------------------------------------------------------------------


@both_ways
def test_a_server_that_remembers_is_sent_what_is_new(way: Way) -> None:
    script = Script(FIRST, REMEMBERS, api="responses", way=way)
    conversation = begun(script)
    answer = script.chat(conversation)
    assert (answer.text, answer.repairs) == ("At three.", {})
    body = script.bodies[1]
    assert (body["previous_response_id"], said(body)) == ("resp_1", ["And low water?"])
    assert body["instructions"] == "Be brief."


def test_a_client_that_keeps_the_conversation_sends_it_all_and_has_nothing_stored() -> None:
    script = Script(FIRST, WHOLE, api="responses", state="client")
    script.chat(begun(script), reasoning_effort="low")
    first, second = script.bodies
    assert said(second) == ALL
    assert "previous_response_id" not in second
    assert first["store"] is second["store"] is False
    assert "include" not in first
    assert second["include"] == ["reasoning.encrypted_content"]


def test_thought_that_cannot_be_had_encrypted_is_done_without() -> None:
    said = "Encrypted content is not supported with this model."
    script = Script(refuses(400, said, param="include"), FIRST, api="responses", state="client")
    conversation = Conversation()
    conversation.user("Hi")
    assert script.chat(conversation, reasoning_effort="low").repairs == {"member-refused": 1}
    assert "include" not in script.bodies[1]
    assert script.bodies[1]["reasoning"] == {"effort": "low"}


# -- a server that refuses --------------------------------------------------------------------------------------------


@both_ways
@pytest.mark.parametrize("refusal", [GONE, NOT_TAKEN], ids=["expired", "unsupported"])
def test_a_refused_id_is_answered_with_the_whole_history_and_told_once(refusal: Any, way: Way) -> None:
    script = Script(FIRST, refusal, WHOLE, WHOLE, api="responses", way=way)
    conversation = begun(script)
    events = script.events(conversation, repairs=True)
    assert "".join(event.delta for event in events if event.type == "text_delta") == "At three."
    ((quirk, detail),) = repairs_of(events)
    assert quirk == "state-lost"
    assert detail.startswith("resp_1 was refused: ")
    assert events[-1].repairs == {"state-lost": 1}
    assert said(script.bodies[2]) == ALL
    conversation.user("Thanks")
    assert script.chat(conversation).repairs == {}
    assert "previous_response_id" not in script.bodies[3]


@both_ways
def test_a_run_tells_the_fallback_as_an_event_once(way: Way) -> None:
    calling = response_answer(calls=[("look", {})], id="resp_1", tokens=(100, 40))
    script = Script(calling, GONE, response_answer("At nine.", tokens=(150, 4)), api="responses", way=way)
    events, run = script.run("When?", tools=[look])
    (fallback,) = [event for event in events if event.type == "state_fallback"]
    assert (fallback.reason, fallback.response_id) == ("refused", "resp_1")
    kinds = [event.type for event in events]
    assert kinds.index("tool_result") < kinds.index("state_fallback") < len(kinds) - 1
    assert kinds[kinds.index("state_fallback") + 1] == "stream_start"
    assert run.response.text == "At nine."
    assert [item["type"] for item in script.bodies[2]["input"]] == ["message", "function_call", "function_call_output"]


def test_an_id_refused_inside_of_a_stream_is_answered_with_the_whole_history() -> None:
    error = {"code": "previous_response_not_found", "message": "Previous response not found."}
    script = Script(FIRST, response_answer(status="failed", error=error), WHOLE, api="responses")
    events = script.events(begun(script))
    assert events[-1].status == "completed"
    assert not [event for event in events if event.type == "error_report"]


def test_an_id_that_expired_says_nothing_of_other_conversations_and_one_that_is_not_taken_all() -> None:
    for refusal, expected in ((GONE, True), (NOT_TAKEN, False)):
        script = Script(FIRST, refusal, WHOLE, FIRST, REMEMBERS, api="responses")
        script.chat(begun(script))
        script.chat(begun(script))
        assert ("previous_response_id" in script.bodies[-1]) is expected


# -- a server that forgets --------------------------------------------------------------------------------------------


@both_ways
@pytest.mark.parametrize("forgot", [FORGOT, FORGOT_AND_ECHOES], ids=["silent", "echoes"])
def test_an_answer_without_memory_is_never_shown(forgot: Any, way: Way) -> None:
    script = Script(FIRST, forgot, WHOLE, api="responses", way=way)
    conversation = begun(script)
    events = script.events(conversation, repairs=True)
    assert "".join(event.delta for event in events if event.type == "text_delta") == "At three."
    ((quirk, detail),) = repairs_of(events)
    assert (quirk, detail) == (
        "state-lost",
        "resp_1 was forgotten: 12 input tokens were counted, and at least 120 had been said before",
    )
    assert said(script.bodies[2]) == ALL
    assert [answer.text for answer in conversation.answers] == ["At nine.", "At three."]


@both_ways
def test_an_answer_without_memory_is_not_shown_where_no_other_can_be_had(way: Way) -> None:
    script = Script(FIRST, FORGOT, breaks(), api="responses", way=way, max_retries=0)
    conversation = begun(script)
    events = script.events(conversation, errors="event")
    assert events[-1].status == "truncated"
    assert not [event for event in events if event.type == "text_delta"]
    assert len(conversation.answers) == 1


def test_a_server_that_forgets_is_not_relied_on_with_other_conversations() -> None:
    script = Script(FIRST, FORGOT, WHOLE, FIRST, WHOLE, api="responses")
    script.chat(begun(script))
    script.chat(begun(script))
    assert "previous_response_id" not in script.bodies[-1]


@both_ways
def test_an_echo_decides_where_nothing_is_counted(way: Way) -> None:
    first = response_answer("At nine.", id="resp_1")
    script = Script(first, response_answer("Which?", id="resp_2"), WHOLE, api="responses", way=way)
    assert script.chat(begun(script)).text == "At three."
    script = Script(first, response_answer("At three.", id="resp_2", echo="resp_1"), api="responses", way=way)
    assert script.chat(begun(script)).text == "At three."


# -- when the reader sees it ------------------------------------------------------------------------------------------


class Flowing(httpx2.SyncByteStream):
    """An answer that is read piece by piece, and knows how much of it was."""

    def __init__(self, echo: str | None, tokens: tuple[int, int] | None) -> None:
        body = response_body("At three.", id="resp_2", echo=echo, tokens=tokens)
        item = body["output"][0]
        where = {"item_id": item["id"], "output_index": 0, "content_index": 0}
        words = [responses("output_text.delta", **where, delta=word) for word in ("At ", "three.")]
        created = responses("created", response={**body, "status": "in_progress", "output": [], "usage": None})
        self.pieces = [frame(event) for event in (created, *words, responses("completed", response=body))]
        self.read = 0

    def __iter__(self) -> Iterator[bytes]:
        for piece in self.pieces:
            self.read += 1
            yield piece

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, stream=self)


def read_by_the_first_word(script: Script, conversation: Conversation, flowing: Flowing) -> int:
    """How many pieces of an answer had come when its first word was handed out."""
    with script.client.stream(conversation) as events:
        texts = events.text_deltas()
        assert next(texts) == "At "
        read = flowing.read
        assert "".join(texts) == "three."
    return read


def test_an_answer_flows_at_once_where_its_echo_decides() -> None:
    flowing = Flowing("resp_1", None)
    script = Script(response_answer("At nine.", id="resp_1"), flowing, api="responses")
    assert read_by_the_first_word(script, begun(script), flowing) == 2


def test_an_answer_is_kept_back_until_the_server_has_shown_once_that_it_remembers() -> None:
    first, second = Flowing("resp_1", (160, 5)), Flowing("resp_1", (160, 5))
    script = Script(FIRST, first, FIRST, second, api="responses")
    assert read_by_the_first_word(script, begun(script), first) == 4
    assert read_by_the_first_word(script, begun(script), second) == 2


def test_an_answer_flows_at_once_where_the_reader_has_a_deadline() -> None:
    flowing = Flowing("resp_1", (160, 5))
    script = Script(FIRST, flowing, api="responses")
    with script.client.stream(begun(script), idle_timeout=60) as events:
        assert next(events.text_deltas()) == "At "
        assert flowing.read == 2


def test_an_answer_that_is_not_to_be_kept_is_not_continued() -> None:
    script = Script(FIRST, WHOLE, WHOLE, api="responses")
    conversation = Conversation("ann")
    conversation.user("When is high water?")
    script.chat(conversation, store=False)
    conversation.user("And low water?")
    script.chat(conversation)
    assert [body.get("store") for body in script.bodies] == [False, None]
    assert said(script.bodies[1]) == ALL


def test_an_answer_flows_at_once_where_the_server_must_keep_the_conversation_or_need_not() -> None:
    for state in ("server", "client"):
        flowing = Flowing("resp_1", (160, 5))
        script = Script(FIRST, flowing, api="responses", state=state)
        assert read_by_the_first_word(script, begun(script), flowing) == 2


@both_ways
def test_a_server_that_forgets_later_is_found_out_by_whoever_waits_for_the_whole_answer(way: Way) -> None:
    again = response_answer("Which water?", id="resp_3", tokens=(12, 5))
    script = Script(FIRST, REMEMBERS, again, response_answer("At six.", tokens=(190, 3)), api="responses", way=way)
    conversation = begun(script)
    script.chat(conversation)
    conversation.user("And then?")
    assert script.chat(conversation).text == "At six."
    assert [answer.text for answer in conversation.answers] == ["At nine.", "At three.", "At six."]


def test_what_a_trusted_server_forgot_is_made_good_by_the_next_request_and_told_there() -> None:
    spoiled = response_answer("Which water?", id="resp_3", tokens=(12, 5))
    script = Script(FIRST, REMEMBERS, spoiled, response_answer("At six.", tokens=(190, 3)), api="responses")
    conversation = begun(script)
    script.chat(conversation)
    conversation.user("And then?")
    assert script.events(conversation)[-1].repairs == {}  # it was under way before anything could be known
    conversation.user("The low water, of course.")
    assert script.events(conversation)[-1].repairs == {"state-lost": 1}
    assert len(script.bodies[-1]["input"]) == 7


def test_a_server_that_must_keep_it_is_never_doubted_and_the_log_warns(caplog: pytest.LogCaptureFixture) -> None:
    script = Script(FIRST, FORGOT, FORGOT, api="responses", state="server")
    conversation = begun(script)
    with caplog.at_level(logging.WARNING, logger="streamshim"):
        assert script.chat(conversation).text == "Which water?"
    assert "does not hold the conversation" in caplog.text
    conversation.user("Low water!")
    script.chat(conversation)
    assert script.bodies[-1]["previous_response_id"] == "resp_2"


# -- whose it is ------------------------------------------------------------------------------------------------------


def test_the_id_of_one_user_never_continues_anothers_conversation() -> None:
    script = Script(FIRST, WHOLE, REMEMBERS, api="responses")
    conversation = begun(script)
    others = conversation.fork(key="bob")
    script.chat(others)
    assert "previous_response_id" not in script.bodies[1]
    assert said(script.bodies[1]) == ALL
    script.chat(conversation.fork())
    assert script.bodies[2]["previous_response_id"] == "resp_1"


def test_whose_an_answer_was_is_written_down_with_the_conversation() -> None:
    script = Script(FIRST, WHOLE, REMEMBERS, api="responses")
    conversation = begun(script)
    script.chat(Conversation.from_json(conversation.fork(key="bob").to_json()))
    script.chat(Conversation.from_json(conversation.to_json()))
    assert ["previous_response_id" in body for body in script.bodies] == [False, False, True]


@both_ways
def test_a_stored_conversation_is_taken_up_in_another_process_and_by_its_owner_alone(way: Way, tmp_path: Any) -> None:
    path = tmp_path / "conversations.db"
    calling = response_answer(calls=[("look", {})], id="resp_0", tokens=(50, 10))
    with ConversationStore(path) as store:
        nine = response_answer("At nine.", id="resp_1", echo="resp_0", tokens=(100, 40))
        script = Script(calling, nine, api="responses", way=way, store=store)
        conversation = Conversation("ann", "Be brief.")
        conversation.user("When is high water?")
        _, run = script.run(conversation, tools=[look])
        written = run.conversation.to_json()
    with ConversationStore(path) as store:
        script = Script(REMEMBERS, api="responses", way=way, store=store)
        with pytest.raises(ResponseNotFoundError):
            script.client.recall("bob", "resp_1")
        with pytest.raises(ResponseNotFoundError):
            script.client.recall("ann", "resp_9")
        again = script.client.recall("ann", "resp_1")
        assert again.to_json() == written
        assert [item["type"] for item in store.history("ann", "resp_1")] == [
            "message",
            "function_call",
            "function_call_output",
            "message",
        ]
        again.user("And low water?")
        script.chat(again)
        assert script.bodies[0]["previous_response_id"] == "resp_1"
        assert [stored.response_id for stored in store.chain("ann", "resp_2")] == ["resp_0", "resp_1", "resp_2"]


def test_a_conversation_of_nobody_is_not_stored_and_without_a_store_none_is_recalled() -> None:
    with ConversationStore() as store:
        script = Script(FIRST, api="responses", store=store)
        conversation = Conversation()
        conversation.user("Hi")
        script.chat(conversation)
        assert len(store) == 0
    with pytest.raises(ValueError, match="store="):
        Script(api="responses").client.recall("ann", "resp_1")


def test_a_word_that_is_no_state_is_refused() -> None:
    with pytest.raises(ValueError, match='"auto", "server" or "client"'):
        ResponsesClient("http://a.test", state="both")  # type: ignore[arg-type]
