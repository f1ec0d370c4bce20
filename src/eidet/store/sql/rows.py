"""Records as rows and back. The order of values is the order of the columns in `schema`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Any, Final

from ...core.errors import Corrupt
from ...core.event import Event
from ...core.record import Kind, Record, Tier, Trust, record_digest
from ...core.state import NO_STATE, State, dump_state
from ...core.validate import dump_json
from .column_names import RECORD_COLUMNS as COLUMNS

BARE_COLUMNS: Final = (
    *("seq", "id", "scope", "kind", "tier", "agent"),
    *("created", "uses", "last_used", "level", "version", "state"),
)
_KINDS: Final = {str(kind): kind for kind in Kind}
_TIERS: Final = {str(tier): tier for tier in Tier}
_TRUSTS: Final = {str(trust): trust for trust in Trust}
_read_axes: Final = itemgetter(*map(COLUMNS.index, ("x", "y", "z")))
_COLUMN_OF: Final = {"place": "x"}  # fields whose column has another name
_read_fields: Final = itemgetter(*(COLUMNS.index(_COLUMN_OF.get(name, name)) for name in Record.__slots__))
_KIND, _TIER, _TRUST, _PLACE, _DATA, _META, _STATE, _MADE_OF = map(
    Record.__slots__.index, ("kind", "tier", "trust", "place", "data", "meta", "state", "derived_from")
)


def row_of(
    record: Record, seq: int, *, digest: bytes = b"", statement: bytes | None = None
) -> tuple[Any, ...]:
    """The columns of a record; `digest` is that of the record, if the caller has it already."""
    x, y, z = (*record.place, None)[:3] if record.place else (None, None, None)
    return (
        seq,
        record.id,
        record.scope,
        str(record.kind),
        str(record.tier),
        record.text,
        None if record.data is None else dump_json(record.data),
        record.who,
        record.agent,
        record.session,
        record.step,
        x,
        y,
        z,
        record.importance,
        record.created,
        record.occurred,
        record.uses,
        record.last_used,
        record.expires,
        record.source,
        dump_json(record.meta) if record.meta else None,
        record.level,
        dump_json(record.derived_from) if record.derived_from else None,
        record.version,
        digest or record_digest(record),
        record.terms,
        record.vector,
        record.original,
        str(record.trust),
        record.sealed,
        None if record.state is NO_STATE else dump_state(record.state),
        statement,
    )


def record_of(row: Sequence[Any]) -> Record:
    try:
        return _record_of(row)
    except (KeyError, ValueError, TypeError) as error:
        raise Corrupt(
            f"the stored row {row[0]} is damaged ({error!r}); restore a copy or an export"
        ) from error


def bare_record_of(row: Sequence[Any]) -> Record:
    """A record that tells which it is. It never fails: what is damaged can still be deleted."""
    seq, id, scope, kind, tier, agent, created, uses, last_used, level, version, state = row
    kind, tier = _KINDS.get(kind, Kind.FACT), _TIERS.get(tier, Tier.SHORT)
    kept = NO_STATE if state is None else _read_hold(state)
    return Record.of(
        (
            *(id, scope, "", kind, tier, None, None, agent, None, None, None, 0.5, created, created),
            *(uses, last_used, None, None, {}, kept, None, b"", level, None, (), Trust.USER, None),
            version,
            seq,
        )
    )


def _read_hold(state: str) -> State:
    """A state that tells of a legal hold; of a damaged one nobody can tell."""
    if '"hold"' not in state:
        return NO_STATE
    try:
        return State.from_json(json.loads(state))
    except (KeyError, ValueError, TypeError):
        return NO_STATE


def _record_of(row: Sequence[Any]) -> Record:
    values = list(_read_fields(row))
    values[_KIND] = _KINDS[values[_KIND]]
    values[_TIER] = _TIERS[values[_TIER]]
    values[_TRUST] = _TRUSTS[values[_TRUST]]
    if values[_PLACE] is not None:
        values[_PLACE] = tuple([axis for axis in _read_axes(row) if axis is not None])
    if values[_DATA] is not None:
        values[_DATA] = json.loads(values[_DATA])
    values[_META] = {} if values[_META] is None else json.loads(values[_META])
    values[_STATE] = NO_STATE if values[_STATE] is None else State.from_json(json.loads(values[_STATE]))
    values[_MADE_OF] = () if values[_MADE_OF] is None else tuple(json.loads(values[_MADE_OF]))
    return Record.of(values)


def story_of(
    scope: str, id: str, told: Iterable[Sequence[Any]], living: Iterable[Sequence[Any]]
) -> Iterator[Event]:
    """What was written down, and the creation each life began with: a life ends when it is forgotten."""
    alive = False
    for *row, born, author in told:
        if not alive:
            yield Event(what="created", id=id, scope=scope, at=born, by=author)
        event = event_of(row)
        alive = event.what != "forgotten"
        yield event
    if not alive:
        for born, author in living:
            yield Event(what="created", id=id, scope=scope, at=born, by=author)


def event_of(row: Sequence[Any]) -> Event:
    what, id, scope, at, by, version, earlier = row
    try:
        before = None if earlier is None else json.loads(earlier)
    except (TypeError, ValueError) as error:
        raise Corrupt(f"the history of {id!r} in scope {scope!r} is damaged ({error})") from error
    return Event(what=what, id=id, scope=scope, at=at, by=by, version=version, before=before)
