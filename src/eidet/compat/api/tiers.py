"""Keeping an agent's tiers within their limits, by the verbs of the memory."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...core.record import Tier, Trust
from ...core.settings import Upkeep
from ...core.where import Where
from ...memory import Memory
from ...upkeep import Maintained
from ...upkeep.candidates import resting
from .config import MOVES, MemoryConfig, RedisIMConfig, RedisSTMConfig

UNLIMITED = Upkeep(
    short_entries=None, short_age_days=None, middle_entries=None, middle_age_days=None, promote_uses=None
)


@dataclass(frozen=True, slots=True)
class AgentTiers:
    """The tiers of one agent as of a moment."""

    memory: Memory
    scope: str
    config: MemoryConfig
    now: float

    def maintain(self) -> Maintained:
        """Moves what is over a limit, brings back what is used often, deletes what has expired."""
        self.memory.admin.flush()
        done = self._maintain_once(MOVES)
        if done.counts.get("move") and self._is_over(Tier.MIDDLE, self.config.im):
            done = _add_up(done, self._maintain_once(("move",)))  # what came down may be too much there
        return done

    def _maintain_once(self, works: tuple[str, ...]) -> Maintained:
        settings = self.config.upkeep(
            short=self._count_staying(Tier.SHORT, self.config.stm),
            middle=self._count_staying(Tier.MIDDLE, self.config.im),
        )
        return self.memory.upkeep.maintain(self.scope, only=works, settings=settings)

    def move_to_long(self, *, short: bool) -> dict[str, int]:
        """Moves all of the middle tier, and of the short one if asked, to the long one; how many of each."""
        self.memory.admin.flush()
        to_middle = self._move(replace(UNLIMITED, short_entries=0)) if short else 0
        all_of_it = self._move(replace(UNLIMITED, middle_entries=0))
        return {"stm": to_middle, "im": all_of_it - to_middle}

    def _move(self, settings: Upkeep) -> int:
        return self.memory.upkeep.maintain(self.scope, only="move", settings=settings).counts.get("move", 0)

    def _count_staying(self, tier: Tier, limits: RedisSTMConfig | RedisIMConfig) -> int | None:
        """How many may stay: no more than the limit, and none that was not used for longer than the TTL."""
        if limits.ttl is None or not self._is_any_old(tier, limits.ttl):
            return limits.memory_limit
        fresh = self.memory.count(_all_of(tier) & ~resting(self.now - limits.ttl), scope=self.scope)
        return fresh if limits.memory_limit is None else min(limits.memory_limit, fresh)

    def is_due(self, *, early: bool) -> bool:
        """Whether any tier is over a limit; cheap, mostly from the columns of the index.

        With `early`, also whether something of little importance may be old enough to move before its time.
        """
        limits = ((Tier.SHORT, self.config.stm), (Tier.MIDDLE, self.config.im))
        return any(self._is_over(tier, limit, early=early) for tier, limit in limits)

    def _is_over(self, tier: Tier, limits: RedisSTMConfig | RedisIMConfig, *, early: bool = False) -> bool:
        most, steps = limits.memory_limit, limits.retention_steps
        here, scope = _all_of(tier), self.scope
        if most is not None and self.memory.find(here, scope=scope, order="-created", limit=1, offset=most):
            return True
        if limits.ttl is not None and self._is_any_old(tier, limits.ttl, early=early):
            return True
        return steps is not None and self._count_steps_behind(tier) > steps

    def _is_any_old(self, tier: Tier, ttl: float, *, early: bool = False) -> bool:
        """Nothing rests longer than since it was made: while the oldest is young, uses do not matter."""
        here = _all_of(tier)
        oldest = self.memory.find(here, scope=self.scope, order="created", limit=1)
        if not oldest or self.now - oldest[0].created < (ttl / 2 if early else ttl):
            return False
        return early or self.memory.count(here & resting(self.now - ttl), scope=self.scope) > 0

    def _count_steps_behind(self, tier: Tier) -> int:
        """How many steps the oldest one of a tier is behind the newest of all."""
        newest = self.memory.find(scope=self.scope, order="-step", limit=1)
        oldest = self.memory.find(_all_of(tier), scope=self.scope, order="step", limit=1)
        if not newest or not oldest or newest[0].step is None or oldest[0].step is None:
            return 0
        return newest[0].step - oldest[0].step


def _all_of(tier: Tier) -> Where:
    """All of a tier: what is in quarantine takes its place there, too."""
    return Where(tiers=(tier,), trust=tuple(Trust))


def _add_up(one: Maintained, other: Maintained) -> Maintained:
    counts = dict(one.counts)
    for name, count in other.counts.items():
        counts[name] = counts.get(name, 0) + count
    return replace(
        one,
        counts=counts,
        changes=one.changes + other.changes,
        skipped=one.skipped + other.skipped,
        failed=one.failed + other.failed,
        seconds=one.seconds + other.seconds,
    )
