"""One search in a scope whose vectors are partly in a database."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from ...core.errors import Unavailable
from ...store import Head
from .. import Candidates, Probe
from ..embedded.cache import ScopeCache
from ..embedded.queries import ShardQueries
from . import Lost, VectorShelf
from .fill import Shipper
from .pushdown import push_down
from .query import Asker, DatabaseQuery, query_of
from .recent import NOTHING_TOLD, DatabaseScorer, RecentShard, RecentVectors, SeqSet, ToldScores

TRIES = 3  # of one search while others send


class DatabaseSearch:
    """Asks a database for what it holds, and joins that with words, columns and vectors in RAM.

    What the database finds is checked against the columns in RAM: its filters only spare it work, and a
    point that should be gone harms nothing. While the database cannot be asked, words alone answer, and
    the notes say so.
    """

    def __init__(
        self,
        cache: ScopeCache[RecentVectors],
        queries: ShardQueries[RecentVectors],
        ships: Shipper,
        asker: Asker,
    ) -> None:
        self._cache, self._queries = cache, queries
        self._ships, self._asker = ships, asker

    def search(self, scope: str, head: Head, probe: Probe) -> Candidates:
        """Asks again where vectors have left for the database since it was asked for those it had."""
        for _ in range(TRIES):
            turn = self._read_turn(scope, head)
            found = self._search_once(scope, head, probe)
            if found.notes or self._read_turn(scope, head) == turn:
                break
        return found

    def _read_turn(self, scope: str, head: Head) -> int:
        return self._cache.ask(scope, head, lambda shard: shard.vectors.turn)

    def _search_once(self, scope: str, head: Head, probe: Probe) -> Candidates:
        question = self._cache.ask(scope, head, partial(self._prepare, probe))
        if question is None or not query_of(probe).any():
            return self._answer(scope, head, probe, NOTHING_TOLD)[0]
        try:
            return self._consult(scope, head, probe, question)
        except Lost as lost:
            self._ships.forget(scope)
            self._cache.drop(scope)
            again = Unavailable(f"{lost}; it is filled again", retry_after=1.0)
            return self._search_words(scope, head, probe, again)
        except Unavailable as away:
            return self._search_words(scope, head, probe, away)

    def _search_words(self, scope: str, head: Head, probe: Probe, why: Unavailable) -> Candidates:
        """Without the database; where there are no words to go by, its error is the answer."""
        if not probe.terms:
            raise why
        found = self._queries.search(scope, head, replace(probe, vector=None))
        return replace(found, notes=(*found.notes, f"searched by words alone: {why}"))

    def _consult(self, scope: str, head: Head, probe: Probe, question: DatabaseQuery) -> Candidates:
        """One round for the best, and one for the candidates that only their words or turns made."""
        scored, missing = self._ask_database(scope, head, probe, question)
        found, lacking = self._answer(scope, head, probe, scored)
        if lacking.rows:  # also where some seemed to be missing: a search may pass over what was just sent
            shelf = self._find_shelf(scope, head)
            scored = scored.join(self._asker.score_records(shelf, query_of(probe), lacking))
            found, lacking = self._answer(scope, head, probe, scored)
            if not lacking.rows and question.all.rows <= self._asker.count_all(probe):
                missing = 0
        if not missing:
            return found
        note = f"{missing:,} vectors are missing in {self._asker.database.retrier.name}; run `eidet rebuild`"
        return replace(found, notes=(*found.notes, note))

    def _ask_database(
        self, scope: str, head: Head, probe: Probe, question: DatabaseQuery
    ) -> tuple[ToldScores, int]:
        """What the database tells, and how many vectors it should have but has not."""
        matches, low = self._asker.find_nearest(self._find_shelf(scope, head), probe, question)
        missing = self._asker.count_missing(matches, question, probe)
        if missing and self._has_moved(scope, head):
            matches, low = self._asker.find_nearest(self._find_shelf(scope, head), probe, question)
            missing = self._asker.count_missing(matches, question, probe)
        return ToldScores.of_matches(matches, low), missing

    def _has_moved(self, scope: str, head: Head) -> bool:
        """Whether another process has changed over to another shelf."""
        before = self._ships.placement(scope, head.epoch)
        after = self._ships.refresh(scope)
        return before is not None and after is not None and before.shelf != after.shelf

    def _find_shelf(self, scope: str, head: Head) -> VectorShelf:
        found = self._ships.placement(scope, head.epoch)
        if found is None:
            raise Lost(f"scope {scope} is not in {self._asker.database.retrier.name}")
        return found.at

    def _prepare(self, probe: Probe, shard: RecentShard) -> DatabaseQuery | None:
        """What must be asked of the database; nothing where no vector that passes is there."""
        columns = shard.columns
        keep = columns.select_passing(probe.where, probe.now, self._queries.resolve_in(shard))
        held = shard.vectors.list_elsewhere()
        held = held[columns.alive[held]]
        rows = held if keep is None else held[keep[held]]
        if not len(rows):
            return None
        return DatabaseQuery(
            all=SeqSet.of_rows(columns.seq[rows]),
            held=len(held),
            pushed=push_down(probe.where, shard.scope, probe.now, self._ships.read_secret()),
        )

    def _answer(self, scope: str, head: Head, probe: Probe, told: ToldScores) -> tuple[Candidates, SeqSet]:
        """Candidates with the scores that were told, and those whose scores were not."""

        def search(shard: RecentShard) -> tuple[Candidates, SeqSet]:
            scorer = DatabaseScorer(shard, told)
            return self._queries.search_shard(probe, shard, scorer), scorer.lacking

        return self._cache.ask(scope, head, search)
