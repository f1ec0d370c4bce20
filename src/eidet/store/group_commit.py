"""Group commit: of the threads that want to write, one leads and writes for all that wait."""

from __future__ import annotations

import math
import os
import threading
import time
from collections import deque
from collections.abc import Callable
from contextvars import copy_context
from typing import Any, Generic, TypeVar

from ..core.errors import Unavailable
from .sql.ports import Cursor

T = TypeVar("T")
Job = Callable[[Cursor], T]


class QueuedJob(Generic[T]):
    """A job in the queue, and its outcome."""

    __slots__ = ("_turn", "began", "done", "error", "job", "result")

    def __init__(self, job: Job[T]) -> None:
        context = copy_context()  # for the actor: the thread that leads runs the job
        self.job: Job[T] = lambda cursor: context.run(job, cursor)
        self.began: float = time.monotonic()
        self.done: bool = False
        self.result: T | None = None
        self.error: BaseException | None = None
        self._turn = threading.Lock()
        self._turn.acquire()

    def wait(self) -> None:
        """Waits until the job is done, or until its thread is to write for all."""
        self._turn.acquire()

    def call(self) -> None:
        if self._turn.locked():
            self._turn.release()

    def answer(self) -> T:
        if self.error is not None:
            raise self.error
        return self.result  # type: ignore[return-value]


class GroupCommit:
    """A queue of jobs that `commit` runs in one transaction. It fills in their results.

    An error of one job belongs in its `QueuedJob`; an error that `commit` raises belongs to all of them. A
    thread that has written hands the turn to the one that has waited longest: if all woke up, a thread that
    is already running would go first, and find no other job waiting. If a commit finds the server away, jobs
    that have waited longer than `patience_seconds` get its error, too, without an attempt of their own.
    """

    def __init__(
        self, commit: Callable[[list[QueuedJob[Any]]], None], patience_seconds: float = math.inf
    ) -> None:
        self._commit = commit
        self._patience = patience_seconds
        self._begin()

    def _begin(self) -> None:
        self._pid = os.getpid()
        self.lock: threading.Lock = threading.Lock()  # held while a thread writes
        self._gate = threading.Lock()  # held to look at the queue
        self._waiting: deque[QueuedJob[Any]] = deque()
        self._leader: QueuedJob[Any] | None = None

    def run(self, job: Job[T]) -> T:
        if self._pid != os.getpid():
            self._begin()  # after a fork, the thread that had the turn exists only in the parent process
        queued = QueuedJob(job)
        try:
            if not self._leads(queued):
                queued.wait()
            if not queued.done:
                with self.lock:
                    self._work_off()
        finally:
            self._leave(queued)
        return queued.answer()

    def _leads(self, queued: QueuedJob[Any]) -> bool:
        with self._gate:
            self._leader = self._leader or queued
            self._waiting.append(queued)
            return self._leader is queued

    def _leave(self, queued: QueuedJob[Any]) -> None:
        """Hands the turn to the next waiter; withdraws the job of a waiter that was interrupted."""
        with self._gate:
            if not queued.done and queued in self._waiting:
                self._waiting.remove(queued)
            if self._leader is queued:
                self._leader = self._waiting[0] if self._waiting else None
                if self._leader is not None:
                    self._leader.call()

    def _work_off(self) -> None:
        waiting: list[QueuedJob[Any]] = []
        try:
            with self._gate:
                waiting += self._waiting
                self._waiting.clear()
            self._commit(waiting)
        except BaseException as error:
            for queued in waiting:
                queued.error = queued.error or _for_all(error)
            if isinstance(error, Unavailable):
                waiting += self._give_up(error)
            raise
        finally:
            for queued in waiting:
                queued.done = True
                queued.call()

    def _give_up(self, error: Unavailable) -> list[QueuedJob[Any]]:
        """Fails jobs that waited too long, and returns them: nothing was done for them, for certain."""
        unavailable = Unavailable(str(error), retry_after=error.retry_after)
        since = time.monotonic() - self._patience
        with self._gate:
            late = [queued for queued in self._waiting if queued.began <= since]
            for queued in late:
                queued.error = unavailable
                self._waiting.remove(queued)
        return late


def _for_all(error: BaseException) -> Exception:
    """Returns the error for the other jobs of a group whose commit failed."""
    if isinstance(error, Exception):
        return error
    return Unavailable("the thread that wrote for this one was interrupted; call again", retry_after=0.0)
