"""Several indexes over one store: other processes, other databases, backups that were brought back."""

from __future__ import annotations

import contextlib
import shutil
import threading
import time
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest
from tests.servers.pinecone import Pinecone
from tests.unit.index.vectordb.test_vector_index import asked, index_on, sent, stored

from eidet import Memory, Settings, Unavailable
from eidet.core.record import Record
from eidet.core.where import Where
from eidet.index import Candidates
from eidet.index.contract import NOW, WIDTH, make_record
from eidet.index.embedded import EmbeddedIndex
from eidet.index.vectordb import VectorSettings
from eidet.store import verbs
from eidet.store.ram import RamStore
from eidet.store.sql.sqlite import SqliteStore

WORDS = [
    "harbour",
    "garden",
    "violin",
    "winter",
    "bread",
    "river",
    "mountain",
    "lantern",
    "engine",
    "meadow",
    "pepper",
    "castle",
]


def some(start: int, stop: int) -> list[Record]:
    rng = np.random.default_rng(start)
    rows = rng.normal(size=(stop - start, WIDTH)).astype(np.float32)
    numbers = range(start, stop)
    return [
        make_record(f"{n}", words="word").but(vector=row.tobytes())
        for n, row in zip(numbers, rows, strict=True)
    ]


def same(mine: Candidates, truth: Candidates) -> bool:
    return np.array_equal(mine.seq, truth.seq) and np.allclose(mine.dense, truth.dense, atol=2e-2)


def test_what_others_have_sent_since_does_not_crowd_out_what_is_asked_for(server: Pinecone) -> None:
    store = RamStore()
    late, busy, plain = index_on(server, store), index_on(server, store), EmbeddedIndex(store, WIDTH)
    stored(store, *some(0, 10))
    asked(late)
    stored(store, *some(10, 90))
    late._how = VectorSettings(small=0, ship_rows=1_000, background=False)  # it leaves it to the other one
    asked(busy)
    assert sent(server) == 90
    found = asked(late)
    assert found.notes == ()
    assert same(found, asked(plain))


def test_a_database_from_an_old_backup_is_noticed_and_made_anew(server: Pinecone) -> None:
    store = RamStore()
    index = index_on(server, store)
    stored(store, *some(0, 20))
    asked(index)
    backup = deepcopy(server.spaces)
    stored(store, *some(20, 60))
    verbs.delete_where(store, Where(ids=("3", "4")), now=NOW)
    asked(index)
    assert index.check("a") == []
    server.spaces.clear()
    server.spaces.update(backup)
    (told,) = index.check("a")
    assert "misses 38 of 58 vectors" in told
    assert asked(index).notes != ()
    index.rebuild("a")
    assert index.check("a") == []
    assert same(asked(index), asked(EmbeddedIndex(store, WIDTH)))


def test_a_store_from_an_old_backup_is_told_what_the_database_has_too_many(
    server: Pinecone, tmp_path: Path
) -> None:
    store = SqliteStore(tmp_path / "m.db")
    index = index_on(server, store)
    stored(store, *some(0, 20))
    asked(index)
    index.close()
    store.close()
    shutil.copy(tmp_path / "m.db", tmp_path / "backup.db")
    store = SqliteStore(tmp_path / "m.db")
    index = index_on(server, store)
    stored(store, *some(20, 50))
    asked(index)
    index.close()
    store.close()
    shutil.copy(tmp_path / "backup.db", tmp_path / "m.db")
    store = SqliteStore(tmp_path / "m.db")
    index = index_on(server, store)
    (told,) = index.check("a")
    assert "still holds more than 30" in told
    stored(store, *some(70, 75))  # they get the seqs of others that the database still has
    assert same(asked(index), asked(EmbeddedIndex(store, WIDTH)))
    index.rebuild("a")
    assert index.check("a") == []
    index.close()
    store.close()


def test_a_scope_grows_past_what_is_small_and_shrinks_again_while_it_is_used(server: Pinecone) -> None:
    store = RamStore()
    how = VectorSettings(small=10, ship_rows=4, background=False)
    index, plain = index_on(server, store, how), EmbeddedIndex(store, WIDTH)
    for n in range(0, 40, 3):
        stored(store, *some(n, n + 3))
        assert same(asked(index), asked(plain))
    assert sent(server) > 30
    for n in range(0, 42, 3):
        verbs.delete_where(store, Where(ids=tuple(f"{n + k}" for k in range(3))), now=NOW)
        assert same(asked(index), asked(plain))
    assert (sent(server), verbs.count(store, Where())) == (0, 0)
    stored(store, *some(90, 95))
    assert same(asked(index), asked(plain))
    assert index.check("a") == []


@pytest.fixture(params=["file", "postgres", "redis", "tiered"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "tiered":
        short = quote(request.getfixturevalue("redis_url"), safe="")
        return f"tiered://?short={short}&long={quote(str(tmp_path / 'm.db'), safe='')}"
    return (
        str(tmp_path / "m.db")
        if request.param == "file"
        else str(request.getfixturevalue(f"{request.param}_url"))
    )


def opened(place: str, server: Pinecone | None, **how: Any) -> Memory:
    options = "settle=0&small=5&ship_rows=3&lease_seconds=2"
    index = "embedded" if server is None else f"pinecone+{server.url}?key={server.key}&{options}"
    return Memory(place, settings=Settings(index=index), **how)


def rebuilt(memory: Memory) -> None:
    """Whoever sends at that moment is waited for."""
    for _ in range(100):
        with contextlib.suppress(Unavailable):
            memory.admin.rebuild()
            return
        time.sleep(0.05)
    raise AssertionError("nobody let it rebuild")


def test_over_any_store_indexes_can_be_changed_while_it_is_written_and_asked(
    place: str, server: Pinecone
) -> None:
    """One database, then another, then the embedded index, each beside the one before."""
    other = Pinecone(WIDTH)
    ended, wrong = threading.Event(), []

    def busy(first: Callable[[], Memory], number: int) -> None:
        with first() as memory:
            n = 0
            while not ended.is_set():
                n += 1
                text = f"{WORDS[n % 12]} {WORDS[(n * 5 + number) % 12]} number {number} {n}"
                record = memory.remember(text, scope="big")
                hits = memory.recall(text, scope="big", limit=3)
                if record.id not in [hit.record.id for hit in hits]:
                    wrong.append((text, [(hit.text, hit.score) for hit in hits]))
                if n % 4 == 0:
                    memory.forget(record.id, scope="big")

    with opened(place, server, embedder=f"hashing:{WIDTH}") as memory:
        memory.remember([f"{word} at first" for word in WORDS], scope="big")
        memory.recall("harbour", scope="big")
    makers = [lambda at=at: opened(place, at) for at in (server, other, None)]
    writers = [threading.Thread(target=busy, args=(make, n)) for n, make in enumerate(makers)]
    for writer in writers:
        writer.start()
    ended.wait(0.6)
    with opened(place, other) as switched:
        rebuilt(switched)
    ended.set()
    for writer in writers:
        writer.join()
    assert wrong == []
    with opened(place, server) as one, opened(place, other) as two, opened(place, None) as plain:
        for word in WORDS:
            told = [m.recall(word, scope="big", limit=1)[0].score for m in (one, two, plain)]
            assert max(told) - min(told) < 0.02, word  # of several that are as good, each may name another
        assert one.admin.check() == two.admin.check() == []
        assert one.admin.stats()["index"]["rows_in_database"] > 10
    other.stop()
