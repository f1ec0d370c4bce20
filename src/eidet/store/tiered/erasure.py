"""Erasing in two stores at once: the plan is made while both are held."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from heapq import merge

from ...core.event import Event
from ...core.record import Record
from ...core.scope import Scope
from ...core.where import Where
from .. import Erased, Erasure, Look, Stone, verbs
from .history import joined
from .member import STEP, Side
from .members import Together
from .writing import GRAVES

Plan = Callable[[Look], Erasure]


def erase(stores: Together, plan: Plan, *, now: float, by: str | None) -> Erased:
    """Each store is held by the one before it, the long one outside. The innermost commits first.

    What the long one does then is on one disk or server. A store may make its plan again if somebody came
    before it: tombstones of an earlier plan are kept.
    """
    done: list[Erased] = []
    stones: dict[Stone, None] = {}
    wanted: list[Erasure] = []

    def planned(looks: Sequence[tuple[Side, Look]]) -> None:
        made = plan(_Looks(looks))
        stones.update(dict.fromkeys(made.stones))
        wanted[:] = [made._replace(stones=list(stones))]

    def within(sides: Sequence[Side], looks: Sequence[tuple[Side, Look]]) -> None:
        side, *others = sides

        def part(look: Look) -> Erasure:
            seen = [*looks, (side, look)]
            if others:
                within(others, seen)
            else:
                planned(seen)
            return _part(side, wanted[0], _settings(stores, side, wanted[0]))

        done.append(stores.write(side, lambda store: verbs.erase(store, part, now=now, by=by)))

    within(stores.sides, [])
    stores.know_graves(bool(stones))
    return Erased([key for one in done for key in one.gone], sum(one.histories for one in done))


def _settings(stores: Together, side: Side, erasure: Erasure) -> dict[str, str]:
    """Those are the long store's, which also knows that something was forgotten."""
    if side is not stores.long:
        return {}
    return {**erasure.settings, **({GRAVES: "1"} if erasure.stones else {})}


def _part(side: Side, erasure: Erasure, settings: dict[str, str]) -> Erasure:
    """What one of the stores does of it."""
    return Erasure(
        gone=[side.own(record) for record in erasure.gone if _is_of(side, record)],
        where=erasure.where,
        anew=[(side.own(old), new) for old, new in erasure.anew if _is_of(side, old)],
        stones=erasure.stones,
        settings=settings,
    )


def _is_of(side: Side, record: Record) -> bool:
    return record.seq % STEP == side.number


class _Looks:
    """What both stores show, as one."""

    def __init__(self, looks: Sequence[tuple[Side, Look]]) -> None:
        self._looks = looks

    def scan(self, where: Where) -> Iterator[Record]:
        walks = [side.all_told(look.scan(where)) for side, look in self._looks]
        return merge(*walks, key=lambda record: record.seq)

    def twins(self, records: Sequence[Record]) -> list[Record]:
        return self._told(lambda side, look: look.twins([side.own(record) for record in records]))

    def derived(self, scope: Scope) -> list[Record]:
        return self._told(lambda _, look: look.derived(scope))

    def _told(self, ask: Callable[[Side, Look], list[Record]]) -> list[Record]:
        found = [side.told(record) for side, look in self._looks for record in ask(side, look)]
        return sorted(found, key=lambda record: record.seq)

    def history(self, scope: str, id: str) -> list[Event]:
        return joined(look.history(scope, id) for _, look in self._looks)

    def setting(self, name: str) -> str | None:
        return self._looks[0][1].setting(name)
