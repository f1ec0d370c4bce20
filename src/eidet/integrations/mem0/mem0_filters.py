"""Filters as mem0 writes them (`AND`, `OR`, `NOT`, `{"age": {"gte": 18}}`), parsed into a `Where`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from ...core.condition import Condition
from ...core.dict_filters import where_of
from ...core.errors import BadInput
from ...core.validate import FILTER_DEPTH, moment
from ...core.where import Where
from .entities import NAMES, Home, join, parse_id

ANY: Final = "*"
_NAMES: Final = frozenset(NAMES)
_JOINS: Final = {"AND": "every", "OR": "some", "NOT": "never"}
_CONDITIONS: Final = {
    "eq": "=",
    "gt": ">",
    "gte": ">=",
    "lt": "<",
    "lte": "<=",
    "in": "in",
    "contains": "contains",
}
_OPPOSITES: Final = {"ne": "eq", "nin": "in"}
_OPERATORS: Final = (*_CONDITIONS, *_OPPOSITES, "icontains")
_LABELS: Final = {"agent_id": "agent", "run_id": "session"}
_IDS: Final = ("id", "memory_id", "memory_ids")
NO_ENTITY: Final = (
    "filters must contain at least one of: user_id, agent_id, run_id. Example: filters={'user_id': 'u1'}"
)


def names_entity(filters: object) -> bool:
    """Whether a filter asks for a user, agent, app or run, however deep."""
    if isinstance(filters, Mapping):
        return not _NAMES.isdisjoint(filters) or any(map(names_entity, filters.values()))
    return isinstance(filters, list) and any(map(names_entity, filters))


def take_user(filters: Mapping[str, Any]) -> tuple[str | None, dict[str, Any]]:
    """The one user that a filter asks for, and the rest of the filter; None if there may be several."""
    rest = dict(filters)
    user = rest.get("user_id")
    if isinstance(user, Mapping) and set(user) == {"eq"}:
        user = user["eq"]
    if isinstance(user, str | int) and user != ANY:
        del rest["user_id"]
        return parse_id(user, "user_id", spaces=True), rest
    parts = rest.get("AND")
    return _take_user_of(parts, rest) if isinstance(parts, list) else (None, rest)


def _take_user_of(parts: list[Any], filters: dict[str, Any]) -> tuple[str | None, dict[str, Any]]:
    """Takes the user from the parts of an `AND`."""
    for number, part in enumerate(parts):
        user, others = None, part
        if isinstance(part, Mapping):
            user, others = take_user(part)
        if user is not None:
            return user, {**filters, "AND": [*parts[:number], others, *parts[number + 1 :]]}
    return None, filters


def parse_time(value: object, name: str) -> float:
    """Seconds since 1970 from a number or ISO text; without a zone it is in UTC, as all times of mem0."""
    if isinstance(value, str):
        try:
            parsed = datetime.fromisoformat(value)
        except ValueError:
            raise BadInput(f"{name} {value!r} is not an ISO 8601 date or time") from None
        if parsed.tzinfo is None:
            parsed = parsed.replace(tzinfo=UTC)
        value = parsed
    return moment(value, name)  # type: ignore[arg-type]  # which refuses what is no time


def write_time(at: float) -> str:
    """A time in UTC, always with microseconds, so that texts compare as the times do."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="microseconds")


class FilterParser:
    """Parses filters for the memories of one home."""

    def __init__(self, home: Home) -> None:
        self._home = home

    def parse(self, filters: object, left: int = FILTER_DEPTH) -> Where | None:
        """Parses a filter; None if it has no condition."""
        if not isinstance(filters, Mapping):
            raise BadInput(f"filters must be a dict, not {type(filters).__name__}")
        if not left:
            raise BadInput(f"filters nest at most {FILTER_DEPTH} levels deep")
        parts: list[Where] = []
        for key, value in filters.items():
            if key in _JOINS:
                parts += self._parse_join(key, value, left - 1)
            elif key == "metadata":
                parts += self._parse_metadata(value)
            else:
                tests = _list_tests(str(key), value)
                parts += [self._test(str(key), operator, operand) for operator, operand in tests]
        return join(parts)

    def _parse_join(self, key: str, value: object, left: int) -> list[Where]:
        if key == "NOT" and isinstance(value, Mapping):
            value = [value]
        if not isinstance(value, list | tuple):
            raise BadInput(f"{key} operator requires a list of conditions")
        if not value and key != "AND":
            raise BadInput(f"{key} operator requires a non-empty list of conditions")
        parsed = [self.parse(part, left) for part in value]
        parts = tuple(Where() if part is None else part for part in parsed)
        return [Where(**{_JOINS[key]: parts})] if parts else []  # type: ignore[arg-type]

    def _parse_metadata(self, value: object) -> list[Where]:
        if not isinstance(value, Mapping):
            raise BadInput(f"metadata of filters must be a dict, not {type(value).__name__}")
        return [
            _test_meta(str(key), operator, operand)
            for key, test in value.items()
            for operator, operand in _list_tests(str(key), test)
        ]

    def _test(self, key: str, operator: str, operand: Any) -> Where:
        if operator in _OPPOSITES:
            return self._test_opposite(key, operator, operand)
        if key == "user_id" and operator in ("eq", "in", "exists"):
            return self._test_user(operator, operand)
        if key in _LABELS and operator in ("eq", "in"):
            return _test_label(key, operator, operand)
        if key in _IDS:
            return _test_ids(key, operator, operand)
        if key == "created_at" and operator != "exists":
            return _test_created(operator, operand)
        if key == "keywords":
            raise BadInput("filters know no 'keywords': the query is searched for its words, too")
        if key == "categories" and operator in ("eq", "in"):
            parts = [_test_meta(key, "contains", one) for one in _operands(key, operator, operand)]
            return _any_of(parts)
        if key == "updated_at" and operator in ("eq", "gt", "gte", "lt", "lte"):
            operand = write_time(parse_time(operand, key))
        return _test_meta(key, operator, operand)

    def _test_opposite(self, key: str, operator: str, operand: Any) -> Where:
        """There is a value, and it is another one; `NOT` also passes where there is none."""
        other = self._test(key, _OPPOSITES[operator], operand)
        if key in _IDS or key == "created_at":
            return Where(never=(other,))
        return Where(every=(self._test(key, "exists", True),), never=(other,))

    def _test_user(self, operator: str, operand: Any) -> Where:
        if operator == "exists":
            owned = Where(scope=self._home.users())
            return owned if operand else Where(never=(owned,))
        users = _operands("user_id", operator, operand)
        return _any_of([Where(scope=self._home.scope_of("user_id", str(one))) for one in users])


def _list_tests(key: str, value: object) -> list[tuple[str, Any]]:
    """Operators and operands. A plain value must be equal, `*` is any, a list is one of its values."""
    if value == ANY:
        return [("exists", True)]
    if value is None:
        return [("exists", False)]
    if isinstance(value, list | tuple):
        return [("in", list(value))]
    if not isinstance(value, Mapping):
        return [("eq", value)]
    for operator in value:
        if operator not in _OPERATORS:
            raise BadInput(f"Unsupported metadata filter operator: {operator}")
    if not value:
        raise BadInput(f"the filter for {key!r} has no operator; there are {', '.join(_OPERATORS)}")
    return list(value.items())


def _operands(key: str, operator: str, operand: Any) -> Sequence[Any]:
    if operator == "eq":
        return [operand]
    if not isinstance(operand, list | tuple):
        raise BadInput(f"the operator 'in' for {key!r} needs a list of values")
    return operand


def _any_of(parts: list[Where]) -> Where:
    return Where(some=tuple(parts)) if parts else Where(ids=())


def _test_label(key: str, operator: str, operand: Any) -> Where:
    given: list[dict[str, Any]] = [{_LABELS[key]: str(one)} for one in _operands(key, operator, operand)]
    return _any_of([Where(**one) for one in given])


def _test_ids(key: str, operator: str, operand: Any) -> Where:
    if operator not in ("eq", "in"):
        raise BadInput(f"{key} can be asked with eq, ne, in and nin only")
    return Where(ids=tuple(str(one) for one in _operands(key, operator, operand)))


def _test_created(operator: str, operand: Any) -> Where:
    """When a memory was made is when it occurred: whoever adds one may say when that was."""
    if operator == "in":
        at: Any = [parse_time(one, "created_at") for one in _operands("created_at", operator, operand)]
    else:
        at = parse_time(operand, "created_at")
    found = where_of({"occurred": {f"${operator}": at}})
    assert found is not None
    return found


def _test_meta(key: str, operator: str, operand: Any) -> Where:
    if operator in _OPPOSITES:
        other = _test_meta(key, _OPPOSITES[operator], operand)
        return Where(every=(_test_meta(key, "exists", True),), never=(other,))
    if operator == "icontains":
        if not isinstance(operand, str):
            raise BadInput(f"the operator 'icontains' for {key!r} needs a text")
        return Where(conditions=(Condition(("meta", key), "regex", f"(?i){re.escape(operand)}"),))
    return Where(conditions=(Condition(("meta", key), _CONDITIONS.get(operator, operator), operand),))
