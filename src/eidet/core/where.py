"""`Where`: one filter value for every verb and every backend.

`Where.matches` defines the meaning; property tests hold SQL and column filters equal to it.
All parts of one `Where` must hold; `a & b`, `a | b` and `~a` nest.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeVar, cast

from .condition import Condition, is_number
from .errors import BadInput, each_item
from .record import Kind, Place, Record, Tier, Trust, kind_of, tier_of, trust_of
from .scope import Scope, Scopes
from .validate import FILTER_DEPTH, FILTER_VALUES, Json, Moment, check_count, clean_text, moment, plain_value

T = TypeVar("T")

__all__ = ["Box", "Condition", "Near", "Where", "check_place"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """All places within these bounds on each axis given; a missing z counts as 0."""

    low: Place
    high: Place

    def __post_init__(self) -> None:
        object.__setattr__(self, "low", check_place(self.low))
        object.__setattr__(self, "high", check_place(self.high))
        if len(self.low) != len(self.high):
            raise BadInput("a box needs two corners with the same number of coordinates")
        if any(low > high for low, high in zip(self.low, self.high, strict=True)):
            raise BadInput(f"a box needs low <= high on each axis, not {self.low} and {self.high}")

    def holds(self, place: Place | None) -> bool:
        return place is not None and all(
            low <= _axis(place, i) <= high
            for i, (low, high) in enumerate(zip(self.low, self.high, strict=True))
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Near:
    """All places within `radius` of `place` (Euclidean; a missing z counts as 0)."""

    place: Place
    radius: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "place", check_place(self.place))
        object.__setattr__(self, "radius", plain_value(self.radius))
        if not (is_number(self.radius) and 0 <= self.radius <= sys.float_info.max):
            raise BadInput(f"a radius must be a number from 0 up, not {self.radius!r}")
        object.__setattr__(self, "radius", float(self.radius))

    def holds(self, place: Place | None) -> bool:
        if place is None:
            return False
        x, y, z = (_axis(place, i) - _axis(self.place, i) for i in range(3))
        return x * x + y * y + z * z <= self.radius * self.radius


def check_place(place: Sequence[float]) -> Place:
    if isinstance(place, str | bytes):
        raise BadInput(f"a place must be two or three numbers, not {place!r}")
    try:
        found = tuple(float(value) for value in place)
    except (TypeError, ValueError, OverflowError):
        raise BadInput(f"a place must be two or three numbers, not {place!r}") from None
    if len(found) not in (2, 3) or not all(math.isfinite(v) and abs(v) <= 1e150 for v in found):
        raise BadInput(f"a place must be two or three finite numbers (at most 1e150), not {place!r}")
    return found


def _axis(place: Place, axis: int) -> float:
    if axis < len(place):
        return place[axis]
    return 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """A filter of records. Every part given must hold; times and steps include both ends."""

    scope: Scope | None = None  # the scope or scopes to look in; the verbs set it from their `scope` argument
    ids: tuple[str, ...] | None = None  # one of these ids
    kinds: tuple[Kind, ...] | None = None  # one of these kinds
    tiers: tuple[Tier, ...] | None = None  # one of these tiers
    trust: tuple[Trust, ...] | None = None  # one of these trust labels
    agent: str | None = None  # stored by this agent
    session: str | None = None  # of this session
    who: str | None = None  # said or written by this person
    source: str | None = None  # from this source
    since: float | None = None  # happened at this time or later
    until: float | None = None  # happened at this time or earlier
    created_since: float | None = None  # stored at this time or later
    created_until: float | None = None  # stored at this time or earlier
    step_from: int | None = None  # at this step or later
    step_to: int | None = None  # at this step or earlier
    importance_min: float | None = None  # at least this important
    importance_max: float | None = None  # at most this important
    box: Box | None = None  # located inside this box
    near: Near | None = None  # located within a radius of this place
    alive_at: float | None = None  # not expired at this time; the verbs set it
    conditions: tuple[Condition, ...] = ()  # tests of single values: (path, operator, value)
    every: tuple[Where, ...] = ()  # all of these filters hold; `a & b` makes it
    some: tuple[Where, ...] = ()  # at least one of these filters holds; `a | b` makes it
    never: tuple[Where, ...] = ()  # none of these filters holds; `~a` makes it

    if TYPE_CHECKING:  # the types that callers may pass; each is converted to that of its field

        def __init__(
            self,
            *,
            scope: Scopes | None = None,
            ids: str | Iterable[str] | None = None,
            kinds: str | Iterable[str] | None = None,
            tiers: str | Iterable[str] | None = None,
            trust: str | Iterable[str] | None = None,
            agent: str | None = None,
            session: str | None = None,
            who: str | None = None,
            source: str | None = None,
            since: Moment | None = None,
            until: Moment | None = None,
            created_since: Moment | None = None,
            created_until: Moment | None = None,
            step_from: float | None = None,
            step_to: float | None = None,
            importance_min: float | None = None,
            importance_max: float | None = None,
            box: Box | None = None,
            near: Near | None = None,
            alive_at: Moment | None = None,
            conditions: Condition | Iterable[Condition | tuple[str, str] | tuple[str, str, Json]] = (),
            every: Where | Iterable[Where] = (),
            some: Where | Iterable[Where] = (),
            never: Where | Iterable[Where] = (),
        ) -> None: ...

    def __post_init__(self) -> None:
        for name, tidy in _TIDY.items():
            value = plain_value(getattr(self, name))
            if value is None or (type(value) is tuple and not value):
                continue
            try:
                object.__setattr__(self, name, tidy(value))
            except BadInput as error:
                raise BadInput(f"{name}: {error}") from error
        if self.every or self.some or self.never:
            _check_depth(self)

    def __and__(self, other: Where) -> Where:
        return Where(every=(*_flat(self, "every"), *_flat(_check_filter(other), "every")))

    def __or__(self, other: Where) -> Where:
        return Where(some=(*_flat(self, "some"), *_flat(_check_filter(other), "some")))

    __rand__, __ror__ = __and__, __or__

    def __bool__(self) -> NoReturn:
        """Refuses: `a and b` would be b alone, and a verb would reach further than its caller meant."""
        raise BadInput(
            "a filter is neither true nor false: write `a & b`, `a | b` and `~a`, not `and`, `or` and `not`; "
            "whether one was given is `where is not None`"
        )

    def __invert__(self) -> Where:
        return Where(never=(self,))

    def within(self, scope: Scope) -> Where:
        """Confines the filter to a scope."""
        if self.scope is None:
            return replace(self, scope=scope)
        return Where(scope=scope, every=(self,))

    @property
    def narrows(self) -> bool:
        """Returns whether it tests anything but scopes and expiry, at any depth."""
        return (
            replace(self, scope=None, alive_at=None, every=(), some=(), never=()) != Where()
            or any(part.narrows for part in (*self.every, *self.never))
            or (bool(self.some) and all(part.narrows for part in self.some))
        )

    def matches(self, record: Record) -> bool:
        return (
            (self.scope is None or self.scope.holds(record.scope))
            and (self.ids is None or record.id in self.ids)
            and (self.kinds is None or record.kind in self.kinds)
            and (self.tiers is None or record.tier in self.tiers)
            and (self.trust is None or record.trust in self.trust)
            and all(want is None or want == got for want, got in self._labels(record))
            and all(_between(*span) for span in self._spans(record))
            and (self.box is None or self.box.holds(record.place))
            and (self.near is None or self.near.holds(record.place))
            and (self.alive_at is None or record.is_alive(self.alive_at))
            and all(condition.holds(record) for condition in self.conditions)
            and all(part.matches(record) for part in self.every)
            and (not self.some or any(part.matches(record) for part in self.some))
            and not any(part.matches(record) for part in self.never)
        )

    def _labels(self, record: Record) -> tuple[tuple[str | None, str | None], ...]:
        return (
            (self.agent, record.agent),
            (self.session, record.session),
            (self.who, record.who),
            (self.source, record.source),
        )

    def _spans(self, record: Record) -> tuple[tuple[Any, Any, Any], ...]:
        return (
            (self.since, record.occurred, self.until),
            (self.created_since, record.created, self.created_until),
            (self.step_from, record.step, self.step_to),
            (self.importance_min, record.importance, self.importance_max),
        )


def _tidy_label(value: Any) -> str:
    return clean_text(value, "a filter")


def _list_given(value: Any, single: type, what: str) -> tuple[Any, ...]:
    if isinstance(value, single):
        return (value,)
    if not isinstance(value, Iterable):
        raise BadInput(f"a filter needs {what}, or a list of them, not {type(value).__name__}")
    return tuple(value)


def _tidy_labels(value: Any) -> tuple[str, ...]:
    labels = tuple(each_item(_tidy_label, _list_given(value, str, "a text")))
    check_count(len(labels), FILTER_VALUES, "values of a filter")
    return labels


def _tidy_names(find: Callable[[str], T]) -> Callable[[Any], tuple[T, ...]]:
    return lambda value: tuple(map(find, _tidy_labels(value)))


def _tidy_number(value: Any) -> float | int:
    """Makes ends beyond int64 infinite: no record reaches them, and no driver could bind them."""
    value = plain_value(value)
    if not is_number(value) or value != value:
        raise BadInput(f"a range needs numbers, not {value!r}")
    if abs(value) < 2**63:
        return cast("float", value)
    if value > 0:
        return math.inf
    return -math.inf


def _tidy_conditions(value: Any) -> tuple[Condition, ...]:
    return tuple(each_item(_condition, _list_given(value, Condition, "a condition")))


def _condition(value: Any) -> Condition:
    if isinstance(value, Condition):
        return value
    if not isinstance(value, list | tuple) or len(value) not in (2, 3):
        raise BadInput(f"a condition must be a path, an operator and a value, not {value!r}")
    return Condition(*value)


def _tidy_parts(value: Any) -> tuple[Where, ...]:
    found = _list_given(value, Where, "a filter")
    for part in found:
        if not isinstance(part, Where):
            raise BadInput(f"a filter nests filters, not {type(part).__name__}")
    return found


def _tidy_box(value: Any) -> Box:
    if not isinstance(value, Box):
        raise BadInput(f"a box must be Box(low=(x, y), high=(x, y)), not {value!r}")
    return value


def _tidy_near(value: Any) -> Near:
    if not isinstance(value, Near):
        raise BadInput(f"near must be Near(place=(x, y), radius=r), not {value!r}")
    return value


_TIDY: Final[dict[str, Callable[[Any], Any]]] = {
    "scope": Scope.among,
    "ids": _tidy_labels,
    "kinds": _tidy_names(kind_of),
    "tiers": _tidy_names(tier_of),
    "trust": _tidy_names(trust_of),
    **dict.fromkeys(("agent", "session", "who", "source"), _tidy_label),
    **dict.fromkeys(("since", "until", "created_since", "created_until", "alive_at"), moment),
    **dict.fromkeys(("step_from", "step_to", "importance_min", "importance_max"), _tidy_number),
    "conditions": _tidy_conditions,
    "box": _tidy_box,
    "near": _tidy_near,
    **dict.fromkeys(("every", "some", "never"), _tidy_parts),
}


def _check_filter(other: object) -> Where:
    if not isinstance(other, Where):
        raise BadInput(
            f"a filter is joined with another filter, not with {type(other).__name__}: "
            "write Where(…) & Where(…), or `where` alone if there is no other"
        )
    return other


def _flat(where: Where, join: str) -> tuple[Where, ...]:
    """Returns the parts of a filter that does nothing but join them: a & b & c is one level, not two."""
    parts: tuple[Where, ...] = getattr(where, join)
    alone = Where(every=parts) if join == "every" else Where(some=parts)
    if parts and where == alone:
        return parts
    return (where,)


def _check_depth(where: Where, left: int = FILTER_DEPTH) -> None:
    if not left:
        raise BadInput(f"filters nest at most {FILTER_DEPTH} levels deep")
    for part in (*where.every, *where.some, *where.never):
        _check_depth(part, left - 1)


def _between(low: float | None, value: float | None, high: float | None) -> bool:
    if low is None and high is None:
        return True
    return value is not None and (low is None or low <= value) and (high is None or value <= high)
