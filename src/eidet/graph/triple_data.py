"""Facts and decisions that callers state directly, as the `data` of records of kind `triple`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any, Final

from ..core.errors import BadInput
from ..core.record import Record
from ..core.validate import Json
from ..text.facts.statement import (
    VALUE,
    Mention,
    Reference,
    Statement,
    mention_data,
    parse_statement,
    statement_data,
)


class DecisionKind(StrEnum):
    """The kinds of decision about facts and entities. Forgetting a decision's record undoes it."""

    MERGE = "merge"  # two names mean one
    RETRACT = "retract"  # a fact never held
    RESOLVE = "resolve"  # of facts that contradict each other, all but one never held


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A decision, as it is stored.

    entities    the ids of the entities it is about
    relation    the relation of the facts that never held; `objects` are their objects, by id
    since       the supposed start of these facts, and `until` the end; None is open
    """

    action: DecisionKind
    entities: tuple[str, ...] = ()
    relation: str = ""
    objects: tuple[str, ...] = ()
    negated: bool = False
    since: float | None = None
    until: float | None = None


@dataclass(frozen=True, slots=True)
class StoredDecision:
    """A decision with the time and the seq of its record."""

    decision: Decision
    seq: int
    created: float
    expires: float | None = None


_OF_TEXT: Final = ("start", "end")  # positions of a sentence, which a fact stated directly lacks
_TUPLES: Final = ("entities", "objects")


def triple_data(statement: Statement) -> dict[str, Json]:
    """Returns a statement as JSON, without defaults. A mention that has only a name becomes that name."""
    data = statement_data(statement)
    for part in ("subject", "object"):
        if data[part].keys() == {"name"}:
            data[part] = data[part]["name"]
    return {name: value for name, value in data.items() if name not in _OF_TEXT}


def parse_triple(record: Record) -> Statement | Decision | None:
    """Parses the statement or decision of a record of kind `triple`; None if its data holds neither."""
    data = record.whole.data
    if not isinstance(data, Mapping):
        return None
    try:
        return _parse_decision(data) if "decision" in data else _parse_statement(data)
    except (KeyError, TypeError, ValueError):
        return None


def decision_data(decision: Decision) -> dict[str, Json]:
    values: dict[str, Json] = {"decision": decision.action.value}
    for part in fields(Decision):
        value = getattr(decision, part.name)
        if part.name != "action" and value != part.default:
            values[part.name] = list(value) if part.name in _TUPLES else value
    return values


def mention_of(value: str | Mention, kind: str = "") -> Mention:
    """Makes a mention from a caller's name; "I" and "me" are the speaker."""
    if isinstance(value, Mention):
        return value
    if not isinstance(value, str) or not value.strip():
        raise BadInput(f"a fact is about somebody or something with a name, not {value!r:.80}")
    if value.strip().casefold() in ("i", "me", "myself"):
        return Mention(reference=Reference.SPEAKER, kind="person")
    return Mention(name=value.strip(), kind=kind)


def _parse_statement(data: Mapping[str, Json]) -> Statement:
    known = {part.name for part in fields(Statement)} - set(_OF_TEXT)
    values: dict[str, Any] = {name: value for name, value in data.items() if name in known}
    times = {name: float(values[name]) for name in ("since", "until") if values.get(name) is not None}
    mentions = {name: _list_mentioned(values[name]) for name in ("subject", "object")}
    return parse_statement(values | times | mentions | {"relation": str(values["relation"])}, {})


def _list_mentioned(value: Json) -> dict[str, Json]:
    """Returns the fields of a mention, of which data may hold the name alone, or a number."""
    if isinstance(value, str):
        return dict(mention_data(mention_of(value)))
    return dict(value) if isinstance(value, Mapping) else {"name": str(value), "kind": VALUE}


def _parse_decision(data: Mapping[str, Json]) -> Decision:
    values: dict[str, Any] = {"action": DecisionKind(data["decision"])}
    known = {part.name for part in fields(Decision)} & data.keys() - {"action"}
    values |= {name: tuple(data[name]) if name in _TUPLES else data[name] for name in known}
    return Decision(**values)
