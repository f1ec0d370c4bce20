"""Reads an agent's memories: from a cache, from all tiers at once, or from those that still answer."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import islice
from typing import Any, Final, TypeVar

from ...core.errors import Corrupt, EidetError, Unavailable
from ...core.record import Record, Tier
from ...memory import Memory
from ...store import Head, Store
from ...store.traits import missing_of
from .config import MemoryConfig
from .entries import NAMES, Entry, entry_of, label_of
from .errors import MemoryRetrievalException, log, severity_of, translate_errors
from .reader import Look, Scored, by_score
from .result_cache import ResultCache

T = TypeVar("T")


def merge_sorted(parts: Sequence[Iterable[T]], key: Callable[[T], Any], limit: int | None = None) -> list[T]:
    """Lists that are sorted by `key`, merged by a heap: n items of k lists take O(n log k)."""
    return list(islice(heapq.merge(*parts, key=key), limit))


def _newest(one: Scored) -> tuple[float, int]:
    return -one.record.occurred, -one.record.seq


def _by_step(one: Scored) -> tuple[bool, float, int]:
    step = one.record.step
    return step is None, step or 0, one.record.seq


def _latest_step(one: Scored) -> tuple[bool, float, int]:
    step = one.record.step
    return step is None, -(step or 0), -one.record.seq


KEYS: Final[dict[str, Callable[[Scored], Any]]] = {
    "score": by_score,
    "step": _by_step,
    "-step": _latest_step,
    "-occurred": _newest,
}


Tiers = tuple[Tier, ...] | None
Ask = Callable[[Look, Tiers], list[Scored]]
EVERY: Final = tuple(Tier)
STORES: Final = {Tier.SHORT: "short", Tier.MIDDLE: "short", Tier.LONG: "long"}  # of a tiered memory


class AgentReader:
    """Reads one agent's memories. `degraded` says which tiers could not answer the last question, and why."""

    def __init__(self, agent_id: str, *, memory: Memory, config: MemoryConfig, scope: str | None) -> None:
        label = label_of(agent_id)
        self.agent_id = agent_id
        self.scope: str = "/".join(filter(None, (scope, label)))
        self.memory = memory
        self.config: MemoryConfig = config
        self.clock: Callable[[], float] = memory.parts.clock
        self.cache: ResultCache[tuple[Scored, ...]] = self._make_cache()
        self.degraded: dict[str, str] = {}

    def _make_cache(self) -> ResultCache[tuple[Scored, ...]]:
        return ResultCache(self.config.cache_ttl, self.config.cache_size, self.clock)

    def configure(self, config: MemoryConfig) -> None:
        """Other settings from now on."""
        size, self.config = self.config.cache_size, config
        if size != config.cache_size:
            self.cache = self._make_cache()
        self.cache.set_ttl(config.cache_ttl)

    def look(self) -> Look:
        """The memories as of now."""
        decays = self.config.memory_priority_decay < 1
        return Look(self.memory, self.scope, self.clock(), self.importance_of, decays)

    def importance_of(self, record: Record) -> float:
        """A memory's priority after decay."""
        return record.importance * self.config.priority_after(self.clock() - record.created)

    def entry(self, record: Record) -> Entry:
        return entry_of(record, self.agent_id, importance=self.importance_of(record), whole=self.whole)

    def whole(self, record: Record) -> Record:
        """The full record, whatever its tier shows of it."""
        if not record.level:
            return record
        return self.memory.upkeep.detail(record.id, scope=record.scope)

    def count_use(self, record: Record) -> None:
        usage, now = self.memory.parts.usage, self.clock()
        usage.count_uses([record], now)
        usage.count_reads([record], now)
        usage.flush_if_due()

    def translate_errors(self, what: str, **context: Any) -> Any:
        """Errors of the memory as errors of reading."""
        return translate_errors(MemoryRetrievalException, what, agent_id=self.agent_id, **context)

    # Answers.

    def answer(
        self, key: Hashable, ask: Ask, *, tiers: Tiers, order: str = "score", limit: int | None = None
    ) -> list[Scored]:
        """The answer for a key, if it is kept and still true; else what `ask` finds."""
        key = (key, tiers)
        with self.translate_errors("the memories were not read"):
            kept = self.cache.get(key, self._still)
            if kept is not None:
                return list(kept)
            stamp = self._store().head()
            found = self._ask_all(ask, tiers, order, limit)
            if not self.degraded:
                self.cache.put(key, tuple(found), stamp, 1 + len(found))
            return found

    def _ask_all(self, ask: Ask, tiers: Tiers, order: str, limit: int | None) -> list[Scored]:
        self.degraded = {}
        look = self.look()
        try:
            found = ask(look, tiers)
        except (Corrupt, Unavailable) as error:
            parts = self._ask_each(ask, look, tiers or EVERY, error)
            return merge_sorted(parts, KEYS[order], limit)
        self._tell(self._missing_tiers(tiers or EVERY))
        return found

    def _ask_each(
        self, ask: Ask, look: Look, tiers: tuple[Tier, ...], first: EidetError
    ) -> list[list[Scored]]:
        """The answers of those tiers that can be read."""
        parts: list[list[Scored]] = []
        failed: dict[str, str] = {}
        for tier in tiers:
            try:
                parts.append(ask(look, (tier,)))
            except (Corrupt, Unavailable) as error:
                failed[NAMES[tier]] = str(error)
        if not parts:
            raise MemoryRetrievalException(
                f"no tier could be read: {first}", severity=severity_of(first), context={"tiers": failed}
            ) from first
        self._tell(failed)
        return parts

    def _missing_tiers(self, tiers: tuple[Tier, ...]) -> dict[str, str]:
        """The tiers whose store is down, where a memory is made of several and answers from the rest."""
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

    # What is kept is true as long as nothing was written to the scope, here or by another process.

    def _store(self) -> Store:
        return self.memory.parts.store

    def _still(self, stamp: Hashable) -> Hashable | None:
        assert isinstance(stamp, Head)
        if self._store().head() == stamp:
            return stamp
        changes = self._store().changes(self.scope, stamp.seq, 1)
        same = changes.head.epoch == stamp.epoch and stamp.seq >= changes.pruned
        return changes.head if same and not changes.entries and not changes.gone else None
