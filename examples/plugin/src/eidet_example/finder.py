"""A search engine as index: `Settings(index="plain")`. This one reads the scope and compares each record."""

from __future__ import annotations

from typing import Any

import numpy as np

from eidet.core.scope import Scope
from eidet.core.where import Where
from eidet.index import Found, Probe, WordStatistics
from eidet.index.embedded.postings import Postings
from eidet.index.outside import OutsideIndex
from eidet.store import Store, verbs
from eidet.text.analysis import decode_analysis


def plain(store: Store, width: int, **parts: Any) -> OutsideIndex:
    """Eidet calls this. Filters, sessions, speakers, dates, scores and ranking come with Eidet."""
    del parts
    return OutsideIndex(store, width, PlainFinder(store))


class PlainFinder:
    """What `eidet.index.Finder` asks for. An engine would return the best `probe.depth` of each arm."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def find(self, scope: str, probe: Probe) -> Found:
        where = () if probe.where is None else (probe.where,)
        passing = self._store.match(Where(scope=Scope(scope), alive_at=probe.now, every=where))
        statistics = self._count_words(scope, probe.terms) if probe.terms else None
        return Found(seq=np.array(passing, np.int64), statistics=statistics)

    def _count_words(self, scope: str, terms: tuple[int, ...]) -> WordStatistics:
        """Counts the units of the whole scope that have each term, so that no filter changes a score."""
        postings = Postings()
        for record in verbs.scan(self._store, Where(scope=Scope(scope))):
            postings.append(decode_analysis(record.terms).units or (b"",))
        held = postings.count_rows(terms, None).tolist() if postings.count else [0] * len(terms)
        return WordStatistics(tuple(held), postings.count, float(postings.lengths[: postings.count].sum()))

    def close(self) -> None:
        """Nothing is held."""
