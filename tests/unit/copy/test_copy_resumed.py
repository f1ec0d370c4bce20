"""A copy that was cut short goes on, and what was forgotten stays forgotten."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from tests.making import Clock
from tests.unit.copy.given import NOW, all_of, by_id, counted, ram

from eidet import Memory, Refused
from eidet.copy import copy
from eidet.core.record import Tier
from eidet.store import verbs
from eidet.write.write_path import put_records

# Going on.


def test_the_same_call_again_changes_nothing(source: Memory, target: Memory) -> None:
    copy(source, target)
    before = target.parts.store.head()
    again = copy(source, target)
    assert again.ok
    assert counted(again) == {"same": 14}
    assert target.parts.store.head() == before


def test_later_writes_changes_and_moves_follow(source: Memory, target: Memory) -> None:
    copy(source, target)
    source.revise("ann", text="Ann lives in Rome.", by="eve")
    source.revise("ann", text="Ann lives in Faro.")
    source.remember("Cleo plays chess", id="cleo")
    form = source.parts.store.read("acme", ["bob"])[0]
    assert form is not None
    verbs.rewrite_form(source.parts.store, [(form, form.but(tier=Tier.LONG))], now=NOW)
    again = copy(source, target)
    assert again.ok
    assert counted(again) == {"created": 1, "changed": 2, "same": 12}
    assert by_id(target) == by_id(source)
    assert target.history("ann") == source.history("ann")


def test_uses_counted_since_are_made_up_for_and_those_of_the_target_stay(
    source: Memory, target: Memory
) -> None:
    copy(source, target)
    for _ in range(3):
        source.recall("where does Ann live?")
    target.recall("who rows on Sundays?", scope="acme")
    assert copy(source, target).ok
    used = {id: target.get(id, scope=scope) for scope, id in (("default", "ann"), ("acme", "bob"))}
    assert used["ann"] is not None
    assert used["ann"].uses == 4
    assert used["bob"] is not None
    assert used["bob"].uses == 1


class Stop(Exception):
    pass


@pytest.mark.parametrize("after", [1, 2])
def test_an_interrupted_copy_goes_on_where_it_stopped(target: Memory, after: int) -> None:
    source = ram()
    source.remember([f"fact number {n}" for n in range(600)])
    source.revise(source.find(order="seq", limit=1)[0].id, text="changed at the end")
    seen = []

    def stop(done: int, total: int) -> None:
        seen.append((done, total))
        if len(seen) == after:
            raise Stop

    with pytest.raises(Stop):
        copy(source, target, progress=stop)
    between = len(all_of(target))
    assert between == min(256 * after, 600)
    copied = copy(source, target)
    assert copied.ok
    assert copied.created == 600 - between
    assert by_id(target) == by_id(source)
    assert seen[0] == (256, 600)


def test_an_interruption_between_two_versions_is_made_up_for() -> None:
    source, target = ram(), ram()
    source.remember("one", id="x")
    source.revise("x", text="two")
    source.revise("x", text="three")
    first = source.parts.store.read("default", ["x"])[0]
    assert first is not None
    put_records(target.parts, [first.but(text="one", version=1, vector=None, terms=b"")], now=NOW)
    copied = copy(source, target)
    assert copied.ok
    assert all_of(target) == all_of(source)
    assert target.history("x") == source.history("x")


def test_a_source_that_was_brought_back_from_a_copy_is_read_anew(tmp_path: Path, target: Memory) -> None:
    path, kept = tmp_path / "m.db", tmp_path / "kept.db"
    with Memory(path, embedder="hashing:64") as one:
        one.remember("before the backup", id="a")
    kept.write_bytes(path.read_bytes())
    with Memory(path, embedder="hashing:64") as one:
        one.remember("lost by the accident", id="b")
        assert copy(one, target).created == 2
    path.write_bytes(kept.read_bytes())
    with Memory(path, embedder="hashing:64") as one:
        one.remember("after the accident", id="c")
        copied = copy(one, target)
    assert counted(copied) == {"created": 1, "same": 1}


# What was forgotten.


def test_what_was_forgotten_for_good_in_the_target_is_not_brought_back(
    source: Memory, target: Memory
) -> None:
    target.remember("Ann lives in Porto", id="other")
    target.forget("other")
    copied = copy(source, target)
    assert counted(copied) == {"created": 13, "left_out": 1}
    assert copied.ok
    assert target.get("ann") is None


@pytest.mark.parametrize("scope", [None, "default"])
def test_what_was_forgotten_for_good_in_the_source_is_refused_by_a_new_target(
    target: Memory, scope: str | None
) -> None:
    source = ram()
    source.remember("Ann lives in Porto")
    for text in ("Bob has a boat", "Cid has a dog"):
        source.remember(text, id="x")
        source.forget("x")
        assert copy(source, target, scope=scope).notes == ()
        for memory in (source, target):
            with pytest.raises(Refused, match="forgotten for good"):
                memory.remember(text)


def test_a_target_that_has_forgotten_something_itself_says_that_it_cannot_compare(target: Memory) -> None:
    source = ram()
    for memory, text in ((source, "Ann lives in Porto"), (target, "Bob has a boat")):
        memory.remember(text, id="x")
        memory.forget("x")
    source.remember("Cid has a dog")
    assert "forgotten memories for good" in " ".join(copy(source, target).notes)
    assert target.remember("Ann lives in Porto").id


def test_an_earlier_version_that_was_forgotten_for_good_does_not_come_back(target: Memory) -> None:
    source = ram()
    source.remember("Ann is fond of green tea", id="x")
    source.revise("x", text="Ann is fond of black tea")
    source.revise("x", text="Ann is fond of coffee")
    target.remember("Ann is fond of black tea", id="other")
    target.forget("other")
    assert copy(source, target).ok
    assert by_id(target) == by_id(source)
    assert [event.what for event in target.history("x")] == ["created"]


def test_what_was_deleted_in_the_target_after_it_was_copied_stays_deleted(
    source: Memory, target: Memory
) -> None:
    copy(source, target)
    target.forget("ann", for_good=False)
    again = copy(source, target)
    assert again.ok
    assert again.left_out == 1
    assert target.get("ann") is None
    source.revise("ann", text="Ann lives in Rome.")
    assert copy(source, target).created == 1


@pytest.mark.parametrize("for_good", [True, False])
def test_what_the_source_forgot_since_leaves_the_target_too(
    source: Memory, target: Memory, for_good: bool
) -> None:
    copy(source, target)
    target.remember("only here", id="own")
    source.forget("ann", for_good=for_good)
    again = copy(source, target)
    assert again.ok
    assert counted(again) == {"forgotten": 1, "same": 13}
    assert target.get("ann") is None
    assert target.get("own") is not None
    assert again.notes == ()
    if for_good:
        with pytest.raises(Refused):
            target.remember("Ann lives in Porto")
    else:
        target.remember("Ann lives in Porto")


def test_what_is_under_a_hold_in_the_target_stays_as_it_is(source: Memory, target: Memory) -> None:
    copy(source, target)
    target.upkeep.hold("ann")
    target.upkeep.hold("bob", scope="acme")
    source.revise("bob", scope="acme", text="Bob sails.")
    source.forget("ann")
    again = copy(source, target)
    assert not again.ok
    assert again.differences == (("acme", "bob", "is under a legal hold in the target"),)
    assert target.get("ann") is not None
    bob = target.get("bob", scope="acme")
    assert bob is not None
    assert bob.text == "Bob rows on Sundays."


def test_what_has_expired_stays_behind(target: Memory) -> None:
    clock = Clock(tick=1.0)
    source = ram(clock=clock)
    source.remember("for an hour", expires=timedelta(hours=1))
    source.remember("for ever")
    clock.now += 5000
    target.parts.clock = clock
    copied = copy(source, target)
    assert copied.ok
    assert [record.text for record in all_of(target)] == ["for ever"]
