"""Finds candidates with PostgreSQL, by near vectors and matching words, in scopes larger than RAM.

Small scopes are still searched in RAM. See `docs/operate/pgvector.md`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final, cast

from ...core.errors import Misconfigured, Unavailable
from ...core.scope import Scope
from ...core.settings import Settings
from ...core.validate import Json
from ...core.where import Where
from ...models.embed import Embedder
from ...net.url import Options
from ...store import Head, Store, verbs
from ...store.sql.postgres.searchable import SearchableDatabase
from ...store.traits import has_ability, is_sealed
from ...text import Analyzer
from .. import Candidates, Neighbours, Probe, Seqs, ValueMatch, ValuePath
from ..embedded import EmbeddedIndex
from ..embedded.lexicon import make_lexicon
from ..embedded.queries import merge_candidates, merge_voices, report_faults
from ..fill import Filler, FillPlan, VectorLost
from ..outside import OutsideIndex
from .search import NotCopied, PgvectorFinder, PgvectorSettings
from .tables import WIDEST, Tables, UnitRow, list_units

__all__ = ["PgvectorIndex", "PgvectorSettings"]

log: logging.Logger = logging.getLogger("eidet.index")

PAGE: Final = 5_000  # records copied at once
_LEASE_SECONDS: Final = 15.0  # after which another process goes on with a copy, if its copier was killed
_PATIENCE_SECONDS: Final = 20.0


def _parse_settings(settings: Settings | PgvectorSettings | None) -> PgvectorSettings:
    if not isinstance(settings, Settings):
        return settings or PgvectorSettings()
    options = Options.parse(settings.index.partition("?")[2], hint="see docs/operate/pgvector.md")
    numbers = ("from_records", "tail", "few", "ef_search")
    options.check_known((*numbers, "background"))
    usual = PgvectorSettings(from_records=settings.sidecar_from, memory_mb=settings.index_memory_mb)
    given = {name: options.parse_whole(name, getattr(usual, name)) for name in numbers}
    return replace(usual, **given, background=options.parse_flag("background", True))


class PgvectorIndex:
    """Follows a PostgreSQL store. Any number of processes share the copies."""

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
        self._how, self._store = _parse_settings(settings), _check_fits(store, width)
        self._ram = EmbeddedIndex(
            store,
            width,
            memory_mb=self._how.memory_mb,
            renewed=renewed,
            lexicon=make_lexicon(embedder, analyzer),
            analyzer=analyzer,
        )
        self._tables = Tables(self._store)
        plan = FillPlan(
            name="pgvector",
            prefix="pgvector",
            form=1,
            batch=PAGE,
            lease_seconds=_LEASE_SECONDS,
            patience_seconds=_PATIENCE_SECONDS,
        )
        self._filler: Filler[UnitRow] = Filler(
            store,
            width,
            self._tables,
            list_units,
            plan,
            finish=self._tables.index,
            read_changes=self._store.changes_here,
        )
        finder = PgvectorFinder(self._store, self._tables, self._filler, self._how)
        self._served = OutsideIndex(store, width, finder, words_in=self._ram.words_in)
        self._on_server: set[str] = set()  # scopes that this process last searched there

    def search(self, probe: Probe) -> Candidates:
        search = partial(self._search, probe=probe)
        return merge_candidates(self._ram.cache.ask_each(probe.scope, probe.head, search))

    def _search(self, path: str, head: Head, probe: Probe) -> Candidates:
        for _ in range(2):
            if self._is_in_ram(path):
                break
            try:
                return self._search_server(path, replace(probe, head=head))
            except VectorLost as lost:
                log.warning("scope %s: its index on the server is damaged and made anew: %s", path, lost)
                self._filler.forget(path)
            except (Misconfigured, NotCopied) as refused:  # such as a role that may not extend a copy
                log.debug("scope %s is searched in RAM: %s", path, refused)
            if not self._is_large(path):
                break
            if self._how.background:
                self._filler.ask(path)
                break
            self._filler.try_to_send(path)
        self._on_server.discard(path)
        return self._ram.search_scope(path, head, probe)

    def _search_server(self, path: str, probe: Probe) -> Candidates:
        found = self._served.search_scope(path, probe)
        self._on_server.add(path)
        self._ram.cache.drop(path)  # a search may have loaded it while its copy was made
        return found

    def _is_in_ram(self, path: str) -> bool:
        """Returns whether a scope is loaded and small enough to stay in RAM."""
        shard = self._ram.cache.peek(path)
        return shard is not None and shard.records < self._how.from_records

    def _index_of(self, path: str) -> EmbeddedIndex | OutsideIndex:
        return self._ram if self._is_in_ram(path) else self._served

    def _is_large(self, path: str) -> bool:
        return verbs.count(self._store, Where(scope=Scope(path))) >= max(1, self._how.from_records)

    def select(
        self, scope: Scope, where: Where | None, *, now: float, order: str, limit: int
    ) -> list[tuple[str, int]]:
        return self._served.select(scope, where, now=now, order=order, limit=limit)

    def around(
        self, scope: str, seqs: Sequence[int], reach: int, where: Where | None, *, now: float
    ) -> dict[int, Neighbours]:
        return self._index_of(scope).around(scope, seqs, reach, where, now=now)

    def match_values(
        self, scope: str, seqs: Seqs, wanted: Mapping[ValuePath, Json]
    ) -> dict[ValuePath, ValueMatch]:
        return self._index_of(scope).match_values(scope, seqs, wanted)

    def voices(self, scope: Scope, head: Head | None = None) -> tuple[str, ...]:
        def hear(path: str, head: Head) -> tuple[str, ...]:
            return self._index_of(path).list_voices(path, head)

        return merge_voices(self._ram.cache.ask_each(scope, head, hear))

    def follow(self, scope: str) -> None:
        self._ram.follow(scope)
        if not self._is_in_ram(scope) and self._filler.refresh(scope) is not None:
            self._filler.ask(scope)

    def rebuild(self, scope: str) -> int:
        if self._filler.refresh(scope) is None and not self._is_large(scope):
            return self._ram.rebuild(scope)
        self._filler.insist(scope, anew=True)
        return verbs.count(self._store, Where(scope=Scope(scope)))

    def check(self, scope: str) -> list[str]:
        if self._filler.refresh(scope) is None:
            return self._ram.check(scope)
        try:
            self._filler.insist(scope)
            placed = self._filler.refresh(scope)
            missed, ghosts = (0, 0) if placed is None else self._tables.compare(placed.at, scope, placed.seq)
        except VectorLost:
            return [f"scope {scope}: the index on the server is damaged; run `eidet rebuild`"]
        except (Misconfigured, Unavailable) as refused:
            return [f"scope {scope}: whether the index on the server agrees is not known: {refused}"]
        return report_faults(scope, missed, ghosts, 0)

    def cleanse(self, scope: str) -> list[str]:
        self._ram.cleanse(scope)
        failed = self._filler.cleanse(scope)
        placed = self._filler.refresh(scope)
        if placed is not None and not failed:
            if verbs.count(self._store, Where(scope=Scope(scope))):
                self._tables.vacuum(placed.at)
            else:
                self._filler.drop(scope)
        return failed

    def stats(self) -> dict[str, Any]:
        return self._ram.stats() | {"server_scopes": len(self._on_server), "copying": self._filler.busy}

    def close(self) -> None:
        self._filler.close()
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
