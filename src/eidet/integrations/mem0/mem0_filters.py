"""The owners of a memory in mem0's terms, and mem0's filters, parsed into a `Where`.

Each user has a scope, `mem0/user/ann`. A memory without a user is in the scope of its agent or run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import unquote

from ...core.dict_filters import where_of
from ...core.errors import BadInput
from ...core.record import Record
from ...core.scope import Scope
from ...core.validate import FILTER_DEPTH, clean_text, moment
from ...core.where import Condition, Where
from ..extras import quote_label

NAMES: Final = ("user_id", "agent_id", "run_id")  # in the order in which they own a scope
Owners = dict[str, str]  # by these names
_ANY: Final = "*"
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
_FIELDS: Final = {  # of a record; `created_at` is when a memory occurred, the `timestamp` of `add`
    "agent_id": "agent",
    "run_id": "session",
    "created_at": "occurred",
}
_OPERATORS: Final = (*_CONDITIONS, *_OPPOSITES, "icontains")
_NEEDED: Final = "At least one of 'user_id', 'agent_id', or 'run_id' must be provided."
_NO_OWNER: Final = (
    "filters must contain at least one of: user_id, agent_id, run_id. Example: filters={'user_id': 'u1'}"
)


def parse_id(value: object, name: str) -> str | None:
    """Returns an id as stripped text; None stays None. Raises `BadInput` for ids that mem0 refuses."""
    if value is None:
        return None
    trimmed = str(value).strip()
    if not trimmed:
        raise BadInput(f"Invalid {name}: cannot be empty or whitespace-only. Provide a valid identifier.")
    if any(map(str.isspace, trimmed)):
        raise BadInput(
            f"Invalid {name}: cannot contain whitespace. Provide a valid identifier without spaces."
        )
    return trimmed


def parse_owners(**given: object) -> Owners:
    """Returns the given user, agent and run; raises `BadInput` if all are absent."""
    named = {name: id for name in NAMES if (id := parse_id(given[name], name)) is not None}
    if not named:
        raise BadInput(_NEEDED)
    return named


def select_owners(owners: Owners) -> Where | None:
    """Returns the filter for an agent and a run, in addition to the scope; None if both are absent."""
    if owners.keys() <= {"user_id"}:
        return None
    return Where(agent=owners.get("agent_id"), session=owners.get("run_id"))


@dataclass(frozen=True, slots=True)
class Home:
    """The scope that contains mem0's memories."""

    path: str = "mem0"

    def __post_init__(self) -> None:
        Scope.exactly(self.path)

    @property
    def everything(self) -> Scope:
        return Scope.under(self.path)

    def scope_of(self, name: str, id: str) -> Scope:
        """Returns the scope that a user, an agent or a run owns."""
        return Scope.exactly(f"{self.path}/{name.removesuffix('_id')}/{quote_label(clean_text(id, name))}")

    def place(self, owners: Owners) -> Scope:
        """Returns the scope for a memory of these owners: its user's, else that of its agent or run."""
        name = next(name for name in NAMES if name in owners)
        return self.scope_of(name, owners[name])

    def owners_of(self, record: Record) -> Owners:
        """Returns the owners of a record; one stored by Eidet's own verbs has the owner of its scope."""
        fields = {"agent_id": record.agent, "run_id": record.session}
        owners = {name: record.meta.get(name) or fields.get(name) for name in NAMES}
        type, _, label = record.scope.removeprefix(f"{self.path}/").partition("/")
        if label and f"{type}_id" in NAMES:
            owners[f"{type}_id"] = unquote(label)
        return {name: str(id) for name, id in owners.items() if id is not None}

    def select(self, filters: Mapping[str, Any] | None) -> tuple[Scope, Where]:
        """Returns scope and filter for mem0's filters; raises `BadInput` if they name no owner."""
        if not filters or not _names_owner(filters):
            raise BadInput(_NO_OWNER)
        user, rest = _take_user(filters)
        scope = self.everything if user is None else self.scope_of("user_id", user)
        return scope, _FilterParser(self).parse(rest)


def _names_owner(filters: object) -> bool:
    """Returns whether a filter names a user, agent or run, at any depth."""
    if isinstance(filters, Mapping):
        return not filters.keys().isdisjoint(NAMES) or any(map(_names_owner, filters.values()))
    return isinstance(filters, list) and any(map(_names_owner, filters))


def _take_user(filters: Mapping[str, Any]) -> tuple[str | None, dict[str, Any]]:
    """Returns the one user that a filter requires (None if there may be several), and the rest of it."""
    rest = dict(filters)
    for name in NAMES:
        if isinstance(rest.get(name), str | int) and rest[name] != _ANY:
            rest[name] = parse_id(rest[name], name)
    if isinstance(user := rest.get("user_id"), str) and user != _ANY:
        del rest["user_id"]
        return user, rest
    parts = rest["AND"] if isinstance(rest.get("AND"), list) else []
    for number, part in enumerate(parts):
        user, others = _take_user(part) if isinstance(part, Mapping) else (None, {})
        if user is not None:
            return user, {**rest, "AND": [*parts[:number], others, *parts[number + 1 :]]}
    return None, rest


def parse_time(value: object, name: str) -> float:
    """Returns seconds since 1970 for a number or ISO text; without a zone UTC, as all times of mem0."""
    if isinstance(value, str):
        try:
            parsed = datetime.fromisoformat(value)
        except ValueError:
            raise BadInput(f"{name} {value!r} is not an ISO 8601 date or time") from None
        value = parsed if parsed.tzinfo is not None else parsed.replace(tzinfo=UTC)
    return moment(value, name)  # type: ignore[arg-type]  # which refuses values that are not times


def write_time(at: float) -> str:
    """Formats a time in UTC, always with microseconds, so that texts sort as the times do."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="microseconds")


@dataclass(frozen=True, slots=True)
class _FilterParser:
    """Parses filters for the memories of one home."""

    home: Home

    def parse(self, filters: object, left: int = FILTER_DEPTH) -> Where:
        if not isinstance(filters, Mapping):
            raise BadInput(f"filters must be a dict, not {type(filters).__name__}")
        if not left:
            raise BadInput(f"filters nest at most {FILTER_DEPTH} levels deep")
        parts: list[Where] = []
        for key, value in filters.items():
            if key in _JOINS:
                parts.append(self._join(key, value, left - 1))
            else:
                parts += [self._test(str(key), *test) for test in _list_tests(key, value)]
        return Where(every=tuple(parts))

    def _join(self, key: str, value: object, left: int) -> Where:
        if key == "NOT" and isinstance(value, Mapping):
            value = [value]
        if not isinstance(value, list | tuple):
            raise BadInput(f"{key} operator requires a list of conditions")
        if not value and key != "AND":
            raise BadInput(f"{key} operator requires a non-empty list of conditions")
        parts = tuple(self.parse(part, left) for part in value)
        return Where(**{_JOINS[key]: parts})  # type: ignore[arg-type]

    def _test(self, key: str, operator: str, operand: Any) -> Where:
        if operator in _OPPOSITES:  # there must be a value, and a different one
            other = self._test(key, _OPPOSITES[operator], operand)
            there = Where() if key == "created_at" else self._test(key, "exists", True)
            return Where(every=(there,), never=(other,))
        if key == "user_id" and operator in ("eq", "in", "exists"):
            return self._test_user(operator, operand)
        if key in ("created_at", "updated_at") and operator != "exists":
            operand = parse_time(operand, key)
            if key == "updated_at":
                operand = write_time(operand)
        if key in _FIELDS and (key == "created_at" or operator in ("eq", "in")):
            found = where_of({_FIELDS[key]: {f"${operator}": operand}})
            assert found is not None
            return found
        if operator == "icontains":
            if not isinstance(operand, str):
                raise BadInput(f"the operator 'icontains' for {key!r} needs a text")
            operator, operand = "regex", f"(?i){re.escape(operand)}"
        return Where(conditions=(Condition(("meta", key), _CONDITIONS.get(operator, operator), operand),))

    def _test_user(self, operator: str, operand: Any) -> Where:
        if operator == "exists":
            owned = Where(scope=Scope.under(f"{self.home.path}/user"))
            return owned if operand else ~owned
        users: Sequence[Any] = [operand] if operator == "eq" else operand
        parts = tuple(Where(scope=self.home.scope_of("user_id", str(one))) for one in users)
        return Where(some=parts) if parts else Where(ids=())


def _list_tests(key: str, value: object) -> list[tuple[str, Any]]:
    """Lists operators and operands: a value must be equal, `*` is any value, a list any of its values."""
    if value == _ANY or value is None:
        return [("exists", value is not None)]
    if isinstance(value, list | tuple):
        return [("in", list(value))]
    if not isinstance(value, Mapping):
        return [("eq", value)]
    if unknown := [operator for operator in value if operator not in _OPERATORS]:
        raise BadInput(f"Unsupported metadata filter operator: {unknown[0]}")
    if not value:
        raise BadInput(f"the filter for {key!r} has no operator; there are {', '.join(_OPERATORS)}")
    return list(value.items())
