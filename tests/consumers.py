"""Real clients, each as a function from the address of a server to the answer that the client made of its stream.

All give one shape, `Answer`, and so do `chat_answer` and `responses_answer`, which say what `collect` found in the
events that were written. Where a client raises, the outcome is the name of the exception.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from streamshim import ModelResponse, Usage
from streamshim.response_models import Choice
from tests.losses import call_on_chat

Call = tuple[str, str, str]
"""Id, name and arguments."""

MESSAGES: Any = [{"role": "user", "content": "When does the tide turn?"}]


@dataclass
class Answer:
    """What a client hands on; `usage` counts input, output, all, cached input and reasoning tokens."""

    text: str = ""
    reasoning: str = ""
    refusal: str = ""
    calls: list[Call] = field(default_factory=list)
    hosted: list[str] = field(default_factory=list)
    finish: str | None = None
    usage: tuple[int, ...] | None = None


Outcome = Answer | str
Consumer = Callable[[Any], Answer]


# -- what must come out -----------------------------------------------------------------------------------------------


def counts(usage: Usage | None) -> tuple[int, ...] | None:
    if usage is None:
        return None
    given, produced = usage.input_tokens or 0, usage.output_tokens or 0
    total = given + produced if usage.total_tokens is None else usage.total_tokens
    return given, produced, total, usage.cached_input_tokens or 0, usage.reasoning_tokens or 0


def first_choice(response: ModelResponse) -> Choice:
    return next((choice for choice in response.choices if choice.index == 0), Choice(index=0))


def chat_answer(response: ModelResponse) -> Answer:
    choice = first_choice(response)
    finish = choice.finish_reason
    if finish == "other":
        finish = choice.raw_finish_reason
    cut = response.status in ("failed", "truncated")
    calls = []
    for call in choice.tool_calls:
        if said := call_on_chat(call, choice, cut):
            arguments = said[2] if call.kind == "custom" else call.arguments
            calls.append((call.call_id, call.name, arguments))
    if response.status == "completed":
        finish = finish or "stop"
    return Answer(choice.text, choice.reasoning, choice.refusal, calls, [], finish, counts(response.usage))


def responses_answer(response: ModelResponse) -> Answer:
    """Truncated calls are left out: nothing of them is said to be done."""
    choice = first_choice(response)
    calls, hosted = [], []
    for call in choice.tool_calls:
        if call.kind in ("function", "custom") and call.status != "truncated":
            calls.append((call.call_id, call.name, call.arguments))
        elif call.kind in ("server", "builtin") and call.item_type not in (None, "image_generation_call"):
            hosted.append(call.item_type)
    status = response.status
    reasons = {"length": "max_output_tokens", "content_filter": "content_filter"}
    finish = {"truncated": "failed"}.get(str(status), status)
    if status == "incomplete":
        finish = reasons.get(str(choice.finish_reason), choice.raw_finish_reason or "other")
        if len(response.choices) > 1 and choice.finish_reason in ("stop", "tool_calls"):
            finish = "completed"
    return Answer(choice.text, choice.reasoning, choice.refusal, calls, hosted, finish, counts(response.usage))


# -- openai: Chat Completions -----------------------------------------------------------------------------------------


def chat_usage(usage: Any) -> tuple[int, ...] | None:
    if usage is None:
        return None
    cached, thought = usage.prompt_tokens_details.cached_tokens, usage.completion_tokens_details.reasoning_tokens
    return usage.prompt_tokens, usage.completion_tokens, usage.total_tokens, cached, thought


def chat_create(sdk: Any) -> Answer:
    """`chat.completions.create(stream=True)`, its chunks added up by hand."""
    answer = Answer()
    calls: dict[int, list[str]] = {}
    for chunk in sdk.chat.completions.create(model="m", messages=MESSAGES, stream=True):
        answer.usage = chat_usage(chunk.usage) or answer.usage
        for choice in chunk.choices:
            if choice.index:
                continue
            answer.text += choice.delta.content or ""
            answer.reasoning += getattr(choice.delta, "reasoning_content", None) or ""
            answer.refusal += choice.delta.refusal or ""
            answer.finish = choice.finish_reason or answer.finish
            for piece in choice.delta.tool_calls or ():
                call = calls.setdefault(piece.index, ["", "", ""])
                said = (piece.id, piece.function.name, piece.function.arguments)
                calls[piece.index] = [whole + (more or "") for whole, more in zip(call, said, strict=True)]
    answer.calls = [(id, name, arguments) for id, name, arguments in calls.values()]
    return answer


def chat_stream(sdk: Any) -> Answer:
    """`chat.completions.stream()`, its final completion."""
    with sdk.chat.completions.stream(model="m", messages=MESSAGES) as stream:
        completion = stream.get_final_completion()
    if not completion.choices:
        return Answer(usage=chat_usage(completion.usage))
    choice = next(choice for choice in completion.choices if choice.index == 0)
    message = choice.message
    return Answer(
        message.content or "",
        getattr(message, "reasoning_content", None) or "",
        message.refusal or "",
        [(call.id, call.function.name, call.function.arguments) for call in message.tool_calls or ()],
        [],
        choice.finish_reason,
        chat_usage(completion.usage),
    )


# -- openai: Responses ------------------------------------------------------------------------------------------------


def finish_of(response: Any) -> str:
    """Why it stopped early, or how it ended."""
    return response.incomplete_details.reason if response.incomplete_details else response.status


def responses_usage(usage: Any) -> tuple[int, ...] | None:
    if usage is None:
        return None
    cached, thought = usage.input_tokens_details.cached_tokens, usage.output_tokens_details.reasoning_tokens
    return usage.input_tokens, usage.output_tokens, usage.total_tokens, cached, thought


def answer_of_items(items: Iterable[Any]) -> Answer:
    """What the output items of a response say."""
    answer = Answer()
    for item in items:
        if item.type == "message":
            answer.text += "".join(part.text for part in item.content if part.type == "output_text")
            answer.refusal += "".join(part.refusal for part in item.content if part.type == "refusal")
        elif item.type == "reasoning":
            answer.reasoning += "".join(part.text for part in item.summary)
        elif item.type == "function_call":
            answer.calls.append((item.call_id, item.name, item.arguments))
        elif item.type == "custom_tool_call":
            answer.calls.append((item.call_id, item.name, item.input))
        elif item.type != "image_generation_call" and not item.type.endswith("_output"):
            answer.hosted.append(item.type)
    return answer


def responses_create(sdk: Any) -> Answer:
    """`responses.create(stream=True)`: prose by its deltas, calls and hosted items when they are done."""
    prose = Answer()
    done: dict[int, Any] = {}
    for event in sdk.responses.create(model="m", input="x", stream=True):
        if event.type == "response.output_text.delta":
            prose.text += event.delta
        elif event.type == "response.reasoning_summary_text.delta":
            prose.reasoning += event.delta
        elif event.type == "response.refusal.delta":
            prose.refusal += event.delta
        elif event.type == "response.output_item.done":
            done[event.output_index] = event.item
        elif event.type in ("response.completed", "response.incomplete", "response.failed"):
            prose.finish, prose.usage = finish_of(event.response), responses_usage(event.response.usage)
    answer = answer_of_items(done[index] for index in sorted(done))
    prose.calls, prose.hosted = answer.calls, answer.hosted
    return prose


def responses_stream(sdk: Any) -> Answer:
    """`responses.stream()` and its final response."""
    with sdk.responses.stream(model="m", input="x") as stream:
        response = stream.get_final_response()
    answer = answer_of_items(response.output)
    answer.finish, answer.usage = finish_of(response), responses_usage(response.usage)
    return answer


CHAT: dict[str, Consumer] = {"create": chat_create, "stream": chat_stream}
RESPONSES: dict[str, Consumer] = {"create": responses_create, "stream": responses_stream}


def outcome(consumer: Consumer, sdk: Any) -> Outcome:
    """The answer, or the name of what the SDK raised in its place."""
    import openai

    try:
        return consumer(sdk)
    except (openai.OpenAIError, RuntimeError, IndexError) as error:
        return type(error).__name__


def first_spoken_of(response: ModelResponse) -> int:
    """The choice that speaks first."""
    return min(((choice.parts[0].part, choice.index) for choice in response.choices if choice.parts), default=(0, 0))[1]


def expected_outcome(consumer: str, wire: str, response: ModelResponse) -> Outcome:
    """What the openai SDK must make of a legal stream that says all of `response`."""
    if wire == "responses":
        answer = responses_answer(response)
        return answer if consumer == "create" or answer.finish == "completed" else "RuntimeError"
    answer = chat_answer(response)
    if response.status in ("failed", "truncated"):
        return "APIError"
    if consumer == "stream" and first_spoken_of(response) != 0:
        return "IndexError"  # the SDK puts the choices of the first chunk at their index in a list of one
    finishes = {choice.finish_reason for choice in response.choices} if consumer == "stream" else set()
    if "length" in finishes:
        return "LengthFinishReasonError"
    return "ContentFilterFinishReasonError" if "content_filter" in finishes else answer


# -- openai-agents ----------------------------------------------------------------------------------------------------


def agents_model(wire: str, sdk: Any) -> Any:
    """The model class that reads this wire."""
    import agents

    classes = {"chat": agents.OpenAIChatCompletionsModel, "responses": agents.OpenAIResponsesModel}
    return classes[wire]("m", sdk)


async def agents_answer(wire: str, sdk: Any) -> Outcome:
    """One turn of a model: what its last event holds, or the name of what it raised."""
    import agents
    import openai

    events = agents_model(wire, sdk).stream_response(
        None,
        "x",
        agents.ModelSettings(),
        [],
        None,
        [],
        agents.ModelTracing.DISABLED,
        previous_response_id=None,
        conversation_id=None,
        prompt=None,
    )
    try:
        *_, last = [event async for event in events]
    except (openai.OpenAIError, agents.AgentsException) as error:
        return type(error).__name__
    answer = answer_of_items(last.response.output)
    answer.finish, answer.usage = last.type, responses_usage(last.response.usage)
    return answer


def expected_of_agents(wire: str, response: ModelResponse) -> Outcome:
    """What a model class must make of it: on chat a length is not told from a stop."""
    found = expected_outcome("create", wire, response)
    if isinstance(found, Answer):
        if wire == "responses" and found.finish != "completed":
            return "ModelBehaviorError"
        found.finish = "response.completed"
    return found


@dataclass
class ToolLoop:
    """A run of an agent: what its tools were called with, what it asked the server, what came of it."""

    ran: list[Call] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    final: str | None = None
    input_tokens: int = 0
    raised: str | None = None

    def tools(self, calls: Iterable[Any], wire: str, after: Callable[[], None]) -> list[Any]:
        """A tool for each name that is called; `after` is done when one of them was run."""
        import agents

        async def run(context: Any, given: str) -> str:
            self.ran.append((context.tool_call_id, context.tool_name, given))
            after()
            return f"result of {context.tool_call_id}"

        def tool(name: str, kind: str) -> Any:
            if kind == "custom" and wire == "responses":
                return agents.CustomTool(name, "A tool.", run)
            schema = {"type": "object", "properties": {}, "additionalProperties": True}
            return agents.FunctionTool(name, "A tool.", schema, run, strict_json_schema=False)

        return [tool(name, kind) for name, kind in {call.name: call.kind for call in calls}.items()]

    async def run(self, wire: str, url: str, tools: list[Any]) -> None:
        """Let an agent answer with these tools, over the wire that is asked for."""
        import agents
        import openai

        async def note(request: Any) -> None:
            self.requests.append(json.loads(request.content))

        http = openai.DefaultAsyncHttpxClient(event_hooks={"request": [note]})
        async with openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0, http_client=http) as sdk:
            agent = agents.Agent(name="Harbour", model=agents_model(wire, sdk), tools=tools)
            result = agents.Runner.run_streamed(
                agent, "x", max_turns=3, run_config=agents.RunConfig(tracing_disabled=True)
            )
            try:
                async for _ in result.stream_events():
                    pass
            except (openai.OpenAIError, agents.AgentsException) as error:
                self.raised = type(error).__name__
        self.final = result.final_output
        self.input_tokens = result.context_wrapper.usage.input_tokens

    def results_sent(self) -> list[tuple[str, str]]:
        """Call id and output of every tool result in the last request."""
        last = self.requests[-1]
        found = [(said["tool_call_id"], said["content"]) for said in last.get("messages", ()) if said["role"] == "tool"]
        items = last.get("input", ()) if isinstance(last.get("input"), list) else ()
        return found + [
            (item["call_id"], item["output"]) for item in items if str(item.get("type")).endswith("_output")
        ]
