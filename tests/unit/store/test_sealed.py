"""What a sealed store keeps, whom it tells, and what it notices."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.making import examples
from tests.strategies import records, wheres

from eidet.core.errors import Conflict, EidetError, Refused
from eidet.core.record import Kind, Record, Trust, content_digest
from eidet.core.scope import Scope
from eidet.core.where import Condition, Where
from eidet.store import verbs
from eidet.store.ram import RamStore
from eidet.store.rules import Held
from eidet.store.sql.sqlite import SqliteStore
from eidet.trust.seal import Shredded
from eidet.trust.seal.codec import numbers_in
from eidet.trust.seal.key_rotation import rotate, shred
from eidet.trust.seal.service import LocalKeys
from eidet.trust.seal.store import SealedStore

SERVICE = LocalKeys(bytes(range(32)))
NOW = 1_700_000_000.0


def clock() -> float:
    return NOW


def fact(id: str, scope: str = "a", **fields: Any) -> Record:
    usual = {"text": f"{id} of {scope}", "vector": id.encode() * 8, "terms": id.encode() * 5, "who": id}
    return Record(id=id, scope=scope, **{**usual, "created": NOW, "occurred": NOW, **fields})


def sealed(*given: Record) -> SealedStore:
    store = SealedStore(RamStore(), SERVICE)
    verbs.put(store, given, now=NOW)
    return store


# What is kept.


def test_the_store_inside_sees_no_content() -> None:
    store = sealed(fact("x", agent="ann", session="s", source="web", data={"a": 1}, meta={"b": 2}))
    (form,) = store.inner.find(Where())
    assert (form.text, form.data, form.meta, form.original) == ("", None, {}, None)
    for name in ("agent", "session", "who", "source"):
        token = getattr(form, name)
        assert token
        assert token not in ("ann", "s", "x", "web")
    assert form.vector != b"x" * 8
    assert form.terms != b"x" * 5


# What is noticed.


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "m.db"
    with closing(SealedStore(SqliteStore(path), SERVICE)) as store:
        verbs.put(store, [fact("x"), fact("y"), fact("x", "b")], now=NOW)
        verbs.put(store, [fact("x", text="new", who="new", agent="ann")], now=NOW, by="ann")
        old = store.read("a", ["y"])[0]
        assert old is not None
        verbs.put(store, [fact("z", text="z", kind=Kind.MESSAGE, trust=Trust.WEB)], now=NOW)
    return path


def tampered(path: Path, *changes: str) -> SealedStore:
    with closing(sqlite3.connect(path)) as raw, raw:
        for change in changes:
            raw.execute(change)
    return SealedStore(SqliteStore(path), SERVICE)


def swap(column: str, one: str, other: str) -> str:
    """SQL that lets one record have a column of another."""
    return f"UPDATE records SET {column} = (SELECT {column} FROM records WHERE {other}) WHERE {one}"


Y, X, B = "scope = 'a' AND id = 'y'", "scope = 'a' AND id = 'x'", "scope = 'b' AND id = 'x'"


def test_one_damaged_record_is_told_to_the_index_as_damaged_and_others_are_found(file: Path) -> None:
    with closing(tampered(file, swap("terms", Y, X))) as store:
        entries = {e.seq: e for e in store.changes("a", 0, 99).entries}
        bad = store.inner.match(Where(scope=Scope("a"), ids=("y",)))[0]
        assert entries.pop(bad).terms == b"\xff"
        assert {e.who for e in entries.values()} == {"new", "z"}


# Filters.


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(records(), max_size=6, unique_by=lambda r: (r.scope, r.id)), wheres())
def test_every_filter_finds_what_it_means(given: list[Record], where: Where) -> None:
    store = SealedStore(RamStore(), SERVICE)
    stored = verbs.put(store, given, now=NOW, unique=False) if given else []
    wanted = [record for record in stored if where.matches(record)]
    assert store.find(where) == list(verbs.scan(store, where)) == wanted
    assert store.match(where) == [record.seq for record in wanted]
    assert verbs.count(store, where) == sum(verbs.count_kinds(store, where).values()) == len(wanted)
    assert store.find(where, order="-seq", limit=2, offset=1) == wanted[::-1][1:3]
    if held := {(record.scope, record.id) for record in wanted if record.state.hold is not None}:
        with pytest.raises(Held) as caught:
            verbs.delete_where(store, where, now=NOW)
        assert set(caught.value.records) == held
        assert store.find(Where()) == stored
        return
    assert sorted(verbs.delete_where(store, where, now=NOW)) == sorted(record.id for record in wanted)
    assert verbs.count(store, where) == 0
    assert verbs.count(store, Where()) == len(stored) - len(wanted)


# Changing keys.


def test_a_scope_gets_a_new_key_and_everything_stays() -> None:
    store = sealed(*(fact(f"{n}", agent="ann") for n in range(250)), fact("x", "b"))
    verbs.put(store, [fact("7", text="new", meta={"n": 1})], now=NOW + 1, by="bob")
    before, story = store.find(Where()), store.history("a", "7")
    assert rotate(store, "a", clock) == 250
    after = store.find(Where())
    assert sorted((r.but(seq=0) for r in after), key=repr) == sorted((r.but(seq=0) for r in before), key=repr)
    assert {number for form in store.inner.find(Where(scope=Scope("a"))) for number in numbers_in(form)} == {
        2
    }
    told = store.history("a", "7")
    assert [e for e in told if e.what != "moved"] == story
    assert store.keys("a").numbers == (2,)
    assert sum(value == " a" for value in verbs.get_settings(store.inner, "seal:key:").values()) == 1
    assert store.keys("b").numbers == (1,)
    assert verbs.put(store, [fact("again", text="7 of a")], now=NOW)[0].id == "again"
    assert verbs.put(store, [fact("8", agent="ann").but(id="twin")], now=NOW)[0].id == "8", (
        "twins are known across keys"
    )


def test_keys_are_changed_by_one_at_a_time() -> None:
    store = sealed(fact("x"))
    assert verbs.take_lease(store.inner, "seal", "somebody", now=NOW, until=NOW + 10)
    for change in (rotate, shred):
        with pytest.raises(Conflict, match="another process"):
            change(store, "a", clock)
    assert store.keys("a").numbers == (1,)
    rotate(store, "a", lambda: NOW + 20)
    assert store.keys("a").numbers == (2,)


# Shredding.


def test_what_is_shredded_cannot_be_read_and_others_can() -> None:
    store = sealed(fact("x"), fact("y", "b"), fact("z", "a/b"))
    assert shred(store, "a", clock) == 1
    where = Where(scope=Scope("a"))
    for ask in (
        lambda: store.read("a", ["x"]),
        lambda: store.find(where),
        lambda: list(verbs.scan(store, where)),
        lambda: store.changes("a", 0, 10),
        lambda: store.history("a", "x"),
        lambda: verbs.put(store, [fact("new")], now=NOW),
    ):
        with pytest.raises(Shredded, match="'a' was destroyed"):
            ask()
    assert [r.id for r in store.find(Where())] == [r.id for r in verbs.scan(store, Where())] == ["y", "z"]
    assert [r.id for r in store.find(Where(scope=Scope.under("a")))] == ["z"]
    assert list(verbs.count_scopes(store)) == ["a/b", "b"]
    assert verbs.count(store, where) == 1
    assert verbs.count(store, where & Where(conditions=(Condition("state.hold", "exists"),))) == 0


def test_a_key_that_another_opening_has_just_made_is_known_when_it_is_met() -> None:
    inner = RamStore()
    one, other = SealedStore(inner, SERVICE), SealedStore(inner, SERVICE)
    verbs.put(one, [fact("x")], now=NOW)
    assert other.read("a", ["x"])[0]
    one.ring.add("a")  # the epoch is not raised yet
    (y,) = verbs.put(one, [fact("y")], now=NOW)
    assert [entry.who for entry in other.changes("a", 0, 10).entries] == ["x", "y"]
    third = SealedStore(inner, SERVICE)
    third.read("a", ["x"])
    one.ring.add("a")
    (z,) = verbs.put(one, [fact("z")], now=NOW)
    assert third.read("a", ["y", "z"]) == [y, z]


def test_a_scope_that_another_opening_has_just_begun_is_searched() -> None:
    store = RamStore()
    reader, writer = SealedStore(store, SERVICE), SealedStore(store, SERVICE)
    where = Where(scope=Scope("a"), who="x")
    content = content_digest("x of a", None)

    def find_same() -> list[str]:
        return [r.id for r in reader.write(lambda transaction: transaction.same("a", [content]))]

    assert (reader.find(where), find_same()) == ([], [])
    verbs.put(writer, [fact("x")], now=NOW)
    assert [r.id for r in reader.find(where)] == ["x"]
    verbs.put(writer, [fact("y", "b")], now=NOW)
    assert find_same() == ["x"]
    assert reader.count_by(Where(scope=Scope("b"), who="y")) == {(): 1}


def test_a_shredded_scope_that_another_opening_began_anew_is_searched() -> None:
    store = RamStore()
    reader, writer = SealedStore(store, SERVICE), SealedStore(store, SERVICE)
    verbs.put(writer, [fact("x"), fact("y", "b")], now=NOW)
    shred(writer, "a", clock)
    assert [r.id for r in reader.find(Where())] == ["y"]
    verbs.delete_where(writer, Where(scope=Scope("a")), now=NOW)
    verbs.put(writer, [fact("z")], now=NOW)
    assert [r.id for r in reader.find(Where())] == ["y", "z"]
    assert reader.count_by(Where(), ("scope",)) == {("a",): 1, ("b",): 1}


def test_nothing_of_a_shredded_key_is_left_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with closing(SealedStore(SqliteStore(path), SERVICE)) as store:
        verbs.put(store, [fact(f"{n}") for n in range(50)], now=NOW)
        keys = verbs.get_settings(store.inner, "seal:key:").values()
        (wrapped,) = (key.partition(" ")[0].encode() for key in keys if key.endswith(" a"))
        assert any(wrapped in name.read_bytes() for name in tmp_path.iterdir())
        (tmp_path / "m.db.schema-0001").write_bytes(wrapped)
        shred(store, "a", clock)
        for name in tmp_path.iterdir():
            assert wrapped[:24] not in name.read_bytes(), name


# Opening.


def test_a_store_for_reading_only_keeps_its_keys(file: Path) -> None:
    file.chmod(0o400)
    inner = SqliteStore(file)
    inner.writable = False  # as it is for everybody but root
    with closing(SealedStore(inner, SERVICE)) as store:
        assert store.read("a", ["x"])[0]
        for change in (rotate, shred):
            with pytest.raises(Refused, match="read-only"):
                change(store, "a", clock)


def test_a_record_that_is_not_sealed_is_told_of() -> None:
    store = sealed(fact("x"))
    verbs.put(store.inner, [fact("bare", terms=b"")], now=NOW)
    with pytest.raises(EidetError):
        store.read("a", ["bare"])
