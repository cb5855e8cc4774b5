"""The vendors of the tests' model server: whatever a vendor mixes, streamshim reads the answer that was meant."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

import streamshim
from tests.servers import serve_model
from tests.servers.habits import HABITS
from tests.servers.vendors import VENDORS
from tests.test_model_server import user
from tests.test_model_server_habits import QUESTIONS, answered, perfect

REPAIRED = """
minimax chat text message-repeated
minimax chat thought message-repeated
minimax chat cut message-repeated
minimax chat calls tool-index-missing
minimax chat mixed tool-index-missing
minimax chat empty tool-index-missing
gemini chat calls finish-wrong
gemini chat mixed finish-wrong
gemini chat empty finish-wrong
together chat text finish-word
together chat thought finish-word
openrouter chat thought reasoning-mirrored-fields
perplexity chat text message-repeated
perplexity chat thought message-repeated
perplexity chat cut message-repeated
ollama chat calls tool-index-reused
ollama chat mixed tool-index-reused
vllm responses cut status-over-name
sglang chat calls finish-wrong
sglang chat mixed finish-wrong
sglang chat empty finish-wrong
copilot responses text response-id-changes
copilot responses calls response-id-changes
copilot responses mixed response-id-changes
copilot responses empty response-id-changes
copilot responses thought response-id-changes
copilot responses cut response-id-changes
snowflake chat calls finish-wrong
snowflake chat mixed finish-wrong
snowflake chat empty finish-wrong
nvidia chat calls tool-name-repeated
nvidia chat mixed tool-name-repeated
nvidia chat empty tool-name-repeated
"""
"""What is counted where a vendor is asked; nothing where it does not stand here."""

QUIRKS_SEEN = {
    (vendor, api, question): set(quirks)
    for vendor, api, question, *quirks in map(str.split, REPAIRED.strip().splitlines())
}
CHANGED: dict[tuple[str, str, str], dict[str, Any]] = {
    ("xai", "chat", "thought"): {"usage": [3, 3, 11]},
    ("ollama", "responses", "cut"): {"status": "completed", "finish": "stop"},
    ("snowflake", "chat", "text"): {"finish": None},
    ("snowflake", "chat", "thought"): {"finish": None},
    ("snowflake", "chat", "cut"): {"finish": None, "status": "completed"},
}
"""What is lost for good, and what is read then."""

ASKED = [
    (vendor, api, question)
    for vendor, row in VENDORS.items()
    for api in ("chat", "responses")
    if api in row.apis
    for question in QUESTIONS
]


@pytest.mark.parametrize(("vendor", "api", "question"), ASKED)
def test_a_vendor_s_answer_is_read_as_it_was_meant(vendor: str, api: str, question: str) -> None:
    _, read, repairs = answered(api, question, *VENDORS[vendor].habits)
    facts = perfect(api, question)[1]
    assert read == {**facts, **CHANGED.get((vendor, api, question), {})}
    assert repairs == QUIRKS_SEEN.get((vendor, api, question), set())


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_vendor_s_whole_body_is_read_as_its_stream(vendor: str) -> None:
    with serve_model(vendor=vendor) as server:
        for model, effort in (("toy", None), ("thinker", "low")):
            body = {"model": model, "messages": user("Count to 3"), **({"reasoning_effort": effort} if effort else {})}
            reply = httpx.post(f"{server.base_url}/chat/completions", json=body, verify=False)
            read = streamshim.parse(reply.content)
            thought = "Let me think about it." if model == "thinker" else ""
            assert (read.text, read.reasoning, read.status) == ("1 2 3", thought, "completed")


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_vendor_s_refusal_is_read(vendor: str) -> None:
    with serve_model(vendor=vendor) as server:
        body = {"model": "no-such-model", "messages": user("hi"), "stream": True}
        reply = httpx.post(f"{server.base_url}/chat/completions", json=body, verify=False)
    error = streamshim.read_error(reply.status_code, reply.headers, reply.content)
    assert error.message == "The model `no-such-model` does not exist or you do not have access to it."


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_vendor_has_known_habits_each_once(vendor: str) -> None:
    habits = VENDORS[vendor].habits
    assert set(habits) <= HABITS.keys()
    assert len(set(habits)) == len(habits) > 0


def test_what_a_vendor_does_not_have_is_not_found() -> None:
    with serve_model(vendor="kimi") as server:
        reply = httpx.post(f"{server.base_url}/responses", json={"model": "toy", "input": "hi"}, verify=False)
    assert reply.status_code == 404
