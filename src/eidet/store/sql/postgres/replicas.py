"""Reading from servers that follow the primary: only while they are known to be near enough to it."""

from __future__ import annotations

import logging
import math
import random
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

from ....core.errors import EidetError, Unavailable
from ....net.worker import UNTIL_WOKEN, BackgroundWorker
from ... import Head
from .pool import Server
from .text import read_one

if TYPE_CHECKING:
    from psycopg import Connection

T = TypeVar("T")

log: logging.Logger = logging.getLogger("eidet.store")

LEAST_SECONDS: Final = 0.02  # between two looks
IDLE_LAGS: Final = 20  # without a read, and nobody looks any more
NEVER: Final = -math.inf
# How far the log has come that holds what was committed. Only what was flushed is sent to replicas: beyond
# that there may be something of others that waits for seconds, and matters only to those who do not sync.
WRITTEN: Final = (
    "SELECT ((CASE current_setting('synchronous_commit') WHEN 'off' THEN pg_current_wal_insert_lsn() "
    "ELSE pg_current_wal_flush_lsn() END) - '0/0'::pg_lsn)::bigint"
)
_REPLAYED: Final = (
    "SELECT (pg_last_wal_replay_lsn() - '0/0'::pg_lsn)::bigint "
    "FROM pg_stat_wal_receiver WHERE pg_is_in_recovery() LIMIT 1"
)


class Replicas:
    """The servers that may be read from."""

    def __init__(self, replicas: Sequence[Replica]) -> None:
        self._all = list(replicas)

    def note_write(self) -> None:
        """This process wrote something: a server that does not know it yet is passed over."""
        for replica in self._all:
            replica.note_write()

    def pick(self) -> Replica | None:
        """One that knows all this process wrote and is not too far behind; None if there is none.

        By chance: in turn, each kind of question would always meet the same one.
        """
        found = [replica for replica in self._all if replica.serves()]
        return random.choice(found) if found else None  # noqa: S311

    def describe(self) -> list[dict[str, Any]]:
        return [{**one.retrier.health().as_dict(), "fresh": one.serves()} for one in self._all]

    def close(self) -> None:
        for replica in self._all:
            replica.close()


class Replica:
    """One server that follows. A thread of its own looks how near it is, while it is read from.

    `primary` tells how far the log of the primary has come.
    """

    def __init__(self, server: Server, primary: Callable[[], int], lag_seconds: float) -> None:
        self._server = server
        self.retrier = server.retrier
        self.seen: Head = Head(0, 0)  # it knows at least this
        self._primary = primary
        self._lag = lag_seconds
        self._known: deque[tuple[float, int]] = deque(maxlen=16)  # when the primary had come how far
        self._fresh_at = NEVER  # it knows all that the primary had then
        self._wrote_at = NEVER  # when this process wrote last
        self._asked = 0.0
        self._complained = ""
        self._follower = BackgroundWorker("eidet-replica", self._follow)

    def serves(self) -> bool:
        """Whether it knows all this process wrote, and is not too far behind."""
        now = time.monotonic()
        idle = now - self._asked > self._lag
        self._asked = now
        if idle or not self._follower.running:
            self._follower.wake()
        return self._wrote_at <= self._fresh_at and now < self._fresh_at + self._lag

    def note_write(self) -> None:
        self._wrote_at = time.monotonic()
        if self._follower.running:
            self._follower.wake()

    def ask(self, job: Callable[[Connection[Any]], T], seconds: float | None = None) -> T:
        """One try, which leaves half of the time to the primary, that makes `Unavailable` good."""
        try:
            patience = seconds or self.retrier.policy.deadline_seconds / 2
            return self._server.ask(job, patience, max_attempts=1)
        except Unavailable:
            self._fresh_at = NEVER
            raise

    def complain(self, error: EidetError) -> None:
        """Of what it cannot answer though it is up; once, for it will be the same with the next question."""
        if str(error) != self._complained:
            self._complained = str(error)
            log.warning(
                "the replica %s cannot be used, reading from the primary: %s", self.retrier.name, error
            )

    def close(self) -> None:
        self._follower.stop(5)
        self._server.close()

    def _follow(self) -> float:
        try:
            self._look()
        except EidetError:  # the retrier tells of it; the replica is skipped until a look succeeds
            self._fresh_at = NEVER
        self._follower.rest(LEAST_SECONDS)
        return self._pause()

    def _look(self) -> None:
        """Near enough is who has replayed what the primary had written at most so long ago."""
        self._known.append((time.monotonic(), self._primary()))
        replayed = self.ask(_read_replayed, max(self._lag, 1.0))
        self._fresh_at = max((at for at, place in self._known if place <= replayed), default=NEVER)

    def _pause(self) -> float:
        """None while a write of ours is awaited; without end while nobody reads."""
        if NEVER < self._fresh_at < self._wrote_at:
            return 0.0
        idle = time.monotonic() - self._asked > IDLE_LAGS * self._lag
        return UNTIL_WOKEN if idle else self._lag / 4


def _read_replayed(connection: Connection[Any]) -> int:
    """How far it has come; -1 where it does not follow."""
    replayed = read_one(connection, _REPLAYED)
    return -1 if replayed is None else int(replayed)
