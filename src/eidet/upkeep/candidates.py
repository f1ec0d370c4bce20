"""Filters for the records that planners may change, so that upkeep does not read the others.

The filter passes at least every record that `plan` would change, and the planners still decide; a property
test keeps the two consistent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain
from typing import Final

from ..core.record import Record, Tier, kind_of
from ..core.scope import Scope
from ..core.settings import Retention, Upkeep
from ..core.validate import EARLIEST, LATEST
from ..core.where import Condition, Where
from ..store import Store, verbs
from . import resting_time
from .curve import DAY
from .tier_plan import DUE, LEVELS, Bounds, Rested, crowd_bound

_EVERYTHING: Final = Where()
_ROUNDING: Final = 1.0  # seconds of tolerance: planners divide where a filter subtracts
_BANDS: Final = ((0.0, 0.25), (0.25, 0.5), (0.5, 0.75), (0.75, 0.9), (0.9, 1.0))  # of importance
_NEVER_USED: Final = Where(conditions=(Condition("record.last_used", "exists", False),))


def candidates(works: Iterable[str], now: float, settings: Upkeep, bounds: Bounds) -> Where | None:
    """Builds the filter of the records that the works could change in a scope; None if there are none."""
    some = tuple(chain.from_iterable(_narrow(work, now, settings, bounds) for work in works))
    if _EVERYTHING in some:
        return _EVERYTHING
    return Where(some=some) if some else None


def _narrow(work: str, now: float, settings: Upkeep, bounds: Bounds) -> Iterator[Where]:
    """Yields the filters of the records that a work could change."""
    if work == "expire":
        yield ~Where(alive_at=now)
    elif work == "retain":
        yield from _list_retained(bounds.retention, now)
    elif work == "forget" and settings.forget_below:
        yield _EVERYTHING  # depends on a curve of uses, age and importance, which is no column
    elif work == "promote" and settings.promote_uses is not None:
        used = [Condition("record.uses", ">=", settings.promote_uses)]
        if (since := _ago(now, settings.promote_days)) is not None:
            used.append(Condition("record.last_used", ">=", since - 2 * _ROUNDING))
        yield Where(tiers=(Tier.MIDDLE, Tier.LONG), conditions=tuple(used))
    elif work == "move":
        yield Where(tiers=(Tier.LONG,), conditions=(Condition("record.level", "<", LEVELS[Tier.LONG]),))
        for tier in (Tier.SHORT, Tier.MIDDLE):
            if leaving := tuple(_leaving(tier, now, settings, bounds)):
                yield Where(tiers=(tier,), some=leaving)


def _list_retained(policies: Iterable[Retention], now: float) -> Iterator[Where]:
    for policy in policies:
        until = None if policy.days is None else _ago(now, policy.days)
        if policy.then != "keep" and until is not None:
            kinds = None if policy.kinds is None else tuple(map(kind_of, policy.kinds))
            occurred = policy.since == "occurred"
            yield Where(kinds=kinds, until=until) if occurred else Where(kinds=kinds, created_until=until)


def _leaving(tier: Tier, now: float, settings: Upkeep, bounds: Bounds) -> Iterator[Where]:
    days, steps = getattr(settings, f"{tier}_age_days"), getattr(settings, f"{tier}_steps")
    if tier in bounds.crowded:
        yield resting(bounds.crowded[tier][0])
    if days is not None:
        yield from _filter_by_age(days, now)
    if steps is not None and bounds.newest_step is not None:
        yield Where(step_to=bounds.newest_step - steps)


def _filter_by_age(days: float, now: float) -> Iterator[Where]:
    """Yields a filter by age, in bands of importance, because more important records may rest longer.

    `plan` moves at `age / days * (1 - importance) >= DUE`. Each band passes the records that are old enough
    for its lower end.
    """
    ends = [(low, high, _ago(now, DUE * days / (1.0 - low))) for low, high in _BANDS]
    bands = tuple(
        replace(resting(until), importance_min=low or None, importance_max=high if high < 1 else None)
        for low, high, until in ends
        if until is not None
    )
    if bands:
        yield Where(created_until=ends[0][2], some=bands)


def _ago(now: float, days: float) -> float | None:
    """Returns the time `days` ago, plus the tolerance; None if that is before the earliest valid time."""
    then = now - days * DAY + _ROUNDING
    return min(then, LATEST) if then >= EARLIEST else None


def resting(until: float) -> Where:
    """Builds a filter for records that were neither created nor used after a moment."""
    rested = Where(conditions=(Condition("record.last_used", "<=", until),))
    return Where(created_until=until, some=(_NEVER_USED, rested))


# What planners must know of a whole scope.


PAGE: Final = 2_000  # records read at once; large, because each page of a store costs a pass over the scope
_SOME: Final = 200  # records of a crowded tier in the first page


def bounds_of(
    store: Store, scope: str, settings: Upkeep, give_way: Callable[[], None] = lambda: None
) -> Bounds:
    """Computes the bounds of a scope, reading about the surplus of each overfull tier and nothing else."""
    place = Scope(scope)
    limits = {Tier.SHORT: settings.short_entries, Tier.MIDDLE: settings.middle_entries}
    held: Counter[str] = Counter()
    if any(limit is not None for limit in limits.values()):
        for (_, tier), count in verbs.count_kinds(store, Where(scope=place)).items():
            held[tier] += count
    crowded: dict[Tier, Rested] = {}
    for tier, limit in limits.items():
        if limit is not None and held[tier] > limit:
            bound = _find_bound(store, Where(scope=place, tiers=(tier,)), held[tier], limit, give_way)
            crowded |= {tier: bound} if bound is not None else {}
    newest = None
    if settings.short_steps is not None or settings.middle_steps is not None:
        newest = next((r.step for r in store.find(Where(scope=place), order="-step", limit=1)), None)
    return Bounds(crowded=crowded, newest_step=newest)


def _find_bound(
    store: Store, where: Where, held: int, limit: int, give_way: Callable[[], None]
) -> Rested | None:
    """Finds the bound of a tier; None if most is surplus, as sorting would cost more than reading."""
    over = held - limit
    if 2 * over < held:
        return crowd_bound(_by_created(store, where, over), over)
    rested: list[Rested] = []
    for page in read_pages(store, where, _SOME):
        give_way()
        rested += [(resting_time(record), record.seq) for record in page]
    rested.sort()
    return rested[min(over, len(rested)) - 1] if rested else None


def read_pages(store: Store, where: Where, size: int) -> Iterator[list[Record]]:
    """Yields the records that match in one scope now, by ascending seq; omits those changed meanwhile.

    Searches the scope once, whereas one query per page would search it for each page.
    """
    assert where.scope is not None
    path, seqs = where.scope.path, store.match(where)
    for start in range(0, len(seqs), size):
        found = store.read(path, seqs[start : start + size])
        yield [record for record in found if record is not None]


def _by_created(store: Store, where: Where, first: int) -> Iterator[Record]:
    """Yields records, oldest first, in growing pages, because each page costs a search of all matches."""
    offset, size = 0, max(2 * first, _SOME)
    while page := store.find(where, order="created", limit=size, offset=offset):
        yield from page
        offset, size = offset + len(page), 2 * size
