"""One scope on the server, with what was written since in RAM: both are searched as one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from ...core.scope import Scope
from ...core.where import Where
from ...store import Entry, Head
from ...store.sql.postgres import Condition
from .. import Found, Probe
from ..embedded.shard import DEAD_ROWS, Shard, distinct, top
from ..embedded.vectors import unit
from . import sql as asking
from .candidates import Candidates, Scores, among
from .fill import PAGE
from .integrity import Stale, check_held, readable
from .lookups import boxed, held
from .postings import Postings, Seqs, joined, of_shard, read_blocks, summed, weights, without
from .query import Arm, Asked, Chosen, lowest, merged, share
from .session_order import LONG, REACH, apart, in_lines, in_windows
from .tables import Build

if TYPE_CHECKING:
    from ...store.sql.postgres import PostgresStore

T = TypeVar("T")

EXACT: Final = 8  # of the depth, this part is scored exactly
FEW: Final = 2_000  # so many are compared one by one …
PART: Final = 5  # … and so many times more, where a filter lets them pass: the graph would be walked far
LEAST: Final = 100  # candidates, the best of both arms together …
BEST: Final = 40  # … and of each arm
LEADING: Final = 40  # candidates whose neighbours in the session are candidates, too
MOSTLY: Final = 0.8  # of a scope
FILTERS: Final = 64  # that are remembered
READ_AT_MOST: Final = 400_000  # occurrences of words that are read for a question, the rare ones first


class Served:
    """A scope that has been copied, up to `build.copied`; the rest is in the tail. Safe from many threads."""

    def __init__(
        self, store: PostgresStore, scope: str, width: int, build: Build, ef_search: int, reign: int
    ) -> None:
        """`reign` is the one that `build` was read in."""
        self.build = build
        self.tail = Shard(scope, width)
        self.tail.head = Head(build.epoch, build.copied)
        self.lost = np.empty(0, np.int64)  # of what was copied, what is gone since
        self.lock = threading.RLock()
        self._less = (0, 0, 0.0)  # rows, records and terms that were lost
        self._store, self._scope, self._width, self._ef_search = store, scope, width, ef_search
        self._reign = reign
        self._voices: tuple[Head, tuple[str, ...]] | None = None
        self._estimates: dict[str, int] = {}
        self._filters: dict[str, Condition] = {}

    # Following.

    def follow(self, head: Head) -> None:
        """Reads what was written since. `Stale` where the copy cannot be told what changed."""
        if head.epoch != self.build.epoch:
            raise Stale
        with self.lock:
            self._check_reign()
            while self.tail.head.seq < head.seq:
                since = self.tail.head.seq
                changes = self._store.changes_here(self._scope, since, PAGE)
                if changes.head.epoch != self.build.epoch or 0 < since < changes.pruned:
                    raise Stale
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
            self._less = self._store.ask(lambda c: self._size_of(c, self.lost))

    def _size_of(self, connection: Any, seqs: Seqs) -> tuple[int, int, float]:
        with readable():
            return asking.size_of(connection, self.build, seqs)

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

    def voices(self, head: Head) -> tuple[str, ...]:
        told = self._voices
        if told is None or told[0] != head:
            self._voices = told = (head, self._ask(lambda c: asking.voices(c, self._scope)))
        return told[1]

    def _ask(self, job: Callable[[Any], T]) -> T:
        def run(connection: Any) -> T:
            with readable():
                return job(connection)

        return self._store.look(run)

    # Searching.

    def search(self, probe: Probe, head: Head, reader: Any) -> Found:
        asked = self._asked(probe)
        found, sound = self._searched(asked, head, reader)
        if not sound:  # too much of what was found has expired or is gone
            found, _ = self._searched(replace(asked, strict=True), head, reader)
        return found

    def _searched(self, asked: Asked, head: Head, reader: Any) -> tuple[Found, bool]:
        """What was found, and whether that is all that was to be found."""
        probe = asked.probe
        dense, told, expired = self._ask(lambda c: self._arms(c, asked))
        with self.lock:
            postings, holding, unread = self._postings(probe.terms, told)
            scale = weights(holding, self.live, self.total)
            tail = self._near_tail(asked)
        near = merged(dense, tail)
        hits = summed(postings, scale.scored(postings))
        chosen = self._chosen(asked, near, hits)
        entries, copied, lines = self._entries(asked, chosen, dense[0])
        near = merged(merged(near, copied), self._near_in_tail(asked, entries))
        turns = self._turns(chosen, lines, entries)
        shard = Candidates(self._scope, self._width, self.voices(head), entries, turns)
        if unread:  # the candidates themselves tell which words they have
            read = of_shard(shard, probe.terms)
            hits = summed(read, scale.scored(read))
        scores = Scores(dense=near, words=hits, rarity=scale.rarity, low=self._low(asked, near))
        found = shard.found(probe, scores, reader(shard), asked.whole)
        found.damaged, found.searched, found.kept = self._damaged(), self.records, self._kept(asked, expired)
        left = np.isin(chosen.seqs, found.seq).sum()
        return found, asked.strict or left * 2 >= len(chosen.seqs)

    def _asked(self, probe: Probe) -> Asked:
        where = Where(
            scope=Scope(self._scope),
            alive_at=probe.now,
            every=() if probe.where is None else (probe.where,),
        )
        condition = asking.living(self._scope, probe.now)
        if probe.where is not None:
            told = self._filter(probe.where)
            values = condition.values + told.values
            condition = Condition(f"{condition.sql} AND ({told.sql})", values, told.exact)
        asked = Asked(
            probe=probe,
            query=None if probe.vector is None else unit(probe.vector),
            condition=condition,
            strict=probe.where is not None,
            passing=None,
        )
        if not condition.exact:
            return replace(asked, passing=np.array(self._store.match(where), np.int64))
        if self.records > max(FEW, probe.depth) and (probe.where is None or self._passes_mostly(asked)):
            return replace(asked, strict=False)
        most = max(self._looked_at(asked), probe.depth)
        seqs = self._ask(lambda c: asking.passing(c, condition, most + 1))
        return replace(asked, passing=np.sort(seqs) if len(seqs) <= most else None)

    def _filter(self, where: Where) -> Condition:
        """A filter as SQL; it is remembered, since most questions ask for the same."""
        key = repr(where)
        if key not in self._filters:
            if len(self._filters) >= FILTERS:
                self._filters.clear()
            self._filters[key] = held(self._store.condition(boxed(where)), where)
        return self._filters[key]

    def _looked_at(self, asked: Asked) -> int:
        """How many are asked for by name, to see whether no more pass: few, where that is not likely."""
        likely = asked.probe.where is None or self._estimate(asked) <= 1.5 * FEW * PART
        return FEW * PART if likely else FEW

    def _passes_mostly(self, asked: Asked) -> bool:
        """Whether a filter lets so much pass that it is enough to look at the candidates.

        So it is with the usual one, which leaves out what is in quarantine.
        """
        return self._estimate(asked) >= MOSTLY * self.records

    def _estimate(self, asked: Asked) -> int:
        """How many pass a filter, as the planner judged when it was first asked for."""
        key = repr(asked.probe.where)
        if key not in self._estimates:
            if len(self._estimates) >= FILTERS:
                self._estimates.clear()
            self._estimates[key] = self._ask(lambda c: asking.estimate(c, asked.condition))
        return min(self._estimates[key], self.records)

    def _arms(self, connection: Any, asked: Asked) -> tuple[Arm, list[Sequence[Any]], int]:
        found = asking.arms(connection, self.build, asked, self._scope, self._ef_search, READ_AT_MOST)
        (near, _), told, _ = found
        self._check_reign()
        if (asked.query is not None and not len(near)) or (asked.probe.terms and not told):
            check_held(connection, self.build)
        return found

    def _postings(self, terms: Sequence[int], told: list[Sequence[Any]]) -> tuple[Postings, Any, bool]:
        """Where the terms occur in living units, in how many, and whether some were not read."""
        found = joined([without(read_blocks(terms, told), self.lost), of_shard(self.tail, terms)])
        holding = np.bincount(found.which, minlength=len(terms))
        unread = [(term, size) for term, _, size, postings in told if postings is None]
        for term, size in unread:
            holding[terms.index(term)] += size
        return found, holding, bool(unread)

    def _near_tail(self, asked: Asked) -> Arm:
        """The best of the tail."""
        shard = self.tail
        if asked.query is None or not shard.count:
            return np.empty(0, np.int64), np.empty(0, np.float32)
        keep = shard.alive & (shard.expires > asked.probe.now)
        if asked.passing is not None:
            keep &= np.isin(shard.seq, asked.passing)
        elif asked.strict:
            after = self._ask(lambda c: asking.passing_after(c, asked.condition, self.build.copied))
            keep &= np.isin(shard.seq, after)
        rows = np.flatnonzero(keep & (shard.vectors.scale[: shard.count] > 0))
        scores = shard.vectors.scan(asked.query, rows)
        best = np.sort(top(scores, asked.probe.depth))
        return shard.seq[rows[best]], scores[best]

    def _chosen(self, asked: Asked, near: Arm, hits: Arm) -> Chosen:
        """Of the best of each arm those that are candidates, and what is told of them beyond that."""
        exact = near[0][top(near[1], max(1, asked.probe.depth // EXACT))]
        if asked.whole and asked.passing is not None:
            return Chosen(asked.passing, exact, asked.passing[:0], asked.passing)
        worded = self._worded(asked, hits)
        pool = distinct(np.concatenate((near[0], worded)))
        dense, words = (share(among(pool, *arm)) for arm in (near, hits))
        base = dense + words
        parts = (base, max(LEAST, asked.probe.depth // 4)), (dense, BEST), (words, BEST)
        rows = distinct(np.concatenate([top(scores, count) for scores, count in parts]))
        leading = pool[top(base, LEADING)]
        return Chosen(pool[rows], np.intersect1d(exact, pool[rows]), leading, leading)

    def _worded(self, asked: Asked, hits: Arm) -> Seqs:
        """The best of the words that pass; asked for in the order of their scores where a filter is."""
        seqs, scores = hits
        if asked.passing is not None:
            here = np.isin(seqs, asked.passing)
            seqs, scores = seqs[here], scores[here]
        if asked.passing is not None or not asked.strict:
            return seqs[top(scores, asked.probe.depth)]
        order = seqs[np.argsort(-scores, kind="stable")]
        return self._ask(lambda c: asking.first_passing(c, asked.condition, order, asked.probe.depth))

    def _entries(self, asked: Asked, chosen: Chosen, known: Seqs) -> tuple[list[Entry], Arm, list[list[int]]]:
        entries, near, lines = self._ask(
            lambda c: asking.entries(c, self.build, asked, self._scope, chosen, known, LONG + 1)
        )
        if asked.passing is not None and not asked.condition.exact:
            allowed = set(asked.passing.tolist())
            entries = [entry for entry in entries if entry.seq in allowed]
        return entries, near, lines

    def _turns(self, chosen: Chosen, lines: list[list[int]], entries: list[Entry]) -> dict[int, int]:
        """The turns of candidates; those of sessions that were not read stand apart from each other."""
        turns = in_lines([line for line in lines if len(line) <= LONG])
        if any(len(line) > LONG for line in lines):
            unplaced = set(chosen.placed.tolist()) - turns.keys()
            long = {entry.session for entry in entries if entry.seq in unplaced and entry.session is not None}
            rest = [entry.seq for entry in entries if entry.session in long]
            turns |= in_windows(self._ask(lambda c: asking.windows(c, self._scope, rest, REACH)))
        return turns | apart([entry for entry in entries if entry.session and entry.seq not in turns])

    def _near_in_tail(self, asked: Asked, entries: list[Entry]) -> Arm:
        """The cosines of candidates that were not copied yet."""
        if asked.query is None or not self.tail.count:
            return np.empty(0, np.int64), np.empty(0, np.float32)
        seqs = np.array([entry.seq for entry in entries], np.int64)
        with self.lock:
            rows = np.flatnonzero(self.tail.alive & np.isin(self.tail.seq, seqs))
            return self.tail.seq[rows], self.tail.vectors.scan(asked.query, rows)

    def _low(self, asked: Asked, near: Arm) -> float:
        """The lowest cosine of the scope, judged by a sample of it."""
        if asked.query is None or not len(near[1]):
            return 0.0
        return min(float(near[1].min()), lowest(self.build.sample @ asked.query, self.live))

    def _damaged(self) -> dict[str, int]:
        told: dict[str, int] = {}
        for tier in (*self.build.damaged.values(), *self.tail.damaged.values()):
            told[tier] = told.get(tier, 0) + 1
        return told

    def _kept(self, asked: Asked, expired: int) -> int:
        if asked.passing is not None:
            return len(asked.passing)
        if asked.probe.where is None:
            return self.records - expired
        return self._estimate(asked)
