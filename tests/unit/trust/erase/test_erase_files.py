"""Forgetting for good: caches, archives, files, and whoever writes meanwhile."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from tests.making import Clock
from tests.unit.trust.erase.given import NOW, OTHER, SECRET, bytes_beside, left_of, on_file

from eidet import Memory, Refused, Unavailable, Where
from eidet.core.settings import Upkeep
from eidet.store import verbs

# Caches, archives and files.


def test_an_archive_is_cleaned_and_does_not_bring_it_back(tmp_path: Path) -> None:
    upkeep = Upkeep(forget_below=1.0, archive_above=0.0)
    with on_file(tmp_path) as memory:
        one, two, three = memory.remember([SECRET, OTHER, "the third note is about nothing at all"])
        memory.export(tmp_path / "all.jsonl")
        memory.upkeep.maintain(only="forget", settings=upkeep, archive=tmp_path / "archive", now=NOW + 9e7)
        assert memory.count() == 0
        gone = memory.forget([one.id, "no such id"])
        assert gone.receipt is not None
        assert (gone, gone.receipt.counts["archived"]) == (0, 1)
        assert left_of(memory, SECRET) == []
        assert SECRET.encode() not in bytes_beside(tmp_path / "archive")
        assert memory.load(tmp_path / "all.jsonl") == 2
        memory.forget([two.id, three.id], for_good=False)
        assert memory.upkeep.unarchive(tmp_path / "archive") == 2
        assert {record.id for record in memory.find()} == {two.id, three.id}
        memory.forget(where=Where(ids=(two.id,)))
        assert OTHER.encode() not in bytes_beside(tmp_path / "archive")


def test_no_file_keeps_a_word_of_it(tmp_path: Path) -> None:
    copy = tmp_path / "memory.db.schema-0001"
    with on_file(tmp_path, sidecar_from=20) as memory:
        memory.remember([f"note number {n} about thing {n % 7}" for n in range(60)])
        record = memory.remember(SECRET)
        memory.revise(record.id, text=f"{SECRET} or so")
        memory.recall("the safe")
        memory.admin.rebuild()
        copy.write_bytes(b"SQLite format 3\0" + SECRET.encode())
        gone = memory.forget(record.id)
        assert gone.receipt is not None
        assert gone.receipt.pending == ()
        assert gone.receipt.counts["schema_copies"] == 1
        assert gone.receipt.counts["history"] == 1
        assert SECRET.encode() not in bytes_beside(tmp_path)
        assert left_of(memory, SECRET) == []
        assert memory.admin.check() == []
    assert SECRET.encode() not in bytes_beside(tmp_path)
    assert not copy.exists()


def test_lowered_records_are_gone_with_their_originals(memory: Memory) -> None:
    long = " ".join(f"Ann told on day {n} of house number {n * 7} that she saw." for n in range(60))
    record = memory.remember(long)
    lowering = Upkeep(short_age_days=1, middle_age_days=1, gist_tokens=8)
    memory.upkeep.maintain(only="move", settings=lowering, now=NOW + 9e6)
    assert memory.find()[0].level == 2
    memory.forget(record.id)
    assert left_of(memory, long) == []
    with pytest.raises(Refused):
        memory.remember(long)


def test_a_reader_delays_the_cleaning_and_the_receipt_says_so(tmp_path: Path) -> None:
    import sqlite3

    with on_file(tmp_path) as memory:
        record = memory.remember(SECRET)
        memory.remember(OTHER)
        reader = sqlite3.connect(tmp_path / "memory.db", isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM records").fetchone()
        gone = memory.forget(record.id)
        assert gone.receipt is not None
        assert "memory.db-wal" in gone.receipt.pending[0]
        assert memory.find()[0].text == OTHER
        reader.execute("COMMIT")
        reader.close()
        memory.upkeep.maintain()
        assert SECRET.encode() not in bytes_beside(tmp_path)
        assert left_of(memory, SECRET) == []


def test_files_that_cannot_be_cleaned_now_are_told_and_cleaned_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise Unavailable("the disk is full")

    with on_file(tmp_path) as memory:
        record = memory.remember(SECRET)
        with monkeypatch.context() as patch:
            patch.setattr("eidet.store.verbs.scrub_files", full)
            gone = memory.forget(record.id)
            assert gone.receipt is not None
            assert gone.receipt.pending == ("files could not be cleaned: the disk is full",)
            with on_file(tmp_path) as other:
                assert other.count() == 0, "a memory that cannot be cleaned can still be opened"
        memory.upkeep.maintain()
        assert not verbs.get_setting(memory.parts.store, "unclean")
        assert SECRET.encode() not in bytes_beside(tmp_path)


def test_the_cache_of_an_embedder_forgets() -> None:
    from eidet.models.embed import embedder_of
    from eidet.models.embed.vector_cache import Cached

    cached = Cached(embedder_of("hashing:32"))
    with Memory(embedder=cached, clock=Clock(tick=1.0)) as memory:
        record = memory.remember(SECRET)
        memory.remember(OTHER)
        assert len(cached._rows) == 2
        memory.forget(record.id)
        assert len(cached._rows) == 1


# Races.


def test_a_racing_writer_ends_erased_or_refused(tmp_path: Path) -> None:
    with on_file(tmp_path) as memory:
        first = memory.remember({"role": "user", "content": SECRET})
        done, refused = threading.Event(), 0

        def write() -> None:
            nonlocal refused
            while not done.is_set():
                try:
                    memory.remember({"role": "user", "content": SECRET})
                except Refused:
                    refused += 1

        threads = [threading.Thread(target=write) for _ in range(3)]
        for thread in threads:
            thread.start()
        receipt = memory.forget(first.id).receipt
        done.set()
        for thread in threads:
            thread.join()
        assert receipt is not None
        if receipt.pending:  # a writer was just reading: the log is emptied by the next upkeep, as it says
            assert "is still being read" in receipt.pending[0]
            memory.upkeep.maintain()
        assert left_of(memory, SECRET) == []
        with pytest.raises(Refused):
            memory.remember(SECRET)


def test_two_who_forget_the_same_at_once_both_end_well(tmp_path: Path) -> None:
    with on_file(tmp_path) as memory:
        records = memory.remember([f"{SECRET} number {n}" for n in range(20)])
        found: list[int] = []

        def forget() -> None:
            found.append(int(memory.forget([record.id for record in records])))

        threads = [threading.Thread(target=forget) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(found) == [0, 0, 0, 20]
        assert verbs.get_setting(memory.parts.store, "unclean") == ""
        assert SECRET.encode() not in bytes_beside(tmp_path)


def test_another_process_sees_tombstones_at_once(tmp_path: Path) -> None:
    with on_file(tmp_path) as one, on_file(tmp_path) as other:
        record = one.remember(SECRET)
        other.remember(OTHER)
        one.forget(record.id)
        with pytest.raises(Refused):
            other.remember(SECRET)
        other.remember(SECRET, again=True)
        assert one.remember(SECRET).text == SECRET
