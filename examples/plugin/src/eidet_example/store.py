"""A folder as a store: `Memory("folder:///var/lib/agent")`. It is a log of JSON lines, replayed when opened.

Each write appends one line with a checksum and waits for the disk. A line that a crash cut off counts as
never written. Several processes may share a folder: a lock file orders writers, and readers catch up.
"""

from __future__ import annotations

import ast
import fcntl
import json
import os
import threading
import uuid
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from eidet.core.errors import Corrupt, Misconfigured, Unavailable
from eidet.core.event import Event
from eidet.core.record import Record, record_digest
from eidet.core.scope import Scope
from eidet.core.settings import Settings
from eidet.core.validate import Json
from eidet.core.where import Where
from eidet.store import EPOCH, SETTINGS, Changes, Derived, Head, Scrubbed, Table, Transaction, Use, answers
from eidet.store.export_file import as_json, from_json
from eidet.store.model import K, T, V
from eidet.store.rules import UNIQUE_KINDS

Row = list[Any]  # the name of a step of `View`, and its arguments
IDENTITY: Table[str, str] = Table("identity")


def folder(url: str, *, settings: Settings) -> FolderStore:
    """Eidet calls this with the whole URL and the settings of the memory."""
    del settings
    path = url.partition("://")[2]
    if not path:
        raise Misconfigured("a folder store needs a path, such as folder:///var/lib/agent")
    return FolderStore(Path(path))


class View:
    """All that the log says, in memory. Only rows of the log change it, when written and when replayed."""

    def __init__(self) -> None:
        self.seq = 0
        self.rows: dict[int, Record] = {}
        self.digests: dict[int, bytes] = {}
        self.ids: dict[tuple[str, str], int] = {}
        self.gone: defaultdict[str, dict[int, int]] = defaultdict(dict)
        self.events: dict[tuple[str, str], list[Event]] = {}
        self.tables: defaultdict[str, dict[Any, Any]] = defaultdict(dict)

    def apply(self, row: Row) -> None:
        steps = {"keep": self.keep, "remove": self.remove, "tell": self.tell, "set": self.set}
        steps[row[0]](*row[1:])

    def keep(self, seq: int, said: dict[str, Any]) -> None:
        record = from_json(said).but(seq=seq)
        self.seq = max(self.seq, seq)
        self.rows[seq], self.digests[seq] = record, record_digest(record)
        self.ids[record.scope, record.id] = seq

    def remove(self, at: int, seq: int, scope: str) -> None:
        self.seq = max(self.seq, at)
        self.gone[scope][at] = seq
        if (record := self.rows.pop(seq, None)) is not None:
            del self.ids[scope, record.id], self.digests[seq]

    def tell(self, scope: str, id: str, events: list[dict[str, Any]]) -> None:
        self.events[scope, id] = [Event(**said) for said in events]

    def set(self, table: str, key: str, value: str) -> None:
        """Keys and values are Python literals: JSON knows neither tuples nor bytes."""
        answers.set_value(self.tables[table], ast.literal_eval(key), ast.literal_eval(value))

    def snapshot(self) -> list[Row]:
        """Rows that make this view out of an empty one."""
        rows: list[Row] = [["keep", seq, as_json(record)] for seq, record in self.rows.items()]
        for scope, gone in self.gone.items():
            rows += [["remove", at, seq, scope] for at, seq in gone.items()]
        for (scope, id), events in self.events.items():
            rows.append(["tell", scope, id, [asdict(event) for event in events]])
        for name, table in self.tables.items():
            rows += [["set", name, repr(key), repr(value)] for key, value in table.items()]
        return rows


class FolderStore:
    """The port of `eidet.store.Store` over a view that is brought up to date before each answer."""

    writable = True

    def __init__(self, path: Path) -> None:
        path.mkdir(parents=True, exist_ok=True)
        self._log, self._lock = path / "log", threading.RLock()
        self._guard = (path / "lock").open("a")
        self._view, self._end, self._file = View(), 0, 0  # what was replayed: up to where, of which file
        self.write(lambda job: job.values(IDENTITY) or job.set_values(IDENTITY, {"": uuid.uuid4().hex}))
        self.identity = self.values(IDENTITY)[""]

    def read(self, scope: str, keys: Sequence[str] | Sequence[int]) -> list[Record | None]:
        with self._current() as view:
            rows = [view.rows.get(view.ids.get((scope, k), 0) if isinstance(k, str) else k) for k in keys]
            return [answers.copy_record(row if row and row.scope == scope else None) for row in rows]

    def find(
        self, where: Where, *, order: str = "seq", limit: int | None = None, offset: int = 0, after: int = 0
    ) -> list[Record]:
        with self._current() as view:
            found = [row for row in view.rows.values() if row.seq > after and where.matches(row)]
            end = None if limit is None else offset + limit
            return [answers.copy_record(row) for row in answers.sort_records(found, order)[offset:end]]

    def match(self, where: Where) -> list[int]:
        return [record.seq for record in self.find(where)]

    def count_by(self, where: Where, columns: Sequence[str] = ()) -> dict[tuple[str, ...], int]:
        return answers.count_records(self.find(where), columns)

    def head(self) -> Head:
        with self._current() as view:
            return Head(int(view.tables[SETTINGS.name].get(EPOCH, 0)), view.seq)

    def changes(self, scope: str, since: int, limit: int) -> Changes:
        with self._current() as view:
            rows = {seq: record for seq, record in view.rows.items() if record.scope == scope}
            return answers.list_changes(rows, view.gone.get(scope, {}), self.head(), since, limit)

    def history(self, scope: str, id: str) -> list[Event]:
        with self._current() as view:
            return list(view.events.get((scope, id), ()))

    def values(
        self,
        table: Table[K, V],
        keys: Iterable[K] | None = None,
        *,
        within: Scope | None = None,
        prefix: str = "",
        limit: int | None = None,
    ) -> dict[K, V]:
        with self._current() as view:
            return answers.choose_values(view.tables[table.name], keys, within, prefix, limit)

    def write(self, job: Callable[[Transaction], T]) -> T:
        with self._exclusive():
            transaction = FolderTransaction(self, self._view)
            try:
                answer = job(transaction)
                if transaction.done:
                    self._end += self._save(self._log, self._end, transaction.done)
            except BaseException:
                if transaction.done:
                    self._file = 0  # the view has what the log has not: replay the log
                raise
            return answer

    def close(self) -> None:
        self._guard.close()

    def size(self) -> int:
        return self._log.stat().st_size

    def scrub(self, said: Sequence[bytes] | None) -> Scrubbed:
        """Writes a log without all that is past beside the old one, and takes its place."""
        del said
        with self._exclusive():
            before, fresh = self.size(), self._log.with_name("log.new")
            fresh.unlink(missing_ok=True)
            size = self._save(fresh, 0, self._view.snapshot())
            fresh.replace(self._log)
            _sync(self._log.parent)
            return Scrubbed(freed=max(0, before - size))

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        with self._lock:
            fcntl.flock(self._guard, fcntl.LOCK_EX)
            try:
                self._catch_up()
                yield
            finally:
                fcntl.flock(self._guard, fcntl.LOCK_UN)

    @contextmanager
    def _current(self) -> Iterator[View]:
        with self._lock:
            self._catch_up()
            yield self._view

    def _catch_up(self) -> None:
        """Replays what was added to the log, or all of it if it is another file."""
        if not self._log.exists():
            return
        with self._log.open("rb") as log:
            there = os.fstat(log.fileno())
            if there.st_ino != self._file:
                self._view, self._end, self._file = View(), 0, there.st_ino
            if there.st_size == self._end:
                return
            log.seek(self._end)
            for line in log:
                if line[:8] != _checksum(line[9:]):
                    if log.read(1):
                        raise Corrupt(f"{self._log} is damaged at byte {self._end:,}")
                    return  # cut off by a crash, or just being written
                for row in json.loads(line[9:]):
                    self._view.apply(row)
                self._end += len(line)

    def _save(self, path: Path, at: int, rows: list[Row]) -> int:
        """Writes one line at that place, durably; how long it is."""
        text = json.dumps(rows).encode() + b"\n"
        line = _checksum(text) + b" " + text
        try:
            with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+b") as file:
                file.truncate(at)  # what a crash cut off
                file.seek(at)
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise Unavailable(f"{path} cannot be written: {error.strerror}") from error
        if at == 0:
            _sync(path.parent)
        return len(line)


class FolderTransaction:
    """Changes the view row by row; the store writes the rows when the job has ended."""

    def __init__(self, store: FolderStore, view: View) -> None:
        self.done: list[Row] = []
        self.history, self.values = store.history, store.values
        self._store, self._view = store, view

    def _do(self, *row: Any) -> None:
        self._view.apply(list(row))
        self.done.append(list(row))

    def read(self, scope: str, ids: Sequence[str], *, bare: bool = False) -> list[Record | None]:
        del bare
        return self._store.read(scope, ids)

    def same(self, scope: str, digests: Sequence[bytes], *, every_kind: bool = False) -> list[Record]:
        seqs = [seq for seq, digest in self._view.digests.items() if digest in digests]
        found = [self._view.rows[seq] for seq in seqs]
        mine = [row for row in found if row.scope == scope and (every_kind or row.kind in UNIQUE_KINDS)]
        return [answers.copy_record(row) for row in mine]

    def find(self, where: Where, *, bare: bool = False) -> Iterator[Record]:
        del bare
        return iter(self._store.find(where))

    def insert(self, records: Sequence[Record]) -> list[Record]:
        stored = []
        for record in records:
            new = record.but(seq=self._view.seq + 1)
            self._do("keep", new.seq, as_json(new))
            events = self.history(record.scope, record.id)
            if not events or events[-1].what == "forgotten":
                self._tell(record.scope, record.id, [*events, answers.creation_of(record)])
            stored.append(new)
        return stored

    def remove(self, records: Sequence[Record], events: Sequence[Event]) -> None:
        for record, event in zip(records, events, strict=True):
            self._do("remove", self._view.seq + 1, record.seq, record.scope)
            self._tell(record.scope, record.id, [*self.history(record.scope, record.id), event])

    def update(self, changes: Iterable[Use | Derived]) -> None:
        for change in changes:
            seq = self._view.ids.get((change.scope, change.id), 0) if isinstance(change, Use) else change.seq
            if (record := self._view.rows.get(seq)) is not None:
                self._do("keep", seq, as_json(answers.update_record(record, change)))

    def edit_history(self, edits: Mapping[tuple[str, str], Mapping[int, Mapping[str, Json]] | None]) -> int:
        edited = 0
        for (scope, id), before in edits.items():
            events, changed = answers.edit_events(self.history(scope, id), before)
            if changed:
                self._tell(scope, id, events)
            edited += changed
        return edited

    def set_values(self, table: Table[K, V], values: Mapping[K, V | None], *, clear: bool = False) -> None:
        gone: dict[K, V | None] = dict.fromkeys(self.values(table)) if clear else {}
        for key, value in {**gone, **values}.items():
            self._do("set", table.name, repr(key), repr(value))

    def _tell(self, scope: str, id: str, events: list[Event]) -> None:
        self._do("tell", scope, id, [asdict(event) for event in events])


def _checksum(text: bytes) -> bytes:
    return b"%08x" % zlib.crc32(text)


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    os.fsync(handle)
    os.close(handle)
