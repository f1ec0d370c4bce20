"""Records as rows and back. The order of values is the order of the columns in `schema`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from ...core.errors import Corrupt
from ...core.event import Event
from ...core.record import Kind, Record, Tier, Trust, record_digest
from ...core.state import NO_STATE, State, dump_state
from ...core.validate import dump_json
from .schema import records

COLUMNS: Final = tuple(column.name for column in records.columns)
BARE_COLUMNS: Final = (
    *("seq", "id", "scope", "kind", "tier", "agent"),
    *("created", "uses", "last_used", "level", "version"),
)
_KINDS: Final = {str(kind): kind for kind in Kind}
_TIERS: Final = {str(tier): tier for tier in Tier}
_TRUST: Final = {str(trust): trust for trust in Trust}


def row_of(record: Record, seq: int) -> tuple[Any, ...]:
    x, y, z = (*record.place, None)[:3] if record.place else (None, None, None)
    return (
        seq,
        record.id,
        record.scope,
        record.kind.value,
        record.tier.value,
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
        record_digest(record),
        record.terms,
        record.vector,
        record.original,
        record.trust.value,
        record.sealed,
        None if record.state is NO_STATE else dump_state(record.state),
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
    seq, id, scope, kind, tier, agent, created, uses, last_used, level, version = row
    kind, tier = _KINDS.get(kind, Kind.FACT), _TIERS.get(tier, Tier.SHORT)
    begin = (id, scope, "", kind, tier, None, None, agent, None, None, None, 0.5, created, created)
    middle: tuple[Any, ...] = (
        uses,
        last_used,
        None,
        None,
        {},
        NO_STATE,
        None,
        b"",
        level,
        None,
        (),
        Trust.USER,
        None,
    )
    return Record.of((*begin, *middle, version, seq))


def _record_of(row: Sequence[Any]) -> Record:
    (
        seq,
        id,
        scope,
        kind,
        tier,
        text,
        data,
        who,
        agent,
        session,
        step,
        x,
        y,
        z,
        importance,
        created,
        occurred,
        uses,
        last_used,
        expires,
        source,
        meta,
        level,
        derived_from,
        version,
        _digest,
        terms,
        vector,
        original,
        trust,
        sealed,
        state,
    ) = row
    return Record.of(
        (
            id,
            scope,
            text,
            _KINDS[kind],
            _TIERS[tier],
            None if data is None else json.loads(data),
            who,
            agent,
            session,
            step,
            None if x is None else (x, y) if z is None else (x, y, z),
            importance,
            created,
            occurred,
            uses,
            last_used,
            expires,
            source,
            {} if meta is None else json.loads(meta),
            NO_STATE if state is None else State.from_json(json.loads(state)),
            vector,
            terms,
            level,
            original,
            () if derived_from is None else tuple(json.loads(derived_from)),
            _TRUST[trust],
            sealed,
            version,
            seq,
        )
    )


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
