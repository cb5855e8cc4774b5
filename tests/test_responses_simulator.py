"""Whatever habits a server of the Responses wire mixes, as long as they can be told apart, the answer comes back."""

from __future__ import annotations

import json

from hypothesis import given, note

from streamshim import ReasoningDelta, TextDelta
from streamshim.testing import breaches
from tests.expectations import Account
from tests.reading import decode
from tests.responses_simulator import Item, sloppy_responses


@given(stream=sloppy_responses())
def test_a_response_comes_back_from_any_mixture_of_habits(stream: tuple[list[Item], bytes]) -> None:
    items, body = stream
    note(body.decode())
    account = Account(decode([body]))
    assert breaches(account.events) == []
    assert account.errors == []
    assert (account.end.status, account.end.response_id, account.end.model) == ("completed", "resp_1", "m-1")

    def texts(kind: str) -> list[str]:
        return sorted(text for item in items if item.kind == kind for text in item.texts)

    # items may interleave, and what only the end shows comes last: the order between items is not judged
    joined = account.joined(TextDelta, 0)
    assert len(joined) == sum(map(len, texts("message")))
    assert sorted(joined) == sorted("".join(texts("message")))
    assert sorted(account.joined(ReasoningDelta, 0)) == sorted("".join(texts("reasoning")))
    calls = {call.call_id: (call.name, _value(call.kind, call.arguments), call.status) for call in account.calls(0)}
    wanted = {
        f"call_{item.position}": (
            item.name,
            _value("function" if item.kind == "function_call" else "custom", item.arguments),
            "complete",
        )
        for item in items
        if item.name
    }
    assert calls == wanted
    assert account.finish(0).reason == ("tool_calls" if wanted else "stop")


def _value(kind: str, arguments: str) -> object:
    return json.loads(arguments) if kind == "function" else arguments
