"""An index over an outside search engine, which names candidates; the store supplies everything else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any, Final

import numpy as np

from ..core.errors import BadInput, Corrupt
from ..core.record import Record
from ..core.scope import Scope
from ..core.validate import Json
from ..core.where import Where
from ..store import Changes, Head, Store, verbs
from ..store.model import entry_of
from ..store.rules import check_order
from . import (
    Candidates,
    Finder,
    Floats,
    Found,
    ListsRecords,
    Neighbours,
    Probe,
    Seqs,
    ValueMatch,
    ValuePath,
)
from .embedded.attributes import match_records
from .embedded.columns import NONE
from .embedded.lexicon import WordReader
from .embedded.postings import Bm25
from .embedded.queries import merge_candidates, merge_voices
from .embedded.row_traits import portray
from .embedded.shard import Shard
from .embedded.vectors import VectorPlanes, unit

BATCH: Final = 1_000  # records read from the store at once

PlaneShard = Shard[VectorPlanes]
_ReadWords = Callable[[PlaneShard], WordReader | None]


class OutsideIndex:
    """A full `Index` over a `Finder`; everything that the finder does not return is read from the store.

    Each search reads its candidates and the order of their sessions; the first search after a change also
    reads all voices. With `words_in`, words of similar meaning are aligned.
    """

    def __init__(
        self, store: Store, width: int, finder: Finder, *, words_in: _ReadWords | None = None
    ) -> None:
        self._store, self._width, self._finder, self._read_words = store, width, finder, words_in
        self._voices: dict[str, tuple[Head, tuple[str, ...]]] = {}  # by scope, each read at its head

    def search(self, probe: Probe) -> Candidates:
        paths = verbs.list_paths(self._store, probe.scope)
        return merge_candidates([self.search_scope(path, probe) for path in paths])

    def search_scope(self, path: str, probe: Probe) -> Candidates:
        found = self._finder.find(path, probe)
        living = _living(Scope(path), probe.where, probe.now)
        records = self._read(path, found.seq, living)
        lines = self._list_turns(path, sorted({r.session for r in records if r.session is not None}))
        beside = _list_beside(lines, found.leading) - set(found.seq.tolist())
        if beside:
            records = sorted(
                records + self._read(path, np.array(list(beside), np.int64), living), key=lambda r: r.seq
            )
        turns = {seq: turn for line in lines for turn, seq in enumerate(line)}
        described = self._describe(path, probe, found, records, turns)
        searched, kept = found.searched, found.kept
        if searched is None:
            searched = verbs.count(self._store, Where(scope=Scope(path)))
        if kept is None:
            kept = verbs.count(self._store, living)
        return replace(described, searched=searched, kept=kept)

    def _describe(
        self, path: str, probe: Probe, found: Found, records: Sequence[Record], turns: dict[int, int]
    ) -> Candidates:
        """Describes the records as an index of the whole scope would."""
        known = self.list_voices(path, probe.head)
        voices = tuple(dict.fromkeys([*known, *(record.who for record in records if record.who)]))
        shard: PlaneShard = Shard(path, VectorPlanes(self._width))
        shard.columns.codes["who"] = {who: at for at, who in enumerate(voices)}
        shard.apply(Changes(shard.head, [entry_of(record) for record in records], ()))
        rows, statistics = np.arange(shard.count), found.statistics
        dense = _compare_vectors(shard, probe)
        words, weights = np.zeros(shard.count, np.float32), np.zeros(len(probe.terms), np.float32)
        if probe.terms and shard.count:
            counted = statistics or shard.count_terms(probe.terms)
            scale = Bm25.of_terms(np.array(counted.holding, np.intp), counted.units, counted.terms)
            words, weights = shard.postings.bm25(probe.terms, scale=scale)
        aligned = None
        if statistics is not None and self._read_words is not None:
            aligned = shard.align_words(probe, rows, self._read_words(shard), weights)
        turn = np.array([turns.get(seq, NONE) for seq in shard.columns.seq.tolist()], np.int32)
        return shard.describe(
            probe,
            portray(shard.columns, shard.postings, rows, turn),
            dense,
            words,
            aligned,
            rarity=float(weights.sum()),
            kept=shard.records,
            voices=voices,
        )

    def select(
        self, scope: Scope, where: Where | None, *, now: float, order: str, limit: int
    ) -> list[tuple[str, int]]:
        if check_order(order)[0] == "uses":
            raise BadInput("the index does not keep uses; `find` orders by them")
        found = self._store.find(_living(scope, where, now), order=order, limit=limit)
        return [(record.scope, record.seq) for record in found]

    def around(
        self, scope: str, seqs: Sequence[int], reach: int, where: Where | None, *, now: float
    ) -> dict[int, Neighbours]:
        records, found = self._read(scope, np.array(seqs, np.int64)), {}
        for name in {record.session for record in records if record.session is not None}:
            of_session = Where(session=name) if where is None else Where(session=name, every=(where,))
            passing = set(self._store.match(_living(Scope(scope), of_session, now)))
            for line in self._list_turns(scope, [name]):
                for seq in passing.intersection(seqs, line):
                    found[seq] = _look_around(line, line.index(seq), reach, passing)
        return found

    def match_values(
        self, scope: str, seqs: Seqs, wanted: Mapping[ValuePath, Json]
    ) -> dict[ValuePath, ValueMatch]:
        pages = (seqs[start : start + BATCH].tolist() for start in range(0, len(seqs), BATCH))
        return match_records((one for page in pages for one in self._store.read(scope, page)), wanted)

    def voices(self, scope: Scope, head: Head | None = None) -> tuple[str, ...]:
        return merge_voices([self.list_voices(path, head) for path in verbs.list_paths(self._store, scope)])

    def follow(self, scope: str) -> None:
        """Does nothing: this index keeps nothing that could be out of date."""

    def cleanse(self, scope: str) -> list[str]:
        del scope
        return []

    def rebuild(self, scope: str) -> int:
        return verbs.count(self._store, Where(scope=Scope(scope)))

    def check(self, scope: str) -> list[str]:
        del scope
        return []

    def stats(self) -> dict[str, Any]:
        return {"finder": type(self._finder).__name__}

    def close(self) -> None:
        self._finder.close()

    # Reading from the store.

    def _read(self, path: str, seqs: Seqs, where: Where | None = None) -> list[Record]:
        """Reads records by ascending seq; leaves out those that are deleted, damaged or do not pass."""
        rising = np.unique(seqs).tolist()
        pages = [rising[start : start + BATCH] for start in range(0, len(rising), BATCH)]
        read = [record for page in pages for record in self._read_sound(path, page)]
        return read if where is None else [record for record in read if where.matches(record)]

    def _read_sound(self, path: str, seqs: list[int]) -> list[Record]:
        try:
            return [record for record in self._store.read(path, seqs) if record is not None]
        except Corrupt:
            if len(seqs) == 1:
                return []
            return [record for seq in seqs for record in self._read_sound(path, [seq])]

    def _list_turns(self, path: str, sessions: Sequence[str]) -> list[list[int]]:
        if sessions and isinstance(self._finder, ListsRecords):
            return self._finder.list_turns(path, sessions)
        wheres = [Where(scope=Scope(path), session=name) for name in sessions]
        return [[r.seq for r in self._store.find(where, order="occurred")] for where in wheres]

    def list_voices(self, path: str, head: Head | None = None) -> tuple[str, ...]:
        """Lists every `who` of a scope at `head`, by default the store's present one."""
        head, known = head or self._store.head(), self._voices.get(path)
        if known is None or known[0] != head:
            known = self._voices[path] = (head, self._hear(path))
        return known[1]

    def _hear(self, path: str) -> tuple[str, ...]:
        if isinstance(self._finder, ListsRecords):
            return self._finder.list_voices(path)
        records = verbs.scan(self._store, Where(scope=Scope(path)))
        return tuple(dict.fromkeys(record.who for record in records if record.who is not None))


def _living(scope: Scope, where: Where | None, now: float) -> Where:
    return Where(scope=scope, alive_at=now, every=() if where is None else (where,))


def _list_beside(lines: Sequence[Sequence[int]], leading: Sequence[int]) -> set[int]:
    """Returns the leading seqs and those right before and after them in their sessions."""
    wanted, beside = set(leading), set[int]()
    for line in lines:
        for at in [at for at, seq in enumerate(line) if seq in wanted]:
            beside.update(line[max(at - 1, 0) : at + 2])
    return beside


def _look_around(line: Sequence[int], at: int, reach: int, passing: set[int]) -> Neighbours:
    after = [i for i in range(at + 1, len(line)) if line[i] in passing][:reach]
    before = [i for i in range(at - 1, -1, -1) if line[i] in passing][:reach]
    pairs = zip_longest(after, before)
    return Neighbours(at, tuple((line[i], i) for pair in pairs for i in pair if i is not None))


def _compare_vectors(shard: PlaneShard, probe: Probe) -> Floats:
    """Computes the exact cosine of each row; 0 for one without a vector."""
    dense = np.zeros(shard.count, np.float32)
    if probe.vector is not None and shard.count:
        rows = np.flatnonzero(shard.vectors.scale[: shard.count] > 0)
        dense[rows] = shard.vectors.exact(unit(probe.vector), rows)
    return dense
