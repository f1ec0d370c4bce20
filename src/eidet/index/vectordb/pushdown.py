"""`Where` as far as a vector database can tell it: a tree of plain comparisons, never less than was asked.

Every column is always there (absent labels are "", absent numbers 0 with a column that says so), so
that `not` means the same in every database. Labels are hashed: any text fits, and none is given away.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from ...core.where import Box, Near, Where
from ...store import Entry

T = TypeVar("T")

_NEVER: Final = 1e15  # when what never expires does
TEXTS: Final = ("kind", "tier", "trust", "agent", "session", "who", "source")
NUMBERS: Final = (
    "occurred", "created", "step", "stepped", "x", "y", "z", "placed", "importance", "expires",
)  # fmt: skip
LABELS: Final = ("agent", "session", "who", "source")
_OPPOSITE: Final = {
    "=": "!=",
    "!=": "=",
    "in": "not in",
    "not in": "in",
    ">": "<=",
    "<=": ">",
    "<": ">=",
    ">=": "<",
}


class Leaf(NamedTuple):
    """A column compared with a value; with several for `in` and `not in`."""

    column: str
    op: str
    value: Any


@dataclass(frozen=True, slots=True)
class Every:
    """A conjunction; passes everything if it has no parts."""

    parts: tuple[Filter, ...] = ()


@dataclass(frozen=True, slots=True)
class Some:
    """A disjunction; passes nothing if it has no parts."""

    parts: tuple[Filter, ...] = ()


Filter: TypeAlias = Leaf | Every | Some
EVERYTHING: Final = Every()
NOTHING: Final = Some()


class Pushed(NamedTuple):
    """`only` passes at least what was asked for and, if `exact`, nothing else."""

    only: Filter
    exact: bool


def push_down(where: Where | None, scope: str, now: float, secret: bytes) -> Pushed:
    """Translates a filter on a scope's live records into what a database can test; see `hash_label`."""
    alive = Leaf("expires", ">", now)
    if where is None:
        return Pushed(alive, True)
    return Pushed(every([alive, _push(where, scope, True, secret)]), _exact(where))


def columns(entry: Entry, secret: bytes) -> dict[str, Any]:
    """Returns the columns that a point has of its record; see `hash_label`."""
    return {
        "kind": str(entry.kind),
        "tier": str(entry.tier),
        "trust": str(entry.trust),
        **{name: hash_label(getattr(entry, name), secret) for name in LABELS},
        "occurred": float(entry.occurred),
        "created": float(entry.created),
        "step": float(entry.step or 0),
        "stepped": float(entry.step is not None),
        "x": float(entry.x or 0),
        "y": float(entry.y or 0),
        "z": float(entry.z or 0),
        "placed": float(entry.x is not None),
        "importance": float(entry.importance),
        "expires": _NEVER if entry.expires is None else min(float(entry.expires), _NEVER),
    }


def hash_label(label: str | None, secret: bytes) -> str:
    """Hashes a label with a secret of the store, so that the database cannot guess it."""
    if label is None:
        return ""
    return blake2b(label.encode("utf-8", "surrogatepass"), key=secret, digest_size=12).hexdigest()


def every(parts: Iterable[Filter]) -> Filter:
    """Builds a flat conjunction; nothing passes if one part passes nothing."""
    found: list[Filter] = []
    for part in parts:
        found += part.parts if isinstance(part, Every) else (part,)
    if NOTHING in found:
        return NOTHING
    return found[0] if len(found) == 1 else Every(tuple(found))


def some(parts: Iterable[Filter]) -> Filter:
    found: list[Filter] = []
    for part in parts:
        found += part.parts if isinstance(part, Some) else (part,)
    if EVERYTHING in found:
        return EVERYTHING
    return found[0] if len(found) == 1 else Some(tuple(found))


def negate(only: Filter) -> Filter:
    """The opposite, with `not` nowhere but in the comparisons."""
    if isinstance(only, Leaf):
        return Leaf(only.column, _OPPOSITE[only.op], only.value)
    join = some if isinstance(only, Every) else every
    return join(negate(part) for part in only.parts)


def passes(only: Filter, row: Mapping[str, Any]) -> bool:
    """Tells whether columns pass: the reference semantics for every database."""
    if isinstance(only, Leaf):
        return bool(_COMPARE[only.op](row[only.column], only.value))
    join = all if isinstance(only, Every) else any
    return join(passes(part, row) for part in only.parts)


_COMPARE: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "in": lambda one, several: one in several,
    "not in": lambda one, several: one not in several,
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}


def write_filter(only: Filter, leaf: Callable[[Leaf], T], join: Callable[[str, list[T]], T]) -> T:
    """A filter in the words of a database: `join` connects parts by "and" or "or"."""
    if isinstance(only, Leaf):
        return leaf(only)
    if not only.parts:
        return leaf(Leaf("seq", ">=" if isinstance(only, Every) else "<", 0))
    parts = [write_filter(part, leaf, join) for part in only.parts]
    return join("and" if isinstance(only, Every) else "or", parts)


def _push(where: Where, scope: str, least: bool, secret: bytes) -> Filter:
    """Translates a filter; with `least` the result passes at least what the filter does, else at most."""
    return every(_parts(where, scope, least, secret))


def _parts(where: Where, scope: str, least: bool, secret: bytes) -> Iterator[Filter]:
    if where.scope is not None and not where.scope.holds(scope):
        yield NOTHING
    if not least and not _plain(where):
        yield NOTHING
    if where.alive_at is not None:
        yield Leaf("expires", ">", where.alive_at)
    yield from _labels(where, secret)
    yield from _ranges(where)
    if where.box is not None:
        yield from _in_box(where.box)
    if where.near is not None and least:
        yield from _around(where.near)
    for part in where.every:
        yield _push(part, scope, least, secret)
    if where.some:
        yield some(_push(part, scope, least, secret) for part in where.some)
    for part in where.never:
        yield negate(_push(part, scope, not least, secret))


def _plain(where: Where) -> bool:
    """Tells whether comparisons alone express this level of a filter."""
    return where.ids is None and not where.conditions and where.near is None


def _exact(where: Where) -> bool:
    return _plain(where) and all(map(_exact, (*where.every, *where.some, *where.never)))


def _labels(where: Where, secret: bytes) -> Iterator[Filter]:
    for name in LABELS:
        if (label := getattr(where, name)) is not None:
            yield Leaf(name, "=", hash_label(label, secret))
    for name, chosen in (("kind", where.kinds), ("tier", where.tiers), ("trust", where.trust)):
        if chosen is not None:
            yield Leaf(name, "in", tuple(map(str, chosen))) if chosen else NOTHING


def _ranges(where: Where) -> Iterator[Filter]:
    if where.step_from is not None or where.step_to is not None:
        yield Leaf("stepped", "=", 1.0)
    for name, low, high in (
        ("occurred", where.since, where.until),
        ("created", where.created_since, where.created_until),
        ("step", where.step_from, where.step_to),
        ("importance", where.importance_min, where.importance_max),
    ):
        yield from _between(name, low, high)


def _between(name: str, low: float | None, high: float | None) -> Iterator[Filter]:
    """A range with an infinite end never names it: no database can read that number."""
    if low == math.inf or high == -math.inf:
        yield NOTHING
        return
    if low is not None and low != -math.inf:
        yield Leaf(name, ">=", float(low))
    if high is not None and high != math.inf:
        yield Leaf(name, "<=", float(high))


def _in_box(box: Box) -> Iterator[Filter]:
    yield Leaf("placed", "=", 1.0)
    for axis, low, high in zip("xyz", box.low, box.high, strict=False):
        yield from _between(axis, low, high)


def _around(near: Near) -> Iterator[Filter]:
    """The box around a ball, a little wider: the ball itself is looked at afterwards."""
    yield Leaf("placed", "=", 1.0)
    for axis, middle in zip("xyz", (*near.place, 0.0), strict=False):
        reach = near.radius + 1e-9 * (near.radius + abs(middle))
        yield from _between(axis, middle - reach, middle + reach)
