"""The table of every repair: what is seen on the wire, what is done about it, and who was seen doing it.

Whatever the decoder puts right, or a client asks in other words, is counted under one of these ids
(`decoder.repairs`, `StreamEnd.repairs`), told as a `Repair` event on request, and refused with `strict`. Nothing is
chosen by a vendor's name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Certainty = Literal["recorded", "reported", "inferred"]
"""recorded: bytes, server source or vendor documentation were seen; reported: with concrete bytes, by users or by
adapters; inferred: second-hand, or a hostile case that no vendor is known for."""
Maker = Literal["decoder", "client"]
"""Who puts it right: the decoder, as it reads; or a client, by asking in other words."""


@dataclass(frozen=True, slots=True)
class Quirk:
    """One row of the table."""

    id: str
    seen: str
    done: str
    seen_at: str
    evidence: str
    certainty: Certainty
    made_by: Maker = "decoder"


_ROWS = (
    # framing and JSON
    Quirk(
        "single-line-feed",
        "events are parted by a single line feed, or several payloads stand in one event",
        "each data line that is a whole value is an event of its own",
        "DeepInfra, SambaNova, GitHub Copilot",
        "SillyTavern#1482",
        "reported",
    ),
    Quirk(
        "done-form",
        "`[DONE]` without `data:`, or as a JSON string",
        "read as `[DONE]`",
        "one-api, new-api",
        "new-api stream_scanner.go",
        "reported",
    ),
    Quirk(
        "error-field",
        "an error in the SSE field `error:`",
        "read as an event named error",
        "llama.cpp, GPUStack",
        "llama.cpp PR#16109",
        "recorded",
    ),
    Quirk(
        "unreadable-frame",
        "the data of an event is not JSON",
        "shown as Unknown, the stream goes on",
        "relays",
        "ruby_llm#657",
        "reported",
    ),
    Quirk(
        "half-frame",
        "the body ends inside a frame",
        "the half frame is dropped, the stream is truncated unless it was complete before",
        "any broken connection",
        "copilot-api#298",
        "reported",
    ),
    Quirk(
        "json-lenient",
        "NaN, lone surrogates, bad UTF-8, raw control characters, a stray quote",
        "read leniently",
        "Together, new-api",
        "new-api stream_scanner.go",
        "reported",
    ),
    Quirk(
        "payload-no-object",
        "the payload is true, a number, a string or an empty list",
        "passed over",
        "relays",
        "ruby_llm#657",
        "reported",
    ),
    # chunk shapes
    Quirk(
        "choices-shape",
        "`choices` is no list",
        "passed over; the rest of the chunk counts",
        "new-api",
        "new-api#7477",
        "reported",
    ),
    Quirk("content-number", "the content is a number", "its digits are text", "Cloudflare", "langchainjs", "inferred"),
    Quirk(
        "data-after-done",
        "choices come after `[DONE]`",
        "only usage and metadata are read",
        "relays",
        "ray#62246",
        "reported",
    ),
    Quirk(
        "message-repeated",
        "a whole `message` beside deltas, or at the end",
        "only what no delta brought is told",
        "Perplexity, MiniMax",
        "MiniMax OpenAPI",
        "recorded",
    ),
    Quirk(
        "text-cumulative",
        "the finish chunk repeats the whole text",
        "the repeat is dropped",
        "Cohere through OCI, relays",
        "litellm#39965",
        "reported",
    ),
    # finish
    Quirk(
        "finish-word",
        "a finish word that the wire does not define",
        "mapped; the word is kept as raw_reason",
        "Zhipu GLM, Gemini, DeepSeek, Together",
        "any-llm#1200",
        "recorded",
    ),
    Quirk(
        "finish-contradiction",
        "two finish words that contradict each other",
        "the worse one counts",
        "OpenRouter, relays",
        "ChatMock#114",
        "reported",
    ),
    Quirk(
        "finish-wrong",
        "tool calls end with `stop`, or with no word",
        "the reason is tool_calls",
        "Gemini, Ollama, OpenAI with a forced tool",
        "python-genai#2868",
        "recorded",
    ),
    Quirk(
        "finish-without-calls",
        "the word is `tool_calls`, but no call came",
        "the reason is stop",
        "vLLM",
        "vllm#53255",
        "reported",
    ),
    # reasoning
    Quirk(
        "reasoning-mirrored-fields",
        "the same thought in several fields of one chunk",
        "one source counts",
        "OpenRouter, LiteLLM, MiniMax, chutes",
        "litellm#8964",
        "recorded",
    ),
    Quirk(
        "reasoning-mirrored-tags",
        "tagged thought in the text repeats structured reasoning",
        "the tagged copy is dropped",
        "MiniMax, LMDeploy, relays",
        "oh-my-pi#2434",
        "reported",
    ),
    Quirk(
        "reasoning-cumulative",
        "a reasoning entry repeats all its words so far",
        "only the new words count",
        "MiniMax",
        "oh-my-pi#2434",
        "reported",
    ),
    Quirk(
        "reasoning-orphan-closer",
        "a closing tag without an opener",
        'left in the text; `reasoning_tags="open"` reads it',
        "Qwen, DeepSeek R1 templates",
        "vllm#13125",
        "reported",
    ),
    # tool calls
    Quirk(
        "tool-id-missing", "a call has no usable id", "one is made", "Gemini, Ollama, llama.cpp", "envoy", "reported"
    ),
    Quirk(
        "tool-id-changes",
        "the id changes on a fragment without a name",
        "it belongs to the same call",
        "GLM-4 servers, poolside",
        "zai-org/GLM-4#194",
        "reported",
    ),
    Quirk(
        "tool-id-duplicate",
        "two calls share one id",
        "both are kept",
        "LocalAI, Bedrock Mantle",
        "LocalAI chat.go",
        "recorded",
    ),
    Quirk(
        "tool-index-missing",
        "a fragment has neither a known index nor an id",
        "it belongs to the last call",
        "Qwen, MiniMax, Mistral",
        "eino-ext qwen/chatmodel.go",
        "reported",
    ),
    Quirk(
        "tool-index-reused",
        "several calls share one index",
        "told apart by id, name or whole arguments",
        "Ollama, vLLM, Gemini",
        "ollama#15457",
        "recorded",
    ),
    Quirk(
        "tool-name-repeated",
        "the name comes again after the first fragment",
        "set once",
        "NVIDIA NIM, Novita, TGI",
        "hermes-agent#12233",
        "recorded",
    ),
    Quirk(
        "tool-name-markup",
        "control marks behind the name",
        "cut off",
        "vLLM, TensorRT-LLM with gpt-oss",
        "vllm#32587",
        "reported",
    ),
    Quirk(
        "tool-arguments-object",
        "the arguments are an object, not text",
        "dumped once, compactly",
        "Mistral, native shapes through proxies",
        "mistral client-python functioncall",
        "recorded",
    ),
    Quirk(
        "tool-arguments-empty",
        "the arguments are `null` or blank",
        "read as `{}`",
        "OpenRouter, Gemini",
        "openrouter ai-sdk-provider#287",
        "reported",
    ),
    Quirk(
        "tool-arguments-repeated",
        "the whole arguments come again, as they were or encoded twice",
        "the repeat is dropped",
        "LiteLLM, relays",
        "litellm#20480",
        "reported",
    ),
    Quirk(
        "tool-arguments-glued",
        "a second object is glued to the arguments, and a second name or id came",
        "a call of its own",
        "relays in front of Gemini",
        "dyedd/lens#49",
        "reported",
    ),
    Quirk(
        "tool-call-invalid",
        "the arguments are no JSON object, or no name ever came",
        "kept as sent, status invalid",
        "vLLM, NVIDIA NIM",
        "vllm#51697",
        "reported",
    ),
    Quirk(
        "tool-markup",
        "a call stands in the text as the markup of the model's template",
        "read as a tool call, with `tool_markup=True`",
        "DeepSeek, Qwen, GLM, Kimi, MiniMax, Doubao, StepFun, Mistral",
        "xagent#790",
        "reported",
    ),
    Quirk(
        "tool-legacy-function-call",
        "the deprecated `function_call`",
        "read as a tool call",
        "OpenAI clones, llama-cpp-python",
        "openai-openapi",
        "recorded",
    ),
    # Responses
    Quirk(
        "response-id-changes",
        "the response id changes within a stream",
        "the first one counts",
        "GitHub Copilot, LiteLLM",
        "litellm#30071",
        "recorded",
    ),
    Quirk(
        "status-over-name",
        "a terminal event carries another status than its name says",
        "the status counts",
        "vLLM",
        "agentic-api#273",
        "reported",
    ),
    Quirk(
        "delta-after-end",
        "a delta for an item or a call that is over",
        "dropped: its end showed it whole",
        "relays that repeat frames",
        "no vendor known",
        "inferred",
    ),
    Quirk(
        "snapshot-longer",
        "a repeated text is longer than its deltas",
        "the missing end is told",
        "OpenAI, Codex backend",
        "opencode#44862",
        "reported",
    ),
    Quirk(
        "snapshot-differs",
        "a repeated text differs from its deltas",
        "the deltas stay",
        "vLLM",
        "vllm#38227",
        "reported",
    ),
    # requests
    Quirk(
        "tools-in-prompt",
        "a request with tools is refused, or answered without the call that it demands",
        "the tools are told in the instructions, calls read from the text, results sent as text",
        "Ollama, vLLM without a tool parser, llama.cpp without templates, OpenRouter",
        "ollama#14795",
        "reported",
        "client",
    ),
    Quirk(
        "schema-in-prompt",
        "a response format is refused",
        "the schema is told in the instructions, and the answer held against it",
        "DeepSeek, Groq, older OpenAI models",
        "ItzCrazyKns/Vane#969",
        "reported",
        "client",
    ),
    Quirk(
        "member-refused",
        "a member of the request is refused as unknown or unsupported",
        "sent again without it, or under its other name",
        "OpenAI reasoning models, Mistral, vLLM",
        "ComfyUI-Griptape#312",
        "reported",
        "client",
    ),
    Quirk(
        "whole-answer",
        "a request for a stream is refused, or answered by one JSON document",
        "asked for whole, or read as it is; the events are the same",
        "OpenAI for unverified organisations, gateways",
        "pal-mcp-server#134",
        "reported",
        "client",
    ),
    Quirk(
        "state-lost",
        "the server refuses `previous_response_id`, or answers as if nothing had been said",
        "the whole history is sent",
        "vLLM, LiteLLM, mlx-vlm, any server whose stored responses expire",
        "litellm#11204",
        "reported",
        "client",
    ),
)

QUIRKS: dict[str, Quirk] = {row.id: row for row in _ROWS}
"""Every repair by its id."""
