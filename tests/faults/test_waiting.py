"""What waits for a store that is down: it arrives once, in order, and nothing that is refused holds it up."""

from __future__ import annotations

import logging
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.faults.nursery import Nursery
from tests.faults.tiers import Pair, Switch, come_and_go
from tests.timing import until, within
from tests.unit.testing.altered import Altered

from eidet.core.errors import Misconfigured, Unavailable
from eidet.core.record import Record, Tier
from eidet.core.where import Where
from eidet.net.retry import Full
from eidet.store import Erasure, Transaction, verbs
from eidet.store.contract import NOW, fact
from eidet.store.ram import RamStore
from eidet.store.sql.sqlite import SqliteStore
from eidet.store.tiered import TieredStore

ALL = Where()


class Picky(Switch):
    """Takes no record whose id is `refused`, and none at all while it is `full`."""

    refused = "bad"
    full = False

    def check(self, records: Sequence[Record]) -> None:
        if self.full and records:
            raise Full("no room left")
        if any(record.id == self.refused for record in records):
            raise Misconfigured("that one is too long for me")

    def write(self, job: Any) -> Any:
        write = self.__getattr__("write")
        return write(lambda transaction: job(_PickyTransaction(transaction, self)))


class _PickyTransaction(Altered):
    def __init__(self, transaction: Transaction, store: Picky) -> None:
        super().__init__(transaction)
        self._store = store

    def insert(self, records: Sequence[Record]) -> list[Record]:
        self._store.check(records)
        return self.inner.insert(records)


class Fussy(Pair):
    """A pair whose short store is picky."""

    short: Picky

    def opened(self, file: Path) -> Switch:
        return Picky(SqliteStore(file)) if file.stem == "short" else super().opened(file)


@pytest.fixture
def fussy(tmp_path: Path) -> Iterator[Fussy]:
    made = Fussy(tmp_path)
    yield made
    made.short.off = made.long.off = False
    made.store.close()


def queued(pair: Pair, *ids: str, back: bool = True) -> None:
    pair.short.off = True
    for id in ids:
        verbs.put(pair.store, [fact(id, text=f"says {id}")], now=NOW)
    if back:
        pair.short.off = False
        pair.wait()
        pair.store.mend()


def count_waiting(store: TieredStore) -> int:
    waiting: int = store.health()["waiting"]["records"]
    return waiting


def every_byte(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file())


class TestWhatIsRefused:
    def test_it_does_not_keep_the_rest_waiting(self, fussy: Fussy) -> None:
        queued(fussy, "a", "bad", "b", "c")
        assert {r.id for r in fussy.store.find(ALL)} == {"a", "b", "c", "bad"}
        assert [r.id for r in fussy.short.find(ALL)] == ["a", "b", "c"]
        told = fussy.store.health()["waiting"]
        assert (told["records"], told["stuck"], told["error"]) == (1, 1, "that one is too long for me")

    def test_all_verbs_of_reading_go_on(self, fussy: Fussy) -> None:
        memory = fussy.memory()
        fussy.short.off = True
        memory.remember("a word about rivers", id="bad")
        fussy.short.off = False
        fussy.wait()
        fussy.store.mend()
        (record,) = memory.find()
        assert record.text == "a word about rivers"
        assert [hit.id for hit in memory.recall("rivers")] == ["bad"]
        assert (memory.count(), memory.get("bad")) == (1, record)
        assert memory.admin.health()["state"] == "degraded"

    def test_it_is_offered_again_and_delivered_when_it_is_taken(self, fussy: Fussy) -> None:
        queued(fussy, "bad", "a")
        fussy.short.refused = "nobody"
        fussy.store.mend()
        assert (count_waiting(fussy.store), fussy.store.health()["waiting"]["stuck"]) == (0, 0)

    def test_it_can_be_put_in_other_words_that_are_taken(self, fussy: Fussy) -> None:
        queued(fussy, "bad")
        fussy.short.refused = "nobody"
        verbs.put(fussy.store, [fact("bad", text="shorter")], now=NOW)
        fussy.wait()
        fussy.store.mend()
        assert fussy.short.read("a", ["bad"])[0].text == "shorter"
        assert count_waiting(fussy.store) == 0

    def test_it_can_be_forgotten_for_good_and_no_file_keeps_a_word(
        self, fussy: Fussy, tmp_path: Path
    ) -> None:
        memory = fussy.memory()
        queued(fussy, "bad", "a")
        assert memory.forget("bad", scope="a") == 1
        assert (memory.get("bad", scope="a"), memory.count(scope="a")) == (None, 1)
        fussy.store.mend()
        assert count_waiting(fussy.store) == 0
        assert b"says bad" not in every_byte(tmp_path)

    def test_one_that_cannot_move_does_not_keep_others_where_they_are(self, fussy: Fussy) -> None:
        ids = [f"{n}" for n in range(6)] + ["bad"]
        stored = verbs.put(fussy.store, [fact(id, tier=Tier.LONG) for id in ids], now=NOW)
        moved = verbs.rewrite_form(fussy.store, [(old, old.but(tier=Tier.SHORT)) for old in stored], now=NOW)
        assert None not in moved
        fussy.wait()
        fussy.store.mend()
        assert sorted(r.id for r in fussy.short.find(ALL)) == sorted(ids[:-1])
        assert [r.id for r in fussy.long.find(ALL)] == ["bad"]
        assert fussy.store.read("a", ["bad"])[0].tier == Tier.SHORT  # type: ignore[union-attr]


def test_a_store_that_is_full_is_still_read(tmp_path: Path) -> None:
    """A server, which has no file that could be asked whether it is there."""
    ticks = [0.0]
    short: Any = Picky(RamStore())
    store = TieredStore(short, SqliteStore(tmp_path / "long.db"), ticks=lambda: ticks[0])
    verbs.put(store, [fact("before")], now=NOW)
    short.full = True
    verbs.put(store, [fact("waits")], now=NOW)
    assert store.missing == ()
    assert {r.id for r in store.find(ALL)} == {"before", "waits"}
    told = store.health()
    assert (told["short"]["state"], told["short"]["last_error"]) == ("up", "no room left")
    assert told["waiting"]["records"] == 1
    short.full = False
    ticks[0] += 100
    store.mend()
    assert (verbs.count(short, ALL), store.health()["waiting"]["records"]) == (2, 0)
    store.close()


class TestOrder:
    def test_each_version_that_waited_is_told_by_the_history(self, pair: Pair) -> None:
        verbs.put(pair.store, [fact("known", text="zero")], now=NOW)
        pair.short.off = True
        for text in ("one", "two", "three"):
            verbs.put(pair.store, [fact("new", text=text)], now=NOW)
            verbs.put(pair.store, [fact("known", text=f"{text} anew")], now=NOW)
        pair.short.off = False
        pair.wait()
        pair.store.mend()
        told = [(e.what, e.version, (e.before or {}).get("text")) for e in pair.store.history("a", "new")]
        assert told == [("created", 1, None), ("revised", 2, "one"), ("revised", 3, "two")]
        told = [(e.what, e.version, (e.before or {}).get("text")) for e in pair.store.history("a", "known")]
        assert told == [
            ("created", 1, None),
            ("revised", 2, "zero"),
            ("revised", 3, "one anew"),
            ("revised", 4, "two anew"),
        ]


def test_what_waits_is_delivered_while_nobody_asks(tmp_path: Path) -> None:
    short = Switch(SqliteStore(tmp_path / "short.db"))
    store = TieredStore(short, SqliteStore(tmp_path / "long.db"))
    short.off = True
    verbs.put(store, [fact("x")], now=NOW)
    short.off = False
    until(lambda: not count_waiting(store))
    assert short.read("a", ["x"])[0] is not None
    store.close()


class TestFiles:
    def test_a_damaged_record_does_not_keep_the_rest_waiting(self, pair: Pair, tmp_path: Path) -> None:
        queued(pair, "a", "damaged", "b", back=False)
        pair.store.close()
        with closing(sqlite3.connect(tmp_path / "long.db")) as database, database:
            database.execute("UPDATE records SET meta = '{' WHERE id = 'damaged'")
        again = Pair(tmp_path)
        again.store.mend()
        assert [r.id for r in again.short.find(ALL)] == ["a", "b"]
        told = again.store.health()["waiting"]
        assert (told["records"], told["stuck"]) == (1, 1)
        assert "damaged" in told["error"]
        again.store.close()

    def test_a_damaged_record_that_is_out_of_place_does_not_keep_the_rest_there(self, tmp_path: Path) -> None:
        with closing(SqliteStore(tmp_path / "short.db")) as short:
            strays = [fact(id, text=f"says {id}", tier=Tier.LONG) for id in ("a", "damaged", "b")]
            verbs.put(short, strays, now=NOW)
        with closing(sqlite3.connect(tmp_path / "short.db")) as database, database:
            database.execute("UPDATE records SET meta = '{' WHERE id = 'damaged'")
        pair = Pair(tmp_path)
        assert [r.id for r in pair.long.find(ALL)] == ["a", "b"]
        assert verbs.count(pair.short, ALL) == 1, "what cannot be moved is kept"
        pair.store.close()

    def test_what_two_processes_queue_arrives_once(self, start: Nursery, tmp_path: Path) -> None:
        """Each queues and delivers while its stores come and go; one is killed on the way."""
        one, other = start(come_and_go, tmp_path, "one"), start(come_and_go, tmp_path, "other")
        assert one.hear() == other.hear() == "ready"
        for child in (one, other):
            child.say("go")
        told = set(one.hear())
        one.kill()
        told |= set(other.hear()) | set(other.result())
        pair = Pair(tmp_path)
        pair.store.mend()
        found = {r.id for r in pair.store.find(ALL)}
        assert told <= found
        assert (count_waiting(pair.store), verbs.count(pair.store, ALL)) == (0, len(found))
        assert all(len(pair.store.history("a", id)) == 1 for id in found)
        pair.store.close()


class Slow(Switch):
    """Says nothing for a while when it is off, and then that it cannot."""

    seconds = 0.6

    def __getattr__(self, name: str) -> Any:
        found = super().__getattr__(name)
        if not callable(found) or name == "close":
            return found

        def slowly(*given: Any, **named: Any) -> Any:
            if self.off:
                time.sleep(self.seconds)
            return found(*given, **named)

        return slowly


class TestABlackHole:
    @pytest.fixture
    def slow(self, tmp_path: Path) -> Iterator[tuple[Slow, TieredStore]]:
        short = Slow(RamStore())
        store = TieredStore(short, SqliteStore(tmp_path / "long.db"))
        verbs.put(store, [fact("s"), fact("l", tier=Tier.LONG)], now=NOW)
        yield short, store
        short.off = False
        store.close()

    def test_nobody_waits_for_a_store_that_is_known_to_say_nothing(
        self, slow: tuple[Slow, TieredStore]
    ) -> None:
        short, store = slow
        short.off = True
        assert [r.id for r in store.find(ALL)] == ["l"]  # this one waited

        def read_and_write_ten() -> None:
            for n in range(10):
                assert "l" in [r.id for r in store.find(ALL)]
                verbs.put(store, [fact(f"{n}")], now=NOW)

        within(1.5, read_and_write_ten)
        short.off = False
        until(lambda: len(short._store.find(ALL)) == 11)
        assert len(store.find(ALL)) == 12


def test_the_log_says_when_a_store_goes_and_when_it_is_back(
    pair: Pair, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "eidet"):
        pair.short.off = True
        for _ in range(3):
            verbs.count(pair.store, ALL)
        pair.short.off = False
        pair.wait()
        verbs.count(pair.store, ALL)
    assert [r.getMessage() for r in caplog.records] == [
        "the short store is down: switched off",
        "the short store is back",
    ]


@pytest.mark.parametrize("gone", ["short", "long"])
def test_how_a_memory_does_is_told_while_a_store_is_away(pair: Pair, gone: str) -> None:
    memory = pair.memory()
    memory.remember("Ann is at home")
    memory.remember("Ann was born in Porto", tier="long")
    memory.recall("Ann")
    assert memory.admin.health()["state"] == "up"
    getattr(pair, gone).off = True
    memory.count()
    stats = memory.admin.stats()
    assert (stats["records"], stats["stores"][gone]["error"]) == (1, "switched off")
    assert memory.admin.metrics()["eidet_records"] == 1
    told = memory.admin.health()
    assert (told["state"], told["store"][gone]["last_error"]) == ("degraded", "switched off")
    pair.short.off = pair.long.off = True
    with pytest.raises(Unavailable):
        memory.admin.stats()
    assert memory.admin.health()["state"] == "down"
    pair.short.off = pair.long.off = False
    pair.wait()
    memory.count()
    told = memory.admin.health()
    assert (told["state"], told["store"][gone]["error"]) == ("up", None)
    assert told["store"][gone]["last_error"], "what happened is still told"


def test_a_part_that_cannot_be_opened_leaves_nothing_open(tmp_path: Path) -> None:
    closed: list[str] = []
    long = RamStore()
    setattr(long, "close", lambda: closed.append("long"))  # noqa: B010

    def opening() -> RamStore:
        raise Misconfigured("no such place")

    with pytest.raises(Misconfigured, match="no such place"):
        TieredStore(opening, long)
    assert closed == ["long"]


def test_erasing_in_three_places_undoes_all_of_it_when_the_plan_fails(fussy: Fussy) -> None:
    queued(fussy, "bad")
    verbs.put(fussy.store, [fact("x"), fact("y", tier=Tier.LONG)], now=NOW)

    def plan(look: Any) -> Erasure:
        assert {record.id for record in look.scan(ALL)} == {"bad", "x", "y"}
        raise Misconfigured("changed my mind")

    with pytest.raises(Misconfigured, match="changed my mind"):
        verbs.erase(fussy.store, plan, now=NOW)
    assert verbs.count(fussy.store, ALL) == 3
    gone = verbs.erase(fussy.store, lambda look: Erasure(gone=list(look.scan(ALL))), now=NOW).gone
    assert {id for _, id in gone} == {"bad", "x", "y"}
    assert verbs.count(fussy.store, ALL) == 0
