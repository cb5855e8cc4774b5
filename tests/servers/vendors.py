"""Vendors as sets of habits, each copied from what was seen on its wire.

The comment beside a habit says what that was, and under which mark the catalogue of observed wires keeps it.
"""

from __future__ import annotations

from dataclasses import dataclass

CHAT = ("chat",)
BOTH = ("chat", "responses")
ALL = ("chat", "responses", "completions")


@dataclass(frozen=True)
class Vendor:
    """One vendor: the habits of its servers, and the APIs that it has."""

    apis: tuple[str, ...]
    habits: tuple[str, ...]


PERFECT = Vendor(ALL, ())

VENDORS: dict[str, Vendor] = {
    "deepseek": Vendor(
        BOTH,
        (
            "comments",  # `: keep-alive` while the request waits (D6)
            "usage-null",  # "usage": null on every chunk but the last (baseline)
            "usage-on-finish",  # the counts sit on the chunk with the finish word (D2)
            "bare-ids",  # Responses: ids are plain UUIDs (DR1)
            "raw-reasoning",  # Responses: reasoning_text events alone, whatever is asked for (DR2)
            "store-ignored",  # Responses: `store` is always echoed false (DR6)
            "previous-id-ignored",  # Responses: fields that are not supported are ignored with 200 (DR6)
            "unknown-parameters-ignored",
        ),
    ),
    "qwen": Vendor(
        BOTH,
        (
            "choices-first",  # `choices` comes first (baseline)
            "no-space",  # `data:{` (Q2)
            "empty-id-on-pieces",  # later pieces of a call have the id "" and a type (Q3)
            "error-as-frame",  # the body of a 400 is SSE text (Q10)
            "sorted-keys",  # Responses: the type is not the first member (QR5)
            "no-summary-parts",  # Responses: reasoning_summary_part events are not among those documented (QR1)
            "background-refused",  # Responses: background is not supported (QR7)
            "unknown-parameters-ignored",  # Responses: what is not listed is ignored (QR7)
        ),
    ),
    "glm": Vendor(
        CHAT,
        (
            "role-always",  # the role on every delta (baseline)
            "no-finish-key",  # no `finish_reason` before the last choice (baseline)
            "usage-on-finish",  # counts beside the finish word (G1)
            "whole-calls",  # a call comes whole, in one chunk (G5)
            "errors-in-the-stream",  # `event: error` with HTTP 200, then [DONE] (G8)
        ),
    ),
    "doubao": Vendor(
        BOTH,
        (
            "choices-first",  # (V1)
            "role-always",  # (V1)
            "no-finish-key",  # (V1)
            "usage-null",  # (V1)
            "calls-with-the-finish",  # all calls, whole, in the chunk with the finish word (V3)
            "created-in-short",  # Responses: no output, tools or settings in the first events (VR1)
            "reasoning-items-in-short",  # Responses: reasoning items without a summary list (VR2)
            "no-logprobs",  # Responses: deltas without logprobs (VR3)
            "done-at-end",  # Responses: [DONE] behind response.completed (VR4)
        ),
    ),
    "kimi": Vendor(
        CHAT,
        (
            "usage-in-choice",  # the counts are a member of the choice (K1)
            "numbered-call-ids",  # ids such as functions.weather:0 (K4)
            "error-without-code",  # (K10)
        ),
    ),
    "minimax": Vendor(
        CHAT,
        (
            "think-tags",  # thought between <think> tags in the text (M1)
            "no-finish-key",  # (M1)
            "usage-null",  # (M1)
            "vendor-extras",  # input_sensitive, output_sensitive and their kin (M1)
            "finish-with-the-last",  # the chunk with the finish word has content (M8)
            "message-at-end",  # a last chunk repeats the whole message (M9)
            "calls-without-index",  # (M15)
            "error-base-resp",  # errors with HTTP 200 in `base_resp` (M11)
        ),
    ),
    "gemini": Vendor(
        CHAT,
        (
            "choices-first",  # (key order)
            "role-always",  # the role in every delta
            "no-finish-key",  # no `finish_reason` before the end
            "thought-flags",  # <thought> with extra_content.google.thought (G1)
            "whole-calls",  # (G3)
            "calls-without-index",  # (G3)
            "stop-beside-calls",  # (G6)
            "usage-on-every-chunk",  # (G9)
            "error-in-list",  # the body of an error is an array (G12)
        ),
    ),
    "xai": Vendor(
        BOTH,
        (
            "no-finish-key",  # neither `finish_reason` nor `logprobs` before the end (baseline)
            "whole-calls",  # a whole call in each chunk (X2)
            "reasoning-not-counted",  # completion_tokens leave thought out (X3)
            "error-with-code",  # {"code": "invalid-argument", "error": "…"} (X7)
        ),
    ),
    "mistral": Vendor(
        CHAT,
        (
            "vendor-extras",  # `p`, an alphabet that grows (M1)
            "thinking-parts",  # content that is a list with parts of type thinking (M2)
            "calls-with-the-finish",  # whole calls with the finish word (M5)
            "finish-with-the-last",  # the last word, the finish and the counts in one chunk (M4)
            "usage-on-finish",  # (M4)
            "error-flat",  # {"object": "error", "message": …} (M11)
        ),
    ),
    "groq": Vendor(
        CHAT,
        (
            "reasoning-field",  # delta.reasoning (Q3)
            "whole-calls",  # (Q4)
            "usage-three-times",  # x_groq.usage, usage on the finish, and a chunk of its own (Q2)
        ),
    ),
    "together": Vendor(
        CHAT,
        (
            "think-tags",  # <think> in the content (H1)
            "text-beside-delta",  # `text` and `delta.content` both (H1)
            "eos",  # finish word "eos" (H2)
            "usage-on-finish",  # (H2)
        ),
    ),
    "openrouter": Vendor(
        BOTH,
        (
            "processing-comments",  # : OPENROUTER PROCESSING, at the start and just before the finish (OR1)
            "role-always",  # role and content "" on every chunk (OR2)
            "content-always",  # (OR2)
            "reasoning-field-and-details",  # the same words in `reasoning` and `reasoning_details` (OR3)
            "usage-with-the-finish-again",  # (OR6)
            "done-at-end",  # Responses: [DONE] (table of APIs)
            "no-event-lines",  # Responses: no `event:` lines (table of APIs)
            "store-ignored",  # Responses: stateless (6.1)
            "previous-id-ignored",  # Responses: stateless (6.1)
        ),
    ),
    "perplexity": Vendor(
        CHAT,
        (
            "ping-comments",  # : ping before the first event
            "message-beside-deltas",  # a message that grows beside the deltas (PX1)
            "usage-on-every-chunk",  # (PX3)
            "no-done",  # ends without [DONE] (PX4)
            "crlf",  # (baseline)
            "error-code-number",  # (PX7)
        ),
    ),
    "azure": Vendor(
        BOTH,
        (
            "filter-chunks",  # prompt_filter_results with empty names, choices without a delta (Z1, Z3)
            "sorted-keys",  # members in the order of the alphabet (baseline)
        ),
    ),
    "ollama": Vendor(
        ALL,
        (
            "role-always",  # role and content "" on every delta
            "content-always",
            "reasoning-field",  # (OL1)
            "whole-calls",  # (OL2)
            "calls-at-index-zero",  # (OL3)
            "length-as-completed",  # Responses: always completed (L6)
            "no-summary-parts",  # Responses: no part events (C5)
            "store-ignored",  # Responses: stateless, previous_response_id comes back as null (6.1)
            "previous-id-ignored",
        ),
    ),
    "vllm": Vendor(
        ALL,
        (
            "reasoning-field",  # `reasoning` instead of `reasoning_content` (VL1)
            "error-code-number",  # (VL10)
            "reasoning-parts",  # Responses: reasoning_part events (C6)
            "content-index-of-item",  # Responses: content_index is not reset for each item (I12)
            "item-ids-change-at-end",  # Responses: other ids in the last response (I8)
            "completed-says-incomplete",  # Responses: response.completed with the status incomplete (L5)
        ),
    ),
    "sglang": Vendor(
        ALL,
        (
            "nulls",  # all members of a delta are there, as null
            "null-names-on-pieces",  # id and name null on later pieces (K5)
            "usage-null",
            "stop-beside-calls",  # finish word stop beside calls (sglang#7708)
        ),
    ),
    "llamacpp": Vendor(
        ALL,
        (
            "choices-first",  # (key order)
            "created-in-short",  # Responses: id, object and status alone (L2)
            "no-output-index",  # Responses: (I9)
            "no-sequence-numbers",  # Responses: (4.7)
            "no-call-item-ids",  # Responses: calls have a call_id alone (I17)
        ),
    ),
    "lmstudio": Vendor(
        ALL,
        (
            "reasoning-field",  # `reasoning` or `reasoning_content`, by a setting
            "raw-reasoning",  # Responses: reasoning_text events
            "reasoning-only-when-done",  # Responses: thought in one event, without a delta (C3)
        ),
    ),
    "huggingface": Vendor(
        BOTH,
        (
            "no-event-lines",  # Responses: data alone (F1)
            "output-index-zero",  # Responses: always 0 (I10)
            "previous-id-ignored",  # Responses: stateless (6.1)
            "store-ignored",
        ),
    ),
    "copilot": Vendor(
        BOTH,
        (
            "filter-chunks",  # the shell of Azure (GH1)
            "sorted-keys",  # (GH1)
            "reasoning-text-field",  # delta.reasoning_text (GH2)
            "item-ids-change",  # Responses: another id in every event (I7)
            "response-id-changes",  # Responses: (L11)
        ),
    ),
    "snowflake": Vendor(
        CHAT,
        (
            "no-finish",  # never any finish word
            "reasoning-details",  # thought in reasoning_details alone
            "choices-first",
        ),
    ),
    "siliconflow": Vendor(
        CHAT,
        (
            "role-always",  # (S1)
            "usage-on-every-chunk",  # running totals (S1)
        ),
    ),
    "nvidia": Vendor(
        CHAT,
        (
            "names-repeated",  # the name in every piece (NV1)
            "finish-early",  # text behind the finish word (NV3)
        ),
    ),
    "koboldcpp": Vendor(
        ("chat", "completions"),
        ("unended-done",),  # the last bytes are `data: [DONE]` without a line feed (LO5)
    ),
}
