"""Reading from servers that follow the primary: only while they are known to be near enough to it."""

from __future__ import annotations

import logging
import random
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

from ....core.errors import EidetError, Unavailable
from ....net.retry import RetryPolicy
from ....net.worker import UNTIL_WOKEN, BackgroundWorker
from ... import Head
from .pool import Server

if TYPE_CHECKING:
    from psycopg import Connection

T = TypeVar("T")

log: logging.Logger = logging.getLogger("eidet.store")

LEAST_SECONDS: Final = 0.02  # between two looks
IDLE_LAGS: Final = 20  # without a read, and nobody looks any more
_REPLAYED: Final = (
    "SELECT pg_last_wal_replay_lsn()::text FROM pg_stat_wal_receiver WHERE pg_is_in_recovery() LIMIT 1"
)


def place_of(lsn: str | None) -> int:
    """A place in the server's log as a number; 0 where there is none."""
    high, _, low = (lsn or "0/0").partition("/")
    return (int(high, 16) << 32) + int(low, 16)


class Replicas:
    """The servers that may be read from. `primary` tells how far the log of the primary has come."""

    def __init__(self, replicas: Sequence[Replica]) -> None:
        self._all = list(replicas)
        self._floor = 0  # how far a server must have come to know what this process wrote

    def note_write(self, lsn: str | None) -> None:
        """This process wrote something there: whoever has not come so far is passed over."""
        self._floor = max(self._floor, place_of(lsn))
        for replica in self._all:
            replica.set_floor(self._floor)

    def pick(self) -> Replica | None:
        """One that knows all this process wrote and is not too far behind; None if there is none.

        By chance: in turn, each kind of question would always meet the same one.
        """
        found = [replica for replica in self._all if replica.serves(self._floor)]
        return random.choice(found) if found else None  # noqa: S311

    def describe(self) -> list[dict[str, Any]]:
        return [
            {**replica.retrier.health().as_dict(), "fresh": replica.serves(self._floor)}
            for replica in self._all
        ]

    def close(self) -> None:
        for replica in self._all:
            replica.close()


class Replica:
    """One server that follows. A thread of its own looks how near it is, while it is read from."""

    def __init__(
        self,
        name: str,
        connect: Callable[[float], Connection[Any]],
        most: int,
        primary: Callable[[], int],
        lag_seconds: float,
        retry_policy: RetryPolicy,
    ) -> None:
        self._server = Server(name, connect, most, retry_policy)
        self.retrier = self._server.retrier
        self.seen: Head = Head(0, 0)  # it knows at least this
        self._primary = primary
        self._lag = lag_seconds
        self._known: deque[tuple[float, int]] = deque(maxlen=16)  # when the primary had come how far
        self._read_replayed = 0
        self._good_until = 0.0
        self._asked = 0.0
        self._wanted = 0
        self._complained = ""
        self._follower = BackgroundWorker("eidet-replica", self._follow)

    def serves(self, floor: int) -> bool:
        now = time.monotonic()
        idle = now - self._asked > self._lag
        self._asked = now
        if idle or not self._follower.running:
            self._follower.wake()
        return now < self._good_until and self._read_replayed >= floor

    def set_floor(self, floor: int) -> None:
        self._wanted = floor
        if self._follower.running:
            self._follower.wake()

    def ask(self, job: Callable[[Connection[Any]], T], seconds: float | None = None) -> T:
        """One try, which leaves half of the time to the primary, that makes `Unavailable` good."""
        try:
            patience = seconds or self.retrier.policy.deadline_seconds / 2
            return self._server.ask(job, patience, max_attempts=1)
        except Unavailable:
            self._good_until = 0.0
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
            self._good_until = 0.0
        self._follower.rest(LEAST_SECONDS)
        return self._pause()

    def _look(self) -> None:
        """Near enough is who has replayed what the primary had written at most so long ago."""
        self._known.append((time.monotonic(), self._primary()))
        self._read_replayed = place_of(self.ask(_read_replayed, max(self._lag, 1.0)))
        since = [at for at, place in self._known if place <= self._read_replayed]
        self._good_until = max(since, default=-self._lag) + self._lag if self._read_replayed else 0.0

    def _pause(self) -> float:
        """None while a write of ours is awaited; without end while nobody reads."""
        if self._good_until and self._read_replayed < self._wanted:
            return 0.0
        idle = time.monotonic() - self._asked > IDLE_LAGS * self._lag
        return UNTIL_WOKEN if idle else self._lag / 4


def _read_replayed(connection: Connection[Any]) -> str | None:
    row = connection.execute(_REPLAYED).fetchone()
    return None if row is None else str(row[0])
