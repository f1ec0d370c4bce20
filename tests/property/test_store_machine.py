"""Every store behaves like `RamStore`, whatever is asked of it and in whatever order."""

from __future__ import annotations

import atexit
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from tests.making import examples
from tests.strategies import records, wheres

from eidet.core.errors import Conflict
from eidet.core.record import Record
from eidet.core.scope import Scope
from eidet.core.where import Where
from eidet.store import (
    BELOW_MARK,
    ORDERS,
    SCOPE_MARK,
    Claims,
    Derived,
    Erasure,
    Reader,
    Store,
    Tombstone,
    TombstoneGuard,
    verbs,
)
from eidet.store.ram import RamStore
from eidet.store.rules import Entombed, Held
from eidet.store.sql.sqlite import SqliteStore

IDS = ("one", "two", "x\0y", "é")
SCOPES = ("a", "a/b", "a0")
TIMES = (5.0, 10.0, 1.7e9)

ids = st.sampled_from(IDS)
scopes = st.sampled_from(SCOPES)
moments = st.sampled_from(TIMES)
MARKS = (b"m1", SCOPE_MARK, BELOW_MARK)
marks = st.sampled_from(MARKS)
actors = st.none() | st.sampled_from(("ann", "bob"))
blobs = st.none() | st.binary(max_size=4)


def placed(record: Record, id: str, scope: str, text: str, vector: bytes | None) -> Record:
    return record.but(id=id, scope=scope, text=text, vector=vector, terms=vector or b"")


some = st.builds(placed, records(), ids, scopes, st.sampled_from(("yes", "no", "")), blobs)
plain = st.builds(Record, id=ids, scope=scopes, text=st.sampled_from(("yes", "no")))
orders = st.builds("".join, st.tuples(st.sampled_from(("", "-")), st.sampled_from(ORDERS)))


@cache
def empty_file() -> Path:
    """A file that is made once and copied: making its tables takes longer than an example."""
    path = Path(mkdtemp(prefix="eidet-machine-")) / "empty.db"
    atexit.register(shutil.rmtree, path.parent, ignore_errors=True)
    SqliteStore(path).close()
    return path


class Twins(RuleBasedStateMachine):
    """Does the same to the reference and to the store under test, and compares every answer."""

    @initialize()
    def open(self) -> None:
        self.folder = TemporaryDirectory(prefix="eidet-machine-")
        path = Path(self.folder.name) / "memory.db"
        shutil.copy(empty_file(), path)
        self.stores: tuple[Store, Store] = (RamStore(), SqliteStore(path))

    def teardown(self) -> None:
        self.stores[1].close()
        self.folder.cleanup()

    def same(self, ask: Callable[[Store], Any]) -> Any:
        one, other = (answer(ask, store) for store in self.stores)
        assert one == other
        return one

    @rule(batch=st.lists(some | plain, min_size=1, max_size=4), now=moments, unique=st.booleans(), by=actors)
    def put(self, batch: list[Record], now: float, unique: bool, by: str | None) -> None:
        self.same(lambda store: verbs.put(store, batch, now=now, unique=unique, by=by))

    @rule(record=some | plain, now=moments, version=st.integers(1, 4), by=actors)
    def put_what_is_expected(self, record: Record, now: float, version: int, by: str | None) -> None:
        self.same(lambda store: verbs.put(store, [record], now=now, expect=version, by=by))

    @rule(record=some, epoch=st.integers(0, 2))
    def put_in_an_epoch(self, record: Record, epoch: int) -> None:
        self.same(lambda store: verbs.put(store, [record], now=10.0, epoch=epoch))

    @rule(id=ids, scope=scopes, now=moments, by=actors)
    def drop_one(self, id: str, scope: str, now: float, by: str | None) -> None:
        self.same(
            lambda store: verbs.delete_where(store, Where(scope=Scope(scope), ids=(id,)), now=now, by=by)
        )

    @rule(where=wheres(), now=moments)
    def drop_some(self, where: Where, now: float) -> None:
        self.same(lambda store: verbs.delete_where(store, where, now=now))

    @rule(where=wheres(), anew=st.booleans(), scope=scopes, mark=marks, now=moments, by=actors)
    def erase(self, where: Where, anew: bool, scope: str, mark: bytes, now: float, by: str | None) -> None:
        def plan(look: Reader) -> Erasure:
            found = list(look.scan(where))
            others = [record for record in look.twins(found[:1]) if record not in found]
            changed = [(old, old.but(text=f"{old.text}!")) for old in found[1::2]] if anew else []
            return Erasure(gone=[*found[::2], *others], anew=changed, stones=[Tombstone(scope, mark)])

        self.same(lambda store: verbs.erase(store, plan, now=now, by=by))
        self.same(lambda store: [verbs.tombstones_in(store, place, MARKS) for place in SCOPES])

    @rule(record=plain, mark=marks, again=st.booleans(), returning=st.booleans(), now=moments)
    def put_under_watch(self, record: Record, mark: bytes, again: bool, returning: bool, now: float) -> None:
        claim = Claims((mark,), id=mark if returning else None, made_of=[("one", mark)])
        watch = TombstoneGuard(lambda: [claim], again=again, returning=returning)
        self.same(lambda store: verbs.put(store, [record.but(created=now)], now=now, watch=watch))

    @rule(scope=scopes, mark=marks)
    def exhume(self, scope: str, mark: bytes) -> None:
        self.same(lambda store: verbs.lift_tombstones(store, scope, [mark]))

    @rule(uses=st.dictionaries(st.tuples(scopes, ids), st.tuples(st.integers(1, 3), moments), max_size=3))
    def note(self, uses: dict[tuple[str, str], tuple[int, float]]) -> None:
        self.same(lambda store: verbs.add_uses(store, uses))

    @rule(bytes_=blobs)
    def rewrite(self, bytes_: bytes | None) -> None:
        seqs = self.stores[0].match(Where())[:2]
        self.same(
            lambda store: verbs.replace_derived(
                store, [Derived(seq, bytes_, bytes_ or b"") for seq in (*seqs, 999)]
            )
        )

    @rule(name=st.sampled_from(("new", "newer")), share=st.integers(0, 8))
    def stage_and_adopt(self, name: str, share: int) -> None:
        seqs = self.stores[0].match(Where())[:share]
        self.same(lambda store: verbs.stage_vectors(store, name, [(seq, b"v%d" % seq) for seq in seqs]))
        self.same(lambda store: (verbs.read_staged(store, "new"), verbs.read_staged(store, "newer")))
        self.same(lambda store: verbs.switch_vectors(store, name, {"embedder": name}))
        self.same(lambda store: (verbs.read_staged(store, "new"), verbs.get_setting(store, "embedder")))

    @rule(where=wheres(), order=orders, limit=st.none() | st.integers(0, 5), offset=st.integers(0, 3))
    def find(self, where: Where, order: str, limit: int | None, offset: int) -> None:
        self.same(lambda store: store.find(where, order=order, limit=limit, offset=offset))
        self.same(
            lambda store: (store.match(where), verbs.count(store, where), verbs.count_kinds(store, where))
        )

    @rule(since=st.integers(0, 30), limit=st.integers(1, 4))
    def follow(self, since: int, limit: int) -> None:
        for scope in SCOPES:
            told = [store.changes(scope, since, limit) for store in self.stores]
            assert told[0][:2] == told[1][:2]
            assert sorted(told[0].gone) == sorted(told[1].gone)

    @invariant()
    def all_that_is_told_is_the_same(self) -> None:
        self.same(
            lambda store: (store.head(), list(verbs.scan(store, Where(), batch=2)), verbs.count_scopes(store))
        )
        self.same(lambda store: [store.history(scope, id) for scope in SCOPES for id in IDS])


def answer(ask: Callable[[Store], Any], store: Store) -> Any:
    """What a store says, or which version it objects with."""
    try:
        return ask(store)
    except Conflict as conflict:
        return ("conflict", conflict.current)
    except Entombed as entombed:
        return ("entombed", entombed.found)
    except Held as held:
        return ("held", sorted(held.records))


TestSqliteBehavesLikeRam = Twins.TestCase
TestSqliteBehavesLikeRam.settings = settings(
    derandomize=True, deadline=None, max_examples=examples(50), stateful_step_count=20
)
