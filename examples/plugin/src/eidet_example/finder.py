"""A search engine as index: `Settings(index="plain")`. This one reads the scope and compares each record."""

from __future__ import annotations

from typing import Any

import numpy as np

from eidet.core.record import Record
from eidet.core.scope import Scope
from eidet.core.where import Where
from eidet.index import Floats, Probe, Scores
from eidet.index.embedded.postings import Postings
from eidet.index.outside import OutsideIndex
from eidet.models.embed.quantise import dequantise_all
from eidet.store import Store, verbs
from eidet.text.analysis import decode_analysis


def plain(store: Store, width: int, **parts: Any) -> OutsideIndex:
    """Eidet calls this. Filters, sessions, speakers, dates and ranking come with Eidet."""
    del parts
    return OutsideIndex(store, width, PlainFinder(store, width))


class PlainFinder:
    """What `eidet.index.Finder` asks for."""

    def __init__(self, store: Store, width: int) -> None:
        self._store, self._width = store, width

    def find(self, scope: str, probe: Probe) -> Scores:
        records = list(verbs.scan(self._store, Where(scope=Scope(scope))))
        where = () if probe.where is None else (probe.where,)
        passing = set(self._store.match(Where(scope=Scope(scope), alive_at=probe.now, every=where)))
        rows = [row for row, record in enumerate(records) if record.seq in passing]
        words, rarity = _score_words(records, probe.terms)
        return Scores(
            seq=np.array([records[row].seq for row in rows], np.int64),
            dense=self._score_vectors([records[row] for row in rows], probe.vector),
            words=words[rows],
            rarity=rarity,
        )

    def close(self) -> None:
        """Nothing is held."""

    def _score_vectors(self, records: list[Record], query: Floats | None) -> Floats | None:
        """The cosine of the best unit of each record."""
        if query is None:
            return None
        scores = np.zeros(len(records), np.float32)
        vectors = dequantise_all([r.vector for r in records], [r.level for r in records], self._width)
        for at, blob in enumerate(vectors):
            if blob:
                units = np.frombuffer(blob, np.float32).reshape(-1, self._width)
                lengths = np.linalg.norm(units, axis=1) * np.linalg.norm(query)
                scores[at] = (units @ query / np.maximum(lengths, 1e-12)).max()
        return scores


def _score_words(records: list[Record], terms: tuple[int, ...]) -> tuple[Floats, float]:
    """BM25 of the best unit of each record, and what all terms weigh."""
    units = [decode_analysis(record.terms).units or (b"",) for record in records]
    postings, best = Postings(), np.zeros(len(records), np.float32)
    postings.append([unit for some in units for unit in some])
    if not terms or not records:
        return best, 0.0
    total = float(postings.lengths[: postings.count].sum())
    scores, rarity = postings.bm25(terms, alive=None, live=postings.count, total=total)
    np.maximum.at(best, np.repeat(np.arange(len(records)), [len(some) for some in units]), scores)
    return best, float(rarity.sum())
