"""Converts a `Where` to JSON and back without loss, for filters that are sent to a server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from math import isinf
from typing import Any, Final

from .condition import Condition
from .errors import BadInput
from .validate import FILTER_DEPTH, Json
from .where import Box, Near, Where

EXACT: Final = "$where"  # marks a filter that is written field by field
_PARTS: Final = ("every", "some", "never")
_OURS: Final = ("scope", "alive_at")  # set by the verbs, never by a caller
_FIELDS: Final = {one.name: one.default for one in fields(Where) if one.name not in _OURS}
_ENDLESS: Final = 2**63  # stands for infinity, which JSON lacks


def where_to_json(where: Where | Mapping[str, Json]) -> dict[str, Json]:
    """Encodes a filter for a request; copies one that is a dict already."""
    if isinstance(where, Where):
        return {EXACT: _to_json(where)}
    return dict(where)


def _to_json(where: Where) -> dict[str, Json]:
    if where.scope is not None:
        raise BadInput("a filter that names a scope cannot travel: give the scope beside the filter")
    given = {name: getattr(where, name) for name in _FIELDS}
    return {name: _value_to_json(name, value) for name, value in given.items() if value != _FIELDS[name]}


def _value_to_json(name: str, value: Any) -> Json:
    if name in _PARTS:
        return [_to_json(part) for part in value]
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


def where_from_json(values: Mapping[str, Json] | None) -> Where | Mapping[str, Json] | None:
    """Parses a filter from JSON: a dict filter stays a dict, an exact one becomes a `Where`."""
    if values is None or EXACT not in values:
        return values
    if len(values) > 1:
        raise BadInput(f"a filter with {EXACT!r} has nothing beside it")
    return _from_json(values[EXACT], FILTER_DEPTH)


def _from_json(values: Json, left: int) -> Where:
    if not isinstance(values, dict):
        raise BadInput(f"an exact filter must be an object, not {type(values).__name__}")
    if not left:
        raise BadInput(f"filters nest at most {FILTER_DEPTH} levels deep")
    if unknown := sorted(values.keys() - _FIELDS.keys()):
        raise BadInput(f"an exact filter knows no {unknown}; there are {', '.join(_FIELDS)}")
    return Where(**{name: _value_from_json(name, value, left) for name, value in values.items()})


def _value_from_json(name: str, value: Json, left: int) -> Any:
    if name in _PARTS:
        return tuple(_from_json(part, left - 1) for part in _list(name, value))
    if name == "conditions":
        return tuple(_condition(one) for one in _list(name, value))
    if name == "box":
        return Box(**_pair(value, "low", "high"))
    if name == "near":
        return Near(**_pair(value, "place", "radius"))
    return value


def _list(name: str, value: Json) -> list[Json]:
    if not isinstance(value, list):
        raise BadInput(f"{name} of a filter must be a list, not {type(value).__name__}")
    return value


def _condition(value: Json) -> Condition:
    if not isinstance(value, list) or len(value) not in (2, 3):
        raise BadInput("a condition must be a path, an operator and a value")
    path = value[0]
    if not isinstance(path, str | list) or not path:
        raise BadInput("the path of a condition must be a text or a list of steps")
    return Condition(*value)


def _pair(value: Json, first: str, second: str) -> dict[str, Any]:
    if not isinstance(value, dict) or value.keys() != {first, second}:
        raise BadInput(f"this part of a filter has {first} and {second}, and nothing else")
    return value
