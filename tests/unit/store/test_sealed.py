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

from eidet.core.errors import EidetError, Refused
from eidet.core.record import Kind, Record, Trust, content_digest
from eidet.core.scope import Scope
from eidet.core.where import Where
from eidet.store import verbs
from eidet.store.ram import RamStore
from eidet.store.rules import Held
from eidet.store.sql.sqlite import SqliteStore
from eidet.trust.seal.key_changes import rewrap, shred
from eidet.trust.seal.service import LocalKeys
from eidet.trust.seal.store import SealedStore

SERVICE = LocalKeys(bytes(range(32)))
NOW = 1_700_000_000.0


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


# Shredding.


def test_what_is_shredded_is_gone_and_others_are_not() -> None:
    store = sealed(fact("x", agent="ann"), fact("y", "b"), fact("z", "a/b"))
    verbs.put(store, [fact("x", text="new", agent="ann")], now=NOW + 1, by="bob")
    assert shred(store, "a", NOW + 2) == 1
    where = Where(scope=Scope("a"))
    assert store.read("a", ["x"]) == [None]
    assert store.find(where) == list(verbs.scan(store, where)) == []
    assert [event.before for event in store.history("a", "x")] == [None, None, None]
    assert [r.id for r in store.find(Where())] == [r.id for r in verbs.scan(store, Where())] == ["y", "z"]
    assert list(verbs.count_scopes(store)) == ["a/b", "b"]
    (new,) = verbs.put(store, [fact("x")], now=NOW)
    assert store.read("a", ["x"]) == [new]


def test_records_that_an_earlier_shredding_left_behind_are_deleted() -> None:
    """Format 0.3 destroyed the key of a scope, and left its records until the scope was forgotten."""
    store = sealed(fact("x"), fact("y", "b"))
    keys = verbs.get_settings(store.inner, "seal:key:").items()
    destroyed = {name: " a" for name, value in keys if value.endswith(" a")}
    verbs.set_settings(store.inner, {**destroyed, "seal:shredded:x": "a"})
    store = SealedStore(store.inner, SERVICE)
    assert [record.id for record in store.find(Where())] == ["y"]
    verbs.put(store, [fact("z")], now=NOW)
    assert [record.id for record in SealedStore(store.inner, SERVICE).find(Where())] == ["y", "z"]


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


def test_a_shredded_scope_that_another_opening_began_anew_is_searched_and_written() -> None:
    store = RamStore()
    reader, writer = SealedStore(store, SERVICE), SealedStore(store, SERVICE)
    verbs.put(writer, [fact("x"), fact("y", "b")], now=NOW)
    assert reader.read("a", ["x"])[0]
    shred(writer, "a", NOW)
    assert [r.id for r in reader.find(Where())] == ["y"]
    verbs.put(writer, [fact("z")], now=NOW)
    verbs.put(reader, [fact("v")], now=NOW)
    for one in (reader, writer):
        assert [r.id for r in one.find(Where())] == ["y", "z", "v"]
        assert one.count_by(Where(), ("scope",)) == {("a",): 2, ("b",): 1}


def test_nothing_of_a_shredded_key_is_left_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with closing(SealedStore(SqliteStore(path), SERVICE)) as store:
        verbs.put(store, [fact(f"{n}") for n in range(50)], now=NOW)
        keys = verbs.get_settings(store.inner, "seal:key:").values()
        (wrapped,) = (key.partition(" ")[0].encode() for key in keys if key.endswith(" a"))
        assert any(wrapped in name.read_bytes() for name in tmp_path.iterdir())
        (tmp_path / "m.db.schema-0001").write_bytes(wrapped)
        shred(store, "a", NOW)
        for name in tmp_path.iterdir():
            assert wrapped[:24] not in name.read_bytes(), name


# Opening.


def test_a_store_for_reading_only_keeps_its_keys(file: Path) -> None:
    file.chmod(0o400)
    inner = SqliteStore(file)
    inner.writable = False  # as it is for everybody but root
    with closing(SealedStore(inner, SERVICE)) as store:
        assert store.read("a", ["x"])[0]
        with pytest.raises(Refused, match="read-only"):
            rewrap(store, SERVICE)
        with pytest.raises(Refused, match="read-only"):
            shred(store, "a", NOW)


def test_a_record_that_is_not_sealed_is_told_of() -> None:
    store = sealed(fact("x"))
    verbs.put(store.inner, [fact("bare", terms=b"")], now=NOW)
    with pytest.raises(EidetError):
        store.read("a", ["bare"])
