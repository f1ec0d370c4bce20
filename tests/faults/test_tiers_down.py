"""One of two stores is down, comes back, or the process ends in the middle of it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.faults.nursery import Nursery
from tests.faults.tiers import Pair, fill_the_disk, move_and_die, move_first_and_die, queue_and_die

from eidet.core.errors import Unavailable
from eidet.core.record import Tier
from eidet.core.scope import Scope
from eidet.core.where import Where
from eidet.store import Erasure, verbs
from eidet.store.contract import NOW, fact
from eidet.store.tiered import moving

ALL = Where()


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    made = Pair(tmp_path)
    yield made
    made.short.off = made.long.off = False
    made.store.close()


def ids(pair: Pair) -> list[str]:
    return [record.id for record in pair.store.find(ALL)]


def boxes(tmp_path: Path) -> list[Path]:
    return list((tmp_path / "outbox").glob("*.db"))


def test_reading_answers_from_the_rest_and_says_so(pair: Pair) -> None:
    memory = pair.memory()
    memory.remember("Ann lives in Lisbon", id="old", tier="long")
    memory.remember("Ann has a green bicycle", id="new")
    assert {hit.id for hit in memory.recall("Ann")} == {"old", "new"}
    pair.short.off = True
    hits = memory.recall("Ann", explain=True)
    assert [hit.id for hit in hits] == ["old"]
    assert hits.trace is not None
    assert any("short store is down" in note for note in hits.trace.notes)
    assert memory.admin.stats()["stores"]["short"]["state"] == "down"
    assert (memory.count(), [r.id for r in memory.find()], memory.get("new")) == (1, ["old"], None)
    pair.short.off = False
    pair.wait()
    hits = memory.recall("Ann", explain=True)
    assert {hit.id for hit in hits} == {"old", "new"}
    assert hits.trace is not None
    assert not any("down" in note for note in hits.trace.notes)
    assert memory.admin.stats()["stores"]["short"]["state"] == "up"


def test_an_index_made_meanwhile_is_not_kept(pair: Pair, tmp_path: Path) -> None:
    memory = pair.memory()
    for n in range(12):
        memory.remember(f"fact {n} about rivers", id=f"{n}", tier="long" if n % 2 else "short")
    pair.short.off = True
    assert len(memory.recall("rivers", limit=20)) == 6
    memory.parts.index.close()
    pair.short.off = False
    pair.store.close()
    again = Pair(tmp_path)
    assert len(again.memory().recall("rivers", limit=20)) == 12
    again.store.close()


def test_writes_wait_for_their_store_and_can_be_read_meanwhile(pair: Pair, tmp_path: Path) -> None:
    memory = pair.memory()
    memory.remember("Bob likes tea", id="before")
    pair.short.off = True
    memory.remember("Bob likes coffee", id="waits")
    memory.remember("Bob was born in Porto", id="long", tier="long")
    assert memory.get("waits") is not None
    assert {hit.id for hit in memory.recall("Bob")} == {"waits", "long"}
    assert memory.admin.stats()["stores"]["outbox"]["waiting"] == 1
    assert len(boxes(tmp_path)) == 1
    pair.short.off = False
    pair.wait()
    assert {hit.id for hit in memory.recall("Bob")} == {"before", "waits", "long"}
    assert memory.admin.stats()["stores"]["outbox"]["waiting"] == 0
    assert boxes(tmp_path) == []
    assert pair.short.read("default", ["waits"])[0] is not None
    assert [event.what for event in memory.history("waits")] == ["created"]


def test_what_waits_is_delivered_in_order(pair: Pair) -> None:
    (old,) = verbs.put(pair.store, [fact("x", text="first")], now=NOW)
    pair.short.off = True
    verbs.put(pair.store, [fact("a")], now=NOW)
    verbs.put(pair.store, [fact("x", text="second")], now=NOW)
    verbs.put(pair.store, [fact("b")], now=NOW)
    assert pair.store.read("a", ["x"])[0].text == "second"  # type: ignore[union-attr]
    pair.short.off = False
    pair.wait()
    assert ids(pair) == ["a", "x", "b"]
    (new,) = pair.store.read("a", ["x"])
    assert new is not None
    assert (new.text, new.version, new.created) == ("second", 2, old.created)


def test_what_cannot_wait_is_refused(pair: Pair) -> None:
    (short,) = verbs.put(pair.store, [fact("x")], now=NOW)
    (long,) = verbs.put(pair.store, [fact("y", tier=Tier.LONG)], now=NOW)
    pair.short.off = True
    for act in (
        lambda: verbs.put(pair.store, [fact("x", text="new")], now=NOW, expect=1),
        lambda: verbs.delete_where(pair.store, ALL, now=NOW),
        lambda: verbs.erase(pair.store, lambda _: Erasure(gone=[long]), now=NOW),
        lambda: verbs.delete_unchanged(pair.store, [short], now=NOW),
        lambda: verbs.rewrite_form(pair.store, [(short, short.but(level=1))], now=NOW),
        lambda: verbs.replace_derived(pair.store, []),
        lambda: list(verbs.scan(pair.store, ALL)),
    ):
        with pytest.raises(Unavailable):
            act()
    assert verbs.put(pair.store, [fact("y", text="new", tier=Tier.LONG)], now=NOW, expect=1)[0].version == 2
    pair.short.off = False
    pair.wait()
    assert ids(pair) == ["x", "y"]
    assert verbs.delete_where(pair.store, ALL, now=NOW) == ["x", "y"]


def test_the_long_store_may_be_away_too(pair: Pair) -> None:
    memory = pair.memory()
    memory.remember("Eve plays chess", id="long", tier="long")
    memory.remember("Eve is at home", id="short")
    pair.long.off = True
    memory.remember("Eve has a cold", id="new")
    memory.remember("Eve moved to Oslo", id="waits", tier="long")
    assert {hit.id for hit in memory.recall("Eve")} == {"short", "new", "waits"}
    pair.long.off = False
    pair.wait()
    assert {hit.id for hit in memory.recall("Eve")} == {"long", "short", "new", "waits"}
    assert pair.long.read("default", ["waits"])[0] is not None


def test_with_both_away_nothing_is_made_up(pair: Pair) -> None:
    verbs.put(pair.store, [fact("x")], now=NOW)
    pair.short.off = pair.long.off = True
    for act in (lambda: pair.store.find(ALL), lambda: verbs.count(pair.store, ALL), pair.store.head):
        with pytest.raises(Unavailable):
            act()


def test_without_a_folder_nothing_can_wait(tmp_path: Path) -> None:
    from tests.faults.tiers import Switch

    from eidet.store.ram import RamStore
    from eidet.store.tiered import TieredStore

    short = Switch(RamStore())
    store = TieredStore(short, RamStore())
    short.off = True
    with pytest.raises(Unavailable, match="outbox"):
        verbs.put(store, [fact("x")], now=NOW)


def test_uses_of_a_store_that_is_down_are_counted_later(pair: Pair) -> None:
    verbs.put(pair.store, [fact("x"), fact("y", tier=Tier.LONG)], now=NOW)
    pair.short.off = True
    verbs.add_uses(pair.store, {("a", "x"): (2, NOW), ("a", "y"): (1, NOW)})
    pair.short.off = False
    pair.wait()
    pair.store.mend()
    pair.store.mend()
    assert {record.id: record.uses for record in pair.store.find(ALL)} == {"x": 2, "y": 1}


def test_a_promotion_waits_where_the_record_is(pair: Pair) -> None:
    (old,) = verbs.put(pair.store, [fact("x")], now=NOW)
    pair.long.off = True
    (new,) = verbs.rewrite_form(pair.store, [(old, old.but(tier=Tier.LONG))], now=NOW)
    assert new is not None
    assert pair.store.read("a", ["x"]) == [new]
    assert verbs.count(pair.short, ALL) == 1
    pair.long.off = False
    pair.wait()
    pair.store.mend()
    assert (verbs.count(pair.short, ALL), verbs.count(pair.long, ALL), ids(pair)) == (0, 1, ["x"])
    assert [event.what for event in pair.store.history("a", "x")] == ["created", "moved"]


def check_each_is_there_once(pair: Pair) -> None:
    assert verbs.count(pair.store, ALL) == len(pair.store.match(ALL)) == 20
    assert sorted(ids(pair)) == sorted(f"{n}" for n in range(20))


@pytest.mark.parametrize("when", ["before the copy", "before the old copy is deleted", "never"])
def test_a_move_that_was_killed_is_finished(start: Nursery, tmp_path: Path, when: str) -> None:
    child = start(move_and_die, tmp_path, when)
    assert child.hear() == "ready"
    child.process.wait()
    pair = Pair(tmp_path)
    check_each_is_there_once(pair)
    assert {record.tier for record in verbs.scan(pair.store, ALL)} == {Tier.LONG}
    assert (verbs.count(pair.short, ALL), verbs.count(pair.long, ALL)) == (0, 20)
    assert [event.what for event in pair.store.history("a", "7")] == ["created", "moved"]
    pair.store.close()


def test_a_move_that_was_killed_before_it_was_written_did_not_begin(start: Nursery, tmp_path: Path) -> None:
    child = start(move_and_die, tmp_path, "before it is written")
    assert child.hear() == "ready"
    child.process.wait()
    pair = Pair(tmp_path)
    check_each_is_there_once(pair)
    assert {record.tier for record in verbs.scan(pair.store, ALL)} == {Tier.SHORT}
    assert (verbs.count(pair.short, ALL), verbs.count(pair.long, ALL)) == (20, 0)
    assert [event.what for event in pair.store.history("a", "7")] == ["created"]
    pair.store.close()


@pytest.mark.parametrize("when", ["before the old copy is deleted", "before it is written", "never"])
def test_what_is_moved_before_it_is_written_goes_back_if_it_is_not(
    start: Nursery, tmp_path: Path, when: str
) -> None:
    child = start(move_first_and_die, tmp_path, when)
    assert child.hear() == "ready"
    child.process.wait()
    pair = Pair(tmp_path)
    check_each_is_there_once(pair)
    moved = 19 if when == "never" else 0
    assert verbs.count(pair.store, Where(tiers=(Tier.LONG,))) == moved
    assert (verbs.count(pair.short, ALL), verbs.count(pair.long, ALL)) == (20 - moved, moved)
    assert [record.id for record in pair.store.find(ALL)][-1] == "19" or not moved
    told = [event.what for event in pair.store.history("a", "7")]
    assert told == (["created", "moved"] if moved else ["created"])
    pair.store.close()


def test_whoever_looks_before_a_killed_move_is_finished_sees_each_record_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = Pair(tmp_path), Pair(tmp_path)
    (old,) = verbs.put(one.store, [fact("x")], now=NOW)

    def broken(*_: object) -> None:
        raise Unavailable("cut")

    with monkeypatch.context() as patch:
        patch.setattr(moving, "_delete_copies", broken)
        verbs.rewrite_form(one.store, [(old, old.but(tier=Tier.LONG))], now=NOW)
    assert verbs.count(one.short, ALL) == verbs.count(one.long, ALL) == 1
    assert ids(other) == ["x"]
    assert [record.seq for record in other.store.read("a", ["x"]) if record] == [
        record.seq for record in other.store.find(ALL)
    ]
    seqs = [entry.seq for entry in other.store.changes("a", 0, 10).entries]
    assert len([record for record in other.store.read("a", seqs) if record]) == 1
    other.wait()
    other.wait()
    other.store.mend()
    assert (verbs.count(other.store, ALL), verbs.count(other.short, ALL)) == (1, 0)
    one.store.close()
    other.store.close()


@pytest.mark.parametrize("when", ["at once", "while it delivers"])
def test_what_a_dead_process_left_is_delivered_once(start: Nursery, tmp_path: Path, when: str) -> None:
    child = start(queue_and_die, tmp_path, when)
    assert child.hear() == 10
    child.process.wait()
    assert len(boxes(tmp_path)) == 1
    pair = Pair(tmp_path)
    assert sorted(ids(pair)) == sorted(f"{n}" for n in range(10))
    assert pair.store.read("a", ["3"])[0].text == "says 3 anew"  # type: ignore[union-attr]
    assert (verbs.count(pair.short, ALL), pair.store.health()["outbox"]["waiting"]) == (10, 0)
    assert [event.what for event in pair.store.history("a", "5")] == ["created"]
    assert boxes(tmp_path) == []
    pair.store.close()


def test_what_a_dead_process_left_can_be_read_while_its_store_is_still_down(tmp_path: Path) -> None:
    one = Pair(tmp_path)
    one.short.off = True
    verbs.put(one.store, [fact("x")], now=NOW)
    one.store.close()
    assert len(boxes(tmp_path)) == 1
    other = Pair.__new__(Pair)
    other.ticks = 0.0
    from tests.faults.tiers import Switch

    from eidet.store.sql.sqlite import SqliteStore
    from eidet.store.tiered import TieredStore

    other.short, other.long = (Switch(SqliteStore(tmp_path / f"{name}.db")) for name in ("short", "long"))
    other.short.off = True
    other.store = TieredStore(
        other.short, other.long, outbox=tmp_path / "outbox", clock=lambda: NOW, ticks=lambda: other.ticks
    )
    assert ids(other) == ["x"]
    other.store.close()


def test_a_living_process_keeps_its_outbox(pair: Pair, tmp_path: Path) -> None:
    pair.short.off = True
    verbs.put(pair.store, [fact("mine")], now=NOW)
    other = Pair(tmp_path)
    assert ids(other) == []
    other.store.close()
    assert ids(pair) == ["mine"]


def test_a_full_disk_loses_nothing_that_was_promised(start: Nursery, tmp_path: Path) -> None:
    error, kept, same, waiting = start(fill_the_disk, tmp_path).result()
    assert error.startswith("Unavailable")
    assert 0 < kept < 200
    assert (same, waiting) == (True, 0)


def test_a_store_that_comes_and_goes_under_load_loses_nothing(pair: Pair) -> None:
    memory = pair.memory()
    pair.ticks = 0.0
    ended, errors = threading.Event(), []

    def write(writer: int) -> None:
        for n in range(40):
            try:
                memory.remember(f"writer {writer} says {n}", id=f"{writer}-{n}", scope="load")
            except Unavailable as error:  # pragma: no cover
                errors.append(error)

    def read() -> None:
        while not ended.is_set():
            memory.recall("writer says", scope="load")

    writers = [threading.Thread(target=write, args=(n,)) for n in range(3)]
    reader = threading.Thread(target=read)
    for thread in (*writers, reader):
        thread.start()
    for turn in range(10):
        pair.short.off = turn % 2 == 0
        pair.wait()
        threading.Event().wait(0.05)
    pair.short.off = False
    for thread in writers:
        thread.join()
    ended.set()
    reader.join()
    pair.wait()
    pair.store.mend()
    assert errors == []
    assert verbs.count(pair.short, Where(scope=Scope("load"))) == 120
    assert len(memory.recall("writer says", scope="load", limit=200)) == 120
