"""A vector database that follows the store: what is sent, when, and what happens when things go wrong."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.making import Clock
from tests.servers.pinecone import Pinecone
from tests.timing import until

from eidet.core.errors import Misconfigured, Unavailable
from eidet.core.record import Record
from eidet.core.scope import Scope
from eidet.core.settings import Settings
from eidet.core.where import Condition, Where
from eidet.index import Candidates, Probe
from eidet.index.contract import NOW, WIDTH, long, make_record, unit
from eidet.index.vectordb import VectorSettings
from eidet.index.vectordb.address import parse_database_address
from eidet.index.vectordb.index import VectorIndex
from eidet.index.vectordb.pinecone import PineconeDatabase
from eidet.memory import Memory
from eidet.store import Store, verbs
from eidet.store.ram import RamStore
from eidet.store.sql.sqlite import SqliteStore
from eidet.text import term_id

AT_ONCE = VectorSettings(small=0, ship_rows=1, background=False)


def index_on(
    server: Pinecone,
    store: Store,
    settings: VectorSettings = AT_ONCE,
    *,
    settle: float = 0,
    deadline: float = 1.5,
    **how: Any,
) -> VectorIndex:
    url = f"pinecone+{server.url}?key={server.key}&settle={settle}&deadline={deadline}"
    database = PineconeDatabase(parse_database_address(url, {}, own=("settle",)))
    database.retrier.policy = replace(database.retrier.policy, rest_seconds=1e-6)
    clock = how.pop("clock", Clock())
    return VectorIndex(store, WIDTH, database, settings=settings, clock=clock, sleep=clock.sleep, **how)


def stored(store: Store, *records: Record) -> list[Record]:
    return verbs.put(store, records, now=NOW, unique=False)


def asked(index: Any, axis: int | None = 0, words: str = "", scope: str = "a", **how: Any) -> Candidates:
    vector = None if axis is None else unit((axis, 1.0))
    terms = tuple(map(term_id, words.split()))
    found: Candidates = index.search(Probe(scope=Scope(scope), now=NOW, vector=vector, terms=terms, **how))
    return found


def best(store: Store, found: Candidates) -> str | None:
    """The id of what is nearest."""
    seq = int(found.seq[int(found.dense.argmax())])
    record = store.read("a", [seq])[0]
    return None if record is None else record.id


def sent(server: Pinecone) -> int:
    return sum(map(len, server.spaces.values()))


def test_few_new_records_wait_in_ram_and_are_found_there(server: Pinecone) -> None:
    store = RamStore()
    index = index_on(server, store, VectorSettings(small=0, ship_rows=5, background=False))
    stored(store, *(make_record(f"{n}", axis=n) for n in range(5)))
    asked(index)
    assert (sent(server), index.stats()["rows_in_ram"]) == (5, 0)
    stored(store, make_record("new", axis=9))
    assert best(store, asked(index, 9)) == "new"
    assert (sent(server), index.stats()["rows_in_ram"]) == (5, 1)


def test_a_thread_sends_while_searches_go_on(server: Pinecone) -> None:
    store = RamStore()
    index = index_on(server, store, VectorSettings(small=0, ship_rows=1))
    stored(store, *(make_record(f"{n}", axis=n) for n in range(8)))
    assert best(store, asked(index, 3)) == "3"
    until(lambda: best(store, asked(index, 3)) == "3" and not index.stats()["rows_in_ram"])
    assert sent(server) == 8
    index.close()


def test_whoever_was_away_for_longer_than_the_store_tells_begins_anew(
    server: Pinecone, tmp_path: Path
) -> None:
    store = SqliteStore(tmp_path / "a.db")
    stored(store, *(make_record(f"{n}", axis=n) for n in range(8)))
    asked(index_on(server, store))
    (before,) = server.spaces
    verbs.delete_where(store, Where(ids=("3", "4")), now=NOW)
    assert store.prune(NOW + 1, dead=True, most=100) > 0
    stored(store, make_record("new", axis=9))
    index = index_on(server, store)
    assert best(store, asked(index, 9)) == "new"
    assert (sent(server), list(server.spaces) == [before]) == (7, False)
    assert index.check("a") == []
    store.close()


def test_closing_sends_what_waits(server: Pinecone) -> None:
    store = RamStore()
    index = index_on(server, store, VectorSettings(small=0, ship_rows=5, background=False))
    stored(store, *(make_record(f"{n}", axis=n) for n in range(8)))
    asked(index)
    verbs.delete_where(store, Where(ids=("3",)), now=NOW)
    stored(store, make_record("new", axis=9))
    index.close()
    index.close()
    assert sent(server) == 8
    assert best(store, asked(index_on(server, store), 9)) == "new"


def test_a_database_that_settles_late_is_not_relied_upon_too_early(server: Pinecone) -> None:
    store, clock = RamStore(), Clock()
    index = index_on(server, store, settle=30.0, clock=clock)
    server.lagging = True
    stored(store, *(make_record(f"{n}", axis=n) for n in range(8)))
    assert best(store, asked(index, 3)) == "3"
    assert (sent(server), index.stats()["rows_in_ram"]) == (0, 8)
    clock.now += 10
    stored(store, make_record("new", axis=9))
    assert best(store, asked(index, 9)) == "new"
    server.settle()
    clock.now += 29
    assert best(store, asked(index, 3)) == "3"
    clock.now += 2
    assert best(store, asked(index, 9)) == "new"
    assert (sent(server), index.stats()["rows_in_ram"]) == (9, 0)


def test_another_process_sees_what_was_sent_and_does_not_send_it_again(server: Pinecone) -> None:
    store = RamStore()
    one, two = index_on(server, store), index_on(server, store)
    stored(store, *(make_record(f"{n}", axis=n) for n in range(8)))
    asked(one)
    upserts = server.requests.count(("POST", "/vectors/upsert"))
    assert best(store, asked(two, 3)) == "3"
    assert two.stats()["rows_in_ram"] == 0
    assert server.requests.count(("POST", "/vectors/upsert")) == upserts


def test_only_one_process_sends_at_a_time(server: Pinecone) -> None:
    store, clock = RamStore(), Clock()
    index = index_on(server, store, clock=clock)
    stored(store, make_record("x", axis=1))
    asked(index)
    (name,) = (name for name in verbs.get_settings(store, "vectordb.") if name)
    assert verbs.take_lease(store, name, "somebody else", now=clock.now, until=clock.now + 100)
    stored(store, make_record("y", axis=2))
    assert best(store, asked(index, 2)) == "y"
    assert (sent(server), index.stats()["rows_in_ram"]) == (1, 1)
    with pytest.raises(Unavailable, match="another process"):
        index.rebuild("a")
    clock.now += 101
    assert best(store, asked(index, 2)) == "y"
    assert sent(server) == 2


def test_a_rebuild_fills_beside_and_changes_over(server: Pinecone) -> None:
    store = RamStore()
    index, reader = index_on(server, store), index_on(server, store)
    stored(store, *(make_record(f"{n}", axis=n) for n in range(8)))
    asked(index)
    asked(reader)
    (before,) = server.spaces
    assert index.rebuild("a") == 8
    (after,) = server.spaces
    assert before != after
    assert best(store, asked(reader, 3)) == "3"  # which knew of the old shelf only
    assert asked(reader, 3).notes == ()
    assert index.check("a") == []


def test_a_rebuild_that_fails_leaves_the_old_shelf_in_use(server: Pinecone) -> None:
    store = RamStore()
    index = index_on(server, store)
    stored(store, *(make_record(f"{n}", axis=n) for n in range(8)))
    asked(index)
    server.down = 503
    with pytest.raises(Unavailable):
        index.rebuild("a")
    server.down = None
    assert best(store, asked(index, 3)) == "3"
    assert index.check("a") == []


def test_check_tells_what_differs_and_rebuild_mends_it(server: Pinecone) -> None:
    store = RamStore()
    index = index_on(server, store)
    stored(store, *(make_record(f"{n}", axis=n) for n in range(8)))
    asked(index)
    (space,) = server.spaces.values()
    lost = space.pop(next(iter(space)))
    (told,) = index.check("a")
    assert told.startswith("scope a: ")
    assert told.endswith(" misses 1 of 8 vectors; run `eidet rebuild`")
    assert index.rebuild("a") == 8
    assert index.check("a") == []
    (space,) = server.spaces.values()
    space["999"] = {**lost, "id": "999"}
    assert "still holds more than 1 of 8" in index.check("a")[0]
    index.rebuild("a")
    assert index.check("a") == []
    server.down = 503
    assert "is not known" in index.check("a")[0]
    server.down = None


def test_without_the_database_words_answer_and_say_so(server: Pinecone) -> None:
    store = RamStore()
    index = index_on(server, store)
    stored(store, make_record("x", words="cat", axis=0), make_record("y", words="dog", axis=1))
    asked(index)
    server.down = 503
    found = asked(index, 0, "dog")
    assert "by words alone" in found.notes[0]
    assert (found.dense == 0).all()
    assert int(found.seq[int(found.words.argmax())]) == 2
    with pytest.raises(Unavailable):
        asked(index, 0)
    stored(store, make_record("z", words="bird", axis=2))  # writing goes on
    assert len(asked(index, None, "bird")) == 3
    below = index.search(
        Probe(scope=Scope.under("a"), now=NOW, vector=unit((0, 1.0)), terms=(term_id("dog"),))
    )
    assert "by words alone" in below.notes[0]
    server.down = None


def test_a_database_that_never_came_up_leaves_a_memory_that_works(server: Pinecone) -> None:
    store = RamStore()
    server.down = 503
    index = index_on(server, store)
    stored(store, *(make_record(f"{n}", axis=n) for n in range(8)))
    assert best(store, asked(index, 3)) == "3"
    assert asked(index, 3).notes == ()
    assert index.stats()["rows_in_ram"] == 8
    server.down = None


def test_a_rebuild_sends_a_large_scope_before_it_is_loaded(server: Pinecone) -> None:
    store = RamStore()
    stored(store, *(make_record(f"{n}", axis=n % WIDTH) for n in range(50)))
    index = index_on(server, store, VectorSettings(small=5, ship_rows=1, batch=7))
    assert (index.rebuild("a"), index.stats()["rows_in_ram"]) == (50, 0)
    assert best(store, asked(index, 3)) in {f"{n}" for n in range(3, 50, WIDTH)}
    assert (sent(server), index.stats()["rows_in_ram"]) == (50, 0)
    index.close()


def test_a_fill_that_was_interrupted_goes_on_where_it_stopped(server: Pinecone) -> None:
    store = RamStore()
    stored(store, *(make_record(f"{n}", words="word", axis=n % WIDTH) for n in range(50)))
    index = index_on(server, store, VectorSettings(small=0, ship_rows=1, batch=10, background=False))
    server.after = 4  # of the seven requests that it takes
    assert asked(index, 3, "word").notes
    assert 0 < sent(server) < 50
    before, server.after = sent(server), None
    upserts = server.requests.count(("POST", "/vectors/upsert"))
    again = index_on(server, store, VectorSettings(small=0, ship_rows=1, batch=10, background=False))
    asked(again, 3)
    assert sent(server) == 50
    more = server.requests.count(("POST", "/vectors/upsert")) - upserts
    assert more == (50 - before) // 10


def test_damaged_and_empty_vectors_are_left_out(server: Pinecone) -> None:
    store = RamStore()
    index = index_on(server, store)
    stored(
        store,
        make_record("good", axis=0),
        Record(id="short", scope="a", text="", vector=b"12345678"),
        Record(id="zero", scope="a", text="", vector=bytes(4 * WIDTH)),
        long("long", ["one", "two"], axes=(1, 2)),
    )
    assert best(store, asked(index, 0)) == "good"
    assert best(store, asked(index, 2)) == "long"
    assert sent(server) == 3


@pytest.mark.parametrize(
    "where", [None, Where(who="ann"), Where(conditions=(Condition("data.n", "<", 30),))], ids=range(3)
)
@pytest.mark.parametrize(("named", "most"), [(10_000, 10_000), (20, 10_000), (20, 50)])
def test_among_many_every_candidate_has_its_true_cosine(
    server: Pinecone, where: Where | None, named: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eidet.index.vectordb.index.NAMED", named)  # as if more passed
    monkeypatch.setattr(PineconeDatabase, "most", most)
    monkeypatch.setattr("eidet.index.embedded.shard.WHOLE", 0)  # as if more were candidates
    store, rng = RamStore(), np.random.default_rng(6)
    rows = rng.normal(size=(300, WIDTH)).astype(np.float32)
    for n, row in enumerate(rows):
        made = make_record(
            f"{n}", words=f"w{n % 40}", who="ann" if n % 3 else "bob", session="s", data={"n": n}
        )
        stored(store, replace(made, vector=row.tobytes()))
    index = index_on(server, store, VectorSettings(small=0, ship_rows=1, background=False))
    query = rng.normal(size=WIDTH).astype(np.float32)
    probe = Probe(scope=Scope("a"), now=NOW, where=where, vector=query, terms=(term_id("w7"),), depth=6)
    found = index.search(probe)
    unit_rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    truth = unit_rows @ (query / np.linalg.norm(query))
    passing = [n for n in range(300) if where is None or (n % 3 if where.who else n < 30)]
    assert len(found) < 40
    assert np.allclose(found.dense, truth[found.seq - 1], atol=1e-4)
    assert {int(n) + 1 for n in sorted(passing, key=lambda n: -truth[n])[:6]} <= set(found.seq.tolist())
    assert set(found.seq.tolist()) <= {n + 1 for n in passing}


@pytest.mark.needs("qdrant")
def test_a_new_embedder_begins_a_new_shelf_of_its_width() -> None:
    settings = Settings(index="qdrant://:memory:?small=0&ship_rows=1&background=no")
    memory = Memory(embedder="hashing", settings=settings)
    memory.remember("Ann lives in Oslo", scope="a")
    assert memory.recall("where does Ann live?", scope="a")[0].text == "Ann lives in Oslo"
    assert memory.admin.stats()["index"]["rows_in_database"] == 1
    memory.admin.reembed("wordllama")
    memory.remember("Bob lives in Rome", scope="a")
    assert memory.recall("where does Bob live?", scope="a")[0].text == "Bob lives in Rome"
    assert memory.admin.check() == []
    memory.close()


@pytest.mark.needs("qdrant")
def test_a_collection_that_was_lost_is_noticed_and_filled_again() -> None:
    from qdrant_client import QdrantClient

    from eidet.index.vectordb.qdrant import QdrantDatabase

    client, store = QdrantClient(":memory:"), RamStore()
    database = QdrantDatabase(parse_database_address("qdrant://:memory:", {}), client)
    index = VectorIndex(store, WIDTH, database, settings=AT_ONCE)
    stored(store, *(make_record(f"{n}", words="word", axis=n) for n in range(8)))
    assert best(store, asked(index, 3)) == "3"
    (collection,) = client.get_collections().collections
    client.delete_collection(collection.name)
    lost = asked(index, 3, "word")
    assert len(lost) == 8
    assert "filled again" in lost.notes[0]
    assert best(store, asked(index, 3)) == "3"
    assert index.stats()["rows_in_database"] == 8
    client.delete_collection(collection.name)
    assert "rebuild" in index.check("a")[0]
    assert index.rebuild("a") == 8
    assert index.check("a") == []
    client.close()


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("weaviate", "needs an address"),
        ("weaviate+ftp://x", "needs an address"),
        ("weaviate+http://user:pass@host", "user or password"),
        ("weaviate+http://host?kex=1", "unknown option 'kex'"),
        ("weaviate+http://host?small=many", "number from 0 up"),
        ("weaviate://file", "weaviate\\+http"),
        ("pinecone+https://host", "needs a key"),
        ("pinecone+https://host?key=env:EIDET_NO_SUCH_KEY", "not set"),
        ("pinecone+https://host?key=file:/no/such/file", "cannot be read"),
        ("weaviate+http://host?prefix=a-b", "capital letter"),
    ],
)
def test_an_address_that_cannot_be_used_is_told_before_anything_is_asked(url: str, words: str) -> None:
    with pytest.raises(Misconfigured, match=words):
        Memory(embedder="hashing", settings=Settings(index=url)).recall("x")


def test_a_key_is_in_no_settings_that_are_shown() -> None:
    assert "hush" not in repr(Settings(index="pinecone+https://host?key=hush"))
