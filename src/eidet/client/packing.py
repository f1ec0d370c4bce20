"""What a caller gives to a verb, as the JSON of a request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import timedelta
from typing import Any, Final

from ..core.dict_filters import Filter
from ..core.draft import Draft
from ..core.errors import BadInput
from ..core.scope import Scope
from ..core.validate import clean_json, clean_text, moment
from ..core.where import Box, Near
from ..core.where_json import where_to_json
from ..recall.options import check_options

_TIMES: Final = ("occurred", "since", "until", "now", "as_of", "known_at")
_LISTS: Final = ("kinds", "tiers", "trust")


def pack_scope(scope: str | Scope | None) -> dict[str, str]:
    """The parameter of a request; none where the verb may tell none from the default."""
    if scope is None:
        return {}
    return {"scope": str(Scope.of(scope))}


_SERVERS: Final[dict[str, str]] = {
    "by": "a server notes as who acts the name of the key that a call comes with",
    "counter": "a server estimates tokens itself",
    "key": "a server signs no receipts with keys of its callers",
}


def check_left_out(**given: object) -> None:
    """Refuses what a memory of one's own takes, but a server decides by itself."""
    for name, value in given.items():
        if value is not None:
            raise BadInput(f"{_SERVERS[name]}: leave {name} out")


def pack_draft(draft: Draft) -> dict[str, Any]:
    """What a draft says."""
    body: dict[str, Any] = {}
    for one in fields(Draft):
        value = getattr(draft, one.name)
        if value is not None and value != ():
            body |= pack_field(one.name, value)
    return body


def pack_field(name: str, value: Any) -> dict[str, Any]:
    """One field of a draft; a span of time becomes seconds."""
    if name == "expires" and isinstance(value, timedelta):
        return {"expires_in": value.total_seconds()}
    if name in ("occurred", "expires"):
        return {name: moment(value, name)}
    if name == "ttl" and isinstance(value, timedelta):
        return {name: value.total_seconds()}
    if name in ("vector", "place"):
        return {name: pack_numbers(value)}
    if isinstance(value, str):
        return {name: clean_text(value, name)}
    return {name: clean_json(value, name)}


def pack_numbers(values: Any) -> list[float]:
    try:
        return [float(value) for value in values]
    except (TypeError, ValueError):
        raise BadInput(f"this needs numbers, not {values!r:.80}") from None


def pack_filter(verb: str, where: Filter | None, options: Mapping[str, Any]) -> dict[str, Any]:
    """A filter and its parts, as every question has them."""
    check_options(verb, options)
    body: dict[str, Any] = {}
    if where is not None:
        body["where"] = where_to_json(where)
    for name, value in options.items():
        if value is not None:
            body[name] = pack_option(name, value)
    return body


def pack_option(name: str, value: Any) -> Any:
    if name in _TIMES:
        return moment(value, name)
    if name in _LISTS:
        if isinstance(value, str):
            return [str(value)]
        return [str(one) for one in value]
    if isinstance(value, Near):
        return {"place": list(value.place), "radius": value.radius}
    if isinstance(value, Box):
        return {"low": list(value.low), "high": list(value.high)}
    if name == "vector":
        return pack_numbers(value)
    if name == "recipe" and not isinstance(value, str):
        raise BadInput("a server takes a recipe by its name: auto, dialogue, facts, documents, exact")
    if name == "rerank":
        raise BadInput("a server reranks as its settings say, not as a caller does: leave rerank out")
    return clean_json(value, name)
