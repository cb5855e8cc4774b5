"""Sets a client's account against a scenario's right answer. Where there is a doubt, it goes in the client's favour."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .account import Account, Answer, Call

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
    beginning_is_enough = raised or not whole
    return (
        (None if raised else _ending_problem(account, expect))
        or _least(_text_problem(answer, expect, beginning_is_enough) for answer in account.answers)
        or _least(_reasoning_problem(answer, expect, beginning_is_enough) for answer in account.answers)
        or (None if raised or account.error else _least(_call_problem(answer, expect) for answer in account.answers))
        or (None if raised or not whole else _finish_problem(account, expect))
    )


def reason_of(word: str | None) -> str | None:
    """The finish reason that a word of any wire or client means; the word itself where it is not known."""
    return _REASONS.get(word.lower(), word) if word else None


def _least(problems: Iterable[str | None]) -> str | None:
    """One right answer is enough; else the first problem."""
    found = list(problems)
    return None if None in found else found[0]


def _names_the_reason(account: Account, expect: Expectation) -> bool:
    said = _spaced(account.error or "")
    choices = [expect, *(expect.get("choices") or {}).values()]
    reasons = [choice.get(field) for choice in choices for field in ("finish_reason", "raw_finish_reason")]
    return expect["status"] == "incomplete" and any(
        _spaced(reason) in said for reason in reasons if reason and reason_of(reason) not in _WHOLE
    )


def _spaced(words: str) -> str:
    return words.lower().replace("_", " ")


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


def _text_problem(answer: Answer, expect: Expectation, beginning_is_enough: bool) -> str | None:
    if "text" not in expect:
        return None
    text, thought = _plain(expect["text"]), _plain(expect.get("reasoning") or "")
    with_refusal = _plain(expect["text"] + (expect.get("refusal") or ""))
    if thought and thought in answer.text and thought not in text:
        return "reasoning in text"
    return _difference_of("text", answer.text, [text, with_refusal], beginning_is_enough)


def _reasoning_problem(answer: Answer, expect: Expectation, beginning_is_enough: bool) -> str | None:
    if answer.reasoning is None or "reasoning" not in expect:
        return None
    return _difference_of("reasoning", answer.reasoning, [_plain(expect["reasoning"])], beginning_is_enough)


def _difference_of(name: str, said: str, accepted: list[str], beginning_is_enough: bool) -> str | None:
    got = _plain(said)
    is_a_beginning = any(text.startswith(got) for text in accepted)
    if got in accepted or (beginning_is_enough and is_a_beginning):
        return None
    if not got:
        return f"{name} lost"
    if is_a_beginning:
        return f"{name} incomplete"
    return f"{name} has extra" if any(got.startswith(text) for text in accepted) else f"{name} differs"


def _plain(text: str) -> str:
    return _LONE_SURROGATE.sub("\ufffd", text).strip()


def _call_problem(answer: Answer, expect: Expectation) -> str | None:
    whole = expect["status"] in ("completed", "incomplete")
    wanted = expect.get("tool_calls", expect.get("client_calls"))
    if wanted is None:
        return None
    wanted = [call for call in wanted if call.get("kind") in ("function", "custom")]
    unusable = [call for call in wanted if call.get("status") in ("truncated", "invalid")]
    left = list(answer.tool_calls)
    for call in wanted:
        if call in unusable:
            continue
        match = next((given for given in left if _difference(given, call) is None), None)
        if match:
            left.remove(match)
        elif whole and call.get("status"):
            return _nearest_difference(left, call)
    if unusable and any(_looks_runnable(given, unusable) for given in left):
        return "unusable call runnable"
    return "call too many" if whole and len(left) > len(unusable) else None


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
        return bool(_parsed(given or "{}") == wanted["arguments"])
    if "arguments_text" in wanted:
        text = wanted["arguments_text"]
        parsed = _parsed(given or "{}")
        return _plain(given) == _plain(text) or (parsed is not None and parsed == _parsed(text or "{}"))
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
        return "finish lost"
    if got == "content_filter" and expect.get("refusal"):
        return None
    is_whole = reason in ("stop", "tool_calls", None) or expect["status"] == "completed"
    if got in _WHOLE:
        return None if is_whole else "stopped looks whole"
    return "finish differs"
