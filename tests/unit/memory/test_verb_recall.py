"""`recall` and `find`: order, reasons, filters, recipes, and what a read writes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.making import DAY, Clock, texts
from tests.unit.memory.given import HASHING, head

from eidet import BadInput, Box, Condition, Draft, Kind, Memory, Near, Recipe, Scope, Settings, Tier, Where
from eidet.core.record import Record
from eidet.store import verbs
from eidet.store.ram import RamStore


def test_the_best_come_first_with_their_reasons(memory: Memory) -> None:
    memory.remember(["Ann lives in Lisbon", "Bob lives in Porto", "The weather is nice"])
    hits = memory.recall("where does Ann live?")
    assert hits[0].text == "Ann lives in Lisbon"
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert all(0 <= hit.score <= 1 for hit in hits)
    assert {"ann", "live"} == set(hits[0].matched)
    told = {signal.name for signal in hits[0].signals}
    assert told >= {"dense", "words", "importance"}
    assert all(signal.rank == 1 for signal in hits[0].signals if signal.name in {"dense", "words"})
    assert abs(sum(signal.share for signal in hits[0].signals) - hits[0].score) < 1e-9
    assert "words" in hits[0].why(numbers=True)
    assert "has ann, live" in hits[0].why()
    assert hits.trace is None


def test_what_was_remembered_is_recalled_next(memory: Memory) -> None:
    for n in range(30):
        memory.remember(f"the number{n} is remembered")
        assert f"number{n} " in memory.recall(f"number{n}", limit=1)[0].text


def test_a_limit_is_kept(memory: Memory) -> None:
    memory.remember([f"fact {n}" for n in range(150)])
    assert [len(memory.recall("fact", limit=limit, least=0)) for limit in (1, 10, 100, 150, 1000)] == [
        1,
        10,
        100,
        150,
        150,
    ]
    assert len(memory.recall(limit=3)) == 3


@pytest.fixture
def diary(memory: Memory) -> Memory:
    """Five records that differ in everything a filter can ask for."""
    memory.remember(
        [
            Draft(
                text="plan a", occurred=100.0, place=(0, 0), importance=0.1, step=1, session="s1", who="Ann"
            ),
            Draft(
                text="plan b", occurred=200.0, place=(1, 1), importance=0.3, step=2, session="s1", who="Bob"
            ),
            Draft(
                text="plan c",
                occurred=300.0,
                place=(5, 5, 5),
                importance=0.5,
                step=3,
                session="s2",
                who="Ann",
            ),
            Draft(
                text="plan d",
                occurred=400.0,
                importance=0.7,
                step=4,
                agent="x",
                data={"hp": 0.2, "bag": ["axe"]},
            ),
            Draft(
                text="plan e", occurred=500.0, importance=0.9, agent="y", data={"hp": 0.9}, meta={"ok": True}
            ),
        ],
        kind="episode",
    )
    memory.remember("plan f", kind="fact", tier="long", occurred=600.0, source="mail")
    return memory


FILTERS: list[tuple[dict[str, Any], str]] = [
    ({}, "abcdef"),
    ({"since": 300.0}, "cdef"),
    ({"until": 200}, "ab"),
    ({"since": "1970-01-01T00:03:20+00:00", "until": datetime.fromtimestamp(400, UTC)}, "bcd"),
    ({"kinds": "fact"}, "f"),
    ({"kinds": ["fact", "state"]}, "f"),
    ({"session": "s1"}, "ab"),
    ({"who": "Ann"}, "ac"),
    ({"agent": "y"}, "e"),
    ({"who": "Ann", "session": "s2"}, "c"),
    ({"where": Where(near=Near(place=(0, 0), radius=1.5))}, "ab"),
    ({"where": Where(box=Box(low=(1, 1), high=(9, 9)))}, "bc"),
    ({"where": Where(box=Box(low=(1, 1, 1), high=(9, 9, 9)))}, "c"),
    ({"where": Where(importance_min=0.5, importance_max=0.7)}, "cdf"),
    ({"where": Where(step_from=2, step_to=3)}, "bc"),
    ({"where": Where(tiers=(Tier.LONG,))}, "f"),
    ({"where": Where(source="mail")}, "f"),
    ({"where": Where(conditions=(Condition("data.hp", "<", 0.5),))}, "d"),
    ({"where": Where(conditions=(Condition("data.bag", "contains", "axe"),))}, "d"),
    ({"where": Where(conditions=(Condition("meta.ok", "=", True),))}, "e"),
    ({"where": Where(conditions=(Condition("data.hp", "exists"),)), "since": 450.0}, "e"),
    ({"where": Where(who="Bob") | Where(importance_min=0.8), "until": 450.0}, "b"),
    ({"where": ~Where(kinds=(Kind.EPISODE,))}, "f"),
    ({"where": Where(created_until=5.0)}, ""),
    ({"where": Where(who="nobody")}, ""),
    ({"where": Where(scope=Scope("other"))}, ""),
]


@pytest.mark.parametrize(("how", "wanted"), FILTERS, ids=lambda value: str(value)[:60])
def test_recall_and_find_filter_by_everything_alike(diary: Memory, how: dict[str, Any], wanted: str) -> None:
    names = {f"plan {letter}" for letter in wanted}
    assert set(texts(diary.recall("plan", **how))) == names
    assert set(texts(diary.recall("", **how))) == names
    assert set(texts(diary.find(**how))) == names
    assert verbs.count(diary.parts.store, Where()) == 6


def test_without_a_query_the_filter_decides_and_a_field_orders(diary: Memory) -> None:
    assert [text[-1] for text in texts(diary.recall())] == list("fedcba")
    assert [text[-1] for text in texts(diary.recall("  ", order="importance", limit=3))] == list("abc")
    assert [text[-1] for text in texts(diary.recall(order="-step"))] == list("dcbafe")
    assert {hit.score for hit in diary.recall()} == {1.0}
    assert diary.recall()[0].why() == "matches the filter"
    with pytest.raises(BadInput, match="unknown order 'text'"):
        diary.recall(order="text")


def test_find_orders_and_pages(diary: Memory) -> None:
    assert [text[-1] for text in texts(diary.find(order="occurred", limit=2, offset=1))] == list("bc")
    assert [text[-1] for text in texts(diary.find(order="-importance", limit=2))] == list("ed")
    assert texts(diary.find(offset=6)) == []
    diary.recall("", where=Where(who="Bob"))
    diary.admin.flush()
    assert texts(diary.find(order="-uses", limit=1)) == ["plan b"]


def test_explain_tells_how_the_answer_came_about(diary: Memory) -> None:
    hits = diary.recall("plan a", who="Ann", least=0, explain=True)
    trace = hits.trace
    assert trace is not None
    assert trace.query == "plan a"
    assert "plan" in trace.terms
    assert (trace.scopes, trace.searched, trace.filtered) == (("default",), 6, 4)
    assert set(trace.arms) == {"dense", "words"}
    for arm in trace.arms.values():
        scores = [score for _, score in arm]
        assert scores == sorted(scores, reverse=True)
        assert {id for id, _ in arm} <= {hit.id for hit in hits}
    assert set(trace.weights) >= {"dense", "words", "importance"}
    assert abs(sum(weight for name, weight in trace.weights.items() if name != "question") - 1) < 1e-9
    assert trace.millis.keys() >= {"understand", "search", "fuse", "fetch"}
    listed = diary.recall(explain=True).trace
    assert listed is not None
    assert listed.notes == ("ordered by -occurred",)


def test_a_recipe_says_what_counts(memory: Memory, clock: Clock) -> None:
    memory.remember("old plan", occurred=clock.now - 300 * DAY, importance=0.9)
    memory.remember("new plan", occurred=clock.now, importance=0.1)
    assert memory.recall("plan", recipe=Recipe(importance=5.0))[0].text == "old plan"
    assert memory.recall("plan", recipe=Recipe(recency=5.0))[0].text == "new plan"


def test_reads_do_not_write(memory: Memory, tmp_path: Path) -> None:
    record = memory.remember("Ann lives in Lisbon")
    before = head(memory), bytes_of(tmp_path)
    for _ in range(5):
        memory.recall("Ann")
        memory.recall()
        memory.context("Ann")
        memory.find()
        memory.get(record.id)
        memory.history(record.id)
        memory.admin.stats()
        memory.scopes()
        memory.admin.check()
    assert (head(memory), bytes_of(tmp_path)) == before


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir() if not file.name.endswith("-shm")}


def test_uses_are_noted_and_written_with_the_next_flush(memory: Memory, clock: Clock) -> None:
    record, other = memory.remember(["Ann lives in Lisbon", "zebra"])
    memory.recall("Ann Lisbon", limit=1)
    clock.pass_()
    memory.recall("Ann Lisbon", limit=1)
    assert memory.get(record.id) == record
    before = head(memory)
    memory.admin.flush()
    assert memory.get(record.id) == record.but(uses=2, last_used=clock.now)
    assert memory.get(other.id) == other
    assert head(memory) == before


def test_uses_are_written_once_enough_wait(clock: Clock) -> None:
    with Memory(embedder=HASHING, settings=Settings(flush_uses=2), clock=clock) as memory:
        one, two = memory.remember(["Ann", "Bob"])
        memory.recall("Ann", limit=1)
        memory.remember("three")
        assert memory.get(one.id) == one
        memory.recall("Bob", limit=1)
        memory.remember("four")
        assert [record.uses for record in memory.get([one.id, two.id]) if record] == [1, 1]


def test_uses_survive_closing(tmp_path: Path, clock: Clock) -> None:
    with Memory(tmp_path / "memory.db", embedder=HASHING, clock=clock) as memory:
        record = memory.remember("Ann")
        memory.recall("Ann")
    with Memory(tmp_path / "memory.db", embedder=HASHING, clock=clock) as memory:
        found = memory.get(record.id)
        assert found is not None
        assert found.uses == 1


class Revised(RamStore):
    """Somebody changes every record between the moment the index answers and the moment it is read."""

    def read(self, scope: str, keys: Sequence[str] | Sequence[int]) -> list[Record | None]:
        if keys and isinstance(keys[0], str):
            return super().read(scope, keys)
        for record in self.find(Where(scope=Scope(scope))):
            verbs.put(self, [record.but(importance=record.importance / 2)], now=5.0)
        return super().read(scope, keys)


def test_find_misses_nothing_that_is_changed_meanwhile(clock: Clock) -> None:
    with Memory(Revised(), embedder=HASHING, clock=clock) as memory:
        memory.remember([f"fact {n}" for n in range(5)])
        assert texts(memory.find(order="seq")) == [f"fact {n}" for n in range(5)]
        assert len(memory.recall()) == 5
