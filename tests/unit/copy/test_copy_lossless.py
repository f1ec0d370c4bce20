"""A copy has all that was there, between any two places, of all scopes or of one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from tests.making import Clock, examples
from tests.unit.copy.given import NOW, all_of, by_id, counted, many, ram

from eidet import Memory, Refused, Scope
from eidet.copy import copy
from eidet.core.record import Record, Tier
from eidet.store import verbs
from eidet.write.write_path import put_records

# Lossless.


@settings(derandomize=True, deadline=None, max_examples=examples(15))
@given(many)
def test_from_ram_to_a_file_and_back_to_ram_all_is_as_it_was(said: list[Record]) -> None:
    one, two = ram(clock=lambda: NOW), ram(clock=lambda: NOW)
    put_records(one.parts, said, now=NOW)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "m.db"
        with Memory(path, embedder="hashing:64", clock=lambda: NOW) as file:
            assert copy(one, file).ok
            back = copy(file, two)
    assert back.ok
    assert all_of(two) == all_of(one) == said
    assert [repr((r.data, r.meta)) for r in all_of(two)] == [repr((r.data, r.meta)) for r in said]


def test_every_field_and_the_history_come_along(source: Memory, target: Memory) -> None:
    copied = copy(source, target)
    assert copied.ok
    assert copied.notes == ()
    assert counted(copied) == {"created": 14}
    assert by_id(target) == by_id(source)
    assert target.history("ann") == source.history("ann")
    assert target.history("held", scope="acme") == source.history("held", scope="acme")


def test_what_was_copied_is_found_and_held_and_kept_in_order(source: Memory, target: Memory) -> None:
    copy(source, target)
    assert target.recall("where does Ann live?")[0].id == "ann"
    with pytest.raises(Refused):
        target.forget("held", scope="acme")
    order = [record.text for record in target.find(scope="acme/ann", order="created")]
    assert order == [f"note {n}" for n in range(10)]


def test_lowered_records_keep_their_originals(target: Memory) -> None:
    source = ram()
    source.remember("A long story of the sea. " * 40, id="sea")
    form = source.parts.store.read("default", ["sea"])[0]
    assert form is not None
    from eidet.core.record import Original, pack_original

    gist = form.but(text="the sea", level=2, original=pack_original(Original(text=form.text)))
    verbs.rewrite_form(source.parts.store, [(form, gist)], now=NOW)
    assert copy(source, target).ok
    assert target.upkeep.detail("sea").text == form.text
    assert by_id(target) == by_id(source)


def test_what_history_no_longer_tells_is_carried_without_it(target: Memory) -> None:
    source = ram()
    source.remember("one", id="x")
    for n in range(120):
        source.revise("x", text=f"version {n}")
    source.parts.store._rooms["default"].events["x"][60] = source.history("x")[0]  # type: ignore[attr-defined]
    assert copy(source, target).ok
    assert by_id(target) == by_id(source)
    told = target.history("x")
    assert told[0].what == "created"
    assert [event.version for event in told[1:]] == list(range(62, 122))


# One scope.


def test_only_the_scope_that_is_named_is_copied(source: Memory, target: Memory) -> None:
    assert counted(copy(source, target, scope="acme")) == {"created": 3}
    assert list(target.scopes()) == ["acme"]
    assert counted(copy(source, target, scope=Scope.under("acme"))) == {"created": 10, "same": 3}
    whole = copy(source, target)
    assert counted(whole) == {"created": 1, "same": 13}


# Between servers.


KINDS = ("file", "sealed", "postgres", "redis", "tiered", "sealed tiered")


@pytest.mark.parametrize("kind", KINDS)
def test_from_any_place_to_any_other(
    kind: str, source: Memory, place: Callable[[str], dict[str, Any]]
) -> None:
    form = source.parts.store.read("acme", ["bob"])[0]
    assert form is not None
    verbs.rewrite_form(source.parts.store, [(form, form.but(tier=Tier.LONG))], now=NOW)
    with Memory(**place(kind), embedder="hashing:64", clock=Clock(tick=1.0)) as first:
        assert copy(source, first).ok
        whole = by_id(source)
        for other in KINDS:
            with Memory(**place(other), embedder="hashing:64", clock=Clock(tick=1.0)) as second:
                copied = copy(first, second)
                assert (copied.ok, copied.created) == (True, len(whole)), other
                assert by_id(second) == whole, other
                assert second.history("ann") == source.history("ann"), other
