"""The life of a memory: tiers, levels of detail, and what upkeep says of them."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from tests.making import Clock
from tests.unit.upkeep.life.given import LONG, QUICK, tiers

from eidet import BadInput, Corrupt, Memory, NotFound
from eidet.core.record import Tier
from eidet.core.settings import Upkeep
from eidet.models.embed import Vectors
from eidet.models.embed.hashing import Hashing

# Tiers.


def test_memories_move_down_as_they_age_and_show_less(memory: Memory, clock: Clock) -> None:
    full = memory.remember(LONG, data={"x": 0.123456})
    clock.days(2)
    assert memory.upkeep.maintain(settings=QUICK).counts == {"move": 1}
    middle = memory.get(full.id)
    assert middle is not None
    assert (middle.tier, middle.level, middle.text, middle.data) == ("middle", 1, LONG, {"x": 0.123456})
    assert len(middle.vector or b"") < len(full.vector or b"") / 3
    clock.days(20)
    memory.upkeep.maintain(settings=QUICK)
    long = memory.get(full.id)
    assert long is not None
    assert (long.tier, long.level, long.data) == ("long", 2, {"x": 0.123})
    assert len(long.text) < 400
    assert long.version == full.version
    assert len(long.vector or b"") < len(middle.vector or b"") / 6
    assert memory.recall("the 77th house in Lisbon")[0].id == full.id
    assert memory.recall("the 77th house in Lisbon")[0].record.level == 2
    told = [event.what for event in memory.history(full.id)]
    assert told == ["created", "moved"], "the note of the first move is older than a week"
    assert memory.upkeep.detail(full.id).text == LONG


def test_importance_delays_a_move_and_use_puts_it_off(memory: Memory, clock: Clock) -> None:
    memory.remember("dull", importance=0.0)
    clock.now += 1
    memory.remember("usual", importance=0.5)
    clock.now += 1
    memory.remember("grave", importance=1.0)
    clock.days(0.7)
    memory.upkeep.maintain(settings=QUICK)
    assert tiers(memory) == ["middle 1", "short 0", "short 0"]
    memory.recall("usual", limit=3)
    clock.days(0.7)
    memory.upkeep.maintain(settings=QUICK)
    assert tiers(memory)[1:] == ["short 0", "short 0"]
    clock.days(100)
    memory.upkeep.maintain(settings=QUICK)
    assert tiers(memory) == ["long 2", "long 2", "short 0"]


def test_a_crowded_tier_gives_up_those_unused_longest(memory: Memory, clock: Clock) -> None:
    memory.remember([f"note {n}" for n in range(10)])
    clock.days(0.1)
    kept = memory.recall("note 3", limit=1)[0].id
    limits = Upkeep(short_entries=4, short_age_days=None)
    assert memory.upkeep.maintain(settings=limits).counts == {"move": 6}
    there = memory.find(tiers="short")
    assert len(there) == 4
    clock.days(1)
    memory.recall("note 3", limit=1)
    memory.upkeep.maintain(settings=Upkeep(short_entries=1, short_age_days=None))
    assert [record.id for record in memory.find(tiers=["short"])] == [kept]
    assert memory.upkeep.maintain(settings=limits).counts == {}


def test_steps_left_behind_move(memory: Memory) -> None:
    for step in range(0, 50, 10):
        memory.remember(f"state at {step}", kind="state", step=step)
    memory.upkeep.maintain(settings=Upkeep(short_steps=20, short_age_days=None))
    assert [record.step for record in memory.find(tiers="short", order="step")] == [20, 30, 40]


def test_a_query_names_the_tiers_it_wants(memory: Memory, clock: Clock) -> None:
    memory.remember("Ann lives in Porto")
    clock.days(2)
    memory.upkeep.maintain(settings=QUICK)
    memory.remember("Ann lives in Lisbon")
    assert len(memory.recall("Ann lives")) == 2
    assert [hit.text for hit in memory.recall("Ann lives", tiers="middle")] == ["Ann lives in Porto"]
    assert [hit.text for hit in memory.recall("Ann lives", tiers=["short", "long"])] == [
        "Ann lives in Lisbon"
    ]
    with pytest.raises(BadInput, match="tier"):
        memory.recall("Ann", tiers="stm")


def test_restoring_brings_everything_back_to_the_middle(memory: Memory, clock: Clock) -> None:
    full = memory.remember(LONG, data={"x": 0.123456}, vector=[0.5] * 64)
    clock.days(100)
    memory.upkeep.maintain(settings=QUICK)
    back = memory.upkeep.restore(full.id)
    assert (back.tier, back.level) == ("middle", 0)
    assert (back.text, back.data, back.vector, back.terms) == (full.text, full.data, full.vector, full.terms)
    assert memory.upkeep.maintain(settings=QUICK).counts == {}, "what was just restored is not moved again"
    clock.days(100)
    assert memory.upkeep.maintain(settings=QUICK).counts == {"move": 1}


def test_what_is_used_often_is_promoted_tier_by_tier(memory: Memory, clock: Clock) -> None:
    full = memory.remember(LONG)
    for _ in range(9):
        memory.recall("Lisbon")
    clock.days(100)
    memory.upkeep.maintain(settings=QUICK)
    for _ in range(4):
        memory.recall("Lisbon")
    assert memory.upkeep.maintain(settings=QUICK, only="promote").counts == {}, (
        "uses before the move do not count"
    )
    memory.recall("Lisbon")
    assert memory.upkeep.maintain(settings=QUICK).counts == {"promote": 1}
    there = memory.get(full.id)
    assert there is not None
    assert (there.tier, there.level, there.text, there.uses) == ("middle", 0, LONG, 14)
    assert memory.upkeep.maintain(settings=QUICK).counts == {}
    for _ in range(5):
        memory.recall("Lisbon")
    memory.upkeep.maintain(settings=QUICK)
    assert tiers(memory) == ["short 0"]


def test_an_embedder_is_asked_once_a_batch(clock: Clock) -> None:
    class Counting(Hashing):
        def embed(self, texts: Sequence[str]) -> Vectors:
            asked.append(len(texts))
            return super().embed(texts)

    asked: list[int] = []
    small = replace(QUICK, batch=10)
    with Memory(embedder=Counting(64), clock=clock) as memory:
        stored = memory.remember([f"Ann rowed boat {n}" for n in range(25)])
        clock.days(100)
        asked.clear()
        assert memory.upkeep.maintain(settings=small, only="move").counts == {"move": 25}
        assert asked == [10, 10, 5]
        for _ in range(5):
            memory.recall("Ann rowed", limit=25)
        asked.clear()
        assert memory.upkeep.maintain(settings=small, only="promote").counts == {"promote": 25}
        assert asked == [10, 10, 5]
        assert [record.vector for record in memory.find(order="created")] == [one.vector for one in stored]


def test_a_revision_is_of_the_whole_record(memory: Memory, clock: Clock) -> None:
    full = memory.remember(LONG, data={"x": 0.123456})
    clock.days(100)
    memory.upkeep.maintain(settings=QUICK)
    new = memory.revise(full.id, who="Ann", digest=full.digest)
    assert (new.text, new.data, new.who, new.level, new.version) == (LONG, {"x": 0.123456}, "Ann", 0, 2)
    assert memory.history(full.id)[-1].before == {"who": None, "level": 2}
    memory.upkeep.maintain(settings=QUICK)
    assert memory.revise(full.id, text="short now").text == "short now"
    assert memory.history(full.id)[-1].before["text"] == LONG  # type: ignore[index]


def test_a_fact_is_known_again_by_its_whole_text(memory: Memory, clock: Clock) -> None:
    full = memory.remember(LONG)
    clock.days(100)
    memory.upkeep.maintain(settings=QUICK)
    assert memory.remember(LONG).id == full.id
    assert memory.count() == 1


def test_an_export_carries_the_whole(memory: Memory, clock: Clock, tmp_path: Path) -> None:
    full = memory.remember(LONG, vector=[0.25] * 64)
    clock.days(100)
    memory.upkeep.maintain(settings=QUICK)
    memory.export(tmp_path / "all.jsonl")
    with Memory(embedder="hashing:64", clock=clock) as other:
        other.load(tmp_path / "all.jsonl")
        assert other.get(full.id).level == 2  # type: ignore[union-attr]
        assert other.upkeep.restore(full.id).vector == full.vector
    with Memory(embedder="hashing:32", language="de", clock=clock) as foreign:
        foreign.load(tmp_path / "all.jsonl")
        assert foreign.recall("the 77th house in Lisbon")[0].record.level == 2
        detail = foreign.upkeep.detail(full.id)
        assert detail.text == LONG
        assert len(detail.vector or b"") == len(foreign.remember(LONG, keep_duplicates=True).vector or b"")
        assert foreign.admin.check() == []


def test_another_embedder_makes_lowered_vectors_of_the_whole_text(memory: Memory, clock: Clock) -> None:
    full = memory.remember(LONG, vector=[0.25] * 64)
    memory.remember("Bob has a boat")
    clock.days(100)
    memory.upkeep.maintain(settings=QUICK)
    memory.admin.reembed("hashing:32")
    assert memory.recall("the 77th house in Lisbon")[0].id == full.id
    back = memory.upkeep.restore(full.id)
    assert back.vector == memory.remember(LONG, keep_duplicates=True).vector
    assert memory.admin.rebuild(language="de") == 3
    assert memory.recall("77th house")[0].text == LONG


def test_the_history_forgets_moves_and_indexes_that_were_away_begin_anew(
    tmp_path: Path, clock: Clock
) -> None:
    path = tmp_path / "m.db"
    with (
        Memory(path, embedder="hashing:64", clock=clock) as here,
        Memory(path, embedder="hashing:64", clock=clock) as away,
    ):
        records = here.remember([f"note {n}" for n in range(50)])
        assert len(away.recall("note 7", limit=50, least=0)) == 50
        clock.days(100)
        here.upkeep.maintain(settings=QUICK)
        assert here.history(records[0].id)[-1].what == "moved"
        clock.days(8)
        here.remember("one more")
        here.forget(records[1].id)
        here.upkeep.maintain(settings=QUICK)
        assert [event.what for event in here.history(records[0].id)] == ["created"]
        assert away.admin.check() == []
        assert len(away.recall("note 7", limit=60, least=0)) == 50
        assert len(here.recall("note 7", limit=60, least=0)) == 50
        assert [event.what for event in here.history(records[1].id)] == ["created", "forgotten"]
        here.forget(records[2].id)  # the last event of a file stays, so that no seq is given twice
        clock.days(1)
        here.upkeep.maintain(settings=Upkeep(history_days=0))
        assert here.history(records[1].id) == []
        assert here.admin.check() == away.admin.check() == []


def test_detail_of_what_is_not_there_is_not_found(memory: Memory) -> None:
    for verb in (
        memory.upkeep.detail,
        memory.upkeep.restore,
        memory.upkeep.pin,
        memory.upkeep.hold,
        memory.upkeep.unpin,
        memory.upkeep.release,
    ):
        with pytest.raises(NotFound):
            verb("none")


# What upkeep says.


def test_a_dry_run_tells_each_change_with_its_reason_and_changes_nothing(
    memory: Memory, clock: Clock
) -> None:
    memory.remember("gone soon", expires=timedelta(days=1), id="a")
    memory.remember("old", id="b")
    clock.days(2)
    head = memory.parts.store.head()
    said = memory.upkeep.maintain(settings=QUICK, dry_run=True)
    assert [str(change) for change in said.changes] == [
        "expire default/a: expired 1.0 days ago",
        "move default/b: not used for 2.0 days at importance 0.50",
    ]
    assert str(said) == "would expire 1, move 1 (2 examined)"
    assert memory.parts.store.head() == head
    done = memory.upkeep.maintain(settings=QUICK)
    assert set(done.changes) == set(said.changes)
    assert memory.upkeep.maintain(settings=QUICK).counts == {}


def test_only_the_works_that_are_named_are_done(memory: Memory, clock: Clock) -> None:
    memory.remember("gone soon", expires=timedelta(days=1))
    clock.days(2)
    assert memory.upkeep.maintain(settings=QUICK, only="move", dry_run=True).counts == {"move": 1}
    assert memory.upkeep.maintain(settings=QUICK, only=["expire"]).counts == {"expire": 1}
    with pytest.raises(BadInput, match="unknown upkeep steps"):
        memory.upkeep.maintain(only="tidy")


def test_a_scope_can_be_named(memory: Memory, clock: Clock) -> None:
    memory.remember("here", scope="a")
    memory.remember("there", scope="b")
    clock.days(2)
    assert memory.upkeep.maintain("a", settings=QUICK).counts == {"move": 1}
    assert memory.find(scope="b")[0].tier is Tier.SHORT


def test_a_record_whose_original_is_damaged_keeps_no_other_from_moving(tmp_path: Path, clock: Clock) -> None:
    path = tmp_path / "m.db"
    with Memory(path, embedder="hashing:64", clock=clock) as memory:
        memory.remember(LONG, id="x", vector=[0.5] * 64)
        clock.days(2)
        memory.upkeep.maintain(settings=QUICK)
        memory.remember(LONG.replace("Lisbon", "Porto"), id="y")
        with closing(sqlite3.connect(path)) as raw, raw:
            raw.execute("UPDATE records SET original = 'rubbish' WHERE id = 'x'")
        clock.days(100)
        done = memory.upkeep.maintain(settings=QUICK)
        assert done.counts == {"move": 1}
        assert any("x" in failure and "damaged" in failure for failure in done.failed)
        assert memory.get("y").tier is Tier.LONG  # type: ignore[union-attr]
        with pytest.raises(Corrupt, match="damaged"):
            memory.upkeep.detail("x")
