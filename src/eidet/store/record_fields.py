"""The fields of a record in an export: each is read by its type and range, or refused.

Whoever wrote a file may be anybody: nothing that a store, an index or upkeep could not work with gets in.
"""

from __future__ import annotations

import math
from binascii import a2b_base64
from collections.abc import Callable
from typing import Any, Final

from ..core.errors import BadInput
from ..core.record import kind_of, tier_of, trust_of
from ..core.scope import check_scope
from ..core.state import State
from ..core.validate import EARLIEST, LATEST, clean_json, clean_text
from ..core.where import check_place

LABEL_CHARS: Final = 1000
TOKEN_CHARS: Final = 8000  # of a label that is sealed: up to four bytes a character, in base64
LARGEST: Final = 2**53
LEVELS: Final = 2
DEEPEST: Final = 500  # levels of a state: the `meta` of merged parts is inside

Read = Callable[[Any], Any]


def _text(value: Any) -> str:
    return clean_text(value, "it")


def _name(value: Any) -> str:
    if not 1 <= len(_text(value)) <= LABEL_CHARS:
        raise BadInput(f"it has {len(value):,} characters, from 1 to {LABEL_CHARS:,} are allowed")
    return str(value)


def _label(value: Any) -> str:
    return _short_text(value, LABEL_CHARS)


def _token(value: Any) -> str:
    return _short_text(value, TOKEN_CHARS)


def _short_text(value: Any, most: int) -> str:
    if len(_text(value)) > most:
        raise BadInput(f"it has {len(value):,} characters, up to {most:,} are allowed")
    return str(value)


def _scope(value: Any) -> str:
    check_scope(value)
    return str(value)


def _whole(low: int, high: int) -> Read:
    def read(value: Any) -> int:
        if type(value) is not int or not low <= value <= high:
            raise BadInput(f"{value!r:.80} is no whole number from {low:,} to {high:,}")
        return value

    return read


def _number(low: float, high: float, what: str) -> Read:
    def read(value: Any) -> float:
        if type(value) not in (int, float) or not low <= value <= high:
            raise BadInput(f"{value!r:.80} is no {what}")
        return float(value)

    return read


def _bytes(value: Any) -> bytes:
    if not isinstance(value, str):
        raise BadInput(f"{value!r:.80} is no base64 text")
    return a2b_base64(value, strict_mode=True)


def _ids(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        raise BadInput(f"{value!r:.80} is no list of ids")
    return tuple(map(_text, value))


def _place(value: Any) -> tuple[float, ...]:
    if not isinstance(value, list | tuple) or any(type(number) not in (int, float) for number in value):
        raise BadInput(f"{value!r:.80} is no list of two or three numbers")
    return check_place(value)


def _data(value: Any) -> Any:
    return clean_json(value, "it")


def _meta(value: Any) -> Any:
    if not isinstance(value, dict):
        raise BadInput(f"{value!r:.80} is no object")
    return clean_json(value, "it")


def _state(value: Any) -> State:
    _check_depth(value)
    return State.from_json(value)


def _check_depth(value: Any) -> None:
    layer, depth = [value], 0
    while layer:
        if depth > DEEPEST:
            raise BadInput(f"it is nested more than {DEEPEST} levels deep")
        below: list[Any] = []
        for item in layer:
            if isinstance(item, dict):
                below.extend(item.values())
            elif isinstance(item, list):
                below.extend(item)
        layer, depth = below, depth + 1


def _or_none(read: Read) -> Read:
    return lambda value: None if value is None else read(value)


_time: Final = _number(EARLIEST, LATEST, "time in seconds since 1970, in the years 1 to 9999")

FIELDS: Final[dict[str, Read]] = {
    "id": _name,
    "scope": _scope,
    "text": _text,
    "kind": lambda value: kind_of(_text(value)),
    "tier": lambda value: tier_of(_text(value)),
    "data": _data,
    "who": _or_none(_label),
    "agent": _or_none(_label),
    "session": _or_none(_label),
    "step": _or_none(_whole(-LARGEST, LARGEST)),
    "place": _or_none(_place),
    "importance": _number(0, 1, "number from 0 to 1"),
    "created": _time,
    "occurred": _time,
    "uses": _whole(0, LARGEST),
    "last_used": _or_none(_time),
    "expires": _or_none(_time),
    "source": _or_none(_label),
    "meta": _meta,
    "state": _state,
    "vector": _or_none(_bytes),
    "terms": _bytes,
    "level": _whole(0, LEVELS),
    "original": _or_none(_bytes),
    "derived_from": _ids,
    "trust": lambda value: trust_of(_text(value)),
    "sealed": _or_none(_bytes),
    "version": _whole(1, LARGEST),
}

_OF_SEALED: Final[dict[str, Read]] = {
    **FIELDS,
    **dict.fromkeys(("who", "agent", "session", "source"), _or_none(_token)),
}


def read_fields(said: dict[str, Any]) -> dict[str, Any]:
    """The values of a record's fields; BadInput or ValueError names the first that cannot be one."""
    readers = FIELDS if said.get("sealed") is None else _OF_SEALED
    read = {}
    for name, value in said.items():
        try:
            read[name] = readers[name](value)
        except ValueError as error:
            raise BadInput(f"{name}: {error}") from error
    return read


_MAKE: Final[dict[str, Read]] = {
    "place": _or_none(tuple),
    "derived_from": tuple,
    "kind": kind_of,
    "tier": tier_of,
    "trust": trust_of,
    "state": State.from_json,
    "vector": _or_none(a2b_base64),
    "terms": a2b_base64,
    "original": _or_none(a2b_base64),
    "sealed": _or_none(a2b_base64),
}


def restore_fields(said: dict[str, Any]) -> dict[str, Any]:
    """As `read_fields`, for fields that were checked before."""
    read = dict(said)
    for name, make in _MAKE.items():
        if name in read:
            read[name] = make(read[name])
    return read


def read_float(text: str) -> float:
    """For a JSON reader, which would take 1e999 for infinite."""
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"the number {text:.40} is too large")
    return value


def read_int(text: str) -> int:
    """For a JSON reader: whole numbers of at most 4,096 bits, as `remember` takes them."""
    if len(text) > 1300:
        raise ValueError(f"a number has {len(text):,} digits")
    return int(text)


def refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON value")


def read_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """For a JSON reader, which would keep the last of two values and drop the first."""
    values = dict(pairs)
    if len(values) < len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise ValueError(f"an object has the key {name!r:.80} twice")
            seen.add(name)
    return values
