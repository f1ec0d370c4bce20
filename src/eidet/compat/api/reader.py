"""Reads one agent's memories for every strategy: cached, and from the tiers that are available."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from ...core.errors import Corrupt, EidetError, Unavailable
from ...core.record import Record, Tier, Trust
from ...core.validate import Json, clean_json, describe_data
from ...core.where import Where
from ...memory import Memory
from ...recall import Recipe
from ...store import Head, Store
from ...store.traits import missing_of
from ..opening import embed_query, find_nearest
from .config import MemoryConfig
from .entries import NAMES, Entry, check_id, entry_of, label_of, vectors_of
from .errors import MemoryAPIException, MemoryRetrievalException, log, severity_of, translate_errors
from .models import contents_of
from .result_cache import ResultCache, key_of

if TYPE_CHECKING:
    from .ranking import MemoryQuery

ALL: Final = 1_000_000  # the most records of one recall
EVERYTHING: Final = Where()
_RESEMBLING: Final = Recipe(name="resembling", importance=0.0, nothing=0.0)
WORDS: Final = Recipe(name="content", dense=0.4, words=0.6, importance=0.0)


class Scored(NamedTuple):
    """A memory and its score from 0 to 1."""

    record: Record
    score: float


def by_score(one: Scored) -> float:
    """A sort key that puts the best first."""
    return -one.score


@dataclass(frozen=True, slots=True)
class Look:
    """One agent's memories at one moment. `importance` computes a memory's priority after decay."""

    memory: Memory
    scope: str
    now: float
    importance: Callable[[Record], float]
    decays: bool

    def find(self, where: Where, *, order: str, limit: int | None = None) -> list[Record]:
        if limit == 0:
            return []
        return self.memory.find(where, scope=self.scope, order=order, limit=limit)

    def get(self, memory_id: str) -> Record | None:
        """Returns a memory or None; hides quarantined ones, because prompts are made of this."""
        record = self.memory.get(check_id(memory_id), scope=self.scope)
        return None if record is None or record.trust is Trust.QUARANTINED else record

    def require(self, memory_id: str) -> Record:
        record = self.get(memory_id)
        if record is None:
            raise MemoryRetrievalException(f"there is no memory {memory_id!r} of this agent")
        return record

    def nearest(self, vector: Any, where: Where | None, limit: int | None) -> list[Scored]:
        """Finds memories by the cosine of their vectors, nearest first; scores are at least 0."""
        where = _drop_empty(where)
        near = find_nearest(self.memory, vector, scope=self.scope, where=where, limit=limit or ALL)
        return [Scored(record, max(0.0, cosine)) for record, cosine in near]

    def resembling(self, state: object, where: Where | None, limit: int | None) -> list[Scored]:
        """Finds memories whose values are nearest to a state's; scores are at least 0."""
        return self._recall(_values_of(state), where, limit, recipe=_RESEMBLING, kinds=None)

    def about(self, text: str, where: Where | None, limit: int | None) -> list[Scored]:
        """Finds memories by meaning and by words, best first."""
        return self._recall(text, where, limit, recipe=WORDS, understand=False)

    def _recall(
        self, query: str | Mapping[str, Json], where: Where | None, limit: int | None, **how: Any
    ) -> list[Scored]:
        how |= {"where": _drop_empty(where), "limit": limit or ALL, "least": 0.0}
        return [Scored(hit.record, hit.score) for hit in self.memory.recall(query, scope=self.scope, **how)]

    def vector_of(self, text: str) -> Any:
        return embed_query(self.memory, text)


def _drop_empty(where: Where | None) -> Where | None:
    """Turns an empty filter into None, so that the index need not test any row."""
    return None if where == EVERYTHING else where


def both(where: Where, own: Where) -> Where:
    """Joins two filters."""
    return own if where == EVERYTHING else where & own


def _values_of(state: object) -> Mapping[str, Json]:
    """Returns the values of a state to compare with; raises if it is neither a dict nor a model."""
    contents = contents_of(state)
    if contents is None:
        raise MemoryRetrievalException(
            f"a state to compare with is a dict or a text, not {type(state).__name__}"
        )
    return contents


def state_as_text(state: object) -> str:
    """Returns a state as the text that is compared, the same as when it is stored; a text as it is."""
    if isinstance(state, str):
        return state
    return describe_data(clean_json(_values_of(state), "the state to compare with"))


def closeness(wanted: Mapping[str, Json], there: Json) -> float:
    """Scores from 0 to 1 how closely a memory matches attributes: their mean, nested ones included."""
    if not wanted or not isinstance(there, dict):
        return 0.0
    return sum([_close(value, there.get(name)) for name, value in wanted.items()]) / len(wanted)


def _close(one: Json, other: Json) -> float:
    kind = type(one)
    if kind is str or kind is bool or one is None:
        return 1.0 if type(other) is kind and one == other else 0.0
    if kind is int or kind is float:
        return _near(one, other) if type(other) in (int, float) else 0.0
    if isinstance(one, Mapping):
        return closeness(one, other)
    if not isinstance(other, list) or len(one) != len(other):
        return 0.0
    if one:
        return sum(map(_close, one, other)) / len(one)
    return 1.0


def _near(one: float, other: float) -> float:
    largest = max(abs(one), abs(other))
    return 1.0 - min(1.0, abs(one - other) / largest) if largest else 1.0


T = TypeVar("T")


def merge_sorted(parts: Sequence[Iterable[T]], key: Callable[[T], Any], limit: int | None = None) -> list[T]:
    """Merges lists sorted by `key` with a heap: n items of k lists take O(n log k)."""
    return list(islice(heapq.merge(*parts, key=key), limit))


def _merge_key(order: str) -> Callable[[Scored], Any]:
    """Returns the sort key of an answer: best first, equals by an order such as `-step`."""
    name, sign = order.removeprefix("-"), -1 if order.startswith("-") else 1

    def key(one: Scored) -> tuple[float, bool, float, int]:
        value = getattr(one.record, name)
        return -one.score, value is None, sign * (value or 0), sign * one.record.seq

    return key


STORES: Final = {Tier.SHORT: "short", Tier.MIDDLE: "short", Tier.LONG: "long"}  # members of a tiered memory


class AgentReader:
    """Reads one agent's memories. `degraded` has the error of each tier that failed in the last query."""

    def __init__(self, agent_id: str, *, memory: Memory, config: MemoryConfig, scope: str | None) -> None:
        label = label_of(agent_id)
        self.agent_id = agent_id
        self.scope: str = "/".join(filter(None, (scope, label)))
        self.memory = memory
        self.config: MemoryConfig = config
        self.clock: Callable[[], float] = memory.parts.clock
        self.cache: ResultCache[Scored] = self._make_cache()
        self.degraded: dict[str, str] = {}

    def _make_cache(self) -> ResultCache[Scored]:
        return ResultCache(self.config.cache_ttl, self.config.cache_size, self.clock)

    def configure(self, config: MemoryConfig) -> None:
        """Applies other settings from now on."""
        size, self.config = self.config.cache_size, config
        if size != config.cache_size:
            self.cache = self._make_cache()
        self.cache.set_ttl(config.cache_ttl)

    def _look(self) -> Look:
        """Returns a view of the memories as of now."""
        decays = self.config.memory_priority_decay < 1
        return Look(self.memory, self.scope, self.clock(), self._importance_of, decays)

    def _importance_of(self, record: Record) -> float:
        """Returns a memory's priority after decay."""
        return record.importance * self.config.priority_after(self.clock() - record.created)

    def _entry(self, record: Record) -> Entry:
        def read_vectors() -> dict[str, list[float]]:
            return vectors_of(self._whole(record), self.memory.parts.embedder)

        importance = self._importance_of(record)
        return entry_of(record, self.agent_id, importance=importance, vectors=read_vectors)

    def _whole(self, record: Record) -> Record:
        """Returns the full record, whatever its tier shows of it."""
        if not record.level:
            return record
        return self.memory.upkeep.detail(record.id, scope=record.scope)

    def _count_use(self, record: Record) -> None:
        usage, now = self.memory.parts.usage, self.clock()
        usage.count_uses([record], now)
        usage.count_reads([record], now)
        usage.flush_if_due()

    def _translate_errors(
        self, what: str, kind: type[MemoryAPIException] = MemoryRetrievalException, **context: Any
    ) -> AbstractContextManager[None]:
        """Raises errors of the memory as errors of this door."""
        return translate_errors(kind, what, agent_id=self.agent_id, **context)

    # Answers.

    def _answer(self, query: MemoryQuery) -> Sequence[Scored]:
        """Returns the cached answer to a query if it is still valid, else what the tiers answer now."""
        key = key_of(query), int(self.clock()) if query.strategy.ages else None
        with self._translate_errors("the memories were not read"):
            kept = self.cache.get(key, self._still)
            if kept is None:
                stamp, kept = self._store().head(), tuple(self._ask(query))
                if not self.degraded:
                    self.cache.put(key, kept, stamp)
            return kept

    def _ask(self, query: MemoryQuery) -> list[Scored]:
        self.degraded = {}
        look, tiers = self._look(), query.tiers or tuple(Tier)
        try:
            found = query.answer(look)
        except (Corrupt, Unavailable) as error:
            parts = self._ask_each(query, look, tiers, error)
            return merge_sorted(parts, _merge_key(query.strategy.order), query.k)
        self._tell(self._missing_tiers(tiers))
        return found

    def _ask_each(
        self, query: MemoryQuery, look: Look, tiers: tuple[Tier, ...], first: EidetError
    ) -> list[list[Scored]]:
        """Returns the answers of the tiers that can be read; raises if none can."""
        parts: list[list[Scored]] = []
        failed: dict[str, str] = {}
        for tier in tiers:
            try:
                parts.append(replace(query, tiers=(tier,)).answer(look))
            except (Corrupt, Unavailable) as error:
                failed[NAMES[tier]] = str(error)
        if not parts:
            raise MemoryRetrievalException(
                f"no tier could be read: {first}", severity=severity_of(first), context={"tiers": failed}
            ) from first
        self._tell(failed)
        return parts

    def _missing_tiers(self, tiers: tuple[Tier, ...]) -> dict[str, str]:
        """Returns the error of each tier whose store is down; the memory answers from the rest."""
        if not missing_of(self._store()):
            return {}
        stores = self.memory.admin.health()["store"]
        return {NAMES[tier]: why for tier in tiers if (why := stores[STORES[tier]]["error"]) is not None}

    def _tell(self, failed: dict[str, str]) -> None:
        self.degraded = failed
        for name, why in failed.items():
            log.warning(
                "could not read tier %s of scope %s; answering from the others: %s", name, self.scope, why
            )

    # A cached answer is valid until this or another process writes to the scope.

    def _store(self) -> Store:
        return self.memory.parts.store

    def _still(self, stamp: Hashable) -> Hashable | None:
        assert isinstance(stamp, Head)
        if self._store().head() == stamp:
            return stamp
        changes = self._store().changes(self.scope, stamp.seq, 1)
        same = changes.head.epoch == stamp.epoch and stamp.seq >= changes.pruned
        return changes.head if same and not changes.entries and not changes.gone else None
