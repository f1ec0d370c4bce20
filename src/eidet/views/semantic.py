"""Semantic memory: facts, found by meaning and by words."""

from __future__ import annotations

import math
from typing import Final, Unpack

from ..core.arguments import check_limit, check_query, check_share, narrow_filter
from ..core.dict_filters import Filter
from ..core.draft import Details
from ..core.errors import NotFound
from ..core.hit import Hits
from ..core.record import Kind, Record
from ..core.scope import Scope
from ..core.where import Condition, Where
from ..models.embed import embed_checked
from ..models.embed.quantise import find_cosines
from ..recall import Query, Recall, Recipe
from .kind_view import KindView
from .messages import put_away

_COSINE: Final = Recipe(name="cosine", dense=1.0, words=0.0, importance=0.0, nothing=0.0)
_MOST: Final = 1_000_000
_FREE: Final = Where(
    conditions=(Condition("state.pinned", "exists", False), Condition("state.hold", "exists", False))
)


class Semantic(KindView):
    """The facts of a scope. `agent` owns those added here; every agent of the scope sees all."""

    kind = Kind.FACT

    def add(self, text: str, **details: Unpack[Details]) -> Record:
        """Stores a fact. The same words count as a use; another fact with the same `key` is its next version.

        `details` are those of `Memory.remember`, without scope, kind and agent, which this view sets.
        """
        own = {"scope": self._scope, "kind": Kind.FACT, "agent": self._agent}
        return self._memory.remember(text, **own, **details)

    def search(
        self,
        query: str,
        limit: int = 5,
        *,
        least: float = 0.0,
        min_importance: float = 0.0,
        where: Filter | None = None,
    ) -> Hits:
        """Finds the facts that matter for a query, best first, each with its reasons."""
        return self._memory.recall(
            query,
            scope=self._scope,
            limit=limit,
            kinds=Kind.FACT,
            where=_at_least(where, min_importance),
            least=least,
            recipe="facts",
        )

    def similar(
        self, query: str, limit: int = 5, *, threshold: float = 0.0, min_importance: float = 0.0
    ) -> list[tuple[Record, float]]:
        """Finds the nearest facts, each with its plain cosine to the query and none below `threshold`.

        Only the facts returned count as used.
        """
        near = self._near(query, limit, threshold, min_importance)
        if not near:
            return []
        hits = self._memory.recall(
            query,
            scope=self._scope,
            limit=limit,
            kinds=Kind.FACT,
            where=Where(ids=tuple(near)),
            least=0.0,
            recipe=_COSINE,
            understand=False,
        )
        pairs = [(hit.record, near[hit.id]) for hit in hits]
        return sorted(pairs, key=lambda pair: -pair[1])

    def _near(self, query: str, limit: int, threshold: float, min_importance: float) -> dict[str, float]:
        """Maps the ids of the nearest facts to their cosines, without counting them as used."""
        parts, guarding = self._memory.parts, self._memory.trust.guarding
        text = guarding.query(check_query(query))
        now = parts.clock()
        asked = Query(
            least=0.0,
            text=text,
            scope=Scope(self._scope),
            now=now,
            asked=now,
            limit=check_limit(limit),
            where=guarding.filter_visible(narrow_filter(_at_least(None, min_importance), kinds=Kind.FACT)),
            recipe=_COSINE,
            understand=False,
        )
        hits = Recall.of(parts).answer(asked) if text.strip() else ()
        if not hits:
            return {}
        near = find_cosines([hit.record for hit in hits], embed_checked(parts.embedder, [text])[0])
        return {hit.id: cosine for hit, cosine in zip(hits, near, strict=True) if cosine >= threshold}

    def all(self, limit: int = 100, *, offset: int = 0, order: str = "-importance") -> list[Record]:
        """Lists the facts in the order of a field; a leading '-' means descending."""
        return self._memory.find(scope=self._scope, kinds=Kind.FACT, order=order, limit=limit, offset=offset)

    def set_importance(self, id: str, value: float) -> bool:
        """Sets a fact's importance. Returns whether the fact exists."""
        if self.get(id) is None:
            return False
        try:
            self._memory.revise(id, scope=self._scope, importance=value, by=self._agent)
        except NotFound:
            return False
        return True

    def consolidate(self, *, below: float = 0.3, uses: int = 2) -> int:
        """Deletes facts less important than `below` and used fewer than `uses` times. Returns how many.

        Keeps facts that are pinned or under a legal hold.
        """
        ceiling = math.nextafter(check_share(below, "below"), -1.0)
        if ceiling < 0:
            return 0
        self._memory.admin.flush()
        minor = Where(kinds=(Kind.FACT,), importance_max=ceiling) & _FREE
        found = self._memory.find(minor, scope=self._scope, limit=_MOST)
        unused = [record.id for record in found if record.uses < uses]
        return put_away(self._memory, unused, scope=self._scope) if unused else 0


def _at_least(where: Filter | None, importance: float) -> Where | None:
    least = check_share(importance, "min_importance")
    return narrow_filter(where, importance_min=least or None)
