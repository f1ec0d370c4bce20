"""One writer with group commit, a reader per thread, and a fork that does no harm."""

from __future__ import annotations

import os
import sqlite3
import threading
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from eidet import Conflict, Memory, Misconfigured, Unavailable, Where
from eidet.core.record import Record
from eidet.store import verbs
from eidet.store.sql.ports import Cursor
from eidet.store.sql.sqlite import SqliteDriver, SqliteStore

NOW = 1_700_000_000.0
ADD = "INSERT INTO settings (name, value) VALUES (?, '')"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(tmp_path / "memory.db")
    yield opened
    opened.close()


@pytest.fixture
def driver(store: SqliteStore) -> SqliteDriver:
    return store._driver  # type: ignore[return-value]


def note(name: str) -> Callable[[Cursor], str]:
    def job(cursor: Cursor) -> str:
        cursor.execute(ADD, (name,))
        return name

    return job


def failing(error: BaseException) -> Callable[[Cursor], str]:
    def job(cursor: Cursor) -> str:
        cursor.execute(ADD, ("never",))
        raise error

    return job


class Group:
    """Jobs of several threads that wait together, so that they are committed together."""

    def __init__(self, driver: SqliteDriver) -> None:
        self._driver = driver
        self._turn = driver._group.lock
        self._waiting = driver._group._waiting

    def run(self, *jobs: Callable[[Cursor], str]) -> list[Any]:
        """What each job answered, or the error its thread got."""
        with ThreadPoolExecutor(len(jobs)) as pool:
            with self._turn:
                waiting = []
                for count, job in enumerate(jobs, 1):
                    waiting.append(pool.submit(self._driver.write, job))
                    self._wait_for(count)
            return [future.exception() or future.result() for future in waiting]

    def _wait_for(self, count: int) -> None:
        deadline = threading.Event()
        while len(self._waiting) < count:
            deadline.wait(0.001)


def names(driver: SqliteDriver) -> set[str]:
    return {name for (name,) in driver.read("SELECT name FROM settings WHERE value = ''", ())}


def test_jobs_that_wait_together_are_committed_together(driver: SqliteDriver) -> None:
    begun: list[str] = []
    driver._writing.raw.set_trace_callback(begun.append)
    assert Group(driver).run(note("a"), note("b"), note("c")) == ["a", "b", "c"]
    assert [sql for sql in begun if sql.startswith(("BEGIN", "COMMIT"))] == ["BEGIN IMMEDIATE", "COMMIT"]
    assert names(driver) == {"a", "b", "c"}


@pytest.mark.parametrize(
    "error",
    [
        Conflict("no"),
        ValueError("no"),
        OverflowError("Python int too large to convert to SQLite INTEGER"),
        sqlite3.IntegrityError("no"),
        sqlite3.ProgrammingError("Error binding parameter 1"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_job_that_fails_does_not_spoil_its_group(driver: SqliteDriver, error: Exception) -> None:
    first, failed, last = Group(driver).run(note("a"), failing(error), note("b"))
    assert (first, last) == ("a", "b")
    assert failed is error or failed.__cause__ is error
    assert names(driver) == {"a", "b"}
    assert driver.write(note("later")) == "later"


@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_failing_disk_fails_the_whole_group(driver: SqliteDriver, at: int) -> None:
    jobs = [note("a"), note("b")]
    jobs.insert(at, failing(sqlite3.OperationalError("disk I/O error")))
    assert [type(answer) for answer in Group(driver).run(*jobs)] == [Unavailable] * 3
    assert names(driver) == set()
    assert driver.write(note("later")) == "later"


def test_an_interrupted_writer_never_makes_others_believe_they_wrote(driver: SqliteDriver) -> None:
    answers = Group(driver).run(note("a"), failing(KeyboardInterrupt()), note("b"))
    assert sorted(type(answer).__name__ for answer in answers) == [
        "KeyboardInterrupt",
        "Unavailable",
        "Unavailable",
    ]
    assert names(driver) == set()
    assert driver.write(note("later")) == "later"


def test_a_snapshot_sees_one_moment(store: SqliteStore, driver: SqliteDriver) -> None:
    def job(cursor: Cursor) -> tuple[int, int]:
        def count() -> int:
            cursor.execute("SELECT count(*) FROM records")
            return int(cursor.fetchone()[0])

        before = count()
        verbs.put(store, [Record(id="x", scope="a", text="x")], now=NOW)
        return before, count()

    assert driver.snapshot(job) == (0, 0)
    assert verbs.count(store, Where()) == 1


def test_closing_ends_the_connections_of_every_thread(driver: SqliteDriver) -> None:
    go_on, done = threading.Event(), threading.Event()
    errors: list[BaseException] = []

    def read() -> None:
        driver.read("SELECT 1", ())
        done.set()
        go_on.wait(60)
        try:
            driver.read("SELECT 1", ())
        except Misconfigured as error:
            errors.append(error)

    thread = threading.Thread(target=read)
    thread.start()
    done.wait(60)
    driver.close()
    driver.close()
    go_on.set()
    thread.join()
    assert "was closed; open it again" in str(errors[0])
    with pytest.raises(Misconfigured, match="was closed; open it again"):
        driver.write(note("late"))
    with pytest.raises(Misconfigured, match="was closed; open it again"):
        driver.snapshot(note("late"))


def test_a_closed_file_has_no_log_beside_it(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory.db", embedder="hashing:16") as memory:
        memory.remember("one")
        memory.recall("one")
    assert [file.name for file in tmp_path.iterdir()] == ["memory.db"]


def in_child(work: Callable[[], None]) -> None:
    """Runs work in a forked child, which says by its exit code whether it went well."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException:  # noqa: BLE001  pytest must not go on in the child
            traceback.print_exc()
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_forked_child_reads_and_writes(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory.db", embedder="hashing:16") as memory:
        memory.remember("from the parent")
        memory.recall("parent")

        def work() -> None:
            assert memory.recall("parent")[0].text == "from the parent"
            memory.remember("from the child")
            assert memory.recall("from the child")[0].text == "from the child"
            assert memory.count() == 2
            memory.close()

        in_child(work)
        assert {record.text for record in memory.find()} == {"from the parent", "from the child"}
        memory.remember("after the child")
        assert memory.count() == 3
        assert memory.admin.check() == []
    with Memory(tmp_path / "memory.db", embedder="hashing:16") as memory:
        assert memory.count() == 3
