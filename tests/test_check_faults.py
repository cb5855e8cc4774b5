"""The table of faults: every quirk is in it, and each fault is the matter of just one item of each API."""

from __future__ import annotations

import typing

import pytest

from streamshim.check import all_items
from streamshim.check.faults import FAULTS, Aspect, Fault
from streamshim.quirks import QUIRKS

ASPECTS = typing.get_args(Aspect)
ITEMS = all_items("toy")


def test_every_quirk_is_a_fault_under_its_own_id() -> None:
    seen_on_the_wire = {quirk.id for quirk in QUIRKS.values() if quirk.made_by == "decoder"}
    assert seen_on_the_wire <= FAULTS.keys()
    assert all(FAULTS[id].seen == quirk.seen for id, quirk in QUIRKS.items() if id in seen_on_the_wire)


@pytest.mark.parametrize("fault", FAULTS.values(), ids=lambda fault: fault.id)
def test_every_fault_says_what_is_seen_and_of_what_it_is_a_fault(fault: Fault) -> None:
    assert FAULTS[fault.id] is fault
    assert fault.seen
    assert fault.aspect in ASPECTS
    assert set(fault.entails) <= FAULTS.keys() - {fault.id}


@pytest.mark.parametrize("aspect", ASPECTS)
def test_an_aspect_is_named_by_one_item_of_an_api_and_by_no_other(aspect: str) -> None:
    apis = [item.api for item in ITEMS if aspect in item.aspects]
    assert apis
    assert len(apis) == len(set(apis))


def test_items_that_look_at_the_same_streams_share_their_requests() -> None:
    sent = [request for item in ITEMS for request in item.requests]
    by_name = {request.name: request for request in sent}
    assert len(by_name) < len(sent)
    assert all(request == by_name[request.name] for request in sent)


def test_ids_of_items_are_unique_and_begin_with_their_api() -> None:
    ids = [item.id for item in ITEMS]
    assert len(ids) == len(set(ids))
    assert all(item.id.startswith(f"{item.api or 'reachability'}.") for item in ITEMS)
