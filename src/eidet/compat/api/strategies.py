"""Search strategies on one query model: each finds memories of an agent and scores them.

Those here are filters, which the index answers; those in `ranking` rank, nest and weigh.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ...core.record import Record
from ...core.validate import Json
from ...core.where import Box, Condition, Near, Where
from ..opening import check_number, check_positive, check_whole
from .errors import MemoryRetrievalException
from .reader import Look, Scored, both, by_score

OPERATORS: Final = {
    "exists": "exists",
    "equals": "=",
    "not_equals": "!=",
    "regex": "regex",
    "greater": ">",
    "greater_equal": ">=",
    "less": "<",
    "less_equal": "<=",
    "in": "in",
    "contains": "contains",
}
NOTHING: Final = Where(ids=())


class Strategy:
    """A way to find memories; a subclass says which in `where`, or in `find` if a filter cannot.

    `order` sorts what `where` finds. If `sorts`, scores do not follow that order, so all of it is read.
    If `ages`, the answer changes over time even if nothing is written.
    """

    order = "-occurred"
    sorts = False
    ages = False

    def where(self, look: Look) -> Where | None:  # noqa: ARG002
        """Returns the strategy as a filter; None if it does more than filter."""
        return None

    def score(self, look: Look, record: Record) -> float:  # noqa: ARG002
        """Scores a memory that `where` finds."""
        return 1.0

    def find(self, look: Look, where: Where, k: int | None) -> list[Scored]:
        """Returns at most `k` memories that also pass `where`, best first; all of them if `k` is None."""
        own = self.where(look)
        if own is None:
            raise NotImplementedError(f"{type(self).__name__} says what it finds in `where` or in `find`")
        records = look.find(both(where, own), order=self.order, limit=None if self.sorts else k)
        scored = [Scored(record, self.score(look, record)) for record in records]
        return sorted(scored, key=by_score)[:k] if self.sorts else scored


@dataclass(frozen=True, kw_only=True)
class Temporal(Strategy):
    """Memories between two steps or times, both included; with a `recency_weight`, newest first.

    Age then lowers the score by up to that weight: by half of it after `half_life` seconds (or steps, if
    the range is one of steps).
    """

    start_step: int | None = None
    end_step: int | None = None
    since: float | None = None
    until: float | None = None
    recency_weight: float = 0.0
    half_life: float = 86_400.0

    def __post_init__(self) -> None:
        check_number(self.recency_weight, "recency_weight", most=1.0, error=MemoryRetrievalException)
        check_positive(self.half_life, "half_life", error=MemoryRetrievalException)
        check_steps(self.start_step, self.end_step)
        for name, moment in (("since", self.since), ("until", self.until)):
            if moment is not None:
                check_number(moment, name, least=-math.inf, error=MemoryRetrievalException)
        if self.since is not None and self.until is not None and self.since > self.until:
            raise MemoryRetrievalException(f"the range begins at {self.since}, after its end at {self.until}")

    @property
    def ages(self) -> bool:  # type: ignore[override]
        return self.recency_weight > 0

    @property
    def _by_step(self) -> bool:
        return self.start_step is not None or self.end_step is not None

    @property
    def order(self) -> str:  # type: ignore[override]
        field = "step" if self._by_step else "occurred"
        return f"-{field}" if self.recency_weight else field

    def where(self, look: Look) -> Where | None:  # noqa: ARG002
        return Where(step_from=self.start_step, step_to=self.end_step, since=self.since, until=self.until)

    def score(self, look: Look, record: Record) -> float:
        age = look.now - record.occurred
        if self._by_step:
            newest = self.end_step
            if newest is None:
                latest = look.find(Where(step_from=self.start_step), order="-step", limit=1)
                newest = latest[0].step if latest and latest[0].step is not None else record.step or 0
            age = newest - (record.step or 0)
        faded = 1.0 - float(0.5 ** (max(0.0, age) / self.half_life))
        return 1.0 - self.recency_weight * faded


@dataclass(frozen=True, kw_only=True)
class StepRange(Strategy):
    """Memories around a step, nearest first."""

    reference: int
    before: int = 5
    after: int = 5
    order = "step"
    sorts = True

    def __post_init__(self) -> None:
        check_whole(self.reference, "reference", least=None, error=MemoryRetrievalException)
        for name, count in (("before", self.before), ("after", self.after)):
            check_whole(count, name, error=MemoryRetrievalException)

    def where(self, look: Look) -> Where | None:  # noqa: ARG002
        return Where(step_from=self.reference - self.before, step_to=self.reference + self.after)

    def score(self, look: Look, record: Record) -> float:  # noqa: ARG002
        away = abs((record.step or 0) - self.reference)
        return 1.0 - away / (max(self.before, self.after) + 1)


@dataclass(frozen=True, kw_only=True)
class TimeWindow(Strategy):
    """Memories of the last minutes, hours or days, newest first."""

    minutes: float = 0.0
    hours: float = 0.0
    days: float = 0.0
    ages = True

    def __post_init__(self) -> None:
        for name, length in (("minutes", self.minutes), ("hours", self.hours), ("days", self.days)):
            check_number(length, name, error=MemoryRetrievalException)
        if not self.seconds > 0:
            raise MemoryRetrievalException("a time window has minutes, hours or days above 0")

    @property
    def seconds(self) -> float:
        return 60 * self.minutes + 3600 * self.hours + 86_400 * self.days

    def where(self, look: Look) -> Where | None:
        return Where(since=look.now - self.seconds, until=look.now)

    def score(self, look: Look, record: Record) -> float:
        return 1.0 - min(1.0, max(0.0, look.now - record.occurred) / self.seconds) / 2


@dataclass(frozen=True, kw_only=True)
class Location(Strategy):
    """Memories within a radius of a position, nearest first, or in the box between two corners."""

    position: Sequence[float] | None = None
    radius: float = 0.0
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None

    def __post_init__(self) -> None:
        check_number(self.radius, "radius", error=MemoryRetrievalException)

    @property
    def sorts(self) -> bool:  # type: ignore[override]
        return self.position is not None

    def where(self, look: Look) -> Where | None:  # noqa: ARG002
        if self.position is not None and self.low is None and self.high is None:
            return Where(near=Near(place=tuple(self.position), radius=self.radius))
        if self.position is None and self.low is not None and self.high is not None:
            return Where(box=Box(low=tuple(self.low), high=tuple(self.high)))
        raise MemoryRetrievalException("a location is a position with a radius, or a box from low to high")

    def score(self, look: Look, record: Record) -> float:  # noqa: ARG002
        if self.position is None or record.place is None:
            return 1.0
        away = math.dist((*self.position, 0.0)[:3], (*record.place, 0.0)[:3])
        return 1.0 - away / self.radius / 2 if self.radius else 1.0


@dataclass(frozen=True, kw_only=True)
class Attribute(Strategy):
    """Memories with all or any of these attribute values; with any, scored by how many match.

    Without attributes, `all` matches every memory and `any` matches none.
    Names are dotted paths. Texts may be compared ignoring case, or as regular expressions.
    """

    fields: Mapping[str, Json]
    mode: str = "all"
    case_sensitive: bool = True
    regex: bool = False

    def __post_init__(self) -> None:
        if self.mode not in ("all", "any"):
            raise MemoryRetrievalException(f"mode is 'all' or 'any', not {self.mode!r}")
        if not isinstance(self.fields, Mapping):
            raise MemoryRetrievalException(f"attributes are a dict, not {type(self.fields).__name__}")

    @property
    def sorts(self) -> bool:  # type: ignore[override]
        return self.mode == "any"

    def _tests(self) -> tuple[Where, ...]:
        return tuple(_attribute(name, *self._test_for(value)) for name, value in self.fields.items())

    def _test_for(self, value: Json) -> tuple[str, Json]:
        if not isinstance(value, str):
            return "=", value
        if self.regex:
            return "regex", value if self.case_sensitive else f"(?i:{value})"
        if self.case_sensitive:
            return "=", value
        return "regex", rf"(?is)\A{re.escape(value)}\Z"

    def where(self, look: Look) -> Where | None:  # noqa: ARG002
        tests = self._tests()
        if self.mode == "all":
            return Where(every=tests)
        return Where(some=tests) if tests else NOTHING

    def score(self, look: Look, record: Record) -> float:  # noqa: ARG002
        if self.mode == "all":
            return 1.0
        tests = self._tests()
        return sum(test.matches(record) for test in tests) / max(1, len(tests))


@dataclass(frozen=True, kw_only=True)
class Example(Strategy):
    """Memories that match a partial pattern, nested values included; None stands for any value."""

    pattern: Mapping[str, Json]

    def __post_init__(self) -> None:
        if not isinstance(self.pattern, Mapping):
            raise MemoryRetrievalException(f"a pattern must be a dict, not {type(self.pattern).__name__}")

    def where(self, look: Look) -> Where | None:  # noqa: ARG002
        return Where(conditions=tuple(_pattern(self.pattern, ("data",))))


@dataclass(frozen=True, kw_only=True)
class ContentPath(Strategy):
    """A test of one place in the contents: exists, equals, regex, greater, less and so on."""

    path: str
    operator: str = "exists"
    value: Json = True

    def __post_init__(self) -> None:
        if self.operator not in OPERATORS and self.operator not in OPERATORS.values():
            raise MemoryRetrievalException(
                f"there is no operator {self.operator!r}; there are {', '.join(OPERATORS)}"
            )

    def where(self, look: Look) -> Where | None:  # noqa: ARG002
        return _attribute(self.path, OPERATORS.get(self.operator, self.operator), self.value)


def check_steps(start: int | None, end: int | None) -> None:
    for name, step in (("start_step", start), ("end_step", end)):
        if step is not None:
            check_whole(step, name, least=None, error=MemoryRetrievalException)
    if start is not None and end is not None and start > end:
        raise MemoryRetrievalException(f"start_step {start} is after end_step {end}")


def _attribute(name: str, op: str, value: Json) -> Where:
    """Returns a test of an attribute by its dotted path; a key that contains dots is found too."""
    if not isinstance(name, str) or not name:
        raise MemoryRetrievalException(f"an attribute has a name, not {name!r}")
    paths: list[tuple[Any, ...]] = [("data", *name.removeprefix("contents.").split("."))]
    if "." in name:
        paths.append(("data", name))
    tests = tuple(Where(conditions=(Condition(path, op, value),)) for path in paths)
    if len(tests) == 1:
        return tests[0]
    if (op, value) == ("exists", False):
        return Where(every=tests)
    return Where(some=tests)


def _pattern(pattern: Json, path: tuple[Any, ...]) -> Iterator[Condition]:
    for key, value in pattern.items():
        inside = (*path, key)
        if isinstance(value, Mapping) and value:
            yield from _pattern(value, inside)
        elif value is None:
            yield Condition(inside, "exists", True)
        else:
            yield Condition(inside, "=", value)
