"""Semantic memory, facts found by meaning and by words; episodic memory, experiences with their outcome."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Final, Unpack

from ..core.arguments import check_limit, check_query, check_share, check_texts, narrow_filter, one
from ..core.dict_filters import Filter
from ..core.draft import Details
from ..core.errors import BadInput, NotFound
from ..core.hit import Hits
from ..core.record import Kind, Record
from ..core.scope import Scope
from ..core.validate import Json, clean_text, describe_data
from ..core.where import Condition, Where
from ..memory import Memory
from ..models.embed import embed_checked
from ..models.embed.quantise import find_cosines
from ..recall import AUTO, Query, Recall, Recipe
from ..trust.audit import Auditing
from .messages import put_away


class KindView:
    """The records of one kind in a scope. `agent` owns those written here; every agent sees all."""

    kind: ClassVar[Kind]

    def __init__(self, memory: Memory, *, scope: str = "default", agent: str | None = None) -> None:
        self._memory = memory
        self._scope = one(scope)
        self._agent = agent

    @property
    def scope(self) -> str:
        """The scope that this view shows."""
        return self._scope

    def get(self, id: str) -> Record | None:
        found = self._memory.get(id, scope=self._scope)
        return found if found is not None and found.kind is self.kind else None

    def forget(self, id: str) -> bool:
        """Deletes a record. Returns whether it existed; its content may be stored again."""
        return self.get(id) is not None and put_away(self._memory, [id], scope=self._scope) > 0

    def count(self) -> int:
        return self._memory.count(Where(kinds=(self.kind,)), scope=self._scope)

    def __len__(self) -> int:
        return self.count()

    def __bool__(self) -> bool:
        """Is always true: a view without records is still a view."""
        return True


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
        parts, guarding, started = self._memory.parts, self._memory.trust.guarding, time.perf_counter()
        text, now = guarding.query(check_query(query)), parts.clock()
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
        if not text.strip() or not (hits := Recall.of(parts).answer(asked)):
            return []
        cosines = find_cosines([hit.record for hit in hits], embed_checked(parts.embedder, [text])[0])
        near = [pair for pair in zip(hits, cosines, strict=True) if pair[1] >= threshold]
        spent = time.perf_counter() - started
        parts.usage.count_recall(Hits([hit for hit, _ in near], scope=hits.scope), now, spent, ranked=True)
        found = sorted(((hit.record, cosine) for hit, cosine in near), key=lambda pair: -pair[1])
        keys = [(record.scope, record.id) for record, _ in found]
        Auditing(self._memory.audit).read("recall", self._scope, keys)
        return found

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


_NEAREST: Final = replace(AUTO, name="nearest", nothing=0.0)
_READ: Final = 20  # fewest episodes to search for lessons


class Episodic(KindView):
    """The experiences of a scope. `agent` owns those recorded here; every agent of the scope reads all."""

    kind = Kind.EPISODE

    def record(
        self,
        situation: str,
        *,
        action: Json = None,
        outcome: str | None = None,
        success: bool | None = None,
        lessons: Sequence[str] = (),
        **details: Unpack[Details],
    ) -> Record:
        """Stores an experience: its parts as the data of the record, all of it as the text.

        `details` are those of `Memory.remember`, without scope, kind, agent and data, which this view sets.
        """
        data = _check_experience(situation, action, outcome, success, lessons)
        own = {"scope": self._scope, "kind": Kind.EPISODE, "agent": self._agent, "data": data}
        return self._memory.remember(_experience_as_text(data), **own, **details)

    def similar(
        self, situation: str, limit: int = 5, *, success: bool | None = None, where: Filter | None = None
    ) -> Hits:
        """Finds experiences like a situation, nearest first; with `success`, only those with that outcome.

        Returns the nearest even if none is near; the scores say how near they are.
        """
        wanted = (Condition("data.success", "=", bool(success)),) if success is not None else None
        return self._memory.recall(
            situation,
            scope=self._scope,
            limit=limit,
            kinds=Kind.EPISODE,
            where=narrow_filter(where, conditions=wanted),
            recipe=_NEAREST,
        )

    def lessons(self, situation: str, limit: int = 5) -> list[str]:
        """Returns up to `limit` distinct lessons of similar situations, nearest first."""
        learned = Where(conditions=(Condition("data.lessons", "exists"),))
        hits = self.similar(situation, max(_READ, 4 * check_limit(limit)), where=learned)
        found = []
        for hit in hits:
            found.extend(hit.record.whole.data["lessons"])
        return list(dict.fromkeys(found))[:limit]


def _check_experience(
    situation: str, action: Json, outcome: str | None, success: bool | None, lessons: Sequence[str]
) -> dict[str, Json]:
    if not clean_text(situation, "situation").strip():
        raise BadInput("an experience needs a situation: what was the case")
    if success is not None and not isinstance(success, bool):
        raise BadInput(f"success must be True, False or None, not {success!r}")
    data: dict[str, Json] = {
        "situation": situation,
        "action": action,
        "outcome": None if outcome is None else clean_text(outcome, "outcome"),
        "success": success,
        "lessons": check_texts(lessons, "lessons"),
    }
    return {name: value for name, value in data.items() if value not in (None, [])}


def _experience_as_text(data: Mapping[str, Json]) -> str:
    """Phrases an experience as text, for search and for people."""
    lines = [data["situation"]]
    if (action := data.get("action")) is not None:
        lines.append(f"Action: {action if isinstance(action, str) else describe_data(action)}")
    if (outcome := data.get("outcome")) is not None:
        lines.append(f"Outcome: {outcome}")
    if (success := data.get("success")) is not None:
        lines.append("It went well." if success else "It failed.")
    return "\n".join(lines + [f"Lesson: {lesson}" for lesson in data.get("lessons", ())])
