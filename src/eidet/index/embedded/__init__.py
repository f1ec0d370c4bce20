"""The embedded index: scopes in RAM, loaded on first use, dropped when memory runs short."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from ...store import Store
from ...text import Analyzer
from .. import Candidates, Floats, Probe, WordStatistics
from .cache import ScopeCache
from .lexicon import Lexicon
from .queries import ShardIndex, merge_candidates
from .shard import Shard
from .sidecar import Sidecars
from .vectors import VectorPlanes


class EmbeddedIndex(ShardIndex[VectorPlanes]):
    """Follows a store by its seq: before each search it reads the changes since the last one.

    Its methods for single scopes also serve an index that keeps its other scopes elsewhere.
    """

    def __init__(
        self,
        store: Store,
        width: int,
        *,
        folder: Path | None = None,
        memory_mb: int = 1024,
        sidecar_from: int = 20_000,
        renewed: Callable[[], None] | None = None,
        lexicon: Lexicon | None = None,
        analyzer: Analyzer | None = None,
    ) -> None:
        """`memory_mb` limits the RAM; a scope of `sidecar_from` rows or more gets a cache file."""
        self.sidecars: Sidecars = Sidecars(folder, store, width, sidecar_from)
        cache = ScopeCache(
            store,
            lambda scope: Shard(scope, VectorPlanes(width)),
            memory_mb=memory_mb,
            files=self.sidecars,
            renewed=renewed,
        )
        super().__init__(store, cache, lexicon, analyzer)

    def search(self, probe: Probe) -> Candidates:
        if probe.scope.is_one:
            return self.search_scope(probe.scope.path, self.cache.read_head(probe.head), probe)
        count = partial(self.count_terms, terms=probe.terms)
        counted = self.cache.ask_each(probe.scope, probe.head, count)
        probe = replace(probe, statistics=_merge_statistics([statistics for _, statistics in counted]))
        head, parts = self.cache.read_head(probe.head), list[Candidates]()
        for path, _ in sorted(counted, key=lambda one: -one[1].units):
            parts.append(self.search_scope(path, head, probe))
            if len(parts) == 1:  # the largest scope tells best which records of the others can be candidates
                probe = replace(probe, floors=_find_floors(parts[0], probe.depth))
        return merge_candidates(parts)

    def rebuild(self, scope: str) -> int:
        self.cache.drop(scope)
        self.sidecars.remove(scope)  # after the drop, which may save the file again
        return self.cache.ask(scope, self._store.head(), lambda shard: shard.records)

    def close(self) -> None:
        self.cache.drop_all()


def _merge_statistics(parts: list[WordStatistics]) -> WordStatistics:
    """Merges the BM25 statistics of several scopes."""
    holding = tuple(sum(counts) for counts in zip(*[part.holding for part in parts], strict=True))
    return WordStatistics(holding, sum(part.units for part in parts), sum(part.terms for part in parts))


def _find_floors(found: Candidates, depth: int) -> tuple[float, float]:
    """Returns the scores, by vector and by words, that at least `depth` of the candidates reach."""
    return _find_floor(found.dense, depth, -math.inf), _find_floor(found.words, depth, 0.0)


def _find_floor(scores: Floats, depth: int, least: float) -> float:
    return least if len(scores) <= depth else float(np.partition(scores, -depth)[-depth])
