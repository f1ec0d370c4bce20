"""SQLite as an engine: WAL, one writer per process with group commit, a reader per thread."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

from ...core.arguments import check_path
from ...core.errors import Corrupt, EidetError, Misconfigured, Refused, Unavailable
from ...core.private_files import create_private
from .. import Scrubbed
from ..group_commit import GroupCommit, QueuedJob
from ..traits import StoreTraits
from . import sqlite_json
from .migrate import migrate
from .ports import Cursor, Row
from .relational import RelationalStore
from .sqlite_errors import BUSY_SECONDS, meaning, translate_errors
from .stale_log import check_log

T = TypeVar("T")

APPLICATION_ID: Final = 0x45494445  # "EIDE": distinguishes our files from other SQLite databases
MAGIC: Final = b"SQLite format 3\x00"
PAGE_BYTES: Final = 8192  # rows of ~1.4 KB: 5 to a page, against 2 to a page of 4096
_CHECKPOINT_PAGES: Final = 4000
_CACHE_KIB: Final = 16_384  # of pages, for each reading thread
_SMALL_PAGES: Final = 128
_SCRUB_BYTES: Final = 64 << 20  # of free pages that are released in one transaction of a scrub
_LOG_SECONDS: Final = 0.2  # that emptying the log waits for readers; it is only a courtesy
_SYNCHRONOUS: Final = {"process": "NORMAL", "power": "FULL"}


class SqliteStore(RelationalStore):
    """A store in one SQLite file, shared by threads and processes.

    `durability="process"`: a write that returned survives the end of the process, kill -9 included.
    `durability="power"`: it also survives the loss of power; concurrent writers share a sync.
    """

    def __init__(self, path: str | Path, *, durability: str = "process") -> None:
        if durability not in _SYNCHRONOUS:
            raise Misconfigured(f"durability must be one of {', '.join(_SYNCHRONOUS)}, not {durability!r}")
        self.path: Path = Path(path)
        super().__init__(SqliteDriver(self.path, _SYNCHRONOUS[durability]))
        self._traits = StoreTraits(path=self.path, files=lambda: (self.path,))

    def describe(self) -> StoreTraits:
        return self._traits


class SqliteDriver:
    """The connections to one file."""

    json = sqlite_json.SqliteJson()

    def __init__(self, path: Path, synchronous: str) -> None:
        self._path = path
        self._name = str(path)
        self._synchronous = synchronous
        self._local = threading.local()
        self._open: weakref.WeakSet[_Connection] = weakref.WeakSet()
        self._closing = threading.Lock()
        self._closed = False
        self.writable: bool = _check_file(path)
        check_log(path)
        if self.writable:
            create_private(path)
        with translate_errors(path):
            self._writing = self._prepare_file()
        self._group = GroupCommit(self._commit)
        self._file = _file_at(self._name)

    def read(self, sql: str, values: Sequence[Any]) -> list[Row]:
        connection = self._reader()
        try:
            with connection.busy:
                return connection.raw.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            raise self._meaning(error) from error

    def snapshot(self, job: Callable[[Cursor], T]) -> T:
        connection = self._reader()
        try:
            with connection.busy, _as_of_now(connection.raw) as cursor:
                return job(cursor)
        except sqlite3.Error as error:
            raise self._meaning(error) from error

    def write(self, job: Callable[[Cursor], T]) -> T:
        if not self.writable:
            raise Refused(f"{self._path} is open read-only: the file or its folder is write-protected")
        if self._closed:
            self._check_open()
        self._check_there()
        try:
            return self._group.run(job)
        except sqlite3.Error as error:
            raise self._meaning(error) from error

    def _commit(self, waiting: list[QueuedJob[Any]]) -> None:
        """Runs all jobs that wait in one transaction, in the thread whose turn it is."""
        if self._writing.pid != os.getpid():
            self._writing = self._connect()
        cursor = self._writing.raw.cursor()
        cursor.execute("BEGIN IMMEDIATE")
        try:
            if len(waiting) == 1:
                waiting[0].result = waiting[0].job(cursor)
            else:
                for queued in waiting:
                    _attempt(queued, cursor)
            cursor.execute("COMMIT")
        except BaseException:
            if self._writing.raw.in_transaction:
                cursor.execute("ROLLBACK")
            raise

    def trim(self, most: int) -> int:
        """Frees pages in slices; after the last one empties the log too, unless a reader uses it."""

        def job(cursor: Cursor) -> int:
            before = _free_pages(cursor)
            for _ in range(min(before, max(1, most // PAGE_BYTES))):
                cursor.execute("PRAGMA incremental_vacuum(1)")  # frees one page, whatever the number
            return (before - _free_pages(cursor)) * PAGE_BYTES

        given = self.write(job)
        if not given:
            self._empty_log()
        return given

    def scrub(self, said: Sequence[bytes] | None) -> Scrubbed:
        """Frees pages and the log; rewrites the file if anything is left in the gaps of pages."""
        from .scrubbing import has_any_in_gaps

        if waiting := self._empty_log():
            return Scrubbed(pending=waiting)  # what is done now would only make the log longer
        if said is None or self._is_half_empty():
            freed = self._write_anew()
            return Scrubbed(freed, self._empty_log())
        freed = 0
        while given := self.trim(_SCRUB_BYTES):
            freed += given
        pending = self._empty_log()
        if not pending and has_any_in_gaps(self._path, said):
            freed += self._write_anew()
            pending = self._empty_log()
        return Scrubbed(freed, pending)

    def _is_half_empty(self) -> bool:
        """Returns whether rewriting the rest is quicker than freeing page by page."""
        (pages,), (free,) = (self.read(f"PRAGMA {name}", ())[0] for name in ("page_count", "freelist_count"))
        return bool(free * 2 > pages > _SMALL_PAGES)

    def _empty_log(self) -> tuple[str, ...]:
        """Empties the log. Returns descriptions of what prevented that."""
        with translate_errors(self._path), closing(sqlite3.connect(self._path, timeout=_LOG_SECONDS)) as raw:
            blocked = raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        return (f"{self._path}-wal is still being read by another connection",) if blocked else ()

    def _write_anew(self) -> int:
        before = self.size()
        with translate_errors(self._path), closing(sqlite3.connect(self._path, timeout=BUSY_SECONDS)) as raw:
            raw.execute("VACUUM")
        return max(0, before - self.size())

    def size(self) -> int:
        return sum(size for size, _ in _state_of(self._path))

    def close(self) -> None:
        with self._closing:
            if self._closed:
                return
            self._closed = True
            connections = list(self._open)
        with self._group.lock:
            self._writing.close()
        for connection in connections:
            connection.close()

    def _reader(self) -> _Connection:
        mine: _Connection | None = getattr(self._local, "connection", None)
        if mine is None or mine.pid != os.getpid() or mine.is_outdated():
            self._check_open()
            with translate_errors(self._path):
                mine = self._local.connection = self._connect()
        elif self._closed:
            self._check_open()
        return mine

    def _check_open(self) -> None:
        if self._closed:
            raise Misconfigured(f"the memory on {self._path} was closed; open it again")

    def _check_there(self) -> None:
        """Checks that the file still exists: one that is gone would swallow writes."""
        if _file_at(self._name) != self._file:
            raise Unavailable(
                f"{self._path} was deleted or replaced while it was open: nothing is written. Put the file "
                "back, or open it again; `export` may still save what this memory held"
            )

    def _meaning(self, error: sqlite3.Error) -> EidetError:
        self._check_open()  # after a close, an error only means that
        return sqlite_json.take_refusal() or meaning(error, self._path)

    def _connect(self) -> _Connection:
        self._check_there()
        connection = _Connection(self._path, self.writable)
        connection.set_up(self._synchronous)
        self._keep(connection)
        return connection

    def _keep(self, connection: _Connection) -> None:
        """Registers a connection to be closed at the end; closes it at once if the driver is closed."""
        with self._closing:
            if not self._closed:
                self._open.add(connection)
                return
        connection.close()
        self._check_open()

    def _prepare_file(self) -> _Connection:
        """Marks a new file as ours, or checks that an old one is, and brings its tables up to date."""
        connection = _Connection(self._path, self.writable)
        raw = connection.raw
        tables = raw.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        ours = raw.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID
        if tables and not ours:  # counted first: a process that makes the file names it before its tables
            raise Misconfigured(f"{self._path} is a database of another program; choose another file")
        connection.set_up(self._synchronous)
        if self.writable and not ours:
            raw.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        migrate(raw, self._path, writable=self.writable)
        self._keep(connection)
        return connection


class _Connection:
    """A connection with the process that made it; closes itself when its thread is gone.

    Hold `busy` while using `raw`: closing a connection under a running statement is a crash.
    """

    def __init__(self, path: Path, writable: bool) -> None:
        self.pid = os.getpid()
        self.busy = threading.RLock()
        self._path = path
        self._writable = writable
        self._still = None if writable else _state_of(path)
        self.raw = sqlite3.connect(
            _address(path, writable),
            uri=True,
            isolation_level=None,
            check_same_thread=False,
            timeout=BUSY_SECONDS,
            cached_statements=256,
        )
        sqlite_json.register(self.raw)

    def set_up(self, synchronous: str) -> None:
        """Sets pragmas. Apart from opening, because it changes the file, which must be known to be ours."""
        if self._writable:
            self.raw.execute(f"PRAGMA page_size = {PAGE_BYTES}")
            (pages,) = self.raw.execute("PRAGMA page_count").fetchone()
            if not pages:  # in a file with pages it does nothing
                self.raw.execute("PRAGMA auto_vacuum = INCREMENTAL")  # so that `trim` can shrink the file
            self.raw.execute("PRAGMA secure_delete = ON")  # deleted content is overwritten
            _use_wal(self.raw)
            self.raw.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")
            self.raw.execute(f"PRAGMA synchronous = {synchronous}")
        self.raw.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")

    def is_outdated(self) -> bool:
        """Returns whether a writer changed a file that this process reads without locks."""
        return self._still is not None and self._still != _state_of(self._path)

    def close(self) -> None:
        if self.pid == os.getpid():
            with self.busy:
                self.raw.close()

    def __del__(self) -> None:
        if hasattr(self, "raw"):
            self.close()


def _use_wal(raw: sqlite3.Connection) -> None:
    """Switches to WAL. SQLite does not wait for other connections in this case, so this does."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            raw.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


def _address(path: Path, writable: bool) -> str:
    address = path.absolute().as_uri()
    if writable:
        return address
    log = Path(f"{path}-wal")
    quiet = not log.exists() or log.stat().st_size == 0
    return address + ("?mode=ro&immutable=1" if quiet else "?mode=ro")


def _free_pages(cursor: Cursor) -> int:
    cursor.execute("PRAGMA freelist_count")
    return int(cursor.fetchone()[0])


def _file_at(name: str) -> tuple[int, int] | None:
    try:
        status = os.stat(name)  # noqa: PTH116  before every write; a `Path` takes longer than the system
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _state_of(path: Path) -> list[tuple[int, int]]:
    """Returns size and time of the file and its log."""
    files = (path, Path(f"{path}-wal"))
    states = [file.stat() for file in files if file.exists()]
    return [(state.st_size, state.st_mtime_ns) for state in states]


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError as error:  # its folder is closed, or its name is too long
        raise Misconfigured(f"{path!s:.200} cannot be opened: {error.strerror}") from error


def _check_file(path: Path) -> bool:
    """Returns whether the file is writable; raises a clear error if it is unusable."""
    folder = check_path(path, "the place of a memory").absolute().parent
    if not folder.is_dir():
        raise Misconfigured(f"the folder {folder} does not exist; create it first")
    there = _is_there(path)
    if path.is_dir():
        raise Misconfigured(f"{path} is a folder; name a file in it, such as {path / 'memory.db'}")
    if not there:
        if not os.access(folder, os.W_OK):
            raise Misconfigured(f"{path} does not exist and its folder {folder} is write-protected")
        return True
    try:
        with path.open("rb") as file:
            start = file.read(len(MAGIC))
    except PermissionError as error:
        raise Misconfigured(f"{path} cannot be read: {error.strerror}") from error
    if start and start != MAGIC:
        raise Corrupt(f"{path} is not a database: it does not start like one; choose another file")
    return os.access(path, os.W_OK) and os.access(folder, os.W_OK)


def _attempt(queued: QueuedJob[Any], cursor: Cursor) -> None:
    """Runs one of several jobs. Its own error undoes only that job; a failing disk undoes them all."""
    cursor.execute("SAVEPOINT job")
    try:
        queued.result = queued.job(cursor)
    except sqlite3.OperationalError:
        raise
    except Exception as error:  # noqa: BLE001  its caller gets it, from `answer`
        queued.error = error
        cursor.execute("ROLLBACK TO job")
    cursor.execute("RELEASE job")


@contextmanager
def _as_of_now(raw: sqlite3.Connection) -> Iterator[Cursor]:
    cursor = raw.cursor()
    cursor.execute("BEGIN")
    try:
        yield cursor
    finally:
        if raw.in_transaction:
            cursor.execute("COMMIT")
