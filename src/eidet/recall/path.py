"""The read path of an open memory: guard → filter → answer → count → note; and contexts from answers."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, cast

from ..core.arguments import (
    check_budget,
    check_flag,
    check_limit,
    check_most,
    check_neighbours,
    check_offset,
    check_order,
    check_query,
    narrow_filter,
)
from ..core.dict_filters import Filter
from ..core.hit import AllHits, FoundList, Hits
from ..core.read_options import (
    FilterOptions,
    FindOptions,
    RecallAllOptions,
    RecallOptions,
    check_options,
    combine_filter,
    filters_in,
)
from ..core.record import Kind, Record
from ..core.scope import Scope, Scopes
from ..core.validate import Json, clean_json, moment
from ..core.where import Where
from ..graph import Graphs
from ..parts import Parts
from ..store import verbs
from ..text import term_id
from . import Query, Recall
from .query import LEAST, asks_for_all, build_query, key_of

if TYPE_CHECKING:
    from ..core.session_summary import SessionSummary
    from ..models.rerank import Reranker
    from ..text.tokens import TokenCounter
    from ..trust.audit import Auditing
    from ..trust.privacy.service import Guarding
    from .as_of import PastViews
    from .pack import Context
    from .states import StateQuery
    from .why_not import Explained


Asked = str | Mapping[str, Json]  # a question, or a state
ALL: Final = 1 << 31  # records: more than any memory has
FITS: Final = 0.005  # share of the best score below which hits are left out even if all have room
ANY_SCORE: Final = 1e-12  # lowest score of hits that fill a context; with 0, even nonsense would be answered
PACKED: Final = 50  # hits that a context is made from by default


class Page(NamedTuple):
    """The part of a list that the caller wants."""

    order: str
    limit: int
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Source:
    """Answers for the present; `PastSource` does for another time."""

    recall: Recall
    scope: Scope
    now: float  # the time of the view

    @property
    def is_present(self) -> bool:
        return True

    @property
    def asked(self) -> float:
        """The time that counts as the present in a question."""
        return self.now

    def narrow(self, where: Where) -> Where:
        """Narrows a filter to records that may have been true at the time."""
        return where

    def answer(self, asked: Query) -> Hits:
        """Answers a query; counts no record as used."""
        return self.recall.answer(asked)

    def list_page(self, where: Where, page: Page) -> list[Record]:
        """Returns one page of the records that pass a filter."""
        return self.recall.list_records(
            where, self.scope, now=self.now, order=page.order, limit=page.limit, offset=page.offset
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Packing:
    """The options for building a context from an answer; see `Memory.context`."""

    budget: int
    counter: TokenCounter | Callable[[str], float] | str | None
    neighbours: int
    headings: bool
    fence: bool
    seen: frozenset[str] = frozenset()  # ids of records to leave out

    def __post_init__(self) -> None:
        for name in ("headings", "fence"):
            check_flag(getattr(self, name), name)


class ReadPath:
    """Answers queries, stage by stage."""

    def __init__(
        self,
        parts: Parts,
        guarding: Guarding,
        auditing: Auditing,
        reranker: Reranker | None = None,
    ) -> None:
        self._parts = parts
        self._guarding = guarding
        self._auditing = auditing
        self._reranker = reranker
        self._views: PastViews | None = None

    def recall(
        self, query: Asked, scope: Scopes, limit: int, where: Filter | None, options: RecallOptions
    ) -> Hits:
        source = self._source(scope, options)
        asked = self._build(query, limit, where, options, source)
        hits = self._recall(asked, scope, source)
        hits.wants_all = asks_for_all(asked.text)
        return hits

    def _recall(self, asked: Query, scope: Scopes, source: Source) -> Hits:
        if source.is_present:
            hits = self._answer(asked, source.recall)
        else:
            hits = source.answer(asked)
        self._auditing.read("recall", scope, [key_of(hit.record) for hit in hits])
        return hits

    def recall_all(
        self, query: str, scope: Scopes, limit: int, where: Filter | None, options: RecallAllOptions
    ) -> AllHits:
        """Works like `recall`, but chooses from hits of any score; only those that belong count as used."""
        from .complete import LEAST_OF_ALL, LOOKED_AT, gather_all

        check_options("recall_all", options)
        started, most, how = time.perf_counter(), check_limit(limit), cast("RecallOptions", options)
        source = self._source(scope, how)
        asked = self._build(query, LOOKED_AT, where, RecallOptions(**{**how, "least": LEAST_OF_ALL}), source)
        ranked = bool(asked.text.strip())
        if ranked:
            self._parts.binding.check_width()
        with self._parts.foreground.enter():
            answer = gather_all(source.answer(asked), self._parts.embedder.width, most)
        shown = Hits((*answer.hits, *answer.maybe), scope=answer.scope)
        if source.is_present:
            best = Hits(sorted(answer.hits, key=lambda hit: -hit.score), scope=answer.scope)
            self._parts.usage.count_recall(best, asked.now, time.perf_counter() - started, ranked=ranked)
        self._auditing.read("recall_all", scope, [key_of(hit.record) for hit in shown])
        return answer

    def _source(self, scope: Scopes, options: RecallOptions | FindOptions) -> Source:
        """Chooses the source of the answer: the present, what was true at a time, or what was known then."""
        as_of, known_at = _time_of(options, "as_of"), _time_of(options, "known_at")
        path = Scope.among(scope)
        if as_of is None and known_at is None:
            return Source(Recall.of(self._parts), path, self._parts.clock())
        from .as_of import PastSource

        if known_at is None:
            return PastSource(Recall.of(self._parts), path, self._parts.clock(), as_of)
        return PastSource(self._past.view(path, known_at), path, known_at, as_of)

    @property
    def _past(self) -> PastViews:
        if self._views is None:
            from .as_of import PastViews

            self._views = PastViews(self._parts)
        return self._views

    def _build(
        self, query: Asked, limit: int, where: Filter | None, options: RecallOptions, source: Source
    ) -> Query:
        options = _for_state(options) if isinstance(query, Mapping) else options
        if self._reranker is not None and options.get("rerank") is None:
            options = RecallOptions(**{**options, "rerank": self._reranker})
        seen = self._guarding.filter_visible(combine_filter("recall", where, options))
        text = self._guarding.query(check_query(query))
        asked = build_query(
            text, source.scope, limit, source.narrow(seen), options, now=source.now, meant=source.asked
        )
        if isinstance(query, Mapping) and asked.vector is None:  # a vector replaces the values
            return replace(asked, state=self._read_state(query))
        return asked

    def _read_state(self, query: Mapping[str, Json]) -> StateQuery | None:
        """Parses the values of a state to compare by."""
        from .states import read_state

        return read_state(clean_json(query, "a query"), self._guarding.query)

    def explain(
        self,
        query: Asked,
        scope: Scopes,
        limit: int,
        where: Filter | None,
        options: RecallOptions,
        packing: Packing,
    ) -> Explained:
        """Works like `recall` and `context`, but counts no record as used and keeps every step."""
        from .why_not import Explained

        source = self._source(scope, options)
        asked = replace(self._build(query, limit, where, options, source), explain=True)
        if asked.text.strip() or asked.vector is not None:
            self._parts.binding.check_width()
        chosen, hits = narrow_filter(where, **filters_in(options)), source.answer(asked)
        self._auditing.read("recall", scope, [key_of(hit.record) for hit in hits])
        removed, wide = Hits([]), replace(asked, limit=max(asked.limit, PACKED), explain=False)
        if chosen is not None and asked.text.strip():
            removed = source.answer(replace(wide, where=self._guarding.filter_visible(~chosen)))
        if options.get("least") is None:
            wide = replace(wide, least=ANY_SCORE)
        context = self._pack(_drop_unlikely(source.answer(wide)), asked, chosen, packing, source)
        ranking = source.recall.rank(asked)
        return Explained(query=asked, hits=hits, removed=removed, context=context, ranking=ranking)

    def _answer(self, asked: Query, recall: Recall) -> Hits:
        """Answers and counts uses; background upkeep gives way meanwhile."""
        started = time.perf_counter()
        ranked = asked.vector is not None or bool(asked.text.strip())
        if ranked:
            self._parts.binding.check_width()
        with self._parts.foreground.enter():
            hits = recall.answer(asked)
        spent = time.perf_counter() - started
        self._parts.usage.count_recall(hits, asked.now, spent, ranked=ranked)
        return hits

    def context(
        self,
        query: Asked,
        scope: Scopes,
        limit: int,
        where: Filter | None,
        options: RecallOptions,
        packing: Packing,
    ) -> Context:
        """Works like `recall`, but if its best hit is shown, the others may fill the budget."""
        from ..text.tokens import counter_of

        chosen = narrow_filter(where, **filters_in(options))
        check_budget(packing.budget)
        check_neighbours(packing.neighbours)
        counter_of(packing.counter)
        source = self._source(scope, options)
        asked = self._build(query, limit + len(packing.seen), where, options, source)
        if options.get("least") is None:
            hits = _drop_unlikely(self._recall(replace(asked, least=ANY_SCORE), scope, source))
        else:
            hits = self._recall(asked, scope, source)
        made = self._pack(hits, asked, chosen, packing, source)
        spent = {"contexts": 1, "tokens": made.tokens, "budget": made.budget}
        self._parts.usage.tally(hits.scope, "context", spent, self._parts.clock())
        return made

    def _pack(
        self, hits: Hits, asked: Query, chosen: Where | None, packing: Packing, source: Source
    ) -> Context:
        """Builds a context from hits, instructions that apply, working state and neighbouring turns."""
        from ..text.tokens import counter_of
        from .nearby import turns_around, working_state
        from .pack import pack
        from .standing import list_standing

        recall, now = source.recall, source.now
        hits = Hits([hit for hit in hits if hit.id not in packing.seen], hits.trace, hits.scope)
        found = [hit.record for hit in hits]
        seen = self._guarding.filter_visible(chosen)
        beside = turns_around(recall, found, check_neighbours(packing.neighbours), seen, now)
        around = {key: _leave_out(turns, packing.seen) for key, turns in beside.items()}
        terms = frozenset(term_id(term) for term in self._parts.analyzer.terms(asked.text))
        standing = list_standing(recall, asked.text, asked.scope, seen, at=source.asked, now=now)
        made = pack(
            tuple(hits),
            check_budget(packing.budget),
            counter_of(packing.counter),
            standing=_leave_out(standing, packing.seen),
            working=_leave_out(working_state(recall, asked.scope, seen, now), packing.seen),
            turns=around,
            terms=terms,
            analyzer=self._parts.analyzer,
            headings=packing.headings,
            fence=packing.fence,
            least=hits[0].score * FITS if hits and asked.least == LEAST else 0.0,
        )
        return replace(made, scope=hits.scope)

    def find(self, where: Filter | None, scope: Scopes, limit: int | None, options: FindOptions) -> FoundList:
        chosen = self._guarding.filter_visible(combine_filter("find", where, options))
        order = check_order(options.get("order", "-occurred"))
        most = check_most(limit) or ALL
        page = Page(order, most + 1, check_offset(options.get("offset", 0)))
        records = self._source(scope, options).list_page(chosen, page)
        found = FoundList(records[:most], more=len(records) > most)
        self._auditing.read("find", scope, list(map(key_of, found)))
        return found

    def list_sessions(self, scope: Scopes, limit: int) -> list[SessionSummary]:
        """Lists the sessions that were active last; reads every record of the scope."""
        from ..core.session_summary import gather_sessions

        most, chosen = check_limit(limit), self._guarding.filter_visible(None)
        living = (chosen & Where(alive_at=self._parts.clock())).within(Scope.among(scope))
        found = gather_sessions(verbs.scan(self._parts.store, living))[:most]
        self._auditing.read("sessions", scope, [(one.scope, one.session) for one in found])
        return found

    def graphs_known_at(self, scope: Scope, known_at: float | None) -> Graphs:
        """Returns the graphs of what the memory knew at a time, by default now."""
        if known_at is None:
            return self._parts.graphs
        view = self._past.view(scope, known_at)
        return view.graphs or Graphs(view.store)

    def count(self, where: Filter | None, scope: Scopes, options: FilterOptions) -> int:
        chosen = self._guarding.filter_visible(combine_filter("count", where, options))
        living = (chosen & Where(alive_at=self._parts.clock())).within(Scope.among(scope))
        return verbs.count(self._parts.store, living)


def _drop_unlikely(hits: Hits) -> Hits:
    """Drops all hits if even the best is below the lowest score that is shown."""
    return hits if hits and hits[0].score >= LEAST else Hits([], hits.trace, hits.scope)


def _leave_out(records: Sequence[Record], seen: AbstractSet[str]) -> list[Record]:
    return [record for record in records if record.id not in seen]


def _time_of(options: RecallOptions | FindOptions, name: Literal["as_of", "known_at"]) -> float | None:
    given = options.get(name)
    if given is None:
        return None
    return moment(given, name)


def _for_state(options: RecallOptions) -> RecallOptions:
    """Sets the defaults for a query by state: it looks for similar states and is not parsed as a question."""
    return RecallOptions(**{"kinds": Kind.STATE, "understand": False, **options})
