"""What indexes answer from shards in RAM, whatever their vector arm is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...core.errors import BadInput, Corrupt, Unavailable
from ...core.record import Record
from ...core.scope import Scope
from ...core.validate import Json
from ...core.where import Where
from ...store import Head, Store, verbs
from ...store.rules import check_order
from ...text import Analyzer, term_id
from ...text.sentences import units_of
from .. import (
    Candidates,
    Neighbours,
    Probe,
    Rows,
    Seqs,
    Traits,
    ValueMatch,
    ValuePath,
    WordStatistics,
)
from .arrays import distinct, run_starts
from .attributes import match_records
from .cache import BATCH, ScopeCache, V
from .filters import Resolve
from .lexicon import Lexicon, WordReader
from .shard import Shard
from .vectors import Scorer, VectorPlanes

D = TypeVar("D", bound=np.generic)

_COLUMNS: Final[dict[str, type[np.generic]]] = {
    "importance": np.float64,
    "occurred": np.float64,
    "turn": np.int32,
    "kind": np.uint8,
    "flags": np.uint8,
    "length": np.float32,
}


def merge_candidates(parts: list[Candidates]) -> Candidates:
    """Merges the candidates of several scopes (one per part); scores stay as they are."""
    if len(parts) == 1:
        return parts[0]
    damaged: Counter[str] = Counter()
    for part in parts:
        damaged.update(part.damaged)
    codes = [np.full(len(part), at, np.int32) for at, part in enumerate(parts)]
    seqs = _join([part.seq for part in parts], np.int64)
    order = np.argsort(seqs, kind="stable")
    traits = _merge_traits([part.traits for part in parts], order)
    return Candidates(
        scopes=[path for part in parts for path in part.scopes],
        scope=_join(codes, np.int32)[order],
        seq=seqs[order],
        dense=_join([part.dense for part in parts], np.float32)[order],
        words=_join([part.words for part in parts], np.float32)[order],
        traits=traits,
        rarity=max((part.rarity for part in parts), default=0.0),
        searched=sum(part.searched for part in parts),
        kept=sum(part.kept for part in parts),
        damaged=dict(damaged),
        notes=tuple(dict.fromkeys(note for part in parts for note in part.notes)),
    )


def _merge_traits(parts: list[Traits], order: Rows) -> Traits:
    columns: dict[str, Any] = {
        name: _join([getattr(part, name) for part in parts], dtype)[order] for name, dtype in _COLUMNS.items()
    }
    voices = {who: at for at, who in enumerate(dict.fromkeys(who for part in parts for who in part.voices))}
    starts = np.cumsum([0, *(len(part.turn) for part in parts)]).tolist()
    place = np.argsort(order).astype(np.int32)  # of each row, once they are in order
    session, who, days, first = [], [], [np.empty((0, 3), np.int32)], 0
    for part, start in zip(parts, starts, strict=False):
        session.append(np.where(part.session >= 0, part.session + first, part.session))
        first += int(part.session.max(initial=-1)) + 1  # so that no two scopes share a session
        who.append(np.array([*map(voices.__getitem__, part.voices), -1], np.int32)[part.who])
        days.append(np.column_stack((place[part.days[:, 0] + start], part.days[:, 1:])))
    return Traits(
        **columns,
        session=_join(session, np.int32)[order],
        who=_join(who, np.int32)[order],
        days=np.concatenate(days),
        voices=tuple(voices),
        mentions=tuple(
            np.concatenate(masks)[order] for masks in zip(*(part.mentions for part in parts), strict=True)
        ),
        inside=_join_optional([part.inside for part in parts], order),
        aligned=_join_optional([part.aligned for part in parts], order),
    )


def _join_optional(parts: Sequence[NDArray[D] | None], order: Rows) -> NDArray[D] | None:
    """Joins optional arrays; None if any is None or there are none."""
    there = [part for part in parts if part is not None]
    return np.concatenate(there)[order] if there and len(there) == len(parts) else None


def _join(arrays: Sequence[NDArray[Any]], dtype: type[D]) -> NDArray[D]:
    return np.concatenate(arrays).astype(dtype) if arrays else np.empty(0, dtype)


class ShardIndex(Generic[V]):
    """What indexes share that keep shards in RAM: all of `Index` but `search` and `rebuild`.

    Queries the shards of a cache, and the store for what columns lack: ids, conditions and texts.
    """

    def __init__(
        self,
        store: Store,
        cache: ScopeCache[V],
        lexicon: Lexicon | None = None,
        analyzer: Analyzer | None = None,
    ) -> None:
        self._store = store
        self.cache: ScopeCache[V] = cache
        self._lexicon, self._analyzer = lexicon, analyzer

    def search_scope(self, scope: str, head: Head, probe: Probe) -> Candidates:
        return self.cache.ask(scope, head, partial(self.search_shard, probe))

    def search_shard(
        self, probe: Probe, shard: Shard[VectorPlanes], scorer: Scorer | None = None
    ) -> Candidates:
        return shard.search(probe, self.resolve_in(shard), self.words_in(shard), scorer)

    def count_terms(self, scope: str, head: Head, terms: Sequence[int]) -> tuple[str, WordStatistics]:
        return scope, self.cache.ask(scope, head, lambda shard: shard.count_terms(terms))

    def select(
        self, scope: Scope, where: Where | None, *, now: float, order: str, limit: int
    ) -> list[tuple[str, int]]:
        name, descending = check_order(order)
        if name == "uses":
            raise BadInput("the index does not keep uses; `find` orders by them")

        def pick(shard: Shard[V]) -> list[tuple[float, int, str]]:
            return _pick_first(shard, self._pass_rows(shard, where, now), name, descending, limit)

        head = self.cache.read_head()
        keys: list[tuple[float, int, str]] = []
        for path in verbs.list_paths(self._store, scope):
            keys += self.cache.ask(path, head, pick)
        keys.sort()
        return [(path, abs(seq)) for _, seq, path in keys[:limit]]

    def _pass_rows(self, shard: Shard[V], where: Where | None, now: float) -> Rows:
        keep = shard.columns.select_passing(where, now, self.resolve_in(shard))
        first = shard.columns.unit == 0
        return np.flatnonzero(first if keep is None else keep & first)

    def around(
        self, scope: str, seqs: Sequence[int], reach: int, where: Where | None, *, now: float
    ) -> dict[int, Neighbours]:
        def walk(shard: Shard[V]) -> dict[int, Neighbours]:
            return shard.around(seqs, reach, where, now, self.resolve_in(shard))

        return self.cache.ask(scope, self.cache.read_head(), walk)

    def match_values(
        self, scope: str, seqs: Seqs, wanted: Mapping[ValuePath, Json]
    ) -> dict[ValuePath, ValueMatch]:
        def match(shard: Shard[V]) -> dict[ValuePath, ValueMatch] | None:
            held = shard.columns.seq
            rows = held.searchsorted(seqs)
            if len(rows) and (rows[-1] >= len(held) or not np.array_equal(held[rows], seqs)):
                return None  # some were deleted meanwhile
            return shard.attributes.match(wanted, rows, held, partial(self._read_records, shard.scope))

        found = self.cache.ask(scope, self.cache.read_head(), match)
        return match_records(self._read_records(scope, seqs.tolist()), wanted) if found is None else found

    def voices(self, scope: Scope, head: Head | None = None) -> tuple[str, ...]:
        return merge_voices(self.cache.ask_each(scope, head, self.list_voices))

    def list_voices(self, scope: str, head: Head) -> tuple[str, ...]:
        return self.cache.ask(scope, head, lambda shard: shard.columns.voices)

    def follow(self, scope: str) -> None:
        if self.cache.peek(scope) is not None:
            self.cache.ask(scope, self.cache.read_head(), lambda shard: shard.head)

    def cleanse(self, scope: str) -> list[str]:
        """Follows the scope, and drops columns of values, which may hold those of deleted records.

        Cache files are not searched for erased records, as they are deleted whole.
        """
        if self.cache.peek(scope) is not None:
            self.cache.ask(scope, self.cache.read_head(), lambda shard: shard.attributes.clear())
        return []

    def check(self, scope: str) -> list[str]:
        def list_seqs(shard: Shard[V]) -> tuple[set[int], set[int]]:
            columns = shard.columns
            return set(columns.seq[columns.alive].tolist()), set(shard.damaged)

        held, damaged = self.cache.ask(scope, self._store.head(), list_seqs)
        truth = set(self._store.match(Where(scope=Scope(scope))))
        return report_faults(scope, len(truth - held - damaged), len(held - truth), len(damaged))

    def stats(self) -> dict[str, Any]:
        shards = self.cache.shards
        return {
            "loaded_scopes": len(shards),
            "loaded_records": sum(shard.records for shard in shards),
            "memory_bytes": self.cache.nbytes,
        }

    # Queries to the store, for what columns do not hold.

    def resolve_in(self, shard: Shard[VectorPlanes]) -> Resolve:
        """Returns a function that finds the seqs of a shard that pass ids and conditions."""
        return partial(self._resolve, shard)

    def _resolve(self, shard: Shard[VectorPlanes], where: Where) -> Seqs:
        if where.ids is None:
            seqs = shard.columns.seq
            try:
                held = shard.attributes.holding(
                    where.conditions, seqs, partial(self._read_records, shard.scope)
                )
            except (Corrupt, Unavailable):  # a record cannot be read; the store need not read records whole
                held = None
            if held is not None:
                return seqs[held]
        return np.array(self._store.match(where), np.int64)

    def _read_records(self, scope: str, seqs: list[int]) -> Iterator[Record | None]:
        for start in range(0, len(seqs), BATCH):
            yield from self._store.read(scope, seqs[start : start + BATCH])

    def words_in(self, shard: Shard[VectorPlanes]) -> WordReader | None:
        """Returns a reader of the vectors of a scope's words; None without a lexicon."""
        return None if self._lexicon is None else self._lexicon.reader(partial(self._spell, shard))

    def _spell(self, shard: Shard[VectorPlanes], unknown: Sequence[int]) -> dict[int, str]:
        """Returns the terms of ids, found in texts of the scope that contain them."""
        assert self._analyzer is not None
        which, rows, _ = shard.postings.lookup(unknown)
        order = np.argsort(which, kind="stable")
        first = order[run_starts(which[order])]
        seqs = distinct(shard.columns.seq[rows[first]])
        terms: set[str] = set()
        for record in self._read_records(shard.scope, seqs.tolist()):
            for text in () if record is None else _list_texts(record):
                terms.update(self._analyzer.terms(text))
        wanted = set(unknown)
        found: dict[int, str] = {}
        for term in terms:
            if (id := term_id(term)) in wanted:
                found[id] = min(term, found.get(id, term))  # if two share an id, always the same one
        return found


def merge_voices(parts: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Lists the speakers of several scopes; a single scope keeps its order."""
    if len(parts) == 1:
        return parts[0]
    return tuple(dict.fromkeys(who for part in parts for who in part if who))


def report_faults(scope: str, missed: int, ghosts: int, damaged: int) -> list[str]:
    """Lists the differences between an index and its store as sentences."""
    faults = []
    if missed:
        faults.append(f"scope {scope}: the index misses {missed:,} records; run `eidet rebuild`")
    if ghosts:
        faults.append(f"scope {scope}: the index still holds {ghosts:,} records; run `eidet rebuild`")
    if damaged:
        faults.append(f"scope {scope}: {damaged:,} records are damaged; restore a copy or an export")
    return faults


def _list_texts(record: Record) -> set[str]:
    """Returns the texts that a record's terms came from: the whole text, or each unit."""
    text, speaker = record.whole.text, f"{record.who}: " if record.who else ""
    return {speaker + part for part in (text, *units_of(text))}


def _pick_first(
    shard: Shard[VectorPlanes], rows: Rows, name: str, descending: bool, limit: int
) -> list[tuple[float, int, str]]:
    """Returns sort keys (value, seq, scope) of the first `limit` rows by a column, absent values last."""
    sign = -1 if descending else 1
    values = shard.columns.arrays[name][rows] * float(sign)
    values[np.isnan(values)] = np.inf
    if len(rows) > limit * 4 > 0:
        near = values <= np.partition(values, limit - 1)[limit - 1]
        rows, values = rows[near], values[near]
    seqs = shard.columns.seq[rows] * sign
    order = np.lexsort((seqs, values))[:limit]
    return [(float(values[i]), int(seqs[i]), shard.scope) for i in order]
