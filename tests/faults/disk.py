"""Programs that run into a full disk and tell what happened.

The wall is a small tmpfs in a mount namespace of the program's own, or a limit on the size of
files; both can be opened again.
"""

from __future__ import annotations

import logging
import resource
import signal
import sqlite3
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from tests.faults.children import EMBEDDER, SETTINGS, opened, tell

from eidet.core.errors import EidetError
from eidet.core.settings import Settings
from eidet.memory import Memory

BALLAST = 1_500_000
PADDING = "with some more words in it " * 8


class Wall(Protocol):
    def close(self, folder: Path) -> None:
        """From here on the folder takes hardly more."""

    def open(self, folder: Path) -> None:
        """Gives the space back."""


class Tmpfs:
    """A file system of a few megabytes, part of which a ballast file takes."""

    def __init__(self, folder: Path) -> None:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", folder], check=True)

    def close(self, folder: Path) -> None:
        (folder / "ballast").write_bytes(bytes(BALLAST))

    def open(self, folder: Path) -> None:
        (folder / "ballast").unlink()


class Limit:
    """No file may grow beyond a size; here the write-ahead log is the first to get there."""

    def __init__(self, folder: Path) -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    def close(self, folder: Path) -> None:
        limit_files(2_000_000)

    def open(self, folder: Path) -> None:
        limit_files(resource.RLIM_INFINITY)


WALLS: dict[str, Callable[[Path], Wall]] = {"tmpfs": Tmpfs, "limit": Limit}


def limit_files(size: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def outcome(act: Callable[[], object]) -> list[str]:
    """["", what was answered] or [the kind of error, what it says]."""
    try:
        return ["", str(act())]
    except (EidetError, OSError) as error:
        return [type(error).__name__, str(error)]


def fill(place: str, wall: str) -> None:
    """Writes until the wall, looks around there, closes, opens, and goes on when there is space."""
    logging.disable()
    folder, path = Path(place), f"{place}/m.db"
    obstacle = WALLS[wall](folder)
    facts: dict[str, Any] = {}
    memory = opened(path)
    first = memory.remember("the first record")
    obstacle.close(folder)

    acknowledged = [first.id]
    facts["error"] = _write_on(memory, acknowledged)
    facts["single"] = outcome(lambda: memory.remember("refusedword alone"))
    facts["bulk"] = outcome(lambda: memory.remember([f"refusedword {i} {PADDING}" for i in range(300)]))
    facts["forget"] = outcome(lambda: memory.forget(acknowledged[0]))
    facts["revise"] = outcome(lambda: memory.revise(acknowledged[0], text=f"refusedword {PADDING * 40}"))
    facts["full"] = _look(memory, acknowledged)
    facts["thread"] = _in_thread(lambda: _look(memory, acknowledged))
    outcome(memory.close)  # it may still have use counts to write: see `close_on_full`

    memory = opened(path)
    facts["reopened"] = _look(memory, acknowledged)
    outcome(memory.close)
    obstacle.open(folder)
    with opened(path) as memory:
        acknowledged.append(memory.remember("written when there was space again").id)
        facts["freed"] = _look(memory, acknowledged)
        facts["faults"] = memory.admin.check()
        facts["refused"] = [r.id for r in memory.find(limit=10_000) if "refusedword" in r.text]
        before = [hit.id for hit in memory.recall("note7 words")]
        memory.admin.rebuild()
        facts["rebuilt"] = [hit.id for hit in memory.recall("note7 words")] == before
    facts["sqlite"] = _integrity(path)
    facts["wanted"] = len(acknowledged)
    tell(facts)


def _write_on(memory: Memory, acknowledged: list[str]) -> list[str]:
    try:
        while len(acknowledged) < 20_000:
            acknowledged.append(memory.remember(f"note{len(acknowledged)} {PADDING}").id)
    except EidetError as error:
        return [type(error).__name__, str(error)]
    return ["", "the wall was never reached"]


def _look(memory: Memory, acknowledged: list[str]) -> dict[str, Any]:
    """What can be read: how many records, how many of those acknowledged, and whether recall works."""
    stored = {record.id for record in memory.find(limit=100_000)}
    return {
        "stored": len(stored),
        "lost": len(set(acknowledged) - stored),
        "stats": memory.admin.stats()["records"],
        "recall": memory.recall("note7")[0].text[:6],
    }


def _in_thread(act: Callable[[], Any]) -> Any:
    told: list[Any] = []
    thread = threading.Thread(target=lambda: told.append(act()))
    thread.start()
    thread.join()
    return told[0]


def _integrity(path: str) -> str:
    connection = sqlite3.connect(path)
    try:
        return str(connection.execute("PRAGMA integrity_check").fetchone()[0])
    finally:
        connection.close()


def sweep(place: str) -> None:
    """Moves the wall page by page through a write that has use counts to take along."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    path, log = f"{place}/m.db", Path(f"{place}/m.db-wal")
    memory = Memory(path, embedder=EMBEDDER, settings=Settings(flush_uses=1))
    memory.remember("the first record")
    told = []
    end = log.stat().st_size
    for page in range(16):
        memory.recall("first")
        limit_files(end + page * 8216)
        said = outcome(lambda n=page: memory.remember(f"try{n}").text)  # type: ignore[misc]
        limit_files(resource.RLIM_INFINITY)
        told.append([said[0], any(record.text == f"try{page}" for record in memory.find())])
        if not said[0]:
            break
    memory.close()
    tell(told)


def create_on_full(place: str) -> None:
    """Opens a new file where hardly anything fits, then again when there is space."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    path, told = f"{place}/m.db", []
    for size in (0, 8192, 40_000, 80_000):
        limit_files(size)
        began = time.monotonic()
        told.append([*outcome(lambda: opened(path)), time.monotonic() - began])
        limit_files(resource.RLIM_INFINITY)
    with opened(path) as memory:
        memory.remember("the first record")
        tell([told, len(memory.find())])


def close_on_full(place: str) -> None:
    """Closes a memory that still has use counts to write down, on a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    memory = opened(f"{place}/m.db")
    memory.remember("the first record")
    memory.recall("first")
    limit_files(Path(f"{place}/m.db-wal").stat().st_size)
    told = outcome(memory.close)
    limit_files(resource.RLIM_INFINITY)
    with opened(f"{place}/m.db") as memory:
        tell([told, len(memory.find())])


def export_to_full(place: str, wall: str) -> None:
    """Exports more than fits, over nothing and over an earlier export."""
    folder = Path(place)
    obstacle = WALLS[wall](folder)
    memory = Memory(embedder=EMBEDDER)
    memory.remember("one")
    target, fresh = folder / "old.jsonl", folder / "new.jsonl"
    memory.export(target)
    whole = target.read_bytes()
    obstacle.close(folder)
    memory.remember([f"{i} " + "." * 10_000 for i in range(400)])
    facts = {
        "over": outcome(lambda: memory.export(target)),
        "new": outcome(lambda: memory.export(fresh)),
        "whole": target.read_bytes() == whole,
        "files": sorted(file.name for file in folder.iterdir() if file.name != "ballast"),
    }
    limit_files(resource.RLIM_INFINITY)
    tell(facts)


def full_main_file(place: str) -> None:
    """The log can be written but the database behind it cannot grow, so nothing can be moved there."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    path = f"{place}/m.db"
    with opened(path) as memory:
        acknowledged = [r.id for r in memory.remember([f"note{i} {PADDING}" for i in range(3000)])]
    limit_files(Path(path).stat().st_size)
    with opened(path) as memory:
        acknowledged += [memory.remember(f"later{i} {PADDING}").id for i in range(50)]
    grown = Path(f"{path}-wal").stat().st_size
    with opened(path) as memory:
        full = _look(memory, acknowledged)
    limit_files(resource.RLIM_INFINITY)
    with opened(path) as memory:
        memory.remember("written when there was space again")
        freed = _look(memory, acknowledged)
    tell(
        {"log": grown, "full": full, "freed": freed, "sqlite": _integrity(path), "wanted": len(acknowledged)}
    )


def quiet_sidecar(place: str) -> None:
    """The database has room, the index cache has not: larger than any file may be."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    logging.disable()
    path = f"{place}/m.db"
    settings = Settings(sidecar_from=100)
    with Memory(path, embedder="hashing:1024", settings=settings) as memory:
        for start in (0, 250):  # so few at once that the index does not read along, and caches nothing yet
            memory.remember([f"note{i} {PADDING}" for i in range(start, start + 250)])
    limit_files(400_000)
    with Memory(path, embedder="hashing:1024", settings=settings) as memory:
        found = memory.recall("note7")[0].text[:6]
    files = [file.name for file in Path(f"{path}-index").iterdir()]
    limit_files(resource.RLIM_INFINITY)
    with Memory(path, embedder="hashing:1024", settings=SETTINGS) as memory:
        tell([found, files, memory.recall("note7")[0].text[:6], memory.admin.check()])
