"""A memory knows its audit log: one that is gone, restarted or left out is noticed."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from tests.forked import run_program
from tests.unit.cli.shell import Shell

from eidet import Audit, Memory, Misconfigured, NotFound, Settings, acting
from eidet.core.errors import Corrupt
from eidet.open import open_store
from eidet.store import verbs
from eidet.trust.audit.chain import head_path
from eidet.trust.audit.store import SETTING, AuditedStore, read_mark
from eidet.trust.audit.verify import Verified, entries, verify

EMBEDDER = "hashing:16"
KEY = "a key that is kept elsewhere"
KEYS = pytest.mark.parametrize("key", [None, KEY], ids=["plain", "keyed"])


class Place:
    """A memory in a folder, and its log."""

    def __init__(self, folder: Path, key: str | None = None) -> None:
        self.file, self.log, self.key = folder / "m.db", folder / "audit.jsonl", key

    def open(self, **how: Any) -> Memory:
        return Memory(self.file, embedder=EMBEDDER, audit=Audit(path=self.log, key=self.key), **how)

    def remember(self, *texts: str) -> None:
        with self.open() as memory:
            for text in texts:
                memory.remember(text)

    def verify(self, **how: Any) -> Verified:
        with closing(open_store(self.file, Settings())) as store:
            return verify(self.log, key=self.key, store=store, **how)

    def verify_alone(self) -> Verified:
        return verify(self.log, key=self.key)

    def verbs(self) -> list[str]:
        return [entry.verb for entry in entries(self.log)]


@pytest.fixture
def place(tmp_path: Path, key: str | None) -> Place:
    place = Place(tmp_path, key)
    place.remember("Ann lives in Lisbon", "Bob lives in Porto")
    return place


def remove_log(place: Place) -> None:
    place.log.unlink()
    head_path(place.log).unlink()


@KEYS
def test_a_log_that_was_not_touched_is_sound(place: Place) -> None:
    place.remember("Carla lives in Faro")
    assert place.verify().ok
    assert place.verbs() == ["begin", "configure", "put", "put", "put"]


@KEYS
def test_a_log_that_was_begun_anew_says_what_is_gone(place: Place) -> None:
    remove_log(place)
    place.remember("Carla lives in Faro")
    for found in (place.verify(), place.verify_alone()):
        assert [str(fault) for fault in found.faults if "restarted" in fault.what], found
        assert "with the head 4:" in found.faults[0].what
    place.remember("Dora lives in Braga")
    assert not place.verify_alone().ok, "for good"


@KEYS
def test_somebody_elses_log_in_its_place_is_not_it(place: Place, tmp_path: Path) -> None:
    other = Place(tmp_path / "other", place.key)
    other.file.parent.mkdir()
    other.remember("nothing of that")
    for name in (other.log, head_path(other.log)):
        shutil.copy(name, tmp_path / name.name)
    assert place.verify_alone().ok
    assert "the memory was logged in another log" in place.verify().faults[0].what


@KEYS
def test_older_copies_of_log_and_head_put_back_are_noticed(place: Place, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    for file in (place.log, head_path(place.log)):
        shutil.copy(file, kept / file.name)
    place.remember("Carla lives in Faro")
    for file in (place.log, head_path(place.log)):
        shutil.copy(kept / file.name, file)
    assert place.verify_alone().ok
    assert "the newest 1 entries are missing" in place.verify().faults[0].what
    place.remember("Dora lives in Braga")
    assert "entries before this were lost" in place.verify_alone().faults[0].what


@KEYS
def test_a_log_that_was_moved_away_is_verified_by_the_head_that_the_new_one_names(
    place: Place, tmp_path: Path
) -> None:
    moved = tmp_path / "2026-10.jsonl"
    for old, new in ((place.log, moved), (head_path(place.log), head_path(moved))):
        old.rename(new)
    place.remember("Carla lives in Faro")
    fault = place.verify().faults[0].what
    former, known = re.findall(r"[0-9]+:[0-9a-f]{64}(?::[0-9a-f]{64})?", fault)
    assert verify(moved, key=place.key, head=former).ok
    found = place.verify(head=known)
    assert found.ok
    assert "the log was restarted" in found.notes[0].what
    lines = moved.read_bytes().splitlines(keepends=True)
    moved.write_bytes(b"".join(lines[:-1]))
    assert not verify(moved, key=place.key, head=former).ok


def test_nobody_without_the_key_can_write_what_the_memory_knows(tmp_path: Path) -> None:
    place = Place(tmp_path, KEY)
    place.remember("Ann lives in Lisbon")
    with closing(open_store(place.file, Settings())) as store:
        mark = read_mark(store)
        assert mark is not None
        forged = f'{{"log":"{mark.log}","path":"x","head":"1:{"0" * 64}"}}'
        verbs.set_settings(store, {SETTING: forged})
    assert "not written with this key" in place.verify().faults[0].what
    place.remember("Bob lives in Porto")
    assert "entries before this were lost" in place.verify_alone().faults[0].what


def test_a_damaged_mark_is_told(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.remember("Ann lives in Lisbon")
    with closing(open_store(place.file, Settings())) as store:
        verbs.set_settings(store, {SETTING: "[]"})
    with pytest.raises(Corrupt, match="what this memory knows of its audit log is damaged"):
        place.open()


def name_head(found: Verified) -> str:
    """The head that the first fault names, of the entry that tells of a gap."""
    return found.faults[0].what.rpartition("head ")[2]


def test_a_log_for_a_memory_that_has_records_says_what_it_does_not_know(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with Memory(place.file, embedder=EMBEDDER) as memory:
        memory.remember("Ann lives in Lisbon")
    place.remember("Bob lives in Porto")
    assert "changed before this log began: 1 changes" in str(place.verify().faults[0])
    found = place.verify(head=name_head(place.verify()))
    assert found.ok
    assert "changed before this log began: 1 changes" in found.notes[0].what
    assert not place.verify(head=place.verify().head).ok  # a later head knows of no gap


def test_a_killed_process_leaves_a_sound_log(tmp_path: Path) -> None:
    place = Place(tmp_path)
    program = f"""
import os
from eidet import Memory
memory = Memory({str(place.file)!r}, embedder={EMBEDDER!r}, audit={str(place.log)!r})
for number in range(20):
    memory.remember(f"note {{number}}")
os._exit(9)
"""
    (tmp_path / "killed.py").write_text(program, encoding="utf-8")
    assert run_program(["killed.py"], folder=tmp_path, environment=dict(os.environ)).code == 9
    assert place.verify().ok
    place.remember("one more")
    assert place.verify().ok


def test_the_store_is_told_now_and_then_while_it_is_open(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("eidet.trust.audit.store.MARK_EVERY", 5)
    place = Place(tmp_path)
    with place.open() as memory:
        for number in range(12):
            memory.remember(f"note {number}")
        assert isinstance(memory.parts.store, AuditedStore)
        mark = read_mark(memory.parts.store)
        assert mark is not None
        assert mark.head.count >= 10


# Opening without the log.


@KEYS
def test_a_memory_that_has_a_log_is_not_opened_without_it(place: Place) -> None:
    with pytest.raises(Misconfigured, match=r"keeps an audit log, .*audit.jsonl: open it with audit="):
        Memory(place.file, embedder=EMBEDDER)
    assert place.verify().ok


WITHOUT: dict[str, Callable[[Path], Memory]] = {
    "argument": lambda file: Memory(file, embedder=EMBEDDER, audit=False),
    "settings": lambda file: Memory(file, embedder=EMBEDDER, settings=Settings(audit="off")),
}


@pytest.mark.parametrize("way", WITHOUT)
@pytest.mark.parametrize("key", [None])
def test_whoever_insists_is_noted_if_they_change_something(place: Place, way: str) -> None:
    with WITHOUT[way](place.file) as memory:
        assert memory.audit is None
        memory.recall("Ann")
    place.remember("Carla lives in Faro")
    assert place.verify().ok, "nothing was changed"
    with WITHOUT[way](place.file) as memory:
        memory.remember("nobody noted this")
    with WITHOUT[way](place.file) as memory:
        memory.remember("nor this")
    place.remember("Dora lives in Braga")
    assert "the memory was opened without this log" in place.verify().faults[0].what
    assert "2 changes are not in it" in place.verify_alone().faults[0].what
    place.remember("Elsa lives in Viseu")
    assert place.verbs().count("unaudited") == 1


def test_the_command_line_refuses_and_can_be_told(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    log = str(tmp_path / "audit.jsonl")
    assert shell("remember", "Ann lives in Lisbon", EIDET_AUDIT=log).code == 0
    said = shell("stats")
    assert said.code == 7
    assert "EIDET_AUDIT" in said.err
    assert shell("stats", EIDET_AUDIT=log).code == 0
    assert shell("stats", EIDET_AUDIT="off").code == 0
    assert shell("audit", log, "--at", str(shell.file)).code == 0
    Path(log).unlink()
    head_path(Path(log)).unlink()
    assert shell("audit", log, "--at", str(shell.file)).code == 3
    assert shell("remember", "Bob lives in Porto", EIDET_AUDIT=log).code == 0
    assert shell("audit", log).code == 1


# Why.


def test_why_something_is_forgotten_is_in_the_log(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with place.open() as memory:
        for name in ("a", "b", "c", "d"):
            memory.remember(f"the note about {name}", id=name)
        memory.forget("a", by="ann", why="she asked for it")
        memory.forget("b", why="housekeeping", for_good=False)
        memory.trust.quarantine("c", because="it looks odd")
        with acting(why="ticket 7"):
            receipt = memory.forget("d").receipt
    said = {(entry.verb, entry.ids): entry.why for entry in entries(place.log) if entry.ids}
    assert said["erase", ("a",)] == "she asked for it"
    assert said["drop", ("b",)] == "housekeeping"
    assert said["put", ("c",)] == "it looks odd"
    assert said["erase", ("d",)] == "ticket 7"
    assert receipt is not None
    assert receipt.why == "ticket 7"


def remove_row(place: Place) -> None:
    with closing(sqlite3.connect(place.file)) as raw:
        assert raw.execute("DELETE FROM settings WHERE name = ?", (SETTING,)).rowcount == 1
        raw.commit()


@KEYS
@pytest.mark.parametrize("sealed", [False, True], ids=["open", "sealed"])
def test_a_memory_that_lost_its_note_of_the_log_is_noticed(
    tmp_path: Path, key: str | None, sealed: bool
) -> None:
    """Somebody takes the note away, changes the memory without the log, and leaves."""
    how: dict[str, Any] = {"key": "ab" * 32} if sealed else {}
    place = Place(tmp_path, key)
    with Memory(place.file, embedder=EMBEDDER, audit=Audit(path=place.log, key=key), **how) as memory:
        memory.remember("Ann lives in Lisbon")
    remove_row(place)
    assert "the memory knows of no log" in str(place.verify().faults[-1])
    with Memory(place.file, embedder=EMBEDDER, audit=False if sealed else None, **how) as memory:
        memory.remember("Mallory was here")
    with Memory(place.file, embedder=EMBEDDER, audit=Audit(path=place.log, key=key), **how) as memory:
        memory.remember("Bob lives in Porto")
    for found in (place.verify(), place.verify_alone()):
        assert "changed before this log began" in str(found.faults[0])


@KEYS
def test_a_memory_that_lost_its_log_and_its_note_is_noticed(place: Place) -> None:
    before = place.verify().head
    remove_log(place)
    remove_row(place)
    with pytest.raises(NotFound):
        place.verify()
    place.remember("Cleo plays chess")
    for found in (place.verify(), place.verify_alone(), place.verify(head=before)):
        assert "changed before this log began" in str(found.faults[0])
    assert place.verify(head=name_head(place.verify())).ok  # whoever says so believes it


SEALED: dict[str, Any] = {"key": "ab" * 32}


@KEYS
@pytest.mark.parametrize("rewrapped", [False, True], ids=["first key", "changed key"])
def test_a_sealed_memory_cannot_lose_that_it_was_audited(
    tmp_path: Path, key: str | None, rewrapped: bool
) -> None:
    """Log, head and note are gone; the record of the master key still tells, and nobody can change it."""
    place, how = Place(tmp_path, key), dict(SEALED)
    with place.open(**how) as memory:
        memory.remember("Ann lives in Lisbon")
        if rewrapped:
            memory.keys.rotate(key="cd" * 32)
            how["key"] = "cd" * 32
    remove_log(place)
    remove_row(place)
    with pytest.raises(Misconfigured, match="keeps an audit log, whose name was removed"):
        Memory(place.file, embedder=EMBEDDER, **how)
    with closing(sqlite3.connect(place.file)) as raw:
        claim = "SELECT value FROM settings WHERE name = 'seal'"
        forged = str(raw.execute(claim).fetchone()[0]).replace('"audited":true', '"audited":false')
        intact = raw.execute(claim).fetchone()[0]
        raw.execute("UPDATE settings SET value = ? WHERE name = 'seal'", (forged,))
        raw.commit()
        with pytest.raises(Misconfigured, match="the record of the key was changed"):
            Memory(place.file, embedder=EMBEDDER, **how)
        raw.execute("UPDATE settings SET value = ? WHERE name = 'seal'", (intact,))
        raw.commit()
    with place.open(**how) as memory:
        memory.remember("Bob lives in Porto")
    assert "changed before this log began" in str(place.verify_alone().faults[0])


def test_a_log_may_be_added_to_a_sealed_memory_later(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with Memory(place.file, embedder=EMBEDDER, **SEALED) as memory:
        memory.remember("Ann lives in Lisbon")
    for text in ("Bob lives in Porto", "Cleo plays chess"):
        with place.open(**SEALED) as memory:
            memory.remember(text)
    (fault,) = place.verify().faults
    assert "changed before this log began: 1 changes" in fault.what


TRACES: dict[str, Callable[[Place], None]] = {
    "log": lambda place: place.log.unlink(),
    "head": lambda place: head_path(place.log).unlink(),
    "row": remove_row,
}


@KEYS
@pytest.mark.parametrize("gone", [some for many in (1, 2, 3) for some in combinations(TRACES, many)])
def test_whatever_trace_is_removed_the_log_is_not_called_good(place: Place, gone: tuple[str, ...]) -> None:
    for trace in gone:
        TRACES[trace](place)
    if "log" in gone:
        with pytest.raises(NotFound, match="nothing can be verified"):
            place.verify()
    else:
        assert not place.verify().ok


def test_one_log_may_tell_of_two_memories(tmp_path: Path) -> None:
    first, second = Place(tmp_path), Place(tmp_path)
    second.file = tmp_path / "second.db"
    first.remember("Ann lives in Lisbon")
    second.remember("Bob lives in Porto")
    first.remember("Cleo plays chess")
    assert first.verify_alone().ok


def test_the_command_line_takes_the_head_that_a_fault_names(tmp_path: Path) -> None:
    eidet, log = Shell(tmp_path), str(tmp_path / "audit.jsonl")
    eidet("remember", "Ann lives in Lisbon")
    eidet("remember", "Bob lives in Porto", EIDET_AUDIT=log)
    said = eidet("audit", log, "--json")
    (fault,) = said.json["faults"]
    assert (said.code, "changed before this log began: 1 changes" in fault["what"]) == (1, True)
    assert eidet("audit", log, "--head", fault["what"].split()[-1]).code == 0
