"""The four kinds of memory and the hooks, seen from outside, in RAM and in a file."""

from __future__ import annotations

import pytest

from eidet import Memory
from eidet.views import Conversation, Episodic, Semantic, Working


@pytest.mark.point(109)
def test_the_four_types_share_one_memory_and_the_verbs_find_what_they_hold(memory: Memory) -> None:
    Working(memory, persist=True).set_task("Plan the trip to Graz")
    Conversation(memory, "s").add("The trip to Graz has to be cheap")
    Semantic(memory).add("Graz is in Styria")
    Episodic(memory).record("The trip to Graz was late", outcome="missed the talk", success=False)
    kinds = {hit.record.kind for hit in memory.recall("the trip to Graz", limit=10, least=0)}
    assert kinds >= {"message", "fact", "episode"}
    assert memory.admin.stats()["kinds"] == {"working": 1, "message": 1, "fact": 1, "episode": 1}
    context = memory.context("the trip to Graz").text
    assert "Plan the trip to Graz" in context
    assert "has to be cheap" in context
