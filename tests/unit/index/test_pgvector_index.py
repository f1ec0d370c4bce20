"""The index in PostgreSQL: what it shares between processes, what it leaves behind, and how it is set up."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from eidet import Memory
from eidet.core.errors import Misconfigured
from eidet.core.record import Record
from eidet.core.scope import Scope
from eidet.core.settings import Settings
from eidet.core.where import Condition, Near, Where
from eidet.index import Probe
from eidet.index.contract import NOW, WIDTH, make_record, unit
from eidet.index.embedded import EmbeddedIndex
from eidet.index.pgvector import PgvectorIndex, PgvectorSettings
from eidet.store import verbs
from eidet.store.ram import RamStore
from eidet.store.sql.postgres import PostgresStore
from eidet.text import term_id

AT_ONCE = PgvectorSettings(from_records=1, tail=50, background=False)
ALONG_THE_GRAPH = replace(AT_ONCE, few=0)


@pytest.fixture
def store(postgres_url: str) -> Iterator[PostgresStore]:
    store = PostgresStore(postgres_url)
    yield store
    store.close()


def filled(store: Any, count: int, *, seed: int = 5, **fields: Any) -> list[Record]:
    """Records with random directions and words of a small vocabulary."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(count, WIDTH)).astype(np.float32)
    made = [
        replace(
            make_record(
                f"{seed}-{n}",
                words=f"common w{n % 40} u{n}",
                session=f"s{n // 10}",
                occurred=NOW + n,
                **fields,
            ),
            vector=row.tobytes(),
        )
        for n, row in enumerate(rows)
    ]
    found: list[Record] = verbs.put(store, made, now=NOW, unique=False)
    return found


def probe(words: str = "", *, vector: Any = None, depth: int = 400, **how: Any) -> Probe:
    terms = tuple(term_id(word) for word in words.split())
    return Probe(scope=Scope("a"), now=NOW, terms=terms, vector=vector, depth=depth, **how)


def tables(store: PostgresStore) -> list[int]:
    """The tables of vectors, by a number that each new one gets."""
    sql = "SELECT oid::int FROM pg_class WHERE relname LIKE 'pgvector_units%' AND relkind = 'r'"
    return [number for (number,) in store.ask(lambda c: c.execute(sql).fetchall())]


def test_the_server_finds_what_the_ram_finds(store: PostgresStore) -> None:
    """In a scope where most is neither near nor worded alike, so that only candidates come back."""
    records = filled(store, 2_500)
    index, ram = PgvectorIndex(store, WIDTH, settings=ALONG_THE_GRAPH), EmbeddedIndex(store, WIDTH)
    rng = np.random.default_rng(9)
    kept = same = 0
    for n in range(20):
        vector = rng.normal(size=WIDTH).astype(np.float32)
        asked = probe(f"w{n} u{n * 7}", vector=vector, depth=100)
        here, there = index.search(asked), ram.search(asked)
        assert len(here) < 400
        assert here.searched == len(records)
        assert here.kept == pytest.approx(len(records), rel=0.2)
        best = set(there.seq[np.argsort(-there.dense)[:10]].tolist())
        kept, same = kept + 10, same + len(best & set(here.seq.tolist()))
        words = dict(zip(there.seq.tolist(), there.words.tolist(), strict=True))
        turns = dict(zip(there.seq.tolist(), there.traits.turn.tolist(), strict=True))
        for seq, score in zip(here.seq.tolist(), here.words.tolist(), strict=True):
            assert abs(words[seq] - score) < 1e-4
        leading = here.seq[np.argsort(-here.words)[:1]].tolist()
        assert all(here.traits.turn[here.seq == seq][0] == turns[seq] for seq in leading)
        assert here.words.max() == pytest.approx(there.words.max(), abs=1e-4)
        assert here.dense.max() == pytest.approx(there.dense.max(), abs=2e-3)
    assert same / kept >= 0.97
    index.close()


def test_a_filter_is_part_of_the_search(store: PostgresStore) -> None:
    filled(store, 800, who="ann")
    filled(store, 60, seed=6, who="bob", place=(1.0, 2.0), data={"colour": "red"})
    index, ram = PgvectorIndex(store, WIDTH, settings=replace(AT_ONCE, few=60)), EmbeddedIndex(store, WIDTH)
    vector = np.random.default_rng(1).normal(size=WIDTH).astype(np.float32)
    for where in (
        Where(who="ann"),
        Where(who="bob"),
        Where(near=Near(place=(1.0, 2.5), radius=0.5)),
        Where(conditions=(Condition("data.colour", "=", "red"),)),
        Where(conditions=(Condition("data.colour", "regex", "^r.d$"),)),
        ~Where(who="bob") & Where(since=NOW + 400),
    ):
        asked = probe("common w3", vector=vector, depth=30, where=where)
        here, there = index.search(asked), ram.search(asked)
        passing = set(store.match(where))
        assert set(here.seq.tolist()) <= passing
        nearest = there.seq[np.argsort(-there.dense)[:10]].tolist()
        assert len(set(nearest) & set(here.seq.tolist())) >= 9, where
        assert here.kept == pytest.approx(len(passing), rel=0.5), where
    index.close()


def test_equal_values_in_documents_are_looked_up(store: PostgresStore) -> None:
    odd = {"name": "a\0b\x1a", "deep": {"key": 1.0, "tags": ["x"]}, "n": 10**30, "flag": True}
    documents = [odd, {"name": "plain"}, {"name": ["plain"]}, {"deep": {"key": 1}}, None, "plain", ["plain"]]
    verbs.put(
        store,
        [make_record(f"{n}", words="word", data=data, meta={"m": n}) for n, data in enumerate(documents)],
        now=NOW,
    )
    index, ram = PgvectorIndex(store, WIDTH, settings=AT_ONCE), EmbeddedIndex(store, WIDTH)
    for path, value in (
        ("data.name", "a\0b\x1a"),
        ("data.name", "plain"),
        ("data.deep.key", 1),
        ("data.n", 10**30),
        ("data.flag", True),
        ("data.flag", 1),
        ("data.0", "plain"),
        ("meta.m", 3.0),
        ("data.name", None),
        ("data.deep.tags", ["x"]),
    ):
        asked = probe("word", where=Where(conditions=(Condition(path, "=", value),)))
        assert index.search(asked).seq.tolist() == ram.search(asked).seq.tolist(), (path, value)
    index.close()


def test_a_rare_value_in_a_document_is_found_by_its_index(store: PostgresStore) -> None:
    filled(store, 3_000, data={"colour": "grey"})
    verbs.put(store, [make_record("x", words="word", data={"colour": "red"})], now=NOW)
    PgvectorIndex(store, WIDTH, settings=AT_ONCE).close()
    where = Where(scope=Scope("a"), conditions=(Condition("data.colour", "=", "red"),))
    condition = store.condition(where)

    def plan(connection: Any) -> str:
        connection.execute("ANALYZE records")
        sql = f"EXPLAIN SELECT seq FROM records WHERE {condition.sql}"
        return "\n".join(line for (line,) in connection.execute(sql, condition.values).fetchall())

    assert "records_by_data" in store.ask(plan)


def test_what_one_process_copied_is_there_for_the_next(store: PostgresStore) -> None:
    filled(store, 120)
    first = PgvectorIndex(store, WIDTH, settings=AT_ONCE)
    first.search(probe("common"))
    (table,) = tables(store)
    second = PgvectorIndex(store, WIDTH, settings=replace(AT_ONCE, background=True))
    assert second.search(probe("common")).searched == 120
    assert (second.stats()["server_scopes"], second.stats()["loaded_scopes"]) == (1, 0)
    filled(store, 200, seed=6)
    assert first.search(probe("common")).searched == 320
    assert second.search(probe("u7")).searched == 320
    assert tables(store) == [table]
    second.close()
    first.close()


def test_a_copy_is_made_in_the_background_and_nobody_waits(store: PostgresStore) -> None:
    filled(store, 300)
    index = PgvectorIndex(store, WIDTH, settings=replace(AT_ONCE, from_records=200, background=True))
    assert index.search(probe("common")).searched == 300
    deadline = time.monotonic() + 30
    while index.stats()["copying"] and time.monotonic() < deadline:
        assert index.search(probe("common")).searched == 300
        time.sleep(0.02)
    assert index.search(probe("common")).searched == 300
    assert (index.stats()["server_scopes"], index.stats()["loaded_scopes"]) == (1, 0)
    index.close()


def test_many_are_found_where_many_are_wanted(store: PostgresStore) -> None:
    filled(store, 1_500)
    index = PgvectorIndex(store, WIDTH, settings=ALONG_THE_GRAPH)
    for where in (None, ~Where(who="nobody"), Where(since=NOW)):
        found = index.search(probe(vector=unit((1, 1.0)), depth=1_200, where=where))
        assert len(found) >= 300
        assert found.kept == pytest.approx(1_500, rel=0.2)
        worst = np.sort(found.dense)[-300]
        ram = EmbeddedIndex(store, WIDTH).search(probe(vector=unit((1, 1.0)), depth=1_200, where=where))
        assert worst == pytest.approx(np.sort(ram.dense)[-300], abs=1e-3)
    index.close()


def test_expired_neighbours_do_not_hide_the_living(store: PostgresStore) -> None:
    rng = np.random.default_rng(2)
    near = unit((0, 1.0)) + rng.normal(scale=0.01, size=(150, WIDTH)).astype(np.float32)
    verbs.put(
        store,
        [
            replace(make_record(f"dead{n}", words="x", expires=NOW - 1), vector=row.tobytes())
            for n, row in enumerate(near)
        ],
        now=NOW,
        unique=False,
    )
    filled(store, 200)
    index = PgvectorIndex(store, WIDTH, settings=ALONG_THE_GRAPH)
    found = index.search(probe(vector=unit((0, 1.0)), depth=20))
    assert len(found) >= 20
    assert found.searched == 350
    assert found.kept == pytest.approx(200, rel=0.2)
    index.close()


def test_long_sessions_keep_who_stands_beside_whom(store: PostgresStore) -> None:
    verbs.put(
        store,
        [
            make_record(f"{n}", words=f"u{n}", session="s", occurred=NOW + n, axis=n % WIDTH)
            for n in range(500)
        ],
        now=NOW,
        unique=False,
    )
    index = PgvectorIndex(store, WIDTH, settings=ALONG_THE_GRAPH)
    found = index.search(probe("u200", depth=1))
    ids = [record.id for record in store.read("a", found.seq.tolist()) if record is not None]
    at = dict(zip(ids, found.traits.turn.tolist(), strict=True))
    assert at["201"] - at["200"] == at["200"] - at["199"] == 1
    index.close()


def test_a_memory_is_searched_by_the_server(postgres_url: str) -> None:
    store = PostgresStore(postgres_url)
    settings = Settings(index="pgvector://?from_records=2&tail=1")
    with Memory(store, settings=settings) as memory:
        for text in ("Ann plays the violin.", "Bob repairs old radios.", "Ann's violin is from 1920."):
            memory.remember(text)
        memory.admin.rebuild()
        assert memory.recall("who plays an instrument?", limit=1)[0].text == "Ann plays the violin."
        assert len(tables(store)) == 1
        memory.remember("Cy sails every summer.")
        assert memory.recall("sailing", limit=1)[0].text == "Cy sails every summer."


def test_settings_that_make_no_sense_are_refused(store: PostgresStore) -> None:
    with pytest.raises(Misconfigured, match="unknown option 'speed'"):
        PgvectorIndex(store, WIDTH, settings=Settings(index="pgvector://?speed=9"))
    with pytest.raises(Misconfigured, match="tail must be a whole number"):
        PgvectorIndex(store, WIDTH, settings=Settings(index="pgvector://?tail=many"))
    with pytest.raises(Misconfigured, match="4,000 dimensions"):
        PgvectorIndex(store, 4_001)
    with pytest.raises(Misconfigured, match="PostgreSQL"):
        PgvectorIndex(RamStore(), WIDTH)
