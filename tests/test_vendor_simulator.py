"""Whatever habits a vendor mixes, as long as they can be told apart, the answer comes back as it was meant."""

from __future__ import annotations

import json

from hypothesis import given, note

from streamshim import Citation, Finish, ReasoningDelta, TextDelta
from streamshim.testing import breaches
from tests.expectations import Account
from tests.reading import decode
from tests.vendor_simulator import Answer, sloppy_streams


@given(stream=sloppy_streams())
def test_an_answer_comes_back_from_any_mixture_of_habits(stream: tuple[Answer, bytes]) -> None:
    answer, body = stream
    note(body.decode())
    events = decode([body], repairs=True)
    account = Account(events)
    assert breaches(event for event in events if event.type != "repair") == []
    assert account.joined(ReasoningDelta, 0) == answer.reasoning
    assert account.joined(TextDelta, 0) == answer.text + answer.later_text
    calls = account.calls(0)
    assert [(call.name, json.loads(call.arguments), call.status) for call in calls] == [
        (call.name, call.arguments, "complete") for call in answer.calls
    ]
    assert len({call.call_id for call in calls}) == len(calls)
    assert account.errors == []
    assert account.end.status == {"length": "incomplete", "content_filter": "incomplete"}.get(answer.word, "completed")
    finishes = [event.reason for event in events if isinstance(event, Finish)]
    if answer.word == "stop":
        assert finishes in ([], [None], ["stop"])  # it may never be said
    else:
        assert finishes == [answer.word]
    usage = account.usage()
    assert (usage and (usage["input_tokens"], usage["output_tokens"])) == answer.usage
    assert [event.url for event in events if isinstance(event, Citation)] == answer.sources
