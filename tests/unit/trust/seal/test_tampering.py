"""Whatever is changed in a sealed store from outside is noticed: every column, of every table, in every way.

What is not bound is named here, and in docs/operate/encryption.md.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import pytest
from tests.making import make_store

from eidet.core.errors import Corrupt, EidetError
from eidet.core.record import Event, Kind, Original, Record, Tier, Trust, pack_original
from eidet.core.state import State
from eidet.core.where import Where
from eidet.store import Store, Transaction, verbs
from eidet.store.sql.rows import COLUMNS, EVENT_COLUMNS, row_of
from eidet.store.sql.sqlite import SqliteStore
from eidet.trust.seal.service import LocalKeys
from eidet.trust.seal.store import SealedStore, list_damage

SERVICE = LocalKeys(bytes(range(32)))
NOW = 1_700_000_000.0
UNBOUND: Final = {"seq", "uses", "last_used", "exact_key"}  # what the store itself counts and notes


def lower(text: str) -> bytes | None:
    return pack_original(Original(text=text, data=({"n": 1},), vector=b"1234", embedder="e"))


def full(id: str, text: str, **fields: Any) -> Record:
    """A record with something in every column."""
    usual: dict[str, Any] = {
        "kind": Kind.FACT,
        "tier": Tier.MIDDLE,
        "trust": Trust.WEB,
        "data": {"n": 1},
        "meta": {"m": 2},
        "state": State(weighed=True),
        "agent": "ann",
        "session": "monday",
        "who": "bob",
        "source": "mail",
        "step": 3,
        "place": (1.0, 2.0, 3.0),
        "importance": 0.7,
        "created": NOW,
        "occurred": NOW - 50,
        "expires": NOW + 9e9,
        "vector": b"12345678",
        "terms": b"terms",
        "level": 1,
        "original": lower(f"the whole of {text}"),
        "derived_from": ("z",),
    }
    return Record(id=id, scope="a", text=text, **{**usual, **fields})


OTHER: Final[dict[str, Any]] = {
    "kind": Kind.DOCUMENT,
    "tier": Tier.LONG,
    "trust": Trust.USER,
    "data": {"n": 9},
    "meta": {"m": 9},
    "state": State(),
    "agent": "eve",
    "session": "friday",
    "who": "cid",
    "source": "page",
    "step": 4,
    "place": (4.0, 5.0),
    "importance": 0.2,
    "occurred": NOW - 70,
    "expires": None,
    "vector": b"87654321",
    "terms": b"other",
    "level": 0,
    "original": None,
    "derived_from": (),
}


def write_life(store: Store) -> tuple[Record, ...]:
    """Record x in two versions that differ in all columns, and y; the forms of x by version, and of y."""
    sealed = SealedStore(store, SERVICE)
    verbs.put(sealed, [full("x", "the first"), full("y", "another", created=NOW + 7, agent="dan")], now=NOW)
    first, other = store.read("a", ["x", "y"])
    verbs.put(sealed, [full("x", "the second", **OTHER)], now=NOW + 1, by="ann")
    verbs.put(sealed, [full("x", "the third", **{**OTHER, "step": 5})], now=NOW + 2, by="bob")
    verbs.put(sealed, [full("y", "another one", created=NOW + 7)], now=NOW + 3, by="cid")
    (last,) = store.read("a", ["x"])
    assert first is not None
    assert other is not None
    assert last is not None
    assert list_damage(sealed) == []
    return first, last, other


# Every column of a file.


Row = dict[str, Any]


@pytest.fixture(scope="module")
def life(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Row]:
    """A file, and the row of x in it."""
    path = tmp_path_factory.mktemp("life") / "m.db"
    with closing(SqliteStore(path)) as store:
        _, form, _ = write_life(store)
        row = row_of(form, form.seq, (form.sealed or b"")[:28])
    return path, dict(zip(COLUMNS, row, strict=True))


FORGED: Final[dict[str, Any]] = {
    "text": "forged",
    "data": '{"n": 7}',
    "meta": '{"m": 7}',
    "state": '{"pinned": {"at": 1.0}}',
    "original": lower("forged"),
    "derived_from": '["y"]',
    "expires": NOW + 5,
    "z": 8.0,
}


def flip(column: str, value: Any) -> Any:
    if isinstance(value, bytes):
        return bytes([*value[:-1], value[-1] ^ 1])
    if column in ("kind", "tier", "trust"):
        return {"kind": "message", "tier": "middle", "trust": "trusted"}[column]
    if isinstance(value, int | float):
        return value + 1
    return FORGED.get(column, f"{value}x")


def tamper(path: Path, folder: Path, *changes: tuple[str, tuple[Any, ...]]) -> SealedStore:
    copy = folder / "m.db"
    shutil.copy(path, copy)
    with closing(sqlite3.connect(copy)) as raw, raw:
        for sql, values in changes:
            assert raw.execute(sql, values).rowcount == 1
    return SealedStore(SqliteStore(copy), SERVICE)


def read_all(store: SealedStore) -> list[Record]:
    return list(verbs.scan(store, Where()))


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("how", ["flip", "clear"])
def test_a_column_of_a_record_that_was_changed_is_noticed(
    life: tuple[Path, Row], tmp_path: Path, column: str, how: str
) -> None:
    path, row = life
    new = flip(column, row[column]) if how == "flip" else None
    if new == row[column] or (column in ("id", "seq") and how != "flip"):
        pytest.skip("changes nothing, or cannot be stored")
    change = (f"UPDATE records SET {column} = ? WHERE id = 'x'", (new,))
    try:
        store = tamper(path, tmp_path, change)
    except sqlite3.IntegrityError:
        pytest.skip("the schema forbids it")
    with closing(store):
        if column in UNBOUND:
            assert list_damage(store) == []
            return
        assert list_damage(store), f"{column} -> {new!r}"
        with pytest.raises(Corrupt):
            read_all(store)


def test_a_record_under_the_key_of_another_is_not_taken_for_that(
    life: tuple[Path, Row], tmp_path: Path
) -> None:
    theirs = "SELECT exact_key FROM records WHERE id = 'y'"
    change = (f"UPDATE records SET exact_key = ({theirs}) WHERE id = 'x'", ())
    with closing(tamper(life[0], tmp_path, change)) as store:
        (y,) = store.read("a", ["y"])
        assert y is not None
        with pytest.raises(Corrupt, match="by a key that is not its own"):
            verbs.put(store, [y.but(id="new")], now=NOW)


@pytest.mark.parametrize("column", EVENT_COLUMNS)
@pytest.mark.parametrize("at", [0, 1])
def test_a_column_of_an_event_that_was_changed_is_noticed(
    life: tuple[Path, Row], tmp_path: Path, column: str, at: int
) -> None:
    """Each of the two revisions of x gets what the other has, what that of y has, and something else."""
    path, _ = life
    with closing(sqlite3.connect(path)) as raw:
        raw.row_factory = sqlite3.Row
        events = [dict(row) for row in raw.execute("SELECT * FROM events ORDER BY seq")]
    with closing(SealedStore(SqliteStore(path), SERVICE)) as store:
        told = store.history("a", "x")
    mine = events[at]
    tried = [events[1 - at][column], events[2][column], flip_event(column, mine[column])]
    for number, new in enumerate(tried):
        if new == mine[column] or (column == "seq" and number < 2) or new is None:
            continue
        folder = tmp_path / str(number)
        folder.mkdir()
        change = (f"UPDATE events SET {column} = ? WHERE seq = ?", (new, mine["seq"]))
        with closing(tamper(path, folder, change)) as store:
            noticed = list_damage(store)
            if column in ("gone", "author") or (column in ("born", "seq") and at == 1):
                assert noticed == [], "it changes nothing that is told"
                assert store.history("a", "x") == told
            else:
                assert noticed, f"{column} -> {new!r}"


def flip_event(column: str, value: Any) -> Any:
    flipped: dict[str, Any] = {
        "scope": None,  # an event of a record that is not there is the same as one that was deleted
        "id": "y",
        "what": "forgotten",
        "earlier": '{"text": "forged"}',
        "actor": "somebody",
        "author": "somebody",
        "seq": value + 1000 if column == "seq" else None,
    }
    return flipped[column] if column in flipped else value + 1


@pytest.mark.parametrize(
    "forged", ['{"text": "forged"}', '{"sealed": "AAAA"}', "not JSON", '{"sealed": 3}', "[]"]
)
def test_a_forged_note_is_noticed(life: tuple[Path, Row], tmp_path: Path, forged: str) -> None:
    change = ("UPDATE events SET earlier = ? WHERE id = 'x' AND version = 2", (forged,))
    with closing(tamper(life[0], tmp_path, change)) as store:
        with pytest.raises(Corrupt):
            store.history("a", "x")
        assert len(list_damage(store)) == 1


def test_a_forged_event_is_noticed(life: tuple[Path, Row], tmp_path: Path) -> None:
    for by in ("NULL", "'somebody'"):
        folder = tmp_path / by.strip("'")
        folder.mkdir()
        insert = (
            "INSERT INTO events SELECT 1000, scope, id, 'moved', moment + 5, "
            f"{by}, 3, NULL, born, author, NULL FROM events WHERE id = 'x' AND version = 2"
        )
        with closing(tamper(life[0], folder, (insert, ()))) as store, pytest.raises(Corrupt):
            store.history("a", "x")


def test_a_damaged_record_is_not_overwritten_but_can_be_deleted(
    life: tuple[Path, Row], tmp_path: Path
) -> None:
    change = ("UPDATE records SET importance = 1.0 WHERE id = 'x'", ())
    with closing(tamper(life[0], tmp_path, change)) as store:
        for fields in ({}, OTHER):
            with pytest.raises(Corrupt):
                verbs.put(store, [full("x", "new words", **fields)], now=NOW + 9)
        with pytest.raises(Corrupt):
            verbs.put(store, [full("x", "new words")], now=NOW + 9, expect=3)
        assert list_damage(store)
        assert verbs.delete_where(store, Where(ids=("x",)), now=NOW + 9) == ["x"]
        assert list_damage(store) == []


# Every field, in every kind of store.


@pytest.fixture(params=["ram", "sqlite", "postgres", "redis"])
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    with closing(make_store(request.param, tmp_path, request)) as store:
        yield store


def replace_form(store: Store, form: Record) -> None:
    """What somebody can do who writes into the store inside."""

    def job(transaction: Transaction) -> None:
        old = transaction.read(form.scope, [form.id])[0]
        assert old is not None
        event = Event(what="moved", id=form.id, scope=form.scope, at=0.0, version=form.version)
        transaction.remove([old], [event])
        transaction.insert([form])

    store.write(job)


def test_no_field_of_an_earlier_version_or_another_record_is_taken(backend: Store) -> None:
    first, last, other = write_life(backend)
    names = [name for name in Record.__slots__ if name not in {"id", "scope", *UNBOUND}]
    sealed = SealedStore(backend, SERVICE)
    for name in names:
        for source in (first, other):
            forged = last.but(**{name: getattr(source, name)})
            if forged == last:
                continue
            replace_form(backend, forged)
            with pytest.raises(Corrupt):
                sealed.read("a", ["x"])
            assert list_damage(sealed), name
    replace_form(backend, last)
    verbs.add_uses(backend, {("a", "x"): (7, NOW + 5)})
    found = sealed.read("a", ["x"])[0]
    assert found is not None
    assert (found.uses, found.version, found.text) == (7, 3, "the third")


def test_content_of_one_version_behind_the_columns_of_another_is_noticed(backend: Store) -> None:
    """All that is sealed at once, as somebody would who wants an old text to be the current one."""
    first, last, _ = write_life(backend)
    replace_form(backend, last.but(sealed=first.sealed, vector=first.vector, terms=first.terms))
    sealed = SealedStore(backend, SERVICE)
    with pytest.raises(Corrupt):
        sealed.read("a", ["x"])
    assert list_damage(sealed)


# The record of the master key.


def test_a_store_whose_record_of_its_key_was_removed_is_refused(tmp_path: Path) -> None:
    from eidet import Memory
    from eidet.copy import copy

    path = tmp_path / "m.db"
    with Memory(path, key=bytes(range(32)), embedder="hashing:64") as memory:
        memory.remember("Ann lives in Lisbon")
    for gone in ("name = 'seal'", "name LIKE 'seal%'"):
        with closing(sqlite3.connect(path)) as raw, raw:
            raw.execute(f"DELETE FROM settings WHERE {gone}")
        kept = path.read_bytes()
        for attempt in (
            lambda: Memory(path, key=bytes(range(32)), embedder="hashing:64"),
            lambda: Memory(path, embedder="hashing:64"),
            lambda: copy(path, tmp_path / "other.db"),
        ):
            with pytest.raises(Corrupt, match="Restore a copy"):
                attempt()
        assert path.read_bytes() == kept


def test_a_record_of_the_key_cannot_be_changed(tmp_path: Path, life: tuple[Path, Row]) -> None:
    import json

    with closing(sqlite3.connect(life[0])) as raw:
        (told,) = raw.execute("SELECT value FROM settings WHERE name = 'seal'").fetchone()
    said = json.loads(told)
    forgeries: list[dict[str, Any]] = [{"format": 0}, {"proof": "AAAA"}, {"format": 2}]
    for number, change in enumerate(forgeries):
        folder = tmp_path / str(number)
        folder.mkdir()
        forged = json.dumps({**said, **change})
        with pytest.raises(EidetError):
            tamper(life[0], folder, ("UPDATE settings SET value = ? WHERE name = 'seal'", (forged,)))
