"""Keeping an agent's tiers within their limits, by the verbs of the memory."""

from __future__ import annotations

from dataclasses import replace

from ...core.record import Tier, Trust
from ...core.settings import Upkeep
from ...core.where import Where
from ...memory import Memory
from ...upkeep import Maintained
from ...upkeep.candidates import resting
from .config import MOVES, MemoryConfig, RedisIMConfig, RedisSTMConfig


def maintain(memory: Memory, scope: str, config: MemoryConfig, now: float) -> Maintained:
    """Moves what is over a limit, brings back what is used often, deletes what has expired."""
    memory.admin.flush()
    done = _once(memory, scope, config, now, MOVES)
    if done.counts.get("move") and _over(memory, scope, Tier.MIDDLE, config.im, now):
        done = _both(
            done, _once(memory, scope, config, now, ("move",))
        )  # what came down may be too much there
    return done


def _once(memory: Memory, scope: str, config: MemoryConfig, now: float, works: tuple[str, ...]) -> Maintained:
    settings = config.upkeep(
        short=_may_stay(memory, scope, Tier.SHORT, config.stm, now),
        middle=_may_stay(memory, scope, Tier.MIDDLE, config.im, now),
    )
    return memory.upkeep.maintain(scope, only=works, settings=settings)


def _both(one: Maintained, other: Maintained) -> Maintained:
    names = dict.fromkeys((*one.counts, *other.counts))
    return replace(
        one,
        counts={name: one.counts.get(name, 0) + other.counts.get(name, 0) for name in names},
        changes=one.changes + other.changes,
        skipped=one.skipped + other.skipped,
        failed=one.failed + other.failed,
        seconds=one.seconds + other.seconds,
    )


def to_long(memory: Memory, scope: str, *, short: bool) -> dict[str, int]:
    """Everything of the middle tier, and of the short one if asked, into the long one; how many of each."""
    memory.admin.flush()
    blank = Upkeep(
        short_entries=None, short_age_days=None, middle_entries=None, middle_age_days=None, promote_uses=None
    )
    to_middle = 0
    if short:
        to_middle = _move_records(memory, scope, replace(blank, short_entries=0))
    all_of_it = _move_records(memory, scope, replace(blank, middle_entries=0))
    return {"stm": to_middle, "im": all_of_it - to_middle}


def _move_records(memory: Memory, scope: str, settings: Upkeep) -> int:
    return memory.upkeep.maintain(scope, only="move", settings=settings).counts.get("move", 0)


def _may_stay(
    memory: Memory, scope: str, tier: Tier, limits: RedisSTMConfig | RedisIMConfig, now: float
) -> int | None:
    """How many may stay: no more than the limit, and none that was not used for longer than the TTL."""
    if limits.ttl is None:
        return limits.memory_limit
    here = _in(tier)
    if not _is_any_old(memory, scope, here, limits.ttl, now):
        return limits.memory_limit
    fresh = memory.count(here & ~resting(now - limits.ttl), scope=scope)
    if limits.memory_limit is None:
        return fresh
    return min(limits.memory_limit, fresh)


def is_due(memory: Memory, scope: str, config: MemoryConfig, now: float, *, early: bool) -> bool:
    """Whether any tier is over a limit; cheap, mostly from the columns of the index.

    With `early`, also whether something of little importance may be old enough to move before its time.
    """
    limits = ((Tier.SHORT, config.stm), (Tier.MIDDLE, config.im))
    return any(_over(memory, scope, tier, limit, now, early=early) for tier, limit in limits)


def _over(
    memory: Memory,
    scope: str,
    tier: Tier,
    limits: RedisSTMConfig | RedisIMConfig,
    now: float,
    *,
    early: bool = False,
) -> bool:
    here = _in(tier)
    most = limits.memory_limit
    if most is not None and memory.find(here, scope=scope, order="-created", limit=1, offset=most):
        return True
    if limits.ttl is not None and _is_any_old(memory, scope, here, limits.ttl, now, early=early):
        return True
    return limits.retention_steps is not None and _behind(memory, scope, here) > limits.retention_steps


def _in(tier: Tier) -> Where:
    """All of a tier: what is in quarantine takes its place there, too."""
    return Where(tiers=(tier,), trust=tuple(Trust))


def _is_any_old(
    memory: Memory, scope: str, here: Where, ttl: float, now: float, *, early: bool = False
) -> bool:
    """Nothing rests longer than since it was made: while the oldest is young, uses need not be looked at."""
    oldest = memory.find(here, scope=scope, order="created", limit=1)
    if not oldest or now - oldest[0].created < (ttl / 2 if early else ttl):
        return False
    return early or memory.count(here & resting(now - ttl), scope=scope) > 0


def _behind(memory: Memory, scope: str, here: Where) -> int:
    """How many steps the oldest one of a tier is behind the newest of all."""
    newest = memory.find(scope=scope, order="-step", limit=1)
    oldest = memory.find(here, scope=scope, order="step", limit=1)
    if not newest or not oldest or newest[0].step is None or oldest[0].step is None:
        return 0
    return newest[0].step - oldest[0].step
