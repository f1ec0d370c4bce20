"""Typed access to fields of JSON from outside; errors name the place."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any, Final

from .. import BadInput

_TIMES: Final = (  # as LoCoMo and LongMemEval write them
    "%I:%M %p on %d %B %Y",
    "%I:%M %p on %d %b %Y",
    "%Y/%m/%d (%a) %H:%M",
    "%Y/%m/%d %H:%M",
)


def table_in(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise BadInput(f"{where} must be an object with fields, not {_kind(value)}")
    return value


def text_in(thing: Mapping[str, Any], name: str, where: str, *, blank: bool = False) -> str:
    value = _field_of(thing, name, where)
    if not isinstance(value, str):
        raise BadInput(f"{where}: {name} must be a text, not {_kind(value)}")
    if not blank and not value.strip():
        raise BadInput(f"{where}: {name} is empty")
    return value


def list_in(thing: Mapping[str, Any], name: str, where: str) -> list[Any]:
    value = _field_of(thing, name, where)
    if not isinstance(value, list):
        raise BadInput(f"{where}: {name} must be a list, not {_kind(value)}")
    return value


def texts_in(thing: Mapping[str, Any], name: str, where: str) -> list[str]:
    values = list_in(thing, name, where)
    for at, value in enumerate(values, 1):
        if not isinstance(value, str):
            raise BadInput(f"{where}: {name}, item {at} must be a text, not {_kind(value)}")
    return values


def time_of(text: str, where: str) -> float:
    """Parses `1:56 pm on 8 May, 2023` or `2023/05/20 (Sat) 02:21` as local time."""
    for form in _TIMES:
        with suppress(ValueError):
            return datetime.strptime(text.replace(",", " ").strip(), form).timestamp()  # noqa: DTZ007
    raise BadInput(
        f"{where}: {text!r} is not a time such as '1:56 pm on 8 May, 2023' or '2023/05/20 (Sat) 02:21'"
    )


def json_of(text: str, where: str) -> Any:
    """Parses JSON that can be stored: no NaN, no lone surrogates."""
    try:
        value = json.loads(text, parse_constant=_refuse)
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise BadInput(f"{where} has a lone surrogate, which UTF-8 cannot encode") from None
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{where} is not JSON: {error}") from None
    return value


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a JSON number")


def _field_of(thing: Mapping[str, Any], name: str, where: str) -> Any:
    if name not in thing:
        raise BadInput(f"{where}: the field {name} is missing")
    return thing[name]


def _kind(value: Any) -> str:
    names = {"dict": "an object", "list": "a list", "str": "a text", "NoneType": "null", "bool": "a boolean"}
    return names.get(type(value).__name__, "a number")
