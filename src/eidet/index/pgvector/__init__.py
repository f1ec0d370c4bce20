"""The index in PostgreSQL: large scopes are searched by the server, small ones in RAM as ever.

A large scope is copied into tables of its own, in the background; what was written since the last copy
is searched in RAM beside them. So nothing waits for the copy, and what was acknowledged is found. See
`docs/postgresql.md`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from functools import partial
from itertools import starmap
from typing import Any, Final, TypeVar, cast

from ...core.errors import Misconfigured
from ...core.scope import Scope
from ...core.settings import Settings
from ...core.where import Where
from ...models.embed import Embedder
from ...store import Head, Store, verbs
from ...store.sql.postgres.record_search import read_sessions, select_ordered
from ...store.sql.postgres.searchable import SearchableDatabase
from ...text import Analyzer
from .. import Candidates, Neighbours, Probe
from ..abilities import has_ability, is_sealed
from ..change_pages import Stale
from ..embedded import EmbeddedIndex, EmbeddedSettings
from ..embedded.lexicon import make_lexicon
from ..embedded.merge import merge_candidates
from ..embedded.queries import merge_voices
from ..neighbours import SessionTurn, find_neighbours
from .copier import Copier
from .fill import Filler
from .integrity import Damaged
from .registry import ServerScopes
from .remote_scope import ServerScope
from .settings import PgvectorSettings, read_settings
from .tables import WIDEST, find_code, is_ready, prepare

T = TypeVar("T")

__all__ = ["PgvectorIndex", "PgvectorSettings"]

PREPARE_SECONDS: Final = 3600.0  # that lookups on the records of a store may take to make
COPY_SECONDS: Final = 300.0  # that a page may take to copy …
EACH_SECONDS: Final = 0.01  # … and each record of a scope beyond that, when all of it is
TRIES: Final = 3


class PgvectorIndex:
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
        self._how = read_settings(settings)
        self._store, self._width = _check_fits(store, width), width
        self._ram = EmbeddedIndex(
            store,
            width,
            settings=EmbeddedSettings(memory_mb=self._how.memory_mb),
            renewed=renewed,
            lexicon=make_lexicon(embedder, analyzer),
            analyzer=analyzer,
        )
        self._served = ServerScopes(self._store, width, self._how.ef_search)
        self._copier = Copier(self._copy)
        self._filler = Filler(self._store, width, self._how, self._copier.is_stopped)
        self._prepare()

    def _prepare(self) -> None:
        if not self._store.ask(is_ready):
            self._store.ask(prepare, deadline_seconds=PREPARE_SECONDS)

    # Asking.

    def search(self, probe: Probe) -> Candidates:
        queries = self._ram.queries

        def search_scope(path: str, head: Head) -> Candidates:
            return self._ask(
                path,
                head,
                lambda served: served.search(probe, head, queries.read_words),
                lambda: queries.search(path, head, probe),
            )

        return merge_candidates(self._ram.cache.ask_each(probe.scope, probe.head, search_scope))

    def voices(self, scope: Scope, head: Head | None = None) -> tuple[str, ...]:
        in_ram = self._ram.queries.list_voices

        def list_voices(path: str, head: Head) -> tuple[str, ...]:
            return self._ask(path, head, lambda served: served.read_voices(head), lambda: in_ram(path, head))

        return merge_voices(self._ram.cache.ask_each(scope, head, list_voices))

    def select(
        self, scope: Scope, where: Where | None, *, now: float, order: str, limit: int
    ) -> list[tuple[str, int]]:
        head = self._ram.cache.read_head()
        if not any(self._served.find(path, head) for path in self._ram.cache.list_paths(scope)):
            return self._ram.select(scope, where, now=now, order=order, limit=limit)
        return self._store.at_one(
            partial(select_ordered, self._store, scope, where, now=now, order=order, limit=limit)
        )

    def around(
        self, scope: str, seqs: Sequence[int], reach: int, where: Where | None, *, now: float
    ) -> dict[int, Neighbours]:
        if self._served.find(scope, self._ram.cache.read_head()) is None:
            return self._ram.around(scope, seqs, reach, where, now=now)
        read = self._store.at_one(partial(read_sessions, self._store, scope, seqs, where, now))
        sessions = {name: [*starmap(SessionTurn, line)] for name, line in read.items()}
        return find_neighbours(sessions, seqs, reach)

    def follow(self, scope: str) -> None:
        if self._served.find_known(scope) is None:
            self._ram.follow(scope)
        else:
            self._ask(scope, self._ram.cache.read_head(), lambda _: None, lambda: None)

    # Which scopes the server searches.

    def _ask(
        self, path: str, head: Head, by_server: Callable[[ServerScope], T], in_ram: Callable[[], T]
    ) -> T:
        """An answer from where the scope is; if that was replaced meanwhile, from where it is then."""
        if not self._how.background:
            self._settle(path, head)
        for _ in range(TRIES):
            served = self._served.find(path, head)
            if served is None:
                break
            try:
                served.follow(head)
                answer = self._store.at_one(partial(by_server, served), unless=Stale)
            except Damaged as damage:
                self._served.pass_over(path, served, damage)
                continue
            except Stale:
                self._served.forget(path)
                continue
            if self._is_behind(served):
                self._copier.ask(path)
            return answer
        answer = in_ram()
        shard = self._ram.cache.peek(path)
        if shard is not None and shard.records >= self._how.from_records:
            self._copier.ask(path)
        return answer

    def _is_behind(self, served: ServerScope) -> bool:
        """What is gone is taken out at once; what is new waits until it is worth it."""
        return len(served.lost) > 0 or served.behind > self._how.tail

    def _settle(self, path: str, head: Head) -> None:
        """Copies at once what would be copied in the background."""
        served = self._served.find(path, head)
        if served is None:
            if self._count(path) >= max(1, self._how.from_records):
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
        served, there = self._served.find_known(path), self._served.read_build_of(path)
        usable = there is not None and there.version and there.epoch == self._store.head().epoch
        fit = usable and not anew and (served is None or not _worth_a_new_one(served))
        if not fit or (served is not None and not self._extend(path, wait)):
            self._build(path, anew)
        self._served.mark_mended(path)
        self._ram.cache.drop(path)

    def _extend(self, path: str, wait: bool) -> bool:
        """False if what is there must be copied anew."""
        try:
            while self._run_copy(partial(self._filler.extend, scope=path, wait=wait), COPY_SECONDS):
                pass
        except Stale:
            return False
        return True

    def _build(self, path: str, anew: bool) -> None:
        known = self._store.ask(lambda c: find_code(c, path))
        seconds = COPY_SECONDS + EACH_SECONDS * self._count(path)
        with contextlib.suppress(Stale):  # vectors were made anew meanwhile: the next copy is of those
            self._run_copy(partial(self._filler.build, scope=path, known=known, wait=anew), seconds)

    def _run_copy(self, job: Callable[[Any], bool], seconds: float) -> bool:
        def run(connection: Any) -> bool:
            with self._copier.using(connection):
                return job(connection)

        return self._store.ask(run, deadline_seconds=seconds)

    def _count(self, path: str) -> int:
        return verbs.count(self._store, Where(scope=Scope(path)))

    def rebuild(self, scope: str) -> int:
        served = self._served.find(scope, self._store.head())
        if served is None and self._count(scope) < max(1, self._how.from_records):
            return self._ram.rebuild(scope)
        self._copy(scope, anew=True)
        served = self._served.find(scope, self._store.head())
        if served is None:
            return self._ram.rebuild(scope)
        served.follow(self._store.head())
        return served.records

    def check(self, scope: str) -> list[str]:
        head = self._store.head()
        try:
            served = self._served.find(scope, head)
            if served is not None:
                served.follow(head)
            if served is not None and len(served.lost):  # what was forgotten must be found nowhere
                self._copy(scope, wait=True)
                served = self._served.find(scope, head)
                self._vacuum(served)
            if served is not None:
                served.follow(head)
            told = self._ram.check(scope) if served is None else served.check()
        except Damaged as damage:
            return [f"scope {scope}: the index on the server is damaged ({damage}); run `eidet rebuild`"]
        except Stale:
            return [f"scope {scope}: the index is of an earlier state; run `eidet rebuild`"]
        if self._served.is_broken(scope):
            told.append(f"scope {scope}: the index on the server is damaged; run `eidet rebuild`")
        return told

    def cleanse(self, scope: str) -> list[str]:
        """A copy that cannot be used, or of which much is gone, goes as a whole, and is made anew later."""
        self._ram.follow(scope)
        if self._store.ask(lambda c: find_code(c, scope)) is None:
            return []
        if (gone := self._list_gone(scope)) == []:
            return []
        job = partial(self._filler.cleanse, scope=scope, gone=gone)
        if self._store.ask(job, deadline_seconds=COPY_SECONDS):
            self._served.mark_mended(scope)
            self._vacuum(self._served.find(scope, self._store.head()))
            return []
        return [f"scope {scope}: its index is being copied, and may hold what is gone"]

    def _list_gone(self, scope: str) -> list[int] | None:
        """What was copied and is gone; None if the copy is not worth keeping."""
        if self._served.find_known(scope) is None:  # somebody else may have copied it meanwhile
            self._served.forget(scope)
        try:
            head = self._store.head()
            served = self._served.find(scope, head)
            if served is None:
                return None
            served.follow(head)
        except Stale:
            return None
        return None if served.mostly_gone else served.lost.tolist()

    def _vacuum(self, served: ServerScope | None) -> None:
        if served is not None:
            sql = f"VACUUM {served.build.units}, {served.build.words}, pgvector_scopes"
            self._store.ask(lambda c: c.execute(sql), deadline_seconds=COPY_SECONDS)

    def stats(self) -> dict[str, Any]:
        served = self._served.list_all()
        return {
            **self._ram.stats(),
            "server_scopes": len(served),
            "server_records": sum(one.build.records for one in served),
            "tail_units": sum(one.tail.count for one in served),
            "copying": self._copier.busy,
        }

    def close(self) -> None:
        self._copier.close()
        self._served.clear()
        self._ram.close()


def _worth_a_new_one(served: ServerScope) -> bool:
    """Whether a new copy is made sooner than the one that is there is brought up to now."""
    return served.mostly_gone or served.behind > served.build.live


def _check_fits(store: Store, width: int) -> SearchableDatabase:
    if is_sealed(store):
        raise Misconfigured("a sealed memory cannot be searched by the server: use index='embedded'")
    if not has_ability(store, SearchableDatabase):
        raise Misconfigured(
            "the index pgvector follows a memory on PostgreSQL: postgresql://user@host/database"
        )
    if width > WIDEST:
        raise Misconfigured(
            f"the index pgvector takes vectors of up to {WIDEST:,} dimensions, not {width:,}: "
            "use index='embedded' or an embedder with shorter ones"
        )
    return cast("SearchableDatabase", store)
