"""What an agent is, in plain JSON: its state, what changed, what it answered."""

from __future__ import annotations

import dataclasses
import inspect
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime, timedelta
from enum import Enum
from pathlib import PurePath
from typing import Any, Final
from uuid import UUID

from ..core.condition import same
from ..core.validate import Json

DEEPEST: Final = 20
SECRET: Final = re.compile(
    r"(?:^|_)(?:api_?key|password|passwd|secret|credentials?|token)$", re.IGNORECASE
)  # attributes that are nobody's memory
_AS_DICT: Final = ("as_dict", "model_dump", "to_dict")


class NotPlain(TypeError):
    """A value that JSON cannot say."""


def plain(value: Any, depth: int = DEEPEST) -> Json:
    """A value as JSON, copied, without what JSON cannot say; NotPlain where that is all of it."""
    if value is None or isinstance(value, bool | str):
        return value if not isinstance(value, Enum) else value.value
    if isinstance(value, Enum):
        return plain(value.value, depth)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(value)
    if not depth:
        raise NotPlain("nested too deep")
    return _whole(value, depth - 1)


def _whole(value: Any, depth: int) -> Json:
    if (fields := _fields(value)) is not None:
        return {str(name): item for name, item in _each(fields.items(), depth)}
    if isinstance(value, list | tuple):
        return [item for _, item in _each(enumerate(value), depth)]
    if isinstance(value, set | frozenset):
        return sorted((item for _, item in _each(enumerate(value), depth)), key=repr)
    if isinstance(value, date | datetime):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, PurePath | UUID):
        return str(value)
    if callable(listed := getattr(value, "tolist", None)) and not isinstance(value, type):
        return plain(listed(), depth)  # arrays and numbers of numpy and its like
    raise NotPlain(type(value).__name__)


def _fields(value: Any) -> Mapping[Any, Any] | None:
    """What a mapping, a dataclass, a named tuple or an object that can tell itself as a dict holds."""
    if isinstance(value, Mapping):
        return value
    if isinstance(value, type):
        return None
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name, None) for field in dataclasses.fields(value)}
    for name in (*_AS_DICT, "_asdict"):
        if callable(tell := getattr(value, name, None)) and isinstance(values := tell(), Mapping):
            return values
    return None


def _each(items: Iterable[tuple[Any, Any]], depth: int) -> Iterator[tuple[Any, Json]]:
    for name, item in items:
        try:
            yield name, plain(item, depth)
        except NotPlain:
            continue


def state_of(agent: Any) -> dict[str, Json]:
    """What the agent says its state is (`get_state`), or else its public attributes, as far as JSON goes."""
    ask = getattr(agent, "get_state", None)
    if not callable(ask):
        return dict(_each(attributes_of(agent), DEEPEST))
    state = ask()
    if inspect.isawaitable(state):
        if inspect.iscoroutine(state):
            state.close()
        raise NotPlain("get_state is asynchronous: it has to be a plain method")
    fields = _fields(state)
    named = attributes_of(state) if fields is None else fields.items()
    return {str(name): value for name, value in _each(named, DEEPEST)}


def attributes_of(thing: Any) -> list[tuple[str, Any]]:
    """Public attributes of an instance, with those in slots; none that are named as secrets are."""
    names = dict.fromkeys(getattr(thing, "__dict__", {}))
    for kind in type(thing).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        names |= dict.fromkeys((slots,) if isinstance(slots, str) else slots)
    there = [name for name in names if open_name(name) and hasattr(thing, name)]
    return [(name, value) for name in there if not callable(value := getattr(thing, name))]


def open_name(name: str) -> bool:
    return not name.startswith("_") and SECRET.search(name) is None


def changes_between(before: Mapping[str, Json], after: Mapping[str, Json]) -> dict[str, dict[str, Json]]:
    """Which attributes differ: what each was and is; None where there was or is none."""
    names = dict.fromkeys((*before, *after))
    return {
        name: {"previous": before.get(name), "new": after.get(name)}
        for name in names
        if (name in before) != (name in after) or not same(before.get(name), after.get(name))
    }


def number(value: Any) -> float | None:
    """A finite number, or None."""
    try:
        found = None if value is None or isinstance(value, str | bytes) else float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return found if found is not None and math.isfinite(found) else None


def whole_number(value: Any) -> int | None:
    found = None if isinstance(value, bool) else number(value)
    return int(found) if found is not None and found.is_integer() and abs(found) < 2**53 else None


def part(thing: Any, *names: str) -> Any:
    """The first key of a mapping, or attribute of anything else, that is there."""
    if isinstance(thing, Mapping):
        return next((thing[name] for name in names if name in thing), None)
    return next((getattr(thing, name) for name in names if hasattr(thing, name)), None)
