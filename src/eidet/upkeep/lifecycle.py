"""The life of memories: what upkeep does to an open memory, and what its owner may ask for by name."""

from __future__ import annotations

import os
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ..core.draft import Draft
from ..core.errors import BadInput, Conflict, Refused
from ..core.hit import Hits
from ..core.record import Record, Tier
from ..core.scope import Scope
from ..core.where import Condition, Where
from ..engine import Engine
from ..store import verbs
from . import HOLD, PINNED, Maintained, works_of

if TYPE_CHECKING:
    from .archive import Archive
    from .echo import Echoes
    from .run import Pause
    from .service import Keeping
    from .worker import Worker

STEP: Final = 20  # records that the background changes at once: a few milliseconds
LEASE_SECONDS: Final = 60.0
MOVES: Final = ("expire", "promote", "move")  # what insertions make due
ECHO_SCOPES: Final = 256
HELD: Final = Where(conditions=(Condition("meta.hold", "exists"), Condition("meta.hold", "!=", False)))


class Life:
    """Looks after the memories of an engine."""

    def __init__(self, engine: Engine, clock: Callable[[], float]) -> None:
        self._engine = engine
        self._clock = clock
        self._owner = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
        self._worker: Worker | None = None
        self._inserted = 0
        self._echoes: dict[str, Echoes] = {}
        self._lock = threading.Lock()
        self._keeping: Keeping | None = None

    @property
    def keeping(self) -> Keeping:
        """Made when first needed: most programs that remember and recall never do."""
        if self._keeping is None:
            from .service import Keeping

            with self._lock:
                self._keeping = self._keeping or Keeping(self._engine)
        return self._keeping

    def maintain(self, scope: Scope | None, **how: Any) -> Maintained:
        how["now"] = self._clock() if how.get("now") is None else how["now"]
        return self.keeping.maintain(scope, **how)

    # In the background.

    def upkeep(self, every: float, **how: Any) -> Worker:
        """A worker for this memory; the one before it is stopped."""
        if isinstance(every, bool) or not isinstance(every, int | float) or not every > 0:
            raise BadInput(f"upkeep runs every so many seconds, above 0, not {every!r}")
        from .worker import Worker

        works_of(how.get("only"))
        if self._worker is not None:
            self._worker.stop()
        self._worker = Worker(partial(self._round, **how), every=every, busy=self._busy)
        return self._worker

    def inserted(self, count: int) -> None:
        """Counts new records; moves are made in the background when enough have come."""
        due = self._engine.settings.upkeep.every_insertions
        if due is None:
            return
        self._inserted += count
        if self._inserted >= due:
            self._inserted = 0
            self._mover().nudge()

    def _mover(self) -> Worker:
        """The worker that runs, or else one that only moves what is due."""
        if self._worker is None or not (self._worker.running or self._worker.nudged):
            from .worker import Worker

            self._worker = Worker(partial(self._round, only=MOVES), every=None, busy=self._busy)
        return self._worker

    def _busy(self) -> bool:
        return self._engine.askers > 0

    def _round(self, stops: Pause, **how: Any) -> Maintained | None:
        """One upkeep, unless another process is at it."""
        lease = _Lease(self._engine, self._owner, stops)
        if not lease.renew():
            return None
        chosen = how.get("settings") or self._engine.settings.upkeep
        how["settings"] = replace(chosen, batch=min(chosen.batch, STEP))
        try:
            return self.maintain(how.pop("scope", None), told=100, stops=lease, **how)
        finally:
            lease.give_back()

    def stats(self) -> dict[str, Any]:
        return {} if self._worker is None else {"upkeep": self._worker.stats()}

    def close(self) -> None:
        if self._worker is not None:
            self._worker.stop()

    # What the owner of a memory may ask for.

    def detail(self, record: Record) -> Record:
        """As it was before anything was lowered."""
        if record.level == 0:
            return record
        return self.keeping.forms(self._engine.settings.upkeep).whole([record])[0]

    def restored(self, record: Record, now: float) -> Record:
        """Back in the middle tier as it was, and counted as used: else it would be moved again."""
        whole = self.detail(record).but(tier=Tier.MIDDLE)
        self._engine.used([record], now)
        if record.level == 0 and record.tier is Tier.MIDDLE:
            return record
        stored = verbs.rewrite_form(self._engine.store, [(record, whole)], now=now, epoch=self._engine.epoch)[
            0
        ]
        if stored is None:
            raise Conflict(f"record {record.id!r} was changed meanwhile; call again")
        return stored

    def marked(self, record: Record, mark: str, on: bool, now: float, by: str | None) -> Record:
        """Pinned, held, or neither. What is marked does not expire; its expiry comes back afterwards."""
        meta = dict(record.meta)
        if bool(meta.get(mark)) == on:
            return record
        if on:
            kept = {} if record.expires is None else {"expires": record.expires}
            meta[mark] = {"at": now} | ({"by": by} if by else {}) | kept
            new = record.but(meta=meta, expires=None)
        else:
            told = meta.pop(mark)
            ends = told.get("expires") if isinstance(told, dict) else None
            other = next((meta[m] for m in (PINNED, HOLD) if isinstance(meta.get(m), dict)), None)
            if other is not None and ends is not None:
                meta |= {m: {**meta[m], "expires": ends} for m in (PINNED, HOLD) if meta.get(m) is other}
                ends = None
            new = record.but(meta=meta, expires=ends if ends is not None else record.expires)
        return self._engine.put([new], now=now, unique=False, expect=record.version, by=by)[0]

    def check_not_held(self, scope: str, ids: Sequence[str]) -> list[Record | None]:
        """The records with these ids; Refused if one is under a legal hold."""
        there = self._engine.store.read(scope, ids)
        for record in there:
            if record is not None and record.meta.get(HOLD):
                raise Refused(f"record {record.id!r} is under a legal hold: `release` it before a change")
        return there

    def check_free(self, where: Where, what: str) -> None:
        """Refused if anything that is meant is under a legal hold."""
        if held := verbs.count(self._engine.store, where & HELD):
            raise Refused(
                f"{held:,} of the records are under a legal hold and cannot be {what}: `release` first"
            )

    def unarchive(
        self,
        archive: Archive | str | Path | None,
        sought: Mapping[str, Any],
        now: float,
        through: Callable[[Iterator[Record], float], Iterator[Record]],
    ) -> int:
        """What is `sought` as of `may_hold`; each goes `through` what every loaded record goes through."""
        from ..trust.seal.exports import archive_for
        from .archive import about, archive_of, may_hold

        source = archive_for(self._engine.store, archive_of(archive or self._engine.settings.upkeep.archive))
        if source is None:
            raise BadInput("name the archive: unarchive('folder'), or set upkeep.archive")
        count = 0
        for name in source.names():
            manifest = source.manifest(name)
            if not may_hold(manifest, **sought):
                continue
            chosen = (
                record.but(uses=record.uses + 1, last_used=now)  # else it would be forgotten again
                for record in source.read(name)
                if may_hold(about([record]), **sought)
            )
            count += self._engine.load(through(chosen, now), manifest, now=now)
        return count

    # At the write path, where the settings ask for it.

    def weighed(self, drafts: Sequence[Draft], records: list[Record]) -> list[Record]:
        if not self._engine.settings.weigh:
            return records
        from .reweigh import weighed

        pairs = zip(drafts, records, strict=True)
        return [weighed(record) if draft.importance is None else record for draft, record in pairs]

    def recalled(self, hits: Hits, now: float) -> None:
        if not self._engine.settings.echo_guard:
            return
        with self._lock:
            for hit in hits:
                self._echo(hit.record.scope).note(hit.id, hit.text, now)

    def echoed(self, records: list[Record], now: float) -> list[Record]:
        """Texts that only repeat what was just recalled say so, and count for half."""
        if not self._engine.settings.echo_guard:
            return records
        with self._lock:
            found = [self._echo(record.scope).is_echo(record.text, now) for record in records]
        return [
            record
            if id is None or id == record.id
            else record.but(meta={**record.meta, "echo_of": id}, importance=record.importance / 2)
            for record, id in zip(records, found, strict=True)
        ]

    def unlearn(self, scopes: Iterable[str]) -> None:
        """Drops what was noted of texts of these scopes."""
        with self._lock:
            for scope in scopes:
                self._echoes.pop(scope, None)

    def _echo(self, scope: str) -> Echoes:
        from .echo import Echoes

        found = self._echoes.pop(scope, None) or Echoes(language=self._engine.analyzer.language)
        self._echoes[scope] = found
        while len(self._echoes) > ECHO_SCOPES:
            del self._echoes[next(iter(self._echoes))]
        return found


class _Lease:
    """The right to do upkeep on a store, renewed while it goes on; without it, upkeep stops."""

    def __init__(self, engine: Engine, owner: str, stops: Pause) -> None:
        self._engine = engine
        self._owner = owner
        self._stops = stops
        self._renewed = 0.0

    def renew(self) -> bool:
        now = time.time()  # processes share this clock, whatever the memory is told
        self._renewed = now
        return verbs.take_lease(self._engine.store, "upkeep", self._owner, now=now, until=now + LEASE_SECONDS)

    def give_back(self) -> None:
        verbs.take_lease(self._engine.store, "upkeep", self._owner, now=time.time(), until=0.0)

    def __call__(self) -> bool:
        if self._stops():
            return True
        return time.time() - self._renewed > LEASE_SECONDS / 3 and not self.renew()
