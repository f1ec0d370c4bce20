"""One scope on the server, with what was written since in RAM: both are searched as one."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final, TypeVar

import numpy as np

from ...store import Entry, Head
from ...store.sql.postgres.record_search import find_first_passing, list_voices, read_windows
from ...store.sql.postgres.searchable import SearchableDatabase
from .. import Candidates, Probe, Seqs, Span
from ..change_pages import Stale, read_changes
from ..embedded.arrays import distinct, top
from ..embedded.lexicon import WordReader
from ..embedded.picked import PickedRecords, scores_of
from ..embedded.postings import Bm25
from ..embedded.queries import report_faults
from ..embedded.shard import DEAD_ROWS, Shard
from ..embedded.vectors import VectorPlanes
from ..neighbours import LONG, REACH, number_apart, number_turns, number_windows
from . import sql
from .fill import PAGE
from .integrity import check_held
from .postings import Occurrences, join_occurrences, leave_out, read_blocks, read_shard, sum_scores
from .query import (
    NO_ARM,
    Arm,
    QueryPlanner,
    ServerQuery,
    Shortlist,
    judge_lowest,
    merge_arms,
    read_soundly,
    scale_scores,
)
from .tables import Build

T = TypeVar("T")

EXACT: Final = 8  # of the depth, this part is scored exactly
LEAST: Final = 100  # candidates, the best of both arms together …
BEST: Final = 40  # … and of each arm
LEADING: Final = 40  # candidates whose neighbours in the session are candidates, too
READ_AT_MOST: Final = 400_000  # occurrences of words that are read for a question, the rare ones first


class ServerScope:
    """A scope that has been copied, up to `build.copied`; the rest is in the tail. Safe from many threads."""

    def __init__(
        self, store: SearchableDatabase, scope: str, width: int, build: Build, ef_search: int, reign: int
    ) -> None:
        """`reign` is the one that `build` was read in."""
        self.build = build
        self.tail = Shard(scope, VectorPlanes(width))
        self.tail.head = Head(build.epoch, build.copied)
        self.lost = np.empty(0, np.int64)  # of what was copied, what is gone since
        self.lock = threading.RLock()
        self._less = (0, 0, 0.0)  # rows, records and terms that were lost
        self._store, self._scope, self._width, self._ef_search = store, scope, width, ef_search
        self._reign = reign
        self._voices: tuple[Head, tuple[str, ...]] | None = None
        self._planner = QueryPlanner(store, scope)

    # Following.

    def follow(self, head: Head) -> None:
        """Reads what was written since. `Stale` where the copy cannot be told what changed."""
        if head.epoch != self.build.epoch:
            raise Stale
        with self.lock:
            self._check_reign()
            if self.tail.head.seq >= head.seq:
                return
            for changes in read_changes(partial(self._store.changes_here, self._scope), self.tail.head, PAGE):
                self._check_reign()
                self.tail.apply(changes)
                self._lose([seq for seq in changes.gone if seq <= self.build.copied])

    def _check_reign(self) -> None:
        """Whoever took over may have another copy, and other records under the seqs of the tail."""
        if self._store.reigns != self._reign:
            raise Stale

    def _lose(self, gone: Sequence[int]) -> None:
        if gone:
            self.lost = distinct(np.concatenate((self.lost, np.array(gone, np.int64))))
            self._less = read_soundly(self._store.ask, lambda c: sql.measure(c, self.build, self.lost))

    def check(self) -> list[str]:
        """Where the copy and the store disagree, in words."""
        missed, ghosts, worded, graph = read_soundly(
            self._store.ask, lambda c: sql.compare(c, self.build, self._scope)
        )
        faults = report_faults(self._scope, missed, ghosts, len(self.damaged))
        if not worded:
            faults.append(
                f"scope {self._scope}: words of the index are missing or damaged; run `eidet rebuild`"
            )
        if not graph:
            faults.append(f"scope {self._scope}: {self.build.units} has no HNSW index; run `eidet rebuild`")
        return faults

    @property
    def live(self) -> int:
        return self.build.live - self._less[0] + self.tail.live

    @property
    def records(self) -> int:
        return self.build.records - self._less[1] + self.tail.records

    @property
    def total(self) -> float:
        return self.build.total - self._less[2] + self.tail.total

    @property
    def behind(self) -> int:
        """What a copy would have to do."""
        return self.tail.count + len(self.lost)

    @property
    def mostly_gone(self) -> bool:
        """Whether so much is gone that a new copy is worth its while."""
        return len(self.lost) > max(DEAD_ROWS, self.build.live // 4)

    @property
    def damaged(self) -> dict[int, str]:
        """Seq and tier of records that cannot be read, and are not searched."""
        return {**self.build.damaged, **self.tail.damaged}

    def read_voices(self, head: Head) -> tuple[str, ...]:
        told = self._voices
        if told is None or told[0] != head:
            self._voices = told = (head, self._look(lambda c: list_voices(c, self._scope)))
        return told[1]

    def _look(self, job: Callable[[Any], T]) -> T:
        return read_soundly(self._store.look, job)

    # Searching.

    def search(self, probe: Probe, head: Head, reader: Callable[[Any], WordReader | None]) -> Candidates:
        asked = self._planner.plan(probe, self.records)
        found, sound = self._search(asked, head, reader)
        if not sound:  # too much of what was found has expired or is gone
            found, _ = self._search(replace(asked, strict=True), head, reader)
        return found

    def _search(
        self, asked: ServerQuery, head: Head, reader: Callable[[Any], WordReader | None]
    ) -> tuple[Candidates, bool]:
        """What was found, and whether that is all that was to be found."""
        terms = asked.probe.terms
        dense, told, expired = self._look(lambda c: self._ask_arms(c, asked))
        with self.lock:
            postings, holding, unread = self._read_words(terms, told)
            scale = Bm25.of_terms(holding, self.live, self.total)
            tail = self._score_tail(asked)
        near = merge_arms(dense, self._choose_passing(asked, tail))
        hits = _score_words(scale, postings)
        chosen = self._shorten(asked, near, hits)
        entries, copied, lines = self._read_entries(asked, chosen, dense[0])
        near = merge_arms(merge_arms(near, copied), _pick_arm(tail, [entry.seq for entry in entries]))
        turns = self._read_turns(chosen, lines, entries)
        voices = self.read_voices(head)
        picked = PickedRecords(self._scope, self._width, entries, voices=voices, turns=turns)
        if unread:  # the candidates themselves tell which words they have
            hits = _score_words(scale, read_shard(picked.shard, terms))
        found = self._describe(asked, picked, near, hits, scale, reader(picked.shard))
        found = replace(
            found,
            damaged=dict(Counter(self.damaged.values())),
            searched=self.records,
            kept=self._count_kept(asked, expired),
        )
        left = np.isin(chosen.seqs, found.seq).sum()
        return found, asked.strict or left * 2 >= len(chosen.seqs)

    def _describe(
        self,
        asked: ServerQuery,
        picked: PickedRecords,
        near: Arm,
        hits: Arm,
        scale: Bm25,
        lexicon: WordReader | None,
    ) -> Candidates:
        probe, whole = asked.probe, asked.whole and picked.shard.count > 0
        dense = picked.sharpen(probe, scores_of(picked.seqs, *near))
        words = scores_of(picked.seqs, *hits)
        low, rarity = self._judge_low(asked, near), scale.rarity.astype(np.float32)
        spans = {
            "dense": Span(float(dense.min()) if whole else low, float(dense.max(initial=low))),
            "words": Span(float(words.min()) if whole else 0.0, float(words.max(initial=0.0))),
        }
        if probe.vector is None:
            spans["dense"] = Span()
        return picked.describe(
            probe,
            dense,
            words,
            spans,
            rarity=float(rarity.sum()),
            lexicon=lexicon,
            weights=rarity,
            whole=whole,
        )

    def _ask_arms(self, connection: Any, asked: ServerQuery) -> tuple[Arm, list[Sequence[Any]], int]:
        found = sql.ask_arms(connection, self.build, asked, self._scope, self._ef_search, READ_AT_MOST)
        (near, _), told, _ = found
        self._check_reign()
        if (asked.query is not None and not len(near)) or (asked.probe.terms and not told):
            check_held(connection, self.build)
        return found

    def _read_words(self, terms: Sequence[int], told: list[Sequence[Any]]) -> tuple[Occurrences, Any, bool]:
        """Where the terms occur in living units, in how many, and whether some were not read."""
        copied = leave_out(read_blocks(terms, told), self.lost)
        found = join_occurrences([copied, read_shard(self.tail, terms)])
        holding = np.bincount(found.which, minlength=len(terms))
        unread = [(term, size) for term, _, size, postings in told if postings is None]
        for term, size in unread:
            holding[terms.index(term)] += size
        return found, holding, bool(unread)

    def _score_tail(self, asked: ServerQuery) -> Arm:
        """The cosines of what was not copied yet."""
        columns, vectors = self.tail.columns, self.tail.vectors
        if asked.query is None or not columns.count:
            return NO_ARM
        keep = columns.alive & (columns.expires > asked.probe.now)
        rows = np.flatnonzero(keep & (vectors.scale[: columns.count] > 0))
        return merge_arms((columns.seq[rows], vectors.scan(asked.query, rows)), NO_ARM)

    def _shorten(self, asked: ServerQuery, near: Arm, hits: Arm) -> Shortlist:
        """Of the best of each arm those that are candidates, and what is told of them beyond that."""
        exact = near[0][top(near[1], max(1, asked.probe.depth // EXACT))]
        if asked.whole and asked.passing is not None:
            return Shortlist(asked.passing, exact, asked.passing[:0], asked.passing)
        pool = distinct(np.concatenate((near[0], self._choose_passing(asked, hits)[0])))
        dense, words = scale_scores(scores_of(pool, *near)), scale_scores(scores_of(pool, *hits))
        base = dense + words
        parts = (base, max(LEAST, asked.probe.depth // 4)), (dense, BEST), (words, BEST)
        rows = distinct(np.concatenate([top(scores, count) for scores, count in parts]))
        leading = pool[top(base, LEADING)]
        return Shortlist(pool[rows], np.intersect1d(exact, pool[rows]), leading, leading)

    def _choose_passing(self, asked: ServerQuery, arm: Arm) -> Arm:
        """The best of an arm that pass; asked for in the order of their scores where a filter is."""
        depth = asked.probe.depth
        if asked.passing is not None:
            arm = _pick_arm(arm, asked.passing)
        seqs, scores = arm
        if asked.passing is not None or not asked.strict or not len(seqs):
            best = np.sort(top(scores, depth))
            return seqs[best], scores[best]
        order = seqs[np.argsort(-scores, kind="stable")].tolist()
        chosen = self._look(lambda c: find_first_passing(c, asked.condition, order, depth))
        return _pick_arm(arm, chosen)

    def _read_entries(
        self, asked: ServerQuery, chosen: Shortlist, known: Seqs
    ) -> tuple[list[Entry], Arm, list[list[int]]]:
        entries, near, lines = self._look(
            lambda c: sql.read_entries(c, self.build, asked, self._scope, chosen, known, LONG + 1),
        )
        if asked.passing is not None and not asked.condition.exact:
            allowed = set(asked.passing.tolist())
            entries = [entry for entry in entries if entry.seq in allowed]
        return entries, near, lines

    def _read_turns(self, chosen: Shortlist, lines: list[list[int]], entries: list[Entry]) -> dict[int, int]:
        """The turns of candidates; those of sessions that were not read stand apart from each other."""
        turns = number_turns([line for line in lines if len(line) <= LONG])
        if any(len(line) > LONG for line in lines):
            unplaced = set(chosen.placed.tolist()) - turns.keys()
            long = {entry.session for entry in entries if entry.seq in unplaced and entry.session is not None}
            rest = [entry.seq for entry in entries if entry.session in long]
            turns |= number_windows(self._look(lambda c: read_windows(c, self._scope, rest, REACH)))
        return turns | number_apart([entry for entry in entries if entry.session and entry.seq not in turns])

    def _judge_low(self, asked: ServerQuery, near: Arm) -> float:
        """The lowest cosine of the scope, judged by a sample of it."""
        if asked.query is None or not len(near[1]):
            return 0.0
        return min(float(near[1].min()), judge_lowest(self.build.sample @ asked.query, self.live))

    def _count_kept(self, asked: ServerQuery, expired: int) -> int:
        if asked.passing is not None:
            return len(asked.passing)
        if asked.probe.where is None:
            return self.records - expired
        return self._planner.estimate(asked, self.records)


def _score_words(scale: Bm25, postings: Occurrences) -> Arm:
    return sum_scores(postings, scale.score(postings.which, postings.length.copy(), postings.times))


def _pick_arm(arm: Arm, wanted: Sequence[int] | Seqs) -> Arm:
    """Only what is wanted of an arm."""
    here = np.isin(arm[0], wanted)
    return arm[0][here], arm[1][here]
