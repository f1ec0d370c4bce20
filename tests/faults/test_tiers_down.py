"""One of two stores is down, comes back, or the process ends in the middle of it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.faults.nursery import Nursery
from tests.faults.tiers import Pair, Switch, fill_the_disk, move_and_die, queue_and_die

from eidet.core.errors import Unavailable
from eidet.core.record import Tier
from eidet.core.scope import Scope
from eidet.core.where import Where
from eidet.store import Erasure, verbs
from eidet.store.contract import NOW, fact
from eidet.store.sql.sqlite import SqliteStore

ALL = Where()


@pytest.fixture(params=[None, bytes(range(32))], ids=["plain", "sealed"])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Pair]:
    """A pair for a memory; if that is sealed, no file of it ever shows what it was told."""
    made = Pair(tmp_path, request.param)
    yield made
    files = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert any(word in files for word in (b"Lisbon", b"coffee", b"chess")) == (request.param is None)
    made.short.off = made.long.off = False
    made.store.close()


def ids(pair: Pair) -> list[str]:
    return [record.id for record in pair.store.find(ALL)]


def count_waiting(pair: Pair) -> int:
    waiting: int = pair.store.health()["waiting"]["records"]
    return waiting


def test_reading_answers_from_the_rest_and_says_so(kept: Pair) -> None:
    memory = kept.memory()
    memory.remember("Ann lives in Lisbon", id="old", tier="long")
    memory.remember("Ann has a green bicycle", id="new")
    assert {hit.id for hit in memory.recall("Ann")} == {"old", "new"}
    kept.short.off = True
    hits = memory.recall("Ann", explain=True)
    assert [hit.id for hit in hits] == ["old"]
    assert hits.trace is not None
    assert any("short store is down" in note for note in hits.trace.notes)
    assert memory.admin.stats()["stores"]["short"]["state"] == "down"
    assert (memory.count(), [r.id for r in memory.find()], memory.get("new")) == (1, ["old"], None)
    kept.short.off = False
    kept.wait()
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


def test_writes_wait_for_their_store_and_can_be_read_meanwhile(kept: Pair) -> None:
    memory = kept.memory()
    memory.remember("Bob likes tea", id="before")
    kept.short.off = True
    memory.remember("Bob likes coffee", id="waits")
    memory.remember("Bob likes coffee, black", id="waits")
    memory.remember("Bob was born in Porto", id="long", tier="long")
    assert memory.get("waits") is not None
    assert {hit.id for hit in memory.recall("Bob")} == {"waits", "long"}
    assert memory.admin.stats()["stores"]["waiting"]["records"] == 1
    kept.short.off = False
    kept.wait()
    assert {hit.id for hit in memory.recall("Bob")} == {"before", "waits", "long"}
    kept.store.mend()
    assert {hit.id for hit in memory.recall("Bob")} == {"before", "waits", "long"}
    assert memory.admin.stats()["stores"]["waiting"]["records"] == 0
    assert kept.short.read("default", ["waits"])[0] is not None
    told = [(event.what, event.before and event.before["text"]) for event in memory.history("waits")]
    assert told == [("created", None), ("revised", "Bob likes coffee")]


def test_what_waits_is_delivered_in_order(pair: Pair) -> None:
    (old,) = verbs.put(pair.store, [fact("x", text="first")], now=NOW)
    pair.short.off = True
    verbs.put(pair.store, [fact("a")], now=NOW)
    verbs.put(pair.store, [fact("x", text="second")], now=NOW)
    verbs.put(pair.store, [fact("b")], now=NOW)
    assert pair.store.read("a", ["x"])[0].text == "second"  # type: ignore[union-attr]
    pair.short.off = False
    pair.wait()
    assert pair.store.read("a", ["x"])[0].text == "second"  # type: ignore[union-attr]
    assert verbs.count(pair.store, ALL) == len(ids(pair)) == 3
    pair.store.mend()
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


def test_the_long_store_may_be_away_too(kept: Pair) -> None:
    memory = kept.memory()
    memory.remember("Eve plays chess", id="long", tier="long")
    memory.remember("Eve is at home", id="short")
    kept.long.off = True
    memory.remember("Eve has a cold", id="new")
    memory.remember("Eve moved to Oslo", id="waits", tier="long")
    assert {hit.id for hit in memory.recall("Eve")} == {"short", "new", "waits"}
    kept.long.off = False
    kept.wait()
    assert {hit.id for hit in memory.recall("Eve")} == {"long", "short", "new", "waits"}
    kept.store.mend()
    assert kept.long.read("default", ["waits"])[0] is not None


def test_with_both_away_nothing_is_made_up(pair: Pair) -> None:
    verbs.put(pair.store, [fact("x")], now=NOW)
    pair.short.off = pair.long.off = True
    for act in (lambda: pair.store.find(ALL), lambda: verbs.count(pair.store, ALL), pair.store.head):
        with pytest.raises(Unavailable):
            act()


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
    assert sum(verbs.count_kinds(pair.store, ALL).values()) == 20
    assert sorted(ids(pair)) == sorted(f"{n}" for n in range(20))
    assert len(pair.store.find(ALL, limit=20)) == 20
    assert len(list(verbs.scan(pair.store, ALL))) == 20
    seqs = [entry.seq for entry in pair.store.changes("a", 0, 100).entries]
    assert len([record for record in pair.store.read("a", seqs) if record]) == 20


@pytest.mark.parametrize(
    ("source", "dying", "writes", "copied"),
    [
        ("short", "", 0, True),
        ("short", "short", 1, False),
        ("short", "long", 2, True),  # not deleted yet
        ("long", "short", 2, True),  # the same the other way
    ],
)
def test_a_move_that_was_killed_shows_and_counts_each_record_once(
    start: Nursery, tmp_path: Path, source: str, dying: str, writes: int, copied: bool
) -> None:
    child = start(move_and_die, tmp_path, source, dying, str(writes))
    assert child.hear() == "ready"
    witness = Pair(tmp_path)
    check_each_is_there_once(witness)
    child.say("go")
    child.process.wait()
    check_each_is_there_once(witness)
    kept, left = (witness.long, witness.short) if source == "short" else (witness.short, witness.long)
    if dying:
        assert (verbs.count(kept, ALL), verbs.count(left, ALL)) == (19 if copied else 0, 20)
    after = Pair(tmp_path)
    check_each_is_there_once(after)
    assert (verbs.count(kept, ALL), verbs.count(left, ALL)) == (19, 1)
    check_each_is_there_once(witness)
    assert ids(after) == ["19", *(f"{n}" for n in range(19))], "moved in the order of writing"
    assert [event.what for event in after.store.history("a", "7")] == ["created", "moved"]
    after.store.close()
    witness.store.close()


def test_a_record_that_moves_while_others_read_is_seen_once(tmp_path: Path) -> None:
    one, other = Pair(tmp_path), Pair(tmp_path)
    (record,) = verbs.put(one.store, [fact("x")], now=NOW)
    ended, counts = threading.Event(), set()

    def look() -> None:
        while not ended.is_set():
            counts.add((verbs.count(other.store, ALL), len(other.store.find(ALL))))

    reader = threading.Thread(target=look)
    reader.start()
    for n in range(40):
        tier = Tier.LONG if n % 2 else Tier.SHORT
        (moved,) = verbs.rewrite_form(one.store, [(record, record.but(tier=tier, level=n % 3))], now=NOW)
        assert moved is not None
        record = moved
    ended.set()
    reader.join()
    assert counts == {(1, 1)}
    one.store.close()
    other.store.close()


@pytest.mark.parametrize("when", ["at once", "while it delivers"])
def test_what_a_dead_process_left_is_delivered_once(start: Nursery, tmp_path: Path, when: str) -> None:
    child = start(queue_and_die, tmp_path, when)
    assert child.hear() == 10
    child.process.wait()
    pair = Pair(tmp_path)
    assert sorted(ids(pair)) == sorted(f"{n}" for n in range(10))
    assert pair.store.read("a", ["3"])[0].text == "says 3 anew"  # type: ignore[union-attr]
    assert (verbs.count(pair.short, ALL), count_waiting(pair)) == (10, 0)
    assert [event.what for event in pair.store.history("a", "5")] == ["created"]
    pair.store.close()


class Overtaken(Switch):
    """Right after its records were looked up, another process opens and mends the same stores."""

    folder: Path | None = None

    def read(self, *asked: Any) -> Any:
        found = self.__getattr__("read")(*asked)
        if self.folder is not None:
            folder, self.folder = self.folder, None
            Pair(folder).store.close()
        return found


class Late(Pair):
    def opened(self, file: Path) -> Switch:
        switch = Overtaken(SqliteStore(file))
        switch.folder = file.parent if file.name == "short.db" else None
        return switch


def test_what_another_process_delivers_meanwhile_is_not_deleted(start: Nursery, tmp_path: Path) -> None:
    child = start(queue_and_die, tmp_path, "while it delivers")
    assert child.hear() == 10
    child.process.wait()
    pair = Late(tmp_path)
    assert sorted(ids(pair)) == sorted(f"{n}" for n in range(10))
    pair.store.close()


def test_what_waits_is_seen_by_every_process(tmp_path: Path) -> None:
    one, other = Pair(tmp_path), Pair(tmp_path)
    verbs.put(one.store, [fact("x", text="first")], now=NOW)
    one.short.off = other.short.off = True
    verbs.put(one.store, [fact("x", text="second"), fact("mine")], now=NOW)
    assert (ids(other), verbs.count(other.store, ALL)) == (["x", "mine"], 2)
    assert next(record.text for record in other.store.find(ALL)) == "second"
    one.store.close()
    assert ids(other) == ["x", "mine"]
    other.short.off = False
    other.wait()
    assert (ids(other), verbs.count(other.store, ALL)) == (["x", "mine"], 2)
    other.store.mend()
    assert (ids(other), verbs.count(other.short, ALL), count_waiting(other)) == (["x", "mine"], 2, 0)
    other.store.close()


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
