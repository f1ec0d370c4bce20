"""A sealed and audited memory of two stores and a bucket: what waits, moves or is archived stays sealed."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.faults.tiers import Switch
from tests.servers.s3 import S3
from tests.unit.trust.erase.given import bytes_beside

from eidet.core.errors import Unavailable
from eidet.core.settings import Settings, Upkeep
from eidet.memory import Memory
from eidet.store import verbs
from eidet.store.contract import NOW, fact
from eidet.store.sql.sqlite import SqliteStore
from eidet.store.tiered import TieredStore
from eidet.trust.audit.verify import verify
from eidet.trust.seal.service import LocalKeys
from eidet.trust.seal.store import SealedStore
from eidet.upkeep.archive import archive_of

KEY = bytes(range(32))
WORDS = (b"Lisbon", b"harbour", b"Porto", b"violin", b"orchard")


class Sealed:
    """A memory whose short store can be switched off."""

    def __init__(self, folder: Path, archive: str | None = None, key: bytes | None = KEY) -> None:
        self.folder = folder
        self.now, self.ticks = NOW, 0.0
        self.short = Switch(SqliteStore(folder / "short.db"))
        self.store = TieredStore(
            self.short,
            SqliteStore(folder / "long.db"),
            archive=archive,
            clock=lambda: self.now,
            ticks=lambda: self.ticks,
        )
        self.memory = Memory(
            self.store,
            embedder="hashing:64",
            key=key,
            audit=folder / "audit.jsonl",
            settings=Settings(upkeep=Upkeep(forget_below=0.9, archive_above=0.0, archive=archive)),
            clock=lambda: self.now,
        )

    def wait(self) -> None:
        self.ticks += 10
        self.store.probe()

    def bytes(self) -> bytes:
        return bytes_beside(self.folder)


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[..., Sealed]]:
    made: list[Sealed] = []

    def one(**how: Any) -> Sealed:
        made.append(Sealed(tmp_path, **how))
        return made[-1]

    yield one
    for each in made:
        each.short.off = False
        each.memory.close()


def test_keys_that_were_just_made_serve_while_the_long_store_is_down(tmp_path: Path) -> None:
    """The long store keeps them, and what belongs into the short one is written without asking it."""
    long = Switch(SqliteStore(tmp_path / "long.db"))
    store = SealedStore(TieredStore(SqliteStore(tmp_path / "short.db"), long), LocalKeys(KEY))
    verbs.put(store, [fact("x"), fact("y", scope="b")], now=NOW)
    long.off = True
    (revised,) = verbs.put(store, [fact("x", text="in other words")], now=NOW)
    (new,) = verbs.put(store, [fact("z")], now=NOW)
    assert (revised.version, new.version) == (2, 1)
    assert store.read("a", ["x", "z"]) == [revised, new]
    long.off = False
    store.close()


def test_a_move_keeps_what_the_history_tells_and_shows_no_word(make: Callable[..., Sealed]) -> None:
    sealed = make()
    memory = sealed.memory
    for text in ("Ann lives in Lisbon", "Ann lives in Porto", "Ann lives by the harbour"):
        memory.remember(text, id="x")
    before = memory.history("x")
    memory.revise("x", tier="long")
    assert sealed.short.read("default", ["x"]) == [None]
    assert memory.history("x")[:3] == before
    assert [event.before["text"] for event in memory.history("x")[1:3] if event.before] == [
        "Ann lives in Lisbon",
        "Ann lives in Porto",
    ]
    memory.revise("x", tier="short")
    assert memory.history("x")[:3] == before
    assert memory.upkeep.restore("x").text == "Ann lives by the harbour"
    assert [word for word in WORDS if word in sealed.bytes()] == []


def test_what_is_archived_in_a_bucket_is_sealed_and_comes_back(make: Callable[..., Sealed], s3: S3) -> None:
    bucket = s3.bucket()
    url = s3.url(bucket)
    sealed = make(archive=url)
    memory = sealed.memory
    for n, word in enumerate(WORDS):
        memory.remember(f"Ann and the {word.decode()}", id=f"{n}", tier="long" if n % 2 else "short")
    sealed.now += 400 * 86_400
    done = memory.upkeep.maintain(only="forget")
    assert (done.archived, memory.count()) == (len(WORDS), 0)
    objects = {one["Key"]: one for one in s3.client().list_objects_v2(Bucket=bucket)["Contents"]}
    assert any(key.endswith(".jsonl.gz") for key in objects)
    for key in objects:
        body = s3.client().get_object(Bucket=bucket, Key=key)["Body"].read()
        told = gzip.decompress(body) if key.endswith(".gz") else body
        assert [word for word in WORDS if word in told] == [], key
    assert memory.upkeep.unarchive(ids=["1", "2"]) == 2
    assert {record.text for record in memory.find()} == {"Ann and the harbour", "Ann and the Porto"}
    assert memory.upkeep.unarchive() == len(WORDS)
    assert [word for word in WORDS if word in sealed.bytes()] == []
    assert memory.forget("1") == 1
    archive: Any = archive_of(url)
    kept = [archive.manifest(name)["ids"] for name in archive.names()]
    assert kept
    assert all("1" not in ids for ids in kept)


def test_each_change_is_in_the_audit_log_while_a_store_is_away(make: Callable[..., Sealed]) -> None:
    sealed = make()
    memory = sealed.memory
    memory.remember("Ann was born in Lisbon", id="long", tier="long")
    sealed.short.off = True
    memory.remember("Ann works at the harbour", id="waits")
    with pytest.raises(Unavailable):
        memory.forget("long")
    memory.recall("Ann")
    sealed.short.off = False
    sealed.wait()
    memory.revise("waits", tier="long")
    memory.forget("waits")
    log = sealed.folder / "audit.jsonl"
    assert verify(log).ok
    told = log.read_text()
    assert all(f'"{id}"' in told for id in ("long", "waits"))
    assert memory.admin.health()["store"]["short"]["state"] == "up"
    assert [word for word in WORDS if word in sealed.bytes()] == []
