"""The log file, to which many threads and processes append one at a time."""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, Self

from ...core.actor import Acting, acts
from ...core.errors import EidetError, Misconfigured, Unavailable
from ...core.validate import Json
from . import Audit
from .chain import (
    FORMAT,
    AuditHead,
    Tail,
    chain_events,
    find_tail,
    first_line,
    head_line,
    head_of,
    head_path,
    missing,
    parse_entry,
    print_of,
    read_head,
)

try:
    import fcntl
except ImportError:  # Windows: then only one process may write
    fcntl = None  # type: ignore[assignment]

told: logging.Logger = logging.getLogger("eidet")

_MODE: Final = 0o600
_FLAGS: Final = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


class AuditLog:
    """Appends entries. Once `note` returns, its entry is with the operating system or, with `sync`, on disk.

    An entry is written before the action it describes, so that no action goes unlogged. If the action
    then fails, a second entry, `failed`, says so.
    """

    def __init__(self, audit: Audit, *, clock: Callable[[], float] = time.time) -> None:
        self.audit = audit
        self.path: Path = Path(audit.path)
        self._key = audit.key if isinstance(audit.key, bytes) else None
        self._clock = clock
        self._seen: Tail | None = None
        self._start_in_process()
        self.append([])

    def _start_in_process(self) -> None:
        """Resets handles and locks. A forked child calls it, because it would share its parent's."""
        self._pid = os.getpid()
        self._source = f"{socket.gethostname()}:{self._pid}"
        self._lock = threading.Lock()
        self._handle: int | None = None
        self._head: int | None = None
        self._known = False

    @property
    def identity(self) -> str:
        """The unique id of this log, from its first entry."""
        self.append([])
        assert self._handle is not None
        begin = parse_entry(first_line(self._handle))
        return "" if begin is None else str(begin.get("log", ""))

    @property
    def key(self) -> bytes | None:
        return self._key

    # Writing.

    def note(self, verb: str, *, by: str | None = None, **what: Json) -> int:
        """Logs an action that is about to happen (or just did). Returns the number of the entry.

        `scope`, `ids`, `count` and `kinds` are the usual fields; any others are kept too.
        `acting` provides who acts, from where and why.
        """
        return self.append([self.describe(verb, by=by, **what)])[0]

    def describe(
        self, verb: str, *, by: str | None = None, acting: Acting | None = None, **what: Json
    ) -> dict[str, Json]:
        """Builds an entry without None and empty values.

        `acting` is the actor captured when the action was requested, by default the present one.
        """
        actor = acts() if acting is None else acting
        ordered = {
            "verb": verb,
            **what,
            "by": by or actor.by,
            "asked_by": actor.by if by and by != actor.by else None,
            "source": actor.source or self._source,
            "why": actor.why,
        }
        return {name: value for name, value in ordered.items() if value is not None and value != {}}

    def append(self, events: Sequence[Mapping[str, Json]]) -> list[int]:
        """Appends entries for all events atomically. Returns their numbers. `Unavailable` if that fails."""
        if self._pid != os.getpid():
            self._start_in_process()
        try:
            with self._lock:
                handle, size = self._hold_file()
                try:
                    tail = self._append(handle, size, events)
                finally:
                    _unlock(handle)
        except OSError as error:
            raise Unavailable(
                f"the audit log {self.path} cannot be written ({error.strerror}): nothing was changed"
            ) from error
        return list(range(tail.n - len(events) + 1, tail.n + 1))

    def note_failure(self, numbers: Sequence[int], error: BaseException) -> None:
        """Logs that the actions these entries announced were not done."""
        self.afterwards("failed", of=list(numbers), error=type(error).__name__)

    def afterwards(self, verb: str, **what: Json) -> None:
        """Logs an action that is already done; if that fails, writes a warning to the program's log."""
        try:
            self.note(verb, **what)
        except EidetError as error:
            told.warning("the audit log lacks the entry %r about %s: %s", verb, what.get("of"), error)

    @contextmanager
    def about(self, events: Sequence[Mapping[str, Json]]) -> Iterator[list[int]]:
        """Logs events before the block runs and, if it raises, a failure. Yields the entries' numbers."""
        numbers = self.append(events)
        try:
            yield numbers
        except BaseException as error:
            self.note_failure(numbers, error)
            raise

    def _append(self, handle: int, size: int, events: Sequence[Mapping[str, Json]]) -> Tail:
        seen = self._seen
        if seen is None or size != seen.end:
            seen, fresh = self._resume(handle)
            events = [*fresh, *events]
        if not events:
            self._seen = seen
            return seen
        data, tail = chain_events(events, seen, self._clock(), self._key)
        self._write(handle, seen.end, data, tail)
        self._seen = tail
        return tail

    def _write(self, handle: int, end: int, data: bytes, tail: Tail) -> None:
        """Writes all or nothing: truncates a partial line that a full disk accepted."""
        try:
            _write_all(handle, data)
            if self.audit.sync:
                os.fsync(handle)
            self._write_head(tail)
        except OSError:
            with suppress(OSError):
                os.ftruncate(handle, end)
            raise

    # Resuming at the end of the file.

    def _resume(self, handle: int) -> tuple[Tail, list[dict[str, Json]]]:
        """Returns the tail and the entries to write first: the beginning of a new log, or its faults."""
        tail, rest = find_tail(handle)
        head, notes = read_head(self.path), []
        if tail.n == 0:
            notes.append(self._beginning())
        else:
            self._check_key(handle)
        if rest:  # a writer died within a line, so its `note` never returned
            os.ftruncate(handle, tail.end)
            told.warning("%s ended in the middle of a line: cut %s bytes off", self.path, len(rest))
            notes.append({"verb": "torn", "note": f"{len(rest)} bytes were cut off"})
        if lost := missing(tail, self._seen, head, self._key):
            notes.append(lost)
        elif head is None:
            self._write_head(tail)
        return tail, notes

    def _beginning(self) -> dict[str, Json]:
        begin = self.describe("begin", format=FORMAT, log=uuid.uuid4().hex, key=print_of(self._key))
        return begin | ({"recalls": True} if self.audit.recalls else {})

    def _check_key(self, handle: int) -> None:
        """Checks once per open file that its first entry was written with this key."""
        if self._known:
            return
        begin = parse_entry(first_line(handle))
        if begin is None or begin["verb"] != "begin":
            raise Misconfigured(
                f"{self.path} is not an audit log, or its beginning is damaged: name a new file"
            )
        if begin.get("key") != print_of(self._key):
            had = "another key" if begin.get("key") else "no key"
            raise Misconfigured(f"{self.path} was written with {had}: use that, or name a new file")
        self._known = True

    # Files and locks.

    def _hold_file(self) -> tuple[int, int]:
        """Opens and locks the file against other processes. Returns its handle and size."""
        while True:
            handle = self._open_file()
            _lock(handle)
            there = os.fstat(handle)
            if there.st_nlink:
                return handle, there.st_size
            self._let_go()  # the file was removed: the path may name another file by now

    def _open_file(self) -> int:
        if self._handle is None:
            try:
                self._handle = os.open(self.path, _FLAGS | os.O_APPEND, _MODE)
                self._head = os.open(head_path(self.path), _FLAGS, _MODE)
            except OSError as error:
                self._let_go()
                raise Misconfigured(
                    f"the audit log {self.path} cannot be opened: {error.strerror}"
                ) from error
        return self._handle

    def _write_head(self, tail: Tail) -> None:
        """Writes the head in place and in one piece, so that no reader sees half of it."""
        assert self._head is not None
        os.lseek(self._head, 0, os.SEEK_SET)
        _write_all(self._head, head_line(tail, self._key))

    def _let_go(self) -> None:
        for handle in (self._handle, self._head):
            if handle is not None:
                os.close(handle)
        self._handle, self._head, self._known = None, None, False
        if self._seen is not None:
            self._seen = self._seen._replace(end=-1)

    @property
    def head(self) -> AuditHead:
        """The head of the newest entry, which another process may have written."""
        self.append([])
        assert self._seen is not None
        return head_of(self._seen, self._key)

    def close(self) -> None:
        """Releases the files; closing twice is fine, and another entry opens them again."""
        if self._pid == os.getpid():
            with self._lock:
                self._let_go()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()


def _lock(handle: int) -> None:
    if fcntl is not None:
        fcntl.flock(handle, fcntl.LOCK_EX)


def _unlock(handle: int) -> None:
    if fcntl is not None:
        fcntl.flock(handle, fcntl.LOCK_UN)


def _write_all(handle: int, data: bytes) -> None:
    written = os.write(handle, data)
    while written < len(data):
        written += os.write(handle, memoryview(data)[written:])
