"""The read path: understand → search per arm under one Where → fuse → fetch → explain."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from ..embed import Embedder, checked
from ..embed.bytes import packed, row_of
from ..index import Floats, Found, Index, Probe
from ..model import Hit, Hits, Reasons, Record, Scope, Trace
from ..store import Store
from ..text import Analyzer, term_id, unpack
from ..where import Where
from .fuse import BALANCED, Ranked, Recipe, fuse, with_uses

LOOKS = 3  # at most, when what was found has changed before it could be read
_MARKS = ".,;:!?()[]'\"“”‘’…"

__all__ = ["BALANCED", "Query", "Recall", "Recipe"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A question to the memory, as a verb has understood its arguments."""

    text: str
    scope: Scope
    now: float
    limit: int = 10
    where: Where | None = None
    vector: object = None
    recipe: Recipe = BALANCED
    order: str = "-occurred"
    explain: bool = False


@dataclass(slots=True)
class _Clock:
    """Milliseconds per stage."""

    at: float = field(default_factory=time.perf_counter)
    millis: dict[str, float] = field(default_factory=dict)

    def lap(self, stage: str) -> None:
        now = time.perf_counter()
        self.millis[stage] = (now - self.at) * 1000
        self.at = now


@dataclass(frozen=True, slots=True)
class Recall:
    """Answers questions from an index and its store. Writes nothing."""

    store: Store
    index: Index
    embedder: Embedder
    analyzer: Analyzer

    def answer(self, query: Query) -> Hits:
        clock = _Clock()
        if not query.text.strip() and query.vector is None:
            return self._listed(query, clock)
        terms = tuple(dict.fromkeys(self.analyzer.terms(query.text)))
        probe = self._probe(query, terms)
        clock.lap("understand")
        for _ in range(LOOKS):
            found = self.index.search(probe)
            clock.lap("search")
            ranked = fuse(found, query.recipe, query.limit, query.now)
            clock.lap("fuse")
            records = self._fetch(found, ranked)
            if None not in records:
                break  # else somebody wrote between the search and the fetch: look again
        hits = self._hits(ranked, records, terms, query)
        clock.lap("fetch")
        return Hits(hits, self._trace(query, terms, found, ranked, clock) if query.explain else None)

    def listed(
        self, where: Where | None, scope: Scope, *, now: float, order: str, limit: int, offset: int = 0
    ) -> list[Record]:
        """Living records that pass a filter, by a column of the index, or by one that only the store has."""
        if order.removeprefix("-") != "uses":
            chosen = self.index.select(scope, where, now=now, order=order, limit=limit + offset)[offset:]
            records = self._chosen(chosen)
            if len(records) == len(chosen):  # else somebody wrote meanwhile; the store tells of one moment
                return records
        living = Where(scope=scope, alive_at=now, every=() if where is None else (where,))
        return self.store.find(living, order=order, limit=limit, offset=offset)

    def _chosen(self, chosen: list[tuple[str, int]]) -> list[Record]:
        """The records that still are where the index says, one round trip per scope."""
        found: dict[int, Record | None] = {}
        for path in dict.fromkeys(path for path, _ in chosen):
            seqs = [seq for at, seq in chosen if at == path]
            found.update(zip(seqs, self.store.fetch(path, seqs), strict=True))
        return [record for _, seq in chosen if (record := found[seq]) is not None]

    def _probe(self, query: Query, terms: tuple[str, ...]) -> Probe:
        return Probe(
            scope=query.scope,
            now=query.now,
            where=query.where,
            vector=self._vector(query),
            terms=tuple(map(term_id, terms)) if query.recipe.words > 0 else (),
            depth=max(query.recipe.depth, 4 * query.limit),
        )

    def _vector(self, query: Query) -> Floats | None:
        if query.recipe.dense <= 0:
            return None
        if query.vector is not None:
            return row_of(packed(query.vector, self.embedder.width))
        row: Floats = checked(self.embedder, [query.text])[0]
        return row

    def _fetch(self, found: Found, ranked: Ranked) -> list[Record | None]:
        """The records of the ranked rows, one round trip per scope."""
        if len(found.scopes) == 1:
            return self.store.fetch(found.scopes[0], found.seq[ranked.rows].tolist())
        records: dict[int, Record | None] = {}
        for code in set(found.scope[ranked.rows].tolist()):
            seqs = [int(found.seq[row]) for row in ranked.rows if found.scope[row] == code]
            records.update(zip(seqs, self.store.fetch(found.scopes[code], seqs), strict=True))
        return [records[int(found.seq[row])] for row in ranked.rows]

    def _hits(
        self, ranked: Ranked, records: list[Record | None], terms: tuple[str, ...], query: Query
    ) -> list[Hit]:
        """Hits, best first. A record that went away since the search is left out."""
        hits = [
            Hit(record=record, score=score, reasons=partial(_reasons, ranked, at, record, query.text, terms))
            for at, (record, score) in enumerate(zip(records, ranked.scores, strict=True))
            if record is not None
        ]
        return (with_uses(hits, query.recipe) if query.recipe.uses > 0 else hits)[: query.limit]

    def _listed(self, query: Query, clock: _Clock) -> Hits:
        """Without words or a vector, the filter alone says what is meant; a column gives the order."""
        records = self.listed(query.where, query.scope, now=query.now, order=query.order, limit=query.limit)
        hits = [Hit(record=record, score=1.0) for record in records]
        clock.lap("search")
        trace = Trace(query=query.text, millis=clock.millis, notes=(f"ordered by {query.order}",))
        return Hits(hits, trace if query.explain else None)

    def _trace(
        self, query: Query, terms: tuple[str, ...], found: Found, ranked: Ranked, clock: _Clock
    ) -> Trace:
        arms = {name: self._arm(found, name) for name in ("dense", "words")}
        clock.lap("trace")
        return Trace(
            query=query.text,
            terms=terms,
            scopes=tuple(found.scopes),
            searched=found.searched,
            filtered=found.searched - found.kept,
            arms={name: best for name, best in arms.items() if best},
            weights=ranked.weights,
            millis=clock.millis,
        )

    def _arm(self, found: Found, name: str) -> tuple[tuple[str, float], ...]:
        """The candidates of one arm with their scores, best first."""
        scores = getattr(found, name)
        rows = np.flatnonzero(scores > 0)
        rows = rows[np.argsort(-scores[rows], kind="stable")]
        ranked = Ranked(rows=rows)
        records = self._fetch(found, ranked) if len(rows) else []
        return tuple(
            (record.id, float(scores[row])) for row, record in zip(rows, records, strict=True) if record
        )


def _reasons(ranked: Ranked, at: int, record: Record, text: str, terms: tuple[str, ...]) -> Reasons:
    held = unpack(record.terms).keys()
    matched = (term for term in terms if term_id(term) in held)
    return Reasons(signals=ranked.signals(at), matched=tuple(_spoken(text, term) for term in matched))


def _spoken(text: str, term: str) -> str:
    """The word of the query that a term stands for, as it was typed."""
    words = (word.strip(_MARKS) for word in text.casefold().split())
    return next((word for word in words if word.startswith(term[: max(3, len(term) - 1)])), term)
