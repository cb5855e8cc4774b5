"""Every habit of the tests' model server: its wire differs from the perfect one, and it is read as it was meant."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import httpx
import pytest

import streamshim
from streamshim.errors import StreamEndError
from streamshim.quirks import QUIRKS
from tests.servers import serve_model
from tests.servers.habits import HABITS, Manners
from tests.test_model_server import CHAT_TOOLS, TOOLS, TWO_CALLS, user

QUESTIONS: dict[str, dict[str, Any]] = {
    "text": {"text": "Count to 12"},
    "calls": {"text": TWO_CALLS, "tools": True},
    "mixed": {"text": 'now() and weather({"city": "Paris"})', "tools": True},
    "empty": {"text": "now()", "tools": True},
    "thought": {"text": "Count to 3", "model": "thinker"},
    "cut": {"text": "Count to 9", "limit": 4},
}

READ = {
    "chat": """
    calls-without-id calls tool-id-missing
    calls-with-empty-id calls tool-id-missing
    calls-with-null-word-id calls
    empty-id-on-pieces calls
    null-names-on-pieces calls
    calls-without-index calls tool-index-missing
    calls-at-index-zero calls tool-index-reused
    calls-from-index-one calls
    index-as-text calls
    call-ids-change calls tool-id-changes
    names-repeated calls tool-name-repeated
    name-markup calls tool-name-markup
    numbered-call-ids calls
    no-call-type calls
    whole-calls calls
    arguments-as-object calls tool-arguments-object
    one-call-id calls tool-index-reused
    one-call-id mixed tool-id-duplicate
    function-call empty finish-word tool-id-missing tool-legacy-function-call
    arguments-null-word mixed tool-arguments-empty
    arguments-null calls
    calls-with-the-finish calls
    arguments-again calls tool-arguments-repeated tool-name-repeated
    arguments-glued calls tool-arguments-glued tool-id-missing tool-name-repeated
    calls-in-text calls finish-wrong tool-id-missing tool-markup
    calls-in-text-dsml calls finish-wrong tool-id-missing tool-markup
    calls-in-text-sections calls finish-wrong tool-markup
    calls-in-text-arguments calls finish-wrong tool-id-missing tool-markup
    calls-in-text-invoke calls finish-wrong tool-id-missing tool-markup
    no-object text
    no-id text
    no-created text
    no-model text
    ids-change text
    choices-first text
    vendor-extras text
    sorted-keys calls
    filter-chunks text
    no-choice-index text
    choices-null text
    choices-object text choices-shape
    no-delta-at-end text
    no-role text
    role-always text
    content-always text
    nulls text
    content-numbers text content-number
    content-parts text
    text-beside-delta text
    message-beside-deltas text message-repeated
    message-at-end text message-repeated
    text-again-at-end text text-cumulative
    text-after-done text data-after-done
    foreign-words text finish-word
    eos text finish-word
    stop-beside-calls calls finish-wrong
    calls-without-calls text finish-without-calls
    empty-words text
    no-finish-key text
    no-finish calls finish-wrong
    finish-twice text
    finish-then-stop calls finish-contradiction
    finish-early text
    finish-with-the-last text
    usage-in-choice text
    usage-on-finish text
    usage-on-every-chunk text
    usage-with-the-finish-again calls
    usage-null text
    usage-three-times text
    single-line-feeds text single-line-feed
    crlf text
    cr text
    three-line-feeds text
    comments text
    ping-comments text
    processing-comments text
    bom text
    no-space text
    ids-and-retries text
    empty-events text
    event-lines text
    pretty-json text
    json-lines text
    no-done text
    done-twice text
    bare-done text done-form
    done-as-text text done-form
    unended-done text
    not-a-number text json-lenient
    lone-surrogates text json-lenient
    control-characters text json-lenient
    bad-utf-8 text json-lenient
    stray-quote text json-lenient
    nonsense-frame text unreadable-frame
    true-frame text payload-no-object
    reasoning-field thought
    reasoning-text-field thought
    reasoning-object thought
    reasoning-details thought
    thinking-blocks thought
    reasoning-mirrored thought reasoning-mirrored-fields
    reasoning-and-details thought reasoning-mirrored-fields
    reasoning-field-and-details thought reasoning-mirrored-fields
    thinking-parts thought
    reasoning-cumulative thought reasoning-cumulative
    think-tags thought
    thought-tags thought
    reasoning-mirrored-in-tags thought reasoning-mirrored-tags
    thought-flags thought
    thinking-field-empty text
""",
    "responses": """
    arguments-as-object calls tool-arguments-object
    no-created text
    no-in-progress text
    no-items-added text
    no-items-done text
    no-content-parts text
    no-summary-parts thought
    no-text-done text
    no-text-deltas text
    no-argument-deltas calls
    no-arguments calls
    no-arguments-done calls
    only-the-terminal-event text
    created-in-short text
    no-sequence-numbers text
    sequence-constant text
    no-output-index text
    output-index-zero calls
    no-content-index text
    content-index-of-item thought
    no-item-ids text
    no-call-item-ids calls
    item-ids-change text
    item-ids-change-at-end text
    response-id-changes text response-id-changes
    bare-ids text
    empty-output text
    null-output text
    completed-says-incomplete cut status-over-name
    response-done cut status-over-name
    keepalive-events text
    sorted-keys calls
    usage-without-details text
    text-longer-when-done text snapshot-longer
    text-differs-when-done text snapshot-differs
    delta-after-end text delta-after-end
    raw-reasoning thought
    raw-reasoning-by-its-short-name thought
    reasoning-parts thought
    reasoning-only-when-done thought
    reasoning-items-in-short thought
    no-logprobs text
    single-line-feeds text single-line-feed
    crlf text
    cr text
    three-line-feeds text
    comments text
    ping-comments text
    processing-comments text
    bom text
    no-space text
    ids-and-retries text
    empty-events text
    no-event-lines text
    other-event-names calls
    type-in-event-line calls
    events-after-the-end text
    data-before-event text
    pretty-json text
    json-lines text
    done-at-end text
    not-a-number text json-lenient
    lone-surrogates text json-lenient
    control-characters text json-lenient
    bad-utf-8 text json-lenient
    stray-quote text json-lenient
    nonsense-frame text unreadable-frame
    true-frame text payload-no-object
""",
}
"""Habits that lose nothing, the question that shows them, and the repairs that are counted."""

LOST: list[tuple[str, str, str, set[str], dict[str, Any]]] = [
    (
        *("chat", "broken-arguments", "empty", {"tool-call-invalid"}),
        {"calls": [["now", "{", "invalid"]]},
    ),
    (
        *("chat", "function-call", "calls", {"finish-word", "tool-id-missing", "tool-legacy-function-call"}),
        {"calls": [["weather", '{"city":"Paris"}', "complete"]], "usage": [6, 2, 8]},
    ),
    ("chat", "no-finish", "cut", set(), {"status": "completed", "finish": None}),
    ("chat", "stop-at-length", "cut", set(), {"status": "completed", "finish": "stop"}),
    ("chat", "reasoning-not-counted", "thought", set(), {"usage": [3, 3, 11]}),
    ("chat", "no-reasoning", "thought", set(), {"reasoning": ""}),
    (
        *("chat", "unopened-tags", "thought", {"reasoning-orphan-closer"}),
        {"text": "Let me think about it.</think>\n\n1 2 3", "reasoning": ""},
    ),
    ("chat", "no-stream-usage", "text", set(), {"usage": None}),
    ("chat", "no-usage", "text", set(), {"usage": None}),
    ("responses", "no-usage", "text", set(), {"usage": None}),
    ("responses", "length-as-completed", "cut", set(), {"status": "completed", "finish": "stop"}),
]
"""Habits that lose something: what is then read otherwise."""

_CUT = {"status": "truncated", "finish": None, "usage": None}
_FAILED = {"status": "failed", "finish": "error", "usage": None, "error": "The engine is overloaded."}
_HALF = {"chat": "1 2 3 4 5 6 7", "responses": "1 2 3 4 5 6"}
for _api in ("chat", "responses"):
    LOST += [
        (_api, "half-frame", "text", {"half-frame"}, {**_CUT, "text": _HALF[_api][:-2]}),
        (_api, "silent-end", "text", set(), {**_CUT, "text": _HALF[_api]}),
        (_api, "cut-stream", "text", set(), {**_CUT, "text": _HALF[_api], "error": "the connection broke"}),
        (_api, "fails-midway-in-field", "text", {"error-field"}, {**_FAILED, "text": _HALF[_api]}),
    ]
    for _form in ("", "-then-done", "-in-event", "-flat", "-without-frame", "-typed"):
        LOST.append((_api, f"fails-midway{_form}", "text", set(), {**_FAILED, "text": _HALF[_api]}))
LOST.append(("responses", "no-terminal-event", "text", set(), _CUT))

ROWS = [
    *(
        (api, habit, question, set(quirks), {})
        for api, table in READ.items()
        for habit, question, *quirks in map(str.split, table.strip().splitlines())
    ),
    *LOST,
]


def asked(api: str, question: str) -> tuple[str, dict[str, Any]]:
    """Path and body of a streamed request."""
    said = QUESTIONS[question]
    body: dict[str, Any] = {"model": said.get("model", "toy"), "stream": True}
    if api == "chat":
        body |= {"messages": user(said["text"]), "stream_options": {"include_usage": True}}
    else:
        body["input"] = said["text"]
    if "tools" in said:
        body["tools"] = CHAT_TOOLS if api == "chat" else TOOLS
    if "limit" in said:
        body["max_tokens" if api == "chat" else "max_output_tokens"] = said["limit"]
    return "/chat/completions" if api == "chat" else "/responses", body


def answered(api: str, question: str, *habits: str, **options: Any) -> tuple[bytes, dict[str, Any], set[str]]:
    """The body of the answer, what is read of it, and the repairs that were counted."""
    path, body = asked(api, question)
    received: list[bytes] = []
    with (
        serve_model(*habits) as server,
        httpx.stream("POST", server.base_url + path, json=body, verify=False) as response,
    ):
        pieces = response.iter_raw()
        try:
            read = streamshim.collect(streamshim.stream(_kept(pieces, received), **options))
            received.extend(pieces)
        except StreamEndError as ended:
            read = ended.response or streamshim.ModelResponse()
    usage = read.usage
    facts = {
        "status": read.status,
        "text": read.text,
        "reasoning": read.reasoning,
        "calls": [[call.name, call.arguments.replace(" ", ""), call.status] for call in read.tool_calls],
        "finish": read.finish_reason,
        "usage": usage and [usage.input_tokens, usage.output_tokens, usage.total_tokens],
        "error": read.error and read.error.message.partition(":")[0],
    }
    return b"".join(received), facts, set(read.repairs)


def _kept(pieces: Iterator[bytes], received: list[bytes]) -> Iterator[bytes]:
    for piece in pieces:
        received.append(piece)
        yield piece


@cache
def perfect(api: str, question: str) -> tuple[bytes, dict[str, Any]]:
    body, facts, repairs = answered(api, question)
    assert repairs == set()
    return body, facts


@pytest.mark.parametrize(
    ("api", "habit", "question", "quirks", "changed"),
    ROWS,
    ids=[f"{api} {habit} {row[0]}" for api, habit, *row in ROWS],
)
def test_a_habit_changes_the_wire_and_is_read(
    api: str, habit: str, question: str, quirks: set[str], changed: dict[str, Any]
) -> None:
    body, facts = perfect(api, question)
    changed_body, read, repairs = answered(api, question, habit, tool_markup="in-text" in habit)
    assert changed_body != body
    assert repairs == quirks
    assert read == {**facts, **changed}


def test_every_quirk_of_the_wire_is_shown_by_a_habit() -> None:
    seen_on_the_wire = {quirk.id for quirk in QUIRKS.values() if quirk.made_by == "decoder"}
    assert {quirk for _, _, _, quirks, _ in ROWS for quirk in quirks} == seen_on_the_wire


@pytest.mark.parametrize("question", ["text", "calls"])
@pytest.mark.parametrize("habit", ["split-anywhere", "one-piece"])
def test_a_habit_of_pieces_cuts_the_same_bytes_in_other_places(habit: str, question: str) -> None:
    for api in ("chat", "responses"):
        body, facts = perfect(api, question)
        cut_body, read, repairs = answered(api, question, habit)
        assert (cut_body, read, repairs) == (body, facts, set())
    frames = [b"data: {}\n\n", b"data: [DONE]\n\n"]
    pieces = Manners([habit]).stream("chat", frames)
    assert pieces != frames
    assert b"".join(piece for piece in pieces if piece) == b"".join(frames)


def test_a_whole_body_comes_though_a_stream_was_asked_for() -> None:
    for api in ("chat", "responses"):
        body, read, repairs = answered(api, "calls", "whole-body")
        assert json.loads(body)["object"] in ("chat.completion", "response")
        assert (read, repairs) == (perfect(api, "calls")[1], set())


def test_a_stream_is_called_plain_text() -> None:
    path, body = asked("chat", "text")
    with serve_model("text-plain") as server:
        reply = httpx.post(server.base_url + path, json=body, verify=False)
    assert reply.headers["content-type"] == "text/plain"
    assert reply.content == perfect("chat", "text")[0]


def test_token_counts_come_unasked() -> None:
    path, body = asked("chat", "text")
    del body["stream_options"]
    counted = []
    for habits in ([], ["usage-unasked"]):
        with serve_model(*habits) as server:
            counted.append(b'"usage":{' in httpx.post(server.base_url + path, json=body, verify=False).content)
    assert counted == [False, True]


def test_a_habit_that_does_not_exist_is_an_error_that_names_it() -> None:
    with pytest.raises(ValueError, match="no-such-habit"), serve_model("no-such-habit"):
        pass


# -- what is ignored and refused --------------------------------------------------------------------------------------

NO_MODEL = "404 The model `m` does not exist or you do not have access to it."
TOO_HOT = "400 Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 9 instead."
TOO_LONG = (
    "400 This model's maximum context length is 8000 tokens. However, your messages resulted in 9000 tokens. "
    "Please reduce the length of the messages."
)
PARIS, ROME = 'weather{"city": "Paris"}', 'weather{"city": "Rome"}'
PICTURE = "data:image/png;base64,iVBORw0KGgo="
SEEN: list[Any] = user("")
SEEN[0]["content"] = [
    {"type": "text", "text": "an image?"},
    {"type": "image_url", "image_url": {"url": PICTURE}},
]
SEEN_ITEMS: list[Any] = user("")
SEEN_ITEMS[0]["content"] = [
    {"type": "input_text", "text": "an image?"},
    {"type": "input_image", "image_url": PICTURE, "detail": "auto"},
]
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
CHAT_SCHEMA = {"type": "json_schema", "json_schema": {"name": "place", "schema": SCHEMA}}
SCHEMA_FORMAT = {"format": {"type": "json_schema", "name": "place", "schema": SCHEMA}}
COUNT = {"messages": user("Count to 9")}
CALL = {"messages": user("now()"), "tools": CHAT_TOOLS}
BOTH = {"messages": user(TWO_CALLS), "tools": CHAT_TOOLS}
HI = {"messages": user("hi")}
FORMATTED = {**HI, "response_format": CHAT_SCHEMA}

ASKED: list[tuple[str, dict[str, Any], str, str]] = [
    ("tools-ignored", CALL, "now{}", "You said: now()"),
    ("tools-crash", CALL, "now{}", "500 2 errors:\n  tools: no list\n  tool_choice: no text"),
    ("tools-refused", CALL, "now{}", "400 this model does not support tools"),
    ("tool-choice-ignored", {**CALL, "tool_choice": "none"}, "You said: now()", "now{}"),
    ("forced-tools-refused", {**CALL, "tool_choice": "required"}, "now{}", "400 tool_choice must be 'auto' or 'none'"),
    ("parallel-ignored", {**BOTH, "parallel_tool_calls": False}, PARIS, f"{PARIS} {ROME}"),
    (
        *("hosted-tools-refused", {"input": "hi", "tools": [{"type": "web_search"}]}, "You said: hi"),
        "400 Unsupported tool type: 'web_search'.",
    ),
    ("one-call-only", BOTH, f"{PARIS} {ROME}", PARIS),
    ("max-tokens-ignored", {**COUNT, "max_tokens": 2}, "1 2", "1 2 3 4 5 6 7 8 9"),
    ("max-tokens-ignored", {"input": "Count to 3", "max_output_tokens": 2}, "1 2", "1 2 3"),
    ("max-completion-tokens-ignored", {**COUNT, "max_completion_tokens": 2}, "1 2", "1 2 3 4 5 6 7 8 9"),
    ("max-tokens-refused", {**COUNT, "max_tokens": 2}, "1 2", "400 Use 'max_completion_tokens' instead."),
    ("stop-ignored", {**COUNT, "stop": " 3"}, "1 2", "1 2 3 4 5 6 7 8 9"),
    ("stop-refused", {**COUNT, "stop": " 3"}, "1 2", "400 Unsupported parameter: 'stop' is not supported."),
    ("n-ignored", {**HI, "n": 2}, "You said: hi | You said: hi", "You said: hi"),
    ("n-refused", {**HI, "n": 2}, "You said: hi | You said: hi", "400 'n' : number must be at most 1"),
    ("logprobs-ignored", {**HI, "logprobs": True}, "You said: hi with logprobs", "You said: hi"),
    (
        *("logprobs-refused", {**HI, "logprobs": True}, "You said: hi with logprobs"),
        "400 logprobs are not supported with this model",
    ),
    ("effort-ignored", {**HI, "reasoning_effort": "low"}, "(Let me think about it.) You said: hi", "You said: hi"),
    ("schema-ignored", FORMATTED, '{"city": "text"}', "You said: hi"),
    ("schema-ignored", {"input": "hi", "text": SCHEMA_FORMAT}, '{"city": "text"}', "You said: hi"),
    ("schema-as-json-object", FORMATTED, '{"city": "text"}', '{"answer": "text"}'),
    ("schema-as-json-object", {"input": "hi", "text": SCHEMA_FORMAT}, '{"city": "text"}', '{"answer": "text"}'),
    ("schema-refused", FORMATTED, '{"city": "text"}', "400 This response_format type is unavailable now"),
    ("images-ignored", {"messages": SEEN}, "I see an image.", "You said: an image?\n"),
    ("images-ignored", {"input": SEEN_ITEMS}, "I see an image.", "You said: an image?\n"),
    ("images-refused", {"messages": SEEN}, "I see an image.", "400 this model does not support image input"),
    ("images-refused", {"input": SEEN_ITEMS}, "I see an image.", "400 this model does not support image input"),
    ("unknown-parameters-ignored", {**HI, "top_k": 1}, "400 Unknown parameter: 'top_k'.", "You said: hi"),
    ("any-model", {**HI, "model": "m"}, NO_MODEL, "You said: hi"),
    ("overflow-cut", {"messages": user("w " * 9000)}, TOO_LONG, "You said: " + "w " * 3999),
    ("overflow-cut", {"input": "w " * 9000}, TOO_LONG, "You said: " + "w " * 3999),
    ("overflow-ends-the-stream", {"messages": user("w " * 9000), "stream": True}, TOO_LONG, "a stream"),
    ("bad-parameters-ignored", {**HI, "temperature": 9}, TOO_HOT, "You said: hi"),
    (
        *("stream-options-refused", {**HI, "stream": True, "stream_options": {"include_usage": True}}, "a stream"),
        "422 Extra inputs are not permitted",
    ),
    (
        "store-refused",
        {"input": "hi", "store": True},
        "You said: hi",
        "400 Unsupported parameter: 'store' must be false.",
    ),
    ("background-refused", {"input": "hi", "background": True}, "queued", "400 Unsupported parameter: 'background'."),
    ("background-ignored", {"input": "hi", "background": True}, "queued", "You said: hi"),
    (
        *("include-ignored", {"input": "hi", "model": "thinker", "include": ["reasoning.encrypted_content"]}),
        *("(sealed) (Let me think about it.) You said: hi", "(Let me think about it.) You said: hi"),
    ),
    ("error-as-text", {**HI, "model": "m"}, NO_MODEL, NO_MODEL),
    ("error-with-code", {**HI, "model": "m"}, NO_MODEL, NO_MODEL),
    ("error-as-detail", {**HI, "model": "m"}, NO_MODEL, NO_MODEL),
    ("error-as-message", {**HI, "model": "m"}, NO_MODEL, NO_MODEL),
    ("error-in-list", {**HI, "model": "m"}, NO_MODEL, NO_MODEL),
    ("error-code-number", {**HI, "model": "m"}, NO_MODEL, NO_MODEL),
    ("error-without-code", {**HI, "model": "m"}, NO_MODEL, NO_MODEL),
    ("error-flat", {**HI, "model": "m"}, NO_MODEL, NO_MODEL),
    ("error-as-frame", {**HI, "model": "m"}, NO_MODEL, NO_MODEL),
    ("error-base-resp", {**HI, "model": "m"}, NO_MODEL, NO_MODEL.replace("404", "200")),
    ("errors-with-200", {**HI, "model": "m"}, NO_MODEL, NO_MODEL.replace("404", "200")),
    ("errors-in-the-stream", {**HI, "model": "m", "stream": True}, NO_MODEL, NO_MODEL.replace("404", "200")),
]
"""A habit, a request that shows it, and what comes of that: of the perfect server, and of one with the habit."""


def outcome(habits: list[str], said: dict[str, Any]) -> tuple[str, bytes]:
    """What comes of a request, in a few words, and the body."""
    path = "/responses" if "input" in said else "/chat/completions"
    with serve_model(*habits) as server:
        reply = httpx.post(server.base_url + path, json={"model": "toy", **said}, verify=False)
    error = streamshim.read_error(reply.status_code, reply.headers, reply.content)
    if not error.message.startswith("the server answered"):
        return f"{reply.status_code} {error.message}", reply.content
    if said.get("stream"):
        return "a stream", reply.content
    shown = reply.json()
    if shown.get("status") == "queued":
        return "queued", reply.content
    read = streamshim.parse(reply.content)
    return " | ".join(map(told, read.choices)) + (" with logprobs" if has_logprobs(read) else ""), reply.content


def told(choice: Any) -> str:
    """One choice in a few words."""
    sealed = ["(sealed)" for part in choice.parts if part.type == "reasoning" and part.encrypted]
    thought = [f"({choice.reasoning})"] if choice.reasoning else []
    calls = [call.name + call.arguments for call in choice.tool_calls]
    return " ".join([*sealed, *thought, *([choice.text] if choice.text else []), *calls])


def has_logprobs(read: streamshim.ModelResponse) -> bool:
    return any(part.type == "text" and part.logprobs for choice in read.choices for part in choice.parts)


@pytest.mark.parametrize(
    ("habit", "said", "usual", "sloppy"), ASKED, ids=[f"{row[0]} {next(iter(row[1]))}" for row in ASKED]
)
def test_a_habit_changes_what_comes_of_a_request(habit: str, said: dict[str, Any], usual: str, sloppy: str) -> None:
    (seen, body), (seen_of_habit, body_of_habit) = outcome([], said), outcome([habit], said)
    assert (seen, seen_of_habit) == (usual, sloppy)
    assert (usual, body) != (sloppy, body_of_habit)


FORGETFUL = {
    "previous-id-refused": "400 Unsupported parameter: 'previous_response_id'.",
    "previous-id-ignored": "I do not know.",
    "store-ignored": "400 Previous response with id '",
}


@pytest.mark.parametrize("habit", FORGETFUL)
def test_a_habit_of_forgetting_loses_what_was_said_before(habit: str) -> None:
    said = []
    for habits in ([], [habit]):
        with serve_model(*habits) as server:
            first = httpx.post(
                f"{server.base_url}/responses", json={"model": "toy", "input": "Remember the word plum."}, verify=False
            )
            asks = {
                "model": "toy",
                "input": "Which word did I ask you to remember?",
                "previous_response_id": first.json()["id"],
            }
            second = httpx.post(f"{server.base_url}/responses", json=asks, verify=False)
        error = streamshim.read_error(second.status_code, second.headers, second.content).message
        text = streamshim.parse(second.content).text if second.status_code == 200 else f"{second.status_code} {error}"
        said.append(text)
    assert said[0] == "plum"
    assert said[1].startswith(FORGETFUL[habit])


def test_paths_may_be_missing() -> None:
    with serve_model("no-models", "no-retrieval") as server:
        kept = httpx.post(f"{server.base_url}/responses", json={"model": "toy", "input": "hi"}, verify=False).json()
        for path in ("/models", f"/responses/{kept['id']}"):
            assert httpx.get(server.base_url + path, verify=False).status_code == 404


SHOWN_ALONE = {"whole-body", "text-plain", "usage-unasked", "split-anywhere", "one-piece", "no-models", "no-retrieval"}


def test_every_habit_is_shown_by_a_test() -> None:
    shown = {row[1] for row in ROWS} | {row[0] for row in ASKED} | FORGETFUL.keys() | SHOWN_ALONE
    assert shown == HABITS.keys()
