"""The life of a memory: forgetting, archives, pins and holds."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from tests.making import Clock
from tests.unit.upkeep.life.given import NOW

from eidet import Memory, Misconfigured, NotFound, Refused, Unavailable, Where
from eidet.core.record import Kind, Record
from eidet.core.settings import Upkeep
from eidet.core.state import Protection
from eidet.upkeep.archive import FolderArchive
from eidet.upkeep.curve import DAY

# Forgetting.


def test_what_fades_is_forgotten_and_what_is_important_is_archived_first(
    memory: Memory, clock: Clock, tmp_path: Path
) -> None:
    dull = memory.remember("dull", importance=0.1)
    grave = memory.remember("grave", importance=0.6, vector=[0.5] * 64)
    memory.remember("pinned", importance=0.1, pinned=True)
    fading = Upkeep(forget_below=0.05, short_age_days=None)
    clock.days(2000)
    assert memory.upkeep.maintain(settings=fading, dry_run=True).counts == {"forget": 1}, (
        "no archive: grave stays"
    )
    done = memory.upkeep.maintain(settings=fading, archive=tmp_path / "archive")
    assert (done.counts, done.archived) == ({"forget": 2}, 1)
    assert [record.text for record in memory.find()] == ["pinned"]
    archive = FolderArchive(tmp_path / "archive")
    assert [record.id for name in archive.names() for record in archive.read(name)] == [grave.id]
    assert memory.upkeep.unarchive(tmp_path / "archive") == 1
    back = memory.get(grave.id)
    assert back is not None
    assert (back.text, back.vector, back.uses) == ("grave", grave.vector, 1)
    assert memory.get(dull.id) is None
    assert memory.upkeep.maintain(settings=fading, archive=tmp_path / "archive").counts == {}


def test_nothing_is_forgotten_by_default(memory: Memory, clock: Clock) -> None:
    memory.remember("old", importance=0.0)
    clock.days(100_000)
    memory.upkeep.maintain()
    assert memory.count() == 1


def test_spaced_use_keeps_a_memory(memory: Memory, clock: Clock) -> None:
    memory.remember("used", importance=0.2)
    memory.remember("unused", importance=0.2)
    for _ in range(6):
        clock.days(20)
        memory.recall("used", where=Where(importance_min=0.1), limit=1)
    clock.days(60)
    memory.upkeep.maintain(settings=Upkeep(forget_below=0.12, short_age_days=None))
    assert [record.text for record in memory.find()] == ["used"]


def test_some_of_an_archive_comes_back_by_id_and_by_time(tmp_path: Path) -> None:
    archive = FolderArchive(tmp_path / "archive")
    for day in range(4):
        made = Record(id=f"{day}", scope="a", text=f"day {day}", created=day * 86_400.0, occurred=0.0)
        archive.keep([made], {}, now=NOW)
    memory = Memory(embedder="hashing:64")
    assert memory.upkeep.unarchive(archive, ids="2") == 1
    assert memory.upkeep.unarchive(archive, since=86_400.0, until=2 * 86_400.0) == 2
    assert memory.upkeep.unarchive(archive, since=9 * 86_400.0) == 0
    assert {record.id for record in memory.find(scope="a")} == {"1", "2"}
    with pytest.raises(Misconfigured, match="as text"):
        memory.upkeep.unarchive(Path("s3://bucket/prefix"))


def test_an_archive_that_cannot_be_written_keeps_everything(
    memory: Memory, clock: Clock, tmp_path: Path
) -> None:
    memory.remember("grave", importance=0.9)
    clock.days(100_000)
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(Unavailable, match="nothing is deleted"):
        memory.upkeep.maintain(settings=Upkeep(forget_below=0.5), archive=tmp_path / "file" / "archive")
    assert memory.count() == 1


def test_expired_memories_are_gone_from_every_verb_at_once(
    memory: Memory, clock: Clock, tmp_path: Path
) -> None:
    record = memory.remember("secret plan", id="x", scope="s", expires=timedelta(days=1))
    memory.revise("x", scope="s", text="secret plan B")
    clock.days(1)
    assert memory.get("x", scope="s") is None
    assert memory.find(scope="s") == []
    assert len(memory.recall("secret", scope="s")) == 0
    assert memory.count(scope="s") == 0
    assert memory.scopes() == {}
    assert memory.admin.stats()["records"] == 0
    assert memory.export(tmp_path / "all.jsonl", scope=None) == 0
    assert [event.before for event in memory.history("x", scope="s")] == [None, None]
    with pytest.raises(NotFound):
        memory.revise("x", scope="s", text="y")
    assert memory.upkeep.maintain().counts == {"expire": 1}
    assert memory.parts.store.read("s", [record.id]) == [None]


def test_expired_memories_are_gone_from_the_disk_after_upkeep(tmp_path: Path, clock: Clock) -> None:
    path = tmp_path / "memory.db"
    with Memory(path, embedder="hashing:64", clock=clock) as memory:
        for n in range(200):
            memory.remember(f"topsecret number {n} " + "and so on " * 40, expires=timedelta(days=1))
        memory.remember("to stay")
        clock.days(1)
        memory.upkeep.maintain()
        files = [file for file in tmp_path.iterdir() if file.is_file()]
        assert not any(b"topsecret" in file.read_bytes() for file in files)
        assert path.stat().st_size < 200_000


def test_a_time_to_live_begins_anew_with_each_reading(memory: Memory, clock: Clock) -> None:
    memory.remember("a token", id="x", ttl=10 * DAY)
    memory.remember("another", id="y", ttl=timedelta(days=10))
    assert memory.get("x").expires == NOW + 10 * DAY  # type: ignore[union-attr]
    for _ in range(6):
        clock.days(6)
        assert memory.recall("token", limit=1)[0].id == "x"
    assert memory.get("y") is None
    clock.days(3)
    memory.get("x")
    memory.admin.flush()
    assert memory.get("x").expires == clock.now + 10 * DAY  # type: ignore[union-attr]
    clock.days(10)
    assert memory.get("x") is None


# Pins and holds.


def test_a_pinned_memory_is_left_alone_until_it_is_unpinned(memory: Memory, clock: Clock) -> None:
    memory.remember("keep", id="x", expires=timedelta(days=3), importance=0.0)
    pinned = memory.upkeep.pin("x", by="Ann")
    assert pinned.state.pinned == Protection(at=NOW, by="Ann", expires=NOW + 3 * DAY)
    assert pinned.meta == {}
    clock.days(5000)
    assert memory.upkeep.maintain(settings=Upkeep(forget_below=0.9)).counts == {}
    assert memory.upkeep.pin("x").version == pinned.version
    assert memory.upkeep.unpin("x").expires == NOW + 3 * DAY
    assert memory.get("x") is None


def test_nobody_changes_or_deletes_what_is_held(memory: Memory, clock: Clock) -> None:
    memory.remember("evidence", id="x", key=None)
    memory.remember("other", id="y")
    memory.upkeep.hold("x", by="court")
    clock.days(5000)
    memory.upkeep.maintain(settings=Upkeep(forget_below=0.9, archive_above=1.0))
    assert memory.get("y") is None
    for delete in (
        lambda: memory.forget("x"),
        lambda: memory.forget(where=Where(kinds=(Kind.FACT,))),
        lambda: memory.forget(scope="default", everything=True),
        lambda: memory.revise("x", text="nothing"),
        lambda: memory.remember("nothing", id="x"),
    ):
        with pytest.raises(Refused, match="legal hold"):
            delete()
    assert memory.get("x").text == "evidence"  # type: ignore[union-attr]
    memory.upkeep.release("x", by="court")
    assert memory.forget("x") == 1


def test_a_hold_and_a_pin_together_keep_the_expiry(memory: Memory, clock: Clock) -> None:
    memory.remember("both", id="x", expires=timedelta(days=3))
    memory.upkeep.pin("x")
    memory.upkeep.hold("x")
    with pytest.raises(Refused, match="legal hold"):
        memory.upkeep.unpin("x")
    clock.days(10)
    assert memory.get("x") is not None
    memory.upkeep.release("x")
    assert memory.get("x") is not None
    memory.upkeep.unpin("x")
    assert memory.get("x") is None
