"""Keys of scopes: made once, wrapped, changed, destroyed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from eidet.core.errors import Corrupt, Misconfigured, NotFound
from eidet.store import verbs
from eidet.store.ram import RamStore
from eidet.trust.seal import Shredded
from eidet.trust.seal.keyring import Keyring, begin, check_master
from eidet.trust.seal.service import LocalKeys

SERVICE = LocalKeys(bytes(range(32)))
OTHER = LocalKeys(bytes(32))


def shelf() -> RamStore:
    store = RamStore()
    begin(store, SERVICE)
    return store


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
        made = list(pool.map(lambda _: Keyring(store, SERVICE).open_scope("ann", again=False), range(32)))
    assert len({keys.mark(b"x") for keys in made}) == 1
    assert {keys.numbers for keys in made} == {(1,)}


def test_no_key_is_kept_unwrapped() -> None:
    store = shelf()
    keys = Keyring(store, SERVICE).open_scope("ann", again=False)
    assert keys.seal("x", bytes(12), b"") == Keyring(store, SERVICE).open_scope("ann", again=False).seal(
        "x", bytes(12), b""
    )
    (value,) = verbs.get_settings(store, "seal:key:").values()
    assert value.endswith(" ann")
    assert len(value.partition(" ")[0]) > 100


def test_a_wrapped_key_cannot_be_given_to_another_scope_number_or_store() -> None:
    store, ring = shelf(), None
    ring = Keyring(store, SERVICE)
    ring.open_scope("ann", again=False)
    ring.open_scope("bob", again=False)
    (name, value), (other, _) = verbs.get_settings(store, "seal:key:").items()
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
    old = ring.open_scope("ann", again=False)
    ring.open_scope("bob", again=False)
    ring.shred("ann")
    assert ring.list_shredded() == {"ann"}
    for fresh in (ring, Keyring(store, SERVICE)):
        with pytest.raises(Shredded, match="'ann'"):
            fresh.of("ann")
        with pytest.raises(Shredded):
            fresh.open_scope("ann", again=False)
        assert fresh.of("bob") is not None
    new = ring.open_scope("ann", again=True)
    assert new.numbers == (2,)
    assert new.mark(b"x") != old.mark(b"x")
    assert ring.list_shredded() == frozenset()
    with pytest.raises(NotFound, match="no key"):
        ring.shred("nobody")


def test_another_master_key_takes_over_all_keys_at_once() -> None:
    store = shelf()
    ring = Keyring(store, SERVICE)
    marks = {scope: ring.open_scope(scope, again=False).mark(b"x") for scope in ("ann", "bob", "eve")}
    ring.shred("eve")
    assert ring.rewrap(OTHER) == 2
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
    stale.open_scope("ann", again=False)
    Keyring(store, SERVICE).rewrap(OTHER)
    assert stale.of("ann") is not None
    with pytest.raises(Misconfigured, match="changed meanwhile"):
        stale.open_scope("new", again=True)
    fresh = Keyring(store, OTHER)
    assert fresh.of("new") is None
    assert fresh.open_scope("new", again=False).numbers == (1,)
    with pytest.raises(Misconfigured, match="changed meanwhile"):
        stale.of("new")


def test_a_scope_that_begins_while_the_master_key_is_changed_gets_its_key_under_the_new_one() -> None:
    store = shelf()
    ring = Keyring(store, SERVICE)
    ring.open_scope("ann", again=False)
    begun: list[bytes] = []

    class Slow(LocalKeys):
        """A service during whose work somebody begins a scope under the old key."""

        def wrap(self, key: bytes, context: bytes) -> bytes:
            if b"scope key" in context and not begun:
                begun.append(Keyring(store, SERVICE).open_scope("new", again=False).mark(b"x"))
            return super().wrap(key, context)

    assert ring.rewrap(Slow(bytes(32))) == 2
    keys = Keyring(store, OTHER).of("new")
    assert keys is not None
    assert [keys.mark(b"x")] == begun
