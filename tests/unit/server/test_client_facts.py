"""`client.facts`: each verb answers what `memory.facts` answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.servers import free_port
from tests.servers.served import Running, serve_in_thread

from eidet import AsyncMemory, Client, NotFound
from eidet.server.server_settings import ServerSettings

SAID = (
    ("Ann lives in Lisbon.", "2026-01-10", "home"),
    ("Ann moved to Porto.", "2026-06-03", "move"),
    ("Ann works at Acme.", "2026-02-01", "work"),
    ("Acme is located in Porto.", "2026-02-02", "seat"),
    ("Always answer in metric units.", "2026-02-03", "units"),
)
QUESTIONS: dict[str, Callable[[Any], Any]] = {
    "about": lambda facts: facts.about("Ann"),
    "about then": lambda facts: facts.about("Ann", as_of="2026-03-01"),
    "about before": lambda facts: facts.about("Ann", known_at="2000-01-01"),
    "match": lambda facts: facts.match(("?x", "works_at", "?o"), ("?o", "located_in", "?p")),
    "match by parts": lambda facts: facts.match(subject="Ann", relation="lives_in", ever=True, limit=5),
    "neighbours": lambda facts: facts.neighbours("Ann"),
    "paths": lambda facts: facts.paths("Ann", "Porto", hops=2),
    "timeline": lambda facts: facts.timeline("Ann"),
    "timeline of one relation": lambda facts: facts.timeline("Ann", relation="lives_in"),
    "entities": lambda facts: facts.entities(),
    "entities by name": lambda facts: facts.entities("Ann"),
    "entities by kind": lambda facts: facts.entities(kind="person"),
    "an entity": lambda facts: facts.about(facts.entities("Ann")[0]),
    "profile": lambda facts: facts.profile("Ann"),
    "why": lambda facts: facts.why(facts.timeline("Ann", relation="lives_in")[0]),
    "why, in words": lambda facts: str(facts.why(facts.about("Ann")[0].id)),
    "instructions": lambda facts: facts.instructions(),
    "instructions only": lambda facts: facts.instructions(preferences=False),
    "contradictions": lambda facts: facts.contradictions(),
    "decisions": lambda facts: facts.decisions(),
    "export": lambda facts: facts.export(ever=True),
}


@pytest.fixture(scope="module")
def served() -> Iterator[Running]:
    """Its clock knows no fractions of a second that JSON would round."""
    memory = AsyncMemory(embedder="hashing:64", clock=lambda: 1_794_000_000.0)
    running = Running(memory, ServerSettings(port=free_port()))
    running.start()
    for text, occurred, id in SAID:
        memory.core.remember(text, occurred=occurred, id=id)
    yield running
    running.stop()


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_is_answered_as_by_a_memory(served: Running, question: str) -> None:
    ask = QUESTIONS[question]
    with Client(served.url) as client:
        assert ask(client.facts) == ask(served.memory.core.facts)


def test_facts_are_stated_decided_and_decisions_undone() -> None:
    with serve_in_thread() as running, Client(running.url) as client:
        facts, own = client.facts, running.memory.core.facts
        oslo = facts.add("Kim", "lives in", "Oslo", since="2026-01-01", who="kim", sources=())
        facts.add("Kim", "lives_in", "Bergen", since="2026-01-01")
        assert (oslo.id, oslo.object) in [(fact.id, fact.object) for fact in own.about("Kim")]
        (dispute,) = facts.contradictions()
        assert {fact.object for fact in dispute.facts} == {"Oslo", "Bergen"}
        decision = facts.resolve(oslo, because="Kim said so")
        assert facts.contradictions() == []
        assert [one.id for one in facts.decisions()] == [decision.id]
        facts.undo(decision)
        assert len(facts.contradictions()) == 1
        facts.undo(facts.retract(oslo.id))
        facts.add("Kimberly", "likes", "tea")
        merged = facts.merge("Kim", "Kimberly")
        assert own.entities("Kimberly")[0].name == own.entities("Kim")[0].name
        facts.undo(merged.id)
        for wrong in (facts.why, facts.retract, facts.resolve, facts.undo):
            with pytest.raises(NotFound):
                wrong("nothing")
