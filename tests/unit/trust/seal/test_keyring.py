"""Keys of scopes: made once, wrapped, changed, destroyed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from eidet.core.errors import Corrupt, Misconfigured, NotFound
from eidet.store import verbs
from eidet.store.ram import RamStore
from eidet.trust.seal import Shredded
from eidet.trust.seal.boxes import ScopeKeys
from eidet.trust.seal.keyring import ACTORS, Keyring, begin, check_master
from eidet.trust.seal.service import LocalKeys

SERVICE = LocalKeys(bytes(range(32)))
OTHER = LocalKeys(bytes(32))


def shelf() -> RamStore:
    store = RamStore()
    begin(store, SERVICE)
    return store


def begun(ring: Keyring, scope: str) -> ScopeKeys:
    """The keys of a scope, made if there are none."""
    if (keys := ring.of(scope)) is None:
        ring.make(scope)
        keys = ring.of(scope)
    assert keys is not None
    return keys


def shred(store: RamStore, ring: Keyring, scope: str) -> None:
    store.write(partial(ring.shred, scope))
    ring.renew()


def keys_in(store: RamStore) -> dict[str, str]:
    """The wrapped keys of scopes, as they are kept."""
    settings = verbs.get_settings(store, "seal:key:").items()
    return {name: value for name, value in settings if not value.endswith(ACTORS)}


def test_whoever_begins_first_says_it() -> None:
    store = shelf()
    begin(store, OTHER)
    check_master(store, SERVICE)


@pytest.mark.parametrize("told", ["", "{}", "[]", '{"format": 1, "master": "x", "proof": "!"}'])
def test_damaged_words_of_the_master_key_are_corrupt(told: str) -> None:
    store = shelf()
    verbs.set_settings(store, {"seal": told})
    with pytest.raises(Corrupt):
        Keyring(store, SERVICE)


def test_keys_are_made_once_however_many_begin() -> None:
    store = shelf()
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: begun(Keyring(store, SERVICE), "ann"), range(32)))
    assert len({keys.mark(b"x") for keys in made}) == 1
    assert {keys.numbers for keys in made} == {(1,)}


def test_no_key_is_kept_unwrapped() -> None:
    store = shelf()
    keys = begun(Keyring(store, SERVICE), "ann")
    assert keys.seal("x", bytes(12), b"") == begun(Keyring(store, SERVICE), "ann").seal("x", bytes(12), b"")
    (value,) = keys_in(store).values()
    assert value.endswith(" ann")
    assert len(value.partition(" ")[0]) > 100


def test_a_wrapped_key_cannot_be_given_to_another_scope_number_or_store() -> None:
    store, ring = shelf(), None
    ring = Keyring(store, SERVICE)
    begun(ring, "ann")
    begun(ring, "bob")
    (name, value), (other, _) = keys_in(store).items()
    wrapped, _, scope = value.partition(" ")
    theirs = "bob" if scope == "ann" else "ann"
    verbs.set_settings(store, {other: f"{wrapped} {theirs}"})
    with pytest.raises(Misconfigured, match="cannot be opened"):
        Keyring(store, SERVICE).of(theirs)
    verbs.set_settings(store, {name[:-1] + "2": value})
    with pytest.raises(Misconfigured, match="cannot be opened"):
        Keyring(store, SERVICE).of(scope)
    elsewhere = shelf()
    verbs.set_settings(elsewhere, {name: value})
    with pytest.raises(Misconfigured, match="cannot be opened"):
        Keyring(elsewhere, SERVICE).of(scope)


def test_a_shredded_scope_stays_so_until_it_begins_anew() -> None:
    store = shelf()
    ring = Keyring(store, SERVICE)
    old = begun(ring, "ann")
    begun(ring, "bob")
    shred(store, ring, "ann")
    assert ring.list_shredded() == {"ann"}
    for fresh in (ring, Keyring(store, SERVICE)):
        with pytest.raises(Shredded, match="'ann'"):
            fresh.of("ann")
        assert fresh.of("bob") is not None
    ring.make("ann")
    new = begun(ring, "ann")
    assert new.numbers == (2,)
    assert new.mark(b"x") != old.mark(b"x")
    assert ring.list_shredded() == frozenset()
    with pytest.raises(NotFound, match="no key"):
        shred(store, ring, "nobody")


def test_another_master_key_takes_over_all_keys_at_once() -> None:
    store = shelf()
    ring = Keyring(store, SERVICE)
    marks = {scope: begun(ring, scope).mark(b"x") for scope in ("ann", "bob", "eve")}
    shred(store, ring, "eve")
    assert ring.rewrap(OTHER) == 3, "of ann and bob, and the key for names"
    check_master(store, OTHER)
    fresh = Keyring(store, OTHER)
    for scope in ("ann", "bob"):
        for some in (fresh, ring):
            keys = some.of(scope)
            assert keys is not None
            assert keys.mark(b"x") == marks[scope]
    with pytest.raises(Shredded):
        fresh.of("eve")
    with pytest.raises(Misconfigured):
        Keyring(store, SERVICE)


def test_whoever_still_has_the_old_master_key_goes_on_with_what_it_holds_and_begins_nothing() -> None:
    store = shelf()
    stale = Keyring(store, SERVICE)
    begun(stale, "ann")
    Keyring(store, SERVICE).rewrap(OTHER)
    assert stale.of("ann") is not None
    with pytest.raises(Misconfigured, match="changed meanwhile"):
        stale.make("new")
    fresh = Keyring(store, OTHER)
    assert fresh.of("new") is None
    assert begun(fresh, "new").numbers == (1,)
    with pytest.raises(Misconfigured, match="changed meanwhile"):
        stale.of("new")


def test_a_scope_that_begins_while_the_master_key_is_changed_gets_its_key_under_the_new_one() -> None:
    store = shelf()
    ring = Keyring(store, SERVICE)
    begun(ring, "ann")
    made: list[bytes] = []

    class Slow(LocalKeys):
        """A service during whose work somebody begins a scope under the old key."""

        def wrap(self, key: bytes, context: bytes) -> bytes:
            if b"scope key" in context and not made:
                made.append(begun(Keyring(store, SERVICE), "new").mark(b"x"))
            return super().wrap(key, context)

    assert ring.rewrap(Slow(bytes(32))) == 3
    keys = Keyring(store, OTHER).of("new")
    assert keys is not None
    assert [keys.mark(b"x")] == made
