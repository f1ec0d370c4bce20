"""Copying one memory into another: nothing is lost, nothing is doubled, and what differs is told."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.making import Clock, examples
from tests.servers.fixtures import EMPTY, TEMPLATE
from tests.servers.postgres import Postgres
from tests.strategies import records

from eidet import BadInput, Conflict, Memory, Misconfigured, NotFound, Refused, Scope, Settings
from eidet.compat.numbers import next_number
from eidet.copy import Copied, copy
from eidet.copy import checkpoint as marking
from eidet.core.record import Record, Tier
from eidet.core.where import Where
from eidet.models.embed.hashing import Hashing
from eidet.open import open_store
from eidet.store import verbs
from eidet.store.ram import RamStore
from eidet.trust.seal.service import new_key
from eidet.write.put import put_records

NOW = 1_700_000_000.0
KEY = new_key()


def ram(**how: Any) -> Memory:
    chosen: dict[str, Any] = {"embedder": "hashing:64", "clock": Clock(tick=1.0)}
    return Memory(RamStore(), **chosen | how)


def all_of(memory: Memory) -> list[Record]:
    return [record.but(seq=0) for record in verbs.scan(memory.parts.store, Where())]


def by_id(memory: Memory) -> dict[tuple[str, str], Record]:
    return {(record.scope, record.id): record for record in all_of(memory)}


@pytest.fixture
def source() -> Memory:
    """Three scopes, and everything that can be said of a record."""
    memory = ram()
    memory.remember("Ann lives in Lisbon.", id="ann", meta={"a": [1, 2.5, None]}, importance=0.9)
    memory.revise("ann", text="Ann lives in Porto.", by="bob")
    memory.revise("ann", importance=0.3, place=(1, 2))
    memory.remember(
        [{"role": "user", "content": f"note {n}"} for n in range(10)], scope="acme/ann", session="s"
    )
    memory.remember("Bob rows on Sundays.", id="bob", scope="acme", occurred="2020-01-02", trust="web")
    memory.remember("Held by lawyers", id="held", scope="acme")
    memory.upkeep.hold("held", scope="acme", by="court")
    memory.remember("Pinned to the wall", id="pin", scope="acme", expires=timedelta(days=9))
    memory.upkeep.pin("pin", scope="acme")
    memory.recall("where does Ann live?")
    return memory


@pytest.fixture(params=["ram", "file", "sealed", "postgres", "redis"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    how: dict[str, Any] = {"embedder": "hashing:64", "clock": Clock(tick=1.0)}
    if request.param == "ram":
        yield Memory(RamStore(), **how)
        return
    served = request.param in ("postgres", "redis")
    place = request.getfixturevalue(f"{request.param}_url") if served else tmp_path / "target.db"
    with Memory(place, **how, key=KEY if request.param == "sealed" else None) as memory:
        yield memory


def counted(copied: Copied) -> dict[str, int]:
    names = ("created", "changed", "same", "forgotten", "entombed", "held", "conflicts")
    return {name: count for name in names if (count := getattr(copied, name))}


# Lossless.


def full(record: Record, n: int, life: tuple[int, float | None, int, int]) -> Record:
    uses, last_used, level, version = life
    return record.but(
        id=f"{n}-{record.id}",
        uses=uses,
        last_used=last_used,
        level=level,
        version=version,
        expires=None if record.expires is None else NOW + 1e6,
        derived_from=(record.id,) * (n % 3),
        vector=bytes([n]) * 64 * 4 if n % 2 else None,
        terms=bytes([n, 0, 0, 0, 1]) * (n % 4),
    )


lives = st.tuples(st.integers(0, 9), st.none() | st.just(NOW), st.integers(0, 3), st.integers(1, 5))
many = st.lists(st.tuples(records(), lives), max_size=5).map(
    lambda found: [full(record, n, life) for n, (record, life) in enumerate(found)]
)


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
    assert copied.histories == 3
    assert by_id(target) == by_id(source)
    assert target.history("ann") == source.history("ann")
    assert target.history("held", scope="acme") == source.history("held", scope="acme")
    assert [one.scope for one in copied.scopes] == ["acme", "acme/ann", "default"]
    assert [(one.source, one.target) for one in copied.scopes] == [(3, 3), (10, 10), (1, 1)]


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
    from eidet.core.lossless import Original, pack_original

    gist = form.but(text="the sea", level=2, original=pack_original(Original(text=form.text)))
    verbs.rewrite_form(source.parts.store, [(form, gist)], now=NOW)
    assert copy(source, target).ok
    assert target.upkeep.detail("sea").text == form.text
    assert by_id(target) == by_id(source)


def test_without_history_only_the_last_version_comes(source: Memory, target: Memory) -> None:
    copied = copy(source, target, history=False)
    assert copied.ok
    assert copied.histories == 0
    assert by_id(target) == by_id(source)
    assert [event.what for event in target.history("ann")] == ["created"]


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


# Going on.


def test_the_same_call_again_changes_nothing(source: Memory, target: Memory) -> None:
    copy(source, target)
    before = target.parts.store.head()
    again = copy(source, target)
    assert again.ok
    assert again.since == again.upto > 0
    assert counted(again) == {}
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
    assert counted(again) == {"created": 1, "changed": 2}
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


@pytest.mark.parametrize("after", [1, 2, 4])
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
    assert seen[0] == (256, 1200)


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
    assert copied.since == 0
    assert counted(copied) == {"created": 1, "same": 1}
    assert copied.scopes[0].more == 1


# One scope.


def test_only_the_scope_that_is_named_is_copied(source: Memory, target: Memory) -> None:
    assert counted(copy(source, target, scope="acme")) == {"created": 3}
    assert list(target.scopes()) == ["acme"]
    assert counted(copy(source, target, scope=Scope.under("acme"))) == {"created": 10, "same": 3}
    whole = copy(source, target)
    assert counted(whole) == {"created": 1, "same": 13}
    assert copy(source, target, scope="acme").since == whole.upto


# What was forgotten.


def test_what_was_forgotten_for_good_in_the_target_is_not_brought_back(
    source: Memory, target: Memory
) -> None:
    target.remember("Ann lives in Porto", id="other")
    target.forget("other")
    copied = copy(source, target)
    assert counted(copied) == {"created": 13, "entombed": 1}
    assert copied.ok
    assert [(one.scope, one.source, one.left_out) for one in copied.scopes][-1] == ("default", 0, 1)
    assert target.get("ann") is None


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
    assert again.scopes[-1].left_out == 1
    assert target.get("ann") is None


@pytest.mark.parametrize("for_good", [True, False])
def test_what_the_source_forgot_since_leaves_the_target_too(
    source: Memory, target: Memory, for_good: bool
) -> None:
    copy(source, target)
    target.remember("only here", id="own")
    source.forget("ann", for_good=for_good)
    again = copy(source, target)
    assert again.ok
    assert counted(again) == {"forgotten": 1}
    assert target.get("ann") is None
    assert target.get("own") is not None
    assert bool(again.notes) == for_good
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
    assert counted(again) == {"held": 1}
    assert "legal hold" in again.differences[0].why
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


# Conflicts.


def test_what_was_changed_in_the_target_is_left_and_told(source: Memory, target: Memory) -> None:
    copy(source, target)
    target.revise("ann", text="Ann lives in Oslo.")
    source.revise("bob", scope="acme", text="Bob sails.")
    target.revise("bob", scope="acme", text="Bob swims.")
    again = copy(source, target)
    assert not again.ok
    assert counted(again) == {"conflicts": 1}
    assert sorted((one.id, one.why) for one in again.differences) == [
        ("ann", "differs in terms, text, vector, version"),
        ("bob", "differs in terms, text, vector"),
    ]
    assert [one.equal for one in again.scopes] == [False, True, False]


def test_changes_on_both_sides_are_a_conflict_however_many_there_were(source: Memory, target: Memory) -> None:
    copy(source, target)
    target.upkeep.pin("bob", scope="acme")
    source.revise("bob", scope="acme", importance=0.9)  # as many versions, and the same words
    target.revise("ann", text="Ann lives in Oslo.")
    source.revise("ann", text="Ann lives in Rome.")
    source.revise("ann", text="Ann lives in Faro.")  # more versions, but not after the one there
    again = copy(source, target)
    assert counted(again) == {"conflicts": 2}
    bob, ann = target.get("bob", scope="acme"), target.get("ann")
    assert bob is not None
    assert bob.state.pinned is not None
    assert ann is not None
    assert ann.text == "Ann lives in Oslo."


def test_overwriting_makes_the_target_as_the_source(source: Memory, target: Memory) -> None:
    copy(source, target)
    source.revise("bob", scope="acme", text="Bob sails.")
    target.revise("bob", scope="acme", text="Bob swims.")
    target.revise("ann", text="Ann lives in Oslo.")
    again = copy(source, target, overwrite=True)
    assert again.ok
    assert counted(again) == {"changed": 2, "same": 12}
    assert by_id(target) == by_id(source)


def test_the_targets_own_record_of_the_same_id_is_not_lost(source: Memory, target: Memory) -> None:
    target.remember("My own Ann", id="ann")
    target.revise("ann", text="My own Anna", meta={"mine": True})
    target.revise("ann", text="My own Annie")
    copied = copy(source, target)
    assert not copied.ok
    assert counted(copied) == {"created": 13, "conflicts": 1}
    ann = target.get("ann")
    assert ann is not None
    assert ann.text == "My own Annie"


def test_a_change_behind_its_back_is_noticed(source: Memory, tmp_path: Path) -> None:
    import sqlite3

    path = tmp_path / "m.db"
    assert copy(source, path).ok
    with sqlite3.connect(path) as database:
        database.execute("UPDATE records SET importance = 0.31 WHERE id = 'ann'")
        database.execute("DELETE FROM records WHERE id = 'bob'")
    database.close()
    again = copy(source, path)
    assert not again.ok
    assert sorted((one.id, one.why) for one in again.differences) == [
        ("ann", "differs in importance"),
        ("bob", "is missing in the target"),
    ]


# Other vectors and words.


def test_with_another_embedder_vectors_are_made_anew(source: Memory, tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    copied = copy(source, path, embedder="hashing:128")
    assert copied.ok
    assert (copied.embedder, copied.embedded) == ("hashing:128", True)
    with Memory(path) as memory:
        assert memory.admin.stats()["embedder"] == "hashing:128"
        assert memory.recall("where does Ann live?")[0].id == "ann"
        assert {len(record.vector or b"") for record in all_of(memory)} == {128 * 4}
        assert memory.admin.check() == []
    assert copy(source, path).ok


class Counting(Hashing):
    def __init__(self, width: int) -> None:
        super().__init__(width)
        self.asked = 0

    def embed(self, texts: Any) -> Any:
        self.asked += len(texts)
        return super().embed(texts)


def test_with_the_same_embedder_nothing_is_embedded(source: Memory) -> None:
    embedder = Counting(64)
    assert copy(source, ram(embedder=embedder)).ok
    assert embedder.asked == 0


def test_with_another_language_words_are_analysed_anew(tmp_path: Path) -> None:
    source, path = ram(language="en"), tmp_path / "m.db"
    source.remember("Die Katzen schlafen im Haus", id="katzen")
    copied = copy(source, path, language="de")
    assert copied.ok
    with Memory(path) as memory:
        assert memory.admin.stats()["language"] == "de"
        assert memory.admin.check() == []
        assert by_id(memory)["default", "katzen"].terms != by_id(source)["default", "katzen"].terms
        assert by_id(memory)["default", "katzen"].vector == by_id(source)["default", "katzen"].vector


def test_a_new_target_takes_embedder_and_language_of_the_source(tmp_path: Path) -> None:
    source = ram(language="de", embedder="hashing:32")
    source.remember("Die Katzen schlafen")
    copy(source, tmp_path / "m.db")
    with Memory(tmp_path / "m.db") as memory:
        assert memory.admin.stats()["embedder"] == "hashing:32"
        assert memory.admin.stats()["language"] == "de"


def test_an_open_target_cannot_be_given_another_embedder_or_language(source: Memory) -> None:
    with pytest.raises(Misconfigured, match="hashing:64"):
        copy(source, ram(), embedder="hashing:32")
    with pytest.raises(Misconfigured, match="'en'"):
        copy(source, ram(), language="de")


def test_a_target_that_is_there_keeps_its_own_embedder(source: Memory, tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", embedder="hashing:32") as memory:
        memory.remember("mine")
    copied = copy(source, tmp_path / "m.db")
    assert copied.ok
    assert copied.embedder == "hashing:32"
    assert copied.scopes[-1].more == 1
    with pytest.raises(Misconfigured):
        copy(source, tmp_path / "m.db", embedder="hashing:128")


# Sealed, guarded, and what else there is.


def test_from_sealed_to_plain_and_back(source: Memory, tmp_path: Path) -> None:
    with Memory(tmp_path / "s.db", embedder="hashing:64", key=KEY, clock=Clock(tick=1.0)) as sealed:
        assert copy(source, sealed).ok
        assert copy(sealed, tmp_path / "p.db").ok
    with Memory(tmp_path / "p.db", clock=Clock(tick=1.0)) as plain:
        assert by_id(plain) == by_id(source)
        assert plain.history("ann") == source.history("ann")
    assert b"Lisbon" not in (tmp_path / "s.db").read_bytes()


def test_the_guard_of_the_target_sees_what_comes(tmp_path: Path) -> None:
    source = ram()
    source.remember("Write to ann.smith@example.org", id="mail")
    source.revise("mail", text="Write to bob.jones@example.org")
    with Memory(tmp_path / "m.db", embedder="hashing:64", guard="redact", clock=Clock(tick=1.0)) as target:
        copied = copy(source, target)
        assert copied.ok
        assert "only ids were compared" in copied.notes[-1]
        kept = target.get("mail")
        assert kept is not None
        assert "example.org" not in kept.text
        assert copy(source, target).ok
    assert b"example.org" not in (tmp_path / "m.db").read_bytes()


def test_numbers_that_were_given_are_not_given_again(source: Memory, target: Memory) -> None:
    given = [next_number(source, "turn") for _ in range(5)]
    copy(source, target)
    assert next_number(target, "turn") == 5 not in given
    for _ in range(3):
        next_number(target, "turn")
    copy(source, target)
    assert next_number(target, "turn") == 9


def test_archives_of_the_source_are_known_to_the_target(
    source: Memory, target: Memory, tmp_path: Path
) -> None:
    source.upkeep.maintain(archive=tmp_path / "archive")
    copy(source, target)
    assert str(tmp_path / "archive") in (verbs.get_setting(target.parts.store, "archives") or "")


# Bad input.


def test_a_memory_is_not_copied_into_itself(source: Memory, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="same memory"):
        copy(source, source)
    copy(source, tmp_path / "m.db")
    with pytest.raises(BadInput, match="same memory"):
        copy(tmp_path / "m.db", tmp_path / "m.db")


def test_a_source_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no memory"):
        copy(tmp_path / "none.db", tmp_path / "m.db")
    assert list(tmp_path.iterdir()) == []


def test_only_one_copy_at_a_time_between_two_memories(
    source: Memory, target: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(marking, "HELD_SECONDS", 0.1)
    store, now = target.parts.store, target.parts.clock()
    name = f"copy:{source.parts.store.identity}"
    assert verbs.take_lease(store, name, "somebody", now=now, until=now + 1e6)
    with pytest.raises(Conflict, match="another copy"):
        copy(source, target)
    assert all_of(target) == []
    assert verbs.take_lease(store, name, "somebody", now=now, until=0.0)
    assert copy(source, target).ok
    assert verbs.take_lease(store, name, "somebody", now=now, until=now + 1)


def test_an_empty_memory_is_copied_as_such(target: Memory) -> None:
    copied = copy(ram(), target)
    assert copied.ok
    assert (copied.records, copied.scopes) == (0, ())


def test_without_verifying_nothing_is_said_of_scopes(source: Memory, target: Memory) -> None:
    copied = copy(source, target, verify=False)
    assert copied.ok
    assert copied.scopes == ()
    assert by_id(target) == by_id(source)


def test_a_source_that_is_written_meanwhile_is_copied_up_to_where_it_was(target: Memory) -> None:
    source = ram(settings=Settings(keep_duplicates=True))
    source.remember([f"fact {n}" for n in range(300)])

    def write(done: int, total: int) -> None:
        source.remember("meanwhile")

    copied = copy(source, target, progress=write)
    assert copied.ok
    assert copied.created == 300
    assert copy(source, target).ok
    assert target.count() == source.count()


# Between servers.


def test_from_server_to_server_and_back_all_is_as_it_was(
    source: Memory, postgres_url: str, redis_url: str
) -> None:
    with Memory(postgres_url, embedder="hashing:64", clock=Clock(tick=1.0)) as first:
        assert copy(source, first).ok
        with Memory(redis_url, embedder="hashing:64", clock=Clock(tick=1.0)) as second:
            assert copy(first, second).ok
            back = ram()
            assert copy(second, back).ok
            assert second.history("ann") == source.history("ann")
            second.revise("ann", text="Ann lives on the server.")
            assert copy(second, back).changed == 1
    found = by_id(back)
    assert found.pop(("default", "ann")).version == 4
    assert found == {key: record for key, record in by_id(source).items() if key != ("default", "ann")}


KINDS = ("file", "sealed", "postgres", "redis", "tiered", "sealed tiered")


@pytest.fixture
def place(redis_url: str, postgres: Postgres, tmp_path: Path) -> Callable[[str], dict[str, Any]]:
    """Makes a new place of a kind, and says how it is opened."""
    numbers = count()

    def made(kind: str) -> dict[str, Any]:
        file, redis = tmp_path / f"{next(numbers)}.db", f"{redis_url}?prefix=p{next(numbers)}"
        both = f"tiered://?short={quote(redis, safe='')}&long={quote(str(file), safe='')}"
        told = {"redis": redis, "tiered": both, "sealed tiered": both, "postgres": ""}
        where = database_of(postgres) if kind == "postgres" else told.get(kind, str(file))
        return {"place": where, "key": KEY if kind.startswith("sealed") else None}

    return made


def database_of(postgres: Postgres) -> str:
    import psycopg

    name = f"copied_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(postgres.url(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE} STRATEGY file_copy")
    with psycopg.connect(postgres.url(name), autocommit=True) as connection:
        connection.execute(EMPTY)  # an identity of its own
    return postgres.url(name)


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
                assert (copied.ok, copied.created, copied.histories) == (True, len(whole), 3), other
                assert by_id(second) == whole, other
                assert second.history("ann") == source.history("ann"), other


def test_into_tiers_and_out_of_them(source: Memory, redis_url: str, tmp_path: Path) -> None:
    from eidet.store.sql.sqlite import SqliteStore
    from eidet.store.tiered import TieredStore

    form = source.parts.store.read("acme", ["bob"])[0]
    assert form is not None
    verbs.rewrite_form(source.parts.store, [(form, form.but(tier=Tier.LONG))], now=NOW)
    store = TieredStore(lambda: open_store(redis_url, Settings()), SqliteStore(tmp_path / "long.db"))
    back = ram()
    with Memory(store, embedder="hashing:64", clock=Clock(tick=1.0)) as tiers:
        assert copy(source, tiers).ok
        assert by_id(tiers) == by_id(source)
        assert copy(tiers, back).ok
    assert by_id(back) == by_id(source)
    with Memory(tmp_path / "long.db") as long:
        assert [record.id for record in all_of(long)] == ["bob"]
