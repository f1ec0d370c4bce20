"""What callers say of a record beside its content: two records that agree in all of it are one statement."""

from __future__ import annotations

from typing import Any

from ...core.record import Record, Trust
from ...core.validate import dump_json

Details = tuple[Any, ...]


def details_of(record: Record, *, timed: bool = True) -> Details:
    """All that callers say of a record beside its content; what Eidet itself changes is left out.

    A tier is Eidet's to choose, and so are links that upkeep added. A time that nobody gave is none, and
    so is any unless `timed`.
    """
    state = record.state
    sources = record.derived_from
    if sources:
        added = {part.id for part in state.merged}
        sources = tuple([id for id in sources if id not in added])
    return (
        *visible_details_of(record, timed=timed),
        _trust_said(record),
        sources,
        state.ttl,
        state.pii,
        dump_json(record.meta, sort_keys=True) if record.meta else "",
    )


def visible_details_of(record: Record, *, timed: bool = True) -> Details:
    """Those that a sealed record shows, and that never change while it lives."""
    return (
        record.kind,
        record.who,
        record.agent,
        record.session,
        record.step,
        record.place,
        record.source,
        record.occurred if timed and record.occurred != record.created else None,
    )


def _trust_said(record: Record) -> str:
    """How far a record was trusted before it was set aside."""
    mark = record.state.quarantine
    if record.trust is Trust.QUARANTINED and mark is not None:
        return mark.was
    return record.trust
