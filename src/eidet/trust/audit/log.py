"""The log file, to which many threads and processes append one at a time."""

from __future__ import annotations

import logging
import os
import socket
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

from ...core.actor import acts
from ...core.errors import EidetError, Misconfigured, Unavailable
from ...core.private_files import OWNER
from ...core.validate import Json
from . import Audit
from .chain import (
    FORMAT,
    AuditHead,
    Tail,
    chain_events,
    find_tail,
    head_line,
    head_of,
    head_path,
    is_ours,
    parse_entry,
    print_of,
    read_head,
)

if sys.platform != "win32":
    import fcntl

told: logging.Logger = logging.getLogger("eidet")
_turns: Final = threading.RLock()  # of threads on Windows, where only one process may write
_FLAGS: Final = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


class AuditLog:
    """Appends entries. Once `note` returns, its entry is with the operating system or, with `sync`, on disk.

    An entry is written before the action it describes, so that no action goes unlogged. If the action
    then fails, a second entry, `failed`, says so. Between entries, no file is open.
    """

    def __init__(self, audit: Audit, *, clock: Callable[[], float] = time.time) -> None:
        self.audit = audit
        self.path: Path = Path(audit.path)
        self.key: bytes | None = audit.key if isinstance(audit.key, bytes) else None
        self.identity: str = ""  # the unique id of this log, from its first entry
        self._places = str(self.path), str(head_path(self.path))
        self._clock = clock
        self._seen: Tail | None = None
        try:
            self._append([])
        except OSError as error:
            raise Misconfigured(f"the audit log {self.path} cannot be opened: {error.strerror}") from error

    # Writing.

    def note(self, verb: str, *, by: str | None = None, **what: Json) -> int:
        """Logs an action that is about to happen (or just did). Returns the number of the entry.

        `scope`, `ids`, `count` and `kinds` are the usual fields; any others are kept too.
        `acting` provides who acts, from where and why.
        """
        return self.append([self.describe(verb, by=by, **what)])[0]

    def describe(self, verb: str, *, by: str | None = None, **what: Json) -> dict[str, Json]:
        """Builds an entry without None and empty values."""
        actor = acts()
        ordered = {
            "verb": verb,
            **what,
            "by": by or actor.by,
            "asked_by": actor.by if by and by != actor.by else None,
            "source": actor.source or f"{socket.gethostname()}:{os.getpid()}",
            "why": actor.why,
        }
        return {name: value for name, value in ordered.items() if value is not None and value != {}}

    def append(self, events: Sequence[Mapping[str, Json]]) -> list[int]:
        """Appends entries for all events atomically. Returns their numbers. `Unavailable` if that fails."""
        try:
            tail = self._append(events)
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

    @property
    def head(self) -> AuditHead:
        """The head of the newest entry, which another process may have written."""
        self.append([])
        assert self._seen is not None
        return head_of(self._seen, self.key)

    def _append(self, events: Sequence[Mapping[str, Json]]) -> Tail:
        with _opened(self._places[0], os.O_APPEND) as handle:
            size, seen = os.fstat(handle).st_size, self._seen
            if seen is None or size != seen.end:
                seen, fresh = self._resume(handle, size)
                events = [*fresh, *events]
            if events:
                data, tail = chain_events(events, seen, self._clock(), self.key)
                self._write(handle, seen.end, data, tail)
                seen = tail
            self._seen = seen
            return seen

    def _write(self, handle: int, end: int, data: bytes, tail: Tail) -> None:
        """Writes all or nothing: truncates a partial line that a full disk accepted.

        Writes the head in place and in one piece, so that no reader sees half of it.
        """
        try:
            _write_all(handle, data)
            if self.audit.sync:
                os.fsync(handle)
            with _opened(self._places[1]) as head:
                _write_all(head, head_line(tail, self.key))
        except OSError:
            with suppress(OSError):
                os.ftruncate(handle, end)
            raise

    # Resuming at the end of the file.

    def _resume(self, handle: int, size: int) -> tuple[Tail, list[dict[str, Json]]]:
        """Returns the tail and the entries to write first: the beginning of a new log, or its faults."""
        with open(handle, "rb", closefd=False) as reader:
            tail, torn = find_tail(reader, size)
            begun = self._check_beginning(reader) if tail.n else uuid.uuid4().hex
        notes: list[dict[str, Json]] = []
        if tail.n == 0:
            begin = self.describe("begin", format=FORMAT, log=begun, key=print_of(self.key))
            notes.append(begin | ({"recalls": True} if self.audit.recalls else {}))
        self.identity = begun
        if torn:  # a writer died within a line, so its `note` never returned
            os.ftruncate(handle, tail.end)
            told.warning("%s ended in the middle of a line: cut %s bytes off", self.path, torn)
            notes.append({"verb": "torn", "note": f"{torn} bytes were cut off"})
        if lost := self._find_lost(tail):
            notes.append({"verb": "lost", "note": lost})
        return tail, notes

    def _check_beginning(self, reader: BinaryIO) -> str:
        """Checks that the first entry was written with this key. Returns the identity of the log."""
        reader.seek(0)
        begin = parse_entry(reader.readline().removesuffix(b"\n"))
        if begin is None or begin.verb != "begin":
            raise Misconfigured(
                f"{self.path} is not an audit log, or its beginning is damaged: name a new file"
            )
        if begin.details.get("key") != print_of(self.key):
            had = "another key" if begin.details.get("key") else "no key"
            raise Misconfigured(f"{self.path} was written with {had}: use that, or name a new file")
        return str(begin.details.get("log", ""))

    def _find_lost(self, tail: Tail) -> str | None:
        """Says what is missing if the log ends before the last entry known to its head or this process.

        Also if a log with entries has no valid head. Otherwise returns None.
        """
        head, seen = read_head(self.path), self._seen
        known = max(0 if head is None else head.count, 0 if seen is None else seen.n)
        if known > tail.n:
            return f"there were {known}, and {tail.n} when writing went on"
        if tail.n and (head is None or not is_ours(head, self.key)):
            return "the head was missing or damaged when writing went on"
        return None


@contextmanager
def _opened(path: str, flags: int = 0) -> Iterator[int]:
    """Opens a file, locked against other threads and processes; makes it private if it is new."""
    handle = os.open(path, _FLAGS | flags, OWNER)
    try:
        _lock(handle)
        try:
            yield handle
        finally:
            _unlock(handle)  # closing would not do: a child of a fork may have it open
    finally:
        os.close(handle)


def _write_all(handle: int, data: bytes) -> None:
    written = os.write(handle, data)
    while written < len(data):
        written += os.write(handle, memoryview(data)[written:])


def _lock(handle: int) -> None:
    if sys.platform == "win32":
        _turns.acquire()
    else:
        fcntl.flock(handle, fcntl.LOCK_EX)


def _unlock(handle: int) -> None:
    if sys.platform == "win32":
        _turns.release()
    else:
        fcntl.flock(handle, fcntl.LOCK_UN)
