"""The stream helpers of the openai SDK read what is encoded, and build the whole answer of it."""

from __future__ import annotations

import json
from importlib import util
from typing import Any

import pytest

from tests.test_encode_goldens import FOLDER, encoded

pytestmark = pytest.mark.skipif(
    not (util.find_spec("openai") and util.find_spec("httpx2")), reason="the openai SDK is not installed"
)

ANSWERED = ["01_text_only", "02_reasoning_then_text", "03_parallel_calls", "04_text_then_call_without_arguments"]
ANSWERED += ["06_citation_and_logprobs", "12_responses_native"]


def client(wire: str, name: str, **options: Any) -> Any:
    import httpx2
    import openai

    golden = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    body = "".join(encoded(wire, golden["events"], **options)).encode()
    headers = {"content-type": "text/event-stream"}
    transport = httpx2.MockTransport(lambda request: httpx2.Response(200, content=body, headers=headers))
    return openai.OpenAI(api_key="none", max_retries=0, http_client=httpx2.Client(transport=transport))


def expected(name: str) -> tuple[str, list[tuple[str, str]]]:
    events = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))["events"]
    text = "".join(event["delta"] for event in events if event["type"] == "text_delta")
    calls = [(event["call_id"], event["arguments"]) for event in events if event["type"] == "tool_call_end"]
    return text, calls


@pytest.mark.parametrize("name", ANSWERED)
def test_responses_stream_gives_the_final_response(name: str) -> None:
    text, calls = expected(name)
    with client("responses", name) as sdk, sdk.responses.stream(model="m", input="x") as stream:
        final = stream.get_final_response()
    assert final.output_text == text
    found = [item for item in final.output if item.type.endswith("_call")]
    assert [(item.call_id, getattr(item, "arguments", getattr(item, "input", None))) for item in found] == calls


@pytest.mark.parametrize("name", ANSWERED)
def test_chat_stream_gives_the_final_completion(name: str) -> None:
    text, calls = expected(name)
    messages = [{"role": "user", "content": "x"}]
    with client("chat", name) as sdk, sdk.chat.completions.stream(model="m", messages=messages) as stream:
        message = stream.get_final_completion().choices[0].message
    assert (message.content or "") == text
    found = [(call.id, call.function.arguments) for call in message.tool_calls or ()]
    if name == "12_responses_native":  # a custom tool is spoken of as a function
        calls = [(call_id, json.dumps({"input": arguments}, separators=(",", ":"))) for call_id, arguments in calls]
    assert found == calls


def test_error_event_is_raised_with_its_message() -> None:
    import openai

    with client("responses", "09_failed_mid_text", error_event=True) as sdk:
        stream = sdk.responses.create(model="m", input="x", stream=True)
        with pytest.raises(openai.APIError, match="Slow down"):
            list(stream)


@pytest.mark.parametrize("name", ["09_failed_mid_text", "10_truncated_call"])
def test_chat_errors_are_raised(name: str) -> None:
    import openai

    with client("chat", name) as sdk:
        stream = sdk.chat.completions.create(model="m", messages=[{"role": "user", "content": "x"}], stream=True)
        with pytest.raises(openai.APIError):
            list(stream)


def test_a_cut_stream_never_gives_a_final_response() -> None:
    with (
        client("responses", "10_truncated_call") as sdk,
        sdk.responses.stream(model="m", input="x") as stream,
        pytest.raises(RuntimeError, match="response.completed"),
    ):
        stream.get_final_response()
