"""The read path of an open memory: guard → filter → answer → count → note; and contexts made of answers."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

from ..core.arguments import (
    check_budget,
    check_limit,
    check_neighbours,
    check_offset,
    check_query,
    narrow_filter,
)
from ..core.dict_filters import Filter
from ..core.hit import Hits
from ..core.record import Kind, Record
from ..core.scope import Scope
from ..core.validate import Json, moment
from ..core.where import Where
from ..graph import Graphs
from ..graph.derived_records import DerivedRecords, asks_for_triples
from ..parts import Parts
from ..store import Store, verbs
from ..text import term_id
from ..text.tokens import TokenCounter, counter_of
from . import Query, Recall
from .nearby import turns_around, working_state
from .options import FilterOptions, FindOptions, RecallOptions, build_query, filters_in, read_filter
from .pack import Context, pack
from .past import PastViews
from .why_not import Explained

if TYPE_CHECKING:
    from ..trust.audit.reads import Auditing
    from ..trust.privacy.service import Guarding
    from ..write.echoes import EchoGuard


Asked = str | Mapping[str, Json]  # a question, or a state
PACKED: Final = 50  # hits that a context is made of, unless the caller says otherwise


@dataclass(frozen=True, slots=True, kw_only=True)
class Packing:
    """How a context is made of an answer: see `Memory.context`."""

    budget: int
    counter: TokenCounter | Callable[[str], int] | str | None
    neighbours: int
    headings: bool
    fence: bool
    reveal: bool


class ReadPath:
    """What a query passes on its way to an answer, stage by stage."""

    def __init__(self, parts: Parts, guarding: Guarding, echoes: EchoGuard, auditing: Auditing) -> None:
        self._parts = parts
        self._guarding = guarding
        self._echoes = echoes
        self._auditing = auditing
        self._past = PastViews(parts)

    def recall(
        self, query: Asked, scope: str | Scope, limit: int, where: Filter | None, options: RecallOptions
    ) -> Hits:
        known_at = _time_of(options, "known_at")
        if known_at is not None:
            asked = self._build(query, scope, limit, where, options, known_at)
            hits = self._past.view(asked.scope, known_at).answer(asked)
        else:
            asked = self._build(query, scope, limit, where, options, self._parts.clock())
            hits = self._answer(asked)
            self._echoes.note(hits, asked.now)
        self._auditing.read("recall", scope, [hit.id for hit in hits], query=asked.text)
        return hits

    def _build(
        self,
        query: Asked,
        scope: str | Scope,
        limit: int,
        where: Filter | None,
        options: RecallOptions,
        now: float,
    ) -> Query:
        options = _for_state(options) if isinstance(query, Mapping) else options
        seen = self._guarding.filter_visible(read_filter("recall", where, options))
        text = self._guarding.query(check_query(query))
        return build_query(text, scope, limit, seen, options, now)

    def explain(
        self,
        query: Asked,
        scope: str | Scope,
        limit: int,
        where: Filter | None,
        options: RecallOptions,
        packing: Packing,
    ) -> Explained:
        """As `recall` and `context`, but nothing counts as used; with all that is known of the answer."""
        recall, now = source = self._source(scope, options)
        asked = replace(self._build(query, scope, limit, where, options, now), explain=True)
        if asked.text.strip() or asked.vector is not None:
            self._parts.binding.check_width()
        chosen, hits = narrow_filter(where, **filters_in(options)), recall.answer(asked)
        self._auditing.read("recall", scope, [hit.id for hit in hits], query=asked.text)
        removed, wide = Hits([]), replace(asked, limit=max(asked.limit, PACKED), explain=False)
        if chosen is not None and asked.text.strip():
            removed = recall.answer(replace(wide, where=self._guarding.filter_visible(~chosen)))
        context = self._pack(recall.answer(wide), asked, chosen, packing, source)
        return Explained(query=asked, hits=hits, removed=removed, context=context, ranking=recall.rank(asked))

    def _answer(self, asked: Query) -> Hits:
        """Answers and counts; upkeep in the background lets it go first."""
        started = time.perf_counter()
        ranked = asked.vector is not None or bool(asked.text.strip())
        if ranked:
            self._parts.binding.check_width()
        with self._parts.foreground.enter():
            hits = Recall.of(self._parts).answer(asked)
        spent = time.perf_counter() - started
        self._parts.usage.count_recall(hits, asked.now, spent, ranked=ranked)
        return hits

    def context(
        self,
        query: Asked,
        scope: str | Scope,
        limit: int,
        where: Filter | None,
        options: RecallOptions,
        packing: Packing,
    ) -> Context:
        chosen = narrow_filter(where, **filters_in(options))
        check_budget(packing.budget)
        check_neighbours(packing.neighbours)
        counter_of(packing.counter)
        hits = self.recall(query, scope, limit, where, options)
        source = self._source(scope, options)
        asked = self._build(query, scope, limit, where, options, source[1])
        made = self._pack(hits, asked, chosen, packing, source)
        spent = {"contexts": 1, "tokens": made.tokens, "budget": made.budget}
        self._parts.usage.tally(hits.scope, "context", spent, self._parts.clock())
        return made

    def _pack(
        self,
        hits: Hits,
        asked: Query,
        chosen: Where | None,
        packing: Packing,
        source: tuple[Recall, float],
    ) -> Context:
        """A context of an answer, with working state and the turns around those that were found."""
        recall, now = source
        found = [hit.record for hit in hits]
        seen, tell = self._guarding.filter_visible(chosen), self._guarding.pseudonyms.telling(packing.reveal)
        around = turns_around(recall, found, check_neighbours(packing.neighbours), seen, now)
        made = pack(
            tuple(tell.hits(hits)),
            check_budget(packing.budget),
            counter_of(packing.counter),
            working=tell.records(working_state(recall, asked.scope, seen, now)),
            turns=tell.turns(around),
            terms={term_id(term) for term in self._parts.analyzer.terms(asked.text)},
            headings=packing.headings,
            fence=packing.fence,
        )
        return replace(made, scope=hits.scope)

    def _source(self, scope: str | Scope, options: RecallOptions | FindOptions) -> tuple[Recall, float]:
        """What answers, and the time it answers for: the present, or what the memory knew before."""
        known_at = _time_of(options, "known_at")
        if known_at is None:
            return Recall.of(self._parts), self._parts.clock()
        return self._past.view(Scope.of(scope), known_at), known_at

    def find(
        self, where: Filter | None, scope: str | Scope, limit: int, options: FindOptions
    ) -> list[Record]:
        chosen = self._guarding.filter_visible(read_filter("find", where, options))
        found = self._list_records(
            chosen,
            Scope.of(scope),
            self._source(scope, options),
            order=options.get("order", "-occurred"),
            limit=check_limit(limit),
            offset=check_offset(options.get("offset", 0)),
        )
        self._auditing.read("find", scope, [record.id for record in found])
        return found

    def _list_records(
        self,
        chosen: Where,
        scope: Scope,
        source: tuple[Recall, float],
        *,
        order: str,
        limit: int,
        offset: int,
    ) -> list[Record]:
        """Records that are stored; whoever asks for triples also gets the facts that rules read in texts."""
        recall, now = source
        if not asks_for_triples(chosen):
            return recall.list_records(chosen, scope, now=now, order=order, limit=limit, offset=offset)
        stored = recall.list_records(chosen, scope, now=now, order=order, limit=limit + offset)
        living = Where(scope=scope, alive_at=now, every=(chosen,))
        derived = DerivedRecords(self._graphs_over(recall.store))
        return derived.find(living, stored, order=order, limit=limit, offset=offset)

    def graphs_known_at(self, scope: Scope, known_at: float | None) -> Graphs:
        """The graphs of what the memory knew at a time; of all that it knows, if none is given."""
        if known_at is None:
            return self._parts.graphs
        return self._graphs_over(self._past.view(scope, known_at).store)

    def _graphs_over(self, store: Store) -> Graphs:
        if store is self._parts.store:
            return self._parts.graphs
        return Graphs(store)

    def count(self, where: Filter | None, scope: str | Scope, options: FilterOptions) -> int:
        chosen = self._guarding.filter_visible(read_filter("count", where, options))
        living = (chosen & Where(alive_at=self._parts.clock())).within(Scope.of(scope))
        count = verbs.count(self._parts.store, living)
        if asks_for_triples(living):
            count += DerivedRecords(self._parts.graphs).count(living)
        return count

    def phrase(self, query: Asked, scope: str | Scope, asked: float | None) -> str:
        """The query as it is embedded: without the names of who speaks in the scope."""
        now = self._parts.clock()
        meant = Query(
            text=self._guarding.query(check_query(query)),
            scope=Scope.of(scope),
            now=now,
            asked=now if asked is None else asked,
        )
        return Recall.of(self._parts).understand(meant).dense


def _time_of(options: RecallOptions | FindOptions, name: Literal["as_of", "known_at"]) -> float | None:
    given = options.get(name)
    if given is None:
        return None
    return moment(given, name)


def _for_state(options: RecallOptions) -> RecallOptions:
    """A state asks for states that resemble it, unless the caller says otherwise; it holds no question."""
    return RecallOptions(**{"kinds": Kind.STATE, "understand": False, **options})
