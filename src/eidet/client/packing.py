"""Converts the arguments of a verb to the JSON of a request, each in the form that the table names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, fields
from datetime import timedelta
from typing import Any, Final

from ..core.dict_filters import where_as_dict
from ..core.draft import Draft
from ..core.errors import BadInput
from ..core.record import Record
from ..core.scope import Scope, Scopes
from ..core.validate import clean_json, clean_text, moment
from ..core.verb_table import DETAILS, Argument, Form, Verb
from ..core.where import Box, Near
from ..graph.fact import Fact
from ..memory.facts import check_relation, id_of, name_of

_SERVERS: Final[dict[str, str]] = {
    "by": "a server notes as who acts the name of the key that a call comes with",
    "counter": "a server estimates tokens itself",
    "rerank": "a server reranks as its settings say, not as a caller does",
}


def pack_scope(scope: Scopes | None) -> dict[str, Any]:
    """Returns the scope parameter; empty for None, which leaves the choice to the server."""
    return {} if scope is None else {"scope": list(map(str, Scope.among(scope).members))}


def check_left_out(**given: object) -> None:
    """Raises `BadInput` for arguments that a local memory takes but a server decides by itself."""
    for name, value in given.items():
        if value is not None:
            raise BadInput(f"{_SERVERS[name]}: leave {name} out")


def pack_arguments(verb: Verb, given: Mapping[str, Any]) -> dict[str, Any]:
    """Builds the body of a request from the arguments of a call; leaves out those that are None."""
    body: dict[str, Any] = {}
    for name, value in given.items():
        sent = verb.renamed.get(name, name)
        if sent not in verb.arguments:
            check_left_out(**{name: value})
        elif value is not None:
            body |= _pack_value(sent, verb.arguments[sent], value)
    return body


def pack_draft(draft: Draft) -> dict[str, Any]:
    """Packs the fields of a draft that are set."""
    body: dict[str, Any] = {}
    for one in fields(Draft):
        value = getattr(draft, one.name)
        if value is not None and value != ():
            body |= pack_detail(one.name, value)
    return body


def pack_detail(name: str, value: Any) -> dict[str, Any]:
    """Packs one field of a draft; text, id and key must be strings."""
    return _pack_value(name, DETAILS.get(name, Argument(form=Form.TEXT)), value)


def _pack_value(name: str, argument: Argument, value: Any) -> dict[str, Any]:
    """Packs one field of a body; a timedelta becomes seconds."""
    if isinstance(value, timedelta):
        return {"expires_in" if name == "expires" else name: value.total_seconds()}
    pack = _PACKERS.get(argument.form, _pack_plain)
    if argument.several:
        values: Iterable[Any] = [value] if isinstance(value, str) else value
        return {name: [pack(one, name) for one in values]}
    if name == "recipe" and not isinstance(value, str):
        raise BadInput("a server takes a recipe by its name: auto, dialogue, facts, documents, exact")
    return {name: pack(value, name)}


def _pack_plain(value: Any, name: str) -> Any:
    value = str(value) if isinstance(value, Scope) else value
    return clean_text(value, name) if isinstance(value, str) else clean_json(value, name)


def _pack_numbers(values: Any, _name: str) -> list[float]:
    try:
        return [float(value) for value in values]
    except (TypeError, ValueError):
        raise BadInput(f"this needs numbers, not {values!r:.80}") from None


def _pack_area(area: Near | Box, _name: str) -> dict[str, Any]:
    return asdict(area)


def _pack_id(said: Fact | Record | str, _name: str) -> str:
    return clean_text(said, "an id") if isinstance(said, str) else said.id


_PACKERS: Final[Mapping[Form, Callable[[Any, str], Any]]] = {
    Form.TIME: moment,
    Form.PLACE: _pack_numbers,
    Form.VECTOR: _pack_numbers,
    Form.NEAR: _pack_area,
    Form.BOX: _pack_area,
    Form.FILTER: lambda where, _: where_as_dict(where),
    Form.ENTITY: lambda entity, _: id_of(entity),
    Form.NAME: lambda entity, _: name_of(entity),
    Form.RELATION: lambda relation, _: check_relation(relation),
    Form.PATTERN: lambda pattern, _: list(pattern),
    Form.FACT: _pack_id,
}
