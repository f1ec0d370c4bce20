"""`Where`: one filter value for every verb and every backend.

The predicate here is the meaning; SQL and column filters are held equal to it by property tests.
All parts of one `Where` must hold; `a & b`, `a | b` and `~a` nest.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final, cast

from .errors import BadInput
from .record import Kind, Place, Record, Tier, Trust, kind_of, tier_of, trust_of
from .scope import Scope
from .validate import Json, clean_json, clean_text, moment

OPERATORS: Final = ("=", "!=", "<", "<=", ">", ">=", "in", "exists", "regex", "contains")
DOCUMENTS: Final = ("data", "meta", "state")
NUMBERS: Final = ("uses", "last_used", "level")  # what a condition can ask of the record itself
MISSING: Final = object()
DEEPEST: Final = 30


@dataclass(frozen=True, slots=True)
class Condition:
    """A test of one value inside `data`, `meta` or `state`, such as `Condition("data.health", "<", 0.5)`.

    Path steps are separated by dots, list positions are numbers; a tuple of steps allows any key.
    A missing value passes only `exists` with False. Numbers compare with numbers and strings with
    strings; true is not 1. `regex` searches strings; `contains` is for strings and lists. Numbers of
    the record itself are `record.uses`, `record.level` and `record.last_used` (missing if never used).
    """

    path: tuple[str | int, ...]
    op: str
    value: Json = True

    def __init__(self, path: str | Sequence[str | int], op: str, value: Json = True) -> None:
        if op not in OPERATORS:
            raise BadInput(f"unknown operator {op!r}; there are {', '.join(OPERATORS)}")
        object.__setattr__(self, "path", _steps(path))
        object.__setattr__(self, "op", op)
        object.__setattr__(self, "value", _operand(op, value))
        if self.of_record:
            _check_number(self)

    @property
    def of_record(self) -> bool:
        """Whether it asks for a number of the record itself, which every store has in a column."""
        return self.path[0] == "record"

    def holds(self, record: Record) -> bool:
        if self.of_record:
            number = getattr(record, str(self.path[1]))
            return compare(MISSING if number is None else number, self.op, self.value)
        return compare(resolve(document_of(record, self.path[0]), self.path[1:]), self.op, self.value)


def document_of(record: Record, name: str | int) -> Json:
    """The JSON document of a record that a condition names first."""
    if name == "state":
        return record.state.to_json()
    return record.data if name == "data" else record.meta


def _check_number(condition: Condition) -> None:
    name, op, value = ".".join(map(str, condition.path)), condition.op, condition.value
    if op not in ("=", "!=", "<", "<=", ">", ">=", "exists"):
        raise BadInput(f"{name} is a number: compare it with=, !=, <, <=, >, >= or exists, not {op!r}")
    if op != "exists" and (not _number(value) or not abs(value) < 2**63):
        raise BadInput(f"{name} is compared with a number below 2**63, not {value!r:.80}")


def _steps(path: str | Sequence[str | int]) -> tuple[str | int, ...]:
    steps: tuple[Any, ...] = tuple(path.split(".") if isinstance(path, str) else path)
    if steps[:1] == ("record",):
        if len(steps) != 2 or steps[1] not in NUMBERS:
            raise BadInput(f"a condition can ask for record.{', record.'.join(NUMBERS)}, not {path!r}")
        return steps
    if len(steps) < 2 or steps[0] not in DOCUMENTS:
        raise BadInput(f"condition path {path!r} must start with data, meta or state, as in 'data.health'")
    for step in steps:
        if type(step) is not int:
            clean_text(step, "a step of a condition path")
    return steps


def _operand(op: str, value: Json) -> Json:
    if op == "in":
        if isinstance(value, str) or not isinstance(value, Iterable):
            raise BadInput("operator 'in' needs a list of values")
        value = list(value)
    if op == "exists" and not isinstance(value, bool):
        raise BadInput("operator 'exists' needs True or False")
    if op == "regex":
        compile_pattern(clean_text(value, "operator 'regex'"))
    if op in ("<", "<=", ">", ">=") and (isinstance(value, bool) or not isinstance(value, int | float | str)):
        raise BadInput(f"operator {op!r} needs a number or a string, not {type(value).__name__}")
    return _freeze(clean_json(value, "condition value"))


def _freeze(value: Json) -> Json:
    """Lists become tuples so that a condition can be hashed; dicts stay (and then it cannot)."""
    return tuple(_freeze(item) for item in value) if isinstance(value, list) else value


@lru_cache(maxsize=256)
def compile_pattern(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as bad:
        raise BadInput(f"{pattern!r} is not a regular expression: {bad}") from None


def resolve(root: Json, steps: Sequence[str | int]) -> Json:
    """The value at a path, or MISSING. A step of digits also names a list position."""
    value = root
    for step in steps:
        if isinstance(value, dict) and isinstance(step, str) and step in value:
            value = value[step]
        elif isinstance(value, list) and (place := _position(step)) is not None and place < len(value):
            value = value[place]
        else:
            return MISSING
    return value


def _position(step: str | int) -> int | None:
    if isinstance(step, int):
        return step if step >= 0 else None
    return int(step) if step.isascii() and step.isdigit() and len(step) < 10 else None


def compare(value: Json, op: str, operand: Json) -> bool:
    if op == "exists":
        return (value is not MISSING) is operand
    if value is MISSING:
        return False
    match op:
        case "=":
            return same(value, operand)
        case "!=":
            return not same(value, operand)
        case "in":
            return any(same(value, item) for item in operand)
        case "regex":
            return isinstance(value, str) and compile_pattern(operand).search(value) is not None
        case "contains":
            return _contains(value, operand)
    return _compare(value, op, operand)


def same(a: Json, b: Json) -> bool:
    """JSON equality: 1 equals 1.0, true does not equal 1, lists and dicts by content."""
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, list | tuple):
        return isinstance(b, list | tuple) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, str):
        return isinstance(b, str) and a == b
    return bool(a == b) if _number(a) and _number(b) else a is b


def _number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _contains(value: Json, operand: Json) -> bool:
    if isinstance(value, str):
        return isinstance(operand, str) and operand in value
    return isinstance(value, list) and any(same(item, operand) for item in value)


def _compare(value: Json, op: str, operand: Json) -> bool:
    if not ((_number(value) and _number(operand)) or (isinstance(value, str) and isinstance(operand, str))):
        return False
    match op:
        case "<":
            return bool(value < operand)
        case "<=":
            return bool(value <= operand)
        case ">":
            return bool(value > operand)
    return bool(value >= operand)


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """All places with low <= coordinate <= high on each axis given; a missing z counts as 0."""

    low: Place
    high: Place

    def __post_init__(self) -> None:
        object.__setattr__(self, "low", check_place(self.low))
        object.__setattr__(self, "high", check_place(self.high))
        if len(self.low) != len(self.high):
            raise BadInput("a box needs two corners with the same number of coordinates")

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
        if not (_number(self.radius) and 0 <= self.radius <= sys.float_info.max):
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
    return place[axis] if axis < len(place) else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """Which records are meant. Every part given must hold; times and steps include both ends."""

    scope: Scope | None = None  # the scope to look in; the verbs set it from their `scope` argument
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

    def __post_init__(self) -> None:
        for name, tidy in _TIDY.items():
            value = getattr(self, name)
            if value is not None and value != ():
                object.__setattr__(self, name, tidy(value))
        if self.every or self.some or self.never:
            _check_depth(self)

    def __and__(self, other: Where) -> Where:
        return Where(every=(*_flat(self, "every"), *_flat(other, "every")))

    def __or__(self, other: Where) -> Where:
        return Where(some=(*_flat(self, "some"), *_flat(other, "some")))

    def __invert__(self) -> Where:
        return Where(never=(self,))

    def within(self, scope: Scope) -> Where:
        """The same filter, confined to a scope."""
        return replace(self, scope=scope) if self.scope is None else Where(scope=scope, every=(self,))

    @property
    def narrows(self) -> bool:
        """Whether anything but scopes and being alive is asked for, however deep it is nested."""
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
            and (self.alive_at is None or record.expires is None or record.expires > self.alive_at)
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


def _tidy_scope(value: str | Scope) -> Scope:
    return Scope.of(value)


def _tidy_label(value: Any) -> str:
    return clean_text(value, "a filter")


def _tidy_labels(value: Any) -> tuple[str, ...]:
    return tuple(map(_tidy_label, (value,) if isinstance(value, str) else value))


def _tidy_kinds(value: Any) -> tuple[Kind, ...]:
    return tuple(kind_of(item) for item in _tidy_labels(value))


def _tidy_tiers(value: Any) -> tuple[Tier, ...]:
    return tuple(tier_of(item) for item in _tidy_labels(value))


def _tidy_trust(value: Any) -> tuple[Trust, ...]:
    return tuple(trust_of(item) for item in _tidy_labels(value))


def _tidy_number(value: Any) -> float | int:
    """Ends beyond int64 are endless: no record reaches them, and no driver could bind them."""
    if not _number(value) or value != value:
        raise BadInput(f"a range needs numbers, not {value!r}")
    if abs(value) < 2**63:
        return cast("float", value)
    return math.inf if value > 0 else -math.inf


def _tidy_conditions(value: Any) -> tuple[Condition, ...]:
    return tuple(map(_condition, (value,) if isinstance(value, Condition) else value))


def _condition(value: Any) -> Condition:
    if isinstance(value, Condition):
        return value
    if not isinstance(value, list | tuple) or len(value) not in (2, 3):
        raise BadInput(f"a condition must be a path, an operator and a value, not {value!r}")
    return Condition(*value)


def _tidy_parts(value: Any) -> tuple[Where, ...]:
    found = (value,) if isinstance(value, Where) else tuple(value)
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
    "scope": _tidy_scope,
    "ids": _tidy_labels,
    "kinds": _tidy_kinds,
    "tiers": _tidy_tiers,
    "trust": _tidy_trust,
    "agent": _tidy_label,
    "session": _tidy_label,
    "who": _tidy_label,
    "source": _tidy_label,
    "since": moment,
    "until": moment,
    "created_since": moment,
    "created_until": moment,
    "alive_at": moment,
    "step_from": _tidy_number,
    "step_to": _tidy_number,
    "importance_min": _tidy_number,
    "importance_max": _tidy_number,
    "conditions": _tidy_conditions,
    "box": _tidy_box,
    "near": _tidy_near,
    "every": _tidy_parts,
    "some": _tidy_parts,
    "never": _tidy_parts,
}


def _flat(where: Where, join: str) -> tuple[Where, ...]:
    """The parts of a filter that does nothing but join them: a & b & c is one level, not two."""
    parts: tuple[Where, ...] = getattr(where, join)
    alone = Where(every=parts) if join == "every" else Where(some=parts)
    return parts if parts and where == alone else (where,)


def _check_depth(where: Where, left: int = DEEPEST) -> None:
    if not left:
        raise BadInput(f"filters nest at most {DEEPEST} levels deep")
    for part in (*where.every, *where.some, *where.never):
        _check_depth(part, left - 1)


def _between(low: float | None, value: float | None, high: float | None) -> bool:
    if low is None and high is None:
        return True
    return value is not None and (low is None or low <= value) and (high is None or value <= high)
