"""How a space answers: from its cache, from all tiers at once, or from those tiers that still answer."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Final

from ...core.errors import Corrupt, EidetError, Unavailable
from ...core.record import Tier
from ...memory import Memory
from ...store import Head, Store
from ...store.traits import missing_of
from .entries import NAMES
from .errors import MemoryRetrievalException, log, severity_of
from .merge import KEYS, merge_sorted
from .reader import Scored
from .result_cache import ResultCache

Ask = Callable[[tuple[Tier, ...] | None], list[Scored]]
EVERY: Final = tuple(Tier)
STORES: Final = {Tier.SHORT: "short", Tier.MIDDLE: "short", Tier.LONG: "long"}  # of a tiered memory


class TierReader:
    """Questions to one scope. `degraded` says which tiers could not answer the last one, and why."""

    def __init__(self, memory: Memory, scope: str, cache: ResultCache[tuple[Scored, ...]]) -> None:
        self._memory, self._scope = memory, scope
        self.cache = cache
        self.degraded: dict[str, str] = {}

    def answer(
        self, key: Hashable, ask: Ask, *, tiers: tuple[Tier, ...] | None, order: str, limit: int | None
    ) -> list[Scored]:
        """The answer for a key, if it is kept and still true; else what `ask` finds."""
        kept = self.cache.get(key, self._still)
        if kept is not None:
            return list(kept)
        stamp = self._head()
        found = self._ask_all(ask, tiers, order, limit)
        if not self.degraded:
            self.cache.put(key, tuple(found), stamp, 1 + len(found))
        return found

    def _ask_all(
        self, ask: Ask, tiers: tuple[Tier, ...] | None, order: str, limit: int | None
    ) -> list[Scored]:
        self.degraded = {}
        try:
            found = ask(tiers)
        except (Corrupt, Unavailable) as error:
            return self._from_those_that_answer(ask, tiers or EVERY, order, limit, error)
        self._tell(self._missing_tiers(tiers or EVERY))
        return found

    def _from_those_that_answer(
        self, ask: Ask, tiers: tuple[Tier, ...], order: str, limit: int | None, first: EidetError
    ) -> list[Scored]:
        parts: list[list[Scored]] = []
        failed: dict[str, str] = {}
        for tier in tiers:
            try:
                parts.append(ask((tier,)))
            except (Corrupt, Unavailable) as error:
                failed[NAMES[tier]] = str(error)
        if not parts:
            raise MemoryRetrievalException(
                f"no tier could be read: {first}", severity=severity_of(first), context={"tiers": failed}
            ) from first
        self._tell(failed)
        return merge_sorted(parts, KEYS[order], limit)

    def _missing_tiers(self, tiers: tuple[Tier, ...]) -> dict[str, str]:
        """The tiers whose store is down, where a memory is made of several and answers from the rest."""
        if not missing_of(self._store()):
            return {}
        stores = self._memory.admin.health()["store"]
        result = {}
        for tier in tiers:
            if (why := stores[STORES[tier]]["error"]) is not None:
                result[NAMES[tier]] = why
        return result

    def _tell(self, failed: dict[str, str]) -> None:
        self.degraded = failed
        for name, why in failed.items():
            log.warning(
                "could not read tier %s of scope %s; answering from the others: %s", name, self._scope, why
            )

    # What is kept is true as long as nothing was written to the scope, here or by another process.

    def _store(self) -> Store:
        return self._memory.parts.store

    def _head(self) -> Head:
        return self._store().head()

    def _still(self, stamp: Hashable) -> Hashable | None:
        assert isinstance(stamp, Head)
        if self._head() == stamp:
            return stamp
        changes = self._store().changes(self._scope, stamp.seq, 1)
        same = changes.head.epoch == stamp.epoch and stamp.seq >= changes.pruned
        if same and not changes.entries and not changes.gone:
            return changes.head
        return None
