"""Scopes on the server, each with what was written since in RAM: both are searched as one."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from ...store import Entry, Head
from ...store.sql.postgres.record_search import find_first_passing, list_voices, read_windows
from ...store.sql.postgres.searchable import SearchableDatabase
from .. import Candidates, Probe
from ..change_pages import Stale, read_changes
from ..embedded.arrays import distinct, judge_lowest, scale_scores, top
from ..embedded.lexicon import WordReader
from ..embedded.occurrences import Occurrences, read_shard
from ..embedded.picked import PickedRecords
from ..embedded.postings import Bm25
from ..embedded.queries import report_faults
from ..embedded.scored import NONE_SCORED, ScoredSeqs
from ..embedded.shard import DEAD_ROWS
from ..neighbours import LONG, REACH, number_apart, number_turns, number_windows
from .fill import PAGE
from .postings import PlaneShard, begin_shard, read_blocks
from .query import CopyReader, QueryPlanner, ServerQuery, Shortlist
from .tables import Build, Damaged, check_held, read_build, read_soundly

if TYPE_CHECKING:
    from psycopg import Connection

log: logging.Logger = logging.getLogger("eidet.index")

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
        self.tail: PlaneShard = begin_shard(scope, width, Head(build.epoch, build.copied))
        self.lost = np.empty(0, np.int64)  # of what was copied, what is gone since
        self.lock: Final = threading.RLock()
        self._less = (0, 0, 0.0)  # rows, records and terms that were lost
        self._store, self._scope, self._width = store, scope, width
        self._copy = CopyReader(build, scope, ef_search)
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
            self._less = self._store.ask(read_soundly(partial(self._copy.measure, seqs=self.lost)))

    def check(self) -> list[str]:
        """Where the copy and the store disagree, in words."""
        missed, ghosts, worded, graph = self._store.ask(read_soundly(self._copy.compare))
        faults = report_faults(self._scope, missed, ghosts, len(self.damaged))
        scope, advice = f"scope {self._scope}", "run `eidet rebuild`"
        if not worded:
            faults.append(f"{scope}: words of the index are missing or damaged; {advice}")
        if not graph:
            faults.append(f"{scope}: {self.build.units} has no HNSW index; {advice}")
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
    def worth_a_new_copy(self) -> bool:
        """Whether that is made sooner than the one that is there is brought up to now."""
        return self.mostly_gone or self.behind > self.build.live

    @property
    def damaged(self) -> dict[int, str]:
        """Seq and tier of records that cannot be read, and are not searched."""
        return {**self.build.damaged, **self.tail.damaged}

    def read_voices(self, head: Head) -> tuple[str, ...]:
        voices = self._voices
        if voices is None or voices[0] != head:
            self._voices = voices = (head, self._look(lambda c: list_voices(c, self._scope)))
        return voices[1]

    def _look(self, job: Callable[[Any], T]) -> T:
        return self._store.ask(read_soundly(job))

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
        dense, blocks, expired = self._look(lambda c: self._ask_arms(c, asked))
        with self.lock:
            postings, holding, unread = self._read_words(terms, blocks)
            scale = Bm25.of_terms(holding, self.live, self.total)
            tail = self._score_tail(asked)
        near = dense.merge(self._choose_passing(asked, tail))
        hits = postings.score(scale)
        chosen = self._shorten(asked, near, hits)
        entries, copied, lines = self._look(
            lambda c: self._copy.read_entries(c, asked, chosen, known=dense.seqs)
        )
        near = near.merge(copied).merge(tail.pick([entry.seq for entry in entries]))
        turns = self._read_turns(chosen, lines, entries)
        voices = self.read_voices(head)
        picked = PickedRecords(self._scope, self._width, entries, voices=voices, turns=turns)
        if unread:  # the candidates themselves tell which words they have
            hits = read_shard(picked.shard, terms).score(scale)
        found = replace(
            self._describe(asked, picked, near, hits, scale, reader(picked.shard)),
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
        near: ScoredSeqs,
        hits: ScoredSeqs,
        scale: Bm25,
        lexicon: WordReader | None,
    ) -> Candidates:
        dense, words = picked.sharpen(asked.probe, near.read(picked.seqs)), hits.read(picked.seqs)
        low = None if asked.whole else self._judge_low(asked, near)
        weights = scale.rarity.astype(np.float32)
        return picked.describe(asked.probe, dense, words, weights=weights, lexicon=lexicon, low=low)

    def _ask_arms(self, connection: Any, asked: ServerQuery) -> tuple[ScoredSeqs, list[Sequence[Any]], int]:
        found = self._copy.ask_arms(connection, asked, READ_AT_MOST)
        near, blocks, _ = found
        self._check_reign()
        if (asked.query is not None and not len(near.seqs)) or (asked.probe.terms and not blocks):
            check_held(connection, self.build)
        return found

    def _read_words(self, terms: Sequence[int], blocks: list[Sequence[Any]]) -> tuple[Occurrences, Any, bool]:
        """Where the terms occur in living units, in how many, and whether some were not read."""
        found = read_blocks(terms, blocks).leave_out(self.lost).join(read_shard(self.tail, terms))
        holding = np.bincount(found.which, minlength=len(terms))
        unread = [(term, size) for term, _, size, postings in blocks if postings is None]
        for term, size in unread:
            holding[terms.index(term)] += size
        return found, holding, bool(unread)

    def _score_tail(self, asked: ServerQuery) -> ScoredSeqs:
        """The cosines of what was not copied yet."""
        columns, vectors = self.tail.columns, self.tail.vectors
        if asked.query is None or not columns.count:
            return NONE_SCORED
        keep = columns.alive & (columns.expires > asked.probe.now)
        rows = np.flatnonzero(keep & (vectors.scale[: columns.count] > 0))
        return NONE_SCORED.merge(ScoredSeqs(columns.seq[rows], vectors.scan(asked.query, rows)))

    def _shorten(self, asked: ServerQuery, near: ScoredSeqs, hits: ScoredSeqs) -> Shortlist:
        """Of the best of each arm those that are candidates, and what is told of them beyond that."""
        exact = near.seqs[top(near.scores, max(1, asked.probe.depth // EXACT))]
        if asked.whole and asked.passing is not None:
            return Shortlist(asked.passing, exact, asked.passing)
        pool = distinct(np.concatenate((near.seqs, self._choose_passing(asked, hits).seqs)))
        dense, words = scale_scores(near.read(pool)), scale_scores(hits.read(pool))
        base = dense + words
        parts = (base, max(LEAST, asked.probe.depth // 4)), (dense, BEST), (words, BEST)
        rows = distinct(np.concatenate([top(scores, count) for scores, count in parts]))
        leading = pool[top(base, LEADING)]
        return Shortlist(pool[rows], np.intersect1d(exact, pool[rows]), leading)

    def _choose_passing(self, asked: ServerQuery, arm: ScoredSeqs) -> ScoredSeqs:
        """The best of an arm that pass; asked for in the order of their scores where a filter is."""
        depth = asked.probe.depth
        if asked.passing is not None:
            return arm.pick(asked.passing).pick_best(depth)
        if not asked.strict or not len(arm.seqs):
            return arm.pick_best(depth)
        order = arm.seqs[np.argsort(-arm.scores, kind="stable")].tolist()
        return arm.pick(self._look(lambda c: find_first_passing(c, asked.condition, order, depth)))

    def _read_turns(self, chosen: Shortlist, lines: list[list[int]], entries: list[Entry]) -> dict[int, int]:
        """The turns of candidates; those of sessions that were not read stand apart from each other."""
        turns = number_turns([line for line in lines if len(line) <= LONG])
        if any(len(line) > LONG for line in lines):
            unplaced = set(chosen.placed.tolist()) - turns.keys()
            long = {entry.session for entry in entries if entry.seq in unplaced and entry.session is not None}
            rest = [entry.seq for entry in entries if entry.session in long]
            turns |= number_windows(self._look(lambda c: read_windows(c, self._scope, rest, REACH)))
        return turns | number_apart([entry for entry in entries if entry.session and entry.seq not in turns])

    def _judge_low(self, asked: ServerQuery, near: ScoredSeqs) -> float:
        """The lowest cosine of the scope, judged by a sample of it."""
        if asked.query is None or not len(near.scores):
            return 0.0
        return min(float(near.scores.min()), judge_lowest(self.build.sample @ asked.query, self.live))

    def _count_kept(self, asked: ServerQuery, expired: int) -> int:
        if asked.passing is not None:
            return len(asked.passing)
        if asked.probe.where is None:
            return self.records - expired
        return self._planner.estimate(asked, self.records)


class ServerScopes:
    """What is known of scopes, by their paths. Threads may take out what others have just put in."""

    def __init__(self, store: SearchableDatabase, width: int, ef_search: int) -> None:
        self._store, self._width, self._ef_search = store, width, ef_search
        self._served: dict[str, ServerScope | None] = {}  # None: it is in RAM
        self._broken: dict[str, int | None] = {}  # the codes of copies that cannot be read

    def find(self, path: str, head: Head) -> ServerScope | None:
        """What the server has of a scope, if that can be used."""
        try:
            return self._served[path]
        except KeyError:
            found = self._served[path] = self._open(path, head)
            return found

    def find_known(self, path: str) -> ServerScope | None:
        return self._served.get(path)

    def list_all(self) -> list[ServerScope]:
        return [served for served in list(self._served.values()) if served is not None]

    def is_broken(self, path: str) -> bool:
        return path in self._broken

    def forget(self, path: str) -> None:
        """It is looked for again when it is asked for."""
        self._served.pop(path, None)

    def mark_mended(self, path: str) -> None:
        self._broken.pop(path, None)
        self.forget(path)

    def clear(self) -> None:
        self._served.clear()

    def pass_over(self, path: str, served: ServerScope, damage: Damaged) -> None:
        """Somebody made the copy anew; if nobody did, it is not asked any more."""
        self.forget(path)
        there = self.read_build_of(path)
        if there is not None and there.code == served.build.code:
            self._break(path, there.code, damage)

    def read_build_of(self, path: str) -> Build | None:
        """What the server has of a scope and can be read."""
        try:
            build = self._store.ask(read_soundly(partial(self._read, path=path)))
        except Damaged as damage:
            self._break(path, None, damage)
            return None
        return None if build is None or build.code == self._broken.get(path) else build

    def _open(self, path: str, head: Head) -> ServerScope | None:
        reign, build = self._store.reigns, self.read_build_of(path)
        if build is None or not build.is_of(head):
            return None
        return ServerScope(self._store, path, self._width, build, self._ef_search, reign)

    def _read(self, connection: Connection[Any], path: str) -> Build | None:
        build = read_build(connection, path, self._width)
        if build is not None:
            check_held(connection, build)
        return build

    def _break(self, path: str, code: int | None, damage: Damaged) -> None:
        if path not in self._broken:
            log.warning("scope %s: its index on the server is damaged and made anew: %s", path, damage)
        self._broken[path] = code
