"""The read path of an open memory: guard → filter → answer → count → note; and contexts made of answers."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

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
from ..core.validate import Json
from ..core.where import Where
from ..parts import Parts
from ..store import verbs
from ..text import term_id
from ..text.tokens import TokenCounter, counter_of
from . import Query, Recall
from .nearby import turns_around, working_state
from .options import FilterOptions, FindOptions, RecallOptions, build_query, filters_in, read_filter
from .pack import Context, pack
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

    def recall(
        self, query: Asked, scope: str | Scope, limit: int, where: Filter | None, options: RecallOptions
    ) -> Hits:
        asked = self._build(query, scope, limit, where, options)
        hits = self._answer(asked)
        self._echoes.note(hits, asked.now)
        self._auditing.read("recall", scope, [hit.id for hit in hits], query=asked.text)
        return hits

    def _build(
        self, query: Asked, scope: str | Scope, limit: int, where: Filter | None, options: RecallOptions
    ) -> Query:
        options = _for_state(options) if isinstance(query, Mapping) else options
        now = self._parts.clock()
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
        asked = replace(self._build(query, scope, limit, where, options), explain=True)
        if asked.text.strip() or asked.vector is not None:
            self._parts.binding.check_width()
        recall, chosen = Recall.of(self._parts), narrow_filter(where, **filters_in(options))
        hits = recall.answer(asked)
        self._auditing.read("recall", scope, [hit.id for hit in hits], query=asked.text)
        removed, wide = Hits([]), replace(asked, limit=max(asked.limit, PACKED), explain=False)
        if chosen is not None and asked.text.strip():
            removed = recall.answer(replace(wide, where=self._guarding.filter_visible(~chosen)))
        context = self._pack(recall.answer(wide), query, asked.scope, chosen, packing)
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
        hits = self.recall(query, scope, limit, where, options)
        made = self._pack(hits, query, Scope.of(scope), chosen, packing)
        spent = {"contexts": 1, "tokens": made.tokens, "budget": made.budget}
        self._parts.usage.tally(hits.scope, "context", spent, self._parts.clock())
        return made

    def _pack(
        self, hits: Hits, query: Asked, scope: Scope, chosen: Where | None, packing: Packing
    ) -> Context:
        """A context of an answer, with working state and the turns around those that were found."""
        tokens, count = check_budget(packing.budget), counter_of(packing.counter)
        reach = check_neighbours(packing.neighbours)
        now, recall = self._parts.clock(), Recall.of(self._parts)
        found = [hit.record for hit in hits]
        seen, tell = self._guarding.filter_visible(chosen), self._guarding.pseudonyms.telling(packing.reveal)
        text = self._guarding.query(check_query(query))
        made = pack(
            tuple(tell.hits(hits)),
            tokens,
            count,
            working=tell.records(working_state(recall, scope, seen, now)),
            turns=tell.turns(turns_around(recall, found, reach, seen, now)),
            terms={term_id(term) for term in self._parts.analyzer.terms(text)},
            headings=packing.headings,
            fence=packing.fence,
        )
        return replace(made, scope=hits.scope)

    def find(
        self, where: Filter | None, scope: str | Scope, limit: int, options: FindOptions
    ) -> list[Record]:
        chosen = self._guarding.filter_visible(read_filter("find", where, options))
        found = Recall.of(self._parts).list_records(
            chosen,
            Scope.of(scope),
            now=self._parts.clock(),
            order=options.get("order", "-occurred"),
            limit=check_limit(limit),
            offset=check_offset(options.get("offset", 0)),
        )
        self._auditing.read("find", scope, [record.id for record in found])
        return found

    def count(self, where: Filter | None, scope: str | Scope, options: FilterOptions) -> int:
        chosen = self._guarding.filter_visible(read_filter("count", where, options))
        living = chosen & Where(alive_at=self._parts.clock())
        return verbs.count(self._parts.store, living.within(Scope.of(scope)))

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


def _for_state(options: RecallOptions) -> RecallOptions:
    """A state asks for states that resemble it, unless the caller says otherwise; it holds no question."""
    return RecallOptions(**{"kinds": Kind.STATE, "understand": False, **options})
