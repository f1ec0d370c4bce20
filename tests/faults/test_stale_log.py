"""A file that was restored beside the write-ahead log of the one before: refused, with what to do."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from tests.unit.cli.shell import Shell

from eidet import Memory, Refused

SEALED: dict[str, Any] = {"key": "ab" * 32}


def open_at(path: Path, **how: Any) -> Memory:
    return Memory(path, embedder="hashing:64", **how)


def kill(path: Path, to: Path) -> Path:
    """The files as a process leaves them that is killed now."""
    for end in ("", "-wal", "-shm"):
        shutil.copy2(f"{path}{end}", f"{to}{end}")
    return to


def by_vacuum(path: Path, to: Path) -> None:
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("VACUUM INTO ?", (str(to),))


def by_backup(path: Path, to: Path) -> None:
    with closing(sqlite3.connect(path)) as raw, closing(sqlite3.connect(to)) as target:
        raw.backup(target)


BACKUPS: dict[str, Callable[[Path, Path], None]] = {"vacuum": by_vacuum, "backup": by_backup}


def damaged_restore(folder: Path, backup: str, copied: Callable[..., Any], **how: Any) -> Path:
    """A memory that was killed, and an older state of it restored beside its log."""
    old = folder / "backup.db"
    with open_at(folder / "live.db", **how) as memory:
        memory.remember([f"first note {n}" for n in range(30)])
    if backup == "closed":
        shutil.copy2(folder / "live.db", old)
        for day in range(3):
            with open_at(folder / "live.db", **how) as memory:
                memory.remember([f"note {n} of day {day}" for n in range(300)])
    with open_at(folder / "live.db", **how) as memory:
        memory.remember([f"second note {n}" for n in range(30)])
        if backup != "closed":
            BACKUPS[backup](folder / "live.db", old)
        memory.remember([f"third note {n}" for n in range(30)])
        dead = kill(folder / "live.db", folder / "dead.db")
    for end in ("", "-wal", "-shm"):  # it was killed a minute ago
        written = Path(f"{dead}{end}").stat().st_mtime
        os.utime(f"{dead}{end}", (written - 60, written - 60))
    copied(old, dead)
    return dead


@pytest.mark.parametrize("how", [{}, SEALED], ids=["plain", "sealed"])
@pytest.mark.parametrize(
    ("backup", "copied", "notes"),
    [
        ("closed", shutil.copyfile, 30),
        ("closed", shutil.copy2, 30),
        ("vacuum", shutil.copyfile, 60),
        ("backup", shutil.copyfile, 60),
    ],
)
def test_a_restored_file_is_not_mixed_with_the_log_of_the_one_before(
    tmp_path: Path, backup: str, copied: Callable[..., Any], notes: int, how: dict[str, Any]
) -> None:
    dead = damaged_restore(tmp_path, backup, copied, **how)
    before = dead.read_bytes()
    with pytest.raises(Refused, match=r"dead\.db-wal is not the log .*delete dead\.db-wal and dead\.db-shm"):
        open_at(dead, **how)
    assert dead.read_bytes() == before
    for end in ("-wal", "-shm"):
        Path(f"{dead}{end}").unlink()
    with open_at(dead, **how) as memory:
        assert memory.count() == notes
        assert memory.admin.check() == []


@pytest.mark.parametrize("command", ["stats", "doctor"])
def test_the_command_line_says_so_too(tmp_path: Path, command: str) -> None:
    dead = damaged_restore(tmp_path, "backup", shutil.copyfile)
    said = Shell(tmp_path)(command, "--at", str(dead))
    assert said.code != 0
    assert "delete dead.db-wal" in (said.out + said.err).replace("\n", " ")


@pytest.mark.parametrize("sizes", [(1,), (30, 30), (3000,), (3000, 2), (1, 3000, 1)])
def test_a_log_that_belongs_to_its_file_is_used(tmp_path: Path, sizes: tuple[int, ...]) -> None:
    """Also one that was copied into the file in part or as a whole, while others read."""
    with open_at(tmp_path / "live.db") as memory, closing(sqlite3.connect(tmp_path / "live.db")) as reader:
        for at, size in enumerate(sizes):
            memory.remember([f"note {at} {n}" for n in range(size)], keep_duplicates=True)
            if at == 0:
                reader.execute("BEGIN").execute("SELECT count(*) FROM records").fetchone()
        dead = kill(tmp_path / "live.db", tmp_path / "dead.db")
        reader.rollback()
    with open_at(dead) as memory:
        assert memory.count() == sum(sizes)


@pytest.mark.parametrize("order", list(permutations(("", "-shm", "-wal"))))
def test_files_that_were_copied_together_open(tmp_path: Path, order: tuple[str, ...]) -> None:
    with open_at(tmp_path / "live.db") as memory:
        memory.remember([f"note {n}" for n in range(30)])
        for end in order:
            shutil.copyfile(tmp_path / f"live.db{end}", tmp_path / f"copy.db{end}")
    with open_at(tmp_path / "copy.db") as memory:
        assert memory.count() == 30
