"""Files that are damaged, foreign, protected or gone: the right answer or a clear error."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.faults import visits
from tests.faults.children import opened
from tests.faults.nursery import Nursery

from eidet import Corrupt, EidetError, Memory, Misconfigured, Unavailable

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody without rights")


def filled(path: Path, count: int = 300) -> Path:
    with opened(str(path)) as memory:
        memory.remember([f"note{i} about thing{i % 7}" for i in range(count)])
        memory.recall("note7")
    with contextlib.closing(sqlite3.connect(path)) as file:  # closing moves it there unless somebody reads
        file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path


# Files that are no memory.


@pytest.mark.parametrize(
    "content",
    [
        b"Dear diary,\n" * 100,
        random.Random(1).randbytes(20_000),
        b"\x89PNG\r\n\x1a\n" + bytes(500),
        b"SQLite for",
        b"SQLite format 3\x00" + bytes(8176),
        b"SQLite format 3\x00" + random.Random(2).randbytes(8176),
    ],
    ids=["text", "random", "png", "cut magic", "empty pages", "random pages"],
)
def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "m.db"
    path.write_bytes(content)
    with pytest.raises(Corrupt, match=r"m\.db is (not a database|damaged).*(choose|restore)"):
        opened(str(path))
    assert path.read_bytes() == content
    assert [file.name for file in tmp_path.iterdir()] == ["m.db"]


def test_an_empty_file_becomes_a_memory(tmp_path: Path) -> None:
    (tmp_path / "m.db").touch()
    filled(tmp_path / "m.db")
    with opened(str(tmp_path / "m.db")) as memory:
        assert memory.recall("note7")[0].text == "note7 about thing0"


def test_a_database_of_another_program_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE bookmarks (url TEXT)")
    other.close()
    before = path.read_bytes()
    with pytest.raises(Misconfigured, match="database of another program; choose another file"):
        opened(str(path))
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["m.db"]


def test_a_file_of_a_newer_schema_asks_for_an_upgrade_and_is_left_alone(tmp_path: Path) -> None:
    path = filled(tmp_path / "m.db")
    newer = sqlite3.connect(path)
    newer.execute("UPDATE alembic_version SET version_num = '9999'")
    newer.commit()
    newer.close()
    before = path.read_bytes()
    with pytest.raises(Misconfigured, match=r"schema 9999.*newer.*pip install --upgrade eidet"):
        opened(str(path))
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir() if file.is_file()] == ["m.db"]


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="is a folder; name a file in it"):
        opened(str(tmp_path))


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="nowhere does not exist; create it first"):
        opened(str(tmp_path / "nowhere" / "m.db"))
    assert list(tmp_path.iterdir()) == []


def test_an_embedder_changed_by_somebody_else_is_noticed_by_recall_and_remember(tmp_path: Path) -> None:
    path = filled(tmp_path / "m.db")
    with opened(str(path)) as memory:
        assert memory.recall("note7")[0].text == "note7 about thing0"
        with opened(str(path)) as other:
            other.admin.reembed("hashing:32")
        with pytest.raises(Misconfigured, match="`eidet rebuild --reembed`"):
            memory.remember("with the old embedder")
        with pytest.raises(Misconfigured, match="`eidet rebuild --reembed`"):
            memory.recall("note7")


# Databases that are damaged.


def faults_of(path: Path) -> list[EidetError]:
    """Uses every verb; the errors there were. Anything but an answer or our error fails the test."""
    errors: list[EidetError] = []
    try:
        memory = opened(str(path))
    except EidetError as error:
        return [error]
    for act in (
        lambda: memory.find(limit=100_000),
        lambda: memory.recall("note7"),
        memory.admin.stats,
        lambda: memory.remember([f"new{i}" for i in range(300)]),
        memory.admin.check,
        memory.close,
    ):
        try:
            act()
        except EidetError as error:
            errors.append(error)
    return errors


@pytest.mark.parametrize("share", [0.01, 0.3, 0.6, 0.9, 0.99])
def test_a_database_that_was_cut_short_is_corrupt(tmp_path: Path, share: float) -> None:
    path = filled(tmp_path / "m.db", 2000)
    os.truncate(path, int(path.stat().st_size * share))
    errors = faults_of(path)
    assert errors
    assert {type(error) for error in errors} == {Corrupt}
    assert "restore a copy or an export" in str(errors[0])


@pytest.mark.parametrize("seed", range(8))
def test_a_database_with_overwritten_pages_is_corrupt(tmp_path: Path, seed: int) -> None:
    path, chance = filled(tmp_path / "m.db", 2000), random.Random(seed)
    content = bytearray(path.read_bytes())
    for _ in range(20):
        at = chance.randrange(1, len(content) // 8192) * 8192
        content[at : at + 8192] = chance.randbytes(8192)
    path.write_bytes(content)
    errors = faults_of(path)
    assert errors
    assert {type(error) for error in errors} == {Corrupt}
    assert "restore a copy or an export" in str(errors[0])


def test_a_text_that_is_no_unicode_any_more_is_corrupt(tmp_path: Path) -> None:
    path = filled(tmp_path / "m.db")
    content = path.read_bytes()
    path.write_bytes(content.replace(b"note7 about", b"note7 \xffbout"))
    with opened(str(path)) as memory, pytest.raises(Corrupt, match="restore a copy or an export"):
        memory.find(limit=1000)


# Files without the right to write.


@pytest.fixture
def public(tmp_path: Path) -> Iterator[Path]:
    """A folder that everybody may read; those of pytest are private."""
    with tempfile.TemporaryDirectory(prefix="eidet-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def with_log(path: Path) -> None:
    """Leaves a file and its log as a process does that was killed."""
    filled(path)
    parked = path.with_name("parked")
    parked.mkdir()
    with opened(str(path)) as memory:
        memory.remember("laterword that is only in the log")
        for file in path.parent.glob("m.db*"):
            if file.is_file():
                shutil.copy(file, parked / file.name)
    for file in parked.iterdir():
        shutil.move(file, path.parent / file.name)
    parked.rmdir()


def make_public(folder: Path, *, open_folder: bool) -> None:
    for file in folder.rglob("*"):
        file.chmod(0o755 if file.is_dir() else 0o644)
    folder.chmod(0o777 if open_folder else 0o755)


@needs_root
@pytest.mark.parametrize("log", [False, True], ids=["closed well", "with a log"])
@pytest.mark.parametrize("open_folder", [False, True], ids=["folder", "file"])
def test_what_may_only_be_read_is_read_and_never_written(
    start: Nursery, public: Path, log: bool, open_folder: bool
) -> None:
    path = public / "m.db"
    (with_log if log else filled)(path)
    assert (public / "m.db-wal").exists() == log
    make_public(public, open_folder=open_folder)
    told = start(visits.read_only, path).result()
    if told is None:
        pytest.skip("temporary folders are private here")
    assert told["recall"] == "note7 about thing0"
    assert told["thread"] == ["note8 about thing1"]
    assert (told["later"] == "laterword that is only in the log") == log
    assert told["find"] == told["stats"] == told["rebuild"] == 300 + log
    for kind, message in told["writes"]:
        assert kind == "Refused"
        assert "write-protected" in message
    assert told["check"] == []
    assert told["close"] == ["", "None"]
    assert told["untouched"]


@needs_root
def test_a_log_that_cannot_be_read_along_is_an_error_not_a_loss(start: Nursery, public: Path) -> None:
    with_log(public / "m.db")
    (public / "m.db-shm").unlink()
    make_public(public, open_folder=False)
    kind, message = start(visits.open_without_rights, public / "m.db").result()
    assert kind == "Misconfigured"
    assert "check the folder and its permissions" in message


@needs_root
def test_a_new_file_in_a_protected_folder_says_so(start: Nursery, public: Path) -> None:
    kind, message = start(visits.open_without_rights, public / "m.db").result()
    assert kind == "Misconfigured"
    assert "write-protected" in message


@needs_root
def test_who_may_only_read_sees_what_the_owner_writes(start: Nursery, public: Path) -> None:
    path = filled(public / "m.db")
    make_public(public, open_folder=False)
    child = start(visits.watch, path)
    child.say("note7")
    assert child.hear() == ["note7 about thing0", 300]
    with opened(str(path)) as memory:
        for i in range(3):
            memory.remember(f"fresh{i}")
            child.say(f"fresh{i}")
            assert child.hear() == [f"fresh{i}", 301 + i]
    with opened(str(path)) as memory:
        memory.remember([f"wide{i}" + " wide" * 50 for i in range(1000)])
    child.say("wide7")
    assert child.hear() == ["wide7" + " wide" * 50, 1303]


# Files that come and go.


def test_a_file_deleted_while_open_takes_no_more_writes(tmp_path: Path) -> None:
    path = filled(tmp_path / "m.db")
    memory = opened(str(path))
    memory.remember("before")
    for file in tmp_path.glob("m.db*"):
        if file.is_file():
            file.unlink()
    with pytest.raises(Unavailable, match="deleted or replaced while it was open"):
        memory.remember("after")
    assert memory.find(limit=1)[0].text == "before"
    assert memory.export(tmp_path / "saved.jsonl") == 301
    memory.close()
    assert not path.exists()
    with opened(str(path)) as anew:
        assert anew.load(tmp_path / "saved.jsonl") == 301


def test_a_file_replaced_while_open_is_not_mixed_with_the_old_one(tmp_path: Path) -> None:
    path, other = filled(tmp_path / "m.db"), filled(tmp_path / "other.db", 5)
    before = other.read_bytes()
    memory = opened(str(path))
    other.replace(path)
    with pytest.raises(Unavailable, match="deleted or replaced while it was open"):
        memory.remember("for the old file")
    memory.close()
    assert path.read_bytes() == before


def test_eight_processes_open_a_new_file_at_once(start: Nursery, tmp_path: Path) -> None:
    visitors = [start(visits.arrive, tmp_path, n) for n in range(8)]
    assert [visitor.hear() for visitor in visitors] == ["ready"] * 8
    moments = [time.monotonic() + 0.3 + 0.3 * i for i in range(5)]
    for visitor in visitors:
        visitor.say(moments)
    assert [visitor.hear() for visitor in visitors] == ["wrote"] * 8
    for visitor in visitors:
        visitor.say("look")
    texts = [f"written by visitor{n}" for n in range(8)]
    assert [visitor.result() for visitor in visitors] == [[texts] * 5] * 8
    for i in range(5):
        with opened(str(tmp_path / f"{i}.db")) as memory:
            assert memory.admin.stats()["records"] == 8


def damage(path: Path, id: str, column: str, value: object) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"UPDATE records SET {column} = ? WHERE id = ?", (value, id))


@pytest.mark.parametrize(("column", "value"), [("terms", b"\xff\xff"), ("kind", "nonsense"), ("data", "{]")])
def test_a_damaged_record_of_one_tier_does_not_keep_the_others_from_answering(
    tmp_path: Path, column: str, value: object, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "m.db"
    with Memory(path, embedder="hashing:64") as memory:
        memory.remember("the heron nests by the weir", id="sound", tier="short")
        memory.remember("the heron left in autumn", id="broken", tier="long")
        memory.remember("the heron eats frogs", id="other", tier="middle")
    damage(path, "broken", column, value)
    with Memory(path, embedder="hashing:64") as memory:
        hits = memory.recall("heron", explain=True)
        assert {hit.id for hit in hits} == {"sound", "other"}
        assert hits.trace is not None
        assert any("damaged" in note for note in hits.trace.notes)
        if column != "data":
            assert "1 damaged records of the long tier were not searched" in hits.trace.notes
            assert any("1 records are damaged" in fault for fault in memory.admin.check())
            assert "is damaged and cannot be found" in caplog.text
        memory.forget("broken")
        assert not any("damaged" in note for note in _notes(memory))
        assert memory.admin.check() == []


def _notes(memory: Memory) -> tuple[str, ...]:
    trace = memory.recall("heron", explain=True).trace
    assert trace is not None
    return trace.notes
