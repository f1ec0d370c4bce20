"""A folder as a store: `Memory("folder:///var/lib/agent")`. It is a log of transactions, replayed into RAM.

Each write appends one line with a checksum and waits for the disk. A line that a crash cut off counts as
never written. Several processes may share a folder: a lock file orders writers, and readers catch up.
"""

from __future__ import annotations

import fcntl
import json
import os
import threading
import uuid
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain
from pathlib import Path

from eidet.core.errors import Corrupt, Misconfigured, Unavailable
from eidet.core.record import Event, Record
from eidet.core.scope import Scope
from eidet.core.settings import Settings
from eidet.core.where import Where
from eidet.store import Changes, Head, Scrubbed, Table, Transaction
from eidet.store.model import K, T, V
from eidet.store.ram import RamStore
from eidet.store.redo_log import LoggedTransaction, Step, drop_past, replay_steps

IDENTITY: Table[str, str] = Table("identity")


def folder(url: str, *, settings: Settings) -> FolderStore:
    """Eidet calls this with the whole URL and the settings of the memory."""
    del settings
    path = url.partition("://")[2]
    if not path:
        raise Misconfigured("a folder store needs a path, such as folder:///var/lib/agent")
    return FolderStore(Path(path))


class FolderStore:
    """The port of `eidet.store.Store`: answers from a store in RAM that has replayed the whole log."""

    writable = True

    def __init__(self, path: Path) -> None:
        path.mkdir(parents=True, exist_ok=True)
        self._log, self._lock = path / "log", threading.RLock()
        self._guard = (path / "lock").open("a")
        self._ram, self._end, self._file = RamStore(), 0, 0  # what was replayed: up to where, of which file
        self.write(lambda job: job.values(IDENTITY) or job.set_values(IDENTITY, {"": uuid.uuid4().hex}))
        self.identity = self.values(IDENTITY)[""]

    def read(self, scope: str, keys: Sequence[str] | Sequence[int]) -> list[Record | None]:
        return self._current().read(scope, keys)

    def find(
        self, where: Where, *, order: str = "seq", limit: int | None = None, offset: int = 0, after: int = 0
    ) -> list[Record]:
        return self._current().find(where, order=order, limit=limit, offset=offset, after=after)

    def match(self, where: Where) -> list[int]:
        return self._current().match(where)

    def count_by(self, where: Where, columns: Sequence[str] = ()) -> dict[tuple[str, ...], int]:
        return self._current().count_by(where, columns)

    def head(self) -> Head:
        return self._current().head()

    def changes(self, scope: str, since: int, limit: int) -> Changes:
        return self._current().changes(scope, since, limit)

    def history(self, scope: str, id: str) -> list[Event]:
        return self._current().history(scope, id)

    def values(
        self,
        table: Table[K, V],
        keys: Iterable[K] | None = None,
        *,
        within: Scope | None = None,
        prefix: str = "",
        limit: int | None = None,
    ) -> dict[K, V]:
        return self._current().values(table, keys, within=within, prefix=prefix, limit=limit)

    def write(self, job: Callable[[Transaction], T]) -> T:
        """If the log cannot be written, the store in RAM undoes the job."""

        def run(transaction: Transaction) -> T:
            logged = LoggedTransaction(transaction)
            answer = job(logged)
            if logged.steps:
                self._end += self._save(self._log, self._end, logged.steps)
            return answer

        with self._exclusive() as ram:
            return ram.write(run)

    def close(self) -> None:
        self._guard.close()

    def size(self) -> int:
        return self._log.stat().st_size

    def scrub(self, said: Sequence[bytes] | None) -> Scrubbed:
        """Writes a log without all that is past beside the old one, and takes its place."""
        del said
        with self._exclusive() as ram:
            before, fresh = self.size(), self._log.with_name("log.new")
            fresh.unlink(missing_ok=True)
            past = chain.from_iterable(steps for steps, _ in _read_lines(self._log, 0))
            size = self._save(fresh, 0, list(drop_past(past, ram)))
            fresh.replace(self._log)
            _sync(self._log.parent)
            return Scrubbed(freed=max(0, before - size))

    @contextmanager
    def _exclusive(self) -> Iterator[RamStore]:
        with self._lock:
            fcntl.flock(self._guard, fcntl.LOCK_EX)
            try:
                yield self._current()
            finally:
                fcntl.flock(self._guard, fcntl.LOCK_UN)

    def _current(self) -> RamStore:
        """The store in RAM, after it has replayed what was added to the log, or all of it if that is new."""
        with self._lock:
            self._log.touch(0o600)
            there = self._log.stat()
            if there.st_ino != self._file:
                self._ram, self._end, self._file = RamStore(), 0, there.st_ino
            if there.st_size != self._end:
                for steps, size in _read_lines(self._log, self._end):
                    self._ram.write(partial(replay_steps, steps))
                    self._end += size
            return self._ram

    def _save(self, path: Path, at: int, steps: list[Step]) -> int:
        """Writes one line at that place, durably; how long it is."""
        text = json.dumps(steps).encode() + b"\n"
        try:
            with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+b") as file:
                file.truncate(at)  # what a crash cut off
                file.seek(at)
                file.write(b"%08x " % zlib.crc32(text) + text)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise Unavailable(f"{path} cannot be written: {error.strerror}") from error
        if at == 0:
            _sync(path.parent)
        return 9 + len(text)


def _read_lines(path: Path, at: int) -> Iterator[tuple[list[Step], int]]:
    """The steps of each line from a place on, and how long the line is."""
    with path.open("rb") as log:
        log.seek(at)
        for line in log:
            if line[:8] != b"%08x" % zlib.crc32(line[9:]):
                if log.read(1):
                    raise Corrupt(f"{path} is damaged at byte {at:,}")
                return  # cut off by a crash, or just being written
            yield json.loads(line[9:]), len(line)
            at += len(line)


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    os.fsync(handle)
    os.close(handle)
