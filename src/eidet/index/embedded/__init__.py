"""The embedded index: scopes in RAM, loaded on first use, dropped when memory runs short."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ...core.scope import Scope
from ...core.validate import Json
from ...core.where import Where
from ...store import Head, Store
from ...text import Analyzer
from .. import Candidates, Floats, Neighbours, Probe, Seqs, ValueMatch, ValuePath, WordStatistics
from .cache import ScopeCache
from .lexicon import Lexicon
from .queries import ShardQueries, merge_candidates, merge_voices
from .sidecar import Sidecars
from .vectors import VectorPlanes


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedSettings:
    """The RAM limit of the index, and the number of records from which on a scope gets a cache file."""

    memory_mb: int = 1024
    sidecar_from: int = 20_000


class EmbeddedIndex:
    """Follows a store by its seq: before each search it reads the changes since the last one.

    `cache` and `queries` answer for single scopes, for an index that keeps its other scopes elsewhere.
    """

    def __init__(
        self,
        store: Store,
        width: int,
        *,
        folder: Path | None = None,
        settings: EmbeddedSettings | None = None,
        renewed: Callable[[], None] | None = None,
        lexicon: Lexicon | None = None,
        analyzer: Analyzer | None = None,
    ) -> None:
        how = settings or EmbeddedSettings()
        self._store = store
        self.sidecars: Sidecars = Sidecars(folder, store, width, how.sidecar_from)
        self.cache: ScopeCache[VectorPlanes] = ScopeCache(
            store, self.sidecars, memory_mb=how.memory_mb, renewed=renewed
        )
        self.queries: ShardQueries[VectorPlanes] = ShardQueries(store, self.cache, lexicon, analyzer)

    def search(self, probe: Probe) -> Candidates:
        if probe.scope.is_one:
            return self.queries.search(probe.scope.path, self.cache.read_head(probe.head), probe)
        count = partial(self.queries.count_terms, terms=probe.terms)
        counted = self.cache.ask_each(probe.scope, probe.head, count)
        probe = replace(probe, statistics=_merge_statistics([statistics for _, statistics in counted]))
        parts: list[Candidates] = []
        for path, _ in sorted(counted, key=lambda one: -one[1].units):
            parts.append(self.queries.search(path, self.cache.read_head(probe.head), probe))
            probe = replace(probe, floors=_find_floors(parts, probe.depth))
        return merge_candidates(parts)

    def select(
        self, scope: Scope, where: Where | None, *, now: float, order: str, limit: int
    ) -> list[tuple[str, int]]:
        return self.queries.select(scope, where, now=now, order=order, limit=limit)

    def around(
        self, scope: str, seqs: Sequence[int], reach: int, where: Where | None, *, now: float
    ) -> dict[int, Neighbours]:
        return self.queries.around(scope, seqs, reach, where, now=now)

    def match_values(
        self, scope: str, seqs: Seqs, wanted: Mapping[ValuePath, Json]
    ) -> dict[ValuePath, ValueMatch]:
        return self.queries.match_values(scope, seqs, wanted)

    def voices(self, scope: Scope, head: Head | None = None) -> tuple[str, ...]:
        return merge_voices(self.cache.ask_each(scope, head, self.queries.list_voices))

    def follow(self, scope: str) -> None:
        self.queries.follow(scope)

    def cleanse(self, scope: str) -> list[str]:
        """Cache files are not searched for erased records, as they are deleted whole."""
        self.queries.cleanse(scope)
        return []

    def rebuild(self, scope: str) -> int:
        self.cache.drop(scope)
        self.sidecars.remove(scope)  # after the drop, which may save the file again
        return self.cache.ask(scope, self._store.head(), lambda shard: shard.records)

    def check(self, scope: str) -> list[str]:
        return self.queries.check(scope)

    def stats(self) -> dict[str, Any]:
        return self.queries.stats()

    def close(self) -> None:
        self.cache.drop_all()


def _merge_statistics(parts: list[WordStatistics]) -> WordStatistics:
    """Merges the BM25 statistics of several scopes."""
    holding = tuple(sum(counts) for counts in zip(*[part.holding for part in parts], strict=True))
    return WordStatistics(holding, sum(part.units for part in parts), sum(part.terms for part in parts))


def _find_floors(parts: Sequence[Candidates], depth: int) -> tuple[float, float]:
    """Returns the scores, by vector and by words, that at least `depth` of the candidates reach."""
    dense = _find_floor([part.dense for part in parts], depth, -math.inf)
    return dense, _find_floor([part.words for part in parts], depth, 0.0)


def _find_floor(parts: Sequence[Floats], depth: int, least: float) -> float:
    scores = np.concatenate(parts)
    return least if len(scores) <= depth else float(np.partition(scores, -depth)[-depth])
