"""Upkeep in the background of an open memory, in small steps with rests between them, and its owner's
operations on single records.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final, Self

from ..core.errors import BadInput, Conflict
from ..core.foreground import Foreground
from ..core.record import Record, Tier
from ..core.state import Protection
from ..core.where import Where
from ..net.worker import UNTIL_WOKEN, BackgroundWorker
from ..parts import Parts
from ..store import verbs
from ..store.rules import HELD, Held

if TYPE_CHECKING:
    from . import Maintained
    from .archive import Archives
    from .run import Pause
    from .service import Keeping, UpkeepTask

_REST: Final = 0.7  # seconds of rest for each second of work, so that recalls find the processor free
_MOST_REST: Final = 0.25
_COURTESY: Final = 0.02  # longest wait for foreground callers, in seconds
_STEP: Final = 20  # records per background batch, which takes a few milliseconds
_LEASE_SECONDS: Final = 60.0
MOVES: Final = ("expire", "promote", "move")  # the works that insertions trigger


class Life:
    """Runs upkeep of an open memory in the background, and protects and restores its records."""

    def __init__(self, parts: Parts, guard: Callable[[Record], Record]) -> None:
        """`guard` gets every record that rules or a model wrote, before it is stored."""
        self._parts = parts
        self._guard = guard
        self._worker: UpkeepWorker | None = None
        self._inserted = 0
        self._lock = threading.Lock()
        self._keeping: Keeping | None = None

    @cached_property
    def _owner(self) -> str:
        """The name of this memory as the holder of the upkeep lease."""
        from socket import gethostname

        return f"{gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"

    @property
    def archives(self) -> Archives:
        """The archives of this memory."""
        return self.keeping.archives

    @property
    def keeping(self) -> Keeping:
        """The upkeep service. Created when first needed, because most programs never use it."""
        with self._lock:
            if self._keeping is None:
                from .service import Keeping

                self._keeping = Keeping(self._parts, self._guard)
            return self._keeping

    # In the background.

    def start(self, every: float, task: UpkeepTask) -> UpkeepWorker:
        """Builds a worker for this memory after stopping the one before it."""
        if isinstance(every, bool) or not isinstance(every, int | float) or not every > 0:
            raise BadInput(f"every must be a number of seconds above 0, not {every!r}")
        from . import works_of

        works_of(task.only)
        if self._worker is not None:
            self._worker.stop()
        self._worker = UpkeepWorker(partial(self._round, task), self._parts.foreground, every)
        return self._worker

    def count_insertions(self, count: int) -> None:
        """Counts new records and starts background moves once there are enough."""
        due = self._parts.settings.upkeep.every_insertions
        if due is None:
            return
        self._inserted += count
        if self._inserted < due:
            return
        self._inserted = 0
        if self._worker is None or not (self._worker.running or self._worker.nudged):
            from .service import UpkeepTask

            moves = partial(self._round, UpkeepTask(only=MOVES))
            self._worker = UpkeepWorker(moves, self._parts.foreground)
        self._worker.nudge()

    def _round(self, task: UpkeepTask, breaks: Breaks) -> Maintained | None:
        """Runs upkeep once, or returns None if another process holds the lease."""
        lease = _Lease(self._parts, self._owner, breaks)
        if not lease.renew():
            return None
        chosen = task.settings or self._parts.settings.upkeep
        small = replace(task, settings=replace(chosen, batch=min(chosen.batch, _STEP)))
        try:
            return self.keeping.maintain(
                small, now=self._parts.clock(), told=100, stops=lease, give_way=breaks.give_way
            )
        finally:
            lease.give_back()

    def stats(self) -> dict[str, Any]:
        return {} if self._worker is None else {"upkeep": self._worker.stats()}

    def close(self) -> None:
        if self._worker is not None:
            self._worker.stop()

    # Operations on single records.

    def detail(self, record: Record) -> Record:
        """Returns the record with the full detail that its tier may hide."""
        if record.level == 0:
            return record
        return self.keeping.forms(self._parts.settings.upkeep).whole(record)

    def restore(self, record: Record, now: float) -> Record:
        """Moves a record to the middle tier with all detail; counts a use, so that it does not move again."""
        if record.level == 0 and record.tier is Tier.MIDDLE:
            self._parts.usage.count_uses([record], now)
            return record
        whole = self.detail(record).but(tier=Tier.MIDDLE)
        stored = verbs.rewrite_form(
            self._parts.store, [(record, whole)], now=now, epoch=self._parts.binding.epoch
        )[0]
        if stored is None:
            raise Conflict(f"record {record.id!r} changed in the meantime; call again")
        self._parts.usage.count_uses([record], now)
        return stored

    def mark(self, record: Record, mark: str, on: bool, now: float, by: str | None) -> Record:
        """Sets or removes a pin or hold. A marked record does not expire until the mark is removed."""
        from ..write.shape import give_state
        from ..write.write_path import put_records

        there: Protection | None = getattr(record.state, mark)
        if (there is not None) == on:
            return record
        waiting = record.expires if there is None or there.expires is None else there.expires
        protection = Protection(at=now, by=by or None) if on else None
        new = give_state(record, record.state.but(**{mark: protection}), waiting)
        ends = mark == "hold" and not on
        return put_records(self._parts, [new], now=now, expect=record.version, by=by, releases=ends)[0]

    def check_changeable(self, record: Record) -> None:
        """Raises `Held` if the record is under a legal hold, to save work that the write would refuse."""
        if record.state.hold is not None:
            raise Held([(record.scope, record.id)], "changed")

    def check_free(self, where: Where, what: str) -> None:
        """Raises `Held` if a matching record is under a legal hold."""
        if held := self._parts.store.find(where & HELD):
            raise Held([(record.scope, record.id) for record in held], what)


class _Lease:
    """The right to do upkeep on a store, renewed while it runs; upkeep stops without it."""

    def __init__(self, parts: Parts, owner: str, stops: Pause) -> None:
        self._parts = parts
        self._owner = owner
        self._stops = stops
        self._renewed = 0.0

    def renew(self) -> bool:
        now = time.time()  # not the memory's clock, as processes must share it
        self._renewed = now
        return verbs.take_lease(self._parts.store, "upkeep", self._owner, now=now, until=now + _LEASE_SECONDS)

    def give_back(self) -> None:
        verbs.take_lease(self._parts.store, "upkeep", self._owner, now=time.time(), until=0.0)

    def __call__(self) -> bool:
        if self._stops():
            return True
        return time.time() - self._renewed > _LEASE_SECONDS / 3 and not self.renew()


class UpkeepWorker:
    """Runs a job at intervals, or when nudged. Starts with `start` or `with`; ends with `stop` or at exit.

    In a forked child process, there is no thread and nothing runs until it is started again.
    """

    def __init__(
        self, job: Callable[[Breaks], Maintained | None], foreground: Foreground, every: float | None = None
    ) -> None:
        """Without `every`, the worker runs only when nudged."""
        self._job = job
        self._foreground = foreground
        self.nudged: bool = every is None
        self.last: Maintained | None = None
        self.rounds: int = 0
        self.errors: int = 0
        self.last_error: str = ""
        self._pause = UNTIL_WOKEN if every is None else every
        self._thread = self._make_thread()

    def _make_thread(self) -> BackgroundWorker:
        delay = UNTIL_WOKEN if self.nudged else 0.0
        return BackgroundWorker("eidet-upkeep", self._work, delay_seconds=delay, pause_seconds=self._pause)

    def start(self) -> Self:
        if not self.running:
            self._thread.start()
            atexit.register(self.stop)
        return self

    def nudge(self) -> None:
        """Requests a run soon; starts the thread if it is not running."""
        self.start()
        self._thread.wake()

    def stop(self) -> None:
        """Stops after the current batch and waits for the thread to end. Stopping twice is harmless."""
        atexit.unregister(self.stop)
        old, self._thread = self._thread, self._make_thread()
        old.stop()

    @property
    def running(self) -> bool:
        return self._thread.running

    def stats(self) -> dict[str, Any]:
        return {
            "running": self.running,
            "rounds": self.rounds,
            "errors": self.errors,
            "last_error": self.last_error,
            "last": "" if self.last is None else str(self.last),
        }

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_raised: object) -> None:
        self.stop()

    async def __aenter__(self) -> Self:
        return self.start()

    async def __aexit__(self, *_raised: object) -> None:
        import asyncio

        await asyncio.to_thread(self.stop)

    def _work(self) -> float:
        try:
            done = self._job(Breaks(self._thread.rest, self._foreground))
        except Exception as error:
            self.errors += 1
            self.last_error = str(error)
            raise
        self.rounds += 1
        self.last = done or self.last
        if done is not None and done.failed:
            self.last_error = done.failed[0]
        return self._pause


class Breaks:
    """Paces the background work. A call between steps rests and returns whether to stop."""

    def __init__(self, rest: Callable[[float], bool], foreground: Foreground) -> None:
        self._rest = rest
        self._foreground = foreground
        self._since = time.perf_counter()

    def __call__(self) -> bool:
        stopped = self._rest(min((time.perf_counter() - self._since) * _REST, _MOST_REST))
        self._since = time.perf_counter()
        if not stopped:
            self.give_way()
        return stopped

    def give_way(self) -> None:
        """Waits a moment for foreground callers, also within a step."""
        self._since += self._foreground.wait_until_idle(_COURTESY)
