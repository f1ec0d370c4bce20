"""Keys of scopes: made once, wrapped, put under another master key, destroyed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from eidet.core.errors import Corrupt, Misconfigured, NotFound
from eidet.store import Store, verbs
from eidet.store.contract import NOW, fact
from eidet.store.ram import RamStore
from eidet.trust.seal.boxes import ScopeKeys
from eidet.trust.seal.key_changes import rewrap, shred
from eidet.trust.seal.keyring import ACTORS, Keyring, begin, check_master
from eidet.trust.seal.service import LocalKeys
from eidet.trust.seal.store import SealedStore

SERVICE = LocalKeys(bytes(range(32)))
OTHER = LocalKeys(bytes(32))


def shelf(inner: Store | None = None) -> SealedStore:
    return SealedStore(inner or RamStore(), SERVICE)


def begun(store: SealedStore, scope: str) -> ScopeKeys:
    """The keys of a scope that holds a record."""
    verbs.put(store, [fact("x", scope=scope)], now=NOW)
    return store.ring.keys(scope)


def keys_in(store: SealedStore) -> dict[str, str]:
    """The wrapped keys of scopes, as they are kept."""
    settings = verbs.get_settings(store.inner, "seal:key:").items()
    return {name: value for name, value in settings if not value.endswith(ACTORS)}


def test_whoever_begins_first_says_it() -> None:
    store = shelf().inner
    begin(store, OTHER)
    check_master(store, store.identity, SERVICE)


@pytest.mark.parametrize("told", ["", "{}", "[]", '{"format": 1, "master": "x", "proof": "!"}'])
def test_damaged_words_of_the_master_key_are_corrupt(told: str) -> None:
    store = shelf().inner
    verbs.set_settings(store, {"seal": told})
    with pytest.raises(Corrupt):
        Keyring(store, SERVICE)


def test_keys_are_made_once_however_many_begin() -> None:
    inner = RamStore()
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: begun(shelf(inner), "ann"), range(32)))
    assert len({keys.mark(b"x") for keys in made}) == 1
    assert len(keys_in(shelf(inner))) == 1


def test_no_key_is_kept_unwrapped() -> None:
    store = shelf()
    begun(store, "ann")
    (value,) = keys_in(store).values()
    assert value.endswith(" ann")
    assert len(value.partition(" ")[0]) > 100


def test_a_wrapped_key_cannot_be_given_to_another_scope_number_or_store() -> None:
    store = shelf()
    begun(store, "ann")
    begun(store, "bob")
    (name, value), (other, _) = keys_in(store).items()
    wrapped, _, scope = value.partition(" ")
    theirs = "bob" if scope == "ann" else "ann"
    elsewhere = shelf()
    for where, forged, asked in (
        (store, {other: f"{wrapped} {theirs}"}, theirs),
        (store, {name.rpartition(":")[0] + ":2": value}, scope),
        (elsewhere, {name: value}, scope),
    ):
        verbs.set_settings(where.inner, forged)
        with pytest.raises(Misconfigured, match="cannot be opened"):
            Keyring(where.inner, SERVICE).of(asked)


def test_a_shredded_scope_has_no_key_until_it_begins_anew() -> None:
    store = shelf()
    old = begun(store, "ann")
    begun(store, "bob")
    shred(store, "ann", NOW)
    for ring in (store.ring, Keyring(store.inner, SERVICE)):
        assert ring.of("ann") is None
        assert ring.of("bob") is not None
    assert begun(store, "ann").mark(b"x") != old.mark(b"x")
    with pytest.raises(NotFound, match="no key"):
        shred(store, "nobody", NOW)


def test_another_master_key_takes_over_all_keys_at_once() -> None:
    store = shelf()
    marks = {scope: begun(store, scope).mark(b"x") for scope in ("ann", "bob")}
    assert rewrap(store, OTHER) == 3, "of ann and bob, and the key for names"
    check_master(store.inner, store.identity, OTHER)
    for ring in (Keyring(store.inner, OTHER), store.ring):
        assert {scope: ring.keys(scope).mark(b"x") for scope in marks} == marks
    with pytest.raises(Misconfigured):
        Keyring(store.inner, SERVICE)


def test_whoever_still_has_the_old_master_key_goes_on_with_what_it_holds_and_begins_nothing() -> None:
    stale = shelf()
    begun(stale, "ann")
    fresh = shelf(stale.inner)
    rewrap(fresh, OTHER)
    assert begun(stale, "ann")
    with pytest.raises(Misconfigured, match="was sealed with the master key"):
        begun(stale, "new")
    begun(fresh, "new")
    with pytest.raises(Misconfigured, match="was the master key changed"):
        stale.ring.of("new")
