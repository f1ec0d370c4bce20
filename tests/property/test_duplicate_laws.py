"""For any two drafts with the same text: after both were remembered, every detail of each can be found."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.making import NOW, Clock, examples

from eidet import Memory
from eidet.core.draft import Draft
from eidet.core.record import Record

TEXT = "Ann lives in Lisbon"
LABELS = st.none() | st.sampled_from(("a", "b"))
DETAILS: dict[str, st.SearchStrategy[Any]] = {
    "kind": st.sampled_from((None, "fact", "document")),
    "data": st.none() | st.sampled_from((1, 1.0, True, {"a": [1]})),
    "who": LABELS,
    "agent": LABELS,
    "session": LABELS,
    "step": st.none() | st.integers(0, 2),
    "place": st.none() | st.sampled_from(((0.0, 0.0), (0.0, 1.0))),
    "importance": st.none() | st.sampled_from((0.25, 0.5, 1.0)),
    "occurred": st.none() | st.sampled_from((NOW, NOW - 1.0)),
    "expires": st.none() | st.sampled_from((NOW + 50.0, NOW + 500.0)),
    "ttl": st.none() | st.sampled_from((60.0, 600.0)),
    "pinned": st.none() | st.booleans(),
    "source": LABELS,
    "meta": st.none() | st.sampled_from(({}, {"a": 1}, {"a": 1.0}, {"a": True}, {"b": 1})),
    "derived_from": st.sampled_from(((), ("x",), ("x", "y"))),
    "trust": st.sampled_from((None, "trusted", "user", "tool", "web", "unknown")),
}
SAYABLE = {field.name for field in fields(Draft)}
ELSEWHERE = {"text", "id", "key", "vector", "tier"}  # said of one record, or Eidet's to change
sayings = st.fixed_dictionaries({}, optional=DETAILS)


def test_no_detail_is_left_out() -> None:
    assert DETAILS.keys() == SAYABLE - ELSEWHERE


def holds(record: Record, said: dict[str, Any], now: float) -> bool:
    """Whether a record says all that a draft said; it may live longer."""
    ends = said.get("expires")
    if ends is None and said.get("ttl") is not None:
        ends = now + said["ttl"]
    pin = record.state.pinned
    end = record.expires if pin is None else pin.expires
    return (
        (record.kind, record.who, record.agent, record.session, record.step)
        == (said.get("kind") or "fact", *(said.get(name) for name in ("who", "agent", "session", "step")))
        and (record.place, record.source) == (said.get("place"), said.get("source"))
        and record.importance == (0.5 if said.get("importance") is None else said["importance"])
        and said.get("occurred") in (None, record.occurred)
        and repr((record.data, record.meta)) == repr((said.get("data"), said.get("meta") or {}))
        and record.derived_from == said.get("derived_from", ())
        and record.trust == (said.get("trust") or "user")
        and record.state.ttl == said.get("ttl")
        and (not said.get("pinned") or pin is not None)
        and (end is None or (ends is not None and end >= ends))
    )


@pytest.mark.parametrize("at_once", [False, True])
@settings(max_examples=examples(300), deadline=None)
@given(one=sayings, other=sayings)
def test_every_detail_of_two_that_say_the_same_is_found(
    one: dict[str, Any], other: dict[str, Any], at_once: bool
) -> None:
    clock = Clock()
    drafts = [Draft(text=TEXT, **one), Draft(text=TEXT, **other)]
    with Memory(embedder="hashing:16", clock=clock) as memory:
        if at_once:
            memory.remember(drafts)
        else:
            memory.remember(drafts[0])
            clock.pass_(0.5)
            memory.remember(drafts[1])
        found = memory.find()
        assert any(holds(record, one, NOW) for record in found), found
        assert any(holds(record, other, clock.now) for record in found), found
        before = len(found)
        memory.remember(drafts)
        assert len(memory.find()) == before, "said again, nothing is stored"
