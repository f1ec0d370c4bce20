"""The index in PostgreSQL: large scopes are searched by the server, small ones in RAM as ever.

A large scope is copied into tables of its own, in the background; what was written since the last copy
is searched in RAM beside them. So nothing waits for the copy, and what was acknowledged is found. See
`docs/postgresql.md`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from ...core.errors import Misconfigured
from ...core.scope import Scope
from ...core.settings import Settings
from ...core.where import Where
from ...models.embed import Embedder, WordEmbedder
from ...store import Head, Store, verbs
from ...text import Analyzer
from .. import Found, Neighbours, Probe
from ..embedded import EmbeddedIndex, EmbeddedSettings, merged
from ..embedded.lexicon import Lexicon
from . import fill as copying
from . import listing
from . import neighbours as beside
from .integrity import Damaged, Stale
from .registry import Places
from .remote_scope import Served
from .settings import PgvectorSettings, chosen
from .tables import WIDEST, code_of, is_listed, is_ready, prepare
from .worker import Copier

if TYPE_CHECKING:
    from ...store.sql.postgres import PostgresStore

T = TypeVar("T")

__all__ = ["PgvectorIndex", "PgvectorSettings"]

PREPARE_SECONDS: Final = 3600.0  # that lookups on the records of a store may take to make
COPY_SECONDS: Final = 300.0  # that a page may take to copy …
EACH_SECONDS: Final = 0.01  # … and each record of a scope beyond that, when all of it is
TRIES: Final = 3


class PgvectorIndex(EmbeddedIndex):
    """Follows a PostgreSQL store. Any number of processes share what one of them copied."""

    def __init__(
        self,
        store: Store,
        width: int,
        *,
        settings: Settings | PgvectorSettings | None = None,
        renewed: Callable[[], None] | None = None,
        embedder: Embedder | None = None,
        analyzer: Analyzer | None = None,
    ) -> None:
        self._how = chosen(settings)
        lexicon = Lexicon(embedder, analyzer) if analyzer and isinstance(embedder, WordEmbedder) else None
        super().__init__(
            store,
            width,
            settings=EmbeddedSettings(memory_mb=self._how.memory_mb),
            renewed=renewed,
            lexicon=lexicon,
            analyzer=analyzer,
        )
        self._sql = _checked(store, width)
        self._places = Places(self._sql, width, self._how.ef_search)
        self._copier = Copier(self._copy)
        self._prepare()

    def _prepare(self) -> None:
        if not self._sql.ask(is_ready):
            self._sql.ask(prepare, deadline_seconds=PREPARE_SECONDS)

    # Asking.

    def search(self, probe: Probe) -> Found:
        head = self._head(probe.head)
        parts = [self._part(path, head, probe) for path in self._scopes(probe.scope)]
        return parts[0] if len(parts) == 1 else merged(parts)

    def _part(self, path: str, head: Head, probe: Probe) -> Found:
        return self._asked(
            path,
            head,
            lambda served: served.search(probe, head, self._reader),
            lambda: self._ask(path, head, partial(self._searched, probe)),
        )

    def voices(self, scope: Scope, head: Head | None = None) -> tuple[str, ...]:
        head = self._head(head)
        parts = [
            self._asked(
                path,
                head,
                lambda served: served.voices(head),
                lambda path=path: self._ask(path, head, lambda shard: shard.voices),  # type: ignore[misc]
            )
            for path in self._scopes(scope)
        ]
        if len(parts) == 1:
            return parts[0]
        return tuple(dict.fromkeys(who for part in parts for who in part if who))

    def select(
        self, scope: Scope, where: Where | None, *, now: float, order: str, limit: int
    ) -> list[tuple[str, int]]:
        if not any(self._places.at(path, self._head()) for path in self._scopes(scope)):
            return super().select(scope, where, now=now, order=order, limit=limit)
        ask = partial(listing.select, self._sql, scope, where, now=now, order=order, limit=limit)
        return self._sql.at_one(ask)

    def around(
        self, scope: str, seqs: Sequence[int], reach: int, where: Where | None, *, now: float
    ) -> dict[int, Neighbours]:
        if self._places.at(scope, self._head()) is None:
            return super().around(scope, seqs, reach, where, now=now)
        return self._sql.at_one(partial(beside.around, self._sql, scope, seqs, reach, where, now))

    def follow(self, scope: str) -> None:
        if self._places.known(scope) is None:
            super().follow(scope)
        else:
            self._asked(scope, self._head(), lambda _: None, lambda: None)

    # Which scopes the server searches.

    def _asked(self, path: str, head: Head, by_server: Callable[[Served], T], in_ram: Callable[[], T]) -> T:
        """An answer from where the scope is; if that was replaced meanwhile, from where it is then."""
        if not self._how.background:
            self._settle(path, head)
        for _ in range(TRIES):
            served = self._places.at(path, head)
            if served is None:
                break
            try:
                served.follow(head)
                answer = self._sql.at_one(partial(by_server, served), unless=Stale)
            except Damaged as damage:
                self._places.pass_over(path, served, damage)
                continue
            except Stale:
                self._places.leave(path)
                continue
            if self._is_behind(served):
                self._copier.wish(path)
            return answer
        answer = in_ram()
        with self._lock:
            slot = self._slots.get(path)
        if slot is not None and slot.shard.records >= self._how.from_records:
            self._copier.wish(path)
        return answer

    def _is_behind(self, served: Served) -> bool:
        """What is gone is taken out at once; what is new waits until it is worth it."""
        return len(served.lost) > 0 or served.behind > self._how.tail

    def _settle(self, path: str, head: Head) -> None:
        """Copies at once what would be copied in the background."""
        served = self._places.at(path, head)
        if served is None:
            least = max(1, self._how.from_records)
            if verbs.count(self._store, Where(scope=Scope(path))) >= least:
                self._copy(path)
        else:
            with contextlib.suppress(Stale):
                served.follow(head)
                if not self._is_behind(served):
                    return
            self._copy(path)

    # Copying.

    def _copy(self, path: str, *, anew: bool = False, wait: bool = False) -> None:
        """Brings the server's copy of a scope up to now; what was in RAM of it is dropped.

        If another process is at it, that is left to it, unless it is to be waited for.
        """
        self._prepare()  # somebody may have taken away what was there
        served, there = self._places.known(path), self._places.build_of(path)
        usable = there is not None and there.version and there.epoch == self._store.head().epoch
        fit = usable and not anew and (served is None or not _worth_a_new_one(served))
        if not fit or (served is not None and not self._extended(path, wait)):
            self._build(path, anew)
        self._places.mended(path)
        self._drop(path)

    def _extended(self, path: str, wait: bool) -> bool:
        """False if what is there must be copied anew."""
        try:
            while self._copied(partial(copying.extend, scope=path, wait=wait), COPY_SECONDS):
                pass
        except Stale:
            return False
        return True

    def _build(self, path: str, anew: bool) -> None:
        known = self._sql.ask(lambda c: code_of(c, path, self._width))
        records = verbs.count(self._store, Where(scope=Scope(path)))
        job = partial(
            copying.build,
            scope=path,
            m=self._how.m,
            ef_construction=self._how.ef_construction,
            least=max(1, self._how.from_records // 2),
            known=known,
            wait=anew,
        )
        with contextlib.suppress(Stale):  # vectors were made anew meanwhile: the next copy is of those
            self._copied(job, COPY_SECONDS + EACH_SECONDS * records)

    def _copied(self, job: Callable[..., bool], seconds: float) -> bool:
        def run(connection: Any) -> bool:
            with self._copier.using(connection):
                return job(connection, self._sql, width=self._width, stopped=self._copier.stopped)

        return self._sql.ask(run, deadline_seconds=seconds)

    def rebuild(self, scope: str) -> int:
        head = self._store.head()
        if self._places.at(scope, head) is None:
            count = verbs.count(self._store, Where(scope=Scope(scope)))
            if count < max(1, self._how.from_records):
                return super().rebuild(scope)
        self._copy(scope, anew=True)
        served = self._places.at(scope, self._store.head())
        if served is None:
            return super().rebuild(scope)
        served.follow(self._store.head())
        return served.records

    def check(self, scope: str) -> list[str]:
        head = self._store.head()
        try:
            served = self._places.at(scope, head)
            if served is not None:
                served.follow(head)
            if served is not None and len(served.lost):  # what was forgotten must be found nowhere
                self._copy(scope, wait=True)
                served = self._places.at(scope, head)
                self._vacuum(served)
            if served is not None:
                served.follow(head)
            told = super().check(scope) if served is None else listing.check(self._sql, scope, served)
        except Damaged as damage:
            return [f"scope {scope}: the index on the server is damaged ({damage}); run `eidet rebuild`"]
        except Stale:
            return [f"scope {scope}: the index is of an earlier state; run `eidet rebuild`"]
        if self._places.is_broken(scope):
            told.append(f"scope {scope}: the index on the server is damaged; run `eidet rebuild`")
        return told

    def cleanse(self, scope: str) -> list[str]:
        """A copy that cannot be used, or of which much is gone, goes as a whole, and is made anew later."""
        super().follow(scope)
        if not self._sql.ask(lambda c: is_listed(c, scope)):
            return []
        if (gone := self._gone(scope)) == []:
            return []
        job = partial(copying.cleanse, scope=scope, width=self._width, gone=gone)
        if self._sql.ask(job, deadline_seconds=COPY_SECONDS):
            self._places.mended(scope)
            self._vacuum(self._places.at(scope, self._store.head()))
            return []
        return [f"scope {scope}: its index is being copied, and may hold what is gone"]

    def _gone(self, scope: str) -> list[int] | None:
        """What was copied and is gone; None if the copy is not worth keeping."""
        if self._places.known(scope) is None:  # somebody else may have copied it meanwhile
            self._places.leave(scope)
        try:
            head = self._store.head()
            served = self._places.at(scope, head)
            if served is None:
                return None
            served.follow(head)
        except Stale:
            return None
        return None if served.mostly_gone else served.lost.tolist()

    def _vacuum(self, served: Served | None) -> None:
        if served is not None:
            sql = f"VACUUM {served.build.units}, {served.build.words}, pgvector_scopes"
            self._sql.ask(lambda c: c.execute(sql), deadline_seconds=COPY_SECONDS)

    def stats(self) -> dict[str, Any]:
        served = self._places.all()
        return {
            **super().stats(),
            "server_scopes": len(served),
            "server_records": sum(one.build.records for one in served),
            "tail_units": sum(one.tail.count for one in served),
            "copying": self._copier.busy,
        }

    def close(self) -> None:
        self._copier.close()
        self._places.clear()
        super().close()


def _worth_a_new_one(served: Served) -> bool:
    """Whether a new copy is made sooner than the one that is there is brought up to now."""
    return served.mostly_gone or served.behind > served.build.live


def _checked(store: Any, width: int) -> PostgresStore:
    if getattr(store, "sealed", False):
        raise Misconfigured("a sealed memory cannot be searched by the server: use index='embedded'")
    if not hasattr(store, "condition"):
        raise Misconfigured(
            "the index pgvector follows a memory on PostgreSQL: postgresql://user@host/database"
        )
    if width > WIDEST:
        raise Misconfigured(
            f"the index pgvector takes vectors of up to {WIDEST:,} dimensions, not {width:,}: "
            "use index='embedded' or an embedder with shorter ones"
        )
    found: PostgresStore = store
    return found
