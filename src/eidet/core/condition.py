"""`Condition`: a test of one value inside a record, and what its operators mean."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from time import monotonic
from typing import Any, Final, NoReturn

from .errors import BadInput
from .record import Record
from .validate import (
    FILTER_VALUES,
    REGEX_CHARS,
    Json,
    check_count,
    check_length,
    clean_json,
    clean_text,
    plain_value,
)

OPERATORS: Final = ("=", "!=", "<", "<=", ">", ">=", "in", "exists", "regex", "contains")
DOCUMENTS: Final = ("data", "meta", "state")
OWN: Final = ("uses", "last_used", "level", "version", "derived_from")  # that a condition can test
MISSING: Final = object()
_ORDERS: Final = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


@dataclass(frozen=True, slots=True)
class Condition:
    """A test of one value inside `data`, `meta` or `state`, such as `Condition("data.health", "<", 0.5)`.

    Path steps are separated by dots, list positions are numbers; a tuple of steps allows any key.
    A missing value passes only `exists` with False. Numbers compare with numbers and strings with
    strings; true is not 1. `regex` searches strings, and a pattern that takes too long is `BadInput`;
    `contains` is for strings and lists. Numbers of the record itself are `record.uses`, `record.level`,
    `record.version` and `record.last_used` (missing if never used); `record.derived_from` exists or not.
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
            _check_own(self)

    def __bool__(self) -> NoReturn:
        raise BadInput("a condition is neither true nor false: give all of them, conditions=(a, b)")

    @property
    def of_record(self) -> bool:
        """Returns whether it tests a number of the record itself, which every store keeps in a column."""
        return self.path[0] == "record"

    def holds(self, record: Record) -> bool:
        if self.of_record:
            value = getattr(record, str(self.path[1]))
            return compare(MISSING if value in (None, ()) else value, self.op, self.value)
        return compare(resolve(document_of(record, self.path[0]), self.path[1:]), self.op, self.value)


def document_of(record: Record, name: str | int) -> Json:
    """Returns the JSON document of a record that a condition's path starts with."""
    if name == "state":
        return record.state.to_json()
    if name == "data":
        return record.data
    return record.meta


def _check_own(condition: Condition) -> None:
    name, op, value = ".".join(map(str, condition.path)), condition.op, condition.value
    if condition.path[1] == "derived_from" and op != "exists":
        raise BadInput(f"{name} can only be asked whether it exists, not {op!r}")
    if op not in ("=", "!=", "exists", *_ORDERS):
        raise BadInput(f"{name} is a number: compare it with=, !=, <, <=, >, >= or exists, not {op!r}")
    if op != "exists" and (not is_number(value) or not abs(value) < 2**63):
        raise BadInput(f"{name} is compared with a number below 2**63, not {value!r:.80}")


def _steps(path: str | Sequence[str | int]) -> tuple[str | int, ...]:
    if not isinstance(path, str | list | tuple):
        raise BadInput(f"condition path {path!r:.80} must be a text or a list of steps")
    steps: tuple[Any, ...] = tuple(path.split(".") if isinstance(path, str) else path)
    if steps[:1] == ("record",):
        if len(steps) != 2 or steps[1] not in OWN:
            raise BadInput(f"a condition can ask for record.{', record.'.join(OWN)}, not {path!r}")
        return steps
    if len(steps) < 2 or steps[0] not in DOCUMENTS:
        raise BadInput(f"condition path {path!r} must start with data, meta or state, as in 'data.health'")
    for step in steps:
        if type(step) is not int:
            clean_text(step, "a step of a condition path")
    return steps


def _operand(op: str, value: Json) -> Json:
    value = plain_value(value)
    if op == "in":
        if isinstance(value, str) or not isinstance(value, Iterable):
            raise BadInput("operator 'in' needs a list of values")
        value = list(value)
        check_count(len(value), FILTER_VALUES, "values of the operator 'in'")
    if op == "exists" and not isinstance(value, bool):
        raise BadInput("operator 'exists' needs True or False")
    if op == "regex":
        compile_pattern(clean_text(value, "operator 'regex'"))
    if op in _ORDERS and (isinstance(value, bool) or not isinstance(value, int | float | str)):
        raise BadInput(f"operator {op!r} needs a number or a string, not {type(value).__name__}")
    return _freeze(clean_json(value, "condition value"))


def _freeze(value: Json) -> Json:
    """Turns lists into tuples, so that a condition can be hashed; one with dicts cannot be."""
    if isinstance(value, list):
        return tuple(_freeze(item) for item in value)
    return value


def resolve(root: Json, steps: Sequence[str | int]) -> Json:
    """Returns the value at a path, or MISSING. A step of digits can also be a list position."""
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
        if step >= 0:
            return step
        return None
    if step.isascii() and step.isdigit() and len(step) < 10:
        return int(step)
    return None


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
            return isinstance(value, str) and compile_pattern(operand)(value)
        case "contains":
            return _contains(value, operand)
    return _compare(value, op, operand)


def same(a: Json, b: Json) -> bool:
    """Compares JSON values: 1 equals 1.0, true does not equal 1, lists and dicts compare by content."""
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, list | tuple):
        return isinstance(b, list | tuple) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, str):
        return isinstance(b, str) and a == b
    if is_number(a) and is_number(b):
        return bool(a == b)
    return a is b


def is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _contains(value: Json, operand: Json) -> bool:
    if isinstance(value, str):
        return isinstance(operand, str) and operand in value
    return isinstance(value, list) and any(same(item, operand) for item in value)


def _compare(value: Json, op: str, operand: Json) -> bool:
    numbers = is_number(value) and is_number(operand)
    if not numbers and not (isinstance(value, str) and isinstance(operand, str)):
        return False
    return bool(_ORDERS[op](value, operand))


# Regular expressions. Users and models write them, so every search has a time limit.

SECONDS: Final = 1.0  # of CPU that a pattern may spend on slow searches at once
REFILL: Final = 0.5  # seconds that it gets back in each second
SLOW: Final = 0.01  # seconds; quicker searches cost nothing
# A time limit makes a search five times slower. A pattern with few repeats, none of a group, needs none on a
# short text.
SHORT, FEW = 256, 2
_REPEAT: Final = re.compile(r"[*+{]")
_REPEATED_GROUP: Final = re.compile(r"\)[*+?{]")


@lru_cache(maxsize=256)
def compile_pattern(pattern: str) -> _PatternSearch:
    """Compiles a search for the pattern; raises `BadInput` if it is invalid."""
    import regex  # most filters have none

    check_length(pattern, REGEX_CHARS, "a regular expression")
    try:
        return _PatternSearch(pattern, regex.compile(pattern).search)
    except (regex.error, RecursionError, OverflowError) as bad:
        raise BadInput(f"{pattern!r:.200} is not a regular expression: {bad}") from None


class _PatternSearch:
    """A search for a pattern anywhere in a text; raises `BadInput` once it takes too long."""

    def __init__(self, pattern: str, search: Callable[..., object]) -> None:
        self._pattern, self._search = pattern, search
        self._left, self._since = SECONDS, monotonic()
        is_tame = len(_REPEAT.findall(pattern)) <= FEW and not _REPEATED_GROUP.search(pattern)
        self._short = SHORT if is_tame else 0

    def __call__(self, text: str) -> bool:
        if len(text) <= self._short:
            return self._search(text) is not None
        started = monotonic()
        left = min(SECONDS, self._left + (started - self._since) * REFILL)
        try:
            found = self._search(text, timeout=max(left, SLOW), concurrent=True)
        except TimeoutError:
            raise BadInput(
                f"the regular expression {self._pattern!r:.200} takes too long on what is stored: write it "
                "with fewer repeats inside of repeats, or narrow the filter"
            ) from None
        finally:
            if (spent := monotonic() - started) > SLOW:
                self._left, self._since = left - spent, started + spent
        return found is not None
