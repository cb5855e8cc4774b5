"""What `streamshim check` must say of each habit: the items that it must not pass, and the faults that it must name.

An item that stands nowhere passes. What is expected of a server with several habits is all of their rows together: the
worst outcome of each item, and every fault.
"""

from __future__ import annotations

from collections.abc import Iterable

Expected = dict[str, tuple[str, frozenset[str]]]
"""Items that do not pass: how they end, and the faults they name."""

_ROWS = """
calls-without-id chat.tool-call repaired tool-id-missing
calls-with-empty-id chat.tool-call repaired tool-id-missing
calls-with-null-word-id chat.tool-call repaired tool-id-repeated
calls-without-index chat.tool-call repaired tool-index-missing
calls-at-index-zero chat.parallel-tools repaired tool-index-reused
calls-from-index-one chat.tool-call repaired tool-index-gap
index-as-text chat.tool-call repaired tool-index-missing
call-ids-change chat.tool-call repaired tool-id-changes
names-repeated chat.tool-call repaired tool-id-repeated tool-name-repeated
name-markup chat.tool-call repaired tool-name-markup
no-call-type chat.tool-call repaired call-type-missing
arguments-as-object chat.arguments repaired tool-arguments-object
arguments-as-object responses.arguments repaired tool-arguments-object
one-call-id chat.parallel-tools repaired tool-index-reused
arguments-null-word chat.no-arguments repaired tool-arguments-empty
arguments-null chat.no-arguments repaired call-arguments-missing
broken-arguments chat.arguments fail/wire tool-call-invalid
broken-arguments chat.parallel-tools fail/wire
broken-arguments chat.no-arguments fail/wire
arguments-again chat.tool-call repaired tool-id-repeated tool-name-repeated
arguments-again chat.arguments repaired tool-arguments-repeated
arguments-glued chat.parallel-tools repaired tool-arguments-glued
function-call chat.tool-call repaired tool-legacy-function-call
function-call chat.parallel-tools fail/model
function-call responses.parallel-tools fail/model
calls-in-text chat.tool-call repaired tool-markup
calls-in-text-dsml chat.tool-call repaired tool-markup
calls-in-text-sections chat.tool-call repaired tool-markup
calls-in-text-arguments chat.tool-call repaired tool-markup
calls-in-text-invoke chat.tool-call repaired tool-markup
no-object chat.delta-shape repaired chunk-object
no-id chat.delta-shape repaired chunk-id
no-created responses.sequence repaired created-missing
no-model chat.delta-shape repaired chunk-head
ids-change chat.delta-shape repaired chunk-id
filter-chunks chat.delta-shape repaired chunk-id chunk-object delta-missing
no-choice-index chat.delta-shape repaired choice-index-missing
no-choice-index chat.choices fail/wire
choices-null chat.delta-shape repaired choices-missing
choices-object chat.delta-shape repaired choices-shape
no-delta-at-end chat.delta-shape repaired delta-missing
no-role chat.delta-shape repaired role-missing
role-always chat.delta-shape repaired role-repeated
content-numbers chat.delta-shape repaired content-number
content-parts chat.delta-shape repaired content-parts
message-beside-deltas chat.delta-shape repaired message-repeated
message-at-end chat.delta-shape repaired message-repeated
text-again-at-end chat.delta-shape repaired text-cumulative
text-after-done completions.wire repaired data-after-done
text-after-done chat.framing repaired data-after-done
foreign-words chat.finish repaired finish-word
eos chat.finish repaired finish-word
stop-beside-calls chat.finish repaired finish-wrong
stop-at-length chat.max-tokens fail/wire
calls-without-calls chat.finish repaired finish-without-calls
empty-words chat.finish repaired finish-empty
no-finish chat.finish fail/wire finish-missing
no-finish chat.max-tokens fail/wire
no-finish chat.stop fail/wire
finish-twice chat.finish repaired finish-repeated
finish-then-stop chat.finish repaired finish-contradiction
finish-early chat.finish repaired text-after-finish
usage-unasked chat.usage repaired usage-unasked
no-stream-usage chat.usage fail/wire usage-missing
no-usage chat.usage fail/wire usage-missing
no-usage responses.usage fail/wire usage-missing
usage-in-choice chat.usage repaired usage-elsewhere
usage-on-finish chat.usage repaired usage-beside-choices
usage-with-the-finish-again chat.delta-shape repaired role-repeated
usage-with-the-finish-again chat.finish repaired finish-repeated
usage-with-the-finish-again chat.usage repaired usage-beside-choices
usage-on-every-chunk chat.usage repaired usage-repeated
usage-three-times chat.usage repaired usage-repeated
no-items-added responses.sequence repaired item-not-announced
no-items-done responses.sequence repaired item-not-closed
no-content-parts responses.sequence repaired part-not-announced part-not-closed
no-summary-parts responses.sequence repaired part-not-announced part-not-closed
no-text-done responses.sequence repaired part-not-closed
no-text-deltas responses.snapshots repaired deltas-missing
no-argument-deltas responses.snapshots repaired deltas-missing
no-arguments responses.snapshots repaired deltas-missing
no-arguments-done responses.sequence repaired part-not-closed
only-the-terminal-event responses.sequence repaired created-missing
only-the-terminal-event responses.snapshots repaired output-differs
created-in-short responses.sequence repaired response-shape
no-sequence-numbers responses.sequence-numbers repaired sequence-number-missing
sequence-constant responses.sequence-numbers repaired sequence-number-order
no-output-index responses.sequence repaired place-missing
no-content-index responses.sequence repaired place-missing
output-index-zero responses.sequence repaired place-wrong
content-index-of-item responses.sequence repaired place-wrong
events-after-the-end responses.sequence repaired event-after-end
other-event-names responses.sequence repaired event-name
type-in-event-line responses.sequence repaired type-missing
no-item-ids responses.ids repaired item-id-missing
no-call-item-ids responses.ids repaired item-id-missing
item-ids-change responses.ids repaired item-id-changes
item-ids-change-at-end responses.ids repaired item-id-changes
response-id-changes responses.ids repaired response-id-changes
empty-output responses.snapshots repaired output-missing
null-output responses.snapshots repaired output-missing
completed-says-incomplete responses.sequence repaired status-over-name
length-as-completed responses.incomplete fail/wire
response-done responses.sequence repaired status-over-name
usage-without-details responses.usage repaired usage-details-missing
text-longer-when-done responses.snapshots repaired deltas-missing snapshot-longer
text-differs-when-done responses.snapshots repaired snapshot-differs
delta-after-end responses.sequence repaired delta-after-end
delta-after-end responses.sequence-numbers repaired sequence-number-order
reasoning-parts responses.sequence repaired part-not-announced part-not-closed
reasoning-only-when-done responses.snapshots repaired deltas-missing
single-line-feeds completions.wire repaired single-line-feed
single-line-feeds chat.framing repaired single-line-feed
single-line-feeds responses.framing repaired single-line-feed
bom completions.wire repaired byte-order-mark
bom chat.framing repaired byte-order-mark
bom responses.framing repaired byte-order-mark
ids-and-retries completions.wire repaired event-without-data
ids-and-retries chat.framing repaired event-without-data
ids-and-retries responses.framing repaired event-without-data
empty-events completions.wire repaired empty-data event-without-data
empty-events chat.framing repaired empty-data event-without-data
empty-events responses.framing repaired empty-data event-without-data
json-lines completions.wire repaired not-an-event-stream
json-lines chat.framing repaired not-an-event-stream
json-lines responses.framing repaired not-an-event-stream
no-done completions.wire repaired done-missing
no-done chat.framing repaired done-missing
bare-done completions.wire repaired done-form
bare-done chat.framing repaired done-form
done-as-text completions.wire repaired done-form
done-as-text chat.framing repaired done-form
unended-done completions.wire repaired last-event-open
unended-done chat.framing repaired last-event-open
text-plain completions.wire repaired content-type
text-plain chat.framing repaired content-type
text-plain responses.framing repaired content-type
whole-body completions.wire repaired not-an-event-stream
whole-body chat.framing repaired not-an-event-stream
whole-body responses.framing repaired not-an-event-stream
not-a-number completions.wire repaired json-lenient
not-a-number chat.framing repaired json-lenient
not-a-number responses.framing repaired json-lenient
lone-surrogates completions.wire repaired json-lenient
lone-surrogates chat.framing repaired json-lenient
lone-surrogates responses.framing repaired json-lenient
control-characters completions.wire repaired json-lenient
control-characters chat.framing repaired json-lenient
control-characters responses.framing repaired json-lenient
bad-utf-8 completions.wire repaired json-lenient
bad-utf-8 chat.framing repaired json-lenient
bad-utf-8 responses.framing repaired json-lenient
stray-quote completions.wire repaired json-lenient
stray-quote chat.framing repaired json-lenient
stray-quote responses.framing repaired json-lenient
nonsense-frame completions.wire fail/wire unreadable-frame
nonsense-frame chat.framing fail/wire unreadable-frame
nonsense-frame responses.framing fail/wire unreadable-frame
true-frame completions.wire repaired payload-no-object
true-frame chat.framing repaired payload-no-object
true-frame responses.framing repaired payload-no-object
reasoning-mirrored chat.reasoning repaired reasoning-mirrored-fields
reasoning-and-details chat.reasoning repaired reasoning-mirrored-fields
reasoning-field-and-details chat.reasoning repaired reasoning-mirrored-fields
no-reasoning chat.reasoning unsupported
thinking-parts chat.delta-shape repaired content-parts
reasoning-cumulative chat.reasoning repaired reasoning-cumulative
think-tags chat.reasoning repaired reasoning-in-text
thought-tags chat.reasoning repaired reasoning-in-text
unopened-tags chat.reasoning fail/wire reasoning-orphan-closer
reasoning-mirrored-in-tags chat.reasoning repaired reasoning-mirrored-tags
thought-flags chat.reasoning repaired reasoning-in-text
overflow-ends-the-stream chat.framing fail/wire cut
overflow-ends-the-stream chat.too-long fail/wire
overflow-cut chat.too-long not-tried
error-as-text chat.error-shape repaired error-shape
error-as-text responses.failed repaired error-shape
error-with-code chat.error-shape repaired error-shape
error-with-code responses.failed repaired error-shape
error-as-detail chat.error-shape repaired error-shape
error-as-detail responses.failed repaired error-shape
error-as-message chat.error-shape repaired error-shape
error-as-message responses.failed repaired error-shape
error-in-list chat.error-shape repaired error-shape
error-in-list responses.failed repaired error-shape
error-flat chat.error-shape repaired error-shape
error-flat responses.failed repaired error-shape
error-base-resp chat.error-shape repaired error-status
error-base-resp responses.failed repaired error-status
errors-with-200 chat.error-shape repaired error-status
errors-with-200 responses.failed repaired error-status
errors-in-the-stream chat.error-shape repaired error-status
errors-in-the-stream responses.failed repaired error-status
error-as-frame chat.error-shape repaired error-shape
error-as-frame responses.failed repaired error-shape
tools-ignored chat.tool-call fail/server
tools-ignored chat.arguments fail/server
tools-ignored chat.parallel-tools fail/server
tools-ignored chat.no-arguments fail/server
tools-ignored responses.tool-call fail/server
tools-ignored responses.arguments fail/server
tools-ignored responses.parallel-tools fail/server
tools-ignored responses.no-arguments fail/server
tools-crash chat.tool-call fail/server
tools-crash chat.arguments fail/server
tools-crash chat.parallel-tools fail/server
tools-crash chat.no-arguments fail/server
tools-crash chat.tool-result fail/server
tools-crash responses.tool-call fail/server
tools-crash responses.arguments fail/server
tools-crash responses.parallel-tools fail/server
tools-crash responses.no-arguments fail/server
tools-crash responses.tool-output fail/server
tools-crash responses.hosted-tools fail/server
tools-refused chat.tool-call unsupported
tools-refused chat.arguments unsupported
tools-refused chat.parallel-tools unsupported
tools-refused chat.no-arguments unsupported
tools-refused chat.tool-result unsupported
tools-refused responses.tool-call unsupported
tools-refused responses.arguments unsupported
tools-refused responses.parallel-tools unsupported
tools-refused responses.no-arguments unsupported
tools-refused responses.tool-output unsupported
tools-refused responses.hosted-tools unsupported
forced-tools-refused chat.tool-call unsupported
forced-tools-refused chat.arguments unsupported
forced-tools-refused chat.parallel-tools unsupported
forced-tools-refused chat.no-arguments unsupported
forced-tools-refused responses.tool-call unsupported
forced-tools-refused responses.arguments unsupported
forced-tools-refused responses.parallel-tools unsupported
forced-tools-refused responses.no-arguments unsupported
hosted-tools-refused responses.hosted-tools unsupported
one-call-only chat.parallel-tools fail/model
one-call-only responses.parallel-tools fail/model
max-tokens-ignored completions.max-tokens fail/server
max-tokens-ignored chat.max-tokens fail/server
max-tokens-ignored responses.incomplete fail/server
stop-ignored chat.stop fail/server
n-ignored chat.choices fail/server
logprobs-ignored chat.logprobs fail/server
effort-ignored chat.reasoning unsupported
effort-ignored responses.reasoning unsupported
effort-ignored responses.encrypted-reasoning unsupported
n-refused chat.choices unsupported
logprobs-refused chat.logprobs unsupported
stop-refused chat.stop unsupported
stream-options-refused chat.usage unsupported
schema-ignored chat.structured-output fail/server
schema-ignored responses.structured-output fail/server
schema-as-json-object chat.structured-output fail/server
schema-as-json-object responses.structured-output fail/server
schema-refused chat.structured-output unsupported
schema-refused responses.structured-output unsupported
images-refused chat.images unsupported
any-model chat.bad-model unsupported
any-model responses.bad-model unsupported
bad-parameters-ignored chat.bad-parameter fail/server
bad-parameters-ignored responses.failed fail/server
previous-id-refused responses.previous-response unsupported
store-refused responses.previous-response unsupported
store-refused responses.background unsupported
background-refused responses.background unsupported
previous-id-ignored responses.previous-response fail/server
previous-id-ignored responses.store-false unsupported
background-ignored responses.background fail/server
include-ignored responses.encrypted-reasoning fail/server
store-ignored responses.previous-response unsupported
store-ignored responses.background unsupported
no-models reachability.models unsupported
no-retrieval responses.background fail/server
"""

_STREAMS = """
    chat.stream chat.usage chat.tool-call chat.arguments chat.parallel-tools chat.no-arguments chat.tool-result
    chat.max-tokens chat.stop chat.choices chat.logprobs chat.images chat.cut-by-client chat.concurrency
    responses.stream responses.incomplete responses.tool-call responses.arguments responses.parallel-tools
    responses.no-arguments responses.tool-output responses.hosted-tools responses.encrypted-reasoning
    completions.stream completions.max-tokens
"""
"""Items that live on streams which come to their end."""
_WORST = ("fail/wire", "fail/server", "fail/model", "repaired", "unsupported", "not-tried")


def _all_streams(outcome: str) -> Expected:
    told = {item: (outcome, frozenset[str]()) for item in _STREAMS.split()}
    for item in ("chat.cut-by-client", "chat.concurrency"):
        told[item] = ("fail/server", frozenset())
    return told


def _each_framing(fault: str) -> Expected:
    return {
        item: ("fail/wire", frozenset((fault,))) for item in ("chat.framing", "responses.framing", "completions.wire")
    }


def _table() -> dict[str, Expected]:
    table: dict[str, Expected] = {}
    for habit, item, outcome, *faults in map(str.split, _ROWS.strip().splitlines()):
        table.setdefault(habit, {})[item] = (outcome, frozenset(faults))
    for habit, fault in (("half-frame", "half-frame"), ("cut-stream", "cut"), ("silent-end", "cut")):
        table[habit] = {**_all_streams("fail/wire"), **_each_framing(fault)}
    for form in ("", "-then-done", "-in-event", "-in-field", "-flat", "-without-frame", "-typed"):
        table[f"fails-midway{form}"] = _all_streams("fail/server")
    for item in ("chat.error-shape", "responses.failed"):
        table["fails-midway-in-field"][item] = ("repaired", frozenset(("error-field",)))
    cut = {**_all_streams("fail/wire"), **_each_framing("cut")}
    table["no-terminal-event"] = {item: said for item, said in cut.items() if item.startswith("responses.")}
    return table


EXPECTED = _table()
"""By habit; one that does not stand here changes nothing that the check looks at."""


def expected_of(habits: Iterable[str]) -> Expected:
    """What is expected of a server with all of these habits."""
    told: Expected = {}
    for habit in habits:
        for item, (outcome, faults) in EXPECTED.get(habit, {}).items():
            before, known = told.get(item, (outcome, frozenset[str]()))
            told[item] = (min(outcome, before, key=_WORST.index), known | faults)
    return told
