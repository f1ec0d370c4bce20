"""What the sorted sets of a scope can tell of a filter."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter
from typing import Any, Final

from ...core.where import Where
from .client import Command

EXACT: Final = 2**53  # below it, every whole number is a score of its own
_SPANS: Final = (
    ("o", "since", "until"),
    ("c", "created_since", "created_until"),
    ("t", "step_from", "step_to"),
    ("p", "importance_min", "importance_max"),
)
_read_looked_at: Final = attrgetter(
    *("kinds", "tiers", "trust", "agent", "session", "who", "source", "box", "near"),
    *("conditions", "some", "never"),
)
_ANYTHING: Final = _read_looked_at(Where())


@dataclass(frozen=True, slots=True, kw_only=True)
class Sifted:
    """Ranges that let pass at least what was asked for in a scope.

    Where it is not `exact`, `where` looks at each record.
    """

    scope: str
    where: Where
    ranges: tuple[tuple[str, float, float], ...] = ()
    alive_at: float | None = None
    ids: tuple[str, ...] | None = None
    exact: bool = True

    @property
    def counts(self) -> bool:
        """Whether the server can count what passes without telling it."""
        simple = len(self.ranges) + (self.alive_at is not None) < 2
        return self.exact and self.ids is None and simple

    def counting(self, base: str) -> list[tuple[str, Command]]:
        """How many there are, and how many of them do not count."""
        key, low, high = self.ranges[0] if self.ranges else ("s", -math.inf, math.inf)
        dead = -math.inf if self.alive_at is None else self.alive_at
        spans = ((key, low, high), ("x", -math.inf, dead))
        return [(base, ("ZCOUNT", base + key, _write(low), _write(high))) for key, low, high in spans]

    def words(self, after: int, most: int | None = None) -> list[Any]:
        """For the script `select`."""
        ranges = chain(*((key, _write(low), _write(high)) for key, low, high in self.ranges))
        alive = "" if self.alive_at is None else repr(self.alive_at)
        named = [""] if self.ids is None else ["1", *self.ids]
        return [after, alive, "" if most is None else most, len(self.ranges), *ranges, *named]


def sift_scope(where: Where, scope: str) -> Sifted | None:
    """None where nothing of this scope can pass."""
    if where.scope is not None and not where.scope.holds(scope):
        return None
    ranges = tuple(_spans(where))
    alive, ids = where.alive_at, where.ids
    exact = _read_looked_at(where) == _ANYTHING and all(map(_is_exact, ranges))
    for part in where.every:
        more = sift_scope(part, scope)
        if more is None:
            return None
        ranges += more.ranges
        alive = max((end for end in (alive, more.alive_at) if end is not None), default=None)
        ids = _both(ids, more.ids)
        exact = exact and more.exact
    if ids is not None:
        ids = tuple(dict.fromkeys(ids))
    return Sifted(scope=scope, where=where, ranges=ranges, alive_at=alive, ids=ids, exact=exact)


def _is_exact(span: tuple[str, float, float]) -> bool:
    return all(abs(end) < EXACT or math.isinf(end) for end in span[1:])


def _spans(where: Where) -> list[tuple[str, float, float]]:
    ends = ((key, getattr(where, low), getattr(where, high)) for key, low, high in _SPANS)
    return [
        (key, -math.inf if first is None else first, math.inf if last is None else last)
        for key, first, last in ends
        if first is not None or last is not None
    ]


def _both(ids: tuple[str, ...] | None, more: tuple[str, ...] | None) -> tuple[str, ...] | None:
    if ids is None or more is None:
        return more if ids is None else ids
    return tuple(id for id in ids if id in more)


def _write(end: float) -> str:
    """Rounded as scores are: what lay within a range lies within it still."""
    return repr(float(end))
