"""Facts and decisions that somebody states directly, as the `data` of records of kind `triple`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any, Final

from ..core.errors import BadInput
from ..core.record import Record
from ..core.validate import Json
from ..text.facts.statement import Mention, Nature, Reference, Statement


class DecisionKind(StrEnum):
    """What somebody decides about facts and entities. Forgetting the record of a decision undoes it."""

    MERGE = "merge"  # two names mean one
    SPLIT = "split"  # what some records say is of another one of the same name
    RETRACT = "retract"  # a fact never held
    RESOLVE = "resolve"  # of facts that contradict each other, all but one never held


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A decision, as it is stored.

    entities    the ids of those that it is about
    relation    of the facts that never held; `objects` are theirs, by id
    since       from when these facts were thought to hold, and `until`; None is endless
    sources     the ids of records whose statements a split is about; `name` is the label of the new one
    """

    action: DecisionKind
    entities: tuple[str, ...] = ()
    relation: str = ""
    objects: tuple[str, ...] = ()
    negated: bool = False
    since: float | None = None
    until: float | None = None
    sources: tuple[str, ...] = ()
    name: str = ""


@dataclass(frozen=True, slots=True)
class StoredDecision:
    """A decision with when it was made and where it is."""

    decision: Decision
    seq: int
    created: float
    expires: float | None = None


_STATEMENT: Final = ("since", "until", "ended", "negated", "confidence", "nature")
_TUPLES: Final = ("entities", "objects", "sources")


def triple_data(statement: Statement) -> dict[str, Json]:
    """A statement as JSON; what has its default is left out."""
    fields_by_name: dict[str, Json] = {
        "subject": _mention_data(statement.subject),
        "relation": statement.relation,
        "object": _mention_data(statement.object),
    }
    plain = Statement(subject=Mention(), relation="", object=Mention())
    for name in _STATEMENT:
        value = getattr(statement, name)
        if value != getattr(plain, name):
            fields_by_name[name] = value
    return fields_by_name


def read_triple(record: Record) -> Statement | Decision | None:
    """What a record of kind `triple` states or decides; None if its data is neither."""
    data = record.whole.data
    if not isinstance(data, Mapping):
        return None
    try:
        if "decision" in data:
            return _read_decision(data)
        return _read_statement(data)
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
    """Somebody or something as a caller names it; "I" and "me" are the speaker."""
    if isinstance(value, Mention):
        return value
    if not isinstance(value, str) or not value.strip():
        raise BadInput(f"a fact is about somebody or something with a name, not {value!r:.80}")
    if value.strip().casefold() in ("i", "me", "myself"):
        return Mention(reference=Reference.SPEAKER, kind="person")
    return Mention(name=value.strip(), kind=kind)


def _mention_data(mention: Mention) -> Json:
    """A plain name where that is all there is."""
    plain = Mention()
    values: dict[str, Json] = {}
    for part in fields(Mention):
        value = getattr(mention, part.name)
        if value != getattr(plain, part.name):
            values[part.name] = str(value)
    if values.keys() == {"name"}:
        return mention.name
    return values


def _read_statement(data: Mapping[str, Json]) -> Statement:
    values: dict[str, Any] = {}
    for name in _STATEMENT:
        if name in data:
            values[name] = data[name]
    if "nature" in values:
        values["nature"] = Nature(values["nature"])
    for name in ("since", "until"):
        if values.get(name) is not None:
            values[name] = float(values[name])
    return Statement(
        subject=_read_mention(data["subject"]),
        relation=str(data["relation"]),
        object=_read_mention(data["object"]),
        **values,
    )


def _read_mention(data: Json) -> Mention:
    if isinstance(data, str):
        return mention_of(data)
    if not isinstance(data, Mapping):
        return Mention(name=str(data), kind="value")
    values: dict[str, Any] = dict(data)
    if "reference" in values:
        values["reference"] = Reference(values["reference"])
    return Mention(**values)


def _read_decision(data: Mapping[str, Json]) -> Decision:
    values: dict[str, Any] = {"action": DecisionKind(data["decision"])}
    for part in fields(Decision):
        if part.name in data and part.name != "action":
            value = data[part.name]
            values[part.name] = tuple(value) if part.name in _TUPLES else value
    return Decision(**values)
