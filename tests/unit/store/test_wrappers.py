"""No call of the port gets past a wrapper that has not decided about it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eidet import Audit, acting
from eidet.core.errors import BadInput
from eidet.core.record import Event, Record
from eidet.quality import health_of
from eidet.store import (
    SETTINGS,
    STAGED,
    TALLIES,
    TOMBSTONES,
    Derived,
    Store,
    Transaction,
    Use,
    abilities,
    verbs,
)
from eidet.store.abilities import FindsHeld, Leaps
from eidet.store.passthrough import PassthroughStore, PassthroughTransaction
from eidet.store.ram import RamStore
from eidet.store.redo_log import LoggedTransaction
from eidet.store.sql.postgres.searchable import SearchableDatabase
from eidet.store.tiered import TieredStore
from eidet.store.traits import StoreTraits, traits_of
from eidet.trust.audit.chain import AuditEntry
from eidet.trust.audit.log import AuditLog
from eidet.trust.audit.store import AuditedStore, AuditedTransaction
from eidet.trust.audit.verify import entries
from eidet.trust.seal.service import LocalKeys
from eidet.trust.seal.store import SealedStore
from eidet.trust.seal.transaction import SealedTransaction

WRAPPERS = (AuditedStore, SealedStore)
TRANSACTIONS = (AuditedTransaction, LoggedTransaction, SealedTransaction)
OF_TIERS = {"describe", "fingerprint", "prune", "scan", "scrub", "size", "trim"}
BY_VERBS = {"list_telling", "put_new", "survey", "switch_vectors"}  # for two that are one
OF_ONE = {"note_in", "latest_seq", "leap"}


def names_of(protocol: type) -> set[str]:
    return {name for name in vars(protocol) if not name.startswith("_")}


def names_of_abilities() -> set[str]:
    """Those of stores; that of transactions alone is `FindsHeld`."""
    declared = (one for one in vars(abilities).values() if inspect.isclass(one) and one is not FindsHeld)
    return set().union(*(names_of(one) for one in declared if one.__module__ == abilities.__name__))


ALWAYS = {"identity", "writable"}  # which every wrapper has from the store inside
PORT = (names_of(Store) | names_of_abilities() | names_of(SearchableDatabase)) - ALWAYS
TRANSACTION = names_of(Transaction).union(*map(names_of, (FindsHeld, Leaps)))


def decided(wrapper: type[PassthroughStore | PassthroughTransaction]) -> list[str]:
    """What it defines itself, passes on as it says, or says that it lacks; what is in two is there twice."""
    defined = [name for name in vars(wrapper) if name in PORT | TRANSACTION]
    lacking = [name for name in wrapper.lacks.split() if not hasattr(wrapper, name)]
    return sorted([*defined, *wrapper.passes.split(), *lacking])


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_a_wrapper_decides_about_each_method_of_the_port_and_each_ability(
    wrapper: type[PassthroughStore],
) -> None:
    assert decided(wrapper) == sorted(PORT)
    assert "__getattr__" not in dir(wrapper)


@pytest.mark.parametrize("wrapper", TRANSACTIONS)
def test_a_wrapped_transaction_decides_about_each_of_its_methods(
    wrapper: type[PassthroughTransaction],
) -> None:
    assert decided(wrapper) == sorted(TRANSACTION)
    assert "__getattr__" not in dir(wrapper)


def test_two_stores_that_are_one_decide_about_each_method_and_each_ability() -> None:
    store = TieredStore(RamStore(), RamStore())
    assert {name for name in names_of(Store) | OF_TIERS if not hasattr(store, name)} == set()
    assert names_of_abilities() == OF_TIERS | BY_VERBS | OF_ONE
    assert "__getattr__" not in dir(TieredStore)


# What a wrapper has, it has because the store inside has it.


class Placed(RamStore):
    """A store that tells where it lives."""

    def describe(self) -> StoreTraits:
        return StoreTraits(path=Path("here"), archive="attic", missing=("one is down",))

    def health(self) -> dict[str, Any]:
        return {"state": "up"}


def sealed(inner: Store, folder: Path) -> Store:
    del folder
    return SealedStore(inner, LocalKeys(bytes(32)))


def audited(inner: Store, folder: Path) -> Store:
    return AuditedStore(inner, AuditLog(Audit(path=folder / "audit.jsonl")))


wrapped = pytest.mark.parametrize("wrap", [sealed, audited])


@wrapped
def test_abilities_of_the_store_inside_are_passed_on(
    wrap: Callable[[Store, Path], Any], tmp_path: Path
) -> None:
    store = wrap(Placed(), tmp_path)
    assert replace(traits_of(store), sealed=False) == Placed().describe()
    assert health_of(store) == {"state": "up"}


@wrapped
def test_abilities_that_the_store_inside_lacks_are_not_feigned(
    wrap: Callable[[Store, Path], Any], tmp_path: Path
) -> None:
    store = wrap(RamStore(), tmp_path)
    assert replace(traits_of(store), sealed=False) == StoreTraits()
    assert health_of(store) is None
    assert not hasattr(store, "latest_seq")


# Jobs that say nothing about themselves.


def noted(folder: Path) -> list[AuditEntry]:
    return [entry for entry in entries(folder / "audit.jsonl") if entry.verb != "begin"]


def event(record: Record, what: str, by: str | None = None) -> Event:
    return Event(what=what, id=record.id, scope=record.scope, at=1.0, by=by, version=record.version)


def test_a_job_of_ones_own_is_noted_step_by_step(tmp_path: Path) -> None:
    store = audited(RamStore(), tmp_path)

    def job(transaction: Transaction) -> None:
        one, two = transaction.insert([Record(id=id, scope="a", text=id) for id in ("one", "two")])
        transaction.remove([one], [event(one, "forgotten", "eve")])
        transaction.remove([two], [event(two, "moved")])
        transaction.update([Use("a", "two", 1, 1.0)])
        transaction.update([Derived(two.seq, b"v", b"t")])
        transaction.edit_history({("a", "two"): {2: {"text": "x"}}})
        transaction.set_values(SETTINGS, {"name": "secret"})
        transaction.set_values(TOMBSTONES, {("a", b"m"): 1.0, ("a", b"n"): None})
        transaction.set_values(STAGED, {1: b"v"})
        transaction.set_values(TALLIES, {("a", 1, "recall"): {"n": 1}})

    with acting(by="ann"):
        store.write(job)
    store.close()
    told = noted(tmp_path)
    assert [(entry.verb, entry.by) for entry in told] == [
        ("put", "ann"),
        ("drop", "eve"),
        ("rewrite", "ann"),
        ("retell", "ann"),
        ("configure", "ann"),
        ("entomb", "ann"),
        ("exhume", "ann"),
    ]
    assert (told[0].ids, told[1].ids) == (("one", "two"), ("one",))


def test_a_job_that_fails_in_a_new_scope_leaves_nothing_that_harms_the_next() -> None:
    inner = RamStore()
    store = SealedStore(inner, LocalKeys(bytes(32)))
    before = store.values(SETTINGS)

    def job(transaction: Transaction) -> None:
        transaction.insert([Record(id="one", scope="a", text="one")])
        raise BadInput("no")

    with pytest.raises(BadInput):
        store.write(job)
    assert store.values(SETTINGS) == before
    (kept,) = verbs.put(store, [Record(id="one", scope="a", text="one")], now=1.0)
    assert SealedStore(inner, LocalKeys(bytes(32))).read("a", ["one"]) == [kept]
