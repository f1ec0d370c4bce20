"""The index in PostgreSQL: large scopes are searched by the server, small ones in RAM as ever.

A large scope is copied into tables of its own, in the background; what was written since the last copy
is searched in RAM beside them. So nothing waits for the copy, and what was acknowledged is found. See
`docs/operate/pgvector.md`.
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
from ...store.traits import has_ability, is_sealed
from ...text import Analyzer
from .. import Candidates, Neighbours, Probe
from ..change_pages import Stale
from ..embedded import EmbeddedIndex, EmbeddedSettings
from ..embedded.lexicon import make_lexicon
from ..embedded.merge import merge_candidates
from ..embedded.queries import merge_voices
from ..neighbours import SessionTurn, find_neighbours
from .fill import COPY_SECONDS, Copier
from .remote_scope import ServerScope, ServerScopes
from .tables import WIDEST, Damaged, PgvectorSettings, find_code, is_ready, prepare, read_settings

T = TypeVar("T")

__all__ = ["PgvectorIndex", "PgvectorSettings"]

PREPARE_SECONDS: Final = 3600.0  # that lookups on the records of a store may take to make
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
        self._store = _check_fits(store, width)
        self._ram = EmbeddedIndex(
            store,
            width,
            settings=EmbeddedSettings(memory_mb=self._how.memory_mb),
            renewed=renewed,
            lexicon=make_lexicon(embedder, analyzer),
            analyzer=analyzer,
        )
        self._served = ServerScopes(self._store, width, self._how.ef_search)
        self._copier = Copier(self._store, width, self._how, self._copy)
        self._prepare()

    def _prepare(self) -> None:
        if not self._store.ask(is_ready):
            self._store.ask(prepare, deadline_seconds=PREPARE_SECONDS)

    # Asking.

    def search(self, probe: Probe) -> Candidates:
        queries = self._ram.queries
        ask = partial(
            self._ask,
            by_server=lambda served, head: served.search(probe, head, queries.read_words),
            in_ram=partial(queries.search, probe=probe),
        )
        return merge_candidates(self._ram.cache.ask_each(probe.scope, probe.head, ask))

    def voices(self, scope: Scope, head: Head | None = None) -> tuple[str, ...]:
        ask = partial(self._ask, by_server=ServerScope.read_voices, in_ram=self._ram.queries.list_voices)
        return merge_voices(self._ram.cache.ask_each(scope, head, ask))

    def select(
        self, scope: Scope, where: Where | None, *, now: float, order: str, limit: int
    ) -> list[tuple[str, int]]:
        head = self._ram.cache.read_head()
        if not any(self._served.find(path, head) for path in self._ram.cache.list_paths(scope)):
            return self._ram.select(scope, where, now=now, order=order, limit=limit)
        return select_ordered(self._store, scope, where, now=now, order=order, limit=limit)

    def around(
        self, scope: str, seqs: Sequence[int], reach: int, where: Where | None, *, now: float
    ) -> dict[int, Neighbours]:
        if self._served.find(scope, self._ram.cache.read_head()) is None:
            return self._ram.around(scope, seqs, reach, where, now=now)
        read = read_sessions(self._store, scope, seqs, where, now)
        sessions = {name: [*starmap(SessionTurn, line)] for name, line in read.items()}
        return find_neighbours(sessions, seqs, reach)

    def follow(self, scope: str) -> None:
        if self._served.find_known(scope) is None:
            self._ram.follow(scope)
        else:
            self._ask(scope, self._ram.cache.read_head(), lambda *_: None, lambda *_: None)

    # Which scopes the server searches.

    def _ask(
        self,
        path: str,
        head: Head,
        by_server: Callable[[ServerScope, Head], T],
        in_ram: Callable[[str, Head], T],
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
                answer = by_server(served, head)
            except Damaged as damage:
                self._served.pass_over(path, served, damage)
            except Stale:
                self._served.forget(path)
            else:
                if self._is_behind(served):
                    self._copier.worker.ask(path)
                return answer
        answer = in_ram(path, head)
        shard = self._ram.cache.peek(path)
        if shard is not None and shard.records >= self._how.from_records:
            self._copier.worker.ask(path)
        return answer

    def _is_behind(self, served: ServerScope) -> bool:
        """What is gone is taken out at once; what is new waits until it is worth it."""
        return len(served.lost) > 0 or served.behind > self._how.tail

    def _is_large(self, path: str) -> bool:
        return self._count(path) >= max(1, self._how.from_records)

    def _count(self, path: str) -> int:
        return verbs.count(self._store, Where(scope=Scope(path)))

    def _find_current(self, path: str) -> ServerScope | None:
        """What the server has of a scope, brought up to now."""
        head = self._store.head()
        served = self._served.find(path, head)
        if served is not None:
            served.follow(head)
        return served

    # Copying.

    def _settle(self, path: str, head: Head) -> None:
        """Copies at once what would be copied in the background."""
        served = self._served.find(path, head)
        if served is not None:
            with contextlib.suppress(Stale):
                served.follow(head)
                if not self._is_behind(served):
                    return
        if served is not None or self._is_large(path):
            self._copy(path)

    def _copy(self, path: str, *, anew: bool = False, wait: bool = False) -> None:
        """Brings the server's copy of a scope up to now; what was in RAM of it is dropped.

        If another process is at it, that is left to it, unless it is to be waited for.
        """
        self._prepare()  # somebody may have taken away what was there
        served, there = self._served.find_known(path), self._served.read_build_of(path)
        fit = there is not None and there.is_of(self._store.head()) and not anew
        if fit and served is not None:
            fit = not served.worth_a_new_copy and self._copier.extend(path, wait=wait)
        if not fit:
            self._copier.build(path, records=self._count(path), wait=anew)
        self._served.mark_mended(path)
        self._ram.cache.drop(path)

    # Care.

    def rebuild(self, scope: str) -> int:
        if self._served.find(scope, self._store.head()) is not None or self._is_large(scope):
            self._copy(scope, anew=True)
            served = self._find_current(scope)
            if served is not None:
                return served.records
        return self._ram.rebuild(scope)

    def check(self, scope: str) -> list[str]:
        try:
            served = self._find_current(scope)
            if served is not None and len(served.lost):  # what was forgotten must be found nowhere
                self._copy(scope, wait=True)
                served = self._find_current(scope)
                self._vacuum(served)
            faults = self._ram.check(scope) if served is None else served.check()
        except Damaged as damage:
            return [f"scope {scope}: the index on the server is damaged ({damage}); run `eidet rebuild`"]
        except Stale:
            return [f"scope {scope}: the index is of an earlier state; run `eidet rebuild`"]
        if self._served.is_broken(scope):
            faults.append(f"scope {scope}: the index on the server is damaged; run `eidet rebuild`")
        return faults

    def cleanse(self, scope: str) -> list[str]:
        """A copy that cannot be used, or of which much is gone, goes as a whole, and is made anew later."""
        self._ram.follow(scope)
        copied = self._store.ask(partial(find_code, scope=scope)) is not None
        gone = self._list_gone(scope) if copied else []
        if gone == []:
            return []
        if not self._copier.cleanse(scope, gone):
            return [f"scope {scope}: its index is being copied, and may hold what is gone"]
        self._served.mark_mended(scope)
        self._vacuum(self._served.find(scope, self._store.head()))
        return []

    def _list_gone(self, scope: str) -> list[int] | None:
        """What was copied and is gone; None if the copy is not worth keeping."""
        if self._served.find_known(scope) is None:  # somebody else may have copied it meanwhile
            self._served.forget(scope)
        try:
            served = self._find_current(scope)
        except Stale:
            return None
        return None if served is None or served.mostly_gone else served.lost.tolist()

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
            "copying": self._copier.worker.busy,
        }

    def close(self) -> None:
        self._copier.close()
        self._served.clear()
        self._ram.close()


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
