"""Laws about writing records: versions, twins, expectations, all or nothing."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import chain

from ...core.errors import Conflict
from ...core.record import Kind
from ...core.where import Where
from .. import verbs
from .laws import ALL, FULL, LATER, NOW, StoreLaws, catch, fact, ids, within


class WritingLaws(StoreLaws):
    def test_put_answers_in_order_with_rising_seqs(self) -> None:
        stored = self.put(fact("c"), fact("a"), fact("b", "z"))
        assert ids(stored) == ["c", "a", "b"]
        seqs = [record.seq for record in stored]
        assert seqs == sorted(set(seqs))
        assert min(seqs) > 0
        assert self.put(fact("d"))[0].seq > seqs[-1]
        before = self.store.head()
        assert self.put() == []
        assert self.store.head() == before

    def test_every_field_comes_back_exactly(self) -> None:
        (stored,) = self.put(FULL)
        assert stored == replace(FULL, seq=stored.seq)
        assert self.store.read(FULL.scope, ["full"]) == [stored]
        assert self.store.read(FULL.scope, [stored.seq]) == [stored]
        assert self.store.find(ALL) == [stored]
        assert list(verbs.scan(self.store, ALL)) == [stored]

    def test_numbers_and_truth_values_keep_their_types(self) -> None:
        (stored,) = self.put(fact("x", data=[1, 1.0, True, False, 0, -0.0, None, "1"]))
        (found,) = self.store.find(within("a"))
        assert [repr(value) for value in found.data] == [repr(value) for value in stored.data]

    def test_a_place_of_two_coordinates_stays_one_of_two(self) -> None:
        self.put(fact("flat", place=(0.0, 1.0)), fact("solid", place=(0.0, 1.0, 0.0)))
        assert [r.place for r in self.store.find(ALL)] == [(0.0, 1.0), (0.0, 1.0, 0.0)]

    def test_the_same_id_becomes_the_next_version(self) -> None:
        (old,) = self.put(fact("x", uses=2, last_used=NOW))
        (new,) = self.put(fact("x", text="other", created=LATER, occurred=LATER), now=LATER)
        assert (new.version, new.text) == (2, "other")
        assert (new.created, new.uses, new.last_used) == (NOW, 2, NOW)
        assert new.seq > old.seq
        assert self.store.read("a", ["x"]) == [new]
        assert self.store.read("a", [old.seq, new.seq]) == [None, new]
        assert verbs.count(self.store, ALL) == 1

    def test_what_a_new_version_does_not_say_of_time_is_kept(self) -> None:
        self.put(fact("x", occurred=5.0))
        (new,) = self.put(fact("x", text="other", created=LATER, occurred=LATER), now=LATER)
        assert new.occurred == 5.0
        (newer,) = self.put(fact("x", text="other", created=LATER, occurred=7.0), now=LATER)
        assert newer.occurred == 7.0

    def test_a_record_that_says_the_same_is_left_alone(self) -> None:
        (old,) = self.put(FULL)
        before = self.store.head()
        again = replace(FULL, created=LATER, uses=0, vector=b"other", terms=b"")
        assert self.put(again, now=LATER) == [old]
        assert self.store.head() == before
        assert len(self.store.history(FULL.scope, "full")) == 1

    def test_an_id_twice_in_one_put_is_written_in_order(self) -> None:
        first, second = self.put(fact("x", text="one"), fact("x", text="two"))
        assert (first.version, second.version) == (1, 2)
        assert self.store.read("a", ["x"]) == [second]

    def test_the_same_id_in_another_scope_is_another_record(self) -> None:
        here, there = self.put(fact("x", "a"), fact("x", "b"))
        assert (here.version, there.version) == (1, 1)
        self.put(fact("x", "a", text="new"))
        assert self.store.read("b", ["x"]) == [there]

    def test_a_fact_or_document_its_scope_has_is_counted_as_used(self) -> None:
        for kind in (Kind.FACT, Kind.DOCUMENT, Kind.PROCEDURE):
            (first,) = self.put(fact("x", kind, text="same", data=[1], kind=kind))
            (twin,) = self.put(fact("y", kind, text="same", data=[1], kind=kind), now=LATER)
            assert twin == replace(first, uses=1, last_used=LATER)
            assert self.store.read(kind, ["x", "y"]) == [twin, None]
        first, twin = self.put(fact("x", text="same", last_used=LATER), fact("y", text="same"))
        assert twin == replace(first, uses=1)

    def test_other_kinds_data_and_scopes_are_no_twins(self) -> None:
        self.put(fact("x", text="yes"))
        stored = self.put(
            fact("m1", text="yes", kind=Kind.MESSAGE),
            fact("m2", text="yes", kind=Kind.MESSAGE),
            fact("data", text="yes", data=1),
            fact("float", text="yes", data=1.0),
            fact("away", "b", text="yes"),
        )
        assert ids(stored) == ["m1", "m2", "data", "float", "away"]
        assert verbs.count(self.store, ALL) == 6

    def test_an_expired_twin_does_not_count(self) -> None:
        self.put(fact("old", text="same", expires=LATER))
        assert ids(self.put(fact("early", text="same", expires=LATER), now=LATER - 1)) == ["old"]
        assert ids(self.put(fact("new", text="same"), now=LATER)) == ["new"]

    def test_a_dropped_or_revised_twin_does_not_count(self) -> None:
        self.put(fact("x", text="same"), fact("y", text="also"))
        verbs.delete_where(self.store, Where(ids=("x",)), now=NOW)
        self.put(fact("y", text="changed"))
        assert ids(self.put(fact("v", text="same"), fact("w", text="also"))) == ["v", "w"]
        (new,) = self.put(fact("v", text="also"))
        assert (new.id, new.version, new.uses) == ("v", 2, 0), "a version may say what another record says"

    def test_an_expected_version_is_written_and_another_one_is_a_conflict(self) -> None:
        self.put(fact("x"), fact("y", "b"), expect=0)
        before = self.store.head()
        for batch, expect, current in (
            ((fact("new"), fact("x", text="two")), 0, 1),
            ((fact("x", text="two"), fact("missing")), 1, None),
            ((fact("x", text="two"),), 2, 1),
            ((fact("y", text="two"),), 1, None),
        ):
            error = catch(Conflict, partial(self.put, *batch, expect=expect))
            assert error.current == current
        assert self.store.head() == before, "all or nothing"
        assert [(record.id, record.text) for record in self.store.find(within("a"))] == [("x", "x of a")]
        assert self.put(fact("x", text="two"), expect=1)[0].version == 2

    def test_a_writer_of_another_epoch_is_refused(self) -> None:
        epoch = self.store.head().epoch
        self.put(fact("x"), epoch=epoch)
        verbs.replace_derived(self.store, [])
        error = catch(Conflict, lambda: self.put(fact("y"), epoch=epoch))
        assert error.current == epoch + 1
        assert verbs.count(self.store, ALL) == 1
        self.put(fact("y"), epoch=epoch + 1)

    def test_many_threads_lose_nothing(self) -> None:
        def write(worker: int) -> list[int]:
            return [self.put(fact(f"{worker}-{n}"))[0].seq for n in range(10)]

        assert verbs.count(self.store, ALL) == 0  # creates the store once, before the threads use it
        with ThreadPoolExecutor(8) as pool:
            seqs = list(pool.map(write, range(8)))
        assert all(mine == sorted(mine) for mine in seqs)
        assert len(set(chain.from_iterable(seqs))) == verbs.count(self.store, ALL) == 80
