"""Filters written as dicts, as users of Chroma, Mongo and mem0 know them: `{"data.health": {"$gt": 0.5}}`.

A key is a path into `data`, `meta` or `state`, a number such as `record.uses`, a field of the record:
kind, who, occurred …, or a field of `Where` itself: since, near, conditions … Operators of one key, and keys
of one dict, must all hold. `$ne`, `$nin` and `$not` also pass where the value is missing, as they do there;
`Condition` with `!=` does not. `where_as_dict` writes any `Where` in this form, for a request.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from math import isinf
from typing import Any, Final

from .condition import Condition
from .errors import BadInput
from .validate import FILTER_DEPTH, Json
from .where import Box, Near, Where

Filter = Where | Mapping[str, Json]

EXAMPLE: Final = '{"data.health": {"$gt": 0.5}}'
_DOCUMENTS: Final = ("data.", "meta.", "state.", "record.")
_LISTS: Final = {
    "id": "ids",
    "ids": "ids",
    "kind": "kinds",
    "kinds": "kinds",
    "tier": "tiers",
    "tiers": "tiers",
    "trust": "trust",
}
_LABELS: Final = {name: name for name in ("agent", "session", "who", "source")} | {
    "agent_id": "agent",
    "run_id": "session",
}
_SPANS: Final = {
    "occurred": ("since", "until"),
    "created": ("created_since", "created_until"),
    "step": ("step_from", "step_to"),
    "importance": ("importance_min", "importance_max"),
}
_CONDITIONS: Final = {
    "$eq": "=",
    "$gt": ">",
    "$gte": ">=",
    "$lt": "<",
    "$lte": "<=",
    "$in": "in",
    "$exists": "exists",
    "$contains": "contains",
    "$regex": "regex",
}
_OPPOSITES: Final = {"$ne": "$eq", "$nin": "$in", "$not_contains": "$contains"}
_JOINS: Final = {"$and": "every", "AND": "every", "$or": "some", "OR": "some", "$nor": "never"} | {
    name: name for name in ("every", "some", "never")
}
_NOTS: Final = ("$not", "NOT")
_OPERATORS: Final = (*_CONDITIONS, *_OPPOSITES, "$not")
_BARE: Final = frozenset(name.removeprefix("$") for name in _OPERATORS)
_NOTHING: Final = Where(ids=())
_DEFAULTS: Final = {field.name: field.default for field in fields(Where)}
_ADDED: Final = frozenset(("conditions", "every", "never"))  # values that add up: all must hold
_OURS: Final = ("scope", "alive_at")  # set by the verbs, never by a caller
_OF_WHERE: Final = _DEFAULTS.keys() - {*_OURS, *_JOINS, "box", "near"}
_ENDLESS: Final = 2**63  # stands for infinity, which JSON lacks


def where_of(given: Filter | None) -> Where | None:
    """Converts a filter to a `Where`; None stays None."""
    if given is None or isinstance(given, Where):
        return given
    if not isinstance(given, Mapping):
        raise BadInput(f"a filter must be a Where(…) or a dict such as {EXAMPLE}, not {type(given).__name__}")
    return _parse_dict(given, FILTER_DEPTH)


def _parse_dict(given: object, left: int) -> Where:
    if not isinstance(given, Mapping):
        raise BadInput(f"a part of a filter must be a dict such as {EXAMPLE}, not {given!r:.80}")
    if not left:
        raise BadInput(f"filters nest at most {FILTER_DEPTH} levels deep")
    return _join_parts([part for key, value in given.items() for part in _parse_entry(key, value, left)])


def _join_parts(parts: Sequence[Where]) -> Where:
    """Makes one filter of parts that must all hold; nests only those whose fields another part has."""
    joined: dict[str, Any] = {}
    for part in parts:
        said = _list_fields(part)
        if said.keys() & joined.keys() - _ADDED:
            said = {"every": (part,)}
        added = {name: (*joined.get(name, ()), *said[name]) for name in said.keys() & _ADDED}
        joined |= said | added
    return Where(**joined)


def _list_fields(where: Where) -> dict[str, Any]:
    values = {name: getattr(where, name) for name in _DEFAULTS}
    return {name: value for name, value in values.items() if value != _DEFAULTS[name]}


def _parse_entry(key: object, value: Json, left: int) -> list[Where]:
    if not isinstance(key, str):
        raise BadInput(f"a key of a filter must be a string such as 'data.health', not {key!r:.80}")
    if key in _JOINS:
        return [Where(**{_JOINS[key]: _parse_list(key, value, left)})]  # type: ignore[arg-type]
    if key in _NOTS:
        if isinstance(value, Mapping):
            value = [value]
        return [Where(never=_parse_list(key, value, left))]
    if key == "box":
        return [Where(box=Box(**_parse_pair(key, value, "low", "high")))]
    if key == "near":
        return [Where(near=Near(**_parse_pair(key, value, "place", "radius")))]
    if key in _OF_WHERE and not isinstance(value, Mapping):
        return [_make(key, value)]
    return _parse_tests(key, value, left)


def _parse_pair(key: str, value: Json, first: str, second: str) -> dict[str, Any]:
    if not isinstance(value, Mapping) or value.keys() != {first, second}:
        raise BadInput(f"{key} of a filter has {first} and {second}, and nothing else")
    return dict(value)


def _parse_list(key: str, value: object, left: int) -> tuple[Where, ...]:
    if not isinstance(value, list | tuple) or not value:
        raise BadInput(f"{key} needs a list of filters, at least one, not {value!r:.80}")
    parts: list[Where] = []
    for number, item in enumerate(value, 1):
        try:
            parts.append(_parse_dict(item, left - 1))
        except BadInput as error:
            if len(value) == 1:
                raise
            raise BadInput(f"{key}, item {number}: {error}") from None
    return tuple(parts)


def _parse_tests(key: str, value: Json, left: int) -> list[Where]:
    """Parses all tests of one key; a plain value means equality."""
    if not isinstance(value, Mapping):
        return [_test(key, "$eq", value, left)]
    tests: list[Where] = []
    for name, operand in value.items():
        operator = f"${name}" if name in _BARE else name
        if operator not in _OPERATORS:
            raise BadInput(
                f"unknown operator {name!r} for {key}; there are {', '.join(_OPERATORS)}; "
                'a dict as a value is written {"$eq": {…}}'
            )
        tests.append(_test(key, operator, operand, left))
    if not tests:
        raise BadInput(f'{key} is compared with nothing; an empty dict as a value is {{"$eq": {{}}}}')
    return tests


def _test(key: str, operator: str, operand: Json, left: int) -> Where:
    if operator == "$not":
        if not isinstance(operand, Mapping):
            raise BadInput(f'$not for {key} needs operators such as {{"$gt": 0.5}}, not {operand!r:.80}')
        return Where(never=(_parse_dict({key: operand}, left - 1),))
    if operator in _OPPOSITES:
        return Where(never=(_test(key, _OPPOSITES[operator], operand, left),))
    if key.startswith(_DOCUMENTS):
        return Where(conditions=(Condition(key, _CONDITIONS[operator], operand),))
    for names, test in _FIELDS:
        if key in names:
            return test(key, operator, operand)
    raise _make_unknown(key)


def _test_list(key: str, operator: str, operand: Json) -> Where:
    return _make(_LISTS[key], tuple(_list_operands(key, operator, operand)))


def _test_label(key: str, operator: str, operand: Json) -> Where:
    return _any_of([_make(_LABELS[key], one) for one in _list_operands(key, operator, operand)])


def _test_span(key: str, operator: str, operand: Json) -> Where:
    """Builds a range test. A `Where` includes its ends, so `$gt` and `$lt` exclude the end by `never`."""
    low, high = _SPANS[key]
    match operator:
        case "$gte":
            return _make(low, operand)
        case "$lte":
            return _make(high, operand)
        case "$gt":
            return Where(every=(_make(low, operand),), never=(_test_span(key, "$eq", operand),))
        case "$lt":
            return Where(every=(_make(high, operand),), never=(_test_span(key, "$eq", operand),))
    equal = [Where(every=(_make(low, o), _make(high, o))) for o in _list_operands(key, operator, operand)]
    return _any_of(equal)


_FIELDS: Final[tuple[tuple[Mapping[str, object], Callable[[str, str, Json], Where]], ...]] = (
    (_LISTS, _test_list),
    (_LABELS, _test_label),
    (_SPANS, _test_span),
)


def _list_operands(key: str, operator: str, operand: Json) -> Sequence[Json]:
    if operator == "$eq":
        return [operand]
    if operator != "$in":
        raise BadInput(f"{key} is a field of the record, which cannot be asked with {operator}")
    if isinstance(operand, str) or not isinstance(operand, Sequence):
        raise BadInput(f"$in for {key} needs a list of values, not {operand!r:.80}")
    return operand


def _make(field: str, value: Any) -> Where:
    if value is None:
        raise BadInput(f"{field} cannot be compared with None")
    return Where(**{field: value})


def _any_of(parts: Sequence[Where]) -> Where:
    if not parts:
        return _NOTHING
    if len(parts) == 1:
        return parts[0]
    return Where(some=tuple(parts))


def _make_unknown(key: str) -> BadInput:
    if key in ("user_id", "user", "namespace", "collection"):
        return BadInput(f"{key!r} is the scope of a memory: give it as scope=…, beside the filter")
    if key in ("text", "content", "memory", "document", "$contains"):
        return BadInput(
            f"a filter does not search texts, so it knows no {key!r}: recall(words, recipe='exact') finds "
            "records by their words, and record.text of what find(…) returns can be compared"
        )
    if key.startswith("$"):
        known = ", ".join((*_JOINS, *_NOTS))
        return BadInput(f"unknown operator {key!r}; filters are joined with {known}")
    fields = ", ".join((*_LISTS, *_LABELS, *_SPANS))
    return BadInput(
        f"a filter knows no {key!r}: your own labels are 'meta.{key}', structured content is 'data.{key}', "
        f"and fields of a record are {fields}"
    )


# Filters that are sent to a server.


def where_as_dict(where: Filter) -> dict[str, Json]:
    """Writes a filter as a dict for JSON, from which `where_of` makes the same; copies a dict."""
    if not isinstance(where, Where):
        return dict(where)
    if where.scope is not None:
        raise BadInput("a filter that names a scope cannot travel: give the scope beside the filter")
    given = _list_fields(where)
    return {name: _encode_value(name, value) for name, value in given.items() if name not in _OURS}


def _encode_value(name: str, value: Any) -> Json:
    if name in _JOINS:
        return [where_as_dict(part) for part in value]
    if name == "conditions":
        return [[list(one.path), one.op, one.value] for one in value]
    if isinstance(value, Box):
        return {"low": list(value.low), "high": list(value.high)}
    if isinstance(value, Near):
        return {"place": list(value.place), "radius": value.radius}
    if isinstance(value, tuple):
        return [str(one) for one in value]
    if isinstance(value, float) and isinf(value):
        return _ENDLESS if value > 0 else -_ENDLESS
    return value
