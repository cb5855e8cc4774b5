"""What the items of a response say: prose in its parts, calls with their input, pictures, encrypted thought."""

from __future__ import annotations

from typing import Any

from ..events import ToolProgress
from ..json_codec import clean, dumps
from .citations import read_citation
from .hosted_tools import announced_kind, final_kind, has_own_input, input_of, name_of
from .items import Item, Items, Slot, SlotKind
from .parts import Part
from .snapshots import Kept, is_suffix, missing, size_of
from .stream_state import StreamState
from .tool_calls import Call
from .tool_markup import MarkupScanner
from .tool_markup_body import MarkupCall
from .tool_routing import usable

_CHOICE = 0
_BLANKS = 64
"""Blanks around arguments that a repeat of them may leave out."""


class ItemReader:
    """Reads items as they are announced, streamed, closed and shown again."""

    def __init__(self, state: StreamState) -> None:
        """`state`: where everything is told."""
        self.items = Items()
        self._state = state
        self._parts = state.parts
        self._pending: Call | None = None
        self._in_markup: list[Call] = []
        self._answered: set[str] = set()

    # -- prose --------------------------------------------------------------------------------------------------------

    def say(self, slot: Slot, delta: str, logprobs: Any = None) -> None:
        """More of a content part, unless its item is over and was shown whole."""
        if slot.item.shown_whole:
            self._state.repair("delta-after-end", "a delta for an item that was shown whole")
        else:
            self._tell(slot, delta, logprobs)

    def _tell(self, slot: Slot, delta: str, logprobs: Any = None) -> None:
        """A delta; of text that may hold calls what is none."""
        if slot.kind != "text" or not self._state.tool_markup:
            self._add(slot, delta, logprobs)
            return
        if slot.markup is None:
            slot.markup = MarkupScanner()
            slot.streamed.append(Kept())
        slot.streamed[0].append(delta)
        self._read_markup(slot, slot.markup.feed(delta), logprobs)

    def _read_markup(self, slot: Slot, pieces: list[str | MarkupCall], logprobs: Any = None) -> None:
        for piece in pieces:
            if isinstance(piece, str):
                if piece:
                    self._add(slot, piece, logprobs)
                logprobs = None
                continue
            self._state.repair("tool-markup", f"a call of {piece.name!r} stood in the text as markup")
            self._settle()
            call = Call(self._state, _CHOICE)
            call.name, call.call_id = piece.name, piece.id
            call.start()
            call.add(piece.arguments)
            call.end(cut=False)
            self._in_markup.append(call)

    def _end_markup(self, item: Item) -> None:
        """The item is over: markup that never closed was text."""
        for slot in item.slots:
            if slot.markup is not None:
                self._read_markup(slot, slot.markup.end())

    def _add(self, slot: Slot, delta: str, logprobs: Any = None) -> None:
        """More of a part. Other prose may have closed it, then it goes on in one of its own."""
        part = slot.part
        if part is None or not part.is_open:
            part = slot.part = self._start(slot)
            if slot.markup is None:
                slot.streamed.append(part.pieces)
        if slot.kind == "text":
            self._parts.text(part, delta, logprobs or None)
        elif slot.kind == "refusal":
            self._parts.refusal(part, delta)
        else:
            self._parts.reasoning(part, delta)

    def _start(self, slot: Slot) -> Part:
        item = slot.item
        self._settle()
        if slot.kind == "text":
            return self._parts.start_text(_CHOICE, item.id, item.phase)
        if slot.kind == "refusal":
            return self._parts.start_refusal(_CHOICE, item.id)
        return self._parts.start_reasoning(_CHOICE, item.id, slot.kind)

    def complete(self, slot: Slot, whole: Any, logprobs: Any = None) -> None:
        """The whole of a content part, once more: what is missing is told; `logprobs` are those of all of it."""
        if not isinstance(whole, str) or not whole:
            return
        rest = missing(slot.streamed, whole)
        if rest:
            if size_of(slot.streamed):
                self._state.repair("snapshot-longer", "a repeated text is longer than its deltas")
            self._tell(slot, rest, logprobs if rest == whole else None)
        elif rest is None and not is_suffix(slot.streamed, whole):
            self._state.repair("snapshot-differs", "a repeated text differs from its deltas, which stay")

    @staticmethod
    def part_kind(item: Item, part: dict[str, Any], *, summary: bool = False) -> SlotKind | None:
        """What kind of content a part is; in a reasoning item everything is thought."""
        if item.family == "reasoning":
            return "summary" if summary else "raw"
        if part.get("type") == "refusal":
            return "refusal"
        return "text" if part.get("type") in ("output_text", "text", None) or "text" in part else None

    def cite(self, slot: Slot, part: dict[str, Any]) -> None:
        """The citations that a repeated part holds."""
        annotations = part.get("annotations")
        if isinstance(annotations, list) and annotations:
            number = slot.part.number if slot.part is not None and slot.part.is_open else None
            self._state.cite([c for raw in annotations if (c := read_citation(raw, number, _CHOICE))])

    # -- announced and closed -----------------------------------------------------------------------------------------

    def added(self, raw: dict[str, Any], index: int | None) -> None:
        """An item is announced; it may hold some or all of its content already."""
        item_type = _type(raw)
        if self.items.is_full:
            self._state.limit("more items than anyone needs: the rest is dropped")
            return
        item = self.items.announce(raw, item_type, index)
        if item.family == "call":
            self._call(item, raw, item_type)
            seed = raw.get("arguments", raw.get("input", raw.get("code")))
            if isinstance(seed, str) and not item.streamed and has_own_input(item_type):
                item.seed = seed
        else:
            self._content(item, raw)

    def done(self, raw: dict[str, Any], index: int | None) -> None:
        """An item is closed."""
        item_type = _type(raw)
        if self.items.is_full:
            return
        self._close(self.items.closing(raw, item_type, index), raw, item_type)

    def snapshot(self, output: list[Any]) -> None:
        """The terminal event shows all items: what was not told yet is told."""
        shown = [raw for raw in output if isinstance(raw, dict)]
        for raw, item in zip(shown, self.items.match(shown), strict=True):
            if item is None:
                if self.items.is_full:
                    return
                item = self.items.new(_type(raw), usable(raw.get("id")), None)
                item.matched = True
                self.items.remember(item, raw)
            self._close(item, raw, _type(raw))

    def _close(self, item: Item, raw: dict[str, Any], item_type: str) -> None:
        already = item.done
        self.items.close(item)
        if item.family == "call":
            if not already:
                self._close_call(item, raw, item_type)
            self._picture(item, raw)
            return
        self._content(item, raw)
        if item.family == "reasoning" and not already:
            self._encrypted(item)
        item.shown_whole = bool(raw.get("content") or raw.get("summary"))
        self._end_markup(item)
        for slot in item.slots:
            slot.closed = True
            if slot.part is not None and slot.part.is_open:
                self._parts.end(slot.part)
        if item.family == "other" and not already:
            self._other(raw, item_type)

    def _content(self, item: Item, raw: dict[str, Any]) -> None:
        """What a message or a reasoning item shows, set against what was streamed, part by part in order."""
        if isinstance(phase := raw.get("phase"), str):
            item.phase = phase
        if isinstance(encrypted := raw.get("encrypted_content"), str) and encrypted:
            item.encrypted = clean(encrypted)
        if item.family == "other":
            return
        for member in ("summary", "content"):
            value = raw.get(member)
            parts: list[Any] = value if isinstance(value, list) else [{"text": value}] if isinstance(value, str) else []
            shown: dict[SlotKind, list[tuple[int, dict[str, Any]]]] = {}
            for index, part in enumerate(parts):
                if isinstance(part, dict) and (kind := self.part_kind(item, part, summary=member == "summary")):
                    shown.setdefault(kind, []).append((index, part))
            for kind, group in shown.items():
                self._show(item, kind, group)

    def _show(self, item: Item, kind: SlotKind, shown: list[tuple[int, dict[str, Any]]]) -> None:
        """All parts of one kind that the item shows: each belongs to the next part that was told of, or is news."""
        told = item.told(kind)
        for position, (index, part) in enumerate(shown):
            text = part.get("refusal" if kind == "refusal" else "text")
            if not isinstance(text, str) or not text:
                continue
            left = len(shown) - position
            if told and (left <= len(told) or told[0].key == index or told[0].may_be(text)):
                slot = told.pop(0)
            else:
                slot = item.untold(kind, index)
            self.complete(slot, text, part.get("logprobs"))
            self.cite(slot, part)

    def _encrypted(self, item: Item) -> None:
        if not item.encrypted:
            return
        self._settle()
        part = self._parts.start_reasoning(_CHOICE, item.id, "encrypted")
        part.thought = ("encrypted", None, item.encrypted)
        self._parts.end(part)

    def _other(self, raw: dict[str, Any], item_type: str) -> None:
        """Neither prose nor call: the answer of a tool that the vendor ran, or an item that is not modelled."""
        call_id = raw.get("call_id")
        answered = self.items.by_call_id(call_id)
        if item_type.endswith("_output") and answered is not None and answered.call is not None:
            self._answered.add(str(call_id))
            self._progress(answered.call, "output", raw)
        else:
            self._state.unknown(item_type, raw)

    # -- calls --------------------------------------------------------------------------------------------------------

    def _call(self, item: Item, raw: dict[str, Any], item_type: str) -> Call:
        """The item's call, opened if need be; names and ids that were missing are taken."""
        call = item.call
        if call is None:
            self._settle()
            call = item.call = Call(self._state, _CHOICE, announced_kind(raw, item_type), item_id=item.id)
            call.item_type = item_type
            self._pending = call
        if call.part is None:
            call.item_id = call.item_id or item.id
            name = name_of(raw, item_type)
            if name and not call.name:
                call.name = clean(name)
            call_id = usable(raw.get("call_id"))
            if call_id or (call.name and not call.call_id):
                call.call_id = clean(call_id or usable(raw.get("id")) or item.id or "") or None
        return call

    def _settle(self) -> None:
        """Another part begins: the newest call's name and id are final."""
        pending, self._pending = self._pending, None
        if pending is not None and pending.name:
            pending.start()

    def input_delta(self, payload: dict[str, Any], item_type: str) -> None:
        """A piece of a call's input."""
        delta = payload.get("delta")
        if isinstance(delta, dict):
            delta = dumps(delta)
        if isinstance(delta, str) and delta:
            item = self.items.find(payload, item_type)
            call = item.call or self._call(item, {}, item_type)
            if item.seed or not item.streamed:
                self._begin_input(item, call, delta)
            call.add(delta)

    def input_done(self, payload: dict[str, Any], item_type: str) -> None:
        """All of a call's input, once more."""
        item = self.items.find(payload, item_type)
        call = self._call(item, {"name": payload.get("name")}, item_type)
        self._complete_input(item, call, payload.get("arguments", payload.get("input", payload.get("code"))))

    @staticmethod
    def _begin_input(item: Item, call: Call, delta: str) -> None:
        """The first delta: arguments that came with the announcement count, unless it starts them over."""
        seed, item.seed = item.seed, ""
        item.streamed = True
        if seed and not (seed.startswith(delta) or delta.startswith(seed)):
            call.add(seed)

    def _complete_input(self, item: Item, call: Call, whole: Any) -> None:
        """The whole input, once more: what is missing is told, what differs is not."""
        if isinstance(whole, dict | list):
            self._state.repair("tool-arguments-object", "the arguments are an object, not text")
            whole = dumps(whole)
            if call.has_arguments:
                return
        seed, item.seed = item.seed, ""
        if not isinstance(whole, str) or not whole:
            if seed and not call.has_arguments:
                call.add(seed)
            return
        # a snapshot that is much too short is not compared: a stream of them would cost its square
        seen = call.seen_text() if len(whole) + _BLANKS >= call.size else None
        if seen is not None and whole.startswith(seen):
            if rest := whole[len(seen) :]:
                call.add(rest)
        elif seen is None or seen.strip() != whole.strip():
            self._state.repair(
                "snapshot-differs", f"the arguments of {call.name!r} differ from their deltas, which stay"
            )

    def _close_call(self, item: Item, raw: dict[str, Any], item_type: str) -> None:
        call = self._call(item, raw, item_type)
        whole = raw.get("arguments", raw.get("input", raw.get("code")))
        if has_own_input(item_type):
            self._complete_input(item, call, whole)
        elif not call.has_arguments and (text := input_of(raw, call.kind)):
            call.start()
            call.add(text)
        if raw.get("status") == "incomplete" and call.kind != "server":
            self.items.close(item, done=False)  # the terminal event tells what it is worth
            call.said_incomplete = True
            return
        call.start()
        if call.kind == "server":
            status = raw.get("status")
            failed = status == "failed" or (status is None and raw.get("error"))
            self._progress(call, "failed" if failed else status if isinstance(status, str) else "completed", raw)
        call.kind, started_as = final_kind(raw, call.kind), call.kind
        call.end(cut=False, started_as=started_as)

    def _picture(self, item: Item, raw: dict[str, Any]) -> None:
        """The result of an image generation, as one media part; it stays open, as the terminal event may show more."""
        result = raw.get("result")
        if item.type != "image_generation_call" or not isinstance(result, str) or not result:
            return
        if item.media is None:
            picture_format = raw.get("output_format")
            media_type = f"image/{picture_format if isinstance(picture_format, str) and picture_format else 'png'}"
            item.media = self._parts.start_media(_CHOICE, item.id, media_type)
        if rest := missing([item.media.pieces], result):
            self._parts.media(item.media, rest, None)

    def progress(self, payload: dict[str, Any], family: str, action: str) -> None:
        """A tool moves on: `<item type>.<status>`, or a stream of its own (`shell_call_command.delta`)."""
        stem, is_call, stream = family.partition("_call")
        if stream.startswith("_output"):
            output = self.items.known(payload)
            item = self.items.by_call_id(output.call_id) if output is not None else None
            if item is None:
                return
        else:
            item = self.items.find(payload, stem + is_call)
        call = self._call(item, {}, item.type)
        call.start()
        data = {key: value for key, value in payload.items() if key not in ("type", "sequence_number")}
        self._progress(call, action, data)

    def _progress(self, call: Call, status: str, data: Any) -> None:
        if call.part is not None:
            self._state.out.append(ToolProgress(call.part.number, _CHOICE, status, data))

    # -- the end ------------------------------------------------------------------------------------------------------

    def end(self, *, cut: bool, at_length: bool) -> int:
        """Every End; tells how many calls are the reader's to answer."""
        for item in self.items.all:
            self._end_markup(item)
        self._parts.end_prose(_CHOICE)
        answerable = sum(call.is_answerable for call in self._in_markup)
        for item in self.items.all:
            call = item.call
            if item.media is not None and item.media.is_open:
                self._parts.end_media(item.media, item.media.text(), None, None)
            if call is None:
                continue
            if not item.done:
                if item.seed and not call.has_arguments:
                    call.add(item.seed)
                item.done = True
                call.end(cut=cut or call.said_incomplete, at_length=at_length)
            if call.is_answerable and not (call.kind == "builtin" and call.call_id in self._answered):
                answerable += 1
        return answerable


def _type(raw: dict[str, Any]) -> str:
    """An item's type; without one it is told from what it holds."""
    if isinstance(found := raw.get("type"), str) and found:
        return found
    if "arguments" in raw:
        return "function_call"
    return "reasoning" if "summary" in raw else "message" if "content" in raw else "(no type)"
