"""Facts are the same on every store: derived ones, told ones and decisions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.making import Clock, make_store, texts

from eidet import Memory
from eidet.core.scope import Scope
from eidet.graph import Graphs
from eidet.graph.asking import Asking
from eidet.graph.fact import Fact
from eidet.graph.scope_graph import View

LATER = 1_730_000_000.0  # in October 2024
STORES = ("ram", "sqlite", "postgres", "redis", "sealed ram", "sealed sqlite", "tiered", "tiered on redis")


@pytest.fixture(params=STORES)
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    store = make_store(request.param, tmp_path, request)
    with Memory(store, embedder="hashing", clock=Clock(LATER, tick=1.0)) as opened:
        yield opened


def built_anew(memory: Memory, scope: str = "default") -> list[Fact]:
    """All facts of a scope, from a graph that has seen nothing before."""
    return list_all(Asking(Graphs(memory.parts.store)), scope)


def list_all(asking: Asking, scope: str) -> list[Fact]:
    view = View(now=4e9)
    facts = asking.list_facts(
        Scope(scope),
        lambda graph: [one for group in graph.list_groups() for one in graph.trace(*group, view)],
    )
    return sorted(facts, key=lambda fact: (fact.text, fact.valid_from or 0.0))


def check_same(memory: Memory, scope: str = "default") -> None:
    """What followed the store step by step is what is built from it at once."""
    assert list_all(Asking(memory.parts.graphs), scope) == built_anew(memory, scope)


def test_a_later_fact_closes_and_forgetting_it_opens_again(memory: Memory) -> None:
    memory.remember("Ann lives in Lisbon.", occurred="2024-01-10")
    porto = memory.remember("Ann moved to Porto.", occurred="2024-06-03")
    assert texts(memory.facts.about("Ann")) == ["Ann lives in Porto"]
    assert texts(memory.facts.about("Ann", as_of="2024-03-01")) == ["Ann lives in Lisbon"]
    lisbon = memory.facts.timeline("Ann")[0]
    assert lisbon.superseded_by == f"{porto.id}#0"
    check_same(memory)
    memory.forget(porto.id)
    assert texts(memory.facts.about("Ann")) == ["Ann lives in Lisbon"]
    assert "porto" not in [entity.name.casefold() for entity in memory.facts.entities()]
    check_same(memory)


def test_a_revision_changes_the_facts_of_its_record(memory: Memory) -> None:
    record = memory.remember("Ann works at Acme.", id="job")
    memory.revise("job", text="Ann works at Beta.")
    assert texts(memory.facts.about("Ann")) == ["Ann works at Beta"]
    assert record.id == memory.facts.about("Ann")[0].sources[0]
    check_same(memory)


def test_told_facts_and_decisions_are_records_and_undone_by_forgetting_them(memory: Memory) -> None:
    memory.remember("Ann lives in Lisbon.", occurred="2024-01-10")
    told = memory.facts.add("Ann", "lives_in", "Porto", since="2024-06-03")
    assert memory.get(told.id) is not None
    retracted = memory.facts.retract(told)
    assert texts(memory.facts.about("Ann")) == ["Ann lives in Lisbon"]
    check_same(memory)
    memory.forget(retracted.id, for_good=False)
    assert texts(memory.facts.about("Ann")) == ["Ann lives in Porto"]
    check_same(memory)


def test_a_merge_is_undone_without_a_trace(memory: Memory) -> None:
    memory.remember("Ann lives in Lisbon.")
    memory.remember("Annie likes jazz.")
    before = built_anew(memory)
    merged = memory.facts.merge("Ann", "Annie")
    assert texts(memory.facts.about("Ann")) == texts(memory.facts.about("Annie"))
    check_same(memory)
    memory.facts.undo(merged)
    assert texts(built_anew(memory)) == texts(before)
    check_same(memory)


def test_no_fact_crosses_a_scope(memory: Memory) -> None:
    memory.remember("Ann lives in Lisbon.", scope="a", occurred="2024-01-10")
    memory.remember("Ann lives in Porto.", scope="a/b", occurred="2024-06-03")
    assert texts(memory.facts.about("Ann", scope="a")) == ["Ann lives in Lisbon"]
    assert texts(memory.facts.about("Ann", scope="a/**")) == ["Ann lives in Lisbon", "Ann lives in Porto"]
    assert memory.facts.paths("Lisbon", "Porto", scope="a/**") == []
    assert memory.facts.about("Ann", scope="c") == []


def test_an_export_carries_facts_and_decisions(memory: Memory, tmp_path: Path) -> None:
    memory.remember("Ann lives in Lisbon.", occurred="2024-01-10")
    memory.facts.retract(memory.facts.add("Ann", "lives_in", "Porto", since="2024-06-03"))
    memory.export(tmp_path / "all.jsonl", plain=True)
    with Memory(embedder="hashing", clock=Clock(LATER)) as other:
        other.load(tmp_path / "all.jsonl")
        assert texts(other.facts.about("Ann")) == texts(memory.facts.about("Ann")) == ["Ann lives in Lisbon"]


def test_facts_stay_when_their_records_move_to_another_tier(memory: Memory) -> None:
    record = memory.remember("Ann lives in Lisbon. She likes jazz.", occurred="2024-01-10")
    before = texts(memory.facts.about("Ann"))
    memory.revise(record.id, tier="long")
    memory.upkeep.maintain()
    assert texts(memory.facts.about("Ann")) == before == ["Ann likes jazz", "Ann lives in Lisbon"]
    check_same(memory)
