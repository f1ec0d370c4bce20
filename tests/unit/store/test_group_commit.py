"""Writers that wait together are served together, and nobody is left waiting."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.timing import until

from eidet.core.errors import Unavailable
from eidet.net.retry import OutcomeUnknown
from eidet.store.group_commit import GroupCommit, QueuedJob


class Book:
    """Commits by running the jobs; the first of them waits until it is let go."""

    def __init__(self) -> None:
        self.groups: list[int] = []
        self.go = threading.Event()

    def commit(self, waiting: list[QueuedJob[Any]]) -> None:
        self.groups.append(len(waiting))
        self.go.wait(20)
        for queued in waiting:
            queued.result = queued.job(None)  # type: ignore[arg-type]


def saying(word: str) -> Callable[[Any], str]:
    return lambda _: word


def test_whoever_is_interrupted_while_it_waits_takes_its_job_along() -> None:
    book = Book()
    group = GroupCommit(book.commit)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(group.run, saying("first"))
        until(lambda: book.groups == [1])
        main = threading.main_thread().ident or 0
        interrupting = threading.Timer(0.1, signal.pthread_kill, [main, signal.SIGINT])
        interrupting.start()
        with pytest.raises(KeyboardInterrupt):
            group.run(saying("never"))
        interrupting.join()
        assert not group._waiting
        later = pool.submit(group.run, saying("later"))
        until(lambda: len(group._waiting) == 1)
        book.go.set()
        assert [first.result(20), later.result(20)] == ["first", "later"]
    assert book.groups == [1, 1]


@pytest.mark.parametrize(("patience", "tried"), [(0.0, 1), (60.0, 2)])
def test_where_the_server_is_away_those_who_waited_long_enough_are_told_at_once(
    patience: float, tried: int
) -> None:
    book = Book()

    def fail(waiting: list[QueuedJob[Any]]) -> None:
        book.commit(waiting)
        raise OutcomeUnknown("the server is away", retry_after=1.0)

    group = GroupCommit(fail, patience)
    with ThreadPoolExecutor(4) as pool:
        first = pool.submit(group.run, saying("first"))
        until(lambda: book.groups == [1])
        others = [pool.submit(group.run, saying(f"{n}")) for n in range(3)]
        until(lambda: len(group._waiting) == 3)
        book.go.set()
        assert isinstance(first.exception(20), OutcomeUnknown)
        errors = [one.exception(20) for one in others]
    assert len(book.groups) == tried
    assert all(isinstance(error, Unavailable) for error in errors)
    assert [isinstance(error, OutcomeUnknown) for error in errors] == [
        tried == 2
    ] * 3  # nothing was sent for them
    assert not group._waiting
    book.go.set()
    with pytest.raises(OutcomeUnknown):
        group.run(saying("later"))
