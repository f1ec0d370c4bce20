"""What planners must know of a whole scope, read from its store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final

from ..core.record import Record, Tier
from ..core.scope import Scope
from ..core.settings import Upkeep
from ..core.where import Where
from ..store import Store, verbs
from . import resting_time
from .tier_plan import Bounds, Rested, crowd_bound

PAGE: Final = 2_000  # records read at once: a page of the store is found by looking along all of the scope
SOME: Final = 200  # records of a crowded tier that are read at first


def bounds_of(
    store: Store, scope: str, settings: Upkeep, give_way: Callable[[], None] = lambda: None
) -> Bounds:
    """Of a tier that has too many records, about as many as are too many are read; of others none."""
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
    """Where most of a tier is too many, all of it is read as it lies: to sort it would cost more."""
    over = held - limit
    if 2 * over < held:
        return crowd_bound(_by_created(store, where, over), over)
    rested: list[Rested] = []
    for page in read_pages(store, where, SOME):
        give_way()
        rested += [(resting_time(record), record.seq) for record in page]
    rested.sort()
    return rested[min(over, len(rested)) - 1] if rested else None


def read_pages(store: Store, where: Where, size: int) -> Iterator[list[Record]]:
    """What matches of one scope now, by rising seq; what changes or goes before it is read is left out.

    Looks through the scope once. To find one page after the other would look through it for each.
    """
    assert where.scope is not None
    path, seqs = where.scope.path, store.match(where)
    for start in range(0, len(seqs), size):
        found = store.read(path, seqs[start : start + size])
        yield [record for record in found if record is not None]


def _by_created(store: Store, where: Where, first: int) -> Iterator[Record]:
    """The oldest first, in pages that grow: each is found by looking at all that match."""
    offset, size = 0, max(2 * first, SOME)
    while page := store.find(where, order="created", limit=size, offset=offset):
        yield from page
        offset, size = offset + len(page), 2 * size
