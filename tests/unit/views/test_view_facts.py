"""Semantic and episodic memory."""

from __future__ import annotations

from typing import Any

import pytest
from tests.making import Clock

from eidet import BadInput, Memory, Where
from eidet.views import Episodic, Semantic


@pytest.fixture
def clock() -> Clock:
    return Clock(1_000.0)


@pytest.fixture
def memory(clock: Clock) -> Memory:
    return Memory(clock=clock)


# Facts.


def test_a_fact_is_found_by_meaning_with_its_details(memory: Memory) -> None:
    facts = Semantic(memory, scope="acme", agent="a")
    record = facts.add("Ann lives in Lisbon", importance=0.9, source="chat", meta={"x": 1})
    facts.add("The office has a red door")
    assert (record.kind, record.agent, record.source, record.meta) == ("fact", "a", "chat", {"x": 1})
    assert facts.search("where does Ann live?")[0].id == record.id
    assert facts.get(record.id) == record
    assert len(facts) == 2
    assert memory.recall("Ann", scope="acme")[0].id == record.id
    assert len(Semantic(memory)) == 0


def test_the_same_fact_is_kept_once_and_a_key_renews_it(memory: Memory) -> None:
    facts = Semantic(memory)
    first = facts.add("Bob likes tea")
    assert facts.add("Bob likes tea").id == first.id
    assert facts.add("Bob likes tea", keep_duplicates=True).id != first.id
    facts.add("The door is red", key="door")
    facts.add("The door is blue", key="door")
    assert [record.text for record in facts.all()].count("The door is red") == 0
    assert len(facts) == 3


def test_a_search_can_ask_for_importance_and_for_a_filter(memory: Memory) -> None:
    facts = Semantic(memory)
    facts.add("Ann likes coffee", importance=0.2, source="a")
    facts.add("Ann likes strong coffee", importance=0.8, source="b")
    assert [hit.text for hit in facts.search("coffee", min_importance=0.5)] == ["Ann likes strong coffee"]
    assert [hit.text for hit in facts.search("coffee", where=Where(source="a"))] == ["Ann likes coffee"]
    assert not facts.search("coffee", least=1.0)
    memory.remember("coffee coffee coffee", kind="document")
    assert {hit.record.kind for hit in facts.search("coffee")} == {"fact"}


def test_similar_gives_the_plain_cosine_nearest_first(memory: Memory) -> None:
    def embed(text: str) -> list[float]:
        return {"east": [1.0, 0.0], "north-east": [0.6, 0.8], "west": [-1.0, 0.0]}.get(text, [0.0, 1.0])

    facts = Semantic(Memory(embedder=embed))
    for text in ("west", "north", "north-east", "east"):
        facts.add(text, importance=1.0 if text == "north-east" else 0.3)
    near = [(record.text, round(cosine, 6)) for record, cosine in facts.similar("east", 4)]
    assert near == [("east", 1.0), ("north-east", 0.6), ("north", 0.0)]
    assert [round(cosine, 6) for _, cosine in facts.similar("east", 9, threshold=-1.0)] == [
        1.0,
        0.6,
        0.0,
        -1.0,
    ]
    assert [record.text for record, _ in facts.similar("east", 1)] == ["east"]
    assert [record.text for record, _ in facts.similar("east", min_importance=0.5)] == ["north-east"]
    assert facts.similar("  ") == []
    with pytest.raises(BadInput):
        facts.similar("east", 0)


def test_only_what_similar_gives_counts_as_used(memory: Memory) -> None:
    facts = Semantic(memory)
    near, far = facts.add("Ann lives in Lisbon"), facts.add("Copper melts at 1085 degrees")
    facts.similar("Where does Ann live?", threshold=0.3)
    memory.admin.flush()
    uses = {record.id: record.uses for record in facts.all()}
    assert uses == {near.id: 1, far.id: 0}


def test_importance_is_changed_and_facts_are_forgotten_and_learned_again(memory: Memory) -> None:
    facts = Semantic(memory, agent="a")
    record = facts.add("Bob likes tea", importance=0.1)
    assert facts.set_importance(record.id, 0.9)
    changed = facts.get(record.id)
    assert changed is not None
    assert changed.importance == 0.9
    with pytest.raises(BadInput):
        facts.set_importance(record.id, 1.5)
    assert facts.forget(record.id)
    assert not facts.forget(record.id)
    assert not facts.set_importance(record.id, 0.5)
    assert facts.get(record.id) is None
    assert facts.add("Bob likes tea").text == "Bob likes tea"
    message = memory.remember("hello", kind="message")
    assert not facts.forget(message.id), "a message is no fact"
    assert not facts.set_importance(message.id, 0.5)


def test_consolidate_drops_what_matters_little_and_is_not_used(memory: Memory) -> None:
    facts = Semantic(memory)
    unused, pinned = (
        facts.add("minor and unused", importance=0.1),
        facts.add("minor but pinned", importance=0.1),
    )
    used = facts.add("zebras are minor too", importance=0.29)
    edge, major = facts.add("at the edge", importance=0.3), facts.add("major", importance=0.8)
    memory.remember("a minor message", kind="message", importance=0.1)
    memory.upkeep.pin(pinned.id)
    for _ in range(2):
        assert facts.similar("zebras are minor too", 1)[0][0].id == used.id
    assert facts.consolidate() == 1
    assert {record.id for record in facts.all()} == {pinned.id, used.id, edge.id, major.id}
    assert facts.get(unused.id) is None
    assert facts.consolidate(uses=3) == 1
    assert facts.consolidate(below=0.0) == 0
    assert memory.count() == 4


# Experiences.


def test_an_experience_keeps_its_parts(memory: Memory) -> None:
    lived = Episodic(memory, agent="a")
    record = lived.record(
        "The API answered 429",
        action={"call": "retry"},
        outcome="It worked after a minute",
        success=True,
        lessons=["Wait before you retry"],
        session="s",
        step=3,
    )
    assert (record.kind, record.agent, record.session, record.step) == ("episode", "a", "s", 3)
    assert record.data["lessons"] == ["Wait before you retry"]
    assert record.text == (
        "The API answered 429\nAction: call: retry\nOutcome: It worked after a minute\nIt went well.\n"
        "Lesson: Wait before you retry"
    )
    assert lived.get(record.id) == record
    assert lived.record("quiet", success=False).text == "quiet\nIt failed."
    assert len(lived) == 2


@pytest.mark.parametrize(
    "how", [{"lessons": "x"}, {"lessons": [3]}, {"success": "yes"}, {"outcome": 3}, {"action": object()}]
)
def test_a_bad_experience_is_refused(memory: Memory, how: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        Episodic(memory).record("x", **how)
    with pytest.raises(BadInput):
        Episodic(memory).record(" ")
    assert memory.count() == 0


def test_similar_experiences_can_be_those_that_went_well(memory: Memory) -> None:
    lived = Episodic(memory)
    good = lived.record("The database was locked", success=True, lessons=["Use a timeout", "Retry"])
    bad = lived.record("The database was locked again", success=False, lessons=["Retry", "Ask Ann"])
    lived.record("The sky was blue")
    assert {hit.id for hit in lived.similar("a locked database", 2)} == {good.id, bad.id}
    assert [hit.id for hit in lived.similar("a locked database", success=True)] == [good.id]
    assert [hit.id for hit in lived.similar("a locked database", success=False)] == [bad.id]
    assert [hit.id for hit in lived.similar("trouble", success=False)] == [bad.id], "the nearest there is"
    assert sorted(lived.lessons("a locked database")) == ["Ask Ann", "Retry", "Use a timeout"]
    assert len(lived.lessons("a locked database", 1)) == 1
    assert Episodic(memory, scope="other").lessons("a locked database") == []
