"""Sets a client's account against a scenario's right answer. Where there is a doubt, it goes in the client's favour."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .account import Account, Call

Expectation = dict[str, Any]

_WHOLE = ("stop", "tool_calls", "completed")
_WORDS = {
    "stop": "stop eos eos_token end end_turn stop_sequence complete normal",
    "tool_calls": "tool_calls tool_call tool_use function_call",
    "length": "length max_tokens model_length max_output_tokens model_context_window_exceeded",
    "content_filter": "content_filter sensitive safety refusal",
    "error": "error network_error network-error insufficient_system_resource failed",
    "completed": "completed",
}
_REASONS = {word: reason for reason, words in _WORDS.items() for word in words.split()}
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def judge(account: Account, expect: Expectation, *, dropped: bool = False) -> str | None:
    """What is wrong with an account, in three words at most; None if nothing is.

    Args:
        account: what the client said.
        expect: of the scenario; a field that is absent is not judged.
        dropped: the connection broke after the last piece.
    """
    if account.ended in ("hung", "crashed"):
        return account.ended
    raised = account.ended == "raised"
    whole = expect["status"] in ("completed", "incomplete")
    if whole and raised and not dropped and not _names_the_reason(account, expect):
        return f"raised {(account.error or '').split(':')[0]}"
    rest = not whole or raised
    return (
        (None if raised else _ending_problem(account, expect))
        or _reasoning_in_text(account, expect)
        or _text_problem("text", account.text, _texts(expect), rest)
        or (None if account.reasoning is None else _text_problem("reasoning", account.reasoning, _thoughts(expect), rest))
        or (None if rest else _call_problem(account, expect))
        or (None if rest else _finish_problem(account, expect))
    )


def reason_of(word: str | None) -> str | None:
    """The finish reason that a word of any wire or client means; the word itself where it is not known."""
    return _REASONS.get(word.lower(), word) if word else None


def _names_the_reason(account: Account, expect: Expectation) -> bool:
    said = (account.error or "").lower().replace("_", " ")
    reason = expect.get("finish_reason")
    return expect["status"] == "incomplete" and bool(reason) and reason.replace("_", " ") in said


def _ending_problem(account: Account, expect: Expectation) -> str | None:
    status = expect["status"]
    looks_whole = reason_of(account.finish) in (*_WHOLE, "length")
    if status == "failed" and not account.error and reason_of(account.finish) != "error":
        return "error not reported"
    if status == "truncated" and looks_whole:
        return "cut looks whole"
    if status == "cancelled" and looks_whole:
        return "cancelled looks whole"
    if status in ("completed", "incomplete") and account.error:
        return "reports an error"
    return None


def _texts(expect: Expectation) -> list[str] | None:
    if "text" not in expect:
        return None
    refusal = expect.get("refusal") or ""
    return [expect["text"], expect["text"] + refusal] if refusal else [expect["text"]]


def _thoughts(expect: Expectation) -> list[str] | None:
    return [expect["reasoning"]] if "reasoning" in expect else None


def _reasoning_in_text(account: Account, expect: Expectation) -> str | None:
    thought = _plain(expect.get("reasoning") or "")
    mixed = bool(thought) and thought in account.text and not any(thought in text for text in _texts(expect) or [thought])
    return "reasoning in text" if mixed else None


def _text_problem(name: str, got: str, accepted: list[str] | None, beginning_is_enough: bool) -> str | None:
    if accepted is None:
        return None
    got, wanted = _plain(got), [_plain(text) for text in accepted]
    if got in wanted or (beginning_is_enough and any(text.startswith(got) for text in wanted)):
        return None
    if not got:
        return f"{name} lost"
    if any(text.startswith(got) for text in wanted):
        return f"{name} incomplete"
    return f"{name} has extra" if any(got.startswith(text) for text in wanted) else f"{name} differs"


def _plain(text: str) -> str:
    return _LONE_SURROGATE.sub("\ufffd", text).strip()


def _call_problem(account: Account, expect: Expectation) -> str | None:
    wanted = expect.get("tool_calls", expect.get("client_calls"))
    if wanted is None:
        return None
    wanted = [call for call in wanted if call.get("kind") in ("function", "custom")]
    unusable = [call for call in wanted if call.get("status") in ("truncated", "invalid")]
    left = list(account.tool_calls)
    for call in wanted:
        if call in unusable:
            continue
        match = next((given for given in left if _difference(given, call) is None), None)
        if match is None:
            return _nearest_difference(left, call)
        left.remove(match)
    if any(_looks_runnable(given, unusable) for given in left):
        return "unusable call runnable" if unusable else "call too many"
    return "call too many" if len(left) > len(unusable) else None


def _nearest_difference(given: list[Call], wanted: Expectation) -> str | None:
    if not given:
        return "call lost"
    found = [_difference(call, wanted) for call in given]
    return next((name for name in ("call id differs", "arguments differ") if name in found), "call name differs")


def _difference(given: Call, wanted: Expectation) -> str | None:
    if given.name != wanted["name"]:
        return "call name differs"
    if not _same_arguments(given.arguments, wanted):
        return "arguments differ"
    return "call id differs" if wanted.get("call_id") not in (None, given.id) else None


def _same_arguments(given: str, wanted: Expectation) -> bool:
    if "arguments" in wanted:
        return _parsed(given or "{}") == wanted["arguments"]
    if "arguments_text" in wanted:
        text = wanted["arguments_text"]
        return _plain(given) == _plain(text) or _parsed(given or "{}") == _parsed(text or "{}") is not None
    return True


def _looks_runnable(given: Call, unusable: list[Expectation]) -> bool:
    as_sent = any(call["status"] == "invalid" and call.get("arguments_text") == given.arguments for call in unusable)
    return isinstance(_parsed(given.arguments), dict) and not as_sent


def _parsed(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        return None


def _finish_problem(account: Account, expect: Expectation) -> str | None:
    if "finish_reason" not in expect:
        return None
    reason, raw = expect["finish_reason"], expect.get("raw_finish_reason")
    got = reason_of(account.finish)
    if account.finish in (reason, raw) or got in (reason, reason_of(raw)):
        return None
    if got is None:
        return None if raw is None else "finish lost"
    if expect["status"] == "completed":
        return None if got in _WHOLE else "finish differs"
    return "stopped looks whole" if got in _WHOLE else "finish differs"
