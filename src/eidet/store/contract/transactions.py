"""The laws of `Store.write` and `Transaction` themselves."""

from __future__ import annotations

from ...core.errors import BadInput
from ...core.record import Event, Kind, Record, record_digest
from ...core.scope import Scope
from ...core.where import Where
from .. import SETTINGS, STAGED, TALLIES, TOMBSTONES, Derived, Store, Transaction, Use
from ..rules import key_of
from ..verbs import stage_vectors
from .laws import NOW, StoreLaws, catch, fact


def _make_end(record: Record, what: str = "forgotten") -> Event:
    return Event(what=what, id=record.id, scope=record.scope, at=NOW, version=record.version)


class TransactionLaws(StoreLaws):
    """The laws that a job in a transaction may rely on."""

    def test_an_error_in_a_job_undoes_everything(self) -> None:
        store = self.store
        old, other = store.write(lambda transaction: transaction.insert([fact("old"), fact("other")]))
        store.write(lambda transaction: transaction.set_values(SETTINGS, {"some": "thing"}))
        before = self.all_of(store)

        def job(transaction: Transaction) -> None:
            transaction.update([Use("a", "other", 3, NOW), Derived(other.seq, b"v", b"t")])
            transaction.remove([old], [_make_end(old, "moved")])
            (new,) = transaction.insert([old.but(text="new")])
            transaction.remove([new, other], [_make_end(new), _make_end(other)])
            transaction.insert([fact("new"), fact("far", "far")])
            transaction.set_values(SETTINGS, {"some": "else", "more": "x"})
            transaction.set_values(TOMBSTONES, {("a", b"mark"): NOW})
            transaction.set_values(STAGED, {1: b"v"}, clear=True)
            raise BadInput("no")

        catch(BadInput, lambda: store.write(job))
        assert self.all_of(store) == before
        (new,) = store.write(lambda transaction: transaction.insert([fact("new")]))
        assert new.seq > other.seq
        assert store.match(Where()) == sorted(store.match(Where()))

    def all_of(self, store: Store) -> object:
        return (
            store.head(),
            store.find(Where()),
            store.changes("a", 0, 100),
            [store.history("a", id) for id in ("old", "other", "new")],
            [store.values(SETTINGS), store.values(TOMBSTONES), store.values(STAGED), store.values(TALLIES)],
        )

    def test_a_job_sees_its_own_writes(self) -> None:
        store = self.store

        def job(transaction: Transaction) -> None:
            one, two = transaction.insert([fact("one"), fact("two", text="said")])
            assert transaction.read("a", ["two", "none", "one"]) == [two, None, one]
            assert transaction.same("a", [record_digest(two)]) == [two]
            assert list(transaction.find(Where())) == [one, two]
            transaction.remove([one], [_make_end(one)])
            assert transaction.read("a", ["one"], bare=True) == [None]
            assert [event.what for event in transaction.history("a", "one")] == ["created", "forgotten"]
            transaction.set_values(SETTINGS, {"x": "1", "y": "2"})
            transaction.set_values(SETTINGS, {"x": None})
            assert transaction.values(SETTINGS, ["x", "y"]) == {"y": "2"}
            transaction.update(
                [Use("a", "two", 2, NOW), Use("a", "two", 1, NOW - 9), Use("a", "none", 1, NOW)]
            )
            assert transaction.read("a", ["two"]) == [two.but(uses=3, last_used=NOW)]

        store.write(job)
        assert [record.id for record in store.find(Where())] == ["two"]

    def test_staged_vectors_go_with_their_records(self) -> None:
        store = self.store
        one, two, three = self.put(fact("one"), fact("two"), fact("three"))
        stage_vectors(store, "next", [(record.seq, b"1234") for record in (one, two, three)])

        store.write(lambda transaction: transaction.remove([one], [_make_end(one)]))
        self.put(two.but(text="says something else"))
        assert set(store.values(STAGED)) == {three.seq}

    def test_the_same_is_found_by_its_exact_key(self) -> None:
        store = self.store
        message = fact("m", text="same").but(kind=Kind.MESSAGE)
        records = [fact("x", text="same"), message, fact("y", text="same"), fact("z", "b", text="same")]
        by_ann = fact("w", text="same").but(agent="ann")
        key, content = key_of(records[0]), record_digest(records[0])

        def job(transaction: Transaction) -> None:
            x, m, y, _ = transaction.insert(records)
            (w,) = transaction.insert([by_ann])
            assert transaction.same("a", [key]) == [x, y]
            assert transaction.same("a", [key_of(by_ann), key]) == [x, y, w]
            assert transaction.same("a", [content]) == [x, m, y, w]
            assert transaction.same("none", [key, content]) == []
            transaction.remove([x], [_make_end(x)])
            assert transaction.same("a", [key]) == [y]

        store.write(job)
        assert [record.id for record in store.write(lambda transaction: transaction.same("a", [key]))] == [
            "y"
        ]

    def test_bare_records_tell_which_they_are(self) -> None:
        store = self.store
        (made,) = store.write(lambda transaction: transaction.insert([fact("x").but(agent="ann", uses=2)]))

        def job(transaction: Transaction) -> None:
            found = [*transaction.read("a", ["x"], bare=True), *transaction.find(Where(), bare=True)]
            for bare in found:
                assert bare is not None
                assert (bare.id, bare.scope, bare.seq, bare.version) == ("x", "a", made.seq, 1)
                assert (bare.created, bare.agent, bare.uses) == (NOW, "ann", 2)

        store.write(job)

    def test_small_values_are_kept_by_table_and_scope(self) -> None:
        store = self.store
        stones = {("a", b"2"): 2.0, ("a", b"1"): 1.0, ("a/b", b"1"): 3.0, ("ab", b"1"): 4.0}

        def job(transaction: Transaction) -> None:
            transaction.set_values(TOMBSTONES, stones)
            transaction.set_values(STAGED, {7: b"seven", 5: b"five"})
            transaction.set_values(TALLIES, {("a", 3, "recall"): {"n": 1}})

        assert store.values(TOMBSTONES, limit=1) == {}
        store.write(job)
        assert store.values(TOMBSTONES, [("a", b"1"), ("b", b"1")]) == {("a", b"1"): 1.0}
        assert list(store.values(TOMBSTONES)) == sorted(stones)
        assert len(store.values(TOMBSTONES, limit=1)) == 1
        assert set(store.values(TOMBSTONES, within=Scope("a"))) == {("a", b"1"), ("a", b"2")}
        assert len(store.values(TOMBSTONES, within=Scope.under("a"))) == 3
        assert store.values(STAGED) == {5: b"five", 7: b"seven"}
        store.write(lambda transaction: transaction.set_values(STAGED, {9: b"nine"}, clear=True))
        assert store.values(STAGED) == {9: b"nine"}
        assert store.values(TALLIES, within=Scope("a")) == {("a", 3, "recall"): {"n": 1}}
