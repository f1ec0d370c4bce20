"""An index made of somebody else's search engine: it scores, Eidet does the rest from the store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from ..core.errors import BadInput
from ..core.record import Record
from ..core.scope import Scope
from ..core.where import Where
from ..store import Head, Store, verbs
from ..store.model import entry_of
from ..store.rules import check_order
from . import Candidates, Finder, Floats, Neighbours, Probe, Scores, Seqs
from .embedded.merge import merge_candidates
from .embedded.picked import PickedRecords
from .embedded.queries import merge_voices
from .embedded.scored import ScoredSeqs
from .neighbours import SessionTurn, find_neighbours, number_turns

BATCH: Final = 1_000  # records read from the store at once


class OutsideIndex:
    """A full `Index` over a `Finder`: whatever a finder does not say is asked of the store.

    So each search reads its candidates and their sessions, and the first one after a change all voices.
    """

    def __init__(self, store: Store, width: int, finder: Finder) -> None:
        self._store, self._width, self._finder = store, width, finder
        self._voices: dict[str, tuple[Head, tuple[str, ...]]] = {}  # by scope, and when they were heard

    def search(self, probe: Probe) -> Candidates:
        return merge_candidates([self._search_scope(path, probe) for path in self._list_paths(probe.scope)])

    def _search_scope(self, path: str, probe: Probe) -> Candidates:
        found = self._finder.find(path, probe)
        records = self._read(path, found.seq)
        sessions = {record.session for record in records if record.session is not None}
        turns = number_turns(self._read_session(path, name) for name in sorted(sessions))
        picked = PickedRecords(
            path,
            self._width,
            [entry_of(record) for record in records],
            voices=self._list_voices(path),
            turns=turns,
        )
        return self._describe(path, probe, found, picked)

    def _describe(self, path: str, probe: Probe, found: Scores, picked: PickedRecords) -> Candidates:
        dense = _pick_scores(picked.seqs, found.seq, found.dense)
        words = _pick_scores(picked.seqs, found.seq, found.words)
        rarity = found.rarity or float(words.max(initial=0.0))
        described = picked.describe(probe, dense, words, rarity=rarity)
        return replace(
            described,
            spans={**described.spans, **found.spans},
            searched=verbs.count(self._store, Where(scope=Scope(path))),
            kept=verbs.count(self._store, _living(Scope(path), probe.where, probe.now)),
            notes=found.notes,
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
        records = self._read(scope, np.array(seqs, np.int64))
        passing = set(self._store.match(_living(Scope(scope), where, now)))
        sessions = {}
        for name in {record.session for record in records if record.session is not None}:
            line = self._read_session(scope, name)
            sessions[name] = [SessionTurn(seq, seq in passing) for seq in line]
        return find_neighbours(sessions, seqs, reach)

    def voices(self, scope: Scope, head: Head | None = None) -> tuple[str, ...]:
        del head
        return merge_voices([self._list_voices(path) for path in self._list_paths(scope)])

    def follow(self, scope: str) -> None:
        """Nothing is kept that would have to follow."""

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

    # What the store is asked.

    def _list_paths(self, scope: Scope) -> list[str]:
        return list(verbs.count_scopes(self._store, scope)) if scope.below else [scope.path]

    def _read(self, path: str, seqs: Seqs) -> list[Record]:
        """By rising seq; what is gone meanwhile is left out."""
        found: list[Record] = []
        rising = np.unique(seqs).tolist()
        for start in range(0, len(rising), BATCH):
            read = self._store.read(path, rising[start : start + BATCH])
            found += [record for record in read if record is not None]
        return found

    def _read_session(self, path: str, name: str) -> list[int]:
        """The seqs of a session in the order things happened."""
        return [r.seq for r in self._store.find(Where(scope=Scope(path), session=name), order="occurred")]

    def _list_voices(self, path: str) -> tuple[str, ...]:
        head, known = self._store.head(), self._voices.get(path)
        if known is not None and known[0] == head:
            return known[1]
        heard: dict[str, None] = {}
        for record in verbs.scan(self._store, Where(scope=Scope(path))):
            if record.who is not None:
                heard[record.who] = None
        self._voices[path] = (head, tuple(heard))
        return tuple(heard)


def _living(scope: Scope, where: Where | None, now: float) -> Where:
    return Where(scope=scope, alive_at=now, every=() if where is None else (where,))


def _pick_scores(wanted: Seqs, seqs: Seqs, scores: Floats | None) -> Floats:
    if scores is None:
        return np.zeros(len(wanted), np.float32)
    order = np.argsort(seqs, kind="stable")
    return ScoredSeqs(seqs[order], np.asarray(scores, np.float32)[order]).read(wanted)
